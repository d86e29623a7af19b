//! Every kind of source of credentials serves a push and an installation; who is asked, and how often.

use serde_json::{Value, json};
use tofu_oci_testkit::{Auth, Bearer, Login, Registry, RegistryBuilder, TokenAddress};

use crate::setup::{Scene, WIDGET};

/// A registry that lets one user in.
pub(crate) fn basic() -> RegistryBuilder {
    Registry::builder().auth(Auth::Basic(Login::new("ada", "secret")))
}

/// The same with a token server.
pub(crate) fn bearer() -> RegistryBuilder {
    let bearer = Bearer::new(Login::new("ada", "secret"));
    Registry::builder().auth(Auth::Bearer(Bearer { address: TokenAddress::SameListener, ..bearer }))
}

/// `auth` of the user with access.
pub(crate) fn auth() -> String {
    Login::new("ada", "secret").basic_header().replace("Basic ", "")
}

impl Scene {
    /// A credential file with this user for the registry.
    pub(crate) fn auths(&self) -> Value {
        json!({"auths": {self.registry.address(): {"auth": auth()}}})
    }

    /// Pushes and installs.
    #[track_caller]
    fn works(&self) {
        let said = self.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}")).success();
        assert!(!said.stderr.contains("warning"), "{}", said.text);
        let said = self.run(&format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64")).success();
        assert!(!said.stderr.contains("warning"), "{}", said.text);
    }
}

/// With both ways of a registry to ask: what `give` puts there lets a push and an installation through, and the helpers
/// are called so by each of the two.
#[track_caller]
fn check(give: impl Fn(&mut Scene), calls: &[&str]) {
    for registry in [basic(), bearer()] {
        let mut scene = Scene::with(registry);
        scene.dist("dist", "1.4.0");
        let refused = scene.refuse("versions REGISTRY/acme/widget");
        assert!(refused.starts_with("exit code: 1"), "{refused}");
        give(&mut scene);
        scene.works();
        assert_eq!(scene.helper_calls(), [calls, calls].concat());
    }
}

#[test]
fn files_where_docker_and_podman_keep_them() {
    for name in [".config/containers/auth.json", ".docker/config.json", ".dockercfg"] {
        check(|scene| drop(scene.context.write_home(name, scene.auths().to_string())), &[]);
    }
    for (variable, folder, name) in [
        ("XDG_RUNTIME_DIR", "run", "run/containers/auth.json"),
        ("XDG_CONFIG_HOME", "xdg", "xdg/containers/auth.json"),
        ("DOCKER_CONFIG", "docker", "docker/config.json"),
        ("REGISTRY_AUTH_FILE", "auth.json", "auth.json"),
    ] {
        let give = |scene: &mut Scene| {
            scene.context.write_home(name, scene.auths().to_string());
            let value = scene.context.home().join(folder).display().to_string();
            scene.context.env(variable, value);
        };
        check(give, &[]);
    }
}

#[test]
fn a_relative_folder_counts_from_the_working_directory() {
    check(
        |scene| {
            scene.context.write("xdg/containers/auth.json", scene.auths().to_string());
            scene.context.env("XDG_CONFIG_HOME", "xdg");
        },
        &[],
    );
}

#[test]
fn helpers_that_files_name_are_asked_once_a_run() {
    let asked = ["vault get [https://REGISTRY]"];
    let helpers = |scene: &mut Scene| json!({"credHelpers": {scene.registry.address(): "vault"}});
    for file in [&helpers as &dyn Fn(&mut Scene) -> Value, &|_| json!({"credsStore": "vault"})] {
        let give = |scene: &mut Scene| {
            scene.helper_with("vault", "ada", "secret");
            let file = file(scene);
            scene.context.write_home(".docker/config.json", file.to_string());
        };
        check(give, &asked);
    }
}

#[test]
fn a_helper_need_not_read_its_input() {
    check(
        |scene| {
            scene.helper_with("vault", "ada", "secret");
            let path = scene.context.home().join("bin/docker-credential-vault");
            let answer = json!({"Username": "ada", "Secret": "secret"});
            std::fs::write(path, format!("#!/bin/sh\nexec <&-\necho chatter >&2\necho '{answer}'\n"))
                .expect("it is ours");
            scene.context.write_home(".docker/config.json", json!({"credsStore": "vault"}).to_string());
        },
        &[],
    );
}

#[test]
fn a_login_that_docker_keeps_under_the_bare_host_is_found() {
    let give = |scene: &mut Scene| {
        let known = "case \"$input\" in https:*) echo credentials not found in native keychain; exit 1;; esac\n";
        let answer = json!({"Username": "ada", "Secret": "secret"});
        scene.helper("vault", &format!("{known}echo '{answer}'"));
        let file = json!({"auths": {scene.registry.address(): {}}, "credsStore": "vault"});
        scene.context.write_home(".docker/config.json", file.to_string());
    };
    check(give, &["vault get [https://REGISTRY]", "vault get [REGISTRY]"]);
}

#[test]
fn a_login_that_podman_keeps_under_the_bare_host_is_found() {
    let give = |scene: &mut Scene| {
        let empty = json!({"ServerURL": "x", "Username": "", "Secret": ""});
        let answer = json!({"Username": "ada", "Secret": "secret"});
        scene.helper("vault", &format!("case \"$input\" in https:*) echo '{empty}';; *) echo '{answer}';; esac"));
        let file = json!({"credHelpers": {scene.registry.address(): "vault"}});
        scene.context.write_home(".config/containers/auth.json", file.to_string());
    };
    check(give, &["vault get [https://REGISTRY]", "vault get [REGISTRY]"]);
}

#[test]
fn blocks_of_the_cli_configuration_count_beside_an_option_that_says_where() {
    let asked = ["vault get [https://REGISTRY]"];
    check(
        |scene| {
            scene.home_file(
                ".tofurc",
                "oci_credentials \"REGISTRY\" {\n  username = \"ada\"\n  password = \"secret\"\n}\n",
            );
        },
        &[],
    );
    check(
        |scene| {
            scene.helper_with("vault", "ada", "secret");
            scene.home_file(".tofurc", "oci_credentials \"REGISTRY\" {\n  docker_credentials_helper = \"vault\"\n}\n");
        },
        &asked,
    );
    check(
        |scene| {
            scene.helper_with("vault", "ada", "secret");
            scene.home_file(".tofurc", "oci_default_credentials {\n  docker_credentials_helper = \"vault\"\n}\n");
        },
        &asked,
    );
    check(
        |scene| {
            scene.context.write_home("etc/mine.json", scene.auths().to_string());
            scene.home_file(
                "etc/ci.tofurc",
                "oci_default_credentials {\n  docker_style_config_files = [\"mine.json\"]\n}\n",
            );
            let file = scene.context.home().join("etc/ci.tofurc").display().to_string();
            scene.context.env("TF_CLI_CONFIG_FILE", file);
        },
        &[],
    );
}

#[test]
fn the_token_of_a_block_is_sent_as_it_is() {
    let scene = Scene::with(bearer());
    scene.dist("dist", "1.4.0");
    let token = scene.registry.issue_token(&["repository:acme/widget:pull,push"]);
    let block = "oci_credentials \"REGISTRY/acme\" {\n  access_token = \"TOKEN\"\n  refresh_token = \"unused\"\n}\n";
    scene.home_file(".tofurc", &block.replace("TOKEN", &token));
    scene.works();
    assert_eq!(scene.registry.token_requests().len(), 0);
}

#[test]
fn an_identity_token_buys_tokens() {
    let scene = Scene::with(bearer());
    scene.dist("dist", "1.4.0");
    let token = scene.registry.issue_refresh_token("ada");
    let file = json!({"auths": {scene.registry.address(): {"identitytoken": token}}});
    scene.context.write_home(".docker/config.json", file.to_string());
    scene.works();
}

#[test]
fn the_longest_prefix_wins_and_a_block_before_a_file() {
    let scene = Scene::with(basic());
    scene.dist("dist", "1.4.0");
    let wrong = Login::new("ada", "wrong").basic_header().replace("Basic ", "");
    let host = scene.registry.address();
    let file = json!({"auths": {host: {"auth": wrong}, format!("{host}/acme/widget"): {"auth": auth()}}});
    scene.context.write_home(".docker/config.json", file.to_string());
    let block = "oci_credentials \"REGISTRY/acme\" {\n  username = \"ada\"\n  password = \"wrong\"\n}\n";
    scene.home_file(".tofurc", block);
    scene.works();
    scene.home_file(".tofurc", &block.replace("/acme", "/acme/widget").replace("wrong", "secret"));
    scene.works();
}

#[test]
fn nothing_is_read_and_nobody_is_asked_where_no_registry_is() {
    let mut scene = Scene::with_dist();
    scene.helper("vault", "exit 1");
    scene.context.write_home(".docker/config.json", "{");
    scene.home_file(".tofurc", "oci_credentials {\n");
    let said = scene.run(&format!("push dist oci:layout --address {WIDGET}")).success();
    assert!(!said.stderr.contains("warning"), "{}", said.text);
    let said = scene.run(&format!("install {WIDGET} --from oci:layout --platform linux_amd64")).success();
    assert!(!said.stderr.contains("warning"), "{}", said.text);
    assert_eq!(scene.helper_calls(), Vec::<String>::new());
}

#[test]
fn a_registry_that_wants_nothing_has_no_helper_asked() {
    let mut scene = Scene::published();
    scene.helper("vault", "exit 1");
    scene.context.write_home(".docker/config.json", json!({"credsStore": "vault"}).to_string());
    scene.run("versions REGISTRY/acme/widget").success();
    assert_eq!(scene.helper_calls(), Vec::<String>::new());
}
