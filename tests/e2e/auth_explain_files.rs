//! `auth explain`: which files, entries, blocks and helpers it shows.
#![cfg(unix)]

use insta::assert_snapshot;
use serde_json::json;
use tofu_oci_testkit::Login;

use crate::auth_explain::{EXPLAIN, explain, scene};
use crate::setup::Scene;
use crate::setup::logins::{PASSWORD, ada, basic, bearer, encoded};

/// A script that gives a login.
pub(crate) fn gives(username: &str, secret: &str) -> String {
    let answer = json!({"ServerURL": "x", "Username": username, "Secret": secret});
    format!("printf '%s' '{answer}'")
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
    scene.helper("vault", &gives("ada", PASSWORD));
    docker(&scene, &json!({"auths": {scene.registry.address(): {}}, "credsStore": "vault"}));
    assert_snapshot!(explain(&scene, EXPLAIN).text, @r#"
    exit code: 0
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json
        line 3    auths "[REGISTRY]": it names the registry, and holds no login: docker keeps it in
                  a helper
        line 5    credsStore "vault": chosen, it serves every registry
      ~/.dockercfg                    missing

    chosen    credsStore "vault" of ~/.docker/config.json:5, user ada: nothing else fits
    asked     docker-credential-vault get, for https://[REGISTRY]: it gave a login of ada
              a token for repository:acme/widget:pull
    answered  GET http://[REGISTRY]/v2/acme/widget/tags/list, showing nothing: 401
                wants Bearer realm="http://[REGISTRY]/token", service="test-registry",
                scope="repository:acme/widget:pull"
              GET http://[REGISTRY]/token, as ada: 200, a token for 300 s
              GET http://[REGISTRY]/v2/acme/widget/tags/list, with the token: 200
              GET http://[REGISTRY]/v2/, which OpenTofu up to 1.12 asks first: 401
    OpenTofu  1.10 to 1.13: asks the same helper the same
    result    a pull works: the registry lets ada in

    ----- stderr -----
    "#);
}

#[test]
fn a_helper_that_is_missing_is_named_with_its_file() {
    let scene = scene(basic(), None);
    docker(&scene, &json!({"credHelpers": {scene.registry.address(): "vault"}}));
    assert_snapshot!(explain(&scene, EXPLAIN).text, @r#"
    exit code: 1
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json
        line 3    credHelpers "[REGISTRY]": "vault": chosen, it names the registry
      ~/.dockercfg                    missing

    chosen    credHelpers "[REGISTRY]": "vault" of ~/.docker/config.json:3: nothing else fits
    asked     docker-credential-vault get, for https://[REGISTRY]: docker-credential-vault is not
              on the PATH
    answered  GET http://[REGISTRY]/v2/acme/widget/tags/list, showing nothing: 401
                wants Basic realm="test"
              stopped here (helper-not-found)
    OpenTofu  1.10 to 1.13: asks the same helper the same
    result    a pull fails, helper-not-found: docker-credential-vault is not on the PATH

    ----- stderr -----
    error: [REGISTRY]/acme/widget: docker-credential-vault is not on the PATH

    hint: the helper is named by credHelpers "[REGISTRY]": "vault" of ~/.docker/config.json:3
    hint: install the helper in a folder of the PATH, or take its name out of ~/.docker/config.json:3 and log in again
    "#);
}

#[test]
fn a_helper_that_has_nothing_is_final() {
    let mut scene = scene(bearer(), None);
    scene.helper("vault", "echo 'credentials not found in native keychain'\nexit 1");
    let entry = json!({scene.registry.address(): {"auth": encoded(&ada())}});
    docker(&scene, &json!({"credHelpers": {scene.registry.address(): "vault"}}));
    scene.context.write_home(".dockercfg", json!({"auths": entry}).to_string());
    assert_snapshot!(explain(&scene, EXPLAIN).text, @r#"
    exit code: 1
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json
        line 3    credHelpers "[REGISTRY]": "vault": chosen, it names the registry
      ~/.dockercfg
        line 1    auths "[REGISTRY]": it names the registry, as another one does that comes first

    chosen    credHelpers "[REGISTRY]": "vault" of ~/.docker/config.json:3: of those that name the
              most it comes first
    asked     docker-credential-vault get, for https://[REGISTRY]: it has no login
              a token for repository:acme/widget:pull
    answered  GET http://[REGISTRY]/v2/acme/widget/tags/list, showing nothing: 401
                wants Bearer realm="http://[REGISTRY]/token", service="test-registry",
                scope="repository:acme/widget:pull"
              GET http://[REGISTRY]/token, showing nothing: 401, bad credentials (UNAUTHORIZED)
    OpenTofu  1.10 to 1.13: asks the same helper the same
    result    a pull fails, token-server-status:401: the token server http://[REGISTRY]/token gives
              nothing to anonymous callers, and docker-credential-vault has no login for it: bad
              credentials (UNAUTHORIZED)

    ----- stderr -----
    error: [REGISTRY]/acme/widget: the token server http://[REGISTRY]/token gives nothing to anonymous callers, and docker-credential-vault has no login for it: bad credentials (UNAUTHORIZED)

    hint: what docker-credential-vault says is final: auths "[REGISTRY]" of ~/.dockercfg:1 is not tried
    hint: log in with `tofu-oci login [REGISTRY] --username USER`: docker-credential-vault keeps it
    "#);
}

#[test]
fn a_helper_that_fails_is_to_blame() {
    let mut scene = scene(bearer(), None);
    scene.helper("vault", "echo 'the vault is sealed'\nexit 1");
    docker(&scene, &json!({"credsStore": "vault"}));
    assert_snapshot!(explain(&scene, EXPLAIN).text, @r#"
    exit code: 1
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json
        line 2    credsStore "vault": chosen, it serves every registry
      ~/.dockercfg                    missing

    chosen    credsStore "vault" of ~/.docker/config.json:2: nothing else fits
    asked     docker-credential-vault get, for https://[REGISTRY]: credential helper vault failed:
              exit status 1; what it wrote may hold a secret and is not repeated
    answered  GET http://[REGISTRY]/v2/acme/widget/tags/list, showing nothing: 401
                wants Bearer realm="http://[REGISTRY]/token", service="test-registry",
                scope="repository:acme/widget:pull"
              stopped here (helper-failed)
    OpenTofu  1.10 to 1.13: asks the same helper the same
    result    a pull fails, helper-failed: credential helper vault failed: exit status 1; what it wrote
              may hold a secret and is not repeated

    ----- stderr -----
    error: [REGISTRY]/acme/widget: credential helper vault failed: exit status 1; what it wrote may hold a secret and is not repeated

    hint: the helper is named by credsStore "vault" of ~/.docker/config.json:2
    hint: run the helper by hand to see what is wrong with it: printf %s https://[REGISTRY] | docker-credential-vault get
    "#);
}

#[test]
fn a_malformed_file_is_left_out_and_turns_opentofu_off() {
    let scene = scene(bearer(), Some(&ada()));
    scene.context.write_home(".config/containers/auth.json", "{\"auths\": {},}");
    assert_snapshot!(explain(&scene, EXPLAIN).success().text, @r#"
    exit code: 0
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  left out: it is malformed
        line 1    it is not JSON: there is a comma too many at column 14
      ~/.docker/config.json
        line 3    auths "[REGISTRY]": chosen, it names the registry
      ~/.dockercfg                    missing

    chosen    auths "[REGISTRY]" of ~/.docker/config.json:3, user ada: nothing else fits
    asked     a token for repository:acme/widget:pull
    answered  GET http://[REGISTRY]/v2/acme/widget/tags/list, showing nothing: 401
                wants Bearer realm="http://[REGISTRY]/token", service="test-registry",
                scope="repository:acme/widget:pull"
              GET http://[REGISTRY]/token, as ada: 200, a token for 300 s
              GET http://[REGISTRY]/v2/acme/widget/tags/list, with the token: 200
              GET http://[REGISTRY]/v2/, which OpenTofu up to 1.12 asks first: 401
    OpenTofu  1.10 to 1.13: asks anonymously: ~/.config/containers/auth.json:1: it is not JSON: there is
              a comma too many at column 14, so no ambient file is read
    result    a pull works: the registry lets ada in

    ----- stderr -----
    "#);
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
    assert_snapshot!(explain(&scene, EXPLAIN).text, @r#"
    exit code: 1
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json
        line 3    auths "https://[REGISTRY]": does not fit, a key is no URL: write [REGISTRY]
        line 6    auths "127.0.0.1:[PORT]": does not fit, the port counts: write [REGISTRY]
        line 9    auths "[REGISTRY]/Acme": does not fit, upper and lower case count: write
                  [REGISTRY]/acme
        line 12   auths "[REGISTRY]/acme/": does not fit, it has a blank, slash or dot too many:
                  write [REGISTRY]/acme
        others    "ghcr.io", "quay.io/acme": for other repositories
      ~/.dockercfg                    missing

    chosen    nothing: no source fits
    asked     a token for repository:acme/widget:pull
    answered  GET http://[REGISTRY]/v2/acme/widget/tags/list, showing nothing: 401
                wants Bearer realm="http://[REGISTRY]/token", service="test-registry",
                scope="repository:acme/widget:pull"
              GET http://[REGISTRY]/token, showing nothing: 401, bad credentials (UNAUTHORIZED)
    OpenTofu  1.10 to 1.13: asks anonymously too
    result    a pull fails, token-server-status:401: the token server http://[REGISTRY]/token gives
              nothing to anonymous callers, and there are no credentials for it: bad credentials
              (UNAUTHORIZED)

    ----- stderr -----
    error: [REGISTRY]/acme/widget: the token server http://[REGISTRY]/token gives nothing to anonymous callers, and there are no credentials for it: bad credentials (UNAUTHORIZED)

    hint: auths "https://[REGISTRY]" in ~/.docker/config.json:3 does not serve: a key is no URL: write [REGISTRY]
    hint: auths "127.0.0.1:[PORT]" in ~/.docker/config.json:6 does not serve: the port counts: write [REGISTRY]
    hint: auths "[REGISTRY]/Acme" in ~/.docker/config.json:9 does not serve: upper and lower case count: write [REGISTRY]/acme; and 1 more
    hint: log in with `tofu-oci login [REGISTRY] --username USER`
    "#);
}

#[test]
fn a_long_list_of_other_registries_stays_short() {
    let scene = scene(bearer(), None);
    let entry = json!({"auth": encoded(&ada())});
    let mut auths: serde_json::Map<_, _> = (10..40).map(|n| (format!("r{n}.example.com"), entry.clone())).collect();
    auths.insert(scene.registry.address().to_owned(), entry);
    docker(&scene, &json!({"auths": auths}));
    let said = explain(&scene, EXPLAIN).success();
    assert_snapshot!(said.text.split("chosen    ").next().unwrap_or_default(), @r#"
    exit code: 0
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json
        line 93   auths "[REGISTRY]": chosen, it names the registry
        others    "r10.example.com", "r11.example.com", "r12.example.com", "r13.example.com",
                  "r14.example.com", "r15.example.com" and 24 more: for other repositories
      ~/.dockercfg                    missing
    "#);
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
    assert_snapshot!(explain(&scene, EXPLAIN).success().text, @r#"
    exit code: 0
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc
        line 1    oci_credentials "[REGISTRY]/acme": it names the registry and the first part of
                  the path, and another one names more
        others    "[REGISTRY]/other": for other repositories
      ~/.config/containers/auth.json
        line 1    auths "[REGISTRY]/acme/widget": chosen, it names this very repository
      ~/.docker/config.json
        line 3    auths "[REGISTRY]": it names the registry, and another one names more
      ~/.dockercfg                    missing

    chosen    auths "[REGISTRY]/acme/widget" of ~/.config/containers/auth.json:1, user ada: of all
              that fit it names the most
    asked     a token for repository:acme/widget:pull
    answered  GET http://[REGISTRY]/v2/acme/widget/tags/list, showing nothing: 401
                wants Bearer realm="http://[REGISTRY]/token", service="test-registry",
                scope="repository:acme/widget:pull"
              GET http://[REGISTRY]/token, as ada: 200, a token for 300 s
              GET http://[REGISTRY]/v2/acme/widget/tags/list, with the token: 200
              GET http://[REGISTRY]/v2/, which OpenTofu up to 1.12 asks first: 401
    OpenTofu  1.10 to 1.13: chooses the same login
    result    a pull works: the registry lets ada in

    ----- stderr -----
    "#);
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
        line 1    username and password belong together (block-basic-needs-both): write both
                  OpenTofu: prints an error, and goes on without the block
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json
        line 3    auths "[REGISTRY]": chosen, it names the registry
      ~/.dockercfg                    missing

    chosen    auths "[REGISTRY]" of ~/.docker/config.json:3, user ada: nothing else fits
    asked     nothing: every verb stops before it asks
    answered  nothing: no request was made
    OpenTofu  1.10 to 1.13: reports the error and goes on: shows the login of ada, from auths
              "[REGISTRY]" of ~/.docker/config.json:3
    result    a pull is refused, block-basic-needs-both: every verb stops at the error that is shown
              below, before it asks a registry

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
    assert_snapshot!(explain(&scene, EXPLAIN).text, @r#"
    exit code: 1
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json
        line 3    auths "[REGISTRY]": it names the registry, and its `auth` has no colon between
                  username and password
      ~/.dockercfg                    missing

    chosen    auths "[REGISTRY]" of ~/.docker/config.json:3: cannot be used, auth-without-colon
    asked     no helper and no token server
    answered  GET http://[REGISTRY]/v2/acme/widget/tags/list, showing nothing: 401
                wants Bearer realm="http://[REGISTRY]/token", service="test-registry",
                scope="repository:acme/widget:pull"
              stopped here (auth-without-colon)
    OpenTofu  1.10 to 1.13: asks anonymously: ~/.docker/config.json:3: the `auth` of [REGISTRY] has
              no colon, and is passed over without a word
    result    a pull fails, auth-without-colon: the `auth` of [REGISTRY] in ~/.docker/config.json:3
              has no colon between username and password

    ----- stderr -----
    error: [REGISTRY]/acme/widget: the `auth` of [REGISTRY] in ~/.docker/config.json:3 has no colon between username and password

    hint: log in to [REGISTRY] again, or take the entry out of ~/.docker/config.json:3: `auth` is NAME:PASSWORD in base64
    "#);
}
