//! The task that consumes, and the epoch of what it hands out.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use lapin::message::Delivery;
use lapin::options::{BasicCancelOptions, BasicConsumeOptions, BasicNackOptions, BasicQosOptions};
use lapin::types::FieldTable;
use lapin::{Acker, BasicProperties, Channel, Consumer};
use parking_lot::Mutex;
use queue_core::{Demand, Event, EventLog, Loss, Ownership, Receipt};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// How long a cancelled consumer may take to end its stream.
const CANCEL: Duration = Duration::from_secs(5);

/// One channel's life: what came from it can be settled only while it lasts.
#[derive(Debug, Default)]
pub(super) struct Epoch {
    over: AtomicBool,
    tokens: Mutex<HashMap<u64, Ownership>>,
}

impl Epoch {
    fn hand_out(&self, tag: u64) -> Ownership {
        let token = Ownership::new();
        self.tokens.lock().insert(tag, token.clone());
        token
    }

    /// The channel is gone: the broker hands everything out again.
    fn end(&self) {
        // Release: whoever sees the end sees it before the broker's next delivery of the same job.
        self.over.store(true, Ordering::Release);
        // No waker runs under the lock.
        let tokens = std::mem::take(&mut *self.tokens.lock());
        for token in tokens.into_values() {
            token.lose(Loss::Disconnected);
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
}

/// What a delivery is settled by. Dropped unsettled it goes back to the queue: it would block a place of the prefetch for ever.
#[derive(Debug)]
pub struct TagReceipt {
    pub(super) acker: Acker,
    /// As they came: a copy starts from them.
    pub(super) properties: BasicProperties,
    pub(super) epoch: Arc<Epoch>,
    tag: u64,
    ownership: Ownership,
    abandoned: mpsc::UnboundedSender<Acker>,
}

impl Receipt for TagReceipt {
    fn ownership(&self) -> Option<&Ownership> {
        Some(&self.ownership)
    }
}

impl Drop for TagReceipt {
    fn drop(&mut self) {
        self.epoch.tokens.lock().remove(&self.tag);
        if self.acker.usable() {
            // An error: the consumer has ended, and the channel's end gives it back.
            drop(self.abandoned.send(self.acker.clone()));
        }
    }
}

/// A message and what it is settled by.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) data: Vec<u8>,
    pub(super) redelivered: bool,
    pub(super) receipt: TagReceipt,
}

/// Consumes on a channel of its own. A new demand is a new consumer, since the prefetch binds only those that start after it.
pub(super) struct Consuming {
    pub(super) channel: Channel,
    pub(super) queue: String,
    pub(super) demand: watch::Receiver<Demand>,
    pub(super) feed: mpsc::UnboundedSender<Raw>,
    pub(super) closed: CancellationToken,
    pub(super) events: EventLog,
    pub(super) epoch: Arc<Epoch>,
}

/// Why a consumer ended.
enum End {
    Demand,
    Closed,
    Lost(String),
}

impl Consuming {
    pub(super) async fn run(mut self) {
        let (abandon, mut abandoned) = mpsc::unbounded_channel();
        loop {
            match self.consume(&abandon, &mut abandoned).await {
                Ok(End::Demand) => {}
                Ok(End::Closed) => return,
                Ok(End::Lost(why)) => return self.lost(&why),
                Err(error) => return self.lost(&error.to_string()),
            }
        }
    }

    fn lost(&self, why: &str) {
        self.epoch.end();
        self.events.note(Event::Disconnected(why.into()));
    }

    async fn consume(
        &mut self,
        abandon: &mpsc::UnboundedSender<Acker>,
        abandoned: &mut mpsc::UnboundedReceiver<Acker>,
    ) -> lapin::Result<End> {
        let demand = tokio::select! {
            biased;
            () = self.closed.cancelled() => return Ok(End::Closed),
            demand = self.demand.wait_for(|demand| demand.slots > 0) => match demand {
                Ok(demand) => *demand,
                Err(_) => return Ok(End::Closed),
            },
        };
        let prefetch = u16::try_from(demand.slots.saturating_add(demand.ahead)).unwrap_or(u16::MAX);
        self.channel.basic_qos(prefetch, BasicQosOptions { global: false }).await?;
        let (queue, options) = (self.queue.as_str().into(), BasicConsumeOptions::default());
        let mut consumer = self.channel.basic_consume(queue, "".into(), options, FieldTable::default()).await?;
        let end = loop {
            tokio::select! {
                biased;
                () = self.closed.cancelled() => break End::Closed,
                changed = self.demand.changed() => break if changed.is_ok() { End::Demand } else { End::Closed },
                Some(acker) = abandoned.recv() => {
                    acker.nack(BasicNackOptions { requeue: true, multiple: false }).await?;
                }
                next = consumer.next() => match next {
                    Some(Ok(delivery)) => self.hand_out(delivery, abandon),
                    Some(Err(error)) => return Ok(End::Lost(error.to_string())),
                    // Deleted queue or server cancel: no error, and the channel is open. Nobody here asked for it.
                    None => return Ok(End::Lost("the broker cancelled the consumer".to_owned())),
                },
            }
        };
        self.channel.basic_cancel(consumer.tag(), BasicCancelOptions::default()).await?;
        self.drain(consumer, abandon).await;
        Ok(end)
    }

    /// Takes what was delivered before the cancel: it is ours until it is settled.
    async fn drain(&self, mut consumer: Consumer, abandon: &mpsc::UnboundedSender<Acker>) {
        while let Ok(Some(Ok(delivery))) = timeout(CANCEL, consumer.next()).await {
            self.hand_out(delivery, abandon);
        }
    }

    fn hand_out(&self, delivery: Delivery, abandon: &mpsc::UnboundedSender<Acker>) {
        let tag = delivery.delivery_tag;
        let receipt = TagReceipt {
            acker: delivery.acker,
            properties: delivery.properties,
            ownership: self.epoch.hand_out(tag),
            epoch: self.epoch.clone(),
            tag,
            abandoned: abandon.clone(),
        };
        self.events.note(Event::Fetched);
        // An error: the worker is gone, and the receipt's drop gives the message back.
        drop(self.feed.send(Raw { data: delivery.data, redelivered: delivery.redelivered, receipt }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt(epoch: &Arc<Epoch>, tag: u64) -> (TagReceipt, mpsc::UnboundedReceiver<Acker>) {
        let (abandoned, left) = mpsc::unbounded_channel();
        let delivery = Delivery::mock(tag, "".into(), "q".into(), false, Vec::new());
        let (properties, ownership) = (delivery.properties, epoch.hand_out(tag));
        (TagReceipt { acker: delivery.acker, properties, ownership, epoch: epoch.clone(), tag, abandoned }, left)
    }

    #[test]
    fn the_end_of_a_channel_is_the_end_of_every_claim() {
        let epoch = Arc::new(Epoch::default());
        let (one, _left) = receipt(&epoch, 1);
        assert_eq!(one.ownership().unwrap().lost(), None);
        epoch.end();
        assert_eq!(one.ownership().unwrap().lost(), Some(Loss::Disconnected));
        assert!(epoch.is_over());
    }

    #[test]
    fn a_receipt_dropped_unsettled_goes_back() {
        let epoch = Arc::new(Epoch::default());
        let (one, mut left) = receipt(&epoch, 1);
        drop(one);
        assert!(left.try_recv().is_ok());
        assert!(epoch.tokens.lock().is_empty());
    }

    #[tokio::test]
    async fn a_settled_receipt_does_not_and_a_second_ack_is_no_error() {
        let epoch = Arc::new(Epoch::default());
        let (one, mut left) = receipt(&epoch, 1);
        assert!(one.acker.ack(lapin::options::BasicAckOptions::default()).await.unwrap());
        assert!(!one.acker.ack(lapin::options::BasicAckOptions::default()).await.unwrap());
        drop(one);
        assert!(left.try_recv().is_err());
    }
}
