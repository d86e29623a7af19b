//! What goes wrong with files and helpers, and that no secret is told while it does.

use std::fmt::Debug;

use insta::assert_snapshot;

use crate::{
    Choice, Credential, CredentialFiles, HelperError, HelperOutput, Secret, helper_outcome, parse_helper_answer,
};

/// In every secret of this module, plain and in base64 (`aHVudGVyMg`, `Omh1bnRlcjI`, `h1bnRlc`).
const SECRETS: [&str; 4] = ["hunter2", "aHVudGVyMg", "h1bnRlcjI", "odW50ZXIy"];

#[track_caller]
fn silent(thing: &dyn Debug) -> String {
    let text = format!("{thing:?} {thing:#?}");
    for secret in SECRETS {
        assert!(!text.contains(secret), "{text}");
    }
    text
}

fn read(text: &str) -> (CredentialFiles, String) {
    let good = r#"{"auths": {"ghcr.io": {"username": "good", "password": "hunter2"}}}"#;
    let files = [("bad.json".to_owned(), text.as_bytes().to_vec()), ("good.json".to_owned(), good.as_bytes().to_vec())];
    let (files, warnings) = CredentialFiles::read(files);
    silent(&warnings);
    silent(&files);
    let lines: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    (files, lines.join("\n"))
}

/// The warnings about a file; the file behind it must go on to work.
#[track_caller]
fn warned(text: &str) -> String {
    let (files, warnings) = read(text);
    let choice = files.choose(&"ghcr.io/x".parse().expect("a repository"));
    silent(&choice);
    assert!(matches!(&choice, Choice::Found { origin, .. } if origin == "good.json"), "{choice:?}");
    for secret in SECRETS {
        assert!(!warnings.contains(secret), "{warnings}");
    }
    warnings
}

#[test]
fn a_malformed_file_is_left_out_with_a_warning() {
    assert_snapshot!(warned(""), @"bad.json: it is not JSON and left out: it breaks at line 1, column 0");
    assert_snapshot!(warned(r#"{"auths": {"ghcr.io": {"password": "hunter2",}}}"#), @"bad.json: it is not JSON and left out: it breaks at line 1, column 46");
    assert_snapshot!(warned(r#"{"auths": {}} hunter2"#), @"bad.json: it is not JSON and left out: it breaks at line 1, column 15");
    assert_snapshot!(warned(r#"["hunter2"]"#), @"bad.json: it is left out: it is not an object");
    assert_snapshot!(warned("\"hunter2\""), @"bad.json: it is left out: it is not an object");
    assert_snapshot!(warned("\u{0}hunter2"), @"bad.json: it is not JSON and left out: it breaks at line 1, column 1");
}

#[test]
fn a_broken_entry_is_left_out_with_a_warning() {
    let entry = |entry: &str| warned(&format!(r#"{{"auths": {{"ghcr.io": {entry}}}}}"#));
    assert_snapshot!(entry(r#""hunter2""#), @"bad.json: its entry for ghcr.io is left out: it is not an object");
    assert_snapshot!(entry(r#"{"auth": "hunter2!"}"#), @"bad.json: its entry for ghcr.io is left out: its `auth` is not base64");
    assert_snapshot!(entry(r#"{"auth": "aHVudGVyMg=="}"#), @"bad.json: its entry for ghcr.io is left out: its `auth` has no colon between username and password");
    assert_snapshot!(entry(r#"{"auth": "/2h1bnRlcjI6"}"#), @"bad.json: its entry for ghcr.io is left out: its `auth` is not UTF-8");
    assert_snapshot!(entry(r#"{"auth": ["hunter2"]}"#), @"bad.json: its entry for ghcr.io is left out: one of its members is not a text");
    assert_snapshot!(entry(r#"{"password": "hunter2"}"#), @"bad.json: its entry for ghcr.io is left out: it has a password and no username");
    assert_snapshot!(entry(r#"{"username": "hunter2"}"#), @"bad.json: its entry for ghcr.io is left out: it has a username and no password");
    assert_snapshot!(warned(r#"{"auths": "hunter2", "credHelpers": ["hunter2"], "credsStore": 2}"#), @"
        bad.json: its `auths` is not an object
        bad.json: its `credHelpers` is not an object
        bad.json: its `credsStore` is not the name of a helper
        ");
}

#[test]
fn a_helper_name_that_is_a_path_is_left_out_with_a_warning() {
    assert_snapshot!(warned(r#"{"credHelpers": {"ghcr.io": "x/evil"}}"#), @"bad.json: its helper for ghcr.io is left out: that is not the name of a helper");
    assert_snapshot!(warned(r#"{"credsStore": "../evil"}"#), @"bad.json: its `credsStore` is not the name of a helper");
    for name in ["", "a/b", "a\\b", "a b", "a;b", "ä", "a\0"] {
        assert!(!crate::valid_helper_name(name), "{name:?}");
    }
    for name in ["osxkeychain", "ecr-login", "desktop.exe", "a_b"] {
        assert!(crate::valid_helper_name(name), "{name:?}");
    }
}

#[test]
fn a_broken_entry_does_not_hide_its_neighbours() {
    let (files, _) =
        read(r#"{"auths": {"ghcr.io": {"auth": "?"}, "quay.io": {"username": "q", "password": "hunter2"}}}"#);
    let choice = files.choose(&"quay.io/x".parse().expect("a repository"));
    assert!(matches!(choice, Choice::Found { .. }), "{choice:?}");
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "the cases below read better without references")]
fn check_answer(answer: &str, want: Result<Option<Credential>, HelperError>) {
    let got = parse_helper_answer(answer.as_bytes());
    silent(&got);
    assert_eq!(got, want, "{answer}");
}

#[test]
fn answers_of_helpers() {
    let basic = || Ok(Some(Credential::basic("user", "hunter2")));
    check_answer(r#"{"ServerURL": "https://ghcr.io", "Username": "user", "Secret": "hunter2"}"#, basic());
    check_answer(r#"{"username": "user", "secret": "hunter2", "more": 1}"#, basic());
    let token = || Ok(Some(Credential::IdentityToken(Secret::new("hunter2"))));
    check_answer(r#"{"Username": "<token>", "Secret": "hunter2"}"#, token());
    check_answer(r#"{"Username": "<token>", "Secret": ""}"#, Ok(None));
    check_answer("{}", Ok(None));
    check_answer("null", Ok(None));
    check_answer(" credentials not found in native keychain\n", Ok(None));
    check_answer("", Err(HelperError::Malformed));
    check_answer("hunter2", Err(HelperError::Malformed));
    check_answer(r#"{"Secret": "hunter2"} and more"#, Err(HelperError::Malformed));
    check_answer(r#"{"Secret": ["hunter2"]}"#, Err(HelperError::Malformed));
    check_answer(r#"["hunter2"]"#, Err(HelperError::Malformed));
}

#[test]
fn a_helper_that_fails_says_why_unless_that_could_be_a_secret() {
    let outcome = |success, stdout: &str| {
        let result = helper_outcome("x", &HelperOutput { success, stdout: stdout.as_bytes().to_vec() });
        silent(&result);
        result.map_err(|error| error.to_string())
    };
    assert_eq!(outcome(false, "credentials not found in native keychain\n"), Ok(None));
    assert_snapshot!(outcome(false, "keychain is locked\nsecond line").unwrap_err(), @"credential helper x failed: keychain is locked");
    assert_snapshot!(outcome(false, "").unwrap_err(), @"credential helper x failed: it gave no reason");
    assert_snapshot!(outcome(false, r#"{"Secret": "hunter2"}"#).unwrap_err(), @"credential helper x failed: it gave no reason");
    assert_snapshot!(outcome(true, "keychain is locked").unwrap_err(), @"the credential helper's answer is not an object with Username and Secret");
}

#[test]
fn a_secret_is_masked_wherever_it_is_printed() {
    let secret = Secret::new("hunter2");
    assert_eq!(format!("{secret} {secret:?}"), "*** Secret(***)");
    for credential in [
        Credential::basic("user", "hunter2"),
        Credential::IdentityToken(Secret::new("hunter2")),
        Credential::RegistryToken(Secret::new("hunter2")),
    ] {
        assert!(silent(&credential).contains("***"));
    }
    silent(&HelperOutput { success: true, stdout: b"hunter2".to_vec() });
}
