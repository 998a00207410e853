//! What a program is told on its command line.

use std::env;

/// What to measure, and how long.
#[derive(Debug, Clone)]
pub struct Options {
    /// Few jobs and one round: shows that everything runs, measures nothing.
    pub quick: bool,
    /// Only rows whose name contains one of these; all, where there is none.
    names: Vec<String>,
}

/// What a program shall do.
#[derive(Debug)]
pub(crate) enum Task {
    Measure(Options),
    /// One run and nothing else, for an instrument that watches from outside.
    One {
        row: String,
        jobs: u64,
    },
}

impl Task {
    /// `[--quick] [NAME…]`, or `one ROW JOBS`.
    pub(crate) fn from_arguments() -> Self {
        let mut words: Vec<String> = env::args().skip(1).collect();
        if let [one, row, jobs] = &words[..]
            && one == "one"
        {
            return Self::One { row: row.clone(), jobs: jobs.parse().expect("`one ROW JOBS` takes a number of jobs") };
        }
        let all = words.len();
        words.retain(|word| word != "--quick");
        Self::Measure(Options { quick: words.len() < all, names: words })
    }
}

impl Options {
    /// Whether the row is asked for.
    pub(crate) fn selects(&self, row: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| row.contains(name.as_str()))
    }

    /// How many clean runs of a row are wanted.
    pub(crate) const fn rounds(&self) -> usize {
        if self.quick { 1 } else { 9 }
    }

    /// How much of the work is done.
    pub(crate) const fn scale(&self, jobs: u64) -> u64 {
        if self.quick { jobs / 200 } else { jobs }
    }
}
