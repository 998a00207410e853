//! Names that are used once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// A name for a queue that no other test of this or another run uses: `prefix-TIME-PID-NUMBER`.
///
/// It holds letters, digits and `-` as long as `prefix` does, so that it is a name to all three brokers; it is at most 45 bytes longer than
/// `prefix`, and Kafka allows 249 in all.
#[must_use]
pub fn unique(prefix: &str) -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    // Relaxed: only that each number occurs once matters.
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    // A run on another machine, or in another pid namespace, has another moment.
    let micros = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros());
    format!("{prefix}-{micros:x}-{:x}-{number}", std::process::id())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::unique;

    #[test]
    fn no_name_comes_twice() {
        let names: HashSet<_> = (0..1000).map(|_| unique("orders")).collect();
        assert_eq!(names.len(), 1000);
        let fits = |name: &String| name.len() <= 6 + 45 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        assert!(names.iter().all(fits));
    }
}
