//! What `run` says of providers and archives after its command.

use insta::assert_snapshot;
use tofu_oci_testkit::{BlobHost, Fault, ProviderZip, ReleaseFolder, Rule};

use crate::setup::{Scene, WIDGET};

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

#[test]
fn the_command_got_bytes_that_another_host_sent_for_an_archive() {
    let scene = Scene::with_mirror();
    let package = ProviderZip::new("widget", "1.5.0", "linux_amd64").random_file("data.bin", 1_000_000);
    ReleaseFolder::new("widget", "1.5.0", &[]).package(package).write_zips(&scene.path("large"));
    scene.run(&format!("push large REGISTRY/acme/widget --address {WIDGET}")).success();
    let other = BlobHost::start(&scene.registry);
    other.fault(Rule::on("GET", "*").then(Fault::CorruptBody(-1)));
    let elsewhere = Fault::Redirect { status: 307, prefix: other.signed_prefix() };
    scene.registry.fault(Rule::on("GET", "/v2/acme/widget/blobs/*").then(elsewhere));
    scene.client(
        "mirror registry.example.com/acme/widget/1.5.0.json > /dev/null
         mirror registry.example.com/acme/widget/terraform-provider-widget_1.5.0_linux_amd64.zip > got || true
         wc -c < got",
    );
    let said = scene.run("run -- sh client.sh");
    assert!(!other.requests().is_empty(), "{}", said.text);
    let got: usize = said.stdout.trim().parse().unwrap_or_else(|_| panic!("{}", said.text));
    assert!(got < 1000, "{got} bytes: {}", said.text);
}
