//! Commands that hints advise.

use super::*;

#[track_caller]
fn check_word(word: &str, want: &str) {
    assert_eq!(quoted(word), want);
}

#[test]
fn a_word_stays_one_word_in_a_shell() {
    check_word("oci:layout", "oci:layout");
    check_word("ghcr.io/acme/${type}", "'ghcr.io/acme/${type}'");
    check_word("my files", "'my files'");
    check_word("it's", r"'it'\''s'");
    check_word("", "''");
}

/// What a hint of a run with these words advises.
#[track_caller]
fn check(typed: &[&str], words: &str, want: &str) {
    let declared = crate::args::command();
    let matches = declared.clone().try_get_matches_from([&["tofu-oci"], typed].concat()).expect("it is well-formed");
    assert_eq!(Given::of(&declared, &matches).line(words, |name| Carried::Own.holds(name)), want);
}

const LOCK: &[&str] = &[
    "lock",
    "example.com/a/b",
    "--check",
    "--from",
    "r.example/${type}",
    "--chdir",
    "my dir",
    "--plain-http",
    "r.example,s.example",
    "--platform",
    "linux_amd64",
    "--jobs",
    "3",
    "--anonymous",
];

#[test]
fn a_hint_dropped_predecessors_and_the_rename_that_a_run_needs() {
    let typed = ["install", "a.example/a/b", "--predecessor", "a.example=b.example,a.example=c.example", "--rename"];
    let named = "--predecessor a.example=b.example --predecessor a.example=c.example";
    check(&typed, "lock a.example/a/b", &format!("tofu-oci lock a.example/a/b --rename {named}"));
    check(&typed, "verify a.example/a/b@1.0.0", &format!("tofu-oci verify a.example/a/b@1.0.0 --rename {named}"));
    let run = ["run", "--template", "r.example/${type}", "--predecessor", "a.example=b.example", "--", "terraform"];
    check(&run, "lock a.example/a/b", "tofu-oci lock a.example/a/b --predecessor a.example=b.example");
}

#[test]
fn a_hint_has_the_options_that_its_verb_takes() {
    check(
        LOCK,
        "verify example.com/a/b@1.0.0",
        "tofu-oci verify example.com/a/b@1.0.0 --from 'r.example/${type}' --chdir 'my dir' --plain-http r.example \
         --plain-http s.example --anonymous",
    );
    check(
        LOCK,
        "versions example.com/a/b",
        "tofu-oci versions example.com/a/b --from 'r.example/${type}' --plain-http r.example --plain-http s.example --anonymous",
    );
    check(LOCK, "config check", "tofu-oci config check --chdir 'my dir'");
    check(&["lock"], "verify example.com/a/b@1.0.0", "tofu-oci verify example.com/a/b@1.0.0");
}

#[test]
fn a_hint_that_says_an_option_itself_says_it_once() {
    check(
        &["install", "example.com/a/b", "--platform", "linux_amd64", "--from", "oci:x"],
        "lock example.com/a/b --platform darwin_arm64",
        "tofu-oci lock example.com/a/b --platform darwin_arm64 --from oci:x",
    );
}

#[test]
fn the_time_in_force_is_known_to_hints() {
    let declared = crate::args::command();
    for (typed, want) in [
        (&["versions", "r.example/a", "--timeout", "90"][..], Some("90s")),
        (&["pack", "dist", "oci:x", "--timeout", "5m"], Some("5m")),
        (&["config", "check"], None),
    ] {
        let words = [&["tofu-oci"], typed].concat();
        let matches = declared.clone().try_get_matches_from(words).expect("it is well-formed");
        let timeout = Given::of(&declared, &matches).timeout;
        assert_eq!(timeout.map(|time| time.to_string()).as_deref(), want, "{typed:?}");
    }
}

#[test]
fn a_hint_dropped_where_to_look_for_plugins_and_whose_tests_count() {
    let typed = ["install", "--plugin-dir", "plugins", "--no-tests", "--client-cert", "c.pem"];
    check(&typed, "lock", "tofu-oci lock --plugin-dir plugins --no-tests --client-cert c.pem");
    assert!(!Carried::Reach.holds("client-cert") && Carried::Reach.holds("ca-file"));
}

#[test]
fn what_is_carried_by_name_is_declared() {
    assert!(["client-cert", "client-key"].iter().all(|name| declares::<Network>(name)));
    assert!(["chdir", "platform"].iter().all(|name| declares::<crate::args::LockArgs>(name)));
}
