//! Any bytes, read as Bincode.
#![no_main]

use libfuzzer_sys::fuzz_target;
use queue_core::codec::Bincode;

fuzz_target!(|bytes: &[u8]| fuzz::round_trip(&Bincode::new(), bytes));
