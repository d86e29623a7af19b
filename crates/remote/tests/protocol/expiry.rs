//! Tokens that die in the middle of a transfer, however long it is and wherever they die.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use async_trait::async_trait;
use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_credentials::Credential;
use tofu_oci_remote::{ChunkMode, ClientOptions, RemoteStore};
use tofu_oci_store::{AccessFault, ByteStream, Pushed, ReadStore, Store as _, StoreError, StoredBody};
use tofu_oci_types::{Descriptor, Digest, Place, Reference, RepositoryRef, Tag};

use crate::server::{Reply, Request, Server, reply};
use crate::support::{Fixed, bench_with, blob, generated, index, manifest_reply, noise, pieces, read};

const LARGE: u64 = 700 * 1024 * 1024;

/// So many bytes of what `pieces` gives.
static LARGE_BLOB: LazyLock<Descriptor> = LazyLock::new(|| generated(LARGE));

/// A registry that says when a token is dead, and a token server that gives `token-1`, `token-2`, ….
struct Lab {
    registry: Server,
    tokens: Server,
}

/// What a registry is asked, before any body has come.
struct Asked<'a> {
    request: &'a Request,
    /// The number of the token that is shown; 0 when there is none.
    token: usize,
    /// How often this token has been shown, this time counted.
    uses: usize,
}

impl Asked<'_> {
    fn method(&self) -> &str {
        &self.request.method
    }
}

impl Lab {
    /// `serve` answers; 401 gets the challenge added, and the token stays dead. Without a token nothing is served.
    fn new(serve: impl Fn(&Asked<'_>) -> Reply + Send + Sync + 'static) -> Self {
        let issued = AtomicUsize::new(0);
        let tokens = Server::start(move |_, _| {
            let number = issued.fetch_add(1, Ordering::SeqCst) + 1;
            reply(200).body(format!(r#"{{"token":"token-{number}","expires_in":300}}"#))
        });
        let challenge = format!(r#"Bearer realm="http://{}/token",service="lab""#, tokens.host());
        let shown: Mutex<HashMap<usize, usize>> = Mutex::default();
        let dead: Mutex<HashSet<usize>> = Mutex::new(HashSet::from([0]));
        let registry = Server::start(move |request, _| {
            let token = request.header("authorization").and_then(|value| value.strip_prefix("Bearer token-"));
            let token = token.and_then(|number| number.parse().ok()).unwrap_or(0);
            let uses = {
                let mut shown = shown.lock().unwrap();
                let uses = shown.entry(token).or_default();
                *uses += 1;
                *uses
            };
            let is_dead = dead.lock().unwrap().contains(&token);
            let answer = if is_dead { reply(401) } else { serve(&Asked { request, token, uses }) };
            let answer = if answer.takes_body() { answer } else { answer.weigh(u64::MAX) };
            if answer.status() != 401 {
                return answer;
            }
            dead.lock().unwrap().insert(token);
            answer.header("www-authenticate", challenge.clone())
        });
        Self { registry, tokens }
    }

    fn store(&self, chunk: ChunkMode) -> RemoteStore {
        let options = ClientOptions { chunk, ..ClientOptions::default() };
        let bench = bench_with(options, Arc::new(Fixed(Credential::basic("user", "word"))));
        bench.store(&self.registry)
    }

    fn of(&self, method: &str) -> Vec<Request> {
        self.registry.requests().into_iter().filter(|request| request.method == method).collect()
    }

    /// How much of a body each request of this method carried, as far as it was read.
    fn sizes(&self, method: &str) -> Vec<u64> {
        self.of(method).iter().filter_map(|request| Some(request.weighed.as_ref()?.size)).collect()
    }
}

/// A store that has nothing but what `pieces` gives.
struct Endless;

#[async_trait]
impl ReadStore for Endless {
    fn place(&self) -> Place {
        "endless".parse().unwrap()
    }

    async fn resolve(&self, _: &Reference) -> Result<Descriptor, StoreError> {
        Err(StoreError::UnknownRepository { place: self.place() })
    }

    async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        Ok(Vec::new())
    }

    async fn exists(&self, _: &Descriptor) -> Result<bool, StoreError> {
        Ok(true)
    }

    async fn fetch_unverified(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        let pieces = pieces(0..descriptor.size).map(|piece| Ok(bytes::Bytes::from_static(piece)));
        Ok(futures_util::stream::iter(pieces).boxed())
    }

    async fn referrers(&self, _: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        Ok(Vec::new())
    }
}

/// Takes an upload in one piece or in chunks, without keeping it.
fn take(asked: &Asked<'_>) -> Reply {
    match asked.method() {
        "POST" => reply(202).header("location", "/u/1"),
        "PUT" => reply(201),
        "PATCH" => {
            let range = asked.request.header("content-range").and_then(|range| range.split_once('-')).unwrap();
            reply(202).header("location", asked.request.path()).header("range", format!("0-{}", range.1))
        }
        _ => reply(404),
    }
}

async fn push(store: &RemoteStore, descriptor: &Descriptor) -> Result<Pushed, StoreError> {
    store.push(descriptor, &StoredBody(&Endless, descriptor)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_dies_while_700_mb_go_up_in_one_piece() {
    let descriptor = LARGE_BLOB.clone();
    let lab = Lab::new(|asked| match (asked.method(), asked.token) {
        // The registry has half of it when it finds that the token is dead, and hangs up.
        ("PUT", 1) => reply(401).weigh(LARGE / 2),
        _ => take(asked),
    });
    assert_eq!(push(&lab.store(ChunkMode::Never), &descriptor).await.unwrap(), Pushed::Uploaded);
    let puts = lab.of("PUT");
    assert_eq!(lab.sizes("PUT"), [LARGE / 2, LARGE]);
    assert_eq!(puts[1].weighed.as_ref().map(|weighed| &weighed.digest), Some(&descriptor.digest));
    assert_eq!(lab.tokens.requests().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_that_die_while_700_mb_go_up_in_chunks() {
    let descriptor = LARGE_BLOB.clone();
    let lab = Lab::new(|asked| if asked.uses > 50 { reply(401) } else { take(asked) });
    assert_eq!(push(&lab.store(ChunkMode::Always), &descriptor).await.unwrap(), Pushed::Uploaded);
    let taken: u64 = lab.sizes("PATCH").iter().sum();
    // Three chunks were refused and sent once more: at the death of each of the first three tokens.
    assert_eq!(taken, LARGE + 3 * 4 * 1024 * 1024);
    assert_eq!(lab.tokens.requests().len(), 4);
    assert_eq!(lab.of("PUT").len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_that_die_while_700_mb_come_down() {
    let descriptor = LARGE_BLOB.clone();
    let (size, part) = (LARGE, 300_000_000);
    // The connection breaks after each part, and by then the token is dead.
    let lab = Lab::new(move |asked| match (asked.uses, asked.request.header("range")) {
        (2.., _) => reply(401),
        (_, None) => reply(200).generated(0..size).cut(part),
        (_, Some(range)) => {
            let start: u64 = range.strip_prefix("bytes=").unwrap().strip_suffix('-').unwrap().parse().unwrap();
            reply(206)
                .header("content-range", format!("bytes {start}-{}/{size}", size - 1))
                .generated(start..size)
                .cut(part.min(usize::try_from(size - start).unwrap()))
        }
    });
    let store = lab.store(ChunkMode::Never);
    let mut stream = store.fetch(&descriptor).await.unwrap();
    let mut came = 0;
    while let Some(piece) = stream.try_next().await.unwrap() {
        came += piece.len() as u64;
    }
    assert_eq!(came, LARGE, "and the digest was right");
    let ranges: Vec<String> =
        lab.of("GET").iter().map(|request| request.header("range").unwrap_or("all").to_owned()).collect();
    let (second, third) = ("bytes=300000000-", "bytes=600000000-");
    assert_eq!(ranges, ["all", "all", second, second, third, third]);
    assert_eq!(lab.tokens.requests().len(), 3);
}

#[tokio::test]
async fn a_body_that_was_sent_whole_is_sent_whole_again() {
    let bytes = noise(600_000);
    let lab = Lab::new(|asked| if asked.method() == "PUT" && asked.token == 1 { reply(401) } else { take(asked) });
    lab.store(ChunkMode::Never).push(&blob(&bytes), &bytes).await.unwrap();
    assert_eq!(lab.sizes("PUT"), [600_000, 600_000]);
    assert_eq!(lab.of("POST").len(), 1, "the session stays");
}

#[tokio::test]
async fn an_upload_session_that_died_with_the_token_is_opened_anew() {
    for chunk in [ChunkMode::Never, ChunkMode::Always] {
        let descriptor = generated(6_000_000);
        // Of the first session nothing is known any more once the first token is dead.
        let lab = Lab::new(|asked| match (asked.method(), asked.request.path(), asked.token) {
            ("PUT" | "PATCH", _, 1) => reply(401),
            ("POST", _, token) => reply(202).header("location", format!("/u/{token}")),
            ("PUT" | "PATCH", "/u/1", _) => reply(404).error("BLOB_UPLOAD_UNKNOWN", "no such session"),
            _ => take(asked),
        });
        assert_eq!(push(&lab.store(chunk), &descriptor).await.unwrap(), Pushed::Uploaded, "{chunk:?}");
        let last = lab.of("PUT").pop().unwrap();
        assert_eq!(last.path(), "/u/2", "{chunk:?}");
        assert_eq!(lab.tokens.requests().len(), 2, "{chunk:?}");
    }
}

#[tokio::test]
async fn a_mount_a_manifest_and_a_list_outlive_their_tokens() {
    let bytes = index();
    let listed = bytes.clone();
    let lab = Lab::new(move |asked| match (asked.uses, asked.method()) {
        (2.., _) => reply(401),
        (_, "POST" | "PUT") => reply(201),
        (_, "GET") if asked.request.path().ends_with("tags/list") => reply(200).body(r#"{"tags":["1.0.0"]}"#),
        (_, "GET") => manifest_reply(crate::support::INDEX, &listed),
        _ => reply(404),
    });
    let store = lab.store(ChunkMode::Never);
    let from: RepositoryRef = format!("{}/y", lab.registry.host()).parse().unwrap();
    let descriptor = Descriptor::of(crate::support::INDEX, &bytes);
    for round in 1..=2 {
        assert!(store.mount(&blob(&[round]), &from).await.unwrap());
        store.push(&descriptor, &bytes).await.unwrap();
        store.tag(&descriptor, &"1.0.0".parse().unwrap()).await.unwrap();
        assert_eq!(store.tags().await.unwrap().len(), 1);
        assert_eq!(read(&store, &descriptor).await.unwrap(), bytes);
    }
}

#[tokio::test]
async fn a_token_that_is_refused_although_it_is_new_is_refused_for_good() {
    let lab = Lab::new(|_| reply(401).error("UNAUTHORIZED", "no"));
    let error = lab.store(ChunkMode::Never).tags().await.unwrap_err();
    assert!(matches!(error, StoreError::Unauthorized { fault: AccessFault::TokenRefused(401), .. }), "{error}");
    assert_eq!(error.credential_code().as_deref(), Some("registry-status:401"));
    assert_eq!((lab.of("GET").len(), lab.tokens.requests().len()), (2, 1));
}

#[tokio::test]
async fn a_blob_that_is_refused_after_good_manifests_costs_one_more_token_and_one_more_try() {
    let lab = Lab::new(|asked| match asked.request.path() {
        path if path.contains("/blobs/") => reply(401),
        _ => reply(200).body(r#"{"tags":["1.0.0"]}"#),
    });
    let store = lab.store(ChunkMode::Never);
    store.tags().await.unwrap();
    let error = read(&store, &blob(b"x")).await.unwrap_err();
    assert_eq!(error.credential_code().as_deref(), Some("registry-status:401"));
    assert_eq!((lab.of("GET").len(), lab.tokens.requests().len()), (4, 2));
}
