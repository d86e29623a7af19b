//! Measured cases, and what the measured program would not survive.

use std::path::Path;

use serde_json::Value as Json;

use super::{Template, TemplateFault, TemplateValue, native_text};

fn list(json: &Json) -> Vec<String> {
    json.as_array().into_iter().flatten().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

fn evaluate(template: &Template, values: [&str; 3]) -> Result<TemplateValue, TemplateFault> {
    let names = ["hostname", "namespace", "type"];
    let value = |name: &str| names.iter().position(|known| *known == name).map(|index| values[index].to_owned());
    template.evaluate(&|name| value(name).map(TemplateValue::String))
}

/// The text that comes out, or the code of what is wrong.
fn outcome(template: &Template, values: [&str; 3]) -> Result<String, String> {
    match evaluate(template, values).map_err(|fault| fault.code.to_owned())?.into_text() {
        Ok(TemplateValue::String(text)) => Ok(text),
        Ok(_) => Err("null-result".to_owned()),
        Err(_) => Err("not-a-string".to_owned()),
    }
}

/// Measured templates of which something else is said here: the text or the code that comes out. None of them is a
/// repository here that it is not in `OpenTofu`. What is `not-supported` here is not listed.
const DIFFERENCES: &[(&str, &str)] = &[
    ("${\"1p3\" * 1}", "invalid-operand"),
    ("${\"Inf\" - \"Inf\"}", "invalid-operand"),
    ("${\"Inf\" % 0}", "invalid-operand"),
    ("${(true ? {a = 1} : {b = 2}).b}", "unsupported-attribute"),
    ("${{a.b = 1}}", "ambiguous-attribute-key"),
    ("${<<E\nx\nE}", "x\n"),
    ("${1.e5}", "unsupported-attribute"),
    ("a$ \n${~ type}", "a$widget"),
    ("a\rb${c}d", "unknown-variable"),
    ("${a<b<=c}", "unknown-variable"),
];

#[test]
fn every_measured_template_gives_what_was_measured() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/hcl2/templates.json");
    let table: Json = serde_json::from_slice(&std::fs::read(path).expect("the table is there")).expect("it is JSON");
    let cases = table["cases"].as_array().expect("a list of cases");
    let mut differences = Vec::new();
    let mut broken = 0;
    for case in cases {
        let text = case["template"].as_str().expect("a text");
        let found = match Template::parse(text) {
            Err(fault) if !case["syntax"].is_null() => {
                assert!(
                    ["invalid-syntax", "invalid-character", "not-supported"].contains(&fault.code),
                    "{fault:?}: {case}"
                );
                broken += 1;
                continue;
            }
            Err(fault) => Some(fault.code.to_owned()),
            Ok(template) => other_than_measured(&template, case),
        };
        differences.extend(found.map(|found| (text, found)));
    }
    let all = differences.len();
    differences.retain(|(_, found)| found != "not-supported");
    let not_supported = all - differences.len();
    assert!(not_supported < 60, "{not_supported} are not evaluated");
    let differences: Vec<(&str, &str)> = differences.iter().map(|(text, found)| (*text, found.as_str())).collect();
    assert_eq!(differences, DIFFERENCES);
    assert!(cases.len() >= 330 && broken >= 100, "{broken} of {} broken", cases.len());
}

/// What comes out, if it is not what was measured.
fn other_than_measured(template: &Template, case: &Json) -> Option<String> {
    let names: Vec<String> = template.variables().into_iter().map(|variable| variable.name).collect();
    let sample = outcome(template, ["example.com", "example-namespace", "example-type"]);
    let real = outcome(template, ["registry.example.test", "acme", "widget"]);
    let measured = |case: &Json| {
        let error = || list(&case["errors"]).into_iter().next().unwrap_or_default();
        case["text"].as_str().map(str::to_owned).ok_or_else(error)
    };
    let is_same = case["syntax"].is_null()
        && names == list(&case["names"])
        && sample == measured(&case["sample"])
        && real == measured(&case["real"]);
    (!is_same).then(|| real.unwrap_or_else(|code| code))
}

#[track_caller]
fn check_too_deep(text: &str) {
    let fault = Template::parse(text).expect_err("must be refused");
    assert!(["invalid-syntax", "not-supported"].contains(&fault.code), "{fault:?}");
}

/// The text at fault, the message and the hint of a template that is refused.
#[track_caller]
fn check_refused(text: &str, want: [&str; 4]) {
    let fault = Template::parse(text).expect_err("must be refused");
    let instead = fault.instead.as_deref().unwrap_or_default();
    assert_eq!([fault.code, &text[fault.span], &fault.message, instead], want, "{text}");
}

#[test]
fn a_repeated_key_was_taken_for_wrong_syntax() {
    let said = "tofu-oci does not evaluate a key that an object has twice";
    check_refused(r#"${{a="q",a="p"}.a}"#, ["not-supported", "a", said, "each key once"]);
}

#[test]
fn deep_nesting_was_taken_for_wrong_syntax() {
    let said = "tofu-oci does not evaluate an expression with so many levels or operators";
    let want = |at| ["not-supported", at, said, "it with fewer of them"];
    check_refused(&format!("${{{}1{}}}", "(".repeat(70), ")".repeat(70)), want("("));
    check_refused(&format!("${{{}true}}", "!".repeat(70)), want("!"));
    check_refused(&format!("${{{}1}}", "1 + ".repeat(170)), want("+"));
    check_refused(&format!("{}{}", "%{if true}".repeat(70), "%{endif}".repeat(70)), want("true"));
}

#[test]
fn chained_indexes_were_always_told_to_be_0_and_1() {
    let want = |instead| ["invalid-syntax", ".0", "two indexes cannot be chained with dots", instead];
    check_refused(r#"${[["p"],["q","r"]].1.0}"#, want("[1][0]"));
    check_refused("${a.12.0.3}", want("[12][0]"));
}

#[test]
fn large_numbers_and_wrong_signs_were_told_to_write_dollars() {
    let number = |at| ["not-supported", at, "tofu-oci does not evaluate so large a number", ""];
    check_refused("${1e400}", number("1e400"));
    check_refused("${1 + -1.5E+400 }", number("1.5E+400"));
    let nines = "9".repeat(400);
    check_refused(&format!("${{ {nines} }}"), number(&nines));
    let digits = "9".repeat(34);
    let said = "tofu-oci does not evaluate a number with so many digits";
    check_refused(&format!("${{{digits}}}"), ["not-supported", &digits, said, ""]);
    let said = "the expression ends here, and neither an operator nor } follows";
    check_refused("${\"p\";}", ["invalid-syntax", ";", said, ""]);
    let said = "an interpolation is not closed: its } is missing";
    check_refused("a${type b", ["invalid-syntax", "b", said, "} at its end, or $${ where ${ is meant as text"]);
}

#[test]
fn elseif_and_a_second_else_were_not_named() {
    let said = "an %{if …} has only one %{else}";
    check_refused("%{if true}a%{else}b%{~ else }c%{endif}", ["invalid-syntax", "else", said, ""]);
    let instead = "another %{if …} after an %{else}, with an %{endif} of its own";
    for (text, at) in
        [("%{if true}a%{ elseif true }b%{endif}", "if"), ("%{if true}a%{else}b%{elseif}%{endif}", "elseif")]
    {
        check_refused(text, ["invalid-syntax", at, "there is no %{elseif}", instead]);
    }
}

#[test]
fn depth_has_a_limit() {
    let nested = |open: &str, close: &str, times: usize| format!("${{{}1{}}}", open.repeat(times), close.repeat(times));
    for (open, close) in
        [("(", ")"), ("[", "]"), ("!", ""), ("{a = ", "}"), ("1 + ", ""), ("\"${", "}\""), ("1 ? 1 : ", "")]
    {
        check_too_deep(&nested(open, close, 5_000));
        assert!(Template::parse(&nested(open, close, 30)).is_ok(), "{open}");
    }
    check_too_deep(&format!("${{type{}}}", "[type]".repeat(5_000)));
    check_too_deep(&format!("{}{}", "%{ if true }".repeat(5_000), "%{ endif }".repeat(5_000)));
}

#[test]
fn comments_alone_may_hold_any_bytes() {
    let text = |bytes: &[u8]| native_text(bytes.to_vec());
    for comment in [&b"x = 1 # \xff"[..], b"// \xff\nx = 1", b"x = [ /* \n\xff */ ]", b"x = \"${1 /* \xff */}\""] {
        assert!(text(comment).expect("only in a comment").contains('\u{fffd}'));
    }
    assert_eq!(text(b"# \xff\nx = \"# \xff\""), Err("# \u{fffd}\nx = \"# ".to_owned()));
    assert_eq!(text(b"x = <<E\n# \xff\nE\n"), Err("x = <<E\n# ".to_owned()));
    assert_eq!(text(b"\xff = 1"), Err(String::new()));
}

#[test]
fn numbers_are_whole_or_written_out() {
    for (text, wanted) in [
        ("${1e5000}", "not-supported"),
        ("${99999999999999999999}", "not-supported"),
        ("${9223372036854775807 + 1}", "not-supported"),
        ("${1 / 3}", "not-supported"),
        ("${6 / 3}", "2"),
        ("${1 / 0}", "not-supported"),
        ("${0.5 + 1}", "not-supported"),
        ("${\"1.50\" + 1}", "not-supported"),
        ("${-0}", "not-supported"),
        ("${0 * -1}", "not-supported"),
        ("${-6 / 3}", "not-supported"),
        ("${1.50}", "1.5"),
        ("${1.50 == 1.5 && 1.0 == 1}", "true"),
        ("${0.1234567890123456789}", "not-supported"),
    ] {
        let read = Template::parse(text).map_err(|fault| fault.code.to_owned());
        let found = read.and_then(|template| outcome(&template, [""; 3]));
        assert_eq!(found.unwrap_or_else(|code| code), wanted, "{text}");
    }
}

#[test]
fn what_is_not_evaluated_is_refused() {
    for (text, wanted) in [
        ("a/${[for x in [type] : x][0]}", "tofu-oci does not evaluate `for`"),
        ("a/%{ for x in [type] }${x}%{ endfor }", "tofu-oci does not evaluate %{for}"),
        ("a/${[type][*]}", "tofu-oci does not evaluate splats"),
        ("a/${type.*.b}", "tofu-oci does not evaluate splats"),
        ("a/${type.0.1}", "two indexes cannot be chained with dots"),
        ("a/${\"b\n\"}", "a text between quotes stands on one line"),
    ] {
        assert_eq!(Template::parse(text).expect_err("must be refused").to_string(), wanted, "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn whatever_is_written_is_read_or_refused(text in "([${}%~\"\\[\\]().,:=?*!&|<>\\\\ \n\r]|for |in |if |endif|else|x|1|é|=>|\\.\\.\\.|<<E\n){0,24}") {
        if let Ok(template) = Template::parse(&text) {
            let _ = outcome(&template, ["a.example", "b", "c"]);
        }
    }
}
