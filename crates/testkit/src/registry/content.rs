//! The content of an in-process registry: repositories, tags and upload sessions, in memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::behaviour::RepositoryNames;

/// A manifest as it was pushed.
#[derive(Clone, Debug)]
pub(crate) struct StoredManifest {
    pub(crate) media_type: String,
    pub(crate) bytes: Bytes,
}

/// One repository; keys are digests.
#[derive(Debug, Default)]
pub(crate) struct Repository {
    pub(crate) blobs: HashMap<String, Bytes>,
    pub(crate) manifests: BTreeMap<String, StoredManifest>,
    pub(crate) tags: BTreeMap<String, String>,
}

/// An upload session. `state` changes with every accepted chunk and must be in the URL of the next request.
#[derive(Debug)]
pub(crate) struct Upload {
    pub(crate) repository: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) state: u64,
    /// How many chunks were sent.
    pub(crate) chunks: usize,
}

/// Everything, shared between the registry and its blob hosts.
#[derive(Clone, Debug, Default)]
pub(crate) struct RegistryContent(Arc<Mutex<ContentState>>);

#[derive(Debug, Default)]
pub(crate) struct ContentState {
    pub(crate) repositories: BTreeMap<String, Repository>,
    pub(crate) uploads: HashMap<String, Upload>,
    /// Repositories, or the spaces that they lie in, that were made by their owner.
    pub(crate) made: BTreeSet<String>,
    serial: u64,
}

impl RegistryContent {
    pub(crate) fn lock(&self) -> MutexGuard<'_, ContentState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ContentState {
    pub(crate) fn repository(&mut self, name: &str) -> &mut Repository {
        self.repositories.entry(name.to_owned()).or_default()
    }

    /// Whether a repository of this name takes a push, by the registry's rule.
    pub(crate) fn takes(&self, repository: &str, names: &RepositoryNames) -> bool {
        let parts: Vec<&str> = repository.split('/').collect();
        let made = parts[..parts.len().min(names.made)].join("/");
        (names.fewest..=names.most).contains(&parts.len()) && (names.made == 0 || self.made.contains(&made))
    }

    pub(crate) fn blob(&self, repository: &str, digest: &str) -> Option<Bytes> {
        self.repositories.get(repository)?.blobs.get(digest).cloned()
    }

    /// Digest and manifest by tag or digest.
    pub(crate) fn manifest(&self, repository: &str, reference: &str) -> Option<(String, StoredManifest)> {
        let repository = self.repositories.get(repository)?;
        let digest = repository.tags.get(reference).map_or(reference, String::as_str);
        Some((digest.to_owned(), repository.manifests.get(digest)?.clone()))
    }

    /// A new, empty upload session; gives its id.
    pub(crate) fn begin_upload(&mut self, repository: &str) -> String {
        self.serial += 1;
        let id = format!("00000000-0000-4000-8000-{:012}", self.serial);
        self.uploads
            .insert(id.clone(), Upload { repository: repository.to_owned(), bytes: Vec::new(), state: 1, chunks: 0 });
        id
    }
}
