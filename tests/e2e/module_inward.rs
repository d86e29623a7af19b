//! Modules of strangers that call others on this machine or in a private network.

use insta::assert_snapshot;
use tofu_oci_testkit::Answer;

use crate::module_mirror::{HOST, Upstream, call};

/// A module of a host elsewhere that calls `b` of this machine, where its registry would list it.
fn calling_inward() -> (Upstream, String) {
    let mut upstream = Upstream::start();
    let here = upstream.web.address().to_owned();
    upstream.module("b", "1.0.0", &[("main.tf", "")]);
    upstream.module("a", "1.0.0", &[("main.tf", &call("b", &format!("{here}/acme/b/aws"), "1.0.0"))]);
    upstream.list();
    let document = r#"{"modules.v1":"/v1/modules/"}"#;
    let answer = Answer::new(200).header("Content-Type", "application/json").body(document);
    upstream.web.page("/.well-known/terraform.json", answer);
    let token = format!("credentials \"{here}\" {{\n  token = \"hunter2\"\n}}\n");
    let config = upstream.scene.home_text(".tofurc").expect("it was written");
    upstream.scene.context.write_home(".tofurc", format!("{config}{token}"));
    (upstream, here)
}

impl Upstream {
    /// How often the host on this machine was asked for its services.
    fn asked_inside(&self) -> usize {
        self.web.requests().iter().filter(|request| request.path.starts_with("/.well-known")).count()
    }
}

#[test]
fn a_module_of_a_stranger_does_not_lead_to_this_machine_with_the_users_token() {
    let (upstream, here) = calling_inward();
    let said = upstream.mirror(&format!("{HOST}/acme/a/aws"));
    assert_eq!(said.code, Some(1), "{}", said.text);
    // The module names a port, and how well that is packed depends on its digits.
    let size = said.stdout.rsplit("; ").next().and_then(|last| last.split_once(" sent")).expect("a sum").0;
    assert_snapshot!(said.text.replace(size, "[SIZE]"), @"
    exit code: 1
    ----- stdout -----
    module                            version  report                                                  called by
    127.0.0.1:[PORT]/acme/b/aws        -        failed                                                  registry.example.test/acme/a/aws 1.0.0
    registry.example.test/acme/a/aws  1.0.0    packed from https://127.0.0.1:[PORT]/a-1.0.0.zip, [SIZE]

    127.0.0.1:[PORT]/acme/b/aws: no module can be read from 127.0.0.1:[PORT]
      cause: a module of registry.example.test names 127.0.0.1:[PORT], which is on this machine or in a private network
      hint: if that is meant, allow it with --private-host 127.0.0.1:[PORT]

    1 added, 1 failed; [SIZE] sent

    ----- stderr -----
    ");
    assert_eq!(upstream.asked_inside(), 0);
    for (other, text) in [("169.254.169.254", "link-local"), ("x.localhost", "by name")] {
        let (mut upstream, _) = calling_inward();
        upstream.module("c", "1.0.0", &[("main.tf", &call("b", &format!("{other}:1/acme/b/aws"), "1.0.0"))]);
        upstream.list();
        let said = upstream.mirror(&format!("{HOST}/acme/c/aws --json"));
        assert!(said.code == Some(1) && said.text.contains("private-host"), "{text}: {}", said.text);
    }
    upstream.mirror(&format!("{HOST}/acme/a/aws --private-host {here}")).success();
    assert_eq!(upstream.asked_inside(), 1);
}

#[test]
fn what_the_users_own_configuration_calls_may_be_on_this_machine() {
    let (upstream, here) = calling_inward();
    let own = call("a", &format!("{HOST}/acme/a/aws"), "1.0.0") + &call("b", &format!("{here}/acme/b/aws"), "1.0.0");
    upstream.scene.context.write("own/main.tf", own);
    upstream.mirror("--from-config own").success();
    assert_eq!(upstream.asked_inside(), 1);
}

#[test]
fn a_bundle_takes_no_module_or_provider_of_this_machine_that_a_stranger_names() {
    let (mut upstream, here) = calling_inward();
    let needs = format!("terraform {{\n  required_providers {{\n    p = {{ source = \"{here}/acme/p\" }}\n  }}\n}}\n");
    upstream.module("needy", "1.0.0", &[("main.tf", &needs)]);
    upstream.list();
    for name in ["a", "needy"] {
        upstream.scene.context.write("own/main.tf", call(name, &format!("{HOST}/acme/{name}/aws"), "1.0.0"));
        let said = upstream.scene.run("bundle create site.tofubundle --from-config own --json");
        assert!(said.code == Some(1) && said.text.contains("private-host"), "{name}: {}", said.text);
        assert_eq!(upstream.asked_inside(), 0, "{name}");
    }
}

/// The name is one of the internet; the registry that it says is not.
#[test]
fn a_module_of_a_stranger_led_a_bundle_into_a_private_network_by_the_magic_suffix() {
    let (mut upstream, _) = calling_inward();
    let source = "10.1.2.4.oci.opentofu.org/a/p";
    let needs = format!("terraform {{\n  required_providers {{\n    p = {{ source = \"{source}\" }}\n  }}\n}}\n");
    upstream.module("needy", "1.0.0", &[("main.tf", &needs)]);
    upstream.list();
    upstream.scene.context.write("own/main.tf", call("needy", &format!("{HOST}/acme/needy/aws"), "1.0.0"));
    let said = upstream.scene.run("bundle create site.tofubundle --from-config own");
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert_snapshot!(said.text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    registry.example.test/acme/needy/aws 1.0.0: read (196 B)
    error: no module can be read from 10.1.2.4.oci.opentofu.org
      cause: a module of registry.example.test names 10.1.2.4, which is on this machine or in a private network

    hint: if that is meant, allow it with --private-host 10.1.2.4
    ");
    let said =
        upstream.scene.run("bundle create site.tofubundle --from-config own --private-host 10.1.2.4 --timeout 2s");
    assert!(!said.text.contains("private-host"), "{}", said.text);
}
