//! Which provider a repository is for, or whether it is for a module, by the versions in it.
//!
//! A repository holds the versions of one provider or of one module. A user who forgets its address publishes or signs under a name that
//! no client asks for. The existing releases reveal the mistake.

use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_trust::VersionOf;
use tofu_oci_types::{Reference, Tag, Version};

use crate::release_reader::{of_content, of_manifest};

/// How many releases are read at most.
const MOST: usize = 2;

/// What a version of a repository says that it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    pub version: Version,
    /// What it says that it is.
    pub of: VersionOf,
}

/// The newer of the two newest versions among `tags` that names a provider or is a module. Tags that are not canonical do not
/// count. At most two requests.
///
/// # Errors
/// If a release could not be asked for ([`StoreError::is_of_content`]): it may name a provider. A missing or
/// damaged manifest, and one that is neither a release nor a module, names none.
pub async fn newest_neighbour<'a>(
    store: &dyn ReadStore,
    tags: impl Iterator<Item = &'a Tag>,
) -> Result<Option<Neighbour>, StoreError> {
    let canonical = |tag: &Tag| tag.version().filter(|version| Tag::for_version(version).as_ref() == Ok(tag));
    let mut versions: Vec<Version> = tags.filter_map(canonical).collect();
    versions.sort_by(|one, other| other.precedence(one));
    for version in versions.into_iter().take(MOST) {
        let Ok(tag) = Tag::for_version(&version) else { continue };
        let found = of_content(store.manifest(&Reference::Tag(tag)).await)?;
        if let Some(of) = found.and_then(|(manifest, bytes)| of_manifest(&manifest, &bytes)) {
            return Ok(Some(Neighbour { version, of }));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use bytes::Bytes;
    use tofu_oci_layout::{annotation, artifact_type, media_type};
    use tofu_oci_store::{AccessFault, MemoryStore, Store, StoreItem};
    use tofu_oci_testkit::{HookedStore, StoreHook};
    use tofu_oci_types::{Descriptor, NetworkFault};

    use super::*;

    /// A repository with versions of different providers, whose tag 1.2.0 is answered with an error.
    struct Repository {
        inner: MemoryStore,
        newest: Option<StoreError>,
    }

    impl Repository {
        async fn new(newest: Option<StoreError>) -> Self {
            let inner = MemoryStore::new("memory".parse().unwrap());
            for (tag, name) in [("1.0.0", "a"), ("1.1.0", "b"), ("1.2.0", "c")] {
                let text = format!(
                    r#"{{"schemaVersion":2,"mediaType":"{}","artifactType":"{}","manifests":[],"annotations":{{"{}":"example.com/acme/{name}"}}}}"#,
                    media_type::OCI_INDEX,
                    artifact_type::PROVIDER,
                    annotation::ADDRESS,
                );
                let index = Descriptor::of(media_type::OCI_INDEX, text.as_bytes());
                inner.insert_unchecked(&index, Bytes::from(text));
                inner.tag(&index, &tag.parse().unwrap()).await.unwrap();
            }
            Self { inner, newest }
        }

        /// The provider of the newest version beside `own`.
        async fn newest_beside(&self, own: &str) -> Result<String, String> {
            let tags = self.inner.tags().await.unwrap();
            let found = newest_neighbour(&HookedStore(self), tags.iter().filter(|tag| tag.as_str() != own)).await;
            let name = |found: Option<Neighbour>| {
                found.map_or("none".to_owned(), |found| {
                    format!("{} {}", found.version, found.of.address().unwrap().provider_type())
                })
            };
            found.map(name).map_err(|error| error.to_string())
        }
    }

    #[async_trait]
    impl StoreHook for &Repository {
        fn inner(&self) -> &dyn Store {
            &self.inner
        }

        async fn resolve(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
            match &self.newest {
                Some(error) if reference.to_string() == "1.2.0" => Err(error.clone()),
                _ => self.inner.resolve(reference).await,
            }
        }
    }

    #[tokio::test]
    async fn the_newest_other_version_names_the_provider() {
        let repository = Repository::new(None).await;
        assert_eq!(repository.newest_beside("1.0.0").await.as_deref(), Ok("1.2.0 c"));
        assert_eq!(repository.newest_beside("1.2.0").await.as_deref(), Ok("1.1.0 b"));
    }

    #[tokio::test]
    async fn a_version_that_is_missing_names_no_provider_and_one_that_could_not_be_asked_for_is_an_error() {
        let place = || "memory".parse().unwrap();
        let missing = StoreError::NotFound { place: place(), what: StoreItem::Tag("1.2.0".parse().unwrap()) };
        assert_eq!(Repository::new(Some(missing)).await.newest_beside("1.0.0").await.as_deref(), Ok("1.1.0 b"));
        for error in [
            StoreError::Unreachable { place: place(), fault: NetworkFault::Refused, problem: String::new() },
            StoreError::Denied { place: place(), fault: AccessFault::RegistryStatus(403), problem: String::new() },
        ] {
            let repository = Repository::new(Some(error.clone())).await;
            assert_eq!(repository.newest_beside("1.0.0").await, Err(error.to_string()));
        }
    }
}
