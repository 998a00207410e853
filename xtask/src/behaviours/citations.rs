//! The tests in a Rust file and the ids that they cite.
//!
//! A citation stands in the comment right above a test function, among its attributes, with no blank line in between. An id in any other
//! comment is just text. A test that is ignored does not run, so it proves nothing and cites nothing.

use std::path::{Path, PathBuf};

use super::id::{self, Id};
use super::source::{self, Line};

/// One id, cited by one test.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Citation {
    pub(super) id: Id,
    /// From the workspace's root.
    pub(super) path: PathBuf,
    /// Of the comment, from 1.
    pub(super) line: usize,
}

/// What counts as a test in a file, by where the file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Functions with a test attribute.
    Anywhere,
    /// The file is one case that must not compile: it cites at its top.
    CompileFail,
    /// Also functions named `gate_…`: limits that the benchmark checks.
    Bench,
    /// Also functions named `c_…`: rows of the suite, which each backend makes a test of.
    Suite,
}

impl Place {
    /// Of the file at `path`, from the workspace's root.
    pub(super) fn of(path: &Path) -> Self {
        let folders: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
        if folders.windows(2).any(|pair| pair == ["tests", "ui"]) {
            Self::CompileFail
        } else if folders.starts_with(&["xtask", "src", "bench"]) {
            Self::Bench
        } else if folders.starts_with(&["queue-conformance", "src", "suite"]) {
            Self::Suite
        } else {
            Self::Anywhere
        }
    }
}

/// What the tests in `text` cite, in the order of its lines.
pub(super) fn in_file(path: &Path, place: Place, text: &str) -> Vec<Citation> {
    let lines = source::lines(text);
    let found = match place {
        Place::CompileFail => at_top(&lines),
        Place::Anywhere | Place::Bench | Place::Suite => above_tests(&lines, place),
    };
    found.into_iter().map(|(id, line)| Citation { id, path: path.to_owned(), line }).collect()
}

/// The ids in the `//!` lines that the file begins with.
fn at_top(lines: &[Line]) -> Vec<(Id, usize)> {
    let top = lines.iter().take_while(|line| line.code.is_empty() && line.comment.starts_with("//!"));
    top.zip(1..).flat_map(|(line, number)| id::all(&line.comment).map(move |id| (id, number))).collect()
}

/// The ids in the comments right above test functions.
fn above_tests(lines: &[Line], place: Place) -> Vec<(Id, usize)> {
    let mut cited = Vec::new();
    let mut above = Above::default();
    for (line, number) in lines.iter().zip(1..) {
        let Some(item) = above.read(line, number) else { continue };
        if above.belongs_to_test(item, place) {
            cited.append(&mut above.ids);
        }
        above = Above::default();
    }
    cited
}

/// What stands right above the line that is read next: comments and attributes.
#[derive(Debug, Default)]
struct Above {
    ids: Vec<(Id, usize)>,
    /// Complete ones, and the last one as far as it has been read.
    attributes: Vec<String>,
    /// How many brackets of the last attribute are open.
    open: usize,
}

impl Above {
    /// Reads one line. Answers the code on it that is no attribute, empty after a blank line; nothing if the line still belongs above.
    fn read<'l>(&mut self, line: &'l Line, number: usize) -> Option<&'l str> {
        let item = self.attributes(line.code.trim());
        let ends_here = !item.is_empty() || (line.is_blank() && self.open == 0);
        if ends_here {
            return Some(item);
        }
        self.ids.extend(id::all(&line.comment).map(|id| (id, number)));
        None
    }

    /// Takes the attributes off the front of `code` and answers what is left.
    fn attributes<'l>(&mut self, mut code: &'l str) -> &'l str {
        while self.open > 0 || code.starts_with("#[") {
            if self.open == 0 {
                self.attributes.push(String::new());
            }
            let Some((attribute, rest)) = self.split_closed(code) else {
                self.extend_attribute(code);
                return "";
            };
            self.extend_attribute(attribute);
            code = rest.trim_start();
        }
        code
    }

    /// Splits `code` after the bracket that closes the attribute, if it is there.
    fn split_closed<'l>(&mut self, code: &'l str) -> Option<(&'l str, &'l str)> {
        for (at, letter) in code.char_indices() {
            match letter {
                '[' => self.open += 1,
                ']' => self.open -= 1,
                _ => continue,
            }
            if self.open == 0 {
                return code.split_at_checked(at + 1);
            }
        }
        None
    }

    fn extend_attribute(&mut self, code: &str) {
        if let Some(attribute) = self.attributes.last_mut() {
            attribute.push_str(code);
        }
    }

    /// Whether `item` is a test function, seen with what stands above it.
    fn belongs_to_test(&self, item: &str, place: Place) -> bool {
        let Some(name) = function(item) else { return false };
        let names: Vec<&str> = self.attributes.iter().map(|attribute| attribute_name(attribute)).collect();
        let ignored = names.contains(&"ignore");
        let tested = names.iter().any(|name| matches!(*name, "test" | "proptest"));
        let counts = match place {
            Place::Bench => name.starts_with("gate_"),
            Place::Suite => name.starts_with("c_"),
            Place::Anywhere | Place::CompileFail => false,
        };
        !ignored && (tested || counts)
    }
}

/// The last part of an attribute's path: `test` of `#[tokio::test(flavor = "")]`.
fn attribute_name(attribute: &str) -> &str {
    let inner = attribute.trim_start_matches("#[");
    let path = inner.split(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':')).next();
    path.and_then(|path| path.rsplit("::").next()).unwrap_or_default()
}

/// The name of the function that `code` declares, from its name on.
fn function(code: &str) -> Option<&str> {
    let mut words = code.split_whitespace();
    words.find(|word| *word == "fn")?;
    words.next()
}

#[cfg(test)]
mod tests;
