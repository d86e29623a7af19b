//! What GitHub says of an immutable release: which repository published it, under which tag.
//!
//! Spec: in-toto attestation, `spec/predicates/release.md`.

use serde_json::Value;

/// Its types: the older one is read alike.
const TYPES: [&str; 2] = ["https://in-toto.io/attestation/release/v0.1", "https://in-toto.io/attestation/release/v0.2"];

/// A release of a repository of GitHub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedRelease {
    /// Such as `github.com/acme/widget`.
    pub repository: String,
    /// The tag, such as `v1.4.0`.
    pub tag: String,
    /// GitHub's number of the repository.
    pub repository_id: Option<String>,
    /// GitHub's number of the repository's owner.
    pub owner_id: Option<String>,
}

impl PublishedRelease {
    /// What a statement says; `None` for one of another type, and for one that does not say both.
    pub(crate) fn of(predicate_type: &str, predicate: Option<&Value>) -> Option<Self> {
        if !TYPES.contains(&predicate_type) {
            return None;
        }
        let text = |name: &str| predicate?.get(name)?.as_str().map(str::to_owned);
        let (repository, tag) = (text("repository")?, text("tag")?);
        let is_whole = repository.split('/').count() == 2 && repository.split('/').all(|part| !part.is_empty());
        is_whole.then(|| Self {
            repository: format!("github.com/{repository}"),
            tag,
            repository_id: text("repositoryId"),
            owner_id: text("ownerId"),
        })
    }
}
