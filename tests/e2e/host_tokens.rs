//! Tokens for hosts that are no OCI registries: whose counts, who sees it, and where it never appears.

use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, Tunnel, WebServer};

use crate::setup::{Said, Scene, WIDGET};

/// The secret of every test.
const SECRET: &str = "sesame-9c1e";
const NAMED: &str = "credentials_helper \"vault\" {\n  args = [\"--pass\", \"opens-it\"]\n}\n\n\
                     provider_installation {\n  direct {}\n}\n";

/// A host of the internet with a document, and another one that it may redirect to.
struct Hosts {
    scene: Scene,
    web: WebServer,
    _tunnel: Tunnel,
}

impl Hosts {
    fn new() -> Self {
        let mut scene = Scene::published();
        let web = WebServer::start(&["registry.example.com", "other.example.com"]);
        let hosts = ["registry.example.com:443", "other.example.com:443"];
        let tunnel = Tunnel::start(hosts.map(|host| (host, web.address())));
        scene.context.env("HTTPS_PROXY", tunnel.url());
        scene.context.env("TOFU_OCI_CA_FILE", "ca.pem");
        scene.context.write("ca.pem", web.ca_pem().expect("it speaks TLS"));
        let hosts = Self { scene, web, _tunnel: tunnel };
        hosts.document_at("/.well-known/terraform.json");
        hosts
    }

    fn document_at(&self, path: &str) {
        let repositories = self.scene.registry.address();
        let document = format!(r#"{{"oci-providers.v1":"{repositories}/{{namespace}}/{{type}}"}}"#);
        self.web.page(path, Answer::new(200).header("Content-Type", "application/json").body(document));
    }

    /// Puts `terraform-credentials-vault` into a folder of plugins. Each call adds its arguments to `calls`.
    fn helper(&self, script: &str) {
        let path = ".terraform.d/plugins/terraform-credentials-vault";
        let script = format!("#!/bin/sh\necho \"$*\" >> \"$HOME/calls\"\n{script}\n");
        let path = self.scene.context.write_home(path, script);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    }

    fn calls(&self) -> String {
        std::fs::read_to_string(self.scene.context.home().join("calls")).unwrap_or_default()
    }

    /// Lists the versions of the provider, and holds that the secret appears in no output.
    fn versions(&self) -> Said {
        let here = format!("--private-host {}", self.scene.registry.address());
        let said = self.scene.run(&format!("versions {WIDGET} --provider {here} -vv"));
        assert!(!said.text.contains(SECRET) && !said.text.contains("opens-it"), "{}", said.text);
        said
    }

    /// The hosts that were asked since the last question, with what they were shown.
    fn shown(&self) -> Vec<String> {
        let requests = self.web.requests();
        let header = |one: &tofu_oci_testkit::LoggedRequest, name| one.header(name).unwrap_or("nothing").to_owned();
        requests.iter().map(|one| format!("{} {}", header(one, "host"), header(one, "authorization"))).collect()
    }
}

#[test]
fn the_token_of_a_helper_goes_to_its_host_and_appears_nowhere() {
    let hosts = Hosts::new();
    hosts.scene.home_file(".tofurc", NAMED);
    hosts.helper(&format!("echo '{{\"token\": \"{SECRET}\"}}'"));
    hosts.versions().success();
    assert_eq!(hosts.shown(), [format!("registry.example.com Bearer {SECRET}")]);
    assert_eq!(hosts.calls(), "--pass opens-it get registry.example.com\n");
    assert_snapshot!(hosts.scene.run("auth explain registry.example.com").text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com, as the host of providers or of a network mirror

    shows     a token: the helper terraform-credentials-vault of ~/.tofurc:1 has it
    where     with its documents alone: never with packages, nor after a redirect to another host
    OpenTofu  1.10 to 1.13: looks in the same places, in the same order
    registry  for repositories, not for this: `tofu-oci auth explain registry.example.com/REPOSITORY`

    ----- stderr -----
    ");
    assert_snapshot!(hosts.scene.run("auth explain https://u:p@registry.example.com/mirror/ --json").text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"host-token","host":"registry.example.com","shows":"token","source":"credentials_helper","name":"terraform-credentials-vault","file":"~/.tofurc","line":1,"code":null,"reason":"the helper terraform-credentials-vault of ~/.tofurc:1 has it"}

    ----- stderr -----
    "#);
    hosts.scene.context.write_home(".terraform.d/credentials.tfrc.json", login("of-login"));
    assert_snapshot!(hosts.scene.run("auth explain registry.example.com").text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com, as the host of providers or of a network mirror

    shows     a token: the credentials block in ~/.terraform.d/credentials.tfrc.json:1 has it
    where     with its documents alone: never with packages, nor after a redirect to another host
    OpenTofu  1.10 to 1.13: looks in the same places, in the same order
    registry  for repositories, not for this: `tofu-oci auth explain registry.example.com/REPOSITORY`

    ----- stderr -----
    ");
    assert_snapshot!(hosts.scene.run("auth explain registry.example.com:8443 --anonymous").text, @"
    exit code: 0
    ----- stdout -----
    registry.example.com:8443, as the host of providers or of a network mirror

    shows     nothing: the arguments say who asks
    OpenTofu  1.10 to 1.13: looks in the same places, in the same order
    registry  for repositories, not for this: `tofu-oci auth explain
              registry.example.com:8443/REPOSITORY`

    ----- stderr -----
    ");
}

/// What `tofu login` writes.
fn login(token: &str) -> String {
    format!(r#"{{"credentials": {{"registry.example.com": {{"token": "{token}"}}}}}}"#)
}

#[test]
fn a_login_of_tofu_counts_and_a_variable_comes_before_it() {
    let mut hosts = Hosts::new();
    hosts.scene.context.write_home(".terraform.d/credentials.tfrc.json", login(SECRET));
    hosts.versions().success();
    hosts.scene.context.env("TF_TOKEN_registry_example_com", "of-variable");
    hosts.versions().success();
    hosts.scene.context.env("TF_TOKEN_registry_example_com", "");
    hosts.versions().success();
    let shown = [format!("Bearer {SECRET}"), "Bearer of-variable".to_owned(), "nothing".to_owned()];
    assert_eq!(hosts.shown(), shown.map(|shown| format!("registry.example.com {shown}")));
}

#[test]
fn a_redirect_to_another_host_goes_without_the_token() {
    let mut hosts = Hosts::new();
    hosts.scene.context.env("TF_TOKEN_registry_example_com", SECRET);
    hosts.web.clear();
    let to = |place: &str| Answer::new(302).header("Location", place);
    hosts.web.page("/.well-known/terraform.json", to("/here"));
    hosts.web.page("/here", to("https://other.example.com/there"));
    hosts.document_at("/there");
    hosts.versions().success();
    let token = format!("registry.example.com Bearer {SECRET}");
    assert_eq!(hosts.shown(), [token.clone(), token, "other.example.com nothing".to_owned()]);
}

#[test]
fn a_helper_that_fails_costs_a_warning_and_its_words_are_not_repeated() {
    let hosts = Hosts::new();
    hosts.scene.home_file(".tofurc", NAMED);
    hosts.helper(&format!("echo '{SECRET}'; echo '{SECRET}' >&2; exit 7"));
    let here = format!("--private-host {}", hosts.scene.registry.address());
    assert_snapshot!(hosts.scene.run(&format!("versions {WIDGET} --provider {here}")).text, @"
    exit code: 0
    ----- stdout -----
    1.4.0

    ----- stderr -----
    warning: the token of registry.example.com is unknown: terraform-credentials-vault ended with exit code 7; it is named by ~/.tofurc:1
      hint: run the helper by hand to see what is wrong with it: [HOME]/.terraform.d/plugins/terraform-credentials-vault ARGS get registry.example.com, with the args of ~/.tofurc:1
    ");
    assert_eq!(hosts.shown(), ["registry.example.com nothing"]);
    assert_snapshot!(hosts.scene.refuse("auth explain registry.example.com"), @"
    exit code: 1
    ----- stdout -----
    registry.example.com, as the host of providers or of a network mirror

    shows     nothing: terraform-credentials-vault ended with exit code 7; it is named by ~/.tofurc:1
    OpenTofu  1.10 to 1.13: looks in the same places, in the same order
    registry  for repositories, not for this: `tofu-oci auth explain registry.example.com/REPOSITORY`

    ----- stderr -----
    error: the token of registry.example.com is unknown: terraform-credentials-vault ended with exit code 7; it is named by ~/.tofurc:1

    hint: run the helper by hand to see what is wrong with it: [HOME]/.terraform.d/plugins/terraform-credentials-vault ARGS get registry.example.com, with the args of ~/.tofurc:1
    ");
}

#[test]
fn a_helper_that_is_not_there_is_a_warning_and_anonymous_callers_run_none() {
    let hosts = Hosts::new();
    hosts.scene.home_file(".tofurc", NAMED);
    let here = format!("--private-host {}", hosts.scene.registry.address());
    assert_snapshot!(hosts.scene.run(&format!("versions {WIDGET} --provider {here}")).text, @"
    exit code: 0
    ----- stdout -----
    1.4.0

    ----- stderr -----
    warning: terraform-credentials-vault is in no folder of plugins; it is named by ~/.tofurc:1
      hint: install the helper in ~/.terraform.d/plugins, or remove the block in ~/.tofurc:1
    ");
    hosts.helper(&format!("echo '{{\"token\": \"{SECRET}\"}}'"));
    hosts.scene.run(&format!("versions {WIDGET} --provider {here} --anonymous")).success();
    assert_eq!(hosts.shown(), ["registry.example.com nothing", "registry.example.com nothing"]);
    assert_eq!(hosts.calls(), "");
}
