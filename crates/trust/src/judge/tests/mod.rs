//! Verdicts.

mod evidence;
mod kept;
mod keyless;
mod memory;
mod notices;
mod offered;
mod one_key;
mod places;
mod sums;
mod thresholds;
mod tightened;
mod unnamed_lists;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tofu_oci_types::{Digest, Identity, PackageHash, Place, Platform, ProviderAddr, Version};

use super::*;
use crate::testing::{address, index, policy, version};
use crate::{Archives, Flaw, SignatureOutcome, Standing, Subject, TrustRefusal};

/// What is judged, with what.
#[derive(Clone)]
struct Scene {
    policy: Policy,
    pins: Pins,
    address: ProviderAddr,
    version: Version,
    place: Place,
    identity: Identity,
    archives: Archives,
    evidence: Vec<Evidence>,
    of: for<'a> fn(&'a ProviderAddr, &'a Version) -> Subject<'a>,
    now: SystemTime,
}

impl Scene {
    /// `acme/widget 1.4.0`, with no policy, no pins and no signature.
    fn new() -> Self {
        Self {
            policy: Policy::default(),
            pins: Pins::default(),
            address: address("example.com/acme/widget"),
            version: version("1.4.0"),
            place: "registry.example.com/acme/widget".parse().expect("a place"),
            identity: identity("1.4.0"),
            archives: Archives::Unknown,
            evidence: Vec::new(),
            of: |address, version| Subject::Provider { address, version },
            now: UNIX_EPOCH + Duration::from_hours(500_000),
        }
    }

    /// The keys of these numbers count; `rule` has the other members of the rule.
    fn with_policy(keys: &[u8], rule: &str) -> Self {
        Self::new().policy(keys, rule)
    }

    fn policy(mut self, keys: &[u8], rule: &str) -> Self {
        let file = Policy::parse(&policy(keys, rule)).expect("a policy");
        self.policy = file.resolve(|path| panic!("{} is read", path.display())).expect("keys");
        self
    }

    fn without_policy(mut self) -> Self {
        self.policy = Policy::default();
        self
    }

    fn found(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence = evidence.into_iter().collect();
        self
    }

    /// What it is judged as.
    fn of(self, of: for<'a> fn(&'a ProviderAddr, &'a Version) -> Subject<'a>) -> Self {
        Self { of, ..self }
    }

    /// Another release.
    fn offers(mut self, release: &str, index_content: &str) -> Self {
        self.version = version(release);
        self.identity = identity(index_content);
        self
    }

    fn judge(&self) -> Verdict {
        let facts = self.facts();
        judge(&self.policy, &self.pins, &facts, &self.evidence, self.now)
    }

    fn facts(&self) -> ReleaseFacts<'_> {
        let Self { address, version, place, identity, archives, of, .. } = self;
        ReleaseFacts { of: of(address, version), place, identity, archives }
    }

    /// The release is let in and remembered.
    fn remembered(mut self) -> Self {
        let verdict = self.judge();
        assert_eq!(verdict.refusal, None);
        let mut pins = std::mem::take(&mut self.pins);
        pins.remember(&self.facts(), &verdict);
        self.pins = pins;
        self
    }

    /// The release is accepted by hand.
    fn accepted(mut self) -> Self {
        let verdict = self.judge();
        let mut pins = std::mem::take(&mut self.pins);
        assert_eq!(pins.accept(&self.facts(), &verdict), Ok(()));
        self.pins = pins;
        self
    }

    /// The code of the refusal that nobody can settle by hand.
    #[track_caller]
    fn not_accepted(&self) -> &'static str {
        let mut pins = self.pins.clone();
        let refusal = pins.accept(&self.facts(), &self.judge()).expect_err("must not be accepted");
        assert_eq!(pins, self.pins, "nothing is remembered");
        refusal.code()
    }
}

/// What is made of a scene: `refused CODE`, or what it rests on, who signed, and what is covered; then the remarks.
#[track_caller]
fn check(scene: &Scene, want: &str) {
    let verdict = scene.judge();
    let standing = format!("{:?}", verdict.standing).to_lowercase();
    let names: Vec<&str> = verdict.signers.iter().map(|signer| signer.name.as_str()).collect();
    let mut got = match &verdict.refusal {
        Some(refusal) => format!("refused {}", refusal.code()),
        None => format!("{standing} [{}]", names.join(" ")),
    };
    if verdict.covered.index {
        got.push_str(" index");
    }
    if !verdict.covered.zips.is_empty() {
        got.push_str(&format!(" {} zips", verdict.covered.zips.len()));
    }
    for remark in &verdict.remarks {
        got.push_str(&format!("; {:?} {}", remark.level, remark.code));
    }
    assert_eq!(got, want, "{verdict:#?}");
}

/// The code of what became of each piece of evidence.
#[track_caller]
fn check_outcomes(scene: &Scene, want: &[&str]) {
    let verdict = scene.judge();
    let codes: Vec<&str> = verdict.examined.iter().map(|examined| examined.outcome.code()).collect();
    assert_eq!(codes, want, "{verdict:#?}");
}

/// The index with this content.
fn identity(content: &str) -> Identity {
    Identity::Index { sha256: index(content), sha512: None }
}
