//! `JUnit` XML: a test case for each rule, so that a run also shows the rules without findings.

use std::fmt::Write as _;

use tofu_oci_checker::Finding;
use tofu_oci_types::{Platform, printable};

use crate::diagnostic::Diagnostic;
use crate::document::Document;
use crate::verbs::check::checked::Checked;

/// One test suite. What does not reach the level of `--fail-on` fails no test case, and stands in its output; a rule
/// that was not looked by is skipped.
pub(super) fn render(checked: &Checked) -> Document {
    let rules = checked.rules();
    let mut cases = String::new();
    let (mut failures, mut skipped) = (0, 0);
    for rule in &rules {
        let found: Vec<&Finding> = checked.findings.iter().filter(|finding| finding.rule.id == rule.id).collect();
        let case = format!("    <testcase classname=\"{}\" name=\"{}\"", escaped(rule.group.title()), rule.id);
        // Writing to a String cannot fail.
        let _ = match (found.first(), checked.left_out.get(rule.id)) {
            (None, None) => writeln!(cases, "{case}/>"),
            (None, Some(why)) => {
                skipped += 1;
                writeln!(cases, "{case}>\n      <skipped message=\"{}\"/>\n    </testcase>", escaped(why))
            }
            (Some(first), _) => {
                let mut lines: Vec<String> = found.iter().flat_map(|finding| lines(finding)).collect();
                lines.extend([("why", rule.why), ("fix", rule.fix), ("spec", rule.spec)].map(advice));
                let body: String = lines.iter().map(|line| escaped(line) + "\n").collect();
                if rule.level <= checked.lowest {
                    failures += 1;
                    let (kind, message) = (rule.level.word(), escaped(&first.text));
                    let failure = format!("<failure type=\"{kind}\" message=\"{message}\">{body}</failure>");
                    writeln!(cases, "{case}>\n      {failure}\n    </testcase>")
                } else {
                    writeln!(cases, "{case}>\n      <system-out>{body}</system-out>\n    </testcase>")
                }
            }
        };
    }
    for one in &checked.not_judged {
        let about = about(one.version.as_deref(), one.platform.as_ref());
        let name = escaped(&format!("not judged: {}{about}", one.place));
        let (message, body) = (escaped(&one.cause()), hints(&one.why));
        let error = format!("<error type=\"not-judged\" message=\"{message}\">{body}</error>");
        let _ = writeln!(cases, "    <testcase classname=\"check\" name=\"{name}\">\n      {error}\n    </testcase>");
    }
    let errors = checked.not_judged.len();
    let tests = rules.len() + errors;
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"");
    document(&checked.target, &counts, &cases)
}

/// The document for an unreadable target: one test case with an error.
pub(super) fn unreadable(target: &str, diagnostic: &Diagnostic) -> Document {
    let message = escaped(diagnostic.text());
    let body = hints(diagnostic);
    let case = format!(
        "    <testcase classname=\"check\" name=\"target\">\n      <error type=\"unreadable\" \
         message=\"{message}\">{body}</error>\n    </testcase>\n"
    );
    document(target, "tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\"", &case)
}

fn document(target: &str, counts: &str, cases: &str) -> Document {
    let name = escaped(&format!("tofu-oci check {target}"));
    Document::lines(&format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  \
         <testsuite name=\"{name}\" {counts}>\n{cases}  </testsuite>\n</testsuites>\n"
    ))
}

fn lines(finding: &Finding) -> Vec<String> {
    let about = about(finding.version.as_deref(), finding.platform.as_ref());
    let diff = finding.diff.as_deref().unwrap_or_default().lines().map(str::to_owned);
    [format!("{}{about}: {}", finding.place, finding.text)].into_iter().chain(diff).collect()
}

fn advice((name, text): (&str, &str)) -> String {
    format!("{name}: {text}")
}

fn hints(diagnostic: &Diagnostic) -> String {
    diagnostic.hints().iter().map(|hint| escaped(hint)).collect::<Vec<_>>().join("\n")
}

fn about(version: Option<&str>, platform: Option<&Platform>) -> String {
    let version = version.map(|version| format!(", {version}")).unwrap_or_default();
    let platform = platform.map(|platform| format!(", {platform}")).unwrap_or_default();
    format!("{version}{platform}")
}

/// One line of text as XML 1.0 can hold it, in an element or an attribute. What XML cannot hold, and what would act on a
/// terminal that shows the document, is written as in the table.
///
/// Spec: XML 1.0, fifth edition, section 2.2.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in printable(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
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
        assert_eq!(escaped("a<b>&\"c'\u{1}\r\u{ffff}"), "a&lt;b&gt;&amp;&quot;c&apos;\\u{1}\\r\\u{ffff}");
        assert_eq!(escaped("plain ü"), "plain ü");
    }
}
