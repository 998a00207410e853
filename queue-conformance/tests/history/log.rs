//! Logs as text: what a program in any language would write.

use queue_conformance::history::{Kind, Report, check};

/// A log under construction: one event a call.
#[derive(Clone)]
pub(crate) struct Log {
    pub(crate) lines: Vec<String>,
    process: &'static str,
    ms: Option<u64>,
}

impl Log {
    /// A log with these claims beside the version.
    pub(crate) fn claiming(claims: &str) -> Self {
        let comma = if claims.is_empty() { "" } else { "," };
        Self { lines: vec![format!("{{\"history\":1{comma}{claims}}}")], process: "a", ms: None }
    }

    pub(crate) fn new() -> Self {
        Self::claiming("")
    }

    /// The next events are of this process.
    pub(crate) fn by(mut self, process: &'static str) -> Self {
        self.process = process;
        self
    }

    /// The next events are of this time.
    pub(crate) fn at(mut self, ms: u64) -> Self {
        self.ms = Some(ms);
        self
    }

    pub(crate) fn event(mut self, event: &str) -> Self {
        let ms = self.ms.map(|ms| format!("\"ms\":{ms},")).unwrap_or_default();
        self.lines.push(format!("{{\"p\":\"{}\",{ms}{event}}}", self.process));
        self
    }

    /// A publish: of job `n`, with the fingerprint of `n`.
    pub(crate) fn publish(self, n: u64) -> Self {
        self.event(&format!("\"publish\":{{\"n\":{n},\"f\":\"{n:016x}\"}}"))
    }

    pub(crate) fn publish_with(self, n: u64, more: &str) -> Self {
        self.event(&format!("\"publish\":{{\"n\":{n},\"f\":\"{n:016x}\",{more}}}"))
    }

    pub(crate) fn confirmed(self, n: u64) -> Self {
        self.confirmed_as(n, n)
    }

    pub(crate) fn confirmed_as(self, n: u64, id: u64) -> Self {
        self.event(&format!("\"confirmed\":{{\"n\":{n},\"id\":\"{id:016x}\"}}"))
    }

    pub(crate) fn unconfirmed(self, n: u64) -> Self {
        self.event(&format!("\"unconfirmed\":{{\"n\":{n},\"id\":\"{n:016x}\"}}"))
    }

    pub(crate) fn refused(self, n: u64) -> Self {
        self.event(&format!("\"refused\":{{\"n\":{n},\"why\":\"full\"}}"))
    }

    /// Published and confirmed.
    pub(crate) fn sent(self, n: u64) -> Self {
        self.publish(n).confirmed(n)
    }

    pub(crate) fn delivered(self, d: u64, id: u64, attempt: u32) -> Self {
        self.event(&format!("\"delivered\":{{\"d\":{d},\"id\":\"{id:016x}\",\"a\":{attempt}}}"))
    }

    pub(crate) fn fenced(self, d: u64, id: u64, fence: u64) -> Self {
        self.event(&format!("\"delivered\":{{\"d\":{d},\"id\":\"{id:016x}\",\"a\":1,\"fence\":{fence}}}"))
    }

    pub(crate) fn started(self, id: u64, attempt: u32) -> Self {
        self.started_with(id, attempt, id)
    }

    pub(crate) fn started_with(self, id: u64, attempt: u32, print: u64) -> Self {
        self.event(&format!("\"started\":{{\"id\":\"{id:016x}\",\"a\":{attempt},\"f\":\"{print:016x}\"}}"))
    }

    pub(crate) fn ended(self, id: u64, attempt: u32, how: &str) -> Self {
        self.event(&format!("\"ended\":{{\"id\":\"{id:016x}\",\"a\":{attempt},\"how\":\"{how}\"}}"))
    }

    pub(crate) fn settle(self, d: u64, verdict: &str) -> Self {
        self.event(&format!("\"settle\":{{\"d\":{d},\"v\":\"{verdict}\"}}"))
    }

    pub(crate) fn settle_after(self, d: u64, verdict: &str, after: u64) -> Self {
        self.event(&format!("\"settle\":{{\"d\":{d},\"v\":\"{verdict}\",\"after\":{after}}}"))
    }

    pub(crate) fn settled(self, d: u64, how: &str) -> Self {
        self.event(&format!("\"settled\":{{\"d\":{d},\"how\":\"{how}\"}}"))
    }

    pub(crate) fn failed(self, d: u64) -> Self {
        self.event(&format!("\"failed\":{{\"d\":{d}}}"))
    }

    pub(crate) fn gave_up(self, d: u64) -> Self {
        self.event(&format!("\"gave_up\":{{\"d\":{d}}}"))
    }

    pub(crate) fn left(self, id: u64, place: &str) -> Self {
        self.event(&format!("\"left\":{{\"id\":\"{id:016x}\",\"place\":\"{place}\"}}"))
    }

    pub(crate) fn of_job(self, what: &str, id: u64) -> Self {
        self.event(&format!("\"{what}\":{{\"id\":\"{id:016x}\"}}"))
    }

    pub(crate) fn killed(self, process: &str) -> Self {
        self.event(&format!("\"killed\":{{\"process\":\"{process}\"}}"))
    }

    pub(crate) fn cut(self) -> Self {
        self.event("\"cut\":{}")
    }

    pub(crate) fn closed(self) -> Self {
        self.event("\"closed\":{}")
    }

    /// A verdict and its answer.
    pub(crate) fn settles(self, d: u64, verdict: &str) -> Self {
        self.settle(d, verdict).settled(d, "done")
    }

    /// A handler from start to end.
    pub(crate) fn runs(self, id: u64, attempt: u32) -> Self {
        self.started(id, attempt).ended(id, attempt, "ok")
    }

    /// Delivered as delivery `d`, run and acked.
    pub(crate) fn works(self, d: u64, id: u64, attempt: u32) -> Self {
        self.delivered(d, id, attempt).runs(id, attempt).settles(d, "ack")
    }

    /// The whole life of a job: delivery `d` of job `n`.
    pub(crate) fn lives(self, n: u64, d: u64) -> Self {
        self.sent(n).works(d, n, 1)
    }

    pub(crate) fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }

    pub(crate) fn report(&self) -> Report {
        check(self.text().as_bytes()).unwrap_or_else(|error| panic!("{error}\n{}", self.text()))
    }

    /// The log keeps every rule.
    #[track_caller]
    pub(crate) fn holds(&self) -> Report {
        let report = self.report();
        assert!(report.holds(), "{report}\n{}", self.text());
        report
    }

    /// The log breaks this rule, once, and no other; the sentence names `line`.
    #[track_caller]
    pub(crate) fn breaks(&self, kind: Kind, line: usize) -> Report {
        let report = self.report();
        let found: Vec<_> = report.violations().iter().map(|of| (of.kind, of.total)).collect();
        assert_eq!(found, [(kind, 1)], "{report}\n{}", self.text());
        let sentence = report.violations()[0].shown[0].to_string();
        let named: Vec<_> = sentence.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
        assert!(named.contains(&line), "line {line} is not named: {sentence}\n{}", self.text());
        report
    }

    /// The line that was written last.
    pub(crate) fn line(&self) -> usize {
        self.lines.len()
    }
}
