//! `cargo xtask conformance`: the suite over the ring and the reference, and over the broken workers.

use crate::cargo;
use crate::command::{Failure, Verdict};

/// Runs the suite's own tests; with `--all` every broken worker against every row, which shows what would pass without a row.
pub(crate) fn run(rest: &[String]) -> Verdict {
    match rest {
        [] => {
            cargo::run(&["test", "-p", "queue-conformance"])?;
            Ok("the suite passes where it must, and fails where it must".to_owned())
        }
        [word] if word == "--all" => {
            cargo::run(&["run", "--quiet", "-p", "queue-conformance", "--example", "matrix"])?;
            Ok("each broken worker fails at the rows that it names, and each row finds something that no other row finds".to_owned())
        }
        _ => Err(Failure::new(format!("takes nothing or `--all`, got `{}`", rest.join(" ")))),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_word_that_is_not_known_is_refused() {
        let failure = super::run(&["--full".to_owned()]).unwrap_err();
        assert!(failure.to_string().contains("--full"));
    }
}
