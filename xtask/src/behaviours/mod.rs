//! `cargo xtask behaviours`: every line of `docs/behaviours.md` has a test, and every cited id has a line.
//!
//! [`list`] reads the ids, [`source`] takes a Rust file apart into code and comments, [`citations`] finds the tests and what they cite,
//! [`compare`] holds one against the other.

mod citations;
mod compare;
mod id;
mod list;
mod source;

use std::fs;
use std::path::{Path, PathBuf};

use crate::cargo;
use crate::command::{self, Failure, Verdict};
use citations::{Citation, Place};
use compare::Comparison;

/// The list, seen from the workspace's root.
const LIST: &str = "docs/behaviours.md";

/// Compares the list with the Rust files of the workspace and prints what is missing on either side.
pub(crate) fn run(rest: &[String]) -> Verdict {
    command::no_arguments(rest)?;
    let root = cargo::workspace();
    let listed = list::read(&text(&root.join(LIST))?)?;
    let cited = cited(root)?;
    let comparison = Comparison::of(&listed, &cited);
    if comparison.agrees() {
        return Ok(format!("{} behaviours, each with a test; {} citations", listed.len(), cited.len()));
    }
    print!("{comparison}");
    Err(Failure::new(format!(
        "{} of {} behaviours without a test, {} citations of ids that {LIST} does not have",
        comparison.untested.len(),
        listed.len(),
        comparison.unlisted.len(),
    )))
}

/// All citations in the Rust files under `root`, in the order of the files' paths.
fn cited(root: &Path) -> Result<Vec<Citation>, Failure> {
    let mut files = Vec::new();
    rust_files(root, &mut files)?;
    files.sort();
    let mut cited = Vec::new();
    for file in files {
        let path = file.strip_prefix(root).unwrap_or(&file);
        cited.extend(citations::in_file(path, Place::of(path), &text(&file)?));
    }
    Ok(cited)
}

/// Adds the Rust files under `folder`; build output and hidden folders hold none of ours, and links are not followed.
fn rust_files(folder: &Path, into: &mut Vec<PathBuf>) -> Result<(), Failure> {
    for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, &error))? {
        let entry = entry.map_err(|error| unreadable(folder, &error))?;
        let path = entry.path();
        let kind = entry.file_type().map_err(|error| unreadable(&path, &error))?;
        let name = entry.file_name();
        let skipped = name == "target" || name == "scratch" || name.to_string_lossy().starts_with('.');
        if kind.is_dir() && !skipped {
            rust_files(&path, into)?;
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
    Ok(())
}

fn text(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{}: {error}", path.display()))
}
