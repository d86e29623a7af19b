//! Releases and modules that say another address than the one that they are asked as.

use tofu_oci_testkit::{Registry, ReleaseFolder, Upstream};
use tofu_oci_types::Digest;

use super::Serving;
use crate::setup::{PLATFORMS, Scene};

const HOST: &str = "registry.example.test";
const TOKEN: &str = "ci-token-0123456789abcdef0123456789abcdef0123";
/// What says something of the other side, and no client may read.
const SECRETS: [&str; 3] = ["acme-corp", "acme-google", "/m/"];

impl Scene {
    /// Publishes a release of a provider into a repository, whatever that one is kept for.
    fn put_release(&self, address: &str, version: &str, repository: &str) {
        let (_, provider_type) = address.rsplit_once('/').expect("an address");
        let folder = format!("dist-{provider_type}-{version}-{}", repository.replace('/', "-"));
        ReleaseFolder::new(provider_type, version, &PLATFORMS).write_zips(&self.path(&folder));
        self.run(&format!("push {folder} REGISTRY/{repository} --address {address} --rename")).success();
    }

    /// Writes `trust.toml`: only providers of this pattern must be signed.
    fn trust_of(&self, pattern: &str) {
        self.trust("");
        let text = self.context.read("trust.toml").replace("registry.example.com/*/*", pattern);
        self.context.write("trust.toml", text);
    }

    /// Takes the address out of the index under a tag, as other tools publish it.
    pub(crate) fn forget_address(&self, repository: &str, tag: &str) {
        let (media_type, bytes) = self.registry.manifest(repository, tag).expect("an index");
        let mut index: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
        index["annotations"].as_object_mut().expect("annotations").remove("org.opentofu.provider.address");
        let digest = self.registry.put_manifest(repository, &media_type, index.to_string());
        self.registry.put_tag(repository, tag, &digest);
    }

    /// A registry in which the releases of acme-corp/secret lie where acme/corp-secret is looked for, too.
    fn colliding() -> Self {
        let scene = Self::new();
        scene.put_release(&format!("{HOST}/acme-corp/secret"), "1.0.0", "m/acme-corp-secret");
        scene
    }
}

/// A client with these rights.
fn client(rights: &str) -> String {
    let digest = Digest::sha256(TOKEN.as_bytes());
    format!("[[client]]\nname = \"ci\"\ntoken_sha256 = \"{}\"\n{rights}\n", digest.encoded())
}

/// A place for one address, so that no template of it is ambiguous.
fn place(address: &str, repository: &str, more: &str) -> String {
    format!("[[provider]]\ninclude = [\"{address}\"]\nfrom = \"REGISTRY/{repository}\"\n{more}\n")
}

fn get(serving: &Serving, path: &str) -> (u16, String) {
    let got = serving.send("GET", path, &[("Authorization", &format!("Bearer {TOKEN}"))]);
    (got.status, got.text())
}

/// Whether the document of a version lists archives.
fn has_archives(serving: &Serving, path: &str) -> bool {
    let got = serving.get(path);
    got.status == 200 && got.text().contains("linux_amd64")
}

/// Every path of a release of a provider in both protocols is answered as that of a version that is not there.
#[track_caller]
fn check_absent(serving: &Serving, address: &str, version: &str) {
    let (host_and_namespace, provider_type) = address.rsplit_once('/').expect("an address");
    let zip = format!("terraform-provider-{provider_type}_{version}_linux_amd64.zip");
    for file in [format!("{version}.json"), zip] {
        let (status, text) = get(serving, &format!("/mirror/{host_and_namespace}/{provider_type}/{file}"));
        // The network mirror answers so for any version that it does not have.
        let is_document = file == format!("{version}.json") && status == 200;
        let is_absent = status == 404 || is_document && text == r#"{"archives":{}}"#;
        assert!(is_absent, "{file}: {status} {text}\n{}", serving.log());
        for secret in SECRETS {
            let own = address.contains(secret);
            assert!(own || !text.contains(secret), "{file} names {secret}: {text}");
        }
    }
}

#[test]
fn a_colliding_address_does_not_reach_what_the_client_may_not_see() {
    let scene = Scene::colliding();
    let rights = client(&format!("providers = [\"{HOST}/acme/*\"]"));
    let serve = |address: &str| {
        Serving::with(&scene, &(place(&format!("{HOST}/{address}"), "m/acme-corp-secret", "") + &rights))
    };
    let own = serve("acme-corp/secret");
    assert_eq!(get(&own, &format!("/mirror/{HOST}/acme-corp/secret/1.0.0.json")).0, 403);
    let serving = serve("acme/corp-secret");
    // A list that was read before the release was opened went on with the version.
    let index = format!("/mirror/{HOST}/acme/corp-secret/index.json");
    assert!(get(&serving, &index).1.contains("1.0.0"));
    check_absent(&serving, &format!("{HOST}/acme/corp-secret"), "1.0.0");
    // The operator reads both.
    serving.wait_for_line(1, &["is not served", "acme-corp/secret", "acme/corp-secret", "m/acme-corp-secret"]);
    // It is not listed either, now that it was opened.
    let (status, text) = get(&serving, &index);
    assert!(status == 404 || !text.contains("1.0.0"), "{status} {text}");
}

#[test]
fn a_colliding_address_does_not_reach_what_is_excluded() {
    let scene = Scene::colliding();
    let place = format!(
        "[[provider]]\ninclude = [\"{HOST}/*/*\"]\nexclude = [\"{HOST}/acme-corp/*\"]\n\
         from = \"REGISTRY/${{namespace}}/${{type}}\"\n"
    );
    // The bytes lie where the address that is not excluded is looked for.
    scene.run("copy REGISTRY/m/acme-corp-secret REGISTRY/acme/corp-secret").success();
    let serving = Serving::with(&scene, &place);
    assert!(!has_archives(&serving, &format!("/mirror/{HOST}/acme-corp/secret/1.0.0.json")));
    check_absent(&serving, &format!("{HOST}/acme/corp-secret"), "1.0.0");
}

/// A bridge with the trust policy, and the colliding repository for one address.
fn trusting(scene: &Scene, address: &str) -> Serving {
    let place = place(&format!("{HOST}/{address}"), "m/acme-corp-secret", "");
    Serving::with(scene, &format!("trust = \"trust.toml\"\n{place}"))
}

#[test]
fn a_colliding_address_does_not_go_around_a_trust_rule() {
    let scene = Scene::colliding();
    scene.trust_of(&format!("{HOST}/acme-corp/*"));
    let own = trusting(&scene, "acme-corp/secret");
    assert_eq!(own.get(&format!("/mirror/{HOST}/acme-corp/secret/1.0.0.json")).status, 409);
    let serving = trusting(&scene, "acme/corp-secret");
    check_absent(&serving, &format!("{HOST}/acme/corp-secret"), "1.0.0");
}

#[test]
fn a_release_that_says_no_address_is_served_under_any() {
    let scene = Scene::colliding();
    scene.forget_address("m/acme-corp-secret", "1.0.0");
    let serving = Serving::with(&scene, &place(&format!("{HOST}/acme/corp-secret"), "m/acme-corp-secret", ""));
    assert_eq!(serving.get(&format!("/mirror/{HOST}/acme/corp-secret/1.0.0.json")).status, 200, "{}", serving.log());
}

#[test]
fn a_signature_that_says_another_address_does_not_name_it_to_clients() {
    let scene = Scene::colliding();
    scene.forget_address("m/acme-corp-secret", "1.0.0");
    scene.sign("m/acme-corp-secret", &format!("{HOST}/acme-corp/secret"), "1.0.0");
    scene.trust_of(&format!("{HOST}/*/*"));
    let own = trusting(&scene, "acme-corp/secret");
    assert_eq!(own.get(&format!("/mirror/{HOST}/acme-corp/secret/1.0.0.json")).status, 200, "{}", own.log());
    let serving = trusting(&scene, "acme/corp-secret");
    check_absent(&serving, &format!("{HOST}/acme/corp-secret"), "1.0.0");
}

#[test]
fn a_predecessor_or_a_place_that_renames_serves_what_says_another_address() {
    let scene = Scene::new();
    scene.put_release("registry.terraform.io/acme/zap", "1.0.0", "m/zap");
    let path = "/mirror/registry.opentofu.org/acme/zap/1.0.0.json";
    let zap = |more: &str| place("registry.opentofu.org/acme/zap", "m/zap", more);
    assert!(!has_archives(&Serving::with(&scene, &zap("")), path));
    assert!(has_archives(&Serving::with(&scene, &zap("rename = true")), path));
    let moved = "predecessors = [\"registry.opentofu.org=registry.terraform.io\"]\n";
    assert!(has_archives(&Serving::with(&scene, &format!("{moved}{}", zap(""))), path));
    let options = "serve --from REGISTRY/m/zap --include registry.opentofu.org/acme/zap --listen 127.0.0.1:0";
    for (more, want) in
        [("", false), ("--rename", true), ("--predecessor registry.opentofu.org=registry.terraform.io", true)]
    {
        let serving = Serving::spawn(scene.command(&format!("{options} {more}")));
        assert_eq!(has_archives(&serving, path), want, "{more}");
    }
}

/// An upstream registry, trusted and found, and a bridge that pulls through into a repository. `serve` refuses two addresses of one
/// repository; two bridges may have it.
fn pulling(scene: &mut Scene, upstream: &Upstream, address: &str) -> Serving {
    let authority = scene.context.write_home("upstream.pem", upstream.ca_pem());
    scene.context.env("TOFU_OCI_CA_FILE", authority.display().to_string());
    let config = upstream.host_block(HOST) + "provider_installation {\n  direct {}\n}\n";
    let config = scene.context.write_home("cli.tfrc", config);
    scene.context.env("TF_CLI_CONFIG_FILE", config.display().to_string());
    Serving::with(scene, &place(&format!("{HOST}/{address}"), "m/shared", "upstream = [\"direct\"]"))
}

fn zip_path(address: &str, version: &str) -> String {
    let (_, provider_type) = address.rsplit_once('/').expect("an address");
    format!("/mirror/{HOST}/{address}/terraform-provider-{provider_type}_{version}_linux_amd64.zip")
}

#[test]
fn a_colliding_upstream_name_does_not_poison_a_repository() {
    let (mut scene, upstream) = (Scene::with(Registry::builder()), Upstream::start());
    upstream.release("acme/google-beta", "1.0.0", &["linux_amd64"]);
    upstream.release("acme-google/beta", "9.9.0", &["linux_amd64"]);
    let serving = pulling(&mut scene, &upstream, "acme/google-beta");
    assert_eq!(serving.get(&zip_path("acme/google-beta", "1.0.0")).status, 200, "{}", serving.log());
    serving.stop();
    // The stranger's own clients get it from its upstream, and nothing of it is kept.
    let serving = pulling(&mut scene, &upstream, "acme-google/beta");
    serving.get(&zip_path("acme-google/beta", "9.9.0"));
    serving.stop();
    let tags = scene.registry.tags("m/shared").into_iter().map(|(tag, _)| tag);
    assert_eq!(tags.filter(|tag| !tag.starts_with("sha256-")).collect::<Vec<_>>(), ["1.0.0"]);
    let serving = pulling(&mut scene, &upstream, "acme/google-beta");
    let listed = serving.json(&format!("/mirror/{HOST}/acme/google-beta/index.json"));
    assert!(listed["versions"].get("9.9.0").is_none(), "{listed}");
    check_absent(&serving, &format!("{HOST}/acme/google-beta"), "9.9.0");
}

#[test]
fn a_poisoned_repository_does_not_serve_the_other_providers_version() {
    let (mut scene, upstream) = (Scene::with(Registry::builder()), Upstream::start());
    upstream.release("acme/google-beta", "1.0.0", &["linux_amd64"]);
    scene.put_release(&format!("{HOST}/acme-google/beta"), "9.9.0", "m/shared");
    let serving = pulling(&mut scene, &upstream, "acme/google-beta");
    check_absent(&serving, &format!("{HOST}/acme/google-beta"), "9.9.0");
    // Its own versions come from its upstream, although the repository takes none of them.
    assert_eq!(serving.get(&zip_path("acme/google-beta", "1.0.0")).status, 200, "{}", serving.log());
    serving.wait_for_line(1, &["is not kept", "acme/google-beta"]);
}

#[test]
fn a_made_up_address_locks_nobody_out() {
    let (mut scene, upstream) = (Scene::with(Registry::builder()), Upstream::start());
    upstream.release("acme/google-beta", "1.0.0", &["linux_amd64"]);
    let serving = pulling(&mut scene, &upstream, "acme-google/beta");
    assert_eq!(serving.get(&format!("/mirror/{HOST}/acme-google/beta/index.json")).status, 404);
    check_absent(&serving, &format!("{HOST}/acme-google/beta"), "1.0.0");
    let serving = pulling(&mut scene, &upstream, "acme/google-beta");
    let got = serving.get(&zip_path("acme/google-beta", "1.0.0"));
    assert_eq!(got.status, 200, "{}\n{}", got.text(), serving.log());
    assert!(scene.registry.tags("m/shared").iter().any(|(tag, _)| tag == "1.0.0"), "it is kept: {}", serving.log());
}

#[test]
fn an_upstream_repository_that_says_another_address_is_not_pulled() {
    let scene = Scene::new();
    scene.put_release(&format!("{HOST}/acme-google/beta"), "9.9.0", "up/google-beta");
    let settings = place(&format!("{HOST}/acme/google-beta"), "m/own", "upstream = [\"REGISTRY/up/google-beta\"]");
    let serving = Serving::with(&scene, &settings);
    check_absent(&serving, &format!("{HOST}/acme/google-beta"), "9.9.0");
    assert_eq!(scene.registry.tags("m/own"), []);
}

#[test]
fn a_pull_brought_another_provider_into_a_repository_whose_releases_say_no_address() {
    let scene = Scene::new();
    for (address, version, repository) in
        [("acme/google-beta", "1.0.0", "up/one"), ("acme-google/beta", "9.9.0", "up/two")]
    {
        scene.put_release(&format!("{HOST}/{address}"), version, repository);
        scene.forget_address(repository, version);
    }
    let pull = |address: &str, from: &str, version: &str| {
        let settings = place(&format!("{HOST}/{address}"), "m/one", &format!("upstream = [\"REGISTRY/{from}\"]"));
        let (_, name) = address.rsplit_once('/').expect("an address");
        let zip = format!("terraform-provider-{name}_{version}_linux_amd64.zip");
        Serving::with(&scene, &settings).get(&format!("/mirror/{HOST}/{address}/{zip}"))
    };
    assert_eq!(pull("acme/google-beta", "up/one", "1.0.0").status, 200);
    // It is handed on from upstream, and not kept.
    assert_eq!(pull("acme-google/beta", "up/two", "9.9.0").status, 200);
    assert!(!scene.registry.tags("m/one").iter().any(|(tag, _)| tag == "9.9.0"));
    assert_eq!(pull("acme/google-beta", "up/one", "1.0.0").status, 200);
}

#[test]
fn a_module_that_says_another_address_is_not_served() {
    let scene = Scene::new();
    scene.context.write("net/main.tf", "# 1\n");
    let said = format!("--annotation org.opentofu.module.address={HOST}/acme-net/x/aws");
    scene.run(&format!("module push net REGISTRY/m/net --version 1.0.0 {said}")).success();
    let module = |more: &str| {
        format!(
            "[[module]]\ninclude = [\"{HOST}/acme/net-x/aws\"]\nfrom = \"REGISTRY/m/net\"\n{more}\n{}",
            client(&format!("modules = [\"{HOST}/acme/*/*\"]"))
        )
    };
    let download = format!("/modules/{HOST}/acme/net-x/aws/1.0.0/download");
    let serving = Serving::with(&scene, &module(""));
    let (status, text) = get(&serving, &download);
    assert!(status == 404 && !text.contains("acme-net") && !text.contains("m/net"), "{status} {text}");
    let (status, _) = get(&serving, &format!("/modules/{HOST}/acme/net-x/aws/1.0.0/net-x-aws_1.0.0.zip"));
    assert_eq!(status, 404);
    serving.wait_for_line(1, &["is not served", "acme-net/x/aws", "acme/net-x/aws"]);
    let (status, text) = get(&Serving::with(&scene, &module("rename = true")), &download);
    assert_eq!(status, 200, "{text}");
}

/// Releases that say registry.terraform.io, served under both hosts, which count as one.
fn of_two_hosts(scene: &Scene, head: &str, more: &str) -> Serving {
    let place = "include = [\"registry.opentofu.org/*/*\", \"registry.terraform.io/*/*\"]\n\
                 from = \"REGISTRY/m/${namespace}/${type}\"";
    let moved = "predecessors = [\"registry.opentofu.org=registry.terraform.io\"]";
    Serving::with(scene, &format!("{moved}\n{head}\n[[provider]]\n{place}\n{more}\n"))
}

#[test]
fn what_forbids_one_of_two_hosts_that_count_as_one_forbids_both() {
    let scene = Scene::new();
    for version in ["1.0.0", "1.1.0"] {
        scene.put_release("registry.terraform.io/acme/zap", version, "m/acme/zap");
    }
    scene.trust_of("registry.terraform.io/acme/*");
    std::fs::rename(scene.path("trust.toml"), scene.path("rule.toml")).expect("it was written");
    scene.sign("m/acme/zap", "registry.terraform.io/acme/zap", "1.0.0");
    let path = |host: &str, version: &str| format!("/mirror/{host}/acme/zap/{version}.json");
    let nowhere = "upstream = [\"REGISTRY/up/${type}/${namespace}\"]";
    for (head, more, kept) in [
        ("", "exclude = [\"registry.terraform.io/acme/*\"]", &[][..]),
        ("", "exclude = [\"registry.opentofu.org/acme/zap\"]", &[]),
        ("", &format!("{nowhere}\ndeny = [\"registry.terraform.io/acme/zap@1.1.0\"]"), &["1.0.0"]),
        ("trust = \"rule.toml\"", "", &["1.0.0"]),
        ("", &client("providers = [\"registry.opentofu.org/acme/*\"]"), &[]),
        (
            "",
            &client("providers = [\"registry.opentofu.org/acme/*\", \"registry.terraform.io/acme/*\"]"),
            &["1.0.0", "1.1.0"],
        ),
    ] {
        let serving = of_two_hosts(&scene, head, more);
        for host in ["registry.opentofu.org", "registry.terraform.io"] {
            for version in ["1.0.0", "1.1.0"] {
                let (status, text) = get(&serving, &path(host, version));
                let has = status == 200 && text.contains("linux_amd64");
                assert_eq!(has, kept.contains(&version), "{head} {more} {host} {version}: {status} {text}");
            }
        }
    }
}

#[test]
fn a_module_that_is_excluded_is_not_had_under_the_host_of_a_predecessor() {
    let scene = Scene::new();
    scene.context.write("net/main.tf", "# 1\n");
    scene.run("module push net REGISTRY/m/acme/net/aws --version 1.0.0").success();
    let settings = |more: &str| {
        format!(
            "predecessors = [\"a.example=b.example\"]\n[[module]]\ninclude = [\"a.example/*/*/*\", \"b.example/*/*/*\"]\n\
             from = \"REGISTRY/m/${{namespace}}/${{name}}/${{target_system}}\"\n{more}"
        )
    };
    let statuses = |more: &str| {
        let serving = Serving::with(&scene, &settings(more));
        ["a.example", "b.example"].map(|host| get(&serving, &format!("/modules/{host}/acme/net/aws/1.0.0/download")).0)
    };
    assert_eq!(statuses(""), [200, 200]);
    assert_eq!(statuses("exclude = [\"b.example/acme/*/*\"]\n"), [404, 404]);
    assert_eq!(statuses(&client("modules = [\"a.example/acme/*/*\"]")), [403, 403]);
    assert_eq!(statuses(&client("modules = [\"a.example/acme/*/*\", \"b.example/acme/*/*\"]")), [200, 200]);
}
