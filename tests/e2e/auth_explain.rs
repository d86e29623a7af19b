//! `auth explain`: what the registry and its token server answer, and who is to blame.

use insta::assert_snapshot;
use serde_json::json;
use tofu_oci_testkit::{Anonymous, Auth, Bearer, Login, Registry, RegistryBuilder};

use crate::setup::logins::{ada, basic, bearer, encoded};
use crate::setup::{Said, Scene};

/// The question of nearly all tests.
pub(crate) const EXPLAIN: &str = "auth explain REGISTRY/acme/widget";

/// A registry with a tag in `acme/widget`, and the login of a user in the docker file.
pub(crate) fn scene(registry: RegistryBuilder, login: Option<&Login>) -> Scene {
    let scene = Scene::with(registry);
    tagged(&scene);
    if let Some(login) = login {
        let entry = json!({"auths": {scene.registry.address(): {"auth": encoded(login)}}});
        scene.context.write_home(".docker/config.json", format!("{entry:#}"));
    }
    scene
}

/// Puts something into `acme/widget`, so that it is there.
pub(crate) fn tagged(scene: &Scene) {
    let digest = scene.registry.put_manifest("acme/widget", "application/vnd.oci.image.index.v1+json", "{}");
    scene.registry.put_tag("acme/widget", "1.4.0", &digest);
}

/// The explanation, no line of which is too long but for what the registry said.
#[track_caller]
pub(crate) fn explain(scene: &Scene, line: &str) -> Said {
    let said = scene.run(line);
    let long = said.stdout.lines().filter(|line| line.chars().count() > 100 && !line.contains("scope="));
    assert_eq!(long.collect::<Vec<_>>(), Vec::<&str>::new(), "{}", said.text);
    said
}

#[test]
fn a_right_login_works() {
    let said = explain(&scene(bearer(), Some(&ada())), EXPLAIN);
    assert_snapshot!(said.text, @r#"
    exit code: 0
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
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
    OpenTofu  1.10 to 1.13: chooses the same login
    result    a pull works: the registry lets ada in

    ----- stderr -----
    "#);
}

#[test]
fn a_wrong_password_is_blamed_on_its_entry() {
    let said = explain(&scene(bearer(), Some(&Login::new("ada", "wrong-horse"))), EXPLAIN);
    assert_snapshot!(said.text, @r#"
    exit code: 1
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json
        line 3    auths "[REGISTRY]": chosen, it names the registry
      ~/.dockercfg                    missing

    chosen    auths "[REGISTRY]" of ~/.docker/config.json:3, user ada: nothing else fits
    asked     a token for repository:acme/widget:pull
    answered  GET http://[REGISTRY]/v2/acme/widget/tags/list, showing nothing: 401
                wants Bearer realm="http://[REGISTRY]/token", service="test-registry",
                scope="repository:acme/widget:pull"
              GET http://[REGISTRY]/token, as ada: 401, bad credentials (UNAUTHORIZED)
    OpenTofu  1.10 to 1.13: chooses the same login
    result    a pull fails, token-server-status:401: the token server http://[REGISTRY]/token
              refuses the login of ada: bad credentials (UNAUTHORIZED)

    ----- stderr -----
    error: [REGISTRY]/acme/widget: the token server http://[REGISTRY]/token refuses the login of ada: bad credentials (UNAUTHORIZED)

    hint: the login is that of auths "[REGISTRY]" of ~/.docker/config.json:3
    hint: log in again with `tofu-oci login [REGISTRY] --username ada`
    "#);
    let said = explain(&scene(basic(), Some(&Login::new("ada", "wrong-horse"))), EXPLAIN);
    assert_snapshot!(said.text, @r#"
    exit code: 1
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json
        line 3    auths "[REGISTRY]": chosen, it names the registry
      ~/.dockercfg                    missing

    chosen    auths "[REGISTRY]" of ~/.docker/config.json:3, user ada: nothing else fits
    asked     no helper and no token server
    answered  GET http://[REGISTRY]/v2/acme/widget/tags/list, showing nothing: 401
                wants Basic realm="test"
              GET http://[REGISTRY]/v2/acme/widget/tags/list, as ada: 401, UNAUTHORIZED:
              authentication required
                wants Basic realm="test"
    OpenTofu  1.10 to 1.13: chooses the same login
    result    a pull fails, registry-status:401: the registry refuses the login of ada

    ----- stderr -----
    error: [REGISTRY]/acme/widget: the registry refuses the login of ada

    hint: the login is that of auths "[REGISTRY]" of ~/.docker/config.json:3
    hint: log in again with `tofu-oci login [REGISTRY] --username ada`
    "#);
}

#[test]
fn no_credentials_at_all() {
    assert_snapshot!(explain(&scene(bearer(), None), EXPLAIN).text, @r#"
    exit code: 1
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json           missing
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

    hint: log in with `tofu-oci login [REGISTRY] --username USER`
    "#);
    assert_snapshot!(explain(&scene(basic(), None), EXPLAIN).text, @r#"
    exit code: 1
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json           missing
      ~/.dockercfg                    missing

    chosen    nothing: no source fits
    asked     no helper and no token server
    answered  GET http://[REGISTRY]/v2/acme/widget/tags/list, showing nothing: 401
                wants Basic realm="test"
              stopped here (no-credentials-for-basic): the registry asks for a name and a password, and
              there are none
    OpenTofu  1.10 to 1.13: asks anonymously too
    result    a pull fails, no-credentials-for-basic: the registry wants a name and a password, and
              there are no credentials for it

    ----- stderr -----
    error: [REGISTRY]/acme/widget: the registry wants a name and a password, and there are no credentials for it

    hint: log in with `tofu-oci login [REGISTRY] --username USER`
    "#);
}

#[test]
fn an_open_repository_needs_none() {
    let said = explain(&scene(Registry::builder(), Some(&ada())), EXPLAIN);
    assert_snapshot!(said.text, @r#"
    exit code: 0
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json
        line 3    auths "[REGISTRY]": chosen, it names the registry
      ~/.dockercfg                    missing

    chosen    auths "[REGISTRY]" of ~/.docker/config.json:3, user ada: nothing else fits
    asked     no helper and no token server
    answered  GET http://[REGISTRY]/v2/acme/widget/tags/list, showing nothing: 200
              GET http://[REGISTRY]/v2/, which OpenTofu up to 1.12 asks first: 200
    OpenTofu  1.10 to 1.13: chooses the same login
    result    a pull works: the registry lets everybody in, and was shown nothing

    ----- stderr -----
    "#);
    let open = Bearer { anonymous: Anonymous::MayPull, ..Bearer::new(ada()) };
    let said = explain(&scene(Registry::builder().auth(Auth::Bearer(open)), None), EXPLAIN);
    assert_snapshot!(said.text, @r#"
    exit code: 0
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json           missing
      ~/.dockercfg                    missing

    chosen    nothing: no source fits
    asked     a token for repository:acme/widget:pull
    answered  GET http://[REGISTRY]/v2/acme/widget/tags/list, showing nothing: 401
                wants Bearer realm="http://[REGISTRY]/token", service="test-registry",
                scope="repository:acme/widget:pull"
              GET http://[REGISTRY]/token, showing nothing: 200, a token for 300 s
              GET http://[REGISTRY]/v2/acme/widget/tags/list, with the token: 200
              GET http://[REGISTRY]/v2/, which OpenTofu up to 1.12 asks first: 401
    OpenTofu  1.10 to 1.13: asks anonymously too
    result    a pull works: the registry lets everybody in

    ----- stderr -----
    "#);
}

#[test]
fn a_wrong_login_is_replaced_where_it_stands() {
    let scene = scene(basic(), None);
    let wrong = json!({"auth": encoded(&Login::new("ada", "hunter2"))});
    let address = scene.registry.address();
    let hint = |file: &str, key: &str| {
        let path = scene.context.write_home(file, json!({"auths": {key: wrong}}).to_string());
        let said = explain(&scene, EXPLAIN);
        std::fs::remove_file(path).expect("it is ours");
        said.text.lines().last().unwrap_or_default().to_owned()
    };
    assert_snapshot!(hint(".docker/config.json", address), @"hint: log in again with `tofu-oci login [REGISTRY] --username ada`");
    assert_snapshot!(hint(".config/containers/auth.json", address), @"hint: log in again with `tofu-oci login [REGISTRY] --username ada --auth-file ~/.config/containers/auth.json`");
    let of_path = format!("{address}/acme");
    assert_snapshot!(hint(".docker/config.json", &of_path), @r#"hint: change or remove auths "[REGISTRY]/acme" in ~/.docker/config.json:1: `tofu-oci login` writes the registry's own entry, and this one is more specific"#);
}
