//! The example `service`, run as a program: under load, told to stop in the middle of it, and without slots.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::missing_panics_doc, clippy::disallowed_methods)]

mod client;
mod program;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use client::{Answer, Client};
use program::{Folder, Said, Service};
use tokio::sync::Notify;

const REQUESTS: usize = 10_000;
const CONNECTIONS: usize = 8;

/// Request `number`: by turns an email and an invoice. The number is in the file that it becomes.
fn request(number: usize) -> (&'static str, String) {
    if number.is_multiple_of(2) {
        ("/emails", format!(r#"{{"to":"ada@example.org","subject":"request {number}","text":"hello"}}"#))
    } else {
        let items = format!(r#"[{{"name":"request {number}","cents":1999}},{{"name":"post","cents":450}}]"#);
        ("/invoices", format!(r#"{{"customer":"ada","items":{items}}}"#))
    }
}

/// What the requests of all connections came to.
#[derive(Default)]
struct Load {
    next: AtomicUsize,
    taken: AtomicUsize,
    half: Notify,
}

impl Load {
    /// Sends one request after the other over one connection, and the next over another where that ends. Answers the id of
    /// each that was taken, by its number.
    async fn send(&self, address: &str) -> Vec<(usize, String)> {
        let (mut taken, mut client) = (Vec::new(), None);
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= REQUESTS {
                return taken;
            }
            if client.is_none() {
                client = Client::connect(address).await;
            }
            // Nobody listens any more: this request, like all that follow, was not taken.
            let Some(connection) = &mut client else { continue };
            let (path, body) = request(number);
            match connection.post(path, &body).await {
                Some(Answer { status: 202, body }) => {
                    taken.push((number, body));
                    if self.taken.fetch_add(1, Ordering::Relaxed) + 1 == REQUESTS / 2 {
                        self.half.notify_one();
                    }
                }
                // Full or closing: the answer says that the job is not in.
                Some(Answer { status: 503, .. }) => {}
                Some(other) => panic!("{other:?}"),
                None => client = None,
            }
        }
    }
}

/// What the folder and the program say of each job: the ids of files by the number of their request, and those not done.
fn accounts(folder: &Folder, said: &Said) -> (BTreeMap<usize, String>, BTreeSet<String>) {
    let files = folder.files();
    let by_number: BTreeMap<_, _> = files
        .iter()
        .map(|(id, text)| {
            let (_, after) = text.split_once("request ").unwrap();
            let number: String = after.chars().take_while(char::is_ascii_digit).collect();
            assert!(text.contains("hello\r\n") || text.contains("24.49  total\n"), "half a file: {text}");
            (number.parse().unwrap(), id.clone())
        })
        .collect();
    assert_eq!(by_number.len(), files.len(), "a request became two files");
    let not_done = said.ids("not done: ");
    let [taken, done, dead, left] = said.totals();
    assert_eq!((done, dead, left), (files.len(), 0, not_done.len()));
    assert_eq!(taken, done + left);
    assert!(!said.err.contains("was there already"), "a job ran twice: {}", said.err);
    (by_number, not_done)
}

/// Ten thousand requests, and SIGTERM once half of them are answered: each that was answered 202 is done or named, none twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_request_that_was_taken_is_done_or_named() {
    let folder = Folder::new();
    let mut service = Service::start(&folder, &["--slots", "4", "--deadline", "60"]).await;
    let load = Arc::new(Load::default());
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let (load, address) = (load.clone(), service.address.clone());
            tokio::spawn(async move { load.send(&address).await })
        })
        .collect();
    program::in_time(load.half.notified()).await;
    service.signal("TERM").await;
    let mut taken = BTreeMap::new();
    for client in clients {
        taken.extend(program::in_time(client).await.unwrap());
    }
    let said = service.ended().await;
    assert_eq!(said.code, Some(0), "{}", said.err);

    assert!(taken.len() >= REQUESTS / 2);
    let (files, not_done) = accounts(&folder, &said);
    for (number, id) in &taken {
        match files.get(number) {
            Some(of) => assert_eq!(of, id),
            None => assert!(not_done.contains(id), "request {number} was taken as {id}, and is gone"),
        }
    }
    let ids: BTreeSet<_> = taken.values().collect();
    assert_eq!(ids.len(), taken.len());
    assert!(files.values().all(|id| !not_done.contains(id)));
}

/// Without a slot it takes jobs while there is room, says that it does not consume, and names them all in the end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_service_is_unhealthy_and_names_what_it_took() {
    let folder = Folder::new();
    let mut service = Service::start(&folder, &["--slots", "0", "--capacity", "100", "--deadline", "0"]).await;
    let mut client = Client::connect(&service.address).await.unwrap();
    let health = client.get("/health").await.unwrap();
    assert_eq!((health.status, &*health.body), (503, "paused"));
    let mut taken = BTreeSet::new();
    for number in 0..100 {
        let (path, body) = request(number);
        let answer = client.post(path, &body).await.unwrap();
        assert_eq!(answer.status, 202);
        taken.insert(answer.body);
    }
    let (path, body) = request(100);
    let refused = client.post(path, &body).await.unwrap();
    assert_eq!((refused.status, &*refused.body), (503, "no room within the time allowed"));
    service.signal("INT").await;
    let said = service.ended().await;
    assert_eq!(said.code, Some(0), "{}", said.err);
    let (files, not_done) = accounts(&folder, &said);
    assert!(files.is_empty());
    assert_eq!((taken.len(), taken), (100, not_done));
}

/// What it takes is what it says, and what cannot be done is named with its reason.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_service_is_healthy_refuses_nonsense_and_names_the_dead() {
    let folder = Folder::new();
    let mut service = Service::start(&folder, &["--slots", "2"]).await;
    let mut client = Client::connect(&service.address).await.unwrap();
    let health = client.get("/health").await.unwrap();
    assert_eq!((health.status, &*health.body), (200, "consuming"));
    assert_eq!(client.post("/emails", r#"{"to":"ada"}"#).await.unwrap().status, 422);
    assert_eq!(client.post("/emails", "no json").await.unwrap().status, 400);
    assert_eq!(client.post("/faxes", "{}").await.unwrap().status, 404);
    let (path, body) = request(0);
    let done = client.post(path, &body).await.unwrap().body;
    let evil = r#"{"to":"ada@example.org\r\nBcc: everybody","subject":"x","text":"x"}"#;
    let dead = client.post("/emails", evil).await.unwrap();
    assert_eq!(dead.status, 202);
    service.signal("TERM").await;
    let said = service.ended().await;
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(said.totals(), [2, 1, 1, 0]);
    assert_eq!(folder.files().into_keys().collect::<Vec<_>>(), [done]);
    let reason = "permanent error: a line break in the address or the subject";
    assert!(said.out.contains(&format!("dead: {} {reason}\n", dead.body)), "{}", said.out);
}
