//! The ways in which registries differ; the default is registry:2 (2.8).

use serde_json::json;

use crate::fault::Answer;

/// The referrers API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferrersSupport {
    /// 404 in plain text, and no `OCI-Subject` on a manifest with a subject (registry:2).
    Unsupported,
    /// The API answers, and `OCI-Subject` is sent.
    Supported,
    /// The API answers, but `OCI-Subject` is not sent.
    WithoutSubjectHeader,
    /// `OCI-Subject` is sent, but the API answers 404 (seen at ECR).
    SubjectHeaderOnly,
    /// The API answers always with an empty list, and `OCI-Subject` is not sent.
    EmptyList,
    /// The same, and `OCI-Subject` is sent: referrers are never found.
    Losing,
}

/// The tag list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paging {
    /// `n` and `last` are ignored; all tags in no order (registry:2).
    Ignored,
    /// Sorted; at most this many tags a page, with a relative `Link` to the next.
    Relative(usize),
    /// The same with an absolute `Link`.
    Absolute(usize),
}

/// The form of the `Location` header of uploads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// With scheme and host (registry:2).
    Absolute,
    /// A path and query only.
    Relative,
    /// This prefix followed by the path and query: another origin.
    Elsewhere(String),
}

/// What a mount request does when the blob is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mounting {
    /// 201 (registry:2).
    Supported,
    /// 202 with an ordinary upload session.
    StartsUpload,
}

/// Deletion of manifests, blobs and tags. An immutable tag is not deleted, and neither is its manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// 405 `UNSUPPORTED` (registry:2's default).
    Disabled,
    /// 202 by digest, with all tags; 400 `DIGEST_INVALID` by tag (registry:2).
    Enabled,
    /// 202 by digest, with all tags; 202 by tag, and the manifest stays.
    Tags,
    /// 405 by digest; 202 by tag, and the manifest stays.
    TagsAlone,
    /// 202 by digest and by tag, each time with the manifest and all its tags.
    Manifests,
    /// 405 by digest; 202 by tag, with the manifest and all its tags.
    ManifestsByTag,
}

/// An answer that refuses. In `message` and `detail`, `{repository}`, `{tag}` and `{type}` become the request's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusalAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The code of the error document.
    pub code: &'static str,
    /// Its sentence.
    pub message: &'static str,
    /// Its detail; a text, as some registries send it. Empty for no detail.
    pub detail: &'static str,
}

impl RefusalAnswer {
    /// A refusal without a detail.
    pub const fn new(status: u16, code: &'static str, message: &'static str) -> Self {
        Self { status, code, message, detail: "" }
    }

    pub(crate) fn answer(self, repository: &str, tag: &str, kind: &str) -> Answer {
        let fill = |text: &str| text.replace("{repository}", repository).replace("{tag}", tag).replace("{type}", kind);
        let mut error = json!({"code": self.code, "message": fill(self.message)});
        if !self.detail.is_empty() {
            error["detail"] = fill(self.detail).into();
        }
        let body = json!({"errors": [error]}).to_string();
        Answer::new(self.status).header("Content-Type", "application/json; charset=utf-8").body(body)
    }
}

/// Which repositories take a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepositoryNames {
    /// The fewest parts between slashes.
    pub fewest: usize,
    /// The most parts.
    pub most: usize,
    /// How many leading parts must have been made before ([`crate::Registry::create`]); 0 for a registry that makes
    /// whatever is pushed, `usize::MAX` for the whole name.
    pub made: usize,
    /// The refusal for other names.
    pub refused: RefusalAnswer,
}

impl RepositoryNames {
    /// The refusal for a repository that takes no push; `{repository}` is the part of it that has to be made.
    pub(crate) fn refusal(&self, repository: &str) -> Answer {
        let made = repository.split('/').take(self.made.max(1)).collect::<Vec<_>>().join("/");
        self.refused.answer(&made, "", "")
    }
}

/// Whether a tag may be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tags {
    /// It may.
    Movable,
    /// It may not; the digest that it has may be written again.
    Fixed(RefusalAnswer),
    /// It may not be written again, not even with the digest that it has (ECR).
    WrittenOnce(RefusalAnswer),
}

/// Which artifact types and config types a manifest may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Types {
    /// All.
    Any,
    /// Only these.
    Listed(&'static [&'static str], RefusalAnswer),
}

/// How the PATCH requests of an upload session are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunks {
    /// All are taken.
    All,
    /// Those after the first are answered as if they were taken, and dropped (ECR).
    FirstKept,
    /// Those after the first are refused (Gitea).
    FirstAlone(RefusalAnswer),
    /// Those of more bytes, with a `Content-Range`, are refused with 416 (ghcr.io).
    AtMost(usize),
}

/// The artifact type of an entry of the referrers API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedType {
    /// The manifest's own, or its config's media type if it has none.
    Own,
    /// The config's media type in any case (old Harbor).
    OfConfig,
    /// None (ACR with a customer's key).
    Missing,
}

/// Whether a rule is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

/// How the registry behaves where registries differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// The referrers API.
    pub referrers: ReferrersSupport,
    /// The tag list.
    pub paging: Paging,
    /// The form of upload locations.
    pub location: Location,
    /// The status of an accepted PATCH: 202, or 201 as ECR says.
    pub patch_status: u16,
    /// Whether `Content-Range` of a PATCH must continue the session; when on, disorder is 416 with the true `Range`.
    pub content_range: Switch,
    /// Whether `POST ?digest=` with a body stores the blob (201); when off the body is ignored (202, registry:2).
    pub single_post: Switch,
    /// Mount requests.
    pub mounting: Mounting,
    /// Whether a manifest PUT is answered with `Location`.
    pub manifest_location: Switch,
    /// Whether manifests are checked on PUT (children present, media types equal, at most 4 MiB).
    pub manifest_check: Switch,
    /// Whether a manifest is 404 when the request's `Accept` does not name its type (registry:2: on).
    pub accept_check: Switch,
    /// Deletion.
    pub deletion: Deletion,
    /// `OCI-Chunk-Min-Length` of upload sessions.
    pub chunk_min_length: Option<u64>,
    /// Which repositories take a push.
    pub names: RepositoryNames,
    /// Whether a tag may be moved.
    pub tags: Tags,
    /// Which types a manifest may name.
    pub types: Types,
    /// Whether a manifest's subject must be there before it (GitLab).
    pub subject_check: Switch,
    /// Whether the tag `ALGORITHM-HEX` is read as the digest (GitLab).
    pub digest_alias: Switch,
    /// How PATCH requests are treated.
    pub chunks: Chunks,
    /// The artifact types in answers of the referrers API.
    pub listed_type: ListedType,
    /// Whether answers carry `Docker-Content-Digest`.
    pub digest_header: Switch,
    /// The largest `n` of a tag list; more is refused (ECR).
    pub largest_n: Option<usize>,
    /// The action that the list of tags needs beside `pull` (ACR: `metadata_read`).
    pub tags_action: Option<&'static str>,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            referrers: ReferrersSupport::Unsupported,
            paging: Paging::Ignored,
            location: Location::Absolute,
            patch_status: 202,
            content_range: Switch::Off,
            single_post: Switch::Off,
            mounting: Mounting::Supported,
            manifest_location: Switch::On,
            manifest_check: Switch::On,
            accept_check: Switch::On,
            deletion: Deletion::Disabled,
            chunk_min_length: None,
            names: RepositoryNames {
                fewest: 1,
                most: usize::MAX,
                made: 0,
                refused: RefusalAnswer::new(404, "NAME_UNKNOWN", "repository name not known to registry"),
            },
            tags: Tags::Movable,
            types: Types::Any,
            subject_check: Switch::Off,
            digest_alias: Switch::Off,
            chunks: Chunks::All,
            listed_type: ListedType::Own,
            digest_header: Switch::On,
            largest_n: None,
            tags_action: None,
        }
    }
}
