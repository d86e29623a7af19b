//! Inputs to begin with, out of `testdata`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The folder `testdata` of the project.
pub(crate) fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// The bytes of a file in `testdata`.
pub(crate) fn file(path: &str) -> Vec<u8> {
    let path = testdata().join(path);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files below a folder in `testdata` whose names end so, sorted.
pub(crate) fn files(folder: &str, end: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut open, mut found) = (vec![testdata().join(folder)], Vec::new());
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            open.extend(entries.map(|entry| entry.expect("a folder that is read").path()));
        } else if path.to_string_lossy().ends_with(end) {
            let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            found.push((path, bytes));
        }
    }
    found.sort();
    found
}

/// The contents of [`files`].
pub(crate) fn contents(folder: &str, end: &str) -> Vec<Vec<u8>> {
    files(folder, end).into_iter().map(|(_, bytes)| bytes).collect()
}

/// A table of `testdata/vectors`.
pub(crate) fn vectors(name: &str) -> Value {
    serde_json::from_slice(&file(&format!("vectors/{name}"))).expect("a table is JSON")
}

/// The texts of all members with one of these names, wherever they are in a table, each once; of an object or a list its JSON.
pub(crate) fn texts(name: &str, members: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    collect(&vectors(name), members, &mut found);
    found.sort();
    found.dedup();
    found
}

fn collect(value: &Value, members: &[&str], found: &mut Vec<String>) {
    match value {
        Value::Array(values) => values.iter().for_each(|inner| collect(inner, members, found)),
        Value::Object(values) => {
            for (name, inner) in values {
                match inner {
                    Value::Null => {}
                    Value::String(text) if members.contains(&name.as_str()) => found.push(text.clone()),
                    other if members.contains(&name.as_str()) => found.push(other.to_string()),
                    other => collect(other, members, found),
                }
            }
        }
        _ => {}
    }
}

/// The bytes of each text.
pub(crate) fn bytes(texts: impl IntoIterator<Item = String>) -> Vec<Vec<u8>> {
    texts.into_iter().map(String::into_bytes).collect()
}

/// The bytes of each text.
pub(crate) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<Vec<u8>> {
    texts.into_iter().map(|text| text.as_bytes().to_vec()).collect()
}
