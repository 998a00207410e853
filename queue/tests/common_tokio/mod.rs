//! Tokio, with one more promise: when a test has ended, none of its tasks is alive.
//!
//! A test file says `use crate::tokio;`, and `#[tokio::test]` takes its runtime from here. Once the body of the test is
//! over and what it had is dropped, every task must end: those of a queue that was shut down or just dropped, and the
//! test's own. What a runtime of the test's own runs (`::tokio::runtime`) is not seen.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test program uses a part of it")]

pub use ::tokio::*;

pub mod runtime {
    use std::future::Future;
    use std::io;
    use std::time::Duration;

    pub use ::tokio::runtime::*;
    use ::tokio::time::{sleep, timeout};

    /// More than the graces of a shutdown take; a paused clock does not wait for it.
    const PATIENCE: Duration = Duration::from_secs(10);

    /// What `#[tokio::test]` asks of a builder.
    pub struct Builder(::tokio::runtime::Builder);

    impl Builder {
        pub fn new_current_thread() -> Self {
            super::quiet_panics();
            Self(::tokio::runtime::Builder::new_current_thread())
        }

        pub fn new_multi_thread() -> Self {
            super::quiet_panics();
            Self(::tokio::runtime::Builder::new_multi_thread())
        }

        pub fn enable_all(mut self) -> Self {
            self.0.enable_all();
            self
        }

        pub fn start_paused(mut self, paused: bool) -> Self {
            self.0.start_paused(paused);
            self
        }

        pub fn worker_threads(mut self, threads: usize) -> Self {
            self.0.worker_threads(threads);
            self
        }

        pub fn build(mut self) -> io::Result<Runtime> {
            self.0.build().map(Runtime)
        }
    }

    /// A runtime that ends empty.
    pub struct Runtime(::tokio::runtime::Runtime);

    impl Runtime {
        pub fn block_on<F: Future>(&self, test: F) -> F::Output {
            self.0.block_on(async {
                let output = test.await;
                let tasks = Handle::current().metrics();
                let ended = timeout(PATIENCE, async {
                    while tasks.num_alive_tasks() > 0 {
                        sleep(Duration::from_millis(1)).await;
                    }
                });
                assert!(ended.await.is_ok(), "{} tasks outlived the test", tasks.num_alive_tasks());
                output
            })
        }
    }
}

/// Panics whose text starts with `planned` print nothing from here on.
///
/// Before any queue starts: the library chains a hook of its own, which must be asked first.
pub fn quiet_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let payload = info.payload();
            let text = payload.downcast_ref::<&str>().copied();
            let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            if !text.is_none_or(|text| text.starts_with("planned")) {
                before(info);
            }
        }));
    });
}

/// No test file escapes: where there is a `#[tokio::test]` there is `use crate::tokio;`.
#[::core::prelude::v1::test]
fn every_test_file_takes_its_runtime_from_here() {
    // Named like the test program.
    let program = module_path!().split("::").next().unwrap();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(program);
    let main = folder.join("main.rs");
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        assert!(
            path == main || !text.contains("#[tokio::test") || text.contains("use crate::tokio;"),
            "{}",
            path.display()
        );
    }
}
