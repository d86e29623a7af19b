//! Who points at a manifest.

use std::sync::Mutex;

use bytes::Bytes;
use serde_json::{Value, json};
use tofu_oci_store::{Lists, ReadStore as _, Store as _, StoreError};
use tofu_oci_types::{Descriptor, Digest};

use crate::server::{Reply, Request, Server, reply};
use crate::support::{INDEX, MANIFEST, bench, index, manifest_reply, store};

fn subject() -> Digest {
    Digest::sha256(&index())
}

fn tag() -> String {
    format!("/v2/x/manifests/sha256-{}", subject().encoded())
}

fn list(names: &[&str]) -> Vec<u8> {
    let entries: Vec<Value> = names.iter().map(|name| json!(Descriptor::of(MANIFEST, name.as_bytes()))).collect();
    json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}).to_string().into_bytes()
}

async fn listed(server: &Server) -> Result<Vec<Digest>, StoreError> {
    Ok(store(server).referrers(&subject()).await?.into_iter().map(|found| found.digest).collect())
}

#[tokio::test]
async fn the_api_is_read_page_by_page() {
    let server = Server::start(|request, _| {
        if request.path() == tag() {
            return reply(404);
        }
        let page = reply(200).header("content-type", INDEX);
        if request.target.contains("page=2") {
            page.body(list(&["b"]))
        } else {
            page.body(list(&["a"])).header("link", r#"<?page=2>; rel="next""#)
        }
    });
    assert_eq!(listed(&server).await.unwrap(), [Digest::sha256(b"a"), Digest::sha256(b"b")]);
    assert_eq!(server.lines()[0], format!("GET /v2/x/referrers/{}", subject()));
}

#[tokio::test]
async fn without_the_api_the_tag_is_read() {
    let html = reply(200).header("content-type", "text/html").body("<html>");
    for none in [reply(404), reply(400), reply(405), reply(406), html] {
        let server =
            Server::start(
                move |request, _| {
                    if request.path() == tag() { manifest_reply(INDEX, &list(&["a"])) } else { none.clone() }
                },
            );
        let store = store(&server);
        assert_eq!(store.referrers(&subject()).await.unwrap()[0].digest, Digest::sha256(b"a"));
        store.referrers(&subject()).await.unwrap();
        assert_eq!(server.requests().len(), 3, "that there is no API is remembered");
    }
}

#[tokio::test]
async fn without_api_and_tag_there_are_none() {
    let server = Server::start(|_, _| reply(404));
    assert_eq!(listed(&server).await.unwrap(), []);
}

#[tokio::test]
async fn a_tag_that_is_read_as_the_subject_itself_is_no_list() {
    let server =
        Server::start(|request, _| if request.path() == tag() { manifest_reply(INDEX, &index()) } else { reply(404) });
    assert_eq!(listed(&server).await.unwrap(), []);
}

#[tokio::test]
async fn a_refusal_and_a_failure_are_not_an_empty_list() {
    for status in [401, 403, 500] {
        let server = Server::start(move |_, _| reply(status));
        assert!(listed(&server).await.is_err(), "{status}");
    }
}

/// A registry without the API that stores what is put under the tag.
fn tag_only(subject_header: bool) -> Server {
    let stored: Mutex<Option<Vec<u8>>> = Mutex::new(Some(list(&["old"])));
    Server::start(move |request, _| {
        let mut stored = stored.lock().unwrap();
        match (request.method.as_str(), request.path() == tag()) {
            ("GET", true) => stored.as_ref().map_or(reply(404), |bytes| manifest_reply(INDEX, bytes)),
            ("PUT", true) if request.body.is_empty() => reply(201),
            ("PUT", true) => {
                *stored = Some(request.body.clone());
                reply(201)
            }
            ("PUT", false) if subject_header => reply(201).header("oci-subject", subject().to_string()),
            ("PUT", false) => reply(201),
            _ => reply(404) as Reply,
        }
    })
}

fn signature() -> (Descriptor, Bytes) {
    signature_of("me")
}
fn signature_of(who: &str) -> (Descriptor, Bytes) {
    let manifest = json!({
        "schemaVersion": 2, "mediaType": MANIFEST, "artifactType": "application/x.signature",
        "config": {"mediaType": "application/vnd.oci.empty.v1+json", "digest": Digest::sha256(b"{}"), "size": 2},
        "layers": [], "annotations": {"who": who},
        "subject": {"mediaType": INDEX, "digest": subject(), "size": index().len()},
    });
    let bytes = Bytes::from(manifest.to_string());
    (Descriptor::of(MANIFEST, &bytes), bytes)
}

#[tokio::test]
async fn a_pushed_referrer_is_listed_under_the_tag_beside_the_others() {
    let server = tag_only(false);
    let (descriptor, bytes) = signature();
    let store = store(&server);
    store.push(&descriptor, &bytes).await.unwrap();
    let found = store.referrers(&subject()).await.unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].digest, Digest::sha256(b"old"));
    assert_eq!(found[1].digest, descriptor.digest);
    assert_eq!(found[1].artifact_type.as_deref(), Some("application/x.signature"));
    assert_eq!(found[1].annotations["who"], "me");
}

/// What stays listed beside our own when somebody who never saw ours writes `theirs` right after our first write.
async fn after_a_race(theirs: &'static [&'static str], conditional: bool) -> (Vec<Digest>, Vec<Option<String>>) {
    let stored: Mutex<(Vec<u8>, usize)> = Mutex::new((list(&["old"]), 0));
    let server = Server::start(move |request, _| {
        let (stored, writes) = &mut *stored.lock().unwrap();
        let etag = |bytes: &[u8]| format!("\"{}\"", Digest::sha256(bytes));
        match (request.method.as_str(), request.path() == tag()) {
            ("GET", true) if conditional => manifest_reply(INDEX, stored).header("etag", etag(stored)),
            ("GET", true) => manifest_reply(INDEX, stored),
            // Whether a write is allowed at all.
            ("PUT", true) if request.body.is_empty() => reply(201),
            ("PUT", true) => {
                *writes += 1;
                if conditional && *writes == 1 {
                    *stored = list(theirs);
                }
                if conditional && request.header("if-match").is_some_and(|given| given != etag(stored)) {
                    return reply(412);
                }
                stored.clone_from(&request.body);
                if !conditional && *writes == 1 {
                    *stored = list(theirs);
                }
                reply(201)
            }
            ("PUT", false) => reply(201),
            _ => reply(404) as Reply,
        }
    });
    let (descriptor, bytes) = signature();
    let store = store(&server);
    store.push(&descriptor, &bytes).await.unwrap();
    store.settle().await.unwrap();
    let others = listed(&server).await.unwrap().into_iter().filter(|digest| *digest != descriptor.digest).collect();
    let is_write = |request: &Request| request.method == "PUT" && request.path() == tag() && !request.body.is_empty();
    let written = server.requests().into_iter().filter(is_write);
    (others, written.map(|request| request.header("if-match").map(str::to_owned)).collect())
}

#[tokio::test]
async fn a_race_for_the_list_loses_nobodys_entry() {
    let digests = |names: &[&str]| names.iter().map(|name| Digest::sha256(name.as_bytes())).collect::<Vec<_>>();
    let (others, conditions) = after_a_race(&["theirs"], false).await;
    assert_eq!(others, digests(&["theirs", "old"]), "ours and what was there before is written again");
    assert_eq!(conditions, [None, None]);
    let (others, conditions) = after_a_race(&["old", "theirs"], true).await;
    assert_eq!(others, digests(&["old", "theirs"]));
    let etag = |names: &[&str]| Some(format!("\"{}\"", Digest::sha256(&list(names))));
    assert_eq!(conditions, [etag(&["old"]), etag(&["old", "theirs"])]);
}

/// `copy` lost signatures so: tasks of one program overwrote each other's list.
#[tokio::test]
async fn tasks_of_one_program_lose_no_referrer_of_each_other() {
    let server = tag_only(false);
    let bench = bench();
    // Stores of their own, as a program may have them.
    let stores: Vec<_> = (0..8).map(|_| bench.store(&server)).collect();
    let pushes = stores.iter().enumerate().map(|(nth, store)| async move {
        let (descriptor, bytes) = signature_of(&nth.to_string());
        store.push(&descriptor, &bytes).await.unwrap();
        descriptor.digest
    });
    let pushed = futures_util::future::join_all(pushes).await;
    let found = listed(&server).await.unwrap();
    assert_eq!(found.len(), 9);
    assert!(pushed.iter().all(|digest| found.contains(digest)));
}

/// Somebody who read the list before our write, and writes after we have read ours back.
#[tokio::test]
async fn what_is_overwritten_late_is_written_again_before_the_job_ends() {
    let stored = std::sync::Arc::new(Mutex::new(list(&["old"])));
    let kept = std::sync::Arc::clone(&stored);
    let server = Server::start(move |request, _| match (request.method.as_str(), request.path() == tag()) {
        ("GET", true) => manifest_reply(INDEX, &kept.lock().unwrap()),
        ("PUT", true) if request.body.is_empty() => reply(201),
        ("PUT", true) => {
            kept.lock().unwrap().clone_from(&request.body);
            reply(201)
        }
        ("PUT", false) => reply(201),
        _ => reply(404) as Reply,
    });
    let (bench, (descriptor, bytes)) = (bench(), signature());
    let store = bench.store(&server);
    store.push(&descriptor, &bytes).await.unwrap();
    *stored.lock().unwrap() = list(&["old", "theirs"]);
    store.settle().await.unwrap();
    let want = [Digest::sha256(b"old"), Digest::sha256(b"theirs"), descriptor.digest];
    assert_eq!(listed(&server).await.unwrap(), want);
    let waits = bench.clock.0.lock().unwrap().clone();
    assert_eq!(waits.len(), 2, "after our write, and after the one that fixed it: {waits:?}");
    assert!(waits.iter().all(|wait| wait.as_millis() >= 200), "{waits:?}");
    server.forget();
    store.settle().await.unwrap();
    assert!(server.requests().is_empty(), "what has settled costs nothing");
}

/// An `ETag` of something before the registry, which it does not know.
#[tokio::test]
async fn an_etag_that_the_registry_refuses_is_left_out() {
    let stored = Mutex::new(list(&["old"]));
    let server = Server::start(move |request, _| match (request.method.as_str(), request.path() == tag()) {
        ("GET", true) => manifest_reply(INDEX, &stored.lock().unwrap()).header("etag", "\"x\""),
        ("PUT", true) if request.header("if-match").is_some() => reply(412),
        ("PUT", true) if request.body.is_empty() => reply(201),
        ("PUT", true) => {
            stored.lock().unwrap().clone_from(&request.body);
            reply(201)
        }
        ("PUT", false) => reply(201),
        _ => reply(404) as Reply,
    });
    let (descriptor, bytes) = signature();
    store(&server).push(&descriptor, &bytes).await.unwrap();
    assert_eq!(listed(&server).await.unwrap(), [Digest::sha256(b"old"), descriptor.digest]);
}

/// GitLab reads the tag `sha256-HEX` as the digest.
#[tokio::test]
async fn a_registry_that_takes_the_tag_of_a_list_for_the_subject_was_said_to_have_other_writers() {
    let server = Server::start(move |request, _| match (request.method.as_str(), request.path() == tag()) {
        ("GET", true) => manifest_reply(INDEX, &index()),
        ("PUT", _) => reply(201),
        _ => reply(404) as Reply,
    });
    let (descriptor, bytes) = signature();
    let bench = bench();
    let store = bench.store(&server);
    store.push(&descriptor, &bytes).await.unwrap();
    let got = store.settle().await;
    assert!(matches!(&got, Err(StoreError::NotListed { missing, .. }) if *missing == [descriptor.digest]), "{got:?}");
    assert_eq!(bench.retries(), 0);
}

#[tokio::test]
async fn a_registry_that_keeps_the_list_itself_is_left_to_it() {
    let server = tag_only(true);
    let (descriptor, bytes) = signature();
    store(&server).push(&descriptor, &bytes).await.unwrap();
    assert!(server.requests().iter().all(|request| request.path() != tag()));
}

#[tokio::test]
async fn a_referrer_that_is_there_and_not_listed_is_listed() {
    let (descriptor, bytes) = signature();
    let served = bytes.clone();
    let stored: Mutex<Option<Vec<u8>>> = Mutex::new(None);
    let server = Server::start(move |request, _| {
        let mut stored = stored.lock().unwrap();
        match (request.method.as_str(), request.path() == tag()) {
            ("HEAD", _) => manifest_reply(MANIFEST, &served),
            ("GET", true) => stored.as_ref().map_or(reply(404), |bytes| manifest_reply(INDEX, bytes)),
            ("PUT", true) if !request.body.is_empty() => {
                *stored = Some(request.body.clone());
                reply(201)
            }
            ("PUT", _) => reply(201),
            _ => reply(404),
        }
    });
    store(&server).push(&descriptor, &bytes).await.unwrap();
    assert_eq!(listed(&server).await.unwrap(), std::slice::from_ref(&descriptor.digest));
    let again = store(&server).push(&descriptor, &bytes).await.unwrap();
    assert_eq!(again, tofu_oci_store::Pushed::Present);
}

fn tags(names: &[String]) -> Reply {
    reply(200).header("content-type", "application/json").body(json!({"name": "x", "tags": names}).to_string())
}

/// A registry with or without the API, in which `listed` is under the tag, `by_api` in the API, and the tag in its list
/// of tags where `shown` says so.
fn both(api: Reply, under_tag: Option<&'static [&'static str]>, shown: bool) -> Server {
    Server::start(move |request, _| match request.path() {
        path if path.ends_with("/tags/list") && shown => tags(&[tag().rsplit_once('/').unwrap().1.to_owned()]),
        path if path.ends_with("/tags/list") => tags(&["1.0.0".to_owned()]),
        path if path == tag() => under_tag.map_or(reply(404), |names| manifest_reply(INDEX, &list(names))),
        _ => api.clone(),
    })
}

fn api(names: &[&str]) -> Reply {
    reply(200).header("content-type", INDEX).body(list(names))
}

/// What is found in the chosen lists, and how many requests that took.
async fn found_in(server: &Server, lists: Lists, tags_first: bool) -> (Vec<Digest>, usize) {
    let store = store(server);
    if tags_first {
        store.tags().await.unwrap();
    }
    let before = server.requests().len();
    let found = store.referrers_in(&subject(), lists).await.unwrap();
    (found.into_iter().map(|found| found.digest).collect(), server.requests().len() - before)
}

#[tokio::test]
async fn the_nearest_list_takes_the_fewest_requests() {
    let (a, b) = (Digest::sha256(b"a"), Digest::sha256(b"b"));
    let nearest = async |server: Server, tags_first| found_in(&server, Lists::Nearest, tags_first).await;
    assert_eq!(nearest(both(api(&["a"]), Some(&["b"]), true), false).await, (vec![a.clone()], 1), "the API");
    assert_eq!(nearest(both(reply(404), Some(&["b"]), true), false).await, (vec![b.clone()], 2), "no API");
    assert_eq!(
        nearest(both(api(&["a"]), Some(&["b"]), true), true).await,
        (vec![b], 1),
        "the tag is known to be there"
    );
    assert_eq!(
        nearest(both(api(&["a"]), Some(&[]), true), true).await,
        (vec![a.clone()], 2),
        "an empty list says nothing"
    );
    assert_eq!(nearest(both(api(&["a"]), None, false), true).await, (vec![a], 1), "no tag is known");
    assert_eq!(nearest(both(reply(404), None, false), true).await, (vec![], 1), "neither API nor tag");
    let (a, b) = [b"a", b"b"].map(|name| Digest::sha256(name)).into();
    assert_eq!(nearest(both(api(&[]), Some(&["b"]), true), false).await, (vec![b], 2), "an API that lists nothing");
    assert_eq!(
        nearest(both(api(&["a"]), Some(&["b"]), true), false).await,
        (vec![a], 1),
        "an API that lists something"
    );
}

#[tokio::test]
async fn an_api_that_lists_nothing_does_not_hide_what_is_under_the_tag() {
    let (a, b) = (Digest::sha256(b"a"), Digest::sha256(b"b"));
    let found = async |server: Server, tags_first: bool| {
        let store = store(&server);
        if tags_first {
            store.tags().await.unwrap();
        }
        let before = server.requests().len();
        let found = store.referrers(&subject()).await.unwrap();
        (found.into_iter().map(|found| found.digest).collect::<Vec<_>>(), server.requests().len() - before)
    };
    assert_eq!(found(both(api(&[]), Some(&["b"]), true), false).await, (vec![b.clone()], 2));
    assert_eq!(found(both(api(&["a"]), Some(&["b"]), true), false).await, (vec![a.clone(), b.clone()], 2));
    assert_eq!(found(both(api(&["a"]), Some(&["b"]), true), true).await, (vec![a.clone(), b.clone()], 2));
    assert_eq!(found(both(api(&["a"]), None, false), true).await, (vec![a], 1), "no such tag is listed");
    assert_eq!(found(both(reply(404), Some(&["b"]), true), true).await, (vec![b], 2));
}

#[tokio::test]
async fn all_lists_are_one() {
    let (a, b) = (Digest::sha256(b"a"), Digest::sha256(b"b"));
    let all = async |server: Server, tags_first| found_in(&server, Lists::All, tags_first).await;
    assert_eq!(all(both(api(&["a", "b"]), Some(&["b"]), true), true).await, (vec![a.clone(), b.clone()], 2));
    assert_eq!(all(both(api(&["a"]), Some(&["b"]), false), true).await, (vec![a.clone(), b.clone()], 2));
    assert_eq!(all(both(reply(404), Some(&["b"]), false), true).await, (vec![b], 2), "a list of tags may be old");
    let odd =
        Server::start(|request, _| if request.path() == tag() { manifest_reply(MANIFEST, b"{}") } else { api(&["a"]) });
    assert_eq!(all(odd, false).await, (vec![a], 2), "beside an API the tag may be anything");
    let failing = Server::start(|request, _| if request.path() == tag() { reply(500) } else { api(&["a"]) });
    assert!(
        store(&failing).referrers_in(&subject(), Lists::All).await.is_err(),
        "what cannot be asked hides something"
    );
}

/// That there is no API is remembered for the registry, but what matters is asked of each repository.
#[tokio::test]
async fn a_registry_is_asked_for_the_api_once() {
    let server = Server::start(|_, _| reply(404));
    let bench = bench();
    for name in ["a", "b", "c"] {
        let store = bench.client.store(format!("{}/{name}", server.host()).parse().unwrap());
        store.referrers_in(&subject(), Lists::Nearest).await.unwrap();
        store.referrers(&subject()).await.unwrap();
    }
    let asked = || server.lines().iter().filter(|line| line.contains("/referrers/")).count();
    assert_eq!(asked(), 1);
    let store = bench.client.store(format!("{}/d", server.host()).parse().unwrap());
    store.referrers_in(&subject(), Lists::All).await.unwrap();
    store.referrers_in(&subject(), Lists::All).await.unwrap();
    assert_eq!(asked(), 2);
}

#[tokio::test]
async fn a_list_that_is_no_index_is_an_error() {
    for body in ["[]", "null", "7", r#"{"manifests":{}}"#, "{", ""] {
        let server = Server::start(move |_, _| reply(200).header("content-type", INDEX).body(body));
        assert!(listed(&server).await.is_err(), "{body}");
    }
    let none = Server::start(|_, _| reply(200).header("content-type", INDEX).body(r#"{"manifests":null}"#));
    assert_eq!(listed(&none).await.unwrap(), []);
}
