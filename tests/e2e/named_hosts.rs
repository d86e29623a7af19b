//! `--token-host` and `--plain-http`: hosts that are refused unless the user names them. And registries with a scheme.

use std::collections::BTreeMap;

use insta::assert_snapshot;
use serde_json::json;
use tofu_oci_testkit::{
    ArrivalKind, Certificates, MockAuth, MockReleases, MockScript, MockSite, ShownLogin, TestContext,
};

use crate::setup::{Scene, WIDGET};

/// A registry under a name that is not of this machine, with a login for it.
struct Named {
    context: TestContext,
    mock: MockAuth,
    port: String,
}

const REPOSITORY: &str = "registry.example.test/acme/widget";
const REQUIRES: &str =
    "terraform {\n  required_providers {\n    widget = { source = \"registry.example.com/acme/widget\" }\n  }\n}\n";
const INSTALL: &str =
    "install registry.example.test/acme/widget --from registry.example.test/acme/widget --platform linux_amd64";

/// `{port}` in the script is that of the TLS listener on this machine.
fn named(script: &serde_json::Value, names: &[&str]) -> Named {
    let own = ["registry.example.test", "127.0.0.1", "localhost", "::1"];
    let bare = names.iter().map(|name| name.rsplit_once(':').map_or(*name, |(host, _)| host));
    let certificates = Certificates::for_names(&own.into_iter().chain(bare).collect::<Vec<_>>());
    let site = MockSite::open(&certificates);
    let port = site.port().to_owned();
    let script: MockScript = serde_json::from_str(&script.to_string().replace("{port}", &port)).expect("a script");
    let names: Vec<String> = ["registry.example.test:443"].iter().chain(names).map(ToString::to_string).collect();
    let mock = site.serve(script, &MockReleases::of(&["widget"]), BTreeMap::new(), &names);
    let mut context = TestContext::new();
    for (name, value) in mock.environment() {
        context.env(name, value);
    }
    context.write("ca.pem", certificates.ca_pem());
    let ca = context.work().join("ca.pem").display().to_string();
    context.env("SSL_CERT_FILE", ca);
    let config = json!({"auths": {"registry.example.test": {"auth": "YWRhOndvcmQ="}}});
    context.write_home(".docker/config.json", config.to_string());
    Named { context, mock, port }
}

impl Named {
    /// The exit code and standard error of an install with these options; `{port}` as in the script.
    fn install(&self, options: &str) -> (Option<i32>, String) {
        self.mock.forget();
        let line = format!("{INSTALL} --attempts 1 {options}").replace("{port}", &self.port);
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let output = self.context.run(env!("CARGO_BIN_EXE_tofu-oci"), &arguments);
        let _ = std::fs::remove_dir_all(self.context.work().join(".terraform"));
        (output.code, output.stderr.replace(&format!(":{}", self.port), ":[PORT]"))
    }

    /// What a kind of request showed.
    fn shown(&self, kind: ArrivalKind) -> Vec<ShownLogin> {
        self.mock.arrivals().into_iter().filter(|arrival| arrival.kind == kind).map(|arrival| arrival.shown).collect()
    }

    #[track_caller]
    fn check_refused(&self, options: &str, code: &str, hint: &str) {
        let (exit, said) = self.install(&format!("{options} --json"));
        assert_eq!(exit, Some(1), "{options}: {said}");
        assert_eq!(self.shown(ArrivalKind::Token), [], "{options}");
        let (_, said) = self.install(options);
        assert!(said.contains(hint), "{options}: {said}");
        let explained = format!("auth explain {REPOSITORY} --json {options}").replace("{port}", &self.port);
        let arguments: Vec<&str> = explained.split_whitespace().collect();
        let output = self.context.run(env!("CARGO_BIN_EXE_tofu-oci"), &arguments);
        assert!(output.stdout.contains(&format!("\"{code}\"")), "{options}: {}", output.stdout);
    }

    #[track_caller]
    fn check_allowed(&self, options: &str) {
        let (exit, said) = self.install(options);
        assert_eq!(exit, Some(0), "{options}: {said}");
        assert_eq!(self.shown(ArrivalKind::Token), [ShownLogin::Basic("ada:word".to_owned())], "{options}");
    }
}

#[test]
fn a_token_server_on_this_machine_or_at_an_address_is_asked_if_it_is_named() {
    let hint = "hint: if that server is the right one, allow it with --token-host HOST\n";
    for (host, code) in [
        ("127.0.0.1:{port}", "realm-private-address"),
        ("localhost:{port}", "realm-private-address"),
        ("10.1.2.3:5001", "realm-private-address"),
        ("192.168.7.8:443", "realm-private-address"),
        ("93.184.216.34:5001", "realm-other-site"),
    ] {
        let registry = named(
            &json!({"challenge": "bearer", "realm": format!("https://{host}/token")}),
            &["10.1.2.3:5001", "192.168.7.8:443", "93.184.216.34:5001"],
        );
        let bare = host.rsplit_once(':').map_or(host, |(bare, _)| bare);
        for options in
            ["", "--token-host auth.example.test", &format!("--token-host {bare}:1"), "--token-host 10.1.2.4"]
        {
            registry.check_refused(options, code, hint);
        }
        registry.check_allowed(&format!("--token-host {host}"));
        registry.check_allowed(&format!("--token-host {bare}"));
    }
}

#[test]
fn a_password_goes_over_plain_http_only_if_both_options_name_the_host() {
    let registry = named(&json!({"challenge": "bearer", "realm": "http://auth.example.test/token"}), &[]);
    let hint = "--token-host HOST and --plain-http HOST";
    for options in ["", "--token-host auth.example.test", "--plain-http auth.example.test"] {
        registry.check_refused(options, "realm-downgrade", hint);
    }
    registry.check_allowed("--token-host auth.example.test --plain-http auth.example.test");
}

#[test]
fn a_blob_is_fetched_over_plain_http_from_a_named_host_and_nothing_is_shown_there() {
    let registry = named(&json!({"challenge": "basic", "blob_redirect": "http://files.example.test/cdn/"}), &[]);
    for options in ["", "--plain-http other.example.test", "--plain-http files.example.test:81"] {
        let (exit, said) = registry.install(options);
        assert_eq!(exit, Some(1), "{options}: {said}");
        assert!(said.contains("it leads from HTTPS to plain HTTP on files.example.test"), "{options}: {said}");
        assert!(said.contains("hint: if that host is the right one, name it with --plain-http HOST"), "{said}");
        assert_eq!(registry.shown(ArrivalKind::Cdn), [], "{options}");
    }
    for options in ["--plain-http files.example.test", "--plain-http files.example.test:80"] {
        let (exit, said) = registry.install(options);
        assert_eq!(exit, Some(0), "{options}: {said}");
        let shown = registry.shown(ArrivalKind::Cdn);
        assert!(!shown.is_empty() && shown.iter().all(|shown| *shown == ShownLogin::Nothing), "{options}: {shown:?}");
    }
}

#[test]
fn a_repository_with_a_scheme_is_refused_with_the_name_to_write() {
    let scene = Scene::published();
    let hint = "hint: drop the scheme: [REGISTRY]/acme/widget";
    scene.key("p256.pem");
    scene.context.write("main.tf", REQUIRES);
    for scheme in ["https", "http", "docker"] {
        for verb in [
            format!("versions {scheme}://REGISTRY/acme/widget"),
            format!("install {WIDGET} --from {scheme}://REGISTRY/acme/widget"),
            format!("lock {WIDGET} --from {scheme}://REGISTRY/acme/widget"),
            format!("verify {WIDGET}@1.4.0 --from {scheme}://REGISTRY/acme/widget"),
            format!("resolve {WIDGET} --from {scheme}://REGISTRY/acme/widget"),
            format!("push dist {scheme}://REGISTRY/acme/widget --address {WIDGET}"),
            format!("pack dist {scheme}://REGISTRY/acme/widget --address {WIDGET}"),
            format!("copy {scheme}://REGISTRY/acme/widget oci:layout"),
            format!("copy REGISTRY/acme/widget {scheme}://REGISTRY/acme/widget"),
            format!("sign {scheme}://REGISTRY/acme/widget:1.4.0 --key p256.pem"),
            format!("check {scheme}://REGISTRY/acme/widget"),
            format!("check {scheme}://REGISTRY/acme/widget:1.4.0"),
            format!("auth explain {scheme}://REGISTRY/acme/widget"),
        ] {
            let said = scene.refuse(&verb);
            assert!(said.starts_with("exit code: 2\n"), "{verb}: {said}");
            assert!(said.contains("it is written without a scheme such as https://"), "{verb}: {said}");
            assert!(said.contains(hint), "{verb}: {said}");
        }
    }
    assert_snapshot!(scene.refuse("install registry.example.com/acme/widget --from 'https://REGISTRY/${namespace}/${type}'"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `https://[REGISTRY]/${namespace}/${type}` is not a repository address: it is written without a scheme such as https://

    hint: drop the scheme: '[REGISTRY]/${namespace}/${type}'
    ");
    scene.context.write_home(
        ".tofurc",
        "provider_installation {\n  oci_mirror {\n    repository_template = \"oci://ghcr.io/${hostname}/${namespace}/${type}\"\n  }\n}\n",
    );
    let said = scene.refuse(&format!("install {WIDGET}"));
    assert!(said.contains("write \"ghcr.io/${hostname}/${namespace}/${type}\", without the scheme"), "{said}");
}
