//! What a raw Redis client sees of the proxy's faults.

use std::time::Duration;

use integration_tests::brokers::Private;
use integration_tests::faults::proxy::{Cut, Direction, Proxy};
use redis::AsyncCommands;
use redis::aio::MultiplexedConnection;
use tokio::time::{Instant, timeout};

use crate::redis::{self as server, address, connect, try_connect};
use crate::wire::{until, within};

struct Through {
    redis: Private,
    proxy: Proxy,
    client: MultiplexedConnection,
}

impl Through {
    async fn start() -> Option<Self> {
        let redis = server::start(None).await?;
        let proxy = Proxy::start(address(&redis)).await.unwrap();
        let client = connect(proxy.address()).await;
        Some(Self { redis, proxy, client })
    }
}

#[tokio::test]
async fn a_refused_client_says_so_and_an_open_one_goes_on() {
    let Some(Through { redis: _alive, proxy, mut client }) = Through::start().await else { return };
    proxy.refuse().await;
    let refused = try_connect(proxy.address()).await.map(drop).unwrap_err();
    assert!(refused.is_connection_refusal(), "{refused:?}");
    client.ping::<String>().await.unwrap();
    proxy.pass().await.unwrap();
    connect(proxy.address()).await.ping::<String>().await.unwrap();
}

#[tokio::test]
async fn a_blocked_read_ends_at_a_cut_and_at_a_reset() {
    for reset in [false, true] {
        let Some(Through { redis: _alive, proxy, mut client }) = Through::start().await else { return };
        let sent = proxy.bytes(Direction::ToBroker);
        let blocked = async { client.blpop::<_, ()>("nothing", 0.0).await };
        let cut = async {
            until(|| proxy.bytes(Direction::ToBroker) > sent).await;
            if reset { proxy.reset().await.unwrap() } else { proxy.cut().await.unwrap() }
        };
        let (answer, ()) = within(async { tokio::join!(blocked, cut) }).await;
        let error = answer.unwrap_err();
        assert!(error.is_connection_dropped() || error.is_io_error(), "{error:?}");
        assert!(!error.is_timeout(), "{error:?}");
        connect(proxy.address()).await.ping::<String>().await.unwrap();
    }
}

#[tokio::test]
async fn a_frozen_command_arrives_after_the_thaw_and_not_before() {
    let Some(Through { redis, proxy, mut client }) = Through::start().await else { return };
    let mut direct = connect(address(&redis)).await;
    proxy.freeze(Direction::ToBroker);
    let mut set = std::pin::pin!(client.set::<_, _, ()>("key", "value"));
    assert!(timeout(Duration::from_millis(200), &mut set).await.is_err());
    assert_eq!(direct.get::<_, Option<String>>("key").await.unwrap(), None);
    proxy.thaw();
    within(set).await.unwrap();
    assert_eq!(direct.get::<_, Option<String>>("key").await.unwrap().as_deref(), Some("value"));
}

#[tokio::test]
async fn a_command_whose_answer_is_frozen_is_done_all_the_same() {
    let Some(Through { redis, proxy, mut client }) = Through::start().await else { return };
    let mut direct = connect(address(&redis)).await;
    proxy.freeze(Direction::ToClient);
    let mut set = std::pin::pin!(client.set::<_, _, ()>("key", "value"));
    assert!(timeout(Duration::from_millis(200), &mut set).await.is_err());
    assert_eq!(direct.get::<_, Option<String>>("key").await.unwrap().as_deref(), Some("value"));
    proxy.thaw();
    within(set).await.unwrap();
}

#[tokio::test]
async fn a_ping_takes_twice_the_latency() {
    let Some(Through { redis: _alive, proxy, mut client }) = Through::start().await else { return };
    proxy.latency(Duration::from_millis(100), Duration::from_millis(20));
    let asked = Instant::now();
    within(client.ping::<String>()).await.unwrap();
    assert!(asked.elapsed() >= Duration::from_millis(200));
}

#[tokio::test]
async fn half_a_command_is_never_carried_out() {
    for cut in [Cut::Fin, Cut::Reset] {
        let Some(Through { redis, proxy, mut client }) = Through::start().await else { return };
        let command = redis::cmd("SET").arg("key").arg("value").get_packed_command().len() as u64;
        proxy.cut_after(command - 1, Direction::ToBroker, cut);
        within(client.set::<_, _, ()>("key", "value")).await.unwrap_err();
        let mut direct = connect(address(&redis)).await;
        assert_eq!(direct.get::<_, Option<String>>("key").await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_command_can_be_carried_out_and_its_answer_lost() {
    let Some(Through { redis, proxy, mut client }) = Through::start().await else { return };
    let mut direct = connect(address(&redis)).await;
    // "+OK\r\n" without its end.
    proxy.cut_after(4, Direction::ToClient, Cut::Reset);
    within(client.set::<_, _, ()>("key", "value")).await.unwrap_err();
    assert_eq!(direct.get::<_, Option<String>>("key").await.unwrap().as_deref(), Some("value"));
}
