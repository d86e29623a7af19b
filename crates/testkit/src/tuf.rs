//! A TUF repository, all of which one key has signed.
//!
//! Spec: The Update Framework 1.0.34; OLPC, "Canonical JSON".

use std::collections::BTreeMap;
use std::sync::LazyLock;

use rcgen::{KeyPair, SigningKey as _};
use serde_json::{Value, json};
use tofu_oci_types::Digest;

/// The key of all repositories of this process.
static KEY: LazyLock<KeyPair> = LazyLock::new(|| KeyPair::generate().expect("the system has random numbers"));

/// The files of a repository with these targets and this version of its timestamp, by their paths in it; `1.root.json` is what
/// a client needs beforehand.
pub fn tuf_repository(targets: &[(&str, &str)], timestamp: u64) -> BTreeMap<String, String> {
    let key = &*KEY;
    let signed = |kind: &str, more: Value| {
        let mut value = json!({
            "_type": kind, "spec_version": "1.0.31", "version": 1, "expires": "2100-01-01T00:00:00Z"
        });
        value.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        // Members sorted, and line breaks as they are.
        let message = sorted(&value).to_string().replace("\\n", "\n");
        let signature = key.sign(message.as_bytes()).expect("a key of our own signs");
        let hex: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
        json!({ "signatures": [{ "keyid": "k", "sig": hex }], "signed": value }).to_string()
    };
    let role = json!({ "keyids": ["k"], "threshold": 1 });
    let scheme = "ecdsa-sha2-nistp256";
    let public = json!({ "keytype": "ecdsa", "scheme": scheme, "keyval": { "public": key.public_key_pem() } });
    let roles = json!({ "root": role, "timestamp": role, "snapshot": role, "targets": role });
    let root = json!({ "consistent_snapshot": true, "keys": { "k": public }, "roles": roles });
    let mut files = BTreeMap::new();
    let mut listed = serde_json::Map::new();
    for (name, text) in targets {
        let hash = Digest::sha256(text.as_bytes()).encoded().to_owned();
        files.insert(format!("targets/{hash}.{name}"), (*text).to_owned());
        listed.insert((*name).to_owned(), json!({ "length": text.len(), "hashes": { "sha256": hash } }));
    }
    let one = json!({ "version": 1 });
    for (name, kind, more) in [
        ("1.root", "root", root),
        ("timestamp", "timestamp", json!({ "version": timestamp, "meta": { "snapshot.json": one } })),
        ("1.snapshot", "snapshot", json!({ "meta": { "targets.json": one } })),
        ("1.targets", "targets", json!({ "targets": listed })),
    ] {
        files.insert(format!("{name}.json"), signed(kind, more));
    }
    files
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(values) => values.iter().map(sorted).collect(),
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            members.sort_by(|one, other| one.0.cmp(&other.0));
            Value::Object(members.into_iter().collect())
        }
        other => other.clone(),
    }
}
