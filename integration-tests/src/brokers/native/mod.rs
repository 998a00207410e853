//! A server process of our own.

mod fault;
mod kafka;
mod plan;
mod rabbitmq;
mod redis;
mod signal;

pub(super) use kafka::SETTINGS as KAFKA_SETTINGS;

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use self::plan::{Place, Plan};
use super::probe::{self, Address};
use super::watcher::Watcher;
use super::{BrokerError, Deadline, Kind, Server, unique};

/// Letters that nobody guesses, for the cookie of an Erlang node.
fn secret() -> String {
    std::iter::repeat_with(fastrand::alphanumeric).take(24).collect()
}

/// What a private server has that the usual one has not.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// Its port; a free one without.
    pub port: Option<u16>,
    /// Where its data are, in a folder of their own that is removed at the end; beside its other files without.
    pub folder: Option<PathBuf>,
    /// More lines of its configuration, in the form of its file: `maxmemory 1mb`, `consumer_timeout = 5000`, `message.max.bytes=1000`.
    pub lines: Vec<String>,
    /// RabbitMQ's plugins, by name.
    pub plugins: Vec<String>,
    /// Under which address Kafka tells its clients to come: that of a proxy before it.
    pub advertised: Option<String>,
}

/// The longest that a server may take to answer after its start. RabbitMQ takes 6 s, Kafka 3 s, each several times that on a busy machine.
const START: Duration = Duration::from_secs(60);
/// The longest that it may take to end when asked. RabbitMQ takes 6 s when clients hang.
const STOP: Duration = Duration::from_secs(30);
/// The longest until a signal that cannot be refused has done its work.
const SIGNAL: Duration = Duration::from_secs(10);
/// The longest that one question is waited for: a server that is starting accepts and is silent.
const QUESTION: Duration = Duration::from_secs(2);

/// A server, its folder and its watcher.
#[derive(Debug)]
pub(super) struct Native {
    server: Server,
    port: u16,
    version: String,
    data: PathBuf,
    plan: Plan,
    child: Option<Child>,
    frozen: bool,
    /// Last: its drop removes the folder.
    watcher: Watcher,
}

impl Native {
    /// Starts a server and waits until it answers.
    pub(super) fn start(server: Server, options: &Options) -> Result<Self, BrokerError> {
        let (port, more) = plan::ports(options.port)?;
        let root = if server.kind() == Kind::Amqp { rabbitmq::parent(server)? } else { None };
        let parent = root.as_ref().map_or_else(Watcher::temporary, |(parent, _)| parent.clone());
        let asked = options.folder.as_ref().map(|folder| folder.join(unique("queue-test-data")));
        let watcher = Watcher::start(&parent, asked.as_deref(), "")?;
        let data = asked.unwrap_or_else(|| watcher.folder().join("data"));
        let seen =
            |path: &Path| root.as_ref().map_or_else(|| path.to_owned(), |(_, root)| rabbitmq::inside(root, path));
        let place = Place { folder: seen(watcher.folder()), data: seen(&data), port, more, options };
        let plan = Plan::of(server, &place)?;
        plan.write(watcher.folder())?;
        let mut native = Self { server, port, version: String::new(), data, plan, child: None, frozen: false, watcher };
        native.again()?;
        Ok(native)
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn version(&self) -> &str {
        &self.version
    }

    pub(super) fn url(&self) -> String {
        format!("{}://127.0.0.1:{}", self.server.kind().scheme(), self.port)
    }

    pub(super) fn folder(&self) -> &Path {
        self.watcher.folder()
    }

    /// `None` while it is down.
    pub(super) fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Starts it where it is down, with the data that are there, and waits until it answers.
    pub(super) fn again(&mut self) -> Result<(), BrokerError> {
        let way_out = "kill or stop it first";
        if self.child.is_some() {
            return Err(BrokerError::State { server: self.server, is: "running", way_out });
        }
        if !super::ports::is_free(self.port) {
            return Err(BrokerError::PortInUse { server: self.server, port: self.port });
        }
        fs::create_dir_all(&self.data).map_err(|source| BrokerError::Folder { path: self.data.clone(), source })?;
        self.child = Some(self.launch()?);
        self.version = self.ready()?;
        Ok(())
    }

    fn launch(&self) -> Result<Child, BrokerError> {
        let folder = self.watcher.folder();
        let said = folder.join("out");
        let open = || -> io::Result<(File, File)> {
            let out = File::options().create(true).append(true).open(&said)?;
            Ok((out.try_clone()?, out))
        };
        let (out, err) = open().map_err(|source| BrokerError::Folder { path: said.clone(), source })?;
        let mut sh = Command::new("/bin/sh");
        sh.args(["-c", include_str!("launch.sh"), "queue-test-launch"]).arg(folder).args(&self.plan.command);
        if self.plan.clean {
            sh.env_clear();
        }
        sh.envs(self.plan.variables.iter().map(|(name, value)| (name, value)));
        sh.current_dir(folder).process_group(0).stdin(Stdio::null()).stdout(out).stderr(err);
        sh.spawn().map_err(|source| BrokerError::Program { program: "/bin/sh".into(), source })
    }

    /// Waits until it answers in its protocol, and gives the version that it says.
    fn ready(&mut self) -> Result<String, BrokerError> {
        let mut last = None;
        let deadline = Deadline::after(START);
        let answer = deadline.until(|| {
            if self.has_ended() {
                return Some(Err(BrokerError::Ended { server: self.server, said: self.last_words() }));
            }
            self.ask().map_err(|error| last = Some(error)).ok().map(Ok)
        });
        answer.unwrap_or_else(|| {
            let last = last.map_or_else(String::new, |error| error.to_string()).into();
            Err(BrokerError::Late { what: format!("an answer of {}", self.server).into(), after: START, last })
        })
    }

    /// Asks it once, and gives the version that it says.
    pub(super) fn ask(&self) -> io::Result<String> {
        probe::ask(self.server.kind(), &Address::local(self.port), Deadline::after(QUESTION))
    }

    /// Whether its process is gone. Then the rest of its group goes too.
    fn has_ended(&mut self) -> bool {
        let Some(child) = &mut self.child else { return true };
        let ended = !matches!(child.try_wait(), Ok(None));
        if ended {
            let pid = child.id();
            self.child = None;
            self.frozen = false;
            // Nobody listens to what is left of the group, as epmd; the watcher must not signal a pid that may be another's by then.
            drop(signal::group(pid, Signal::KILL));
            drop(fs::remove_file(self.watcher.folder().join("pid")));
        }
        ended
    }

    fn last_words(&self) -> Box<str> {
        let said = fs::read(self.watcher.folder().join("out")).unwrap_or_default();
        let from = said.len().saturating_sub(2000);
        String::from_utf8_lossy(said.get(from..).unwrap_or_default()).trim().into()
    }
}
