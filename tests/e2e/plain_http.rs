//! `OpenTofu` never speaks plain HTTP with a registry, and the predictions say so.

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, Fault, Rule};

use crate::cli_config::TWO_MIRRORS;
use crate::setup::{Scene, WIDGET};
use crate::words::refuse;

#[test]
fn opentofu_does_not_install_from_a_registry_without_tls() {
    let scene = Scene::published();
    let line = format!("check REGISTRY/acme/widget --deep --address {WIDGET} --platform linux_amd64");
    assert_snapshot!(scene.run(&format!("{line} --ignore unsigned")).text, @"
    exit code: 0
    ----- stdout -----
    warning[plain-http-loopback] [REGISTRY]/acme/widget
      what      it answers plain HTTP, and OpenTofu speaks with registries over TLS alone
      why       No release of OpenTofu speaks plain HTTP with a registry, not even on this machine, so
                none installs from here.
      fix       serve the registry over TLS; for a private authority, set SSL_CERT_FILE for OpenTofu
      spec      OpenTofu 1.10 to 1.13, the client for OCI registries never sets PlainHTTP of oras-go;
                measured

    checked as registry.example.com/acme/widget
      linux_amd64  OpenTofu 1.10 to 1.13  refuses 1.4.0: plain-http

    [REGISTRY]/acme/widget: 1 warning; 1 version looked at

    ----- stderr -----
    ");
    assert_eq!(scene.run(&format!("{line} --fail-on warning")).code, Some(1));
    let said = scene.run(&format!("{line} --json")).success();
    let lines = said.json();
    let predictions = lines.last().expect("a last line")["predictions"].as_array().expect("a list").clone();
    assert!(predictions.iter().all(|one| one["installs"] == false && one["because"] == "plain-http"), "{}", said.text);
}

#[test]
fn what_is_wrong_with_the_repository_itself_stays_the_reason() {
    let scene = Scene::published();
    let (_, digest) = scene.registry.tags("acme/widget").into_iter().next().unwrap();
    scene.registry.put_tag("acme/widget", "2", &digest.parse().unwrap());
    let said = scene.run(&format!("check REGISTRY/acme/widget --address {WIDGET} --platform linux_amd64"));
    assert!(said.stdout.contains("refuses 2.0.0: tag-not-found"), "{}", said.text);
    assert_eq!(said.stdout.matches("warning[plain-http-loopback]").count(), 1, "{}", said.text);
}

#[test]
fn a_directory_is_judged_as_if_it_lay_behind_tls() {
    let scene = Scene::with_dist();
    scene.run(&format!("pack dist oci:layout --address {WIDGET}")).success();
    let said = scene.run("check oci:layout --platform linux_amd64").success();
    assert!(said.stdout.contains("installs 1.4.0") && !said.stdout.contains("plain-http"), "{}", said.text);
}

#[test]
fn an_explanation_says_that_opentofu_stops_at_a_registry_without_tls() {
    let scene = Scene::published();
    scene.home_file(".tofurc", TWO_MIRRORS);
    let line = format!("resolve {WIDGET} --explain --platform linux_amd64");
    assert_snapshot!(scene.run(&line).text, @r#"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget, the newest version, for linux_amd64
    methods of [HOME]/.tofurc, in the order in which they are asked

     1  oci_mirror  [HOME]/.tofurc:2
        matches   yes, by include "registry.example.com/acme/*"
        place     [REGISTRY]/acme/widget
        offers    1.4.0
        checked   by the digest in its manifest
        beware    [REGISTRY] answers plain HTTP: OpenTofu stops there

     2  oci_mirror  [HOME]/.tofurc:6
        matches   yes, by include "registry.example.com/acme/*"
        place     [REGISTRY]/other/widget
        offers    nothing: it does not know the provider, and is passed over
        beware    [REGISTRY] answers plain HTTP: OpenTofu stops there

    tofu-oci  installs 1.4.0 from method 1 (oci_mirror): the first method in order, and the only one
              that has it
    OpenTofu  stops at method 1 (oci_mirror), plain-http: OpenTofu speaks with registries over TLS
              alone, and [REGISTRY] answers plain HTTP; serve it over TLS

    ----- stderr -----
    "#);
    let said = scene.run(&format!("{line} --json")).success();
    let choices: Vec<_> = said.json().into_iter().filter(|line| line["program"] == "OpenTofu").collect();
    assert!(!choices.is_empty() && choices.iter().all(|one| one["code"] == "plain-http"), "{}", said.text);
}

#[test]
fn a_port_for_tls_that_was_asked_in_plain_http_was_called_a_refusal() {
    let scene = Scene::published();
    for said in
        ["Client sent an HTTP request to an HTTPS server.\n", "<h1>The plain HTTP request was sent to HTTPS port</h1>"]
    {
        scene.registry.fault(Rule::on("GET", "*").then(Fault::Answer(Answer::text(400, said))));
        let words = [
            "/tags/list: the request was plain HTTP, and it speaks TLS\n",
            "hint: omit --plain-http [REGISTRY]; TOFU_OCI_PLAIN_HTTP may set it too\n",
        ];
        refuse(&scene, "versions REGISTRY/acme/widget --plain-http REGISTRY", &words);
    }
}
