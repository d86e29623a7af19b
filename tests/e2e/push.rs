//! `push`.

use std::process::Stdio;

use insta::assert_snapshot;
use tofu_oci_testkit::{Fault, Gate, ReleaseFolder, Rule};

use crate::setup::{PLATFORMS, Scene, WIDGET};

#[test]
fn a_folder_of_zips_is_published() {
    let scene = Scene::with_dist();
    let said = scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}"));
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    pushed registry.example.com/acme/widget 1.4.0 to [REGISTRY]/acme/widget:1.4.0
      index sha256:[DIGEST]
      darwin_arm64         324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
      linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
      sent 3.7 kB (7 new, 0 present)

    ----- stderr -----
    widget 1.4.0 darwin_arm64: pushed (324 B)
    widget 1.4.0 linux_amd64: pushed (323 B)
    ");
    let tags: Vec<String> = scene.registry.tags("acme/widget").into_iter().map(|(tag, _)| tag).collect();
    assert_eq!(tags, ["1.4.0"]);
}

#[test]
fn a_goreleaser_dist_is_published() {
    let scene = Scene::new();
    ReleaseFolder::new("widget", "1.4.0", &PLATFORMS).protocols(&["5.0", "6.0"]).write_goreleaser(&scene.path("dist"));
    let said = scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}"));
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    pushed registry.example.com/acme/widget 1.4.0 to [REGISTRY]/acme/widget:1.4.0
      index sha256:[DIGEST]
      darwin_arm64         324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
      linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
      sent 3.7 kB (7 new, 0 present)

    ----- stderr -----
    warning: terraform-provider-widget_1.4.0_SHA256SUMS.sig is not an OpenPGP signature, so it does not go with the release
      hint: sign terraform-provider-widget_1.4.0_SHA256SUMS with OpenPGP: gpg --detach-sign; or sign the release: --sign-key KEY
    widget 1.4.0 darwin_arm64: pushed (324 B)
    widget 1.4.0 linux_amd64: pushed (323 B)
    ");
    let (_, index) = scene.registry.manifest("acme/widget", "1.4.0").expect("the tag is there");
    let index: serde_json::Value = serde_json::from_slice(&index).expect("the index is JSON");
    assert_eq!(index["annotations"]["org.opentofu.provider.protocols"], "5.0,6.0");
}

#[test]
fn a_folder_of_platform_folders_is_published() {
    let scene = Scene::new();
    ReleaseFolder::new("widget", "1.4.0", &PLATFORMS).write_directories(&scene.path("dist"));
    let said = scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}"));
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    pushed registry.example.com/acme/widget 1.4.0 to [REGISTRY]/acme/widget:1.4.0
      index sha256:[DIGEST]
      darwin_arm64         324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
      linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
      sent 3.7 kB (7 new, 0 present)

    ----- stderr -----
    widget 1.4.0 darwin_arm64: pushed (324 B)
    widget 1.4.0 linux_amd64: pushed (323 B)
    ");
}

#[test]
fn every_form_and_layout_is_pushed_and_pushed_again() {
    for form in ["zips", "goreleaser", "directories"] {
        for layout in ["artifact", "image", "both"] {
            for destination in ["REGISTRY/acme/widget", "oci:layout"] {
                let scene = Scene::new();
                let dist = ReleaseFolder::new("widget", "1.4.0", &PLATFORMS);
                match form {
                    "zips" => dist.write_zips(&scene.path("dist")),
                    "goreleaser" => dist.write_goreleaser(&scene.path("dist")),
                    _ => dist.write_directories(&scene.path("dist")),
                }
                let line = format!("push dist {destination} --address {WIDGET} --layout {layout}");
                scene.run(&line).success();
                let before = crate::setup::State::of(&scene);
                let again = scene.run(&line).success();
                assert!(again.stdout.contains("already; nothing was sent"), "{form} {layout}: {}", again.text);
                assert_eq!(crate::setup::State::of(&scene), before, "{form} {layout} {destination}");
            }
        }
    }
}

#[test]
fn pushing_again_changes_nothing() {
    let scene = Scene::published();
    let said = scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}"));
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0 is at [REGISTRY]/acme/widget:1.4.0 already; nothing was sent
      index sha256:[DIGEST]
      darwin_arm64         324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
      linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=

    ----- stderr -----
    ");
    assert!(scene.conversation().iter().all(|line| !line.starts_with("PUT") && !line.starts_with("POST")));
}

#[test]
fn another_release_under_a_taken_tag_is_refused() {
    let scene = Scene::published();
    ReleaseFolder::new("widget", "1.4.0", &["linux_amd64"]).write_zips(&scene.path("other"));
    assert_snapshot!(scene.refuse(&format!("push other REGISTRY/acme/widget --address {WIDGET}")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget has a tag 1.4.0 already: it points at a release with the same packages in another layout, or for other platforms

    hint: push with the --layout and the platforms of the published release, and nothing has to be sent
    hint: the tag points at a release of registry.example.com/acme/widget; to move it all the same, add --replace-tag
    ");

    let before = scene.tag("acme/widget", "1.4.0");
    let said = scene.run(&format!("push other REGISTRY/acme/widget --address {WIDGET} --replace-tag"));
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    pushed registry.example.com/acme/widget 1.4.0 to [REGISTRY]/acme/widget:1.4.0
      index sha256:[DIGEST]
      linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
      replaced sha256:[DIGEST], marked as withdrawn
      sent 941 B (1 new, 3 present)

    ----- stderr -----
    widget 1.4.0 linux_amd64: present (323 B)
    ");
    assert_ne!(scene.tag("acme/widget", "1.4.0"), before);
}

#[test]
fn a_release_that_differs_in_annotations_only_is_refused_and_says_so() {
    let scene = Scene::published();
    assert_snapshot!(scene.refuse(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --h1 skip")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget has a tag 1.4.0 already: it points at a release with the same packages and other annotations

    hint: what clients install is the same: the address, the checksums or the protocol versions differ
    hint: the tag points at a release of registry.example.com/acme/widget; to move it all the same, add --replace-tag
    ");
}

#[test]
fn another_release_under_a_taken_tag_of_a_directory_is_refused() {
    let scene = Scene::with_dist();
    scene.run(&format!("pack dist oci:layout --address {WIDGET}")).success();
    ReleaseFolder::new("widget", "1.4.0", &["linux_amd64"]).write_zips(&scene.path("other"));
    assert_snapshot!(scene.refuse(&format!("push other oci:layout --address {WIDGET}")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: oci:layout has a tag 1.4.0 already: it points at a release with the same packages in another layout, or for other platforms

    hint: push with the --layout and the platforms of the published release, and nothing has to be sent
    hint: the tag points at a release of registry.example.com/acme/widget; to move it all the same, add --replace-tag
    ");
    scene.run(&format!("push other oci:layout --address {WIDGET} --replace-tag")).success();
}

#[test]
fn a_dry_run_prints_the_plan_and_writes_nothing() {
    let scene = Scene::with_dist();
    let before = crate::setup::State::of(&scene);
    let said = scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --dry-run"));
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    would push registry.example.com/acme/widget 1.4.0 to [REGISTRY]/acme/widget:1.4.0
      index sha256:[DIGEST]
      darwin_arm64         324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
      linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
      new      package   darwin_arm64     sha256:[DIGEST]     324 B
      new      config    darwin_arm64     sha256:[DIGEST]     220 B
      new      manifest  darwin_arm64     sha256:[DIGEST]     527 B
      new      package   linux_amd64      sha256:[DIGEST]     323 B
      new      config    linux_amd64      sha256:[DIGEST]     219 B
      new      manifest  linux_amd64      sha256:[DIGEST]     526 B
      new      index                      sha256:[DIGEST]    1.5 kB
      would send 3.7 kB

    ----- stderr -----
    ");
    let said = scene.run(&format!("push dist oci:layout --address {WIDGET} --layout both --dry-run"));
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    would pack registry.example.com/acme/widget 1.4.0 to oci:layout (tag 1.4.0)
      index sha256:[DIGEST]
      darwin_arm64         324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
      linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
      new      layer     darwin_arm64     sha256:[DIGEST]     189 B
      new      config    darwin_arm64     sha256:[DIGEST]     220 B
      new      manifest  darwin_arm64     sha256:[DIGEST]     401 B
      new      package   darwin_arm64     sha256:[DIGEST]     324 B
      new      config    darwin_arm64     sha256:[DIGEST]     220 B
      new      manifest  darwin_arm64     sha256:[DIGEST]     527 B
      new      layer     linux_amd64      sha256:[DIGEST]     188 B
      new      config    linux_amd64      sha256:[DIGEST]     219 B
      new      manifest  linux_amd64      sha256:[DIGEST]     401 B
      new      package   linux_amd64      sha256:[DIGEST]     323 B
      new      config    linux_amd64      sha256:[DIGEST]     219 B
      new      manifest  linux_amd64      sha256:[DIGEST]     526 B
      new      index                      sha256:[DIGEST]    2.6 kB
      would write 6.3 kB

    ----- stderr -----
    ");
    assert_eq!(crate::setup::State::of(&scene), before);
}

/// It ended with 0, and the run itself with 1.
#[test]
fn a_dry_run_onto_a_taken_tag_ends_as_the_run_does() {
    let scene = Scene::published();
    ReleaseFolder::new("widget", "1.4.0", &["linux_amd64"]).write_zips(&scene.path("other"));
    let said = scene.run(&format!("push other REGISTRY/acme/widget --address {WIDGET} --dry-run"));
    assert_snapshot!(said.text, @"
    exit code: 1
    ----- stdout -----
    [REGISTRY]/acme/widget:1.4.0 points at another release of registry.example.com/acme/widget, sha256:[DIGEST]
    would push registry.example.com/acme/widget 1.4.0 only with --replace-tag
      index sha256:[DIGEST]
      linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
      present  package   linux_amd64      sha256:[DIGEST]     323 B
      present  config    linux_amd64      sha256:[DIGEST]     219 B
      present  manifest  linux_amd64      sha256:[DIGEST]     526 B
      new      index                      sha256:[DIGEST]     941 B
      would send 941 B

    ----- stderr -----
    error: `push` would be refused: [REGISTRY]/acme/widget:1.4.0 names something else already

    hint: publish the change as another version, or move the tag with --replace-tag
    ");
    scene.run(&format!("pack other oci:packed --address {WIDGET}")).success();
    for more in ["", " --dry-run"] {
        assert_eq!(scene.run(&format!("copy oci:packed REGISTRY/acme/widget{more}")).code, Some(1), "{more}");
    }
    scene.run("copy oci:packed REGISTRY/acme/widget --replace-tag --dry-run").success();
}

#[test]
fn build_metadata_is_written_with_an_underscore() {
    let scene = Scene::new();
    ReleaseFolder::new("widget", "1.4.0+build.7", &["linux_amd64"]).write_zips(&scene.path("dist"));
    let said = scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}"));
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    pushed registry.example.com/acme/widget 1.4.0+build.7 to [REGISTRY]/acme/widget:1.4.0_build.7
      index sha256:[DIGEST]
      linux_amd64          347 B  h1:HdwCSACdtpQt8HBAfVDQHfXQwg2hRfcVZ8irmpspqyU=
      sent 2.1 kB (4 new, 0 present)

    ----- stderr -----
    widget 1.4.0+build.7 linux_amd64: pushed (347 B)
    ");
    scene.tag("acme/widget", "1.4.0_build.7");
}

#[test]
fn a_floating_tag_in_the_repository_is_warned_about() {
    let scene = Scene::published();
    let digest = scene.tag("acme/widget", "1.4.0").parse().expect("a digest");
    scene.registry.put_tag("acme/widget", "2", &digest);
    scene.dist("next", "1.5.0");
    let said = scene.run(&format!("push next REGISTRY/acme/widget --address {WIDGET}"));
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    pushed registry.example.com/acme/widget 1.5.0 to [REGISTRY]/acme/widget:1.5.0
      index sha256:[DIGEST]
      darwin_arm64         324 B  h1:gAcvtHmUbSESO5TEZKTaSg5SRNS/AzTGR/zbq1C05EI=
      linux_amd64          323 B  h1:+PNbgfYvhl8pVe9vDDN49AicvMwhNL93eHrQahjXxK8=
      sent 3.7 kB (7 new, 0 present)

    ----- stderr -----
    warning: the tag 2 reads as version 2.0.0, whose tag 2.0.0 does not exist: `tofu init` fails where it chooses this version
      hint: delete the tag 2
    widget 1.5.0 darwin_arm64: pushed (324 B)
    widget 1.5.0 linux_amd64: pushed (323 B)
    ");
}

#[test]
fn quiet_prints_the_result_only() {
    let scene = Scene::with_dist();
    let said = scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --quiet"));
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    pushed registry.example.com/acme/widget 1.4.0 to [REGISTRY]/acme/widget:1.4.0
      index sha256:[DIGEST]
      darwin_arm64         324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
      linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
      sent 3.7 kB (7 new, 0 present)

    ----- stderr -----
    ");
}

#[test]
fn the_address_may_be_left_out_where_the_repository_names_it() {
    let scene = Scene::with_dist();
    let said = scene.run("push dist REGISTRY/acme/opentofu-provider-widget");
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    pushed 127.0.0.1.oci.opentofu.org:[PORT]/acme/widget 1.4.0 to [REGISTRY]/acme/opentofu-provider-widget:1.4.0
      the name of the repository gives this address; for another: --address HOST/NAMESPACE/widget
      index sha256:[DIGEST]
      darwin_arm64         324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
      linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
      sent 3.7 kB (7 new, 0 present)

    ----- stderr -----
    widget 1.4.0 darwin_arm64: pushed (324 B)
    widget 1.4.0 linux_amd64: pushed (323 B)
    ");
    assert_snapshot!(scene.refuse("push dist REGISTRY/acme/widget"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the provider's address is missing

    hint: add --address HOST/NAMESPACE/widget, as `source` in required_providers will say it
    ");
}

#[test]
fn two_simultaneous_pushes_of_different_content_both_said_that_they_had_published_the_version() {
    let scene = Scene::with_dist();
    ReleaseFolder::new("widget", "1.4.0", &["linux_amd64"]).write_zips(&scene.path("other"));
    scene.context.write("network/main.tf", "variable \"one\" {}\n");
    scene.context.write("network-b/main.tf", "variable \"other\" {}\n");
    for (folders, rest) in [
        (["push dist", "push other"], format!("REGISTRY/acme/widget --address {WIDGET}")),
        (["module push network", "module push network-b"], "REGISTRY/acme/network --version 1.4.0".to_owned()),
    ] {
        let gate = Gate::closed();
        scene.registry.clear_faults();
        scene.registry.fault(Rule::on("PUT", "/v2/acme/*/manifests/1.4.0").then(Fault::Hold(gate.clone())));
        let start = |folder: &str| {
            let mut command = scene.command(&format!("{folder} {rest}"));
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts")
        };
        let children = folders.map(start);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(gate.arrived(2));
        gate.open();
        let ended = children.map(|child| child.wait_with_output().expect("the program ends"));
        let mut codes = ended.each_ref().map(|output| output.status.code());
        codes.sort_unstable();
        assert_eq!(codes, [Some(0), Some(1)], "{folders:?}");
        let lost = ended.iter().find(|output| output.status.code() == Some(1)).expect("one of them");
        let said = String::from_utf8_lossy(&lost.stderr);
        assert!(said.contains(" has a tag 1.4.0 already: it points at "), "{said}");
    }
}
