//! What a user reads: one snapshot for each code.

mod credentials;
mod files;
mod measured;
mod methods;
mod positions;
mod settings;
mod templates;

use super::super::CliConfigReading;
use super::{read_text, shown};
use tofu_oci_types::TofuRelease;

/// Everything that is reported about a main file.
fn reported(text: &str) -> String {
    all(&read_text(text, TofuRelease::V1_13))
}

fn all(reading: &CliConfigReading) -> String {
    reading.problems.iter().map(|problem| shown(reading, problem)).collect()
}

/// What is reported about a method.
fn method(text: &str) -> String {
    reported(&format!("provider_installation {{\n  {text}\n}}\n"))
}

/// What is reported about a template.
fn template(text: &str) -> String {
    method(&format!("oci_mirror {{\n    repository_template = \"{text}\"\n  }}"))
}
