//! Any bytes, read as Json.
#![no_main]

use libfuzzer_sys::fuzz_target;
use queue_core::codec::Json;

fuzz_target!(|bytes: &[u8]| fuzz::round_trip(&Json::new(), bytes));
