//! Readings of files that lie in memory.

mod files;
mod messages;
pub(crate) mod never;
mod oci;
mod places;
mod reading;
mod replay;
mod rewrite;
mod strict;

pub(crate) use files::MemoryFiles;

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{CliConfigProblem, CliConfigReading, Environment, MASK, Os, read, secrets_in_line};
use tofu_oci_types::{TextPosition, TofuRelease};

/// A user `u` of a Unix, in `/w`.
pub(crate) fn environment() -> Environment {
    Environment {
        os: Os::Unix,
        home: Some(PathBuf::from("/home/u")),
        app_data: None,
        launch_dir: PathBuf::from("/w"),
        working_dir: PathBuf::from("/w"),
        named: None,
        vars: BTreeMap::new(),
    }
}

/// What a release makes of one main file.
fn read_text(text: &str, release: TofuRelease) -> CliConfigReading {
    let files = MemoryFiles::from([("/home/u/.tofurc", text)]);
    read(&environment(), &files, release)
}

/// A problem with its place, without a picture of the line.
fn shown(reading: &CliConfigReading, problem: &CliConfigProblem) -> String {
    let mut out = format!("{:?}: {} ({})\n", problem.severity, problem.message, problem.code);
    if let Some(file) = problem.file.and_then(|file| reading.files.get(file)) {
        let place = problem.span.clone().map(|span| {
            let secret = !secrets_in_line(&file.text, span.clone()).is_empty();
            let text = if secret { MASK } else { &file.text[span.clone()] };
            format!(":{} {text:?}", TextPosition::of(&file.text, span.start))
        });
        out += &format!("  --> {}{}\n", file.path.display(), place.unwrap_or_default());
    }
    let instead = problem.instead.iter().map(|instead| format!("  = instead: {instead}\n"));
    out + &instead.collect::<String>() + &format!("  = OpenTofu {}: {}\n", reading.release, problem.consequence())
}
