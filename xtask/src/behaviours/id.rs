//! The ids of behaviours, as they stand in a text: `R-7`.

use std::fmt;

/// The sections that the list may have, by the letter their ids begin with.
const SECTIONS: [char; 5] = ['R', 'E', 'P', 'C', 'F'];

/// The id of one behaviour. Sorts as the list does: by section, then by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id {
    section: usize,
    number: u32,
}

impl Id {
    /// The id that is the whole of `word`, if it is one.
    pub(super) fn parse(word: &str) -> Option<Self> {
        let (letter, digits) = word.split_once('-')?;
        let section = SECTIONS.iter().position(|section| letter.chars().eq([*section]))?;
        let canonical = digits.chars().all(|digit| digit.is_ascii_digit()) && !digits.starts_with('0');
        let number = digits.parse().ok().filter(|_| canonical)?;
        Some(Self { section, number })
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", SECTIONS[self.section], self.number)
    }
}

/// The ids that stand in `text` as words of their own, in order.
pub(super) fn all(text: &str) -> impl Iterator<Item = Id> {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == '-')).filter_map(Id::parse)
}

#[cfg(test)]
mod tests {
    use super::{Id, all};

    fn names(text: &str) -> Vec<String> {
        all(text).map(|id| id.to_string()).collect()
    }

    #[test]
    fn ids_are_words_of_their_own() {
        assert_eq!(names("/// R-7, E-103 and (P-14): all three."), ["R-7", "E-103", "P-14"]);
        assert_eq!(names("R-7; `E-8`/P-1"), ["R-7", "E-8", "P-1"]);
    }

    #[test]
    fn what_only_looks_like_an_id_is_none() {
        assert!(names("TIME-1 E-1a XR-7 R-7-2 r-7 R7 R- R-07 R-+7 B-3 é-1 R-99999999999").is_empty());
    }

    #[test]
    fn ids_sort_like_the_list() {
        let mut ids: Vec<Id> = all("P-1 E-10 R-24 E-9 R-3").collect();
        ids.sort();
        assert_eq!(ids.iter().map(Id::to_string).collect::<Vec<_>>(), ["R-3", "R-24", "E-9", "E-10", "P-1"]);
    }
}
