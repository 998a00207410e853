//! A consumer process whose wall clock is off by an hour.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use integration_tests::faults::clock::{Shift, shift, sweep};
use integration_tests::faults::process::{State, state};
use tokio::time::Instant;

use crate::child::{self, Killed};

const HOUR: Duration = Duration::from_secs(3600);
const REST: Duration = Duration::from_millis(50);

/// The child: prints a line with the milliseconds of both of its clocks, and of a rest by the monotonic one.
#[test]
fn teller() {
    if child::is_one() {
        let start = Instant::now();
        while start.elapsed() < REST {
            thread::park_timeout(REST);
        }
        println!("told {} {} {}", wall().as_millis(), monotonic().as_millis(), start.elapsed().as_millis());
        thread::park_timeout(Duration::from_secs(60));
    }
}

fn wall() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

/// The monotonic clock, which is one for all processes. Only `Debug` tells it as the C library does: differences do not show a shift.
fn monotonic() -> Duration {
    let shown = format!("{:?}", Instant::now());
    let numbers = shown.split(|shown: char| !shown.is_ascii_digit()).filter(|number| !number.is_empty());
    let [seconds, nanos] = numbers.collect::<Vec<_>>()[..] else { panic!("{shown}") };
    Duration::new(seconds.parse().unwrap(), nanos.parse().unwrap())
}

/// Both clocks.
type Clocks = [Duration; 2];

fn clocks() -> Clocks {
    [wall(), monotonic()]
}

/// A child's clocks, ours before and after, and its rest.
struct Told {
    before: Clocks,
    theirs: Clocks,
    after: Clocks,
    rest: Duration,
}

fn ask(by: Option<Shift>) -> Told {
    let mut command = child::command("clock::teller");
    if let Some(by) = by {
        shift(&mut command, by).unwrap();
    }
    let before = clocks();
    let mut teller = Killed::start(command.stdout(Stdio::piped()));
    let pid = teller.id();
    let lines = BufReader::new(teller.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut told = lines.filter_map(|line| line.split_once("told ").map(|(_, told)| told.to_owned()));
    let (heard, hear) = mpsc::channel();
    let listener = thread::spawn(move || heard.send(told.next()).unwrap());
    let told = hear.recv_timeout(Duration::from_secs(20)).expect("it takes 20 seconds and more").unwrap();
    listener.join().unwrap();
    let after = clocks();
    let millis: Vec<_> = told.split(' ').map(|millis| Duration::from_millis(millis.parse().unwrap())).collect();
    let [wall, monotonic, rest] = millis[..] else { panic!("{told}") };
    let told = Told { before, theirs: [wall, monotonic], after, rest };

    // It was killed, and nothing of it is left.
    drop(teller);
    assert_eq!(state(pid).unwrap(), State::Gone);
    let left = format!("/dev/shm/faketime_shm_{pid}");
    assert_eq!(Path::new(&left).exists(), by.is_some());
    sweep(pid).unwrap();
    assert!(!Path::new(&left).exists());
    told
}

impl Told {
    /// Asserts that the child's wall clock, set right by that much, is between our two readings, and that its monotonic one is as it is.
    fn assert_right(&self, set_right: impl Fn(Duration) -> Duration) {
        // Theirs were cut to a millisecond.
        let milli = Duration::from_millis(1);
        let theirs = [set_right(self.theirs[0]), self.theirs[1]];
        for (clock, theirs) in theirs.into_iter().enumerate() {
            let [before, after] = [self.before[clock], self.after[clock]];
            assert!(before <= theirs + milli && theirs <= after, "{clock}: {theirs:?} in {before:?}..{after:?}");
        }
        assert!(self.rest >= REST, "{:?}", self.rest);
    }
}

#[test]
fn a_wall_clock_is_an_hour_ahead_or_behind_and_the_monotonic_one_is_not() {
    ask(None).assert_right(|theirs| theirs);
    ask(Some(Shift::Ahead(HOUR))).assert_right(|theirs| theirs - HOUR);
    ask(Some(Shift::Behind(HOUR))).assert_right(|theirs| theirs + HOUR);
}

#[test]
fn a_shift_is_kept_to_the_millisecond() {
    let by = Duration::from_millis(90_061_001);
    ask(Some(Shift::Ahead(by))).assert_right(|theirs| theirs - by);
}
