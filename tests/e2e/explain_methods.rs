//! `resolve --explain` for every kind of method: what it has, how that is checked, and what OpenTofu does beside it.

use insta::assert_snapshot;
use tofu_oci_testkit::{MirrorHashes, Upstream};

use crate::setup::{Scene, WIDGET};

/// A network mirror and an origin registry for the provider, and a way to trust both.
fn scene() -> (Scene, Upstream) {
    let mut scene = Scene::published_over_tls();
    let upstream = Upstream::start();
    scene.context.env("TOFU_OCI_CA_FILE", "both.pem");
    let pems = [upstream.ca_pem().to_owned(), scene.registry.ca_pem().expect("it speaks TLS").to_owned()];
    scene.context.write("both.pem", pems.concat());
    upstream.release("acme/widget", "1.4.0", &["linux_amd64"]);
    (scene, upstream)
}

fn explained(scene: &Scene, subject: &str) -> String {
    scene.run(&format!("resolve {subject} --explain --platform linux_amd64")).text
}

fn mirror(upstream: &Upstream) -> String {
    format!("  network_mirror {{\n    url = \"{}\"\n  }}\n", upstream.mirror_url())
}

#[test]
fn a_network_mirror_and_the_registry_behind_it_are_explained() {
    let (scene, upstream) = scene();
    let host = upstream.host_block("registry.example.com");
    let methods = format!("{host}provider_installation {{\n{}  direct {{}}\n}}\n", mirror(&upstream));
    scene.home_file(".tofurc", &methods);
    assert_snapshot!(explained(&scene, WIDGET), @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget, the newest version, for linux_amd64
    methods of [HOME]/.tofurc, in the order in which they are asked

     1  network_mirror  [HOME]/.tofurc:5
        matches   yes, it is for every provider
        place     https://127.0.0.1:[PORT]/mirror/
        offers    1.4.0
        checked   by the h1: or zh: that the place lists

     2  direct  [HOME]/.tofurc:8
        matches   yes, it is for every provider
        place     registry.example.com
        offers    1.4.0
        checked   by SHA256SUMS, signed by a key that registry.example.com names
        rule      providers.v1 of the host, https://127.0.0.1:[PORT]/v1/providers/

    tofu-oci  installs 1.4.0 from method 1 (network_mirror): the first method in order that has it; a
              later one has it too
    OpenTofu  installs 1.4.0 from method 1 (network_mirror): the first method in order that has it; a
              later one has it too

    ----- stderr -----
    ");
    assert_snapshot!(explained(&scene, &format!("{WIDGET} --json")), @r#"
    exit code: 0
    ----- stdout -----
    {"event":"method","address":"registry.example.com/acme/widget","number":1,"method":"network_mirror","at":"[HOME]/.tofurc:5","selected":true,"matches":"yes, it is for every provider","place":"https://127.0.0.1:[PORT]/mirror/","versions":["1.4.0"],"stray_tags":[],"checked_by":"hashes","error":null,"code":null,"root_code":null}
    {"event":"method","address":"registry.example.com/acme/widget","number":2,"method":"direct","at":"[HOME]/.tofurc:8","selected":true,"matches":"yes, it is for every provider","place":"registry.example.com","versions":["1.4.0"],"stray_tags":[],"checked_by":"signature","error":null,"code":null,"root_code":null}
    {"event":"choice","address":"registry.example.com/acme/widget","constraints":"","locked":null,"platform":"linux_amd64","program":"tofu-oci","releases":[],"outcome":"serves","version":"1.4.0","number":1,"code":null,"reason":"the first method in order that has it; a later one has it too","dev_override":null}
    {"event":"choice","address":"registry.example.com/acme/widget","constraints":"","locked":null,"platform":"linux_amd64","program":"OpenTofu","releases":["1.10","1.12","1.13"],"outcome":"serves","version":"1.4.0","number":1,"code":null,"reason":"the first method in order that has it; a later one has it too","dev_override":null}

    ----- stderr -----
    "#);
    upstream.withdraw("acme/widget", "1.4.0");
    assert_snapshot!(explained(&scene, WIDGET), @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget, the newest version, for linux_amd64
    methods of [HOME]/.tofurc, in the order in which they are asked

     1  network_mirror  [HOME]/.tofurc:5
        matches   yes, it is for every provider
        place     https://127.0.0.1:[PORT]/mirror/
        offers    no versions

     2  direct  [HOME]/.tofurc:8
        matches   yes, it is for every provider
        place     registry.example.com
        offers    no versions
        rule      providers.v1 of the host, https://127.0.0.1:[PORT]/v1/providers/

    tofu-oci  finds nothing, provider-not-found: no method has the provider
    OpenTofu  finds nothing, provider-not-found: no method has the provider

    ----- stderr -----
    ");
}

#[test]
fn a_mirror_without_checksums_and_a_folder_are_checked_by_nothing() {
    let (scene, upstream) = scene();
    upstream.list_hashes(MirrorHashes::Absent);
    let folder = scene.path("mirror");
    let zip = "registry.example.com/acme/widget/terraform-provider-widget_1.3.0_linux_amd64.zip";
    scene.context.write(&format!("mirror/{zip}"), upstream.zip("acme/widget", "1.4.0", "linux_amd64"));
    let methods = format!(
        "provider_installation {{\n  filesystem_mirror {{\n    path = \"{}\"\n  }}\n{}}}\n",
        folder.display(),
        mirror(&upstream)
    );
    scene.home_file(".tofurc", &methods);
    assert_snapshot!(explained(&scene, WIDGET), @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget, the newest version, for linux_amd64
    methods of [HOME]/.tofurc, in the order in which they are asked

     1  filesystem_mirror  [HOME]/.tofurc:2
        matches   yes, it is for every provider
        place     [WORK]/mirror
        offers    1.3.0

     2  network_mirror  [HOME]/.tofurc:5
        matches   yes, it is for every provider
        place     https://127.0.0.1:[PORT]/mirror/
        offers    1.4.0
        checked   by nothing: the place lists no checksum

    tofu-oci  installs 1.4.0 from method 2 (network_mirror): method 1 (filesystem_mirror) does not have
              it and gives way
    OpenTofu  installs 1.4.0 from method 2 (network_mirror): method 1 (filesystem_mirror) does not have
              it and gives way

    ----- stderr -----
    ");
    assert_snapshot!(explained(&scene, &format!("{WIDGET}@1.3.0")), @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget, the newest version that meets 1.3.0, for linux_amd64
    methods of [HOME]/.tofurc, in the order in which they are asked

     1  filesystem_mirror  [HOME]/.tofurc:2
        matches   yes, it is for every provider
        place     [WORK]/mirror
        offers    1.3.0
        checked   by nothing: the place lists no checksum

     2  network_mirror  [HOME]/.tofurc:5
        matches   yes, it is for every provider
        place     https://127.0.0.1:[PORT]/mirror/
        offers    1.4.0

    tofu-oci  installs 1.3.0 from method 1 (filesystem_mirror): the first method in order, and the only
              one that has it
    OpenTofu  installs 1.3.0 from method 1 (filesystem_mirror): the first method in order, and the only
              one that has it

    ----- stderr -----
    ");
}

#[test]
fn a_host_with_both_services_is_asked_by_opentofu_for_its_registry() {
    let (scene, upstream) = scene();
    upstream.release("acme/widget", "1.5.0", &["linux_amd64"]);
    let services = format!(
        "\"providers.v1\" = \"{}/v1/providers/\"\n    \"oci-providers.v1\" = \"{}/{{namespace}}/{{type}}\"",
        upstream.origin(),
        scene.registry.address()
    );
    scene.home_file(
        ".tofurc",
        &format!("host \"registry.example.com\" {{\n  services = {{\n    {services}\n  }}\n}}\n"),
    );
    assert_snapshot!(explained(&scene, WIDGET), @"
    exit code: 0
    ----- stdout -----
    registry.example.com/acme/widget, the newest version, for linux_amd64
    no provider_installation counts: the implicit methods, in the order in which they are asked

     1  direct  (implicit)
        matches   yes, it is for every provider
        place     [REGISTRY]/acme/widget
        offers    1.4.0
        checked   by the digest in its manifest
        rule      the URI template `[REGISTRY]/{namespace}/{type}` of registry.example.com;
                  OpenTofu asks providers.v1 of the host, https://127.0.0.1:[PORT]/v1/providers/

    tofu-oci  installs 1.4.0 from method 1 (direct): the only method that is asked
    OpenTofu  installs 1.5.0 from method 1 (direct): the only method that is asked

    ----- stderr -----
    ");
}

#[test]
fn a_host_with_a_port_cannot_come_from_a_network_mirror() {
    let (scene, upstream) = scene();
    scene.home_file(".tofurc", &format!("provider_installation {{\n{}}}\n", mirror(&upstream)));
    assert_snapshot!(explained(&scene, "registry.example.com:8443/acme/widget"), @"
    exit code: 0
    ----- stdout -----
    registry.example.com:8443/acme/widget, the newest version, for linux_amd64
    methods of [HOME]/.tofurc, in the order in which they are asked

     1  network_mirror  [HOME]/.tofurc:2
        matches   yes, it is for every provider
        place     https://127.0.0.1:[PORT]/mirror/
        offers    error (host-with-port): the protocol of network mirrors has no address for providers
                  of registry.example.com:8443

    tofu-oci  stops at method 1 (network_mirror), host-with-port: any error except an unknown provider
              ends the search while versions are listed
    OpenTofu  stops at method 1 (network_mirror), host-with-port: any error except an unknown provider
              ends the search while versions are listed

    ----- stderr -----
    ");
    assert_eq!(upstream.requests().len(), 0);
}
