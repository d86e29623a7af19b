//! Registries that redirect to where they are not themselves.

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, Tunnel, WebServer};

use crate::setup::Scene;

/// A registry of the internet, as far as this program knows: a proxy leads to it. Its tags are a redirect to this machine.
fn on_the_internet(scene: &mut Scene) -> (WebServer, Tunnel) {
    let web = WebServer::start(&["registry.example.com"]);
    let inside = Answer::new(302).header("Location", format!("https://{}/secret", web.address()));
    web.page("/v2/acme/widget/tags/list", inside);
    let tags = r#"{"name":"acme/widget","tags":["7.7.7"]}"#;
    web.page("/secret", Answer::new(200).header("Content-Type", "application/json").body(tags));
    let tunnel = Tunnel::start([("registry.example.com:443", web.address())]);
    scene.context.env("HTTPS_PROXY", tunnel.url());
    scene.context.env("TOFU_OCI_CA_FILE", "ca.pem");
    scene.context.write("ca.pem", web.ca_pem().expect("it speaks TLS"));
    (web, tunnel)
}

fn asked_inside(web: &WebServer) -> usize {
    web.requests().iter().filter(|request| request.path == "/secret").count()
}

#[test]
fn a_registry_of_the_internet_does_not_lead_to_this_machine_unless_the_user_names_it() {
    let mut scene = Scene::new();
    let (web, _tunnel) = on_the_internet(&mut scene);
    let said = scene.refuse("versions registry.example.com/acme/widget");
    assert_snapshot!(said, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: refused to follow registry.example.com/acme/widget: it leads to 127.0.0.1:[PORT], on this machine or in a private network, from a host elsewhere

    hint: if that is meant, allow it with --private-host 127.0.0.1:[PORT]
    ");
    scene.context.write("module/main.tf", "");
    for line in [
        "check registry.example.com/acme/widget",
        "copy registry.example.com/acme/widget oci:layout --all",
        "module versions oci://registry.example.com/acme/widget",
        "versions registry.example.com/acme/widget --private-host 10.0.0.1",
    ] {
        let said = scene.refuse(&format!("{line} --json"));
        assert!(said.contains("private-host"), "{said}");
    }
    assert_eq!(asked_inside(&web), 0);
    scene.run("module versions oci://registry.example.com/acme/widget --private-host 127.0.0.1");
    assert_eq!(asked_inside(&web), 1);
    scene.context.env("TOFU_OCI_PRIVATE_HOST", web.address());
    scene.run("module versions oci://registry.example.com/acme/widget");
    assert_eq!(asked_inside(&web), 2);
}
