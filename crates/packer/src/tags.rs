//! The tag of a version: which one it is, when a taken tag may move, and tags beside it that break other people's `init`.

use tofu_oci_layout::ReleaseIndex;
use tofu_oci_source::{Neighbour, is_withdrawn, read_release};
use tofu_oci_store::{ReadStore, Store, StoreError};
use tofu_oci_trust::VersionOf;
use tofu_oci_types::{Descriptor, Digest, Event, ProviderAddr, Reference, Reporter, Tag, Version, quoted};

use crate::found::resolve;
use crate::kept_for::{neighbours, or_note, tags_before};
use crate::{KnownLeaves, OtherAddress, PackError, Publication, Rename, ReplaceTag};

/// The one tag of a version.
///
/// 0.0.0 has no tag: `OpenTofu` takes it for "no version" and refuses to install it.
pub(crate) fn for_version(version: &Version) -> Result<Tag, PackError> {
    if version.is_unspecified() {
        let reason = "OpenTofu takes it for no version and does not install it".to_owned();
        return Err(PackError::NoTag { version: Box::new(version.clone()), reason });
    }
    tag_of(version)
}

/// The one tag of a version of whatever it is. 0.0.0 has one too: a module's version is never "no version".
pub(crate) fn tag_of(version: &Version) -> Result<Tag, PackError> {
    Tag::for_version(version)
        .map_err(|error| PackError::NoTag { version: Box::new(version.clone()), reason: error.to_string() })
}

/// Points the tag at the release, unless it does so already. Another program may have published since the tag was
/// read: if the tag may not be moved, its new target is returned.
pub(crate) async fn point(
    store: &dyn Store,
    index: &Descriptor,
    tag: &Tag,
    replace: ReplaceTag,
) -> Result<Option<Descriptor>, PackError> {
    if store.retag(index, tag, None).await? {
        return Ok(None);
    }
    match resolve(store, &Reference::Tag(tag.clone())).await? {
        Some(now) if now.digest == index.digest => Ok(None),
        Some(now) if replace == ReplaceTag::Refuse => Ok(Some(now)),
        _ => Ok(store.tag(index, tag).await.map(|()| None)?),
    }
}

/// The manifest that another program has put under a new tag in place of this one at the same time, if one has. A tag that another
/// one has taken away is made again.
pub(crate) async fn overwritten(
    store: &dyn Store,
    index: &Descriptor,
    tag: &Tag,
) -> Result<Option<Descriptor>, PackError> {
    store.settle_tag(tag).await?;
    match resolve(store, &Reference::Tag(tag.clone())).await? {
        Some(now) => Ok(Some(now).filter(|now| now.digest != index.digest)),
        // It may also not be shown yet: then it is written twice.
        None => Ok(store.tag(index, tag).await.map(|()| None)?),
    }
}

/// A repository before a push.
pub(crate) struct RepositoryBefore {
    /// Where the version's tag points.
    pub(crate) existing: Option<Descriptor>,
    /// Every tag; empty if the store does not list them.
    tags: Vec<Tag>,
}

/// What the tag names before a push, and all tags; without the list of tags the push goes on. A tag that is not listed names nothing; but
/// a list may be older than the tag, so whoever would replace what it names asks for it.
pub(crate) async fn before(
    store: &dyn ReadStore,
    tag: &Tag,
    replace: ReplaceTag,
    reporter: &dyn Reporter,
) -> Result<(Option<Descriptor>, Vec<Tag>), PackError> {
    let tags = tags_before(store).await?;
    let existing = match &tags {
        Ok(tags) if replace == ReplaceTag::Refuse && !tags.contains(tag) => None,
        _ => resolve(store, &Reference::Tag(tag.clone())).await?,
    };
    Ok((existing, or_note(tags, reporter)))
}

/// Where the tag points now, unless it is not among those that are listed. Warns of harmful tags beside it; the push goes on without the
/// list of tags.
pub(crate) async fn look(
    store: &dyn ReadStore,
    (tag, version, replace): (&Tag, &Version, ReplaceTag),
    listed: Option<&[Tag]>,
    reporter: &dyn Reporter,
) -> Result<RepositoryBefore, PackError> {
    let (existing, tags) = match listed {
        Some(tags) if !tags.contains(tag) => (None, tags.to_vec()),
        Some(tags) => (resolve(store, &Reference::Tag(tag.clone())).await?, tags.to_vec()),
        None => before(store, tag, replace, reporter).await?,
    };
    for event in &warnings(&tags, tag, version) {
        reporter.event(event);
    }
    Ok(RepositoryBefore { existing, tags })
}

impl RepositoryBefore {
    /// The tag that keeps the withdrawn content of the version, if the version was withdrawn and the push may not put another
    /// release in its place.
    pub(crate) fn withdrawn(&self, publication: &Publication<'_>) -> Option<Tag> {
        if self.existing.is_some() || publication.replace == ReplaceTag::Replace {
            return None;
        }
        Tag::withdrawn(publication.version).ok().filter(|tag| self.tags.contains(tag))
    }

    /// Warns of a version that stays withdrawn although its tag names this very manifest.
    pub(crate) async fn warn_if_withdrawn(
        &self,
        store: &dyn ReadStore,
        (version, index): (&Version, &Digest),
        reporter: &dyn Reporter,
    ) -> Result<(), PackError> {
        let kept = Tag::withdrawn(version).is_ok_and(|tag| self.tags.contains(&tag));
        if kept && is_withdrawn(store, version, index).await? {
            let place = store.place();
            let text = format!("{version} is withdrawn from {place}, and stays so although its tag is there");
            let tag = for_version(version)?;
            let undo = quoted(&format!("{place}:{tag}"));
            let hint = format!(
                "`tofu-oci withdraw {undo} --undo` brings it back, with --sign-key KEY if its notice is signed"
            );
            reporter.event(&Event::warning("half-withdrawn", text).with_hint(hint));
        }
        Ok(())
    }

    /// Demands that the repository is kept for the publication's address: that the release under the version's own tag or
    /// the newest other version names it, or that neither names a provider; and that it holds no module.
    ///
    /// # Errors
    /// [`PackError::OtherAddress`], [`PackError::KeptForOther`].
    pub(crate) async fn require_address(
        &self,
        store: &dyn ReadStore,
        tag: &Tag,
        publication: &Publication<'_>,
    ) -> Result<(), PackError> {
        let of = publication.address.into();
        let found = match neighbours(store, &self.tags, (tag, self.existing.as_ref()), &of).await {
            // Whoever may not read what is there can still publish.
            Err(PackError::Store(error)) if publication.rename == Rename::Allow && !error.is_transient() => {
                return Ok(());
            }
            found => found,
        };
        let (own, newest) = found?;
        // A release that was published under a wrong name may be published again, and be fixed.
        let is_fixed = own.as_ref().is_some_and(|own| own.of == of);
        if publication.rename == Rename::Allow || is_fixed {
            return Ok(());
        }
        match newest.or(own) {
            Some(Neighbour { version, of: VersionOf::Provider { address } })
                if !publication.predecessors.same_provider(&address, publication.address) =>
            {
                let (place, given) = (store.place(), publication.address.clone());
                Err(PackError::OtherAddress(Box::new(OtherAddress { place, kept: address, version, given })))
            }
            _ => Ok(()),
        }
    }
}

/// A release's leaves; `None` if it is not a release, or if the store does not hand it out: a
/// reader without the right to read it can still publish.
///
/// # Errors
/// If asking once more may help ([`StoreError::is_transient`]).
pub(crate) async fn leaves_of(store: &dyn ReadStore, index: &Descriptor) -> Result<Option<KnownLeaves>, StoreError> {
    match read_release(store, index).await {
        Ok(release) => Ok(release.as_ref().map(leaves)),
        Err(error) if error.is_transient() => Err(error),
        Err(_) => Ok(None),
    }
}

/// The release's leaves and the provider that it names; `None` each if it does not say.
///
/// # Errors
/// Those of [`read_release`].
pub(crate) async fn contents_of(
    store: &dyn ReadStore,
    index: &Descriptor,
) -> Result<(Option<KnownLeaves>, Option<ProviderAddr>), StoreError> {
    let release = read_release(store, index).await?;
    Ok((release.as_ref().map(leaves), release.and_then(|release| release.claims().address)))
}

fn leaves(release: &ReleaseIndex) -> KnownLeaves {
    let entries = release.platforms().into_iter().flat_map(|platform| release.candidates(&platform));
    let claims = release.claims().platforms;
    let zips = claims.iter().filter_map(|(platform, claims)| Some((platform.clone(), claims.zh.clone()?)));
    let contents = claims.iter().filter_map(|(platform, claims)| Some((platform.clone(), claims.h1.clone()?)));
    let digests = entries.map(|entry| entry.digest).collect();
    KnownLeaves { digests, zips: zips.collect(), contents: contents.collect() }
}

/// What to say about the tags of a repository into which `version` goes.
///
/// `OpenTofu` reads a tag leniently, and then asks for the canonical tag of what it read: if that one is missing,
/// `init` fails for everybody who would get this version. Two builds of one version are equal to it, so that which
/// one is taken depends on the registry.
///
/// Spec: `OpenTofu` 1.12, getproviders, OCI mirror source (`AvailableVersions`, then the tag of the chosen version).
fn warnings(tags: &[Tag], own: &Tag, version: &Version) -> Vec<Event> {
    let mut events = Vec::new();
    let mut prefixed = Vec::new();
    for tag in tags {
        let Some(read) = tag.version() else {
            if tag.as_str().strip_prefix('v').is_some_and(|rest| rest.parse::<Version>().is_ok()) {
                prefixed.push(tag.as_str());
            }
            continue;
        };
        let Ok(canonical) = Tag::for_version(&read) else { continue };
        let there = canonical == *own || tags.contains(&canonical);
        if canonical != *tag && !there && !read.is_prerelease() {
            let text = format!(
                "the tag {tag} reads as version {read}, whose tag {canonical} does not exist: `tofu init` fails where it chooses this version"
            );
            events.push(Event::warning("floating-tag", text).with_hint(format!("delete the tag {tag}")));
        }
        if canonical == *tag && *tag != *own && read.precedence(version).is_eq() {
            let text = format!(
                "the tag {tag} is another build of the same version: which of the two is installed depends on the registry"
            );
            events.push(
                Event::warning("several-builds", text).with_hint("publish each build under a version of its own"),
            );
        }
    }
    if !prefixed.is_empty() {
        let text = format!("OpenTofu ignores tags that begin with `v`: {}", prefixed.join(", "));
        events.push(Event::note("ignored-tag", text));
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tags: &[&str], version: &str, want: &[&str]) {
        let tags: Vec<Tag> = tags.iter().map(|tag| tag.parse().unwrap()).collect();
        let version: Version = version.parse().unwrap();
        let own = for_version(&version).unwrap();
        let found: Vec<String> = warnings(&tags, &own, &version)
            .into_iter()
            .map(|event| match event {
                Event::Message { code, text, .. } => {
                    format!("{code}: {}", text.split(" reads ").next().unwrap_or_default())
                }
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(found, want, "{tags:?}");
    }

    #[test]
    fn tells_harmful_tags_from_harmless_ones() {
        check(&["1.0.0", "1.1.0", "latest", "sha256-abc.sig"], "1.2.0", &[]);
        check(&["1.0.0", "2"], "1.1.0", &["floating-tag: the tag 2"]);
        check(&["1.4", "01.4.0"], "1.5.0", &["floating-tag: the tag 1.4", "floating-tag: the tag 01.4.0"]);
        check(&["1.0", "1.0.0"], "1.1.0", &[]);
        // The push itself makes it harmless.
        check(&["1.1"], "1.1.0", &[]);
        check(
            &["v1.4.0", "v1.5.0"],
            "1.5.0",
            &["ignored-tag: OpenTofu ignores tags that begin with `v`: v1.4.0, v1.5.0"],
        );
    }

    #[test]
    fn warns_of_two_builds_of_one_version() {
        let text = "several-builds: the tag 1.0.0_a is another build of the same version: which of the two is installed depends on the registry";
        check(&["1.0.0_a", "2.0.0_a"], "1.0.0", &[text]);
        check(&["1.0.0_a", "1.0.0_b"], "1.0.0+b", &[text]);
    }
}
