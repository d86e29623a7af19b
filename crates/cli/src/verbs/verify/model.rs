//! The report of `verify`, as JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;
use tofu_oci_trust::{
    Action, Admission, Covers, Examined, ExpiredKeys, KeyId, ManifestChecksums, Pin, RuleOrigin, SignatureForm,
    Standing, TrustRule, Verdict, VersionOf,
};
use tofu_oci_types::{Digest, Identity, Level, PackageHash, PathText, Place, Platform, Tag, Version};

use super::found::ReleaseWithEvidence;

/// A release, and what it was judged by.
pub(super) struct VerifyReport<'a> {
    pub(super) found: &'a ReleaseWithEvidence,
    pub(super) rule: &'a TrustRule,
    pub(super) file: Option<&'a Path>,
    pub(super) pin: Option<&'a Pin>,
    pub(super) accepted: Accepted<'a>,
}

/// Whether the release was accepted by hand just now.
#[derive(Clone, Copy)]
pub(super) enum Accepted<'a> {
    No,
    Yes { path: &'a Path },
}

/// The line `verified`.
#[derive(Serialize)]
pub(super) struct VerifiedLine<'a> {
    event: &'static str,
    #[serde(flatten)]
    of: &'a VersionOf,
    version: Option<&'a Version>,
    place: &'a Place,
    tag: Option<&'a Tag>,
    index: &'a Identity,
    standing: Standing,
    trusted: bool,
    refusal: Option<CodeAndText>,
    covered: CoveredLine<'a>,
    signers: Vec<SignerLine<'a>>,
    evidence: Vec<EvidenceLine<'a>>,
    policy: PolicyLine<'a>,
    pin: Option<PinLine<'a>>,
    accepted: Option<PathText<'a>>,
    remarks: Vec<RemarkLine<'a>>,
}

/// A code and a sentence.
#[derive(Serialize)]
struct CodeAndText {
    code: &'static str,
    text: String,
}

#[derive(Serialize)]
struct CoveredLine<'a> {
    index: bool,
    platforms: BTreeMap<&'a Platform, bool>,
}

#[derive(Serialize)]
struct SignerLine<'a> {
    name: &'a str,
    key: &'a KeyId,
    forms: &'a BTreeSet<SignatureForm>,
    /// The archives; null if it covers the index.
    zips: Option<&'a BTreeSet<PackageHash>>,
}

#[derive(Serialize)]
pub(in crate::verbs) struct EvidenceLine<'a> {
    form: Option<SignatureForm>,
    origin: &'a Digest,
    key: Option<&'a KeyId>,
    key_name: Option<&'a str>,
    claimed_key: Option<&'a str>,
    address: Option<&'a str>,
    version: Option<&'a str>,
    predicate_type: Option<&'a str>,
    zips: &'a BTreeSet<PackageHash>,
    outcome: CodeAndText,
}

#[derive(Serialize)]
struct PolicyLine<'a> {
    origin: &'static str,
    file: Option<PathText<'a>>,
    line: Option<usize>,
    keys: Vec<&'a str>,
    threshold: usize,
    predicate_types: &'a [String],
    unsigned: Action,
    unnamed: Action,
    moved_tags: Action,
    expired_keys: ExpiredKeys,
    manifest_checksums: ManifestChecksums,
}

#[derive(Serialize)]
struct PinLine<'a> {
    index: &'a Digest,
    signers: Vec<PinnedLine<'a>>,
    by_hand: bool,
}

#[derive(Serialize)]
struct PinnedLine<'a> {
    name: &'a str,
    key: &'a KeyId,
}

#[derive(Serialize)]
struct RemarkLine<'a> {
    level: Level,
    code: &'static str,
    text: &'a str,
}

impl<'a> VerifyReport<'a> {
    /// Everything, for programs.
    pub(super) fn line(&self, verdict: &'a Verdict) -> VerifiedLine<'a> {
        VerifiedLine {
            event: "verified",
            of: &self.found.of,
            version: self.found.version(),
            place: &self.found.place,
            tag: self.found.about.tag.as_ref(),
            index: &self.found.identity,
            standing: verdict.standing,
            trusted: verdict.refusal.is_none() && verdict.standing != Standing::Unsigned,
            refusal: verdict
                .refusal
                .as_ref()
                .map(|refusal| CodeAndText { code: refusal.code(), text: refusal.to_string() }),
            covered: CoveredLine { index: verdict.covered.index, platforms: self.covered(verdict) },
            signers: verdict.signers.iter().map(signer).collect(),
            evidence: verdict.examined.iter().map(evidence).collect(),
            policy: self.policy(),
            pin: self.pin.map(pin),
            accepted: match self.accepted {
                Accepted::No => None,
                Accepted::Yes { path } => Some(PathText(path)),
            },
            remarks: verdict
                .remarks
                .iter()
                .map(|remark| RemarkLine { level: remark.level, code: remark.code, text: &remark.text })
                .collect(),
        }
    }

    /// Whether signatures vouch for the package of each platform.
    pub(super) fn covered(&self, verdict: &Verdict) -> BTreeMap<&'a Platform, bool> {
        let covers = |platform: &'a Platform| (platform, verdict.covers(platform, self.found.archives.get(platform)));
        self.found.about.platforms.iter().map(covers).collect()
    }

    fn policy(&self) -> PolicyLine<'a> {
        let TrustRule { origin, keys, threshold, predicate_types, .. } = self.rule;
        PolicyLine {
            origin: match origin {
                RuleOrigin::Default => "default",
                RuleOrigin::File { .. } => "file",
                RuleOrigin::CommandLine => "command-line",
            },
            file: self.file.map(PathText),
            line: match origin {
                RuleOrigin::File { line, .. } => Some(*line),
                RuleOrigin::Default | RuleOrigin::CommandLine => None,
            },
            keys: keys.iter().map(|key| key.name.as_str()).collect(),
            threshold: *threshold,
            predicate_types,
            unsigned: self.rule.unsigned.action(),
            unnamed: self.rule.unnamed,
            moved_tags: self.rule.moved_tags,
            expired_keys: self.rule.expired_keys,
            manifest_checksums: self.rule.manifest_checksums,
        }
    }
}

fn signer(signer: &tofu_oci_trust::Signer) -> SignerLine<'_> {
    SignerLine {
        name: &signer.name,
        key: &signer.key,
        forms: &signer.forms,
        zips: match &signer.covers {
            Covers::Index => None,
            Covers::Zips(zips) => Some(zips),
        },
    }
}

pub(in crate::verbs) fn evidence(examined: &Examined) -> EvidenceLine<'_> {
    EvidenceLine {
        form: examined.form,
        origin: &examined.origin,
        key: examined.key.as_ref(),
        key_name: examined.key_name.as_deref(),
        claimed_key: examined.claimed_key.as_deref(),
        address: examined.address.as_deref(),
        version: examined.version.as_deref(),
        predicate_type: examined.predicate_type.as_deref(),
        zips: &examined.zips,
        outcome: CodeAndText { code: examined.outcome.code(), text: examined.outcome.to_string() },
    }
}

fn pin(pin: &Pin) -> PinLine<'_> {
    let signers = pin.signers.iter().map(|signer| PinnedLine { name: &signer.name, key: &signer.key });
    PinLine { index: &pin.index, signers: signers.collect(), by_hand: pin.admission == Admission::ByHand }
}
