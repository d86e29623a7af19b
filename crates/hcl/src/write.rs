//! How a text becomes a string of HCL 1 or HCL 2, escaped: the only writer of strings for CLI configuration files, lock
//! files and configurations.
//!
//! Whatever a text holds, a reader of the language gets the same text back, and nothing after the string.

use std::collections::HashMap;
use std::fmt::Write as _;

use tofu_oci_types::is_unprintable;

/// A string of HCL 1, the language of the CLI configuration.
///
/// HCL 1 reads no escapes between `${` and `}`, and a `${` without its end goes on through the rest of the file. So an
/// interpolation stands as it is only if it is whole; the `$` of any other one is an escape.
pub fn hcl1_string(value: &str) -> String {
    let interpolations = interpolations(value);
    let mut out = String::from('"');
    let mut at = 0;
    while let Some(character) = value[at..].chars().next() {
        if let Some(end) = interpolations.get(&at) {
            out.push_str(&value[at..*end]);
            at = *end;
            continue;
        }
        match character {
            '$' if value[at..].starts_with("${") => out.push_str("\\u0024"),
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            // HCL reads the escape back, and a terminal does not obey it.
            _ if !stands_in_interpolation(character) => escape(character, &mut out),
            _ => out.push(character),
        }
        at += character.len_utf8();
    }
    out.push('"');
    out
}

/// The interpolations of a text that may stand as they are: where each begins and ends. In one pass: a stranger's text may have
/// hundreds of thousands of `${`.
fn interpolations(value: &str) -> HashMap<usize, usize> {
    let (mut open, mut odd, mut found) = (Vec::new(), None, HashMap::new());
    for (at, character) in value.char_indices() {
        match character {
            '{' => open.push(at),
            '}' => {
                let start = open.pop().filter(|brace| value[..*brace].ends_with('$') && odd < Some(*brace));
                found.extend(start.map(|brace| (brace - 1, at + 1)));
            }
            // HCL 1 takes U+FFFD in an interpolation for broken UTF-8.
            '\u{fffd}' => odd = Some(at),
            _ if !stands_in_interpolation(character) => odd = Some(at),
            _ => {}
        }
    }
    found
}

/// Whether HCL 1 reads the character between `${` and `}` as itself: it takes a backslash for an escape when it looks for
/// the end, and keeps it when it reads the value. U+E123 is its own sign for a broken file.
fn stands_in_interpolation(character: char) -> bool {
    !is_unprintable(character) && !matches!(character, '\\' | '\u{e123}')
}

/// A string of HCL 2, the language of configurations and lock files, as `hclwrite` quotes it.
///
/// Spec: HCL 2.14, `hclwrite.escapeQuotedStringLit`.
pub fn hcl2_string(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push('"');
    for character in hcl2_template(value).chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control.is_control() => escape(control, &mut out),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// A text as a template of HCL 2 that says it: for a string of JSON, which HCL 2 reads as a template.
pub fn hcl2_template(text: &str) -> String {
    text.replace("${", "$${").replace("%{", "%%{")
}

fn escape(character: char, out: &mut String) {
    let code = u32::from(character);
    // Writing to a String cannot fail.
    let _ = if code < 0x10000 { write!(out, "\\u{code:04x}") } else { write!(out, "\\U{code:08x}") };
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Duplicates, HclValue, parse};

    /// What a stranger's text must not become: more than one value.
    const HOSTILE: &[&str] = &[
        "",
        "https://example.com/",
        "a\"\n}\nhost \"victim.example\" {\n",
        "${",
        "a${b",
        "$${",
        "${ \"",
        "${a}${b",
        "${{}",
        "${a{b}c}",
        "}${",
        "\\${",
        "$\\{",
        "${a\\}",
        "${\\\"}",
        "${a\nb}",
        "${a\u{fffd}b}",
        "\u{fffd}",
        "\u{e123}",
        "\u{feff}",
        "\0",
        "\u{85}\u{2028}\u{202e}\r\t",
        "%{ if true }a",
        "%%{",
        "\\",
        "\\\"",
        "\\u0024{",
        "*/ /* # //",
        "<<EOT\nx\nEOT\n",
        "${namespace}-${type == \"x\" ? \"a\" : \"b\"}",
        "\u{10ffff}\u{e0001}é漢",
    ];

    /// The texts before and after a value in a file of HCL 1, as a key and as a value.
    #[track_caller]
    fn check_hcl1(value: &str) {
        let written = hcl1_string(value);
        let file = format!(
            "host {written} {{\n  services = {{ {written} = {written}, \"another-service\" = [{written}] }}\n}}\nend = \"x\"\n"
        );
        let document = parse(&file, Duplicates::Refused).unwrap_or_else(|error| panic!("{error:?}\n{file}"));
        let [host, end] = document.body.items.as_slice() else { panic!("more than two items:\n{file}") };
        assert_eq!((host.keys[0].text.as_str(), host.keys[1].text.as_str()), ("host", value), "{file}");
        assert_eq!(end.keys[0].text, "end");
        let HclValue::Object(body, _) = &host.value else { panic!("{file}") };
        let HclValue::Object(body, _) = &body.items[0].value else { panic!("{file}") };
        assert_eq!(body.items.len(), 2, "{file}");
        assert_eq!(body.items[0].keys[0].text, value, "{file}");
        let HclValue::String(text) = &body.items[0].value else { panic!("{file}") };
        assert_eq!((text.value.as_str(), &text.fault), (value, &None), "{file}");
    }

    #[test]
    fn an_unclosed_interpolation_does_not_go_on_through_the_file() {
        for value in HOSTILE {
            check_hcl1(value);
        }
        for unit in ["${", "a\"", "${\\", "{"] {
            check_hcl1(&format!("{}{}", unit.repeat(200_000), "}".repeat(200_000)));
        }
        assert_eq!(hcl1_string("a${b \" ${c}"), r#""a\u0024{b \" ${c}""#);
        assert_eq!(hcl1_string("ghcr.io/${namespace}/${type}"), r#""ghcr.io/${namespace}/${type}""#);
    }

    proptest! {
        #[test]
        fn any_text_is_read_back_from_hcl1(value in "([${}\"\\\\%a\n\u{e123}\u{fffd}]|\\PC){0,12}") {
            check_hcl1(&value);
        }
    }

    #[test]
    fn a_string_of_hcl2_evaluates_nothing() {
        let quoted: Vec<String> = ["a${b}", "%{ if x }", "$${a}", "a\"b\\c\n\r\t\u{1}\u{85}"].map(hcl2_string).into();
        assert_eq!(quoted, [r#""a$${b}""#, r#""%%{ if x }""#, r#""$$${a}""#, r#""a\"b\\c\n\r\t\u0001\u0085""#]);
    }
}
