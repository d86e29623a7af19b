//! Packages and registries that cannot be trusted, while something is installed: nothing becomes visible.

use insta::assert_snapshot;
use serde_json::json;
use tofu_oci_testkit::{Answer, Auth, Fault, Login, ProviderZip, Registry, Rule};
use tofu_oci_types::Digest;

use crate::setup::zips::{renamed, with_mode};
use crate::setup::{Scene, WIDGET};

const INSTALL: &str = "install registry.example.com/acme/widget --from REGISTRY/acme/widget --platform linux_amd64";

fn package() -> ProviderZip {
    ProviderZip::new("widget", "1.4.0", "linux_amd64").file("abcd.txt", "text").file("wxyz.txt", "other")
}

/// Installing a release with this zip is refused, unpacked and packed alike.
#[track_caller]
fn refused(zip: impl AsRef<[u8]>) -> String {
    let scene = Scene::new();
    scene.forge(zip);
    let text = scene.refuse(INSTALL);
    assert_eq!(scene.refuse(&format!("{INSTALL} --into mirror --packed")), text);
    text
}

/// Installing a good release is refused because of what the registry does.
#[track_caller]
fn refused_by(rule: Rule, options: &str) -> String {
    let scene = Scene::published();
    scene.registry.fault(rule);
    scene.refuse(&format!("{INSTALL} {options}"))
}

fn blob() -> Rule {
    Rule::on("GET", "/v2/acme/widget/blobs/*")
}

#[test]
fn a_good_forged_release_is_installed() {
    let scene = Scene::new();
    scene.forge(package().build());
    assert_snapshot!(scene.run(INSTALL).text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl created

    ----- stderr -----
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed (420 B)
    ");
}

#[test]
fn a_package_that_is_no_zip() {
    assert_snapshot!(refused("no zip at all"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package of registry.example.com/acme/widget 1.4.0 for linux_amd64 cannot be installed
      cause: this is not a zip archive
      cause: it came from [REGISTRY]/acme/widget

    hint: the file may be an interrupted download or build; make it again
    hint: nothing was installed: the release itself must be mended by its publisher
    ");
}

#[test]
fn a_package_that_is_cut_short() {
    let zip = package().build();
    assert_snapshot!(refused(&zip[..zip.len() - 30]), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package of registry.example.com/acme/widget 1.4.0 for linux_amd64 cannot be installed
      cause: the archive is cut short
      cause: it came from [REGISTRY]/acme/widget

    hint: the file may be an interrupted download or build; make it again
    hint: nothing was installed: the release itself must be mended by its publisher
    ");
}

#[test]
fn a_package_without_the_executable() {
    assert_snapshot!(refused(package().without_executable().build()), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package of registry.example.com/acme/widget 1.4.0 for linux_amd64 cannot be installed
      cause: the package has no executable `terraform-provider-widget`
      cause: it came from [REGISTRY]/acme/widget

    hint: the program lies in the package's root as terraform-provider-widget[_vVERSION]
    hint: the root holds abcd.txt, wxyz.txt
    hint: nothing was installed: the release itself must be mended by its publisher
    ");
}

#[test]
fn a_package_with_unsafe_names() {
    assert_snapshot!(refused(renamed(package().build(), "abcd.txt", "../d.txt")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package of registry.example.com/acme/widget 1.4.0 for linux_amd64 cannot be installed
      cause: the archive has an entry with an unsafe name, `../d.txt`: it has a `..` part
      cause: it came from [REGISTRY]/acme/widget

    hint: names in a package are relative, separated by /, and stay inside it: zip from its folder
    hint: nothing was installed: the release itself must be mended by its publisher
    ");
    assert_snapshot!(refused(renamed(package().build(), "abcd.txt", "/bcd.txt")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package of registry.example.com/acme/widget 1.4.0 for linux_amd64 cannot be installed
      cause: the archive has an entry with an unsafe name, `/bcd.txt`: it is absolute
      cause: it came from [REGISTRY]/acme/widget

    hint: names in a package are relative, separated by /, and stay inside it: zip from its folder
    hint: nothing was installed: the release itself must be mended by its publisher
    ");
    assert_snapshot!(refused(renamed(package().build(), "abcd.txt", r"a\cd.txt")), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package of registry.example.com/acme/widget 1.4.0 for linux_amd64 cannot be installed
      cause: the archive has an entry with an unsafe name, `a\\cd.txt`: it has a backslash
      cause: it came from [REGISTRY]/acme/widget

    hint: names in a package are relative, separated by /, and stay inside it: zip from its folder
    hint: nothing was installed: the release itself must be mended by its publisher
    "#);
}

#[test]
fn a_package_with_a_duplicate_entry() {
    assert_snapshot!(refused(renamed(package().build(), "wxyz.txt", "abcd.txt")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package of registry.example.com/acme/widget 1.4.0 for linux_amd64 cannot be installed
      cause: the archive has two entries named `abcd.txt`
      cause: it came from [REGISTRY]/acme/widget

    hint: remove one of the two, so that the package is the same on every system
    hint: nothing was installed: the release itself must be mended by its publisher
    ");
}

#[test]
fn a_package_with_a_symlink() {
    assert_snapshot!(refused(with_mode(package().build(), "abcd.txt", 0o120_777)), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package of registry.example.com/acme/widget 1.4.0 for linux_amd64 cannot be installed
      cause: `abcd.txt` is a symbolic link, which a package must not contain
      cause: it came from [REGISTRY]/acme/widget

    hint: a package consists of plain files: put a copy of the file in its place, or leave it out
    hint: nothing was installed: the release itself must be mended by its publisher
    ");
}

#[test]
fn a_package_with_contents_that_do_not_match_its_checksum() {
    let mut zip = package().build();
    zip[30 + "abcd.txt".len() + 1] ^= 0x10;
    assert!(refused(zip).contains("exit code: 1"));
}

#[test]
fn a_digest_that_does_not_match() {
    assert_snapshot!(refused_by(blob().then(Fault::CorruptBody(-1)), "--attempts 1"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: sha256:[DIGEST] (archive/zip) of [REGISTRY]/acme/widget is damaged: expected sha256:[DIGEST], got sha256:[DIGEST]

    hint: the registry, or something between it and here, changed the content; nothing of it was kept
    ");
    assert_snapshot!(refused_by(blob().then(Fault::CorruptBody(60)), "--attempts 1"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: sha256:[DIGEST] (archive/zip) of [REGISTRY]/acme/widget is damaged: expected sha256:[DIGEST], got sha256:[DIGEST]

    hint: the registry, or something between it and here, changed the content; nothing of it was kept
    ");
    let index = Rule::on("GET", "/v2/acme/widget/manifests/*").then(Fault::CorruptBody(30));
    assert_snapshot!(refused_by(index, "--attempts 1"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: manifest sha256:[DIGEST] of [REGISTRY]/acme/widget is damaged: expected sha256:[DIGEST], got sha256:[DIGEST]

    hint: the registry, or something between it and here, changed the content; nothing of it was kept
    ");
}

#[test]
fn a_truncated_download() {
    assert_snapshot!(refused_by(blob().then(Fault::CutBody(100)), "--attempts 1"), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: the connection to [REGISTRY]/acme/widget broke: end of file before message length reached (after 100 of 323 bytes)

    hint: run the same command again: what has arrived is not sent again
    ");
    assert_snapshot!(refused_by(blob().then(Fault::ShortenBody(100)), "--attempts 1"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: blob sha256:[DIGEST] of [REGISTRY]/acme/widget has the wrong size: expected 323 bytes, got 100

    hint: the registry, or something between it and here, changed the content; nothing of it was kept
    ");
}

#[test]
fn a_download_that_breaks_once_is_resumed() {
    let scene = Scene::published();
    scene.registry.fault(blob().once().then(Fault::CutBody(100)));
    assert_snapshot!(scene.run(INSTALL).text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl created

    ----- stderr -----
    note: GET [REGISTRY]/v2/acme/widget/blobs/sha256:[DIGEST]: end of file before message length reached (after 100 of 323 bytes); attempt 2 in [WAIT]
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed (323 B)
    ");
}

#[test]
fn a_blob_that_is_missing() {
    let scene = Scene::new();
    let forged = scene.forge(package().build());
    scene.registry.remove("acme/widget", &forged.package);
    assert_snapshot!(scene.refuse(INSTALL), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget has no blob sha256:[DIGEST]

    hint: the release is incomplete there; its publisher can push it again
    ");
}

#[test]
fn statuses_of_the_registry() {
    let every = |status: u16, code: &str| Rule::on("*", "*").then(Fault::status(status, code));
    assert_snapshot!(refused_by(every(401, "UNAUTHORIZED"), "--attempts 1"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget needs credentials: injected (UNAUTHORIZED)

    hint: log in with `docker login [REGISTRY]` or `podman login [REGISTRY]`
    hint: credentials are read from DOCKER_CONFIG, ~/.docker/config.json and containers/auth.json
    ");
    assert_snapshot!(refused_by(every(403, "DENIED"), "--attempts 1"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget denied access: injected (DENIED)

    hint: the account needs the right to read, and for a push to write; `docker login [REGISTRY]` changes the account
    ");
    assert_snapshot!(refused_by(every(404, "NAME_UNKNOWN"), "--attempts 1"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: there is no provider registry.example.com/acme/widget at [REGISTRY]/acme/widget

    hint: check the name; `tofu-oci resolve ADDR` says where it is looked for
    ");
    assert_snapshot!(refused_by(every(429, "TOOMANYREQUESTS"), "--attempts 1"), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget answered 429 to GET /v2/acme/widget/tags/list: injected (TOOMANYREQUESTS)

    hint: the registry wants fewer requests: try again later, or with --jobs 1
    ");
    assert_snapshot!(refused_by(every(500, "UNKNOWN"), "--attempts 1"), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget answered 500 to GET /v2/acme/widget/tags/list: injected (UNKNOWN)

    hint: the registry has a problem of its own; run the same command again later
    ");
    let wait = Answer::error(429, "TOOMANYREQUESTS", "slow down").header("Retry-After", "3600");
    assert_snapshot!(refused_by(Rule::on("*", "*").then(Fault::Answer(wait)), ""), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget asks to wait 3600 s before trying again

    hint: try again later, or wait longer with --max-wait 3600
    ");
    assert_snapshot!(refused_by(blob().then(Fault::status(503, "UNAVAILABLE")), "--attempts 1"), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget answered 503 to GET /v2/acme/widget/blobs/sha256:[DIGEST]: injected (UNAVAILABLE)

    hint: the registry has a problem of its own; run the same command again later
    ");
}

#[test]
fn an_unreachable_registry() {
    let scene = Scene::new();
    let line = format!("install {WIDGET} --from registry.invalid/acme/widget --platform linux_amd64 --attempts 1");
    assert_snapshot!(scene.refuse(&line), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: cannot reach registry.invalid/acme/widget: failed to lookup address information: [REASON]

    hint: check the host name and the network; a registry that speaks plain HTTP needs --plain-http HOST
    ");
}

#[test]
fn a_registry_that_wants_credentials() {
    let scene = Scene::with(Registry::builder().auth(Auth::Basic(Login::new("ada", "correct"))));
    assert_snapshot!(scene.refuse(INSTALL), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget needs credentials: authentication required (UNAUTHORIZED)

    hint: log in with `docker login [REGISTRY]` or `podman login [REGISTRY]`
    hint: credentials are read from DOCKER_CONFIG, ~/.docker/config.json and containers/auth.json
    ");
}

#[test]
fn an_index_that_is_no_json() {
    let scene = Scene::new();
    let index = scene.registry.put_manifest("acme/widget", "application/vnd.oci.image.index.v1+json", "{no json");
    scene.registry.put_tag("acme/widget", "1.4.0", &index);
    assert_snapshot!(scene.refuse(INSTALL), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget is not usable: manifest sha256:[DIGEST]: it is no JSON manifest

    hint: -vv shows every request; check that this is the registry you mean
    ");
}

#[test]
fn a_plain_container_image() {
    let scene = Scene::new();
    let layer = scene.registry.put_blob("acme/widget", "layer");
    let tar = json!({"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": layer, "size": 5});
    let config = json!({"os": "linux", "architecture": "amd64", "config": {},
        "rootfs": {"type": "layers", "diff_ids": [Digest::sha256(b"layer")]}});
    scene.forge_leaf(layer, &config, &tar, None);
    assert_snapshot!(scene.refuse(INSTALL), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 in [REGISTRY]/acme/widget cannot be installed
      cause: this is a plain container image, not a provider package: its config has no label org.opentofu.package-type=provider_binary

    hint: check the repository's name; a provider release is what `tofu-oci push` writes, or labelled images
    hint: nothing was installed
    ");
}

#[test]
fn a_module_package() {
    let scene = Scene::new();
    let zip = scene.registry.put_blob("acme/widget", "zip");
    let config = scene.registry.put_blob("acme/widget", "{}");
    let manifest = json!({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "artifactType": "application/vnd.opentofu.modulepkg",
        "config": {"mediaType": "application/vnd.oci.empty.v1+json", "digest": config, "size": 2},
        "layers": [{"mediaType": "archive/zip", "digest": zip, "size": 3}],
    });
    let media_type = "application/vnd.oci.image.manifest.v1+json";
    let manifest = scene.registry.put_manifest("acme/widget", media_type, manifest.to_string());
    scene.registry.put_tag("acme/widget", "1.4.0", &manifest);
    assert_snapshot!(scene.refuse(INSTALL), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 in [REGISTRY]/acme/widget cannot be installed
      cause: this is a module package, not a provider release: expected an image index with a package for each platform

    hint: check the repository's name; a provider release is what `tofu-oci push` writes, or labelled images
    hint: nothing was installed
    ");
}

#[test]
fn a_stray_tag_that_is_the_newest_is_refused_with_the_reason() {
    let scene = Scene::published();
    let digest = scene.tag("acme/widget", "1.4.0").parse().expect("a digest");
    scene.registry.put_tag("acme/widget", "2", &digest);
    let said = scene.run(INSTALL);
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl created

    ----- stderr -----
    warning: [REGISTRY]/acme/widget has tags that OpenTofu takes for versions it cannot find, so that `tofu init` fails: 2
      hint: ask the publisher to delete these tags
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed (323 B)
    ");
}
