//! A registry that fails in passing or for good, and what clients see of it: their JSON requests are tried once.

use std::time::{Duration, Instant};

use tofu_oci_testkit::{Answer, Fault, Gate, Registry, Rule};
use tofu_oci_types::Digest;

use super::wire::{begin, read};
use super::{Serving, WIDGET_PATH, archive, served, served_with};
use crate::setup::Scene;

const LIST: &str = "/v2/acme/widget/tags/list";
/// Clients wait for ten seconds.
const CLIENT_PATIENCE: Duration = Duration::from_secs(10);

#[test]
fn what_passes_by_is_not_seen_by_a_client() {
    let busy = Answer::error(429, "TOOMANYREQUESTS", "slow down").header("Retry-After", "1");
    for (name, fault) in [
        ("503", Fault::status(503, "UNAVAILABLE")),
        ("500", Fault::status(500, "UNKNOWN")),
        ("429 with Retry-After", Fault::Answer(busy)),
        ("a reset", Fault::Disconnect),
        ("a list cut short", Fault::CutBody(5)),
    ] {
        for (wanted, path) in [("index.json", LIST), ("1.4.0.json", "/v2/acme/widget/manifests/*")] {
            let (scene, serving) = served();
            scene.registry.fault(Rule::on("GET", path).once().then(fault.clone()));
            let got = serving.get(&format!("{WIDGET_PATH}/{wanted}"));
            assert_eq!(got.status, 200, "{name}: {wanted}: {}\n{}", got.text(), serving.log());
        }
    }
}

#[test]
fn a_slow_registry_is_waited_for() {
    let (scene, serving) = served();
    let gate = Gate::closed();
    scene.registry.fault(Rule::on("GET", LIST).once().then(Fault::Hold(gate.clone())));
    let asked = begin(serving.port, "GET", &format!("{WIDGET_PATH}/index.json"), &[]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
    runtime.block_on(gate.arrived(1));
    gate.open();
    assert_eq!(read(asked, "GET").status, 200, "{}", serving.log());
}

#[test]
fn a_registry_that_is_down_is_a_502_with_its_reason_and_never_a_provider_that_is_missing() {
    let (scene, serving) = served();
    scene.registry.fault(Rule::on("*", "*").then(Fault::status(503, "UNAVAILABLE")));
    let port = serving.port;
    let start = Instant::now();
    let asked: Vec<_> = ["index.json", "1.4.0.json"]
        .map(|name| std::thread::spawn(move || super::send(port, "GET", &format!("{WIDGET_PATH}/{name}"), &[])))
        .into_iter()
        .collect();
    for one in asked {
        let got = one.join().expect("no client panics");
        assert_eq!(got.status, 502, "{}", got.text());
        assert!(got.text().contains("503"), "it says why: {}", got.text());
        assert!(!got.text().contains("was not found"), "{}", got.text());
    }
    let waited = start.elapsed();
    assert!(waited < CLIENT_PATIENCE, "clients had given up: {waited:?}");
    assert!(waited > CLIENT_PATIENCE / 2, "it could have come back: {waited:?}");
    let (_, said) = serving.stop();
    assert!(said.lines().any(|line| line.contains("503") && line.contains("acme/widget")), "{said}");
}

#[test]
fn what_was_seen_is_served_while_the_registry_is_down() {
    let (scene, serving) = served_with(Registry::builder(), "", "[cache]\nmetadata = \"0s\"\n");
    let paths = [format!("{WIDGET_PATH}/index.json"), format!("{WIDGET_PATH}/1.4.0.json")];
    let before = paths.each_ref().map(|path| serving.json(path));
    scene.registry.fault(Rule::on("*", "*").then(Fault::Disconnect));
    let start = Instant::now();
    assert_eq!(paths.each_ref().map(|path| serving.json(path)), before);
    assert!(start.elapsed() < CLIENT_PATIENCE, "{:?}", start.elapsed());
    scene.registry.clear_faults();
    scene.publish("1.5.0");
    // Once the registry is back, the next answers come from it.
    let is_new = |_| serving.json(&paths[0])["versions"].get("1.5.0").is_some();
    assert!((0..50).any(is_new), "{}", serving.log());
}

#[test]
fn a_download_that_breaks_is_resumed_for_the_client() {
    for fault in [Fault::CutBody(100), Fault::Disconnect, Fault::status(503, "UNAVAILABLE")] {
        let (scene, serving) = served();
        scene.registry.fault(Rule::on("GET", "/v2/acme/widget/blobs/*").once().then(fault.clone()));
        let got = serving.get(&archive("linux_amd64"));
        let zip = std::fs::read(scene.path("dist/terraform-provider-widget_1.4.0_linux_amd64.zip"));
        assert_eq!(got.status, 200, "{fault:?}: {}\n{}", got.text(), serving.log());
        assert!(got.is_whole && got.body == zip.expect("it was published"), "{fault:?}\n{}", serving.log());
    }
}

#[test]
fn a_damaged_package_never_arrives_whole() {
    for offset in [0, 200, -1] {
        let (scene, serving) = served();
        scene.registry.fault(Rule::on("GET", "/v2/acme/widget/blobs/*").then(Fault::CorruptBody(offset)));
        let zip = std::fs::read(scene.path("dist/terraform-provider-widget_1.4.0_linux_amd64.zip"));
        let zip = zip.expect("it was published");
        let got = serving.get(&archive("linux_amd64"));
        // The header of a package of one piece waits for its digest.
        assert_eq!(got.status, 502, "byte {offset}: a client could have taken {} bytes", got.body.len());
        assert!(got.body != zip, "byte {offset}");
        let digest = Digest::sha256(&zip);
        let (_, said) = serving.stop();
        assert!(said.contains("digest-mismatch") || said.contains(digest.encoded()), "byte {offset}:\n{said}");
    }
}

#[test]
fn a_provider_that_never_answers_does_not_hold_up_another_one() {
    let scene = Scene::published();
    scene.dist("dist", "1.4.0");
    scene.run("push dist REGISTRY/acme/gadget --address registry.example.com/acme/widget").success();
    let serving = Serving::start(&scene, "", "");
    scene.registry.fault(Rule::on("*", "/v2/acme/gadget/*").then(Fault::Hang));
    let gadget = WIDGET_PATH.replace("widget", "gadget") + "/index.json";
    let stuck: Vec<_> = (0..20).map(|_| begin(serving.port, "GET", &gadget, &[])).collect();
    let start = Instant::now();
    assert_eq!(serving.get(&format!("{WIDGET_PATH}/index.json")).status, 200);
    assert!(start.elapsed() < CLIENT_PATIENCE / 2, "{:?}", start.elapsed());
    drop(stuck);
}
