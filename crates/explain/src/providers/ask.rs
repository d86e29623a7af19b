//! Every method asked: for its versions, for the packages of those that matter, and what a `direct` really is.

use std::collections::BTreeMap;

use tofu_oci_source::{
    ConfiguredMethods, HostedPlace, InstallMethod, Listing, ListingAnswer, MethodOpener, PackageAnswer, SourceError,
};
use tofu_oci_store::{StoreError, Transport};
use tofu_oci_types::Version;

use super::check::PackageCheck;
use super::method::{DirectHost, MethodPackage, MethodStep, RegistryRoot, StepAnswer};
use super::question::ProviderQuestion;

/// Asks every method that is for the address.
pub(crate) async fn ask(
    steps: &mut [MethodStep],
    configured: &ConfiguredMethods,
    opener: &MethodOpener,
    question: &ProviderQuestion<'_>,
) {
    roots(steps, opener).await;
    ask_one(steps, question).await;
    for step in steps.iter_mut().filter(|step| step.selected && step.kind == InstallMethod::Oci) {
        let Some(repository) = &step.repository else { continue };
        if opener.transport(repository).await == Transport::PlainHttp {
            step.plain_http = Some(repository.registry().to_owned());
        }
    }
    for step in steps
        .iter_mut()
        .filter(|step| step.selected && step.kind == InstallMethod::Direct && step.direct == DirectHost::No)
    {
        if step.source.is_none() || matches!(step.answer, StepAnswer::Fails { .. }) {
            continue;
        }
        let host = question.address.hostname();
        let Ok(hosted) = opener.direct(configured, question.address).hosted(question.address).await else { continue };
        let registry = opener.registry(host).await;
        step.direct = match (hosted, registry) {
            (HostedPlace::Repository(oci), registry) => {
                step.place = Some(oci.repository.to_string());
                let rule = oci.rule.to_string();
                match registry {
                    Some((address, source)) => {
                        step.registry = Some(source);
                        DirectHost::Both { rule, address }
                    }
                    None => DirectHost::OciOnly { rule, host: host.display() },
                }
            }
            (HostedPlace::Registry(_), Some((address, _))) => DirectHost::Registry { address },
            (HostedPlace::Registry(_), None) => DirectHost::No,
        };
    }
}

/// The same methods as `OpenTofu` asks them: of a host with both services it asks the registry.
pub(super) async fn of_opentofu(steps: &[MethodStep], question: &ProviderQuestion<'_>) -> Vec<MethodStep> {
    let mut theirs = steps.to_vec();
    for step in theirs.iter_mut().filter(|step| step.registry.is_some()) {
        step.source = step.registry.take();
        step.answer = StepAnswer::NotAsked;
        step.packages.clear();
    }
    ask_one(&mut theirs, question).await;
    theirs
}

/// Asks the registries of the mirrors for their roots, each once.
async fn roots(steps: &mut [MethodStep], opener: &MethodOpener) {
    let mut known: BTreeMap<String, RegistryRoot> = BTreeMap::new();
    for step in steps.iter_mut().filter(|step| step.selected && step.kind == InstallMethod::Oci) {
        let Some(repository) = &step.repository else { continue };
        let registry = repository.registry();
        if !known.contains_key(registry) {
            let root = match opener.ping(repository).await {
                Ok(()) => RegistryRoot::Answers,
                Err(StoreError::UnknownRepository { .. }) => RegistryRoot::Missing,
                Err(error) => {
                    let error = SourceError::from(error);
                    RegistryRoot::Fails { code: error.code(), text: root_cause(&error) }
                }
            };
            known.insert(registry.to_owned(), root);
        }
        step.root = known.get(registry).cloned().unwrap_or(RegistryRoot::NotAsked);
    }
}

/// Asks for versions, and for the packages of those that any program might choose, unless it has been asked already;
/// nothing about roots and hosts.
pub(super) async fn ask_one(steps: &mut [MethodStep], question: &ProviderQuestion<'_>) {
    for step in steps.iter_mut().filter(|step| step.selected && matches!(step.answer, StepAnswer::NotAsked)) {
        if let Some(source) = &step.source {
            step.answer = answer(source.versions(question.address).await);
            step.nearly = source.nearly_named(question.address).await;
        }
    }
    let after_root: Vec<MethodStep> = steps.iter().map(MethodStep::after_root).collect();
    let mut chosen: Vec<Version> = Vec::new();
    for versions in [union(steps, false), union(steps, true), union(&after_root, true)] {
        chosen.extend(question.select(&versions).cloned());
    }
    chosen.dedup();
    for step in steps.iter_mut() {
        let Some(source) = step.source.clone() else { continue };
        for version in &chosen {
            let lists = step.listing().is_some_and(|listing| listing.versions.contains(version));
            // A network mirror may have the document of a version that its list omits.
            let asked = lists || (step.selected && step.kind == InstallMethod::NetworkMirror);
            if !asked || matches!(step.answer, StepAnswer::Fails { .. }) || step.package(version).is_some() {
                continue;
            }
            let offered = match source.release(question.address, version).await {
                Ok(release) => release.offer(&question.platform).await,
                Err(error) => Err(error),
            };
            let package = match offered {
                Ok(offer) => MethodPackage::Has(PackageCheck::of(&offer)),
                Err(error) => match PackageAnswer::of(&error) {
                    PackageAnswer::LacksPlatform => MethodPackage::LacksPlatform,
                    PackageAnswer::LacksVersion if !lists => continue,
                    _ => MethodPackage::Fails { code: error.code(), text: root_cause(&error) },
                },
            };
            step.packages.push((version.clone(), package));
        }
    }
}

/// The versions of all methods together, ascending; with `strays` those too that `OpenTofu` reads out of other tags.
pub(crate) fn union(steps: &[MethodStep], strays: bool) -> Vec<Version> {
    let mut all: Vec<Version> = Vec::new();
    // The first method's spelling of equal versions comes last, so that it is the one that is chosen.
    for step in steps.iter().rev() {
        let listed = step.listing().into_iter().flat_map(|listing| &listing.versions).cloned();
        let stray = step.strays().filter(|_| strays).map(|tag| tag.version.clone());
        for version in listed.chain(stray) {
            if !all.contains(&version) {
                all.push(version);
            }
        }
    }
    all.sort_by(Version::precedence);
    all
}

fn answer(listing: Result<Listing, SourceError>) -> StepAnswer {
    match listing {
        Ok(listing) => StepAnswer::Lists(listing),
        Err(error) if ListingAnswer::of(&error) == ListingAnswer::UnknownProvider => StepAnswer::Unknown,
        Err(error) => StepAnswer::Fails { code: error.code(), text: root_cause(&error) },
    }
}

/// The innermost text of an error: what really happened.
pub fn root_cause(error: &SourceError) -> String {
    let mut error: &dyn std::error::Error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
