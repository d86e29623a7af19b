//! The floors of the house: which crate may use which, which crates stay pure, and what keeps a crate easy to read.
//!
//! ```text
//! cargo metadata --workspace--> crates --table--> a crate uses crates on floors below it: never beside, never above
//! sources        --modules----> files, their items and paths
//!                                 --circles--> no files and no folders of a crate use each other in a circle
//!                                 --names----> no two types of a crate share a name, no two enums of the house their variants
//!                                 --doors----> what a crate gives to others says what it is
//!                                 --purity---> pure crates do not wait; only talking crates print or read the environment
//! ARCHITECTURE.md --page-----> what it names is there
//! docs/, README   --links----> each link leads somewhere; each page is listed, short enough, and begins with an example
//! ```
//!
//! Dev-dependencies are free, except that `testkit` is one everywhere but here. Tests are not looked at. See ARCHITECTURE.md.

mod circles;
mod doors;
mod links;
mod modules;
mod names;
mod order;
mod page;
mod purity;
mod sources;
mod table;
#[cfg(test)]
mod tests;
pub(crate) mod workspace;

use std::fs;
use std::io::ErrorKind;

use crate::failure::{ChoreFailure, ChoreResult, Doing};
use modules::ModuleTree;
use names::BareEnums;
use workspace::{CratePackage, Workspace};

/// Prints everything that breaks a rule; a failure if anything does.
pub(crate) fn run() -> ChoreResult {
    let workspace = Workspace::read()?;
    let mut findings = Vec::new();
    let mut enums = BareEnums::default();
    for package in workspace.crates() {
        let tree = read(package)?;
        findings.extend(order::findings(package));
        findings.extend(purity::findings(&workspace, package, &tree));
        findings.extend(circles::findings(package.role(), &tree));
        findings.extend(doors::findings(package.role(), &tree));
        findings.extend(names::findings(package.role(), &tree));
        enums.add(package.role(), &tree);
    }
    findings.extend(page::findings()?);
    findings.extend(links::findings()?);
    findings.extend(enums.findings(table::OTHER_MEANING));
    for finding in &findings {
        println!("{finding}");
    }
    let crates = workspace.crates().count();
    if findings.is_empty() {
        println!(
            "floors: {crates} crates use only crates below them; pure crates are pure; no circles; names and meanings are unique"
        );
        return Ok(());
    }
    Err(ChoreFailure::new(format!("{} findings in {crates} crates (ARCHITECTURE.md, floors)", findings.len())))
}

fn read(package: &CratePackage) -> ChoreResult<ModuleTree> {
    let sources = package.sources();
    let read = |file: &std::path::Path| match fs::read_to_string(sources.join(file)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).doing(|| format!("reading {}", sources.join(file).display())),
    };
    ModuleTree::read(&read).doing(|| package.role().to_owned())
}
