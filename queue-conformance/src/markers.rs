//! Which marker traits a type has, as values.

/// The marker traits of a worker's type, for [`Backend::markers`](crate::Backend::markers): what its users can ask for at compile time.
///
/// ```
/// use queue::{DynWorker, Ring};
/// use queue_conformance::{Job, markers};
/// // A ring has no leases; the erased type has every marker.
/// assert_ne!(markers!(Ring<Job>), markers!(DynWorker<Job>));
/// ```
// An inherent constant hides the trait's: `Probe::<W>::IS` is true where the bound holds.
#[macro_export]
macro_rules! markers {
    ($worker:ty) => {{
        use $crate::__core::{Cancels, DeadLetters, Delays, Inspects, Leases, Pauses, Priorities, Retries};
        macro_rules! has {
            ($marker:ident) => {{
                struct Probe<W>(std::marker::PhantomData<W>);
                #[allow(dead_code)]
                trait Otherwise {
                    const IS: bool = false;
                }
                impl<W> Otherwise for Probe<W> {}
                #[allow(dead_code)]
                impl<W: $marker> Probe<W> {
                    const IS: bool = true;
                }
                <Probe<$worker>>::IS
            }};
        }
        $crate::Markers::__of([
            has!(Retries),
            has!(Delays),
            has!(Priorities),
            has!(Leases),
            has!(DeadLetters),
            has!(Inspects),
            has!(Cancels),
            has!(Pauses),
        ])
    }};
}
