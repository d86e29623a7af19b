//! Which bytes an error underlines, and what it says.

use insta::assert_snapshot;
use tofu_oci_types::TextPosition;

use crate::{Duplicates, parse};

/// The line, what is underlined in it, the message, and where HCL 1 would say it is.
#[track_caller]
fn check(text: &str) -> String {
    let error = parse(text, Duplicates::Refused).expect_err("a mistake");
    let place = TextPosition::of(text, error.span.start);
    let line = text.lines().nth(place.line - 1).unwrap_or_default();
    let marks = text[error.span.clone()].chars().take_while(|character| *character != '\n').count().max(1);
    let marks = format!("{}{}", " ".repeat(place.column - 1), "^".repeat(marks));
    let reported = error.reported.map_or("-".to_owned(), |place| place.to_string());
    format!("{place} {line}\n{:width$} {marks}\n{error}\n(HCL 1: {reported})", "", width = place.to_string().len())
}

#[test]
fn a_forgotten_brace_of_an_inner_block() {
    let text = "provider_installation {\n  direct {\n    include = [\"a/*/*\"]\n}\n";
    assert_snapshot!(check(text), @r"
    2:10   direct {
                  ^
    this brace is not closed; its `}` is missing
    (HCL 1: 5:2)
    ");
}

#[test]
fn a_forgotten_brace_of_the_outer_block() {
    assert_snapshot!(check("a {\n  b {\n  }\n"), @r"
    1:3 a {
          ^
    this brace is not closed; its `}` is missing
    (HCL 1: 4:2)
    ");
}

#[test]
fn a_forgotten_brace_of_an_interpolation() {
    let text = "m {\n  t = \"x/${type\"\n  i = [\"a\"]\n}\nd {\n  u = \"${y}\"\n}\n";
    assert_snapshot!(check(text), @r#"
    2:10   t = "x/${type"
                  ^^
    this `${` has no closing `}`
    (HCL 1: 4:2)
    "#);
}

#[test]
fn an_interpolation_that_ends_lines_later() {
    // The brace of the next block closes it, and what follows is taken for something else.
    let text = "m {\n  t = \"x/${type\"\n}\nd {\n  u = \"y\"\n  v = 1\n}\n";
    assert_snapshot!(check(text), @r#"
    2:10   t = "x/${type"
                  ^^
    this `${` has no closing `}`
    (HCL 1: 3:2)
    "#);
}

#[test]
fn an_interpolation_that_ends_in_another_text() {
    assert_snapshot!(check("t = \"x/${type\"\nu = \"}\"\nv = w\n"), @r#"
    1:8 t = "x/${type"
               ^^
    this `${` has no closing `}` on its line
    (HCL 1: 3:5)
    "#);
}

#[test]
fn a_forgotten_quote() {
    assert_snapshot!(check("a = \"b\nc = \"d\"\n"), @r#"
    1:5 a = "b
            ^
    this quote has no closing quote on its line
    (HCL 1: 1:7)
    "#);
}

#[test]
fn a_quote_in_a_directive() {
    assert_snapshot!(check("a = \"%{if b == \"c\"}d%{endif}\"\n"), @r#"
    1:6 a = "%{if b == "c"}d%{endif}"
             ^^^^^^^^^^^
    a bare quote inside `%{ … }` ends the text
    (HCL 1: 2:1)
    "#);
}

#[test]
fn a_forgotten_bracket() {
    assert_snapshot!(check("a {\n  i = [\"x\"\n  e = 1\n}\n"), @r#"
    2:7   i = ["x"
              ^
    this list is not closed; its `]` is missing
    (HCL 1: 3:3)
    "#);
}

#[test]
fn words_without_quotes() {
    assert_snapshot!(check("path = mirror\n"), @"
    1:8 path = mirror
               ^^^^^^
    a word without quotes is not a value
    (HCL 1: 1:8)
    ");
    assert_snapshot!(check("a = [{ b = c }]\n"), @"
    1:12 a = [{ b = c }]
                    ^
    a word without quotes is not a value
    (HCL 1: 1:6)
    ");
}

#[test]
fn an_argument_given_twice() {
    assert_snapshot!(check("m {\n  i = []\n  i = []\n}\n"), @r"
    3:3   i = []
          ^
    the argument `i` was already set; each can be given once only
    (HCL 1: 3:3)
    ");
}

#[test]
fn a_name_without_a_value() {
    assert_snapshot!(check("m {\n  direct\n}\n"), @r"
    2:3   direct
          ^^^^^^
    a name needs `= VALUE` or `{ … }` after it
    (HCL 1: 3:1)
    ");
}

#[test]
fn a_byte_order_mark() {
    assert_snapshot!(check("\u{feff}a = 1\n").replace('\u{feff}', ""), @r"
    1:1 a = 1
        ^
    the file starts with a byte order mark; save it as UTF-8 without one
    (HCL 1: 1:1)
    ");
}

#[test]
fn places_behind_windows_line_ends() {
    assert_snapshot!(check("a = 1\r\nb = c\r\n"), @"
    2:5 b = c
            ^
    a word without quotes is not a value
    (HCL 1: 2:5)
    ");
}

#[test]
fn a_heredoc_without_its_end() {
    assert_snapshot!(check("a = <<EOF\nb\n  EOF x\n"), @r"
    1:5 a = <<EOF
            ^^^^^
    this text has no end; its word belongs on a line of its own after it, with a new line after it (and with `<<-`, at least one space before it)
    (HCL 1: 4:1)
    ");
}

#[test]
fn mistakes_in_json() {
    assert_snapshot!(check("{\"a\": [[1], 2]}"), @r#"
    1:8 {"a": [[1], 2]}
               ^
    a list cannot stand in a list
    (HCL 1: -)
    "#);
    assert_snapshot!(check("{\n  // a comment\n  \"a\": 1}"), @r"
    2:3   // a comment
          ^
    `/` cannot stand here; JSON has no comments
    (HCL 1: 2:3)
    ");
    assert_snapshot!(check("// a comment\n{\"a\": 1}"), @r#"
    2:1 {"a": 1}
        ^
    a name belongs before `{`; a JSON file starts with `{` and has no comments
    (HCL 1: 2:1)
    "#);
}

#[test]
fn escapes() {
    assert_snapshot!(check("path = \"C:\\dir\"\n"), @r#"
    1:11 path = "C:\dir"
                   ^^
    this backslash does not start an escape
    (HCL 1: 1:12)
    "#);
    assert_snapshot!(check("a = \"\\u00e\"\n"), @r#"
    1:6 a = "\u00e"
             ^^^^^
    `\u` needs four hexadecimal digits
    (HCL 1: 1:11)
    "#);
}

/// What is passed over in silence.
#[track_caller]
fn check_overlooked(text: &str, duplicates: Duplicates, want: &[(&str, &str)]) {
    let document = parse(text, duplicates).expect("HCL 1 takes it");
    let got: Vec<_> =
        document.overlooked.iter().map(|passed| (&text[passed.span.clone()], passed.message.as_str())).collect();
    assert_eq!(got, want);
}

#[test]
fn what_is_passed_over() {
    let refused = Duplicates::Refused;
    let forgotten = "the file ends before the value, so the name counts for nothing";
    check_overlooked("a = 1\nb =", refused, &[("b =", forgotten)]);
    let value = "a value belongs after the `=`";
    check_overlooked("x { a = } }", Duplicates::Allowed, &[("a", value)]);
    let behind = "what follows the outermost object is not read";
    check_overlooked("{\"a\": 1} {\"b\": 2}\n", refused, &[("{\"b\": 2}", behind)]);
    check_overlooked("{\"a\": 1", refused, &[("{", "this brace is not closed; its `}` is missing")]);
    let end = "a comma or `}` is missing before this, which is taken for the end";
    check_overlooked("{\"a\": 1 \"b\": 2}", refused, &[("\"b\"", end)]);
    let list = "`true` and `false` count for nothing in a list";
    check_overlooked("{\"a\": [1, true]}", refused, &[("true", list)]);
    check_overlooked("{\"a\"}", refused, &[("\"a\"", "a name needs `: VALUE` after it")]);
}

#[test]
fn nothing_is_passed_over_in_plain_texts() {
    for text in ["", "{}", "{ }\n", "{\"a\": {}, \"b\": [1, {}],}", "a = 1\nb \"c\" { d = [1, [2],] }\n"] {
        check_overlooked(text, Duplicates::Refused, &[]);
    }
}
