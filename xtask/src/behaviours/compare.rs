//! The list against the citations.

use std::collections::BTreeSet;
use std::fmt;

use super::citations::Citation;
use super::id::Id;

/// What the list and the tests do not have in common.
#[derive(Debug)]
pub(super) struct Comparison<'a> {
    /// Listed, and cited by no test.
    pub(super) untested: Vec<Id>,
    /// Cited, and not listed.
    pub(super) unlisted: Vec<&'a Citation>,
}

impl<'a> Comparison<'a> {
    /// Of the ids in the list and what the tests cite.
    pub(super) fn of(listed: &BTreeSet<Id>, cited: &'a [Citation]) -> Self {
        let tested: BTreeSet<Id> = cited.iter().map(|citation| citation.id).collect();
        Self {
            untested: listed.difference(&tested).copied().collect(),
            unlisted: cited.iter().filter(|citation| !listed.contains(&citation.id)).collect(),
        }
    }

    /// Whether nothing is missing on either side.
    pub(super) const fn agrees(&self) -> bool {
        self.untested.is_empty() && self.unlisted.is_empty()
    }
}

impl fmt::Display for Comparison<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for id in &self.untested {
            writeln!(f, "{id}: listed, but no test cites it")?;
        }
        for Citation { id, path, line } in &self.unlisted {
            writeln!(f, "{id}: cited at {}:{line}, but not listed", path.display())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::id::{self, Id};
    use super::{Citation, Comparison};

    fn cited(ids: &str) -> Vec<Citation> {
        id::all(ids).map(|id| Citation { id, path: PathBuf::from("tests/a.rs"), line: 3 }).collect()
    }

    #[test]
    fn both_sides_are_reported() {
        let listed = id::all("R-1 R-2 E-1").collect();
        let cited = cited("R-2 E-9 R-2");
        let comparison = Comparison::of(&listed, &cited);
        assert!(!comparison.agrees());
        assert_eq!(comparison.untested, [Id::parse("R-1").unwrap(), Id::parse("E-1").unwrap()]);
        assert_eq!(
            comparison.to_string(),
            "R-1: listed, but no test cites it\nE-1: listed, but no test cites it\n\
             E-9: cited at tests/a.rs:3, but not listed\n"
        );
    }

    #[test]
    fn the_same_ids_agree_however_often_they_are_cited() {
        assert!(Comparison::of(&id::all("R-1 R-2").collect(), &cited("R-2 R-1 R-1")).agrees());
    }
}
