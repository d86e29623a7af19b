//! What became of versions that a run was moving when it was interrupted.

use std::collections::BTreeSet;
use std::sync::PoisonError;
use std::time::Duration;

use tofu_oci_source::{Listing, version_of};
use tofu_oci_store::Store;
use tofu_oci_trust::VersionOf;
use tofu_oci_types::{Descriptor, Digest, Moment, Reference, Tag, Version};

use super::{FirstSeen, KeptSightings};
use crate::MirrorError;
use crate::destination::sightings::{Sighted, Sightings, SightingsRecord, VersionMark};

/// How long a run is taken for one that may still do what it has announced.
const LONGEST_RUN: Duration = Duration::from_hours(1);

/// What a run knows before it moves anything.
pub(crate) struct SeenNow {
    /// What earlier runs know; `None` in the first one.
    pub(crate) known: Option<Sightings>,
    /// The same with what is seen now.
    pub(crate) sightings: Sightings,
    /// The versions that an interrupted run was moving; the sightings say what became of them.
    pub(crate) interrupted: BTreeSet<String>,
}

impl<A: Sighted> FirstSeen<A> {
    /// What the record says, with what the place of the provider or module lists now.
    pub(crate) async fn seen_now(
        &self,
        record: &SightingsRecord,
        (there, offered): (&Listing, &[Version]),
        now: Moment,
    ) -> Result<SeenNow, MirrorError> {
        let known = record.of(&self.address).cloned();
        *self.before.lock().unwrap_or_else(PoisonError::into_inner) = known.clone().unwrap_or_default();
        let mut sightings = known.clone().unwrap_or_default();
        for version in offered {
            sightings.see(version, now);
        }
        let interrupted = self.mark_interrupted(record, there, &mut sightings, now).await?;
        Ok(SeenNow { known, sightings, interrupted })
    }

    /// Marks the versions that a run was moving when it was interrupted, if they have arrived or are withdrawn. Gives them, and those
    /// of which nothing came for long: a run that began a short time ago may be at work still.
    async fn mark_interrupted(
        &self,
        record: &SightingsRecord,
        there: &Listing,
        sightings: &mut Sightings,
        now: Moment,
    ) -> Result<BTreeSet<String>, MirrorError> {
        let mut marked = BTreeSet::new();
        let (Some(moving), KeptSightings::Artefact(store)) = (A::moving(record).get(&self.address), &self.kept) else {
            return Ok(marked);
        };
        for (text, since) in moving {
            let Ok(version) = text.parse::<Version>() else { continue };
            let may_go_on = now.since(*since) <= LONGEST_RUN;
            let is_there = there.versions.contains(&version);
            let tag = match (is_there, there.withdrawn.contains(&version)) {
                (true, _) => Tag::for_version(&version),
                (false, true) => Tag::withdrawn(&version),
                (false, false) => {
                    // It never arrived; another program may bring it later.
                    if !may_go_on {
                        marked.insert(text.clone());
                    }
                    continue;
                }
            };
            let Ok(tag) = tag else { continue };
            let (found, index) = match store.manifest(&Reference::Tag(tag)).await {
                Ok((found, bytes)) => (found, Digest::sha256(&bytes)),
                // What is missing or damaged is looked at with the version itself.
                Err(error) if error.is_not_found() || error.is_of_content() => continue,
                Err(error) => return Err(error.into()),
            };
            let is_as_it_was = match sightings.mark(&version) {
                Some(VersionMark::Mirrored(known) | VersionMark::Whole(known)) => is_there && *known == index,
                Some(VersionMark::Withdrawn(known)) => !is_there && *known == index,
                None => false,
            };
            if is_as_it_was {
                if !may_go_on {
                    marked.insert(text.clone());
                }
                continue;
            }
            match sightings.mark(&version) {
                _ if is_there && !self.is_of_another(&**store, (record, &found)).await? => {
                    sightings.set_mark(&version, VersionMark::Mirrored(index), now);
                }
                // People withdrew another manifest.
                Some(known) if !is_there && *known.index() == index => {
                    sightings.set_mark(&version, VersionMark::Withdrawn(index), now);
                }
                _ => {}
            }
            marked.insert(text.clone());
        }
        Ok(marked)
    }

    /// Whether what lies under the tag says that it is of another provider that is mirrored here: that one's run brought it.
    async fn is_of_another(
        &self,
        store: &dyn Store,
        (record, found): (&SightingsRecord, &Descriptor),
    ) -> Result<bool, MirrorError> {
        let Some(own) = self.address.provider() else { return Ok(false) };
        Ok(match version_of(store, found).await? {
            Some(VersionOf::Provider { address }) => address != *own && record.providers.contains_key(&address),
            Some(VersionOf::Module) | None => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use tofu_oci_layout::media_type;
    use tofu_oci_store::MemoryStore;
    use tofu_oci_types::{ModuleAddr, Place};

    use super::super::RecordWrite;
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[tokio::test]
    async fn a_module_that_an_interrupted_run_brought_lost_its_mark() {
        let store = Arc::new(MemoryStore::new(Place::Method("memory".into())));
        let mut manifests = Vec::new();
        for tag in ["1.0.0", "withdrawn-1.1.0"] {
            let text = format!(r#"{{"schemaVersion":2,"mediaType":"{}","x":"{tag}"}}"#, media_type::OCI_MANIFEST);
            let manifest = Descriptor::of(media_type::OCI_MANIFEST, text.as_bytes());
            store.push(&manifest, &Bytes::from(text)).await.unwrap();
            store.tag(&manifest, &tag.parse().unwrap()).await.unwrap();
            manifests.push(manifest.digest);
        }
        let module: ModuleAddr = "example.com/acme/network/aws".parse().unwrap();
        let first_seen = FirstSeen::in_store(Arc::clone(&store) as _, &module);
        let (now, mut known) = ("2026-01-01T00:00:00Z".parse().unwrap(), Sightings::default());
        known.set_mark(&version("1.1.0"), VersionMark::Mirrored(manifests[1].clone()), now);
        let (none, versions) = (BTreeSet::new(), ["1.0.0", "1.1.0", "1.2.0"].map(str::to_owned).into());
        let record = first_seen
            .change_moving(RecordWrite::Moves, &known, (&none, Some((&versions, now))), &|_| {})
            .await
            .unwrap();
        let there =
            Listing { versions: vec![version("1.0.0")], withdrawn: vec![version("1.1.0")], ..Listing::default() };
        let marked = first_seen.mark_interrupted(&record, &there, &mut known, now).await.unwrap();
        assert!(!marked.contains("1.2.0") && marked.len() == 2, "its run may be at work still");
        let later = now.after(LONGEST_RUN + Duration::from_secs(1));
        let marked = first_seen.mark_interrupted(&record, &there, &mut known, later).await.unwrap();
        assert_eq!(marked, versions);
        assert_eq!(known.mark(&version("1.0.0")), Some(&VersionMark::Mirrored(manifests[0].clone())));
        assert_eq!(known.mark(&version("1.1.0")), Some(&VersionMark::Withdrawn(manifests[1].clone())));
        assert_eq!(known.mark(&version("1.2.0")), None, "it has not come");
        let record = first_seen.change_moving(RecordWrite::Marks, &known, (&marked, None), &|_| {}).await.unwrap();
        assert!(record.moving_modules.is_empty() && record.providers.is_empty());
    }

    #[tokio::test]
    async fn a_run_took_the_announcement_of_another_one_that_was_withdrawing() {
        let store = Arc::new(MemoryStore::new(Place::Method("memory".into())));
        let text = format!(r#"{{"schemaVersion":2,"mediaType":"{}"}}"#, media_type::OCI_MANIFEST);
        let manifest = Descriptor::of(media_type::OCI_MANIFEST, text.as_bytes());
        store.push(&manifest, &Bytes::from(text)).await.unwrap();
        store.tag(&manifest, &"1.0.0".parse().unwrap()).await.unwrap();
        let module: ModuleAddr = "example.com/acme/network/aws".parse().unwrap();
        let (now, mut known) = ("2026-01-01T00:00:00Z".parse().unwrap(), Sightings::default());
        known.set_mark(&version("1.0.0"), VersionMark::Mirrored(manifest.digest.clone()), now);
        let withdrawing = FirstSeen::in_store(Arc::clone(&store) as _, &module);
        let (none, versions) = (BTreeSet::new(), BTreeSet::from(["1.0.0".to_owned()]));
        withdrawing.change_moving(RecordWrite::Moves, &known, (&none, Some((&versions, now))), &|_| {}).await.unwrap();
        // Another run looks, then the first one ends, then the other one writes what it knows.
        let other = FirstSeen::in_store(store as _, &module);
        let record = other.record().await.unwrap().unwrap();
        let there = Listing { versions: vec![version("1.0.0")], ..Listing::default() };
        let seen = other.seen_now(&record, (&there, &[version("1.1.0")]), now).await.unwrap();
        assert!(seen.interrupted.is_empty(), "it may be at work still");
        let mut marked = known.clone();
        marked.set_mark(&version("1.0.0"), VersionMark::Withdrawn(manifest.digest.clone()), now);
        withdrawing.change_moving(RecordWrite::Marks, &marked, (&versions, None), &|_| {}).await.unwrap();
        let record = other.add(&seen.sightings).await.unwrap();
        let both = record.of(&module).unwrap();
        assert_eq!(both.mark(&version("1.0.0")), Some(&VersionMark::Withdrawn(manifest.digest)), "what it did counts");
        assert!(both.seen(&version("1.1.0")).is_some());
    }
}
