//! The hook that is called after each attempt: it holds no slot, and can do no harm.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tokio_util::task::TaskTracker;

use super::Completion;
use crate::log::log;
use crate::panic;

/// How many calls may wait for something before no further attempt starts: jobs go at the pace of their hooks then.
const AT_ONCE: u64 = 1_024;

/// After so long without the end of a call they are stuck: jobs go on, and further calls are left out and counted, for
/// a hook that never returns must neither halt the queue nor take memory for ever.
const STUCK: Duration = Duration::from_secs(1);

type Call = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The hook, and what is counted of its calls.
///
/// A call runs on the slot until it waits for something; most never do. One that waits becomes a task.
pub(crate) struct Hooks {
    call: Box<dyn Fn(Completion) -> Call + Send + Sync>,
    calls: Arc<Calls>,
}

/// Relaxed, all: statistics. Who waits for the end of calls is told by `ended`.
#[derive(Debug, Default)]
struct Calls {
    waiting: AtomicU64,
    panicked: AtomicU64,
    left_out: AtomicU64,
    cut: AtomicU64,
    /// How many of those that waited have ended.
    ends: AtomicU64,
    /// One more than `ends` was when none had come for too long: stuck until the next.
    stuck: AtomicU64,
    ended: Notify,
    /// A shutdown has no more time for them.
    over: CancellationToken,
}

/// A reading.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HookCounts {
    pub(crate) waiting: u64,
    pub(crate) panicked: u64,
    pub(crate) left_out: u64,
    pub(crate) cut: u64,
}

impl Hooks {
    pub(crate) fn new<F, Fut>(hook: F) -> Self
    where
        F: Fn(Completion) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        Self { call: Box::new(move |completion| Box::pin(hook(completion))), calls: Arc::default() }
    }

    /// Calls it.
    pub(crate) fn call(&self, completion: Completion, tracker: &TaskTracker, runtime: &Handle) {
        let calls = &self.calls;
        if calls.are_full() && calls.are_stuck() {
            if calls.left_out.fetch_add(1, Ordering::Relaxed) == 0 {
                log!(
                    warn,
                    waiting = AT_ONCE,
                    "Calls of `on_complete` wait for something and do not end; further ones are left out and counted."
                );
            }
            return;
        }
        let started = catch_unwind(AssertUnwindSafe(|| {
            let mut call = (self.call)(completion);
            match inside(|| call.as_mut().poll(&mut Context::from_waker(Waker::noop()))) {
                Poll::Ready(()) => None,
                Poll::Pending => Some(call),
            }
        }));
        match started {
            Ok(None) => {}
            Ok(Some(call)) => {
                calls.waiting.fetch_add(1, Ordering::Relaxed);
                let over = Box::pin(calls.over.clone().cancelled_owned());
                let waiting = Waiting { call: Some(call), over, calls: calls.clone() };
                tracker.spawn_on(waiting, runtime);
            }
            Err(panic) => calls.panicked(panic),
        }
    }

    pub(crate) fn counts(&self) -> HookCounts {
        let [waiting, panicked, left_out, cut] =
            [&self.calls.waiting, &self.calls.panicked, &self.calls.left_out, &self.calls.cut]
                .map(|count| count.load(Ordering::Relaxed));
        HookCounts { waiting, panicked, left_out, cut }
    }

    /// Whether no further attempt shall start for now.
    pub(crate) fn is_full(&self) -> bool {
        self.calls.are_full() && !self.calls.are_stuck()
    }

    /// Waits until an attempt may start: a call has ended, or they are stuck.
    pub(crate) async fn room(&self) {
        loop {
            let ended = self.calls.ended.notified();
            let ends = self.calls.ends.load(Ordering::Relaxed);
            if !self.is_full() {
                return;
            }
            if timeout(STUCK, ended).await.is_err() {
                // Of no account if one ends in this moment.
                self.calls.stuck.store(ends + 1, Ordering::Relaxed);
            }
        }
    }

    /// Waits until no call waits.
    pub(crate) async fn ended(&self) {
        loop {
            let ended = self.calls.ended.notified();
            if self.counts().waiting == 0 {
                return;
            }
            ended.await;
        }
    }

    /// Drops what still waits, now and later.
    pub(crate) fn cut(&self) {
        self.calls.over.cancel();
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").field("calls", &self.calls).finish_non_exhaustive()
    }
}

impl Calls {
    fn are_full(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) >= AT_ONCE
    }

    fn are_stuck(&self) -> bool {
        self.stuck.load(Ordering::Relaxed) == self.ends.load(Ordering::Relaxed) + 1
    }

    fn panicked(&self, payload: Box<dyn Any + Send>) {
        self.panicked.fetch_add(1, Ordering::Relaxed);
        let place = panic::take_location();
        let place = place.as_ref().map(tracing::field::display);
        let message = panic::message(payload);
        log!(error, panic = %message, at = place, "The hook `on_complete` panicked.");
    }
}

/// A call that waits for something: the task.
struct Waiting {
    /// None once it has ended.
    call: Option<Call>,
    over: Pin<Box<WaitForCancellationFutureOwned>>,
    calls: Arc<Calls>,
}

impl Future for Waiting {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(call) = &mut self.call else { return Poll::Ready(()) };
        match catch_unwind(AssertUnwindSafe(|| inside(|| call.as_mut().poll(cx)))) {
            Ok(Poll::Pending) if self.over.as_mut().poll(cx).is_pending() => return Poll::Pending,
            Ok(Poll::Pending) => {
                self.calls.cut.fetch_add(1, Ordering::Relaxed);
            }
            Ok(Poll::Ready(())) => {}
            Err(panic) => self.calls.panicked(panic),
        }
        Poll::Ready(())
    }
}

/// Whatever ends it, it is counted: also a runtime that ends.
impl Drop for Waiting {
    fn drop(&mut self) {
        let call = self.call.take();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(call))) {
            self.calls.panicked(panic);
        }
        self.calls.waiting.fetch_sub(1, Ordering::Relaxed);
        self.calls.ends.fetch_add(1, Ordering::Relaxed);
        self.calls.ended.notify_waiters();
    }
}

thread_local! {
    /// A hook is being polled on this thread.
    static INSIDE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Whether this code runs in a hook: a shutdown that it waits for waits for it.
pub(crate) fn is_inside() -> bool {
    INSIDE.get()
}

fn inside<T>(poll: impl FnOnce() -> T) -> T {
    /// Also where it panics.
    struct Outside(bool);
    impl Drop for Outside {
        fn drop(&mut self) {
            INSIDE.set(self.0);
        }
    }
    let _outside = Outside(INSIDE.replace(true));
    poll()
}
