//! The pin file's text.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use tofu_oci_types::{Digest, PackageHash, Place, Platform, ProviderAddr, Scheme, Version};

use super::contents::Contents;
use super::pin::{Admission, Pin};
use super::signers::{PinnedSigner, ProviderSigner, SignedProvider};
use super::{merge, signers};
use crate::verdict::add_statements;
use crate::{Build, DemandedBuild, HostNumbers, Identity, KeyId, Material, Missing, PublicKey, SignedStatement};

/// A pin file that cannot be read. It is never ignored: its pins may protect the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PinsError {
    /// It is not JSON, or has unexpected members.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        message: String,
    },
    #[error("it is of version {version}, and this program reads version 1")]
    Version { version: u64 },
    /// Two pins for one version at one place.
    #[error("{release} is pinned twice")]
    Duplicate { release: String },
    /// Two entries for one signed provider.
    #[error("{address} is signed twice")]
    SignedTwice { address: Box<ProviderAddr> },
    #[error("the threshold {threshold} of {address} cannot have been reached by {keys} keys")]
    Threshold { address: Box<ProviderAddr>, threshold: usize, keys: usize },
    #[error("`{member}` of {address} {problem}")]
    Build { address: Box<ProviderAddr>, member: &'static str, problem: &'static str },
    #[error("the contents of {release} for {platform}: {hash} is not an h1: checksum")]
    Contents { release: String, platform: Box<Platform>, hash: Box<PackageHash> },
    #[error("the signer {name:?} of {release}: {problem}")]
    Signer { release: String, name: String, problem: String },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with version and providers")]
struct PinsDocument {
    version: u64,
    providers: Vec<PinEntry>,
    signed: Vec<SignedEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object for a pin")]
struct PinEntry {
    address: ProviderAddr,
    version: Version,
    place: Place,
    index: Digest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    published_as: Option<ProviderAddr>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    accepted: Option<AcceptedEntry>,
    signers: Vec<SignerEntry>,
    #[serde(default, skip_serializing_if = "Contents::is_empty")]
    contents: Contents,
}

#[derive(Serialize, Deserialize)]
enum AcceptedEntry {
    #[serde(rename = "unsigned")]
    Unsigned,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object for a signer")]
struct SignerEntry {
    name: String,
    key: KeyId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    public_key: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    materials: BTreeSet<Material>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    identity: Option<Identity>,
    statements: Vec<StatementEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object for a statement")]
struct StatementEntry {
    predicate_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    build: Option<Build>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unnamed: Option<Unnamed>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    zips: Option<BTreeSet<PackageHash>>,
}

/// What a signature did not name. A list of archives always says it; the signature of an index that named both omits it.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Unnamed {
    Nothing,
    Address,
    Version,
    Both,
}

impl Unnamed {
    fn written(missing: Option<Missing>, zips: Option<&BTreeSet<PackageHash>>) -> Option<Self> {
        match missing {
            Some(Missing::Address) => Some(Self::Address),
            Some(Missing::Version) => Some(Self::Version),
            Some(Missing::Both) => Some(Self::Both),
            None => zips.map(|_| Self::Nothing),
        }
    }

    /// An earlier program did not write it for lists of archives, which name no host and no namespace by themselves.
    fn read(written: Option<Self>, zips: Option<&BTreeSet<PackageHash>>) -> Option<Missing> {
        match written {
            Some(Self::Nothing) => None,
            Some(Self::Address) => Some(Missing::Address),
            Some(Self::Version) => Some(Missing::Version),
            Some(Self::Both) => Some(Missing::Both),
            None => zips.map(|_| Missing::Address),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object for a provider that was signed")]
struct SignedEntry {
    address: ProviderAddr,
    threshold: usize,
    predicate_types: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    slsa: Option<DemandedBuild>,
    signers: Vec<ProviderSignerEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object for a signer")]
struct ProviderSignerEntry {
    name: String,
    key: KeyId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    public_key: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    materials: BTreeSet<Material>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    identity: Option<Identity>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    repositories: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    owners: BTreeMap<String, String>,
}

pub(super) fn parse(
    text: &str,
    resolve: &dyn Fn(&Place) -> Place,
) -> Result<(Vec<Pin>, Vec<SignedProvider>), PinsError> {
    let document: PinsDocument = serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message).to_owned();
        PinsError::Syntax { line: error.line(), column: error.column(), message }
    })?;
    if document.version != 1 {
        return Err(PinsError::Version { version: document.version });
    }
    let mut pins: Vec<Pin> =
        document.providers.into_iter().map(|entry| pin(entry, resolve)).collect::<Result<_, _>>()?;
    pins.sort_by(merge::order);
    let twice = pins.windows(2).find(|pair| matches!(pair, [one, other] if merge::order(one, other).is_eq()));
    if let Some(Pin { address, version, place, .. }) = twice.and_then(<[Pin]>::first) {
        return Err(PinsError::Duplicate { release: format!("{address} {version} at {place}") });
    }
    let mut signed: Vec<SignedProvider> = Vec::new();
    for entry in document.signed {
        let provider = provider(entry)?;
        if signed.iter().any(|have| have.address == provider.address) {
            return Err(PinsError::SignedTwice { address: Box::new(provider.address) });
        }
        signed.push(provider);
    }
    signed.sort_by(|one, other| one.address.cmp(&other.address));
    // Whoever has signed a version has signed the provider, whatever two merged files say.
    for pin in pins.iter().filter(|pin| !pin.signers.is_empty()) {
        signers::add_provider(&mut signed, &SignedProvider::of_signers(&pin.address, &pin.signers));
    }
    Ok((merge::gathered(&pins), signed))
}

fn provider(entry: SignedEntry) -> Result<SignedProvider, PinsError> {
    let SignedEntry { address, threshold, predicate_types, slsa: build, signers } = entry;
    let mut read: Vec<ProviderSigner> = Vec::new();
    for ProviderSignerEntry { name, key, public_key, materials, identity, repositories, owners } in signers {
        let numbers = HostNumbers { repositories, owners };
        let wrong = |problem| PinsError::Signer { release: address.to_string(), name: name.clone(), problem };
        let (public_key, identity) = held(&key, public_key, identity, &materials).map_err(wrong)?;
        if read.iter().any(|have| have.key == key) {
            return Err(wrong(format!("the key {key} is there twice")));
        }
        if identity.is_none() && !numbers.is_empty() {
            return Err(wrong("only an identity has `repositories` and `owners`".to_owned()));
        }
        read.push(ProviderSigner { name, key, public_key, materials, identity, numbers });
    }
    if let Some((member, problem)) = build.as_ref().and_then(DemandedBuild::problem) {
        return Err(PinsError::Build { address: Box::new(address), member, problem });
    }
    if threshold == 0 || threshold > read.len() {
        return Err(PinsError::Threshold { address: Box::new(address), threshold, keys: read.len() });
    }
    read.sort_by(|one, other| one.key.cmp(&other.key));
    Ok(SignedProvider { address, threshold, predicate_types, build, signers: read })
}

fn pin(entry: PinEntry, resolve: &dyn Fn(&Place) -> Place) -> Result<Pin, PinsError> {
    let PinEntry { address, version, place, index, published_as, accepted, signers, contents } = entry;
    let wrong = |name: &str, problem: String| {
        let release = format!("{address} {version}");
        PinsError::Signer { release, name: name.to_owned(), problem }
    };
    let mut read: Vec<PinnedSigner> = Vec::new();
    for entry in signers {
        let name = entry.name.clone();
        let signer = signer(entry).map_err(|problem| wrong(&name, problem))?;
        if read.iter().any(|have| have.key == signer.key) {
            return Err(wrong(&name, format!("the key {} is there twice", signer.key)));
        }
        read.push(signer);
    }
    read.sort_by(|one, other| one.key.cmp(&other.key));
    let admission = match accepted {
        Some(AcceptedEntry::Unsigned) => Admission::ByHand,
        None => Admission::ByPolicy,
    };
    for (platform, hashes) in &contents {
        if let Some(hash) = hashes.iter().find(|hash| hash.scheme() != Scheme::H1) {
            let (platform, hash) = (Box::new(platform.clone()), Box::new(hash.clone()));
            return Err(PinsError::Contents { release: format!("{address} {version}"), platform, hash });
        }
    }
    let same = resolve(&place).canonical();
    Ok(Pin { address, version, place, same, index, published_as, signers: read, admission, contents })
}

fn signer(entry: SignerEntry) -> Result<PinnedSigner, String> {
    let SignerEntry { name, key, public_key, materials, identity, statements: entries } = entry;
    let mut statements = Vec::new();
    for StatementEntry { predicate_type, build, unnamed, zips } in entries {
        if zips.iter().flatten().any(|zip| zip.scheme() != Scheme::Zh) {
            return Err("`zips` holds something that is not a zh: checksum".to_owned());
        }
        let missing = Unnamed::read(unnamed, zips.as_ref());
        add_statements(&mut statements, &[SignedStatement { predicate_type, build, missing, zips }]);
    }
    if statements.is_empty() {
        return Err("it has signed no statement".to_owned());
    }
    let (public_key, identity) = held(&key, public_key, identity, &materials)?;
    Ok(PinnedSigner { name, key, public_key, materials, identity, statements })
}

/// The key or the identity itself: one of the two is there unless the id is one of `OpenPGP`.
fn held(
    key: &KeyId,
    public_key: Option<String>,
    identity: Option<Identity>,
    materials: &BTreeSet<Material>,
) -> Result<(Option<PublicKey>, Option<Identity>), String> {
    if !key.is_identity() && identity.is_none() {
        return Ok((public(key, public_key, materials)?, None));
    }
    let identity = identity.ok_or("its `identity` is missing")?.checked().map_err(|problem| problem.to_string())?;
    if public_key.is_some() || !materials.is_empty() || identity.id() != *key {
        return Err("its `identity` is another one".to_owned());
    }
    Ok((None, Some(identity)))
}

/// The key itself, which is there unless the id is one of `OpenPGP`.
fn public(key: &KeyId, written: Option<String>, materials: &BTreeSet<Material>) -> Result<Option<PublicKey>, String> {
    if key.openpgp_fingerprint().is_none() && !materials.is_empty() {
        return Err("only an OpenPGP key has `materials` here".to_owned());
    }
    match (key.openpgp_fingerprint(), written) {
        (Some(_), None) => Ok(None),
        (Some(_), Some(_)) => Err("an OpenPGP key has no `public_key` here".to_owned()),
        (None, None) => Err("its `public_key` is missing".to_owned()),
        (None, Some(base64)) => {
            let der = STANDARD.decode(base64).map_err(|_| "its `public_key` is not base64".to_owned())?;
            let public_key = PublicKey::from_spki_der(&der).map_err(|error| error.to_string())?;
            if public_key.id() != *key {
                return Err(format!("its `public_key` is another key, {}", public_key.id()));
            }
            Ok(Some(public_key))
        }
    }
}

pub(super) fn render(pins: &[Pin], signed: &[SignedProvider]) -> String {
    let providers = pins.iter().map(entry).collect();
    let document = PinsDocument { version: 1, providers, signed: signed.iter().map(signed_entry).collect() };
    let mut text = serde_json::to_string_pretty(&document).expect("texts and lists are always JSON");
    text.push('\n');
    text
}

fn entry(pin: &Pin) -> PinEntry {
    let signers = pin.signers.iter().map(|signer| SignerEntry {
        name: signer.name.clone(),
        key: signer.key.clone(),
        public_key: written(signer.public_key.as_ref()),
        materials: signer.materials.clone(),
        identity: signer.identity.clone(),
        statements: signer.statements.iter().map(statement).collect(),
    });
    PinEntry {
        address: pin.address.clone(),
        version: pin.version.clone(),
        place: pin.place.clone(),
        index: pin.index.clone(),
        published_as: pin.published_as.clone(),
        accepted: match pin.admission {
            Admission::ByPolicy => None,
            Admission::ByHand => Some(AcceptedEntry::Unsigned),
        },
        signers: signers.collect(),
        contents: pin.contents.clone(),
    }
}

fn statement(statement: &SignedStatement) -> StatementEntry {
    let SignedStatement { predicate_type, build, missing, zips } = statement.clone();
    StatementEntry { predicate_type, build, unnamed: Unnamed::written(missing, zips.as_ref()), zips }
}

fn signed_entry(signed: &SignedProvider) -> SignedEntry {
    let signers = signed.signers.iter().map(|signer| ProviderSignerEntry {
        name: signer.name.clone(),
        key: signer.key.clone(),
        public_key: written(signer.public_key.as_ref()),
        materials: signer.materials.clone(),
        identity: signer.identity.clone(),
        repositories: signer.numbers.repositories.clone(),
        owners: signer.numbers.owners.clone(),
    });
    SignedEntry {
        address: signed.address.clone(),
        threshold: signed.threshold,
        predicate_types: signed.predicate_types.clone(),
        slsa: signed.build.clone(),
        signers: signers.collect(),
    }
}

fn written(key: Option<&PublicKey>) -> Option<String> {
    key.map(|key| STANDARD.encode(key.spki_der()))
}
