//! Tests that need a real client or a real broker.
