//! `JUnit` XML: a test case a rule, so that a run shows what was looked at and not only what was found.

use std::fmt::Write as _;

use tofu_oci_checker::{Finding, Level};

use super::applied;
use crate::verbs::check::Checked;

/// One test suite. Notes do not fail their test case, and stand in its output.
pub(super) fn render(checked: &Checked) -> String {
    let rules = applied(checked);
    let of = |id: &str| checked.findings.iter().filter(|finding| finding.rule.id == id).collect::<Vec<_>>();
    let fails = |id: &str| of(id).first().is_some_and(|finding| finding.level() != Level::Note);
    let failures = rules.iter().filter(|rule| fails(rule.id)).count();
    let name = escaped(&format!("tofu-oci check {}", checked.target));
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a String cannot fail.
    let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\"", rules.len());
    let _ = writeln!(text, "<testsuites {counts}>\n  <testsuite name=\"{name}\" {counts}>");
    for rule in rules {
        let case = format!("    <testcase classname=\"{}\" name=\"{}\"", escaped(rule.group.title()), rule.id);
        let found = of(rule.id);
        let Some(first) = found.first() else {
            let _ = writeln!(text, "{case}/>");
            continue;
        };
        let lines: String = found.iter().map(|finding| line(finding)).collect();
        let advice = format!("why: {}\nmend: {}\nspec: {}\n", rule.why, rule.mend, rule.spec);
        let body = escaped(&format!("{lines}{advice}"));
        let _ = if rule.level == Level::Note {
            writeln!(text, "{case}>\n      <system-out>{body}</system-out>\n    </testcase>")
        } else {
            let message = escaped(&first.text);
            let kind = rule.level.word();
            writeln!(
                text,
                "{case}>\n      <failure type=\"{kind}\" message=\"{message}\">{body}</failure>\n    </testcase>"
            )
        };
    }
    text.push_str("  </testsuite>\n</testsuites>\n");
    text
}

fn line(finding: &Finding) -> String {
    let version = finding.version.as_deref().map(|version| format!(", {version}")).unwrap_or_default();
    let platform = finding.platform.as_ref().map(|platform| format!(", {platform}")).unwrap_or_default();
    let diff = finding.diff.as_deref().unwrap_or_default();
    format!("{}{version}{platform}: {}\n{diff}", finding.place, finding.text)
}

/// Text as XML 1.0 can hold it, in an element or an attribute; what it cannot hold becomes U+FFFD.
///
/// Spec: XML 1.0, fifth edition, section 2.2.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\n' | '\t' => escaped.push(character),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            control if control.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_breaks_no_document() {
        assert_eq!(escaped("a<b>&\"c'\u{1}\r\u{ffff}"), "a&lt;b&gt;&amp;&quot;c&apos;\u{fffd}\u{fffd}\u{fffd}");
        assert_eq!(escaped("plain ü\n"), "plain ü\n");
    }
}
