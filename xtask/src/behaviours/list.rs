//! The ids that the list has.

use std::collections::BTreeSet;

use super::id::Id;
use crate::command::Failure;

/// The ids of the list's lines: those that begin a list item at the start of a line, `- R-7 …`.
///
/// # Errors
/// When an id begins two lines, and when there is none at all.
pub(super) fn read(markdown: &str) -> Result<BTreeSet<Id>, Failure> {
    let mut ids = BTreeSet::new();
    for id in markdown.lines().filter_map(listed) {
        if !ids.insert(id) {
            return Err(Failure::new(format!("the list has {id} twice")));
        }
    }
    if ids.is_empty() {
        return Err(Failure::new("the list has no line that begins with an id"));
    }
    Ok(ids)
}

fn listed(line: &str) -> Option<Id> {
    line.strip_prefix("- ")?.split_whitespace().next().and_then(Id::parse)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn only_the_first_word_of_an_item_is_listed() {
        let ids = read("Cites R-9.\n\n- R-1 ★ Like R-8.\n- E-2 Other.\n- no id\n/// R-7\n").unwrap();
        assert_eq!(ids.iter().map(ToString::to_string).collect::<Vec<_>>(), ["R-1", "E-2"]);
    }

    #[test]
    fn a_line_twice_or_no_line_is_an_error() {
        assert!(read("- R-1 a\n- R-1 b\n").unwrap_err().to_string().contains("R-1 twice"));
        assert!(read("# Behaviours\n").is_err());
    }
}
