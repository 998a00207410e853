//! Writes a log of about a million events, or checks one, and prints what that cost as `key=value` lines.
//!
//! ```sh
//! cargo run --release -p queue-conformance --example million -- write run.log
//! cargo run --release -p queue-conformance --example million -- check run.log
//! ```

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::collections::VecDeque;
use std::fs::File;
use std::io::BufReader;

use queue::core::{Demand, Settling, Verdict};
use queue::{Ring, Worker};
use queue_conformance::history::{Claims, Order, Recorded, Recorder, check};
use tokio::time::Instant;

/// Each has 5 events.
const JOBS: u64 = 200_000;
/// How many jobs are open at once.
const ROUND: u64 = 1_000;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (what, log) = (arguments.next().unwrap(), arguments.next().unwrap());
    let start = Instant::now();
    match what.as_str() {
        "write" => write(&log),
        "check" => {
            let report = check(BufReader::with_capacity(1 << 18, File::open(&log).unwrap())).unwrap();
            println!("events={}\nholds={}", report.counts().events, report.holds());
        }
        _ => panic!("`write LOG` or `check LOG` was expected"),
    }
    println!("seconds={:.2}", start.elapsed().as_secs_f64());
    println!("bytes={}", std::fs::metadata(&log).unwrap().len());
    // Linux alone tells the peak.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse::<u64>().ok());
    println!("peak_mib={}", peak.unwrap_or(0) / 1_024);
}

/// Jobs through a recorded ring: published, delivered and acked, without an engine.
fn write(log: &str) {
    let recorder = Recorder::create(log, "main", Claims::new().order(Order::Queue).without_handlers()).unwrap();
    let ring = Recorded::new(Ring::new(), &recorder);
    ring.demand(Demand::of(1));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let mut taken = VecDeque::new();
        for first in (0..JOBS).step_by(ROUND as usize) {
            for job in first..(first + ROUND).min(JOBS) {
                ring.try_one(job).unwrap();
            }
            for _ in first..(first + ROUND).min(JOBS) {
                if taken.is_empty() {
                    ring.request(64, &mut taken).await.unwrap();
                }
                let mut settling = Settling::new(taken.pop_front().unwrap().into(), Verdict::Ack);
                assert!(ring.settle_now(std::slice::from_mut(&mut settling)));
            }
        }
    });
    recorder.close().unwrap();
}
