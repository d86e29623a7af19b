//! `pack` and `copy`.

use insta::assert_snapshot;
use tofu_oci_testkit::ReleaseFolder;

use crate::setup::state::tree;
use crate::setup::{PLATFORMS, Scene, State, WIDGET};

#[test]
fn packing_writes_an_image_layout_directory() {
    let scene = Scene::with_dist();
    let said = scene.run(&format!("pack dist oci:layout --address {WIDGET}"));
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    packed registry.example.com/acme/widget 1.4.0 to oci:layout (tag 1.4.0)
      index sha256:[DIGEST]
      darwin_arm64         324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
      linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
      wrote 3.7 kB (7 new, 0 present)

    ----- stderr -----
    widget 1.4.0 darwin_arm64: packed (324 B)
    widget 1.4.0 linux_amd64: packed (323 B)
    ");
    assert!(scene.context.files().contains(&"layout/oci-layout".to_owned()));
    let again = scene.run(&format!("pack dist oci:layout --address {WIDGET}"));
    assert_snapshot!(again.text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget 1.4.0 is at oci:layout (tag 1.4.0) already; nothing was sent
      index sha256:[DIGEST]
      darwin_arm64         324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
      linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=

    ----- stderr -----
    ");
}

#[test]
fn packing_to_a_registry_is_wrong_usage() {
    let scene = Scene::with_dist();
    assert_snapshot!(scene.refuse(&format!("pack dist ghcr.io/acme/widget --address {WIDGET}")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `ghcr.io/acme/widget` is a repository, not a directory

    hint: write to a directory: oci:ghcr.io/acme/widget
    hint: or publish: tofu-oci push dist ghcr.io/acme/widget --address registry.example.com/acme/widget
    ");
    assert_snapshot!(scene.refuse(&format!("pack dist layout --address {WIDGET}")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `layout` does not name a directory

    hint: `pack` writes an image layout: oci:layout
    ");
}

#[test]
fn a_directory_and_a_push_hold_the_same_digests() {
    let scene = Scene::with_dist();
    for layout in ["artifact", "image", "both"] {
        scene.run(&format!("pack dist oci:{layout} --address {WIDGET} --layout {layout}")).success();
        scene.run(&format!("push dist REGISTRY/acme/{layout} --address {WIDGET} --layout {layout}")).success();
        let files: Vec<String> = scene.context.files();
        let prefix = format!("{layout}/blobs/sha256/");
        let mut packed: Vec<String> =
            files.iter().filter_map(|name| name.strip_prefix(&prefix)).map(|hex| format!("sha256:{hex}")).collect();
        packed.sort();
        assert_eq!(packed, scene.registry.digests(&format!("acme/{layout}")), "{layout}");
    }
}

#[test]
fn copies_keep_every_byte() {
    let scene = Scene::new();
    ReleaseFolder::new("widget", "1.4.0", &PLATFORMS).write_goreleaser(&scene.path("dist"));
    scene.run(&format!("pack dist oci:first --address {WIDGET} --layout both")).success();
    let said = scene.run("copy oci:first REGISTRY/mirror/widget");
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    copied [REGISTRY]/mirror/widget:1.4.0, sent 6.4 kB (13 new, 0 mounted, 0 present)
      index sha256:[DIGEST]

    ----- stderr -----
    layer of darwin_arm64 ([HEX]): pushed (189 B)
    layer of linux_amd64 ([HEX]): pushed (188 B)
    zip of darwin_arm64 ([HEX]): pushed (324 B)
    zip of linux_amd64 ([HEX]): pushed (323 B)
    ");
    let said = scene.run("copy REGISTRY/mirror/widget oci:second");
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    copied oci:second (tag 1.4.0), sent 6.4 kB (13 new, 0 mounted, 0 present)
      index sha256:[DIGEST]

    ----- stderr -----
    layer of darwin_arm64 ([HEX]): copied (189 B)
    layer of linux_amd64 ([HEX]): copied (188 B)
    zip of darwin_arm64 ([HEX]): copied (324 B)
    zip of linux_amd64 ([HEX]): copied (323 B)
    ");
    assert_eq!(tree(&scene.path("second/blobs")), tree(&scene.path("first/blobs")));
    let said = scene.run("copy REGISTRY/mirror/widget oci:second");
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    oci:second (tag 1.4.0) is there already
      index sha256:[DIGEST]

    ----- stderr -----
    ");
}

#[test]
fn one_of_several_versions_must_be_named() {
    let scene = Scene::published();
    scene.publish("1.5.0");
    scene.publish("2.0.0-rc1");
    assert_snapshot!(scene.refuse("copy REGISTRY/acme/widget oci:some"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget has several versions: 1.4.0, 1.5.0, 2.0.0-rc1

    hint: name one, such as [REGISTRY]/acme/widget:1.5.0, or copy all of them with --all
    ");
    let said = scene.run("copy REGISTRY/acme/widget oci:some --version 1.5.0");
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    copied oci:some (tag 1.5.0), sent 3.7 kB (7 new, 0 mounted, 0 present)
      index sha256:[DIGEST]

    ----- stderr -----
    zip of darwin_arm64 ([HEX]): copied (324 B)
    zip of linux_amd64 ([HEX]): copied (323 B)
    ");
    assert_snapshot!(scene.run("versions oci:some").text, @"
    exit code: 0
    ----- stdout -----
    1.5.0

    ----- stderr -----
    ");
    let said = scene.run("copy REGISTRY/acme/widget oci:all --all");
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    copied oci:all (tag 1.4.0), sent 3.7 kB (7 new, 0 mounted, 0 present)
      index sha256:[DIGEST]
    copied oci:all (tag 1.5.0), sent 3.7 kB (7 new, 0 mounted, 0 present)
      index sha256:[DIGEST]
    copied oci:all (tag 2.0.0-rc1), sent 3.7 kB (7 new, 0 mounted, 0 present)
      index sha256:[DIGEST]
    3 releases, 11.0 kB sent

    ----- stderr -----
    zip of darwin_arm64 ([HEX]): copied (324 B)
    zip of darwin_arm64 ([HEX]): copied (324 B)
    zip of darwin_arm64 ([HEX]): copied (336 B)
    zip of linux_amd64 ([HEX]): copied (323 B)
    zip of linux_amd64 ([HEX]): copied (323 B)
    zip of linux_amd64 ([HEX]): copied (335 B)
    ");
    assert_snapshot!(scene.run("versions oci:all").text, @"
    exit code: 0
    ----- stdout -----
    2.0.0-rc1
    1.5.0
    1.4.0

    ----- stderr -----
    ");
    assert_snapshot!(scene.refuse("copy REGISTRY/acme/widget oci:none --version 9.9.9"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget has no version 9.9.9

    hint: it has 1.4.0, 1.5.0, 2.0.0-rc1
    ");
    assert_snapshot!(scene.refuse("copy REGISTRY/acme/widget oci:none --version 1.5.0 --all"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the argument '--version <V>' cannot be used with '--all'

    hint: omit --version or --all
    hint: `tofu-oci help copy` says what each is for
    ");
}

#[test]
fn a_version_that_is_named_twice_is_copied_once() {
    let scene = Scene::published();
    assert_snapshot!(scene.run("copy REGISTRY/acme/widget oci:some --version 1.4.0 --version 1.4.0").text, @"
    exit code: 0
    ----- stdout -----
    copied oci:some (tag 1.4.0), sent 3.7 kB (7 new, 0 mounted, 0 present)
      index sha256:[DIGEST]

    ----- stderr -----
    zip of darwin_arm64 ([HEX]): copied (324 B)
    zip of linux_amd64 ([HEX]): copied (323 B)
    ");
}

#[test]
fn a_dry_run_copies_nothing() {
    let scene = Scene::published();
    let before = State::of(&scene);
    let said = scene.run("copy REGISTRY/acme/widget oci:layout --dry-run");
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    would copy [REGISTRY]/acme/widget:1.4.0 to oci:layout (tag 1.4.0)
      index sha256:[DIGEST]

    ----- stderr -----
    ");
    assert_eq!(State::of(&scene), before);
}

#[test]
fn a_copy_onto_a_taken_tag_is_refused() {
    let scene = Scene::published();
    ReleaseFolder::new("widget", "1.4.0", &["linux_amd64"]).write_zips(&scene.path("other"));
    scene.run(&format!("pack other oci:second --address {WIDGET}")).success();
    assert_snapshot!(scene.refuse("copy oci:second REGISTRY/acme/widget"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget has a tag 1.4.0 already: it points at a release with the same packages in another layout, or for other platforms

    hint: the tag points at a release of registry.example.com/acme/widget; to move it all the same, add --replace-tag
    ");
    let said = scene.run("copy oci:second REGISTRY/acme/widget --replace-tag --dry-run").success();
    assert!(said.stdout.contains("would copy oci:second (tag 1.4.0) in its place"), "{}", said.text);
    let said = scene.run("copy oci:second REGISTRY/acme/widget --replace-tag");
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    copied [REGISTRY]/acme/widget:1.4.0, sent 941 B (1 new, 0 mounted, 3 present)
      index sha256:[DIGEST]

    ----- stderr -----
    ");
}

#[test]
fn both_ends_must_differ_and_the_source_must_be_there() {
    let scene = Scene::new();
    assert_snapshot!(scene.refuse("copy oci:a oci:a"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: oci:a is both the source and the destination

    hint: name another repository or directory to copy to
    ");
    assert_snapshot!(scene.refuse("copy oci:missing oci:b"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: there is no repository oci:missing

    hint: check the name; an OCI image layout directory holds a file named oci-layout, and `tofu-oci pack DIST oci:DIR` makes one
    ");
    scene.context.write("folder/file", "");
    assert_snapshot!(scene.refuse("copy oci:folder oci:b"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: oci:folder is not usable: it is not an OCI image layout (it has no file oci-layout)

    hint: name a folder that is an OCI image layout, or to write one, a new or empty folder
    ");
    assert_snapshot!(scene.refuse("copy REGISTRY/acme/widget oci:b"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: there is no repository [REGISTRY]/acme/widget

    hint: check the name; some registries also say this to those who may not read the repository
    ");
}

#[test]
fn a_dry_run_says_whether_the_tag_is_free_at_the_destination() {
    let scene = Scene::published();
    scene.run("copy REGISTRY/acme/widget oci:layout").success();
    let said = scene.run("copy REGISTRY/acme/widget oci:layout --dry-run");
    assert!(said.stdout.contains("oci:layout (tag 1.4.0) is this release already"), "{}", said.text);
    scene.run(&format!("push dist oci:other --address {WIDGET} --h1 skip")).success();
    let said = scene.run("copy REGISTRY/acme/widget oci:other --dry-run --json");
    assert_eq!(said.json()[0]["tag_state"]["state"], "taken", "{}", said.text);
    assert_eq!(said.json()[0]["tag_state"]["of"], WIDGET, "{}", said.text);
    let said = scene.run("copy REGISTRY/acme/widget oci:other --dry-run");
    assert!(said.stdout.contains(&format!("points at another release of {WIDGET}, ")), "{}", said.text);
    let said = scene.refuse("copy REGISTRY/acme/widget oci:other");
    assert!(said.contains(&format!("the tag points at a release of {WIDGET}; to move it")), "{said}");
}

#[test]
fn a_copy_does_not_mix_two_providers_in_one_repository() {
    let scene = Scene::published();
    ReleaseFolder::new("widget", "1.5.0", &PLATFORMS).write_zips(&scene.path("dist-other"));
    scene.run("push dist-other REGISTRY/other/widget --address registry.example.net/other/widget").success();
    let line = "copy REGISTRY/other/widget:1.5.0 REGISTRY/acme/widget";
    for more in ["", " --dry-run"] {
        let said = scene.refuse(&format!("{line}{more}"));
        insta::allow_duplicates! {
            assert_snapshot!(said, @"
            exit code: 1
            ----- stdout -----

            ----- stderr -----
            error: [REGISTRY]/acme/widget holds registry.example.com/acme/widget (its version 1.4.0 says so), but this release is of registry.example.net/other/widget

            hint: check the address and the repository
            hint: if it is meant to be renamed, add --rename
            ");
        }
    }
    scene.run(&format!("{line} --rename")).success();
    // A source that has been mixed is refused as well.
    let said = scene.refuse("copy REGISTRY/acme/widget REGISTRY/elsewhere --all");
    assert!(said.contains("holds registry.example.com/acme/widget"), "{said}");
}

#[test]
fn a_dry_run_said_that_it_would_copy_what_a_copy_refuses() {
    let scene = Scene::published();
    let broken =
        scene.registry.put_manifest("acme/broken", "application/vnd.oci.image.index.v1+json", r#"{"manifests":1}"#);
    scene.registry.put_tag("acme/broken", "1.4.0", &broken);
    ReleaseFolder::new("widget", "1.5.0", &PLATFORMS).write_zips(&scene.path("dist-other"));
    scene.run("push dist-other REGISTRY/acme/widget --address registry.example.net/other/widget --rename").success();
    scene.run("copy REGISTRY/acme/widget:1.4.0 oci:layout").success();
    for line in [
        "copy REGISTRY/acme/broken oci:other",
        "copy REGISTRY/acme/widget REGISTRY/acme/empty --all",
        "copy REGISTRY/acme/widget oci:empty --all",
        "copy oci:layout oci:./layout/../layout",
    ] {
        let (copy, dry) = (scene.run(line), scene.run(&format!("{line} --dry-run")));
        assert_eq!((dry.code, dry.text), (copy.code, copy.text.clone()), "{line}");
        assert_ne!(copy.code, Some(0), "{line}\n{}", copy.text);
    }
}

#[test]
fn all_of_a_repository_whose_versions_are_all_withdrawn_is_their_withdrawal() {
    let scene = Scene::published();
    for to in ["oci:source", "oci:layout"] {
        scene.run(&format!("copy REGISTRY/acme/widget {to}")).success();
    }
    scene.run("withdraw oci:source:1.4.0 --reason broken").success();
    let said = scene.run("copy oci:source oci:layout --all").success();
    assert!(said.stdout.contains("(tag withdrawn-1.4.0)"), "{}", said.text);
    assert!(said.stderr.contains("oci:layout still offers 1.4.0"), "{}", said.text);
    let one = scene.run("copy oci:source oci:layout");
    assert!(one.code == Some(1) && one.stderr.contains("has no versions"), "{}", one.text);
}

#[test]
fn a_dry_run_did_not_say_that_the_destination_still_offers_a_withdrawn_version() {
    let scene = Scene::published();
    scene.publish("1.5.0");
    for to in ["oci:source", "oci:layout"] {
        scene.run(&format!("copy REGISTRY/acme/widget {to} --all")).success();
    }
    scene.run("withdraw oci:source:1.5.0 --reason broken").success();
    for more in [" --dry-run", ""] {
        let said = scene.run(&format!("copy oci:source oci:layout --all{more}")).success();
        assert!(said.stderr.contains("oci:layout still offers 1.5.0, which oci:source has withdrawn"), "{}", said.text);
    }
}
