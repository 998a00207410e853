//! What becomes of a delivery that nobody settles: its process is killed, its receipt is dropped, its verdict comes late.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail their test")]

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use backend_file::{FileWorker, Folder};
use queue_core::{DeliveryOf, Entry, Payload, Room, Settled, Settling, Verdict, Worker};
use tokio::time::timeout;

/// Where the consumer process finds the folder; without it this is the test, not the consumer.
const PLACE: &str = "BACKEND_FILE_CRASH";
/// For how long anything may take.
const PATIENCE: Duration = Duration::from_secs(30);
const JOBS: u64 = 20;
const HELD: usize = 8;
const SETTLED: usize = 3;

type Files = FileWorker<u64>;

async fn connect(place: &Path) -> Files {
    Folder::new(place).poll(Duration::from_millis(20)).worker("crash").await.unwrap()
}

async fn publish(worker: &Files, count: u64) {
    let mut jobs: Vec<Entry<u64>> = (0..count).map(Entry::new).collect();
    worker.queue(&mut jobs, Room::Wait).await.unwrap();
    assert!(jobs.iter().all(|entry| entry.accepted().is_some()));
}

async fn take(worker: &Files, max: usize) -> VecDeque<DeliveryOf<Files>> {
    let mut got = VecDeque::new();
    timeout(PATIENCE, worker.request(max, &mut got)).await.unwrap().unwrap();
    got
}

/// Acknowledges a delivery: its attempt and its job.
async fn finish(worker: &Files, delivery: DeliveryOf<Files>) -> (u32, u64) {
    let attempt = delivery.meta.attempt;
    let (job, payload) = delivery.payload.take(true);
    let unsettled = queue_core::Unsettled { meta: delivery.meta, payload, receipt: delivery.receipt };
    let mut settling = [Settling::new(unsettled, Verdict::Ack)];
    timeout(PATIENCE, worker.settle(&mut settling)).await.unwrap().unwrap();
    assert_eq!(settling[0].answered(), Some(Settled::Done));
    (attempt, job.unwrap())
}

/// Runs one of this file's tests as a process of its own.
fn start(test: &str, place: &Path) -> Child {
    let mut this = Command::new(std::env::current_exe().unwrap());
    this.args([test, "--exact", "--nocapture"]).env(PLACE, place).stdin(Stdio::piped()).stdout(Stdio::piped());
    this.spawn().unwrap()
}

/// The consumer process: takes jobs, settles some, tells which, and then waits for its end.
#[test]
fn the_consumer() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let worker = connect(Path::new(&place)).await;
        let mut held = VecDeque::new();
        while held.len() < HELD {
            held.append(&mut take(&worker, HELD - held.len()).await);
        }
        let mut said = String::new();
        for delivery in held.drain(..SETTLED) {
            said += &format!(" {}", finish(&worker, delivery).await.1);
        }
        writeln!(std::io::stdout(), "\nsettled{said}").unwrap();
        // The end of its input is the end of the test, should nobody kill it.
        std::io::stdin().lock().read_line(&mut said).unwrap();
        drop(held);
    });
}

/// C-10, C-14: by SIGKILL, which runs no destructor.
#[tokio::test]
async fn what_a_killed_process_held_comes_again_one_attempt_on() {
    if std::env::var_os(PLACE).is_some() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let worker = connect(place.path()).await;
    publish(&worker, JOBS).await;

    let mut consumer = start("the_consumer", place.path());
    let lines = BufReader::new(consumer.stdout.take().unwrap()).lines();
    let settled = lines.map(Result::unwrap).find_map(|line| line.strip_prefix("settled ").map(str::to_owned));
    let settled: Vec<u64> = settled.unwrap().split(' ').map(|job| job.parse().unwrap()).collect();
    assert_eq!(settled.len(), SETTLED);
    consumer.kill().unwrap();
    consumer.wait().unwrap();

    let mut came = BTreeMap::new();
    while came.len() < JOBS as usize - SETTLED {
        for delivery in take(&worker, 5).await {
            let (attempt, job) = finish(&worker, delivery).await;
            assert_eq!(came.insert(job, attempt), None, "job {job} came twice");
        }
    }
    assert!(settled.iter().all(|job| !came.contains_key(job)), "a job that was settled came again");
    let again = came.values().filter(|attempt| **attempt == 2).count();
    let first = came.values().filter(|attempt| **attempt == 1).count();
    assert_eq!((again, first), (HELD - SETTLED, JOBS as usize - HELD));
    let mut none = VecDeque::new();
    let more = timeout(Duration::from_millis(200), worker.request(1, &mut none)).await;
    assert!(more.is_err(), "something was left: {none:?}");
}

/// A receipt that is dropped is given up while its worker goes on: the job comes again, to whoever asks.
#[tokio::test]
async fn what_is_dropped_unsettled_comes_again_one_attempt_on() {
    let place = tempfile::tempdir().unwrap();
    let worker = connect(place.path()).await;
    publish(&worker, 1).await;
    drop(take(&worker, 1).await);
    let again = take(&worker, 1).await.remove(0).unwrap();
    assert_eq!(finish(&worker, again).await, (2, 0));
}

/// A settle is dropped half way and asked again: by then its job is handed out anew, and that delivery is not touched.
#[tokio::test]
async fn a_verdict_that_comes_late_leaves_the_next_delivery_alone() {
    let place = tempfile::tempdir().unwrap();
    let worker = connect(place.path()).await;
    publish(&worker, 1).await;
    let first = take(&worker, 1).await.remove(0).unwrap();
    let mut late = [Settling::new(first.into(), Verdict::Return { after: Duration::ZERO })];
    {
        let mut settle = std::pin::pin!(worker.settle(&mut late));
        std::future::poll_fn(|cx| std::task::Poll::Ready(settle.as_mut().poll(cx).is_ready())).await;
    }
    let second = take(&worker, 1).await.remove(0).unwrap();
    assert_eq!(second.meta.attempt, 1);
    if late[0].answered().is_none() {
        timeout(PATIENCE, worker.settle(&mut late)).await.unwrap().unwrap();
        assert_eq!(late[0].answered(), Some(Settled::LostOwnership));
    }
    assert_eq!(finish(&worker, second).await, (1, 0));
}
