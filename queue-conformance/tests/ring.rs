//! The memory ring passes the suite: directly, behind its erased type, in each of its forms, and by the clock on the wall.

use backend_memory::{Moved, Ring};
use queue_conformance::{AnyCodec, Backend, Boxed, Job, Markers, Time, markers, suite};
use queue_core::WorkerError;

#[derive(Debug, Clone, Copy)]
struct Memory {
    time: Time,
    dead_letters: usize,
}

impl Memory {
    const fn new(time: Time) -> Self {
        Self { time, dead_letters: 1_000 }
    }
}

impl Backend for Memory {
    type Worker = Ring<Job>;

    async fn connect(&self, _queue: &str, _codec: AnyCodec) -> Result<Ring<Job>, WorkerError> {
        let ring = Ring::builder().dead_letters(self.dead_letters).build();
        ring.map_err(|error| WorkerError::fatal(error.to_string()))
    }

    fn time(&self) -> Time {
        self.time
    }

    fn markers(&self) -> Option<Markers> {
        Some(markers!(Ring<Job>))
    }
}

/// A ring that moves each job into its handler.
#[derive(Debug, Clone, Copy)]
struct Once;

impl Backend for Once {
    type Worker = Ring<Job, Moved>;

    async fn connect(&self, _queue: &str, _codec: AnyCodec) -> Result<Ring<Job, Moved>, WorkerError> {
        Ok(Ring::once())
    }

    fn time(&self) -> Time {
        Time::Paused
    }

    fn markers(&self) -> Option<Markers> {
        Some(markers!(Ring<Job, Moved>))
    }
}

mod direct {
    use super::*;
    suite!(Memory::new(Time::Paused));
}

mod boxed {
    use super::*;
    suite!(Boxed(Memory::new(Time::Paused)));
}

mod once {
    use super::*;
    suite!(Once);
}

mod boxed_once {
    use super::*;
    suite!(Boxed(Once));
}

mod without_dead_letters {
    use super::*;
    suite!(Memory { time: Time::Paused, dead_letters: 0 });
}

mod boxed_without_dead_letters {
    use super::*;
    suite!(Boxed(Memory { time: Time::Paused, dead_letters: 0 }));
}

mod by_the_wall {
    use super::*;
    suite!(Memory::new(Time::Wall));
}
