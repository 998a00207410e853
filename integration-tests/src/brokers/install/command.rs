//! Runs the programs that install, each with a deadline.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::brokers::{BrokerError, Deadline};

/// So much of what a program wrote is shown when it fails.
const SHOWN: usize = 2000;

/// Runs `command` to its end and gives what it wrote to both outputs.
///
/// # Errors
///
/// [`BrokerError::Program`], [`BrokerError::Command`] with the end of what it wrote, [`BrokerError::Late`]: it is killed then.
pub(super) fn run(command: &mut Command, within: Duration) -> Result<String, BrokerError> {
    let line = written(command);
    let failed = |source| BrokerError::Program { program: line.clone().into(), source };
    let mut said = nameless().map_err(failed)?;
    let outputs = || -> io::Result<(File, File)> { Ok((said.try_clone()?, said.try_clone()?)) };
    let (out, err) = outputs().map_err(failed)?;
    let mut child = command.stdin(Stdio::null()).stdout(out).stderr(err).spawn().map_err(failed)?;
    let status = Deadline::after(within).until(|| child.try_wait().transpose());
    let status = status.unwrap_or_else(|| {
        child.kill()?;
        child.wait()?;
        Err(io::ErrorKind::TimedOut.into())
    });
    let text = read(&mut said).unwrap_or_default();
    match status {
        Ok(status) if status.success() => Ok(text),
        Ok(status) => Err(ended(&line, status, &text)),
        Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(BrokerError::Late {
            what: format!("the end of `{line}`").into(),
            after: within,
            last: tail(&text).into(),
        }),
        Err(source) => Err(failed(source)),
    }
}

fn ended(line: &str, status: ExitStatus, text: &str) -> BrokerError {
    BrokerError::Command { command: line.into(), status, said: tail(text).into() }
}

/// A file that has no name any more: it goes with its last handle.
fn nameless() -> io::Result<File> {
    let path = std::env::temp_dir().join(crate::brokers::unique("queue-test-output"));
    let file = File::options().read(true).append(true).create_new(true).open(&path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

fn read(file: &mut File) -> io::Result<String> {
    file.rewind()?;
    Ok(String::from_utf8_lossy(&io::BufReader::new(file).bytes().collect::<io::Result<Vec<u8>>>()?).into_owned())
}

fn tail(text: &str) -> &str {
    let from = text.len().saturating_sub(SHOWN);
    let from = (from..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(from..).unwrap_or_default().trim()
}

/// As a person would write it. An argument of several lines, which is a script, is left out.
fn written(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args()).map(OsStr::to_string_lossy);
    words.map(|word| if word.contains('\n') { "…".to_owned() } else { word.into_owned() }).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use super::run;
    use crate::brokers::{BrokerError, Deadline};

    #[test]
    fn what_a_command_writes_is_kept_and_shown_when_it_fails() {
        let minute = Duration::from_secs(60);
        assert_eq!(run(Command::new("sh").args(["-c", "echo a; echo b >&2"]), minute).unwrap(), "a\nb\n");
        let error = run(Command::new("sh").args(["-c", "echo why; exit 3"]), minute).unwrap_err();
        assert_eq!(error.to_string(), "`sh -c echo why; exit 3` ended with exit status: 3: why");
    }

    #[test]
    fn a_command_that_hangs_is_ended() {
        let begun = Deadline::after(Duration::from_secs(10));
        let error = run(Command::new("sleep").arg("60"), Duration::from_millis(50)).unwrap_err();
        assert!(matches!(error, BrokerError::Late { .. }), "{error}");
        assert!(!begun.passed());
    }
}
