//! The faults, and the rows that must find them.

use std::fmt;

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

macro_rules! defects {
    ($($name:ident: $does:literal => $($row:literal)+,)*) => {
        /// One fault of a worker.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Defect {
            $(#[doc = concat!("It ", $does, ".")] $name,)*
        }

        /// All of them.
        pub const MISBEHAVIOURS: &[Misbehaviour] =
            &[$(Misbehaviour { defect: Defect::$name, does: $does, rows: &[$($row),+] }),*];
    };
}

defects! {
    LosesEveryHundredth: "confirms every hundredth job and stores it nowhere" => "C-1" "C-38" "C-39",
    SwallowsRefusal: "answers a refused publish as accepted" => "C-20" "C-22",
    AcceptsWhileAway: "answers accepted while the broker is away" => "C-20",
    CallsUnconfirmedRefused: "answers a publish without a confirmation as refused" => "C-21",
    WaitsForConfirmForever: "waits for a lost confirmation for ever" => "C-21",
    NewIdOnResend: "sends an unconfirmed job again under another id" => "C-21",
    FirstAnswerForAll: "takes the first answer of a batch of publishes for all" => "C-22",
    SendsTooLarge: "sends bodies above the limit that it names" => "C-23",
    RefusesAtLimit: "refuses a body of exactly the limit that it names" => "C-23",
    WrapsBody: "wraps the body into an envelope of its own" => "C-26" "C-31" "C-46",
    OmitsVersion: "leaves the format version out" => "C-26",
    DropsHeaders: "drops the user's headers" => "C-19" "C-27" "C-37",
    DropsBinaryHeaders: "drops headers that are not text" => "C-27",
    TreatsBodiesAsText: "passes bodies of binary codecs through a text type" => "C-28",
    ProducersNumberAlike: "lets each producer number its jobs from 1" => "C-38",
    DelayedDieWithProducer: "keeps delayed jobs in the memory of whoever published them" => "C-17",
    IgnoresDelay: "hands delayed jobs out at once" => "C-17" "C-18",
    CutsLongDelays: "cuts delays at 25 seconds" => "C-18",
    IgnoresPriority: "claims priorities and hands jobs out in order" => "C-31",
    AcceptsAndIgnores: "takes a priority that it cannot keep, and ignores it" => "C-32",
    AcceptsAfterShutdown: "takes jobs after its shutdown" => "C-36",
    AcksOnDelivery: "acknowledges a job when it hands it out" => "C-1" "C-14",
    DeliversTwice: "hands every tenth job out twice" => "C-15" "C-40",
    LosesDroppedRequest: "loses the jobs of a request that is dropped" => "C-34",
    PrefetchesAll: "fetches the whole queue ahead where it is asked for several" => "C-35",
    HandsOutTooMany: "hands out more than was asked for" => "C-35",
    CountsFromZero: "counts attempts from 0" => "C-10" "C-12",
    CountsCrashesLate: "counts an attempt when it ends, so that a crash spends none" => "C-10",
    StopsCountingAtThree: "stops counting retries at three" => "C-11",
    FenceStandsStill: "gives each delivery of a job the same fencing number" => "C-7",
    HogsJobs: "serves the first consumer alone" => "C-15",
    StartsAtLatest: "passes over what a producer published that ended before the first consumer came" => "C-16",
    SendsBatchesBackwards: "sends a large batch of publishes from its end" => "C-30",
    ReadsNewerFormats: "reads a newer format by guess" => "C-26",
    DropsForeign: "drops messages that other programs wrote" => "C-24" "C-25",
    NumbersForeignAnew: "gives a foreign message another id with each delivery" => "C-25",
    NeverAnswersRequests: "never answers a request" => "C-16",
    PanicsInEveryCall: "panics in every call" => "C-1",
    AcksAllBelow: "acknowledges all earlier deliveries along with one" => "C-1",
    StaleSettleFails: "answers a settle that came too late with an error" => "C-3" "C-8",
    StaleSettleWins: "carries out a settle that came too late" => "C-3" "C-6" "C-8",
    GoneAnswersDone: "answers done for a job that somebody else has finished" => "C-4",
    OneStaleSpoilsBatch: "answers lost for a whole batch in which one came too late" => "C-8",
    SwallowsSettleErrors: "answers done where the settle did not reach the broker" => "C-9",
    LeavesVerdictsOpen: "leaves verdicts unanswered once it is closed" => "C-2",
    RetryKeepsAttempt: "spends no attempt on a retry" => "C-11" "C-12",
    ReturnSpendsAttempt: "spends an attempt on a return" => "C-12",
    RetryComesEarly: "ignores the wait before a retry" => "C-12" "C-41",
    ReturnLosesJob: "loses a job that is returned" => "C-7" "C-12" "C-25",
    AcksBeforeCopy: "acknowledges before the copy of a retry is stored" => "C-13",
    DropsDead: "drops the dead letter where the broker stores nothing" => "C-13",
    EmptiesUndecodable: "writes the dead letter of a broken body without the body" => "C-24",
    ForgetsCause: "forgets why a job is dead" => "C-10" "C-24" "C-31",
    RetriesReplaceEachOther: "lets a retry replace another that is due at the same time" => "C-40",
    RetryWaitDiesWithConsumer: "keeps a retry's wait in the memory of the consumer" => "C-41",
    NeverBeats: "extends no lease while the handler runs" => "C-5",
    NeverTellsLoss: "never tells that a lease is lost" => "C-6",
    LosesInFlightOnCut: "loses what is in flight when the connection is cut" => "C-3",
    ForgetsBeyondTen: "hands out only ten jobs of a consumer that died" => "C-14",
    RedeliversSettled: "hands out settled jobs again when their consumer dies" => "C-1" "C-14",
    LosesInFlightOnRestart: "loses what is in flight when the broker restarts" => "C-14",
    DeadNotCounted: "counts no dead letters" => "C-42",
    HeldCountedReady: "counts running jobs among the waiting ones" => "C-42",
    ReplayKeepsAttempts: "puts a dead letter back with its attempts spent" => "C-19",
    ReplayDropsHeaders: "puts a dead letter back without its headers" => "C-19",
    ListingSpends: "loses a dead letter that is listed" => "C-19",
    PausesOnlyItself: "pauses the consumer that asked, and no other" => "C-46",
    CancelsRunning: "answers that it cancelled a job that runs" => "C-46",
    ClaimsCancel: "claims to cancel by id, and does not" => "C-31" "C-46",
    SecondShutdownFails: "fails when it is shut down twice" => "C-36",
    CloseWakesNobody: "leaves a waiting request waiting when it is closed" => "C-36",
    HangsInShutdown: "never ends its shutdown" => "C-36",
    GhostConsumers: "leaves a consumer behind that takes jobs for nobody" => "C-39",
    SameTableEverywhere: "shows the same capabilities whatever the server is" => "C-33",
    FoldsNames: "gives two queues whose names look alike the same jobs" => "C-29",
    CutsNames: "cuts long queue names without a word" => "C-29",
    ConnectionPerQueue: "opens a connection for each queue" => "C-44",
    OneCloseClosesAll: "closes all queues of a connection with the first" => "C-2" "C-44",
    GivesUpWhenAway: "gives up where the broker is away at the start" => "C-45",
    BoxedForgetsFacets: "forgets counts and dead letters behind its erased type" => "C-37",
    AnswersAgain: "sends what was answered already once more" => "C-22",
    SendsBeforeSaying: "says that a publish may have happened only after it was sent" => "C-21",
    CloseKeepsFetching: "goes on fetching once it is closed" => "C-36",
    CloseKeepsIntake: "takes jobs after its close, until its shutdown" => "C-36",
    WakesNewestRequest: "wakes the newest of its requests alone" => "C-34",
    StaleRetryWins: "carries out a retry that came too late" => "C-3",
    DroppedStaysHeld: "keeps the lease of a delivery that was dropped" => "C-14",
    RetryDropsHeaders: "writes the copy of a retry without its headers" => "C-12",
    ReturnComesEarly: "ignores the wait before a return" => "C-12",
    ReplayKeepsLetter: "puts a dead letter back and keeps it as well" => "C-19",
    IgnoresPage: "lists all dead letters, whatever page was asked for" => "C-19",
    DiscardsNothing: "answers that it dropped a dead letter, and keeps it" => "C-19",
    BatchAcksBeforeCopies: "acknowledges a batch before its copies are stored" => "C-13",
    HandsOutBackwards: "hands several jobs out from the last on" => "C-30",
    OverwritesHeld: "clears what its caller holds when it hands out more" => "C-35",
    ReadyWithNothingNew: "is ready without a delivery where its caller holds one" => "C-35",
    WaitsForAll: "waits until it has as many as it may hand out" => "C-35",
    AnswersBeforeTelling: "answers a settle before the broker has heard it" => "C-9",
    WaitingNotCounted: "counts no jobs that wait for their time" => "C-42",
    TallyStandsStill: "never counts what it accepted" => "C-22",
    DropsDeadline: "drops the deadline of a job" => "C-27",
    FailsOnNothing: "fails where it is asked for nothing" => "C-9" "C-22",
    RefusalDropsHeaders: "gives a refused job back without its headers" => "C-20",
}
