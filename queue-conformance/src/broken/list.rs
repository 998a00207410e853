//! The faults, and the rows that must find them.

use std::fmt;

/// One fault of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Defect {
    /// It confirms every hundredth job and stores it nowhere.
    LosesEveryHundredth,
    /// It answers a refused publish as accepted.
    SwallowsRefusal,
    /// It answers accepted while the broker is away.
    AcceptsWhileAway,
    /// It answers a publish without a confirmation as refused.
    CallsUnconfirmedRefused,
    /// It waits for a lost confirmation for ever.
    WaitsForConfirmForever,
    /// It sends an unconfirmed job again under another id.
    NewIdOnResend,
    /// It takes the first answer of a batch of publishes for all.
    FirstAnswerForAll,
    /// It sends bodies above the limit that it names.
    SendsTooLarge,
    /// It refuses a body of exactly the limit that it names.
    RefusesAtLimit,
    /// It wraps the body into an envelope of its own.
    WrapsBody,
    /// It leaves the format version out.
    OmitsVersion,
    /// It drops the user's headers.
    DropsHeaders,
    /// It drops headers that are not text.
    DropsBinaryHeaders,
    /// It passes bodies of binary codecs through a text type.
    TreatsBodiesAsText,
    /// It lets each producer number its jobs from 1.
    ProducersNumberAlike,
    /// It keeps delayed jobs in the memory of whoever published them.
    DelayedDieWithProducer,
    /// It hands delayed jobs out at once.
    IgnoresDelay,
    /// It cuts delays at 25 seconds.
    CutsLongDelays,
    /// It claims priorities and hands jobs out in order.
    IgnoresPriority,
    /// It takes a priority that it cannot keep, and ignores it.
    AcceptsAndIgnores,
    /// It takes jobs after its shutdown.
    AcceptsAfterShutdown,
    /// It acknowledges a job when it hands it out.
    AcksOnDelivery,
    /// It hands every tenth job out twice.
    DeliversTwice,
    /// It loses the jobs of a request that is dropped.
    LosesDroppedRequest,
    /// It fetches the whole queue ahead where it is asked for several.
    PrefetchesAll,
    /// It hands out more than was asked for.
    HandsOutTooMany,
    /// It counts attempts from 0.
    CountsFromZero,
    /// It counts an attempt when it ends, so that a crash spends none.
    CountsCrashesLate,
    /// It stops counting retries at three.
    StopsCountingAtThree,
    /// It gives each delivery of a job the same fencing number.
    FenceStandsStill,
    /// It serves the first consumer alone.
    HogsJobs,
    /// It passes over what a producer published that ended before the first consumer came.
    StartsAtLatest,
    /// It sends a large batch of publishes from its end.
    SendsBatchesBackwards,
    /// It reads a newer format by guess.
    ReadsNewerFormats,
    /// It drops messages that other programs wrote.
    DropsForeign,
    /// It gives a foreign message another id with each delivery.
    NumbersForeignAnew,
    /// It never answers a request.
    NeverAnswersRequests,
    /// It panics in every call.
    PanicsInEveryCall,
    /// It acknowledges all earlier deliveries along with one.
    AcksAllBelow,
    /// It answers a settle that came too late with an error.
    StaleSettleFails,
    /// It carries out a settle that came too late.
    StaleSettleWins,
    /// It answers done for a job that somebody else has finished.
    GoneAnswersDone,
    /// It answers lost for a whole batch in which one came too late.
    OneStaleSpoilsBatch,
    /// It answers done where the settle did not reach the broker.
    SwallowsSettleErrors,
    /// It leaves verdicts unanswered once it is closed.
    LeavesVerdictsOpen,
    /// It spends no attempt on a retry.
    RetryKeepsAttempt,
    /// It spends an attempt on a return.
    ReturnSpendsAttempt,
    /// It ignores the wait before a retry.
    RetryComesEarly,
    /// It loses a job that is returned.
    ReturnLosesJob,
    /// It acknowledges before the copy of a retry is stored.
    AcksBeforeCopy,
    /// It drops the dead letter where the broker stores nothing.
    DropsDead,
    /// It writes the dead letter of a broken body without the body.
    EmptiesUndecodable,
    /// It forgets why a job is dead.
    ForgetsCause,
    /// It lets a retry replace another that is due at the same time.
    RetriesReplaceEachOther,
    /// It keeps a retry's wait in the memory of the consumer.
    RetryWaitDiesWithConsumer,
    /// It extends no lease while the handler runs.
    NeverBeats,
    /// It never tells that a lease is lost.
    NeverTellsLoss,
    /// It loses what is in flight when the connection is cut.
    LosesInFlightOnCut,
    /// It hands out only ten jobs of a consumer that died.
    ForgetsBeyondTen,
    /// It hands out settled jobs again when their consumer dies.
    RedeliversSettled,
    /// It loses what is in flight when the broker restarts.
    LosesInFlightOnRestart,
    /// It counts no dead letters.
    DeadNotCounted,
    /// It counts running jobs among the waiting ones.
    HeldCountedReady,
    /// It puts a dead letter back with its attempts spent.
    ReplayKeepsAttempts,
    /// It puts a dead letter back without its headers.
    ReplayDropsHeaders,
    /// It loses a dead letter that is listed.
    ListingSpends,
    /// It pauses the consumer that asked, and no other.
    PausesOnlyItself,
    /// It answers that it cancelled a job that runs.
    CancelsRunning,
    /// It claims to cancel by id, and does not.
    ClaimsCancel,
    /// It fails when it is shut down twice.
    SecondShutdownFails,
    /// It never ends its shutdown.
    HangsInShutdown,
    /// It leaves a consumer behind that takes jobs for nobody.
    GhostConsumers,
    /// It shows the same capabilities whatever the server is.
    SameTableEverywhere,
    /// It gives two queues whose names look alike the same jobs.
    FoldsNames,
    /// It cuts long queue names without a word.
    CutsNames,
    /// It opens a connection for each queue.
    ConnectionPerQueue,
    /// It closes all queues of a connection with the first.
    OneCloseClosesAll,
    /// It gives up where the broker is away at the start.
    GivesUpWhenAway,
    /// It forgets counts and dead letters behind its erased type.
    BoxedForgetsFacets,
}

/// A fault and the rows that must fail on it: one to three.
#[derive(Debug, Clone, Copy)]
pub struct Misbehaviour {
    /// The fault.
    pub defect: Defect,
    /// What the worker does.
    pub does: &'static str,
    /// The ids of the rows.
    pub rows: &'static [&'static str],
}

impl fmt::Display for Misbehaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, which {}", self.defect, self.does)
    }
}

const fn of(defect: Defect, does: &'static str, rows: &'static [&'static str]) -> Misbehaviour {
    Misbehaviour { defect, does, rows }
}

/// All of them.
pub const MISBEHAVIOURS: &[Misbehaviour] = &[
    of(Defect::LosesEveryHundredth, "confirms every hundredth job and stores it nowhere", &["C-1", "C-38", "C-39"]),
    of(Defect::SwallowsRefusal, "answers a refused publish as accepted", &["C-20", "C-22"]),
    of(Defect::AcceptsWhileAway, "answers accepted while the broker is away", &["C-20"]),
    of(Defect::CallsUnconfirmedRefused, "answers a publish without a confirmation as refused", &["C-21"]),
    of(Defect::WaitsForConfirmForever, "waits for a lost confirmation for ever", &["C-21"]),
    of(Defect::NewIdOnResend, "sends an unconfirmed job again under another id", &["C-21"]),
    of(Defect::FirstAnswerForAll, "takes the first answer of a batch of publishes for all", &["C-22"]),
    of(Defect::SendsTooLarge, "sends bodies above the limit that it names", &["C-23"]),
    of(Defect::RefusesAtLimit, "refuses a body of exactly the limit that it names", &["C-23"]),
    of(Defect::WrapsBody, "wraps the body into an envelope of its own", &["C-26", "C-31", "C-46"]),
    of(Defect::OmitsVersion, "leaves the format version out", &["C-26"]),
    of(Defect::DropsHeaders, "drops the user's headers", &["C-19", "C-27", "C-37"]),
    of(Defect::DropsBinaryHeaders, "drops headers that are not text", &["C-27"]),
    of(Defect::TreatsBodiesAsText, "passes bodies of binary codecs through a text type", &["C-28"]),
    of(Defect::ProducersNumberAlike, "lets each producer number its jobs from 1", &["C-38"]),
    of(Defect::DelayedDieWithProducer, "keeps delayed jobs in the memory of whoever published them", &["C-17"]),
    of(Defect::IgnoresDelay, "hands delayed jobs out at once", &["C-17", "C-18"]),
    of(Defect::CutsLongDelays, "cuts delays at 25 seconds", &["C-18"]),
    of(Defect::IgnoresPriority, "claims priorities and hands jobs out in order", &["C-31"]),
    of(Defect::AcceptsAndIgnores, "takes a priority that it cannot keep, and ignores it", &["C-32"]),
    of(Defect::AcceptsAfterShutdown, "takes jobs after its shutdown", &["C-36"]),
    of(Defect::AcksOnDelivery, "acknowledges a job when it hands it out", &["C-1", "C-14"]),
    of(Defect::DeliversTwice, "hands every tenth job out twice", &["C-15", "C-40"]),
    of(Defect::LosesDroppedRequest, "loses the jobs of a request that is dropped", &["C-34"]),
    of(Defect::PrefetchesAll, "fetches the whole queue ahead where it is asked for several", &["C-35"]),
    of(Defect::HandsOutTooMany, "hands out more than was asked for", &["C-35"]),
    of(Defect::CountsFromZero, "counts attempts from 0", &["C-10", "C-12"]),
    of(Defect::CountsCrashesLate, "counts an attempt when it ends, so that a crash spends none", &["C-10"]),
    of(Defect::StopsCountingAtThree, "stops counting retries at three", &["C-11"]),
    of(Defect::FenceStandsStill, "gives each delivery of a job the same fencing number", &["C-7"]),
    of(Defect::HogsJobs, "serves the first consumer alone", &["C-15"]),
    of(
        Defect::StartsAtLatest,
        "passes over what a producer published that ended before the first consumer came",
        &["C-16"],
    ),
    of(Defect::SendsBatchesBackwards, "sends a large batch of publishes from its end", &["C-30"]),
    of(Defect::ReadsNewerFormats, "reads a newer format by guess", &["C-26"]),
    of(Defect::DropsForeign, "drops messages that other programs wrote", &["C-24", "C-25"]),
    of(Defect::NumbersForeignAnew, "gives a foreign message another id with each delivery", &["C-25"]),
    of(Defect::NeverAnswersRequests, "never answers a request", &["C-16"]),
    of(Defect::PanicsInEveryCall, "panics in every call", &["C-1"]),
    of(Defect::AcksAllBelow, "acknowledges all earlier deliveries along with one", &["C-1"]),
    of(Defect::StaleSettleFails, "answers a settle that came too late with an error", &["C-3", "C-8"]),
    of(Defect::StaleSettleWins, "carries out a settle that came too late", &["C-3", "C-6", "C-8"]),
    of(Defect::GoneAnswersDone, "answers done for a job that somebody else has finished", &["C-4"]),
    of(Defect::OneStaleSpoilsBatch, "answers lost for a whole batch in which one came too late", &["C-8"]),
    of(Defect::SwallowsSettleErrors, "answers done where the settle did not reach the broker", &["C-9"]),
    of(Defect::LeavesVerdictsOpen, "leaves verdicts unanswered once it is closed", &["C-2"]),
    of(Defect::RetryKeepsAttempt, "spends no attempt on a retry", &["C-11", "C-12"]),
    of(Defect::ReturnSpendsAttempt, "spends an attempt on a return", &["C-12"]),
    of(Defect::RetryComesEarly, "ignores the wait before a retry", &["C-12", "C-41"]),
    of(Defect::ReturnLosesJob, "loses a job that is returned", &["C-7", "C-12", "C-25"]),
    of(Defect::AcksBeforeCopy, "acknowledges before the copy of a retry is stored", &["C-13"]),
    of(Defect::DropsDead, "drops the dead letter where the broker stores nothing", &["C-13"]),
    of(Defect::EmptiesUndecodable, "writes the dead letter of a broken body without the body", &["C-24"]),
    of(Defect::ForgetsCause, "forgets why a job is dead", &["C-10", "C-24", "C-31"]),
    of(Defect::RetriesReplaceEachOther, "lets a retry replace another that is due at the same time", &["C-40"]),
    of(Defect::RetryWaitDiesWithConsumer, "keeps a retry's wait in the memory of the consumer", &["C-41"]),
    of(Defect::NeverBeats, "extends no lease while the handler runs", &["C-5"]),
    of(Defect::NeverTellsLoss, "never tells that a lease is lost", &["C-6"]),
    of(Defect::LosesInFlightOnCut, "loses what is in flight when the connection is cut", &["C-3"]),
    of(Defect::ForgetsBeyondTen, "hands out only ten jobs of a consumer that died", &["C-14"]),
    of(Defect::RedeliversSettled, "hands out settled jobs again when their consumer dies", &["C-1", "C-14"]),
    of(Defect::LosesInFlightOnRestart, "loses what is in flight when the broker restarts", &["C-14"]),
    of(Defect::DeadNotCounted, "counts no dead letters", &["C-42"]),
    of(Defect::HeldCountedReady, "counts running jobs among the waiting ones", &["C-42"]),
    of(Defect::ReplayKeepsAttempts, "puts a dead letter back with its attempts spent", &["C-19"]),
    of(Defect::ReplayDropsHeaders, "puts a dead letter back without its headers", &["C-19"]),
    of(Defect::ListingSpends, "loses a dead letter that is listed", &["C-19"]),
    of(Defect::PausesOnlyItself, "pauses the consumer that asked, and no other", &["C-46"]),
    of(Defect::CancelsRunning, "answers that it cancelled a job that runs", &["C-46"]),
    of(Defect::ClaimsCancel, "claims to cancel by id, and does not", &["C-31", "C-46"]),
    of(Defect::SecondShutdownFails, "fails when it is shut down twice", &["C-36"]),
    of(Defect::HangsInShutdown, "never ends its shutdown", &["C-36"]),
    of(Defect::GhostConsumers, "leaves a consumer behind that takes jobs for nobody", &["C-39"]),
    of(Defect::SameTableEverywhere, "shows the same capabilities whatever the server is", &["C-33"]),
    of(Defect::FoldsNames, "gives two queues whose names look alike the same jobs", &["C-29"]),
    of(Defect::CutsNames, "cuts long queue names without a word", &["C-29"]),
    of(Defect::ConnectionPerQueue, "opens a connection for each queue", &["C-44"]),
    of(Defect::OneCloseClosesAll, "closes all queues of a connection with the first", &["C-2", "C-44"]),
    of(Defect::GivesUpWhenAway, "gives up where the broker is away at the start", &["C-45"]),
    of(Defect::BoxedForgetsFacets, "forgets counts and dead letters behind its erased type", &["C-37"]),
];
