//! Which versions the tags of a provider's repository are, and which tags are stray: they only look like a version.

use std::collections::HashSet;

use futures_util::{StreamExt as _, TryStreamExt as _};
use serde::Serialize;
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_types::{Reference, Tag, Version};

use crate::is_withdrawn;

/// How many versions with a tag `withdrawn-VERSION` beside their own are asked for, the newest first; the others count as versions.
const MOST_DOUBTFUL: usize = 200;
/// How many of them are asked for at a time.
const AT_ONCE: usize = 8;

/// What a repository's tags, or a registry's list, say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Listing {
    /// Versions whose canonical tag exists, ascending; equal precedence keeps the order of the tags.
    pub versions: Vec<Version>,
    /// Tags that `OpenTofu` reads as a version, although that version has another canonical tag.
    pub stray: Vec<StrayTag>,
    /// Versions that were withdrawn, ascending: their content has the tag `withdrawn-VERSION`, and their own tag is gone, or names
    /// the same content although the notice still holds.
    pub withdrawn: Vec<Version>,
    /// Of the withdrawn versions, those whose own tag is still listed, ascending: a withdrawal was interrupted, or another program
    /// has written the tag again. `OpenTofu` can choose them; if the tag names no release, it then fails.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub half_withdrawn: Vec<Version>,
    /// Versions of which the publisher said that they are deprecated, ascending: there is a tag `deprecated-VERSION`. Only
    /// the notice under it says whether that still holds.
    pub deprecated: Vec<Version>,
    /// What an origin registry wants users to know of the provider, as it wrote it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// All tags, if the place is a repository, without those of half withdrawn versions that name no release.
    #[serde(skip)]
    pub tags: Option<Vec<Tag>>,
}

/// A tag such as `2`, `1.4` or `01.4.0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct StrayTag {
    /// The tag.
    pub tag: Tag,
    /// The version that `OpenTofu` reads it as.
    pub version: Version,
    /// What it does to users of `OpenTofu`.
    pub effect: StrayEffect,
}

/// What a stray tag does to users of `OpenTofu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StrayEffect {
    /// The version's canonical tag exists too, so that it is found.
    Harmless,
    /// The version has no tag: `tofu init` chooses it, asks for its tag, and fails.
    BreaksInit,
}

impl Listing {
    /// The same as [`Listing::of`], for the tags of this store. What has a tag `withdrawn-VERSION` beside its own tag is asked
    /// for: it may be available again, or [half withdrawn](Listing::half_withdrawn).
    ///
    /// # Errors
    /// If the store could not be asked whether such a version is withdrawn.
    pub async fn in_store(store: &dyn ReadStore, tags: &[Tag]) -> Result<Self, StoreError> {
        let withdrawn: HashSet<Version> = tags.iter().filter_map(Tag::withdrawn_version).collect();
        let listed: HashSet<&Tag> = if withdrawn.is_empty() { HashSet::new() } else { tags.iter().collect() };
        let own = withdrawn.into_iter().filter_map(|version| Some((Tag::for_version(&version).ok()?, version)));
        let mut own: Vec<(Tag, Version)> = own.filter(|(tag, _)| listed.contains(tag)).collect();
        own.sort_by(|(a_tag, a), (b_tag, b)| b.precedence(a).then_with(|| b_tag.cmp(a_tag)));
        let doubtful = own.into_iter().take(MOST_DOUBTFUL).map(|(tag, version)| async move {
            let is_empty = match store.resolve(&Reference::Tag(tag.clone())).await {
                Ok(own) if is_withdrawn(store, &version, &own.digest).await? => false,
                Err(error) if error.is_not_found() => true,
                Err(error) if !error.is_of_content() => return Err(error),
                // Whoever asks for one that is broken reads so.
                Ok(_) | Err(_) => return Ok(None),
            };
            Ok(Some((tag, version, is_empty)))
        });
        let doubtful: Vec<_> = doubtful.collect();
        let mut gone: Vec<(Tag, Version, bool)> = futures_util::stream::iter(doubtful)
            .buffer_unordered(AT_ONCE)
            .try_filter_map(|one| std::future::ready(Ok(one)))
            .try_collect()
            .await?;
        if gone.is_empty() {
            return Ok(Self::of(tags));
        }
        gone.sort_by(|(_, one, _), (_, other, _)| one.precedence(other));
        let without = |is_gone: fn(bool) -> bool| {
            let own: HashSet<&Tag> = gone.iter().filter(|(.., empty)| is_gone(*empty)).map(|(tag, ..)| tag).collect();
            tags.iter().filter(|tag| !own.contains(tag)).cloned().collect::<Vec<_>>()
        };
        let (rest, named) = (without(|_| true), without(|is_empty| is_empty));
        let half_withdrawn = gone.iter().map(|(_, version, _)| version.clone()).collect();
        Ok(Self { half_withdrawn, tags: Some(named), ..Self::of(&rest) })
    }

    /// Sorts tags into versions and strays.
    ///
    /// Spec: `OpenTofu` 1.12, getproviders, `OCIRegistryMirrorSource.AvailableVersions`.
    pub fn of(tags: &[Tag]) -> Self {
        let read: Vec<(&Tag, Version)> = tags.iter().filter_map(|tag| Some((tag, tag.version()?))).collect();
        let canonical = |tag: &Tag, version: &Version| Tag::for_version(version).is_ok_and(|right| right == *tag);
        let mut listing = Self { tags: Some(tags.to_vec()), ..Self::default() };
        for (tag, version) in &read {
            if canonical(tag, version) {
                listing.versions.push(version.clone());
            }
        }
        listing.versions.sort_by(Version::precedence);
        let found: HashSet<Version> = listing.versions.iter().cloned().collect();
        for (tag, version) in read {
            if !canonical(tag, &version) {
                let effect = if found.contains(&version) { StrayEffect::Harmless } else { StrayEffect::BreaksInit };
                listing.stray.push(StrayTag { tag: tag.clone(), version, effect });
            }
        }
        listing.stray.sort_by(|a, b| a.tag.cmp(&b.tag));
        listing.withdrawn = tags.iter().filter_map(Tag::withdrawn_version).collect();
        listing.withdrawn.retain(|version| !found.contains(version));
        listing.withdrawn.sort_by(Version::precedence);
        listing.deprecated = tags.iter().filter_map(Tag::deprecated_version).collect();
        listing.deprecated.sort_by(Version::precedence);
        listing
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tofu_oci_layout::PackageLayout;
    use tofu_oci_store::{GiveUpReason, MemoryStore, Store};
    use tofu_oci_testkit::{HookedStore, Inline, Referrer, StoreHook};
    use tofu_oci_trust::NOTICE_ARTIFACT_TYPE;
    use tofu_oci_types::{Descriptor, Digest, Place};

    use super::*;
    use crate::oci::tests::{ADDRESS, release};
    use crate::{OciSource, Source as _};

    /// Each was compared with all versions.
    #[test]
    fn a_repository_of_many_withdrawn_and_stray_tags_kept_a_run_busy_for_minutes() {
        const MANY: usize = 30_000;
        let tags = |form: fn(usize) -> String| (0..MANY).map(move |nth| form(nth).parse::<Tag>().unwrap());
        let all: Vec<Tag> = tags(|nth| format!("1.{nth}.0"))
            .chain(tags(|nth| format!("withdrawn-2.{nth}.0")))
            .chain(tags(|nth| format!("v1.{nth}.0")))
            .collect();
        let listing = Listing::of(&all);
        assert_eq!((listing.versions.len(), listing.withdrawn.len()), (MANY, MANY));
    }

    #[tokio::test]
    async fn each_run_asked_for_another_part_of_many_withdrawn_versions() {
        let store = MemoryStore::new(Place::Host("test".to_owned()));
        let forms = ["1", "withdrawn-1"];
        let many = || (0..MOST_DOUBTFUL + 50).flat_map(|nth| forms.map(|form| format!("{form}.{nth}.0")));
        let tags: Vec<Tag> = many().map(|text| text.parse().unwrap()).collect();
        let listing = Listing::in_store(&store, &tags).await.unwrap();
        let oldest = listing.half_withdrawn.first().map(ToString::to_string);
        assert_eq!((listing.half_withdrawn.len(), oldest.as_deref()), (MOST_DOUBTFUL, Some("1.50.0")));
    }

    /// A registry that answers 429 if it is asked for referrers.
    struct Limited(MemoryStore);

    #[async_trait::async_trait]
    impl StoreHook for Limited {
        fn inner(&self) -> &dyn Store {
            &self.0
        }

        async fn referrers(&self, _: &Digest) -> Result<Vec<Descriptor>, StoreError> {
            Err(StoreError::RateLimited { place: self.0.place(), seconds: 1, reason: GiveUpReason::Attempts })
        }
    }

    /// 1.0.0, whose content is kept as withdrawn as well, under the digest that is returned.
    async fn kept() -> (MemoryStore, Descriptor) {
        let store = MemoryStore::new(Place::Host("test".to_owned()));
        release(&store, PackageLayout::Artifact, &["linux_amd64"]).await;
        let index = store.resolve(&Reference::Tag("1.0.0".parse().unwrap())).await.unwrap();
        store.tag(&index, &"withdrawn-1.0.0".parse().unwrap()).await.unwrap();
        (store, index)
    }

    #[tokio::test]
    async fn a_version_whose_withdrawal_the_registry_did_not_give_was_listed_and_installed() {
        let source = OciSource::new(Arc::new(HookedStore(Limited(kept().await.0))));
        let (address, version) = (ADDRESS.parse().unwrap(), "1.0.0".parse().unwrap());
        assert!(source.versions(&address).await.unwrap_err().is_transient());
        assert!(source.release(&address, &version).await.err().unwrap().is_transient());
    }

    #[tokio::test]
    async fn a_version_whose_withdrawal_is_broken_was_available() {
        let (store, index) = kept().await;
        let tags = store.tags().await.unwrap();
        assert!(Listing::in_store(&store, &tags).await.unwrap().withdrawn.is_empty(), "it has no notice");
        let notice = Referrer::new(&index, NOTICE_ARTIFACT_TYPE).layer("application/json", b"{", &[], Inline::No);
        for (descriptor, bytes) in notice.blobs().into_iter().chain([(notice.descriptor(), notice.manifest())]) {
            store.push(&descriptor, &bytes).await.unwrap();
        }
        let listing = Listing::in_store(&store, &tags).await.unwrap();
        assert_eq!((listing.versions.len(), listing.withdrawn.len()), (0, 1));
    }

    #[track_caller]
    fn check(tags: &str, versions: &str, stray: &str) {
        let tags: Vec<Tag> = tags.split_whitespace().map(|tag| tag.parse().unwrap()).collect();
        let listing = Listing::of(&tags);
        let found: Vec<String> = listing.versions.iter().map(ToString::to_string).collect();
        let strays: Vec<String> = listing
            .stray
            .iter()
            .map(|stray| match stray.effect {
                StrayEffect::Harmless => stray.tag.to_string(),
                StrayEffect::BreaksInit => format!("{}!", stray.tag),
            })
            .collect();
        assert_eq!((found.join(" "), strays.join(" ")), (versions.to_owned(), stray.to_owned()));
    }

    #[test]
    fn only_canonical_tags_are_versions() {
        check("1.10.0 1.9.0 1.0.0-rc.1", "1.0.0-rc.1 1.9.0 1.10.0", "");
        check("1.0.0 latest v1.1.0 sha256-aa.sig main", "1.0.0", "");
        check("1.0.0 2", "1.0.0", "2!");
        check("1.0.0 1.0 01.0.0 1", "1.0.0", "01.0.0 1 1.0");
        check("1.4.0 2.1 01.5.0", "1.4.0", "01.5.0! 2.1!");
        check("1.2.0_linux.5", "1.2.0+linux.5", "");
        check("1.0", "", "1.0!");
        check("", "", "");
    }

    #[test]
    fn tags_of_notices_are_neither_versions_nor_stray() {
        let tags = "1.0.0 1.2.0 withdrawn-1.10.0 withdrawn-1.9.0 withdrawn-1.0.0 deprecated-1.2.0 withdrawn-1.1";
        check(tags, "1.0.0 1.2.0", "");
        let tags: Vec<Tag> = tags.split_whitespace().map(|tag| tag.parse().unwrap()).collect();
        let listing = Listing::of(&tags);
        let texts = |versions: &[Version]| versions.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        // 1.0.0 was published again.
        assert_eq!((texts(&listing.withdrawn), texts(&listing.deprecated)), ("1.9.0 1.10.0".into(), "1.2.0".into()));
    }

    #[test]
    fn equal_precedence_keeps_the_order_of_the_tags() {
        check("1.0.0_b 1.0.0 1.0.0_a", "1.0.0+b 1.0.0 1.0.0+a", "");
    }

    #[test]
    fn the_vectors() {
        tofu_oci_vectors::Vectors::open("tags.json").each("tags", |case| {
            let text = case["tag"].as_str().unwrap();
            let Ok(tag) = text.parse::<Tag>() else { return };
            let listing = Listing::of(&[tag]);
            let version = case["version"].as_str();
            let round_trips = case["round_trips"].as_bool().unwrap_or(false);
            let found = listing.versions.first().map(ToString::to_string);
            assert_eq!(found.as_deref(), version.filter(|_| round_trips), "{text}");
            assert_eq!(listing.stray.len(), usize::from(version.is_some() && !round_trips), "{text}");
        });
    }
}
