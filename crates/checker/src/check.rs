//! A repository from its store to its findings.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use tofu_oci_layout::annotation;
use tofu_oci_source::{Neighbour, newest_neighbour};
use tofu_oci_store::{ReadStore, StoreError, Transport};
use tofu_oci_trust::VersionOf;
use tofu_oci_types::{Platform, Predecessors, ProviderAddr, Reporter, Tag, Version};

use crate::addresses;
use crate::facts::{self, BlobContent, Depth, RepositoryFacts, Versions, What};
use crate::model::{Finding, NotJudged};
use crate::opentofu::{AskedProvider, PredictionRequest, RepositoryPrediction, Request, over_plain_http, predict};
use crate::rules::{CheckSubject, Images, Referring, not_judged, plain_http, repository};

/// What to check about a repository.
#[derive(Clone, Copy, Debug)]
pub struct CheckRequest<'a> {
    /// The provider that it is kept for, if the user named it.
    pub address: Option<&'a ProviderAddr>,
    /// Which addresses count as one.
    pub predecessors: &'a Predecessors,
    /// The version to check; `None` for all of them.
    pub version: Option<&'a Version>,
    /// The platforms to predict for. If it is empty: the platforms that the repository offers, and `own`.
    pub platforms: &'a [Platform],
    /// The platform of the user.
    pub own: &'a Platform,
    /// How deep to read.
    pub depth: Depth,
    /// Where layers are put while they are read and unpacked; an existing folder.
    pub work_dir: &'a Path,
}

/// A checked repository.
#[derive(Debug)]
pub struct CheckReport {
    /// What the repository holds.
    pub facts: RepositoryFacts,
    pub provider: CheckedAs,
    /// What `OpenTofu` makes of it.
    pub predictions: Vec<RepositoryPrediction>,
    pub findings: Vec<Finding>,
    /// What the store did not answer for; no rule judged it.
    pub not_judged: Vec<NotJudged>,
}

/// How the provider of a repository is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "known_by", content = "provider")]
pub enum CheckedAs {
    /// The user named it.
    Named(ProviderAddr),
    /// The newest index names it.
    Annotation(ProviderAddr),
    /// The names of the packages' executables have this type.
    Executables(String),
    /// It is unknown.
    Unknown,
}

impl CheckedAs {
    /// The provider's type, which is a part of the executable's name.
    pub fn provider_type(&self) -> Option<&str> {
        match self {
            Self::Named(address) | Self::Annotation(address) => Some(address.provider_type()),
            Self::Executables(provider_type) => Some(provider_type),
            Self::Unknown => None,
        }
    }

    /// The provider's address, if that is known.
    pub fn address(&self) -> Option<&ProviderAddr> {
        match self {
            Self::Named(address) | Self::Annotation(address) => Some(address),
            Self::Executables(_) | Self::Unknown => None,
        }
    }
}

/// Reads a repository, predicts what `OpenTofu` does with it, and applies every rule.
///
/// # Errors
/// If its tags cannot be listed. Wrong content is a finding; what the store does not answer for is not judged.
pub async fn check(
    store: &dyn ReadStore,
    request: &CheckRequest<'_>,
    reporter: &dyn Reporter,
) -> Result<CheckReport, StoreError> {
    let versions = request.version.map_or(Versions::All, |version| Versions::One(version.clone()));
    let what = What { versions, depth: request.depth, work_dir: request.work_dir.to_owned() };
    let facts = facts::read(store, &what, reporter).await?;
    let mut provider = checked_as(&facts, request.address);
    if provider == CheckedAs::Unknown
        && facts.releases.iter().all(|release| release.read_from.is_empty())
        && let Ok(Some(Neighbour { of: VersionOf::Provider { address }, .. })) =
            newest_neighbour(store, facts.tags.iter().filter_map(|tag| tag.parse().ok()).collect::<Vec<Tag>>().iter())
                .await
    {
        provider = CheckedAs::Annotation(address);
    }
    let mut platforms: Vec<Platform> = request.platforms.to_vec();
    if platforms.is_empty() {
        platforms = facts.platforms().into_iter().filter(|platform| platform.os() != "unknown").collect();
        platforms.push(request.own.clone());
    }
    platforms.sort();
    platforms.dedup();
    let asked = PredictionRequest {
        provider: provider.address().map_or(AskedProvider::Unnamed, AskedProvider::Named),
        request: request.version.map_or(Request::Newest, Request::Exactly),
        platforms: &platforms,
    };
    let mut predictions = predict(&facts, &asked);
    let transport = store.transport().await;
    if transport == Transport::PlainHttp {
        over_plain_http(&mut predictions);
    }
    let images = Images::read(store, &facts, request.work_dir).await;
    let referring = Referring::read(store, &facts).await;
    let subject = CheckSubject {
        facts: &facts,
        address: request.address,
        predecessors: request.predecessors,
        asked: request.version,
        platforms: request.platforms,
        provider_type: provider.provider_type(),
        predictions: &predictions,
        images: &images,
        referring: &referring,
    };
    let mut findings = repository(&subject);
    if transport == Transport::PlainHttp {
        findings.push(plain_http(&facts.place));
    }
    let mut not_judged = not_judged::of_check(&facts, &images, &referring);
    match addresses::check(store, &facts, request.version, request.predecessors).await {
        Ok(found) => findings.extend(found),
        Err(unasked) => not_judged.push(unasked),
    }
    Ok(CheckReport { facts, provider, predictions, findings, not_judged })
}

fn checked_as(facts: &RepositoryFacts, named: Option<&ProviderAddr>) -> CheckedAs {
    if let Some(address) = named {
        return CheckedAs::Named(address.clone());
    }
    let indexes = facts.releases.iter().rev().filter_map(|release| release.index.found.as_ref().ok()?.value());
    let mut annotated =
        indexes.filter_map(|index: &Value| index.get("annotations")?.get(annotation::ADDRESS)?.as_str());
    if let Some(address) = annotated.find_map(|address| address.parse().ok()) {
        return CheckedAs::Annotation(address);
    }
    let types = executables(facts);
    let mut types = types.into_iter();
    match (types.next(), types.next()) {
        (Some(only), None) => CheckedAs::Executables(only),
        _ => CheckedAs::Unknown,
    }
}

/// The provider types in the names of the executables in zips.
fn executables(facts: &RepositoryFacts) -> BTreeSet<String> {
    let layers = facts.releases.iter().flat_map(|release| &release.entries).flat_map(|entry| &entry.leaf.layers);
    let packages = layers.filter_map(|layer| match &layer.blob.content {
        Ok(BlobContent::Package(package)) => package.zip.as_ref().ok(),
        _ => None,
    });
    let names = packages.flat_map(|zip| &zip.items).filter(|item| !item.directory && !item.name.contains('/'));
    let types = names.filter_map(|item| item.name.strip_prefix("terraform-provider-")?.split(['_', '.']).next());
    types.filter(|found| !found.is_empty()).map(str::to_owned).collect()
}
