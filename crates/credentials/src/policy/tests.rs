//! What is told of files, whatever repository is asked for.

use insta::assert_snapshot;

use super::*;
use crate::FileKind;
use crate::choose::tests::found;

fn lines(warnings: &[FileWarning]) -> String {
    warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn file(because: &str, known_to_opentofu: bool, state: FileState) -> FoundFile {
    FoundFile {
        name: "a.json".to_owned(),
        because: because.to_owned(),
        known_to_opentofu,
        kind: FileKind::Docker,
        state,
    }
}

fn warned(search: SearchScope, files: Vec<FoundFile>) -> String {
    lines(&CredentialPolicy::new(Vec::new(), None, search, files).warnings())
}

#[test]
fn every_warning_says_what_opentofu_makes_of_it() {
    let broken = r#"{"auths": {
        "a.test": {"auth": "%%%"},
        "b.test": {"identitytoken": 5}}, "credsStore": 1}"#;
    let files = vec![found("broken.json", broken), found("bad.json", "{\n\"auths\": {},\n}"), found("empty.json", "")];
    assert_snapshot!(warned(SearchScope::Ambient, files), @"
    broken.json:2: its entry for a.test is left out: its `auth` is not base64; OpenTofu then reads no ambient file at all
    broken.json:3: the `identitytoken` of b.test is not text and left out
    broken.json:3: its `credsStore` is not text and is left out; OpenTofu then reads no ambient file at all
    bad.json:3: it is left out: it is not JSON: there is a comma too many at column 1; OpenTofu then reads no ambient file at all
    empty.json:1: it is left out: it is not JSON: it is empty at column 1; OpenTofu then reads no ambient file at all
    ");
    let unreadable = || FileState::Unreadable { reason: "Not a directory".to_owned() };
    assert_snapshot!(warned(SearchScope::Ambient, vec![file("~/.docker", true, unreadable())]), @"a.json: it is left out, since it cannot be read: Not a directory; OpenTofu then reads no ambient file at all");
    // OpenTofu looks for neither of these.
    assert_snapshot!(warned(SearchScope::Ambient, vec![file("$DOCKER_CONFIG", false, unreadable())]), @"a.json: it is left out, since it cannot be read: Not a directory");
    let large = FileState::TooLarge { limit: 64 << 20 };
    assert_snapshot!(warned(SearchScope::Ambient, vec![file("~/.docker", true, large)]), @"a.json: it is left out: it is larger than 64 MiB");
    assert_snapshot!(warned(SearchScope::Listed, vec![found("a.json", "[]")]), @"a.json: it is left out: it is not a credential file: it is not an object");
    assert_snapshot!(warned(SearchScope::Off, vec![found("a.json", "[]")]), @"");
}

#[test]
fn a_missing_file_is_told_only_where_a_variable_names_it() {
    assert_snapshot!(warned(SearchScope::Ambient, vec![file("~/.docker", true, FileState::Missing)]), @"");
    assert_snapshot!(warned(SearchScope::Ambient, vec![file("$DOCKER_CONFIG", false, FileState::Missing)]), @"");
    assert_snapshot!(warned(SearchScope::Ambient, vec![file("$REGISTRY_AUTH_FILE", false, FileState::Missing)]), @"a.json: $REGISTRY_AUTH_FILE names it, and there is no such file");
}

#[test]
fn a_file_that_is_there_twice_is_warned_about_once() {
    let files = vec![found("a.json", "{"), found("a.json", "{")];
    assert_eq!(warned(SearchScope::Ambient, files).lines().count(), 1);
}

#[test]
fn what_would_be_an_error_of_another_repository_is_a_note() {
    let text = "{\"auths\": {\"a.test\": {\"auth\": \"dXNlcnB3\"}, \"b.test\": {\"auth\": \"dTpw\"}},
        \"credHelpers\": {\"c.test\": \"x/y\", \"d.test\": \"good\", \"e.test\": \"\"}, \"credsStore\": \"/evil\"}";
    let policy = CredentialPolicy::new(Vec::new(), None, SearchScope::Ambient, vec![found("a.json", text)]);
    assert_eq!(policy.warnings(), []);
    assert_snapshot!(lines(&policy.notes()), @"
    a.json:1: the `auth` of a.test has no colon between username and password
    a.json:2: `x/y` cannot be the name of a credential helper
    a.json:2: `/evil` cannot be the name of a credential helper
    ");
}
