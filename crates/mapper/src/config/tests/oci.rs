//! Every measured case of a bad credentials block: the same complaint, and the same block kept or dropped.

use super::super::{Effect, Reading};
use super::{read_text, table};
use crate::TofuRelease;

/// Codes of the credentials table that have another name here.
fn code(theirs: &str) -> &str {
    if theirs == "config-syntax" { "hcl1-parse" } else { theirs }
}

#[test]
fn bad_blocks_are_told_as_by_the_real_programs() {
    let table = table("real_tofu_credentials.json");
    let cases = table["cases"].as_array().or(table.as_array()).expect("a list of cases");
    let mut bad = 0;
    for case in cases {
        let Some(text) = case["cli_config"].as_str() else { continue };
        for release in TofuRelease::ALL {
            let reading = read_text(text, release);
            let first = reading.problems.iter().find(|problem| !problem.ours);
            let wanted = case["observed"]["config_error"].as_str().or(case["config_error"].as_str()).map(code);
            assert_eq!(first.map(|problem| problem.code.as_str()), wanted, "{}", case["name"]);
            if let Some(problem) = first {
                bad += 1;
                let kept = match problem.effect {
                    Effect::KeptAnyway | Effect::FirstUsed => 1,
                    _ => 0,
                };
                assert_eq!(blocks(&reading), kept, "{}", case["name"]);
            }
        }
    }
    assert!(bad >= 3 * 21, "{bad}");
}

fn blocks(reading: &Reading) -> usize {
    reading.config.oci_credentials.len() + usize::from(reading.config.oci_default_credentials.is_some())
}
