//! Rules about the signatures of a release.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use serde::Serialize;
use tofu_oci_layout::{annotation, media_type};
use tofu_oci_source::{Search, evidence, leaf_evidence};
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_trust::{
    Archives, Evidence, Examined, Flaw, Pins, Policy, ProvenIdentity, ReadLeaf, ReleaseFacts, Subject, TrustRefusal,
    Verdict, judge,
};
use tofu_oci_types::{Descriptor, Identity, PackageHash, Place, Platform, ProviderAddr, Version};

use super::catalogue::signatures::{
    DEPRECATED_VERSION, NOT_TRUSTED, SIGNATURE_NOT_CHECKED, SIGNATURE_REFUSED, SIGNATURE_UNREADABLE, UNSIGNED,
    WITHDRAWN_VERSION,
};
use super::leaf::IndexEntryKind;
use super::not_judged::referrers_of;
use super::places::{Findings, index_place};
use crate::facts::{FoundRelease, RepositoryFacts};
use crate::model::{Finding, NotJudged};

/// What to judge signatures by.
#[derive(Clone, Copy)]
pub struct SignatureTrust<'a> {
    /// The policy: whose signatures count.
    pub policy: &'a Policy,
    /// The pins: what was trusted before.
    pub pins: &'a Pins,
    /// The repository as pins name it.
    pub place: &'a Place,
    /// The time to compare expiry with.
    pub now: SystemTime,
}

/// What the signatures of the indexes come to.
#[derive(Default)]
pub struct CheckedSignatures {
    pub findings: Vec<Finding>,
    /// What the store did not answer for.
    pub not_judged: Vec<NotJudged>,
    /// Who built which version, by signatures that count.
    pub built: Vec<BuiltVersion>,
}

/// Who built a version, as a proven certificate says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BuiltVersion {
    pub version: Version,
    pub identity: ProvenIdentity,
}

/// Reads and judges the signatures of the indexes. If the user names no provider, its signatures are reported and not
/// checked, because they bind its name.
pub async fn signatures(
    store: &dyn ReadStore,
    facts: &RepositoryFacts,
    address: Option<&ProviderAddr>,
    trust: &SignatureTrust<'_>,
) -> CheckedSignatures {
    let (mut found, mut unasked, mut built) = (Findings::new(), Vec::new(), Vec::new());
    for release in &facts.releases {
        let Ok(document) = &release.index.found else { continue };
        if document.media_type.as_deref() != Some(media_type::OCI_INDEX) || document.actual_digest() != document.digest
        {
            continue;
        }
        // Signatures and pins use SHA-256, whatever algorithm the registry uses.
        let index = Descriptor::of(media_type::OCI_INDEX, &document.bytes);
        let of_release = match beside(store, &index, release, address, trust).await {
            Err(error) if error.is_of_content() => {
                vec![SIGNATURE_UNREADABLE.at(index_place(release), error.to_string())]
            }
            Err(error) => {
                let (place, version) = (referrers_of(release), Some(release.version.to_string()));
                unasked.push(NotJudged { place, version, platform: None, error });
                continue;
            }
            Ok(evidence) if evidence.is_empty() && address.is_none() => {
                vec![UNSIGNED.at(index_place(release), "nothing refers to it that could be a signature")]
            }
            Ok(evidence) => match address {
                Some(address) => {
                    let (found, identities) = judged(release, address, &document.bytes, &evidence, trust);
                    let version = || release.version.clone();
                    built.extend(identities.into_iter().map(|identity| BuiltVersion { version: version(), identity }));
                    found
                }
                None => evidence.iter().map(not_checked).collect(),
            },
        };
        found.extend(of_release.into_iter().map(|finding| finding.of_version(&release.version)));
    }
    CheckedSignatures { findings: found, not_judged: unasked, built }
}

/// What lies beside the index and, if an identity may sign, beside the manifests of platforms.
async fn beside(
    store: &dyn ReadStore,
    index: &Descriptor,
    release: &FoundRelease,
    address: Option<&ProviderAddr>,
    trust: &SignatureTrust<'_>,
) -> Result<Vec<Evidence>, StoreError> {
    let mut found = evidence(store, index, Search::Everywhere).await?;
    if address.is_some_and(|address| trust.policy.names_identities(trust.pins, address)) {
        let leaves: Vec<Descriptor> =
            leaf_entries(release).filter_map(|entry| entry.descriptor.to_descriptor()).collect();
        found.extend(leaf_evidence(store, &leaves).await?);
    }
    Ok(found)
}

fn not_checked(piece: &Evidence) -> Finding {
    let place = format!("signature {}", piece.origin());
    match piece {
        Evidence::Notice { .. } => {
            SIGNATURE_NOT_CHECKED.at(place, "a notice; which provider it should name is not known: give --address")
        }
        Evidence::UnreadNotices { problem, .. } | Evidence::Unreadable { problem, .. } => {
            SIGNATURE_UNREADABLE.at(place, problem.clone())
        }
        _ => SIGNATURE_NOT_CHECKED.at(place, "which provider this is kept for is not known; name it with --address"),
    }
}

fn judged(
    release: &FoundRelease,
    address: &ProviderAddr,
    index: &[u8],
    evidence: &[Evidence],
    trust: &SignatureTrust<'_>,
) -> (Findings, Vec<ProvenIdentity>) {
    let archives = &archives(release);
    let identity = &Identity::of_index(index);
    let (version, place) = (&release.version, trust.place);
    let facts = ReleaseFacts { of: Subject::Provider { address, version }, place, identity, archives };
    let verdict = judge(trust.policy, trust.pins, &facts, evidence, trust.now);
    let counts = verdict.examined.iter().any(|examined| examined.outcome.counts());
    let mut found: Findings = verdict.examined.iter().filter_map(|one| examined(one, counts)).collect();
    if evidence.iter().all(|piece| matches!(piece, Evidence::Notice { .. })) {
        found.push(UNSIGNED.at(index_place(release), "nothing refers to it that could be a signature"));
    }
    let deprecated = verdict.remarks.iter().filter(|remark| remark.code == "deprecated");
    found.extend(deprecated.map(|remark| DEPRECATED_VERSION.at(index_place(release), remark.text.clone())));
    if let Some(refusal @ TrustRefusal::Withdrawn { .. }) = &verdict.refusal {
        found.push(WITHDRAWN_VERSION.at(index_place(release), refusal.to_string()));
    } else if let Some(refusal) = &verdict.refusal {
        found.push(NOT_TRUSTED.at(index_place(release), format!("{}: {refusal}", refusal.code())));
    } else {
        found.extend(packages(release, &verdict, archives));
    }
    let builders = verdict.examined.iter().filter_map(|examined| verdict.builder(examined)).cloned();
    (found, builders.collect())
}

/// The platforms whose package is refused, if signatures cover packages one by one.
fn packages(release: &FoundRelease, verdict: &Verdict, archives: &Archives) -> Findings {
    let platforms: BTreeSet<Platform> = leaf_entries(release).filter_map(|entry| entry.descriptor.platform()).collect();
    let refused = |platform: &Platform| {
        let refusal = verdict.refusal_for(platform, archives.get(platform))?;
        Some(NOT_TRUSTED.at(index_place(release), format!("{}: {platform}: {refusal}", refusal.code())))
    };
    platforms.iter().filter_map(refused).collect()
}

/// The finding about one signature; it depends on whether another one counts.
fn examined(examined: &Examined, another_counts: bool) -> Option<Finding> {
    let place = format!("signature {}", examined.origin);
    let said = format!("{}: it {}", examined.outcome.code(), examined.outcome);
    let rule = match examined.outcome.flaw()? {
        Flaw::Unreadable { .. } => &SIGNATURE_UNREADABLE,
        Flaw::UnknownKey { .. }
        | Flaw::TravellingKey { .. }
        | Flaw::Keyless { .. }
        | Flaw::OtherIdentity { .. }
        | Flaw::OtherNumber { .. }
        | Flaw::NotProven { .. }
        | Flaw::NoSignature => {
            let another = if another_counts { "; another signature of the release counts" } else { "" };
            return Some(SIGNATURE_NOT_CHECKED.at(place, format!("{said}{another}")));
        }
        Flaw::BadSignature { problem } => {
            return Some(SIGNATURE_REFUSED.at(place, format!("{}: {problem}", examined.outcome.code())));
        }
        _ => &SIGNATURE_REFUSED,
    };
    Some(rule.at(place, said))
}

/// The zips of a release by their platforms, and their manifests.
fn archives(release: &FoundRelease) -> Archives {
    let of_platform = |entry: &crate::facts::IndexEntry| {
        let layers = &entry.leaf.layers;
        let part = layers.iter().find(|layer| layer.descriptor.media_type == media_type::ARCHIVE_ZIP)?;
        let zip = PackageHash::zh(&part.descriptor.parsed_digest()?)?;
        let zip_name = part.raw.get("annotations").and_then(|all| all.get(annotation::TITLE)?.as_str());
        let leaf = ReadLeaf { digest: entry.descriptor.parsed_digest()?, zip_name: zip_name.map(str::to_owned) };
        Some((entry.descriptor.platform()?, zip, leaf))
    };
    let (mut zips, mut leaves, mut doubled) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
    for (platform, zip, leaf) in leaf_entries(release).filter_map(of_platform) {
        zips.insert(platform.clone(), zip);
        if leaves.insert(platform.clone(), leaf).is_some() {
            doubled.insert(platform);
        }
    }
    leaves.retain(|platform, _| !doubled.contains(platform));
    Archives::Read { zips, leaves }
}

/// The manifests of platforms.
fn leaf_entries(release: &FoundRelease) -> impl Iterator<Item = &crate::facts::IndexEntry> {
    release.entries.iter().filter(|entry| IndexEntryKind::of(entry) == IndexEntryKind::Provider)
}
