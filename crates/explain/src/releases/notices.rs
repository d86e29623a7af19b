//! Which notices of publishers `versions`, `show` and `outdated` name.

use futures_util::StreamExt as _;
use serde::Serialize;
use tofu_oci_source::{Listing, NotOffered, Source, SourceError, module_notice, withdrawal};
use tofu_oci_store::ReadStore;
use tofu_oci_trust::{Notice, NoticeReason, NoticeWriter, ReleaseState, VersionOf};
use tofu_oci_types::{ProviderAddr, Version};

/// How many notices are read at once.
const AT_ONCE: usize = 8;

/// Of how many versions notices are read, the newest first.
const MOST: usize = 50;

/// What the publisher says of a version, unverified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VersionNotice {
    /// The version.
    #[serde(skip)]
    pub version: Version,
    /// What may be done with it.
    pub state: ReleaseState,
    /// Why; `None` if that could not be read.
    pub reason: Option<NoticeReason>,
    /// Who says so; `None` if that could not be read.
    pub writer: Option<NoticeWriter>,
}

impl VersionNotice {
    /// Its state, and who says it if that is known: `withdrawn by its publisher`.
    pub fn said(&self) -> String {
        let by = self.writer.map(|writer| format!(" by {writer}")).unwrap_or_default();
        format!("{}{by}", self.state)
    }
}

/// Who is asked for the notices about a provider, or about the module of a repository.
#[derive(Clone, Copy)]
pub enum NoticesOf<'a> {
    Provider(&'a dyn Source, &'a ProviderAddr),
    Module(&'a dyn ReadStore),
}

impl NoticesOf<'_> {
    /// The notice about one version; `None` if the tags name none, or if it no longer holds.
    pub async fn version(self, version: &Version, listing: &Listing) -> Option<VersionNotice> {
        let version = version.clone();
        if listing.withdrawn.contains(&version) {
            let (reason, writer) = match self {
                Self::Provider(source, address) => match source.release(address, &version).await {
                    Err(error) => match error.innermost() {
                        SourceError::NotOffered { what: NotOffered::Withdrawn { reason, writer, .. }, .. } => {
                            (reason.clone(), *writer)
                        }
                        _ => (None, None),
                    },
                    Ok(_) => (None, None),
                },
                Self::Module(store) => {
                    let notice = withdrawal(store, &VersionOf::Module, &version).await;
                    notice.map(|notice| (notice.reason, notice.writer)).unzip()
                }
            };
            return Some(VersionNotice { version, state: ReleaseState::Withdrawn, reason, writer });
        }
        if !listing.deprecated.contains(&version) || !listing.versions.contains(&version) {
            return None;
        }
        let notice = match self {
            Self::Provider(source, address) => source.release(address, &version).await.ok()?.notice().await.ok()??,
            Self::Module(store) => module_notice(store, &version).await?,
        };
        let Notice { state, reason, writer, .. } = notice;
        Some(VersionNotice { version, state, reason: Some(reason), writer: Some(writer) })
    }

    /// The notices about all versions of a listing, the newest version first; at most fifty are read.
    pub async fn versions(self, listing: &Listing) -> Vec<VersionNotice> {
        let read: Vec<_> = named(listing).into_iter().map(|version| self.version(version, listing)).collect();
        futures_util::stream::iter(read).buffered(AT_ONCE).filter_map(std::future::ready).collect().await
    }
}

/// The versions with a tag of a notice, the newest first.
fn named(listing: &Listing) -> Vec<&Version> {
    let mut named: Vec<&Version> = listing.withdrawn.iter().chain(&listing.deprecated).collect();
    named.sort_by(|one, other| other.precedence(one));
    named.dedup();
    named.truncate(MOST);
    named
}
