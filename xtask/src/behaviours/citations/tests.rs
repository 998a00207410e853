//! What counts as a citation and what does not.

use std::path::Path;

use super::{Place, in_file};

/// `id:line` of each citation.
fn cited(place: Place, text: &str) -> Vec<String> {
    let found = in_file(Path::new("a.rs"), place, text);
    found.iter().map(|citation| format!("{}:{}", citation.id, citation.line)).collect()
}

fn anywhere(text: &str) -> Vec<String> {
    cited(Place::Anywhere, text)
}

#[test]
fn a_comment_right_above_a_test_cites() {
    assert_eq!(anywhere("/// R-7 and E-8: both.\n#[test]\nfn a() {}"), ["R-7:1", "E-8:1"]);
    assert_eq!(anywhere("#[test]\n// R-7\nfn a() {}"), ["R-7:2"]);
    assert_eq!(anywhere("/* R-7 */\n#[test] // E-1\nfn a() {}"), ["R-7:1", "E-1:2"]);
    assert_eq!(anywhere("mod tests {\n    /// Text.\n    ///\n    /// R-7\n    #[test]\n    fn a() {}"), ["R-7:4"]);
}

#[test]
fn every_kind_of_test_attribute_is_known() {
    for attribute in [
        "#[test]",
        "#[tokio::test]",
        "#[tokio::test(start_paused = true)]",
        "#[tokio::test(\n    flavor = \"multi_thread\",\n    worker_threads = [2][0],\n)]",
        "#[test_strategy::proptest]",
        "#[should_panic(expected = \"]\")]\n#[test]",
        "#[cfg(unix)] #[test]",
    ] {
        let text = format!("/// R-7\n{attribute}\npub(crate) async fn a() {{}}");
        assert_eq!(anywhere(&text), ["R-7:1"], "{attribute}");
    }
    assert_eq!(anywhere("// R-7\n#[test] fn a() {}"), ["R-7:1"]);
}

#[test]
fn a_test_inside_a_macro_cites() {
    assert_eq!(anywhere("proptest! {\n    /// R-11\n    #[test]\n    fn a(x in 0..9) {}\n}"), ["R-11:2"]);
}

#[test]
fn a_comment_far_from_a_test_does_not_cite() {
    for text in [
        "//! R-7\n\n#[test]\nfn a() {}",
        "/// R-7\n\n#[test]\nfn a() {}",
        "/// R-7\nfn helper() {}\n#[test]\nfn a() {}",
        "let x = 1; // R-7\n#[test]\nfn a() {}",
        "#[test]\nfn a() {\n    // R-7\n    assert!(true);\n}",
        "#[test]\nfn a() {} // R-7",
        "/// R-7\nmod tests {\n    #[test]\n    fn a() {}\n}",
        "/// R-7\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}",
        "/// R-7\n#[derive(Debug)]\nstruct A;",
        "/// R-7\n#[cfg(test)]\nfn helper() {}",
        "/// R-7\n#[test_case]\nfn a() {}",
    ] {
        assert!(anywhere(text).is_empty(), "{text}");
    }
}

#[test]
fn a_test_that_does_not_run_does_not_cite() {
    assert!(anywhere("/// R-7\n#[test]\n#[ignore = \"slow\"]\nfn a() {}").is_empty());
    assert!(anywhere("/// R-7\n// #[test]\n// fn a() {}\nfn b() {}").is_empty());
    assert!(anywhere("/// R-7\n/* #[test] */\nfn a() {}").is_empty());
    assert!(anywhere("const TEXT: &str = \"\n/// R-7\n#[test]\nfn a() {}\n\";").is_empty());
}

#[test]
fn what_one_test_cites_is_not_the_next_ones() {
    let text = "/// R-7\n#[test]\nfn a() {}\n#[test]\nfn b() {}\n/// R-8\n#[test]\nfn c() {}";
    assert_eq!(anywhere(text), ["R-7:1", "R-8:6"]);
}

#[test]
fn a_compile_fail_case_cites_at_its_top_only() {
    assert_eq!(cited(Place::CompileFail, "//! E-20: text.\n//! P-3\nfn main() {}\n//! R-7"), ["E-20:1", "P-3:2"]);
    assert!(cited(Place::CompileFail, "// E-20\nfn main() {}").is_empty());
    assert!(cited(Place::CompileFail, "use a::b;\n//! E-20\nfn main() {}").is_empty());
}

#[test]
fn a_gate_cites_in_the_benchmark_alone() {
    let gate = "//! P-1\n\n/// P-14\nfn gate_slots() {}\n/// P-2\nfn measure() {}";
    assert_eq!(cited(Place::Bench, gate), ["P-14:3"]);
    assert!(anywhere(gate).is_empty());
}

#[test]
fn a_row_cites_in_the_suite_alone() {
    let row = "/// C-7: it grows.\npub(crate) async fn c_7<B: Backend>(stage: &Stage) {}\n/// C-8\nfn helper() {}";
    assert_eq!(cited(Place::Suite, row), ["C-7:1"]);
    assert!(anywhere(row).is_empty());
}

#[test]
fn places_are_told_by_path() {
    assert_eq!(Place::of(Path::new("queue-conformance/src/suite/settle.rs")), Place::Suite);
    assert_eq!(Place::of(Path::new("queue-conformance/src/run.rs")), Place::Anywhere);
    assert_eq!(Place::of(Path::new("integration-tests/tests/ui/delay.rs")), Place::CompileFail);
    assert_eq!(Place::of(Path::new("queue/tests/shutdown/ui.rs")), Place::Anywhere);
    assert_eq!(Place::of(Path::new("xtask/src/bench/gates.rs")), Place::Bench);
    assert_eq!(Place::of(Path::new("queue/src/bench/a.rs")), Place::Anywhere);
}
