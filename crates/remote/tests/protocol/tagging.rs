//! Tags that a registry lets nobody write twice.

use bytes::Bytes;
use tofu_oci_store::{ReadStore as _, Store as _, StoreError};
use tofu_oci_types::{Descriptor, Digest, Reference, Tag};

use crate::server::{Reply, Server, hang_up, reply};
use crate::support::{INDEX, bench, index, manifest_reply};

/// As ECR says it; others say 409 or 412.
fn immutable(status: u16) -> Reply {
    reply(status).error("TAG_INVALID", "The image tag '1.4.0' already exists and cannot be overwritten")
}

/// A registry that has `ours`. Its tag names nothing at the first look, and `now` afterwards; the first `PUT` is
/// answered with `first`, and each further one is refused.
fn registry(first: Reply, status: u16, now: Option<Bytes>) -> Server {
    let ours = index();
    Server::start(move |request, nth| match (request.method.as_str(), request.path().ends_with("/1.4.0")) {
        ("PUT", _) if request.body.is_empty() => reply(201),
        ("PUT", _) if nth == 0 => first.clone(),
        ("PUT", _) => immutable(status),
        (_, true) if nth == 0 => reply(404),
        (_, true) => now.as_ref().map_or(reply(404), |bytes| manifest_reply(INDEX, bytes)),
        _ => manifest_reply(INDEX, &ours),
    })
}

async fn retagged(server: &Server) -> Result<bool, StoreError> {
    let tag: Tag = "1.4.0".parse().unwrap();
    bench().store(server).retag(&Descriptor::of(INDEX, &index()), &tag, None).await
}

#[tokio::test]
async fn a_push_that_meets_its_equal_at_an_immutable_tag_does_not_fail() {
    for status in [400, 409, 412] {
        let server = registry(immutable(status), status, Some(index()));
        assert!(retagged(&server).await.unwrap(), "{status}: the tag names what it should name");
    }
}

#[tokio::test]
async fn an_immutable_tag_whose_answer_was_lost_is_written() {
    for status in [400, 409, 412] {
        let server = registry(hang_up(), status, Some(index()));
        assert!(retagged(&server).await.unwrap(), "{status}: the first write had its effect");
    }
}

#[tokio::test]
async fn whoever_comes_second_at_an_immutable_tag_learns_that_it_is_taken() {
    let other = Bytes::from(String::from_utf8(index().to_vec()).unwrap() + "\n");
    let server = registry(immutable(400), 400, Some(other));
    assert!(!retagged(&server).await.unwrap());
}

#[tokio::test]
async fn a_refusal_of_a_tag_that_is_not_there_stays_an_error() {
    let server = registry(immutable(400), 400, None);
    assert!(matches!(retagged(&server).await, Err(StoreError::Rejected { status: 400, .. })));
}

/// A registry that honours `If-None-Match`, or refuses each condition, and where another program writes between look and write.
fn conditional(understands: bool) -> Server {
    let (ours, theirs) = (index(), Bytes::from(String::from_utf8(index().to_vec()).unwrap() + "\n"));
    Server::start(move |request, nth| match (request.method.as_str(), request.path().ends_with("/1.4.0")) {
        ("PUT", _) if request.body.is_empty() => reply(201),
        ("PUT", _) if request.header("if-none-match") == Some("*") => reply(412),
        ("PUT", _) => reply(201),
        (_, true) if understands && nth > 0 => manifest_reply(INDEX, &theirs),
        (_, true) => reply(404),
        _ => manifest_reply(INDEX, &ours),
    })
}

#[tokio::test]
async fn the_second_of_two_that_made_one_tag_overwrote_the_first_although_the_registry_could_have_refused() {
    assert!(!retagged(&conditional(true)).await.unwrap());
}

#[tokio::test]
async fn a_registry_that_takes_no_condition_makes_a_new_tag_all_the_same() {
    assert!(retagged(&conditional(false)).await.unwrap());
}

#[tokio::test]
async fn a_new_tag_was_believed_before_one_who_had_seen_none_must_have_written() {
    let server = registry(reply(201), 400, Some(index()));
    let (bench, tag) = (bench(), "1.4.0".parse::<Tag>().unwrap());
    let store = bench.store(&server);
    assert!(store.retag(&Descriptor::of(INDEX, &index()), &tag, None).await.unwrap());
    store.settle_tag(&"2.0.0".parse().unwrap()).await.unwrap();
    assert!(bench.clock.0.lock().unwrap().is_empty(), "it has made no such tag");
    store.settle_tag(&tag).await.unwrap();
    let wait: std::time::Duration = bench.clock.0.lock().unwrap().iter().sum();
    assert!(wait.as_millis() >= 50, "{wait:?}");
}

/// A registry that shows a written tag from the fourth look on, and until then what it named before.
#[tokio::test]
async fn a_tag_that_a_registry_shows_late_was_taken_for_that_of_another_program() {
    let old = Bytes::from(index().iter().copied().chain(*b" ").collect::<Vec<u8>>());
    for before in [None, Some(old)] {
        let (looks, shown) = (std::sync::atomic::AtomicUsize::new(99), before.clone());
        let server = Server::start(move |request, _| match request.method.as_str() {
            "PUT" if request.body.is_empty() => reply(201),
            "PUT" => {
                looks.store(0, std::sync::atomic::Ordering::SeqCst);
                reply(201)
            }
            _ if request.path().contains("sha256:") => manifest_reply(INDEX, &index()),
            method => {
                // A tag that is not there is asked for by HEAD and by GET.
                let nth = looks.load(std::sync::atomic::Ordering::SeqCst);
                if nth < 99 && (method == "GET" || before.is_some()) {
                    looks.store(nth + 1, std::sync::atomic::Ordering::SeqCst);
                }
                match &before {
                    _ if (3..99).contains(&nth) => manifest_reply(INDEX, &index()),
                    Some(before) => manifest_reply(INDEX, before),
                    None => reply(404).error("MANIFEST_UNKNOWN", "no"),
                }
            }
        });
        let (bench, tag) = (bench(), "1.0.0".parse::<Tag>().unwrap());
        let (store, descriptor) = (bench.store(&server), Descriptor::of(INDEX, &index()));
        let before = shown.map(|before| Digest::sha256(&before));
        assert!(store.retag(&descriptor, &tag, before.as_ref()).await.unwrap());
        assert_eq!(store.resolve(&Reference::Tag(tag)).await.unwrap().digest, descriptor.digest);
        assert_eq!(bench.retries(), 3);
    }
}
