//! What a handler returns.

use std::any::Any;
use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

/// Any error, as handlers return it.
pub(super) type BoxError = Box<dyn StdError + Send + Sync>;

/// How an attempt ended, where `()` and `Result` do not say enough.
///
/// ```
/// use queue::Outcome;
/// use std::time::Duration;
/// async fn poll_status(ticket: u64) -> Outcome {
///     if ticket % 2 == 0 { Outcome::done() } else { Outcome::snooze(Duration::from_secs(60)) }
/// }
/// ```
#[derive(Debug)]
#[must_use]
pub struct Outcome(Kind);

#[derive(Debug)]
enum Kind {
    Done,
    Failed(Error),
    RetryAfter(Duration),
    Snooze(Duration),
}

impl Outcome {
    /// The job is done.
    pub const fn done() -> Self {
        Self(Kind::Done)
    }

    /// The attempt failed: as an `Err`.
    pub fn failed(error: impl Into<Error>) -> Self {
        Self(Kind::Failed(error.into()))
    }

    /// The attempt failed, and the next shall not start before `after`. An attempt is spent; after the last one the job
    /// is dead.
    pub const fn retry_after(after: Duration) -> Self {
        Self(Kind::RetryAfter(after))
    }

    /// The job shall be handed out again, not before `after`. No attempt is spent.
    pub const fn snooze(after: Duration) -> Self {
        Self(Kind::Snooze(after))
    }
}

/// The error of a handler: any error, or one that no further attempt can help.
///
/// `?` makes it from any error; [`permanent`](Self::permanent) ends the job.
///
/// ```
/// use queue::Error;
/// async fn pay(amount: String) -> Result<(), Error> {
///     let amount: u64 = amount.parse().map_err(Error::permanent)?;   // a second attempt reads the same text
///     charge(amount).await?;                                         // this one may work later
///     Ok(())
/// }
/// # async fn charge(_: u64) -> Result<(), std::io::Error> { Ok(()) }
/// ```
pub struct Error {
    error: BoxError,
    permanent: bool,
}

impl Error {
    /// An error that another attempt may get over.
    pub fn new(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { error: error.into(), permanent: false }
    }

    /// An error that no further attempt can help: the job is dead at once.
    pub fn permanent(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { error: error.into(), permanent: true }
    }

    /// Whether it ends the job.
    #[must_use]
    pub const fn is_permanent(&self) -> bool {
        self.permanent
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        Self::new(error)
    }
}

// Not `std::error::Error` itself: then `From` above would meet itself. As a boxed error it is one.
impl From<Error> for Box<dyn StdError + Send + Sync> {
    fn from(error: Error) -> Self {
        error.error
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error").field("error", &self.error).field("permanent", &self.permanent).finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

/// What the engine makes of a return value, without taking it apart.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(unnameable_types, reason = "sealed: the engine's own")]
pub enum Judgement {
    Done,
    Failed { permanent: bool },
    RetryAfter(Duration),
    Snooze(Duration),
}

impl Judgement {
    #[inline]
    pub(super) fn of_error<E: 'static>(error: &E) -> Self {
        Self::Failed { permanent: is_permanent(error) }
    }
}

impl Outcome {
    pub(super) fn of_error<E: Into<BoxError> + 'static>(error: E) -> Self {
        let permanent = is_permanent(&error);
        Self(Kind::Failed(Error { error: error.into(), permanent }))
    }
}

mod sealed {
    #[expect(unnameable_types, reason = "sealed: what a handler may return is for the engine to say")]
    pub trait Sealed {}
    impl Sealed for () {}
    impl<E> Sealed for Result<(), E> {}
    impl Sealed for super::Outcome {}
    #[cfg(feature = "tower")]
    impl<R, E> Sealed for crate::handler::tower::Served<R, E> {}
}

/// What a handler may return: `()`, `Result<(), E>` with any `E` that becomes a boxed error, or [`Outcome`].
#[diagnostic::on_unimplemented(
    message = "a handler cannot return `{Self}`",
    label = "return `()`, `Result<(), E>` or `Outcome`",
    note = "`E` is any error type, `String`, `&str`, or `queue::Error`"
)]
pub trait HandlerResult: sealed::Sealed + Send {
    /// Whether it can ask for the same attempt again: the job is then kept even where nothing else could need it.
    #[doc(hidden)]
    const SNOOZES: bool = false;

    /// What it says. The error stays as it is: it is only put into words where somebody will read them.
    #[doc(hidden)]
    fn judge(&self) -> Judgement;

    /// The error.
    #[doc(hidden)]
    fn into_error(self) -> Option<Box<dyn StdError + Send + Sync>>;

    /// The same, whatever type it was.
    #[doc(hidden)]
    fn into_outcome(self) -> Outcome;
}

impl HandlerResult for () {
    #[inline]
    fn judge(&self) -> Judgement {
        Judgement::Done
    }

    fn into_error(self) -> Option<BoxError> {
        None
    }

    fn into_outcome(self) -> Outcome {
        Outcome::done()
    }
}

impl<E: Into<BoxError> + Send + 'static> HandlerResult for Result<(), E> {
    #[inline]
    fn judge(&self) -> Judgement {
        match self {
            Ok(()) => Judgement::Done,
            Err(error) => Judgement::of_error(error),
        }
    }

    fn into_error(self) -> Option<BoxError> {
        self.err().map(Into::into)
    }

    fn into_outcome(self) -> Outcome {
        match self {
            Ok(()) => Outcome::done(),
            Err(error) => Outcome::of_error(error),
        }
    }
}

impl HandlerResult for Outcome {
    const SNOOZES: bool = true;

    #[inline]
    fn judge(&self) -> Judgement {
        match &self.0 {
            Kind::Done => Judgement::Done,
            Kind::Failed(error) => Judgement::Failed { permanent: error.permanent },
            Kind::RetryAfter(after) => Judgement::RetryAfter(*after),
            Kind::Snooze(after) => Judgement::Snooze(*after),
        }
    }

    fn into_error(self) -> Option<BoxError> {
        match self.0 {
            Kind::Failed(error) => Some(error.into()),
            Kind::Done | Kind::RetryAfter(_) | Kind::Snooze(_) => None,
        }
    }

    fn into_outcome(self) -> Outcome {
        self
    }
}

/// Whether the error is our own and permanent: one comparison of types, which the compiler decides.
fn is_permanent<E: 'static>(error: &E) -> bool {
    (error as &dyn Any).downcast_ref::<Error>().is_some_and(Error::is_permanent)
}

/// The error and what caused it, each once.
pub(crate) fn error_chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        // Many errors repeat their source in their own text.
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
