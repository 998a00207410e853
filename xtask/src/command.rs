//! What a command is and how it answers.

use std::fmt;

/// One entry of the command list.
pub(crate) struct Command {
    /// The word that selects it.
    pub(crate) name: &'static str,
    /// What it does, in the help text.
    pub(crate) about: &'static str,
    /// Gets the words after the name.
    pub(crate) run: fn(&[String]) -> Verdict,
}

/// What a command ends with: what was found good, in a few words, or why it failed.
pub(crate) type Verdict = Result<String, Failure>;

/// Why a command failed, as one line. Details have been printed by then.
#[derive(Debug)]
pub(crate) struct Failure {
    reason: String,
    code: u8,
}

impl Failure {
    /// With `reason` as the verdict line.
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), code: 1 }
    }

    /// The same, where a command tells kinds of failure apart by its exit code.
    pub(crate) fn with_code(code: u8, reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), code }
    }

    pub(crate) const fn code(&self) -> u8 {
        self.code
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// For commands that take none: an argument that would be ignored is an error.
pub(crate) fn no_arguments(rest: &[String]) -> Result<(), Failure> {
    match rest.first() {
        Some(word) => Err(Failure::new(format!("takes no arguments, got `{word}`"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::no_arguments;

    #[test]
    fn an_argument_is_refused_by_name() {
        assert!(no_arguments(&[]).is_ok());
        let failure = no_arguments(&["--fast".to_owned()]).unwrap_err();
        assert!(failure.to_string().contains("`--fast`"));
    }
}
