//! The table, for a terminal and for a document.

use super::judge::{Judged, Mark};
use super::limits::Limit;
use super::line::Spread;

const HEAD: [&str; 10] =
    ["row", "runs", "time (min–max)", "floor", "ratio (min–max)", "cores", "allocs", "target", "gate", "verdict"];

/// Aligned columns.
pub(super) fn plain(rows: &[Judged]) -> String {
    let cells: Vec<_> = std::iter::once(HEAD.map(str::to_owned)).chain(rows.iter().map(cells)).collect();
    let mut widths = [0; HEAD.len()];
    for row in &cells {
        widths.iter_mut().zip(row).for_each(|(width, cell)| *width = (*width).max(cell.chars().count()));
    }
    let line = |row: &[String; HEAD.len()]| {
        let padded: Vec<_> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        format!("{}\n", padded.join("  ").trim_end())
    };
    cells.iter().map(line).collect()
}

/// A table in Markdown.
pub(super) fn markdown(rows: &[Judged]) -> String {
    let line = |row: [String; HEAD.len()]| format!("| {} |\n", row.join(" | "));
    let rule = format!("|{}\n", "---|".repeat(HEAD.len()));
    let head = line(HEAD.map(str::to_owned));
    [head, rule].into_iter().chain(rows.iter().map(|row| line(cells(row)))).collect()
}

fn cells(row: &Judged) -> [String; HEAD.len()] {
    let [target, gate] = promised(row);
    [
        row.name.clone(),
        text(row.runs, |(clean, all)| format!("{clean}/{all}")),
        row.instructions.map_or_else(|| text(row.ns, spread), |count| format!("{count:.0} instructions")),
        text(row.floor.as_ref(), |(name, floor)| format!("{name} {:.1}", floor.median)),
        text(row.ratio, |ratio| format!("{:.2}x ({:.2}–{:.2})", ratio.median, ratio.min, ratio.max)),
        text(row.cores, |cores| format!("{cores:.1}")),
        // Rounded before it is shown, or a hair below zero is a zero with a sign.
        text(row.allocs, |allocs| format!("{:.4}", (allocs * 1e4).round() / 1e4 + 0.0)),
        target,
        gate,
        said(row.mark).to_owned(),
    ]
}

fn text<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map(show).unwrap_or_default()
}

/// In nanoseconds, or in microseconds from one on.
fn spread(ns: Spread) -> String {
    let (unit, part) = if ns.median < 1_000.0 { ("ns", 1.0) } else { ("µs", 1_000.0) };
    format!("{:.1} {unit} ({:.1}–{:.1})", ns.median / part, ns.min / part, ns.max / part)
}

/// How a limit is written.
type Show = fn(f64) -> String;

/// Target and gate in words.
fn promised(row: &Judged) -> [String; 2] {
    let kinds: [(Option<Limit>, Show); 3] = [
        (row.limits.ratio, |ratio| format!("≤ {ratio}x")),
        (row.limits.allocs, allocations),
        (row.limits.instructions, |count| format!("≤ {count}")),
    ];
    let said = |which: fn(Limit) -> Option<f64>| {
        let parts: Vec<_> = kinds.iter().filter_map(|(limit, show)| limit.and_then(which).map(show)).collect();
        parts.join(", ")
    };
    [said(|limit| Some(limit.target)), said(|limit| limit.gate)]
}

fn allocations(count: f64) -> String {
    // What counts as none is below anything that the table shows.
    if count < 0.001 { "0 allocs".to_owned() } else { format!("≤ {} allocs", (count * 1e3).round() / 1e3) }
}

const fn said(mark: Mark) -> &'static str {
    match mark {
        Mark::Shown => "",
        Mark::Met => "ok",
        Mark::OverTarget => "over target",
        Mark::Noisy => "noisy",
        Mark::Missed => "MISSED",
    }
}

#[cfg(test)]
mod tests {
    use super::super::judge::{Judged, Mark};
    use super::super::limits;
    use super::super::line::Spread;
    use super::{markdown, plain, spread};

    fn row() -> Judged {
        let spread = |median| Spread { min: median - 1.0, median, max: median + 1.0 };
        Judged {
            name: "stack/ct/1-4".to_owned(),
            runs: Some((8, 9)),
            ns: Some(spread(34.0)),
            floor: Some(("L1".to_owned(), spread(18.0))),
            ratio: Some(spread(1.9)),
            allocs: Some(-0.000_01),
            limits: limits::of("stack/ct/1-4"),
            mark: Mark::Met,
            ..Judged::default()
        }
    }

    #[test]
    fn a_row_shows_what_was_seen_and_promised() {
        let line = markdown(&[row()]).lines().nth(2).unwrap().to_owned();
        let expected = "| stack/ct/1-4 | 8/9 | 34.0 ns (33.0–35.0) | L1 18.0 | 1.90x (0.90–2.90) |  | 0.0000 \
            | ≤ 2x, 0 allocs | ≤ 5x, 0 allocs | ok |";
        assert_eq!(line, expected);
    }

    #[test]
    fn a_microsecond_is_written_as_one() {
        assert_eq!(spread(Spread { min: 900.0, median: 1_250.0, max: 2_000.0 }), "1.2 µs (0.9–2.0)");
        assert_eq!(spread(Spread { min: 900.0, median: 999.0, max: 2_000.0 }), "999.0 ns (900.0–2000.0)");
    }

    #[test]
    fn columns_stand_under_each_other() {
        let table = plain(&[row()]);
        let at = |line: &str, word| line.split(word).next().map(|before| before.chars().count());
        let lines: Vec<_> = table.lines().collect();
        assert_eq!(at(lines[0], "verdict"), at(lines[1], "ok"));
    }
}
