//! What a user sees: one snapshot for each code, and the hard cases of showing a line.

mod credentials;
mod excerpts;
mod files;
mod measured;
mod methods;
mod positions;
mod settings;
mod templates;

use super::super::{Reading, render_problem};
use super::read_text;
use crate::TofuRelease;

/// Everything that is told about a main file.
fn told(text: &str) -> String {
    all(&read_text(text, TofuRelease::V1_13))
}

fn all(reading: &Reading) -> String {
    reading.problems.iter().map(|problem| render_problem(reading, problem)).collect()
}

/// What is told about a method.
fn method(text: &str) -> String {
    told(&format!("provider_installation {{\n  {text}\n}}\n"))
}

/// What is told about a template.
fn template(text: &str) -> String {
    method(&format!("oci_mirror {{\n    repository_template = \"{text}\"\n  }}"))
}
