//! How the proxy slows connections: latency, bandwidth, backpressure; and what takes it all back.

use std::num::NonZeroU64;
use std::time::Duration;

use integration_tests::faults::proxy::{Cut, Direction, HELD_BYTES};
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, timeout};

use crate::wire::{Server, Through, assert_silent, connect, hear, say, within};

#[tokio::test(flavor = "multi_thread")]
async fn latency_delays_both_ways_by_its_base_at_least() {
    let Through { proxy, mut client, mut broker, .. } = Through::start().await;
    let base = Duration::from_millis(120);
    proxy.latency(base, Duration::from_millis(30));
    let sent = Instant::now();
    say(&mut client, &mut broker, "ping").await;
    assert!(sent.elapsed() >= base);
    say(&mut broker, &mut client, "pong").await;
    assert!(sent.elapsed() >= 2 * base);
}

#[tokio::test(flavor = "multi_thread")]
async fn jitter_keeps_the_order() {
    let Through { proxy, mut client, mut broker, .. } = Through::start().await;
    proxy.latency(Duration::ZERO, Duration::from_millis(40));
    client.set_nodelay(true).unwrap();
    let numbers: Vec<u8> = (0..100).collect();
    for number in &numbers {
        within(client.write_all(&[*number])).await.unwrap();
        // So that each is a chunk of its own, more or less; the order holds anyway.
        tokio::task::yield_now().await;
    }
    assert_eq!(hear(&mut broker, numbers.len()).await, numbers);
}

#[tokio::test(flavor = "multi_thread")]
async fn latency_is_not_paid_one_chunk_after_the_other() {
    let Through { proxy, mut client, mut broker, .. } = Through::start().await;
    proxy.latency(Duration::from_secs(1), Duration::ZERO);
    client.set_nodelay(true).unwrap();
    let sent = Instant::now();
    for _ in 0..20 {
        within(client.write_all(b"a")).await.unwrap();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    hear(&mut broker, 20).await;
    // One after the other would be 20 seconds.
    assert!(sent.elapsed() < Duration::from_secs(15));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_latency_holds_for_what_is_held_already() {
    let Through { proxy, mut client, mut broker, .. } = Through::start().await;
    proxy.latency(Duration::from_secs(3600), Duration::ZERO);
    within(client.write_all(b"late")).await.unwrap();
    assert_silent(&mut broker).await;
    proxy.latency(Duration::ZERO, Duration::ZERO);
    assert_eq!(hear(&mut broker, 4).await, b"late");
}

#[tokio::test(flavor = "multi_thread")]
async fn bandwidth_is_shared_by_all_connections() {
    let mut through = Through::start().await;
    let (mut client, mut broker) = through.another().await;
    through.proxy.bandwidth(NonZeroU64::new(100_000));
    let half = [1; 25_000];
    let started = Instant::now();
    within(client.write_all(&half)).await.unwrap();
    within(through.client.write_all(&half)).await.unwrap();
    tokio::join!(hear(&mut broker, half.len()), hear(&mut through.broker, half.len()));
    assert!(started.elapsed() >= Duration::from_millis(500), "{:?}", started.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_bandwidth_forgets_what_the_old_one_had_taken() {
    let Through { proxy, mut client, mut broker, .. } = Through::start().await;
    proxy.bandwidth(NonZeroU64::new(1));
    within(client.write_all(&[1; 3600])).await.unwrap();
    proxy.bandwidth(None);
    hear(&mut broker, 3600).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_is_full_stops_its_sender_and_loses_nothing() {
    const CAP: usize = 256 * 1024 * 1024;
    let Through { proxy, mut client, mut broker, .. } = Through::start().await;
    proxy.freeze(Direction::ToBroker);
    let mut sent = 0;
    while let Ok(writable) = timeout(Duration::from_millis(500), client.writable()).await {
        writable.unwrap();
        sent += client.try_write(&[7; 64 * 1024]).unwrap_or(0);
        assert!(sent < CAP, "nothing stops it");
    }
    assert!(sent > HELD_BYTES);
    proxy.thaw();
    client.shutdown().await.unwrap();
    assert_eq!(crate::wire::hear_out(&mut broker).await.0, sent as u64);
}

#[tokio::test(flavor = "multi_thread")]
async fn clearing_takes_back_everything() {
    let through = Through::start().await;
    let proxy = &through.proxy;
    proxy.freeze(Direction::Both);
    proxy.latency(Duration::from_secs(3600), Duration::ZERO);
    proxy.bandwidth(NonZeroU64::new(1));
    proxy.cut_after(1, Direction::Both, Cut::Reset);
    proxy.refuse().await;
    proxy.clear().await.unwrap();
    let (mut client, mut broker) = through.another().await;
    say(&mut client, &mut broker, "as if nothing had been").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn new_connections_go_to_a_new_upstream() {
    let mut through = Through::start().await;
    let moved = Server::start().await;
    through.proxy.set_upstream(moved.address());
    let mut client = connect(&through.proxy).await.unwrap();
    let mut broker = moved.accept().await;
    say(&mut client, &mut broker, "hello").await;
    say(&mut through.client, &mut through.broker, "open ones stay").await;
}
