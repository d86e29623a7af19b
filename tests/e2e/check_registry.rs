//! `check --registry`: a probe in a scratch repository.

use insta::assert_snapshot;
use tofu_oci_testkit::{Behaviour, Deletion, Registry};

use crate::json;
use crate::setup::Scene;

#[test]
fn what_a_registry_can_do() {
    let deletes = Behaviour { deletion: Deletion::Enabled, ..Behaviour::default() };
    let scene = Scene::with(Registry::builder().behaviour(deletes));
    assert_snapshot!(scene.run("check REGISTRY/scratch/probe --registry").text, @"");
    assert_eq!(scene.registry.digests("scratch/probe"), Vec::<String>::new(), "it has cleaned up after itself");
    let said =
        scene.run("check REGISTRY/scratch/probe --registry --mount-from REGISTRY/scratch/other --json").success();
    let events = json::check(&said);
    assert_eq!(events.iter().filter(|event| *event == "capability").count(), 37, "{events:?}");
    assert_eq!(events[events.len() - 2..], ["probed", "checked"]);
    assert_eq!(scene.registry.digests("scratch/other"), Vec::<String>::new());
}

#[test]
fn what_cannot_be_deleted_is_told() {
    let scene = Scene::new();
    let said = scene.run("check REGISTRY/scratch/probe --registry --json --fail-on warning");
    assert_eq!(said.code, Some(1), "{}", said.text);
    let lines = said.json();
    let left = lines.iter().find(|line| line["event"] == "probed").unwrap()["left"].as_array().unwrap().clone();
    assert!(left.iter().any(|left| left == "tofu-oci-probe-a"), "{left:?}");
    // Its own leftovers are no reason to refuse the next time.
    assert_eq!(scene.run("check REGISTRY/scratch/probe --registry").code, Some(0));
}

#[test]
fn a_repository_in_use_is_not_written_to() {
    let scene = Scene::published();
    scene.registry.clear_requests();
    assert_snapshot!(scene.run("check REGISTRY/acme/widget --registry").text, @"");
    assert!(scene.registry.requests().iter().all(|request| request.method == "GET" || request.method == "HEAD"));
    assert_eq!(scene.run("check oci:layout --registry").code, Some(2));
    assert_eq!(scene.run("check REGISTRY/scratch/probe:1.0.0 --registry").code, Some(2));
    assert_eq!(scene.run("check REGISTRY/a/b --mount-from REGISTRY/c/d").code, Some(2));
    assert_eq!(scene.run("check REGISTRY/a/b --registry --mount-from REGISTRY/a/b").code, Some(2));
}
