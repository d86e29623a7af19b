//! What Go makes of files.

use insta::assert_snapshot;

use super::{OpenTofuFile, Pair};
use crate::decoded::DecodedFile;

/// Entries, helpers and the store in one line each, and why the file is off.
#[track_caller]
fn check(text: &str) -> String {
    check_bytes(text.as_bytes())
}

#[track_caller]
fn check_bytes(text: &[u8]) -> String {
    let reading = OpenTofuFile::of(&DecodedFile::of(text));
    let shown = format!("{reading:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
    let auths = reading.auths.iter().map(|(key, auth)| match &auth.pair {
        Pair::Absent => format!("{}:{} empty", auth.line, key),
        Pair::WithoutColon => format!("{}:{} without colon", auth.line, key),
        Pair::Basic { username, password } => format!("{}:{} {username}:{}", auth.line, key, password.expose()),
    });
    let helpers = reading.helpers.iter().map(|(key, helper)| format!("{}:{} helper {}", helper.line, key, helper.name));
    let store = reading.store.iter().map(|store| format!("{}:store {}", store.line, store.name));
    let off = reading.off().into_iter().map(|off| format!("{}:off {}", off.line, off.problem));
    auths.chain(helpers).chain(store).chain(off).collect::<Vec<_>>().join(", ")
}

#[test]
fn files_without_effect() {
    for text in ["{}", "null", r#"{"auths": null, "credHelpers": null, "credsStore": null, "HttpHeaders": [1]}"#] {
        assert_eq!(check(text), "", "{text}");
    }
    assert_snapshot!(check(r#"{"r": {"auth": "dTpw"}}"#), @"");
    assert_snapshot!(check(r#"{"auths": {"a": null, "b": {}, "c": {"auth": null}, "d": {"auth": ""}, "e": {"auth": []}}}"#), @"1:a empty, 1:b empty, 1:c empty, 1:d empty, 1:e empty");
}

#[test]
fn a_file_of_128_levels_was_dropped() {
    let nested = |levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let file = |levels| check(&format!(r#"{{"x": {}, "auths": {{"r": {{"auth": "dTpw"}}}}}}"#, nested(levels)));
    assert_eq!((file(127), file(9_999)), ("1:r u:p".to_owned(), "1:r u:p".to_owned()));
    assert_snapshot!(file(10_000), @"1:off it is not JSON: it nests deeper than 10,000 levels at column 10006");
}

#[test]
fn an_auth_is_decoded_as_bytes() {
    let auth = |value: &str| check(&format!(r#"{{"auths": {{"r": {{"auth": {value}}}}}}}"#));
    assert_snapshot!(auth(r#""dXNlcjpwOnc6eA==""#), @"1:r user:p:w:x");
    assert_snapshot!(auth(r#""dXNlcjpw\r\ndy1sb25nLWVub3VnaA==\n""#), @"1:r user:pw-long-enough");
    assert_snapshot!(auth("[117, 58, 112, null]"), @"1:r u:p\0");
    assert_snapshot!(auth(r#""bm9jb2xvbg==""#), @"1:r without colon");
    assert_snapshot!(auth(r#""/zr+""#), @"1:r \u{fffd}:\u{fffd}");
    // The last letter has bits that no byte needs.
    assert_snapshot!(auth(r#""dTp=""#), @"1:r u:");
    for wrong in [
        "\"dTpw!\"",
        "\"dXNlcjpwdw\"",
        "\"dXM_cjpwPj5-w78_\"",
        "\" dTpw\"",
        "\"dT pw\"",
        "\"%%%\"",
        "\"=\"",
        "\"dTo=x\"",
    ] {
        assert_eq!(auth(wrong), "1:r empty, 1:off the `auth` of r is not base64", "{wrong}");
    }
    for wrong in ["[256]", "[-1]", "[1.0]", "[1e1]", "[\"a\"]", "[[]]"] {
        assert_eq!(auth(wrong), "1:r empty, 1:off the `auth` of r is a list of other things than bytes", "{wrong}");
    }
    for wrong in ["5", "true", "{}"] {
        assert_eq!(auth(wrong), "1:r empty, 1:off the `auth` of r is not text", "{wrong}");
    }
}

#[test]
fn names_in_any_case_and_doubles() {
    assert_snapshot!(check(r#"{"AUTHS": {"r": {"Auth": "dTpw"}}, "CREDSSTORE": "x", "credhelpers": {"r": "y"}}"#), @"1:r u:p, 1:r helper y, 1:store x");
    assert_snapshot!(check("{\"auths\": {\"r\": {\"auth\": \"YTpi\"},\n\"s\": {},\n\"r\": {\"auth\": \"dTpw\"}}}"), @"3:r u:p, 2:s empty");
    assert_snapshot!(check(r#"{"auths": {"r": {"auth": "dTpw"}}, "auths": {"r": null, "s": {"auth": "dTpw", "AUTH": "YTpi"}}}"#), @"1:r empty, 1:s a:b");
    assert_snapshot!(check(r#"{"auths": {"r": {"auth": "dTpw"}}, "auths": null}"#), @"");
    assert_snapshot!(check(r#"{"credsStore": "x", "credsStore": null, "credHelpers": {"r": "x", "r": null}}"#), @"1:r helper , 1:store x");
}

#[test]
fn what_turns_a_file_off() {
    assert_snapshot!(check(""), @"1:off it is not JSON: it is empty at column 1");
    assert_snapshot!(check("\u{feff}{}"), @"1:off it starts with a byte order mark");
    assert_snapshot!(check("{\"auths\":\n{\"hunter2\":{}},}"), @"2:off it is not JSON: there is a comma too many at column 16");
    assert_snapshot!(check("{} hunter2"), @"1:off it is not JSON: something follows the end at column 4");
    assert_snapshot!(check("[]"), @"1:off it is not an object");
    assert_snapshot!(check(r#"{"auths": []}"#), @"1:off its `auths` is not an object");
    assert_snapshot!(check(r#"{"auths": {"r": "dTpw"}}"#), @"1:r empty, 1:off the entry r of `auths` is not an object");
    assert_snapshot!(check(r#"{"credHelpers": "x"}"#), @"1:off its `credHelpers` is not an object");
    assert_snapshot!(check("{\"credHelpers\": {\n\"https://u:hunter2@r\": 1}}"), @"2:off the entry https://***@r of `credHelpers` is not text");
    assert_snapshot!(check(r#"{"credsStore": 1, "auths": 2}"#), @"1:off its `credsStore` is not text");
}

#[test]
fn bytes_that_are_no_text_are_fixed() {
    assert_snapshot!(check_bytes(b"{\"auths\": {\"\xff\": {\"auth\": \"dTpw\"}}, \"x\": \"\\ud800\"}"), @"1:\u{fffd} u:p");
}
