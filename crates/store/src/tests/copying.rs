//! Moving releases.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::json;
use tofu_oci_types::{Descriptor, Digest, Event, NoReporter, Place, Reference, Reporter, RepositoryRef, Tag};

use super::dir_writing::new_store;
use super::{by_tag, push, push_json, push_referrer, push_release, tag};
use crate::manifest::{OCI_INDEX, OCI_MANIFEST};
use crate::{
    Body, ByteStream, CopyError, CopyOptions, CopyReferrers, CopyReport, MemoryStore, Pushed, ReadStore, Side, Store,
    StoreError, copy,
};

fn options(reporter: &dyn Reporter) -> CopyOptions<'_> {
    CopyOptions { jobs: 2, reporter, tag: Some(tag("1.0.0")), referrers: CopyReferrers::Leave, budget: Arc::default() }
}

/// A store in a registry that records what it is asked to do, and fails where it is told to.
struct Recording {
    inner: MemoryStore,
    repository: Option<RepositoryRef>,
    refuses: Option<Digest>,
    mounts: bool,
    /// A referrer that is not listed until it has been pushed so many times.
    forgets: Option<(Digest, usize)>,
    asked: Mutex<Vec<String>>,
}

impl Recording {
    fn new() -> Self {
        let inner = MemoryStore::new("registry.example.test/acme/copy".parse().unwrap());
        Self { inner, repository: None, refuses: None, mounts: false, forgets: None, asked: Mutex::default() }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    fn ask(&self, what: String) {
        self.asked.lock().unwrap().push(what);
    }
}

#[async_trait]
impl ReadStore for Recording {
    fn place(&self) -> Place {
        self.inner.place()
    }
    fn repository(&self) -> Option<&RepositoryRef> {
        self.repository.as_ref()
    }
    async fn resolve(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        self.inner.resolve(reference).await
    }
    async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        self.inner.tags().await
    }
    async fn exists(&self, descriptor: &Descriptor) -> Result<bool, StoreError> {
        self.inner.exists(descriptor).await
    }
    async fn fetch_unverified(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        self.inner.fetch_unverified(descriptor).await
    }
    async fn referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        let mut found = self.inner.referrers(subject).await?;
        if let Some((digest, times)) = &self.forgets {
            let pushed = self.asked().iter().filter(|what| what.ends_with(digest.as_str())).count();
            found.retain(|referrer| referrer.digest != *digest || pushed >= *times);
        }
        Ok(found)
    }
}

#[async_trait]
impl Store for Recording {
    async fn push(&self, descriptor: &Descriptor, body: &dyn Body) -> Result<Pushed, StoreError> {
        if self.refuses.as_ref() == Some(&descriptor.digest) {
            let problem = "no space left".to_owned();
            return Err(StoreError::Unreachable {
                place: self.place(),
                fault: tofu_oci_types::NetworkFault::Lost,
                problem,
            });
        }
        let pushed = self.inner.push(descriptor, body).await?;
        self.ask(format!("push {}", descriptor.digest));
        Ok(pushed)
    }
    async fn tag(&self, descriptor: &Descriptor, tag: &Tag) -> Result<(), StoreError> {
        self.ask(format!("tag {tag}"));
        self.inner.tag(descriptor, tag).await
    }
    async fn untag(&self, tag: &Tag, expected: &Digest) -> Result<bool, StoreError> {
        self.ask(format!("untag {tag}"));
        self.inner.untag(tag, expected).await
    }
    async fn settle(&self) -> Result<(), StoreError> {
        self.ask("settle".to_owned());
        Ok(())
    }
    async fn mount(&self, descriptor: &Descriptor, from: &RepositoryRef) -> Result<bool, StoreError> {
        self.ask(format!("mount {} from {from}", descriptor.digest));
        if self.mounts {
            self.inner.insert_unchecked(descriptor, Bytes::new());
        }
        Ok(self.mounts)
    }
}

fn position(asked: &[String], what: &str) -> usize {
    asked.iter().position(|line| line == what).unwrap_or_else(|| panic!("{what} is not in {asked:?}"))
}

#[tokio::test]
async fn everything_arrives_byte_for_byte_and_in_order() {
    let from = MemoryStore::new("memory".parse().unwrap());
    let release = push_release(&from).await;
    let outer = json!({ "schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": [release.index, release.leaves[0]] });
    let root = push_json(&from, OCI_INDEX, &outer).await;
    let to = Recording::new();
    let report = copy(&from, &to, &root, options(&NoReporter)).await.unwrap();
    assert_eq!((report.pushed, report.present, report.mounted), (7, 0, 0));
    assert_eq!(to.inner.digests(), from.digests());
    let asked = to.asked();
    let at = |descriptor: &Descriptor| position(&asked, &format!("push {}", descriptor.digest));
    for leaf in &release.leaves {
        assert!(release.blobs.iter().all(|blob| at(blob) < at(leaf)));
        assert!(at(leaf) < at(&release.index));
    }
    assert!(at(&release.index) < at(&root));
    assert_eq!(position(&asked, "tag 1.0.0"), asked.len() - 1);
    let again = copy(&from, &to, &root, options(&NoReporter)).await.unwrap();
    assert_eq!(again, CopyReport { present: 7, ..CopyReport::default() });
}

#[tokio::test]
async fn folders_and_memory_are_equal_ends() {
    let (_a, first) = new_store();
    let (_b, second) = new_store();
    let memory = MemoryStore::new("memory".parse().unwrap());
    let release = push_release(&first).await;
    copy(&first, &memory, &release.index, options(&NoReporter)).await.unwrap();
    let root = memory.resolve(&by_tag("1.0.0")).await.unwrap();
    let report = copy(&memory, &second, &root, options(&NoReporter)).await.unwrap();
    assert_eq!(report.pushed, 6);
    assert_eq!(second.resolve(&by_tag("1.0.0")).await.unwrap(), release.index);
}

/// A destination that takes a signature and does not list it: the copy said 0.
#[tokio::test]
async fn a_referrer_that_the_destination_does_not_list_fails_the_copy() {
    let from = MemoryStore::new("source".parse().unwrap());
    let release = push_release(&from).await;
    push_referrer(&from, &release.index, "signature").await;
    let lost = push_referrer(&from, &release.index, "lost").await;
    let with = || CopyOptions { referrers: CopyReferrers::Copy, ..options(&NoReporter) };
    let to = Recording { forgets: Some((lost.digest.clone(), 99)), ..Recording::new() };
    let error = copy(&from, &to, &release.index, with()).await.expect_err("must fail");
    assert_eq!(error.side, Side::Destination);
    let place = "registry.example.test/acme/copy";
    let (subject, lost) = (&release.index.digest, &lost.digest);
    let want = format!("{place} does not list among the referrers of {subject} what it has: {lost}");
    assert_eq!(error.error.to_string(), want);
    assert!(!to.asked().iter().any(|what| what.starts_with("tag ")), "the tag is not written");

    // What somebody else has dropped from the list is listed again.
    let to = Recording { forgets: Some((lost.clone(), 2)), ..Recording::new() };
    copy(&from, &to, &release.index, with()).await.unwrap();
    let asked = to.asked();
    assert_eq!(asked.iter().filter(|what| *what == "settle").count(), 2);
    assert_eq!(
        asked[asked.len() - 3..],
        ["settle".to_owned(), format!("push {lost}"), "settle".to_owned(), "tag 1.0.0".to_owned()][1..]
    );
    assert_eq!(to.referrers(subject).await.unwrap().len(), 2);
}

/// Signatures of signatures of signatures: what is deeper than we follow must not stay behind in silence.
#[tokio::test]
async fn referrers_that_are_too_deep_fail_the_copy() {
    let from = MemoryStore::new("source".parse().unwrap());
    let release = push_release(&from).await;
    let mut subject = release.index.clone();
    for level in 1..=5 {
        subject = push_referrer(&from, &subject, &format!("level {level}")).await;
        let with = CopyOptions { referrers: CopyReferrers::Copy, ..options(&NoReporter) };
        let copied = copy(&from, &MemoryStore::new("destination".parse().unwrap()), &release.index, with).await;
        assert_eq!(copied.is_ok(), level <= 4, "{copied:?}");
        let Err(error) = copied else { continue };
        assert_eq!(error.side, Side::Source);
        assert!(error.error.to_string().ends_with("has referrers of its own: at most 4 levels of them are copied"));
    }
}

#[tokio::test]
async fn referrers_come_along_when_asked_for_and_before_the_tag() {
    let from = MemoryStore::new("memory".parse().unwrap());
    let release = push_release(&from).await;
    let signature = push_referrer(&from, &release.index, "signature").await;
    let countersigned = push_referrer(&from, &signature, "signature of the signature").await;
    let of_leaf = push_referrer(&from, &release.leaves[1], "bill of materials").await;
    let without = Recording::new();
    copy(&from, &without, &release.index, options(&NoReporter)).await.unwrap();
    assert_eq!(without.inner.digests().len(), 6);
    let to = Recording::new();
    let with = CopyOptions { referrers: CopyReferrers::Copy, ..options(&NoReporter) };
    copy(&from, &to, &release.index, with).await.unwrap();
    assert_eq!(to.inner.digests(), from.digests());
    let asked = to.asked();
    let at = |descriptor: &Descriptor| position(&asked, &format!("push {}", descriptor.digest));
    assert!(at(&release.index) < at(&signature) && at(&signature) < at(&countersigned));
    assert!(at(&release.leaves[1]) < at(&of_leaf));
    assert_eq!(position(&asked, "tag 1.0.0"), asked.len() - 1);
}

#[tokio::test]
async fn an_attestation_in_the_index_comes_after_its_subject() {
    let from = MemoryStore::new("memory".parse().unwrap());
    let release = push_release(&from).await;
    let attestation = push_referrer(&from, &release.leaves[0], "provenance").await;
    let index = json!({ "schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": [attestation, release.leaves[0]] });
    let root = push_json(&from, OCI_INDEX, &index).await;
    let to = Recording::new();
    copy(&from, &to, &root, CopyOptions { jobs: 0, ..options(&NoReporter) }).await.unwrap();
    let asked = to.asked();
    let at = |descriptor: &Descriptor| position(&asked, &format!("push {}", descriptor.digest));
    assert!(at(&release.leaves[0]) < at(&attestation) && at(&attestation) < at(&root));
}

#[tokio::test]
async fn blobs_are_mounted_within_one_registry() {
    let mut from = Recording::new();
    from.repository = Some("registry.example.test/acme/from".parse().unwrap());
    let release = push_release(&from).await;
    let mut to = Recording::new();
    to.repository = Some("registry.example.test/acme/to".parse().unwrap());
    to.mounts = true;
    push(&to, &release.blobs[0].media_type, b"{}").await;
    let report = copy(&from, &to, &release.index, options(&NoReporter)).await.unwrap();
    assert_eq!((report.pushed, report.present, report.mounted), (3, 1, 2));
    let mut elsewhere = Recording::new();
    elsewhere.repository = Some("other.example.test/acme/to".parse().unwrap());
    elsewhere.mounts = true;
    let report = copy(&from, &elsewhere, &release.index, options(&NoReporter)).await.unwrap();
    assert_eq!((report.pushed, report.mounted), (6, 0));
    to.mounts = false;
    to.inner.remove(&release.blobs[1].digest);
    let report = copy(&from, &to, &release.index, options(&NoReporter)).await.unwrap();
    assert_eq!((report.pushed, report.present), (1, 5));
}

async fn check_failure(from: &MemoryStore, to: &dyn Store, root: &Descriptor) -> (Side, String, String) {
    let with_referrers = CopyOptions { referrers: CopyReferrers::Copy, ..options(&NoReporter) };
    let error: CopyError = copy(from, to, root, with_referrers).await.expect_err("must fail");
    assert_eq!(to.tags().await.unwrap(), [], "an interrupted copy must leave no tag");
    (error.side, error.to_string(), error.error.to_string())
}

#[tokio::test]
async fn a_copy_that_stops_names_the_end_and_leaves_no_tag() {
    let from = MemoryStore::new("memory".parse().unwrap());
    let release = push_release(&from).await;
    let zip = &release.blobs[2];
    let mut to = Recording::new();
    to.refuses = Some(zip.digest.clone());
    let (side, text, cause) = check_failure(&from, &to, &release.index).await;
    assert_eq!(side, Side::Destination);
    insta::assert_snapshot!(text, @"the destination of the copy failed");
    insta::assert_snapshot!(cause, @"cannot reach registry.example.test/acme/copy: no space left");
    to.refuses = Some(release.index.digest.clone());
    assert_eq!(check_failure(&from, &to, &release.index).await.0, Side::Destination);

    let (_folder, folder) = new_store();
    for to in [&Recording::new() as &dyn Store, &folder] {
        let from = MemoryStore::new("memory".parse().unwrap());
        let release = push_release(&from).await;
        from.insert_unchecked(zip, Bytes::from(vec![b'x'; usize::try_from(zip.size).unwrap()]));
        let (side, text, cause) = check_failure(&from, to, &release.index).await;
        assert_eq!(side, Side::Source);
        insta::allow_duplicates! { insta::assert_snapshot!(text, @"the source of the copy failed"); }
        assert!(cause.contains("of memory is damaged: expected sha256:"), "{cause}");
        from.remove(&zip.digest);
        let (side, _, cause) = check_failure(&from, to, &release.index).await;
        assert_eq!((side, cause), (Side::Source, format!("memory has no blob {}", zip.digest)));
        from.remove(&release.leaves[0].digest);
        assert_eq!(check_failure(&from, to, &release.index).await.0, Side::Source);
        from.insert_unchecked(&release.leaves[0], Bytes::from_static(b"{}"));
        assert_eq!(check_failure(&from, to, &release.index).await.0, Side::Source);
    }
}

#[tokio::test]
async fn manifests_that_do_not_fit_into_memory_are_refused() {
    let from = MemoryStore::new("memory".parse().unwrap());
    let config = push(&from, "application/vnd.oci.image.config.v1+json", b"{}").await;
    let mut leaves = Vec::new();
    for nth in 0..17 {
        let padding = format!("{nth}{}", "x".repeat(4 * 1024 * 1024 - 1000));
        let manifest = json!({ "schemaVersion": 2, "mediaType": OCI_MANIFEST, "config": config, "layers": [],
            "annotations": { "padding": padding } });
        leaves.push(push_json(&from, OCI_MANIFEST, &manifest).await);
    }
    let index = json!({ "schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": leaves });
    let root = push_json(&from, OCI_INDEX, &index).await;
    let (side, _, cause) = check_failure(&from, &MemoryStore::new("to".parse().unwrap()), &root).await;
    let want = "18 manifests with 71293623 bytes, or more, hang together in memory, and the limits are 50000 manifests and \
        67108864 bytes";
    assert_eq!((side, cause.as_str()), (Side::Source, want));
}

#[tokio::test]
async fn a_copy_that_was_interrupted_goes_on_where_it_stopped() {
    let from = MemoryStore::new("memory".parse().unwrap());
    let release = push_release(&from).await;
    let mut to = Recording::new();
    to.refuses = Some(release.index.digest.clone());
    check_failure(&from, &to, &release.index).await;
    to.refuses = None;
    let report = copy(&from, &to, &release.index, options(&NoReporter)).await.unwrap();
    assert_eq!((report.pushed, report.present, report.bytes), (1, 5, release.index.size));
    assert_eq!(to.tags().await.unwrap(), [tag("1.0.0")]);
}

#[tokio::test]
async fn a_layer_that_names_urls_is_read_from_the_source_alone() {
    let from = MemoryStore::new("memory".parse().unwrap());
    let config = push(&from, "application/vnd.oci.image.config.v1+json", b"{}").await;
    let layer = Descriptor::of("application/vnd.docker.image.rootfs.foreign.diff.tar.gzip", b"foreign");
    let mut foreign = serde_json::to_value(&layer).unwrap();
    foreign["urls"] = json!(["https://evil.example.test/layer"]);
    let manifest = json!({ "schemaVersion": 2, "mediaType": OCI_MANIFEST, "config": config, "layers": [foreign] });
    let root = push_json(&from, OCI_MANIFEST, &manifest).await;
    let (side, _, cause) = check_failure(&from, &MemoryStore::new("to".parse().unwrap()), &root).await;
    assert_eq!((side, cause), (Side::Source, format!("memory has no blob {}", layer.digest)));
    push(&from, &layer.media_type, b"foreign").await;
    let to = MemoryStore::new("to".parse().unwrap());
    copy(&from, &to, &root, options(&NoReporter)).await.unwrap();
    assert_eq!(to.digests(), from.digests());
}

#[derive(Default)]
struct Listening(Mutex<Vec<Event>>);

impl Reporter for Listening {
    fn event(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

#[tokio::test]
async fn progress_is_told_blob_by_blob() {
    let (_folder, from) = new_store();
    let config = push(&from, "application/vnd.oci.image.config.v1+json", b"{}").await;
    let mut zip = push(&from, "archive/zip", &vec![7; 600_000]).await;
    zip.annotations.insert("org.opencontainers.image.title".to_owned(), "widget.zip".to_owned());
    let manifest = json!({ "schemaVersion": 2, "mediaType": OCI_MANIFEST, "config": config, "layers": [zip] });
    let root = push_json(&from, OCI_MANIFEST, &manifest).await;
    let listening = Listening::default();
    let to = MemoryStore::new("to".parse().unwrap());
    copy(&from, &to, &root, options(&listening)).await.unwrap();
    let events = listening.0.into_inner().unwrap();
    let name = format!("zip ({})", zip.digest.short());
    let mut last = 0;
    for event in &events {
        if let Event::Progress { subject, done } = event
            && *subject == name
        {
            assert!(*done > last && *done <= zip.size);
            last = *done;
        }
    }
    assert!(last > 0);
    assert!(events.contains(&Event::Started { subject: name.clone(), bytes: Some(600_000) }));
    assert!(events.contains(&Event::Finished { subject: name, outcome: "pushed".to_owned() }));
    assert!(!format!("{events:?}").contains(config.digest.short()), "nobody watches a config");
    let again = Listening::default();
    copy(&from, &to, &root, options(&again)).await.unwrap();
    let moves = |event: &Event| !matches!(event, Event::Working { .. });
    assert!(!again.0.into_inner().unwrap().iter().any(moves), "nothing moves that is there");
}
