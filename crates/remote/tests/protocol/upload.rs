//! Blobs on their way up.

use bytes::Bytes;
use tofu_oci_remote::{ChunkMode, ClientOptions, NoCredentials, RemoteStore};
use tofu_oci_store::{Body, FileBody, Pushed, ReadStore as _, RejectionReason, Store as _, StoreError, StoredBody};
use tofu_oci_types::Digest;

use crate::server::{Reply, Request, Server, hang_up, reply};
use crate::support::{bench, bench_with, blob, check_error, noise, store};

/// A registry that takes everything and has nothing.
fn empty(request: &Request) -> Reply {
    match request.method.as_str() {
        "POST" => reply(202).header("location", "/u/1?state=a%2Fb"),
        "PUT" => reply(201),
        _ => reply(404),
    }
}

async fn push(store: &RemoteStore, bytes: &Bytes) -> Result<Pushed, StoreError> {
    store.push(&blob(bytes), bytes).await
}

fn put_line(bytes: &Bytes) -> String {
    format!("PUT /u/1?state=a%2Fb&digest={}", blob(bytes).digest.to_string().replace(':', "%3A"))
}

#[tokio::test]
async fn a_new_blob_costs_three_requests_and_is_never_mounted_from_its_own_repository() {
    let server = Server::start(|request, _| empty(request));
    let (store, bytes) = (store(&server), noise(1000));
    assert_eq!(push(&store, &bytes).await.unwrap(), Pushed::Uploaded);
    let digest = blob(&bytes).digest;
    let want = [format!("HEAD /v2/x/blobs/{digest}"), "POST /v2/x/blobs/uploads/".to_owned(), put_line(&bytes)];
    assert_eq!(server.lines(), want);
    let put = &server.requests()[2];
    assert_eq!(put.body, bytes);
    assert_eq!(put.header("content-length"), Some("1000"));
    assert_eq!(put.header("content-range"), None);
    assert_eq!(push(&store, &bytes).await.unwrap(), Pushed::Present);
    assert_eq!(server.requests().len(), 3, "what was uploaded is known");
}

/// That a repository lists no tags says nothing: others may be publishing into it.
#[tokio::test]
async fn nothing_that_is_there_is_written_into_a_repository_without_tags() {
    for list in [reply(200).body(r#"{"tags":[]}"#), reply(200).body(r#"{"tags":["1"]}"#)] {
        let server = Server::start(move |request, _| match request.method.as_str() {
            "GET" => list.clone(),
            "HEAD" => reply(200),
            _ => reply(500),
        });
        let store = store(&server);
        store.tags().await.unwrap();
        server.forget();
        assert_eq!(push(&store, &noise(1000)).await.unwrap(), Pushed::Present);
        let manifest = crate::support::index();
        let descriptor = tofu_oci_types::Descriptor::of(crate::support::INDEX, &manifest);
        assert_eq!(store.push(&descriptor, &manifest).await.unwrap(), Pushed::Present);
        assert!(server.requests().iter().all(|request| request.method == "HEAD"), "{:?}", server.lines());
    }
}

/// registry:2 says so while another program rewrites the link of the blob.
#[tokio::test]
async fn an_upload_that_is_called_damaged_and_is_there_is_no_error() {
    for (there, want) in [(true, true), (false, false)] {
        let server = Server::start(move |request, nth| match request.method.as_str() {
            "PUT" => reply(400).error("DIGEST_INVALID", "provided digest did not match uploaded content"),
            "HEAD" => reply(if nth > 0 && there { 200 } else { 404 }),
            _ => empty(request),
        });
        let got = push(&store(&server), &noise(10)).await;
        assert_eq!(got.is_ok(), want, "{got:?}");
        assert!(want || got.unwrap_err().to_string().contains("did not match uploaded content (DIGEST_INVALID)"));
    }
}

#[tokio::test]
async fn locations_may_be_absolute() {
    let server = Server::start(|request, _| match request.method.as_str() {
        "POST" => reply(202).header("location", format!("http://{}/u/1?state=a%2Fb", request.host())),
        _ => empty(request),
    });
    let bytes = noise(10);
    push(&store(&server), &bytes).await.unwrap();
    assert_eq!(server.lines().last(), Some(&put_line(&bytes)));
}

#[tokio::test]
async fn a_location_on_another_origin_gets_no_authorization() {
    let storage = Server::start(|request, _| empty(request));
    let target = format!("http://{}/u/1?sig=x", storage.host());
    let server = Server::start(move |request, _| match (request.header("authorization"), request.method.as_str()) {
        (None, _) => reply(401).header("www-authenticate", "Basic"),
        (_, "POST") => reply(202).header("location", target.clone()),
        _ => reply(404),
    });
    let bench = crate::support::bench_as(tofu_oci_credentials::Credential::basic("u", "p"));
    push(&bench.store(&server), &noise(10)).await.unwrap();
    assert_eq!(storage.requests().len(), 1);
    assert_eq!(storage.requests()[0].header("authorization"), None);
}

#[tokio::test]
async fn a_location_of_another_scheme_or_none_is_refused() {
    for answer in [reply(202).header("location", "file:///x"), reply(202).header("location", "http://u:p@h.test/")] {
        let server =
            Server::start(move |request, _| if request.method == "POST" { answer.clone() } else { reply(404) });
        assert!(matches!(push(&store(&server), &noise(10)).await, Err(StoreError::Forbidden { .. })));
    }
    let server = Server::start(|request, _| reply(if request.method == "POST" { 202 } else { 404 }));
    assert!(matches!(push(&store(&server), &noise(10)).await, Err(StoreError::Malformed { .. })));
}

#[tokio::test]
async fn a_broken_upload_begins_anew_in_a_fresh_session() {
    let server = Server::start(|request, _| {
        let first = request.target.starts_with("/u/1");
        match request.method.as_str() {
            "POST" if request.header("content-length") != Some("0") => reply(400),
            "PUT" if first => hang_up(),
            _ => empty(request),
        }
    });
    // The session of each attempt is another one.
    let sessions = std::sync::atomic::AtomicUsize::new(0);
    let server2 = Server::start(move |request, _| match request.method.as_str() {
        "POST" => {
            let number = sessions.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1;
            reply(202).header("location", format!("/u/{number}"))
        }
        "PUT" if request.path() == "/u/1" => hang_up(),
        "PUT" if request.path() == "/u/2" => reply(404).error("BLOB_UPLOAD_UNKNOWN", "lost"),
        "PUT" if request.path() == "/u/3" => reply(503),
        _ => empty(request),
    });
    let bytes = noise(600_000);
    let bench = bench();
    assert_eq!(push(&bench.store(&server2), &bytes).await.unwrap(), Pushed::Uploaded);
    assert_eq!(bench.retries(), 3);
    assert_eq!(server2.requests().last().unwrap().body, bytes);
    let got = push(&crate::support::bench().store(&server), &bytes).await;
    assert!(matches!(got, Err(StoreError::Unreachable { .. })));
}

#[tokio::test]
async fn a_lost_answer_is_not_a_second_upload() {
    let server = Server::start(|request, nth| match request.method.as_str() {
        "PUT" => hang_up(),
        "HEAD" => reply(if nth == 0 { 404 } else { 200 }),
        _ => empty(request),
    });
    assert_eq!(push(&store(&server), &noise(10)).await.unwrap(), Pushed::Uploaded);
    assert_eq!(server.requests().iter().filter(|request| request.method == "PUT").count(), 1);
}

#[tokio::test]
async fn a_blob_stored_under_another_digest_is_an_error() {
    let server = Server::start(|request, _| match request.method.as_str() {
        "PUT" => reply(201).header("docker-content-digest", Digest::sha256(b"other").to_string()),
        _ => empty(request),
    });
    assert!(matches!(push(&store(&server), &noise(10)).await, Err(StoreError::DigestMismatch { .. })));
}

#[tokio::test]
async fn no_right_and_no_repository_are_said_helpfully() {
    let server = Server::start(|request, _| match request.method.as_str() {
        "POST" => reply(404).error("NAME_UNKNOWN", "unknown name"),
        _ => reply(404),
    });
    let want = "HOST/x answered 404 to POST /v2/x/blobs/uploads/: unknown name (NAME_UNKNOWN); the repository does not \
                exist and is not created by a push, or there is no right to push";
    check_error(push(&store(&server), &noise(10)).await, &server, want);
    let server = Server::start(|request, _| match request.method.as_str() {
        "POST" => reply(403).error("DENIED", "read only"),
        _ => reply(404),
    });
    check_error(
        push(&store(&server), &noise(10)).await,
        &server,
        "HOST/x denied access: it names no way to log in, so nothing was shown: read only (DENIED)",
    );
}

#[tokio::test]
async fn a_file_that_shrank_or_grew_is_not_stored() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("blob");
    let bytes = noise(300_000);
    for length in [299_999, 300_001] {
        std::fs::write(&path, noise(length)).unwrap();
        let server = Server::start(|request, _| empty(request));
        let got = store(&server).push(&blob(&bytes), &FileBody(&path)).await;
        assert!(matches!(got, Err(StoreError::SizeMismatch { .. })), "{got:?}");
    }
    std::fs::write(&path, &bytes).unwrap();
    let server = Server::start(|request, _| empty(request));
    assert_eq!(store(&server).push(&blob(&bytes), &FileBody(&path)).await.unwrap(), Pushed::Uploaded);
    assert_eq!(server.requests().last().unwrap().body, bytes);
}

#[tokio::test]
async fn an_empty_blob_is_pushed() {
    let server = Server::start(|request, _| empty(request));
    assert_eq!(push(&store(&server), &Bytes::new()).await.unwrap(), Pushed::Uploaded);
    assert_eq!(server.requests().last().unwrap().header("content-length"), Some("0"));
}

#[tokio::test]
async fn mounting_links_or_leaves_a_session_for_the_upload() {
    let server = Server::start(|request, _| match request.method.as_str() {
        "POST" if request.target.ends_with("from=there") => reply(201),
        _ => empty(request),
    });
    let store = store(&server);
    let from = |name: &str| format!("{}/{name}", server.host()).parse().unwrap();
    let bytes = noise(10);
    assert!(store.mount(&blob(&bytes), &from("there")).await.unwrap());
    assert_eq!(push(&store, &bytes).await.unwrap(), Pushed::Present);
    assert_eq!(server.requests().len(), 1);
    let bytes = noise(20);
    assert!(!store.mount(&blob(&bytes), &from("elsewhere")).await.unwrap());
    assert_eq!(push(&store, &bytes).await.unwrap(), Pushed::Uploaded);
    assert_eq!(server.requests().len(), 3, "the session of the refused mount is used");
    assert!(!store.mount(&blob(b"z"), &"other.test/there".parse().unwrap()).await.unwrap());
}

/// A registry that refuses long bodies at once and keeps chunks; `range` makes its answer to a chunk.
fn chunking(patch: impl Fn(&Request, u64) -> Reply + Send + Sync + 'static) -> Server {
    let kept = std::sync::Mutex::new(0_u64);
    Server::start(move |request, _| match request.method.as_str() {
        "PUT" if request.header("content-length") != Some("0") => reply(413),
        "POST" => {
            *kept.lock().unwrap() = 0;
            empty(request)
        }
        "PATCH" if request.body.is_empty() => reply(202),
        "PATCH" => {
            let mut kept = kept.lock().unwrap();
            let answer = patch(request, *kept + request.body.len() as u64);
            *kept += request.body.len() as u64;
            answer
        }
        _ => empty(request),
    })
}

fn went_well(_request: &Request, end: u64) -> Reply {
    reply(202).header("location", format!("/u/1?state=a%2Fb&at={end}")).header("range", format!("0-{}", end - 1))
}

#[tokio::test]
async fn chunks_are_sent_when_the_whole_is_refused() {
    let server = chunking(went_well);
    let bytes = noise(9_000_000);
    assert_eq!(push(&store(&server), &bytes).await.unwrap(), Pushed::Uploaded);
    let patches: Vec<Request> = server.requests().into_iter().filter(|request| request.method == "PATCH").collect();
    let ranges: Vec<&str> = patches.iter().filter_map(|patch| patch.header("content-range")).collect();
    assert_eq!(ranges, ["0-4194303", "4194304-8388607", "8388608-8999999"]);
    assert_eq!(patches.iter().map(|patch| patch.body.clone()).collect::<Vec<_>>().concat(), bytes);
    assert!(patches[1].target.contains("at=4194304"), "each chunk goes to the newest location");
}

#[tokio::test]
async fn a_chunk_length_that_the_registry_asks_for_is_kept_up_to_a_cap() {
    for (asked, first) in [("5000000", 5_000_000), ("99999999999", 16_777_216), ("1", 4_194_304)] {
        let server = chunking(move |request, end| went_well(request, end).header("oci-chunk-min-length", asked));
        push(&store(&server), &noise(22_000_000)).await.unwrap();
        let patches: Vec<Request> = server.requests().into_iter().filter(|request| request.method == "PATCH").collect();
        assert_eq!(patches[1].body.len(), first, "{asked}");
    }
}

#[tokio::test]
async fn an_upload_whose_chunks_are_dropped_is_given_up() {
    // A registry in use answers 201 and keeps the first chunk only.
    for range in ["0-0", "0-4194303", "0-99999999"] {
        let server = chunking(move |_, _| reply(201).header("location", "/u/1").header("range", range));
        let got = push(&store(&server), &noise(9_000_000)).await;
        assert!(matches!(got, Err(StoreError::ChunksLost { .. })), "{got:?}");
        assert_eq!(server.requests().last().unwrap().method, "DELETE");
    }
}

#[tokio::test]
async fn a_chunk_out_of_order_is_sent_again_where_the_registry_stands() {
    let server = Server::start(|request, nth| match (request.method.as_str(), nth) {
        ("PUT", _) if request.header("content-length") != Some("0") => reply(413),
        ("PATCH", 1) => reply(416),
        ("PATCH", 0) => went_well(request, 4_194_304),
        ("PATCH", _) => went_well(request, 5_000_000),
        ("GET", _) => reply(204).header("range", "0-4194303").header("location", "/u/1"),
        _ => empty(request),
    });
    assert_eq!(push(&store(&server), &noise(5_000_000)).await.unwrap(), Pushed::Uploaded);
}

#[tokio::test]
async fn chunks_can_be_switched_off_and_on() {
    let options = ClientOptions { chunk: ChunkMode::Never, ..ClientOptions::default() };
    let server = chunking(went_well);
    let got = push(&bench_with(options, std::sync::Arc::new(NoCredentials)).store(&server), &noise(10)).await;
    assert!(matches!(got, Err(StoreError::Rejected { status: 413, .. })), "{got:?}");
    let options = ClientOptions { chunk: ChunkMode::Always, ..ClientOptions::default() };
    let server = chunking(went_well);
    push(&bench_with(options, std::sync::Arc::new(NoCredentials)).store(&server), &noise(10)).await.unwrap();
    let methods: Vec<String> = server.requests().into_iter().map(|request| request.method).collect();
    assert_eq!(methods, ["HEAD", "POST", "PATCH", "PUT"]);
}

#[tokio::test]
async fn an_answer_that_comes_before_the_body_is_read_is_heard() {
    let server = Server::start(|request, _| match request.method.as_str() {
        "PUT" => reply(403).error("DENIED", "no").unread(),
        _ => empty(request),
    });
    let got = push(&store(&server), &noise(1000)).await;
    assert!(matches!(got, Err(StoreError::Denied { .. })), "{got:?}");
}

#[tokio::test]
async fn a_refusal_in_the_middle_of_a_long_body_is_heard() {
    let server = Server::start(|request, _| match request.method.as_str() {
        "PUT" if request.header("content-length") != Some("0") => reply(413).unread(),
        "PATCH" if request.body.is_empty() => reply(202),
        "PATCH" => {
            let end = request.header("content-range").and_then(|range| range.split_once('-')?.1.parse::<u64>().ok());
            went_well(request, end.unwrap_or(0) + 1)
        }
        _ => empty(request),
    });
    assert_eq!(push(&store(&server), &noise(9_000_000)).await.unwrap(), Pushed::Uploaded);
}

/// What the chunks of all requests come to, laid where their `Content-Range` says.
fn assembled(server: &Server, size: usize) -> Vec<u8> {
    let mut whole = vec![0; size];
    for patch in server.requests().iter().filter(|request| request.method == "PATCH") {
        let start: usize = patch.header("content-range").unwrap().split_once('-').unwrap().0.parse().unwrap();
        whole[start..start + patch.body.len()].copy_from_slice(&patch.body);
    }
    whole
}

fn starts(server: &Server) -> Vec<String> {
    let requests = server.requests();
    let ranges = requests.iter().filter_map(|request| request.header("content-range"));
    ranges.map(|range| range.split_once('-').unwrap().0.to_owned()).collect()
}

#[tokio::test]
async fn a_chunk_that_broke_goes_on_where_the_registry_stands() {
    // The registry has a part of the second chunk, less than the first, or all of it.
    for (kept, next) in [(6_000_000, "6000000"), (1_000_000, "1000000"), (5_242_880, "5242880")] {
        let server = Server::start(move |request, nth| match (request.method.as_str(), nth) {
            ("PUT", _) if request.header("content-length") != Some("0") => reply(413),
            ("PATCH", 1) => hang_up(),
            ("PATCH", _) => {
                let end = request.header("content-range").unwrap().split_once('-').unwrap().1.parse::<u64>().unwrap();
                went_well(request, end + 1)
            }
            ("GET", _) => reply(204).header("range", format!("0-{}", kept - 1)).header("location", "/u/1?at=kept"),
            _ => empty(request),
        });
        let bytes = noise(9_000_000);
        assert_eq!(push(&store(&server), &bytes).await.unwrap(), Pushed::Uploaded);
        assert_eq!(&starts(&server)[..3], ["0", "4194304", next]);
        assert_eq!(assembled(&server, bytes.len()), bytes);
        let posts = server.lines().iter().filter(|line| line.starts_with("POST")).count();
        assert_eq!(posts, 2, "one session for the whole, and one for all chunks");
    }
}

#[tokio::test]
async fn a_session_that_is_lost_between_chunks_begins_anew() {
    let server = Server::start(|request, nth| match (request.method.as_str(), nth) {
        ("PUT", _) if request.header("content-length") != Some("0") => reply(413),
        ("PATCH", 1) => reply(404).error("BLOB_UPLOAD_UNKNOWN", "gone"),
        ("PATCH", _) => {
            let end = request.header("content-range").unwrap().split_once('-').unwrap().1.parse::<u64>().unwrap();
            went_well(request, end + 1)
        }
        _ => empty(request),
    });
    let bytes = noise(9_000_000);
    assert_eq!(push(&store(&server), &bytes).await.unwrap(), Pushed::Uploaded);
    assert_eq!(&starts(&server)[..3], ["0", "4194304", "0"]);
    assert_eq!(assembled(&server, bytes.len()), bytes);
}

#[tokio::test]
async fn a_session_that_is_lost_again_and_again_ends() {
    let server = Server::start(|request, nth| match (request.method.as_str(), nth % 2) {
        ("PUT", _) if request.header("content-length") != Some("0") => reply(413),
        ("PATCH", 1) => reply(404).error("BLOB_UPLOAD_UNKNOWN", "gone"),
        ("PATCH", _) => {
            let end = request.header("content-range").unwrap().split_once('-').unwrap().1.parse::<u64>().unwrap();
            went_well(request, end + 1)
        }
        _ => empty(request),
    });
    let got = push(&store(&server), &noise(9_000_000)).await;
    assert!(got.is_err(), "{got:?}");
    assert!(server.requests().len() < 40, "it ends");
}

#[tokio::test]
async fn a_proxy_with_a_small_limit_gets_small_chunks() {
    let limit = 1024 * 1024;
    let refuses = move |request: &Request| {
        request.header("content-length").is_some_and(|length| length.parse::<u64>().unwrap() > limit)
    };
    let server = Server::start(move |request, _| match request.method.as_str() {
        "PUT" | "PATCH" if refuses(request) => reply(413).unread(),
        "PATCH" => {
            let end = request.header("content-range").unwrap().split_once('-').unwrap().1.parse::<u64>().unwrap();
            went_well(request, end + 1)
        }
        _ => empty(request),
    });
    for size in [3_000_000, 1_048_577] {
        server.forget();
        let bytes = noise(size);
        assert_eq!(push(&store(&server), &bytes).await.unwrap(), Pushed::Uploaded);
    }
    let server = Server::start(|request, _| match request.method.as_str() {
        "PUT" | "PATCH" if request.header("content-length") != Some("0") => reply(413),
        _ => empty(request),
    });
    let got = push(&store(&server), &noise(3_000_000)).await;
    assert!(matches!(got, Err(StoreError::Rejected { status: 413, reason: RejectionReason::Other, .. })), "{got:?}");
}

#[tokio::test]
async fn a_registry_that_takes_no_chunks_is_named_as_one() {
    for refused in [405, 411] {
        let server = Server::start(move |request, _| match request.method.as_str() {
            "PUT" if request.header("content-length") != Some("0") => reply(413),
            "PATCH" => reply(refused),
            _ => empty(request),
        });
        let got = push(&store(&server), &noise(3_000_000)).await;
        let Err(StoreError::Rejected { status, reason, .. }) = got else { panic!("{got:?}") };
        assert_eq!((status, reason), (refused, RejectionReason::Chunk));
    }
}

#[tokio::test]
async fn a_put_that_broke_twice_goes_out_in_chunks_from_whatever_content() {
    let bytes = noise(300_000);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &bytes).unwrap();
    let source = tofu_oci_store::MemoryStore::new("memory".parse().unwrap());
    source.push(&blob(&bytes), &bytes).await.unwrap();
    let descriptor = blob(&bytes);
    let contents: [&dyn Body; 3] = [&bytes, &FileBody(file.path()), &StoredBody(&source, &descriptor)];
    for body in contents {
        let server = Server::start(|request, _| match request.method.as_str() {
            "PUT" if request.header("content-length") != Some("0") => hang_up(),
            "PATCH" => {
                let end = request.header("content-range").unwrap().split_once('-').unwrap().1.parse::<u64>().unwrap();
                went_well(request, end + 1)
            }
            _ => empty(request),
        });
        assert_eq!(store(&server).push(&descriptor, body).await.unwrap(), Pushed::Uploaded);
        assert_eq!(assembled(&server, bytes.len()), bytes);
        let puts = server.lines().iter().filter(|line| line.starts_with("PUT")).count();
        assert_eq!(puts, 3, "two whole ones and the closing one");
    }
}

#[tokio::test]
async fn a_registry_that_restarted_and_forgot_the_session_gets_a_new_one() {
    let server = Server::start(|request, nth| match (request.method.as_str(), nth) {
        ("PUT", 0) => reply(400).error("BLOB_UPLOAD_INVALID", "blob upload invalid"),
        _ => empty(request),
    });
    assert_eq!(push(&store(&server), &noise(1000)).await.unwrap(), Pushed::Uploaded);
}

#[tokio::test]
async fn a_limit_of_requests_costs_an_upload_no_further_request() {
    let bytes = noise(300_000);
    let server = Server::start(|request, nth| match request.method.as_str() {
        "PUT" if nth < 8 => reply(429).header("retry-after", "1"),
        _ => empty(request),
    });
    assert_eq!(push(&store(&server), &bytes).await.unwrap(), Pushed::Uploaded);
    let methods: Vec<String> = server.requests().into_iter().map(|request| request.method).collect();
    assert_eq!(methods[..2], ["HEAD", "POST"]);
    assert_eq!(methods[2..], vec!["PUT"; 9], "the session is used again");
    assert_eq!(server.requests().last().unwrap().body, bytes);
}
