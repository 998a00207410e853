//! What the README shows is what is there.
#![allow(clippy::unwrap_used)]

use queue::core::Feature;
use queue::{Ring, Worker};

const README: &str = include_str!("../../README.md");

/// The example without what makes it a file of this repository: its title and its lints.
fn hello() -> &'static str {
    include_str!("../examples/hello.rs").split_once("\n\n").unwrap().1
}

#[test]
fn first_code_block_is_the_first_example() {
    let block = README.split("```rust\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(block, hello());
}

#[test]
fn table_is_what_the_ring_says() {
    let (new, once) = (Ring::<()>::new(), Ring::<(), _>::once());
    let says = |can: bool| if can { "yes" } else { "-" };
    for feature in Feature::ALL {
        let (new, once) = (says(new.capabilities().has(feature)), says(once.capabilities().has(feature)));
        let row = format!("\n| {feature} | {new} | {once} |\n");
        assert!(README.contains(&row), "no row{row}");
    }
}
