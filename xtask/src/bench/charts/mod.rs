//! The numbers as pictures: which charts there are, and what each shows.
//!
//! The same rows give the same bytes. A chart shows the rows that were measured, and leaves out the others.

mod draw;

use super::judge::Judged;
use super::line::Spread;
use crate::command::Failure;
use draw::{Bars, Group, Line, Series, Trend};

/// The directory, from the workspace's root; from the document it is `charts`.
pub(super) const DIRECTORY: &str = "docs/charts";

/// A chart, drawn.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chart {
    /// The name of its file.
    pub(super) file: &'static str,
    /// What it shows, for a reader who does not see it.
    pub(super) title: &'static str,
    pub(super) svg: String,
}

const SHAPES: [&str; 7] = ["1-1", "1-4", "1-12", "1-16", "4-4", "16-1", "16-16"];
const BACKLOGS: [(f64, &str); 5] = [(0.0, "1"), (2.0, "100"), (4.0, "10,000"), (6.0, "1,000,000"), (7.0, "10,000,000")];

/// Label and row, without the runtime.
const PEERS: [(&str, &str); 5] = [
    ("whole stack", "stack/{}/1-4"),
    ("through Enqueuer", "enqueuer/{}/1-4"),
    ("through DynWorker", "dyn/{}/1-4"),
    ("tokio::spawn a job", "spawn/{}/1-4"),
    ("mpsc + semaphore", "semaphore/{}/1-4"),
];
const EXTRAS: [(&str, &str); 8] = [
    ("nothing", "log/off/{}/1-4"),
    ("batches of 64", "many/{}/1-4"),
    ("a context", "retry/0/{}/1-4"),
    ("one retry", "retry/1/{}/1-4"),
    ("a log", "log/on/{}/1-4"),
    ("a hook", "hook/ready/{}/1-4"),
    ("one that waits", "hook/waits/{}/1-4"),
    ("1 KiB, cloned", "clone/1024/{}/1-4"),
];

/// All charts, with `footer` at the bottom of each: where and when, and by which command.
pub(super) fn all(rows: &[Judged], footer: &str) -> Result<Vec<Chart>, Failure> {
    let failed = |error: Box<dyn std::error::Error>| Failure::new(format!("a chart cannot be drawn: {error}"));
    let bars = |file, title, bars: &Bars| {
        let svg = draw::bars(title, footer, bars).map_err(failed)?;
        Ok(Chart { file, title, svg })
    };
    Ok(vec![
        bars("shapes.svg", "Cost of a job by producers and slots", &shapes(rows))?,
        bars("peers.svg", "Cost of a job beside what one would write by hand", &both(rows, &PEERS))?,
        bars("extras.svg", "Cost of a job with what else a queue can do", &both(rows, &EXTRAS))?,
        Chart {
            file: "backlog.svg",
            title: "Cost of a job by how many are queued already",
            svg: draw::trend("Cost of a job by how many are queued already", footer, &backlog(rows)).map_err(failed)?,
        },
    ])
}

fn find<'a>(rows: &'a [Judged], name: &str) -> Option<&'a Judged> {
    rows.iter().find(|row| row.name == name)
}

fn time(rows: &[Judged], name: &str) -> Option<Spread> {
    find(rows, name)?.ns
}

/// A floor as it was read beside these rows: the median of medians.
fn floor(rows: &[Judged], name: &'static str, prefix: &str) -> Option<Line> {
    let beside = rows.iter().filter(|row| row.name.starts_with(prefix));
    let readings = beside.filter_map(|row| row.floor.as_ref().filter(|(floor, _)| floor == name));
    let at = Spread::of(readings.map(|(_, reading)| reading.median).collect())?.median;
    Some(Line { name, at })
}

fn shapes(rows: &[Judged]) -> Bars {
    let subjects = ["bare/ct", "stack/ct", "bare/mt2", "stack/mt2"];
    let group = |&shape: &&'static str| Group {
        label: shape,
        bars: subjects.iter().map(|subject| time(rows, &format!("{subject}/{shape}"))).collect(),
    };
    Bars {
        series: vec![Series::BareCt, Series::StackCt, Series::BareMt2, Series::StackMt2],
        groups: SHAPES.iter().map(group).collect(),
        lines: [floor(rows, "L1", "stack/ct/"), floor(rows, "C", "stack/mt2/")].into_iter().flatten().collect(),
    }
}

/// Rows on both runtimes, side by side.
fn both(rows: &[Judged], of: &[(&'static str, &str)]) -> Bars {
    let group = |&(label, row): &(&'static str, &str)| Group {
        label,
        bars: ["ct", "mt2"].iter().map(|runtime| time(rows, &row.replace("{}", runtime))).collect(),
    };
    Bars { series: vec![Series::Ct, Series::Mt2], groups: of.iter().map(group).collect(), lines: Vec::new() }
}

fn backlog(rows: &[Judged]) -> Trend {
    let point = |&(at, label): &(f64, &'static str)| {
        let row = format!("backlog/{}", label.replace(',', ""));
        Some((at, label, time(rows, &row)?))
    };
    Trend {
        points: BACKLOGS.iter().filter_map(point).collect(),
        floors: floor(rows, "L1", "backlog/").into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::judge::Judged;
    use super::super::line::Spread;
    use super::{BACKLOGS, EXTRAS, PEERS, SHAPES, all};

    fn rows() -> Vec<Judged> {
        let both = PEERS.iter().chain(&EXTRAS).map(|(_, row)| (*row).to_owned());
        let shapes = SHAPES.iter().flat_map(|shape| [format!("bare/{{}}/{shape}"), format!("stack/{{}}/{shape}")]);
        let backlog = BACKLOGS.iter().map(|(_, label)| format!("backlog/{}", label.replace(',', "")));
        let names = both.chain(shapes).flat_map(|row| ["ct", "mt2"].map(|runtime| row.replace("{}", runtime)));
        let row = |(nth, name): (u32, String)| {
            let median = 20.0 + f64::from(nth);
            let spread = |median| Spread { min: median - 2.0, median, max: median + 5.0 };
            let floor = if name.contains("mt2") { "C" } else { "L1" };
            Judged { name, ns: Some(spread(median)), floor: Some((floor.to_owned(), spread(8.0))), ..Judged::default() }
        };
        (0..).zip(names.chain(backlog)).map(row).collect()
    }

    #[test]
    fn every_chart_says_what_it_shows() {
        let charts = all(&rows(), "the machine, today").unwrap();
        let words: [(&str, &[&str]); 4] = [
            ("shapes.svg", &["1-12", "16-16", "bare, ct", "whole stack, mt2", "floor L1: 8.0", "floor C: 8.0"]),
            ("peers.svg", &["tokio::spawn a job", "mpsc + semaphore", "whole stack", "ns a job"]),
            ("extras.svg", &["one retry", "a log", "one that waits"]),
            ("backlog.svg", &["10,000,000", "floor L1: 8.0", "jobs queued"]),
        ];
        assert_eq!(charts.len(), words.len());
        for (chart, (file, words)) in charts.iter().zip(words) {
            assert_eq!(chart.file, file);
            assert!(chart.svg.starts_with("<svg") && chart.svg.trim_end().ends_with("</svg>"), "{file}");
            for word in words.iter().chain(&[chart.title, "the machine, today"]) {
                assert!(chart.svg.contains(word), "{file} does not say `{word}`");
            }
        }
    }

    #[test]
    fn the_same_rows_give_the_same_bytes() {
        assert_eq!(all(&rows(), "footer").unwrap(), all(&rows(), "footer").unwrap());
    }

    #[test]
    fn what_was_not_measured_is_left_out() {
        assert!(all(&[], "footer").is_ok());
    }
}
