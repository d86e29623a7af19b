use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use tofu_oci_store::{MemoryStore, ReadStore as _};
use tofu_oci_testkit::{HookedStore, StoreHook};
use tofu_oci_types::{Moment, Predecessors, Version};

use super::*;

fn seen(version: &str) -> Sightings {
    let mut sightings = Sightings::default();
    sightings.see(&version.parse::<Version>().unwrap(), "2026-01-01T00:00:00Z".parse::<Moment>().unwrap());
    sightings
}

fn kept(kept: KeptSightings) -> FirstSeen {
    FirstSeen::kept_in(zap(), kept)
}

fn zap() -> ProviderAddr {
    "example.com/acme/zap".parse().unwrap()
}

/// An index that says it is of this provider, under its digest alone.
async fn index_of(store: &dyn Store, address: &str) -> Digest {
    // One that says nothing has another annotation.
    let key = if address.is_empty() { "a" } else { tofu_oci_layout::annotation::ADDRESS };
    let text = format!(
        r#"{{"schemaVersion":2,"mediaType":"{}","artifactType":"{}","manifests":[],"annotations":{{"{key}":"{address}"}}}}"#,
        media_type::OCI_INDEX,
        tofu_oci_layout::artifact_type::PROVIDER,
    );
    let index = Descriptor::of(media_type::OCI_INDEX, text.as_bytes());
    store.push(&index, &Bytes::from(text)).await.unwrap();
    index.digest
}

/// A store with a record as an earlier program wrote it, whose mark is about a release of this provider.
async fn unnamed(address: &str) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(Place::Method("memory".into())));
    let index = index_of(&*store, address).await;
    let mut marked = seen("1.0.0");
    let now = "2026-01-01T00:00:00Z".parse().unwrap();
    marked.set_mark(&"1.0.0".parse().unwrap(), crate::VersionMark::Whole(index), now);
    let record = SightingsRecord { unnamed: marked, ..SightingsRecord::default() };
    put(&*store, &record, None).await.unwrap();
    store
}

#[tokio::test]
async fn marks_of_an_earlier_program_are_those_of_the_provider_that_their_releases_say() {
    let own = kept(KeptSightings::Artefact(unnamed("example.com/acme/zap").await));
    assert_eq!(own.read().await.unwrap().unwrap().mirrored().len(), 1);
    let others = unnamed("example.com/acme-corp/zap").await;
    let other = kept(KeptSightings::Artefact(Arc::clone(&others)));
    assert_eq!(other.read().await.unwrap(), None, "a mark of another provider is not acted on");
    other.add(&seen("1.1.0")).await.unwrap();
    assert_eq!(other.read().await.unwrap(), Some(seen("1.1.0")));
    let address = "example.com/acme-corp/zap".parse().unwrap();
    let named = FirstSeen { address, ..kept(KeptSightings::Artefact(others)) };
    assert_eq!(named.read().await.unwrap().unwrap().mirrored().len(), 1, "and stays with its own");
}

#[tokio::test]
async fn a_mark_of_which_nothing_is_said_was_the_one_of_whoever_came_first() {
    let first = kept(KeptSightings::Artefact(unnamed("").await));
    let known = first.read().await.unwrap().unwrap();
    assert_eq!((known.mirrored().len(), known.seen(&"1.0.0".parse().unwrap()).is_some()), (0, true));
}

#[test]
fn a_record_of_an_earlier_program_with_many_versions_kept_a_run_busy_for_minutes() {
    let mut unnamed = Sightings::default();
    (0..40_000).for_each(|patch| unnamed.merge(&seen(&format!("1.0.{patch}"))));
    let mut record = SightingsRecord { unnamed, ..SightingsRecord::default() };
    let address = "example.com/acme/zap".parse().unwrap();
    record.name(&address, &HashMap::new());
    assert!(record.of(&address).unwrap().seen(&"1.0.39999".parse().unwrap()).is_some());
}

#[tokio::test]
async fn marks_of_another_provider_are_not_read_at_each_listing() {
    let other = kept(KeptSightings::Artefact(unnamed("example.com/acme-corp/zap").await));
    other.read().await.unwrap();
    assert!(other.is_unnamed(), "the names are written once");
    other.add(&seen("1.1.0")).await.unwrap();
    let record = other.record().await.unwrap().unwrap();
    assert_eq!((record.unnamed.marked().count(), other.is_unnamed()), (0, false));
    let address = "example.com/acme/zap".parse().unwrap();
    assert_eq!(record.of_others(&address, Predecessors::NONE), HashSet::from(["1.0.0"]));
}

#[tokio::test]
async fn what_is_seen_of_one_provider_is_not_seen_of_another() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(Place::Method("memory".into())));
    kept(KeptSightings::Artefact(Arc::clone(&store))).add(&seen("1.0.0")).await.unwrap();
    let address = "other.example/acme/zap".parse().unwrap();
    let other = FirstSeen { address, ..kept(KeptSightings::Artefact(store)) };
    assert_eq!(other.read().await.unwrap(), None);
}

#[tokio::test]
async fn runs_that_write_at_once_lose_no_sighting() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(Place::Method("memory".into())));
    let place = kept(KeptSightings::Artefact(Arc::clone(&store)));
    assert_eq!(place.read().await.unwrap(), None);
    let versions: Vec<Sightings> = (0..8).map(|patch| seen(&format!("1.0.{patch}"))).collect();
    let writes = futures_util::future::join_all(versions.iter().map(|one| place.add(one))).await;
    for written in writes {
        written.unwrap();
    }
    let all = place.read().await.unwrap().unwrap();
    for one in &versions {
        let mut both = all.clone();
        both.merge(one);
        assert_eq!(both, all);
    }
}

#[tokio::test]
async fn a_file_keeps_them_beside_a_tree() {
    let dir = tempfile::tempdir().unwrap();
    let place = kept(KeptSightings::File(dir.path().join(".first-seen/h/n/t.json"), zap()));
    assert_eq!(place.read().await.unwrap(), None);
    place.add(&seen("1.0.0")).await.unwrap();
    place.add(&seen("1.1.0")).await.unwrap();
    let all = place.read().await.unwrap().unwrap();
    assert!(all.seen(&"1.0.0".parse().unwrap()).is_some() && all.seen(&"1.1.0".parse().unwrap()).is_some());
}

#[tokio::test]
async fn a_tag_of_another_use_is_not_overwritten() {
    let store = MemoryStore::new(Place::Method("memory".into()));
    let bytes = Bytes::from_static(br#"{"schemaVersion":2,"artifactType":"x/y"}"#);
    let other = Descriptor::of(media_type::OCI_MANIFEST, &bytes);
    store.push(&other, &bytes).await.unwrap();
    store.tag(&other, &tag()).await.unwrap();
    let place = kept(KeptSightings::Artefact(Arc::new(store)));
    let error = place.add(&seen("1.0.0")).await.unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("not-sightings", "the tag first-seen in memory is not the record of a mirror")
    );
}

/// A repository in which another run, which had read the record before, writes it when ours waits for such runs.
struct Overwritten {
    inner: MemoryStore,
    other: Mutex<Option<SightingsRecord>>,
}

#[async_trait]
impl StoreHook for Overwritten {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }

    async fn settle(&self) -> Result<(), StoreError> {
        let other = self.other.lock().unwrap().take();
        if let Some(other) = other {
            let now = self.inner.resolve(&Reference::Tag(tag())).await?;
            put(&self.inner, &other, Some(&now.digest)).await?;
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_run_that_had_read_the_record_before_took_the_sightings_of_another_one_away() {
    let (own, theirs) = (seen("1.0.0"), seen("2.0.0"));
    let address: ProviderAddr = "other.example/acme/zap".parse().unwrap();
    let mut other = SightingsRecord::default();
    other.add(&address, &theirs);
    let inner = MemoryStore::new(Place::Method("memory".into()));
    let place =
        kept(KeptSightings::Artefact(Arc::new(HookedStore(Overwritten { inner, other: Mutex::new(Some(other)) }))));
    place.add(&own).await.unwrap();
    let record = place.record().await.unwrap().unwrap();
    assert_eq!((record.of(&place.address), record.of(&address)), (Some(&own), Some(&theirs)));
}

fn now() -> Moment {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

/// The versions that a run brings, and what it knows at its end.
fn brought() -> (BTreeSet<String>, Sightings) {
    let mut marked = seen("1.0.0");
    let mark = crate::VersionMark::Whole(Digest::sha256(b"index"));
    marked.set_mark(&"1.0.0".parse().unwrap(), mark, now());
    (BTreeSet::from(["1.0.0".to_owned()]), marked)
}

#[tokio::test]
async fn a_run_whose_first_write_was_overwritten_before_its_last_lost_its_marks() {
    let ((versions, marked), none) = (brought(), BTreeSet::new());
    let address: ProviderAddr = "other.example/acme/zap".parse().unwrap();
    let mut other = SightingsRecord::default();
    other.add(&address, &seen("2.0.0"));
    let (inner, other) = (MemoryStore::new(Place::Method("memory".into())), Mutex::new(Some(other)));
    let place = kept(KeptSightings::Artefact(Arc::new(HookedStore(Overwritten { inner, other }))));
    let begun = Some((&versions, now()));
    place.change_moving(RecordWrite::Moves, &seen("1.0.0"), (&none, begun), &|_| {}).await.unwrap();
    place.change_moving(RecordWrite::Marks, &marked, (&versions, None), &|_| {}).await.unwrap();
    let record = place.record().await.unwrap().unwrap();
    assert_eq!((record.of(&place.address), record.of(&address)), (Some(&marked), Some(&seen("2.0.0"))));
    assert!(record.moving.is_empty());
}

#[tokio::test]
async fn marks_that_another_run_overwrites_are_found_again_from_the_versions_that_moved() {
    let ((versions, marked), none) = (brought(), BTreeSet::new());
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(Place::Method("memory".into())));
    let place = kept(KeptSightings::Artefact(Arc::clone(&store)));
    let begun = Some((&versions, now()));
    place.change_moving(RecordWrite::Moves, &seen("1.0.0"), (&none, begun), &|_| {}).await.unwrap();
    // Another run reads the record between the two writes, and writes it after them.
    let (_, mut read) = of_tag(&*store, None).await.unwrap().unwrap();
    place.change_moving(RecordWrite::Marks, &marked, (&versions, None), &|_| {}).await.unwrap();
    let tagged = store.resolve(&Reference::Tag(tag())).await.unwrap();
    read.add(&"other.example/acme/zap".parse::<ProviderAddr>().unwrap(), &seen("2.0.0"));
    put(&*store, &read, Some(&tagged.digest)).await.unwrap();
    let record = place.record().await.unwrap().unwrap();
    assert!(record.moving[&place.address].keys().eq(&versions), "the next run looks what became of them");
}

#[test]
fn runs_that_write_a_file_at_once_lost_sightings() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t/.first-seen.json");
    let versions: Vec<Sightings> = (0..16).map(|patch| seen(&format!("1.0.{patch}"))).collect();
    std::thread::scope(|scope| {
        for one in &versions {
            let place = kept(KeptSightings::File(path.clone(), zap()));
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            scope.spawn(move || runtime.block_on(place.add(one)).unwrap());
        }
    });
    let all = of_file(&path, &"example.com/acme/zap".parse().unwrap()).unwrap().unwrap();
    let known = all.providers.values().next().unwrap();
    let found = (0..16).filter(|patch| known.seen(&format!("1.0.{patch}").parse().unwrap()).is_some());
    assert_eq!(found.count(), 16);
}
