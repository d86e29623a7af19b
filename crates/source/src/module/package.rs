//! The package of a module, found and not yet fetched.

use std::sync::Arc;

use tofu_oci_http::{WebClient, host_of};
use tofu_oci_layout::{ModuleManifest, annotation};
use tofu_oci_store::ReadStore;
use tofu_oci_trust::Evidence;
use tofu_oci_types::{Descriptor, Digest, Identity, ModuleAddr, Place, Predecessors, Reference, Subdir, Version};

use super::error::ModuleError;
use super::git::GitCheckout;
use super::location::{ArchiveForm, ModuleArchive};
use crate::{Failure, Locator, Part, PartStream, Search, evidence, notice_evidence, web_part};

/// The package of a module: what to fetch, and the folder in it that was named.
pub struct ModulePackage {
    place: Place,
    bytes: PackageBytes,
    subdir: Subdir,
    /// The version that the manifest says it is.
    claimed: Option<Version>,
    from: PackageEnd,
}

/// What a package is fetched as.
#[derive(Clone, Debug)]
pub enum PackageBytes {
    Archive {
        part: Part,
        /// How it is packed.
        form: ArchiveForm,
    },
    /// The files of a commit.
    Commit,
}

enum PackageEnd {
    Git(Box<GitCheckout>),
    Repository { store: Arc<dyn ReadStore>, manifest: Box<Descriptor>, identity: Identity, about: Box<ModuleManifest> },
    Web(WebClient),
}

impl ModulePackage {
    /// The package in a repository: its manifest is read and verified now.
    ///
    /// # Errors
    /// [`ModuleError::Manifest`] if what the reference names is not a module package.
    ///
    /// Spec: `OpenTofu` 1.12, getmodules `oci_getter.go`; `real-tofu-http.md` §3 (measured).
    pub async fn of_store(
        store: Arc<dyn ReadStore>,
        reference: &Reference,
        subdir: Subdir,
    ) -> Result<Self, ModuleError> {
        let place = store.place();
        let (descriptor, bytes) = store.manifest(reference).await?;
        let invalid = |source| ModuleError::Manifest { place: place.clone(), reference: reference.clone(), source };
        let read = ModuleManifest::parse(&descriptor, &bytes).map_err(invalid)?;
        // One that cannot be read would answer for any address.
        read.address().map_err(invalid)?;
        let package = read.package();
        let claimed = read.annotations().get(annotation::MODULE_VERSION).and_then(|text| text.parse().ok());
        let part = Part {
            at: Locator::Blob(package.media_type.clone()),
            size: Some(package.size),
            digest: Some(package.digest.clone()),
        };
        // Signatures name the SHA-256, whatever the repository calls it.
        let manifest = Descriptor { digest: Digest::sha256(&bytes), ..descriptor };
        let identity = Identity::Index { sha256: manifest.digest.clone(), sha512: None };
        let (manifest, about) = (Box::new(manifest), Box::new(read));
        let from = PackageEnd::Repository { store, manifest, identity, about };
        let bytes = PackageBytes::Archive { part, form: ArchiveForm::Zip };
        Ok(Self { place, bytes, subdir, claimed, from })
    }

    /// The package in an archive on the web. Nothing is asked yet.
    pub fn of_archive(archive: &ModuleArchive, web: &WebClient) -> Self {
        let ModuleArchive { url, form, checksum, subdir } = archive.clone();
        let place = Place::Host(host_of(&url));
        let part = Part { at: Locator::Url(url), size: None, digest: checksum };
        let bytes = PackageBytes::Archive { part, form };
        Self { place, bytes, subdir, claimed: None, from: PackageEnd::Web(web.clone()) }
    }

    /// The package in a git repository. Nothing is asked yet.
    pub fn of_git(checkout: GitCheckout) -> Self {
        let source = checkout.source();
        let (subdir, path) = (source.subdir().clone(), source.url().path().to_owned());
        let place = source.host().map_or_else(|| Place::Folder(path.into()), Place::Host);
        Self { place, bytes: PackageBytes::Commit, subdir, claimed: None, from: PackageEnd::Git(Box::new(checkout)) }
    }

    /// The git repository that it is in, if it is in one.
    pub fn git(&self) -> Option<&GitCheckout> {
        match &self.from {
            PackageEnd::Git(checkout) => Some(checkout),
            PackageEnd::Repository { .. } | PackageEnd::Web(_) => None,
        }
    }

    /// The same, for a folder inside of the one that it was located with.
    #[must_use]
    pub fn inside(self, folder: &Subdir) -> Self {
        Self { subdir: self.subdir.join(folder), ..self }
    }

    /// The same package, and no folder in it.
    #[must_use]
    pub fn whole(self) -> Self {
        Self { subdir: Subdir::root(), ..self }
    }

    /// The repository that it is in and its manifest there, by SHA-256; `None` if it is in no OCI repository.
    pub fn repository(&self) -> Option<(&Arc<dyn ReadStore>, &Descriptor)> {
        match &self.from {
            PackageEnd::Repository { store, manifest, .. } => Some((store, manifest)),
            PackageEnd::Web(_) | PackageEnd::Git(_) => None,
        }
    }

    /// Where it is: the repository, the host of the archive, or the host or folder of the git repository.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What to fetch: an archive, or the files of a commit.
    pub fn bytes(&self) -> &PackageBytes {
        &self.bytes
    }

    /// The folder in it that was named.
    pub fn subdir(&self) -> &Subdir {
        &self.subdir
    }

    /// The version that its manifest says it is, as true as the manifest; `None` if it does not say.
    pub fn claimed_version(&self) -> Option<&Version> {
        self.claimed.as_ref()
    }

    /// The module of a registry that its manifest says it was packed as; `None` if it does not say.
    pub fn published_as(&self) -> Option<ModuleAddr> {
        self.about()?.address().ok().flatten()
    }

    /// The module that it says it is, if it does not answer for the one that is asked for. One that says nothing answers for
    /// any.
    pub fn other_address(&self, asked: &ModuleAddr, predecessors: &Predecessors) -> Option<ModuleAddr> {
        self.published_as().filter(|said| !predecessors.same_module(said, asked))
    }

    /// The digest of its manifest, by SHA-256; `None` if it is in no OCI repository.
    pub fn manifest(&self) -> Option<&Digest> {
        self.identity().index()
    }

    /// What signatures name: its manifest, if it is in an OCI repository.
    pub fn identity(&self) -> &Identity {
        match &self.from {
            PackageEnd::Repository { identity, .. } => identity,
            PackageEnd::Web(_) | PackageEnd::Git(_) => &Identity::Unidentified,
        }
    }

    /// What its manifest says; `None` if it is in no OCI repository.
    pub fn about(&self) -> Option<&ModuleManifest> {
        match &self.from {
            PackageEnd::Repository { about, .. } => Some(about),
            PackageEnd::Web(_) | PackageEnd::Git(_) => None,
        }
    }

    /// What lies beside its manifest and may say who signed it, unverified; nothing if it is in no OCI repository.
    ///
    /// # Errors
    /// If the repository could not be asked: an error does not mean that there is no signature.
    pub async fn evidence(&self, search: Search) -> Result<Vec<Evidence>, ModuleError> {
        match &self.from {
            PackageEnd::Repository { store, manifest, .. } => Ok(evidence(&**store, manifest, search).await?),
            PackageEnd::Web(_) | PackageEnd::Git(_) => Ok(Vec::new()),
        }
    }

    /// What publishers say of its manifest later, unverified; nothing if it is in no OCI repository.
    ///
    /// # Errors
    /// If the repository could not be asked.
    pub async fn notices(&self) -> Result<Vec<Evidence>, ModuleError> {
        match &self.from {
            PackageEnd::Repository { store, manifest, .. } => Ok(notice_evidence(&**store, manifest).await?),
            PackageEnd::Web(_) | PackageEnd::Git(_) => Ok(Vec::new()),
        }
    }

    /// The bytes of its archive. [`Part::checked`] compares them with its digest and size.
    ///
    /// # Errors
    /// If no answer begins them.
    pub async fn open(&self) -> Result<PartStream, ModuleError> {
        match (&self.from, &self.bytes) {
            (PackageEnd::Repository { store, about, .. }, _) => {
                let package = about.package();
                Ok(PartStream { size: Some(package.size), stream: store.fetch(package).await? })
            }
            (PackageEnd::Web(web), PackageBytes::Archive { part, .. }) => web_part::opened(web, &self.place, part)
                .await
                .map_err(|failure| ModuleError::Failed { place: self.place.clone(), failure }),
            (PackageEnd::Git(_) | PackageEnd::Web(_), _) => {
                let failure = Failure::BadBody("a git repository has no archive".to_owned());
                Err(ModuleError::Failed { place: self.place.clone(), failure })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use tofu_oci_layout::media_type;
    use tofu_oci_store::{MemoryStore, Store as _};

    use super::*;

    /// What a package with this address in its manifest answers as.
    async fn published_as(address: &str) -> Result<Option<ModuleAddr>, ModuleError> {
        let zip = Descriptor::of(media_type::ARCHIVE_ZIP, b"x");
        let manifest = serde_json::json!({ "schemaVersion": 2, "mediaType": media_type::OCI_MANIFEST,
            "artifactType": "application/vnd.opentofu.modulepkg", "layers": [zip],
            "annotations": { annotation::MODULE_ADDRESS: address } });
        let (store, bytes) = (MemoryStore::new("memory".parse().unwrap()), Bytes::from(manifest.to_string()));
        let descriptor = Descriptor::of(media_type::OCI_MANIFEST, &bytes);
        store.push(&zip, &Bytes::from_static(b"x")).await.unwrap();
        store.push(&descriptor, &bytes).await.unwrap();
        let reference = Reference::Digest(descriptor.digest);
        Ok(ModulePackage::of_store(Arc::new(store), &reference, Subdir::root()).await?.published_as())
    }

    #[tokio::test]
    async fn a_module_of_an_unreadable_address_answered_for_any() {
        let address = "registry.example.com/acme/network/aws";
        assert_eq!(published_as(address).await.unwrap(), Some(address.parse().unwrap()));
        for unreadable in ["acme corp/network/aws", "", "registry.example.com/acme/network/AWS"] {
            let error = published_as(unreadable).await.unwrap_err();
            assert_eq!(error.code(), "bad-layout", "{unreadable}: {error}");
        }
    }
}
