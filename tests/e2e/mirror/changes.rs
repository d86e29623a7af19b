//! Versions that the rules no longer name, and that the upstream no longer lists.

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, Behaviour, Deletion, Fault, Registry, Rule};
use tofu_oci_types::Digest;

use super::{HOST, Mirrored, PLATFORMS, actions};
use crate::setup::State;

#[test]
fn pruning_withdraws_only_what_the_mirror_put_there() {
    let mirrored = Mirrored::with_zap();
    mirrored.mirror(&format!("{HOST}/acme/zap")).success();
    // Another version is pushed by hand.
    let scene = &mirrored.scene;
    tofu_oci_testkit::ReleaseFolder::new("zap", "0.9.0", &PLATFORMS[..1]).write_zips(&scene.path("dist"));
    scene.run(&format!("push dist REGISTRY/m/acme/zap --address {HOST}/acme/zap --version 0.9.0")).success();
    let newest = format!("{HOST}/acme/zap --latest 1");
    mirrored.mirror(&newest).success();
    assert_eq!(mirrored.tags("m/acme/zap"), ["0.9.0", "1.0.0", "1.1.0", "first-seen"], "never without --prune");
    let before = State::of(scene);
    let said = mirrored.mirror(&format!("{newest} --plan --prune")).success();
    assert_snapshot!(said.text, @"
    exit code: 0
    ----- stdout -----
    provider                        version  would be
    registry.example.test/acme/zap  1.0.0    withdrawn: the rules of the mirror no longer name this version

    plan: 1 there already, 1 withdrawn; 0 B to send. Nothing was changed

    ----- stderr -----
    ");
    assert_eq!(State::of(scene), before);
    mirrored.mirror(&format!("{newest} --prune")).success();
    assert_eq!(mirrored.tags("m/acme/zap"), ["0.9.0", "1.1.0", "first-seen", "withdrawn-1.0.0"]);
    let said = mirrored.mirror(&format!("{newest} --prune --json")).success();
    assert_eq!(actions(&said).into_values().collect::<Vec<_>>(), ["present"], "{}", said.text);
    // The rules name it again.
    let said = mirrored.mirror(&format!("{HOST}/acme/zap --json")).success();
    assert_eq!(actions(&said)["zap 1.0.0"], "reinstate", "{}", said.text);
    assert!(mirrored.tags("m/acme/zap").contains(&"1.0.0".to_owned()));
}

#[test]
fn pruning_left_tags_without_a_manifest() {
    let behaviour = Behaviour { deletion: Deletion::Enabled, ..Behaviour::default() };
    let mirrored = Mirrored::with(Registry::builder().behaviour(behaviour));
    let versions = ["1.0.0", "1.1.0", "1.2.0", "1.3.0"];
    for version in versions {
        mirrored.upstream.release("acme/zap", version, &PLATFORMS[..1]);
    }
    let (all, newest) = (format!("{HOST}/acme/zap"), format!("{HOST}/acme/zap --latest 1"));
    mirrored.mirror(&all).success();
    mirrored.mirror(&format!("{newest} --prune")).success();
    let pruned = ["1.3.0", "first-seen", "withdrawn-1.0.0", "withdrawn-1.1.0", "withdrawn-1.2.0"];
    assert_eq!(mirrored.tags("m/acme/zap"), pruned);
    // As an earlier version left it.
    let registry = &mirrored.scene.registry;
    registry.put_tag("m/acme/zap", "1.0.0", &Digest::sha256(b"gone"));
    let said = mirrored.mirror(&format!("{newest} --prune --json")).success();
    assert_eq!(actions(&said)["zap 1.0.0"], "withdraw", "{}", said.text);
    assert_eq!(mirrored.tags("m/acme/zap"), pruned);
    registry.put_tag("m/acme/zap", "1.1.0", &Digest::sha256(b"gone"));
    let said = mirrored.mirror(&format!("{all} --json")).success();
    assert_eq!(actions(&said)["zap 1.1.0"], "reinstate", "{}", said.text);
    assert_eq!(mirrored.tags("m/acme/zap"), ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "first-seen"]);
    // Its manifest went, and nothing keeps it.
    registry.put_tag("m/acme/zap", "1.2.0", &Digest::sha256(b"gone"));
    let said = mirrored.mirror(&format!("{all} --json")).success();
    assert_eq!(actions(&said)["zap 1.2.0"], "add", "{}", said.text);
    registry.put_tag("m/acme/zap", "1.2.0", &Digest::sha256(b"gone"));
    let said = mirrored.mirror(&format!("{newest} --prune --json")).success();
    assert_eq!(actions(&said)["zap 1.2.0"], "withdraw", "{}", said.text);
    assert!(!mirrored.tags("m/acme/zap").contains(&"1.2.0".to_owned()), "a tag that nothing kept stayed for ever");
}

#[test]
fn a_version_that_people_withdrew_stays_withdrawn() {
    let mirrored = Mirrored::with_zap();
    mirrored.mirror(&format!("{HOST}/acme/zap")).success();
    mirrored.scene.run("withdraw REGISTRY/m/acme/zap:1.0.0 --reason 'deletes state'").success();
    let said = mirrored.mirror(&format!("{HOST}/acme/zap --json")).success();
    assert_eq!(actions(&said)["zap 1.0.0"], "withdrawn-there", "{}", said.text);
    assert!(!mirrored.tags("m/acme/zap").contains(&"1.0.0".to_owned()));
}

#[test]
fn what_the_upstream_no_longer_lists_is_reported_or_withdrawn() {
    let mirrored = Mirrored::with_zap();
    let rules = format!("to = \"{}/m/${{namespace}}/${{type}}\"\n", mirrored.scene.registry.address());
    let provider = "[[provider]]\naddress = \"HOST/acme/zap\"\n";
    mirrored.rules(&format!("{rules}{provider}"));
    mirrored.scene.run("mirror").success();
    mirrored.upstream.withdraw("acme/zap", "1.0.0");
    let said = mirrored.scene.run("mirror --json").success();
    assert_eq!(actions(&said)["zap 1.0.0"], "gone", "{}", said.text);
    mirrored.rules(&format!("gone = \"withdraw\"\n{rules}{provider}"));
    let said = mirrored.scene.run("mirror --json").success();
    assert_eq!(actions(&said)["zap 1.0.0"], "withdraw", "{}", said.text);
    assert_eq!(mirrored.tags("m/acme/zap"), ["1.1.0", "first-seen", "withdrawn-1.0.0"]);
}

#[test]
fn an_answer_without_versions_withdrew_every_mirrored_version() {
    let mirrored = Mirrored::with_zap();
    let to = mirrored.scene.registry.address();
    mirrored.rules(&format!(
        "to = \"{to}/m/${{namespace}}/${{type}}\"\ngone = \"withdraw\"\n[[provider]]\naddress = \"HOST/acme/zap\"\nversions = \">= 1.0.0\"\n"
    ));
    mirrored.scene.run("mirror").success();
    for other in ["{}", r#"{"errors":["try again"]}"#, "null", r#"{"versions":null}"#] {
        let answer = Answer::new(200).body(other);
        mirrored.upstream.fault(Rule::on("GET", "/v1/providers/acme/zap/versions").then(Fault::Answer(answer)));
        let said = mirrored.scene.run("mirror --json");
        assert_eq!(
            (said.code, actions(&said).into_values().collect()),
            (Some(1), vec!["failed".to_owned()]),
            "{other}"
        );
        mirrored.upstream.clear_faults();
    }
    let answer = Answer::new(200).body(r#"{"versions":[{"version":"0.9.0"}]}"#);
    mirrored.upstream.fault(Rule::on("GET", "/v1/providers/acme/zap/versions").then(Fault::Answer(answer)));
    let said = mirrored.scene.run("mirror");
    assert_snapshot!(said.text, @"
    exit code: 1
    ----- stdout -----
    provider                        version  report
    registry.example.test/acme/zap  1.0.0    kept, although its place no longer lists it
    registry.example.test/acme/zap  1.1.0    kept, although its place no longer lists it
    registry.example.test/acme/zap  -        failed

    registry.example.test/acme/zap: registry.example.test no longer lists 2 of the 2 mirrored versions of registry.example.test/acme/zap, and they stay
      hint: look at what the place lists; if they are really gone, add --allow-all-gone

    2 no longer listed, 1 failed; 0 B sent

    ----- stderr -----
    ");
    assert_eq!(mirrored.tags("m/acme/zap"), ["1.0.0", "1.1.0", "first-seen"]);
    let said = mirrored.scene.run("mirror --allow-all-gone --json").success();
    assert!(actions(&said).into_values().all(|action| action == "withdraw"), "{}", said.text);
    assert_eq!(mirrored.tags("m/acme/zap"), ["first-seen", "withdrawn-1.0.0", "withdrawn-1.1.0"]);
}

#[test]
fn a_provider_that_its_registry_deleted_was_never_withdrawn() {
    let mirrored = Mirrored::with_zap();
    let rules = |latest: &str| {
        let to = mirrored.scene.registry.address();
        mirrored.rules(&format!(
            "to = \"{to}/m/${{namespace}}/${{type}}\"\ngone = \"withdraw\"\n[[provider]]\naddress = \"HOST/acme/zap\"\n{latest}"
        ));
    };
    rules("");
    mirrored.scene.run("mirror").success();
    let answer = Answer::new(404);
    mirrored.upstream.fault(Rule::on("GET", "/v1/providers/acme/zap/versions").then(Fault::Answer(answer)));
    let said = mirrored.scene.run("mirror --json");
    assert_eq!((said.code, actions(&said).into_values().collect()), (Some(1), vec!["failed".to_owned()]));
    rules("latest = 0\n");
    let said = mirrored.scene.run("mirror --plan --prune").success();
    assert!(said.stdout.contains("2 withdrawn"), "{}", said.text);
    rules("");
    mirrored.scene.run("mirror --allow-all-gone").success();
    assert_eq!(mirrored.tags("m/acme/zap"), ["first-seen", "withdrawn-1.0.0", "withdrawn-1.1.0"]);
}

#[test]
fn a_version_that_does_not_exist_made_a_repository() {
    let mirrored = Mirrored::with_zap();
    for to in ["'REGISTRY/m/${namespace}/${type}'", "oci:m", "static:m"] {
        let said = mirrored.scene.run(&format!("mirror {HOST}/acme/zap@9 {HOST}/acme/none --to {to}"));
        assert_eq!(said.code, Some(1), "{}", said.text);
    }
    assert!(!mirrored.scene.path("m").exists());
    let asked = mirrored.scene.conversation();
    assert!(asked.iter().all(|line| line.starts_with("GET ") || line.starts_with("HEAD ")), "{asked:#?}");
}

#[test]
fn a_warning_of_the_upstream_becomes_a_deprecation() {
    let mirrored = Mirrored::with_zap();
    mirrored.upstream.warn("acme/zap", &["use acme/new"]);
    mirrored.mirror(&format!("{HOST}/acme/zap@1.1.0")).success();
    assert_eq!(mirrored.tags("m/acme/zap"), ["1.1.0", "deprecated-1.1.0", "first-seen"]);
    let said = mirrored.scene.run("show REGISTRY/m/acme/zap:1.1.0").success();
    assert!(said.stdout.contains("use acme/new"), "{}", said.text);
    let said = mirrored.mirror(&format!("{HOST}/acme/zap@1.1.0 --json")).success();
    assert_eq!(actions(&said).into_values().collect::<Vec<_>>(), ["present"], "{}", said.text);
}

#[test]
fn a_warning_of_the_upstream_does_not_fail_where_no_notices_lie() {
    let mirrored = Mirrored::with_zap();
    mirrored.upstream.warn("acme/zap", &["use acme/new"]);
    for to in ["static:tree", "bundle:b.tar"] {
        let said = mirrored.scene.run(&format!("mirror {HOST}/acme/zap@1.1.0 --to {to} --json")).success();
        assert_eq!(actions(&said).into_values().collect::<Vec<_>>(), ["add"], "{}", said.text);
    }
}

#[test]
fn a_tree_gets_the_platforms_that_it_lacks() {
    let mirrored = Mirrored::with_zap();
    let line = format!("mirror {HOST}/acme/zap@1.1.0 --to static:tree --json");
    mirrored.scene.run(&format!("{line} --platform linux_amd64")).success();
    let said = mirrored.scene.run(&line).success();
    assert_eq!(actions(&said)["zap 1.1.0"], "widen", "{}", said.text);
    let listed = mirrored.scene.context.read(&format!("tree/{HOST}/acme/zap/1.1.0.json"));
    assert!(PLATFORMS[..2].iter().all(|platform| listed.contains(platform)), "{listed}");
    let said = mirrored.scene.run(&line).success();
    assert_eq!(actions(&said)["zap 1.1.0"], "present", "{}", said.text);
}

#[test]
fn the_report_has_one_blank_line_before_its_counts() {
    let mirrored = Mirrored::with_zap();
    let said = mirrored.scene.run(&format!("mirror {HOST}/acme/zap@9.0.0 --to oci:m"));
    assert_snapshot!(said.text, @"
    exit code: 1
    ----- stdout -----
    provider                        version  report
    registry.example.test/acme/zap  -        missing: no listed version meets 9.0.0; it has 1.1.0, 1.0.0

    1 failed; 0 B sent

    ----- stderr -----
    ");
}

#[test]
fn another_package_of_a_mirrored_version_is_not_taken() {
    let mirrored = Mirrored::with_zap();
    mirrored.mirror(&format!("{HOST}/acme/zap@1.1.0 --platform linux_amd64")).success();
    let before = mirrored.scene.tag("m/acme/zap", "1.1.0");
    let other = tofu_oci_testkit::ProviderZip::new("zap", "1.1.0", "linux_amd64").file("LICENSE", "other\n");
    mirrored.upstream.package("acme/zap", "1.1.0", &other);
    let said = mirrored.mirror(&format!("{HOST}/acme/zap@1.1.0 --json"));
    assert_eq!((said.code, actions(&said)["zap 1.1.0"].as_str()), (Some(1), "failed"), "{}", said.text);
    assert!(said.stdout.contains("\"code\":\"upstream-changed\""), "{}", said.text);
    assert_eq!(mirrored.scene.tag("m/acme/zap", "1.1.0"), before);
}

#[test]
fn usage_that_cannot_be_followed_is_refused_at_once() {
    let mirrored = Mirrored::with_zap();
    let scene = &mirrored.scene;
    assert_snapshot!(scene.refuse("mirror --to oci:m"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `mirror` needs to know which providers, and there is no mirror.toml here

    hint: name providers: tofu-oci mirror hashicorp/random --to 'REGISTRY/${namespace}/${type}'
    hint: or a configuration: --from-config DIR; or write a mirror.toml: tofu-oci help mirroring
    ");
    assert_snapshot!(scene.refuse(&format!("mirror {HOST}/acme/zap")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `mirror` needs a destination

    hint: name it: --to 'REGISTRY/${namespace}/${type}', --to oci:DIR or --to static:DIR
    hint: or write the providers and `to` in mirror.toml, and name none
    ");
    assert_snapshot!(scene.refuse(&format!("mirror {HOST}/acme/zap --prune --to static:tree")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: --prune withdraws versions, and static:tree cannot say that one is withdrawn

    hint: delete its files, or mirror to a repository or oci:DIR
    ");
    assert_snapshot!(scene.refuse(&format!("mirror {HOST}/acme/zap --sign-key team.pem --to static:tree")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: --sign-key signs releases of repositories, and static:tree holds none

    hint: omit --sign-key, or mirror to a repository, oci:DIR or bundle:FILE
    ");
    mirrored.rules("[[provider]]\npattern = \"HOST/acme/*\"\n");
    assert_snapshot!(scene.refuse("mirror --to oci:m"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: no source lists the providers that match `registry.example.test/acme/*`

    hint: a registry does not list its providers: write a [[provider]] with `address` for each
    hint: the sources oci:DIR, static:DIR and bundle:FILE list theirs
    ");
    mirrored.rules("min_aeg = \"7d\"\n[[provider]]\naddress = \"HOST/acme/zap\"\n");
    assert_snapshot!(scene.refuse("mirror --to oci:m"), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: unknown field `min_aeg`, expected one of `provider`, `module`, `to`, `modules_to`, `sources`, `source`, `min_age`, `allow`, `deny`, `trust`, `gone`
      --> mirror.toml:1:1
      |
    1 | min_aeg = "7d"
      | ^^^^^^^

    hint: every member of the file: tofu-oci help mirroring
    "#);
}

#[test]
fn a_tree_and_a_bundle_get_the_platforms_that_they_lack() {
    for to in ["static:www", "bundle:b.tar"] {
        let mirrored = Mirrored::with_zap();
        let mirror = |more: &str| mirrored.scene.run(&format!("mirror {HOST}/acme/zap@1.0.0 --to {to} --json {more}"));
        mirror("--platform linux_amd64").success();
        let wider = mirror("").success();
        assert_eq!(actions(&wider)["zap 1.0.0"], "widen", "{to}: {}", wider.text);
        let again = mirror("").success();
        assert_eq!(actions(&again)["zap 1.0.0"], "present", "{to}: {}", again.text);
    }
}

#[test]
fn rules_that_name_no_version_were_followed_without_a_word() {
    let mirrored = Mirrored::with_zap();
    mirrored.rules("[[provider]]\naddress = \"HOST/acme/zap\"\nlatest = 0\n");
    let said = mirrored.mirror("");
    assert_eq!(said.code, Some(2), "{}", said.text);
    assert!(said.stderr.contains("`latest = 0` in mirror.toml names no version"), "{}", said.text);
    mirrored.mirror("--prune").success();
}
