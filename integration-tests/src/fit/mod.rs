//! The contract, implemented against the real clients before there is a backend.
//!
//! One worker a broker: queue, request, settle, close and shutdown, translated as the real backend will have to, so that the contract is
//! known to fit Redis Streams, RabbitMQ and Kafka. None is published, and none is complete: each file says what it leaves out, and answers
//! that with a refusal or an error, never by ignoring it. Each is deleted by the change that builds its backend.

pub mod amqp;
pub mod kafka;
pub mod redis;
mod watermark;

/// The promises of the contract that the compiler can check.
#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::VecDeque;

    use queue_core::codec::{Unencodable, Wire};
    use queue_core::{Codec, DeliveryOf, DynWorker, Encoded, Entry, Room, SettlingOf, Undecodable, Worker};
    use tokio::time::Instant;

    use super::amqp::AmqpFit;
    use super::kafka::KafkaFit;
    use super::redis::RedisFit;

    /// A number as text.
    #[derive(Clone, Copy)]
    struct Text;

    /// A job that is Send and not Sync: a worker must not keep a borrow of one across an await.
    type Unsync = Cell<u8>;

    impl Codec<Unsync> for Text {
        fn content_type<'a>(&'a self, _job: &'a Unsync) -> &'a str {
            "text/plain"
        }

        fn encode(&self, job: &Unsync, body: &mut Vec<u8>) -> Result<(), Unencodable> {
            body.extend(job.get().to_string().bytes());
            Ok(())
        }

        fn decode(&self, message: Wire<'_>) -> Result<Unsync, Undecodable> {
            let number = std::str::from_utf8(message.body).ok().and_then(|text| text.parse().ok());
            number.map(Cell::new).ok_or_else(|| Undecodable("not a number".into()))
        }
    }

    fn send<T: Send>(future: T) {
        drop(future);
    }

    fn futures_are_send<W: Worker>(
        worker: &W,
        jobs: &mut [Entry<W::Job>],
        into: &mut VecDeque<DeliveryOf<W>>,
        batch: &mut [SettlingOf<W>],
        deadline: Instant,
    ) {
        send(worker.queue(jobs, Room::Wait));
        send(worker.request(1, into));
        send(worker.settle(batch));
        send(worker.shutdown(deadline, into));
    }

    fn boxes<W: Worker>(worker: W) -> DynWorker<W::Job> {
        worker.boxed()
    }

    /// A broker's payload is bytes and a codec. Nothing here runs: it is enough that it compiles.
    fn fits<W: Worker<Job = Unsync, Payload = Encoded<Unsync, Text>>>() {
        let _ = (futures_are_send::<W>, boxes::<W>);
    }

    #[test]
    fn every_worker_keeps_the_types_of_the_contract() {
        fits::<RedisFit<Unsync, Text>>();
        fits::<AmqpFit<Unsync, Text>>();
        fits::<KafkaFit<Unsync, Text>>();
        let _ = futures_are_send::<DynWorker<Unsync>>;
    }
}
