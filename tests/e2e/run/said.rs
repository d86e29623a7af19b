//! What `run` says of providers and archives after its command.

use insta::assert_snapshot;
use tofu_oci_testkit::{Fault, Rule};

use crate::setup::Scene;

#[test]
fn a_provider_that_says_another_address_was_installed_without_a_word() {
    let scene = Scene::published();
    scene.client("mirror registry.example.net/mirror/widget/1.4.0.json > /dev/null");
    let run = "run --template REGISTRY/acme/widget --include registry.example.net/mirror/widget";
    assert_snapshot!(scene.run(&format!("{run} -- sh client.sh")).text, @"
    exit code: 0
    ----- stdout -----

    ----- stderr -----
    note: [REGISTRY]/acme/widget has 1.4.0 as registry.example.com/acme/widget, not as registry.example.net/mirror/widget
      hint: right for a mirror; otherwise check the address and the place
    ");
    let verified = scene.run("verify registry.example.net/mirror/widget@1.4.0 --from REGISTRY/acme/widget");
    assert!(verified.stderr.contains("as registry.example.com/acme/widget, not as"), "{}", verified.text);
}

#[test]
fn an_archive_that_a_registry_refuses_was_not_mentioned() {
    let scene = Scene::with_mirror();
    scene.client(
        "mirror registry.example.com/acme/widget/1.4.0.json > /dev/null
         mirror registry.example.com/acme/widget/terraform-provider-widget_1.4.0_linux_amd64.zip > /dev/null
         exit 1",
    );
    scene.registry.fault(Rule::on("GET", "/v2/acme/widget/blobs/*").then(Fault::SetStatus(403)));
    assert_snapshot!(scene.run("run -- sh client.sh").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget: [REGISTRY]/acme/widget denied access: it names no way to log in, so nothing was shown: forbidden

    hint: no login helps there; check that this is the registry you mean, or ask its operator
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    ");
}
