//! The command's words.

use std::path::PathBuf;

use crate::command::Failure;

/// What `--help` says.
pub(super) const HELP: &str = "cargo xtask bench [--quick] [--json FILE] [--write] [NAME…]
  NAME          only rows whose name contains one of these
  --quick       few jobs, one round, nothing judged: shows that everything runs
  --json FILE   every sample, for other tools
  --write       puts the table and the charts into docs/; of all rows, on a quiet machine
exit code: 0 all limits held, 1 a limit missed, 2 over a third of the rows too noisy to judge";

/// What to measure, and where to write it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) quick: bool,
    pub(super) json: Option<PathBuf>,
    pub(super) write: bool,
    /// All rows, where there is none.
    pub(super) names: Vec<String>,
}

impl Options {
    /// None where only help is asked for.
    ///
    /// # Errors
    /// An option that does not exist, or a table of not all rows that is to be written.
    pub(super) fn read(words: &[String]) -> Result<Option<Self>, Failure> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--help" => return Ok(None),
                "--quick" => options.quick = true,
                "--write" => options.write = true,
                "--json" => {
                    let file = words.next().ok_or_else(|| Failure::new("`--json` needs the name of a file"))?;
                    options.json = Some(file.into());
                }
                other if other.starts_with('-') => {
                    return Err(Failure::new(format!("no option `{other}`; `--help` lists them")));
                }
                name => options.names.push(name.to_owned()),
            }
        }
        if options.write && (options.quick || !options.names.is_empty()) {
            return Err(Failure::new("`--write` takes all rows, measured in full"));
        }
        Ok(Some(options))
    }

    /// Whether the row is asked for.
    pub(super) fn selects(&self, row: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| row.contains(name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    fn read(words: &[&str]) -> Option<Options> {
        let words: Vec<_> = words.iter().map(|&word| word.to_owned()).collect();
        Options::read(&words).ok().flatten()
    }

    #[test]
    fn words_that_are_no_options_are_names() {
        let options = read(&["--json", "out.json", "bare", "--quick"]).unwrap();
        assert_eq!((options.json, options.quick), (Some("out.json".into()), true));
        assert_eq!(options.names, ["bare"]);
    }

    #[test]
    fn what_would_be_ignored_is_refused() {
        assert_eq!(read(&["--fast"]), None);
        assert_eq!(read(&["--json"]), None);
        assert_eq!(read(&["--write", "bare"]), None);
        assert_eq!(read(&["--write", "--quick"]), None);
    }
}
