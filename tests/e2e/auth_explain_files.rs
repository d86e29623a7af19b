//! `auth explain`: which files, entries, blocks and helpers are told of.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;
use serde_json::json;
use tofu_oci_testkit::Login;

use crate::auth_explain::{EXPLAIN, PASSWORD, ada, basic, bearer, encoded, explain, scene};
use crate::setup::Scene;

/// Puts `docker-credential-NAME` on the PATH.
pub(crate) fn helper(scene: &mut Scene, name: &str, script: &str) {
    let path = scene.context.write_home(&format!("bin/docker-credential-{name}"), format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let outside = std::env::var("PATH").unwrap_or_default();
    let folder = scene.context.home().join("bin");
    scene.context.env("PATH", format!("{}:{outside}", folder.display()));
}

/// A script that gives a login.
pub(crate) fn gives(username: &str, secret: &str) -> String {
    let answer = json!({"ServerURL": "x", "Username": username, "Secret": secret});
    format!("cat >/dev/null\nprintf '%s' '{answer}'")
}

/// The docker file.
fn docker(scene: &Scene, content: &serde_json::Value) {
    scene.context.write_home(".docker/config.json", format!("{content:#}"));
}

/// A host with another port.
fn other_port(scene: &Scene) -> String {
    let (host, _) = scene.registry.address().split_once(':').expect("host and port");
    format!("{host}:1")
}

#[test]
fn a_helper_is_shown_with_what_it_was_asked_and_gave() {
    let mut scene = scene(bearer(), None);
    helper(&mut scene, "vault", &gives("ada", PASSWORD));
    docker(&scene, &json!({"auths": {scene.registry.address(): {}}, "credsStore": "vault"}));
    assert_snapshot!(explain(&scene, EXPLAIN).text, @"
    exit code: 1
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json           holds no credentials
      ~/.dockercfg                    missing

    chosen    nothing: no source fits, so the registry is asked anonymously
    asked     no helper and no token server
    answered  nothing: no request was made
    OpenTofu  1.10 to 1.13: asks docker-credential-vault for https://[REGISTRY]
    result    a pull fails, token-server-status:401: the token server [REGISTRY] gives nothing to
              anonymous callers (status 401)

    ----- stderr -----
    error: [REGISTRY]/acme/widget needs credentials: the token server [REGISTRY] gives nothing to anonymous callers (status 401)

    hint: log in with `tofu-oci login [REGISTRY]`, `docker login [REGISTRY]` or `podman login [REGISTRY]`
    ");
}

#[test]
fn a_helper_that_is_missing_is_named_with_its_file() {
    let scene = scene(basic(), None);
    docker(&scene, &json!({"credHelpers": {scene.registry.address(): "vault"}}));
    assert_snapshot!(explain(&scene, EXPLAIN).text, @"
    exit code: 1
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json           holds no credentials
      ~/.dockercfg                    missing

    chosen    nothing: no source fits, so the registry is asked anonymously
    asked     no helper and no token server
    answered  nothing: no request was made
    OpenTofu  1.10 to 1.13: asks docker-credential-vault for https://[REGISTRY]
    result    a pull fails, registry-status:401: authentication required (UNAUTHORIZED)

    ----- stderr -----
    error: [REGISTRY]/acme/widget needs credentials: authentication required (UNAUTHORIZED)

    hint: log in with `tofu-oci login [REGISTRY]`, `docker login [REGISTRY]` or `podman login [REGISTRY]`
    ");
}

#[test]
fn a_helper_that_has_nothing_is_final() {
    let mut scene = scene(bearer(), None);
    helper(&mut scene, "vault", "echo 'credentials not found in native keychain'\nexit 1");
    let entry = json!({scene.registry.address(): {"auth": encoded(&ada())}});
    docker(&scene, &json!({"credHelpers": {scene.registry.address(): "vault"}}));
    scene.context.write_home(".dockercfg", json!({"auths": entry}).to_string());
    assert_snapshot!(explain(&scene, EXPLAIN).text, @"
    exit code: 1
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json           holds no credentials
      ~/.dockercfg                    holds no credentials

    chosen    nothing: no source fits, so the registry is asked anonymously
    asked     no helper and no token server
    answered  nothing: no request was made
    OpenTofu  1.10 to 1.13: asks docker-credential-vault for https://[REGISTRY]
    result    a pull fails, token-server-status:401: the token server [REGISTRY] gives nothing to
              anonymous callers (status 401)

    ----- stderr -----
    error: [REGISTRY]/acme/widget needs credentials: the token server [REGISTRY] gives nothing to anonymous callers (status 401)

    hint: log in with `tofu-oci login [REGISTRY]`, `docker login [REGISTRY]` or `podman login [REGISTRY]`
    ");
}

#[test]
fn a_helper_that_fails_is_to_blame() {
    let mut scene = scene(bearer(), None);
    helper(&mut scene, "vault", "echo 'the vault is sealed'\nexit 1");
    docker(&scene, &json!({"credsStore": "vault"}));
    assert_snapshot!(explain(&scene, EXPLAIN).text, @"
    exit code: 1
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json           holds no credentials
      ~/.dockercfg                    missing

    chosen    nothing: no source fits, so the registry is asked anonymously
    asked     no helper and no token server
    answered  nothing: no request was made
    OpenTofu  1.10 to 1.13: asks docker-credential-vault for https://[REGISTRY]
    result    a pull fails, token-server-status:401: the token server [REGISTRY] gives nothing to
              anonymous callers (status 401)

    ----- stderr -----
    error: [REGISTRY]/acme/widget needs credentials: the token server [REGISTRY] gives nothing to anonymous callers (status 401)

    hint: log in with `tofu-oci login [REGISTRY]`, `docker login [REGISTRY]` or `podman login [REGISTRY]`
    ");
}

#[test]
fn a_malformed_file_is_left_out_and_turns_opentofu_off() {
    let scene = scene(bearer(), Some(&ada()));
    scene.context.write_home(".config/containers/auth.json", "{\"auths\": {},}");
    assert_snapshot!(explain(&scene, EXPLAIN).success().text, @"");
}

#[test]
fn keys_that_nearly_fit_are_shown_with_what_to_write() {
    let scene = scene(bearer(), None);
    let entry = json!({"auth": encoded(&ada())});
    let address = scene.registry.address();
    docker(
        &scene,
        &json!({"auths": {
            format!("https://{address}"): entry, other_port(&scene): entry, format!("{address}/Acme"): entry,
            format!("{address}/acme/"): entry, "ghcr.io": entry, "quay.io/acme": entry,
        }}),
    );
    assert_snapshot!(explain(&scene, EXPLAIN).text, @"
    exit code: 1
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json           holds no credentials
      ~/.dockercfg                    missing

    chosen    nothing: no source fits, so the registry is asked anonymously
    asked     no helper and no token server
    answered  nothing: no request was made
    OpenTofu  1.10 to 1.13: asks anonymously too
    result    a pull fails, token-server-status:401: the token server [REGISTRY] gives nothing to
              anonymous callers (status 401)

    ----- stderr -----
    error: [REGISTRY]/acme/widget needs credentials: the token server [REGISTRY] gives nothing to anonymous callers (status 401)

    hint: log in with `tofu-oci login [REGISTRY]`, `docker login [REGISTRY]` or `podman login [REGISTRY]`
    ");
}

#[test]
fn a_long_list_of_other_registries_stays_short() {
    let scene = scene(bearer(), None);
    let entry = json!({"auth": encoded(&ada())});
    let mut auths: serde_json::Map<_, _> = (10..40).map(|n| (format!("r{n}.example.com"), entry.clone())).collect();
    auths.insert(scene.registry.address().to_owned(), entry);
    docker(&scene, &json!({"auths": auths}));
    let said = explain(&scene, EXPLAIN).success();
    assert_snapshot!(said.text.split("chosen    ").next().unwrap_or_default(), @"");
}

#[test]
fn the_longest_prefix_wins_and_the_others_say_why_not() {
    let scene = scene(bearer(), Some(&Login::new("bob", "b")));
    let address = scene.registry.address();
    let block = format!(
        "oci_credentials \"{address}/acme\" {{\n  username = \"carol\"\n  password = \"c\"\n}}\n\n\
         oci_credentials \"{address}/other\" {{\n  username = \"dan\"\n  password = \"d\"\n}}\n"
    );
    scene.context.write_home(".tofurc", block);
    let entry = json!({"auths": {format!("{address}/acme/widget"): {"auth": encoded(&ada())}}});
    scene.context.write_home(".config/containers/auth.json", entry.to_string());
    assert_snapshot!(explain(&scene, EXPLAIN).success().text, @"");
}

#[test]
fn a_wrong_block_is_explained_and_refused() {
    let scene = scene(bearer(), Some(&ada()));
    let block = format!("oci_credentials \"{}\" {{\n  username = \"ada\"\n}}\n", scene.registry.address());
    scene.context.write_home(".tofurc", block);
    let said = explain(&scene, EXPLAIN);
    assert_eq!(said.code, Some(2), "{}", said.text);
    assert_snapshot!(said.text, @r#"
    exit code: 2
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc
        line 1    username and password belong together (block-basic-needs-both)
                  OpenTofu: prints an error, and goes on without the block
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json           holds no credentials
      ~/.dockercfg                    missing

    chosen    nothing: no source fits, so the registry is asked anonymously
    asked     nothing: every verb stops before it asks
    answered  nothing: no request was made
    OpenTofu  1.10 to 1.13: shows the login of ada, from auths "[REGISTRY]" of
              ~/.docker/config.json:3
    result    a pull is refused: every verb stops at the error that is shown below, before it asks a
              registry

    ----- stderr -----
    error: username and password belong together (block-basic-needs-both)
      --> [HOME]/.tofurc:1:1
      |
    1 | oci_credentials "[REGISTRY]" {
      | ^^^^^^^^^^^^^^^
      = instead: write both
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block

    hint: `tofu-oci config check` says what each OpenTofu makes of these files
    hint: OpenTofu goes on, and may show other credentials than were meant, or none
    hint: with --anonymous, or with --username and --password-stdin, nothing of this is read
    "#);
}

#[test]
fn a_broken_entry_that_is_needed_is_to_blame() {
    let scene = scene(bearer(), None);
    docker(&scene, &json!({"auths": {scene.registry.address(): {"auth": "YWRh"}}}));
    assert_snapshot!(explain(&scene, EXPLAIN).text, @"
    exit code: 1
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json           holds no credentials
      ~/.dockercfg                    missing

    chosen    nothing: no source fits, so the registry is asked anonymously
    asked     no helper and no token server
    answered  nothing: no request was made
    OpenTofu  1.10 to 1.13: asks anonymously too
    result    a pull fails, token-server-status:401: the token server [REGISTRY] gives nothing to
              anonymous callers (status 401)

    ----- stderr -----
    error: [REGISTRY]/acme/widget needs credentials: the token server [REGISTRY] gives nothing to anonymous callers (status 401)

    hint: log in with `tofu-oci login [REGISTRY]`, `docker login [REGISTRY]` or `podman login [REGISTRY]`
    ");
}
