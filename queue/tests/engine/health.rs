//! Whether a queue does its work.

use crate::tokio;
use queue::core::Feature;
use queue::{Event, HealthState, Queue, Ring, Worker};
use tokio::time::sleep;

use crate::common::{Broker, Gate, end, ms, settle_down, until};

/// E-96
#[tokio::test(start_paused = true)]
async fn connected_is_not_consuming() {
    let broker = Broker::new().with_events();
    let queue = Queue::with_worker(broker.clone()).slots(1).start(async |_: String| ()).unwrap();
    let mut events = queue.events();
    broker.note(Event::Connected);
    settle_down().await;
    let health = queue.health();
    assert_eq!((health.state, health.last_fetch, health.reconnects), (HealthState::Starting, None, 0));
    assert!(!health.is_healthy());

    // An empty long poll counts.
    broker.note(Event::Fetched);
    settle_down().await;
    sleep(ms(29_000)).await;
    let health = queue.health();
    assert_eq!((health.state, health.last_fetch), (HealthState::Consuming, Some(ms(29_000))));
    // Connected, waiting, and no fetch for too long.
    sleep(ms(2_000)).await;
    assert_eq!(queue.health().state, HealthState::Stalled);
    assert!(!queue.health().is_healthy());

    broker.note(Event::Disconnected("reset by peer".into()));
    settle_down().await;
    let health = queue.health();
    assert_eq!((health.state, health.last_error.as_deref()), (HealthState::Failing, Some("reset by peer")));
    broker.note(Event::Connected);
    broker.note(Event::Fetched);
    broker.note(Event::Blocked(true));
    settle_down().await;
    let health = queue.health();
    assert_eq!((health.state, health.reconnects, health.blocked), (HealthState::Consuming, 1, true));
    // What the broker told, but for its fetches.
    let mut told = Vec::new();
    for _ in 0..4 {
        told.push(events.next().await.unwrap());
    }
    assert!(matches!(told[..], [Event::Connected, Event::Disconnected(_), Event::Connected, Event::Blocked(true)]));
    drop(end(&queue).await);
    assert_eq!(queue.health().state, HealthState::Stopped);
}

/// E-96: a queue whose slots are all busy asks for nothing, and is well.
#[tokio::test(start_paused = true)]
async fn busy_is_consuming() {
    let (broker, gate) = (Broker::new().with_events(), Gate::new());
    let passes = gate.clone();
    let handler = move |_: String| {
        let gate = passes.clone();
        async move { gate.pass().await }
    };
    let queue = Queue::with_worker(broker.clone()).slots(1).start(handler).unwrap();
    queue.enqueue("job".to_owned()).await.unwrap();
    until(|| queue.stats().running == 1).await;
    sleep(ms(3_600_000)).await;
    assert_eq!(queue.health().state, HealthState::Consuming);
    gate.open(1);
    drop(end(&queue).await);
}

/// Each state of a queue without a broker.
#[tokio::test(start_paused = true)]
async fn a_ring_is_paused_stopping_or_stopped() {
    let gate = Gate::new();
    let passes = gate.clone();
    let handler = move |_: u32| {
        let gate = passes.clone();
        async move { gate.pass().await }
    };
    let queue = Queue::with_worker(Ring::new()).slots(1).start(handler).unwrap();
    sleep(ms(3_600_000)).await;
    assert_eq!(queue.health().state, HealthState::Consuming);
    queue.resize(0).await.unwrap();
    assert_eq!(queue.health().state, HealthState::Paused);
    queue.resize(1).await.unwrap();
    queue.enqueue(1).await.unwrap();
    until(|| queue.stats().running == 1).await;
    let ends = tokio::spawn({
        let queue = queue.clone();
        async move { end(&queue).await }
    });
    settle_down().await;
    assert_eq!(queue.health().state, HealthState::Stopping);
    gate.open(1);
    drop(ends.await.unwrap());
    assert_eq!(queue.health().state, HealthState::Stopped);

    let producer = Queue::with_worker(Ring::<u32>::new()).producer().unwrap();
    assert_eq!((producer.health().state, producer.health().is_healthy()), (HealthState::Producing, true));
    assert!(producer.worker().capabilities().has(Feature::Inspects));
    drop(end(&producer).await);
}
