//! The keys by which upstream releases are signed, for people who want to write a trust policy.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use tofu_oci_source::{Release, Search, Source};
use tofu_oci_trust::{Evidence, KeyId, MadeBy, OpenPgpKey, peek_bundle, verify_each};
use tofu_oci_types::{Moment, ProviderAddr, Version};

use crate::MirrorError;
use crate::rules::MirrorRules;
use crate::select::{Candidates, MirrorChoice, select};

/// A key that came with a release and that has signed its checksums. Nothing says yet whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundKey {
    pub id: KeyId,
    /// The names that it gives itself.
    pub names: Vec<String>,
    /// The key in ASCII armor.
    pub armored: String,
}

/// Who signs a release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundSigners {
    /// The version; `None` if the lists of the rules keep all of them out.
    pub version: Option<Version>,
    /// The keys that came with it, by their fingerprints.
    pub keys: Vec<FoundKey>,
    /// Who claims to have made its cosign signatures, each once: such a signature does not carry its key.
    pub others: Vec<MadeBy>,
}

/// Who signs the newest wanted version of each provider. Nothing is written.
pub async fn found_keys(
    rules: &MirrorRules,
    providers: &[(ProviderAddr, Arc<dyn Source>)],
    now: SystemTime,
) -> Vec<(ProviderAddr, Result<FoundSigners, MirrorError>)> {
    let mut found = Vec::with_capacity(providers.len());
    for (address, from) in providers {
        found.push((address.clone(), keys_of(rules, address, &**from, now).await));
    }
    found
}

async fn keys_of(
    rules: &MirrorRules,
    address: &ProviderAddr,
    from: &dyn Source,
    now: SystemTime,
) -> Result<FoundSigners, MirrorError> {
    let listing = from.versions(address).await?;
    let (offered, present) = (listing.versions, HashSet::new());
    let candidates =
        Candidates { address, offered: &offered, present: &present, sightings: None, now: Moment::from(now) };
    let selection = select(rules, &candidates);
    let newest = selection.versions.iter().rfind(|selected| !matches!(selected.choice, MirrorChoice::Denied { .. }));
    let Some(newest) = newest else {
        return match selection.unmet.into_iter().next() {
            Some(wanted) => Err(MirrorError::NoMatchingVersion { address: Box::new(address.clone()), wanted, offered }),
            None => Ok(FoundSigners::default()),
        };
    };
    let release: Arc<dyn Release> = from.release(address, &newest.version).await?;
    // A registry names its keys in the documents of a package.
    if let Some(platform) = release.platforms().await?.first() {
        Arc::clone(&release).offer(platform).await?;
    }
    let evidence = release.evidence(Search::Everywhere).await?;
    let version = Some(newest.version.clone());
    Ok(FoundSigners { version, keys: keys_in(&evidence, now), others: others_in(&evidence) })
}

fn others_in(evidence: &[Evidence]) -> Vec<MadeBy> {
    let made_by = |piece: &Evidence| match piece {
        Evidence::Bundle { bytes, .. } => Some(peek_bundle(bytes).ok()?.made_by),
        Evidence::CosignTag { .. } => Some(MadeBy::Key { hint: None }),
        _ => None,
    };
    let mut others = Vec::new();
    for one in evidence.iter().filter_map(made_by) {
        if !others.contains(&one) {
            others.push(one);
        }
    }
    others
}

/// The keys that have signed the checksums they came with, by their fingerprints.
fn keys_in(evidence: &[Evidence], now: SystemTime) -> Vec<FoundKey> {
    let mut found: BTreeMap<KeyId, FoundKey> = BTreeMap::new();
    for piece in evidence {
        let Evidence::Sums { sums, signatures, keys, .. } = piece else { continue };
        for file in keys {
            let (Ok(parsed), Ok(armored)) = (OpenPgpKey::parse(file), String::from_utf8(file.clone())) else {
                continue;
            };
            let has_signed = signatures.iter().any(|signature| {
                verify_each(sums, signature, &parsed, now).is_ok_and(|results| results.iter().any(Result::is_ok))
            });
            if let Some(key) = parsed.first().filter(|_| has_signed) {
                let key = FoundKey { id: key.id(), names: key.user_ids(), armored };
                found.insert(key.id.clone(), key);
            }
        }
    }
    found.into_values().collect()
}
