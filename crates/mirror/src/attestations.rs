//! Attestations of upstream releases that are given as files: read, judged with the release, and carried if they count.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_fetch::{Trust, judged};
use tofu_oci_packer::{AttachFileRequest, AttachReport, AttachedFile, PackError, SignAddress};
use tofu_oci_source::{
    ClaimedHashes, Offer, Part, PartStream, Release, ReleaseDate, ReleaseDescription, ReleaseId, Search, SourceError,
    WantedPackage, ZipNames,
};
use tofu_oci_store::{ReadStore, Store};
use tofu_oci_trust::{BUNDLES_LIMIT, Evidence, Notice};
use tofu_oci_types::{Digest, Event, Platform, ProviderAddr, Reporter, Version, login_end, masked};
use url::Url;

use crate::MirrorError;

/// Where attestations of a release are: a path or an address with `${hostname}`, `${namespace}`, `${type}` and `${version}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttestationTemplate(String);

/// A text that is not an [`AttestationTemplate`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAttestationTemplate {
    /// Its text, without what could be a secret.
    #[error(
        "`attestations` is {0:?}, and must be a path or an https:// address with no other placeholders than \
         ${{hostname}}, ${{namespace}}, ${{type}} and ${{version}}"
    )]
    Malformed(String),
    #[error("the address in `attestations` holds a user or a password")]
    Login,
}

impl AttestationTemplate {
    /// Where those of a release are.
    pub fn of(&self, address: &ProviderAddr, version: &Version) -> String {
        let values = [
            ("${hostname}", address.hostname().as_str().to_owned()),
            ("${namespace}", address.namespace().to_owned()),
            ("${type}", address.provider_type().to_owned()),
            ("${version}", version.to_string()),
        ];
        values.iter().fold(self.0.clone(), |text, (name, value)| text.replace(name, value))
    }
}

impl FromStr for AttestationTemplate {
    type Err = InvalidAttestationTemplate;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let names = ["${hostname}", "${namespace}", "${type}", "${version}"];
        let rest = names.iter().fold(text.to_owned(), |text, name| text.replace(name, ""));
        let is_address = text.contains("://");
        if text.is_empty() || rest.contains('$') || (is_address && !text.starts_with("https://")) {
            return Err(InvalidAttestationTemplate::Malformed(masked(text)));
        }
        if is_address && has_login(text, &names) {
            return Err(InvalidAttestationTemplate::Login);
        }
        Ok(Self(text.to_owned()))
    }
}

/// Whether an address has a user info, as it is written or as it is understood.
fn has_login(address: &str, placeholders: &[&str]) -> bool {
    let example = placeholders.iter().fold(address.to_owned(), |text, name| text.replace(name, "x"));
    let url: Option<Url> = example.parse().ok();
    let in_url = url.is_some_and(|url| !url.username().is_empty() || url.password().is_some());
    in_url || address.strip_prefix("https://").is_some_and(|rest| login_end(rest).is_some())
}

impl fmt::Display for AttestationTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A file with attestations: a Sigstore bundle, or one in each line.
#[derive(Clone, Debug)]
pub struct AttestationFile {
    /// Where it was read, for messages.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// A place of attestations.
#[async_trait]
pub trait Attestations: fmt::Debug + Send + Sync {
    /// The files about a release; an empty list if it has no file.
    ///
    /// # Errors
    /// If it could not be asked.
    async fn read(&self, address: &ProviderAddr, version: &Version) -> Result<Vec<AttestationFile>, MirrorError>;
}

/// The attestations of one release, each with its file.
#[derive(Debug, Default)]
pub(crate) struct AttestationFiles {
    of: String,
    bundles: BTreeMap<Digest, (String, AttachedFile)>,
}

impl AttestationFiles {
    /// Reports each one that cannot be read.
    pub(crate) async fn read(
        from: Option<&dyn Attestations>,
        id: &ReleaseId,
        reporter: &dyn Reporter,
    ) -> Result<Self, MirrorError> {
        let Some(from) = from else { return Ok(Self::default()) };
        let ReleaseId { address, version, .. } = id;
        let mut files = Self { of: format!("{address} {version}"), bundles: BTreeMap::new() };
        for AttestationFile { name, bytes } in from.read(address, version).await? {
            for text in AttachedFile::bundle_texts(&bytes) {
                match AttachedFile::bundle(text) {
                    Ok(_) if files.bundles.len() >= BUNDLES_LIMIT => {
                        files.not_carried(&name, &format!("at most {BUNDLES_LIMIT} are read"), reporter);
                        break;
                    }
                    Ok(bundle) => {
                        files.bundles.insert(Digest::sha256(bundle.bytes()), (name.clone(), bundle));
                    }
                    Err(problem) => files.not_carried(&name, &problem, reporter),
                }
            }
        }
        Ok(files)
    }

    /// The release with these attestations beside it.
    pub(crate) fn beside(&self, release: Arc<dyn Release>) -> Arc<dyn Release> {
        if self.bundles.is_empty() {
            return release;
        }
        let evidence = |(origin, (_, bundle)): (&Digest, &(String, AttachedFile))| Evidence::Bundle {
            origin: origin.clone(),
            bytes: bundle.bytes().to_vec(),
        };
        Arc::new(AttestedRelease { release, evidence: self.bundles.iter().map(evidence).collect() })
    }

    /// Those that count for a release which has them beside it. Reports the others.
    pub(crate) async fn that_count(
        self,
        release: &dyn Release,
        trust: &Trust,
        reporter: &dyn Reporter,
    ) -> Result<Vec<AttachedFile>, MirrorError> {
        if self.bundles.is_empty() {
            return Ok(Vec::new());
        }
        let (verdict, _) = judged(release, trust).await?;
        let mut counting = Vec::new();
        for (origin, (name, bundle)) in &self.bundles {
            let examined = || verdict.examined.iter().filter(|examined| examined.origin == *origin);
            if examined().any(|examined| examined.outcome.counts()) {
                counting.push(bundle.clone());
                continue;
            }
            let why =
                examined().next().map_or_else(|| "it was not judged".to_owned(), |one| format!("it {}", one.outcome));
            self.not_carried(name, &why, reporter);
        }
        Ok(counting)
    }

    fn not_carried(&self, name: &str, why: &str, reporter: &dyn Reporter) {
        let text = format!("an attestation of {} in {name} is not carried: {why}", self.of);
        let hint = "only what counts by the rules of trust.toml goes along";
        reporter.event(&Event::warning("attestation-not-carried", text).with_hint(hint));
    }
}

/// Puts attestations beside a release that is at its destination.
pub(crate) async fn attach(
    to: &dyn Store,
    id: &ReleaseId,
    files: &[AttachedFile],
    reporter: &dyn Reporter,
) -> Result<AttachReport, PackError> {
    let address = SignAddress::Given(id.address.clone());
    let request = AttachFileRequest { version: &id.version, address, path: Path::new("an attestation"), files };
    tofu_oci_packer::attach_files(to, &request, reporter).await
}

/// A release with more evidence beside it than its place has.
struct AttestedRelease {
    release: Arc<dyn Release>,
    evidence: Vec<Evidence>,
}

#[async_trait]
impl Release for AttestedRelease {
    fn id(&self) -> &ReleaseId {
        self.release.id()
    }

    fn published_as(&self) -> Option<&ProviderAddr> {
        self.release.published_as()
    }

    async fn describe(&self) -> Result<&ReleaseDescription, SourceError> {
        self.release.describe().await
    }

    async fn platforms(&self) -> Result<Vec<Platform>, SourceError> {
        self.release.platforms().await
    }

    async fn created(&self) -> Result<Option<ReleaseDate>, SourceError> {
        self.release.created().await
    }

    async fn offer(self: Arc<Self>, platform: &Platform) -> Result<Offer, SourceError> {
        let offer = Arc::clone(&self.release).offer(platform).await?;
        Ok(Offer { release: self, ..offer })
    }

    async fn offer_to_fetch(
        self: Arc<Self>,
        platform: &Platform,
        wanted: &dyn WantedPackage,
    ) -> Result<Offer, SourceError> {
        let offer = Arc::clone(&self.release).offer_to_fetch(platform, wanted).await?;
        Ok(Offer { release: self, ..offer })
    }

    async fn evidence(&self, search: Search) -> Result<Vec<Evidence>, SourceError> {
        let mut found = self.release.evidence(search).await?;
        found.extend(self.evidence.iter().cloned());
        Ok(found)
    }

    async fn leaf_evidence(&self) -> Result<Vec<Evidence>, SourceError> {
        self.release.leaf_evidence().await
    }

    async fn notice(&self) -> Result<Option<Notice>, SourceError> {
        self.release.notice().await
    }

    async fn zip_names(&self) -> Result<ZipNames, SourceError> {
        self.release.zip_names().await
    }

    async fn hashes(&self) -> Result<ClaimedHashes, SourceError> {
        self.release.hashes().await
    }

    async fn size(&self, part: &Part) -> Result<Option<u64>, SourceError> {
        self.release.size(part).await
    }

    fn store(&self) -> Option<Arc<dyn ReadStore>> {
        self.release.store()
    }

    fn note_use(&self) {
        self.release.note_use();
    }

    async fn open(&self, part: &Part) -> Result<PartStream, SourceError> {
        self.release.open(part).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::tests::offered::OfferedRelease;

    #[tokio::test]
    async fn attestations_hid_the_signatures_of_manifests_of_platforms() {
        let unreadable = || Evidence::Unreadable { origin: Digest::sha256(b"leaf"), problem: "a leaf".to_owned() };
        let mut release = OfferedRelease::new("1.0.0", &["linux_amd64"]);
        release.leaf_evidence = vec![unreadable()];
        let attested = AttestedRelease { release: Arc::new(release), evidence: vec![unreadable()] };
        assert_eq!(attested.leaf_evidence().await.unwrap().len(), 1);
    }

    #[track_caller]
    fn refused(text: &str) -> String {
        text.parse::<AttestationTemplate>().expect_err(text).to_string()
    }

    #[test]
    fn an_address_with_a_login_was_taken() {
        for login in ["u:hunter2@", "hunter2@", "u:a/hunter2@", "${type}:hunter2@"] {
            let error = refused(&format!("https://{login}example.com/x/${{version}}"));
            assert_eq!(error, "the address in `attestations` holds a user or a password");
        }
        assert!(refused("https:///u:hunter2@example.com/x").contains("a user or a password"));
        for good in ["https://example.com:8443/@acme/${type}@${version}?token=x", "https://${hostname}/x", "a@b/c"] {
            assert_eq!(good.parse::<AttestationTemplate>().expect(good).to_string(), good);
        }
    }

    #[test]
    fn the_secrets_of_an_address_were_repeated() {
        for wrong in ["http://u:hunter2@example.com/x?key=hunter2", "https://u:hunter2@example.com/${name}?hunter2"] {
            let error = refused(wrong);
            assert!(error.contains("example.com") && !error.contains("hunter2"), "{error}");
        }
    }
}
