//! The way in: each open entry is noted before the call, its answer after it.

use queue_core::{Answer, Entry, Extra, Refusal};

use crate::history::event::{Answered, Event, Hex, Publish, Refused, Why};
use crate::history::recorder::whole_ms;
use crate::history::{Fingerprint, Recorder, Step};

/// The line of a publish.
pub(super) fn publish<'a, J: Fingerprint>(n: u64, job: &'a J, extra: Option<&Extra>, call: Option<u64>) -> Publish<'a> {
    Publish {
        n,
        f: Hex(job.fingerprint()),
        key: job.order_key(),
        id: extra.and_then(|extra| extra.id).map(|id| Hex(id.get())),
        delay: extra.and_then(|extra| extra.delay).map(whole_ms),
        prio: extra.map_or(0, |extra| extra.priority),
        call,
    }
}

/// A call of `queue`. Its drop notes what the entries say then: a call that is dropped half way is noted, too.
pub(super) struct Publishing<'a, J> {
    pub(super) jobs: &'a mut [Entry<J>],
    recorder: &'a Recorder,
    /// Which entries were open, and under which number.
    open: Vec<(usize, u64)>,
}

impl<'a, J: Fingerprint> Publishing<'a, J> {
    pub(super) fn new(jobs: &'a mut [Entry<J>], recorder: &'a Recorder) -> Self {
        let open = jobs.iter().enumerate().filter(|(_, entry)| entry.is_open() && entry.job().is_some());
        let open: Vec<_> = open.map(|(at, _)| at).collect();
        let first = recorder.publishes(open.len());
        let call = (open.len() > 1).then_some(first);
        let open: Vec<_> = open.into_iter().zip(first..).collect();
        for (at, n) in &open {
            let Some(job) = jobs[*at].job() else { continue };
            recorder.note(Event::Publish(publish(*n, job, jobs[*at].extra(), call)));
            recorder.pass(Step::BeforePublish);
        }
        Self { jobs, recorder, open }
    }
}

impl<J> Drop for Publishing<'_, J> {
    fn drop(&mut self) {
        for (at, n) in self.open.drain(..) {
            self.recorder.note(match self.jobs[at].answer() {
                Answer::Accepted(id) => Event::Confirmed(Answered { n, id: Hex(id.get()) }),
                Answer::Unconfirmed(id) => Event::Unconfirmed(Answered { n, id: Hex(id.get()) }),
                Answer::Refused(why) => Event::Refused(Refused { n, why: why_of(why) }),
                Answer::Open => Event::Refused(Refused { n, why: Why::NotSent }),
            });
        }
    }
}

const fn why_of(refusal: &Refusal) -> Why {
    match refusal {
        Refusal::Full => Why::Full,
        Refusal::Closed => Why::Closed,
        Refusal::TooLarge { .. } => Why::TooLarge,
        Refusal::Unroutable => Why::Unroutable,
        Refusal::Unsupported(_) => Why::Unsupported,
        Refusal::Unencodable(_) => Why::Unencodable,
        // Also what a later contract adds.
        _ => Why::Rejected,
    }
}
