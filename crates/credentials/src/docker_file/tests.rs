//! Edits, one by one and in a row.

use std::collections::BTreeMap;

use insta::assert_snapshot;

use super::{Edit, EditEffect, helper_for, remove, server_key, store_login, store_mark};
use crate::AuthFile;
use tofu_oci_types::Secret;

const PASSWORD: &str = "hunter2";
/// `user:hunter2`.
const AUTH: &str = "dXNlcjpodW50ZXIy";

fn login(file: Option<&str>, server: &str) -> Edit {
    store_login(file.map(str::as_bytes), server, "user", &Secret::new(PASSWORD)).expect("it can be edited")
}

fn text(edit: &Edit) -> String {
    String::from_utf8(edit.bytes.clone()).expect("it is UTF-8")
}

/// What the edit makes, with tabs as `>`, blanks kept and carriage returns as `~`.
#[track_caller]
fn check(edit: &Edit, change: EditEffect) -> String {
    assert_eq!(edit.change, change);
    assert!(!format!("{edit:?}").contains("dXNl"), "{edit:?}");
    text(edit).replace('\t', ">").replace('\r', "~")
}

#[test]
fn no_file_becomes_one_as_docker_writes_it() {
    let first = login(None, "ghcr.io");
    assert_eq!(
        text(&first),
        format!("{{\n\t\"auths\": {{\n\t\t\"ghcr.io\": {{\n\t\t\t\"auth\": \"{AUTH}\"\n\t\t}}\n\t}}\n}}")
    );
    for empty in ["", " \n", "null", "\u{feff}", "{}", "{ }"] {
        assert_eq!(text(&login(Some(empty), "ghcr.io")), text(&first), "{empty:?}");
    }
    assert_snapshot!(check(&store_mark(None, "ghcr.io").expect("none"), EditEffect::Added), @r#"
    {
    >"auths": {
    >>"ghcr.io": {}
    >}
    }
    "#);
}

#[test]
fn a_key_goes_where_docker_sorts_it_and_the_rest_stays() {
    let file = "{\n\t\"auths\": {\n\t\t\"a.example\": {},\n\t\t\"z.example\":  { \"auth\" :\"Zjpn\" , \"x\":1e0}\n\t},\n\t\"HttpHeaders\": {\"X\": \"\\u003c\"},\n\t\"credsStore\": \"pass\"\n}\n";
    assert_snapshot!(check(&login(Some(file), "ghcr.io"), EditEffect::Added), @r#"
    {
    >"auths": {
    >>"a.example": {},
    >>"ghcr.io": {
    >>>"auth": "dXNlcjpodW50ZXIy"
    >>},
    >>"z.example":  { "auth" :"Zjpn" , "x":1e0}
    >},
    >"HttpHeaders": {"X": "\u003c"},
    >"credsStore": "pass"
    }
    "#);
}

#[test]
fn auths_comes_first_where_there_was_none() {
    assert_snapshot!(check(&login(Some("{\r\n  \"credsStore\": \"pass\"\r\n}"), "ghcr.io"), EditEffect::Added), @r#"
    {~
      "auths": {~
        "ghcr.io": {~
          "auth": "dXNlcjpodW50ZXIy"~
        }~
      },~
      "credsStore": "pass"~
    }
    "#);
    assert_snapshot!(check(&login(Some(r#"{"a":1,"auths":null}"#), "ghcr.io"), EditEffect::Added), @r#"{"a":1,"auths":{"ghcr.io":{"auth":"dXNlcjpodW50ZXIy"}}}"#);
    assert_snapshot!(check(&login(Some(r#"{"a":1}"#), "ghcr.io"), EditEffect::Added), @r#"{"auths":{"ghcr.io":{"auth":"dXNlcjpodW50ZXIy"}},"a":1}"#);
    assert_snapshot!(check(&login(Some(r#"{"AUTHS": {"b":{}}}"#), "a"), EditEffect::Added), @r#"{"AUTHS": {"a":{"auth":"dXNlcjpodW50ZXIy"},"b":{}}}"#);
}

#[test]
fn an_entry_is_replaced_as_a_whole() {
    let file = r#"{"auths": {"r": {"auth": "b2xkOnB3", "identitytoken": "t"}, "s": {}}}"#;
    assert_snapshot!(check(&login(Some(file), "r"), EditEffect::Replaced), @r#"{"auths": {"r":{"auth":"dXNlcjpodW50ZXIy"},"s": {}}}"#);
    assert_snapshot!(check(&store_mark(Some(file.as_bytes()), "r").expect("it"), EditEffect::Replaced), @r#"{"auths": {"r":{},"s": {}}}"#);
    for entry in ["null", "\"x\"", "[]", "{}", r#"{"auth": null}"#] {
        let file = format!(r#"{{"auths":{{"r":{entry}}}}}"#);
        assert_eq!(login(Some(&file), "r").change, EditEffect::Replaced, "{entry}");
    }
}

#[test]
fn what_is_there_already_changes_nothing() {
    let file = format!("\u{feff}{{ \"auths\" :{{\"r\": {{\"auth\":\"{AUTH}\"}} }} }} \n");
    assert_eq!(check(&login(Some(&file), "r"), EditEffect::Nothing), file);
    let file = "{\"auths\":{\"r\":{ }}}";
    assert_eq!(check(&store_mark(Some(file.as_bytes()), "r").expect("it"), EditEffect::Nothing), file);
    let file = "{\"auths\":{\"s\":{ }}}\n";
    assert_eq!(check(&remove(file.as_bytes(), &["r", "https://r"]).expect("it"), EditEffect::Nothing), file);
}

#[test]
fn doubles_become_one_where_go_reads_it() {
    let twice = r#"{"auths":{"r":{"auth":"YTpi"},"q":{},"r":{}},"x":0,"Auths":{"r":null,"s":{}}}"#;
    assert_snapshot!(check(&login(Some(twice), "r"), EditEffect::Replaced), @r#"{"auths":{"q":{}},"x":0,"Auths":{"r":{"auth":"dXNlcjpodW50ZXIy"},"s":{}}}"#);
    assert_snapshot!(check(&remove(twice.as_bytes(), &["r"]).expect("it"), EditEffect::Removed), @r#"{"auths":{"q":{}},"x":0,"Auths":{"s":{}}}"#);
    let same = format!(r#"{{"auths":{{"r":{{"auth":"{AUTH}"}}}},"auths":{{"r":{{"auth":"{AUTH}"}}}}}}"#);
    assert_eq!(login(Some(&same), "r").change, EditEffect::Replaced);
    let emptied = r#"{"auths":{"r":{},"s":{}},"auths":null}"#;
    assert_snapshot!(check(&login(Some(emptied), "r"), EditEffect::Replaced), @r#"{"auths":{"s":{}},"auths":{"r":{"auth":"dXNlcjpodW50ZXIy"}}}"#);
}

#[test]
fn a_byte_order_mark_goes_with_the_first_change() {
    assert_eq!(
        check(&login(Some("\u{feff}{\"auths\":{}}"), "r"), EditEffect::Added),
        format!(r#"{{"auths":{{"r":{{"auth":"{AUTH}"}}}}}}"#)
    );
    assert_eq!(
        check(&remove("\u{feff}{\"auths\":{\"r\":1}}".as_bytes(), &["r"]).expect("it"), EditEffect::Removed),
        r#"{"auths":{}}"#
    );
}

#[test]
fn removing_leaves_auths_and_takes_every_name() {
    let file = "{\n\t\"auths\": {\n\t\t\"a\": {},\n\t\t\"http://b\": {},\n\t\t\"b\": {}\n\t}\n}";
    assert_snapshot!(check(&remove(file.as_bytes(), &["b", "http://b", "https://b"]).expect("it"), EditEffect::Removed), @r#"
    {
    >"auths": {
    >>"a": {}
    >}
    }
    "#);
    assert_snapshot!(check(&remove(file.as_bytes(), &["b", "http://b", "a"]).expect("it"), EditEffect::Removed), @r#"
    {
    >"auths": {}
    }
    "#);
}

#[test]
fn keys_are_escaped_as_go_does() {
    let edit = login(None, "a<b>&\"\\\u{8}\u{c}\n\r\t\u{1}\u{2028}\u{7f}ä");
    assert!(text(&edit).contains(r#""a\u003cb\u003e\u0026\"\\\b\f\n\r\t\u0001\u2028"#), "{}", text(&edit));
    assert_eq!(login(Some(&text(&edit)), "a<b>&\"\\\u{8}\u{c}\n\r\t\u{1}\u{2028}\u{7f}ä").change, EditEffect::Nothing);
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone() {
    let refused = |file: &str| {
        let login = store_login(Some(file.as_bytes()), "r", "user", &Secret::new(PASSWORD)).expect_err("no edit");
        assert_eq!(store_mark(Some(file.as_bytes()), "r").expect_err("no edit"), login);
        assert_eq!(remove(file.as_bytes(), &["r"]).expect_err("no edit"), login);
        login.to_string()
    };
    assert_snapshot!(refused("{\"auths\": {\n\"r\": {\"auth\": \"hunter2\",}}}"), @"the file is not JSON: there is a comma too many at line 2, column 25");
    assert_snapshot!(refused("{} hunter2"), @"the file is not JSON: something follows the end at line 1, column 4");
    let latin = b"{\"auths\": {\"r\": {}}, \"x\": \"\xe4\"}";
    assert_snapshot!(remove(latin, &["r"]).expect_err("no edit"), @"the file is not a credential file: it is not UTF-8");
    assert_snapshot!(refused("[\"hunter2\"]"), @"the file is not a credential file: it is not an object");
    assert_snapshot!(refused("{\"auths\": [\"hunter2\"]}"), @"the file is not a credential file: its `auths` is not an object");
}

#[test]
fn the_docker_hub_has_one_key() {
    for hub in ["docker.io", "index.docker.io", "registry-1.docker.io"] {
        assert_eq!(server_key(hub), "https://index.docker.io/v1/");
    }
    assert_eq!(server_key("GHCR.io:443"), "GHCR.io:443");
}

#[test]
fn the_helper_is_the_servers_own_or_the_store() {
    #[track_caller]
    fn check(file: &str, server: &str, want: Option<Result<&str, &str>>) {
        let file = AuthFile::parse("config.json", file.as_bytes()).expect("a credential file");
        let got =
            helper_for(&file, server).map(|name| name.map(|name| name.to_string()).map_err(|error| error.to_string()));
        let want = want.map(|want| want.map(str::to_owned).map_err(str::to_owned));
        assert_eq!(got, want, "{server}");
    }
    let file = r#"{"credHelpers": {"a": "one", "b": "", "c": "../x", "d": null}, "credsStore": "store"}"#;
    check(file, "a", Some(Ok("one")));
    check(file, "b", None);
    check(file, "d", None);
    check(file, "https://index.docker.io/v1/", Some(Ok("store")));
    check("{}", "a", None);
    check(r#"{"credsStore": ""}"#, "a", None);
    let bad = "`../x` cannot be the name of a credential helper: letters, digits, `.`, `_` and `-` make one";
    check(file, "c", Some(Err(bad)));
}

/// What a file means: the last of two members counts.
fn meaning(file: &str) -> BTreeMap<String, serde_json::Value> {
    let value: BTreeMap<String, serde_json::Value> = serde_json::from_str(file).expect("it is JSON");
    value
        .into_iter()
        .filter(|(name, value)| name != "auths" || value.as_object().is_some_and(|auths| !auths.is_empty()))
        .collect()
}

#[test]
fn storing_and_removing_gives_the_old_meaning_whatever_is_there() {
    let tops =
        ["", "\"credHelpers\": {\"x\": \"y\"}", "\"a\":[1, {\"auths\": {\"new.example\": 1}}],\"b\":\"\\u00e4\\\\\""];
    let keys = [&[][..], &["a"], &["z"], &["a", "z"], &["new.example/x", "new.exampl"]];
    let spaces = ["", " ", "\n", "\n\t", "\r\n    "];
    let mut count = 0;
    for top in tops {
        for keys in keys {
            for space in spaces {
                for auths_last in [0, 1] {
                    let entries: Vec<_> =
                        keys.iter().map(|key| format!("{space}\"{key}\":{{\"auth\": \"{key}\"}}")).collect();
                    let auths = format!("\"auths\": {{{}{space}}}", entries.join(","));
                    let mut members = vec![auths.as_str()];
                    if !top.is_empty() {
                        members.insert(auths_last ^ 1, top);
                    }
                    let file = format!("{{{space}{}{space}}}", members.join(&format!(",{space}")));
                    round_trip(&file);
                    count += 1;
                }
            }
        }
    }
    assert_eq!(count, 150);
}

#[track_caller]
fn round_trip(file: &str) {
    let stored = login(Some(file), "new.example");
    assert_eq!(stored.change, EditEffect::Added, "{file}");
    let mut want = meaning(file);
    let auths = want.entry("auths".to_owned()).or_insert_with(|| serde_json::json!({}));
    auths["new.example"] = serde_json::json!({ "auth": AUTH });
    assert_eq!(meaning(&text(&stored)), want, "{file}");
    assert_eq!(login(Some(&text(&stored)), "new.example").change, EditEffect::Nothing, "{file}");
    let marked = store_mark(Some(&stored.bytes), "new.example").expect("it can be edited");
    assert!(marked.change == EditEffect::Replaced && !text(&marked).contains(AUTH), "{file}");
    let removed = remove(&marked.bytes, &["new.example"]).expect("it can be edited");
    assert_eq!((meaning(&text(&removed)), removed.change), (meaning(file), EditEffect::Removed), "{file}");
    let again = remove(&removed.bytes, &["new.example"]).expect("it can be edited");
    assert_eq!((&again.bytes, again.change), (&removed.bytes, EditEffect::Nothing), "{file}");
}
