//! The rows: one test a promise, driven by what the worker claims.

mod attempts;
mod claims;
mod delay;
mod flow;
mod gate;
mod life;
mod operate;
mod ownership;
mod probe;
mod publish;
mod settle;
mod stage;
mod wire;

pub(crate) use stage::Stage;

use crate::{Backend, Row};

/// Why a row ends before its end.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The promise is broken: how.
    Failed(String),
    /// The worker does not claim what the row is about.
    Skipped(String),
    /// The backend does not offer what the row needs.
    Unproven(String),
}

impl Stop {
    pub(crate) const fn skip(why: String) -> Self {
        Self::Skipped(why)
    }
}

/// A call of the worker that failed.
pub(crate) fn failed(call: &str) -> impl Fn(queue_core::WorkerError) -> Stop + '_ {
    move |error| Stop::Failed(format!("`{call}` failed: {error}"))
}

/// What a step of a row ends with.
pub(crate) type Check = Result<(), Stop>;

/// Fails the row with a message, unless the condition holds.
macro_rules! ensure {
    ($holds:expr, $($message:tt)+) => {
        if !$holds {
            return Err($crate::suite::Stop::Failed(format!($($message)+)));
        }
    };
}
pub(crate) use ensure;

macro_rules! rows {
    ($($id:literal $module:ident::$row:ident $title:literal)*) => {
        /// The suite's rows: their ids in the list of behaviours, and what each proves.
        pub const ROWS: &[Row] = &[$(Row { id: $id, title: $title }),*];

        pub(crate) async fn play<B: Backend>(id: &str, stage: &Stage<'_, B>) -> Check {
            match id {
                $($id => Box::pin($module::$row(stage)).await,)*
                _ => Err(Stop::Failed(format!("the suite has no row {id}"))),
            }
        }
    };
}

rows! {
    "C-1" settle::c_1 "no ack before the handler's end; a job whose consumer dies comes again, whatever else that consumer acknowledged"
    "C-2" settle::c_2 "whatever its handler's end, a delivery is settled once"
    "C-3" ownership::c_3 "a settle after the lease has expired or the connection was cut answers lost ownership, and the new owner keeps the job"
    "C-4" ownership::c_4 "who lost a job counts it lost, and one consumer counts it done"
    "C-5" ownership::c_5 "a handler that takes three times the lease runs once, also where it blocks its thread"
    "C-6" ownership::c_6 "whose lease is lost is told within a beat, and what it answers later counts for nothing"
    "C-7" ownership::c_7 "each delivery of a job has a greater fencing number than all before"
    "C-8" ownership::c_8 "three settles in one call, one of them stale: two done, one lost"
    "C-9" settle::c_9 "a settle that fails on its way is asked again while the job is ours, and is no failed attempt"
    "C-10" attempts::c_10 "the first delivery is attempt 1, the next after a crash attempt 2; a job that kills its consumers is dead once its attempts are spent, without another start"
    "C-11" attempts::c_11 "three retries are four starts: the engine's and the broker's do not multiply"
    "C-12" attempts::c_12 "a return is deliverable at once as the same attempt; a retry is the next one, and not before its wait"
    "C-13" attempts::c_13 "the copy of a retry or a dead letter is stored before the original is given up: a broker that stores nothing loses nothing"
    "C-14" attempts::c_14 "of a consumer that dies all that was unsettled comes again, and nothing else"
    "C-15" flow::c_15 "two consumers share 100 jobs: each job once in all, and both get some"
    "C-16" flow::c_16 "what was published before there was any consumer is delivered"
    "C-17" delay::c_17 "a delay of twice the lease is delivered once, also where its producer dies and the broker restarts meanwhile"
    "C-18" delay::c_18 "delays of 1, 5 and 30 s are never early; how late they are is measured"
    "C-19" attempts::c_19 "a dead letter that is put back runs as attempt 1, with its headers"
    "C-20" publish::c_20 "accepted means confirmed; refused, unroutable and out of reach mean that nothing was done, and the job is back"
    "C-21" publish::c_21 "a publish whose confirmation is lost ends as unconfirmed within its deadline, and is the same job when it is sent again"
    "C-22" publish::c_22 "of a batch of publishes exactly the refused ones come back"
    "C-23" publish::c_23 "a body above the limit is refused with its job before anything is sent; one at the limit is taken"
    "C-24" wire::c_24 "what is no job reaches no handler: its dead letter has the same bytes and the reason, and the next job runs"
    "C-25" wire::c_25 "a bare body of another program is handled: attempt 1, and an id that stays"
    "C-26" wire::c_26 "the body on the wire is the codec's bytes; id and format version stand beside it; a newer version or an unknown content type is a dead letter that says so"
    "C-27" wire::c_27 "bodies and headers of every kind come back as they went"
    "C-28" wire::c_28 "each codec reads what it wrote, and nothing that another one wrote"
    "C-29" wire::c_29 "strange names of queues work and stay apart, or are refused with the rule"
    "C-30" claims::c_30 "what one producer published comes to one slot in its order, where the table says so"
    "C-31" claims::c_31 "each capability that it claims is there; nothing is volatile unless it was asked for"
    "C-32" claims::c_32 "what it does not claim is refused by name, never taken and ignored; types and values say the same"
    "C-33" claims::c_33 "the table is probed: another server, another table"
    "C-34" flow::c_34 "requests that are dropped at any moment lose no delivery"
    "C-35" flow::c_35 "what is unsettled at the broker is never more than slots and prefetch; what is asked for is never exceeded"
    "C-36" life::c_36 "shut down twice it is still fine; then a publish is closed, with its job, and so is a request"
    "C-37" claims::c_37 "behind its erased type it is the same worker"
    "C-38" flow::c_38 "5,000 jobs from 50 producers to 50 consumers, every one under an id of its own; two queues never meet"
    "C-39" flow::c_39 "consumers that come and go lose nothing: ten that start and end at once, and five rounds over 5,000 jobs"
    "C-40" flow::c_40 "jobs that fail some times are done in the end, each of them"
    "C-41" attempts::c_41 "the wait of a retry survives its consumer: elsewhere it is attempt 2, and not before its time"
    "C-42" operate::c_42 "its counts are the broker's own"
    "C-44" life::c_44 "ten queues over one connection: no ten connections, and closing one leaves the others"
    "C-45" life::c_45 "made while its broker is away it waits for it: health says so, and the first job runs once the broker is there"
    "C-46" operate::c_46 "a waiting job is cancelled by its id and a running one is not; a pause stops new starts in every consumer and is lifted in every consumer"
}
