//! `--help`, `--version` and wrong usage.

use insta::assert_snapshot;

use crate::setup::Scene;

/// `tofu-oci VERB --help` exits with 0 and names all of these.
#[track_caller]
fn check(verb: &str, words: &[&str]) {
    let said = Scene::new().run(&format!("{verb} --help")).success();
    for word in words.iter().chain(&["--verbose", "--quiet", "--help"]) {
        assert!(said.stdout.contains(word), "{verb} --help does not mention {word}:\n{}", said.text);
    }
    assert_eq!(said.stderr, "");
    let wide: Vec<&str> = said.stdout.lines().filter(|line| line.chars().count() > 110).collect();
    assert_eq!(wide, Vec::<&str>::new(), "lines that are too long");
}

const RELEASE: [&str; 7] = ["DIST", "--address", "--version", "--layout", "--h1", "--replace-tag", "--dry-run"];
const NETWORK: [&str; 6] = ["--ca-file", "--client-cert", "--client-key", "--plain-http", "--attempts", "--max-wait"];
const LOOKUP: [&str; 2] = ["--from", "--magic-suffix"];

#[test]
fn every_verb_explains_its_options() {
    let with = |lists: &[&[&'static str]]| lists.concat();
    check("", &["push", "pack", "copy", "install", "versions", "resolve", "Exit codes", "--version"]);
    check("push", &with(&[&RELEASE, &NETWORK, &["DEST", "--jobs", "--json", "Examples:"]]));
    check("pack", &with(&[&RELEASE, &["oci:DIR", "--jobs", "--json", "Example:"]]));
    check(
        "copy",
        &with(&[&NETWORK, &["SRC", "DEST", "--version", "--all", "--replace-tag", "--jobs", "--dry-run", "--json"]]),
    );
    let install =
        ["ADDR[@CONSTRAINT]", "--chdir", "--platform", "--into", "--packed", "--vendor", "--upgrade", "--json"];
    check("install", &with(&[&LOOKUP, &NETWORK, &install]));
    check("versions", &with(&[&LOOKUP, &NETWORK, &["ADDR|REPOSITORY", "--platforms", "--json"]]));
    check("resolve", &with(&[&LOOKUP, &["ADDR", "--json"]]));
}

#[test]
fn the_short_help_fits_a_screen() {
    assert_snapshot!(Scene::new().run("-h").text, @"");
    assert_snapshot!(Scene::new().run("install -h").text, @"");
}

#[test]
fn alone_it_prints_help_and_is_wrong_usage() {
    let said = Scene::new().run("");
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("Usage: tofu-oci"), "{}", said.text);
    assert_eq!(said.stdout, "");
}

#[test]
fn the_version_is_printed() {
    assert_snapshot!(Scene::new().run("--version").text, @"");
}

#[test]
fn wrong_usage_exits_with_2() {
    let scene = Scene::new();
    assert_snapshot!(scene.run("install --form oci:x").text, @"");
    assert_snapshot!(scene.run("publish dist").text, @"");
    assert_snapshot!(scene.run("push dist").text, @"");
    assert_snapshot!(scene.run("push dist oci:x --layout zip").text, @"");
    assert_snapshot!(scene.run("push dist oci:x --jobs 0").text, @"");
    assert_snapshot!(scene.run("install --platform linux").text, @"");
    assert_snapshot!(scene.run("install --platform linux_amd65").text, @"");
    assert_snapshot!(scene.run("install --packed").text, @"");
    assert_snapshot!(scene.run("install --vendor --into mirror").text, @"");
}
