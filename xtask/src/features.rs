//! `cargo xtask features`: each published crate with no feature and with each of its features alone, under clippy.
//!
//! The workspace's own builds unify features, so a gate that is missing around an item shows only here.

use serde_json::Value;

use crate::cargo;
use crate::command::{self, Failure, Verdict};

/// A published library crate and the names of its features.
#[derive(Debug, PartialEq, Eq)]
struct Library {
    name: String,
    features: Vec<String>,
}

/// Checks every combination, also after one has failed, so that one run shows everything.
pub(crate) fn run(rest: &[String]) -> Verdict {
    command::no_arguments(rest)?;
    let metadata = cargo::output(&["metadata", "--format-version", "1", "--no-deps"])?;
    let libraries = libraries(&metadata)?;
    if libraries.is_empty() {
        return Err(Failure::new("`cargo metadata` names no published library crate"));
    }
    let mut checked = 0;
    let mut failed = Vec::new();
    for library in &libraries {
        let alone = library.features.iter().map(String::as_str).map(Some);
        for feature in std::iter::once(None).chain(alone) {
            checked += 1;
            if check(library, feature).is_err() {
                failed.push(format!("{} with {}", library.name, feature.unwrap_or("no feature")));
            }
        }
    }
    if !failed.is_empty() {
        return Err(Failure::new(format!("{} of {checked} builds: {}", failed.len(), failed.join(", "))));
    }
    Ok(format!("{checked} builds of {} crates", libraries.len()))
}

/// The library target alone: tests and examples bring dev-dependencies, and those bring features.
fn check(library: &Library, feature: Option<&str>) -> Result<(), Failure> {
    let mut arguments = vec!["clippy", "--quiet", "--package", &library.name, "--lib", "--no-default-features"];
    if let Some(feature) = feature {
        arguments.extend(["--features", feature]);
    }
    arguments.extend(["--", "-D", "warnings"]);
    cargo::run(&arguments)
}

/// The published library crates in the answer of `cargo metadata --no-deps`, each with its features in alphabetical order.
fn libraries(metadata: &str) -> Result<Vec<Library>, Failure> {
    let metadata: Value =
        serde_json::from_str(metadata).map_err(|error| Failure::new(format!("`cargo metadata`: {error}")))?;
    let packages = metadata["packages"].as_array().ok_or_else(|| Failure::new("`cargo metadata` without packages"))?;
    Ok(packages.iter().filter(|package| is_published(package) && is_library(package)).filter_map(library).collect())
}

fn library(package: &Value) -> Option<Library> {
    let name = package["name"].as_str()?.to_owned();
    let mut features: Vec<String> = package["features"].as_object()?.keys().cloned().collect();
    features.sort();
    Some(Library { name, features })
}

/// `publish` is a list of registries: null for any, empty for `publish = false`.
fn is_published(package: &Value) -> bool {
    package["publish"].as_array().is_none_or(|registries| !registries.is_empty())
}

fn is_library(package: &Value) -> bool {
    let targets = package["targets"].as_array().into_iter().flatten();
    targets.flat_map(|target| target["kind"].as_array().into_iter().flatten()).any(|kind| kind == "lib")
}

#[cfg(test)]
mod tests {
    use super::{Library, libraries};

    #[test]
    fn published_libraries_are_found_with_their_features() {
        let metadata = r#"{"packages": [
            {"name": "lib", "publish": null, "targets": [{"kind": ["lib"]}], "features": {"b": [], "a": ["b"]}},
            {"name": "plain", "publish": null, "targets": [{"kind": ["lib"]}, {"kind": ["test"]}], "features": {}},
            {"name": "tests", "publish": [], "targets": [{"kind": ["lib"]}], "features": {}},
            {"name": "tool", "publish": null, "targets": [{"kind": ["bin"]}], "features": {}}
        ]}"#;
        let expected = [
            Library { name: "lib".to_owned(), features: vec!["a".to_owned(), "b".to_owned()] },
            Library { name: "plain".to_owned(), features: Vec::new() },
        ];
        assert_eq!(libraries(metadata).unwrap(), expected);
    }

    #[test]
    fn an_answer_without_packages_is_an_error() {
        assert!(libraries("{}").is_err());
        assert!(libraries("not json").is_err());
    }
}
