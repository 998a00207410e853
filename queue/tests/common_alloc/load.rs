//! A load in two phases, warm-up and measured, with the same tasks in both.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use queue::{Builder, Handler, HandlerResult, Queue, Ring};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

use super::allocations_of;

/// What the handlers count.
#[derive(Default)]
pub(crate) struct Seen {
    jobs: AtomicUsize,
    target: AtomicUsize,
    reached: Notify,
}

impl Seen {
    /// A job has ended, or all but.
    pub(crate) fn one(&self) {
        if self.jobs.fetch_add(1, Ordering::SeqCst) + 1 == self.target.load(Ordering::SeqCst) {
            self.reached.notify_one();
        }
    }
}

/// How many of each, and how much fits between.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) producers: usize,
    pub(crate) slots: usize,
    /// The ring's capacity and floor; less than a producer's part of the warm-up.
    pub(crate) capacity: usize,
}

impl Shape {
    /// One to one, one to many, many to many.
    pub(crate) const ALL: [Self; 3] = [
        Self { producers: 1, slots: 1, capacity: 1_024 },
        Self { producers: 1, slots: 4, capacity: 1_024 },
        Self { producers: 16, slots: 16, capacity: 256 },
    ];

    pub(crate) fn ring(self) -> Ring<u64> {
        Ring::builder().capacity(self.capacity).floor(self.capacity).build().unwrap()
    }
}

/// Jobs from several producers through several slots, more than fit into the ring.
pub(crate) struct Load {
    shape: Shape,
    /// Before they are counted, and those that are.
    jobs: [usize; 2],
}

impl Load {
    pub(crate) const fn new(shape: Shape) -> Self {
        Self { shape, jobs: [10_000, 100_000] }
    }

    /// For jobs that take longer: fewer of them.
    pub(crate) const fn of(shape: Shape, warm_up: usize, jobs: usize) -> Self {
        Self { shape, jobs: [warm_up, jobs] }
    }

    /// How often the process allocates while the measured jobs go in, wait and run.
    ///
    /// No slot runs until all producers wait for room, so the warm-up has seen as many waiters as there can be.
    pub(crate) async fn allocations<M, H>(
        &self,
        builder: Builder<Ring<u64>>,
        handler: impl FnOnce(Arc<Seen>) -> H,
    ) -> usize
    where
        M: 'static,
        H: Handler<M, u64, (), Output: HandlerResult, Future: Send>,
    {
        let Shape { producers, slots, .. } = self.shape;
        let seen = Arc::new(Seen::default());
        let queue = builder.slots(0).start(handler(seen.clone())).unwrap();
        let phase = Arc::new(Semaphore::new(producers));
        let waits = Arc::new(Semaphore::new(0));
        let parts = self.jobs.map(|jobs| jobs / producers);
        seen.target.store(parts[0] * producers, Ordering::SeqCst);
        let mut tasks = JoinSet::new();
        for _ in 0..producers {
            tasks.spawn(produce(queue.clone(), phase.clone(), waits.clone(), parts));
        }
        waits.acquire_many(u32::try_from(producers).unwrap()).await.unwrap().forget();
        queue.resize(slots).await.unwrap();
        seen.reached.notified().await;

        waits.forget_permits(waits.available_permits());
        seen.target.fetch_add(parts[1] * producers, Ordering::SeqCst);
        let count = allocations_of(async {
            phase.add_permits(producers);
            seen.reached.notified().await;
        })
        .await;
        assert!(waits.available_permits() > 0, "the measured part has waits in it");
        tasks.join_all().await;
        let report = queue.shutdown(Duration::from_secs(60)).await.unwrap();
        assert_eq!(report.stats().done, (parts.iter().sum::<usize>() * producers) as u64);
        count
    }
}

async fn produce(queue: Queue<Ring<u64>>, phase: Arc<Semaphore>, waits: Arc<Semaphore>, parts: [usize; 2]) {
    for part in parts {
        phase.acquire().await.unwrap().forget();
        for job in 0..part {
            let mut enqueue = pin!(queue.enqueue(job as u64));
            let mut waited = false;
            let enqueued = poll_fn(|cx| {
                let polled = enqueue.as_mut().poll(cx);
                if polled.is_pending() && !std::mem::replace(&mut waited, true) {
                    waits.add_permits(1);
                }
                polled
            });
            enqueued.await.unwrap();
        }
    }
}
