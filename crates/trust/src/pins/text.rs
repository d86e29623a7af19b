//! The pin file's text.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use tofu_oci_types::{Digest, PackageHash, ProviderAddr, Scheme, Version};

use super::{Admission, Pin, PinnedSigner, merge};
use crate::{KeyId, PublicKey};

/// A pin file that cannot be read. It is never passed over: what it holds may be what protects the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PinsError {
    /// No JSON, or other members than there should be.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// A file of a later program.
    #[error("it is of version {version}, and this program reads version 1")]
    Version {
        /// As written.
        version: u64,
    },
    /// Two pins for one version at one place.
    #[error("{release} is pinned twice")]
    Duplicate {
        /// Provider, version and place.
        release: String,
    },
    /// A signer that cannot be right.
    #[error("the signer {name:?} of {release}: {problem}")]
    Signer {
        /// Provider and version.
        release: String,
        /// The signer.
        name: String,
        /// What is wrong.
        problem: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u64,
    providers: Vec<PinEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PinEntry {
    address: ProviderAddr,
    version: Version,
    place: String,
    index: Digest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    accepted: Option<Accepted>,
    signers: Vec<SignerEntry>,
}

#[derive(Serialize, Deserialize)]
enum Accepted {
    #[serde(rename = "unsigned")]
    Unsigned,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignerEntry {
    name: String,
    key: KeyId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    public_key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    zips: Option<BTreeSet<PackageHash>>,
}

pub(super) fn parse(text: &str) -> Result<Vec<Pin>, PinsError> {
    let document: Document = serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message).to_owned();
        PinsError::Syntax { line: error.line(), column: error.column(), message }
    })?;
    if document.version != 1 {
        return Err(PinsError::Version { version: document.version });
    }
    let mut pins: Vec<Pin> = document.providers.into_iter().map(pin).collect::<Result<_, _>>()?;
    pins.sort_by(merge::order);
    let twice = pins.windows(2).find(|pair| matches!(pair, [one, other] if merge::order(one, other).is_eq()));
    if let Some(Pin { address, version, place, .. }) = twice.and_then(<[Pin]>::first) {
        return Err(PinsError::Duplicate { release: format!("{address} {version} at {place}") });
    }
    Ok(pins)
}

fn pin(entry: PinEntry) -> Result<Pin, PinsError> {
    let PinEntry { address, version, place, index, accepted, signers } = entry;
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
        Some(Accepted::Unsigned) => Admission::ByHand,
        None => Admission::ByPolicy,
    };
    Ok(Pin { address, version, place, index, signers: read, admission })
}

fn signer(entry: SignerEntry) -> Result<PinnedSigner, String> {
    let SignerEntry { name, key, public_key, zips } = entry;
    if zips.iter().flatten().any(|zip| zip.scheme() != Scheme::Zh) {
        return Err("`zips` holds something that is no zh: checksum".to_owned());
    }
    let public_key = match (key.openpgp_fingerprint(), public_key) {
        (Some(_), None) => None,
        (Some(_), Some(_)) => return Err("an OpenPGP key has no `public_key` here".to_owned()),
        (None, None) => return Err("its `public_key` is missing".to_owned()),
        (None, Some(base64)) => {
            let der = STANDARD.decode(base64).map_err(|_| "its `public_key` is no base64".to_owned())?;
            let public_key = PublicKey::from_spki_der(&der).map_err(|error| error.to_string())?;
            if public_key.id() != key {
                return Err(format!("its `public_key` is another key, {}", public_key.id()));
            }
            Some(public_key)
        }
    };
    Ok(PinnedSigner { name, key, public_key, zips })
}

pub(super) fn render(pins: &[Pin]) -> String {
    let document = Document { version: 1, providers: pins.iter().map(entry).collect() };
    let mut text = serde_json::to_string_pretty(&document).expect("texts and lists are always JSON");
    text.push('\n');
    text
}

fn entry(pin: &Pin) -> PinEntry {
    let signers = pin.signers.iter().map(|signer| SignerEntry {
        name: signer.name.clone(),
        key: signer.key.clone(),
        public_key: signer.public_key.as_ref().map(|key| STANDARD.encode(key.spki_der())),
        zips: signer.zips.clone(),
    });
    PinEntry {
        address: pin.address.clone(),
        version: pin.version.clone(),
        place: pin.place.clone(),
        index: pin.index.clone(),
        accepted: match pin.admission {
            Admission::ByPolicy => None,
            Admission::ByHand => Some(Accepted::Unsigned),
        },
        signers: signers.collect(),
    }
}
