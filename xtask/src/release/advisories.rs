//! `cargo deny check advisories`, where its database can be had: that is a git clone.

use std::process::Command;

use super::Done;
use crate::cargo;
use crate::command::Failure;

pub(super) fn run() -> Result<Done, Failure> {
    let mut deny = Command::new("cargo-deny");
    deny.args(["--all-features", "--locked", "check", "advisories"]).current_dir(cargo::workspace());
    let Ok(output) = deny.output() else { return Ok(Done::LeftOut("there is no cargo-deny".to_owned())) };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        return Ok(Done::Well("no known weakness".to_owned()));
    }
    if has_no_database(&said) {
        return Ok(Done::LeftOut("the database of advisories cannot be had here".to_owned()));
    }
    print!("{said}");
    Err(Failure::new("a dependency has a known weakness"))
}

/// Whether cargo-deny could not even begin.
fn has_no_database(said: &str) -> bool {
    said.contains("failed to fetch advisory database") || said.contains("failed to load advisory database")
}

#[cfg(test)]
mod tests {
    use super::has_no_database;

    #[test]
    fn a_missing_database_is_no_weakness() {
        assert!(has_no_database("[ERROR] failed to fetch advisory database https://github.com/rustsec/advisory-db"));
        assert!(!has_no_database("error[vulnerability]: a crate fails to fetch\nadvisories FAILED"));
    }
}
