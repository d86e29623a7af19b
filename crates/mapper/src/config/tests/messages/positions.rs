//! The place of a fault in a template, wherever and however the template is written.

use insta::assert_snapshot;

use super::reported;
use crate::config::tests::read_text;
use tofu_oci_types::{TextPosition, TofuRelease};

/// What of the file is underlined, with its line and column, for each problem.
fn underlined(text: &str) -> String {
    let reading = read_text(text, TofuRelease::V1_13);
    let piece = |problem: &crate::CliConfigProblem| {
        let span = problem.span.clone().expect("a place");
        let position = TextPosition::of(text, span.start);
        format!("{}:{}: {:?} {}\n", position.line, position.column, &text[span], problem.code)
    };
    reading.problems.iter().map(piece).collect()
}

/// A main file with this template, as it is written.
fn template(written: &str) -> String {
    format!(
        "provider_installation {{\n  oci_mirror {{\n    repository_template = {written}\n    include = [\"a.test/b/c\"]\n  }}\n}}\n"
    )
}

#[test]
fn behind_escapes() {
    assert_snapshot!(underlined(&template(r#""r.test/\u00e9\x41\101\t${nope}""#)), @r#"3:53: "nope" unknown-symbol:nope"#);
    assert_snapshot!(underlined(&template(r#""r.test/\U0001f600%{ if type != \"x\" }${lower(type)}%{ endif }""#)), @r#"3:68: "lower(type)" hcl:function-calls-not-allowed"#);
    assert_snapshot!(underlined(&template(r#""r.test/é漢${type[0]}""#)), @r#"3:43: "[0]" hcl:invalid-index"#);
}

#[test]
fn in_a_heredoc() {
    assert_snapshot!(underlined(&template("<<EOT\nr.test/${type}\n${nope}\nEOT")), @r#"5:3: "nope" unknown-symbol:nope"#);
    assert_snapshot!(underlined(&template("<<-EOT\n      r.test/\n        ${type + 1}\n      EOT")), @r#"5:11: "type" hcl:invalid-operand"#);
    assert_snapshot!(reported(&template("<<EOT\nr.test/${type}\nEOT")), @r#"
    Error: `r.test/${type}\n` gives no repository address: for example.com/example-namespace/example-type, `r.test/example-type\n` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/` (invalid-repository-address)
      --> /home/u/.tofurc:4:1 "r.test/${type}\n"
      = instead: write REGISTRY/PATH in lower case, without scheme, tag and digest, such as ghcr.io/acme/${namespace}/${type}
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method
    "#);
}

#[test]
fn in_json() {
    let file = |written: &str| {
        format!(
            "{{\"provider_installation\": {{\n  \"oci_mirror\": [{{\"repository_template\": {written},\n    \"include\": [\"a.test/b/c\"]}}]\n}}}}\n"
        )
    };
    assert_snapshot!(underlined(&file(r#""r.test/\u00e9\"\n${nope}""#)), @r#"2:62: "nope" unknown-symbol:nope"#);
    assert_snapshot!(underlined(&file(r#""r.test/${type != \"c\" ? lower(type) : \"x\"}""#)), @r#"2:68: "lower(type)" hcl:function-calls-not-allowed"#);
    assert_snapshot!(underlined(&file(r#""R.test/a:b""#)), @r#"2:43: "R.test/a:b" invalid-repository-address"#);
}
