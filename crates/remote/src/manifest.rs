//! Manifests as they are read: raw bytes.

use bytes::Bytes;
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tofu_oci_http::clean;
use tofu_oci_store::{ReadStore as _, StoreError, StoreItem};
use tofu_oci_types::{Algorithm, Descriptor, Digest, Reference};

use crate::answer::RegistryAnswer;
use crate::call::RegistryCall;
use crate::moment::Looks;
use crate::repository::RemoteStore;
use crate::scope::RequestedAccess;

/// Most bytes of a manifest, the size that every registry must take.
pub(crate) const MANIFEST_LIMIT: u64 = 4 * 1024 * 1024;
/// Most entries of an index.
const ENTRY_LIMIT: usize = 1000;

pub(crate) const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST_TYPES: [&str; 4] = [
    OCI_INDEX,
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.docker.distribution.manifest.v2+json",
];

/// Every kind of manifest in one header: registries in use answer 404 to a type that is not in it.
pub(crate) const ACCEPT: &str = "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, \
     application/vnd.docker.distribution.manifest.list.v2+json, application/vnd.docker.distribution.manifest.v2+json";

/// Whether a manifest of this type is read here: current types, not withdrawn ones.
fn is_supported(media_type: &str) -> bool {
    MANIFEST_TYPES.contains(&media_type)
}

/// What is read of a manifest before it is believed.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ManifestShape {
    #[serde(default)]
    media_type: Option<String>,
    #[serde(default)]
    manifests: Option<Vec<IgnoredAny>>,
    #[serde(default)]
    layers: Option<IgnoredAny>,
    #[serde(default)]
    config: Option<IgnoredAny>,
}

impl RemoteStore {
    pub(crate) async fn resolve_manifest(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        match self.head_manifest(reference).await? {
            (Some(descriptor), _) => Ok(descriptor),
            // The answer to a HEAD has no words: the words of a GET distinguish an unknown repository from an unknown tag.
            (None, _) => Ok(self.get_manifest(reference, None).await?.0),
        }
    }

    /// What the answer to a `HEAD` says of a manifest, if it says enough, and its status.
    pub(crate) async fn head_manifest(&self, reference: &Reference) -> Result<(Option<Descriptor>, u16), StoreError> {
        let path = self.path("manifests", &reference.to_string());
        let answer =
            self.client.send(&RegistryCall::new(Method::HEAD, path, &self.pull).header("accept", ACCEPT)).await?;
        match answer.status() {
            200 => Ok((described(&answer, reference), 200)),
            401 | 429 | 500..=599 => Err(answer.into_error(reference.into()).await),
            status => Ok((None, status)),
        }
    }

    /// Whether the manifest is there. One that this store has written itself is looked for again before it is missed.
    pub(crate) async fn has_manifest(&self, digest: &Digest, access: &RequestedAccess) -> Result<bool, StoreError> {
        let mut looks = Looks::default();
        loop {
            if self.shows_manifest(digest, access).await? {
                return Ok(true);
            }
            let request = format!("HEAD {}{}", self.repository.registry(), self.path("manifests", digest.as_str()));
            let again = self.memory.has_written(digest);
            if !again || !self.look_again(&mut looks, &request, "it took this manifest, and does not show it").await {
                return Ok(false);
            }
        }
    }

    pub(crate) async fn shows_manifest(&self, digest: &Digest, access: &RequestedAccess) -> Result<bool, StoreError> {
        let path = self.path("manifests", digest.as_str());
        let answer = self.client.send(&RegistryCall::new(Method::HEAD, &path, access).header("accept", ACCEPT)).await?;
        match answer.status() {
            200..=299 => Ok(true),
            404 => Ok(false),
            405 => match self.get_manifest(&Reference::Digest(digest.clone()), None).await {
                Ok(_) => Ok(true),
                Err(error) if error.is_not_found() => Ok(false),
                Err(error) => Err(error),
            },
            _ => Err(answer.into_error(StoreItem::Manifest(digest.clone())).await),
        }
    }

    /// What the registry has stored for this store, and named, is not read back.
    pub(crate) async fn fetch_manifest(&self, descriptor: &Descriptor) -> Result<Bytes, StoreError> {
        if let Some(bytes) = self.memory.kept_manifest(&descriptor.digest)
            && self.memory.has_stored(&descriptor.digest)
        {
            return Ok(bytes);
        }
        let reference = Reference::Digest(descriptor.digest.clone());
        let mut looks = Looks::default();
        loop {
            match self.get_manifest(&reference, Some(&descriptor.media_type)).await {
                Ok((_, bytes)) => return Ok(bytes),
                // What this store has written itself is there.
                Err(error) if error.is_not_found() && self.memory.has_written(&descriptor.digest) => {
                    let path = self.path("manifests", descriptor.digest.as_str());
                    let request = format!("GET {}{path}", self.repository.registry());
                    let reason = "it took this manifest, and does not show it";
                    if !self.look_again(&mut looks, &request, reason).await {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// A manifest whose bytes are those of the digest that was asked for, or of the one that the registry names.
    pub(crate) async fn get_manifest(
        &self,
        reference: &Reference,
        expected_type: Option<&str>,
    ) -> Result<(Descriptor, Bytes), StoreError> {
        let (descriptor, bytes, _) = self.get_marked_manifest(reference, expected_type).await?;
        Ok((descriptor, bytes))
    }

    /// The same with the strong `ETag` of the answer, if it has one.
    pub(crate) async fn get_marked_manifest(
        &self,
        reference: &Reference,
        expected_type: Option<&str>,
    ) -> Result<(Descriptor, Bytes, Option<String>), StoreError> {
        let path = self.path("manifests", &reference.to_string());
        let call = RegistryCall::new(Method::GET, path, &self.pull).header("accept", ACCEPT);
        let call = if matches!(reference, Reference::Digest(_)) { call.by_digest() } else { call };
        let is_there = |answer: &RegistryAnswer| answer.status() == 200;
        let (answer, bytes) = self.client.document(&call, &content(reference), MANIFEST_LIMIT, is_there).await?;
        if answer.status() != 200 {
            return Err(self.manifest_error(answer, reference).await);
        }
        let named = answer.header("docker-content-digest").map(str::to_owned);
        let etag = answer.strong_etag().map(str::to_owned);
        let content_type = answer.media_type();
        let digest = self.checked_digest(reference, named.as_deref(), &bytes)?;
        let media_type = check_document(content_type.as_deref(), expected_type, &bytes)
            .map_err(|problem| self.malformed(format!("{}: {problem}", content(reference))))?;
        Ok((Descriptor::new(&media_type, digest, bytes.len() as u64), bytes, etag))
    }

    pub(crate) async fn manifest_error(&self, answer: RegistryAnswer, reference: &Reference) -> StoreError {
        if !matches!(answer.status(), 404 | 406) {
            return answer.into_error(reference.into()).await;
        }
        let status = StatusCode::from_u16(answer.status()).unwrap_or_default();
        let words = answer.words().await;
        if words.speak_of_another_form() || status == StatusCode::NOT_ACCEPTABLE {
            let problem = format!("{} is there only in a form that is not supported", what(reference));
            return self.malformed(format!("{problem}: {}", words.text(status)));
        }
        if words.repository_unknown() {
            return StoreError::UnknownRepository { place: self.place() };
        }
        StoreError::NotFound { place: self.place(), what: reference.into() }
    }

    /// The digest of the bytes: the one that was asked for, else the one that the registry names, else SHA-256.
    fn checked_digest(&self, reference: &Reference, named: Option<&str>, bytes: &[u8]) -> Result<Digest, StoreError> {
        let named: Option<Digest> = match named {
            Some(text) => {
                Some(text.parse().map_err(|error| self.malformed(format!("Docker-Content-Digest: {error}")))?)
            }
            None => None,
        };
        let asked = match reference {
            Reference::Digest(digest) => Some(digest),
            Reference::Tag(_) => None,
        };
        for expected in asked.into_iter().chain(&named) {
            let Some(mut hasher) = expected.hasher() else {
                return Err(StoreError::UnsupportedDigest { digest: expected.clone() });
            };
            hasher.update(bytes);
            let actual = hasher.finish();
            if actual != *expected {
                let (place, what, expected) = (self.place(), reference.into(), expected.clone());
                return Err(StoreError::DigestMismatch { place, what, expected, actual: Box::new(actual) });
            }
        }
        Ok(asked.cloned().or(named).unwrap_or_else(|| Digest::sha256(bytes)))
    }
}

/// The descriptor that the head of an answer gives, if it says enough.
fn described(answer: &RegistryAnswer, reference: &Reference) -> Option<Descriptor> {
    let named: Digest = answer.header("docker-content-digest")?.parse().ok()?;
    if named.algorithm() == Algorithm::Other {
        return None;
    }
    let media_type = answer.media_type().filter(|media_type| is_supported(media_type))?;
    let size = answer.length().filter(|size| (1..=MANIFEST_LIMIT).contains(size))?;
    match reference {
        Reference::Digest(asked) if *asked != named => None,
        _ => Some(Descriptor::new(&media_type, named, size)),
    }
}

/// The type of a document, if everything that names it agrees.
///
/// Spec: OCI image-spec 1.1.1, manifest.md, "mediaType"; CVE-2021-41190.
fn check_document(content_type: Option<&str>, expected: Option<&str>, bytes: &[u8]) -> Result<String, String> {
    if let Some(old) = content_type.filter(|media_type| media_type.contains("docker.distribution.manifest.v1")) {
        return Err(format!("it has the withdrawn type {old} (Docker schema 1)"));
    }
    let shape: ManifestShape = serde_json::from_slice(bytes).map_err(|_| "it is not a JSON manifest".to_owned())?;
    let entries = shape.manifests.as_ref().map_or(0, Vec::len);
    if shape.manifests.is_some() && (shape.layers.is_some() || shape.config.is_some()) {
        return Err("it is an index and a manifest at once".to_owned());
    }
    if entries > ENTRY_LIMIT {
        return Err(format!("it has {entries} entries, more than {ENTRY_LIMIT}"));
    }
    let sent = content_type.filter(|media_type| is_supported(media_type));
    if let (Some(sent), Some(own)) = (sent, &shape.media_type)
        && sent != own
    {
        return Err(format!("it is of the type {} and was sent as {sent}", clean(own)));
    }
    let found = sent.or(shape.media_type.as_deref()).or(expected);
    let Some(found) = found.filter(|found| is_supported(found)) else {
        let found = clean(found.or(content_type).unwrap_or("unknown"));
        return Err(format!("it is of the type {found}, which is not a manifest type"));
    };
    match expected {
        Some(expected) if expected != found => Err(format!("it is of the type {found} instead of {expected}")),
        _ => Ok(found.to_owned()),
    }
}

/// The document that a reference leads to, for people.
fn content(reference: &Reference) -> String {
    match reference {
        Reference::Tag(tag) => format!("manifest of tag {tag}"),
        Reference::Digest(digest) => format!("manifest {digest}"),
    }
}

pub(crate) fn what(reference: &Reference) -> String {
    match reference {
        Reference::Tag(tag) => format!("tag {tag}"),
        Reference::Digest(digest) => format!("manifest {digest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

    #[track_caller]
    fn check(content_type: Option<&str>, expected: Option<&str>, document: &str, want: Result<&str, &str>) {
        match (check_document(content_type, expected, document.as_bytes()), want) {
            (Ok(got), Ok(want)) => assert_eq!(got, want),
            (Err(got), Err(want)) => assert!(got.contains(want), "{got}"),
            (got, want) => panic!("{document}: got {got:?}, want {want:?}"),
        }
    }

    #[test]
    fn everything_that_names_the_type_must_agree() {
        let index = format!(r#"{{"mediaType":"{OCI_INDEX}","manifests":[]}}"#);
        check(Some(OCI_INDEX), None, &index, Ok(OCI_INDEX));
        check(Some(OCI_INDEX), None, r#"{"manifests":[]}"#, Ok(OCI_INDEX));
        check(None, None, &index, Ok(OCI_INDEX));
        check(Some("application/json"), None, &index, Ok(OCI_INDEX));
        check(None, Some(OCI_INDEX), r#"{"manifests":[]}"#, Ok(OCI_INDEX));
        check(Some(MANIFEST), None, &index, Err("was sent as"));
        check(Some(OCI_INDEX), Some(MANIFEST), &index, Err("instead of"));
        check(None, None, r#"{"manifests":[]}"#, Err("unknown"));
        check(Some("text/html"), None, "<html>", Err("not a JSON"));
        check(Some("application/vnd.docker.distribution.manifest.v1+prettyjws"), None, "{}", Err("schema 1"));
    }

    #[test]
    fn a_document_that_is_two_things_is_refused() {
        check(Some(OCI_INDEX), None, r#"{"manifests":[],"layers":[]}"#, Err("at once"));
        check(Some(OCI_INDEX), None, r#"{"manifests":[],"config":{}}"#, Err("at once"));
        check(Some(MANIFEST), None, r#"{"manifests":null,"config":{},"layers":[]}"#, Ok(MANIFEST));
    }

    #[test]
    fn the_number_of_entries_is_bounded() {
        let many = format!(r#"{{"manifests":[{}0]}}"#, "0,".repeat(ENTRY_LIMIT));
        check(Some(OCI_INDEX), None, &many, Err("1001 entries"));
    }
}
