//! `run` and the modules that `modules.toml` maps.
#![cfg(unix)]

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, Behaviour, Deletion, Fault, Rule, WebServer};

use crate::setup::Scene;

/// Shell functions: `services` prints the host blocks of the command's configuration, `get PATH` asks the registry of modules.
const CLIENT: &str = r#"
authority="${SSL_CERT_DIR%%:*}/ca.pem"
services() { sed -n '/^host/,/^}/p' "$TF_CLI_CONFIG_FILE" | sed -E 's#127.0.0.1:[0-9]+/[^/]+#SERVER/SECRET#; s#127.0.0.1:[0-9]+#WEB#'; }
base=$(sed -nE 's/.*"modules.v1" = "([^"]*)".*/\1/p' "$TF_CLI_CONFIG_FILE")
get() { curl -sS --noproxy '*' --cacert "$authority" "$@"; }
"#;

const MAPPING: &str = r#"
[[module_mirror]]
include = ["registry.example.test/*/*/*"]
repository_template = "REGISTRY/${namespace}/${name}-${target_system}"
"#;

impl Scene {
    fn with_mapping(mapping: &str) -> Self {
        let scene = Self::new();
        scene.context.write("network/main.tf", "# 1.0.0\n");
        scene.run("module push network REGISTRY/acme/network-aws --version 1.0.0").success();
        scene.context.write("modules.toml", mapping.replace("REGISTRY", scene.registry.address()));
        scene.context.write_home(
            ".tofurc",
            "provider_installation {\n  direct {\n    exclude = [\"registry.example.test/*/*\"]\n  }\n}\n",
        );
        scene
    }

    fn module_client(&self, script: &str) {
        self.context.write("client.sh", format!("{CLIENT}{script}"));
    }
}

#[test]
fn a_command_finds_mapped_modules_at_the_host_of_their_address() {
    let scene = Scene::with_mapping(MAPPING);
    scene.module_client(
        "services
         get \"${base}acme/network/aws/versions\"; echo
         get \"${base}acme/network/aws/1.0.0/download\" | sed -E 's#127.0.0.1:[0-9]+/[^/]+#SERVER/SECRET#; s#sha256:.*#sha256:…#'; echo
         archive=$(get -D - -o /dev/null \"${base}acme/network/aws/1.0.0/download\" | sed -nE 's/^x-terraform-get: ([^?]*).*/\\1/pi' | tr -d '\\r')
         get -o /dev/null -w '%{http_code}\\n' \"$archive\"
         get -o /dev/null -w '%{http_code}\\n' \"$(echo \"$base\" | sed -E 's#(https://[^/]*/)[^/]*/#\\1#')acme/network/aws/versions\"
         get -o /dev/null -w '%{http_code}\\n' \"$(echo \"$base\" | sed -E 's#(https://[^/]*/)[^/]*/#\\1other/#')acme/network/aws/versions\"",
    );
    assert_snapshot!(scene.run("run -- sh client.sh").text, @r#"
    exit code: 0
    ----- stdout -----
    host "registry.example.test" {
      services = { "modules.v1" = "https://SERVER/SECRET/modules/registry.example.test/" }
    }
    {"modules":[{"versions":[{"version":"1.0.0"}]}]}
    {"location":"https://SERVER/SECRET/modules/registry.example.test/acme/network/aws/1.0.0/network-aws_1.0.0.zip?checksum=sha256:…
    200
    404
    404

    ----- stderr -----
    "#);
}

#[test]
fn the_other_services_of_a_host_stay() {
    let mut scene = Scene::with_mapping(MAPPING);
    let web = WebServer::start(&[]);
    scene.context.write("ca.pem", web.ca_pem().expect("it speaks TLS"));
    scene.context.env("TOFU_OCI_CA_FILE", "ca.pem");
    web.page("/.well-known/terraform.json", Answer::json(
        &serde_json::json!({ "providers.v1": "/v1/providers/", "modules.v1": "/v1/modules/", "login.v1": { "client": "cli", "ports": [1, 2] } }),
    ));
    // By the user's own block.
    let block = "host \"registry.example.test\" {\n  services = { \"providers.v1\" = \"https://own.example/p/\", \"modules.v1\" = \"https://own.example/m/\" }\n}\n";
    scene.context.write_home(".tofurc", block);
    scene.module_client("services");
    assert_snapshot!(scene.run("run -- sh client.sh").text, @r#"
    exit code: 0
    ----- stdout -----
    host "registry.example.test" {
      services = { "modules.v1" = "https://SERVER/SECRET/modules/registry.example.test/", "providers.v1" = "https://own.example/p/" }
    }

    ----- stderr -----
    "#);
    // By what the host says of itself.
    let host = web.origin().trim_start_matches("https://").to_owned();
    scene.context.write_home(".tofurc", "");
    scene.context.write(
        "modules.toml",
        MAPPING.replace("registry.example.test", &host).replace("REGISTRY", scene.registry.address()),
    );
    assert_snapshot!(scene.run("run -- sh client.sh").text.replace(&host, "HOST"), @r#"
    exit code: 0
    ----- stdout -----
    host "WEB" {
      services = { "modules.v1" = "https://SERVER/SECRET/modules/WEB/", "providers.v1" = "https://127.0.0.1:[PORT]/v1/providers/" }
    }

    ----- stderr -----
    "#);
}

/// In HCL 1 a string with `${` goes on until its `}`, whatever quotes come in between. The first service takes the reader out
/// of step with the writer, and the second is then read as blocks.
#[test]
fn a_discovery_document_opens_no_block_for_another_host() {
    let mut scene = Scene::with_mapping(MAPPING);
    let web = WebServer::start(&[]);
    scene.context.write("ca.pem", web.ca_pem().expect("it speaks TLS"));
    scene.context.env("TOFU_OCI_CA_FILE", "ca.pem");
    let block = format!(
        "=1,/*${{{{{{{{{{{{*/x=2}}\n}}\nhost \"victim.example\" {{\n  services = {{ \"providers.v1\" = \"{}/v1/\" }}\n}}\n/*",
        web.origin()
    );
    web.page(
        "/.well-known/terraform.json",
        Answer::json(&serde_json::json!({
            "!${": { "k": "}" },
            block: "x",
            "providers.v1": "/v1/providers/?a=${b%{c",
            "tfe.v2": "/api/\"\n}\nhost \"victim.example\" {",
            "tfe.v2.1": "ftp://evil.example/",
            "tfe.v2.2": { "k": "v" },
            "versions.v1": "https://user:secret@evil.example/",
            "oci-providers.v1": "ghcr.io/${namespace}/{type}\"",
            "zz": "${{{{*/ host \"other.example\" { services = { q = \"",
        })),
    );
    let host = web.origin().trim_start_matches("https://").to_owned();
    scene.context.write_home(".tofurc", "credentials \"victim.example\" {\n  token = \"secret\"\n}\n");
    scene.context.write(
        "modules.toml",
        MAPPING.replace("registry.example.test", &host).replace("REGISTRY", scene.registry.address()),
    );
    scene.module_client(
        "services; grep -c victim.example \"$TF_CLI_CONFIG_FILE\"; grep -c '^credentials' \"$TF_CLI_CONFIG_FILE\"",
    );
    assert_snapshot!(scene.run("run -- sh client.sh").text.replace(&host, "HOST"), @r#"
    exit code: 0
    ----- stdout -----
    host "WEB" {
      services = { "modules.v1" = "https://SERVER/SECRET/modules/WEB/", "providers.v1" = "https://127.0.0.1:[PORT]/v1/providers/?a=\u0024{b%{c", "tfe.v2" = "https://127.0.0.1:[PORT]/api/%22%7Dhost%20%22victim.example%22%20%7B" }
    }
    2
    1

    ----- stderr -----
    "#);
}

#[test]
fn what_the_mapping_does_not_reach_is_said() {
    let scene = Scene::with_mapping(
        "[[module_mirror]]\ninclude = [\"*/*/*/*\"]\nrepository_template = \"REGISTRY/${hostname}/${namespace}/${name}-${target_system}\"\n",
    );
    assert_snapshot!(scene.run("run -- true").text, @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    note: the modules of */*/*/* do not come from the mapping: `run` needs the names of their hosts
      hint: name each host in `include`: "registry.opentofu.org/*/*/*"
    error: [HOME]/.tofurc has no oci_mirror, so `run` does not know which repositories to serve

    hint: name them: tofu-oci run --template 'ghcr.io/acme/${namespace}/${type}' --include 'registry.example.com/*/*' -- true
    hint: or write the block into ~/.tofurc: tofu-oci config add 'registry.example.com/*/*' 'ghcr.io/acme/${namespace}/${type}'
    hint: or say where modules of registries are: a [[module_mirror]] in modules.toml; see `tofu-oci help modules`
    "#);
    let scene = Scene::with_mapping(&MAPPING.replace("test/*/*/*", "test/acme/*/*"));
    assert_snapshot!(scene.run("run -- true").text, @r#"
    exit code: 0
    ----- stdout -----

    ----- stderr -----
    note: the command finds no other modules of registry.example.test than those of the mapping
      hint: map the others too: include = ["registry.example.test/*/*/*"]
    "#);
    scene.module_client("get \"${base}acme/nothing/aws/versions\" -o /dev/null; exit 3");
    assert_snapshot!(scene.run("run -q -- sh client.sh").text, @"
    exit code: 3
    ----- stdout -----

    ----- stderr -----
    error: registry.example.test/acme/nothing/aws was not found in the place that it is served from

    hint: modules.toml says which repository a module is in: tofu-oci help modules
    ");
    scene.context.write("modules.toml", "[[module_mirror]]\ninclude = []\nrepository_template = \"a.example/b\"\n");
    assert_eq!(scene.run("run -- true").code, Some(2));
}

#[test]
fn the_reason_of_a_withdrawal_reaches_the_client_and_the_user_of_run() {
    let scene = Scene::with_mapping(MAPPING);
    scene.registry.set_behaviour(Behaviour { deletion: Deletion::Enabled, ..Behaviour::default() });
    scene.run("withdraw REGISTRY/acme/network-aws:1.0.0 --reason 'opens port 22'").success();
    scene.module_client("get -w ' %{http_code}' \"${base}acme/network/aws/1.0.0/download\"; echo; exit 1");
    assert_snapshot!(scene.run("run -- sh client.sh").text, @r#"
    exit code: 1
    ----- stdout -----
    {"errors":["registry.example.test/acme/network/aws 1.0.0 was withdrawn by its publisher: opens port 22"]} 404

    ----- stderr -----
    error: registry.example.test/acme/network/aws 1.0.0 was withdrawn by its publisher: opens port 22

    hint: modules.toml says which repository a module is in: tofu-oci help modules
    "#);
}

#[test]
fn a_module_that_says_another_address_was_handed_out_without_a_word() {
    let scene = Scene::with_mapping(MAPPING);
    let said = "--annotation org.opentofu.module.address=registry.example.test/evil/network/aws";
    scene.context.write("network/main.tf", "# 2.0.0\n");
    scene.run(&format!("module push network REGISTRY/acme/network-aws --version 2.0.0 {said}")).success();
    scene.module_client("get \"${base}acme/network/aws/2.0.0/download\" > /dev/null");
    let noted = "as registry.example.test/evil/network/aws, not as registry.example.test/acme/network/aws";
    for line in [
        "run -- sh client.sh",
        "module pull registry.example.test/acme/network/aws@2.0.0 pulled",
        "resolve registry.example.test/acme/network/aws@2.0.0",
        "resolve registry.example.test/acme/network/aws@2.0.0 --explain",
        "verify registry.example.test/acme/network/aws@2.0.0",
    ] {
        let said = scene.run(line);
        assert!(said.stderr.contains(noted), "{line}\n{}", said.text);
    }
    let said = scene.run("module pull registry.example.test/acme/network/aws@2.0.0 again --json").success();
    assert!(said.text.contains("\"other-address\""), "{}", said.text);
}

#[test]
fn an_archive_of_a_module_that_a_registry_refuses_was_not_mentioned() {
    let scene = Scene::with_mapping(MAPPING);
    scene.module_client("get -o /dev/null \"${base}acme/network/aws/1.0.0/network-aws_1.0.0.zip\"; exit 1");
    // The first request is for the end of the zip.
    scene.registry.fault(Rule::on("GET", "/v2/acme/network-aws/blobs/*").after(1).then(Fault::SetStatus(403)));
    let said = scene.run("run -- sh client.sh");
    assert!(said.stderr.contains("error: registry.example.test/acme/network/aws: "), "{}", said.text);
}
