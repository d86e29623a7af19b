//! `check` of repositories.

use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::Value;
use tofu_oci_testkit::ProviderZip;

use crate::json;
use crate::setup::{Said, Scene, WIDGET};

/// The rules of the findings with their levels, each once, in the order of the output.
fn rules(said: &Said) -> Vec<String> {
    let mut rules = Vec::new();
    for line in said.json().iter().filter(|line| line["event"] == "finding") {
        let rule =
            format!("{} {}", line["level"].as_str().unwrap_or_default(), line["rule"].as_str().unwrap_or_default());
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules
}

fn predictions(said: &Said) -> Vec<Value> {
    let lines = said.json();
    let last = lines.last().expect("it says something");
    last["predictions"].as_array().expect("the last line has the predictions").clone()
}

#[test]
fn what_was_pushed_is_good() {
    let scene = Scene::published_over_tls();
    assert_snapshot!(scene.run(&format!("check REGISTRY/acme/widget --deep --address {WIDGET} --platform linux_amd64")).text, @r#"
    exit code: 0
    ----- stdout -----
    note[unsigned] index sha256:[DIGEST] (1.4.0)
      what      nothing refers to it that could be a signature
      why       Nothing proves who made it; clients take what a registry gives.
      fix       sign it: `tofu-oci sign REPOSITORY:VERSION --key K`, or `--keyless` as a CI job
      spec      `tofu-oci help trust`

    checked as registry.example.com/acme/widget
      linux_amd64  OpenTofu 1.10 to 1.13  installs 1.4.0

    [REGISTRY]/acme/widget: 1 note; 1 version looked at

    ----- stderr -----
    "#);
    let json = scene.run("check REGISTRY/acme/widget --deep --fail-on warning --json").success();
    assert_eq!(json::check(&json), ["finding", "checked", "predictions"]);
    assert_eq!(rules(&json), ["note unsigned"]);
    assert!(predictions(&json).iter().all(|one| one["installs"] == true && one["version"] == "1.4.0"), "{}", json.text);
    let shallow = scene.run("check REGISTRY/acme/widget:1.4.0 --json").success();
    assert_eq!(rules(&shallow), ["note packages-not-read", "note unsigned"]);
    assert!(predictions(&shallow).iter().all(|one| one["unread"] == true), "{}", shallow.text);
    // No package was asked for.
    let packages = scene.registry.requests_to("HEAD", "/v2/acme/widget/blobs/*").len();
    assert!(packages > 0);
}

#[test]
fn a_floating_tag_is_an_error_for_everybody() {
    let scene = Scene::published_over_tls();
    let (_, digest) = scene.registry.tags("acme/widget").into_iter().next().unwrap();
    scene.registry.put_tag("acme/widget", "2", &digest.parse().unwrap());
    let line = format!("check REGISTRY/acme/widget --address {WIDGET} --platform linux_amd64 --quiet");
    assert_snapshot!(scene.run(&line).text, @r#"
    exit code: 1
    ----- stdout -----
    error[stray-version-tag] tag 2 (2.0.0)
      what      OpenTofu reads it as version 2.0.0 and asks for the tag 2.0.0, which is not there
      why       OpenTofu lists the version that it reads, chooses it where it is the newest, asks for
                the tag of that version's full spelling and gets 404: init fails for every user of the
                repository.
      fix       delete the tag; never let a release pipeline write floating tags such as `1` or `1.4`
                here
      spec      OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go, AvailableVersions
                and PackageMeta

    checked as registry.example.com/acme/widget
      linux_amd64  OpenTofu 1.10 to 1.13  refuses 2.0.0: tag-not-found

    [REGISTRY]/acme/widget: 1 error, 2 notes; 1 version looked at, 1 stray tag

    ----- stderr -----
    "#);
    // Also where another version is asked for: the tags are everybody's.
    let said = scene.run("check REGISTRY/acme/widget --version 1.4.0 --json");
    assert_eq!((said.code, rules(&said)[0].as_str()), (Some(1), "error stray-version-tag"));
    let ignored = scene.run("check REGISTRY/acme/widget --version 1.4.0 --ignore stray-version-tag --json");
    assert_eq!(ignored.code, Some(0), "{}", ignored.text);
}

#[test]
fn findings_fail_at_the_chosen_level() {
    let scene = Scene::published_over_tls();
    for (options, want) in [
        ("", 0),
        ("--fail-on warning", 0),
        ("--fail-on note", 1),
        ("--fail-on note --rule stray-version-tag", 0),
        ("--fail-on note --ignore unsigned --deep", 0),
    ] {
        let said = scene.run(&format!("check REGISTRY/acme/widget {options}"));
        assert_eq!(said.code, Some(want), "{options}: {}", said.text);
    }
    assert_snapshot!(scene.run("check REGISTRY/acme/widget --rule tag").text, @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no rule `tag`

    hint: rules of such a name: stray-version-tag, second-spelling-tag, no-version-tags, v-tag, platform-tag, tag-unreadable, drift-tag-missing, registry-tags, registry-immutable-tags
    "#);
    assert_eq!(scene.run("check REGISTRY/acme/nothing").code, Some(2));
    assert_eq!(scene.run("check oci:nodir").code, Some(2));
    for option in ["--offline", "--from REGISTRY/x", "--magic-suffix x.test"] {
        assert_eq!(scene.run(&format!("check REGISTRY/acme/widget {option}")).code, Some(2), "{option}");
    }
    assert_eq!(scene.run("check REGISTRY/acme/widget --version 1.4.0:x").code, Some(2));
    assert_eq!(scene.run("check REGISTRY/acme/widget:1.4.0 --version 1.5.0").code, Some(2));
}

#[test]
fn a_version_that_is_not_there() {
    let scene = Scene::published_over_tls();
    let said = scene.run("check REGISTRY/acme/widget:1.5.0 --platform linux_amd64 --json");
    assert_eq!((said.code, rules(&said)), (Some(1), vec!["error version-not-listed".to_owned()]), "{}", said.text);
    assert!(predictions(&said).iter().all(|one| one["installs"] == false), "{}", said.text);
}

fn testrepos() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/testrepos")
}

/// `check oci:DIR --address ADDR --json` ends with what the real programs did.
#[test]
fn the_prediction_is_what_opentofu_did() {
    let scene = Scene::new();
    let text = std::fs::read_to_string(testrepos().join("expected.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    for case in &cases {
        let name = case["case"].as_str().unwrap();
        let target = format!("oci:{}", testrepos().join(name).display());
        let address = "registry.example.test/acme/widget";
        let said = scene.run(&format!("check {target} --address {address} --platform linux_amd64 --json"));
        let predictions = predictions(&said);
        let series: Vec<&str> = predictions.iter().map(|one| one["opentofu"].as_str().unwrap()).collect();
        assert_eq!(series, ["1.10", "1.11", "1.12", "1.13"]);
        for prediction in &predictions {
            assert_eq!(prediction["installs"], case["opentofu"] == "installs", "{name}: {prediction}");
            assert_eq!(prediction["because"], case["because"], "{name}");
            if case["opentofu"] == "installs" {
                assert_eq!(prediction["version"], case["version"], "{name}");
            }
        }
        // The platform was named, so that one which is not offered is a finding too.
        let mistake = case["opentofu"] == "refuses";
        // A link is unpacked by OpenTofu and refused here.
        assert_eq!(said.code, Some(i32::from(mistake || name == "zip-symlink")), "{name}: {}", said.text);
    }
}

#[test]
fn two_repositories_that_should_be_equal() {
    let scene = Scene::published_over_tls();
    scene.run("copy REGISTRY/acme/widget REGISTRY/mirror/widget --version 1.4.0").success();
    let against = "check REGISTRY/acme/widget --against REGISTRY/mirror/widget --json";
    assert_eq!(rules(&scene.run(against).success()), ["note packages-not-read", "note unsigned"]);
    scene.publish("1.5.0");
    let said = scene.run(against);
    assert_eq!(said.code, Some(1));
    assert_eq!(json::check(&said).last().map(String::as_str), Some("predictions"));
    let missing: Vec<Value> = said.json().into_iter().filter(|line| line["rule"] == "drift-tag-missing").collect();
    assert_eq!(missing.len(), 1);
    assert_eq!(missing[0]["version"], "1.5.0");
    // A tag that was moved to something else on the way.
    let tags = scene.registry.tags("acme/widget");
    let digest = &tags.iter().find(|(tag, _)| tag == "1.5.0").unwrap().1;
    scene.run("copy REGISTRY/acme/widget REGISTRY/mirror/widget --version 1.5.0").success();
    scene.registry.put_tag("mirror/widget", "1.4.0", &digest.parse().unwrap());
    let said = scene.run(against);
    let found = rules(&said);
    assert!(found.contains(&"error drift-index".to_owned()), "{found:?}");
    assert!(found.contains(&"error drift-package".to_owned()), "{found:?}");
    // In the mirror itself an old release lies under a newer one's tag, or the other way round.
    let said = scene.run("check REGISTRY/mirror/widget --json");
    assert!(rules(&said).contains(&"error annotation-version".to_owned()), "{}", said.text);
}

#[test]
fn the_program_in_a_zip_with_dots_before_its_names_was_not_found() {
    let scene = Scene::new();
    let zip = ProviderZip::new("widget", "1.4.0", "linux_amd64").without_executable().file("./README.md", "text");
    scene.forge(zip.entry("./terraform-provider-widget_v1.4.0", "program", 0o755).build());
    let found = rules(&scene.run("check REGISTRY/acme/widget --deep --json"));
    assert!(found.iter().all(|rule| !rule.contains("executable")), "{found:?}");
    // OpenTofu writes the `h1:` of the folder, and compares that of the zip.
    assert!(found.contains(&"warning directory-entries".to_owned()), "{found:?}");
}

#[test]
fn the_other_forms() {
    let scene = Scene::new();
    let target = format!("oci:{}", testrepos().join("no-executable").display());
    let line = format!("check {target} --address registry.example.test/acme/widget");
    let sarif = scene.run(&format!("{line} --format sarif"));
    let document: Value = serde_json::from_str(&sarif.stdout).expect("SARIF is JSON");
    assert_eq!((document["version"].as_str(), sarif.code), (Some("2.1.0"), Some(1)));
    let run = &document["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    for result in run["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        assert!(result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"].is_string());
    }
    assert!(run["results"].as_array().unwrap().iter().any(|result| result["ruleId"] == "no-executable"));
    let junit = scene.run(&format!("{line} --format junit"));
    assert_eq!(junit.code, Some(1));
    assert!(junit.stdout.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites "), "{}", junit.text);
    assert!(junit.stdout.contains("<testcase classname=\"Tags\" name=\"stray-version-tag\"/>"), "{}", junit.text);
    assert_eq!(junit.stdout.matches("<failure ").count(), 1, "{}", junit.text);
    assert!(junit.stdout.ends_with("</testsuites>\n"));
}

/// What push writes is what check takes for right, whatever the layout.
#[test]
fn every_layout_that_was_pushed_goes_without_a_warning() {
    for layout in ["artifact", "image", "both"] {
        let scene = Scene::over_tls();
        scene.dist("dist", "1.4.0");
        scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --layout {layout}")).success();
        let said = scene.run("check REGISTRY/acme/widget --deep --json");
        let loud: Vec<String> = rules(&said).into_iter().filter(|rule| !rule.starts_with("note ")).collect();
        // OpenTofu 1.10 to 1.13 install no container images, and `check` says so.
        let want: &[&str] = if layout == "image" { &["error image-only"] } else { &[] };
        assert_eq!(loud, want, "{layout}: {}", said.text);
    }
}

#[test]
fn a_platform_that_was_named_and_is_not_offered() {
    let scene = Scene::published_over_tls();
    let said = scene.run("check REGISTRY/acme/widget --platform plan9_386 --deep --json");
    assert_eq!((said.code, rules(&said)[0].as_str()), (Some(1), "error platform-not-offered"), "{}", said.text);
    let found: Vec<Value> = said.json().into_iter().filter(|line| line["rule"] == "platform-not-offered").collect();
    assert_eq!(found.len(), 1, "{}", said.text);
    assert_eq!((found[0]["platform"].as_str(), found[0]["version"].as_str()), (Some("plan9_386"), Some("1.4.0")));
}

#[test]
fn documents_where_nothing_could_be_read_and_rules_that_were_left_out() {
    let scene = Scene::published_over_tls();
    let sarif = scene.run("check oci:nodir --format sarif");
    let document: Value = serde_json::from_str(&sarif.stdout).expect("SARIF is JSON");
    assert_eq!((&document["runs"][0]["invocations"][0]["executionSuccessful"], sarif.code), (&false.into(), Some(2)));
    let junit = scene.run("check oci:nodir --format junit");
    assert!(junit.stdout.contains("<error type=\"unreadable\""), "{}", junit.text);
    // Without --deep `check` does not look into zips, and omits one rule.
    let junit = scene.run("check REGISTRY/acme/widget --ignore unsigned --format junit").success();
    for rule in ["not-a-zip", "unsigned"] {
        let (_, case) = junit.stdout.split_once(&format!("name=\"{rule}\"")).expect(rule);
        assert!(case.starts_with(">\n      <skipped message="), "{rule}: {}", junit.text);
    }
    let junit = scene.run("check REGISTRY/acme/widget --fail-on note --format junit");
    assert!(junit.stdout.contains("<failure type=\"note\""), "{}", junit.text);
}

#[test]
fn a_layout_directory_is_named_with_oci() {
    let scene = Scene::over_tls();
    scene.dist("dist", "1.4.0");
    scene.run(&format!("pack dist oci:layout --address {WIDGET}")).success();
    for target in ["layout", "./layout"] {
        let said = scene.run(&format!("check {target}"));
        assert!(said.code == Some(2) && said.stderr.contains(&format!("check oci:{target}")), "{}", said.text);
    }
}
