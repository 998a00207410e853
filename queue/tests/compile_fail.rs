//! What must not compile, with what its author reads. After a change of the texts: `TRYBUILD=overwrite cargo test --test compile_fail`.
//!
//! The first run checks the library once more, in a folder of its own below the target folder; later ones only the cases.
//! It needs no network: cargo is called offline, with the workspace's lock file.

/// E-1, E-20, E-40, E-102, R-22, P-3, C-2
#[test]
fn misuse_does_not_compile_and_says_what_to_do() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

/// E-41
#[cfg(feature = "tower")]
#[test]
fn misuse_of_a_service_does_not_compile_and_says_what_to_do() {
    trybuild::TestCases::new().compile_fail("tests/ui_tower/*.rs");
}
