//! The fuzz targets, built as cargo-fuzz builds them but without it and with the stable compiler: what they need is the
//! coverage that LLVM counts, and that is a pass. Without the address sanitizer, which needs nightly: the libraries forbid
//! unsafe code.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::Done;
use crate::cargo;
use crate::command::Failure;

/// cargo-fuzz's flags.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// For all targets together.
const SECONDS: u64 = 60;

pub(super) fn run() -> Result<Done, Failure> {
    if Command::new("c++").arg("--version").output().is_err() {
        return Ok(Done::LeftOut("libFuzzer is C++, and there is no `c++`".to_owned()));
    }
    let host = host(&rustc()?)?;
    let (folder, built) = (cargo::folder("fuzz"), cargo::target("fuzz").join(&host).join("release"));
    // With a target of its own, so that build scripts are not fuzzed.
    let build = ["build", "--locked", "--release", "--bins", "--manifest-path", "fuzz/Cargo.toml", "--target", &host];
    cargo::run_with(&build, &[("RUSTFLAGS", FLAGS.to_owned()), folder])?;
    let targets = targets(&cargo::workspace().join("fuzz/fuzz_targets"))?;
    let each = SECONDS / targets.len() as u64;
    let failed: Vec<_> = targets.iter().filter(|target| one(&built.join(target), target, each).is_err()).collect();
    if failed.is_empty() {
        return Ok(Done::Well(format!("{} targets, {each} s each", targets.len())));
    }
    Err(Failure::new(format!("{failed:?}; the inputs are in {}", cargo::target("fuzz").display())))
}

/// New inputs go to the build folder, the seeds stay as they are.
fn one(program: &Path, target: &str, seconds: u64) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::new(format!("{target}: {error}"));
    let corpus = cargo::target("fuzz").join("corpus").join(target);
    fs::create_dir_all(&corpus).map_err(failed)?;
    let mut command = Command::new(program);
    command.arg(format!("-max_total_time={seconds}")).args(["-max_len=4096", "-timeout=10", "-rss_limit_mb=1024"]);
    command.arg("-print_final_stats=1");
    command.arg(format!("-artifact_prefix={}/{target}-", cargo::target("fuzz").display()));
    command.arg(&corpus).arg(cargo::workspace().join("fuzz/seeds").join(target));
    println!("+ {target} for {seconds} s");
    // It talks much: only how much it did is shown, or how it ended badly.
    let output = command.output().map_err(failed)?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let last: Vec<_> = said.lines().rev().take(40).collect();
        last.iter().rev().for_each(|line| println!("{line}"));
        return Err(Failure::new(format!("{target} failed")));
    }
    println!("{target}: {} inputs", inputs(&said).unwrap_or("an unknown number of"));
    Ok(())
}

/// How many inputs were tried.
fn inputs(said: &str) -> Option<&str> {
    said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:")).map(str::trim)
}

/// A file a target, by name.
fn targets(folder: &Path) -> Result<Vec<String>, Failure> {
    let failed = |error: std::io::Error| Failure::new(format!("{}: {error}", folder.display()));
    let mut names = Vec::new();
    for file in fs::read_dir(folder).map_err(failed)? {
        let path = file.map_err(failed)?.path();
        names.extend(path.file_stem().and_then(|name| name.to_str()).map(str::to_owned));
    }
    names.sort();
    if names.is_empty() { Err(Failure::new("there are no fuzz targets")) } else { Ok(names) }
}

fn rustc() -> Result<String, Failure> {
    let output = Command::new("rustc").arg("-vV").current_dir(cargo::workspace()).output();
    let output = output.map_err(|error| Failure::new(format!("rustc: {error}")))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The triple in what `rustc -vV` says.
fn host(said: &str) -> Result<String, Failure> {
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Failure::new("`rustc -vV` names no host"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{host, inputs, targets};
    use crate::cargo;

    #[test]
    fn the_host_is_found_in_what_rustc_says() {
        assert_eq!(host("rustc 1.95.0\nhost: x86_64-unknown-linux-gnu\n").unwrap(), "x86_64-unknown-linux-gnu");
        assert!(host("rustc 1.95.0\n").is_err());
    }

    #[test]
    fn the_inputs_are_counted_by_the_fuzzer() {
        assert_eq!(inputs("Done\nstat::number_of_executed_units: 392598\n"), Some("392598"));
        assert_eq!(inputs("Done"), None);
    }

    #[test]
    fn every_target_has_its_seeds() {
        let fuzz = cargo::workspace().join("fuzz");
        for target in targets(&fuzz.join("fuzz_targets")).unwrap() {
            assert!(fuzz.join("seeds").join(&target).read_dir().unwrap().next().is_some(), "{target}");
        }
        assert!(targets(Path::new("/nowhere")).is_err());
    }
}
