//! How many requests a job makes, and which.

use insta::assert_snapshot;
use tofu_oci_testkit::ReleaseFolder;

use crate::setup::{Scene, WIDGET};

const PUSH: &str = "push dist REGISTRY/acme/widget --address registry.example.com/acme/widget";

fn one_zip() -> Scene {
    let scene = Scene::new();
    ReleaseFolder::new("widget", "1.4.0", &["linux_amd64"]).write_zips(&scene.path("dist"));
    scene
}

/// The requests about the one zip, in order. The path of an upload begins with that of its POST, so the POST of an
/// upload session is the last one before its PUT; what was asked with the digest in the query tells which PUT it is.
fn about_the_zip(scene: &Scene) -> Vec<String> {
    let zip = std::fs::read(scene.path("dist/terraform-provider-widget_1.4.0_linux_amd64.zip")).expect("written");
    let digest = tofu_oci_types::Digest::sha256(&zip);
    let names_it = |request: &tofu_oci_testkit::LoggedRequest| {
        request.path.contains(digest.as_str()) || request.query.replace("%3A", ":").contains(digest.as_str())
    };
    let requests = scene.registry.requests();
    let mut found = Vec::new();
    for (index, request) in requests.iter().enumerate().filter(|(_, request)| names_it(request)) {
        let begun = index.checked_sub(1).map(|before| &requests[before]);
        if let Some(begun) = begun.filter(|begun| request.method == "PUT" && begun.method == "POST" && !names_it(begun))
        {
            found.push(format!("{} -> {}", begun.method, begun.status.unwrap_or_default()));
        }
        found.push(format!("{} -> {}", request.method, request.status.unwrap_or_default()));
    }
    found
}

#[test]
fn a_new_zip_costs_three_requests_two_in_a_new_repository_and_a_known_one_a_single_head() {
    let scene = one_zip();
    scene.run(&format!("{PUSH} --jobs 1")).success();
    assert_eq!(about_the_zip(&scene), ["POST -> 202", "PUT -> 201"]);

    // The same zip in a release that differs in its annotations.
    scene.registry.clear_requests();
    ReleaseFolder::new("widget", "1.4.0", &["linux_amd64"]).protocols(&["5.0"]).write_goreleaser(&scene.path("dist"));
    scene.run(&format!("{PUSH} --jobs 1 --replace-tag")).success();
    assert_eq!(about_the_zip(&scene), ["HEAD -> 200"]);

    // Another zip in a repository that has releases.
    scene.registry.clear_requests();
    ReleaseFolder::new("widget", "1.5.0", &["linux_amd64"]).write_zips(&scene.path("next"));
    scene.run(&format!("{} --jobs 1", PUSH.replace("push dist", "push next"))).success();
    assert_snapshot!(anonymous(&scene), @"
    GET /v2/acme/widget/tags/list -> 200
    GET /v2/acme/widget/manifests/1.4.0 -> 200
    HEAD /v2/acme/widget/blobs/sha256:[DIGEST] -> 404
    POST /v2/acme/widget/blobs/uploads/ -> 202
    PUT /v2/acme/widget/blobs/uploads/[SESSION] -> 201
    HEAD /v2/acme/widget/blobs/sha256:[DIGEST] -> 404
    POST /v2/acme/widget/blobs/uploads/ -> 202
    PUT /v2/acme/widget/blobs/uploads/[SESSION] -> 201
    HEAD /v2/acme/widget/manifests/sha256:[DIGEST] -> 404
    PUT /v2/acme/widget/manifests/sha256:[DIGEST] -> 201
    HEAD /v2/acme/widget/manifests/sha256:[DIGEST] -> 404
    PUT /v2/acme/widget/manifests/sha256:[DIGEST] -> 201
    HEAD /v2/acme/widget/manifests/1.5.0 -> 404
    PUT /v2/acme/widget/manifests/1.5.0 -> 201
    HEAD /v2/acme/widget/manifests/1.5.0 -> 200
    ");
}

#[test]
fn the_whole_conversation_of_an_install() {
    let scene = Scene::published();
    let install = format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64");
    scene.run(&install).success();
    // The index names the zip, so that it is asked for at the same time as the leaf.
    assert_snapshot!(sorted_after(&scene, 2), @"
    GET /v2/acme/widget/tags/list -> 200
    GET /v2/acme/widget/manifests/1.4.0 -> 200
    GET /v2/acme/widget/blobs/sha256:[DIGEST] -> 200
    GET /v2/acme/widget/manifests/sha256:[DIGEST] -> 200
    ");

    // With a lock file the versions are not listed. So a notice is asked for, at the same time as the package. The leaf is in the
    // cache.
    std::fs::remove_dir_all(scene.path(".terraform")).expect("it was installed");
    scene.registry.clear_requests();
    scene.run(&install).success();
    assert_snapshot!(sorted_after(&scene, 1), @"
    GET /v2/acme/widget/manifests/1.4.0 -> 200
    GET /v2/acme/widget/blobs/sha256:[DIGEST] -> 200
    GET /v2/acme/widget/manifests/deprecated-1.4.0 -> 404
    ");

    // What is in its place and locked is not asked for.
    scene.registry.clear_requests();
    scene.run(&install).success();
    assert_snapshot!(anonymous(&scene), @"");

    // An upgrade compares it with the release by its manifests, and downloads nothing.
    let upgrade = format!("{install} --upgrade");
    scene.run(&upgrade).success();
    assert_snapshot!(anonymous(&scene), @"
    GET /v2/acme/widget/tags/list -> 200
    GET /v2/acme/widget/manifests/1.4.0 -> 200
    ");

    // Without the cache the leaf is asked for again.
    std::fs::remove_dir_all(scene.context.home().join(".cache/tofu-oci/manifests")).expect("it was written");
    scene.registry.clear_requests();
    scene.run(&upgrade).success();
    assert_snapshot!(anonymous(&scene), @"
    GET /v2/acme/widget/tags/list -> 200
    GET /v2/acme/widget/manifests/1.4.0 -> 200
    GET /v2/acme/widget/manifests/sha256:[DIGEST] -> 200
    ");
}

/// The conversation; what is asked after so many requests is asked at once, in whatever order.
fn sorted_after(scene: &Scene, first: usize) -> String {
    let mut conversation = scene.conversation();
    conversation[first..].sort();
    conversation.join("\n")
}

#[test]
fn the_whole_conversation_of_a_push() {
    let scene = one_zip();
    scene.run(&format!("{PUSH} --jobs 1")).success();
    assert_snapshot!(anonymous(&scene), @"
    GET /v2/acme/widget/tags/list -> 404
    POST /v2/acme/widget/blobs/uploads/ -> 202
    PUT /v2/acme/widget/blobs/uploads/[SESSION] -> 201
    POST /v2/acme/widget/blobs/uploads/ -> 202
    PUT /v2/acme/widget/blobs/uploads/[SESSION] -> 201
    PUT /v2/acme/widget/manifests/sha256:[DIGEST] -> 201
    PUT /v2/acme/widget/manifests/sha256:[DIGEST] -> 201
    HEAD /v2/acme/widget/manifests/1.4.0 -> 404
    PUT /v2/acme/widget/manifests/1.4.0 -> 201
    HEAD /v2/acme/widget/manifests/1.4.0 -> 200
    ");
    scene.registry.clear_requests();
    scene.run(&format!("{PUSH} --jobs 1")).success();
    assert_snapshot!(anonymous(&scene), @"
    GET /v2/acme/widget/tags/list -> 200
    HEAD /v2/acme/widget/manifests/1.4.0 -> 200
    ");
}

#[test]
fn a_first_signed_release_took_37_requests() {
    let scene = one_zip();
    scene.key("p256.pem");
    scene.run(&format!("{PUSH} --jobs 1 --sign-key p256.pem")).success();
    let unsigned = one_zip();
    unsigned.run(&format!("{PUSH} --jobs 1")).success();
    let (unsigned, signed) = (anonymous(&unsigned), anonymous(&scene));
    let (package, _) = unsigned.split_once("HEAD ").expect("the tag");
    assert_snapshot!(signed.strip_prefix(package).expect("the same package"), @"
    POST /v2/acme/widget/blobs/uploads/ -> 202
    PUT /v2/acme/widget/blobs/uploads/[SESSION] -> 201
    POST /v2/acme/widget/blobs/uploads/ -> 202
    PUT /v2/acme/widget/blobs/uploads/[SESSION] -> 201
    PUT /v2/acme/widget/manifests/sha256:[DIGEST] -> 201
    GET /v2/acme/widget/manifests/sha256-[DIGEST] -> 404
    PUT /v2/acme/widget/manifests/sha256-[DIGEST] -> 201
    GET /v2/acme/widget/manifests/sha256-[DIGEST] -> 200
    GET /v2/acme/widget/referrers/sha256:[DIGEST] -> 404
    GET /v2/acme/widget/manifests/sha256-[DIGEST] -> 200
    GET /v2/acme/widget/manifests/sha256-[DIGEST].sig -> 404
    HEAD /v2/acme/widget/manifests/1.4.0 -> 404
    PUT /v2/acme/widget/manifests/1.4.0 -> 201
    HEAD /v2/acme/widget/manifests/1.4.0 -> 200
    ");
}

#[test]
fn the_whole_conversation_of_versions() {
    let scene = Scene::published();
    scene.run("versions REGISTRY/acme/widget").success();
    // The tags, and what the newest ones name.
    assert_snapshot!(anonymous(&scene), @"
    GET /v2/acme/widget/tags/list -> 200
    GET /v2/acme/widget/manifests/1.4.0 -> 200
    ");
    scene.registry.clear_requests();
    scene.run(&format!("resolve {WIDGET} --from REGISTRY/acme/widget")).success();
    assert_eq!(scene.conversation(), Vec::<String>::new());
}

/// The conversation with the names of upload sessions made equal.
pub(crate) fn anonymous(scene: &Scene) -> String {
    let line = |line: String| match line.split_once("/blobs/uploads/") {
        Some((before, after)) => {
            let (session, status) = after.split_once(" -> ").unwrap_or((after, ""));
            let session = if session.is_empty() { "" } else { "[SESSION]" };
            format!("{before}/blobs/uploads/{session} -> {status}")
        }
        None => line,
    };
    scene.conversation().into_iter().map(line).collect::<Vec<_>>().join("\n")
}
