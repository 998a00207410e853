//! Handlers and runtimes that make a shutdown hard.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::common::{assert_attempts_add_up, assert_ring_adds_up, fill, fill_early, settle_down};
use crate::tokio;
use ::tokio::runtime::{Builder, Runtime};
use queue::{Context, Queue, Ring};
use tokio::time::timeout;

const LONG: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(10);

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap()
}

/// E-80, E-74: an async handler that blocks its thread, with jobs behind it in its slot. What is left is in the report.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_async_handler_that_blocks_its_thread_is_left_behind() {
    let (open, gate) = mpsc::channel::<()>();
    let gate = parking_lot::Mutex::new(gate);
    let builder = Queue::with_worker(Ring::new()).slots(1);
    fill_early(&builder.enqueuer(), 4).await;
    let handler = move |_: u64| {
        gate.lock().recv().unwrap();
        async {}
    };
    let queue = builder.start(handler).unwrap();
    settle_down(|| queue.stats().running == 1).await;
    let report = timeout(LONG, queue.shutdown(SHORT)).await.unwrap().unwrap();
    assert_eq!((report.abandoned(), report.stats().held, report.is_complete()), (1, 3, false));
    assert_ring_adds_up(report.stats());
    let (report, ()) = tokio::join!(queue.shutdown(LONG), async { open.send(()).unwrap() });
    let report = report.unwrap();
    assert_eq!((report.stats().done, report.unrun(), report.is_complete()), (1, 3, true));
    assert_ring_adds_up(report.stats());
}

/// A future that panics in its last poll, or in its drop: its job is returned all the same.
#[tokio::test(start_paused = true)]
async fn a_panic_while_it_is_cancelled_changes_nothing() {
    struct PanicsInDrop;
    impl Drop for PanicsInDrop {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                panic!("the drop of a cancelled handler");
            }
        }
    }
    let handler = async |job: u64, cx: Context| {
        let _drop = (job != 1).then(|| PanicsInDrop);
        cx.cancelled().await;
        assert!(job != 1, "the last poll of a cancelled handler");
        std::future::pending::<()>().await;
    };
    let queue = Queue::with_worker(Ring::new()).slots(3).start(handler).unwrap();
    fill(&queue, 3).await;
    settle_down(|| queue.stats().running == 3).await;
    let report = queue.shutdown(SHORT).await.unwrap();
    let stats = *report.stats();
    assert_eq!((stats.returned, stats.cut_short, stats.panicked, stats.slots), (3, 3, 0, 0));
    assert!(report.is_complete());
    assert_ring_adds_up(&stats);
    assert_attempts_add_up(&stats);
}

/// A queue is used, and ended, from a runtime that is not its own.
#[test]
fn a_queue_may_be_used_from_another_runtime() {
    let (own, other) = (runtime(), runtime());
    let queue = own.block_on(async { Queue::with_worker(Ring::new()).start(async |_: u64| ()).unwrap() });
    let report = other.block_on(async {
        fill(&queue, 10).await;
        queue.resize(2).await.unwrap();
        timeout(LONG, queue.shutdown(LONG)).await.unwrap().unwrap()
    });
    assert_eq!((report.stats().done, report.is_complete()), (10, true));
}

/// A runtime that ends takes the slots with it. Nobody waits for them afterwards, and the handlers' futures are gone.
#[test]
fn a_runtime_may_end_before_its_queue() {
    struct OnDrop(Arc<AtomicBool>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicBool::new(false));
    let handler = async |_: u64, cx: Context<Arc<AtomicBool>>| {
        let _guard = OnDrop(cx.state().clone());
        std::future::pending::<()>().await;
    };
    let (own, other) = (runtime(), runtime());
    let queue = own.block_on(async {
        let queue = Queue::with_worker(Ring::new()).slots(1).state(dropped.clone()).start(handler).unwrap();
        fill(&queue, 3).await;
        settle_down(|| queue.stats().running == 1).await;
        queue
    });
    drop(own);
    assert!(dropped.load(Ordering::SeqCst));
    assert_eq!(queue.stats().slots, 0);
    other.block_on(async {
        timeout(LONG, queue.resize(4)).await.unwrap().unwrap();
        let error = timeout(LONG, queue.shutdown(Duration::MAX)).await.unwrap().unwrap_err();
        assert!(error.source.to_string().contains("runtime is gone"), "{}", error.source);
        // What it had begun, and what nobody took.
        assert_eq!((error.report.abandoned(), error.report.stats().queued), (1, 2));
        assert_ring_adds_up(error.report.stats());
        queue.try_enqueue(9).await.unwrap_err();
    });
}

/// The last handle may go where there is no runtime, or none any more.
#[test]
fn the_last_handle_may_go_outside_of_a_runtime() {
    let own = runtime();
    let make = || own.block_on(async { Queue::with_worker(Ring::new()).start(async |_: u64| ()).unwrap() });
    let (first, second) = (make(), make());
    let (one, two) = (first.enqueuer(), second.enqueuer());
    drop(first);
    assert!(own.block_on(one.try_enqueue(1)).is_err());
    drop(own);
    drop(second);
    assert!(runtime().block_on(two.try_enqueue(1)).is_err());
}
