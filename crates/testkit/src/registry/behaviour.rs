//! The ways in which registries differ; the default is registry:2 (2.8).

/// The referrers API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Referrers {
    /// 404 in plain text, and no `OCI-Subject` on a manifest with a subject (registry:2).
    Unsupported,
    /// The API answers, and `OCI-Subject` is sent.
    Supported,
    /// The API answers, but `OCI-Subject` is not sent.
    WithoutSubjectHeader,
    /// `OCI-Subject` is sent, but the API answers 404 (seen at ECR).
    SubjectHeaderOnly,
    /// The API answers with an empty list, whatever there is, and `OCI-Subject` is not sent.
    EmptyList,
    /// The same, and `OCI-Subject` is sent: what refers to something is never found again.
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

/// Manifest and blob deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// 405 `UNSUPPORTED` (registry:2's default).
    Disabled,
    /// 202.
    Enabled,
}

/// Whether something is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// It is.
    On,
    /// It is not.
    Off,
}

/// How the registry behaves where registries differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// The referrers API.
    pub referrers: Referrers,
    /// The tag list.
    pub paging: Paging,
    /// The form of upload locations.
    pub location: Location,
    /// The status of an accepted PATCH: 202, or 201 as ECR says.
    pub patch_status: u16,
    /// Whether `Content-Range` of a PATCH must continue the session; when on, disorder is 416 with the true `Range`.
    pub content_range: Check,
    /// Whether `POST ?digest=` with a body stores the blob (201); when off the body is ignored (202, registry:2).
    pub single_post: Check,
    /// Mount requests.
    pub mounting: Mounting,
    /// Whether a manifest PUT is answered with `Location`.
    pub manifest_location: Check,
    /// Whether manifests are checked on PUT (children present, media types equal, at most 4 MiB).
    pub manifest_check: Check,
    /// Whether a manifest is 404 when the request's `Accept` does not name its type (registry:2: on).
    pub accept_check: Check,
    /// Deletion.
    pub deletion: Deletion,
    /// `OCI-Chunk-Min-Length` of upload sessions.
    pub chunk_min_length: Option<u64>,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            referrers: Referrers::Unsupported,
            paging: Paging::Ignored,
            location: Location::Absolute,
            patch_status: 202,
            content_range: Check::Off,
            single_post: Check::Off,
            mounting: Mounting::Supported,
            manifest_location: Check::On,
            manifest_check: Check::On,
            accept_check: Check::On,
            deletion: Deletion::Disabled,
            chunk_min_length: None,
        }
    }
}
