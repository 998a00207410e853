//! `cargo xtask release-check`: the slow rest of what a release must pass.
//!
//! Each step is a file: it says what it does, and ends well, ends badly, or is left out where the machine has not what it
//! takes. All steps run, also after one has failed, so that one run shows everything; the last line is the verdict, and
//! names what was left out.

mod advisories;
mod fuzz;
mod guard;
mod msrv;
mod options;

use crate::command::{Failure, Verdict};
use crate::models;
use options::Options;

/// How a step ended, if not badly.
#[derive(Debug, PartialEq, Eq)]
enum Done {
    /// In a few words.
    Well(String),
    /// Why it was not done.
    LeftOut(String),
}

/// One step.
struct Step {
    /// The word that selects it.
    name: &'static str,
    /// What it does, printed before it.
    about: &'static str,
    run: fn() -> Result<Done, Failure>,
}

const STEPS: [Step; 5] = [
    Step { name: "models", about: "the large models, with more threads and switches", run: large_models },
    Step { name: "fuzz", about: "each fuzz target for some seconds, a minute together", run: fuzz::run },
    Step { name: "instructions", about: "instructions a job, against the stored values", run: guard::run },
    Step { name: "advisories", about: "known weaknesses of the dependencies", run: advisories::run },
    Step { name: "msrv", about: "a build with the oldest supported compiler", run: msrv::run },
];

/// Runs all steps, or those that are named.
///
/// # Errors
/// A step ended badly.
pub(crate) fn run(rest: &[String]) -> Verdict {
    match Options::read(rest, &STEPS.each_ref().map(|step| step.name))? {
        Options::Help => {
            println!("cargo xtask release-check [STEP…]\ncargo xtask release-check --store");
            STEPS.iter().for_each(|step| println!("  {:<14}{}", step.name, step.about));
            println!("  {:<14}counts instructions and stores them as the values to hold", "--store");
            Ok(format!("{} steps", STEPS.len()))
        }
        Options::Store => guard::store(),
        Options::Steps(names) => {
            let selected = STEPS.iter().filter(|step| names.is_empty() || names.iter().any(|name| name == step.name));
            let ends: Vec<_> = selected.map(|step| (step.name, one(step))).collect();
            verdict(&ends)
        }
    }
}

fn one(step: &Step) -> Result<Done, Failure> {
    println!("\n== {}: {}", step.name, step.about);
    let end = (step.run)();
    match &end {
        Ok(Done::Well(said)) => println!("== {}: ok: {said}", step.name),
        Ok(Done::LeftOut(why)) => println!("== {}: LEFT OUT: {why}", step.name),
        Err(failure) => println!("== {}: FAILED: {failure}", step.name),
    }
    end
}

fn large_models() -> Result<Done, Failure> {
    models::large()?;
    Ok(Done::Well("every large model held".to_owned()))
}

/// The last line.
fn verdict(ends: &[(&str, Result<Done, Failure>)]) -> Verdict {
    let names = |wanted: fn(&Result<Done, Failure>) -> bool| -> Vec<&str> {
        ends.iter().filter(|(_, end)| wanted(end)).map(|(name, _)| *name).collect()
    };
    let (failed, left_out) = (names(Result::is_err), names(|end| matches!(end, Ok(Done::LeftOut(_)))));
    let passed = ends.len() - failed.len() - left_out.len();
    let left_out =
        if left_out.is_empty() { "none left out".to_owned() } else { format!("LEFT OUT: {}", left_out.join(", ")) };
    if failed.is_empty() {
        return Ok(format!("{passed} of {} steps passed, {left_out}", ends.len()));
    }
    Err(Failure::new(format!("{}; {passed} of {} steps passed, {left_out}", failed.join(", "), ends.len())))
}

#[cfg(test)]
mod tests {
    use super::{Done, verdict};
    use crate::command::Failure;

    #[test]
    fn the_last_line_names_what_failed_and_what_was_left_out() {
        let well = || Ok(Done::Well(String::new()));
        assert_eq!(verdict(&[("a", well())]).unwrap(), "1 of 1 steps passed, none left out");
        let left_out = || ("b", Ok(Done::LeftOut("no tool".to_owned())));
        assert_eq!(verdict(&[("a", well()), left_out()]).unwrap(), "1 of 2 steps passed, LEFT OUT: b");
        let failure = verdict(&[("a", well()), left_out(), ("c", Err(Failure::new("why")))]).unwrap_err();
        assert_eq!(failure.to_string(), "c; 1 of 3 steps passed, LEFT OUT: b");
    }
}
