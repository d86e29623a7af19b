//! Repositories from descriptions: a good one, changed step by step on its way from the zip to the tag.
//!
//! ```text
//! zip ──> leaf (changes) ──┐
//!     ──> other (changes) ─┴─> index (changes) ──> top: index.json (changes) ──> files (changes)
//! ```
//!
//! Digests and sizes are those of the changed documents, so that a case is wrong only where it says so. A change:
//! `["set", POINTER, VALUE]`, `["drop", POINTER]`, `["copy", POINTER, POINTER]`, `["text", FROM, TO]`,
//! `["once", FROM, TO]`, `["bytes", FROM, HEX]`, `["whole", TEXT]`, `["spaces", COUNT]`, `["nest", DEPTH]`; a pointer that ends in `/-` is
//! after the last element. Files: `["remove", WHICH]`, `["flip", WHICH]`, `["append", WHICH, TEXT]`, `["cut", WHICH]`.

use std::path::Path;

use serde_json::{Value, json};
use tofu_oci_types::Digest;

use crate::zip::{archive, hex};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const TARGET: &str = "application/vnd.opentofu.provider-target";
const EMPTY: &str = "application/vnd.oci.empty.v1+json";

/// Writes the repository of a case into a folder, with the releases that are `beside` it.
pub(crate) fn repository(case: &Value, folder: &Path) {
    let blobs = folder.join("blobs");
    std::fs::create_dir_all(blobs.join("sha256")).expect("a folder");
    let mut entries = release(case, &blobs);
    for other in case["beside"].as_array().into_iter().flatten() {
        entries.extend(release(other, &blobs));
    }
    let top = changed(json!({"schemaVersion": 2, "manifests": entries}), &case["top"]);
    std::fs::write(folder.join("index.json"), top).expect("a file");
    std::fs::write(folder.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#).expect("a file");
}

/// Writes one release, and returns the entries of its tags.
fn release(case: &Value, blobs: &Path) -> Vec<Value> {
    let algorithm = case["algorithm"].as_str().unwrap_or("sha256");
    let put = |bytes: &[u8]| {
        let digest = digest(algorithm, bytes);
        let (kind, encoded) = digest.split_once(':').expect("a digest");
        std::fs::create_dir_all(blobs.join(kind)).expect("a folder");
        std::fs::write(blobs.join(kind).join(encoded), bytes).expect("a file");
        digest
    };
    let config = put(b"{}");
    let zip = archive(&case["zip"]);
    let zip_digest = put(&zip);

    let mut entries = Vec::new();
    let mut leaves = Vec::new();
    for (platform, changes) in [("linux_amd64", &case["leaf"]), ("darwin_arm64", &case["other"])] {
        let (os, architecture) = platform.split_once('_').expect("a platform");
        let leaf = json!({
            "schemaVersion": 2, "mediaType": MANIFEST, "artifactType": TARGET,
            "config": {"mediaType": EMPTY, "digest": config, "size": 2},
            "layers": [{"mediaType": "archive/zip", "digest": zip_digest, "size": zip.len()}],
            "annotations": {"platform": platform},
        });
        let leaf = changed(leaf, changes);
        let digest = put(&leaf);
        entries.push(json!({
            "mediaType": MANIFEST, "artifactType": TARGET, "digest": digest, "size": leaf.len(),
            "platform": {"os": os, "architecture": architecture},
        }));
        leaves.push(digest);
    }
    let index = json!({
        "schemaVersion": 2, "mediaType": INDEX, "artifactType": "application/vnd.opentofu.provider", "manifests": entries,
    });
    let index = changed(index, &case["index"]);
    let index_digest = put(&index);

    let tags = case["tags"].as_array().cloned().unwrap_or_else(|| vec![json!("1.0.0")]);
    let entry = |tag: &Value| {
        json!({
            "mediaType": INDEX, "digest": index_digest, "size": index.len(),
            "annotations": {"org.opencontainers.image.ref.name": tag},
        })
    };

    for change in case["files"].as_array().into_iter().flatten() {
        let which = match change[1].as_str().expect("the name of a file") {
            "zip" => &zip_digest,
            "leaf" => &leaves[0],
            "other" => &leaves[1],
            "index" => &index_digest,
            "config" => &config,
            other => panic!("unknown file {other}"),
        };
        let path = blobs.join(which.replace(':', "/"));
        change_file(change, &path);
    }
    tags.iter().map(entry).collect()
}

fn change_file(change: &Value, path: &Path) {
    let mut bytes = std::fs::read(path).expect("a file of the repository");
    match change[0].as_str().expect("what to do") {
        "remove" => return std::fs::remove_file(path).expect("it was there"),
        "flip" => {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
        }
        "append" => bytes.extend(change[2].as_str().expect("a text").bytes()),
        "cut" => bytes.truncate(bytes.len() - 1),
        other => panic!("unknown change {other}"),
    }
    std::fs::write(path, bytes).expect("a file");
}

fn digest(algorithm: &str, bytes: &[u8]) -> String {
    let zeros = |count: usize| format!("{algorithm}:{}", "0".repeat(count));
    match algorithm {
        "sha512" => {
            let any: Digest = zeros(128).parse().expect("a digest");
            let mut hasher = any.hasher().expect("SHA-512 is known");
            hasher.update(bytes);
            hasher.finish().to_string()
        }
        "sha256" => Digest::sha256(bytes).to_string(),
        // Not the digest of anything: the algorithm is not known.
        _ => format!("{algorithm}:{}", &Digest::sha256(bytes).encoded()[..32]),
    }
}

fn changed(mut document: Value, changes: &Value) -> Vec<u8> {
    let changes = changes.as_array().cloned().unwrap_or_default();
    let word = |change: &Value, at: usize| change[at].as_str().expect("a text").to_owned();
    for change in &changes {
        match word(change, 0).as_str() {
            "set" => set(&mut document, &word(change, 1), change[2].clone()),
            "copy" => {
                let value = document.pointer(&word(change, 1)).expect("something to copy").clone();
                set(&mut document, &word(change, 2), value);
            }
            "drop" => drop_member(&mut document, &word(change, 1)),
            _ => {}
        }
    }
    let mut bytes = serde_json::to_vec(&document).expect("a document");
    for change in &changes {
        let text = || String::from_utf8(bytes.clone()).expect("text before bytes");
        bytes = match word(change, 0).as_str() {
            "text" => text().replace(&word(change, 1), &word(change, 2)).into_bytes(),
            "once" => text().replacen(&word(change, 1), &word(change, 2), 1).into_bytes(),
            "bytes" => {
                let from = word(change, 1);
                let at = text().find(&from).expect("the text is there");
                [&bytes[..at], &hex(&word(change, 2)), &bytes[at + from.len()..]].concat()
            }
            "whole" => word(change, 1).into_bytes(),
            "nest" => {
                let depth = usize::try_from(change[1].as_u64().expect("a count")).expect("a small number");
                let nested = format!("{{\"x\":{}{},", "[".repeat(depth), "]".repeat(depth));
                text().replacen('{', &nested, 1).into_bytes()
            }
            "spaces" => {
                let count = usize::try_from(change[1].as_u64().expect("a count")).expect("a small number");
                bytes.resize(count.max(bytes.len()), b' ');
                bytes
            }
            _ => bytes,
        };
    }
    bytes
}

fn parent<'a, 'b>(document: &'a mut Value, pointer: &'b str) -> (&'a mut Value, &'b str) {
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    (document.pointer_mut(parent).expect("the parent is there"), name)
}

fn set(document: &mut Value, pointer: &str, value: Value) {
    match parent(document, pointer) {
        (Value::Array(list), "-") => list.push(value),
        (Value::Array(list), at) => list[at.parse::<usize>().expect("a position")] = value,
        (object, name) => object[name] = value,
    }
}

fn drop_member(document: &mut Value, pointer: &str) {
    match parent(document, pointer) {
        (Value::Array(list), at) => drop(list.remove(at.parse().expect("a position"))),
        (Value::Object(members), name) => drop(members.shift_remove(name)),
        _ => panic!("{pointer} has no members"),
    }
}
