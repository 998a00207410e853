//! Any bytes, read as Postcard.
#![no_main]

use libfuzzer_sys::fuzz_target;
use queue_core::codec::Postcard;

fuzz_target!(|bytes: &[u8]| fuzz::round_trip(&Postcard::new(), bytes));
