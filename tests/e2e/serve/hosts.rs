//! The bridge asks no host that its configuration does not name, whatever a client sends.

use tofu_oci_testkit::Registry;

use super::Serving;
use crate::setup::Scene;

#[test]
fn no_request_makes_the_bridge_ask_another_host() {
    let scene = Scene::published();
    let serving = Serving::start(&scene, "", "");
    let trap = Registry::start();
    let (address, url) = (trap.address().to_owned(), trap.url().to_owned());
    let encoded = address.replace(':', "%3A");
    let paths = [
        format!("/mirror/{address}/acme/widget/index.json"),
        format!("/mirror/{encoded}/acme/widget/index.json"),
        format!("/mirror/registry.example.com/{address}/widget/index.json"),
        format!("/mirror/registry.example.com/acme/{address}/index.json"),
        format!("/mirror/registry.example.com/acme/widget/{address}.json"),
        format!("/mirror/registry.example.com%2F..%2F{encoded}/acme/widget/index.json"),
        format!("/mirror/registry.example.com/..%2f..%2f{encoded}/widget/index.json"),
        format!("/mirror/registry.example.com/../{address}/acme/widget/index.json"),
        format!("/mirror/registry.example.com/acme/widget@{address}/index.json"),
        format!("/registry/{address}/acme/widget/versions"),
        format!("/mirror/registry.example.com/acme/widget/index.json?from={url}"),
        format!("{url}/v2/acme/widget/tags/list"),
        "/mirror/registry.terraform.io/hashicorp/null/index.json".to_owned(),
        "/mirror/registry.example.com./acme/widget/index.json".to_owned(),
        "/mirror/REGISTRY.EXAMPLE.COM/acme/widget/index.json".to_owned(),
        "/mirror/registry.example.com/acme/widget/1.4.0.json%00".to_owned(),
        "/mirror/registry.example.com/%61cme/widget/index.json".to_owned(),
        format!("/mirror/registry.example.com/{}/widget/index.json", "a".repeat(4000)),
    ];
    for path in &paths {
        for headers in [
            vec![],
            vec![("Host", address.as_str())],
            vec![("X-Forwarded-Host", address.as_str()), ("X-Original-URL", url.as_str())],
            vec![("Forwarded", "host=evil.example")],
        ] {
            let got = serving.send("GET", path, &headers);
            assert!(got.status < 500, "{path}: {} {}", got.status, got.text());
            assert!(!got.text().contains("/etc/") && !got.text().contains(".rs:"), "{path}: {}", got.text());
        }
    }
    assert_eq!(trap.requests(), [], "a host that is not in the configuration was asked");
    let asked = scene.registry.requests();
    assert!(asked.iter().all(|request| request.path.starts_with("/v2/acme/widget/") || request.path == "/v2/"));
}

#[test]
fn settings_that_let_a_client_choose_the_host_are_refused() {
    let scene = Scene::new();
    let own = "reg.example/${namespace}/${type}";
    for (include, rest) in [
        ("*/*/*", format!("from = \"{own}\"\nupstream = [\"direct\"]")),
        ("*/*/*", format!("from = \"{own}\"\nupstream = [\"oci:.\", \"${{hostname}}/${{namespace}}/${{type}}\"]")),
        ("*/*/*", "from = \"${hostname}/${namespace}/${type}\"".to_owned()),
        ("registry.example.com/*/*", "from = \"${namespace}.example.com/${type}\"".to_owned()),
    ] {
        let own_host = "include = [\"registry.example.test/*/*\"]\nfrom = \"reg.example/${type}\"";
        let text = format!("[[provider]]\n{own_host}\n[[provider]]\ninclude = [\"{include}\"]\n{rest}\n");
        scene.context.write("serve.toml", text);
        for check in ["", " --check-config"] {
            let said = scene.run(&format!("serve{check}"));
            assert_eq!(said.code, Some(2), "{rest}: {}", said.text);
            for words in ["a client could make the server ask any host", include, "serve.toml:", "hint: name "] {
                assert!(said.stderr.contains(words), "{words}, {rest}: {}", said.text);
            }
        }
    }
    let said = scene.run("serve --check-config --from ${hostname}/${namespace}/${type}");
    assert_eq!(said.code, Some(2), "{}", said.text);
    assert!(said.stderr.contains("--include"), "{}", said.text);
    let named = "serve --check-config --from ${hostname}/${namespace}/${type} --include registry.example.com/*/*";
    scene.run(named).success();
}

#[test]
fn a_host_that_is_chosen_by_a_template_of_named_ones_is_the_only_one_that_is_asked() {
    let scene = Scene::new();
    let trap = Registry::start();
    let from = "from = \"${hostname}/${namespace}/${type}\"";
    let settings = format!("[[provider]]\ninclude = [\"REGISTRY/*/*\"]\n{from}\nupstream = [\"direct\"]\n");
    let serving = Serving::with(&scene, &settings);
    for host in [trap.address(), "169.254.169.254", "10.0.0.5:8443", "localhost"] {
        let got = serving.get(&format!("/mirror/{host}/acme/widget/index.json"));
        assert_eq!(got.status, 404, "{host}: {}", got.text());
    }
    assert_eq!(trap.requests(), []);
    serving.get(&format!("/mirror/{}/acme/widget/index.json", scene.registry.address()));
    assert_ne!(scene.registry.requests(), []);
}

#[test]
fn a_discovery_document_is_for_the_own_hosts_alone() {
    let scene = Scene::published();
    scene.run("serve --new-key bridge.asc").success();
    let serving = Serving::start(&scene, "hosts = [\"registry.example.com\"]\nsigning_key = \"bridge.asc\"", "");
    let asked = |host: &str| serving.send("GET", "/.well-known/terraform.json", &[("Host", host)]);
    assert_eq!(asked("registry.example.com").json()["providers.v1"], "/registry/registry.example.com/");
    for host in ["registry.terraform.io", "evil.example", "registry.example.com.evil.example"] {
        let got = asked(host);
        assert_eq!(got.status, 404, "{host}: {}", got.text());
    }
}
