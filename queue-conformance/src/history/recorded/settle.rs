//! The way out: each verdict is noted before the call, its answer after it.

use queue_core::{Meta, Settled, Settling, SettlingOf, Unsettled, Verdict, Worker};

use super::{Noted, Recorded};
use crate::history::event::{self, Ask, Delivery, Event, How, Settle};
use crate::history::recorder::whole_ms;
use crate::history::{Fingerprint, Recorder, Step};

/// The inner worker's own form of a batch. Its drop writes answers and what was not answered back, and notes both: a dropped settle loses
/// nothing.
pub(super) struct Opened<'a, W: Worker<Job: Fingerprint>> {
    batch: &'a mut [SettlingOf<Recorded<W>>],
    pub(super) own: Vec<SettlingOf<W>>,
    recorder: &'a Recorder,
    /// Where each of `own` stands in the batch, and its number.
    numbers: Vec<(usize, u64)>,
    kept: bool,
}

impl<'a, W: Worker<Job: Fingerprint>> Opened<'a, W> {
    pub(super) fn new(batch: &'a mut [SettlingOf<Recorded<W>>], recorder: &'a Recorder) -> Self {
        let (mut own, mut numbers) = (Vec::with_capacity(batch.len()), Vec::with_capacity(batch.len()));
        for (at, settling) in batch.iter_mut().enumerate() {
            // The answer holds the place only until the real one is known.
            let Some((unsettled, verdict)) = settling.answer(Settled::LostOwnership) else { continue };
            let Unsettled { meta, payload, receipt } = unsettled;
            // A receipt of nobody's delivery was never ours: lost, as it stands.
            let Some((receipt, d)) = receipt.open() else { continue };
            recorder.note(Event::Settle(settle(d, &verdict)));
            recorder.pass(Step::BeforeSettle);
            own.push(Settling::new(Unsettled { meta, payload, receipt }, verdict));
            numbers.push((at, d));
        }
        Self { batch, own, recorder, numbers, kept: false }
    }

    /// The call has ended: what it did not answer has failed.
    pub(super) fn answer(mut self) {
        self.close();
    }

    /// The call has ended: what it did not answer is still with the caller, and nothing was done with it.
    pub(super) fn keep(mut self) {
        self.kept = true;
        self.close();
    }

    fn close(&mut self) {
        for ((at, d), own) in self.numbers.drain(..).zip(self.own.drain(..)) {
            let answered = own.answered();
            self.recorder.note(match (answered, self.kept) {
                (Some(settled), _) => Event::Settled(event::Settled { d, how: how(settled) }),
                (None, true) => Event::Settled(event::Settled { d, how: How::Kept }),
                (None, false) => Event::Failed(Delivery { d }),
            });
            self.batch[at] = match (answered, own.into_asked()) {
                (Some(settled), _) => already(settled, self.recorder),
                (None, Some((Unsettled { meta, payload, receipt }, verdict))) => {
                    let receipt = Noted::again(d, receipt, self.recorder);
                    Settling::new(Unsettled { meta, payload, receipt }, verdict)
                }
                // It was neither answered nor asked: there is no such state.
                (None, None) => continue,
            };
        }
    }
}

impl<W: Worker<Job: Fingerprint>> Drop for Opened<'_, W> {
    fn drop(&mut self) {
        self.close();
    }
}

/// A settling that was answered.
fn already<P, R: queue_core::Receipt>(settled: Settled, recorder: &Recorder) -> Settling<P, Noted<R>> {
    let nothing = Unsettled { meta: Meta::default(), payload: None, receipt: Noted::empty(recorder) };
    let mut settling = Settling::new(nothing, Verdict::Ack);
    drop(settling.answer(settled));
    settling
}

fn settle(d: u64, verdict: &Verdict) -> Settle {
    let (v, after) = match verdict {
        Verdict::Ack => (Ask::Ack, None),
        Verdict::Retry { after } => (Ask::Retry, Some(*after)),
        Verdict::Dead { .. } => (Ask::Dead, None),
        Verdict::Return { after } => (Ask::Return, Some(*after)),
    };
    Settle { d, v, after: after.map(whole_ms).filter(|after| *after > 0) }
}

const fn how(settled: Settled) -> How {
    match settled {
        Settled::Done => How::Done,
        Settled::Gone => How::Gone,
        // Also what a later contract adds: it is no `done`.
        _ => How::Lost,
    }
}
