//! The network mirror protocol: releases of any registry from one web server.
//!
//! ```text
//! versions   BASE/HOST/NS/TYPE/index.json       -> Listing                              asked once for each provider
//! release    BASE/HOST/NS/TYPE/VERSION.json     -> Release { archives by platform }     asked once for each version
//! offer      no request                         -> Offer { Zip, allowed }
//! open       the archive, relative to the address that answered with VERSION.json
//! ```
//!
//! A mirror has no signatures: TLS proves which server answered, and its checksums that the archive is the listed one.
//! `VERSION.json` is asked for without an `index.json` seen before, as `OpenTofu` does.
//!
//! Spec: seed 001, "Provider Network Mirror Protocol"; `opentofu-behaviour.md` §8.6; `real-tofu-http.md` §1 (measured).

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tofu_oci_http::shown_url;
use tofu_oci_types::{Event, Place, ProviderAddr, Version, printable};
use url::Url;

use self::documents::{ArchiveList, VersionIndex};
use self::mirror::Mirror;
pub use self::mirror::{MirrorAccess, MirrorChecksums};
use self::release::MirrorRelease;
use crate::memory::{SharedCell, lock, slot};
use crate::{Failure, Listing, NotOffered, Release, Source, SourceError};

mod documents;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod mirror;
mod release;

/// Most invalid versions that a note names.
const NAMED: usize = 5;

/// A release that is asked for once.
type KnownRelease = SharedCell<Option<Arc<MirrorRelease>>>;

/// A server of the network mirror protocol.
pub struct NetworkMirrorSource {
    mirror: Arc<Mirror>,
    /// What it lists; `None` if it does not know the provider.
    lists: Mutex<HashMap<ProviderAddr, SharedCell<Option<Listing>>>>,
    /// What it has of a version; `None` if it does not know the version.
    releases: Mutex<HashMap<(ProviderAddr, Version), KnownRelease>>,
}

impl NetworkMirrorSource {
    /// The mirror at this address. Nothing is asked yet.
    ///
    /// # Errors
    /// If the text is not an address of `http:` or `https:`.
    pub fn new(url: &str, access: MirrorAccess) -> Result<Self, Failure> {
        let mirror = Arc::new(Mirror::new(url, access)?);
        Ok(Self { mirror, lists: Mutex::default(), releases: Mutex::default() })
    }

    async fn list(&self, address: &ProviderAddr) -> Result<Option<Listing>, SourceError> {
        let once = slot(&mut lock(&self.lists), address.clone());
        once.get_or_try_init(|| self.ask_for_list(address)).await.cloned()
    }

    async fn ask_for_list(&self, address: &ProviderAddr) -> Result<Option<Listing>, SourceError> {
        let Some(answer) = self.mirror.document(address, "index.json").await? else { return Ok(None) };
        let index = VersionIndex::parse(answer.body()).map_err(|problem| self.bad_body(answer.url(), &problem))?;
        if !index.invalid.is_empty() {
            let mut named: Vec<_> =
                index.invalid.iter().take(NAMED).map(|text| format!("`{}`", printable(text))).collect();
            if index.invalid.len() > NAMED {
                named.push(format!("and {} more", index.invalid.len() - NAMED));
            }
            let text = format!(
                "{} lists versions of {address} that are not written as MAJOR.MINOR.PATCH, and are left out: {}",
                self.mirror.place,
                named.join(", ")
            );
            self.mirror.access.web.reporter().event(&Event::note("invalid-versions", text));
        }
        Ok(Some(Listing { versions: index.versions, ..Listing::default() }))
    }

    async fn ask_for_release(
        &self,
        address: &ProviderAddr,
        version: &Version,
    ) -> Result<Option<Arc<MirrorRelease>>, SourceError> {
        let Some(answer) = self.mirror.document(address, &format!("{version}.json")).await? else { return Ok(None) };
        let archives = ArchiveList::parse(answer.body()).map_err(|problem| self.bad_body(answer.url(), &problem))?;
        let release = MirrorRelease::new(&self.mirror, address, version, answer.url(), archives);
        Ok(Some(Arc::new(release)))
    }

    fn bad_body(&self, url: &Url, problem: &str) -> SourceError {
        self.mirror.failed(Failure::BadBody(format!("{}: {}", shown_url(url), printable(problem))))
    }
}

#[async_trait]
impl Source for NetworkMirrorSource {
    fn place(&self) -> &Place {
        &self.mirror.place
    }

    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, SourceError> {
        let listing = self.list(address).await?;
        listing.ok_or_else(|| self.mirror.not_offered(address, NotOffered::UnknownProvider))
    }

    async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Arc<dyn Release>, SourceError> {
        let once = slot(&mut lock(&self.releases), (address.clone(), version.clone()));
        let release = once.get_or_try_init(|| self.ask_for_release(address, version)).await?.clone();
        if let Some(release) = release {
            return Ok(release);
        }
        let offered = self.list(address).await.ok().flatten().unwrap_or_default().versions;
        Err(self.mirror.not_offered(address, NotOffered::VersionMissing { version: version.clone(), offered }))
    }
}

#[cfg(test)]
mod tests;
