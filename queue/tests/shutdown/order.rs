//! In which order a shutdown does things, and what it leaves: nothing.

use std::sync::Arc;
use std::time::Duration;

use crate::common::{Broker, Journal, Server, assert_tasks_gone, fill, fill_early, settle_down};
use crate::tokio;
use queue::{Completion, Context, Queue, Ring, Worker};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

const LONG: Duration = Duration::from_secs(60);

async fn gated(_: u64, cx: Context<Arc<Semaphore>>) {
    cx.state().acquire().await.unwrap().forget();
}

/// A hook that takes a second, and notes its begin and end.
fn noting(journal: &Journal) -> impl Fn(Completion) -> futures::Hook + use<> {
    let journal = journal.clone();
    move |_| {
        let journal = journal.clone();
        Box::pin(async move {
            journal.lock().push("hook");
            sleep(Duration::from_secs(1)).await;
            journal.lock().push("hook over");
        })
    }
}

mod futures {
    pub(super) type Hook = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// E-85: one slot has a job that runs and three that it holds, the other waits in its request.
#[tokio::test(start_paused = true)]
async fn requests_end_then_unstarted_go_back_then_running_end_then_hooks_then_the_worker() {
    let (server, gate) = (Server::default(), Arc::new(Semaphore::new(0)));
    let worker = Broker::new(&server).with_share(4);
    let journal = worker.journal.clone();
    let builder = Queue::with_worker(worker).slots(2).state(gate.clone()).on_complete(noting(&journal));
    fill_early(&builder.enqueuer(), 4).await;
    let queue = builder.start(gated).unwrap();
    settle_down(|| queue.stats().running == 1 && queue.stats().held == 3).await;
    assert_eq!(journal.lock().drain(..).collect::<Vec<_>>(), ["request", "request over", "request"]);
    let opens = async {
        sleep(Duration::from_secs(5)).await;
        assert_eq!(*journal.lock(), ["request over", "return", "return", "return"]);
        gate.add_permits(1);
    };
    let (report, ()) = tokio::join!(queue.shutdown(LONG), opens);
    let report = report.unwrap();
    assert_eq!((report.stats().done, report.stats().returned, report.is_complete()), (1, 3, true));
    sleep(LONG).await;
    let order = ["request over", "return", "return", "return", "ack", "hook", "hook over", "end"];
    assert_eq!(*journal.lock(), order, "and nothing after the end");
    // Nor is the worker asked for anything by those who come late.
    queue.enqueue(9).await.unwrap_err();
    queue.resize(4).await.unwrap_err();
    drop(queue.shutdown(LONG).await.unwrap());
    assert_eq!(journal.lock().len(), order.len());
}

/// E-85: the same at the deadline, where what runs goes back.
#[tokio::test(start_paused = true)]
async fn the_order_is_the_same_at_the_deadline() {
    let server = Server::default();
    let worker = Broker::new(&server);
    let journal = worker.journal.clone();
    let builder = Queue::with_worker(worker).slots(3).on_complete(noting(&journal));
    fill_early(&builder.enqueuer(), 2).await;
    let queue = builder.state(Arc::new(Semaphore::new(0))).start(gated).unwrap();
    settle_down(|| queue.stats().running == 2).await;
    journal.lock().clear();
    let report = queue.shutdown(Duration::from_secs(5)).await.unwrap();
    assert_eq!((report.stats().returned, report.unfinished_hooks(), server.len()), (2, 2, 2));
    sleep(LONG).await;
    assert_eq!(*journal.lock(), ["request over", "return", "hook", "return", "hook", "end"], "the hooks had no time");
}

async fn leaves_nothing<W: Worker<Job = u64>>(worker: W) {
    let metrics = Handle::current().metrics();
    let before = metrics.num_alive_tasks();
    let handler = async |job: u64| {
        if job.is_multiple_of(2) {
            sleep(Duration::from_millis(job)).await;
        }
        assert!(!job.is_multiple_of(100), "one of the panics");
    };
    let queue = Queue::with_worker(worker).slots(10).timeout(LONG).start(handler).unwrap();
    fill(&queue, 400).await;
    settle_down(|| queue.stats().running == 10).await;
    assert!(metrics.num_alive_tasks() >= before + 10);
    let report = queue.shutdown(LONG).await.unwrap();
    assert!(report.is_complete());
    assert_tasks_gone(&metrics, before).await;
}

/// E-88
#[tokio::test(start_paused = true)]
async fn no_task_is_left_of_four_hundred_jobs() {
    leaves_nothing(Ring::new()).await;
    leaves_nothing(Broker::new(&Server::default())).await;
}

async fn ends_at_once<W: Worker<Job = u64>>(worker: W) {
    let queue = Queue::with_worker(worker).slots(8).start(async |_: u64| ()).unwrap();
    fill(&queue, 8).await;
    sleep(LONG).await;
    assert_eq!(queue.stats().done, 8);
    let start = Instant::now();
    let report = queue.shutdown(LONG).await.unwrap();
    assert_eq!((report.is_complete(), start.elapsed()), (true, Duration::ZERO));
}

/// E-88
#[tokio::test(start_paused = true)]
async fn an_idle_queue_ends_while_the_clock_stands() {
    ends_at_once(Ring::new()).await;
    ends_at_once(Broker::new(&Server::default())).await;
}
