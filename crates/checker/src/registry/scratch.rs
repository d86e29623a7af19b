//! The scratch repository: requests, and everything that they wrote.

use bytes::Bytes;
use serde_json::{Value, json};
use tofu_oci_remote::{RawAnswer, RawLocation, RawMethod, RawRequest, RawStore, RawTarget};
use tofu_oci_store::StoreError;
use tofu_oci_types::Digest;

use super::report::{Capability, CapabilityState};

/// The beginning of a probe's tags.
const TAG: &str = "tofu-oci-probe";
/// Their ends: `tofu-oci-probe-a` and so on. A probe writes no other tag.
pub(super) const TAGS: [&str; 4] = ["a", "b", "c", "head"];

pub(super) const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";
pub(super) const OCI_MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub(super) const EMPTY_TYPE: &str = "application/vnd.oci.empty.v1+json";
pub(super) const OCTETS: &str = "application/octet-stream";

/// A blob or manifest that lies in the repository.
#[derive(Clone, Debug)]
pub(super) struct ScratchContent {
    pub(super) digest: Digest,
    pub(super) bytes: Bytes,
}

/// A request that may be under way.
enum Pending {
    Blob(Digest),
    Manifest(Digest, Option<String>),
}

pub(super) struct ScratchRepository<'a> {
    raw: &'a RawStore,
    /// The second repository, to mount a blob from.
    pub(super) mount_from: Option<&'a RawStore>,
    seed: &'a str,
    pub(super) rows: Vec<Capability>,
    pub(super) requests: usize,
    /// What the probe wrote, to be deleted.
    pub(super) blobs: Vec<Digest>,
    pub(super) manifests: Vec<Digest>,
    pub(super) tags: Vec<String>,
    /// What it wrote into the second repository.
    pub(super) elsewhere: Vec<Digest>,
    /// What was sent without an answer so far: it may exist or not.
    pending: Option<Pending>,
    /// The leaf and index that later attempts build upon.
    pub(super) leaf: Option<ScratchContent>,
    pub(super) index: Option<ScratchContent>,
    /// An answer since the last row that does not show what the registry can do.
    trouble: Option<String>,
    /// The attempts that had such an answer.
    pub(super) not_judged: Vec<(&'static str, String)>,
    /// The empty config.
    pub(super) empty: Option<ScratchContent>,
    /// A blob for layers.
    pub(super) layer: Option<ScratchContent>,
}

impl<'a> ScratchRepository<'a> {
    pub(super) fn new(raw: &'a RawStore, mount_from: Option<&'a RawStore>, seed: &'a str) -> Self {
        Self {
            raw,
            mount_from,
            seed,
            rows: Vec::new(),
            requests: 0,
            blobs: Vec::new(),
            manifests: Vec::new(),
            tags: Vec::new(),
            elsewhere: Vec::new(),
            pending: None,
            leaf: None,
            trouble: None,
            not_judged: Vec::new(),
            index: None,
            empty: None,
            layer: None,
        }
    }

    pub(super) fn repository(&self) -> String {
        self.raw.repository().to_string()
    }

    pub(super) fn raw(&self) -> &'a RawStore {
        self.raw
    }

    /// Notes the result of an attempt, except if the registry had a fault meanwhile.
    pub(super) fn row(
        &mut self,
        name: &'static str,
        what: &'static str,
        state: CapabilityState,
        detail: impl Into<String>,
    ) {
        let detail = detail.into();
        let Some(trouble) = self.trouble.take() else {
            self.rows.push(Capability { name, what, state, detail });
            return;
        };
        self.rows.push(Capability { name, what, state: CapabilityState::NotTried, detail: trouble.clone() });
        self.not_judged.push((what, trouble));
    }

    /// Bytes that no repository has yet.
    pub(super) fn content(&self, name: &str) -> ScratchContent {
        let bytes = Bytes::from(format!("tofu-oci probe, {name}, {}", self.seed).repeat(4));
        ScratchContent { digest: Digest::sha256(&bytes), bytes }
    }

    /// A request that is not counted, before anything is written.
    pub(super) async fn peek(&self, method: RawMethod, path: &str) -> Result<RawAnswer, StoreError> {
        let headers = vec![("accept", format!("{OCI_INDEX}, {OCI_MANIFEST}"))];
        self.raw.send(RawRequest { method, target: RawTarget::Path(path), headers, body: None, from: None }).await
    }

    pub(super) async fn send(&mut self, request: RawRequest<'_>) -> Result<RawAnswer, StoreError> {
        self.requests += 1;
        let (method, target) = (request.method, request.target);
        let answer = self.raw.send(request).await?;
        if is_trouble(method, answer.status) && self.trouble.is_none() {
            let of = match target {
                RawTarget::Path(path) => path.split('?').next().unwrap_or_default(),
                RawTarget::Session(_) | RawTarget::Closing(..) => "of an upload",
            };
            self.trouble = Some(format!("{} {of}: {}", word(method), answer.summary()));
        }
        Ok(answer)
    }

    /// A request below the repository, without a body.
    pub(super) async fn ask(&mut self, method: RawMethod, path: &str) -> Result<RawAnswer, StoreError> {
        let accept = format!("{OCI_INDEX}, {OCI_MANIFEST}");
        let headers = if path.starts_with("manifests/") { vec![("accept", accept)] } else { Vec::new() };
        self.send(RawRequest { method, target: RawTarget::Path(path), headers, body: None, from: None }).await
    }

    /// Opens an upload.
    pub(super) async fn open(&mut self) -> Result<RawAnswer, StoreError> {
        self.ask(RawMethod::Post, "blobs/uploads/").await
    }

    /// Sends bytes into an upload; with the digest it is ended.
    pub(super) async fn upload(
        &mut self,
        method: RawMethod,
        target: RawTarget<'_>,
        bytes: Bytes,
        range: Option<String>,
    ) -> Result<RawAnswer, StoreError> {
        let mut headers = vec![("content-type", OCTETS.to_owned())];
        headers.extend(range.map(|range| ("content-range", range)));
        self.send(RawRequest { method, target, headers, body: Some(bytes), from: None }).await
    }

    /// Cancels an upload; the answer does not matter.
    pub(super) async fn cancel(&mut self, location: &RawLocation) {
        let target = RawTarget::Session(location);
        let request = RawRequest { method: RawMethod::Delete, target, headers: Vec::new(), body: None, from: None };
        let before = self.trouble.take();
        let _ = self.send(request).await;
        self.trouble = before;
    }

    /// Stores a blob with POST and PUT, the way that later attempts rely on.
    pub(super) async fn put_blob(&mut self, stored: &ScratchContent) -> Result<RawAnswer, StoreError> {
        let opened = self.open().await?;
        let Ok(Some(location)) = opened.location.clone() else { return Ok(opened) };
        self.close(&location, stored, stored.bytes.clone()).await
    }

    /// Ends the upload of a blob with its last bytes.
    pub(super) async fn close(
        &mut self,
        location: &RawLocation,
        stored: &ScratchContent,
        bytes: Bytes,
    ) -> Result<RawAnswer, StoreError> {
        self.pending = Some(Pending::Blob(stored.digest.clone()));
        let target = RawTarget::Closing(location, &stored.digest);
        let answer = self.upload(RawMethod::Put, target, bytes, None).await?;
        self.settle(answer.is_success());
        Ok(answer)
    }

    /// Stores a blob that others may have too, such as the empty config. The clean-up deletes it only if it is new.
    pub(super) async fn put_shared_blob(&mut self, stored: &ScratchContent) -> Result<RawAnswer, StoreError> {
        let before = self.ask(RawMethod::Head, &format!("blobs/{}", stored.digest)).await?;
        if before.status == 404 {
            return self.put_blob(stored).await;
        }
        let opened = self.open().await?;
        let Ok(Some(location)) = opened.location.clone() else { return Ok(opened) };
        let target = RawTarget::Closing(&location, &stored.digest);
        self.upload(RawMethod::Put, target, stored.bytes.clone(), None).await
    }

    /// Notes whether the request under way wrote something.
    fn settle(&mut self, there: bool) {
        match self.pending.take().filter(|_| there) {
            Some(Pending::Blob(digest)) => self.blobs.push(digest),
            Some(Pending::Manifest(digest, tag)) => {
                if !self.manifests.contains(&digest) {
                    self.manifests.push(digest);
                }
                if let Some(tag) = tag.filter(|tag| !self.tags.contains(tag)) {
                    self.tags.push(tag);
                }
            }
            None => {}
        }
    }

    /// Ends the waiting: whatever is still under way counts as written.
    pub(super) fn give_up(&mut self) {
        self.settle(true);
    }

    /// Stores a manifest, by its digest or under a tag.
    pub(super) async fn put_manifest(
        &mut self,
        reference: Option<&str>,
        media_type: &str,
        stored: &ScratchContent,
    ) -> Result<RawAnswer, StoreError> {
        let path = format!("manifests/{}", reference.unwrap_or(stored.digest.as_str()));
        let headers = vec![("content-type", media_type.to_owned())];
        self.pending = Some(Pending::Manifest(stored.digest.clone(), reference.map(str::to_owned)));
        let (target, body) = (RawTarget::Path(&path), Some(stored.bytes.clone()));
        let answer = self.send(RawRequest { method: RawMethod::Put, target, headers, body, from: None }).await?;
        self.settle(answer.is_success());
        Ok(answer)
    }
}

/// Whether an answer is about the registry's state or the credentials, not about what the registry can do. A registry
/// that forbids writing, or lacks a feature, has answered.
pub(super) fn is_trouble(method: RawMethod, status: u16) -> bool {
    match status {
        401 | 403 => matches!(method, RawMethod::Get | RawMethod::Head),
        408 | 429 => true,
        501 | 505 => false,
        _ => status >= 500,
    }
}

fn word(method: RawMethod) -> &'static str {
    match method {
        RawMethod::Get => "GET",
        RawMethod::Head => "HEAD",
        RawMethod::Post => "POST",
        RawMethod::Put => "PUT",
        RawMethod::Patch => "PATCH",
        RawMethod::Delete => "DELETE",
    }
}

/// A tag of the probe.
pub(super) fn tag_name(name: &str) -> String {
    format!("{TAG}-{name}")
}

/// The bytes of a document, and their digest.
pub(super) fn document(value: &Value) -> ScratchContent {
    let bytes = Bytes::from(value.to_string());
    ScratchContent { digest: Digest::sha256(&bytes), bytes }
}

/// A descriptor of content.
pub(super) fn descriptor(media_type: &str, stored: &ScratchContent) -> Value {
    json!({ "mediaType": media_type, "digest": stored.digest.to_string(), "size": stored.bytes.len() })
}
