//! What a panic said, and where.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::sync::Once;

/// Where a panic happened.
#[derive(Debug, Clone)]
pub(crate) struct Location {
    file: String,
    line: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

thread_local! {
    /// The place of the last panic on this thread: the payload of a panic does not tell it.
    static LAST: RefCell<Option<Location>> = const { RefCell::new(None) };
}

/// Notes the place of each panic from now on, before the hook that was there is called as before.
pub(crate) fn note_locations() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let place = info.location().map(|place| Location { file: place.file().to_owned(), line: place.line() });
            put_location(place);
            before(info);
        }));
    });
}

/// The place of the last panic on this thread, once.
pub(crate) fn take_location() -> Option<Location> {
    LAST.try_with(|last| last.borrow_mut().take()).ok().flatten()
}

pub(crate) fn put_location(place: Option<Location>) {
    // During the end of a thread there is no place to note it in.
    if let Ok(()) = LAST.try_with(|last| *last.borrow_mut() = place) {}
}

/// What the panic said.
pub(crate) fn message(payload: Box<dyn Any + Send>) -> Box<str> {
    let text = match payload.downcast::<String>() {
        Ok(text) => return text.into_boxed_str(),
        Err(other) => other.downcast_ref::<&str>().map(|text| Box::from(*text)),
    };
    text.unwrap_or_else(|| Box::from("non-text panic"))
}
