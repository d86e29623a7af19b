//! Every line of `--json` is what docs/reference/json.schema.json says.

use insta::assert_snapshot;
use serde_json::Value;
use tofu_oci_testkit::{Fault, ReleaseFolder, Rule};

use crate::setup::{PLATFORMS, Said, Scene, WIDGET};

const DOCS: &str = include_str!("../../docs/reference/json.md");

/// The members whose values are names.
const NAMED: [&str; 12] =
    ["event", "outcome", "action", "state", "level", "kind", "fate", "standing", "basis", "form", "code", "difference"];

/// Words with hyphens, as `registry-status:401`.
fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-:".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_lowercase()) && text.bytes().all(is_part)
}

/// Refuses values that are names in another form.
#[track_caller]
fn check_names(value: &Value) {
    match value {
        Value::Object(object) => {
            for (member, value) in object {
                let is_other = NAMED.contains(&member.as_str()) && value.as_str().is_some_and(|text| !is_name(text));
                assert!(!is_other, "{member} is no word with hyphens: {value}");
                check_names(value);
            }
        }
        Value::Array(items) => items.iter().for_each(check_names),
        _ => {}
    }
}

/// Every line is what the schema says, and its names are words with hyphens; gives the events in order.
#[track_caller]
pub(crate) fn check(said: &Said) -> Vec<String> {
    let lines = said.json();
    lines.iter().for_each(check_names);
    lines.iter().filter_map(|line| Some(line["event"].as_str()?.to_owned())).collect()
}

#[test]
fn every_event_is_in_the_index_of_verbs() {
    let (before, results) = DOCS.split_once("\n## Results\n").expect("a heading");
    let index = before.split_once("\n## Events by verb\n").expect("a heading").1;
    let headings = results.lines().filter_map(|line| line.strip_prefix("### "));
    for event in headings.flat_map(|heading| heading.split(" and ")) {
        assert!(index.contains(event), "{event} is in no row");
    }
}

#[test]
fn a_push() {
    let scene = Scene::new();
    ReleaseFolder::new("widget", "1.4.0", &PLATFORMS).write_goreleaser(&scene.path("dist"));
    let line = format!("push dist REGISTRY/acme/widget --address {WIDGET} --layout both --json");
    let plan = scene.run(&format!("{line} --dry-run"));
    assert_eq!(check(&plan), ["message", "push-plan"]);
    let said = scene.run(&line);
    assert_eq!(check(&said).last().map(String::as_str), Some("pushed"));
    assert_eq!(said.stderr, "");
    let again = scene.run(&line);
    assert_eq!(check(&again), ["message", "pushed"]);
    assert_eq!(again.json()[1]["unchanged"], true);
    assert_snapshot!(again.text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"message","level":"warning","code":"sums-signature-not-openpgp","text":"terraform-provider-widget_1.4.0_SHA256SUMS.sig is not an OpenPGP signature, so it does not go with the release","hint":"sign terraform-provider-widget_1.4.0_SHA256SUMS with OpenPGP: gpg --detach-sign; or sign the release: --sign-key KEY"}
    {"event":"pushed","outcome":"pushed","place":"[REGISTRY]/acme/widget","version":"1.4.0","tag":"1.4.0","address":"registry.example.com/acme/widget","index":"sha256:[DIGEST]","platforms":[{"platform":"darwin_arm64","filename":"terraform-provider-widget_1.4.0_darwin_arm64.zip","leaves":["sha256:[DIGEST]","sha256:[DIGEST]"],"zip":"sha256:[DIGEST]","layer":"sha256:[DIGEST]","size":324,"h1":"h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=","zh":"zh:[ZIP]"},{"platform":"linux_amd64","filename":"terraform-provider-widget_1.4.0_linux_amd64.zip","leaves":["sha256:[DIGEST]","sha256:[DIGEST]"],"zip":"sha256:[DIGEST]","layer":"sha256:[DIGEST]","size":323,"h1":"h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=","zh":"zh:[ZIP]"}],"transfers":{"uploaded":0,"present":0,"mounted":0,"bytes":0},"attachments":[],"unchanged":true}

    ----- stderr -----
    "#);
    assert_eq!(check(&scene.run(&format!("{line} --dry-run"))), ["message", "push-plan"]);
}

#[test]
fn a_signature() {
    let scene = Scene::published();
    let key = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/trust/cosign/test-keys/p256.pem");
    let line = format!("sign REGISTRY/acme/widget:1.4.0 --key {key} --format both --json");
    let said = scene.run(&line).success();
    assert_eq!(check(&said).last().map(String::as_str), Some("signed"));
    assert_eq!(said.stderr, "");
    let again = scene.run(&line).success();
    assert_eq!(again.json().last().map(|line| line["unchanged"].clone()), Some(true.into()));
    let line = format!("push dist REGISTRY/acme/other --address {WIDGET} --sign-key {key} --json");
    let plan = scene.run(&format!("{line} --dry-run")).success();
    let plan = plan.json().pop().expect("a plan");
    assert_eq!(
        (&plan["attachments"][0]["state"], &plan["attachments"][0]["form"]),
        (&"missing".into(), &"bundle".into())
    );
    let pushed = scene.run(&line).success();
    assert_eq!(pushed.json().pop().expect("a report")["attachments"][0]["state"], "attached");
}

#[test]
fn a_push_that_is_refused() {
    let scene = Scene::published();
    ReleaseFolder::new("widget", "1.4.0", &["linux_amd64"]).write_zips(&scene.path("other"));
    let line = format!("push other REGISTRY/acme/widget --address {WIDGET} --json");
    let said = scene.run(&line);
    assert_eq!(check(&said), ["error"]);
    assert_snapshot!(said.text, @r#"
    exit code: 1
    ----- stdout -----
    {"event":"error","code":"tag-taken","text":"[REGISTRY]/acme/widget has a tag 1.4.0 already: it points at a release with the same packages in another layout, or for other platforms","causes":[],"hints":["push with the --layout and the platforms of the published release, and nothing has to be sent","the tag points at a release of registry.example.com/acme/widget; to move it all the same, add --replace-tag"]}

    ----- stderr -----
    error: [REGISTRY]/acme/widget has a tag 1.4.0 already: it points at a release with the same packages in another layout, or for other platforms

    hint: push with the --layout and the platforms of the published release, and nothing has to be sent
    hint: the tag points at a release of registry.example.com/acme/widget; to move it all the same, add --replace-tag
    "#);
    let taken = scene.run(&format!("{line} --dry-run"));
    assert_eq!(check(&taken), ["push-plan", "error"]);
    assert_eq!(taken.json()[0]["tag_state"]["state"], "taken");
}

#[test]
fn a_pack_and_a_copy() {
    let scene = Scene::with_dist();
    let said = scene.run(&format!("pack dist oci:layout --address {WIDGET} --json"));
    assert_eq!(check(&said).last().map(String::as_str), Some("pushed"));
    assert_eq!(check(&scene.run("copy oci:layout REGISTRY/mirror/widget --dry-run --json")), ["copy-plan"]);
    let said = scene.run("copy oci:layout REGISTRY/mirror/widget --json");
    assert_eq!(check(&said).last().map(String::as_str), Some("copied"));
}

#[test]
fn an_install() {
    let scene = Scene::published();
    let line = format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64 --json");
    let said = scene.run(&line);
    let events = check(&said);
    assert_eq!(events.first().map(String::as_str), Some("started"));
    assert_eq!(events[events.len() - 2..], ["installed", "lock"]);
    let again = scene.run(&line);
    assert_eq!(check(&again), ["installed", "lock"]);
    assert_snapshot!(again.text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"installed","address":"registry.example.com/acme/widget","version":"1.4.0","platform":"linux_amd64","place":"[REGISTRY]/acme/widget","path":"./.terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64","outcome":"already-installed","layout":null,"bytes":67,"hashes":["h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw="],"index":null,"trust":null}
    {"event":"lock","path":"./.terraform.lock.hcl","outcome":"unchanged","changes":[]}

    ----- stderr -----
    "#);
}

#[test]
fn a_lock() {
    let scene = Scene::published();
    let text = format!("terraform {{\n  required_providers {{\n    widget = {{ source = \"{WIDGET}\" }}\n  }}\n}}\n");
    scene.context.write("main.tf", text);
    let line = "lock --from REGISTRY/acme/widget --json";
    let mut events = check(&scene.run(&format!("{line} --check")));
    // The packages are looked at side by side.
    events[..4].sort_unstable();
    assert_eq!(events, ["finished", "finished", "started", "started", "locked", "lock", "error"]);
    assert_eq!(check(&scene.run(&format!("{line} --quiet"))), ["locked", "lock"]);
}

#[test]
fn versions_and_resolve() {
    let scene = Scene::published();
    assert_eq!(check(&scene.run("versions REGISTRY/acme/widget --platforms --json")), ["version"]);
    assert_eq!(check(&scene.run(&format!("resolve {WIDGET} --from oci:x --json"))), ["resolved"]);
}

#[test]
fn an_explanation_and_a_check() {
    let scene = Scene::published();
    let explain = format!("resolve {WIDGET} --explain --json");
    assert_eq!(check(&scene.run(&format!("{explain} --from REGISTRY/acme/widget"))), ["method", "choice"]);
    scene.home_file(".tofurc", "provider_installation {\n  oci_mirror {\n    include = [\"a/b/c/d\"]\n  }\n}\n");
    assert_eq!(check(&scene.run(&explain)).last().map(String::as_str), Some("error"));
    assert_eq!(check(&scene.run("config check --json")).last().map(String::as_str), Some("checked"));
}

#[test]
fn an_explanation_of_access() {
    let scene = Scene::published();
    let explain = "auth explain REGISTRY/acme/widget --json";
    assert_eq!(check(&scene.run(explain)), ["auth"]);
    let entry =
        format!("{{\"auths\": {{\"https://{0}\": {{\"auth\": \"x\"}}, \"{0}\": {{}}}}}}", scene.registry.address());
    scene.context.write_home(".docker/config.json", entry);
    scene.home_file(".tofurc", "oci_credentials \"ghcr.io\" {\n}\n");
    assert_eq!(check(&scene.run(explain)), ["auth", "error"]);
}

#[test]
fn the_providers_of_a_configuration() {
    let scene = Scene::new();
    let text =
        "module \"far\" {\n  source = \"acme/far/cloud\"\n}\nresource \"zap_x\" \"y\" {\n  provider = zap.west\n}\n";
    std::fs::write(scene.path("main.tf"), text).unwrap();
    let events = check(&scene.run("providers --json"));
    assert_eq!(events, ["module", "module-unread", "state", "provider", "message", "error"]);
}

#[test]
fn warnings_and_retries_are_lines_too() {
    let scene = Scene::published();
    let digest = scene.tag("acme/widget", "1.4.0").parse().expect("a digest");
    scene.registry.put_tag("acme/widget", "2", &digest);
    scene.registry.fault(Rule::on("GET", "*").once().then(Fault::status(503, "UNAVAILABLE")));
    let said = scene.run("versions REGISTRY/acme/widget --json");
    assert_eq!(check(&said), ["retrying", "message", "version"]);
    assert_eq!(said.stderr, "");
}

#[test]
fn quiet_json_is_the_result_alone() {
    let scene = Scene::published();
    let line = format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64 --json --quiet");
    assert_eq!(check(&scene.run(&line)), ["installed", "lock"]);
}

#[test]
fn the_rules_and_a_snippet() {
    let scene = Scene::new();
    let rules = check(&scene.run("check --list-rules --json"));
    assert!(rules.len() > 100 && rules.iter().all(|event| event == "rule"), "{rules:?}");
    assert_eq!(check(&scene.run("check --list-rules --rule stray-version-tag --json")).len(), 1);
    let text = scene.run("check --list-rules --rule stray-version-tag").success().stdout;
    assert!(text.contains("stray-version-tag") && text.lines().count() == 3, "{text}");
    let said = scene.run("config snippet registry.example.com/*/* 'ghcr.io/acme/${namespace}/${type}' --json");
    assert_eq!(check(&said).first().map(String::as_str), Some("snippet"));
    let said = scene.run("config add registry.example.com/acme/* 'ghcr.io/acme/${type}' --json");
    assert_eq!(check(&said).first().map(String::as_str), Some("config-edited"));
}

#[test]
fn equal_repositories_are_called_equal() {
    let scene = Scene::published();
    scene.run("copy REGISTRY/acme/widget oci:same").success();
    let line = "check REGISTRY/acme/widget --against oci:same";
    let said = scene.run(line);
    assert!(said.stdout.contains("; equal to oci:same\n"), "{}", said.text);
    let said = scene.run(&format!("{line} --json"));
    check(&said);
    let outcome = |said: &Said| said.json().iter().find(|line| line["event"] == "checked").cloned();
    assert_eq!(outcome(&said).expect("a summary")["against"]["outcome"], "equal", "{}", said.text);
    scene.dist("next", "1.5.0");
    scene.run(&format!("push next REGISTRY/acme/widget --address {WIDGET}")).success();
    assert!(scene.run(line).stdout.contains("; not equal to oci:same\n"));
}

#[test]
fn every_error_of_publishing_has_a_code() {
    let scene = Scene::published();
    std::fs::create_dir(scene.path("empty")).expect("it is ours");
    let push = format!("REGISTRY/acme/widget --address {WIDGET} --json");
    for (line, code) in [
        (format!("push missing {push}"), "no-folder"),
        (format!("push empty {push}"), "no-packages"),
        (format!("push dist REGISTRY/acme/widget --address {WIDGET} --version 9.9.9 --json"), "version-conflict"),
        ("copy REGISTRY/acme/widget oci:x --version 7.0.0 --json".to_owned(), "tag-not-found"),
        ("copy REGISTRY/acme/none oci:x --json".to_owned(), "provider-not-found"),
        ("sign REGISTRY/acme/widget:1.4.0 --key missing.pem --json".to_owned(), "signing-key"),
        ("push dist --json".to_owned(), "usage"),
    ] {
        let said = scene.run(&line);
        let last = said.json().pop().expect("a line");
        assert_eq!((&last["event"], &last["code"]), (&"error".into(), &code.into()), "{line}: {}", said.text);
    }
}

#[test]
fn a_version_that_goes_and_comes_back() {
    let scene = Scene::with_dist();
    scene.run(&format!("pack dist oci:layout --address {WIDGET}")).success();
    for (line, event) in [
        ("withdraw oci:layout:1.4.0 --reason broken --dry-run --json", "state-plan"),
        ("withdraw oci:layout:1.4.0 --reason broken --json", "release-state"),
        ("withdraw oci:layout:1.4.0 --undo --json", "release-state"),
        ("deprecate oci:layout:1.4.0 --message old --json", "release-state"),
    ] {
        assert_eq!(check(&scene.run(line).success()), [event], "{line}");
    }
}
