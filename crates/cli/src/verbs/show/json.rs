//! A release as a JSON line.

use serde::Serialize;
use tofu_oci_explain::releases::{AttachedReferrer, DescribedPackage};
use tofu_oci_fetch::SignatureStanding;
use tofu_oci_layout::PackageLayout;
use tofu_oci_source::{ReleaseDate, SourceError};
use tofu_oci_trust::{Examined, Notice};
use tofu_oci_types::{Identity, Place, Platform, ProviderAddr, Tag, Version};

use super::report::{ShowReport, unlisted};
use super::subject::ReleaseNaming;
use crate::verbs::verify::CodeAndText;

#[derive(Serialize)]
#[serde(tag = "event", rename = "release")]
pub(super) struct ReleaseLine<'a> {
    address: Option<&'a ProviderAddr>,
    version: &'a Version,
    place: &'a Place,
    tag: Option<&'a Tag>,
    index: &'a Identity,
    layout: Option<PackageLayout>,
    created: Option<&'a ReleaseDate>,
    protocols: &'a [String],
    published_as: Option<&'a ProviderAddr>,
    notice: Option<&'a Notice>,
    platforms: &'a [Platform],
    packages: Vec<PackageLine<'a>>,
    signatures: Option<&'a SignatureStanding>,
    evidence: &'a [Examined],
    evidence_error: Option<CodeAndText>,
    attached: Option<&'a [AttachedReferrer]>,
}

#[derive(Serialize)]
struct PackageLine<'a> {
    platform: &'a Platform,
    #[serde(flatten)]
    facts: Option<&'a DescribedPackage>,
    error: Option<CodeAndText>,
}

pub(super) fn fault(error: &SourceError) -> CodeAndText {
    CodeAndText { code: error.code(), text: super::text::reason(error) }
}

impl<'a> ReleaseLine<'a> {
    pub(super) fn of(report: &'a ShowReport) -> Self {
        let (id, about) = (&report.facts.id, &report.facts.description);
        let packages = report.facts.packages.iter().map(|(platform, facts)| PackageLine {
            platform,
            facts: facts.as_ref().ok(),
            error: facts.as_ref().err().map(fault),
        });
        let (standing, examined, error) = report.signatures.line();
        Self {
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
            evidence: examined,
            evidence_error: error.cloned().or_else(|| unlisted(&report.facts.attached)),
            attached: report.facts.attached.as_deref().ok(),
        }
    }
}
