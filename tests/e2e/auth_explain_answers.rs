//! `auth explain`: what a registry can answer beyond a plain yes and no.

use insta::assert_snapshot;
use serde_json::json;
use tofu_oci_testkit::{Answer, Auth, Bearer, Fault, Login, Registry, Rights, Rule, TokenAddress};

use crate::auth_explain::{EXPLAIN, explain, scene};
use crate::setup::logins::{ada, bearer, encoded};
use crate::setup::{Said, Scene};

#[test]
fn a_token_without_the_right_to_push_is_named() {
    let reader = Login { rights: Rights::Pull, ..ada() };
    let registry = || Registry::builder().auth(Auth::Bearer(Bearer::new(reader.clone())));
    let said = explain(&scene(registry(), Some(&reader)), &format!("{EXPLAIN} --push"));
    assert_snapshot!(said.text, @r#"
    exit code: 1
    ----- stdout -----
    [REGISTRY]/acme/widget, to push
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json
        line 3    auths "[REGISTRY]": chosen, it names the registry
      ~/.dockercfg                    missing

    chosen    auths "[REGISTRY]" of ~/.docker/config.json:3, user ada: nothing else fits
    asked     a token for repository:acme/widget:pull,push
    answered  POST http://[REGISTRY]/v2/acme/widget/blobs/uploads/, showing nothing: 401
                wants Bearer realm="http://[REGISTRY]/token", service="test-registry",
                scope="repository:acme/widget:pull,push"
              GET http://[REGISTRY]/token, as ada: 200, a token for 300 s
              POST http://[REGISTRY]/v2/acme/widget/blobs/uploads/, with the token: 401,
              UNAUTHORIZED: authentication required
                wants Bearer realm="http://[REGISTRY]/token", service="test-registry",
                scope="repository:acme/widget:pull,push", error="insufficient_scope"
    OpenTofu  1.10 to 1.13: chooses the same login
    result    a push fails, registry-status:401: the token for repository:acme/widget:pull,push does not
              carry the right to push

    ----- stderr -----
    error: [REGISTRY]/acme/widget: the token for repository:acme/widget:pull,push does not carry the right to push

    hint: the login is that of auths "[REGISTRY]" of ~/.docker/config.json:3
    hint: ask the owner of the repository to let ada push, or log in as somebody else
    "#);
    explain(&scene(registry(), Some(&reader)), EXPLAIN).success();
}

#[test]
fn a_push_is_tried_and_given_up() {
    let scene = scene(bearer(), Some(&ada()));
    let said = explain(&scene, &format!("{EXPLAIN} --push"));
    assert_snapshot!(said.text, @r#"
    exit code: 0
    ----- stdout -----
    [REGISTRY]/acme/widget, to push
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json
        line 3    auths "[REGISTRY]": chosen, it names the registry
      ~/.dockercfg                    missing

    chosen    auths "[REGISTRY]" of ~/.docker/config.json:3, user ada: nothing else fits
    asked     a token for repository:acme/widget:pull,push
    answered  POST http://[REGISTRY]/v2/acme/widget/blobs/uploads/, showing nothing: 401
                wants Bearer realm="http://[REGISTRY]/token", service="test-registry",
                scope="repository:acme/widget:pull,push"
              GET http://[REGISTRY]/token, as ada: 200, a token for 300 s
              POST http://[REGISTRY]/v2/acme/widget/blobs/uploads/, with the token: 202
              DELETE
              http://[REGISTRY]/v2/acme/widget/blobs/uploads/00000000-0000-4000-8000-000000000001,
              with the token: 401, the upload, which is given up, expires by itself
    OpenTofu  1.10 to 1.13: chooses the same login
    result    a push works: the registry lets ada in

    ----- stderr -----
    "#);
    let ends = scene.conversation().into_iter().filter(|line| line.starts_with("DELETE "));
    assert_eq!(ends.collect::<Vec<_>>().len(), 1, "one upload is begun, and given up");
}

#[test]
fn a_repository_that_is_not_there_is_told_apart_from_a_refusal() {
    let scene = Scene::with(bearer());
    let entry = json!({"auths": {scene.registry.address(): {"auth": encoded(&ada())}}});
    scene.context.write_home(".docker/config.json", entry.to_string());
    assert_snapshot!(explain(&scene, EXPLAIN).text, @r#"
    exit code: 1
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json
        line 1    auths "[REGISTRY]": chosen, it names the registry
      ~/.dockercfg                    missing

    chosen    auths "[REGISTRY]" of ~/.docker/config.json:1, user ada: nothing else fits
    asked     a token for repository:acme/widget:pull
    answered  GET http://[REGISTRY]/v2/acme/widget/tags/list, showing nothing: 401
                wants Bearer realm="http://[REGISTRY]/token", service="test-registry",
                scope="repository:acme/widget:pull"
              GET http://[REGISTRY]/token, as ada: 200, a token for 300 s
              GET http://[REGISTRY]/v2/acme/widget/tags/list, with the token: 404, NAME_UNKNOWN:
              repository name not known to registry
              GET http://[REGISTRY]/v2/, which OpenTofu up to 1.12 asks first: 401
    OpenTofu  1.10 to 1.13: chooses the same login
    result    a pull fails, registry-status:404: the registry lets ada in, and has no such repository

    ----- stderr -----
    error: [REGISTRY]/acme/widget: the registry lets ada in, and has no such repository

    hint: check the name; some registries say the same to those who may not read the repository
    hint: before a first push, ask with --push
    "#);
}

#[test]
fn a_realm_that_is_refused_is_shown_with_what_opentofu_does_there() {
    let elsewhere = Bearer { address: TokenAddress::Given("http://192.0.2.7/token".to_owned()), ..Bearer::new(ada()) };
    let scene = scene(Registry::builder().auth(Auth::Bearer(elsewhere)), Some(&ada()));
    assert_snapshot!(explain(&scene, EXPLAIN).text, @r#"
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
                wants Bearer realm="http://192.0.2.7/token", service="test-registry",
                scope="repository:acme/widget:pull"
              stopped here (realm-other-site): the token server is named by the IP address 192.0.2.7,
              which is not the registry's
    OpenTofu  1.10 to 1.13: chooses the same login
    OpenTofu  1.10 to 1.13: takes the token server of another site and sends it the password
    result    a pull fails, realm-other-site: the token server is named by the IP address 192.0.2.7,
              which is not the registry's

    ----- stderr -----
    error: refused to follow [REGISTRY]/acme/widget: the token server is named by the IP address 192.0.2.7, which is not the registry's

    hint: if that server is the right one, allow it with --token-host HOST
    "#);
}

#[test]
fn a_root_that_answers_otherwise_stops_older_releases() {
    let open = |status| {
        let scene = scene(bearer(), Some(&ada()));
        scene.registry.fault(Rule::on("GET", "/v2/").then(Fault::Answer(Answer::text(status, "no such page"))));
        scene
    };
    let ending = |said: &Said| said.text.split("OpenTofu").skip(1).collect::<String>();
    assert_snapshot!(ending(&explain(&open(404), EXPLAIN).success()), @"
     up to 1.12 asks first: 404
      1.10 to 1.13: chooses the same login
      1.10 to 1.12: asks for /v2/ first and takes its 404 for an unknown provider
    result    a pull works: the registry lets ada in

    ----- stderr -----
    ");
    assert_snapshot!(ending(&explain(&open(500), EXPLAIN).success()), @"
     up to 1.12 asks first: 500
      1.10 to 1.13: chooses the same login
      1.10 to 1.12: asks for /v2/ first and gives up at its status 500
    result    a pull works: the registry lets ada in

    ----- stderr -----
    ");
}

#[test]
fn a_registry_that_is_not_there_leaves_it_open() {
    let scene = scene(Registry::builder(), None);
    assert_snapshot!(explain(&scene, "auth explain 127.0.0.1:1/acme/widget --attempts 1").text, @"
    exit code: 3
    ----- stdout -----
    127.0.0.1:[PORT]/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json           missing
      ~/.dockercfg                    missing

    chosen    nothing: no source fits
    asked     no helper and no token server
    answered  GET https://127.0.0.1:[PORT]/v2/acme/widget/tags/list, showing nothing: no answer, Connection
              refused (os error [N])
    OpenTofu  1.10 to 1.13: asks anonymously too
    result    a pull is not known to work: the registry or its token server cannot be reached

    ----- stderr -----
    error: cannot reach 127.0.0.1:[PORT]/acme/widget: Connection refused (os error [N])

    hint: check the port, and that a registry listens there on this machine
    ");
}

#[test]
fn options_that_say_who_asks_leave_the_files_alone() {
    let scene = scene(bearer(), Some(&Login::new("ada", "wrong-horse")));
    assert_snapshot!(explain(&scene, &format!("{EXPLAIN} --anonymous")).text, @r#"
    exit code: 1
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at nothing: --anonymous

    chosen    nothing, by --anonymous
    asked     a token for repository:acme/widget:pull
    answered  GET http://[REGISTRY]/v2/acme/widget/tags/list, showing nothing: 401
                wants Bearer realm="http://[REGISTRY]/token", service="test-registry",
                scope="repository:acme/widget:pull"
              GET http://[REGISTRY]/token, showing nothing: 401, bad credentials (UNAUTHORIZED)
    OpenTofu  1.10 to 1.13: knows nothing of --anonymous: it goes by its CLI configuration and the files
    result    a pull fails, token-server-status:401: the token server http://[REGISTRY]/token gives
              nothing to anonymous callers, and there are no credentials for it: bad credentials
              (UNAUTHORIZED)

    ----- stderr -----
    error: [REGISTRY]/acme/widget: the token server http://[REGISTRY]/token gives nothing to anonymous callers, and there are no credentials for it: bad credentials (UNAUTHORIZED)

    hint: leave --anonymous out, so that the user's credentials are shown
    "#);
}
