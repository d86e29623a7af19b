//! `module mirror` by the `[[module]]` entries of a `mirror.toml`: newest versions, allow, deny, and an age.

use insta::assert_snapshot;

use crate::module_mirror::{HOST, TO, Upstream, five};
use crate::setup::Said;

impl Upstream {
    /// A run by a file with these lines on top, and these tables.
    pub(crate) fn mirror_by(&self, top: &str, tables: &str, rest: &str) -> Said {
        let text = format!("modules_to = \"{TO}\"\n{top}\n{tables}");
        let text = text.replace("REGISTRY", self.scene.registry.address()).replace("HOST", HOST);
        self.scene.context.write("mirror.toml", text);
        self.scene.run(&format!("module mirror --quiet {rest}"))
    }

    pub(crate) fn mirrored(&self, name: &str) -> Vec<String> {
        self.scene.registry.tags(&format!("mirror/acme/{name}-aws")).into_iter().map(|(tag, _)| tag).collect()
    }
}

#[test]
fn rules_choose_the_newest_versions_and_keep_others_out_called_ones_too() {
    let upstream = five();
    let top = "deny = [\"HOST/acme/vpc/aws@2.0.0\", \"HOST/acme/tags/aws\", \"HOST/acme/tags\"]";
    let tables = "[[module]]\naddress = \"HOST/acme/vpc/aws\"\nlatest = 1\n";
    assert_snapshot!(upstream.text(&upstream.mirror_by(top, tables, "")), @"
    exit code: 0
    ----- stdout -----
    module                               version  report                                                        called by
    registry.example.test/acme/tags/aws  0.3.0    left out: denied by registry.example.test/acme/tags/aws       registry.example.test/acme/vpc/aws 1.1.0
    registry.example.test/acme/vpc/aws   1.1.0    packed from https://127.0.0.1:[PORT]/vpc-1.1.0.zip, 972 B
    registry.example.test/acme/vpc/aws   2.0.0    left out: denied by registry.example.test/acme/vpc/aws@2.0.0

    1 added, 2 left out; 972 B sent

    ----- stderr -----
    ");
    assert_eq!(upstream.mirrored("vpc"), ["1.1.0", "first-seen"]);
    let again = upstream.mirror_by(top, tables, "");
    assert!(again.text.contains("1 there already, 2 left out"), "{}", again.text);
    // The allow list holds for what modules call.
    let allowed = upstream.mirror_by("allow = [\"HOST/acme/network/aws\"]", &tables.replace("vpc", "network"), "");
    assert!(allowed.text.contains("left out: the allow list does not name it"), "{}", allowed.text);
    assert!(upstream.mirrored("network").contains(&"1.4.0".to_owned()) && upstream.mirrored("dns").is_empty());
    let json = upstream.mirror_by(top, tables, "--json");
    assert!(
        json.text.contains(r#""action":"denied","by":"registry.example.test/acme/vpc/aws@2.0.0""#),
        "{}",
        json.text
    );
}

#[test]
fn a_module_version_is_held_until_it_has_been_seen_for_long_enough() {
    let upstream = five();
    let tables = "[[module]]\naddress = \"HOST/acme/vpc/aws\"\nversions = \"~> 1.0\"\n";
    let planned = upstream.mirror_by("min_age = \"7d\"", tables, "--plan");
    assert!(planned.text.contains("plan: 2 held back"), "{}", planned.text);
    assert_eq!(upstream.mirrored("vpc"), Vec::<String>::new(), "a plan remembers nothing");
    let held = upstream.mirror_by("min_age = \"7d\"", tables, "");
    assert!(held.text.contains("exit code: 0") && held.text.contains("held back until 20"), "{}", held.text);
    assert!(upstream.fetched().is_empty());
    assert_eq!(upstream.mirrored("vpc"), ["first-seen"]);
    // What is old enough by the record comes, and what it calls is held.
    let begun = std::time::Instant::now();
    let mut came = upstream.mirror_by("min_age = \"1s\"", tables, "");
    while !came.text.contains("2 added") {
        assert!(begun.elapsed().as_secs() < 60, "{}", came.text);
        came = upstream.mirror_by("min_age = \"1s\"", tables, "");
    }
    assert!(came.text.contains("1 held back"), "{}", came.text);
    assert_eq!(upstream.mirrored("vpc"), ["1.0.0", "1.1.0", "first-seen"]);
    // By name and option, too; what is there stays.
    let named = upstream.mirror(&format!("{HOST}/acme/vpc/aws --min-age 7d --no-nested"));
    assert!(named.text.contains("2 there already, 1 held back"), "{}", named.text);
}

#[test]
fn a_file_for_modules_alone_and_one_for_providers_alone_say_what_is_missing() {
    let upstream = five();
    let provider = "[[provider]]\naddress = \"HOST/acme/zap\"\n";
    assert_snapshot!(upstream.mirror_by("", provider, "").text, @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: mirror.toml names no module

    hint: write [[module]] with address = "HOST/NAMESPACE/NAME/SYSTEM"
    "#);
    let text = upstream.mirror_by("", "[[module]]\naddress = \"HOST/acme/zap\"\n", "").text;
    assert!(text.contains("exit code: 2") && text.contains("HOST/NAMESPACE/NAME/SYSTEM"), "{text}");
    upstream.mirror_by("", "[[module]]\naddress = \"HOST/acme/vpc/aws\"\n", "--plan").success();
    let text = upstream.scene.run("mirror --to oci:x").text;
    assert!(text.contains("mirror.toml names no provider"), "{text}");
    std::fs::remove_file(upstream.scene.path("mirror.toml")).expect("it is there");
    let text = upstream.scene.run("module mirror --to oci:x").text;
    assert!(text.contains("exit code: 2") && text.contains("there is no mirror.toml here"), "{text}");
}
