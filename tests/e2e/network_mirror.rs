//! Providers from a `network_mirror`.

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, Fault, MirrorHashes, Rule, Upstream};

use crate::setup::{Scene, WIDGET};

const PROVIDER: &str = "acme/widget";
const DOCUMENTS: &str = "/mirror/registry.example.com/acme/widget";

/// A mirror of widget 1.4.0, and a CLI configuration whose only method it is. `more` stands in its block.
fn mirrored(user_info: &str, more: &str) -> (Scene, Upstream) {
    let upstream = Upstream::start();
    upstream.release(PROVIDER, "1.4.0", &["darwin_arm64", "linux_amd64"]);
    let mut scene = Scene::new();
    let ca = scene.context.write("ca.pem", upstream.ca_pem());
    scene.context.env("SSL_CERT_FILE", ca.display().to_string());
    scene.context.filters().literal(upstream.address(), "[MIRROR]");
    let url = upstream.mirror_url().replace("https://", &format!("https://{user_info}"));
    let config = format!("provider_installation {{\n  network_mirror {{\n    url = \"{url}\"\n{more}  }}\n}}\n");
    scene.home_file(".tofurc", &config);
    (scene, upstream)
}

#[test]
fn a_provider_is_installed_and_locked_from_a_network_mirror() {
    let (scene, upstream) = mirrored("", "");
    assert_snapshot!(scene.run(&format!("install {WIDGET} --platform linux_amd64")).text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl created

    ----- stderr -----
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed
    note: the lock file has registry.example.com/acme/widget 1.4.0 for linux_amd64 only; the release has darwin_arm64, too
      hint: to lock every platform: tofu-oci lock registry.example.com/acme/widget
    ");
    let (h1, zh) = upstream.hashes(PROVIDER, "1.4.0", "linux_amd64");
    let lock = scene.context.read(".terraform.lock.hcl");
    assert!(lock.contains(&h1) && lock.contains(&zh), "{lock}");
    let file = format!("{DOCUMENTS}/terraform-provider-widget_1.4.0_linux_amd64.zip");
    let asked = [
        format!("GET {DOCUMENTS}/index.json -> 200"),
        format!("GET {DOCUMENTS}/1.4.0.json -> 200"),
        format!("GET {file} -> 200"),
    ];
    assert_eq!(upstream.conversation(), asked);
    scene.run(&format!("install {WIDGET} --platform linux_amd64 --locked")).success();
    assert_eq!(upstream.requests().len(), asked.len(), "what is installed and locked is kept unasked");
}

#[test]
fn a_mirror_that_wants_its_token_for_packages_was_answered_with_where_tokens_are() {
    let (scene, upstream) = mirrored("", "");
    upstream.fault(Rule::on("GET", "*.zip").then(Fault::Answer(Answer::new(401))));
    let said = scene.refuse(&format!("install {WIDGET} --platform linux_amd64"));
    assert!(
        said.contains("answered 401") && said.contains("no client sends the token of a host with packages"),
        "{said}"
    );
    assert!(!said.contains("TF_TOKEN_"), "{said}");
}

#[test]
fn the_versions_and_checksums_of_a_network_mirror_are_read_by_other_verbs_too() {
    let (scene, upstream) = mirrored("", "");
    upstream.release(PROVIDER, "1.5.0", &["linux_amd64"]);
    assert_snapshot!(scene.run(&format!("versions {WIDGET} --provider")).text, @"
    exit code: 0
    ----- stdout -----
    1.5.0
    1.4.0

    ----- stderr -----
    ");
    scene.run(&format!("lock {WIDGET}@1.4.0")).success();
    let lock = scene.context.read(".terraform.lock.hcl");
    for platform in ["linux_amd64", "darwin_arm64"] {
        let (h1, zh) = upstream.hashes(PROVIDER, "1.4.0", platform);
        assert!(lock.contains(&h1) && lock.contains(&zh), "{platform}: {lock}");
    }
}

#[test]
fn the_password_of_a_network_mirror_appears_nowhere() {
    let (scene, upstream) = mirrored("ada:hunter2-secret@", "");
    let check = |line: &str| {
        let said = scene.run(line);
        for (what, text) in [("stdout", &said.stdout), ("stderr", &said.stderr)] {
            assert!(!text.contains("hunter2") && !text.contains("YWRhOmh1bn"), "{line}: {what}: {text}");
        }
        said.code
    };
    assert_eq!(check(&format!("install {WIDGET} --platform linux_amd64 -vv --json")), Some(0));
    assert_eq!(check(&format!("resolve {WIDGET} --explain --platform linux_amd64")), Some(0));
    assert!(upstream.requests().iter().all(|request| request.header("authorization").is_some()));
    for path in scene.context.files() {
        assert!(!String::from_utf8_lossy(&std::fs::read(scene.path(&path)).unwrap()).contains("hunter2"), "{path}");
    }
    // A server that repeats what it got.
    let echo = Answer::text(403, "no: ada:hunter2-secret YWRhOmh1bnRlcjItc2VjcmV0");
    for path in ["*.zip", "*/1.4.0.json", "*/index.json"] {
        upstream.fault(Rule::on("*", path).then(Fault::Answer(echo.clone())));
        assert_eq!(check(&format!("install {WIDGET} --platform darwin_arm64 -vv --upgrade")), Some(1), "{path}");
        upstream.clear_faults();
    }
}

#[test]
fn a_package_with_none_of_the_mirrors_checksums_is_refused() {
    for hashes in [MirrorHashes::Both, MirrorHashes::Zh] {
        let (scene, upstream) = mirrored("", "");
        upstream.list_hashes(hashes);
        let other = Upstream::start();
        other.release(PROVIDER, "1.4.1", &["linux_amd64"]);
        let zip = other.zip(PROVIDER, "1.4.1", "linux_amd64");
        upstream.fault(Rule::on("GET", "*.zip").then(Fault::ReplaceBody(zip)));
        let said = scene.run(&format!("install {WIDGET} --platform linux_amd64"));
        assert_eq!(said.code, Some(1), "{}", said.text);
        assert_eq!(scene.context.files(), ["ca.pem"], "nothing is half stored");
        match hashes {
            MirrorHashes::Both => assert_snapshot!(said.text, @"
            exit code: 1
            ----- stdout -----

            ----- stderr -----
            error: registry.example.com/acme/widget 1.4.0 for linux_amd64 has none of the checksums that the network mirror https://[MIRROR]/mirror/ names for it
              cause: the place names  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
              cause: the place names  zh:[ZIP]
              cause: the package has  h1:j350/sBjlpKQ9rX/Nz4GwAkoUrlZHrd4Ybg6aGh3H4g=
              cause: the package has  zh:[ZIP]

            hint: nothing of it was installed; whoever runs the mirror must correct the package or its checksums
            "),
            _ => assert_snapshot!(said.text, @"
            exit code: 1
            ----- stdout -----

            ----- stderr -----
            error: registry.example.com/acme/widget 1.4.0 for linux_amd64 has none of the checksums that the network mirror https://[MIRROR]/mirror/ names for it
              cause: the place names  zh:[ZIP]
              cause: the package has  zh:[ZIP]

            hint: nothing of it was installed; whoever runs the mirror must correct the package or its checksums
            "),
        }
    }
}

#[test]
fn what_a_mirror_lacks_and_how_it_fails_is_said_in_one_place() {
    let (scene, upstream) = mirrored("", "    download_retry_count = 0\n");
    upstream.fault(Rule::on("GET", "*/1.4.0.json").then(Fault::Answer(Answer::text(404, "no"))));
    let missing = scene.run(&format!("install {WIDGET} --platform linux_amd64 --json"));
    assert!(missing.stdout.contains("\"mirror-version-missing\""), "{}", missing.text);
    upstream.clear_faults();
    assert_snapshot!(scene.refuse(&format!("install {WIDGET} --platform plan9_arm")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 has no package for plan9_arm
      cause: asked the network mirror https://[MIRROR]/mirror/

    hint: this release offers darwin_arm64, linux_amd64
    ");
    assert_snapshot!(scene.refuse("install registry.example.com:8443/acme/widget --platform linux_amd64"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com:8443/acme/widget: nothing can be installed from the network mirror https://[MIRROR]/mirror/
      cause: the protocol of network mirrors has no address for providers of registry.example.com:8443
      cause: by network_mirror at [HOME]/.tofurc:2

    hint: name another place with --from, or exclude the provider from the network_mirror, so that another method serves it
    ");
    upstream.fault(Rule::on("GET", "*.zip").then(Fault::Answer(Answer::text(503, "later"))));
    let before = upstream.requests().len();
    assert_snapshot!(scene.refuse(&format!("install {WIDGET} --platform linux_amd64")), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: nothing can be installed from the network mirror https://[MIRROR]/mirror/
      cause: https://[MIRROR]/mirror/registry.example.com/acme/widget/terraform-provider-widget_1.4.0_linux_amd64.zip answered 503
    ");
    let zips = upstream.requests()[before..]
        .iter()
        .filter(|request| std::path::Path::new(&request.path).extension().is_some_and(|kind| kind == "zip"))
        .count();
    assert_eq!(zips, 1, "download_retry_count counts");
    upstream.clear_faults();
    upstream.fault(Rule::on("GET", "*.zip").then(Fault::ReplaceBody("<html>".into())));
    upstream.list_hashes(MirrorHashes::Absent);
    assert_snapshot!(scene.refuse(&format!("install {WIDGET} --platform linux_amd64")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package of registry.example.com/acme/widget 1.4.0 for linux_amd64 cannot be installed
      cause: this is not a zip archive
      cause: it came from the network mirror https://[MIRROR]/mirror/

    hint: the file may be an interrupted download or build; make it again
    hint: nothing of it was installed; the publisher must correct the release itself
    ");
}

#[test]
fn a_network_mirror_that_was_named_is_not_asked_for_again() {
    let scene = Scene::new();
    let install = |what: &str| scene.refuse(&format!("install {what} --platform linux_amd64"));
    assert_snapshot!(install(&format!("{WIDGET} --from https://mirror.invalid/x/")), @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: nothing can be installed from the network mirror https://mirror.invalid/x/
      cause: https://mirror.invalid/x/registry.example.com/acme/widget/index.json: failed to lookup address information: [REASON]

    hint: check the address of the mirror and the network; --ca-file FILE trusts a private certificate authority
    ");
    assert_snapshot!(install("registry.example.com:8080/acme/widget --from https://mirror.invalid/x/"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: nothing can be installed from the network mirror https://mirror.invalid/x/
      cause: the protocol of network mirrors has no address for providers of registry.example.com:8080

    hint: name a repository, oci:DIR or bundle:FILE with --from
    ");
    assert_snapshot!(install(&format!("{WIDGET} --from http://mirror.invalid/x/")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `http://mirror.invalid/x/` is not a repository address: it is written without a scheme such as https://

    hint: drop the scheme: mirror.invalid/x
    hint: the address of a network mirror begins with https and ends with a slash: https://mirror.invalid/x/
    ");
}
