//! What happens when a job fails, many job types in one queue, how a queue ends, and every default.
//!
//! # Retries and dead letters
//!
//! | the attempt | spends an attempt | then |
//! |---|---|---|
//! | returns `()`, `Ok(())`, [`Outcome::done`](crate::Outcome::done) | | the job is done |
//! | returns any `Err` | yes | tried again after a back-off, or dead |
//! | returns [`Error::permanent`](crate::Error::permanent) | yes | dead, whatever attempts are left |
//! | returns [`Outcome::retry_after`](crate::Outcome::retry_after) | yes | tried again after that wait, or dead |
//! | returns [`Outcome::snooze`](crate::Outcome::snooze) | no | handed out again after that wait |
//! | panics | yes | as an `Err`; dead at once after [`Retry::dead_on_panic`](crate::Retry::dead_on_panic) |
//! | takes longer than its timeout | yes | as an `Err`; its future is dropped |
//! | is cut short by a shutdown | no | handed back |
//!
//! A job is dead when no attempt is left, or when the next could not start before its deadline. While it waits for its
//! next attempt its slot serves others, unless the policy is [`Retry::inline`](crate::Retry::inline). An option of the
//! job (`queue.job(job).retries(1)`) wins over that of the queue.
//!
//! What is dead is kept where the worker has [`DeadLetters`](crate::DeadLetters), with the reason and the last error; it can
//! be listed, put back with `replay`, or dropped with `discard`:
//!
//! ```
//! use queue::{DeadLetters, Error, Page, Queue, Reason, Ring};
//! # use std::time::Duration;
//!
//! async fn charge(card: String) -> Result<(), Error> {
//!     Err(Error::permanent(format!("no such card: {}", card.len())))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let queue = Queue::with_worker(Ring::new()).start(charge)?;
//! let id = queue.enqueue("4242".to_owned()).await?;
//! # drop(queue.shutdown(Duration::from_secs(5)).await?);
//! for letter in queue.worker().dead_letters(Page::first(10)).await? {
//!     assert_eq!((letter.meta.id, letter.cause.reason), (id, Reason::Permanent));
//!     assert_eq!(letter.decode()?.as_deref(), Some("4242"));
//! }
//! # Ok(()) }
//! ```
//!
//! # Many job types in one queue
//!
//! An enum is one way. The other is [`Routes`](crate::Routes), where each type has a handler and options of its own, and
//! a producer needs to know no type but its own:
//!
//! ```
//! use queue::{Context, Queue, Retry, Ring, RouteOptions, Routed, Routes, blocking};
//! # use std::time::Duration;
//!
//! async fn send_email(to: String, cx: Context) -> Result<(), std::io::Error> {
//!     println!("to {to}, attempt {} of {}", cx.attempt(), cx.attempts());
//!     Ok(())
//! }
//! fn make_thumbnail((file, width): (String, u32)) {
//!     println!("{file} at {width}");
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let quick = RouteOptions::new().retry(Retry::exponential(1)).timeout(Duration::from_secs(20));
//! let routes = Routes::new().on("email", send_email).on_with("thumbnail", quick, blocking(make_thumbnail));
//! let queue = Queue::with_worker(Ring::new()).timeout(Duration::from_secs(5)).start(routes)?;
//!
//! queue.enqueue(Routed::json("thumbnail", &("a.png".to_owned(), 64_u32))?).await?;
//! queue.job(Routed::json("email", &"a@example.org".to_owned())?).priority(9).retries(2).enqueue().await?;
//! # assert_eq!(queue.shutdown(Duration::from_secs(5)).await?.stats().done, 2);
//! # Ok(()) }
//! ```
//!
//! For each setting the job's own wins, then that of its route, then that of the queue. Jobs of a kind without a handler,
//! and those that their route cannot read, are dead letters that say so; they were not started.
//!
//! # Shutdown
//!
//! The library listens for no signal: say when, and how long it may take.
//!
//! ```no_run
//! # use queue::{Queue, Ring};
//! # use std::time::Duration;
//! # async fn main_of_a_service() -> Result<(), Box<dyn std::error::Error>> {
//! # let queue = Queue::with_worker(Ring::new()).start(async |_: String| ())?;
//! tokio::signal::ctrl_c().await?;
//! let report = queue.shutdown(Duration::from_secs(30)).await?;
//! for unrun in report.take_unrun() {
//!     println!("not done, after {} attempts: {}", unrun.attempts, unrun.job?);
//! }
//! # Ok(()) }
//! ```
//!
//! 1. Intake stops at once: an enqueue answers [`Closed`](crate::EnqueueError::Closed), with the job.
//! 2. Until the deadline running handlers go on. What has not started starts too where jobs die with the process
//!    ([`OnShutdown::Drain`](crate::OnShutdown::Drain)), and is handed back at once on a broker
//!    ([`OnShutdown::Return`](crate::OnShutdown::Return)). Waits for a retry are cut.
//! 3. At the deadline handlers that still run get their signal ([`Context::cancelled`](crate::Context::cancelled)), are
//!    polled once more and dropped, and their jobs are handed back: no attempt is spent.
//! 4. The [`Report`](crate::Report) accounts for every job; what the ring could not run is in it, by value.
//!
//! Code that blocks its thread cannot be dropped. A long [`blocking`](crate::blocking) handler asks
//! [`Context::cancel_reason`](crate::Context::cancel_reason) now and then and returns `Outcome::snooze(Duration::ZERO)`;
//! until it returns the report counts it as abandoned, and a later call of `shutdown` waits for it. The example
//! `checksums` is built like that.
//!
//! # In a service
//!
//! [`Queue::run_until`](crate::Queue::run_until) runs a queue until a signal, [`Group`](crate::Group) many. The signal is
//! yours: the library listens for none.
//!
//! ```no_run
//! # use queue::{Group, Queue, Ring};
//! # use std::time::Duration;
//! # async fn main_of_a_service() -> Result<(), Box<dyn std::error::Error>> {
//! # let emails = Queue::with_worker(Ring::new()).start(async |_: String| ())?;
//! # let reports = Queue::with_worker(Ring::new()).start(async |_: String| ())?;
//! let group = Group::new().with(&emails).with(&reports);
//! let report = group.run_until(tokio::signal::ctrl_c(), Duration::from_secs(30)).await;
//! for part in report.parts {
//!     println!("{}: {} done, {} not", part.queue, part.stats.done, part.unrun);
//! }
//! # Ok(()) }
//! ```
//!
//! | to know | ask |
//! |---|---|
//! | whether it consumes, for a health endpoint | [`Queue::health`](crate::Queue::health): a connection alone is not healthy |
//! | that a connection came or went, that a call failed | [`Queue::events`](crate::Queue::events) |
//! | how many jobs are where | [`Queue::stats`](crate::Queue::stats) |
//! | how each attempt ended | [`Builder::on_complete`](crate::Builder::on_complete) |
//! | that nothing is left to do | [`Queue::idle`](crate::Queue::idle) |
//!
//! In the log (`tracing`) each attempt is a span `job` with `queue`, `id`, `attempt` and `outcome`, at level INFO: where
//! nobody listens there is none. With the feature `metrics`,
//! [`Builder::metrics`](crate::Builder#method.metrics) tells durations and counts to that crate's recorder.
//!
//! # Every default
//!
//! | what | default | why |
//! |---|---|---|
//! | [`slots`](crate::Builder::slots) | the available parallelism | right for handlers that compute; raise it for those that wait |
//! | [`retry`](crate::Builder::retry) | 5 retries; none where the worker keeps no copy | passing errors heal, lasting ones end |
//! | back-off: base, factor, maximum | 100 ms, 2, 10 s | a short failure is over soon, a long one is not made worse |
//! | back-off: jitter | full: evenly between 0 and the wait | jobs that failed together do not come back together |
//! | where a job waits for its retry | at the worker; in its slot where the worker has no delays | a slot is for work |
//! | after a panic | tried again | as for an error |
//! | [`timeout`](crate::Builder::timeout) of an attempt | none | only you know how long a job may take |
//! | [`deadline`](crate::Builder::deadline) of a job | none | only you know when a job is worth nothing |
//! | [`on_shutdown`](crate::Builder::on_shutdown) | drain where jobs die with the process, else return | no job is lost |
//! | wait of an `enqueue` for room | without limit; [`within`](crate::JobBuilder::within) sets one | a producer goes at the pace of the slots |
//! | [`name`](crate::Builder::name) | the broker's name of the queue; on the ring `memory` | |
//! | priority, delay of a job | 0 (the lowest), none | |
//! | capacity of a ring | none | a queue in front of slow work should say how much may wait |
//! | floor of a ring | 2 jobs | an idle queue costs nothing; set it to the capacity where bursts are the rule |
//! | codec of a route | `Json` | readable, and any language can write it |
//! | other [options of a route](crate::RouteOptions) | as on the queue | |
//! | dead letters of a ring | 1,000; then the oldest is dropped and counted | enough to see what goes wrong, bounded |
//!
//! Not to be set:
//!
//! | what | value | why |
//! |---|---|---|
//! | how late a timeout fires | up to 5 ms, never early | one look of one task for all slots |
//! | deliveries that a slot of a ring takes at once | up to 64 | one lock for many short jobs |
//! | grace after a shutdown's deadline | 0.8 s, so that it answers within 1 s | handlers see their signal, verdicts reach the broker |
//! | calls of `on_complete` that wait at once | 1,024; then jobs wait for them, and after 1 s without an end go on without | a slow hook sets the pace, one that never returns halts nothing |
//! | a worker that waits without any fetch is stalled | after 30 s | brokers are asked every few seconds |
//! | back-off when the worker fails | 100 ms, doubled up to 5 s, full jitter, for ever | a broker that is away comes back |
