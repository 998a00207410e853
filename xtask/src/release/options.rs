//! The command's words.

use crate::command::Failure;

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Options {
    Help,
    /// New values for the instruction guard.
    Store,
    /// All steps, where there is none.
    Steps(Vec<String>),
}

impl Options {
    /// # Errors
    /// A word that is no step, or `--store` with others.
    pub(super) fn read(words: &[String], steps: &[&str]) -> Result<Self, Failure> {
        match words {
            [word] if word == "--help" => return Ok(Self::Help),
            [word] if word == "--store" => return Ok(Self::Store),
            _ => {}
        }
        match words.iter().find(|word| !steps.contains(&word.as_str())) {
            Some(word) => Err(Failure::new(format!("no step `{word}`; the steps are {}", steps.join(", ")))),
            None => Ok(Self::Steps(words.to_vec())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    fn read(words: &[&str]) -> Option<Options> {
        let words: Vec<_> = words.iter().map(|&word| word.to_owned()).collect();
        Options::read(&words, &["models", "fuzz"]).ok()
    }

    #[test]
    fn a_word_is_a_step_or_an_error() {
        assert_eq!(read(&[]), Some(Options::Steps(Vec::new())));
        assert_eq!(read(&["fuzz"]), Some(Options::Steps(vec!["fuzz".to_owned()])));
        assert_eq!(read(&["--store"]), Some(Options::Store));
        assert_eq!(read(&["--store", "fuzz"]), None);
        assert_eq!(read(&["fizz"]), None);
    }
}
