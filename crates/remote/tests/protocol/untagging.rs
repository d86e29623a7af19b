//! Tags that go: by a delete of the tag, by a tombstone, or not at all.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tofu_oci_credentials::Credential;
use tofu_oci_remote::is_tombstone;
use tofu_oci_store::{ReadStore as _, Store as _, StoreError};
use tofu_oci_types::{Descriptor, Digest, Reference, Secret, Tag};

use crate::server::{Reply, Request, Server, hang_up, reply};
use crate::support::{Bench, INDEX, bench, bench_as, index, manifest_reply};

/// What is deleted when a tag is named, and when a digest is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deletes {
    /// 202: the tag, or the manifest with its tags.
    What,
    /// 202: the manifest with all its tags.
    Manifest,
    /// 202: the manifest, and its tags stay.
    ManifestAlone,
    /// 405.
    Nothing,
    /// 404 without words: there is no such route.
    NoRoute,
}

/// Manifests by digest, and tags.
#[derive(Default)]
struct Content {
    manifests: BTreeMap<String, (String, Vec<u8>)>,
    tags: BTreeMap<String, String>,
    loses_what_no_tag_names: bool,
}

struct Scene {
    server: Server,
    content: Arc<Mutex<Content>>,
}

fn tag() -> Tag {
    "1.4.0".parse().unwrap()
}

fn digest() -> Digest {
    Digest::sha256(&index())
}

impl Scene {
    /// A registry whose tag 1.4.0 names an index. `first` answers a request in its place, and may change what it holds.
    fn start(
        by_tag: Deletes,
        by_digest: Deletes,
        first: impl Fn(&Request, &Mutex<Content>) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        let content = Arc::new(Mutex::new(Content::default()));
        content.lock().unwrap().manifests.insert(digest().to_string(), (INDEX.to_owned(), index().to_vec()));
        content.lock().unwrap().tags.insert("1.4.0".to_owned(), digest().to_string());
        let shared = Arc::clone(&content);
        let server = Server::start(move |request, _| {
            first(request, &shared).unwrap_or_else(|| answer(&mut shared.lock().unwrap(), request, by_tag, by_digest))
        });
        Self { server, content }
    }

    fn plain(by_tag: Deletes, by_digest: Deletes) -> Self {
        Self::start(by_tag, by_digest, |_, _| None)
    }

    async fn untag(&self) -> Result<bool, StoreError> {
        self.untag_by(&bench()).await
    }

    async fn untag_by(&self, bench: &Bench) -> Result<bool, StoreError> {
        bench.store(&self.server).untag(&tag(), &digest()).await
    }

    fn tags(&self) -> BTreeMap<String, String> {
        self.content.lock().unwrap().tags.clone()
    }

    /// The requests that delete or write manifests, with what digests stand for. Those that only ask whether anything is deleted
    /// are left out.
    fn changes(&self) -> Vec<String> {
        let lines = self.server.lines().into_iter();
        let lines =
            lines.filter(|line| !line.starts_with("GET") && !line.starts_with("HEAD") && line.contains("/manifests/"));
        let changes = lines.map(|line| match line.split_once("sha256:") {
            Some((start, hex)) if digest().encoded() == hex => format!("{start}INDEX"),
            Some((start, hex)) if is_tombstone(&tag(), &format!("sha256:{hex}").parse().unwrap()) => {
                format!("{start}TOMBSTONE")
            }
            Some((start, _)) => format!("{start}PROBE"),
            None => line,
        });
        changes.filter(|line| !line.ends_with("PROBE") && !line.ends_with("tofu-oci-no-such-tag")).collect()
    }

    async fn has_index(&self) -> bool {
        let found = bench().store(&self.server).resolve(&Reference::Digest(digest())).await;
        found.is_ok()
    }
}

fn answer(content: &mut Content, request: &Request, by_tag: Deletes, by_digest: Deletes) -> Reply {
    let unknown = || reply(404).error("MANIFEST_UNKNOWN", "manifest unknown");
    let (path, last) = (request.path(), request.path().rsplit('/').next().unwrap_or_default().to_owned());
    if path.ends_with("/tags/list") {
        let tags: Vec<&String> = content.tags.keys().collect();
        return reply(200).body(serde_json::json!({"name": "x", "tags": tags}).to_string());
    }
    if path.contains("/blobs/") {
        return if request.method == "HEAD" { reply(200) } else { reply(404) };
    }
    match request.method.as_str() {
        "PUT" => {
            let digest = Digest::sha256(&request.body).to_string();
            let media_type = request.header("content-type").unwrap_or_default().to_owned();
            let named = reply(201).header("docker-content-digest", digest.clone());
            content.manifests.insert(digest.clone(), (media_type, request.body.clone()));
            if !last.contains(':') {
                let before = content.tags.insert(last, digest);
                if let Some(before) = before.filter(|_| content.loses_what_no_tag_names) {
                    content.manifests.remove(&before);
                }
            }
            named
        }
        "DELETE" => {
            let is_tag = !last.contains(':');
            let digest = if is_tag { content.tags.get(&last).cloned().unwrap_or_default() } else { last.clone() };
            match if is_tag { by_tag } else { by_digest } {
                Deletes::Nothing => return reply(405).error("UNSUPPORTED", "The operation is unsupported."),
                Deletes::NoRoute => return reply(404).body("404 page not found\n"),
                Deletes::What if is_tag => return content.tags.remove(&last).map_or_else(unknown, |_| reply(202)),
                Deletes::ManifestAlone => {
                    return content.manifests.remove(&digest).map_or_else(unknown, |_| reply(202));
                }
                Deletes::What | Deletes::Manifest => {}
            }
            content.tags.retain(|_, tagged| *tagged != digest);
            content.manifests.remove(&digest).map_or_else(unknown, |_| reply(202))
        }
        _ => {
            let digest = content.tags.get(&last).cloned().unwrap_or(last);
            content.manifests.get(&digest).map_or_else(unknown, |(media_type, bytes)| manifest_reply(media_type, bytes))
        }
    }
}

/// What takes the tag away after the tombstone is over it.
const BY_DIGEST: [&str; 2] = ["PUT /v2/x/manifests/1.4.0", "DELETE /v2/x/manifests/TOMBSTONE"];

#[tokio::test]
async fn a_tag_is_deleted_by_its_name_where_no_manifest_is_deleted() {
    for by_tag in [Deletes::What, Deletes::Manifest] {
        let scene = Scene::plain(by_tag, Deletes::Nothing);
        assert!(scene.untag().await.unwrap());
        assert!(scene.tags().is_empty());
        assert!(scene.has_index().await);
        assert_eq!(scene.changes(), [&BY_DIGEST[..], &["DELETE /v2/x/manifests/1.4.0"]].concat());
        // A tag that is gone is gone.
        assert!(scene.untag().await.unwrap());
        assert_eq!(scene.changes().len(), 3);
    }
}

#[tokio::test]
async fn a_tag_goes_with_a_tombstone_and_never_with_the_release() {
    for by_tag in [Deletes::Nothing, Deletes::NoRoute, Deletes::What, Deletes::Manifest] {
        let scene = Scene::plain(by_tag, Deletes::What);
        assert!(scene.untag().await.unwrap());
        assert!(scene.tags().is_empty(), "{by_tag:?}");
        assert!(scene.has_index().await);
        assert_eq!(scene.changes(), BY_DIGEST, "{by_tag:?}");
    }
}

#[tokio::test]
async fn a_registry_that_deletes_nothing_keeps_its_tag() {
    let scene = Scene::plain(Deletes::Nothing, Deletes::Nothing);
    let error = scene.untag().await.unwrap_err();
    assert_eq!(
        error.to_string().replace(&scene.server.host(), "HOST"),
        "HOST/x does not let the tag 1.4.0 be deleted: it answered 405: The operation is unsupported. (UNSUPPORTED) when asked to \
         delete a tag, and 405: The operation is unsupported. (UNSUPPORTED) when asked to delete a manifest"
    );
    assert!(matches!(error, StoreError::TagStays { .. }));
    assert_eq!(scene.tags(), [("1.4.0".to_owned(), digest().to_string())].into());
}

/// A tag that is overwritten loses its manifest in some registries.
#[tokio::test]
async fn a_release_that_went_with_its_last_tag_is_put_back() {
    let scene = Scene::plain(Deletes::Nothing, Deletes::What);
    let bench = bench();
    let store = bench.store(&scene.server);
    scene.content.lock().unwrap().loses_what_no_tag_names = true;
    assert!(store.untag(&tag(), &digest()).await.unwrap());
    assert!(scene.has_index().await);
}

#[tokio::test]
async fn a_tag_that_outlives_its_manifest_is_deleted_by_its_name() {
    let scene = Scene::plain(Deletes::What, Deletes::ManifestAlone);
    assert!(scene.untag().await.unwrap());
    assert!(scene.tags().is_empty());
}

#[tokio::test]
async fn the_second_tag_of_a_run_had_no_tombstone() {
    let scene = Scene::plain(Deletes::Nothing, Deletes::What);
    scene.content.lock().unwrap().tags.insert("1.5.0".to_owned(), digest().to_string());
    let bench = bench();
    let store = bench.store(&scene.server);
    assert!(store.untag(&tag(), &digest()).await.unwrap());
    assert!(store.untag(&"1.5.0".parse().unwrap(), &digest()).await.unwrap());
    assert!(scene.tags().is_empty());
}

#[tokio::test]
async fn a_tag_that_was_listed_without_a_manifest_was_called_gone() {
    let scene = Scene::plain(Deletes::Nothing, Deletes::What);
    scene.content.lock().unwrap().manifests.clear();
    let found = bench().store(&scene.server).untag(&tag(), &digest()).await;
    assert!(found.unwrap());
    assert!(scene.tags().is_empty());
    assert_eq!(scene.changes(), BY_DIGEST);
}

/// As registry:2 leaves a tag whose deletion met another one.
#[tokio::test]
async fn a_deletion_that_left_its_tag_without_a_manifest_was_the_end() {
    let deletions = Mutex::new(0);
    let scene = Scene::start(Deletes::Nothing, Deletes::What, move |request, content| {
        let last = request.path().rsplit('/').next()?.to_owned();
        let is_tombstone = last.parse().is_ok_and(|digest| is_tombstone(&tag(), &digest));
        if request.method != "DELETE" || !is_tombstone || *deletions.lock().unwrap() > 0 {
            return None;
        }
        *deletions.lock().unwrap() += 1;
        content.lock().unwrap().manifests.remove(&last);
        Some(reply(500))
    });
    assert!(scene.untag().await.unwrap());
    assert!(scene.tags().is_empty());
    assert!(scene.has_index().await);
}

#[tokio::test]
async fn a_tag_that_came_back_meanwhile_was_blamed_on_the_operator() {
    let scene = Scene::start(Deletes::Nothing, Deletes::What, move |request, content| {
        let last = request.path().rsplit('/').next()?.to_owned();
        if request.method == "DELETE" && last.parse().is_ok_and(|digest| is_tombstone(&tag(), &digest)) {
            // `--undo` is faster.
            content.lock().unwrap().tags.insert("1.4.0".to_owned(), digest().to_string());
        }
        None
    });
    assert!(!scene.untag().await.unwrap(), "another program has moved the tag");
    assert_eq!(scene.tags()["1.4.0"], digest().to_string());
}

#[tokio::test]
async fn a_tag_that_a_registry_shows_for_seconds_was_called_moved() {
    let looks = std::sync::atomic::AtomicUsize::new(99);
    let scene = Scene::start(Deletes::Nothing, Deletes::What, move |request, _| {
        use std::sync::atomic::Ordering::SeqCst;
        if !request.path().ends_with("/manifests/1.4.0") {
            return None;
        }
        if request.method == "PUT" {
            looks.store(0, SeqCst);
            return None;
        }
        (looks.fetch_add(1, SeqCst) < 6).then(|| manifest_reply(INDEX, &index()))
    });
    assert!(scene.untag().await.unwrap());
    assert!(scene.tags().is_empty());
    assert!(scene.has_index().await);
    assert_eq!(scene.changes(), BY_DIGEST);
}

#[tokio::test]
async fn a_tag_that_is_about_to_go_was_read_as_a_release() {
    let scene = Scene::start(Deletes::Nothing, Deletes::What, |request, _| {
        let is_tombstone = request.path().rsplit('/').next()?.parse().is_ok_and(|digest| is_tombstone(&tag(), &digest));
        (request.method == "DELETE" && is_tombstone).then(|| reply(500))
    });
    assert!(scene.untag().await.is_err());
    assert_ne!(scene.tags()["1.4.0"], digest().to_string());
    let bench = bench();
    let (store, reference) = (bench.store(&scene.server), Reference::Tag(tag()));
    assert!(store.resolve(&reference).await.unwrap_err().is_not_found());
    assert!(store.manifest(&reference).await.unwrap_err().is_not_found());
    // The next release takes its place.
    let release = store.resolve(&Reference::Digest(digest())).await.unwrap();
    assert!(store.retag(&release, &tag(), None).await.unwrap());
    assert_eq!(scene.tags()["1.4.0"], digest().to_string());
}

#[tokio::test]
async fn a_tag_that_has_moved_stays() {
    let scene = Scene::plain(Deletes::What, Deletes::What);
    let other = Digest::sha256(b"another release");
    assert!(!bench().store(&scene.server).untag(&tag(), &other).await.unwrap());
    assert!(scene.changes().is_empty());
}

#[tokio::test]
async fn a_deletion_whose_answer_was_lost_is_done() {
    for (by_digest, lost) in [(Deletes::What, 1), (Deletes::Nothing, 2)] {
        let deletions = Mutex::new(0);
        let scene = Scene::start(Deletes::What, by_digest, move |request, content| {
            let mut deletions = deletions.lock().unwrap();
            *deletions += usize::from(request.method == "DELETE");
            if request.method != "DELETE" || *deletions != lost + 1 {
                return None;
            }
            answer(&mut content.lock().unwrap(), request, Deletes::What, by_digest);
            Some(hang_up())
        });
        assert!(scene.untag().await.unwrap());
        assert!(scene.tags().is_empty(), "{by_digest:?}");
        assert!(scene.has_index().await);
    }
}

#[tokio::test]
async fn an_interrupted_tombstone_is_deleted_by_the_next_run() {
    let broken = Arc::new(Mutex::new(true));
    let is_broken = Arc::clone(&broken);
    let put = Mutex::new(false);
    let scene = Scene::start(Deletes::Nothing, Deletes::What, move |request, _| {
        let mut put = put.lock().unwrap();
        *put |= request.line() == "PUT /v2/x/manifests/1.4.0";
        let dies = *is_broken.lock().unwrap() && *put && request.method == "DELETE";
        dies.then(|| reply(500))
    });
    assert!(scene.untag().await.is_err());
    let tombstone = scene.tags()["1.4.0"].clone();
    assert_ne!(tombstone, digest().to_string());
    *broken.lock().unwrap() = false;
    assert!(scene.untag().await.unwrap());
    assert!(scene.tags().is_empty());
    assert!(scene.has_index().await);
}

#[tokio::test]
async fn an_immutable_tag_stays_and_no_tombstone_is_left_over_it() {
    let refusal =
        || reply(412).error("PRECONDITION", "Failed to process request due to 'x:1.4.0' configured as immutable.");
    let scene = Scene::start(Deletes::What, Deletes::What, move |request, _| {
        (request.line() == "PUT /v2/x/manifests/1.4.0").then(refusal)
    });
    assert!(matches!(scene.untag().await, Err(StoreError::Rejected { status: 412, .. })));
    assert_eq!(scene.tags()["1.4.0"], digest().to_string());
    assert_eq!(scene.changes(), ["PUT /v2/x/manifests/1.4.0"]);
}

/// The tag stays when it is named, although a tag that does not exist can be deleted.
#[tokio::test]
async fn a_release_whose_tag_does_not_go_is_put_back() {
    let scene = Scene::start(Deletes::Nothing, Deletes::Nothing, |request, _| {
        let unknown = || reply(404).error("MANIFEST_UNKNOWN", "manifest unknown");
        (request.method == "DELETE" && request.path().ends_with("no-such-tag")).then(unknown)
    });
    assert!(matches!(scene.untag().await, Err(StoreError::TagStays { .. })));
    assert_eq!(scene.tags()["1.4.0"], digest().to_string());
}

#[tokio::test]
async fn a_registry_is_asked_whether_it_deletes_before_anything_is_changed() {
    let check = async |by_tag, by_digest, want: bool| {
        let scene = Scene::plain(by_tag, by_digest);
        let answered = bench().store(&scene.server).demand_untag(&tag()).await;
        assert_eq!(answered.is_ok(), want, "{by_tag:?} {by_digest:?}: {answered:?}");
        assert_eq!(scene.tags(), [("1.4.0".to_owned(), digest().to_string())].into());
        assert!(scene.changes().iter().all(|line| !line.ends_with("/1.4.0")), "{:?}", scene.changes());
    };
    check(Deletes::What, Deletes::Nothing, true).await;
    check(Deletes::Nothing, Deletes::What, true).await;
    check(Deletes::NoRoute, Deletes::What, true).await;
    check(Deletes::Nothing, Deletes::Nothing, false).await;
    check(Deletes::NoRoute, Deletes::NoRoute, false).await;
}

/// A registry with tokens: a request needs what `needs` says.
fn with_tokens(refuses_delete: bool) -> Scene {
    Scene::start(Deletes::What, Deletes::What, move |request, _| {
        if request.path() == "/token" {
            let wants_delete = request.target.contains("delete");
            return Some(match (refuses_delete, wants_delete) {
                (true, true) => reply(400).error("UNSUPPORTED", "unknown action"),
                (_, wants_delete) => reply(200).body(format!(r#"{{"token":"{wants_delete}"}}"#)),
            });
        }
        let shown = request.header("authorization");
        let enough = match request.method.as_str() {
            "DELETE" => shown == Some("Bearer true") || (refuses_delete && shown.is_some()),
            _ => shown.is_some(),
        };
        let challenge = format!(r#"Bearer realm="http://{}/token",service="s""#, request.host());
        (!enough).then(|| reply(401).header("www-authenticate", challenge))
    })
}

#[tokio::test]
async fn a_deletion_asks_for_the_right_to_delete() {
    let login = || bench_as(Credential::Basic { username: "ada".to_owned(), password: Secret::new("p") });
    for refuses in [false, true] {
        // A token server that does not know the right is asked for the right to push.
        let scene = with_tokens(refuses);
        assert!(scene.untag_by(&login()).await.unwrap(), "{refuses}");
        let asked = scene.server.lines().into_iter().filter(|line| line.contains("delete"));
        assert!(asked.count() > 0);
    }
}

#[tokio::test]
async fn a_deletion_is_not_redirected_by_a_see_other() {
    let scene = Scene::start(Deletes::What, Deletes::What, |request, _| {
        (request.method == "DELETE").then(|| reply(303).header("location", "/v2/other/manifests/1.4.0"))
    });
    assert!(matches!(scene.untag().await, Err(StoreError::Rejected { status: 303, .. })));
    assert!(scene.server.lines().iter().all(|line| !line.contains("/v2/other/")));
}

#[tokio::test]
async fn a_tag_was_called_gone_because_the_list_of_tags_failed() {
    let scene = Scene::start(Deletes::What, Deletes::What, |request, _| match request.path() {
        path if path.ends_with("/tags/list") => Some(reply(500)),
        path if path.ends_with("/manifests/1.4.0") => Some(reply(404).error("MANIFEST_UNKNOWN", "manifest unknown")),
        _ => None,
    });
    assert!(scene.untag().await.is_err());
}

#[tokio::test]
async fn a_release_that_was_pushed_over_the_tombstone_was_deleted_by_its_tag() {
    let other = format!("{} ", String::from_utf8(index().to_vec()).unwrap());
    let content: Arc<Mutex<Option<Arc<Mutex<Content>>>>> = Arc::default();
    let (shared, bytes) = (Arc::clone(&content), other.clone());
    let scene = Scene::start(Deletes::What, Deletes::Nothing, move |request, _| {
        let is_about_digest = request.method == "DELETE" && request.path().contains("sha256:");
        let shared = shared.lock().unwrap().clone().filter(|_| is_about_digest)?;
        let (mut content, digest) = (shared.lock().unwrap(), Digest::sha256(bytes.as_bytes()).to_string());
        content.manifests.insert(digest.clone(), (INDEX.to_owned(), bytes.clone().into_bytes()));
        content.tags.insert("1.4.0".to_owned(), digest);
        None
    });
    *content.lock().unwrap() = Some(Arc::clone(&scene.content));
    assert!(!scene.untag().await.unwrap(), "another program has moved the tag");
    assert_eq!(scene.tags()["1.4.0"], Digest::sha256(other.as_bytes()).to_string());
}

#[tokio::test]
async fn a_manifest_that_went_with_a_tag_was_said_to_be_there() {
    let scene = Scene::plain(Deletes::What, Deletes::Manifest);
    scene.content.lock().unwrap().manifests.clear();
    let store = bench().store(&scene.server);
    let descriptor = Descriptor::of(INDEX, &index());
    store.push(&descriptor, &index()).await.unwrap();
    scene.server.forget();
    assert!(store.exists(&descriptor).await.unwrap());
    assert_eq!(scene.server.requests().len(), 0, "the registry has named its digest");
    store.untag(&tag(), &digest()).await.unwrap();
    scene.content.lock().unwrap().manifests.clear();
    assert!(!store.exists(&descriptor).await.unwrap());
}
