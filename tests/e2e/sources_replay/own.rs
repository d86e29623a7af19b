//! Cases of our own: what the measured ones do not reach, and what the comparison must see.

use serde_json::{Value, json};

use super::{Column, Judged, judge_all, packages};

/// A case of our own, with mirrors in these folders of the one registry.
fn own(folders: &[&str], offers: &Value, expect: &Value) -> Value {
    let mirror = |folder: &&str| {
        let template = format!("oci.example.test/{folder}/${{namespace}}/${{type}}");
        let include = "[\"registry.example.test/*/*\"]";
        format!("  oci_mirror {{\n    repository_template = \"{template}\"\n    include = {include}\n  }}\n")
    };
    let mirrors: String = folders.iter().map(mirror).collect();
    json!({
        "name": "own", "group": "own", "provider": "registry.example.test/acme/widget", "lock": null, "pure": true,
        "cli_config": format!("provider_installation {{\n{mirrors}}}\n"), "offers": offers, "expect": expect,
        "measured_with": ["1.13-dev"],
    })
}

/// That a version is installed from a folder.
fn installed(version: &str, folder: &str) -> Value {
    json!({"method": "oci", "version": version, "repository": format!("oci.example.test/{folder}/acme/widget")})
}

fn has(version: &str) -> Value {
    json!({"versions": [version], "platforms": ["linux_amd64"]})
}

/// What the program decides, where `OpenTofu` decides at random.
#[test]
fn decisions_that_no_measured_case_reaches() {
    // Versions that differ in their metadata alone: the first method's is chosen, in every run.
    let both = json!({
        "oci:oci.example.test/one/acme/widget": has("1.0.0+b1"), "oci:oci.example.test/two/acme/widget": has("1.0.0"),
    });
    let one_first = own(&["one", "two"], &both, &installed("1.0.0+b1", "one"));
    let two_first = own(&["two", "one"], &both, &installed("1.0.0", "two"));
    let cases = [one_first, two_first];
    for (case, judged) in cases.iter().zip(judge_all(&cases)) {
        match judged {
            Ok(Judged { column: Column::Same, .. }) => {}
            Ok(_) => panic!("in another column: {case}"),
            Err(what) => panic!("{what}\n{case}"),
        }
    }
}

/// The comparison sees each part of an outcome, and reports what it does not know by its case.
#[test]
fn an_outcome_that_differs_in_one_part_is_reported() {
    let offers = json!({"oci:oci.example.test/one/acme/widget": has("1.0.0")});
    let locked = |lines: &[&str]| {
        let mut expect = installed("1.0.0", "one");
        expect["lock_after"] = json!(lines);
        expect
    };
    let made = packages::package("oci", "widget", "1.0.0", "linux_amd64");
    let mut odd = own(&["one"], &offers, &installed("1.0.0", "one"));
    odd["offers"]["oci:oci.example.test/one/acme/widget"]["fails"] = json!("in a new way");
    let case = |expect: Value| own(&["one"], &offers, &expect);
    let cases = [
        ("", case(locked(&[&made.h1, &made.zh]))),
        ("installed: ", case(installed("1.1.0", "one"))),
        ("sent by: ", case(installed("1.0.0", "two"))),
        ("lock file: ", case(locked(&[&made.h1]))),
        ("lock file: ", case(locked(&[&made.h1, &made.zh, "zh:invented"]))),
        ("exit: ", case(json!({"install_error": "tag-not-found"}))),
        ("exit: ", case(json!({"config_error": "hcl1-parse", "stage": "load", "then": {}}))),
        ("unknown fault: in a new way", odd),
        ("unknown field `surprise`", case(json!({"surprise": 1}))),
    ];
    let (wanted, cases): (Vec<&str>, Vec<Value>) = cases.into_iter().unzip();
    for (wanted, judged) in wanted.iter().zip(judge_all(&cases)) {
        match judged {
            Ok(_) => assert_eq!(*wanted, "", "nothing is reported"),
            Err(what) => assert!(!wanted.is_empty() && what.contains(wanted), "{wanted}: {what}"),
        }
    }
}
