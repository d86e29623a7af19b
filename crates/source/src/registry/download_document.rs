//! What an origin registry must say of one platform's package.

use std::collections::BTreeMap;

use serde::Deserialize;
use tofu_oci_http::{WebClient, host_of, named_address};
use tofu_oci_types::{Digest, PackageHash, Platform, Scheme, Version, printable};
use url::Url;

use super::members::members;
use crate::Failure;

/// The document of one platform, checked as far as it can be without other files.
#[derive(Clone, Debug)]
pub(super) struct DownloadDocument {
    /// The plugin protocols, such as `5.1`.
    pub(super) protocols: Vec<String>,
    /// The name of the package in the `SHA256SUMS`.
    pub(super) file_name: String,
    pub(super) zip: Url,
    pub(super) shasum: Digest,
    /// Where its `SHA256SUMS` is, where the signature is, and whose it may be.
    pub(super) sums: SumsLocation,
    /// Checksums and sizes of the packages of all platforms; empty if the registry does not say.
    pub(super) packages: BTreeMap<Platform, ListedPackage>,
}

/// Where a signed `SHA256SUMS` is, and the keys that may have signed it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SumsLocation {
    pub(super) sums: Url,
    pub(super) signature: Url,
    pub(super) keys: Vec<String>,
}

/// A package in the member `packages`.
#[derive(Clone, Debug)]
pub(super) struct ListedPackage {
    pub(super) hashes: Vec<PackageHash>,
    /// In bytes.
    pub(super) size: u64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DownloadMembers {
    protocols: Option<Vec<String>>,
    os: String,
    arch: String,
    filename: String,
    download_url: String,
    shasum: String,
    shasums_url: String,
    shasums_signature_url: String,
    signing_keys: Option<SigningKeyMembers>,
    packages: Option<BTreeMap<String, PackageMembers>>,
}

#[derive(Deserialize)]
struct SigningKeyMembers {
    gpg_public_keys: Option<Vec<KeyMembers>>,
}

#[derive(Deserialize)]
struct KeyMembers {
    #[serde(default)]
    ascii_armor: String,
}

#[derive(Deserialize)]
struct PackageMembers {
    hashes: Option<Vec<String>>,
    #[serde(default)]
    package_size: i64,
}

/// The first plugin protocol that is not supported any more, and the first that is not supported yet.
const PROTOCOLS: std::ops::Range<u64> = 5..7;

impl DownloadDocument {
    /// Reads and checks the document, in `OpenTofu`'s order. `url` is where it was, after all redirects.
    ///
    /// Spec: `opentofu-behaviour.md` §8.4, 2 and 4a.
    pub(super) fn parse(url: &Url, bytes: &[u8], platform: &Platform, web: &WebClient) -> Result<Self, DocumentFault> {
        let fields: DownloadMembers = members(bytes).map_err(DocumentFault::Body)?;
        let protocols = fields.protocols.unwrap_or_default();
        if !is_supported(&protocols)? {
            return Err(DocumentFault::Protocols(protocols));
        }
        if fields.os != platform.os() || fields.arch != platform.arch() {
            let named = format!("{}_{}", fields.os, fields.arch);
            return Err(DocumentFault::Body(format!(
                "it is about {}, and {platform} was asked for",
                printable(&named)
            )));
        }
        let address = |member: &str, text: &str| address(url, member, text, web);
        let zip = address("download_url", &fields.download_url)?;
        let packages = packages(fields.packages.unwrap_or_default())?;
        let shasum = shasum(&fields.shasum)?;
        let keys = fields.signing_keys.and_then(|keys| keys.gpg_public_keys).unwrap_or_default();
        let sums = SumsLocation {
            sums: address("shasums_url", &fields.shasums_url)?,
            signature: address("shasums_signature_url", &fields.shasums_signature_url)?,
            keys: keys.into_iter().map(|key| key.ascii_armor).collect(),
        };
        check_listed(&packages, platform, &shasum)?;
        Ok(Self { protocols, file_name: fields.filename, zip, shasum, sums, packages })
    }

    /// The size of the package in bytes; `None` if the document does not say.
    pub(super) fn size(&self, platform: &Platform) -> Option<u64> {
        self.packages.get(platform).map(|package| package.size)
    }
}

/// What is wrong with a document.
#[derive(Debug)]
pub(super) enum DocumentFault {
    Body(String),
    /// The package speaks these plugin protocols alone.
    Protocols(Vec<String>),
    /// It sends to a host that it must not send to: `HOST[:PORT]`.
    PrivateHost(String),
    /// Its checksums contradict each other.
    Checksums(String),
}

impl DocumentFault {
    /// The failure of a registry whose document is at `place`.
    pub(super) fn of(self, place: &str, newest: Option<&Version>) -> Failure {
        match self {
            Self::Body(problem) => Failure::BadBody(format!("{place}: {}", printable(&problem))),
            Self::Checksums(problem) => Failure::ChecksumList(format!("{place}: {problem}")),
            Self::PrivateHost(host) => {
                let problem = format!("{place} leads to {host}, which is on this machine or in a private network");
                Failure::PrivateHost { host, problem }
            }
            Self::Protocols(found) => {
                let newest =
                    newest.map(|version| format!("; version {version} speaks one of these")).unwrap_or_default();
                let found = found.join(", ");
                Failure::Protocols(format!(
                    "{place}: the package speaks the plugin protocols {}, and OpenTofu and Terraform speak 5 and 6{newest}",
                    printable(&found)
                ))
            }
        }
    }
}

/// Whether OpenTofu speaks one of these plugin protocols, or none is named.
pub(super) fn is_supported(protocols: &[String]) -> Result<bool, DocumentFault> {
    let mut supported = protocols.is_empty();
    for text in protocols {
        let version: Version =
            text.parse().map_err(|error| DocumentFault::Body(format!("its protocols are not versions: {error}")))?;
        supported |= PROTOCOLS.contains(&version.numbers()[0]) && !version.is_prerelease();
    }
    Ok(supported)
}

/// The address in a member. A host must not send to one that is nearer than itself.
fn address(base: &Url, member: &str, text: &str, web: &WebClient) -> Result<Url, DocumentFault> {
    let url = named_address(base, text).map_err(|fault| DocumentFault::Body(format!("{fault} as its {member}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(DocumentFault::Body(format!(
            "its {member} is an address of {}, and must be of https or http",
            url.scheme()
        )));
    }
    let host = host_of(&url);
    if web.may_name(base, &host) { Ok(url) } else { Err(DocumentFault::PrivateHost(host)) }
}

fn shasum(text: &str) -> Result<Digest, DocumentFault> {
    let digest = format!("sha256:{}", text.to_ascii_lowercase()).parse();
    digest.map_err(|_| DocumentFault::Body("its shasum is not a SHA-256 in 64 hexadecimal digits".to_owned()))
}

fn packages(members: BTreeMap<String, PackageMembers>) -> Result<BTreeMap<Platform, ListedPackage>, DocumentFault> {
    let package = |(name, fields): (String, PackageMembers)| {
        let platform: Platform = name.parse().map_err(|error| DocumentFault::Body(format!("its packages: {error}")))?;
        let hashes = fields.hashes.unwrap_or_default();
        let hashes: Result<Vec<PackageHash>, _> = hashes.iter().map(|hash| hash.parse()).collect();
        let hashes = hashes.map_err(|error| DocumentFault::Body(format!("its packages: {error}")))?;
        // A negative size counts as a missing one, as 0 does.
        Ok((platform, ListedPackage { hashes, size: u64::try_from(fields.package_size).unwrap_or(0) }))
    };
    members.into_iter().map(package).collect()
}

/// If the registry lists packages, this one must be among them, with a size and with the same `zh:`.
fn check_listed(
    packages: &BTreeMap<Platform, ListedPackage>,
    platform: &Platform,
    shasum: &Digest,
) -> Result<(), DocumentFault> {
    if packages.is_empty() {
        return Ok(());
    }
    let wrong = |problem: String| Err(DocumentFault::Checksums(format!("its packages {problem}")));
    let Some(package) = packages.get(platform) else { return wrong(format!("do not name {platform}")) };
    if package.size == 0 {
        return wrong(format!("give {platform} no size"));
    }
    let own = PackageHash::zh(shasum);
    let mut zips = package.hashes.iter().filter(|hash| hash.scheme() == Scheme::Zh).peekable();
    if zips.peek().is_none() {
        return wrong(format!("give {platform} no zh: checksum"));
    }
    match zips.find(|zip| Some(*zip) != own.as_ref()) {
        Some(other) => {
            wrong(format!("give {platform} {}, and its shasum is {}", printable(other.as_str()), shasum.encoded()))
        }
        None => Ok(()),
    }
}
