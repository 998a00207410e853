//! A handler whose start and end are noted.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use queue::{CancelReason, Context, HandlerResult, JobId};

use super::event::{self, End, Event, Hex};
use super::{Fingerprint, Recorder, Step};

impl Recorder {
    /// The handler `handler`, with its starts and ends noted.
    ///
    /// ```
    /// use queue::{Context, Queue, Ring};
    /// use queue_conformance::history::{Claims, Recorded, Recorder};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let recorder = Recorder::in_memory(Claims::new());
    /// let queue = Queue::with_worker(Recorded::new(Ring::new(), &recorder))
    ///     .start(recorder.handler(async |_: u64, _: Context| Err::<(), _>(queue::Error::permanent("no luck"))))?;
    /// queue.enqueue(1).await?;
    /// drop(queue.shutdown(std::time::Duration::from_secs(5)).await?);
    /// assert_eq!(recorder.check()?.counts().dead, 1);
    /// # Ok(()) }
    /// ```
    pub fn handler<J, S, F, Fut>(
        &self,
        handler: F,
    ) -> impl Fn(J, Context<S>) -> RecordedRun<Fut, S> + Send + Sync + 'static + use<J, S, F, Fut>
    where
        J: Fingerprint,
        S: Clone,
        F: Fn(J, Context<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: HandlerResult>,
    {
        let recorder = self.clone();
        move |job, cx| {
            let (id, attempt) = (cx.id(), cx.attempt());
            recorder.pass(Step::BeforeHandler);
            let f = Hex(job.fingerprint());
            recorder.note(Event::Started(event::Started { id: Hex(id.get()), a: attempt, f }));
            recorder.pass(Step::InHandler);
            let ending = Ending { recorder: recorder.clone(), id, attempt, noted: false };
            let mut panic = Panicking(ending, true);
            let future = Box::pin(handler(job, cx.clone()));
            panic.1 = false;
            RecordedRun { future, panic, cx }
        }
    }
}

/// A running handler whose end will be noted: it returns, panics or is dropped.
#[derive(Debug)]
pub struct RecordedRun<Fut, S> {
    future: Pin<Box<Fut>>,
    panic: Panicking,
    cx: Context<S>,
}

// The future is boxed: moving the run moves no future, and the state is never pinned.
impl<Fut, S> Unpin for RecordedRun<Fut, S> {}

impl<Fut, S> Future for RecordedRun<Fut, S>
where
    Fut: Future<Output: HandlerResult>,
{
    type Output = Fut::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Fut::Output> {
        let run = self.get_mut();
        let polled = {
            let mut panic = Armed(&mut run.panic.0, true);
            let polled = run.future.as_mut().poll(cx);
            panic.1 = false;
            polled
        };
        if let Poll::Ready(output) = &polled {
            let well = output.judge() == ().judge();
            run.panic.0.note(if well { End::Ok } else { End::Error });
        }
        polled
    }
}

impl<Fut, S> Drop for RecordedRun<Fut, S> {
    fn drop(&mut self) {
        let timed_out = matches!(self.cx.cancel_reason(), Some(CancelReason::Timeout));
        self.panic.0.note(if timed_out { End::TimedOut } else { End::Cancelled });
    }
}

/// What is noted of an end, once.
#[derive(Debug)]
struct Ending {
    recorder: Recorder,
    id: JobId,
    attempt: u32,
    noted: bool,
}

impl Ending {
    fn note(&mut self, how: End) {
        if !std::mem::replace(&mut self.noted, true) {
            let ended = event::Ended { id: Hex(self.id.get()), a: self.attempt, how };
            self.recorder.note(Event::Ended(ended));
        }
    }
}

/// Notes a panic of the call that makes the future.
#[derive(Debug)]
struct Panicking(Ending, bool);

impl Drop for Panicking {
    fn drop(&mut self) {
        if self.1 {
            self.0.note(End::Panicked);
        }
    }
}

/// Notes a panic of a poll: nothing else leaves it armed.
struct Armed<'a>(&'a mut Ending, bool);

impl Drop for Armed<'_> {
    fn drop(&mut self) {
        if self.1 {
            self.0.note(End::Panicked);
        }
    }
}
