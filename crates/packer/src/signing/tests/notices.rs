use tofu_oci_source::notices;
use tofu_oci_trust::{NoticeWriter, ReleaseState, SignedSubject, StatedNotice, in_force};

use super::*;
use crate::{NoticeReport, NoticeRequest, put_notice};

async fn put(store: &dyn Store, state: ReleaseState, reason: &str, key: Option<&PrivateKey>) -> NoticeReport {
    let ends = match state {
        ReleaseState::Available => ReleaseState::Withdrawn,
        state => state,
    };
    put_ending(store, state, ends, reason, key).await
}

/// The only caller of `put_notice` here.
async fn put_ending(
    store: &dyn Store,
    state: ReleaseState,
    ends: ReleaseState,
    reason: &str,
    key: Option<&PrivateKey>,
) -> NoticeReport {
    let index = &tagged(store, "1.4.0").await;
    let (address, version) = ("example.com/acme/zap".parse().unwrap(), "1.4.0".parse().unwrap());
    let subject = SignedSubject { index: &index.digest, address: &address, version: &version };
    let subject = (&subject).into();
    let reason = reason.parse().unwrap();
    let writer = NoticeWriter::Publisher;
    let request = NoticeRequest { index, subject, state, ends, reason, writer, replaced_by: None, key, signed: None };
    put_notice(store, &request).await.unwrap()
}

async fn found(store: &dyn Store) -> Vec<StatedNotice> {
    notices(store, &tagged(store, "1.4.0").await).await.unwrap()
}

#[tokio::test]
async fn a_notice_lies_beside_the_release_and_is_no_signature() {
    let (store, key) = (released().await, key(1));
    let report = put(&store, ReleaseState::Deprecated, "use 2.0.0", Some(&key)).await;
    assert_eq!(report.attachment.state, AttachmentState::Attached);
    let all = evidence(&store, &tagged(&store, "1.4.0").await, Search::Everywhere).await.unwrap();
    let [Evidence::Notice { origin, bytes }] = &all[..] else { panic!("{all:?}") };
    assert_eq!(*origin, report.manifest.digest);
    assert!(open_bundle(bytes, &[key.public().clone()]).is_ok());
    let manifest = json(&store, &report.manifest).await;
    assert_eq!(manifest["artifactType"], "application/vnd.opentofu.provider.notice.v1");
    assert_eq!(manifest["layers"][0]["mediaType"], "application/vnd.opentofu.provider.notice.v1+json");
}

#[tokio::test]
async fn the_same_notice_is_written_once() {
    let (store, key) = (released().await, key(1));
    for key in [Some(&key), None] {
        let first = put(&store, ReleaseState::Withdrawn, "it deletes state", key).await;
        assert_eq!(first.attachment.state, AttachmentState::Attached);
        store.take();
        let again = put(&store, ReleaseState::Withdrawn, "it deletes state", key).await;
        assert_eq!(again.attachment.state, AttachmentState::Present);
        assert_eq!(again.manifest, first.manifest);
        assert_eq!(again.transfers.uploaded, 0);
    }
    // The unsigned one does not stand in for the signed one.
    assert_eq!(put(&store, ReleaseState::Withdrawn, "it deletes state", Some(&key)).await.transfers.uploaded, 2);
}

#[tokio::test]
async fn a_later_notice_takes_the_place_of_every_one_before() {
    let (store, key) = (released().await, key(1));
    put(&store, ReleaseState::Withdrawn, "it deletes state", Some(&key)).await;
    put(&store, ReleaseState::Withdrawn, "it deletes everything", None).await;
    put(&store, ReleaseState::Available, "a false alarm", Some(&key)).await;
    let found = found(&store).await;
    assert_eq!(found.len(), 3);
    assert_eq!(in_force(&found).unwrap().notice.reason.as_str(), "a false alarm");
    put(&store, ReleaseState::Withdrawn, "it deletes state", Some(&key)).await;
    let found = super::notices::found(&store).await;
    assert_eq!(in_force(&found).unwrap().notice.state, ReleaseState::Withdrawn);
}

#[tokio::test]
async fn a_notice_that_takes_back_something_else_is_not_enough() {
    let (store, key) = (released().await, key(1));
    put(&store, ReleaseState::Withdrawn, "it deletes state", Some(&key)).await;
    put_ending(&store, ReleaseState::Available, ReleaseState::Deprecated, "available again", Some(&key)).await;
    assert_eq!(in_force(&found(&store).await).unwrap().notice.state, ReleaseState::Withdrawn);
    put(&store, ReleaseState::Available, "available again", Some(&key)).await;
    assert_eq!(in_force(&found(&store).await).unwrap().notice.state, ReleaseState::Available);
}

#[tokio::test]
async fn a_notice_in_a_folder_is_found_too() {
    let folder = tempfile::tempdir().unwrap();
    let store = DirStore::create(folder.path()).unwrap();
    release_into(&store).await;
    put(&store, ReleaseState::Deprecated, "use 2.0.0", None).await;
    assert_eq!(found(&store).await[0].notice.reason.as_str(), "use 2.0.0");
}
