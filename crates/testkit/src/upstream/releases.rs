//! What an upstream has.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::openpgp_key::ScratchOpenPgpKey;
use crate::provider_zip::ProviderZip;

/// Which hashes a network mirror lists for a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirrorHashes {
    /// No list.
    Absent,
    /// `zh:` alone.
    Zh,
    /// `h1:` alone, as `terraform providers mirror` writes it.
    H1,
    /// `h1:` and `zh:`.
    Both,
    /// These of every package.
    These(&'static [&'static str]),
}

/// Providers with their versions, and how documents speak of them.
#[derive(Debug)]
pub(super) struct UpstreamReleases {
    /// By `NAMESPACE/TYPE`.
    pub(super) providers: BTreeMap<String, UpstreamProvider>,
    pub(super) protocols: Vec<String>,
    pub(super) signer: ScratchOpenPgpKey,
    pub(super) named: Vec<ScratchOpenPgpKey>,
    pub(super) hashes: MirrorHashes,
    pub(super) files_at: String,
    pub(super) mirror_at: String,
}

/// The versions of a provider, in the order of publication.
#[derive(Debug, Default)]
pub(super) struct UpstreamProvider {
    pub(super) versions: Vec<(String, UpstreamVersion)>,
    pub(super) warnings: Vec<String>,
}

/// By platform.
pub(super) type UpstreamVersion = BTreeMap<String, UpstreamPackage>;

#[derive(Debug)]
pub(super) struct UpstreamPackage {
    pub(super) file_name: String,
    pub(super) zip: Bytes,
    pub(super) h1: String,
    pub(super) zh: String,
}

impl UpstreamReleases {
    pub(super) fn new() -> Self {
        let signer = ScratchOpenPgpKey::of(1);
        Self {
            providers: BTreeMap::new(),
            protocols: vec!["6.0".to_owned()],
            named: vec![signer.clone()],
            signer,
            hashes: MirrorHashes::Both,
            files_at: String::new(),
            mirror_at: "/mirror/".to_owned(),
        }
    }

    pub(super) fn publish(&mut self, provider: &str, version: &str, packages: &[ProviderZip]) {
        *self.version_mut(provider, version) = packages.iter().map(built).collect();
    }

    pub(super) fn add(&mut self, provider: &str, version: &str, package: &ProviderZip) {
        let (platform, package) = built(package);
        self.version_mut(provider, version).insert(platform, package);
    }

    pub(super) fn withdraw(&mut self, provider: &str, version: &str) {
        self.provider_mut(provider).versions.retain(|(known, _)| known != version);
    }

    pub(super) fn warn(&mut self, provider: &str, warnings: &[&str]) {
        self.provider_mut(provider).warnings = warnings.iter().map(ToString::to_string).collect();
    }

    pub(super) fn version(&self, provider: &str, version: &str) -> Option<&UpstreamVersion> {
        let versions = &self.providers.get(provider)?.versions;
        versions.iter().find(|(known, _)| known == version).map(|(_, packages)| packages)
    }

    #[track_caller]
    pub(super) fn package(&self, provider: &str, version: &str, platform: &str) -> &UpstreamPackage {
        let package = self.version(provider, version).and_then(|packages| packages.get(platform));
        package.unwrap_or_else(|| panic!("the upstream has no {provider} {version} for {platform}"))
    }

    pub(super) fn provider_mut(&mut self, provider: &str) -> &mut UpstreamProvider {
        self.providers.entry(provider.to_owned()).or_default()
    }

    fn version_mut(&mut self, provider: &str, version: &str) -> &mut UpstreamVersion {
        let versions = &mut self.provider_mut(provider).versions;
        let at = versions.iter().position(|(known, _)| known == version).unwrap_or_else(|| {
            versions.push((version.to_owned(), UpstreamVersion::new()));
            versions.len() - 1
        });
        &mut versions[at].1
    }
}

fn built(package: &ProviderZip) -> (String, UpstreamPackage) {
    let (platform, file_name) = (package.platform().to_string(), package.file_name());
    let zip = Bytes::from(package.build());
    let zh = format!("zh:{}", tofu_oci_types::Digest::sha256(&zip).encoded());
    (platform, UpstreamPackage { file_name, zip, h1: package.h1(), zh })
}
