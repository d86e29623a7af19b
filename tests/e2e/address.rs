//! A repository holds the versions of one provider.

use insta::assert_snapshot;

use crate::json;
use crate::setup::{Scene, WIDGET};

/// Widget 1.4.0 under its own address, in a repository whose name gives another one.
fn published() -> Scene {
    let scene = Scene::with_dist();
    scene.run(&format!("push dist REGISTRY/acme/opentofu-provider-widget --address {WIDGET}")).success();
    scene.dist("dist-1.5.0", "1.5.0");
    scene
}

#[test]
fn a_forgotten_address_does_not_publish_under_the_magic_name() {
    let scene = published();
    assert_snapshot!(scene.refuse("push dist-1.5.0 REGISTRY/acme/opentofu-provider-widget"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/opentofu-provider-widget holds registry.example.com/acme/widget (its version 1.4.0 says so), but this release is of 127.0.0.1.oci.opentofu.org:[PORT]/acme/widget

    hint: publish it as the others: --address registry.example.com/acme/widget
    hint: to publish as 127.0.0.1.oci.opentofu.org:[PORT]/acme/widget all the same, add --rename
    ");
    // The same version again, which is there under its own address.
    let again = scene.refuse("push dist REGISTRY/acme/opentofu-provider-widget --replace-tag");
    assert!(again.contains(&format!("--address {WIDGET}")), "{again}");
    let planned = scene.run("push dist-1.5.0 REGISTRY/acme/opentofu-provider-widget --dry-run --json");
    assert_eq!(planned.code, Some(1), "{}", planned.text);
    assert_eq!(json::check(&planned), ["error"]);
    scene.run(&format!("push dist-1.5.0 REGISTRY/acme/opentofu-provider-widget --address {WIDGET}")).success();
}

#[test]
fn an_address_is_changed_with_rename() {
    let scene = published();
    let said = scene.run("push dist-1.5.0 REGISTRY/acme/opentofu-provider-widget --rename").success();
    assert!(said.stdout.contains(".oci.opentofu.org"), "{}", said.text);
    // From here on it is the repository's.
    scene.dist("dist-1.6.0", "1.6.0");
    scene.run("push dist-1.6.0 REGISTRY/acme/opentofu-provider-widget").success();
}

#[test]
fn the_hint_about_replace_tag_names_the_address_that_is_there() {
    let scene = published();
    assert_snapshot!(scene.refuse("push dist REGISTRY/acme/opentofu-provider-widget --rename"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/opentofu-provider-widget has a tag 1.4.0 already: it points at a release with the same packages and other annotations

    hint: what clients install is the same: the address, the checksums or the protocol versions differ
    hint: the tag points at a release of registry.example.com/acme/widget; to move it all the same, add --replace-tag
    ");
    let planned = scene.run("push dist REGISTRY/acme/opentofu-provider-widget --rename --dry-run");
    assert_eq!(planned.code, Some(1), "{}", planned.text);
    assert!(planned.stdout.contains(&format!("points at another release of {WIDGET}, ")), "{}", planned.text);
}

#[test]
fn an_image_layout_directory_is_kept_for_one_provider_too() {
    let scene = published();
    scene.run(&format!("pack dist oci:layout --address {WIDGET}")).success();
    assert_snapshot!(scene.refuse("pack dist-1.5.0 oci:layout --address registry.example.com/acme/wodget"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the address names the provider `wodget`, but dist-1.5.0 holds `widget`

    hint: the last part of --address is the provider's type: widget
    ");
    assert_snapshot!(scene.refuse("pack dist-1.5.0 oci:layout --address registry.example.org/acme/widget"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: oci:layout holds registry.example.com/acme/widget (its version 1.4.0 says so), but this release is of registry.example.org/acme/widget

    hint: publish it as the others: --address registry.example.com/acme/widget
    hint: to publish as registry.example.org/acme/widget all the same, add --rename
    ");
}

#[test]
fn a_short_address_is_not_guessed() {
    let scene = published();
    for line in ["push dist oci:layout", "pack dist oci:layout", "sign oci:layout:1.4.0 --key p256.pem"] {
        let said = scene.run(&format!("{line} --address acme/widget"));
        assert_eq!(said.code, Some(2), "{}", said.text);
        for full in ["registry.opentofu.org/acme/widget", "registry.terraform.io/acme/widget"] {
            assert!(said.stderr.contains(full), "{}", said.text);
        }
    }
    assert_snapshot!(scene.run("push dist oci:layout --address acme/widget").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value 'acme/widget' for '--address <ADDR>': write it in full, HOST/acme/widget, with a host of your own; registry.opentofu.org/acme/widget and registry.terraform.io/acme/widget are for providers of those registries

    For more information, try '--help'.
    ");
}

#[test]
fn a_signature_names_the_address_of_the_other_versions() {
    let scene = published();
    scene.key("p256.pem");
    scene.run("push dist-1.5.0 REGISTRY/acme/opentofu-provider-widget --rename").success();
    let line = "sign REGISTRY/acme/opentofu-provider-widget:1.5.0 --key p256.pem";
    assert_snapshot!(scene.refuse(line), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/opentofu-provider-widget holds registry.example.com/acme/widget (its version 1.4.0 says so), but 1.5.0 would be signed as 127.0.0.1.oci.opentofu.org:[PORT]/acme/widget

    hint: publish 1.5.0 again with `push --address registry.example.com/acme/widget --replace-tag`, and sign that
    hint: or sign this one under the address of the others: --address registry.example.com/acme/widget
    hint: to sign it as 127.0.0.1.oci.opentofu.org:[PORT]/acme/widget all the same, add --rename
    ");
    scene.run(&format!("{line} --address {WIDGET}")).success();
    scene.run(&format!("{line} --rename")).success();
}

#[test]
fn check_reports_versions_that_name_different_providers() {
    let scene = published();
    scene.run("push dist-1.5.0 REGISTRY/acme/opentofu-provider-widget --rename").success();
    for line in ["", ":1.4.0", ":1.5.0"] {
        let said = scene.run(&format!("check REGISTRY/acme/opentofu-provider-widget{line} --json"));
        assert_eq!(said.code, Some(1), "{}", said.text);
        json::check(&said);
        let found = said.json().into_iter().filter(|line| line["rule"] == "addresses-differ").count();
        assert_eq!(found, 1, "{}", said.text);
    }
}
