//! Modules by the module registry protocol: from a registry, from a folder, with clients; settings that are refused.

use insta::assert_snapshot;
use serde_json::Value;
use tofu_oci_testkit::{Fault, Rule};
use tofu_oci_types::Digest;

use super::Serving;
use crate::module_large::noise;
use crate::setup::Scene;

const NETWORK: &str = "/modules/registry.example.com/acme/network/aws";
const CI: &str = "ci-token-0123456789abcdef0123456789abcdef0123";

const MODULES: &str = "[[module]]\ninclude = [\"registry.example.com/*/*/*\"]\nfrom = \"REGISTRY/${namespace}/${name}-${target_system}\"\n";

impl Scene {
    /// Publishes a version of the module at `place`.
    fn module_at(&self, place: &str, version: &str) {
        let folder = format!("network-{version}");
        self.context.write(&format!("{folder}/main.tf"), format!("# {version}\n"));
        self.run(&format!("module push {folder} {place} --version {version}")).success();
    }

    fn with_served_modules() -> Self {
        let scene = Self::new();
        scene.module_at("REGISTRY/acme/network-aws", "1.0.0");
        scene.module_at("REGISTRY/acme/network-aws", "1.1.0");
        scene.registry.clear_requests();
        scene
    }
}

fn location(serving: &Serving, path: &str, headers: &[(&str, &str)]) -> (String, String) {
    let got = serving.send("GET", path, headers);
    assert_eq!(got.status, 200, "{}", got.text());
    (got.header("X-Terraform-Get").to_owned(), got.json()["location"].as_str().expect("a location").to_owned())
}

/// The path and query of a URL.
fn below(url: &str) -> &str {
    let rest = url.split_once("://").expect("a URL").1;
    &rest[rest.find('/').expect("a path")..]
}

#[test]
fn modules_of_a_registry_are_listed_located_and_downloaded() {
    let scene = Scene::with_served_modules();
    let serving = Serving::with(&scene, MODULES);
    assert_snapshot!(serving.get(&format!("{NETWORK}/versions")).text(), @r#"{"modules":[{"versions":[{"version":"1.0.0"},{"version":"1.1.0"}]}]}"#);
    let (header, body) = location(&serving, &format!("{NETWORK}/1.1.0/download"), &[]);
    assert_eq!(header, body);
    let checksum = header.split_once("?checksum=").expect("a checksum").1;
    let zip = serving.get(below(&header));
    assert_eq!((zip.status, zip.header("Content-Type")), (200, "application/zip"));
    assert_eq!(Digest::sha256(&zip.body).to_string(), checksum);
    assert_eq!(serving.get(&format!("{NETWORK}/2.0.0/download")).status, 404);
    assert_eq!(serving.get("/modules/registry.example.com/acme/other/aws/versions").status, 404);
    let log = serving.stop().1;
    assert!(
        log.contains(r#""path":"/modules/registry.example.com/acme/network/aws/1.1.0/network-aws_1.1.0.zip""#),
        "{log}"
    );
}

#[test]
fn opentofu_gets_the_repository_and_terraform_the_archive() {
    let scene = Scene::with_served_modules();
    let serving = Serving::with(&scene, &format!("{MODULES}oci_locations = true\n"));
    let (header, body) = location(&serving, &format!("{NETWORK}/1.0.0/download"), &[]);
    let digest = scene.tag("acme/network-aws", "1.0.0");
    assert_eq!(body, format!("oci://{}/acme/network-aws?digest={digest}", scene.registry.address()));
    assert!(header.contains("/network-aws_1.0.0.zip?checksum=sha256:"), "{header}");
}

#[test]
fn a_folder_of_modules_is_served_by_options_alone() {
    let scene = Scene::new();
    scene.module_at("oci:lay/registry.example.com/acme/network/aws", "1.0.0");
    let line = "serve --modules-from oci:lay --include-modules registry.example.com/*/*/* --listen 127.0.0.1:0";
    let serving = Serving::spawn(scene.command(line));
    assert_snapshot!(serving.get(&format!("{NETWORK}/versions")).text(), @r#"{"modules":[{"versions":[{"version":"1.0.0"}]}]}"#);
    assert_eq!(serving.get("/modules/registry.example.com/acme/nothing/aws/versions").status, 404);
    assert_eq!(serving.get("/mirror/registry.example.com/acme/widget/index.json").status, 404);
    let (header, _) = location(&serving, &format!("{NETWORK}/1.0.0/download"), &[]);
    assert_eq!(serving.get(below(&header)).status, 200);
}

#[test]
fn a_client_sees_its_modules_and_gets_links() {
    let scene = Scene::with_served_modules();
    let token = Digest::sha256(CI.as_bytes()).encoded().to_owned();
    let client = |modules: &str| format!("{MODULES}[[client]]\nname = \"ci\"\ntoken_sha256 = \"{token}\"\n{modules}\n");
    let serving = Serving::with(&scene, &client("modules = [\"registry.example.com/acme/*/*\"]"));
    let bearer = format!("Bearer {CI}");
    let headers = [("Authorization", bearer.as_str())];
    assert_eq!(serving.get(&format!("{NETWORK}/versions")).status, 401);
    assert_eq!(serving.send("GET", &format!("{NETWORK}/versions"), &headers).status, 200);
    let (header, _) = location(&serving, &format!("{NETWORK}/1.0.0/download"), &headers);
    let (link, _) = below(&header).split_once("?checksum=").expect("go-getter takes the checksum out");
    assert_eq!(serving.get(link).status, 200);
    assert_eq!(serving.get(&format!("{NETWORK}/1.0.0/network-aws_1.0.0.zip")).status, 401);
    let tofu = [("Authorization", bearer.as_str()), ("User-Agent", "OpenTofu/1.12.6")];
    let got = serving.send("GET", &format!("{NETWORK}/1.0.0/download"), &tofu);
    assert_eq!((got.json()["use_registry_credentials"].as_bool(), got.header("X-Terraform-Get")), (Some(true), ""));
    let archive = got.json()["location"].as_str().expect("a location").to_owned();
    assert!(archive.ends_with("/1.0.0/network-aws_1.0.0.zip"), "{archive}");
    assert_eq!(serving.send("GET", below(&archive), &tofu).status, 200);
    let serving = Serving::with(&scene, &client("providers = [\"*/*/*\"]"));
    assert_eq!(serving.send("GET", &format!("{NETWORK}/versions"), &headers).status, 403);
}

#[test]
fn a_registry_that_is_down_gets_old_answers_and_then_the_reason() {
    let scene = Scene::with_served_modules();
    let serving = Serving::with(&scene, &format!("{MODULES}[cache]\nmetadata = \"0s\"\n"));
    let versions = serving.get(&format!("{NETWORK}/versions")).text();
    scene.registry.fault(Rule::on("*", "*").then(Fault::status(503, "UNAVAILABLE")));
    assert_eq!(serving.get(&format!("{NETWORK}/versions")).text(), versions);
}

#[test]
fn a_large_module_passes_through_in_little_memory() {
    let scene = Scene::new();
    scene.context.write("big/main.tf", "");
    let noise: Vec<u8> = (0..24_u64 << 20).map(|at| (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect();
    scene.context.write("big/data.bin", noise);
    scene.run("module push big REGISTRY/acme/network-aws --version 1.0.0").success();
    let serving = Serving::with(&scene, MODULES);
    let (header, _) = location(&serving, &format!("{NETWORK}/1.0.0/download"), &[]);
    let checksum = header.split_once("?checksum=").expect("a checksum").1.to_owned();
    assert_eq!(Digest::sha256(&serving.get(below(&header)).body).to_string(), checksum);
}

#[test]
fn a_host_that_a_client_makes_up_is_in_no_answer() {
    let scene = Scene::with_served_modules();
    let serving = Serving::with(&scene, MODULES);
    let download = format!("{NETWORK}/1.0.0/download");
    let lines = [download.clone(), format!("http://evil.example{download}"), format!("{download}?host=evil.example")];
    let hosts: [&[(&str, &str)]; 3] =
        [&[("Host", "evil.example")], &[("X-Forwarded-Host", "evil.example")], &[("Forwarded", "host=evil.example")]];
    for line in lines {
        for headers in hosts {
            let got = serving.send("GET", &line, headers);
            assert!(
                !got.text().contains("evil") && !got.header("X-Terraform-Get").contains("evil"),
                "{line}: {}",
                got.text()
            );
            let base = format!("http://127.0.0.1:{}/modules/", serving.port);
            assert!(got.status == 400 || got.header("X-Terraform-Get").starts_with(&base), "{line}: {}", got.text());
        }
    }
}

/// The last byte is another one: what is wrong is known when nearly all bytes have come.
#[test]
fn an_archive_that_turns_out_wrong_at_its_end_never_arrives_whole() {
    for fault in [Fault::CorruptBody(-1), Fault::CorruptBody(2_000_000), Fault::ShortenBody(3_999_000)] {
        let scene = Scene::new();
        scene.context.write("big/main.tf", "");
        scene.context.write("big/data.bin", noise(4_000_000));
        scene.run("module push big REGISTRY/acme/network-aws --version 1.0.0").success();
        let serving = Serving::with(&scene, MODULES);
        let (header, _) = location(&serving, &format!("{NETWORK}/1.0.0/download"), &[]);
        scene.registry.fault(Rule::on("GET", "/v2/acme/network-aws/blobs/*").then(fault.clone()));
        for headers in [&[][..], &[("Range", "bytes=0-")]] {
            let got = serving.send("GET", below(&header), headers);
            assert_eq!(got.status, 502, "{fault:?}: {} bytes", got.body.len());
        }
        scene.registry.clear_faults();
        assert!(serving.get(below(&header)).is_whole, "{fault:?}: the next client gets it");
        let (_, log) = serving.stop();
        assert!(log.contains("sha256:") || log.contains("digest"), "{log}");
    }
}

/// Fifty clients at once, each for a page that unpacks.
#[cfg(target_os = "linux")]
#[test]
fn pages_of_bombs_take_little_memory_and_time() {
    let scene = Scene::new();
    scene.context.write("bomb/main.tf", "");
    // Some noise, so that `module push` makes a package of it: a hundred bytes out for each byte in.
    let mut zeros = vec![b'0'; 200 << 20];
    zeros
        .chunks_mut(100 << 10)
        .zip(noise(2 << 20).chunks(1 << 10))
        .for_each(|(zeros, noise)| zeros[..1 << 10].copy_from_slice(noise));
    scene.context.write("bomb/zeros.txt", zeros);
    let numbers: String = (0..2_000_000).map(|number| format!("{number},")).collect();
    scene.context.write("lists/main.tf", format!("variable \"x\" {{\n  default = [{numbers}]\n}}\n"));
    scene.run("module push bomb REGISTRY/acme/bomb-aws --version 1.0.0").success();
    scene.run("module push lists REGISTRY/acme/lists-aws --version 1.0.0 --skip-checks").success();
    let serving = Serving::with(&scene, MODULES);
    let begun = std::time::Instant::now();
    let port = serving.port;
    let ask = |number: u32| {
        let name = if number.is_multiple_of(2) { "bomb" } else { "lists" };
        std::thread::spawn(move || {
            super::send(port, "GET", &format!("/module/registry.example.com/acme/{name}/aws/1.0.0"), &[])
        })
    };
    let asked: Vec<_> = (0..50).map(ask).collect();
    for one in asked {
        assert_eq!(one.join().expect("no client panics").status, 200);
    }
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
    let status = std::fs::read_to_string(format!("/proc/{}/status", serving.child.id())).expect("it runs");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its peak").trim().to_owned();
    let peak: u64 = peak.trim_end_matches(" kB").parse().expect("a number");
    assert!(peak < 128 << 10, "{peak} kB");
}

#[test]
fn a_template_by_which_a_client_chooses_the_host_is_refused() {
    let scene = Scene::new();
    for (include, from) in [
        ("*/*/*/*", "${hostname}/${namespace}/${name}-${target_system}"),
        ("registry.example.com/*/*/*", "${namespace}.example.com/${name}"),
    ] {
        scene.context.write("serve.toml", format!("[[module]]\ninclude = [\"{include}\"]\nfrom = \"{from}\"\n"));
        let said = scene.run("serve --check-config");
        assert_eq!(said.code, Some(2), "{}", said.text);
        assert!(said.stderr.contains("a client could make the server ask any host"), "{}", said.text);
    }
    let said = scene.run("serve --modules-from ${hostname}/${name} --check-config");
    assert!(said.stderr.contains("--include-modules"), "{}", said.text);
}

#[test]
fn one_image_layout_was_a_folder_of_modules_without_any() {
    let scene = Scene::new();
    scene.context.write("net/oci-layout", r#"{"imageLayoutVersion":"1.0.0"}"#);
    scene.context.write("serve.toml", "[[module]]\ninclude = [\"m.example/*/*/*\"]\nfrom = \"oci:net\"\n");
    assert_snapshot!(scene.run("serve --check-config").text, @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: net is one image layout, and modules are served out of a folder with a layout for each
      --> serve.toml:3:8
      |
    3 | from = "oci:net"
      |        ^^^^^^^^^

    hint: move it to the folder HOST/NAMESPACE/NAME/SYSTEM of another one, and name that one
    "#);
}

#[test]
fn settings_of_modules_are_checked_and_shown() {
    let scene = Scene::new();
    scene.context.write("serve.toml", "hosts = [\"m.example\"]\n[[module]]\ninclude = [\"m.example/*/*/*\"]\nexclude = [\"m.example/old/*/*\"]\nfrom = \"ghcr.io/${namespace}/${name}-${target_system}\"\noci_locations = true\n");
    assert_snapshot!(scene.run("serve --check-config").text, @"
    exit code: 0
    ----- stdout -----
    the settings are right
    modules m.example/*/*/* from ghcr.io/${namespace}/${name}-${target_system} except m.example/old/*/*; OpenTofu goes to the repository

    ----- stderr -----
    ");
    let lines = scene.run("serve --check-config --json").json();
    let line: &Value = lines.iter().find(|line| line["event"] == "served-modules").expect("a line");
    assert_eq!(line["oci_locations"], true);
    scene.context.write("serve.toml", "[[module]]\ninclude = [\"m.example/*/*/*\"]\nfrom = \"oci:nowhere\"\n");
    assert_snapshot!(scene.run("serve --check-config").text, @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no folder nowhere
      --> serve.toml:3:8
      |
    3 | from = "oci:nowhere"
      |        ^^^^^^^^^^^^^

    hint: a path in serve.toml is relative to that file
    "#);
    scene.context.write("serve.toml", "[[module]]\ninclude = [\"m.example/*/*/*\"]\nfrom = \"ghcr.io/acme/${type}\"\n");
    assert_snapshot!(scene.run("serve --check-config").text, @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `ghcr.io/acme/${type}` mentions `type` at column 16, which an address does not have
      --> serve.toml:3:8
      |
    3 | from = "ghcr.io/acme/${type}"
      |        ^^^^^^^^^^^^^^^^^^^^^^

    hint: write ${hostname}, ${namespace}, ${name} or ${target_system}
    "#);
}
