//! The thread that polls, and the one that commits.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use queue_core::{Clock, Codec, Delivery, Demand, Encoded, Event, EventLog, Ownership, Receipt};
use rdkafka::ClientContext;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext, Rebalance};
use rdkafka::message::{BorrowedMessage, Headers as _, Message, OwnedHeaders};
use rdkafka::{Offset, TopicPartitionList};
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;

use super::partitions::{Partitions, Place};
use queue_core::wire::Head;

/// How long a revoke waits for running jobs: below the session timeout.
const DRAIN: Duration = Duration::from_secs(20);
const COMMIT_EVERY: Duration = Duration::from_secs(1);
const POLL: Duration = Duration::from_millis(100);

/// What a record is settled by.
#[derive(Debug)]
pub struct OffsetReceipt {
    pub(super) place: Place,
    pub(super) key: Option<Bytes>,
    /// As they came: a copy starts from them.
    pub(super) headers: Option<OwnedHeaders>,
    pub(super) enqueued_ms: Option<u64>,
    pub(super) ownership: Ownership,
}

impl Receipt for OffsetReceipt {
    fn ownership(&self) -> Option<&Ownership> {
        Some(&self.ownership)
    }

    // No fence: an offset is the same each time it is handed out.
}

/// What worker and threads share.
pub(super) struct Shared<J, C> {
    pub(super) topic: String,
    pub(super) codec: C,
    pub(super) clock: Clock,
    pub(super) events: EventLog,
    pub(super) partitions: Partitions,
    /// What arrived and waits for a slot, and what came back from one: that first.
    pub(super) lane: Mutex<VecDeque<Delivery<Encoded<J, C>, OffsetReceipt>>>,
    pub(super) arrived: Notify,
    pub(super) demand: Mutex<Demand>,
    /// No more is handed out; the poll goes on, since the group must not lose us before the running jobs are settled.
    pub(super) closed: CancellationToken,
    pub(super) ended: CancellationToken,
    /// Held over each commit: a revoke waits for the one that is under way.
    committing: Mutex<()>,
    reassigned: AtomicBool,
}

impl<J: Send + 'static, C: Codec<J>> Shared<J, C> {
    pub(super) fn new(topic: &str, codec: C) -> Self {
        Self {
            topic: topic.to_owned(),
            codec,
            clock: Clock::new(),
            events: EventLog::new(64),
            partitions: Partitions::default(),
            lane: Mutex::default(),
            arrived: Notify::new(),
            demand: Mutex::new(Demand::of(0)),
            closed: CancellationToken::new(),
            ended: CancellationToken::new(),
            committing: Mutex::default(),
            reassigned: AtomicBool::new(false),
        }
    }

    fn arrive(&self, record: &BorrowedMessage<'_>) {
        self.events.note(Event::Fetched);
        let Some(place) = self.partitions.arrive(record.partition(), record.offset()) else { return };
        let pairs = record.headers().into_iter().flat_map(|headers| headers.iter());
        let mut head =
            Head::read(pairs.map(|header| (header.key, header.value.map(Bytes::copy_from_slice).unwrap_or_default())));
        if head.id.is_none() && head.source.is_none() {
            head.source = Some(format!("{}:{}:{}", self.topic, place.partition, place.offset).into());
        }
        head.enqueued_ms =
            head.enqueued_ms.or_else(|| record.timestamp().to_millis().and_then(|ms| ms.try_into().ok()));
        let body = Bytes::copy_from_slice(record.payload().unwrap_or_default());
        let payload = Encoded::new(self.codec.clone(), body)
            .with_content_type(head.content_type.take())
            .with_kind(head.kind.take());
        let receipt = OffsetReceipt {
            place,
            key: record.key().map(Bytes::copy_from_slice),
            headers: record.headers().map(|headers| headers.detach()),
            enqueued_ms: head.enqueued_ms,
            ownership: Ownership::new(),
        };
        self.lane.lock().push_back(Delivery { meta: head.meta(&self.clock, 0), payload, receipt });
        self.arrived.notify_one();
    }

    /// Commits positions as they are: `store_offset` and `commit_message` would add one, and skip the lowest open job.
    fn commit<X: ConsumerContext>(&self, consumer: &BaseConsumer<X>, only: Option<&[i32]>) {
        let _turn = self.committing.lock();
        let positions = self.partitions.positions(only);
        let mut list = TopicPartitionList::with_capacity(positions.len());
        for (partition, position) in &positions {
            if let Err(error) = list.add_partition_offset(&self.topic, *partition, Offset::Offset(*position)) {
                self.events.note(Event::Failed(error.to_string().into()));
            }
        }
        if positions.is_empty() {
            return;
        }
        // Sync: an async commit that fails is silent.
        match consumer.commit(&list, CommitMode::Sync) {
            Ok(()) => self.partitions.committed(&positions),
            Err(error) => self.events.note(Event::Failed(error.to_string().into())),
        }
    }

    /// Pauses what has no room and resumes what has. Polling goes on either way.
    fn flow(&self, consumer: &BaseConsumer<Group<J, C>>, paused: &mut BTreeSet<i32>, full: &mut bool) {
        let Demand { slots, ahead, .. } = *self.demand.lock();
        let (limit, held) = (if slots == 0 { 0 } else { slots + ahead }, self.lane.lock().len());
        // Each pause drops what was prefetched: hence the gap between the two.
        *full = self.closed.is_cancelled() || held >= limit || (*full && held > limit / 2);
        let now: BTreeSet<i32> =
            self.partitions.spans().into_iter().filter(|(_, wide)| *full || *wide).map(|(p, _)| p).collect();
        // A pause survives a rebalance, even of a partition lost and regained: each is told anew.
        let anew = self.reassigned.swap(false, Ordering::Relaxed);
        if now == *paused && !anew {
            return;
        }
        let (mut pause, mut resume) = (TopicPartitionList::new(), TopicPartitionList::new());
        for (partition, _) in self.partitions.spans() {
            let list = if now.contains(&partition) { &mut pause } else { &mut resume };
            list.add_partition(&self.topic, partition);
        }
        // A partition that left meanwhile is an error of its own, and no matter.
        for error in [consumer.pause(&pause), consumer.resume(&resume)].into_iter().filter_map(Result::err) {
            self.events.note(Event::Failed(error.to_string().into()));
        }
        *paused = now;
    }
}

/// The rebalance callbacks: they run on the polling thread.
pub(super) struct Group<J, C>(pub(super) Arc<Shared<J, C>>);

impl<J: Send + 'static, C: Codec<J>> ClientContext for Group<J, C> {}

impl<J: Send + 'static, C: Codec<J>> ConsumerContext for Group<J, C> {
    fn pre_rebalance(&self, consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        let partitions = |list: &TopicPartitionList| list.elements().iter().map(|e| e.partition()).collect::<Vec<_>>();
        match rebalance {
            Rebalance::Assign(list) => partitions(list).into_iter().for_each(|p| self.0.partitions.assign(p)),
            Rebalance::Revoke(list) => {
                let partitions = partitions(list);
                // A lost assignment is another member's already: a commit would be for it.
                if !consumer.assignment_lost() {
                    self.0.partitions.drain(&partitions, DRAIN);
                    self.0.commit(consumer, Some(&partitions));
                }
                let _turn = self.0.committing.lock();
                self.0.partitions.revoke(&partitions);
            }
            Rebalance::Error(error) => self.0.events.note(Event::Failed(error.to_string().into())),
        }
        self.0.reassigned.store(true, Ordering::Relaxed);
    }
}

/// Starts both threads. The receiver hears when the consumer is closed.
pub(super) fn start<J: Send + 'static, C: Codec<J>>(
    consumer: BaseConsumer<Group<J, C>>,
    shared: Arc<Shared<J, C>>,
) -> std::io::Result<oneshot::Receiver<()>> {
    let (done, closed) = oneshot::channel();
    let poll = move || {
        let consumer = Arc::new(consumer);
        let (stop, stopped) = channel::<()>();
        let committer = thread::Builder::new().name("kafka-commit".to_owned()).spawn({
            let (consumer, shared) = (consumer.clone(), shared.clone());
            move || commit_loop(&consumer, &shared, &stopped)
        });
        let (mut paused, mut full) = (BTreeSet::new(), false);
        while !shared.ended.is_cancelled() {
            shared.flow(&consumer, &mut paused, &mut full);
            match consumer.poll(POLL) {
                Some(Ok(record)) => shared.arrive(&record),
                // Broker down, rejoining: information, the client goes on by itself.
                Some(Err(error)) => shared.events.note(Event::Failed(error.to_string().into())),
                None => {}
            }
        }
        drop(stop);
        if committer.is_ok_and(|committer| committer.join().is_err()) {
            shared.events.note(Event::Failed("the committing thread has panicked".into()));
        }
        shared.commit(&consumer, None);
        // Polls until the group has let us go: the reason for a thread of its own, and for the deadline of whoever waits.
        drop(consumer);
        // An error: nobody waits any more.
        done.send(()).unwrap_or_default();
    };
    thread::Builder::new().name("kafka-poll".to_owned()).spawn(poll)?;
    Ok(closed)
}

fn commit_loop<J: Send + 'static, C: Codec<J>>(
    consumer: &BaseConsumer<Group<J, C>>,
    shared: &Shared<J, C>,
    stopped: &Receiver<()>,
) {
    while stopped.recv_timeout(COMMIT_EVERY) == Err(RecvTimeoutError::Timeout) {
        shared.commit(consumer, None);
    }
}
