//! Real bundles of GitHub and Sigstore, under the built-in roots.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::*;

fn bytes(name: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/trust/keyless");
    std::fs::read(root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A day on which all of them are in the past.
fn today() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000)
}

fn proven(name: &str, more: &[Arc<TrustedRoot>]) -> Proven {
    prove(&bytes(name), more, today()).unwrap_or_else(|fault| panic!("{name}: {fault}"))
}

fn fault(bundle: &Value) -> KeylessFault {
    prove(bundle.to_string().as_bytes(), &[], today()).expect_err("nothing is proven")
}

fn changed(name: &str, change: impl FnOnce(&mut Value)) -> Value {
    let mut bundle = serde_json::from_slice(&bytes(name)).expect("JSON");
    change(&mut bundle);
    bundle
}

fn staging() -> Arc<TrustedRoot> {
    let name = RootName::File("staging.json".to_owned());
    Arc::new(TrustedRoot::read(name, &bytes("rekor2-root.json")).expect("a root"))
}

#[test]
fn the_public_instance_proves_a_workflow() {
    let Proven { identity, roots, statement } = proven("public-good.json", &[]);
    assert_eq!(roots, [RootName::PublicGood]);
    let beacon = "github.com/sigstore-conformance/extremely-dangerous-public-oidc-beacon";
    assert_eq!(identity.issuer.as_deref(), Some("https://token.actions.githubusercontent.com"));
    assert_eq!(identity.repository.as_deref(), Some(beacon));
    let workflow = format!("{beacon}/.github/workflows/extremely-dangerous-oidc-beacon.yml");
    assert_eq!(identity.workflow, Some(workflow));
    assert_eq!(
        (identity.workflow_ref.as_deref(), &identity.workflow_ref),
        (Some("refs/heads/main"), &identity.reference)
    );
    assert_eq!(identity.commit.as_deref(), Some("82a3bfe6dd50fe9c71d6315eae66da15307856cf"));
    assert_eq!(identity.runner.as_deref(), Some("github-hosted"));
    assert_eq!(statement.predicate_type, "https://slsa.dev/provenance/v1");
}

#[test]
fn a_called_workflow_is_of_another_repository() {
    let Proven { identity, .. } = proven("reusable-workflow.json", &[]);
    assert_eq!(identity.repository.as_deref(), Some("github.com/malancas/attest-demo"));
    let workflow = "github.com/github/artifact-attestations-workflows/.github/workflows/attest.yml";
    assert_eq!(identity.workflow.as_deref(), Some(workflow));
    assert_eq!(identity.workflow_ref.as_deref(), Some("09b495c3f12c7881b3cc17209a327792065c1a1d"));
    assert_eq!(identity.reference.as_deref(), Some("refs/heads/main"));
}

#[test]
fn github_proves_by_its_own_root_alone() {
    let Proven { identity, roots, .. } = proven("github.json", &[]);
    assert_eq!(
        (roots, identity.repository.as_deref()),
        (vec![RootName::GitHub], Some("github.com/actions/attest-demo"))
    );
    // An immutable release is signed by GitHub itself: the statement names the repository.
    let Proven { identity, roots, .. } = proven("github-release.json", &[]);
    let repository = Some("github.com/jdx/communique".to_owned());
    assert_eq!((roots, &identity.repository, &identity.issuer), (vec![RootName::GitHub], &repository, &None));
    assert_eq!(identity.subject, "https://dotcom.releases.github.com");
    assert_eq!((identity.reference.as_deref(), identity.is_release), (Some("refs/tags/v0.1.9"), true));
    assert_eq!(identity.repository_id.as_deref(), Some("1155542902"));
    assert_eq!(
        identity.to_add().as_deref(),
        Some(
            "[[identity]]\nname = \"jdx/communique\"\nrepository = \"github.com/jdx/communique\"\n\
             ref = \"refs/tags/v0.1.9\"\nrelease = true"
        )
    );
    // Without its log entry, a bundle of the public instance proves nothing under either root.
    let unlogged = changed("public-good.json", |bundle| bundle["verificationMaterial"]["tlogEntries"] = json!([]));
    assert_eq!(fault(&unlogged), KeylessFault::Log);
    let github: Value = serde_json::from_slice(&bytes("github.json")).expect("JSON");
    let stamped = changed("public-good.json", |bundle| {
        bundle["verificationMaterial"]["tlogEntries"] = json!([]);
        let stamps = "timestampVerificationData";
        bundle["verificationMaterial"][stamps] = github["verificationMaterial"][stamps].clone();
    });
    assert_eq!(fault(&stamped), KeylessFault::Log);
}

#[test]
fn an_instance_of_ones_own_needs_its_root() {
    // Its authority has the name of the public one, and another key.
    assert_eq!(prove(&bytes("rekor2.json"), &[], today()), Err(KeylessFault::Timestamp));
    assert_eq!(proven("rekor2.json", &[staging()]).roots, [RootName::File("staging.json".to_owned())]);
}

#[test]
fn a_newer_copy_of_the_public_root_takes_nothing_from_it() {
    let name = RootName::File("copy.json".to_owned());
    let copy = TrustedRoot::read(name.clone(), include_bytes!("roots/public-good.json")).expect("a root");
    let copy = Arc::new(copy);
    let found = proven("public-good.json", &[Arc::clone(&copy)]);
    assert_eq!(found.roots, [RootName::PublicGood, name]);
    let text = |text: &str| Some(text.to_owned());
    let beacon = Identity {
        issuer: None,
        repository: text("github.com/sigstore-conformance/extremely-dangerous-public-oidc-beacon"),
        workflow: text(".github/workflows/extremely-dangerous-oidc-beacon.yml"),
        reference: None,
        environment: None,
        runner: None,
        email: None,
        repository_id: None,
        release: false,
        root: None,
    };
    let beacon = beacon.checked().expect("an identity");
    let with_copy = Identity { root: text("copy.json"), ..beacon.clone() };
    for (identity, root) in [(beacon, None), (with_copy, Some(copy))] {
        assert_eq!(TrustedIdentity { identity, root }.admits(&found), Ok(None));
    }
}

#[test]
fn what_is_missing_or_foreign() {
    let time = |bundle: &mut Value| {
        bundle["verificationMaterial"]["timestampVerificationData"] = json!({});
    };
    let github = changed("github.json", time);
    assert_eq!(fault(&github), KeylessFault::Log);
    let promise = |bundle: &mut Value| {
        let entry = &mut bundle["verificationMaterial"]["tlogEntries"][0];
        entry.as_object_mut().expect("an entry").remove("inclusionPromise");
    };
    assert_eq!(fault(&changed("public-good.json", promise)), KeylessFault::NoTime);
    let other: Value = serde_json::from_slice(&bytes("reusable-workflow.json")).expect("JSON");
    let payload = |bundle: &mut Value| bundle["dsseEnvelope"]["payload"] = other["dsseEnvelope"]["payload"].clone();
    assert_eq!(fault(&changed("public-good.json", payload)), KeylessFault::Signature);
    let entry = |bundle: &mut Value| {
        bundle["verificationMaterial"]["tlogEntries"] = other["verificationMaterial"]["tlogEntries"].clone();
    };
    assert_eq!(fault(&changed("public-good.json", entry)), KeylessFault::Certificate);
    let certificate = |bundle: &mut Value| {
        bundle["verificationMaterial"]["certificate"] = other["verificationMaterial"]["certificate"].clone();
    };
    assert_eq!(fault(&changed("public-good.json", certificate)), KeylessFault::Certificate);
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    assert_eq!(prove(&bytes("public-good.json"), &[], then), Err(KeylessFault::Future));
}

#[test]
fn what_is_too_large_is_not_read() {
    let hashes = |bundle: &mut Value| {
        bundle["verificationMaterial"]["tlogEntries"][0]["inclusionProof"]["hashes"] = json!(vec!["AA=="; 65]);
    };
    assert!(matches!(fault(&changed("public-good.json", hashes)), KeylessFault::Malformed(_)));
    let times = |bundle: &mut Value| {
        let stamps = &mut bundle["verificationMaterial"]["timestampVerificationData"]["rfc3161Timestamps"];
        *stamps = json!(vec![stamps[0].clone(); 9]);
    };
    assert!(matches!(fault(&changed("github.json", times)), KeylessFault::Malformed(_)));
}

#[test]
fn one_entry_repeated_many_times_is_not_verified_many_times() {
    let repeated = changed("public-good.json", |bundle| {
        let entries = &mut bundle["verificationMaterial"]["tlogEntries"];
        *entries = json!(vec![entries[0].clone(); 5]);
    });
    assert_eq!(fault(&repeated).to_string(), "the bundle is malformed: it has more than 4 entries of logs");
}

/// A bit may be one that nothing depends on; then the identity and the statement are the same.
#[test]
fn no_bit_of_a_bundle_changes_who_signed_what() {
    let staging = [staging()];
    for (name, more) in [("public-good.json", &[][..]), ("github.json", &[]), ("rekor2.json", &staging[..])] {
        let (file, whole) = (bytes(name), proven(name, more));
        for bit in (0..file.len() * 8).step_by(499) {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            if let Ok(same) = prove(&damaged, more, today()) {
                assert_eq!(same, whole, "{name}, bit {bit}");
            }
        }
    }
}

/// Each bit of what is signed, or one of so many as `TOFU_OCI_BITS` says: 1 is all of them, in three minutes of a release build.
#[test]
fn no_bit_of_what_proves_it_may_differ() {
    let step = std::env::var("TOFU_OCI_BITS").ok().and_then(|step| step.parse().ok()).unwrap_or(211);
    let staging = [staging()];
    let bundles = [("public-good.json", &[][..]), ("github.json", &[]), ("rekor2.json", &staging[..])];
    // What some of them lack, one of them has: a pointer that is misspelt points at nothing.
    let (mut wanted, mut found) = (BTreeSet::new(), BTreeSet::new());
    std::thread::scope(|scope| {
        for run in bundles.map(|(name, more)| scope.spawn(move || bits_of(name, more, step))) {
            let (more, seen) = run.join().expect("no bit may differ");
            wanted.extend(more);
            found.extend(seen);
        }
    });
    found.retain(|field| wanted.contains(field));
    assert_eq!(found, wanted);
}

/// Changes the bits of a bundle. The fields that were looked for, and those that it has.
fn bits_of(name: &str, more: &[Arc<TrustedRoot>], step: usize) -> (BTreeSet<String>, BTreeSet<String>) {
    let entry = "/verificationMaterial/tlogEntries/0";
    let stamp = "/verificationMaterial/timestampVerificationData/rfc3161Timestamps/0/signedTimestamp";
    let (mut wanted, mut found) = (BTreeSet::new(), BTreeSet::new());
    let whole: Value = serde_json::from_slice(&bytes(name)).expect("JSON");
    let mut fields = vec![
        ("/verificationMaterial/certificate/rawBytes".to_owned(), true),
        ("/dsseEnvelope/signatures/0/sig".to_owned(), true),
        ("/dsseEnvelope/payload".to_owned(), true),
        (format!("{entry}/inclusionPromise/signedEntryTimestamp"), true),
        (format!("{entry}/canonicalizedBody"), true),
        // Not every part of these is signed, or read.
        (stamp.to_owned(), false),
        (format!("{entry}/logId/keyId"), false),
        // The checkpoint has it again, signed.
        (format!("{entry}/inclusionProof/rootHash"), false),
    ];
    let hashes = format!("{entry}/inclusionProof/hashes");
    wanted.extend(fields.iter().map(|(field, _)| field.clone()).chain([hashes.clone()]));
    let proof = whole.pointer(&hashes).and_then(Value::as_array).map_or(0, Vec::len);
    found.extend((proof > 0).then(|| hashes.clone()));
    fields.extend((0..proof).map(|nth| (format!("{hashes}/{nth}"), true)));
    for (field, is_fatal) in fields {
        let Some(text) = whole.pointer(&field).and_then(Value::as_str) else { continue };
        found.insert(field.clone());
        let decoded = STANDARD.decode(text).expect("base64");
        for bit in (0..decoded.len() * 8).step_by(step) {
            let mut damaged = decoded.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let mut bundle = whole.clone();
            *bundle.pointer_mut(&field).expect("it is there") = json!(STANDARD.encode(damaged));
            if let Ok(same) = prove(bundle.to_string().as_bytes(), more, today()) {
                assert!(!is_fatal && same == proven(name, more), "{name}, {field}, bit {bit}");
            }
        }
    }
    let checkpoint = format!("{entry}/inclusionProof/checkpoint/envelope");
    wanted.insert(checkpoint.clone());
    let Some(text) = whole.pointer(&checkpoint).and_then(Value::as_str) else { return (wanted, found) };
    found.insert(checkpoint.clone());
    let signed = text.find("\n\n").expect("a checkpoint has signatures");
    for at in (0..text.len()).step_by(step.div_ceil(8)).filter(|at| text.is_char_boundary(*at)) {
        let other = text.get(at..=at).map_or("?", |one| if one == "x" { "y" } else { "x" });
        let Some(end) = text.get(at..).and_then(|rest| rest.chars().next()).map(|one| at + one.len_utf8()) else {
            continue;
        };
        let mut bundle = whole.clone();
        *bundle.pointer_mut(&checkpoint).expect("it is there") = json!([&text[..at], other, &text[end..]].concat());
        if let Ok(same) = prove(bundle.to_string().as_bytes(), more, today()) {
            assert!(at > signed && same == proven(name, more), "{name}, checkpoint, byte {at}");
        }
    }
    (wanted, found)
}

#[test]
fn what_is_no_root() {
    let read = |text: &str| TrustedRoot::read(RootName::PublicGood, text.as_bytes()).expect_err("no root");
    assert_eq!(read("{}"), "it is not a trusted root of Sigstore");
    let media = "application/vnd.dev.sigstore.trustedroot+json;version=0.1";
    assert_eq!(read(&format!(r#"{{"mediaType":"{media}"}}"#)), "it names no certificate authority that can be read");
}
