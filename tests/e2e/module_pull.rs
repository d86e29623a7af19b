//! `module pull` and `module versions`: repositories, registries of modules, and what is in the way.

use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value;
use tofu_oci_testkit::{Answer, WebServer};

use crate::setup::{Said, Scene};

pub(crate) const NETWORK: &str = "registry.example.test/acme/network/aws";
pub(crate) const BASE: &str = "/v1/modules/acme/network/aws";

impl Scene {
    /// Publishes a module of these files at `REGISTRY/acme/network`.
    pub(crate) fn module(&self, version: &str, files: &[(&str, &str)]) {
        let folder = format!("network-{version}");
        for (name, content) in files {
            self.context.write(&format!("{folder}/{name}"), content);
        }
        self.run(&format!("module push {folder} REGISTRY/acme/network --version {version}")).success();
    }

    /// With two versions of a module.
    pub(crate) fn with_modules() -> Self {
        let scene = Self::new();
        scene.module("1.4.0", &[("main.tf", "# 1.4.0\n"), ("dns/main.tf", "# dns\n")]);
        scene.module("1.10.0", &[("main.tf", "# 1.10.0\n")]);
        scene
    }

    /// A registry of modules at the host of [`NETWORK`], by a `host` block.
    pub(crate) fn module_registry(&mut self) -> WebServer {
        let web = WebServer::start(&[]);
        self.context.write("ca.pem", web.ca_pem().expect("it speaks TLS"));
        self.context.env("TOFU_OCI_CA_FILE", "ca.pem");
        let services = format!("{{ \"modules.v1\" = \"{}/v1/modules/\" }}", web.origin());
        let block = format!("host \"registry.example.test\" {{\n  services = {services}\n}}\n");
        self.context.write_home(".tofurc", block);
        let versions =
            r#"{"modules":[{"versions":[{"version":"1.4.0"},{"version":"v1.10.0"},{"version":"2.0.0-rc.1"}]}]}"#;
        web.page(&format!("{BASE}/versions"), Answer::new(200).body(versions));
        web
    }

    fn pull(&self, source: &str) -> Said {
        self.run(&format!("module pull '{source}' out"))
    }
}

#[test]
fn a_module_is_pulled_once_and_other_files_stay() {
    let scene = Scene::with_modules();
    assert_snapshot!(scene.pull("oci://REGISTRY/acme/network?tag=1.4.0").text, @"
    exit code: 0
    ----- stdout -----
    pulled the module 1.4.0 from [REGISTRY]/acme/network into out
      manifest sha256:[DIGEST]
      2 files, 14 B

    ----- stderr -----
    [REGISTRY]/acme/network:1.4.0: pulled (228 B)
    ");
    assert_eq!(scene.context.read("out/main.tf"), "# 1.4.0\n");
    assert_eq!(scene.context.read("out/dns/main.tf"), "# dns\n");
    assert_snapshot!(scene.pull("oci://REGISTRY/acme/network?tag=1.4.0").text, @"
    exit code: 0
    ----- stdout -----
    out has the module 1.4.0 already; nothing was changed
      manifest sha256:[DIGEST]
      2 files, 14 B

    ----- stderr -----
    [REGISTRY]/acme/network:1.4.0: up to date (228 B)
    ");
    assert_snapshot!(scene.pull("oci://REGISTRY/acme/network?tag=1.10.0").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: out is not empty, and has other files than the module

    hint: name another folder, or add --force, which removes everything that is in this one
    ");
    assert_eq!(scene.context.read("out/main.tf"), "# 1.4.0\n");
    scene.run("module pull 'oci://REGISTRY/acme/network?tag=1.10.0' out --force").success();
    assert_eq!(scene.context.read("out/main.tf"), "# 1.10.0\n");
    assert!(!scene.path("out/dns").exists());
}

#[test]
fn a_call_that_leads_out_of_what_was_pulled_is_a_warning() {
    let scene = Scene::new();
    let call = "module \"vpc\" {\n  source = \"../vpc\"\n}\n";
    scene.module("1.0.0", &[("dns/main.tf", call), ("vpc/main.tf", "")]);
    let said = scene.pull("oci://REGISTRY/acme/network//dns?tag=1.0.0").success();
    assert!(
        said.stderr.contains("the module calls ../vpc, which is outside of //dns and was not pulled"),
        "{}",
        said.text
    );
    let whole = scene.run("module pull 'oci://REGISTRY/acme/network?tag=1.0.0' whole").success();
    assert!(!whole.stderr.contains("warning"), "{}", whole.text);
}

#[test]
fn a_tag_that_is_missing_is_named_with_the_versions_that_are_there() {
    let scene = Scene::with_modules();
    assert_snapshot!(scene.pull("oci://REGISTRY/acme/network").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/network has no tag latest

    hint: it has the versions 1.10.0, 1.4.0
    hint: name one in the source, such as ?tag=1.10.0
    ");
    assert_snapshot!(scene.pull("oci://REGISTRY/acme/network//nope?tag=1.4.0").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package from [REGISTRY]/acme/network has no folder `nope`

    hint: it has dns
    ");
    assert_eq!(scene.pull("REGISTRY/acme/network").text, scene.pull("oci://REGISTRY/acme/network").text);
    assert!(!scene.path("out").exists());
}

#[test]
fn the_versions_of_a_module_are_its_canonical_tags() {
    let scene = Scene::with_modules();
    let digest = scene.tag("acme/network", "1.4.0").parse().expect("a digest");
    scene.registry.put_tag("acme/network", "main", &digest);
    assert_snapshot!(scene.run("module versions oci://REGISTRY/acme/network").text, @"
    exit code: 0
    ----- stdout -----
    1.10.0
    1.4.0

    ----- stderr -----
    note: [REGISTRY]/acme/network: one tag is not a version: main
      hint: a source can name any tag: ?tag=TAG
    ");
    assert_snapshot!(scene.run("module versions oci://REGISTRY/acme/network --json --limit 1").text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"message","level":"note","code":"other-tags","text":"[REGISTRY]/acme/network: one tag is not a version: main","hint":"a source can name any tag: ?tag=TAG"}
    {"event":"module-version","place":"[REGISTRY]/acme/network","version":"1.10.0","tag":"1.10.0"}

    ----- stderr -----
    "#);
}

#[test]
fn a_registry_of_modules_leads_to_a_repository_or_an_archive() {
    let mut scene = Scene::with_modules();
    let web = scene.module_registry();
    let at = scene.registry.address().to_owned();
    web.page(
        &format!("{BASE}/1.10.0/download"),
        Answer::new(200).body(format!(r#"{{"location":"oci://{at}/acme/network?tag=1.10.0"}}"#)),
    );
    scene.run("module push network-1.4.0 oci:lay --version 1.4.0").success();
    let zip = std::fs::read_dir(scene.path("lay/blobs/sha256"))
        .expect("blobs")
        .map(|blob| std::fs::read(blob.expect("a blob").path()).expect("a blob"))
        .find(|bytes| bytes.starts_with(b"PK"))
        .expect("a zip");
    web.page("/network.zip", Answer::new(200).body(zip));
    web.page(&format!("{BASE}/1.4.0/download"), Answer::new(204).header("X-Terraform-Get", "/network.zip//dns"));
    assert_snapshot!(scene.run(&format!("module versions {NETWORK}")).text, @"
    exit code: 0
    ----- stdout -----
    2.0.0-rc.1
    1.10.0
    1.4.0

    ----- stderr -----
    ");
    scene.pull(&format!("{NETWORK}@~> 1.4")).success();
    assert_eq!(scene.context.read("out/main.tf"), "# 1.10.0\n");
    let said = scene.run(&format!("module pull {NETWORK}@1.4.0 dns --json"));
    assert_eq!(scene.context.read("dns/main.tf"), "# dns\n");
    assert_eq!(said.json().last().map(|line| line["folder"].clone()), Some("dns".into()));
    web.page(
        &format!("{BASE}/2.0.0-rc.1/download"),
        Answer::new(204).header("X-Terraform-Get", "hg::https://x.example/a?ref=v2"),
    );
    assert_snapshot!(scene.run(&format!("module pull {NETWORK}@2.0.0-rc.1 git")).text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package of registry.example.test/acme/network/aws 2.0.0-rc.1 cannot be fetched from where registry.example.test says: it is a Mercurial repository, and a registry may name https archives, oci:// repositories and git repositories
      cause: the location is hg::https://x.example/a?ref=v2

    hint: `tofu get` in a configuration that names the module fetches it; `tofu-oci module push` then publishes the folder to a repository of yours
    ");
    assert_snapshot!(scene.run(&format!("module pull '{NETWORK}@>= 3' git")).text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.test/acme/network/aws has no version that meets `>= 3.0.0`
      cause: no rule of modules.toml maps it, so the registry of registry.example.test was asked

    hint: it has 2.0.0-rc.1, 1.10.0, 1.4.0
    ");
    assert!(!scene.path("git").exists());
}

#[test]
fn a_rule_for_modules_refuses_what_is_not_signed() {
    let scene = Scene::with_modules();
    let rule = format!("[[rule]]\nmodules = [\"{}/acme/*\"]\nunsigned = \"refuse\"\n", scene.registry.address());
    scene.context.write("trust.toml", rule);
    scene.registry.clear_requests();
    let said = scene.pull("oci://REGISTRY/acme/network?tag=1.4.0");
    assert_snapshot!(said.text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the module from [REGISTRY]/acme/network is not trusted: it is not signed
      cause: trust.toml:1, the rule for [REGISTRY]/acme/*, refuses unsigned modules and names no keys

    hint: its publisher signs it: tofu-oci sign [REGISTRY]/acme/network:1.4.0 --key KEY
    ");
    assert!(!scene.path("out").exists());
    // Nothing of the package was fetched.
    assert!(!scene.conversation().iter().any(|line| line.contains("/blobs/")));
    scene.context.write("trust.toml", "[[rule]]\nmodules = [\"ghcr.io/acme/*\"]\nunsigned = \"refuse\"\n");
    scene.pull("oci://REGISTRY/acme/network?tag=1.4.0").success();
}

#[test]
fn a_signed_module_is_pulled_and_an_old_one_under_a_new_tag_is_not() {
    let scene = Scene::with_modules();
    scene.key("p256.pem");
    scene.key("p256.pub");
    scene.run("module push network-1.4.0 REGISTRY/acme/network --version 1.4.0 --sign-key p256.pem").success();
    let at = scene.registry.address();
    let policy = format!(
        "[[key]]\nname = \"acme\"\nfile = \"p256.pub\"\n\n[[rule]]\nmodules = [\"{at}/acme/*\"]\nkeys = [\"acme\"]\n"
    );
    scene.context.write("trust.toml", policy);
    assert_snapshot!(scene.pull("oci://REGISTRY/acme/network?tag=1.4.0").text, @"
    exit code: 0
    ----- stdout -----
    pulled the module 1.4.0 from [REGISTRY]/acme/network into out
      manifest sha256:[DIGEST]
      2 files, 14 B
      signed by acme

    ----- stderr -----
    [REGISTRY]/acme/network:1.4.0: pulled (228 B)
    ");
    let unsigned = scene.run("module pull 'oci://REGISTRY/acme/network?tag=1.10.0' new --json").json();
    assert_eq!(unsigned.last().map(|line| line["code"].clone()), Some("unsigned".into()));
    let old = scene.tag("acme/network", "1.4.0").parse().expect("a digest");
    scene.registry.put_tag("acme/network", "2.0.0", &old);
    assert_snapshot!(scene.run("module pull 'oci://REGISTRY/acme/network?tag=2.0.0' new").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the module from [REGISTRY]/acme/network is not trusted: the signature by acme says that this is version 1.4.0, not 2.0.0
      cause: trust.toml:5, the rule for [REGISTRY]/acme/*, demands a signature by acme

    hint: the tag has moved to another version; ask its publisher why, or name the digest you mean
    ");
    assert!(!scene.path("new").exists());
    scene.context.write("none.toml", "");
    scene.run("module pull 'oci://REGISTRY/acme/network?tag=2.0.0' new --trust-policy none.toml").success();
}

/// The layouts that were put before the real program: OpenTofu's verdict, and what `module pull` does.
#[test]
fn the_measured_repositories_are_pulled_as_opentofu_installs_them() {
    let scene = Scene::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/testrepos-modules");
    for folder in std::fs::read_dir(&root).expect("the cases") {
        let folder = folder.expect("a case").path();
        if folder.is_dir() {
            scene.registry.put_layout(&folder.file_name().expect("a name").to_string_lossy(), &folder);
        }
    }
    let text = std::fs::read_to_string(root.join("expected.json")).expect("the verdicts");
    let cases: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    assert_eq!(cases.len(), 55);
    let (mut same, mut refused, mut differ) = (0, Vec::new(), Vec::new());
    for case in &cases {
        let text = |member: &str| case[member].as_str().expect("a text");
        let source = text("source").replace("HOST", scene.registry.address());
        let said = scene.run(&format!("module pull '{source}' pulled/{} --json", text("case")));
        let lines = said.json();
        let code = lines.last().expect("it says something")["code"].as_str().unwrap_or("ok").to_owned();
        let is_there = scene.path("pulled").join(text("case")).exists();
        assert_eq!(said.code == Some(0), is_there, "{}", said.text);
        match (text("opentofu") == "installs", is_there) {
            (true, true) => same += 1,
            (false, false) if code == text("because") => same += 1,
            (false, false) => refused.push(format!("{}: {code}, {}", text("case"), text("because"))),
            (_, true) => differ.push(format!("{}: pulled, OpenTofu refuses: {}", text("case"), text("because"))),
            (_, false) => differ.push(format!("{}: {code}, OpenTofu installs", text("case"))),
        }
    }
    // Nothing half-unpacked is left.
    assert!(!scene.context.files().iter().any(|name| name.contains(".tofu-oci-")), "{:?}", scene.context.files());
    assert_snapshot!(format!("{same} the same\n{}\n\n{}", refused.join("\n"), differ.join("\n")), @"
    39 the same
    digest-malformed: invalid-digest, digest-malformed
    digest-of-layer: digest-not-found, manifest-not-json
    tag-empty: empty-tag, argument-empty
    argument-unknown: unsupported-argument, unknown-argument
    repository-none: invalid-repository, repository-name
    not-json: bad-body, manifest-not-json
    blob-damaged: blob-digest-mismatch, blob-mismatch
    blob-truncated: blob-size-mismatch, size-mismatch
    layer-size-more: blob-size-mismatch, size-mismatch
    zip-empty: bad-zip, empty-archive
    blob-empty: bad-zip, not-a-zip

    zip-absolute-entry: bad-zip, OpenTofu installs
    zip-symlink-outside: module-link, OpenTofu installs
    zip-duplicate-entry: bad-zip, OpenTofu installs
    zip-prefixed: bad-zip, OpenTofu installs
    zip-escaping-call: pulled, OpenTofu refuses: call-escapes-package
    ");
}

const MAPPING: &str = r#"
[[module_mirror]]
include = ["registry.example.test/acme/network/aws", "registry.example.test/acme/lacking/aws"]
exclude = ["registry.example.test/acme/old/*"]
repository_template = "REGISTRY/${namespace}/${name}"
"#;

impl Scene {
    fn mapping(&self, text: &str) {
        self.context.write("modules.toml", text.replace("REGISTRY", self.registry.address()));
    }
}

#[test]
fn a_mapped_module_is_pulled_from_its_repository_and_the_registry_is_not_asked() {
    let scene = Scene::with_modules();
    scene.mapping(MAPPING);
    assert_snapshot!(scene.pull(&format!("{NETWORK}//dns@~> 1.4.0")).text, @"
    exit code: 0
    ----- stdout -----
    pulled the module 1.4.0 from [REGISTRY]/acme/network into out
      mapped by modules.toml:2, [REGISTRY]/${namespace}/${name}
      manifest sha256:[DIGEST]
      1 file, 6 B

    ----- stderr -----
    registry.example.test/acme/network/aws 1.4.0: pulled (228 B)
    ");
    assert_eq!(scene.context.read("out/main.tf"), "# dns\n");
    assert_snapshot!(scene.run(&format!("module versions {NETWORK}")).text, @"
    exit code: 0
    ----- stdout -----
    1.10.0
    1.4.0

    ----- stderr -----
    note: registry.example.test/acme/network/aws is looked for in [REGISTRY]/acme/network alone: modules.toml:2 maps it there
    ");
    assert_snapshot!(scene.run(&format!("module pull {NETWORK}@2.0.0 other")).text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.test/acme/network/aws has no version 2.0.0
      cause: modules.toml:2 maps registry.example.test/acme/network/aws to [REGISTRY]/acme/network

    hint: it has 1.10.0, 1.4.0
    ");
    assert_snapshot!(scene.run("module versions registry.example.test/acme/lacking/aws").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    note: registry.example.test/acme/lacking/aws is looked for in [REGISTRY]/acme/lacking alone: modules.toml:2 maps it there
    error: there is no repository [REGISTRY]/acme/lacking

    hint: check the name; some registries also say this to those who may not read the repository
    ");
    let json = scene.run(&format!("module pull {NETWORK}@1.10.0 json --json")).success();
    assert_eq!(crate::json::check(&json).last().map(String::as_str), Some("module-pulled"));
    let lines = json.json();
    let by = &lines.last().expect("a line")["mapped_by"];
    assert_eq!((&by["file"], &by["line"]), (&Value::from("modules.toml"), &Value::from(2)));
}

#[test]
fn a_mistake_in_the_mapping_is_shown_with_its_line() {
    let scene = Scene::new();
    scene.mapping("[[module_mirror]]\ninclude = [\"acme/*/*\"]\nrepository_template = \"REGISTRY/${name}\"\n");
    assert_snapshot!(scene.pull(NETWORK).text, @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `acme/*/*` is not a pattern of modules: it must read HOST/NAMESPACE/NAME/SYSTEM
      --> modules.toml:2:12
      |
    2 | include = ["acme/*/*"]
      |            ^^^^^^^^^^

    hint: write HOST/NAMESPACE/NAME/SYSTEM, such as "registry.example.com/acme/*/*", or */*/*/* for every module
    hint: every member of the file: tofu-oci help modules
    "#);
    assert_snapshot!(scene.run(&format!("module versions {NETWORK} --modules lacking.toml")).text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the mapping of modules lacking.toml cannot be read
      cause: No such file or directory (os error [N])

    hint: modules.toml is looked for beside the configuration; --modules names another file
    ");
    scene.context.write(
        "invalid.toml",
        "[[module_mirror]]\ninclude = [\"*/*/*/*\"]\nrepository_template = \"ghcr.io/${namespace}/${name}/${target_system}/${hostname}\"\n",
    );
    assert_snapshot!(scene.run("module versions registry.example.test:8443/acme/network/aws --modules invalid.toml").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: requested module address registry.example.test:8443/acme/network/aws contains characters that are not valid in an OCI distribution repository name, so this module cannot be installed from an OCI repository as ghcr.io/acme/network/aws/registry.example.test:8443
      cause: the rule is invalid.toml:1

    hint: correct the template, or name the module in `exclude`
    ");
}
