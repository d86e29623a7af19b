//! What is JSON and what is not, and what its texts say.

use super::{Fault, Node, Sort, same_name};

#[track_caller]
fn check(text: &str, want: Result<Sort, (usize, usize)>) {
    let got = Node::parse(text.as_bytes()).map(|node| node.sort()).map_err(|Fault { line, column }| (line, column));
    assert_eq!(got, want, "{text}");
}

#[test]
fn values() {
    for (text, sort) in [
        ("null", Sort::Null),
        (" true\r\n", Sort::Bool),
        ("-0.5e+7", Sort::Number),
        ("0", Sort::Number),
        ("\"a\\u00e4\\\"\"", Sort::Text),
        ("[]", Sort::List),
        ("[ 1 , [ ] , { } ]", Sort::List),
        ("{ \"a\" : { \"b\" : [ null ] } , \"\" : 1 }", Sort::Object),
    ] {
        check(text, Ok(sort));
    }
}

#[test]
fn faults_are_placed() {
    for (text, line, column) in [
        ("", 1, 1),
        (" \n ", 2, 2),
        ("{\"a\":1,}", 1, 8),
        ("{\n  \"a\" 1}", 2, 7),
        ("[1,]", 1, 4),
        ("[1 2]", 1, 4),
        ("{} x", 1, 4),
        ("{]", 1, 2),
        ("[}", 1, 2),
        ("{\"a\":[}", 1, 7),
        ("{1:2}", 1, 2),
        ("nul", 1, 4),
        ("\u{feff}{}", 1, 1),
        ("01", 1, 2),
        ("1.", 1, 3),
        ("1e", 1, 3),
        ("-", 1, 2),
        ("\"a", 1, 3),
        ("\"a\nb\"", 1, 3),
        ("\"\\x\"", 1, 3),
        ("\"\\u12", 1, 6),
        ("\"\\", 1, 3),
        ("{", 1, 2),
        ("'a'", 1, 1),
    ] {
        check(text, Err((line, column)));
    }
}

#[test]
fn depth_ends_where_go_ends_and_costs_no_stack() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    check(&nested(10_000), Ok(Sort::List));
    check(&nested(10_001), Err((1, 10_001)));
    check(&"[".repeat(1_000_000), Err((1, 10_001)));
}

#[track_caller]
fn check_text(json: &[u8], want: &str) {
    let text = Node::parse(json).expect("it is JSON").text().expect("it is a text");
    assert_eq!(text.as_str(), want);
}

#[test]
fn texts_are_decoded_as_go_does() {
    check_text(br#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{c}\n\r\tz");
    check_text(br#""\u00e4\uD83D\ude00""#, "\u{e4}\u{1f600}");
    check_text(br#""\ud83dx\ude00\ud83d\u0041""#, "\u{fffd}x\u{fffd}\u{fffd}A");
    check_text(b"\"a\xff\xe4\xb8b\"", "a\u{fffd}\u{fffd}\u{fffd}b");
    check_text("\"\u{7f}ä\"".as_bytes(), "\u{7f}ä");
    check_text(b"\"\"", "");
}

#[test]
fn members_and_items_keep_order_places_and_doubles() {
    let text = b"{\n \"a\": [1, \"x\"],\n \"a\" : {\"b\":null}\n}";
    let node = Node::parse(text).expect("it is JSON");
    let members = node.members();
    let seen: Vec<_> = members.iter().map(|member| (member.name.as_str(), member.start, member.value.raw())).collect();
    assert_eq!(seen, [("a", 3, &b"[1, \"x\"]"[..]), ("a", 19, b"{\"b\":null}")]);
    assert_eq!(members[1].value.line(), 3);
    assert_eq!(members[0].value.span(), 8..16);
    let items: Vec<_> = members[0].value.items().iter().map(Node::raw).map(<[u8]>::to_vec).collect();
    assert_eq!(items, [b"1".to_vec(), b"\"x\"".to_vec()]);
    assert!(members[0].value.members().is_empty() && node.items().is_empty() && node.text().is_none());
}

#[test]
fn names_are_folded_as_go_does() {
    assert!(same_name("AUTHS", "auths") && same_name("auth\u{17f}", "auths") && same_name("to\u{212a}en", "token"));
    assert!(!same_name("auth", "auths") && !same_name("äuths", "auths"));
}
