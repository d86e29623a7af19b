//! A release as a JSON line; `docs/json.md` says what the members are.

use std::collections::BTreeSet;

use serde::Serialize;
use tofu_oci_explain::releases::DescribedPackage;
use tofu_oci_fetch::SignatureStanding;
use tofu_oci_layout::PackageLayout;
use tofu_oci_source::{Created, LeafKind, SourceError};
use tofu_oci_trust::Notice;
use tofu_oci_types::{Digest, Identity, PackageHash, Place, Platform, ProviderAddr, Tag, Version};

use super::report::{ShowReport, Signatures};
use super::subject::ReleaseNaming;
use crate::verbs::verify::{EvidenceLine, evidence};

/// The line `release`.
#[derive(Serialize)]
pub(super) struct ReleaseLine<'a> {
    event: &'static str,
    address: Option<&'a ProviderAddr>,
    version: &'a Version,
    place: &'a Place,
    tag: Option<&'a Tag>,
    index: &'a Identity,
    layout: Option<PackageLayout>,
    created: Option<&'a Created>,
    protocols: &'a [String],
    published_as: Option<&'a ProviderAddr>,
    notice: Option<&'a Notice>,
    platforms: &'a [Platform],
    packages: Vec<PackageLine<'a>>,
    signatures: Option<&'a SignatureStanding>,
    evidence: Vec<EvidenceLine<'a>>,
    evidence_error: Option<FaultLine>,
}

#[derive(Serialize)]
struct PackageLine<'a> {
    platform: &'a Platform,
    #[serde(flatten)]
    facts: Option<PackageFactsLine<'a>>,
    error: Option<FaultLine>,
}

#[derive(Serialize)]
struct PackageFactsLine<'a> {
    kind: Option<LeafKind>,
    manifest: Option<&'a Digest>,
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    small_bytes: Option<u64>,
    hashes: &'a BTreeSet<PackageHash>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<&'a Place>,
}

#[derive(Serialize)]
struct FaultLine {
    code: &'static str,
    text: String,
}

impl FaultLine {
    fn of(error: &SourceError) -> Self {
        Self { code: error.code(), text: super::text::reason(error) }
    }
}

impl<'a> ReleaseLine<'a> {
    pub(super) fn of(report: &'a ShowReport) -> Self {
        let (id, about) = (&report.facts.id, &report.facts.description);
        let packages = report.facts.packages.iter().map(|(platform, facts)| PackageLine {
            platform,
            facts: facts.as_ref().ok().map(package),
            error: facts.as_ref().err().map(FaultLine::of),
        });
        let (standing, examined, error) = match &report.signatures {
            Signatures::Judged { verdict, standing } => (Some(standing), verdict.examined.as_slice(), None),
            Signatures::Unnamed => (None, [].as_slice(), None),
            Signatures::Failed(error) => (None, [].as_slice(), Some(FaultLine::of(error))),
        };
        Self {
            event: "release",
            address: Some(&id.address).filter(|_| report.naming != ReleaseNaming::Unnamed),
            version: &id.version,
            place: &id.place,
            tag: about.tag.as_ref(),
            index: &id.identity,
            layout: about.layout,
            created: report.facts.created.as_ref(),
            protocols: &about.protocols,
            published_as: about.published_as.as_ref(),
            notice: report.facts.notice.as_ref(),
            platforms: &about.platforms,
            packages: packages.collect(),
            signatures: standing,
            evidence: examined.iter().map(evidence).collect(),
            evidence_error: error,
        }
    }
}

fn package(facts: &DescribedPackage) -> PackageFactsLine<'_> {
    let DescribedPackage { kind, manifest, bytes, small_bytes, hashes, elsewhere } = facts;
    let (manifest, place) = (manifest.as_ref(), elsewhere.as_ref());
    PackageFactsLine { kind: *kind, manifest, bytes: *bytes, small_bytes: *small_bytes, hashes, place }
}
