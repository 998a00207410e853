//! A worker extends the lease of a job while its receipt lives: the engine keeps it until the worker has the verdict.

use crate::tokio;
use queue::core::Verdict;
use queue::{Context, Queue, Retry};
use tokio::time::sleep;

use crate::common::{Broker, end, ms, until};

/// E-86: while it runs, waits in its slot for a retry, runs through a shutdown, and while its verdict is under way.
#[tokio::test(start_paused = true)]
async fn a_receipt_lives_until_its_verdict() {
    let broker = Broker::new();
    broker.settle_takes(ms(3_000));
    let handler = async |_: String, cx: Context| {
        sleep(ms(5_000)).await;
        if cx.attempt() == 1 { Err("not yet") } else { Ok(()) }
    };
    let builder = Queue::with_worker(broker.clone()).slots(1).retry(Retry::fixed(1, ms(10_000)));
    let queue = builder.start(handler).unwrap();
    let id = queue.enqueue("job".to_owned()).await.unwrap();
    until(|| queue.stats().running == 1).await;
    // 5 s, 10 s for the retry, and 2 s of the second attempt.
    for _ in 0..17 {
        assert_eq!(broker.leased(), [id]);
        sleep(ms(1_000)).await;
    }
    assert_eq!(queue.stats().started, 2);
    let ending = tokio::spawn({
        let queue = queue.clone();
        async move { end(&queue).await }
    });
    // 3 s more, and 3 s for the verdict.
    for second in 0..6 {
        assert_eq!((broker.leased(), broker.verdicts().len()), (vec![id], 0), "{second} s into the shutdown");
        let stats = queue.stats();
        assert_eq!((stats.ok, stats.running + stats.held), (u64::from(second > 3), 1));
        sleep(ms(if second == 3 { 1_001 } else { 1_000 })).await;
    }
    let report = ending.await.unwrap();
    assert_eq!((report.stats().done, report.stats().lost, broker.leased()), (1, 0, vec![]));
    assert!(matches!(broker.verdicts()[..], [(Verdict::Ack, ..)]));
}

/// E-86: what a slot holds and has not started, too; it is given up only with the verdict that returns it.
#[tokio::test(start_paused = true)]
async fn receipts_of_held_jobs_live_until_they_are_returned() {
    let broker = Broker::new().with_share(3);
    broker.settle_takes(ms(3_000));
    let ids = ["a", "b", "c"].map(|job| broker.publish(job.as_bytes()));
    let handler = async |_: String| sleep(ms(60_000)).await;
    let queue = Queue::with_worker(broker.clone()).slots(1).start(handler).unwrap();
    until(|| queue.stats().running == 1).await;
    sleep(ms(10_000)).await;
    assert_eq!(broker.leased(), ids);
    let ending = tokio::spawn({
        let queue = queue.clone();
        async move { end(&queue).await }
    });
    for left in [3, 2] {
        sleep(ms(2_999)).await;
        assert_eq!(broker.leased(), [&ids[..1], &ids[4 - left..]].concat(), "while one is returned after the other");
        sleep(ms(2)).await;
    }
    assert_eq!((broker.leased(), queue.stats().running), (ids[..1].to_vec(), 1));
    let report = ending.await.unwrap();
    assert_eq!((report.stats().done, report.stats().returned, report.stats().lost), (1, 2, 0));
}
