//! The report of `verify`, as JSON.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use tofu_oci_fetch::{Conclusion, ReleaseWithEvidence};
use tofu_oci_trust::{
    Action, Admission, DemandedBuild, Examined, ExpiredKeys, ManifestChecksums, Pin, PinnedSigner, RuleOrigin, Signer,
    Standing, TrustRemark, TrustRule, Verdict, VersionOf,
};
use tofu_oci_types::{Digest, Identity, PathText, Place, Platform, Tag, Version};

/// A release, and what it was judged by.
pub(super) struct VerifyReport<'a> {
    pub(super) found: &'a ReleaseWithEvidence,
    pub(super) rule: &'a TrustRule,
    pub(super) file: Option<&'a Path>,
    pub(super) pin: Option<&'a Pin>,
    /// The pin file, if the release was accepted by hand just now.
    pub(super) accepted: Option<&'a Path>,
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "verified")]
pub(super) struct VerifiedLine<'a> {
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
    missing: Vec<&'a String>,
    missing_count: usize,
    signers: &'a [Signer],
    evidence: &'a [Examined],
    policy: PolicyLine<'a>,
    pin: Option<PinLine<'a>>,
    accepted: Option<PathText<'a>>,
    remarks: &'a [TrustRemark],
}

/// A stable name and a sentence.
#[derive(Clone, Serialize)]
pub(in crate::verbs) struct CodeAndText {
    pub(in crate::verbs) code: &'static str,
    pub(in crate::verbs) text: String,
}

#[derive(Serialize)]
struct CoveredLine<'a> {
    index: bool,
    platforms: BTreeMap<&'a Platform, bool>,
}

#[derive(Serialize)]
struct PolicyLine<'a> {
    origin: &'static str,
    file: Option<PathText<'a>>,
    line: Option<usize>,
    keys: Vec<&'a str>,
    threshold: usize,
    predicate_types: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    slsa: Option<&'a DemandedBuild>,
    unsigned: Action,
    unnamed: Action,
    moved_tags: Action,
    expired_keys: ExpiredKeys,
    manifest_checksums: ManifestChecksums,
}

#[derive(Serialize)]
struct PinLine<'a> {
    index: &'a Digest,
    signers: &'a [PinnedSigner],
    by_hand: bool,
}

impl<'a> VerifyReport<'a> {
    /// Everything, for programs.
    pub(super) fn line(&self, verdict: &'a Verdict) -> VerifiedLine<'a> {
        let still = verdict.still_to_sign.as_ref();
        VerifiedLine {
            of: &self.found.of,
            version: self.found.version(),
            place: &self.found.place,
            tag: self.found.about.tag.as_ref(),
            index: &self.found.identity,
            standing: verdict.standing,
            trusted: matches!(self.found.conclusion(verdict), Conclusion::Trusted),
            refusal: verdict
                .refusal
                .as_ref()
                .map(|refusal| CodeAndText { code: refusal.code(), text: refusal.to_string() }),
            covered: CoveredLine { index: verdict.covered.index, platforms: self.covered(verdict) },
            missing: still.iter().flat_map(|still| &still.parties).filter_map(|names| names.first()).collect(),
            missing_count: still.map_or(0, |still| still.count),
            signers: &verdict.signers,
            evidence: &verdict.examined,
            policy: self.policy(),
            pin: self.pin.map(|Pin { index, signers, admission, .. }| PinLine {
                index,
                signers,
                by_hand: *admission == Admission::ByHand,
            }),
            accepted: self.accepted.map(PathText),
            remarks: &verdict.remarks,
        }
    }

    /// Whether signatures vouch for the package of each platform.
    pub(super) fn covered(&self, verdict: &Verdict) -> BTreeMap<&'a Platform, bool> {
        let covers = |platform: &'a Platform| (platform, verdict.covers(platform, self.found.archives.get(platform)));
        self.found.about.platforms.iter().map(covers).collect()
    }

    fn policy(&self) -> PolicyLine<'a> {
        let TrustRule { origin, keys, threshold, predicate_types, build, .. } = self.rule;
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
            slsa: build.as_ref(),
            unsigned: self.rule.unsigned.action(),
            // A signature of a module need name nothing.
            unnamed: if self.found.of == VersionOf::Module { Action::Allow } else { self.rule.unnamed },
            moved_tags: self.rule.moved_tags,
            expired_keys: self.rule.expired_keys,
            manifest_checksums: self.rule.manifest_checksums,
        }
    }
}
