//! A judge of workers: what they claim is tested, what they do is recorded, and what was recorded is checked.

#![forbid(unsafe_code)]
