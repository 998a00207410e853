//! Any bytes, read as MessagePack.
#![no_main]

use libfuzzer_sys::fuzz_target;
use queue_core::codec::MessagePack;

fuzz_target!(|bytes: &[u8]| fuzz::round_trip(&MessagePack::new(), bytes));
