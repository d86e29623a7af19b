//! Modules that `OpenTofu` reads or refuses, as the package reader of `module push` and `check --deep` sees them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::package_modules;

/// One small module, and what `tofu get` of 1.12.6 said of it.
struct ReadCase {
    name: String,
    files: BTreeMap<String, String>,
    /// The summary of the error; `None` if it was read.
    refused: Option<String>,
    /// Why the fault is not found here.
    missed: Option<String>,
}

fn cases() -> Vec<ReadCase> {
    let text = include_str!("../../../../testdata/vectors/real_tofu_reading.json");
    let root: serde_json::Value = serde_json::from_str(text).unwrap();
    let case = |case: &serde_json::Value| {
        let text = |name: &str| case.get(name).and_then(|value| value.as_str()).map(str::to_owned);
        let files = case["files"].as_object().unwrap().iter();
        ReadCase {
            name: text("name").unwrap(),
            files: files.map(|(path, text)| (path.clone(), text.as_str().unwrap().to_owned())).collect(),
            refused: text("refused"),
            missed: text("missed"),
        }
    };
    root["cases"].as_array().unwrap().iter().map(case).collect()
}

fn read(files: &BTreeMap<String, String>) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new(""))).unwrap();
        std::fs::write(path, text).unwrap();
    }
    package_modules(dir.path(), "").map(drop).map_err(|error| error.to_string())
}

#[test]
fn modules_are_read_and_refused_as_by_opentofu() {
    let mut wrong = String::new();
    for case in cases() {
        let got = read(&case.files);
        let want = case.refused.as_ref().filter(|_| case.missed.is_none());
        match (&got, want) {
            (Err(error), None) => writeln!(wrong, "{}: refused by mistake: {error}", case.name).unwrap(),
            (Ok(()), Some(summary)) => writeln!(wrong, "{}: read, and OpenTofu says: {summary}", case.name).unwrap(),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
