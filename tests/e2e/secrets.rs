//! No output contains a secret, whatever fails and however verbose the run is.
#![cfg(unix)]

use std::collections::BTreeSet;

use insta::assert_snapshot;
use serde_json::json;
use tofu_oci_testkit::{Answer, Auth, Bearer, BlobHost, Fault, Registry, RegistryBuilder, Rule, TokenAddress};

use crate::setup::logins::{PASSWORD, ada, basic, encoded};
use crate::setup::{Said, Scene, WIDGET};

/// How credentials reach the program.
#[derive(Clone, Copy, Debug)]
enum Way {
    Block,
    EncodedAuth,
    Helper,
    IdentityToken,
    RegistryToken,
}

const WAYS: [Way; 5] = [Way::Block, Way::EncodedAuth, Way::Helper, Way::IdentityToken, Way::RegistryToken];

/// A stage with credentials, and everything that must not be said.
struct Vault {
    scene: Scene,
    secrets: BTreeSet<String>,
}

impl Vault {
    fn new(registry: RegistryBuilder, way: Way) -> Self {
        let mut scene = Scene::with(registry);
        scene.dist("dist", "1.4.0");
        let address = scene.registry.address().to_owned();
        let encoded = encoded(&ada());
        let mut secrets = BTreeSet::from([PASSWORD.to_owned(), encoded.clone()]);
        let config = match way {
            Way::Block => {
                let text = format!(
                    "oci_credentials \"{address}\" {{\n  username = \"ada\"\n  password = \"{PASSWORD}\"\n}}\n"
                );
                scene.context.write_home(".tofurc", text);
                json!({})
            }
            Way::EncodedAuth => json!({"auths": {address: {"auth": encoded}}}),
            Way::Helper => {
                let answer = json!({"ServerURL": "x", "Username": "ada", "Secret": PASSWORD});
                scene.helper("vault", &format!("echo 'speaking {PASSWORD}' >&2\nprintf '%s' '{answer}'"));
                json!({"credHelpers": {address: "vault"}})
            }
            Way::IdentityToken => {
                let token = scene.registry.issue_refresh_token("ada");
                secrets.insert(token.clone());
                json!({"auths": {address: {"username": "00000000-0000-0000-0000-000000000000", "identitytoken": token}}})
            }
            Way::RegistryToken => {
                let token = scene.registry.issue_token(&["repository:acme/widget:pull,push"]);
                secrets.insert(token.clone());
                let text = format!(
                    "oci_credentials \"{address}\" {{\n  access_token = \"{token}\"\n  refresh_token = \"{PASSWORD}\"\n}}\n"
                );
                scene.context.write_home(".tofurc", text);
                json!({})
            }
        };
        scene.context.write_home(".docker/config.json", config.to_string());
        Self { scene, secrets }
    }

    /// Runs a command in each way of telling; nothing secret is said.
    #[track_caller]
    fn run(&mut self, line: &str) -> Said {
        for options in ["-vvv", "-vvv --json"] {
            let said = self.scene.run(&format!("{line} {options}"));
            self.check(&said);
        }
        let said = self.scene.run(line);
        self.check(&said);
        said
    }

    #[track_caller]
    fn check(&mut self, said: &Said) {
        assert!(!said.stderr.contains("a bug in tofu-oci"), "{}", said.text);
        // Tokens that were handed out in between are secret too.
        for request in self.scene.registry.requests().iter().chain(&self.scene.registry.token_requests()) {
            let value = request.header("authorization").unwrap_or_default();
            self.secrets.extend(value.split_once(' ').map(|(_, secret)| secret.to_owned()));
        }
        for secret in &self.secrets {
            for stream in [&said.stdout, &said.stderr] {
                assert!(!stream.contains(secret.as_str()), "a secret was said: {secret}\n{}", said.text);
            }
        }
    }

    /// Writes, installs and copies; everything that was said without `-vvv`.
    #[track_caller]
    fn run_all(&mut self) -> String {
        let push = self.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --attempts 1"));
        let from = "--from REGISTRY/acme/widget --platform linux_amd64 --attempts 1";
        let install = self.run(&format!("install {WIDGET} {from}"));
        let copy = self.run("copy REGISTRY/acme/widget oci:layout --attempts 1");
        push.text + &install.text + &copy.text
    }
}

fn bearer(address: TokenAddress) -> RegistryBuilder {
    Registry::builder().auth(Auth::Bearer(Bearer { address, ..Bearer::new(ada()) }))
}

fn works_with(registry: RegistryBuilder, way: Way) -> Vault {
    let mut vault = Vault::new(registry, way);
    let said = vault.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}"));
    assert_eq!(said.code, Some(0), "{way:?}: {}", said.text);
    let said = vault.run(&format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64"));
    assert_eq!(said.code, Some(0), "{way:?}: {}", said.text);
    vault
}

/// Whoever quotes an argument: the parser of a type, clap, an excerpt, a hint; in a variable too.
#[test]
fn a_password_typed_in_an_address_is_never_repeated() {
    let mut scene = Scene::new();
    let lines = [
        "resolve https://LOGIN@h.example/acme/zap",
        "resolve LOGIN@h.example/acme/zap",
        "resolve --json LOGIN@h.example/acme/zap",
        "install a/b@https://LOGIN@h.example",
        "lock https://LOGIN@h.example/acme/zap",
        "verify LOGIN@h.example/acme/zap@1.0",
        "versions acme/zap --from=LOGIN@h.example/a/b",
        "copy https://LOGIN@h.example/a/b oci:x --all",
        "mirror acme/zap --to LOGIN@h.example/a/b",
        "mirror https://LOGIN@h.example/acme/zap --to oci:x",
        "config snippet a.example/*/* LOGIN@h.example/${namespace}/${type}",
        "config snippet https://LOGIN@h.example/*/* h.example/${namespace}/${type}",
        "serve --from LOGIN@h.example/${namespace}-${type}",
        "resolve a.example/b/c --magic-suffix LOGIN@h.example",
        "resolve a.example/b/c --chdir https://LOGIN@h.example",
        "resolve a.example/b/c https://LOGIN@h.example",
        "check x --rule LOGIN@h.example",
        "pack . --address https://LOGIN@h.example/a/b",
        "help https://LOGIN@h.example",
        "resolv https://LOGIN@h.example",
        "module pull git::https://LOGIN@127.0.0.1:1/x.git --to there",
        "module versions LOGIN@h.example/x",
    ];
    let check = |scene: &Scene, line: &str| {
        let said = scene.run(line);
        assert_ne!(said.code, Some(0), "{line}: {}", said.text);
        assert!(!said.stdout.contains("s3cr3t") && !said.stderr.contains("s3cr3t"), "{line}: {}", said.text);
    };
    for line in lines {
        check(&scene, &line.replace("LOGIN", "ada:s3cr3t"));
    }
    assert_snapshot!(scene.run("resolve ada:s3cr3t@h.example/acme/zap").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `***@h.example/acme/zap` is not a provider address: `***@h.example` is not a hostname: after the colon there must be a port number

    hint: write HOST/NAMESPACE/TYPE, such as registry.example.com/acme/widget
    ");
    scene.context.env("TOFU_OCI_CA_FILE", "https://ada:s3cr3t@h.example/ca.pem");
    check(&scene, "versions h.example/a/b");
}

#[test]
fn every_way_of_giving_credentials_works_and_says_nothing() {
    for way in [Way::Block, Way::EncodedAuth, Way::Helper] {
        works_with(basic(), way);
    }
    for way in WAYS {
        works_with(bearer(TokenAddress::SameListener), way);
    }
    works_with(bearer(TokenAddress::OwnListener), Way::Block);
}

#[test]
fn failing_registries_make_nobody_tell() {
    for way in WAYS {
        for status in [403, 500] {
            let mut vault = Vault::new(bearer(TokenAddress::SameListener), way);
            vault.scene.registry.fault(Rule::on("*", "/v2/*").after(2).then(Fault::status(status, "BROKEN")));
            vault.run_all();
        }
    }
}

#[test]
fn a_registry_that_repeats_what_it_was_told_makes_nobody_tell() {
    let header = ada().basic_header();
    for text in [header.clone(), format!("wrong password {PASSWORD}"), format!("Authorization: {header}")] {
        for answer in [Answer::error(403, "DENIED", &text), Answer::text(500, &text)] {
            let mut vault = Vault::new(basic(), Way::Block);
            let told = Rule::when(|request| request.headers.contains_key("authorization"));
            vault.scene.registry.fault(told.then(Fault::Answer(answer)));
            vault.run_all();
            let told = |request: &tofu_oci_testkit::LoggedRequest| request.header("authorization").is_some();
            assert!(vault.scene.registry.requests().iter().any(told), "the registry was told nothing");
        }
    }
}

#[test]
fn no_secret_is_said_of_a_token_endpoint_that_fails() {
    for way in WAYS {
        let mut vault = Vault::new(bearer(TokenAddress::OwnListener), way);
        // A registry token is shown without asking for another one.
        let asks = !matches!(way, Way::RegistryToken);
        vault.scene.registry.token_fault(Rule::on("*", "*").then(Fault::status(500, "BROKEN")));
        let said = vault.run_all();
        assert_eq!(said.contains("500"), asks, "{way:?}: {said}");
        vault.scene.registry.clear_faults();
        let answer = Answer::new(401).body(format!("no such user: ada / {PASSWORD}"));
        vault.scene.registry.token_fault(Rule::on("*", "*").then(Fault::Answer(answer)));
        let said = vault.run_all();
        assert_eq!(said.contains("(status 401)"), asks, "{way:?}: {said}");
    }
}

#[test]
fn a_signed_address_is_said_without_its_query() {
    let mut vault = works_with(basic(), Way::Block);
    let host = BlobHost::start(&vault.scene.registry);
    vault.secrets.insert("X-Signature=topsecret".to_owned());
    let location = format!("{}/v2/gone?X-Signature=topsecret", host.signed_prefix());
    let answer = Answer::new(307).header("Location", location);
    vault.scene.registry.fault(Rule::on("GET", "/v2/*/blobs/*").then(Fault::Answer(answer)));
    vault.run("copy REGISTRY/acme/widget oci:layout --attempts 1");
}

#[test]
fn a_helper_that_fails_makes_nobody_tell() {
    let mut vault = Vault::new(basic(), Way::Helper);
    let path = vault.scene.context.home().join("bin/docker-credential-vault");
    // What a failed helper says may be a secret.
    std::fs::write(&path, "#!/bin/sh\necho 'the vault is sealed'\nexit 1\n").expect("it is ours");
    let said = vault.run("versions REGISTRY/acme/widget");
    assert_snapshot!(said.text, @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: no credentials for [REGISTRY]/acme/widget: credential helper vault failed: exit status 1; what it wrote may hold a secret and is not repeated; it is named by credHelpers "[REGISTRY]": "vault" in ~/.docker/config.json:1

    hint: run the helper by hand to see what is wrong with it: printf %s https://[REGISTRY] | docker-credential-vault get
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
    let answer = format!("{{\"Username\": \"ada\", \"Secret\": \"{PASSWORD}\"}}");
    std::fs::write(&path, format!("#!/bin/sh\necho '{answer}'\nexit 1\n")).expect("it is ours");
    let said = vault.run("versions REGISTRY/acme/widget");
    assert_snapshot!(said.text, @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: no credentials for [REGISTRY]/acme/widget: credential helper vault failed: exit status 1; what it wrote may hold a secret and is not repeated; it is named by credHelpers "[REGISTRY]": "vault" in ~/.docker/config.json:1

    hint: run the helper by hand to see what is wrong with it: printf %s https://[REGISTRY] | docker-credential-vault get
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
    std::fs::write(&path, format!("#!/bin/sh\necho '{{\"Secret\": \"{PASSWORD}\"'\n")).expect("it is ours");
    let said = vault.run("versions REGISTRY/acme/widget");
    assert_snapshot!(said.text, @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: no credentials for [REGISTRY]/acme/widget: the answer of credential helper vault is not an object with Username and Secret; it is named by credHelpers "[REGISTRY]": "vault" in ~/.docker/config.json:1

    hint: run the helper by hand to see what is wrong with it: printf %s https://[REGISTRY] | docker-credential-vault get
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
    std::fs::remove_file(&path).expect("it is ours");
    let said = vault.run("versions REGISTRY/acme/widget");
    assert_snapshot!(said.text, @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: no credentials for [REGISTRY]/acme/widget: docker-credential-vault is not on the PATH; it is named by credHelpers "[REGISTRY]": "vault" in ~/.docker/config.json:1

    hint: install the helper in a folder of the PATH, or take its name out of ~/.docker/config.json:1 and log in again
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
}

#[test]
fn a_credential_file_that_is_broken_is_passed_over_without_being_quoted() {
    let mut vault = Vault::new(Registry::builder(), Way::Block);
    let broken = format!("{{\"auths\": {{\"x\": {{\"password\": \"{PASSWORD}\" oops");
    vault.scene.context.write_home(".docker/config.json", broken);
    let said = vault.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}"));
    assert_eq!(said.code, Some(0));
    let said = vault.run("versions REGISTRY/acme/widget");
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    1.4.0

    ----- stderr -----
    warning: ~/.docker/config.json:1: it is left out: it is not JSON: expected `,` or `}` at column 54; OpenTofu then reads no ambient file at all
    ");
}
