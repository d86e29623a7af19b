//! What a build of the program costs: the seconds of each crate from elsewhere, which dependency of ours brings it, and what
//! that dependency serves.
//!
//! ```text
//! cargo build --release --timings --> seconds of each crate
//! cargo metadata                  --> which dependency reaches which crate
//! Cargo.toml, the comments        --> what a dependency serves
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;

use crate::failure::{ChoreResult, Doing};
use crate::floors::workspace::{CrateVersion, Workspace};
use crate::paths;
use crate::process::ProgramRun;
use crate::where_is::print;

#[derive(Debug, clap::Args)]
pub(crate) struct BuildCostArgs {
    /// A report of `cargo build --timings` [default: of a new release build, in a folder of its own]
    #[arg(long, value_name = "HTML")]
    timings: Option<PathBuf>,
    /// Print every crate, not only the dependencies of our own crates
    #[arg(long)]
    all: bool,
}

/// What cargo compiled or ran in one piece.
#[derive(Debug, Deserialize)]
struct BuildUnit {
    name: String,
    version: String,
    start: f64,
    duration: f64,
}

/// Prints the table as Markdown.
pub(crate) fn run(arguments: &BuildCostArgs) -> ChoreResult {
    let html = match &arguments.timings {
        Some(file) => fs::read_to_string(file).doing(|| format!("reading {}", file.display()))?,
        None => build_anew()?,
    };
    let units = units(&html)?;
    let workspace = Workspace::read()?;
    let manifest = fs::read_to_string(paths::root().join("Cargo.toml")).doing(|| "reading Cargo.toml".to_owned())?;
    print(&page(&units, &workspace, &purposes(&manifest), arguments.all));
    Ok(())
}

/// Builds the program in a new folder, and gives back cargo's report.
fn build_anew() -> ChoreResult<String> {
    let target = tempfile::tempdir().doing(|| "making a folder".to_owned())?;
    let arguments = ["build", "--release", "--locked", "--timings", "--package", "tofu-oci-cli"];
    ProgramRun::inheriting(env!("CARGO"))
        .args(arguments)
        .directory(&paths::root())
        .variable("CARGO_TARGET_DIR", target.path())
        .success()?;
    let file = target.path().join("cargo-timings").join("cargo-timing.html");
    fs::read_to_string(&file).doing(|| format!("reading {}", file.display()))
}

/// The units of cargo's report, whose page holds them as JSON.
fn units(html: &str) -> ChoreResult<Vec<BuildUnit>> {
    let list = html.split_once("const UNIT_DATA = ").map_or("", |(_, rest)| rest);
    let list = list.split_once("\n];").map_or("", |(list, _)| list);
    serde_json::from_str(&format!("{list}]")).doing(|| "reading the units of cargo's report".to_owned())
}

/// What each line of `[workspace.dependencies]` serves: the comment above it, or the heading of its part.
fn purposes(manifest: &str) -> BTreeMap<String, String> {
    let mut purposes = BTreeMap::new();
    let (mut heading, mut comment) = ("", Vec::new());
    let mut begins = true;
    for line in manifest.lines().skip_while(|line| *line != "[workspace.dependencies]").skip(1) {
        match (line.strip_prefix("# "), line.split_once(" = ")) {
            (Some(text), _) if begins => (heading, begins) = (text, false),
            (Some(text), _) => comment.push(text),
            (None, Some((name, value))) => {
                let text = if comment.is_empty() { heading.to_owned() } else { comment.join(" ") };
                let package = value.split_once("package = \"").and_then(|(_, rest)| rest.split_once('"'));
                purposes.insert(package.map_or(name, |(package, _)| package).to_owned(), text);
                (comment, begins) = (Vec::new(), false);
            }
            _ if line.starts_with('[') => break,
            _ => (comment, begins) = (Vec::new(), true),
        }
    }
    purposes
}

fn page(units: &[BuildUnit], workspace: &Workspace, purposes: &BTreeMap<String, String>, all: bool) -> String {
    let mut seconds = BTreeMap::<CrateVersion, f64>::new();
    for unit in units {
        *seconds.entry((unit.name.clone(), unit.version.clone())).or_default() += unit.duration;
    }
    let brought = workspace.brought("tofu-oci-cli", &seconds.keys().cloned().collect());
    let sum =
        |crates: &mut dyn Iterator<Item = &CrateVersion>| -> f64 { crates.fold(0.0, |sum, one| sum + seconds[one]) };
    let end = units.iter().map(|unit| unit.start + unit.duration).fold(0.0, f64::max);
    let others = sum(&mut brought.keys());
    let mut text = format!(
        "{end:.0} s from start to end. {} crates from elsewhere: {others:.0} s of work; ours: {:.0} s.\n\n",
        brought.len(),
        sum(&mut seconds.keys()) - others
    );
    let mut alone = BTreeMap::<&str, Vec<&CrateVersion>>::new();
    for (one, by) in &brought {
        for dependency in by {
            let crates = alone.entry(dependency).or_default();
            if by.len() == 1 {
                crates.push(one);
            }
        }
    }
    let mut lines: Vec<_> =
        alone.iter().map(|(by, crates)| (sum(&mut crates.iter().copied()), crates.len(), *by)).collect();
    lines.sort_by(|one, other| other.0.total_cmp(&one.0));
    text.push_str("| dependency | crates that it alone brings | seconds | what it serves |\n|---|---:|---:|---|\n");
    for (seconds, crates, by) in lines {
        let purpose = purposes.get(by).map_or("", String::as_str);
        text.push_str(&format!("| {by} | {crates} | {seconds:.1} | {purpose} |\n"));
    }
    if all {
        text.push_str("\n| crate | seconds | brought by |\n|---|---:|---|\n");
        let mut crates: Vec<_> = brought.iter().collect();
        crates.sort_by(|one, other| seconds[other.0].total_cmp(&seconds[one.0]));
        for (one, by) in crates {
            let by: Vec<&str> = by.iter().copied().collect();
            text.push_str(&format!("| {} {} | {:.1} | {} |\n", one.0, one.1, seconds[one], by.join(", ")));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_serves_what_the_comment_above_it_says() {
        let manifest = "[package]\n[workspace.dependencies]\nours = 1\n\n# network\n# the runtime\ntokio = 1\nbytes = 1\n# chains\n# of certificates\nwebpki = { package = \"rustls-webpki\" }\n\n[profile.dev]\nopt = 1\n";
        let purposes = purposes(manifest);
        let of = |name: &str| purposes.get(name).map(String::as_str);
        assert_eq!(of("tokio"), Some("the runtime"));
        assert_eq!(of("bytes"), Some("network"));
        assert_eq!(of("rustls-webpki"), Some("chains of certificates"));
        assert_eq!(of("opt"), None);
    }

    #[test]
    fn the_units_are_read_out_of_the_page() {
        let html = "<script>\nconst UNIT_DATA = [\n  {\"name\": \"a\", \"version\": \"1\", \"start\": 0, \"duration\": 2.5}\n];\nconst X = [\n];";
        let units = units(html).unwrap();
        assert_eq!((units[0].name.as_str(), units[0].duration), ("a", 2.5));
        assert!(super::units("<p>no report</p>").is_err());
    }
}
