//! Measured cases, and what the measured program would not survive.

use std::path::Path;

use serde_json::Value as Json;

use super::{Template, TemplateFault, TemplateValue, native_text};

fn codes(fault: &TemplateFault) -> Vec<String> {
    fault.each().map(|fault| fault.code.clone()).collect()
}

fn list(json: &Json) -> Vec<String> {
    json.as_array().into_iter().flatten().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

fn place(json: &Json) -> Option<(u64, u64)> {
    Some((json[0].as_u64()?, json[1].as_u64()?))
}

fn evaluate(template: &Template, values: &[TemplateValue; 3]) -> Result<TemplateValue, TemplateFault> {
    let names = ["hostname", "namespace", "type"];
    template.evaluate(&|name| names.iter().position(|known| *known == name).map(|index| values[index].clone()))
}

/// The text that comes out, or the codes of what is wrong.
fn outcome(template: &Template, values: [&str; 3]) -> Result<String, Vec<String>> {
    let value = evaluate(template, &values.map(|text| TemplateValue::String(text.to_owned())))
        .map_err(|fault| codes(&fault))?;
    match value.into_text() {
        Ok(TemplateValue::String(text)) => Ok(text),
        Ok(_) => Err(vec!["null-result".to_owned()]),
        Err(_) => Err(vec!["not-a-string".to_owned()]),
    }
}

/// Measured templates with numbers that HCL rounds to 512 bits, that are infinite, or a negative zero: what comes out
/// here, a code or a text.
const OTHER_NUMBERS: [(&str, &str); 8] = [
    ("${-0}", "0"),
    ("${1/3}", "number-out-of-range"),
    ("${2/3}", "number-out-of-range"),
    ("${1 / 0}", "number-out-of-range"),
    ("${1e200}", "number-out-of-range"),
    ("${99999999999999999999 * 99999999999999999999}", "number-out-of-range"),
    ("${\"Inf\" - \"Inf\"}", "invalid-operand"),
    ("${\"Inf\" % 0}", "invalid-operand"),
];

#[test]
fn a_number_that_does_not_fit_into_128_bits_is_refused_with_its_code() {
    for (text, wanted) in OTHER_NUMBERS {
        let result = Template::parse(text).map_err(|fault| codes(&fault));
        let result = result.and_then(|template| outcome(&template, [""; 3]));
        assert_eq!(result.unwrap_or_else(|codes| codes[0].clone()), wanted, "{text}");
    }
}

#[test]
fn every_measured_template_gives_what_was_measured() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/hcl2/templates.json");
    let table: Json = serde_json::from_slice(&std::fs::read(path).expect("the table is there")).expect("it is JSON");
    let cases = table["cases"].as_array().expect("a list of cases");
    let (mut broken, mut sound) = (0, 0);
    for case in cases {
        let text = case["template"].as_str().expect("a text");
        if OTHER_NUMBERS.iter().any(|(other, _)| *other == text) {
            continue;
        }
        let at = |fault: &TemplateFault| Some((fault.span.start as u64, fault.span.end as u64));
        match Template::parse(text) {
            Err(fault) => {
                assert_eq!(codes(&fault), list(&case["syntax"]), "{case}");
                assert!(case["at"].is_null() || at(&fault) == place(&case["at"]), "{fault:?}: {case}");
                broken += 1;
            }
            Ok(template) => {
                assert!(case["syntax"].is_null(), "{case}");
                check_values(&template, case);
                sound += 1;
            }
        }
    }
    assert!(cases.len() >= 330 && broken >= 100 && sound >= 200, "{broken} broken, {sound} sound");
}

#[track_caller]
fn check_values(template: &Template, case: &Json) {
    let names: Vec<String> = template.variables().into_iter().map(|variable| variable.name).collect();
    assert_eq!(names, list(&case["names"]), "{case}");
    let unknown = evaluate(template, &[TemplateValue::UNKNOWN_STRING; 3]).err();
    assert_eq!(unknown.as_ref().map(codes).unwrap_or_default(), list(&case["unknown"]), "{case}");
    if let Some(fault) = unknown {
        assert_eq!(Some((fault.span.start as u64, fault.span.end as u64)), place(&case["at"]), "{case}");
    }
    for (name, values) in [
        ("sample", ["example.com", "example-namespace", "example-type"]),
        ("real", ["registry.example.test", "acme", "widget"]),
    ] {
        let wanted = case[name]["text"].as_str().map(str::to_owned).ok_or_else(|| list(&case[name]["errors"]));
        assert_eq!(outcome(template, values), wanted, "{name}: {case}");
    }
}

#[track_caller]
fn check_too_deep(text: &str) {
    let fault = Template::parse(text).expect_err("must be refused");
    assert_eq!(fault.code, "expression-too-deep", "{fault}");
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
fn numbers_have_a_limit() {
    for text in ["${1e5000}", "${1e-99999999999}"] {
        assert_eq!(Template::parse(text).expect_err("must be refused").code, "number-out-of-range");
    }
    for (text, code) in [
        ("${1e38 * 10}", "number-out-of-range"),
        ("${1e-38 / 10}", "number-out-of-range"),
        ("${0 / 0}", "operation-failed"),
        ("${-0.5 % 0.2}", "-0.1"),
        ("${0.25 / 0.5 + 1.50}", "2"),
        ("${0.1 < 0.11 && -0.1 > -0.11 && 1e38 > 1e-38}", "true"),
        ("${-0}", "0"),
    ] {
        let template = Template::parse(text).expect("a template");
        let text = outcome(&template, [""; 3]).unwrap_or_else(|codes| codes.concat());
        assert_eq!(text, code);
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
