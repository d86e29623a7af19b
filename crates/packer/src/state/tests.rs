//! Releases that go and come back, in a store that watches.

use tofu_oci_source::{Search, evidence, notices};
use tofu_oci_store::{MemoryStore, ReadStore};
use tofu_oci_trust::{
    Evidence, NoticeWriter, PrivateKey, ReleaseState, SignedContent, StatedNotice, VersionOf, in_force, open_bundle,
};
use tofu_oci_types::NoReporter;

use super::*;
use crate::SignAddress;
use crate::testing::{EventLog, Folder, Push, Watching, key, tags};

const ANNOTATED: SignAddress = SignAddress::Annotated { otherwise: None };

/// A store with releases 1.3.0 and 1.4.0 of example.com/acme/zap.
async fn released() -> Watching {
    let store = Watching::new();
    for version in ["1.3.0", "1.4.0"] {
        push(&store, version, &["linux_amd64"]).await;
    }
    store.take();
    store
}

async fn push(store: &dyn Store, version: &str, platforms: &[&str]) {
    let folder = Folder::new();
    for platform in platforms {
        folder.package(version, platform);
    }
    let mut push = Push::new(&folder, version);
    push.replace = crate::ReplaceTag::Replace;
    push.run(store).await.unwrap();
}

/// The only caller of the jobs here.
async fn change(store: &dyn Store, change: StateChange, reason: &str) -> Result<StateReport, PackError> {
    change_with(store, change, reason, None, &EventLog::default()).await
}

async fn change_with(
    store: &dyn Store,
    change: StateChange,
    reason: &str,
    key: Option<&PrivateKey>,
    heard: &EventLog,
) -> Result<StateReport, PackError> {
    let version = "1.4.0".parse().unwrap();
    let request = StateRequest {
        change,
        version: &version,
        address: ANNOTATED,
        reason: reason.parse().unwrap(),
        writer: NoticeWriter::Publisher,
        key,
        signed: None,
    };
    StatePlan::look(store, request, heard).await?.carry_out(store).await
}

async fn digest(store: &dyn ReadStore, tag: &str) -> tofu_oci_types::Descriptor {
    store.resolve(&tofu_oci_types::Reference::Tag(tag.parse().unwrap())).await.unwrap()
}

/// What is said of the release under this tag.
async fn said(store: &dyn ReadStore, tag: &str) -> Option<(ReleaseState, String)> {
    let found = notices(store, &digest(store, tag).await).await.unwrap();
    in_force(&found).map(|now| (now.notice.state, now.notice.reason.to_string()))
}

async fn named(store: &dyn ReadStore) -> Vec<String> {
    tags(store).await.into_iter().collect()
}

#[track_caller]
fn refused(result: Result<StateReport, PackError>) -> String {
    result.expect_err("must be refused").to_string()
}

#[tokio::test]
async fn a_withdrawn_release_keeps_its_content_and_its_reason() {
    let store = released().await;
    let index = digest(&store, "1.4.0").await;
    let report = change(&store, StateChange::Withdraw, "it deletes state").await.unwrap();
    assert!(!report.unchanged);
    assert_eq!(report.of.to_string(), "example.com/acme/zap");
    assert_eq!(named(&store).await, ["1.3.0", "withdrawn-1.4.0"]);
    assert_eq!(digest(&store, "withdrawn-1.4.0").await.digest, index.digest);
    assert_eq!(said(&store, "withdrawn-1.4.0").await, Some((ReleaseState::Withdrawn, "it deletes state".to_owned())));
    let done = store.take();
    assert_eq!(done[done.len() - 2..], ["tag withdrawn-1.4.0", "untag 1.4.0"]);
    // Once more, and with another reason.
    let again = change(&store, StateChange::Withdraw, "it deletes state").await.unwrap();
    assert!(again.unchanged);
    assert_eq!((again.notice, store.take()), (report.notice, Vec::<String>::new()));
    assert!(!change(&store, StateChange::Withdraw, "it deletes everything").await.unwrap().unchanged);
    assert_eq!(
        said(&store, "withdrawn-1.4.0").await,
        Some((ReleaseState::Withdrawn, "it deletes everything".to_owned()))
    );
}

#[tokio::test]
async fn a_withdrawn_release_comes_back() {
    let store = released().await;
    let index = digest(&store, "1.4.0").await;
    change(&store, StateChange::Withdraw, "it deletes state").await.unwrap();
    let report = change(&store, StateChange::Reinstate, "a false alarm").await.unwrap();
    assert!(!report.unchanged && !report.kept);
    assert_eq!(named(&store).await, ["1.3.0", "1.4.0"]);
    assert_eq!(digest(&store, "1.4.0").await.digest, index.digest);
    assert_eq!(said(&store, "1.4.0").await, Some((ReleaseState::Available, "a false alarm".to_owned())));
    store.take();
    assert!(change(&store, StateChange::Reinstate, "again").await.unwrap().unchanged);
    assert_eq!(store.take(), Vec::<String>::new());
    // And goes once more.
    change(&store, StateChange::Withdraw, "it deletes state").await.unwrap();
    assert_eq!(said(&store, "withdrawn-1.4.0").await, Some((ReleaseState::Withdrawn, "it deletes state".to_owned())));
}

#[tokio::test]
async fn the_tag_beside_a_release_that_came_back_may_stay() {
    let mut store = released().await;
    change(&store, StateChange::Withdraw, "broken").await.unwrap();
    store.keeps = Some("withdrawn-1.4.0".parse().unwrap());
    assert!(change(&store, StateChange::Reinstate, "fixed").await.unwrap().kept);
    assert_eq!(named(&store).await, ["1.3.0", "1.4.0", "withdrawn-1.4.0"]);
    assert_eq!(said(&store, "1.4.0").await, Some((ReleaseState::Available, "fixed".to_owned())));
}

#[tokio::test]
async fn a_run_that_breaks_off_is_finished_by_the_next() {
    for (first, then) in [(StateChange::Withdraw, "withdrawn-1.4.0"), (StateChange::Deprecate, "deprecated-1.4.0")] {
        for step in 0..10 {
            let mut store = released().await;
            store.fail_at = Some(step);
            let Err(error) = change(&store, first, "broken").await else { break };
            assert!(matches!(error, PackError::Store(_)), "{step}: {error}");
            assert!(named(&store).await.contains(&"1.4.0".to_owned()), "{step}: a broken run takes nothing away");
            store.fail_at = None;
            change(&store, first, "broken").await.unwrap();
            assert!(named(&store).await.contains(&then.to_owned()), "{step}");
            // The same of the way back.
            store.take();
            let back = if first == StateChange::Withdraw { StateChange::Reinstate } else { StateChange::Undeprecate };
            store.fail_at = Some(step);
            let _ = change(&store, back, "fixed").await;
            store.fail_at = None;
            change(&store, back, "fixed").await.unwrap();
            assert_eq!(said(&store, "1.4.0").await, Some((ReleaseState::Available, "fixed".to_owned())), "{step}");
        }
    }
}

#[tokio::test]
async fn a_withdrawal_that_the_registry_refuses_is_taken_back() {
    let mut store = released().await;
    store.keeps = Some("1.4.0".parse().unwrap());
    let text = refused(change(&store, StateChange::Withdraw, "broken").await);
    assert_eq!(text, "memory still has the tag 1.4.0, so the release is not withdrawn");
    assert_eq!(named(&store).await, ["1.3.0", "1.4.0"]);
    assert_eq!(said(&store, "1.4.0").await.map(|(state, _)| state), Some(ReleaseState::Available));
}

#[tokio::test]
async fn a_tag_that_another_program_moves_meanwhile_is_not_taken_away() {
    let store = released().await;
    let other = digest(&store, "1.3.0").await;
    *store.meanwhile.lock().unwrap() = Some((other.clone(), "1.4.0".parse().unwrap()));
    let text = refused(change(&store, StateChange::Withdraw, "broken").await);
    assert_eq!(text, "another program has moved the tag 1.4.0 in memory meanwhile");
    assert_eq!(digest(&store, "1.4.0").await.digest, other.digest);
}

#[tokio::test]
async fn two_that_withdraw_at_once_both_succeed() {
    let store = released().await;
    let one = change(&store, StateChange::Withdraw, "broken");
    let other = change(&store, StateChange::Withdraw, "it deletes state");
    let deprecated = change(&store, StateChange::Deprecate, "old");
    let (one, other, deprecated) = tokio::join!(one, other, deprecated);
    one.unwrap();
    other.unwrap();
    deprecated.unwrap();
    assert_eq!(named(&store).await, ["1.3.0", "deprecated-1.4.0", "withdrawn-1.4.0"]);
    assert_eq!(said(&store, "withdrawn-1.4.0").await.map(|(state, _)| state), Some(ReleaseState::Withdrawn));
}

#[tokio::test]
async fn a_deprecated_release_stays_and_says_so() {
    let (store, key) = (released().await, key(1));
    let heard = EventLog::default();
    let report = change_with(&store, StateChange::Deprecate, "use 2.0.0", Some(&key), &heard).await.unwrap();
    assert_eq!(named(&store).await, ["1.3.0", "1.4.0", "deprecated-1.4.0"]);
    assert_eq!(Some(digest(&store, "deprecated-1.4.0").await.digest), report.notice);
    assert_eq!(report.key, Some(key.public().id()));
    store.take();
    let again = change_with(&store, StateChange::Deprecate, "use 2.0.0", Some(&key), &heard).await.unwrap();
    assert!(again.unchanged);
    assert_eq!(store.take(), Vec::<String>::new());
    let back = change_with(&store, StateChange::Undeprecate, "fixed", Some(&key), &heard).await.unwrap();
    assert!(!back.unchanged);
    assert_eq!(said(&store, "1.4.0").await, Some((ReleaseState::Available, "fixed".to_owned())));
    assert_eq!(Some(digest(&store, "deprecated-1.4.0").await.digest), back.notice);
    let again = change_with(&store, StateChange::Undeprecate, "fixed", Some(&key), &heard).await.unwrap();
    assert!(again.unchanged);
}

#[tokio::test]
async fn a_release_that_was_deprecated_before_it_was_withdrawn_is_deprecated_when_it_comes_back() {
    let store = released().await;
    change(&store, StateChange::Deprecate, "old").await.unwrap();
    change(&store, StateChange::Withdraw, "broken").await.unwrap();
    assert_eq!(said(&store, "withdrawn-1.4.0").await, Some((ReleaseState::Withdrawn, "broken".to_owned())));
    change(&store, StateChange::Reinstate, "fixed").await.unwrap();
    assert_eq!(said(&store, "1.4.0").await, Some((ReleaseState::Deprecated, "old".to_owned())));
}

/// What holds for those who heed this key alone.
async fn said_by(store: &dyn ReadStore, tag: &str, key: &PrivateKey) -> Option<ReleaseState> {
    let all = evidence(store, &digest(store, tag).await, Search::Everywhere).await.unwrap();
    let signed = all.iter().filter_map(|piece| match piece {
        Evidence::Notice { bytes, .. } => open_bundle(bytes, &[key.public().clone()]).ok().map(|_| bytes),
        _ => None,
    });
    let signed: Vec<StatedNotice> = signed.filter_map(|bytes| StatedNotice::peek(bytes).unwrap()).collect();
    in_force(&signed).map(|now| now.notice.state)
}

#[tokio::test]
async fn a_signed_withdrawal_was_called_undone_without_its_key() {
    for (first, back) in
        [(StateChange::Withdraw, StateChange::Reinstate), (StateChange::Deprecate, StateChange::Undeprecate)]
    {
        let (store, key, other) = (released().await, key(1), key(2));
        let heard = EventLog::default();
        change_with(&store, first, "broken", Some(&key), &heard).await.unwrap();
        store.take();
        let refused = change(&store, back, "fixed").await.unwrap_err();
        assert_eq!(refused.code(), "signed-notice", "{refused}");
        assert_eq!(store.take(), Vec::<String>::new());
        assert!(!change_with(&store, back, "fixed", Some(&key), &heard).await.unwrap().unchanged);
        assert_eq!(said_by(&store, "1.4.0", &key).await, Some(ReleaseState::Available));
        store.take();
        assert!(change_with(&store, back, "fixed", Some(&key), &heard).await.unwrap().unchanged);
        assert_eq!(store.take(), Vec::<String>::new());
        // Once more, with a strange notice between the two.
        change_with(&store, first, "broken again", Some(&key), &heard).await.unwrap();
        change_with(&store, back, "a false alarm", Some(&other), &heard).await.unwrap();
        change_with(&store, first, "broken still", Some(&key), &heard).await.unwrap();
        change_with(&store, back, "fixed at last", Some(&key), &heard).await.unwrap();
        assert_eq!(said_by(&store, "1.4.0", &key).await, Some(ReleaseState::Available));
    }
}

#[tokio::test]
async fn a_notice_without_a_signature_replaced_a_signed_one() {
    for (first, back) in
        [(StateChange::Withdraw, StateChange::Reinstate), (StateChange::Deprecate, StateChange::Undeprecate)]
    {
        let (store, key) = (released().await, key(1));
        change_with(&store, first, "a", Some(&key), &EventLog::default()).await.unwrap();
        store.take();
        assert_eq!(change(&store, first, "b").await.unwrap_err().code(), "signed-notice");
        assert!(change(&store, first, "a").await.unwrap().unchanged);
        assert_eq!(store.take(), Vec::<String>::new());
        // What is over can be taken back once more by anyone: nothing is said of that again.
        change_with(&store, back, "fixed", Some(&key), &EventLog::default()).await.unwrap();
        store.take();
        assert!(change(&store, back, "again").await.unwrap().unchanged);
        assert_eq!(store.take(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn tags_that_lead_to_a_version_that_goes_are_reported() {
    let store = released().await;
    let index = digest(&store, "1.4.0").await;
    for tag in ["latest", "1.4", "v1.4.0"] {
        store.inner.tag(&index, &tag.parse().unwrap()).await.unwrap();
    }
    let heard = EventLog::default();
    let report = change_with(&store, StateChange::Withdraw, "broken", None, &heard).await.unwrap();
    assert_eq!(report.other_tags.iter().map(Tag::as_str).collect::<Vec<_>>(), ["1.4", "latest", "v1.4.0"]);
    assert_eq!(heard.codes(), ["floating-tag", "other-tags"]);
}

#[tokio::test]
async fn a_notice_without_a_signature_about_a_signed_release_is_reported() {
    let store = Watching::new();
    let folder = Folder::new();
    folder.package("1.4.0", "linux_amd64");
    let mut push = Push::new(&folder, "1.4.0");
    push.signer = Some((key(1), crate::Forms::Bundle));
    push.run(&store).await.unwrap();
    let heard = EventLog::default();
    change_with(&store, StateChange::Withdraw, "broken", None, &heard).await.unwrap();
    assert_eq!(heard.codes(), ["unsigned-notice"]);
    let heard = EventLog::default();
    change_with(&store, StateChange::Withdraw, "broken", Some(&key(1)), &heard).await.unwrap();
    assert_eq!(heard.codes(), [""; 0]);
}

#[tokio::test]
async fn what_cannot_change_its_state_is_refused() {
    let store = Watching::new();
    push(&store, "1.3.0", &["linux_amd64"]).await;
    let error = change(&store, StateChange::Withdraw, "broken").await.unwrap_err();
    assert!(matches!(&error, PackError::NoRelease { offered, .. } if offered.len() == 1), "{error}");
    push(&store, "1.4.0", &["linux_amd64"]).await;
    change(&store, StateChange::Withdraw, "broken").await.unwrap();
    let text = refused(change(&store, StateChange::Deprecate, "old").await);
    assert_eq!(text, "memory has no version 1.4.0: it was withdrawn: broken");
    // Another release is published in its place.
    push(&store, "1.4.0", &["linux_amd64", "darwin_arm64"]).await;
    let text = refused(change(&store, StateChange::Reinstate, "fixed").await);
    assert_eq!(text, "memory has another release under the tag 1.4.0 than withdrawn-1.4.0 keeps");
    // And withdrawn as well: its content is what the tag keeps now.
    let index = digest(&store, "1.4.0").await;
    change(&store, StateChange::Withdraw, "broken, too").await.unwrap();
    assert_eq!(digest(&store, "withdrawn-1.4.0").await.digest, index.digest);
}

#[tokio::test]
async fn a_release_in_a_folder_is_withdrawn_too() {
    let folder = tempfile::tempdir().unwrap();
    let store = tofu_oci_store::DirStore::create(folder.path()).unwrap();
    push(&store, "1.4.0", &["linux_amd64"]).await;
    change(&store, StateChange::Withdraw, "broken").await.unwrap();
    assert_eq!(named(&store).await, ["withdrawn-1.4.0"]);
    assert_eq!(said(&store, "withdrawn-1.4.0").await, Some((ReleaseState::Withdrawn, "broken".to_owned())));
    change(&store, StateChange::Reinstate, "fixed").await.unwrap();
    assert_eq!(named(&store).await, ["1.4.0"]);
}

/// A module under the tag 1.4.0.
async fn with_module() -> MemoryStore {
    let store = MemoryStore::new("registry.example.com/acme/network".parse().unwrap());
    let zip = Descriptor::of("archive/zip", b"zip");
    store.insert_unchecked(&zip, bytes::Bytes::from_static(b"zip"));
    let manifest = serde_json::json!({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "artifactType": "application/vnd.opentofu.modulepkg", "layers": [zip],
    });
    let bytes = bytes::Bytes::from(manifest.to_string());
    let manifest = Descriptor::of("application/vnd.oci.image.manifest.v1+json", &bytes);
    store.push(&manifest, &bytes).await.unwrap();
    store.tag(&manifest, &"1.4.0".parse().unwrap()).await.unwrap();
    store
}

#[tokio::test]
async fn a_module_is_withdrawn_under_no_name() {
    let (store, version) = (with_module().await, "1.4.0".parse().unwrap());
    let request = |address| StateRequest {
        change: StateChange::Withdraw,
        version: &version,
        address,
        reason: "broken".parse().unwrap(),
        writer: NoticeWriter::Publisher,
        key: None,
        signed: None,
    };
    let given = SignAddress::Given("example.com/acme/network".parse().unwrap());
    let refused = StatePlan::look(&store, request(given), &NoReporter).await.unwrap_err();
    assert_eq!(refused.code(), "module-with-address");
    let plan = StatePlan::look(&store, request(ANNOTATED), &NoReporter).await.unwrap();
    let report = plan.carry_out(&store).await.unwrap();
    assert_eq!(report.of, VersionOf::Module);
    let (kept, _) = store.manifest(&Reference::Tag("withdrawn-1.4.0".parse().unwrap())).await.unwrap();
    assert_eq!(kept.digest, report.index);
    let said = notices(&store, &kept).await.unwrap();
    assert!(said[0].is_about(SignedContent::Manifest(&kept.digest)));
}
