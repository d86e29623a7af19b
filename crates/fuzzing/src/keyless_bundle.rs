//! Sigstore bundles with certificates: whatever is done to a real one, it proves the one who signed it or nothing, and a rule
//! that names who signed another one does not count it. The same bytes are read as a trusted root.

use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use tofu_oci_trust::{
    Archives, DescribedRoot, Evidence, Pins, Policy, ProvenIdentity, ReleaseFacts, Standing, Statement, Subject, judge,
    peek_bundle, prove_file,
};
use tofu_oci_types::{Digest, Identity};

use crate::seeds;

const BUNDLE: &[u8] = include_bytes!("../../../testdata/trust/keyless/public-good.json");
const POLICY: &str = r#"
[[identity]]
name = "beacon"
repository = "github.com/sigstore-conformance/extremely-dangerous-public-oidc-beacon"
workflow = ".github/workflows/extremely-dangerous-oidc-beacon.yml"

[[rule]]
providers = ["example.com/acme/widget"]
keys = ["beacon"]
unnamed = "allow"
"#;

/// A real bundle, and who signed it.
struct Known {
    statement: Statement,
    file: Digest,
    identity: ProvenIdentity,
    policy: Policy,
}

static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    let statement = peek_bundle(BUNDLE).expect("a bundle").statement;
    let file = statement.subjects.first().and_then(|subject| subject.digest.clone()).expect("a digest");
    let identity = prove_file(BUNDLE, &file, None, today()).expect("it is proven");
    let policy = Policy::parse(POLICY).expect("a policy");
    let policy = policy.resolve(|path: &Path| panic!("{} is read", path.display())).expect("a policy");
    Known { statement, file, identity, policy }
});

/// A day after the bundles were signed.
fn today() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000)
}

/// Reads the text.
pub fn run(bytes: &[u8]) {
    let Known { statement, file, identity, policy } = &*KNOWN;
    if let Ok(found) = prove_file(bytes, file, None, today()) {
        assert_eq!(found, *identity);
    }
    let (address, version) = ("example.com/acme/widget".parse().expect("one"), "1.4.0".parse().expect("one"));
    let facts = ReleaseFacts {
        of: Subject::Provider { address: &address, version: &version },
        place: &"ghcr.io/acme/widget".parse().expect("a place"),
        identity: &Identity::Index { sha256: file.clone(), sha512: None },
        archives: &Archives::Unknown,
    };
    let evidence = [Evidence::Bundle { origin: Digest::sha256(bytes), bytes: bytes.to_vec() }];
    let verdict = judge(policy, &Pins::default(), &facts, &evidence, today());
    if verdict.standing == Standing::Signed {
        assert_eq!(peek_bundle(bytes).map(|peek| peek.statement).as_ref(), Ok(statement));
    }
    if let Some(refusal) = &verdict.refusal {
        assert!(!refusal.to_string().contains(char::is_control), "{refusal}");
    }
    drop(DescribedRoot::read("root.json", bytes));
}

/// Bundles of each instance, and a root.
pub fn seeds() -> Vec<Vec<u8>> {
    seeds::contents("trust/keyless", ".json")
}
