//! One repository.

use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_store::{ByteStream, Content, Pushed, ReadStore, Store, StoreError};
use tofu_oci_types::{Descriptor, Digest, Reference, RepositoryRef, Tag};

use crate::client::RegistryClient;

/// What is known about a repository before a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// It may hold anything.
    Unknown,
    /// It lists no tags, or does not exist yet.
    Fresh,
}

/// One repository of a registry.
pub struct RemoteStore {
    client: Arc<RegistryClient>,
    repository: RepositoryRef,
    freshness: Freshness,
}

impl RemoteStore {
    pub(crate) fn new(client: Arc<RegistryClient>, repository: RepositoryRef) -> Self {
        Self { client, repository, freshness: Freshness::Unknown }
    }

    /// The same store with knowledge that saves requests on upload.
    #[must_use]
    pub fn with_freshness(mut self, freshness: Freshness) -> Self {
        self.freshness = freshness;
        self
    }

    fn soon<T>(&self) -> Result<T, StoreError> {
        let _ = (&self.client.options, &self.client.credentials, &self.client.reporter, self.freshness);
        Err(StoreError::Unreachable { place: self.place(), problem: "not connected yet".to_owned() })
    }
}

#[async_trait]
impl ReadStore for RemoteStore {
    fn place(&self) -> String {
        self.repository.to_string()
    }

    fn repository(&self) -> Option<&RepositoryRef> {
        Some(&self.repository)
    }

    async fn resolve(&self, _reference: &Reference) -> Result<Descriptor, StoreError> {
        self.soon()
    }

    async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        self.soon()
    }

    async fn exists(&self, _descriptor: &Descriptor) -> Result<bool, StoreError> {
        self.soon()
    }

    async fn fetch_unverified(&self, _descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        self.soon()
    }

    async fn referrers(&self, _subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        self.soon()
    }
}

#[async_trait]
impl Store for RemoteStore {
    async fn push(&self, _descriptor: &Descriptor, _content: &Content<'_>) -> Result<Pushed, StoreError> {
        self.soon()
    }

    async fn tag(&self, _descriptor: &Descriptor, _tag: &Tag) -> Result<(), StoreError> {
        self.soon()
    }

    async fn mount(&self, _descriptor: &Descriptor, _from: &RepositoryRef) -> Result<bool, StoreError> {
        self.soon()
    }
}
