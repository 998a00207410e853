//! The guide for those who write a backend shows code of this crate, word for word.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail their test")]

use std::fs;
use std::path::Path;

/// The blocks of Rust of a Markdown text.
fn blocks(text: &str) -> Vec<String> {
    let parts = text.split("\n```").collect::<Vec<_>>();
    let rust = parts.iter().filter_map(|part| part.strip_prefix("rust\n"));
    rust.map(str::to_owned).collect()
}

/// All sources and tests of this crate but this one.
fn sources(root: &Path) -> String {
    let files = ["src", "tests"].map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let paths = files.into_iter().flatten().map(|entry| entry.unwrap().path());
    let others = paths.filter(|path| path.file_name() != Path::new(file!()).file_name());
    others.map(|path| fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn each_block_of_the_guide_is_in_the_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = fs::read_to_string(root.join("../../docs/writing-a-backend.md")).unwrap();
    let (blocks, sources) = (blocks(&guide), sources(root));
    assert!(blocks.len() > 15, "only {} blocks were found", blocks.len());
    let missing: Vec<&String> = blocks.iter().filter(|block| !sources.contains(&format!("\n{block}\n"))).collect();
    assert!(missing.is_empty(), "not in the sources: {missing:#?}");
}

#[test]
fn a_block_is_what_stands_between_its_fences() {
    let text = "a\n```rust\nlet x = 1;\n```\nb\n```sh\nls\n```\n```rust\nfn f() {}\n\n// end\n```\n";
    assert_eq!(blocks(text), ["let x = 1;", "fn f() {}\n\n// end"]);
}
