//! Hosts that say where their providers are, by `oci-providers.v1`.

use insta::assert_snapshot;

use tofu_oci_testkit::{Answer, Tunnel, WebServer};

use crate::setup::{Scene, WIDGET};

/// A `host` block for the host of the tests, with a template of repositories.
fn host_with(template: &str) -> String {
    format!("host \"registry.example.com\" {{\n  services = {{\n    \"oci-providers.v1\" = \"{template}\"\n  }}\n}}\n")
}

#[test]
fn a_host_that_names_its_repositories_is_followed() {
    let scene = Scene::published();
    let host = &host_with("REGISTRY/{namespace}/{type}");
    scene.home_file(".tofurc", host);
    assert_snapshot!(scene.run(&format!("resolve {WIDGET}")).text, @"
    exit code: 0
    ----- stdout -----
    [REGISTRY]/acme/widget

    ----- stderr -----
    registry.example.com/acme/widget by the URI template `[REGISTRY]/{namespace}/{type}` of registry.example.com
    ");
    assert_snapshot!(scene.run(&format!("versions {WIDGET} --provider")).text, @"
    exit code: 0
    ----- stdout -----
    1.4.0

    ----- stderr -----
    ");
    scene.run(&format!("install {WIDGET} --platform linux_amd64")).success();
    assert_snapshot!(scene.run(&format!("resolve {WIDGET} --explain --platform linux_amd64")).text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget, locked 1.4.0 by .terraform.lock.hcl, for linux_amd64
    no provider_installation counts: the implicit methods, in the order in which they are asked

     1  direct  (implicit)
        matches   yes, it is for every provider
        place     [REGISTRY]/acme/widget
        offers    1.4.0
        checked   by the digest in its manifest
        rule      the URI template `[REGISTRY]/{namespace}/{type}` of registry.example.com

    tofu-oci  installs 1.4.0 from method 1 (direct): the only method that is asked
    OpenTofu  stops at method 1 (direct), no-provider-service: no OpenTofu up to 1.13 knows
              oci-providers.v1, and registry.example.com has no providers.v1

    ----- stderr -----
    ");
    scene.home_file(".tofurc", &host.replace("oci-providers.v1", "providers.v1"));
    assert_snapshot!(scene.run(&format!("resolve {WIDGET}")).text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com

    ----- stderr -----
    registry.example.com/acme/widget by providers.v1 of registry.example.com
    ");
}

#[test]
fn two_providers_that_a_host_sends_to_one_repository_are_refused_together() {
    let scene = Scene::published();
    scene.home_file(".tofurc", &host_with("REGISTRY/acme/widget"));
    scene.run(&format!("install {WIDGET} --platform linux_amd64")).success();
    assert_snapshot!(scene.refuse("install registry.example.com/acme/widget registry.example.com/acme/gadget"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget and registry.example.com/acme/gadget would both come from [REGISTRY]/acme/widget

    hint: the host must publish a template for oci-providers.v1 with {namespace} and {type}; until then, write an oci_mirror for one of the two
    ");
    scene.home_file(".tofurc", &host_with("REGISTRY/{namespace}/widget"));
    assert_snapshot!(scene.refuse("install registry.example.com/acme/widget registry.example.com/acme/gadget"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget and registry.example.com/acme/gadget would both come from [REGISTRY]/acme/widget

    hint: the host must publish a template for oci-providers.v1 with {namespace} and {type}; until then, write an oci_mirror for one of the two
    ");
    scene.home_file(".tofurc", &host_with("REGISTRY/{namespace}/{type}"));
    assert_snapshot!(scene.refuse("install registry.example.com/acme/widget registry.example.com/acme/gadget"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/gadget: no such provider

    hint: check the name; `tofu-oci resolve registry.example.com/acme/gadget --explain` says where it is looked for
    hint: packages that were complete stay; the lock file is as it was
    ");
}

#[test]
fn a_host_that_fails_beside_a_mirror_is_named_by_resolve() {
    let scene = Scene::published();
    let mirror = "provider_installation {\n  oci_mirror {\n    repository_template = \"REGISTRY/${namespace}/${type}\"\n    include             = [\"registry.example.com/*/*\"]\n  }\n  direct {}\n}\n";
    let host = host_with("REGISTRY/{namespace}/{type}").replace("oci-providers.v1", "modules.v1");
    scene.home_file(".tofurc", &format!("{host}{mirror}"));
    assert_snapshot!(scene.run(&format!("resolve {WIDGET}")).text, @"
    exit code: 0
    ----- stdout -----
    [REGISTRY]/acme/widget

    ----- stderr -----
    registry.example.com/acme/widget by the repository template `[REGISTRY]/${namespace}/${type}`, oci_mirror at [HOME]/.tofurc:7
    warning: direct at [HOME]/.tofurc:11: the host block in [HOME]/.tofurc names no service for providers
      hint: `install` stops there; `tofu-oci resolve registry.example.com/acme/widget --explain` says more
    ");
    assert_snapshot!(scene.run(&format!("resolve {WIDGET} --json")).text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"resolved","address":"registry.example.com/acme/widget","place":"[REGISTRY]/acme/widget","rule":"the repository template `[REGISTRY]/${namespace}/${type}`, oci_mirror at [HOME]/.tofurc:7"}
    {"event":"message","level":"warning","code":"no-place","text":"direct at [HOME]/.tofurc:11: the host block in [HOME]/.tofurc names no service for providers","hint":"`install` stops there; `tofu-oci resolve registry.example.com/acme/widget --explain` says more"}

    ----- stderr -----
    "#);
}

/// A host of the internet, as far as this program knows: a proxy leads to it.
fn on_the_internet(scene: &mut Scene, answer: Answer) -> (WebServer, Tunnel) {
    let web = WebServer::start(&["registry.example.com"]);
    web.page("/.well-known/terraform.json", answer);
    let tunnel = Tunnel::start([("registry.example.com:443", web.address())]);
    scene.context.env("HTTPS_PROXY", tunnel.url());
    scene.context.env("TOFU_OCI_CA_FILE", "ca.pem");
    scene.context.write("ca.pem", web.ca_pem().expect("it speaks TLS"));
    (web, tunnel)
}

#[test]
fn a_host_of_the_internet_does_not_send_to_this_machine_unless_the_user_names_it() {
    let mut scene = Scene::published();
    let document = format!(r#"{{"oci-providers.v1":"{}/{{namespace}}/{{type}}"}}"#, scene.registry.address());
    let answer = Answer::new(200).header("Content-Type", "application/json").body(document);
    let servers = on_the_internet(&mut scene, answer);
    let before = scene.conversation().len();
    assert_snapshot!(scene.refuse(&format!("install {WIDGET} --platform linux_amd64")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget: nothing can be installed from registry.example.com
      cause: https://registry.example.com/.well-known/terraform.json leads to the registry [REGISTRY], which is on this machine or in a private network
      cause: by direct (implicit)

    hint: if that is meant, allow it with --private-host [REGISTRY]
    hint: or say which repository holds the provider with --from REPOSITORY
    ");
    assert_snapshot!(scene.refuse(&format!("install {WIDGET} --platform linux_amd64 --json")), @r#"
    exit code: 1
    ----- stdout -----
    {"event":"error","code":"private-host","text":"registry.example.com/acme/widget: nothing can be installed from registry.example.com","causes":["https://registry.example.com/.well-known/terraform.json leads to the registry [REGISTRY], which is on this machine or in a private network","by direct (implicit)"],"hints":["if that is meant, allow it with --private-host [REGISTRY]","or say which repository holds the provider with --from REPOSITORY"]}

    ----- stderr -----
    error: registry.example.com/acme/widget: nothing can be installed from registry.example.com
      cause: https://registry.example.com/.well-known/terraform.json leads to the registry [REGISTRY], which is on this machine or in a private network
      cause: by direct (implicit)

    hint: if that is meant, allow it with --private-host [REGISTRY]
    hint: or say which repository holds the provider with --from REPOSITORY
    "#);
    assert_eq!(scene.conversation().len(), before, "the registry was asked");
    scene.refuse(&format!("install {WIDGET} --platform linux_amd64 --private-host 127.0.0.1:1"));
    let here = format!("--private-host {}", scene.registry.address());
    scene.run(&format!("install {WIDGET} --platform linux_amd64 {here}")).success();
    scene.run(&format!("lock {WIDGET} {here}")).success();
    scene.run(&format!("versions {WIDGET} --provider --private-host 127.0.0.1")).success();
    scene.run(&format!("resolve {WIDGET} --private-host 10.0.0.1 {here}")).success();
    scene.refuse(&format!("resolve {WIDGET}"));
    scene.context.env("TOFU_OCI_PRIVATE_HOST", "10.0.0.1, 127.0.0.1,::1");
    scene.run(&format!("resolve {WIDGET}")).success();
    scene.context.write("main.tf", "");
    scene.run("providers").success();
    assert_snapshot!(scene.refuse("providers --private-host 10.0.0.2"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: unexpected argument `--private-host`

    hint: `tofu-oci help providers` lists its arguments and options
    ");
    drop(servers);
}

#[test]
fn a_redirected_document_does_not_send_to_this_machine() {
    let mut scene = Scene::published();
    let elsewhere = Answer::new(302).header("Location", "https://127.1:9/there");
    let servers = on_the_internet(&mut scene, elsewhere);
    assert_snapshot!(scene.refuse(&format!("install {WIDGET} --platform linux_amd64")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget: nothing can be installed from registry.example.com
      cause: https://registry.example.com/.well-known/terraform.json: its redirect to 127.0.0.1:[PORT] is not followed: that is on this machine or in a private network
      cause: by direct (implicit)

    hint: if that is meant, allow it with --private-host 127.0.0.1:[PORT]
    hint: or say which repository holds the provider with --from REPOSITORY
    ");
    drop(servers);
}
