//! `auth explain`: its JSON, a closed pipe, and what is not asked.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::json;
use tofu_oci_testkit::{Answer, Fault, Login, Rule};

use crate::auth_explain::{EXPLAIN, explain, scene};
use crate::auth_explain_files::gives;
use crate::setup::logins::{PASSWORD, ada, basic, bearer, encoded};
use crate::setup::{Said, Scene};

/// Every secret of a scene, and those that were handed out in between.
fn secrets(scene: &Scene) -> BTreeSet<String> {
    let mut secrets = BTreeSet::from([PASSWORD.to_owned(), encoded(&ada()), "wrong-horse".to_owned()]);
    for request in scene.registry.requests().iter().chain(&scene.registry.token_requests()) {
        let shown = request.header("authorization").unwrap_or_default();
        secrets.extend(shown.split_once(' ').map(|(_, secret)| secret.to_owned()));
    }
    secrets
}

/// Runs the question in every way of telling; nothing secret is said.
#[track_caller]
fn silent(scene: &Scene) {
    for options in [" -vv", " --json -vv", " --push"] {
        let said = scene.run(&format!("{EXPLAIN}{options} --attempts 1"));
        assert!(said.code.is_some_and(|code| code < 3), "{}", said.text);
        for secret in secrets(scene) {
            for stream in [&said.stdout, &said.stderr] {
                assert!(!stream.contains(&secret), "{options}: a secret was said: {secret}\n{}", said.text);
            }
        }
    }
}

#[test]
fn no_secret_is_told_in_any_way() {
    let wrong = Login::new("ada", "wrong-horse");
    for login in [&ada(), &wrong] {
        silent(&scene(bearer(), Some(login)));
        silent(&scene(basic(), Some(login)));
    }
    for script in [gives("ada", PASSWORD), gives("<token>", PASSWORD), format!("echo '{PASSWORD}' >&2\nexit 1")] {
        let mut scene = scene(bearer(), None);
        scene.helper("vault", &script);
        scene.context.write_home(".docker/config.json", json!({"credsStore": "vault"}).to_string());
        silent(&scene);
    }
    for file in [
        format!("{{\"auths\": {{\"x\": {{\"auth\": \"{}\"}} oops", encoded(&ada())),
        format!("{{\"auths\": {{\"REGISTRY\": {{\"auth\": \"{PASSWORD}\"}}}}}}"),
        format!("{{\"auths\": {{\"https://ada:{PASSWORD}@REGISTRY\": {{\"auth\": \"YTpi\"}}}}}}"),
    ] {
        let scene = scene(bearer(), None);
        let file = file.replace("REGISTRY", scene.registry.address());
        scene.context.write_home(".docker/config.json", file);
        silent(&scene);
    }
    for style in [
        "username = \"ada\"\n  password",
        "refresh_token = \"r\"\n  access_token",
        "username = \"\"\n  password",
        "password",
    ] {
        let scene = scene(bearer(), None);
        let block = format!("oci_credentials \"{}\" {{\n  {style} = \"{PASSWORD}\"\n}}\n", scene.registry.address());
        scene.context.write_home(".tofurc", block);
        silent(&scene);
    }
}

#[test]
fn a_registry_that_repeats_what_it_was_shown_is_not_quoted() {
    for text in [PASSWORD.to_owned(), encoded(&ada())] {
        let scene = scene(basic(), Some(&ada()));
        let told = Rule::when(|request| request.headers.contains_key("authorization"));
        let answer = Answer::error(401, "DENIED", &text).header("WWW-Authenticate", format!("Basic realm=\"{text}\""));
        scene.registry.fault(told.then(Fault::Answer(answer)));
        silent(&scene);
    }
}

#[test]
fn json_is_one_object_and_the_error() {
    let scene = scene(basic(), Some(&Login::new("ada", "wrong-horse")));
    let said = scene.run(&format!("{EXPLAIN} --json"));
    assert_snapshot!(said.text, @r#"
    exit code: 1
    ----- stdout -----
    {"event":"auth","repository":"[REGISTRY]/acme/widget","action":"pull","credentials":"ambient","files":[{"file":"~/.tofurc","named_by":null,"known_to_opentofu":true,"state":"missing","problems":[],"sources":[]},{"file":"~/.config/containers/auth.json","named_by":null,"known_to_opentofu":true,"state":"missing","problems":[],"sources":[]},{"file":"~/.docker/config.json","named_by":null,"known_to_opentofu":true,"state":"read","problems":[],"sources":[{"kind":"auths","key":"[REGISTRY]","helper":null,"line":3,"specificity":2,"verdict":"chosen","why":"chosen, it names the registry","instead":null}]},{"file":"~/.dockercfg","named_by":null,"known_to_opentofu":true,"state":"missing","problems":[],"sources":[]}],"chosen":{"shows":"password","username":"ada","source":"auths \"[REGISTRY]\"","file":"~/.docker/config.json","line":3,"why":"nothing else fits"},"helpers":[],"exchanges":[{"kind":"registry","method":"GET","url":"http://[REGISTRY]/v2/acme/widget/tags/list","shown":"nothing","username":null,"scopes":[],"status":401,"challenges":["Basic realm=\"test\""],"granted":null,"seconds":null,"code":null,"problem":"UNAUTHORIZED: authentication required"},{"kind":"registry","method":"GET","url":"http://[REGISTRY]/v2/acme/widget/tags/list","shown":"password","username":"ada","scopes":[],"status":401,"challenges":["Basic realm=\"test\""],"granted":null,"seconds":null,"code":null,"problem":"UNAUTHORIZED: authentication required"}],"opentofu":[{"releases":"1.10 to 1.13","differs":false,"text":"chooses the same login"}],"outcome":"fails","code":"registry-status:401","reason":"the registry refuses the login of ada"}
    {"event":"error","code":"registry-status:401","text":"[REGISTRY]/acme/widget: the registry refuses the login of ada","causes":[],"hints":["the login is that of auths \"[REGISTRY]\" of ~/.docker/config.json:3","log in again with `tofu-oci login [REGISTRY] --username ada`"]}

    ----- stderr -----
    error: [REGISTRY]/acme/widget: the registry refuses the login of ada

    hint: the login is that of auths "[REGISTRY]" of ~/.docker/config.json:3
    hint: log in again with `tofu-oci login [REGISTRY] --username ada`
    "#);
    let events: Vec<_> = said.json().iter().map(|line| line["event"].clone()).collect();
    assert_eq!(events, ["auth", "error"]);
}

#[test]
fn a_password_on_standard_input_is_for_this_command() {
    let scene = scene(bearer(), Some(&Login::new("ada", "wrong-horse")));
    let mut command = scene.command(&format!("{EXPLAIN} --username ada --password-stdin"));
    let said = with_input(&scene, &mut command, PASSWORD);
    assert_snapshot!(said.text, @r#"
    exit code: 0
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at nothing: --username says who asks

    chosen    --username, user ada: it was given for this command
    asked     a token for repository:acme/widget:pull
    answered  GET http://[REGISTRY]/v2/acme/widget/tags/list, showing nothing: 401
                wants Bearer realm="http://[REGISTRY]/token", service="test-registry",
                scope="repository:acme/widget:pull"
              GET http://[REGISTRY]/token, as ada: 200, a token for 300 s
              GET http://[REGISTRY]/v2/acme/widget/tags/list, with the token: 200
    OpenTofu  1.10 to 1.13: knows nothing of --username: it goes by its CLI configuration and the files
    result    a pull works: the registry lets ada in

    ----- stderr -----
    "#);
}

/// Runs a prepared command with this on its standard input.
fn with_input(scene: &Scene, command: &mut std::process::Command, input: &str) -> Said {
    let path = scene.context.write("input", input);
    scene.output(command.stdin(Stdio::from(std::fs::File::open(path).expect("it was just written"))))
}

#[test]
fn wrong_usage_is_told() {
    let scene = Scene::new();
    assert_snapshot!(explain(&scene, "auth explain oci:layout").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: a directory needs no credentials

    hint: name a repository of a registry, such as ghcr.io/acme/opentofu-provider-widget
    ");
    assert_snapshot!(explain(&scene, "auth explain ghcr.io/").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `ghcr.io/` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`

    hint: write REGISTRY/REPOSITORY, such as ghcr.io/acme/opentofu-provider-widget, or oci:DIR
    ");
}

#[test]
fn listed_files_must_all_be_sound() {
    let scene = scene(bearer(), Some(&ada()));
    let block = "oci_default_credentials {\n  docker_style_config_files = [\"a.json\", \"b.json\"]\n}\n";
    scene.context.write_home(".tofurc", block);
    scene.context.write_home("a.json", "{}");
    let said = explain(&scene, EXPLAIN);
    assert_eq!(said.code, Some(2), "{}", said.text);
    assert_snapshot!(said.text, @"
    exit code: 2
    ----- stdout -----
    [REGISTRY]/acme/widget, to pull
    looked at, in this order: docker_style_config_files lists the files
      ~/.tofurc  holds no credentials
      ~/a.json   holds no credentials
      ~/b.json   missing

    chosen    nothing: no source fits
    asked     nothing: every verb stops before it asks
    answered  nothing: no request was made
    OpenTofu  1.10 to 1.13: stops at it too
    result    a pull is refused, config-file-error: every verb stops at the error that is shown below,
              before it asks a registry

    ----- stderr -----
    error: docker_style_config_files names ~/b.json, which is not there
      cause: it is written in ~/.tofurc:2

    hint: correct the file, or take it out of the list; relative names count from the folder of the CLI configuration
    ");
    assert_eq!(scene.conversation(), Vec::<String>::new(), "something was asked");
}

#[test]
fn the_hub_goes_by_all_its_names() {
    let mut scene = Scene::new();
    // No registry is reached; the sources that were looked at are shown all the same.
    scene.context.env("HTTPS_PROXY", "http://127.0.0.1:1");
    let entry = json!({"auths": {"https://index.docker.io/v1/": {"auth": encoded(&ada())}}});
    scene.context.write_home(".docker/config.json", format!("{entry:#}"));
    let said = explain(&scene, "auth explain docker.io/acme/widget --attempts 1");
    let told = said.stdout.split("answered  ").next().unwrap_or_default().to_owned();
    let opentofu: Vec<&str> = said.stdout.lines().skip_while(|line| !line.starts_with("OpenTofu")).collect();
    assert_snapshot!(format!("{told}...\n{}", opentofu.join("\n")), @r#"
    docker.io/acme/widget, to pull
    looked at, in this order
      ~/.tofurc                       missing
      ~/.config/containers/auth.json  missing
      ~/.docker/config.json
        line 3    auths "https://index.docker.io/v1/": chosen, it names the registry
      ~/.dockercfg                    missing

    chosen    auths "https://index.docker.io/v1/" of ~/.docker/config.json:3, user ada: nothing else
              fits
    asked     no helper and no token server
    ...
    OpenTofu  1.10 to 1.13: asks anonymously: no credential is ever sent for docker.io/...: the registry
              that is asked, registry-1.docker.io, has another name
    result    a pull is not known to work: the registry or its token server cannot be reached
    "#);
}

#[test]
fn colours_stay_out_of_pipes() {
    let scene = scene(bearer(), Some(&ada()));
    let mut command = scene.command(EXPLAIN);
    let said = scene.output(command.env_remove("NO_COLOR"));
    assert!(!said.stdout.contains('\u{1b}'), "{}", said.text);
    let mut command = scene.command(EXPLAIN);
    let said = scene.output(command.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1"));
    assert!(said.stdout.contains("\u{1b}["), "{}", said.text);
}
