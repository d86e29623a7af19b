//! Every measured case of a bad credentials block: the same complaint, and the same block kept or dropped.

use serde_json::Value;
use tofu_oci_types::Hostname;
use tofu_oci_vectors::Vectors;

use super::super::{CliConfigReading, Effect, read};
use super::{MemoryFiles, read_text};
use crate::config::MEASURED;
use tofu_oci_types::TofuRelease;

/// Codes of the credentials table that have another name here.
fn code(theirs: &str) -> &str {
    if theirs == "config-syntax" { "hcl1-parse" } else { theirs }
}

#[test]
fn bad_blocks_are_told_as_by_the_real_programs() {
    let table = Vectors::open("real_tofu_credentials.json");
    let mut bad = 0;
    table.each("cases", |case| {
        let Some(text) = case["cli_config"].as_str() else { return };
        for release in MEASURED {
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
    });
    assert!(bad >= 3 * 21 || !table.is_own(), "{bad}");
}

fn blocks(reading: &CliConfigReading) -> usize {
    reading.config.oci_credentials.len() + usize::from(reading.config.oci_default_credentials.is_some())
}

/// A block with the arguments of a case.
fn written(head: &str, body: &Value) -> String {
    let arguments = body.as_object().expect("arguments").iter();
    let lines: String = arguments.map(|(name, value)| format!("  {name} = {value}\n")).collect();
    format!("{head} {{\n{lines}}}\n")
}

/// The code of the first complaint, in the words of `OpenTofu`'s own tests.
fn complaint(reading: &CliConfigReading) -> Option<String> {
    let problem = reading.problems.iter().find(|problem| !problem.ours)?;
    let code = problem.code.as_str();
    Some(match code {
        "helper-with-path" => "helper-with-repository-path".to_owned(),
        "block-files-without-discovery" => "inconsistent".to_owned(),
        "duplicate-block" => "duplicate".to_owned(),
        _ => code.strip_prefix("block-").unwrap_or(code).to_owned(),
    })
}

#[test]
fn blocks_are_sound_or_wrong_as_in_opentofus_own_tests() {
    let table = Vectors::open("oci_credentials.json");
    table.each("oci_credentials_blocks", |case| {
        let text = written(&format!("oci_credentials {}", case["label"]), &case["body"]);
        let reading = read_text(&text, TofuRelease::V1_12);
        assert_eq!(complaint(&reading).as_deref(), case["error"].as_str(), "{text}");
        assert_eq!(reading.config.oci_credentials.len(), usize::from(case["error"].is_null()), "{text}");
    });
    table.each("oci_default_credentials_blocks", |case| {
        let text = match case["body"] {
            Value::Null => "oci_default_credentials {\n}\n".repeat(2),
            ref body => written("oci_default_credentials", body),
        };
        let reading = read_text(&text, TofuRelease::V1_12);
        assert_eq!(complaint(&reading).as_deref(), case["error"].as_str(), "{text}");
        let block = reading.config.oci_default_credentials.as_ref().expect("the first block is kept");
        let files = block.attributes.iter().find(|argument| argument.name == "docker_style_config_files");
        let effective =
            case["effective"].get("docker_style_config_files").or(case["body"].get("docker_style_config_files"));
        assert_eq!(files.is_some(), effective.is_some_and(|files| !files.is_null()), "{text}");
    });
}

#[test]
fn tokens_of_the_environment_belong_to_their_hosts() {
    let table = Vectors::open("oci_credentials.json");
    table.each("env_tokens", |case| {
        let mut environment = super::environment();
        environment.vars.insert(case["env"].as_str().expect("a name").to_owned(), "token".to_owned());
        let reading = read(&environment, &MemoryFiles::default(), TofuRelease::V1_12);
        let want: Hostname = case["host"].as_str().expect("a host").parse().expect("a host");
        let got: Vec<&Hostname> = reading.config.tokens.iter().map(|token| &token.host).collect();
        assert_eq!(got, [&want], "{case}");
    });
}
