//! Logs that cannot be read, and what is said of them.

use queue_conformance::history::{Claims, LogError, MAX_LINE, RecordError, Recorder, check};

use crate::log::Log;

fn error(text: impl AsRef<[u8]>) -> LogError {
    check(text.as_ref()).expect_err("the log was read")
}

/// F-18: no header, an empty file, another version, another claim.
#[test]
fn a_header_is_needed() {
    assert!(matches!(error(""), LogError::Empty));
    for found in
        ["\n", "hello\n", "{}\n", "[]\n", "{\"history\":\"1\"}\n", "{\"history\":0}\n", "{\"p\":\"a\",\"closed\":{}}\n"]
    {
        assert!(matches!(error(found), LogError::NoHeader { .. }), "{found}");
    }
    let newer = error("{\"history\":2,\"shape\":\"round\"}\n");
    assert!(matches!(newer, LogError::Newer { found: 2, known: 1 }), "{newer}");
    let claim = error("{\"history\":1,\"order\":\"sideways\"}\n").to_string();
    assert!(claim.contains("sideways") && claim.contains("producer"), "{claim}");
    let claim = error("{\"history\":1,\"oder\":\"queue\"}\n").to_string();
    assert!(claim.contains("oder") && claim.contains("duplicates"), "{claim}");
    Log::new().holds();
}

/// F-18: garbage, an unknown event, an unknown field or value, each with its line and what is known.
#[test]
fn a_line_that_is_no_event_is_named() {
    let cases = [
        ("hello", "expected value"),
        ("", "EOF"),
        ("\u{0}", "expected"),
        ("{\"p\":\"a\"}", "without an event"),
        ("{\"closed\":{}}", "missing field `p`"),
        ("{\"p\":\"a\",\"closed\":{},\"closed\":{}}", "second `closed`"),
        ("{\"p\":\"a\",\"exploded\":{}}", "unknown variant `exploded`, expected one of `publish`"),
        ("{\"p\":\"a\",\"publish\":{\"n\":1}}", "missing field `f`"),
        ("{\"p\":\"a\",\"publish\":{\"n\":1,\"f\":\"12\"}}", "16 hexadecimal digits"),
        ("{\"p\":\"a\",\"publish\":{\"n\":-1,\"f\":\"0000000000000001\"}}", "-1"),
        ("{\"p\":\"a\",\"settle\":{\"d\":1,\"v\":\"maybe\"}}", "unknown variant `maybe`, expected one of `ack`"),
        ("{\"p\":\"a\",\"failed\":{\"d\":1,\"e\":2}}", "unknown field `e`"),
        ("{\"p\":\"a\",\"closed\":{}} more", "trailing"),
        ("{\"p\":\"a\",\"clo", "EOF"),
    ];
    for (line, said) in cases {
        let found = error(format!("{{\"history\":1}}\n{line}\n{{\"p\":\"b\",\"closed\":{{}}}}\n"));
        assert!(matches!(found, LogError::NoEvent { line: 2, .. }), "{line}: {found}");
        assert!(found.to_string().contains(said), "{line}: {found}");
    }
    let found = error(b"{\"history\":1}\n{\"p\":\"\xff\xfe\",\"closed\":{}}\n");
    assert!(matches!(found, LogError::NoEvent { line: 2, .. }), "{found}");
}

/// F-18: the last line may be torn, and the report says so; garbage there is still garbage.
#[test]
fn a_torn_last_line_is_told() {
    let whole = Log::new().lives(1, 1).text();
    let begun = "{\"p\":\"a\",\"publish\":{\"n\":2,\"f\":\"";
    for cut in 1..=begun.len() {
        let text = format!("{whole}{}", begun.get(..cut).unwrap());
        let report = check(text.as_bytes()).unwrap();
        assert!(report.holds() && report.torn_last_line() == Some(9), "{report}");
        assert!(report.to_string().contains("the last line, 9, is torn"), "{report}");
    }
    assert!(matches!(error(format!("{whole}garbage")), LogError::NoEvent { line: 9, .. }));
}

/// F-18: a line of 10 MB is refused before it is held in memory, the first of a million as well.
#[test]
fn a_line_that_is_too_long_is_refused() {
    let long = "x".repeat(10_000_000);
    let found = error(format!("{{\"history\":1}}\n{{\"p\":\"{long}\",\"closed\":{{}}}}\n"));
    assert!(matches!(found, LogError::TooLong { line: 2, limit: MAX_LINE }), "{found}");
    assert!(found.to_string().len() < 200);
    assert!(matches!(error(long), LogError::TooLong { line: 1, .. }));
    let quoted = format!("{{\"history\":1}}\n{{\"p\":\"a\",\"{}\":{{}}}}\n", "x".repeat(10_000));
    assert!(error(quoted).to_string().len() < 1_000);
}

/// F-18: a log that contradicts itself.
#[test]
fn a_contradiction_is_named() {
    let cases = [
        (Log::new().confirmed(1), "never asked for"),
        (Log::new().sent(1).confirmed(1), "answered before"),
        (Log::new().publish(1).publish(1), "has no answer yet"),
        (Log::new().sent(1).delivered(1, 1, 1).delivered(1, 1, 1), "handed out before (line 4)"),
        (Log::new().lives(1, 1).delivered(1, 1, 1), "handed out before (line 8)"),
        (Log::new().sent(1).delivered(1, 1, 1).settled(1, "done"), "no verdict"),
        (Log::new().sent(1).delivered(1, 1, 1).settle(1, "ack").settle(1, "ack"), "without an answer (line 5)"),
        (Log::new().failed(1), "not open"),
        (Log::new().gave_up(1), "not open"),
        (Log::new().sent(1).delivered(1, 1, 1).failed(1), "no verdict"),
        (Log::new().closed().closed(), "ended at line 2"),
        (Log::new().by("b").publish(1).by("a").killed("b").by("b").refused(1), "ended at line 3"),
        (Log::new().killed("b").killed("b"), "ended at line 2"),
        (Log::new().killed("a"), "itself"),
    ];
    for (log, said) in cases {
        let found = error(log.text());
        let last = log.line() as u64;
        assert!(matches!(found, LogError::Contradiction { line, .. } if line == last), "{found}\n{}", log.text());
        assert!(found.to_string().contains(said), "{found}");
    }
    let many = (0..10_001).fold(String::from("{\"history\":1}\n"), |mut text, process| {
        text += &format!("{{\"p\":\"{process}\",\"cut\":{{}}}}\n");
        text
    });
    assert!(matches!(error(many), LogError::Contradiction { line: 10_002, .. }));
}

/// F-18: a recorder neither overwrites a file nor continues what is no log.
#[test]
fn a_recorder_looks_at_its_file_first() {
    let file = tempfile();
    std::fs::write(&file.0, "no log\n").unwrap();
    assert!(matches!(Recorder::create(&file.0, "a", Claims::new()), Err(RecordError::Io(_))));
    assert!(matches!(Recorder::append(&file.0, "a"), Err(RecordError::NoLog(LogError::NoHeader { .. }))));
    std::fs::remove_file(&file.0).unwrap();
    assert!(matches!(Recorder::append(&file.0, "a"), Err(RecordError::Io(_))));
    Recorder::create(&file.0, "a", Claims::new().duplicates(3)).unwrap().close().unwrap();
    let again = Recorder::append(&file.0, "b").unwrap();
    assert_eq!(again.claims().duplicates, Some(3));
    again.close().unwrap();
    let text = std::fs::read_to_string(&file.0).unwrap();
    assert_eq!(text.lines().count(), 3, "{text}");
}

/// F-18: a file whose first line never ends is refused, by the recorder as well.
#[test]
#[cfg(target_os = "linux")]
fn a_first_line_without_an_end_is_refused() {
    assert!(matches!(Recorder::append("/dev/zero", "a"), Err(RecordError::NoLog(LogError::TooLong { line: 1, .. }))));
}

/// A file of its own, removed in the end.
pub(crate) struct TempFile(pub(crate) std::path::PathBuf);

impl Drop for TempFile {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

pub(crate) fn tempfile() -> TempFile {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = format!("{}-{}.log", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    TempFile(std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
}
