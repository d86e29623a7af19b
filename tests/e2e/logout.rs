//! `logout`: it removes what docker and `login` have stored, and reports what still answers.
#![cfg(unix)]

use insta::assert_snapshot;

use crate::setup::Scene;
use crate::setup::logins::basic;

#[test]
fn a_login_is_removed_and_the_rest_of_the_file_stays() {
    let scene = Scene::with(basic());
    let other = "{\n\t\"auths\": {\n\t\t\"z.example\": {\"email\": \"z\"}\n\t},\n\t\"psFormat\": \"kept\"\n}";
    scene.context.write_home(".docker/config.json", other);
    scene.log_in("").success();
    assert_snapshot!(scene.run("logout REGISTRY").text, @r#"
    exit code: 0
    ----- stdout -----
    logged out of [REGISTRY]
      removed "[REGISTRY]" from ~/.docker/config.json

    ----- stderr -----
    "#);
    assert_eq!(scene.home_text(".docker/config.json").as_deref(), Some(other));
    assert_snapshot!(scene.run("logout REGISTRY").text, @"
    exit code: 0
    ----- stdout -----
    not logged in to [REGISTRY]: ~/.docker/config.json has no login for it

    ----- stderr -----
    ");
    assert_eq!(scene.home_text(".docker/config.json").as_deref(), Some(other));
}

#[test]
fn who_never_logged_in_is_told_so_and_nothing_is_made() {
    let scene = Scene::new();
    assert_eq!(scene.run("logout REGISTRY").success().stderr, "");
    assert_eq!(scene.home_files(), Vec::<String>::new());
    assert_eq!(scene.conversation(), Vec::<String>::new());
}

#[test]
fn every_form_that_a_docker_has_used_is_removed_and_repositories_stay() {
    let scene = Scene::new();
    let entry = "{\"auth\": \"YWRhOmh1bnRlcjI=\"}";
    let keys = ["REGISTRY", "https://REGISTRY", "http://REGISTRY", "https://REGISTRY/v1/", "https://REGISTRY/v2/"];
    let kept = ["REGISTRY/acme", "xREGISTRY", "https://REGISTRY/acme"];
    let entries: Vec<String> = keys.iter().chain(&kept).map(|key| format!("\"{key}\": {entry}")).collect();
    let config = format!("{{\"auths\": {{{}}}}}", entries.join(", "));
    scene.context.write_home(".docker/config.json", config.replace("REGISTRY", scene.registry.address()));
    assert_snapshot!(scene.run("logout REGISTRY").text, @r#"
    exit code: 0
    ----- stdout -----
    logged out of [REGISTRY]
      removed "[REGISTRY]" from ~/.docker/config.json
      removed "https://[REGISTRY]" from ~/.docker/config.json
      removed "https://[REGISTRY]/v1/" from ~/.docker/config.json
      removed "https://[REGISTRY]/v2/" from ~/.docker/config.json
      removed "http://[REGISTRY]" from ~/.docker/config.json

    ----- stderr -----
    note: auths "[REGISTRY]/acme" in ~/.docker/config.json:1 stays: it is for the repositories that it names
    "#);
    let left = scene.home_text(".docker/config.json").expect("it is there");
    assert!(kept.iter().all(|key| left.contains(&format!("\"{key}\""))), "{left}");
    assert!(!keys.iter().any(|key| left.contains(&format!("\"{key}\""))), "{left}");
}

#[test]
fn the_names_of_docker_hub_are_one_registry() {
    let scene = Scene::new();
    for name in ["docker.io", "index.docker.io", "registry-1.docker.io"] {
        let config =
            "{\"auths\": {\"https://index.docker.io/v1/\": {\"auth\": \"YWRhOmh1bnRlcjI=\"}, \"docker.io\": {}}}";
        scene.context.write_home(".docker/config.json", config);
        let said = scene.run(&format!("logout {name} --json")).success();
        let line = said.json().pop().expect("a line");
        let removed: Vec<_> = line["removed"].as_array().expect("a list").iter().map(|one| &one["key"]).collect();
        assert_eq!(removed, ["docker.io", "https://index.docker.io/v1/"]);
        assert_eq!(line["registry"], name);
        assert_eq!(scene.home_text(".docker/config.json").as_deref(), Some("{\"auths\": {}}"));
    }
}

#[test]
fn what_still_answers_is_told() {
    let scene = Scene::with(basic());
    scene.log_in("").success();
    let other = format!("{{\"auths\": {{\"{}\": {{\"auth\": \"Ym9iOmh1bnRlcjI=\"}}}}}}", scene.registry.address());
    scene.context.write_home(".config/containers/auth.json", other);
    assert_snapshot!(scene.run("logout REGISTRY").text, @r#"
    exit code: 0
    ----- stdout -----
    logged out of [REGISTRY]
      removed "[REGISTRY]" from ~/.docker/config.json

    ----- stderr -----
    warning: auths "[REGISTRY]" in ~/.config/containers/auth.json:1 still answers for [REGISTRY]
      hint: remove it with `tofu-oci logout [REGISTRY] --auth-file ~/.config/containers/auth.json`, or log in there
    "#);
    assert_snapshot!(scene.run("logout REGISTRY").text, @r#"
    exit code: 0
    ----- stdout -----
    not logged in to [REGISTRY]: ~/.docker/config.json has no login for it

    ----- stderr -----
    warning: auths "[REGISTRY]" in ~/.config/containers/auth.json:1 still answers for [REGISTRY]
      hint: remove it with `tofu-oci logout [REGISTRY] --auth-file ~/.config/containers/auth.json`, or log in there
    "#);
    let file = scene.context.home().join(".config/containers/auth.json");
    assert_snapshot!(scene.run(&format!("logout REGISTRY --auth-file {}", file.display())).text, @r#"
    exit code: 0
    ----- stdout -----
    logged out of [REGISTRY]
      removed "[REGISTRY]" from ~/.config/containers/auth.json

    ----- stderr -----
    "#);
}

#[test]
fn a_word_that_may_be_a_password_was_repeated() {
    let scene = Scene::new();
    let said = scene.refuse("logout ghcr.io hunter2");
    assert!(said.contains("one argument is too many; it may be a password") && !said.contains("hunter2"), "{said}");
}
