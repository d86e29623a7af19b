//! A repository that does not exist before it is written to.

use bytes::Bytes;
use tofu_oci_remote::RemoteStore;
use tofu_oci_store::{Pushed, ReadStore as _, Store as _};
use tofu_oci_types::{Descriptor, Digest, Tag};

use crate::server::{Server, reply};
use crate::support::{INDEX, MANIFEST, bench, blob, index, manifest_reply, noise};

/// A registry that takes everything and has nothing. `list` is what it says of the tags.
fn taking_all(status: u16, list: &'static str) -> Server {
    Server::start(move |request, _| match request.method.as_str() {
        "POST" => reply(202).header("location", "/u/1"),
        "PUT" => reply(201).header("docker-content-digest", Digest::sha256(&request.body).to_string()),
        "GET" if request.path().ends_with("/tags/list") && status == 404 => reply(404).error("NAME_UNKNOWN", "unknown"),
        "GET" if request.path().ends_with("/tags/list") => reply(status).body(list),
        _ => reply(404),
    })
}

/// The methods that it takes to push a blob of so many bytes.
async fn of_blob(server: &Server, store: &RemoteStore, size: usize) -> String {
    let bytes = noise(size);
    server.forget();
    store.push(&blob(&bytes), &bytes).await.unwrap();
    methods(server)
}

async fn of_manifest(server: &Server, store: &RemoteStore, text: &str) -> (Descriptor, String) {
    let bytes =
        Bytes::from(format!(r#"{{"schemaVersion":2,"mediaType":"{INDEX}","manifests":[],"annotations":{text}}}"#));
    let descriptor = Descriptor::of(INDEX, &bytes);
    server.forget();
    store.push(&descriptor, &bytes).await.unwrap();
    (descriptor, methods(server))
}

fn methods(server: &Server) -> String {
    server.requests().iter().map(|request| request.method.clone()).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn everything_of_a_first_release_was_asked_for_before_it_was_written() {
    let server = taking_all(404, "");
    let store = bench().store(&server);
    store.tags().await.unwrap_err();
    assert_eq!(of_blob(&server, &store, 1000).await, "POST PUT");
    // An interrupted push leaves no tag. What it has sent of this size is not sent again.
    assert_eq!(of_blob(&server, &store, 100_000).await, "HEAD POST PUT");
    let (first, took) = of_manifest(&server, &store, r#"{"a":"1"}"#).await;
    assert_eq!(took, "PUT");

    // An interrupted mirror has left its record, and the repository exists.
    store.tag(&first, &Tag::FIRST_SEEN.parse().unwrap()).await.unwrap();
    assert_eq!(of_blob(&server, &store, 100_001).await, "POST PUT");
    assert_eq!(of_manifest(&server, &store, r#"{"a":"2"}"#).await.1, "PUT");

    // Readers come, and links that they read are not written again.
    store.tag(&first, &"1.0.0".parse().unwrap()).await.unwrap();
    assert_eq!(of_blob(&server, &store, 1001).await, "HEAD POST PUT");
    assert_eq!(of_manifest(&server, &store, r#"{"a":"3"}"#).await.1, "HEAD PUT");
}

#[tokio::test]
async fn what_went_with_its_repository_was_said_to_be_there() {
    let server = taking_all(404, "");
    let store = bench().store(&server);
    let bytes = noise(1000);
    store.push(&blob(&bytes), &bytes).await.unwrap();
    let (release, _) = of_manifest(&server, &store, r#"{"a":"1"}"#).await;
    store.tag(&release, &"1.0.0".parse().unwrap()).await.unwrap();
    assert_eq!(of_blob(&server, &store, 1000).await, "");
    assert!(store.exists(&release).await.unwrap());
    store.tags().await.unwrap_err();
    assert_eq!(of_blob(&server, &store, 1000).await, "HEAD POST PUT");
    assert!(!store.exists(&release).await.unwrap());
}

/// Others may be publishing into it.
#[tokio::test]
async fn nothing_is_written_unasked_into_a_repository_that_exists() {
    for list in [r#"{"tags":[]}"#, r#"{"tags":null}"#, r#"{"tags":["1"]}"#] {
        let server = taking_all(200, list);
        let store = bench().store(&server);
        store.tags().await.unwrap();
        assert_eq!(of_blob(&server, &store, 1000).await, "HEAD POST PUT");
        assert_eq!(of_manifest(&server, &store, r#"{"a":"1"}"#).await.1, "HEAD PUT");
    }
    // Another program has made it since.
    let made = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let is_made = std::sync::Arc::clone(&made);
    let server = Server::start(move |request, _| match request.method.as_str() {
        "POST" => reply(202).header("location", "/u/1"),
        "PUT" => reply(201),
        "GET" if is_made.load(std::sync::atomic::Ordering::SeqCst) => reply(200).body(r#"{"tags":["1"]}"#),
        _ => reply(404).error("NAME_UNKNOWN", "unknown"),
    });
    let store = bench().store(&server);
    store.tags().await.unwrap_err();
    made.store(true, std::sync::atomic::Ordering::SeqCst);
    store.tags().await.unwrap();
    assert_eq!(of_blob(&server, &store, 1000).await, "HEAD POST PUT");
}

#[tokio::test]
async fn a_manifest_whose_digest_the_registry_has_named_was_asked_for_and_read_back() {
    let server = taking_all(200, r#"{"tags":[]}"#);
    let store = bench().store(&server);
    let (descriptor, _) = of_manifest(&server, &store, r#"{"a":"1"}"#).await;
    server.forget();
    assert!(store.exists(&descriptor).await.unwrap());
    tofu_oci_store::fetch_bytes(&store, &descriptor, 1000).await.unwrap();
    assert_eq!(methods(&server), "");

    let silent = Server::start(|request, _| reply(if request.method == "PUT" { 201 } else { 404 }));
    let store = bench().store(&silent);
    let (descriptor, _) = of_manifest(&silent, &store, r#"{"a":"1"}"#).await;
    assert!(!store.exists(&descriptor).await.unwrap(), "it took the manifest and has not said which");
    tofu_oci_store::fetch_bytes(&store, &descriptor, 1000).await.unwrap_err();
}

/// A registry that keeps manifests, without the referrers API.
fn keeping() -> Server {
    let kept: std::sync::Mutex<std::collections::HashMap<String, Bytes>> = std::sync::Mutex::default();
    Server::start(move |request, _| {
        let mut kept = kept.lock().unwrap();
        match request.method.as_str() {
            "PUT" => {
                kept.insert(request.path().to_owned(), request.body.clone().into());
                reply(201).header("docker-content-digest", Digest::sha256(&request.body).to_string())
            }
            _ if request.path().contains("/manifests/") => match kept.get(request.path()) {
                Some(bytes) => manifest_reply(INDEX, bytes),
                None => reply(404),
            },
            _ => reply(404).error("NAME_UNKNOWN", "unknown"),
        }
    })
}

/// A manifest that refers to the index.
fn referrer() -> (Descriptor, Bytes) {
    let subject = Descriptor::of(INDEX, &index());
    let manifest = serde_json::json!({"schemaVersion": 2, "mediaType": MANIFEST, "subject": subject});
    let manifest = Bytes::from(manifest.to_string());
    (Descriptor::of(MANIFEST, &manifest), manifest)
}

#[tokio::test]
async fn a_list_of_referrers_was_read_four_times_for_one_entry() {
    let (server, (descriptor, manifest), subject) = (keeping(), referrer(), Digest::sha256(&index()));
    let store = bench().store(&server);
    store.tags().await.unwrap_err();
    store.push(&Descriptor::of(INDEX, &index()), &index()).await.unwrap();
    server.forget();
    assert_eq!(store.referrers(&subject).await.unwrap(), [], "nothing refers to what was written just now");
    store.push(&descriptor, &manifest).await.unwrap();
    let found = store.settled_referrers(&subject).await.unwrap();
    assert_eq!(found.iter().map(|found| &found.digest).collect::<Vec<_>>(), [&descriptor.digest]);
    assert_eq!(methods(&server), "PUT GET PUT GET");
    store.referrers(&subject).await.unwrap();
    assert!(server.requests().len() > 4, "others may refer to it by now");
}

#[tokio::test]
async fn a_referrer_that_another_program_has_pushed_meanwhile_is_found() {
    let (server, (descriptor, manifest), subject) = (keeping(), referrer(), Digest::sha256(&index()));
    let (ours, theirs) = (bench().store(&server), bench().store(&server));
    ours.push(&Descriptor::of(INDEX, &index()), &index()).await.unwrap();
    theirs.push(&descriptor, &manifest).await.unwrap();
    assert_eq!(ours.push(&descriptor, &manifest).await.unwrap(), Pushed::Present);
    let found = ours.settled_referrers(&subject).await.unwrap();
    assert_eq!(found.iter().map(|found| &found.digest).collect::<Vec<_>>(), [&descriptor.digest]);
    // A manifest that was there gets a tag, and what refers to it is asked for.
    let again = bench().store(&server);
    again.tag(&Descriptor::of(INDEX, &index()), &"1.0.0".parse().unwrap()).await.unwrap();
    assert_eq!(again.referrers(&subject).await.unwrap().len(), 1);
}

#[tokio::test]
async fn the_list_of_a_manifest_that_only_its_maker_knows_was_waited_for() {
    let (server, (descriptor, manifest), subject) = (keeping(), referrer(), Digest::sha256(&index()));
    let store = bench().store(&server);
    store.push(&Descriptor::of(INDEX, &index()), &index()).await.unwrap();
    store.push(&descriptor, &manifest).await.unwrap();
    server.forget();
    let found = store.uncontended_referrers(&subject).await.unwrap();
    assert_eq!(found.iter().map(|found| &found.digest).collect::<Vec<_>>(), [&descriptor.digest]);
    store.settle().await.unwrap();
    assert_eq!(methods(&server), "GET", "it is read back once");
    let other = Digest::sha256(b"another manifest");
    assert_eq!(store.uncontended_referrers(&other).await.unwrap(), [], "this program has written no such list");
}
