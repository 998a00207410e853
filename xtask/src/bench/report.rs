//! What is kept of a run: every sample for tools, the table for readers.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::charts::{self, Chart};
use super::host::Host;
use super::judge::Judged;
use super::line::Line;
use super::table;
use crate::cargo;
use crate::command::Failure;

/// The document, from the workspace's root, and the lines that the table stands between.
const DOCUMENT: &str = "docs/performance.md";
const BEGIN: &str = "<!-- bench: begin, written by `cargo xtask bench --write` -->";
const END: &str = "<!-- bench: end -->";

/// Writes every sample and what was found of each row.
pub(super) fn json(file: &Path, host: &Host, lines: &[Line], rows: &[Judged]) -> Result<(), Failure> {
    let judged = rows.iter().map(|row| {
        let mark = format!("{:?}", row.mark);
        let median = row.ratio.map(|ratio| ratio.median);
        json!({ "row": row.name, "ratio": median, "allocs": row.allocs, "instructions": row.instructions, "mark": mark })
    });
    let all = json!({
        "host": host.json(),
        "measured": lines.iter().map(|line| &line.raw).collect::<Vec<_>>(),
        "judged": judged.collect::<Vec<Value>>(),
    });
    fs::write(file, format!("{all:#}\n")).map_err(|error| Failure::new(format!("{}: {error}", file.display())))
}

/// Puts the table into the document, and the charts beside it.
pub(super) fn write(host: &Host, rows: &[Judged]) -> Result<(), Failure> {
    let path = cargo::workspace().join(DOCUMENT);
    let failed = |error: std::io::Error| Failure::new(format!("{DOCUMENT} and its charts: {error}"));
    let document = fs::read_to_string(&path).map_err(failed)?;
    let charts = charts::all(rows, &format!("cargo xtask bench, {}: {}", host.date, host.brief()))?;
    let directory = cargo::workspace().join(charts::DIRECTORY);
    fs::create_dir_all(&directory).map_err(failed)?;
    let mut pictures = String::new();
    for Chart { file, title, svg } in charts {
        fs::write(directory.join(file), svg).map_err(failed)?;
        pictures.push_str(&format!("![{title}](charts/{file})\n\n"));
    }
    let table = table::markdown(rows);
    let table = format!("`cargo xtask bench` on {}: {host}.\n\n{pictures}{table}", host.date);
    let document = between(&document, &table)
        .ok_or_else(|| Failure::new(format!("{DOCUMENT} has no place for the table: `{BEGIN}` and `{END}`")))?;
    fs::write(&path, document).map_err(failed)
}

/// The document with `table` between its two lines.
fn between(document: &str, table: &str) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{table}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::{BEGIN, END, between};

    #[test]
    fn only_what_stands_between_the_lines_is_replaced() {
        let document = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        let expected = format!("before\n{BEGIN}\nnew\n{END}\nafter\n");
        assert_eq!(between(&document, "new\n"), Some(expected));
        assert_eq!(between("no lines", "new\n"), None);
    }
}
