//! What the name of a file says: its place in the order, the job's id, the attempts that are spent.

use std::fmt;

use queue_core::JobId;

/// The name of a message's file: `<microseconds>-<id>-<spent>.msg`, or `.raw` for a bare body.
///
/// A retry, a return and a crash change the name and never the file, so each is one `rename`: there is no moment in which the job is in
/// two places, or in none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Name {
    /// When it was published, in microseconds since the epoch; never the same twice from one producer.
    pub(crate) seq: u64,
    pub(crate) id: JobId,
    /// Attempts that were spent since the file was written.
    pub(crate) spent: u32,
    /// The file is the body and nothing else.
    pub(crate) bare: bool,
}

impl Name {
    /// Reads a name of ours; none for what another program named.
    pub(crate) fn parse(file: &str) -> Option<Self> {
        let (stem, bare) = match file.rsplit_once('.')? {
            (stem, "msg") => (stem, false),
            (stem, "raw") => (stem, true),
            _ => return None,
        };
        let mut parts = stem.splitn(3, '-');
        let (seq, id, spent) = (parts.next()?, parts.next()?, parts.next()?);
        let name = Self { seq: seq.parse().ok()?, id: id.parse().ok()?, spent: spent.parse().ok()?, bare };
        // `+1`, say, is a number and no name of ours.
        (name.to_string() == file).then_some(name)
    }

    /// The same file after one more attempt.
    pub(crate) const fn after_attempt(mut self) -> Self {
        self.spent = self.spent.saturating_add(1);
        self
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.bare { "raw" } else { "msg" };
        write!(f, "{:020}-{}-{}.{kind}", self.seq, self.id, self.spent)
    }
}

/// A number in front of a name: when it is due, or the claim that it is held by.
pub(crate) fn split(file: &str) -> Option<(u64, Name)> {
    let (number, name) = file.split_once('-')?;
    Some((number.parse().ok()?, Name::parse(name)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_was_written_and_others_are_strangers() {
        let name = Name { seq: 17, id: JobId::from(255), spent: 2, bare: false };
        assert_eq!(name.to_string(), "00000000000000000017-00000000000000ff-2.msg");
        assert_eq!(Name::parse(&name.to_string()), Some(name));
        assert_eq!(split(&format!("99-{name}")), Some((99, name)));
        for stranger in ["order.json", "17-00000000000000ff-2.msg", "x.msg", "", "order"] {
            assert_eq!(Name::parse(stranger), None, "{stranger}");
        }
    }
}
