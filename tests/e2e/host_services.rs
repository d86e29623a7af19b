//! Hosts that say where their providers are, by `oci-providers.v1`.

use insta::assert_snapshot;

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
        rule      the URI template `[REGISTRY]/{namespace}/{type}` of registry.example.com

    tofu-oci  installs 1.4.0 from method 1 (direct): the only method that is asked
    OpenTofu  stops at method 1 (direct), no-provider-service: no OpenTofu up to 1.13 knows
              oci-providers.v1, and registry.example.com has no providers.v1

    ----- stderr -----
    ");
    scene.home_file(".tofurc", &host.replace("oci-providers.v1", "providers.v1"));
    assert_snapshot!(scene.refuse(&format!("resolve {WIDGET}")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: nothing can be installed from registry.example.com
      cause: the host block in [HOME]/.tofurc names providers.v1 and no oci-providers.v1, and the provider registry protocol is not read yet

    hint: say which repository holds it with --from REPOSITORY
    hint: or for good, with an oci_mirror: `tofu-oci config snippet ADDR-PATTERN REPOSITORY-TEMPLATE` prints it
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
