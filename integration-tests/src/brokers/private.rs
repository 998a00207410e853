//! A server of one test's own, to be broken.

use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;

use super::native::Native;
use super::{BrokerError, Options, Road, Server, Settings, say};

/// A server process that only one test uses. Gone, with all that it wrote, when this is dropped.
///
/// Each call waits until its effect is there, with a deadline, on a thread that may block: a test's runtime goes on meanwhile.
///
/// # Cancel safety
///
/// A call whose future is dropped goes on to its end, and the next one waits for it.
#[derive(Debug)]
pub struct Private {
    server: Server,
    url: String,
    port: u16,
    folder: PathBuf,
    native: Arc<Mutex<Native>>,
}

/// Starts a server of the test's own, always as a process: what a fault test does to a server, it does to a process.
///
/// # Errors
///
/// [`BrokerError::Skipped`], and [`BrokerError::Forced`] when `QUEUE_TEST_ROAD` leaves the container only. The rest says what to do.
pub async fn private(of: impl Into<Server>, options: Options) -> Result<Private, BrokerError> {
    let server = of.into();
    let settings = Settings::of_environment()?;
    if settings.skips(server) {
        return Err(BrokerError::Skipped(server));
    }
    if settings.forced() == Some(Road::Container) {
        let way_out = "run fault tests without QUEUE_TEST_ROAD";
        let source = Box::new(BrokerError::State { server, is: "a process where a test breaks it", way_out });
        return Err(BrokerError::Forced { server, road: Road::Container, source });
    }
    let native = blocking(move || Native::start(server, &options)).await?;
    let (url, port, folder) = (native.url(), native.port(), native.folder().to_owned());
    say(&format!("{server}: version {} at 127.0.0.1:{port}, road: native, of one test's own", native.version()));
    Ok(Private { server, url, port, folder, native: Arc::new(Mutex::new(native)) })
}

impl Private {
    /// Which server.
    #[must_use]
    pub const fn server(&self) -> Server {
        self.server
    }

    /// Its URL, the same after each start.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// `127.0.0.1:PORT`, the same after each start.
    #[must_use]
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Its port, the same after each start.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The folder of its files. `out` is what it wrote to its outputs.
    #[must_use]
    pub fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    /// The version that it says of itself.
    #[must_use]
    pub fn version(&self) -> String {
        self.native.lock().version().to_owned()
    }

    /// Its process, `None` while it is down. Another one after each start.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.native.lock().pid()
    }

    /// Ends it with SIGKILL. What the kernel has of its files stays.
    ///
    /// # Errors
    ///
    /// [`BrokerError::State`] when it is down.
    pub async fn kill(&self) -> Result<(), BrokerError> {
        self.call(Native::kill).await
    }

    /// Ends it with SIGTERM. It thaws first.
    ///
    /// # Errors
    ///
    /// [`BrokerError::State`] when it is down, [`BrokerError::Late`] when it has not ended after 30 seconds.
    pub async fn stop(&self) -> Result<(), BrokerError> {
        self.call(Native::stop).await
    }

    /// Starts it again, on the same port and with the data that are there.
    ///
    /// # Errors
    ///
    /// [`BrokerError::State`] when it runs, [`BrokerError::PortInUse`], and those of the start.
    pub async fn start(&self) -> Result<(), BrokerError> {
        self.call(Native::again).await
    }

    /// Takes its data away while it is down.
    ///
    /// # Errors
    ///
    /// [`BrokerError::State`] when it runs.
    pub async fn wipe(&self) -> Result<(), BrokerError> {
        self.call(Native::wipe).await
    }

    /// Stops it with SIGSTOP: connections stay and new ones are accepted, by the kernel, and nothing is answered.
    ///
    /// # Errors
    ///
    /// [`BrokerError::State`] when it is down.
    pub async fn freeze(&self) -> Result<(), BrokerError> {
        self.call(Native::freeze).await
    }

    /// Lets it go on with SIGCONT, and waits until it answers.
    ///
    /// # Errors
    ///
    /// [`BrokerError::State`] when it is down.
    pub async fn thaw(&self) -> Result<(), BrokerError> {
        self.call(Native::thaw).await
    }

    async fn call(&self, what: fn(&mut Native) -> Result<(), BrokerError>) -> Result<(), BrokerError> {
        let native = Arc::clone(&self.native);
        blocking(move || what(&mut native.lock())).await
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        // Blocking work is not cancelled while its runtime lives, and this runs on it.
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
