//! The real repository of Sigstore, as it was in August 2026, and made ones.

use std::time::Duration;

use serde_json::{Value, json};
use tofu_oci_types::Digest;

use super::canonical::canonical;
use super::*;
use crate::testing::key;

/// A repository that keys of ours have signed: 1 and 2 sign roots and targets, two of two; 3 signs the rest.
struct Made {
    root: Value,
    roots: Vec<Value>,
    timestamp: Value,
    snapshot: Value,
    targets: Value,
    target: Vec<u8>,
}

const EXPIRES: &str = "2030-01-01T00:00:00Z";

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

/// A day in 2026.
fn today() -> SystemTime {
    at(1_787_400_000)
}

fn signed(signed: &Value, keys: &[u8]) -> Value {
    let message = canonical(signed).expect("whole numbers");
    let signatures: Vec<Value> = keys
        .iter()
        .map(|number| {
            let signature = key(*number).sign(&message);
            let hex: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
            json!({ "keyid": format!("key{number}"), "sig": hex })
        })
        .collect();
    json!({ "signatures": signatures, "signed": signed })
}

fn root(version: u64, strong: [u8; 2], online: u8) -> Value {
    let public = |number: u8| {
        let pem = key(number).public().to_pem();
        (
            format!("key{number}"),
            json!({ "keytype": "ecdsa", "scheme": "ecdsa-sha2-nistp256", "keyval": { "public": pem } }),
        )
    };
    let keys: serde_json::Map<_, _> = strong.into_iter().chain([online]).map(public).collect();
    let names = strong.map(|number| format!("key{number}"));
    let (strong, online) =
        (json!({ "keyids": names, "threshold": 2 }), json!({ "keyids": [format!("key{online}")], "threshold": 1 }));
    json!({
        "_type": "root", "spec_version": "1.0.31", "version": version, "expires": EXPIRES, "consistent_snapshot": true,
        "keys": keys,
        "roles": { "root": strong, "targets": strong, "timestamp": online, "snapshot": online },
    })
}

fn role(kind: &str, version: u64, list: &str, files: &Value) -> Value {
    json!({ "_type": kind, "spec_version": "1.0.31", "version": version, "expires": EXPIRES, list: files })
}

fn hex(bytes: &[u8]) -> String {
    Digest::sha256(bytes).encoded().to_owned()
}

impl Made {
    fn new() -> Self {
        let target = b"{}".to_vec();
        let named = json!({ "trusted_root.json": { "length": 2, "hashes": { "sha256": hex(&target) } } });
        Self {
            root: root(1, [1, 2], 3),
            roots: Vec::new(),
            timestamp: signed(&role("timestamp", 7, "meta", &json!({ "snapshot.json": { "version": 5 } })), &[3]),
            snapshot: signed(&role("snapshot", 5, "meta", &json!({ "targets.json": { "version": 4 } })), &[3]),
            targets: signed(&role("targets", 4, "targets", &named), &[1, 2]),
            target,
        }
    }

    /// The version of the targets that name the file, or the reason why no file is proven.
    fn update(&self, before: TufState) -> Result<u64, TufError> {
        let bytes = |value: &Value| value.to_string().into_bytes();
        let mut chain = RootChain::of(&bytes(&signed(&self.root, &[1, 2])), today())?.remembering(Some(before));
        for next in &self.roots {
            chain.root(&bytes(next))?;
        }
        let wanted = chain.timestamp(&bytes(&self.timestamp))?.snapshot(&bytes(&self.snapshot))?;
        let wanted = wanted.targets(&bytes(&self.targets))?;
        wanted.target(&self.target).map(|()| wanted.state().versions.targets)
    }
}

/// These versions, signed by the keys of a root.
fn state(versions: TufVersions, root: &Value) -> TufState {
    let root = signed(root, &[]).to_string().into_bytes();
    let root = Metadata::read("root.json", "root", &root, LARGE).expect("a root");
    TufState { versions, keys: Roles::of(&root).expect("its roles").key_ids() }
}

#[track_caller]
fn check(change: impl FnOnce(&mut Made), want: Result<u64, &str>) {
    let mut made = Made::new();
    change(&mut made);
    let known = TufVersions { root: 0, timestamp: 6, snapshot: 5, targets: 4 };
    let found = made.update(state(known, &root(1, [1, 2], 3))).map_err(|error| error.to_string());
    assert_eq!(found.as_ref().map_err(String::as_str), want.as_ref().map_err(|text| *text));
}

#[test]
fn the_repository_of_sigstore_names_the_built_in_root() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/trust/tuf");
    let file = |name: &str| std::fs::read(format!("{folder}/{name}.json")).expect("a fixture");
    let update = |now| {
        let chain = RootChain::built_in(now);
        assert_eq!(chain.wanted().expect("a next root").names[0], "16.root.json");
        let wanted = chain.timestamp(&file("timestamp"))?;
        assert_eq!(wanted.wanted().names, ["165.snapshot.json", "snapshot.json"]);
        let wanted = wanted.snapshot(&file("snapshot"))?;
        assert_eq!(wanted.wanted().names, ["14.targets.json", "targets.json"]);
        let wanted = wanted.targets(&file("targets"))?;
        let hash = "6494e21ea73fa7ee769f85f57d5a3e6a08725eae1e38c755fc3517c9e6bc0b66";
        let names = [format!("targets/{hash}.trusted_root.json"), "targets/trusted_root.json".to_owned()];
        assert_eq!(wanted.wanted(), WantedFile { names: names.to_vec(), limit: 6787 });
        wanted.target(include_bytes!("../keyless/roots/public-good.json"))?;
        Ok::<_, TufError>(wanted.state().versions.targets)
    };
    assert_eq!(update(today()), Ok(14));
    let late = update(at(1_788_000_000)).expect_err("it has expired").to_string();
    let at = "2026-08-28T19:25:56Z";
    assert_eq!(
        late,
        format!("timestamp.json expired at {at}: the repository is an old copy, or the clock of this machine is wrong")
    );
}

#[test]
fn a_made_repository_is_followed() {
    check(|_| {}, Ok(4));
    // Roots follow each other; the last one has other keys for what is online.
    let next = |made: &mut Made| {
        made.roots = vec![signed(&root(2, [1, 4], 3), &[1, 2, 4]), signed(&root(3, [1, 4], 5), &[1, 4])];
        let meta = json!({ "snapshot.json": { "version": 5 } });
        // With new keys the versions begin anew.
        made.timestamp = signed(&role("timestamp", 1, "meta", &meta), &[5]);
        made.snapshot = signed(&made.snapshot["signed"], &[5]);
        made.targets = signed(&made.targets["signed"], &[1, 4]);
    };
    check(next, Ok(4));
}

#[test]
fn wrong_signatures() {
    let change = |made: &mut Made| made.targets = signed(&made.targets["signed"], &[1]);
    check(change, Err("targets.json has 1 of the 2 signatures that its role demands"));
    // A key of another role, and one key twice under two ids.
    let change = |made: &mut Made| made.timestamp = signed(&made.timestamp["signed"], &[1, 2]);
    check(change, Err("timestamp.json has 0 of the 1 signatures that its role demands"));
    let twice = |made: &mut Made| {
        made.root["keys"]["key2"] = made.root["keys"]["key1"].clone();
    };
    check(twice, Err("root.json has 1 of the 2 signatures that its role demands"));
    let changed = |made: &mut Made| made.snapshot["signed"]["version"] = json!(6);
    check(changed, Err("snapshot.json has 0 of the 1 signatures that its role demands"));
    // The old keys alone, and the new ones alone, do not make a root.
    for keys in [&[1, 2][..], &[4, 6]] {
        let change = |made: &mut Made| made.roots = vec![signed(&root(2, [4, 6], 3), keys)];
        check(change, Err("root.json has 0 of the 2 signatures that its role demands"));
    }
    let repeated = |made: &mut Made| {
        let first = made.targets["signatures"][0].clone();
        made.targets["signatures"] = json!([first, first]);
    };
    check(repeated, Err("targets.json is malformed: one key has signed it twice"));
}

#[test]
fn what_is_old() {
    let expired = |made: &mut Made| {
        made.timestamp["signed"]["expires"] = json!("2026-01-01T00:00:00Z");
        made.timestamp = signed(&made.timestamp["signed"], &[3]);
    };
    let want = "timestamp.json expired at 2026-01-01T00:00:00Z: the repository is an old copy, or the clock of this machine is \
                wrong";
    check(expired, Err(want));
    let root_expired = |made: &mut Made| made.root["expires"] = json!("2026-01-01T00:00:00Z");
    check(root_expired, Err(&want.replace("timestamp", "root")));
    // Not the one of a root that has a successor.
    let renewed = |made: &mut Made| {
        made.root["expires"] = json!("2026-01-01T00:00:00Z");
        made.roots = vec![signed(&root(2, [1, 2], 3), &[1, 2])];
    };
    check(renewed, Ok(4));
    let rolled_back = |made: &mut Made| {
        let meta = json!({ "snapshot.json": { "version": 5 } });
        made.timestamp = signed(&role("timestamp", 5, "meta", &meta), &[3]);
    };
    check(rolled_back, Err("timestamp.json has version 5, and version 6 was current before: it is an old one"));
    let snapshot = |made: &mut Made| {
        let meta = json!({ "snapshot.json": { "version": 4 } });
        made.timestamp = signed(&role("timestamp", 8, "meta", &meta), &[3]);
        made.snapshot = signed(&role("snapshot", 4, "meta", &json!({ "targets.json": { "version": 4 } })), &[3]);
    };
    check(snapshot, Err("snapshot.json has version 4, and version 5 was current before: it is an old one"));
    let skipped = |made: &mut Made| made.roots = vec![signed(&root(3, [1, 2], 3), &[1, 2])];
    check(skipped, Err("root.json has version 3, not 2"));
}

#[test]
fn parts_of_two_repositories_do_not_go_together() {
    let mixed = |made: &mut Made| {
        made.snapshot = signed(&role("snapshot", 6, "meta", &json!({ "targets.json": { "version": 4 } })), &[3]);
    };
    check(mixed, Err("snapshot.json has version 6, not 5"));
    let targets = |made: &mut Made| {
        let mut other = made.targets["signed"].clone();
        other["version"] = json!(9);
        made.targets = signed(&other, &[1, 2]);
    };
    check(targets, Err("targets.json has version 9, not 4"));
    let hashed = |made: &mut Made| {
        let meta = json!({ "snapshot.json": { "version": 5, "length": 1, "hashes": { "sha256": hex(b"x") } } });
        made.timestamp = signed(&role("timestamp", 7, "meta", &meta), &[3]);
    };
    let other = "snapshot.json is another file than the signed metadata names: its length or hash differs";
    check(hashed, Err(other));
    check(|made| made.target = b"[]".to_vec(), Err(&other.replace("snapshot", "trusted_root")));
    check(|made| made.target = b"{}\n".to_vec(), Err(&other.replace("snapshot", "trusted_root")));
    // A timestamp in the place of a snapshot.
    let kind = |made: &mut Made| made.snapshot = made.timestamp.clone();
    check(kind, Err("snapshot.json is malformed: `_type` is \"timestamp\", not \"snapshot\""));
    let none = |made: &mut Made| made.targets = signed(&role("targets", 4, "targets", &json!({})), &[1, 2]);
    check(none, Err("it has no trusted_root.json"));
}

#[test]
fn what_is_too_large() {
    let now = today();
    let large = vec![b' '; 16 * 1024 + 1];
    let found = RootChain::built_in(now).timestamp(&large).expect_err("it is too large");
    assert_eq!(found.to_string(), "timestamp.json has more than 16384 bytes");
    let many = |made: &mut Made| {
        let signature = made.timestamp["signatures"][0].clone();
        made.timestamp["signatures"] = json!(vec![signature; 65]);
    };
    check(many, Err("timestamp.json is malformed: it has 65 signatures, and at most 64 are read"));
    assert_eq!(RootChain::timestamp_wanted().limit, 16 * 1024);
}

#[test]
fn a_length_in_signed_metadata_had_no_bound() {
    let long = (1 << 20) + 1;
    let snapshot = |made: &mut Made| {
        let meta = json!({ "snapshot.json": { "version": 5, "length": long } });
        made.timestamp = signed(&role("timestamp", 7, "meta", &meta), &[3]);
    };
    check(snapshot, Err("snapshot.json has more than 1048576 bytes"));
    let target = |made: &mut Made| {
        let named = json!({ "trusted_root.json": { "length": long, "hashes": { "sha256": hex(b"{}") } } });
        made.targets = signed(&role("targets", 4, "targets", &named), &[1, 2]);
    };
    check(target, Err("trusted_root.json has more than 1048576 bytes"));
}

/// What becomes of a repository after these versions were current, signed by the keys of this root.
#[track_caller]
fn check_remembered(change: impl FnOnce(&mut Made), before: TufVersions, root: &Value, want: Result<u64, &str>) {
    let mut made = Made::new();
    change(&mut made);
    let found = made.update(state(before, root)).map_err(|error| error.to_string());
    assert_eq!(found.as_ref().map_err(String::as_str), want.as_ref().map_err(|text| *text));
}

#[test]
fn a_root_of_ones_own_went_back_to_an_older_copy_of_its_repository() {
    let same = TufVersions { root: 1, timestamp: 7, snapshot: 5, targets: 4 };
    let first = root(1, [1, 2], 3);
    check_remembered(|_| {}, same, &first, Ok(4));
    for (before, want) in [
        (
            TufVersions { timestamp: 8, ..same },
            "timestamp.json has version 7, and version 8 was current before: it is an old one",
        ),
        (
            TufVersions { snapshot: 6, ..same },
            "snapshot.json has version 5, and version 6 was current before: it is an old one",
        ),
        (
            TufVersions { targets: 5, ..same },
            "targets.json has version 4, and version 5 was current before: it is an old one",
        ),
        (
            TufVersions { root: 2, ..same },
            "root.json has version 1, and version 2 was current before: it is an old one",
        ),
    ] {
        check_remembered(|_| {}, before, &first, Err(want));
    }
    // What was remembered was signed by the keys of the second root: an older one of those is refused, and new keys begin anew.
    let made = root(2, [1, 4], 5);
    let second = |made: &mut Made| {
        made.roots = vec![signed(&root(2, [1, 4], 5), &[1, 2, 4])];
        made.timestamp = signed(&made.timestamp["signed"], &[5]);
        made.snapshot = signed(&made.snapshot["signed"], &[5]);
        made.targets = signed(&made.targets["signed"], &[1, 4]);
    };
    let before = TufVersions { root: 2, timestamp: 8, ..same };
    let old = "timestamp.json has version 7, and version 8 was current before: it is an old one";
    check_remembered(second, before, &made, Err(old));
    check_remembered(second, TufVersions { root: 1, ..before }, &first, Ok(4));
}

/// The chain began after the remembered root, whose keys were then unknown.
#[test]
fn a_newer_root_to_begin_with_was_refused_as_an_older_repository() {
    let before = TufVersions { root: 1, timestamp: 8, snapshot: 9, targets: 9 };
    let newer = |made: &mut Made| {
        made.root = root(2, [1, 2], 5);
        made.timestamp = signed(&made.timestamp["signed"], &[5]);
        made.snapshot = signed(&made.snapshot["signed"], &[5]);
    };
    let old = "targets.json has version 4, and version 9 was current before: it is an old one";
    // The keys of the targets are the same: so is their count.
    check_remembered(newer, before, &root(1, [1, 2], 3), Err(old));
    check_remembered(newer, TufVersions { targets: 4, ..before }, &root(1, [1, 2], 3), Ok(4));
    let same = "timestamp.json has version 7, and version 8 was current before: it is an old one";
    check_remembered(newer, before, &root(1, [1, 2], 5), Err(same));
}

#[test]
fn another_instance_was_called_an_old_copy() {
    let other = "its root has no key of the root that was current before: it is the repository of another instance";
    for root_version in [1, 15] {
        let before = TufVersions { root: root_version, timestamp: 8, ..TufVersions::default() };
        check_remembered(|_| {}, before, &root(1, [4, 6], 3), Err(other));
    }
}
