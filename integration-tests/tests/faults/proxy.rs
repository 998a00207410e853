//! How the proxy breaks connections: refuse, cut, reset, freeze, cut after n bytes.

use std::io;

use integration_tests::faults::proxy::{Cut, Direction, Proxy};
use tokio::io::AsyncWriteExt;

use crate::wire::{Through, assert_fin, assert_reset, assert_silent, connect, hear, hear_out, say, until, within};

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_connection_carries_both_ways_and_counts() {
    let Through { proxy, mut client, mut broker, .. } = Through::start().await;
    say(&mut client, &mut broker, "hello").await;
    say(&mut broker, &mut client, "hi").await;
    assert_eq!((proxy.connections(), proxy.accepted()), (1, 1));
    until(|| proxy.bytes(Direction::Both) == 7).await;
    assert_eq!((proxy.bytes(Direction::ToBroker), proxy.bytes(Direction::ToClient)), (5, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_half_close_is_passed_on_as_one() {
    let Through { proxy, mut client, mut broker, .. } = Through::start().await;
    client.shutdown().await.unwrap();
    assert_fin(&mut broker).await;
    say(&mut broker, &mut client, "and yet it speaks").await;
    assert_eq!(proxy.connections(), 1);
    broker.shutdown().await.unwrap();
    assert_fin(&mut client).await;
    until(|| proxy.connections() == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_of_either_side_is_passed_on_as_one() {
    let Through { proxy, client, mut broker, .. } = Through::start().await;
    rustix::net::sockopt::set_socket_linger(&client, Some(std::time::Duration::ZERO)).unwrap();
    drop(client);
    assert_reset(&mut broker).await;
    until(|| proxy.connections() == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refusing_refuses_new_connections_and_open_ones_go_on() {
    let mut through = Through::start().await;
    through.proxy.refuse().await;
    let refused = connect(&through.proxy).await.unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
    say(&mut through.client, &mut through.broker, "still here").await;

    through.proxy.pass().await.unwrap();
    through.proxy.pass().await.unwrap();
    let (mut client, mut broker) = through.another().await;
    say(&mut client, &mut broker, "again").await;
    assert_eq!(through.proxy.accepted(), 2);
}

#[tokio::test(flavor = "multi_thread")]
#[cfg(target_os = "linux")]
async fn a_port_that_refuses_is_kept() {
    // Not one connection, which would keep the port by itself.
    let proxy = Proxy::start(([127, 0, 0, 1], 1).into()).await.unwrap();
    proxy.refuse().await;
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    let taken = socket.bind(proxy.address()).unwrap_err();
    assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_is_a_fin_to_both_sides() {
    let mut through = Through::start().await;
    through.proxy.cut().await.unwrap();
    assert_eq!(through.proxy.connections(), 0);
    assert_fin(&mut through.client).await;
    assert_fin(&mut through.broker).await;

    let (mut client, mut broker) = through.another().await;
    say(&mut client, &mut broker, "a new one is whole").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_stays_a_fin_when_bytes_are_left_behind() {
    let Through { proxy, mut client, mut broker, .. } = Through::start().await;
    proxy.freeze(Direction::Both);
    // More than a line holds, so that some wait in the socket.
    let much = vec![1; 600_000];
    within(client.write_all(&much)).await.unwrap();
    proxy.cut().await.unwrap();
    assert_fin(&mut client).await;
    assert_fin(&mut broker).await;
    // A read does not tell a RST that follows the FIN. The while proves nothing on a slow machine; it only must never fail.
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    assert!(client.take_error().unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_is_a_rst_to_both_sides() {
    let Through { proxy, mut client, mut broker, .. } = Through::start().await;
    proxy.reset().await.unwrap();
    assert_eq!(proxy.connections(), 0);
    assert_reset(&mut client).await;
    assert_reset(&mut broker).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_direction_is_silent_and_loses_nothing() {
    for (direction, to_broker, to_client) in
        [(Direction::ToBroker, true, false), (Direction::ToClient, false, true), (Direction::Both, true, true)]
    {
        let Through { proxy, mut client, mut broker, .. } = Through::start().await;
        proxy.freeze(direction);
        for (frozen, back) in [(to_broker, false), (to_client, true)] {
            let (from, to) = if back { (&mut broker, &mut client) } else { (&mut client, &mut broker) };
            if frozen {
                within(from.write_all(b"held")).await.unwrap();
                assert_silent(to).await;
                within(from.write_all(b" back")).await.unwrap();
            } else {
                say(from, to, "not held").await;
            }
        }
        proxy.thaw();
        if to_broker {
            assert_eq!(hear(&mut broker, 9).await, b"held back");
        }
        if to_client {
            assert_eq!(hear(&mut client, 9).await, b"held back");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_proxy_takes_new_connections_in_silence() {
    let through = Through::start().await;
    through.proxy.freeze(Direction::Both);
    let (mut client, mut broker) = through.another().await;
    within(client.write_all(b"anybody?")).await.unwrap();
    client.shutdown().await.unwrap();
    assert_silent(&mut broker).await;
    through.proxy.thaw();
    assert_eq!(hear(&mut broker, 8).await, b"anybody?");
    assert_fin(&mut broker).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_so_many_bytes_pass_before_the_cut() {
    for cut in [Cut::Fin, Cut::Reset] {
        for bytes in [0, 1, 100_000] {
            let Through { proxy, mut client, mut broker, .. } = Through::start().await;
            proxy.cut_after(bytes, Direction::ToBroker, cut);
            if bytes > 0 {
                say(&mut broker, &mut client, "the other direction does not count").await;
            }
            let wrote = within(client.write_all(&[1; 300_000])).await;
            let (heard, end) = hear_out(&mut broker).await;
            assert_eq!(heard, bytes);
            assert_ended(end, cut);
            // A reset is told once, to the write or to the read.
            let told = wrote.err().filter(|_| cut == Cut::Reset);
            let end = hear_out(&mut client).await.1;
            assert_ended(told.map_or(end, Err), cut);
            assert_eq!(proxy.bytes(Direction::ToBroker), bytes);
            until(|| proxy.connections() == 0).await;
        }
    }
}

fn assert_ended(end: io::Result<()>, cut: Cut) {
    let expected = match cut {
        Cut::Fin => Ok(()),
        Cut::Reset => Err(io::ErrorKind::ConnectionReset),
    };
    assert_eq!(end.map_err(|error| error.kind()), expected);
}

#[tokio::test(flavor = "multi_thread")]
#[cfg(target_os = "linux")]
async fn the_end_waits_for_the_last_of_these_bytes() {
    const BYTES: u64 = 1_000_000;
    for cut in [Cut::Fin, Cut::Reset] {
        let Through { proxy, mut client, mut broker, .. } = Through::start().await;
        // Something is left unread in the proxy's socket, so that its close would be a RST.
        proxy.freeze(Direction::ToClient);
        within(broker.write_all(&[2; 600_000])).await.unwrap();
        proxy.cut_after(BYTES, Direction::ToBroker, cut);
        let writing = async { drop(client.write_all(&[1; 2 * BYTES as usize]).await) };
        let reading = async {
            // All are written to the socket, and too many for the other side's buffer.
            until(|| proxy.bytes(Direction::ToBroker) == BYTES).await;
            if cut == Cut::Fin {
                until(|| proxy.connections() == 0).await;
                // After the second for which the proxy still takes what a side sends. A closed socket would answer with a RST.
                tokio::time::sleep(std::time::Duration::from_millis(1200)).await;
                within(broker.write_all(b"late")).await.unwrap();
            }
            hear_out(&mut broker).await
        };
        let ((), (heard, end)) = tokio::join!(within(writing), reading);
        assert_eq!(heard, BYTES);
        assert_ended(end, cut);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_to_come_counts_all_connections_and_comes_once() {
    let through = Through::start().await;
    let (mut client, mut broker) = through.another().await;
    let Through { server, proxy, client: mut first_client, broker: mut first_broker } = through;
    proxy.cut_after(50_001, Direction::ToBroker, Cut::Fin);
    let much = vec![1; 50_000];
    let ((one, _), (two, _), _, _) = within(async {
        tokio::join!(
            hear_out(&mut broker),
            hear_out(&mut first_broker),
            client.write_all(&much),
            first_client.write_all(&much)
        )
    })
    .await;
    assert_eq!(one + two, 50_001);

    let mut client = connect(&proxy).await.unwrap();
    let mut broker = server.accept().await;
    say(&mut client, &mut broker, "a new one is whole").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_not_there_resets_its_clients() {
    let through = Through::start().await;
    let nowhere = {
        let gone = Through::start().await;
        gone.proxy.refuse().await;
        gone
    };
    through.proxy.set_upstream(nowhere.proxy.address());
    match connect(&through.proxy).await {
        Ok(mut client) => assert_reset(&mut client).await,
        Err(error) => assert_eq!(error.kind(), io::ErrorKind::ConnectionReset),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_proxy_leaves_neither_port_nor_connection_nor_task() {
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    let Through { server, proxy, mut client, mut broker } = Through::start().await;
    say(&mut client, &mut broker, "hello").await;
    proxy.freeze(Direction::Both);
    let address = proxy.address();
    assert!(tasks() > before);
    drop(proxy);
    assert_fin(&mut client).await;
    assert_fin(&mut broker).await;
    until(|| tasks() == before).await;
    let refused = tokio::net::TcpStream::connect(address).await.unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);

    let proxy = Proxy::start(server.address()).await.unwrap();
    proxy.close().await.unwrap();
    until(|| tasks() == before).await;
}
