//! The keys by which upstream releases are signed, for people who want to write a trust policy.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use tofu_oci_source::{Release, Search, Source};
use tofu_oci_trust::{Evidence, KeyId, MadeBy, OpenPgpFault, OpenPgpKey, peek_bundle, verify_each};
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
    /// Who claims to have made its other signatures, each once: such a signature comes without its key.
    pub others: Vec<OtherSigner>,
}

/// Who claims to have made a signature that comes without its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OtherSigner {
    /// A cosign signature.
    Cosign(MadeBy),
    /// A signature of its checksums, with the fingerprint or number of the `OpenPGP` key that it names.
    OpenPgp(String),
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
    Ok(FoundSigners { version, keys: keys_in(&evidence, now), others: others_in(&evidence, now) })
}

fn others_in(evidence: &[Evidence], now: SystemTime) -> Vec<OtherSigner> {
    let of_sums = |(sums, signatures, keys): (&[u8], &[Vec<u8>], &[Vec<u8>])| -> Vec<OtherSigner> {
        let keys: Vec<OpenPgpKey> = keys.iter().filter_map(|file| OpenPgpKey::parse(file).ok()).flatten().collect();
        let each = |signature: &Vec<u8>| verify_each(sums, signature, &keys, now).unwrap_or_default();
        let unknown = |result| match result {
            Err(OpenPgpFault::UnknownKey { issuer }) => Some(OtherSigner::OpenPgp(issuer)),
            _ => None,
        };
        signatures.iter().flat_map(each).filter_map(unknown).collect()
    };
    let made_by = |piece: &Evidence| match piece {
        Evidence::Bundle { bytes, .. } => {
            peek_bundle(bytes).into_iter().map(|peek| OtherSigner::Cosign(peek.made_by)).collect()
        }
        Evidence::CosignTag { .. } => vec![OtherSigner::Cosign(MadeBy::Key { hint: None })],
        Evidence::Sums { sums, signatures, keys, .. } => of_sums((sums, signatures, keys)),
        _ => Vec::new(),
    };
    let mut others = Vec::new();
    for one in evidence.iter().flat_map(made_by) {
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
