//! RabbitMQ as a process: nothing of it is shared with another node of this machine.

use std::ffi::OsString;
use std::path::Path;

use super::plan::{Place, Plan};
use crate::brokers::install::{self, RabbitMq};
use crate::brokers::{BrokerError, Server};

/// Starts epmd, then becomes the server.
const SCRIPT: &str = include_str!("rabbitmq.sh");
/// Threads that do not spin where there is nothing to do; distribution on the loopback only; no input.
const ERLANG: &str =
    "-noinput -start_epmd false +sbwt none +sbwtdcpu none +sbwtdio none -kernel inet_dist_use_interface {127,0,0,1}";

pub(super) fn plan(server: Server, place: &Place<'_>) -> Result<Plan, BrokerError> {
    let installed = install::rabbitmq(server)?;
    let mut command: Vec<OsString> = Vec::new();
    if let Some(root) = &installed.root {
        // A mount namespace of its own: `/proc` goes away with the server.
        let inside = "mount -t proc proc \"$1/proc\" && exec chroot \"$@\"";
        command.extend(["unshare", "--mount", "sh", "-c", inside, "queue-test-root"].map(OsString::from));
        command.push(root.into());
        command.push("sh".into());
    } else {
        command.push("sh".into());
    }
    command.extend(["-c", SCRIPT, "queue-test-rabbitmq"].map(OsString::from));
    command.push(installed.scripts.clone().into());
    Ok(Plan { command, variables: variables(&installed, place), clean: true, files: files(place) })
}

fn variables(installed: &RabbitMq, place: &Place<'_>) -> Vec<(&'static str, OsString)> {
    let at = |name: &str| place.folder.join(name).into_os_string();
    let path = match (&installed.root, std::env::var_os("PATH")) {
        (None, Some(path)) => path,
        _ => "/usr/sbin:/usr/bin:/sbin:/bin".into(),
    };
    let [distribution, epmd] = place.more;
    vec![
        ("PATH", path),
        ("LANG", "C.UTF-8".into()),
        ("HOME", at("home")),
        ("ERL_EPMD_PORT", epmd.to_string().into()),
        ("ERL_EPMD_ADDRESS", "127.0.0.1".into()),
        ("RABBITMQ_NODENAME", format!("queue-test-{}@localhost", place.port).into()),
        ("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1".into()),
        ("RABBITMQ_NODE_PORT", place.port.to_string().into()),
        ("RABBITMQ_DIST_PORT", distribution.to_string().into()),
        ("RABBITMQ_MNESIA_BASE", place.data.clone().into()),
        ("RABBITMQ_LOG_BASE", at("log")),
        ("RABBITMQ_LOGS", "-".into()),
        ("RABBITMQ_PID_FILE", at("rabbitmq.pid")),
        ("RABBITMQ_ENABLED_PLUGINS_FILE", at("enabled_plugins")),
        ("RABBITMQ_CONFIG_FILE", at("rabbitmq")),
        ("RABBITMQ_ADVANCED_CONFIG_FILE", at("advanced.config")),
        ("RABBITMQ_CONF_ENV_FILE", "/dev/null".into()),
        ("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", ERLANG.into()),
    ]
}

fn files(place: &Place<'_>) -> Vec<(&'static str, String)> {
    let mut settings = format!(
        "listeners.tcp.default = 127.0.0.1:{}\nloopback_users = none\nlog.console = true\nlog.console.level = warning\n\
         vm_memory_high_watermark.absolute = 512MB\ndisk_free_limit.absolute = 50MB\n",
        place.port
    );
    for line in &place.options.lines {
        settings.push_str(line);
        settings.push('\n');
    }
    vec![
        ("rabbitmq.conf", settings),
        ("advanced.config", "[].\n".to_owned()),
        ("enabled_plugins", format!("[{}].\n", place.options.plugins.join(","))),
        ("home/.erlang.cookie", super::secret()),
        ("log/.keep", String::new()),
        ("epmd-port", place.more[1].to_string()),
    ]
}

/// The folder in which a server that runs in a root of its own can see its files: it is below that root.
pub(super) fn parent(server: Server) -> Result<Option<(std::path::PathBuf, std::path::PathBuf)>, BrokerError> {
    let root = install::rabbitmq(server)?.root;
    Ok(root.map(|root| (root.join("tmp"), root)))
}

/// The same file as a server sees it in its root.
pub(super) fn inside(root: &Path, path: &Path) -> std::path::PathBuf {
    path.strip_prefix(root).map_or_else(|_| path.to_owned(), |below| Path::new("/").join(below))
}
