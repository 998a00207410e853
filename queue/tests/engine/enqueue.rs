//! What an enqueue answers: the id, `Closed`, order, and counts that never run ahead.

use std::collections::HashSet;
use std::process::Command;
use std::sync::Arc;

use crate::tokio;
use parking_lot::Mutex;
use queue::{Context, EnqueueError, Queue, Retry, Ring};
use tokio::sync::mpsc::unbounded_channel;

use crate::common::{Broker, dead, end, ms, until};

/// E-10
#[tokio::test(start_paused = true)]
async fn the_id_is_the_one_that_everybody_sees() {
    let (seen, mut ids) = unbounded_channel();
    let handler = move |_: u32, cx: Context| {
        seen.send(cx.id()).unwrap();
        async { Err::<(), _>("no") }
    };
    let queue = Queue::with_worker(Ring::new()).slots(1).retry(Retry::fixed(1, ms(1))).start(handler).unwrap();
    let (plain, with_options) = (queue.enqueue(1).await.unwrap(), queue.job(2).priority(1).enqueue().await.unwrap());
    assert_ne!(plain, with_options);
    // The id of an earlier enqueue that was not confirmed.
    let again = queue.job(3).id(queue::JobId::from(42)).enqueue().await.unwrap();
    assert_eq!(again.get(), 42);
    tokio::time::sleep(ms(100)).await;
    let expected: HashSet<_> = [plain, with_options, again].into();
    assert_eq!(dead(&queue).await.iter().map(|letter| letter.meta.id).collect::<HashSet<_>>(), expected);
    drop(end(&queue).await);
    drop(queue);
    let mut in_contexts = HashSet::new();
    while let Some(id) = ids.recv().await {
        in_contexts.insert(id);
    }
    assert_eq!(in_contexts, expected);
}

/// E-10: Ok comes after the broker's confirmation, not before.
#[tokio::test(start_paused = true)]
async fn ok_means_that_the_worker_has_the_job() {
    let broker = Broker::new();
    let queue = Queue::with_worker(broker.clone()).producer().unwrap();
    let mut enqueue = Box::pin(queue.enqueue("job".to_owned()));
    let first = std::future::poll_fn(|cx| std::task::Poll::Ready(enqueue.as_mut().poll(cx))).await;
    assert!(first.is_pending() && broker.ready() == 0, "not confirmed yet");
    enqueue.await.unwrap();
    assert_eq!(broker.ready(), 1);

    let queue = Queue::with_worker(Ring::new()).producer().unwrap();
    queue.enqueue(1_u32).await.unwrap();
    assert_eq!(queue.worker().len(), 1);
}

/// E-10: half a million ids here, half a million in another process.
#[tokio::test]
async fn two_processes_share_no_id() {
    const CHILD: &str = "QUEUE_TEST_IDS_FILE";
    const HALF: usize = 500_000;
    let queue = Queue::with_worker(Ring::builder().floor(HALF).build::<u32>().unwrap()).producer().unwrap();
    let ids = queue.enqueue_many(std::iter::repeat_n(0, HALF)).await.unwrap();
    if let Some(path) = std::env::var_os(CHILD) {
        let bytes: Vec<u8> = ids.iter().flat_map(|id| id.get().to_le_bytes()).collect();
        return std::fs::write(path, bytes).unwrap();
    }
    let path = std::env::temp_dir().join(format!("queue-ids-{}-{}", std::process::id(), ids[0]));
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "enqueue::two_processes_share_no_id"]).env(CHILD, &path);
    let output = tokio::task::spawn_blocking(move || child.output().unwrap()).await.unwrap();
    assert!(output.status.success(), "{output:?}");
    let theirs = std::fs::read(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    let theirs = theirs.chunks(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()));
    let all: HashSet<u64> = ids.iter().map(|id| id.get()).chain(theirs).collect();
    assert_eq!(all.len(), 2 * HALF);
}

/// E-11
#[tokio::test(start_paused = true)]
async fn after_shutdown_began_the_same_value_comes_back() {
    let queue = Queue::with_worker(Ring::new()).slots(1).start(async |_: Box<u32>| ()).unwrap();
    let enqueuer = queue.enqueuer();
    queue.enqueue(Box::new(1)).await.unwrap();
    drop(end(&queue).await);
    let job = Box::new(2);
    let address = std::ptr::from_ref::<u32>(&job);
    let Err(EnqueueError::Closed(job)) = queue.enqueue(job).await else { panic!("a closed queue took a job") };
    let Err(EnqueueError::Closed(job)) = enqueuer.try_enqueue(job).await else { panic!("a closed queue took a job") };
    assert!(std::ptr::eq(address, &raw const *job));
    let Err(EnqueueError::Closed(job)) = queue.job(job).delay(ms(1)).enqueue().await else {
        panic!("a closed queue took a job")
    };
    let error = queue.enqueue_many([job]).await.unwrap_err();
    assert!(matches!(&error.refused[..], [EnqueueError::Closed(job)] if std::ptr::eq(address, &raw const **job)));
    let stats = queue.stats();
    assert_eq!((stats.accepted, stats.rejected), (1, 4));
}

/// E-11: begun, not ended.
#[tokio::test(start_paused = true)]
async fn a_queue_that_is_shutting_down_takes_no_job() {
    let gate = crate::common::Gate::new();
    let pass = gate.clone();
    let handler = move |_: u32| {
        let pass = pass.clone();
        async move { pass.pass().await }
    };
    let queue = Queue::with_worker(Ring::new()).slots(1).start(handler).unwrap();
    queue.enqueue(1).await.unwrap();
    until(|| queue.stats().running == 1).await;
    let ending = tokio::spawn({
        let queue = queue.clone();
        async move { end(&queue).await.stats().done }
    });
    crate::common::settle_down().await;
    assert!(matches!(queue.enqueue(2).await, Err(EnqueueError::Closed(2))));
    assert_eq!((queue.stats().accepted, queue.stats().rejected), (1, 1));
    gate.open(1);
    assert_eq!(ending.await.unwrap(), 1);
}

/// E-17: by the queue and by an enqueuer.
#[tokio::test(start_paused = true)]
async fn a_batch_fills_the_room_and_gives_the_rest_back_in_order() {
    for erased in [false, true] {
        let queue = Queue::with_worker(Ring::builder().capacity(600).build().unwrap()).producer().unwrap();
        let enqueuer = queue.enqueuer();
        let offered = 0..1_000_u32;
        let error =
            if erased { enqueuer.try_enqueue_many(offered).await } else { queue.try_enqueue_many(offered).await };
        let error = error.unwrap_err();
        assert_eq!(error.accepted.len(), 600);
        assert!(error.refused.iter().all(|error| matches!(error, EnqueueError::Full(_))));
        let refused: Vec<_> = error.refused.into_iter().map(EnqueueError::into_job).collect();
        assert_eq!(refused, (600..1_000).collect::<Vec<_>>());
        assert_eq!((queue.stats().accepted, queue.stats().rejected), (600, 400));
        let unrun = end(&queue).await.take_unrun();
        let ids: Vec<_> = unrun.iter().map(|unrun| unrun.id).collect();
        let jobs: Vec<_> = unrun.into_iter().map(|unrun| unrun.job.unwrap()).collect();
        assert_eq!(jobs, (0..600).collect::<Vec<_>>());
        assert_eq!(ids, error.accepted, "ids are in the order of the jobs");
        let error = enqueuer.enqueue_many([7]).await.unwrap_err();
        assert!(matches!(error.refused[..], [EnqueueError::Closed(7)]));
    }
    let queue = Queue::with_worker(Ring::<u32>::new()).producer().unwrap();
    assert_eq!(queue.enqueue_many([]).await.unwrap(), []);
    assert_eq!(queue.enqueuer().enqueue_many([1, 2]).await.unwrap().len(), 2);
}

/// E-21
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn no_reading_shows_more_ended_than_accepted() {
    let handler = |job: u64| std::future::ready(if job.is_multiple_of(5) { Err("every fifth") } else { Ok(()) });
    let ring = Ring::builder().capacity(64).build().unwrap();
    let queue = Queue::with_worker(ring).slots(4).retry(Retry::none()).start(handler).unwrap();
    let stop = tokio_util::sync::CancellationToken::new();
    let producers: Vec<_> = (0..4)
        .map(|_| {
            let (queue, stop) = (queue.clone(), stop.clone());
            tokio::spawn(async move {
                for job in 0.. {
                    if stop.is_cancelled() {
                        break;
                    }
                    queue.enqueue(job).await.unwrap();
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    until(|| queue.stats().done > 0).await;
    for _ in 0..10_000 {
        let stats = queue.stats();
        assert!(stats.done + stats.dead <= stats.accepted, "{stats:?}");
    }
    stop.cancel();
    for producer in producers {
        producer.await.unwrap();
    }
    let report = end(&queue).await;
    let stats = report.stats();
    assert_eq!(stats.done + stats.dead, stats.accepted);
    assert!(stats.dead > 0);
}

/// E-22
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_slot_keeps_the_order_of_each_producer() {
    let runs: Arc<Mutex<Vec<Vec<u32>>>> = Arc::new(Mutex::new(vec![Vec::new(); 4]));
    let seen = runs.clone();
    let handler = move |(producer, job): (usize, u32)| {
        seen.lock()[producer].push(job);
        // Every other job waits, so that batches are cut and given back.
        async move {
            if job.is_multiple_of(2) {
                tokio::task::yield_now().await;
            }
        }
    };
    let queue = Queue::with_worker(Ring::new()).slots(1).start(handler).unwrap();
    let producers = (0..4).map(|producer| {
        let queue = queue.clone();
        tokio::spawn(async move {
            for job in 0..50 {
                queue.enqueue((producer, job)).await.unwrap();
                tokio::task::yield_now().await;
            }
        })
    });
    for producer in producers.collect::<Vec<_>>() {
        producer.await.unwrap();
    }
    assert_eq!(end(&queue).await.stats().done, 200);
    assert!(runs.lock().iter().all(|jobs| *jobs == (0..50).collect::<Vec<_>>()));
}
