//! `bundle`: releases in one file, and trees of files.

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, WebServer};

use crate::setup::Scene;

const ADDRESS: &str = "registry.example.com/acme/widget";

/// Two releases of the widget, published and signed, and a bundle of them.
fn bundled() -> Scene {
    let scene = Scene::with_dist();
    scene.publish("1.4.0");
    scene.publish("1.5.0");
    scene.sign("acme/widget", ADDRESS, "1.5.0");
    scene.run(&format!("bundle create b.tar {ADDRESS} --from REGISTRY/acme/widget")).success();
    scene
}

#[test]
fn a_bundle_is_created_and_shown() {
    let scene = bundled();
    assert_snapshot!(scene.run("bundle show b.tar").text, @"
    exit code: 0
    ----- stdout -----
    provider                          version  size   signed      platforms
    registry.example.com/acme/widget  1.4.0    647 B  no          darwin_arm64 linux_amd64
    registry.example.com/acme/widget  1.5.0    647 B  not judged  darwin_arm64 linux_amd64

    1 provider, 2 versions, 29.7 kB

    ----- stderr -----
    ");
    let lines = scene.run("bundle show b.tar --json").json();
    let events: Vec<&str> = lines.iter().filter_map(|line| line["event"].as_str()).collect();
    assert_eq!(events, ["bundled", "bundled", "bundle"]);
    assert_snapshot!(scene.run("bundle show b.tar --tofurc").text, @r#"
    exit code: 0
    ----- stdout -----
    # After: tofu-oci bundle load FILE 'registry.example.com/providers/${hostname}/${namespace}/${type}'
    provider_installation {
      oci_mirror {
        repository_template = "registry.example.com/providers/${hostname}/${namespace}/${type}"
        include             = ["registry.example.com/acme/widget"]
      }
      direct {
        exclude = ["registry.example.com/acme/widget"]
      }
    }

    ----- stderr -----
    "#);
}

#[test]
fn the_report_of_create_names_every_release() {
    let scene = Scene::with_dist();
    scene.publish("1.4.0");
    let line = format!("bundle create b.tar {ADDRESS} --from REGISTRY/acme/widget");
    let said = scene.run(&line);
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    provider                          version  report
    registry.example.com/acme/widget  1.4.0    added for darwin_arm64 linux_amd64, 3.7 kB

    1 added; 3.7 kB sent

    ----- stderr -----
    zip of darwin_arm64 ([HEX]): copied (324 B)
    zip of linux_amd64 ([HEX]): copied (323 B)
    b.tar: written (14.8 kB)
    ");
    let first = std::fs::read(scene.path("b.tar")).expect("a bundle");
    scene.run(&line).success();
    assert_eq!(first, std::fs::read(scene.path("b.tar")).expect("a bundle"), "the same releases, the same bytes");
}

#[test]
fn providers_are_installed_from_the_file_without_a_network() {
    let scene = bundled();
    scene.registry.clear_requests();
    scene.run(&format!("install {ADDRESS} --from bundle:b.tar --platform linux_amd64 --vendor")).success();
    assert_eq!(scene.conversation(), Vec::<String>::new());
    assert!(scene.context.read(".terraform.lock.hcl").contains("1.5.0"));
}

#[test]
fn a_loaded_bundle_is_the_same_release_with_its_signatures() {
    let scene = bundled();
    let load = "bundle load b.tar REGISTRY/inside/${namespace}/${type}";
    assert_snapshot!(scene.run(load).text, @"
    exit code: 0
    ----- stdout -----
    provider                          version  report
    registry.example.com/acme/widget  1.4.0    added for darwin_arm64 linux_amd64, 3.7 kB
    registry.example.com/acme/widget  1.5.0    added for darwin_arm64 linux_amd64, 6.2 kB

    2 added; 9.8 kB sent

    ----- stderr -----
    signature ([HEX]): pushed (799 B)
    zip of darwin_arm64 ([HEX]): pushed (324 B)
    zip of darwin_arm64 ([HEX]): pushed (324 B)
    zip of linux_amd64 ([HEX]): pushed (323 B)
    zip of linux_amd64 ([HEX]): pushed (323 B)
    ");
    for version in ["1.4.0", "1.5.0"] {
        assert_eq!(scene.tag("inside/acme/widget", version), scene.tag("acme/widget", version));
    }
    scene.registry.clear_requests();
    assert_snapshot!(scene.run(load).text, @"
    exit code: 0
    ----- stdout -----
    2 there already; 0 B sent

    ----- stderr -----
    ");
    assert!(!scene.conversation().iter().any(|line| line.starts_with("PUT") || line.starts_with("POST")));
    scene.trust("");
    scene.run(&format!("verify {ADDRESS}@1.5.0 --from REGISTRY/inside/acme/widget")).success();
}

#[test]
fn one_refused_release_keeps_all_of_a_bundle_out() {
    let scene = bundled();
    scene.trust("");
    let said = scene.run("bundle load b.tar REGISTRY/inside/${namespace}/${type}");
    assert_snapshot!(said.text, @"
    exit code: 1
    ----- stdout -----
    provider                          version  report
    registry.example.com/acme/widget  1.4.0    failed

    registry.example.com/acme/widget 1.4.0 is not trusted: it is not signed
      cause: it came from bundle:b.tar
      cause: trust.toml:10, the rule for registry.example.com/*/*, demands a signature by acme-release
      hint: its publisher signs it with `tofu-oci sign` in its repository; then fetch it again
      hint: `tofu-oci verify registry.example.com/acme/widget@1.4.0 --from bundle:b.tar` shows every signature, and why it does not count

    1 failed; 0 B sent

    ----- stderr -----
    warning: bundle:b.tar holds a release that is refused, so nothing of it was loaded
    ");
    assert!(scene.registry.tags("inside/acme/widget").is_empty());
}

#[test]
fn a_bundle_may_be_named_as_from_names_it() {
    let scene = bundled();
    scene.run("bundle show bundle:b.tar").success();
    let said = scene.run("bundle show b.tar.001");
    assert_snapshot!(said.text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: there is no bundle b.tar.001

    hint: name the bundle without the number of a part: b.tar
    ");
}

#[test]
fn a_tampered_blob_is_refused() {
    let scene = bundled();
    let mut bytes = std::fs::read(scene.path("b.tar")).expect("a bundle");
    let at = bytes.windows(4).rposition(|four| four == b"PK\x03\x04").expect("a zip");
    bytes[at + 40] ^= 1;
    std::fs::write(scene.path("b.tar"), bytes).expect("written");
    let said = scene.run("bundle load b.tar REGISTRY/inside/${namespace}/${type}");
    assert!(said.text.contains("exit code: 1") && said.text.contains("is damaged"), "{}", said.text);
}

#[test]
fn parts_are_one_bundle_and_a_missing_part_is_named() {
    let scene = Scene::with_dist();
    scene.publish("1.4.0");
    let line = format!("bundle create b.tar {ADDRESS} --from REGISTRY/acme/widget");
    scene.run(&line).success();
    let bytes = std::fs::read(scene.path("b.tar")).expect("a bundle");
    let half = bytes.len() / 2;
    for (nth, part) in bytes.chunks(half.next_multiple_of(2)).enumerate() {
        scene.context.write(&format!("p.tar.{:03}", nth + 1), part);
    }
    scene.run("bundle show p.tar").success();
    std::fs::remove_file(scene.path("p.tar.002")).expect("removed");
    assert_snapshot!(scene.refuse("bundle show p.tar"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: bundle:p.tar is not whole: p.tar.002 is missing

    hint: copy that file as well, into the same folder
    ");
}

#[test]
fn what_is_not_a_bundle_is_refused_with_a_hint() {
    let scene = Scene::new();
    scene.context.write("b.tar", "hello");
    assert_snapshot!(scene.refuse("bundle show b.tar"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: bundle:b.tar is not usable: it is not a tar archive

    hint: `tofu-oci bundle create` writes bundles; copy the file again if it was one
    ");
    assert_snapshot!(scene.refuse("bundle load none.tar oci:there"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: there is no bundle none.tar

    hint: check the path: neither none.tar is there, nor its parts none.tar.001, none.tar.002 and so on
    ");
    assert_snapshot!(scene.refuse("bundle create b.tar acme/widget --max-size 4XB"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value '4XB' for '--max-size <SIZE>': write a size such as 4GB, 700MB or 2GiB

    For more information, try '--help'.
    ");
}

#[test]
fn a_release_that_fails_leaves_the_old_bundle() {
    let scene = bundled();
    let before = std::fs::read(scene.path("b.tar")).expect("a bundle");
    let said = scene.run(&format!("bundle create b.tar {ADDRESS} --from REGISTRY/acme/nothing"));
    assert!(said.text.contains("exit code: 1"), "{}", said.text);
    assert_eq!(before, std::fs::read(scene.path("b.tar")).expect("a bundle"));
    assert!(scene.context.files().iter().all(|name| !name.contains(".tofu-oci-")), "{:?}", scene.context.files());
}

#[test]
fn a_tree_of_files_is_read_back() {
    let scene = bundled();
    assert_snapshot!(scene.run("bundle load b.tar static:www").text, @"
    exit code: 0
    ----- stdout -----
    provider                          version  report
    registry.example.com/acme/widget  1.4.0    added for darwin_arm64 linux_amd64, 647 B
    registry.example.com/acme/widget  1.5.0    added for darwin_arm64 linux_amd64, 647 B

    2 added; 1.3 kB sent

    ----- stderr -----
    ");
    scene.registry.clear_requests();
    scene.run(&format!("install {ADDRESS} --from static:www --platform linux_amd64 --vendor")).success();
    assert_eq!(scene.conversation(), Vec::<String>::new());
}

#[test]
fn a_tree_of_files_behind_a_web_server_is_a_network_mirror() {
    let scene = bundled();
    scene.run("bundle load b.tar static:www").success();
    let web = WebServer::start(&[]);
    scene.context.write("ca.pem", web.ca_pem().expect("it speaks TLS"));
    for name in scene.context.files() {
        let Some(path) = name.strip_prefix("www/") else { continue };
        let kind = if std::path::Path::new(path).extension().is_some_and(|kind| kind == "json") {
            "application/json"
        } else {
            "application/zip"
        };
        let bytes = std::fs::read(scene.path(&name)).expect("a file of the tree");
        web.page(&format!("/p/{path}"), Answer::new(200).header("Content-Type", kind).body(bytes));
    }
    let line = format!("install {ADDRESS} --from {}/p/ --ca-file ca.pem --platform linux_amd64 --vendor", web.origin());
    scene.run(&line).success();
    let lock = scene.context.read(".terraform.lock.hcl");
    assert!(lock.contains("1.5.0") && lock.contains("zh:") && lock.contains("h1:"), "{lock}");
}

#[test]
fn mirror_writes_into_a_tree_that_does_not_exist_yet() {
    let scene = bundled();
    let line = format!("mirror {ADDRESS} --from bundle:b.tar --to static:www");
    scene.run(&line).success();
    let again = scene.run(&line).success();
    assert!(again.stdout.starts_with("2 there already"), "{}", again.text);
    scene.run(&format!("mirror {ADDRESS} --from static:www --to bundle:c.tar")).success();
    assert_eq!(scene.run("bundle show c.tar --json").json().len(), 3);
}
