//! What the registry lacks: fetched from upstream, verified, kept; or never asked for.

use tofu_oci_testkit::{Fault, Registry, Rule, Upstream};

use super::Serving;
use crate::setup::Scene;

const INDEX: &str = "/mirror/registry.example.test/acme/zap/index.json";
const RELEASE: &str = "/mirror/registry.example.test/acme/zap/1.0.0.json";
const ARCHIVE: &str = "/mirror/registry.example.test/acme/zap/terraform-provider-zap_1.0.0_linux_amd64.zip";

/// An empty registry, an upstream with zap 1.0.0, and a bridge with these lines on top and in its table.
fn pulling(top: &str, rules: &str) -> (Scene, Upstream, Serving) {
    pulling_from("[\"direct\"]", top, rules)
}

/// The same with these upstreams.
fn pulling_from(upstreams: &str, top: &str, rules: &str) -> (Scene, Upstream, Serving) {
    let (scene, upstream) = prepared();
    let serving = Serving::with(&scene, &settings(upstreams, top, rules));
    (scene, upstream, serving)
}

/// An empty registry, and an upstream with zap 1.0.0.
pub(super) fn prepared() -> (Scene, Upstream) {
    let upstream = Upstream::start();
    upstream.release("acme/zap", "1.0.0", &["darwin_arm64", "linux_amd64"]);
    let mut scene = Scene::with(Registry::builder());
    let authority = scene.context.write_home("upstream.pem", upstream.ca_pem());
    scene.context.env("TOFU_OCI_CA_FILE", authority.display().to_string());
    let config = upstream.host_block("registry.example.test") + "provider_installation {\n  direct {}\n}\n";
    let config = scene.context.write_home("cli.tfrc", config);
    scene.context.env("TF_CLI_CONFIG_FILE", config.display().to_string());
    (scene, upstream)
}

/// The settings of a bridge before this upstream.
pub(super) fn settings(upstreams: &str, top: &str, rules: &str) -> String {
    format!(
        "{top}\n[[provider]]\ninclude = [\"registry.example.test/*/*\"]\nfrom = \"REGISTRY/m/${{namespace}}/${{type}}\"\n\
         upstream = {upstreams}\n{rules}\n"
    )
}

#[test]
fn what_the_registry_lacks_is_fetched_once_and_kept() {
    let (scene, upstream, serving) = pulling("", "");
    assert!(serving.json(INDEX)["versions"].get("1.0.0").is_some());
    assert!(serving.json(RELEASE)["archives"].get("linux_amd64").is_some());
    for _ in 0..2 {
        let got = serving.get(ARCHIVE);
        assert!(got.is_whole && got.body == upstream.zip("acme/zap", "1.0.0", "linux_amd64"), "{}", serving.log());
    }
    let zips =
        upstream.conversation().into_iter().filter(|line| line.starts_with("GET") && line.contains("linux_amd64.zip"));
    assert_eq!(zips.count(), 1, "{:?}", upstream.conversation());
    assert!(scene.registry.tags("m/acme/zap").iter().any(|(tag, _)| tag == "1.0.0"));
}

#[test]
fn a_sealed_bridge_never_asks_upstream_and_says_so() {
    let (_scene, upstream, serving) = pulling("sealed = true", "");
    let got = serving.get(INDEX);
    assert_ne!(got.status, 200, "{}", got.text());
    assert_eq!(upstream.conversation(), Vec::<String>::new());
    assert!(serving.log().contains("sealed") || got.text().contains("sealed"), "{}\n{}", got.text(), serving.log());
}

#[test]
fn a_version_that_is_too_young_or_denied_is_neither_listed_nor_served() {
    for rules in ["min_age = \"7d\"", "deny = [\"registry.example.test/acme/zap\"]"] {
        let (scene, upstream, serving) = pulling("", rules);
        let listed = serving.get(INDEX);
        assert!(!listed.text().contains("1.0.0\":"), "{rules}: {}", listed.text());
        assert!(!serving.get(RELEASE).text().contains("linux_amd64"), "{rules}");
        assert_eq!(serving.get(ARCHIVE).status, 404, "{rules}");
        assert!(!upstream.conversation().iter().any(|line| line.contains(".zip")), "{rules}");
        assert!(!scene.registry.tags("m/acme/zap").iter().any(|(tag, _)| tag == "1.0.0"), "{rules}");
    }
}

#[test]
fn a_prerelease_or_build_metadata_of_a_denied_version_was_served() {
    for (denied, left) in [("1.0.0", &["1.5.0-rc1", "2.0.0"][..]), ("< 2.0.0", &["2.0.0"])] {
        let (scene, upstream, serving) = pulling("", &format!("deny = [\"registry.example.test/acme/zap@{denied}\"]"));
        for version in ["1.0.0+evil", "1.5.0-rc1", "2.0.0"] {
            upstream.release("acme/zap", version, &["linux_amd64"]);
        }
        let listed = serving.json(INDEX)["versions"].clone();
        let listed: Vec<&String> = listed.as_object().expect("an object").keys().collect();
        assert_eq!(listed, left, "{denied}");
        for version in ["1.0.0", "1.0.0+evil", "1.5.0-rc1", "2.0.0"] {
            let got = serving.get(&ARCHIVE.replace("1.0.0", version));
            assert_eq!(got.status == 200, left.contains(&version), "{denied}, {version}: {}", got.text());
            let tag = version.replace('+', "_");
            let kept = scene.registry.tags("m/acme/zap").iter().any(|(known, _)| *known == tag);
            assert_eq!(kept, left.contains(&version), "{denied}, {version}");
        }
    }
}

#[test]
fn the_metrics_did_not_say_what_was_pulled() {
    let (scene, upstream) = prepared();
    upstream.release("acme/zap", "1.1.0", &["linux_amd64"]);
    upstream.release("acme/zap", "1.2.0", &["linux_amd64"]);
    let denied = "deny = [\"registry.example.test/acme/zap@1.2.0\"]";
    let serving = Serving::counting(&scene, &settings("[\"direct\"]", "", denied));
    assert_eq!(serving.metrics("tofu_oci_pull"), [""; 0]);
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..4).map(|_| scope.spawn(|| serving.get(ARCHIVE).status)).collect();
        assert!(asked.into_iter().all(|one| one.join().expect("it answers") == 200));
    });
    upstream.fault(Rule::on("GET", "*1.1.0_linux_amd64.zip").then(Fault::CorruptBody(50)));
    serving.get(&ARCHIVE.replace("1.0.0", "1.1.0"));
    serving.get(&ARCHIVE.replace("1.0.0", "1.2.0"));
    let of = |line: &String| line.rsplit_once(' ').and_then(|(_, value)| value.parse::<usize>().ok());
    let count = |outcome: &str| {
        let metrics = serving.metrics(&format!("tofu_oci_pulls_total{{kind=\"provider\",outcome=\"{outcome}\"}}"));
        metrics.first().and_then(of).unwrap_or_default()
    };
    assert_eq!((count("fetched"), count("denied"), count("failed") > 0), (1, 1, true));
    let times = serving.metrics("tofu_oci_pull_duration_seconds_count{");
    assert_eq!(times, ["tofu_oci_pull_duration_seconds_count{kind=\"provider\"} 1"]);
    let zips = ["linux_amd64", "darwin_arm64"].map(|platform| upstream.zip("acme/zap", "1.0.0", platform).len());
    let bytes = of(&serving.metrics("tofu_oci_pulled_bytes_total{kind=\"provider\"}")[0]).expect("a number");
    // Beside the zips there are a few manifests.
    let zips = zips.iter().sum::<usize>();
    assert!((zips..zips + 10_000).contains(&bytes), "{bytes}");
}

#[test]
fn a_package_that_upstream_has_damaged_is_not_served_and_not_kept() {
    let (scene, upstream, serving) = pulling("", "");
    upstream.fault(Rule::on("GET", "*linux_amd64.zip").then(Fault::CorruptBody(50)));
    let got = serving.get(ARCHIVE);
    assert!(got.status != 200 || !got.is_whole, "{}", got.status);
    assert!(!scene.registry.tags("m/acme/zap").iter().any(|(tag, _)| tag == "1.0.0"));
}

#[test]
fn an_upstream_folder_without_the_provider_gives_way_to_the_next() {
    // The folder of the settings is one of layouts without any, and a repository of the registry is empty.
    for upstreams in ["[\"oci:.\", \"direct\"]", "[\"static:.\", \"direct\"]"] {
        let (scene, upstream, serving) = pulling_from(upstreams, "", "");
        let got = serving.get(ARCHIVE);
        assert_eq!(got.body, upstream.zip("acme/zap", "1.0.0", "linux_amd64"), "{upstreams}: {}", got.text());
        assert!(scene.registry.tags("m/acme/zap").iter().any(|(tag, _)| tag == "1.0.0"), "{upstreams}");
    }
}

#[test]
fn an_upstream_folder_that_is_gone_is_no_answer() {
    let (_scene, upstream, serving) = pulling_from("[\"oci:gone\", \"direct\"]", "", "");
    let got = serving.get(INDEX);
    assert_eq!(got.status, 502, "{}", got.text());
    // The client learns no path; the log names it.
    assert!(!got.text().contains("gone"), "{}", got.text());
    serving.wait_for_line(0, &["\"status\":502", "gone does not exist"]);
    assert_eq!(upstream.conversation(), Vec::<String>::new());
}

#[test]
fn a_sealed_bridge_says_to_the_client_why_the_provider_is_missing() {
    let (_scene, _upstream, serving) = pulling("sealed = true", "");
    let text = serving.get(INDEX).text();
    assert!(text.contains("the mirror is sealed, so its upstream is not asked"), "{text}");
}

#[test]
fn the_token_of_a_client_is_not_shown_to_the_upstream() {
    let token = "ci-token-0123456789abcdef0123456789abcdef0123";
    let client = format!(
        "[[client]]\nname = \"ci\"\ntoken_sha256 = \"{}\"\nproviders = [\"*/*/*\"]",
        tofu_oci_types::Digest::sha256(token.as_bytes()).encoded()
    );
    let (scene, upstream, serving) = pulling("", &client);
    for path in [INDEX, RELEASE, ARCHIVE] {
        let got = serving.send("GET", path, &[("Authorization", &format!("Bearer {token}"))]);
        assert_eq!(got.status, 200, "{path}: {}", got.text());
    }
    let asked: Vec<_> = upstream.requests().into_iter().chain(scene.registry.requests()).collect();
    assert!(asked.len() > 3, "both were asked");
    assert!(asked.iter().all(|request| request.header("authorization").is_none()));
}

#[test]
fn a_folder_is_relative_to_the_settings_and_its_providers_are_listed() {
    let scene = Scene::new();
    scene.dist("dist", "1.4.0");
    scene
        .run("push dist oci:conf/layouts/registry.example.com/acme/widget --address registry.example.com/acme/widget")
        .success();
    let settings = "listen = [\"127.0.0.1:0\"]\n[[provider]]\ninclude = [\"*/*/*\"]\nfrom = \"oci:layouts\"\n";
    scene.context.write("conf/serve.toml", settings);
    let serving = Serving::spawn(scene.command("serve --config conf/serve.toml"));
    let page = serving.get("/").text();
    assert!(page.contains("registry.example.com/acme/widget"), "{page}");
    assert!(serving.json("/mirror/registry.example.com/acme/widget/index.json")["versions"].get("1.4.0").is_some());
}

/// A repository as the upstream of another one: its leaves come whole, with what lies beside the zip.
#[test]
fn a_small_layer_is_kept_with_its_zip() {
    let scene = Scene::with_dist();
    scene.run("push dist REGISTRY/up/acme/widget --address registry.example.com/acme/widget --small").success();
    let settings = "[[provider]]\ninclude = [\"registry.example.com/*/*\"]\nfrom = \"REGISTRY/m/${namespace}/${type}\"\n\
                    upstream = [\"REGISTRY/up/${namespace}/${type}\"]\n";
    let serving = Serving::with(&scene, settings);
    let archive = "/mirror/registry.example.com/acme/widget/terraform-provider-widget_1.4.0_linux_amd64.zip";
    assert!(serving.get(archive).is_whole, "{}", serving.log());
    assert_eq!(scene.tag("m/acme/widget", "1.4.0"), scene.tag("up/acme/widget", "1.4.0"));
    assert_eq!(scene.registry.digests("m/acme/widget"), scene.registry.digests("up/acme/widget"));
}
