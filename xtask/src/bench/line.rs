//! What was seen of a row.

use serde_json::Value;

use crate::command::Failure;

/// A clean run.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sample {
    /// Runs of one round were taken close to each other, and may be compared.
    pub(super) round: u64,
    /// Nanoseconds a job.
    pub(super) ns: f64,
    /// Nanoseconds of the floor, just before and after.
    pub(super) floor: Option<f64>,
    /// How many cores were busy.
    pub(super) cores: Option<f64>,
}

/// A row before it is judged.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) row: String,
    pub(super) floor: Option<String>,
    /// How many samples were wanted.
    pub(super) rounds: u64,
    /// Allocations a job.
    pub(super) allocs: Option<f64>,
    /// Instructions a job: a row that was counted and not timed.
    pub(super) instructions: Option<f64>,
    pub(super) samples: Vec<Sample>,
    /// As the program wrote it.
    pub(super) raw: Value,
}

impl Line {
    /// A line of JSON.
    pub(super) fn read(text: &str) -> Result<Self, Failure> {
        let raw: Value =
            serde_json::from_str(text).map_err(|error| Failure::new(format!("a program wrote `{text}`: {error}")))?;
        let samples = raw["samples"].as_array().into_iter().flatten().map(|sample| Sample {
            round: sample["round"].as_u64().unwrap_or(0),
            ns: sample["ns"].as_f64().unwrap_or(f64::NAN),
            floor: sample["floor"].as_f64(),
            cores: sample["cores"].as_f64(),
        });
        Ok(Self {
            row: raw["row"].as_str().unwrap_or_default().to_owned(),
            floor: raw["floor"].as_str().map(str::to_owned),
            rounds: raw["rounds"].as_u64().unwrap_or(0),
            allocs: raw["allocs"].as_f64(),
            instructions: raw["instructions"].as_f64(),
            samples: samples.collect(),
            raw,
        })
    }

    /// Whether fewer than half of the runs were clean.
    pub(super) fn is_noisy(&self) -> bool {
        2 * (self.samples.len() as u64) < self.rounds
    }

    /// What `of` is in the samples that have it.
    pub(super) fn spread(&self, of: impl Fn(&Sample) -> Option<f64>) -> Option<Spread> {
        Spread::of(self.samples.iter().filter_map(of).collect())
    }
}

/// Some numbers in brief.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread {
    pub(super) min: f64,
    pub(super) median: f64,
    pub(super) max: f64,
}

impl Spread {
    pub(super) fn of(mut numbers: Vec<f64>) -> Option<Self> {
        numbers.sort_by(f64::total_cmp);
        let [min, .., max] = numbers[..] else {
            return numbers.first().map(|&one| Self { min: one, median: one, max: one });
        };
        Some(Self { min, median: numbers[numbers.len() / 2], max })
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, Spread};

    #[test]
    fn a_line_is_read() {
        let text = r#"{"row":"bare/ct/1-4","floor":"L1","rounds":3,"dropped":2,"allocs":0.0,
            "samples":[{"round":2,"ns":9.5,"floor":6.5,"cores":1.0}]}"#;
        let line = Line::read(text).unwrap();
        assert_eq!((line.row.as_str(), line.floor.as_deref(), line.rounds), ("bare/ct/1-4", Some("L1"), 3));
        assert_eq!((line.samples[0].round, line.samples[0].floor), (2, Some(6.5)));
        assert!(line.is_noisy());
        assert!(Line::read("no JSON").is_err());
    }

    #[test]
    fn a_wait_has_neither_floor_nor_cores() {
        let text = r#"{"row":"wait/idle/ct/p50","floor":null,"rounds":9,"dropped":0,"allocs":null,
            "samples":[{"round":0,"ns":21000.5,"floor":null,"cores":null}]}"#;
        let line = Line::read(text).unwrap();
        assert_eq!((line.floor, line.allocs), (None, None));
        assert_eq!((line.samples[0].ns, line.samples[0].floor, line.samples[0].cores), (21_000.5, None, None));
    }

    #[test]
    fn a_spread_is_the_middle_and_the_ends() {
        assert_eq!(Spread::of(vec![3.0, 1.0, 2.0]), Some(Spread { min: 1.0, median: 2.0, max: 3.0 }));
        assert_eq!(Spread::of(vec![4.0]), Some(Spread { min: 4.0, median: 4.0, max: 4.0 }));
        assert_eq!(Spread::of(Vec::new()), None);
    }
}
