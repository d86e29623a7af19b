//! `versions` and `resolve`.

use insta::assert_snapshot;

use crate::setup::{Scene, WIDGET};

#[test]
fn versions_are_listed_newest_first() {
    let scene = Scene::published();
    for version in ["1.10.0", "1.9.1", "2.0.0-beta.2", "1.10.0+meta"] {
        scene.publish(version);
    }
    assert_snapshot!(scene.run("versions REGISTRY/acme/widget").text, @"");
    assert_snapshot!(scene.run("versions REGISTRY/acme/widget --platforms").text, @"");
    assert_snapshot!(scene.run(&format!("versions {WIDGET} --from 'REGISTRY/${{namespace}}/${{type}}'")).text, @"");
}

#[test]
fn versions_print_json_lines() {
    let scene = Scene::published();
    assert_snapshot!(scene.run("versions REGISTRY/acme/widget --json --platforms").text, @"");
}

#[test]
fn a_stray_tag_is_warned_about() {
    let scene = Scene::published();
    let digest = scene.tag("acme/widget", "1.4.0").parse().expect("a digest");
    for tag in ["2", "v1.4.0", "latest", "1.3", "01.2.0"] {
        scene.registry.put_tag("acme/widget", tag, &digest);
    }
    assert_snapshot!(scene.run("versions REGISTRY/acme/widget").text, @"");
    assert_snapshot!(scene.run("versions REGISTRY/acme/widget --json").text, @"");
}

#[test]
fn versions_of_a_directory() {
    let scene = Scene::with_dist();
    scene.run(&format!("pack dist oci:layout --address {WIDGET}")).success();
    assert_snapshot!(scene.run("versions oci:layout --platforms").text, @"");
}

#[test]
fn versions_of_what_is_not_there() {
    let scene = Scene::new();
    assert_snapshot!(scene.refuse("versions REGISTRY/acme/widget"), @"");
    assert_snapshot!(scene.refuse("versions oci:layout"), @"");
    assert_snapshot!(scene.refuse("versions widget"), @"");
    assert_snapshot!(scene.refuse("versions acme/widget"), @"");
    assert_snapshot!(scene.refuse("versions a/b/c/d --from REGISTRY/acme/widget"), @"");
}

#[test]
fn an_address_is_resolved_by_a_template() {
    let scene = Scene::new();
    let said = scene.run(&format!("resolve {WIDGET} --from 'ghcr.io/x/${{hostname}}/${{namespace}}-${{type}}'"));
    assert_snapshot!(said.text, @"");
    let said = scene.run(&format!("resolve {WIDGET} --from 'oci:mirror/${{namespace}}/${{type}}' --json"));
    assert_snapshot!(said.text, @"");
    let said = scene.run(&format!("resolve {WIDGET} --from oci:layout --quiet"));
    assert_snapshot!(said.text, @"");
}

#[test]
fn an_address_is_resolved_by_the_magic_suffix() {
    let scene = Scene::new();
    assert_snapshot!(scene.run("resolve ghcr.io.oci.opentofu.org/acme/widget").text, @"");
    assert_snapshot!(scene.run("resolve ghcr.io.oci.example.net/acme/widget --magic-suffix oci.example.net").text, @"");
}

#[test]
fn an_address_that_no_rule_places_is_refused() {
    let scene = Scene::new();
    assert_snapshot!(scene.refuse(&format!("resolve {WIDGET}")), @"");
    assert_snapshot!(scene.refuse("resolve a/b/c/d"), @"");
    assert_snapshot!(scene.refuse(&format!("resolve {WIDGET} --from 'ghcr.io/${{version}}'")), @"");
    assert_snapshot!(scene.refuse(&format!("resolve {WIDGET} --from 'ghcr.io/${{type'")), @"");
    assert_snapshot!(scene.refuse(&format!("resolve {WIDGET} --magic-suffix 'not a host'")), @"");
    assert_eq!(scene.conversation(), Vec::<String>::new(), "no request is made");
}
