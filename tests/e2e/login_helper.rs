//! Logins that a credential helper keeps.
#![cfg(unix)]

use insta::assert_snapshot;

use crate::setup::logins::{PASSWORD, basic, bearer};
use crate::setup::{Scene, WIDGET};

/// A stage with the helper, named by a file.
fn scene(config: &str) -> Scene {
    let scene = Scene::with(basic()).with_vault();
    scene.context.write_home(".docker/config.json", config.replace("REGISTRY", scene.registry.address()));
    scene
}

const STORE: &str = "{\n\t\"credsStore\": \"vault\"\n}";

/// What docker leaves where a helper keeps the login.
const MARKED: &str = "{\n\t\"auths\": {\n\t\t\"REGISTRY\": {}\n\t},\n\t\"credsStore\": \"vault\"\n}";

#[test]
fn the_helper_keeps_the_password_and_the_file_the_mark() {
    let scene = scene(STORE);
    scene.dist("dist", "1.4.0");
    assert_snapshot!(scene.log_in("").text, @r#"
    exit code: 0
    ----- stdout -----
    logged in to [REGISTRY] as ada
      kept by docker-credential-vault, as ~/.docker/config.json says

    ----- stderr -----
    note: tofu does not find this login: it asks docker-credential-vault for https://[REGISTRY] alone, and it is kept under [REGISTRY]
      hint: an oci_credentials "[REGISTRY]" block with username and password in the CLI configuration works in both
    "#);
    assert_eq!(scene.home_text(".docker/config.json").as_deref(), Some(MARKED));
    let kept = std::fs::read_dir(scene.context.home().join("vault")).expect("a folder").next();
    let kept = std::fs::read_to_string(kept.expect("a login").expect("a file").path()).expect("a text");
    let want = format!("{{\"ServerURL\":\"REGISTRY\",\"Username\":\"ada\",\"Secret\":\"{PASSWORD}\"}}");
    assert_eq!(kept.replace(scene.registry.address(), "REGISTRY"), want);
    assert_snapshot!(scene.vault_log(), @"
    store REGISTRY
    get https://REGISTRY
    get REGISTRY
    ");
    scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}")).success();
    assert_snapshot!(scene.run("login REGISTRY").text, @r#"
    exit code: 0
    ----- stdout -----
    the login of ada works at [REGISTRY]
      it is that of credsStore "vault" in ~/.docker/config.json:5

    ----- stderr -----
    "#);
}

#[test]
fn a_helper_of_the_registry_comes_before_that_of_all() {
    let scene = scene("{\"credHelpers\": {\"REGISTRY\": \"vault\"}, \"credsStore\": \"missing\"}");
    scene.log_in("").success();
    assert!(scene.vault_log().starts_with("store REGISTRY\n"));
    let other = self::scene("{\"credHelpers\": {\"elsewhere.example\": \"missing\", \"REGISTRY\": \"vault\"}}");
    other.log_in("").success();
    assert!(other.vault_log().starts_with("store REGISTRY\n"));
}

#[test]
fn a_password_that_stood_in_the_file_is_gone_once_a_helper_keeps_it() {
    let scene = scene(
        "{\n\t\"auths\": {\n\t\t\"REGISTRY\": {\n\t\t\t\"auth\": \"Ym9iOmh1bnRlcjI=\"\n\t\t}\n\t},\n\t\"credsStore\": \"vault\"\n}",
    );
    scene.log_in("").success();
    assert_eq!(scene.home_text(".docker/config.json").as_deref(), Some(MARKED));
}

#[test]
fn a_helper_that_is_missing_or_fails_is_told_and_nothing_is_stored() {
    let mut scene = scene("{\"credsStore\": \"missing\"}");
    assert_snapshot!(scene.log_in("").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: docker-credential-missing is not on the PATH
      cause: the helper is named in ~/.docker/config.json

    hint: install the helper in a folder of the PATH
    hint: nothing was stored
    ");
    assert_eq!(scene.home_text(".docker/config.json").as_deref(), Some("{\"credsStore\": \"missing\"}"));
    scene.context.write_home(".docker/config.json", "{\"credsStore\": \"sealed\"}");
    let config = scene.home_text(".docker/config.json");
    scene.helper("sealed", "echo 'the vault is sealed'; exit 1");
    assert_snapshot!(scene.log_in("").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: credential helper sealed failed: exit status 1; what it wrote may hold a secret and is not repeated
      cause: the helper is named in ~/.docker/config.json

    hint: run the helper by hand to see what is wrong with it: printf %s [REGISTRY] | docker-credential-sealed get
    hint: nothing was stored
    ");
    scene.helper("sealed", "printf %s \"${input%.}\"; exit 1");
    assert_snapshot!(scene.log_in("").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: credential helper sealed failed: exit status 1; what it wrote may hold a secret and is not repeated
      cause: the helper is named in ~/.docker/config.json

    hint: run the helper by hand to see what is wrong with it: printf %s [REGISTRY] | docker-credential-sealed get
    hint: nothing was stored
    ");
    assert_eq!(scene.home_text(".docker/config.json"), config);
    scene.context.write_home(".docker/config.json", "{\n\"credsStore\": \"../evil\"}");
    assert_snapshot!(scene.log_in("").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: ~/.docker/config.json names a credential helper that cannot be one
      cause: `../evil` cannot be the name of a credential helper: letters, digits, `.`, `_` and `-` make one

    hint: nothing was changed: correct the name, which is the part behind docker-credential-
    ");
}

#[test]
fn a_wrong_password_reaches_no_helper() {
    let scene = scene(STORE);
    let said = scene.run_with("login REGISTRY -u ada --password-stdin", "hunter2");
    assert_eq!((said.code, scene.vault_log()), (Some(1), String::new()), "{}", said.text);
    let said = scene.run_with("login REGISTRY -u '<token>' --password-stdin", PASSWORD);
    assert_snapshot!(said.text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `<token>` is not an account: helpers mark identity tokens by this name

    hint: name the account that the token belongs to
    ");
    assert_eq!(scene.vault_log(), "");
    assert_eq!(scene.home_text(".docker/config.json").as_deref(), Some(STORE));
}

#[test]
fn a_logout_erases_what_the_helper_keeps() {
    let scene = scene(STORE);
    scene.log_in("").success();
    scene.vault_log();
    assert_snapshot!(scene.run("logout REGISTRY").text, @r#"
    exit code: 0
    ----- stdout -----
    logged out of [REGISTRY]
      removed "[REGISTRY]" from docker-credential-vault
      removed "[REGISTRY]" from ~/.docker/config.json

    ----- stderr -----
    "#);
    assert_snapshot!(scene.vault_log(), @"
    get REGISTRY
    erase REGISTRY
    get https://REGISTRY
    get https://REGISTRY
    ");
    assert_eq!(
        scene.home_text(".docker/config.json").as_deref(),
        Some("{\n\t\"auths\": {},\n\t\"credsStore\": \"vault\"\n}")
    );
    assert_snapshot!(scene.run("logout REGISTRY").text, @"
    exit code: 0
    ----- stdout -----
    not logged in to [REGISTRY]: ~/.docker/config.json has no login for it

    ----- stderr -----
    ");
    assert_eq!(scene.run("login REGISTRY").code, Some(1));
}

#[test]
fn a_logout_whose_helper_fails_removes_the_rest_and_fails() {
    let mut scene = scene("{\"auths\": {\"REGISTRY\": {\"auth\": \"YWRhOmh1bnRlcjI=\"}}, \"credsStore\": \"missing\"}");
    assert_snapshot!(scene.run("logout REGISTRY").text, @r#"
    exit code: 1
    ----- stdout -----
    logged out of [REGISTRY]
      removed "[REGISTRY]" from ~/.docker/config.json

    ----- stderr -----
    error: docker-credential-missing is not on the PATH
      cause: the helper is named in ~/.docker/config.json

    hint: install the helper in a folder of the PATH
    hint: the rest was removed all the same
    "#);
    assert_eq!(scene.home_text(".docker/config.json").as_deref(), Some("{\"auths\": {}, \"credsStore\": \"missing\"}"));
    scene.helper("missing", &format!("case $1 in get) echo '{{\"Username\": \"ada\", \"Secret\": \"{PASSWORD}\"}}' ;; *) echo 'not implemented'; exit 1 ;; esac"));
    assert_snapshot!(scene.run("logout REGISTRY").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: credential helper missing failed: exit status 1; what it wrote may hold a secret and is not repeated
      cause: the helper is named in ~/.docker/config.json

    hint: run the helper by hand to see what is wrong with it: printf %s [REGISTRY] | docker-credential-missing erase
    ");
}

#[test]
fn nothing_secret_is_said() {
    for config in ["{}", STORE, "{\"credsStore\": \"missing\"}", "{\"credsStore\": \"loud\"}"] {
        for registry in [basic, bearer] {
            for tell in ["-vvv", "-vvv --json", "-q"] {
                let mut scene = Scene::with(registry()).with_vault();
                scene.helper("loud", "printf %s \"${input%.}\" | tee /dev/stderr; exit 1");
                scene.context.write_home(".docker/config.json", config);
                for password in [PASSWORD, "hunter2"] {
                    scene.run_with(&format!("login REGISTRY -u ada --password-stdin {tell}"), password);
                }
                for line in ["login REGISTRY", "logout REGISTRY"] {
                    scene.run_with(&format!("{line} {tell}"), "");
                }
            }
        }
    }
}
