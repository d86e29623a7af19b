//! Several programs that change the lock file of one directory.

use std::path::Path;

use super::super::lab::text;
use super::scene::{ADDRESS, AT_ONCE, PLATFORM, ParallelScene, Tally, at_once};
use crate::failure::ChoreResult;
use crate::paths;
use crate::process::ProgramRun;

const LOCK_FILE: &str = ".terraform.lock.hcl";

pub(super) fn installs(scene: &ParallelScene<'_>, nth: u32) -> ChoreResult<Tally> {
    let directory = scene.directory(nth)?;
    let runs = (0..AT_ONCE).map(|provider| scene.install(&directory, provider)).collect::<Vec<_>>();
    let runs = at_once(&runs)?;
    Ok(Tally::of(&runs, AT_ONCE, entries(&directory)?))
}

pub(super) fn locks(scene: &ParallelScene<'_>, nth: u32) -> ChoreResult<Tally> {
    let directory = scene.directory(nth)?;
    let runs = (0..AT_ONCE).map(|provider| scene.lock(&directory, provider)).collect::<Vec<_>>();
    let runs = at_once(&runs)?;
    Ok(Tally::of(&runs, AT_ONCE, entries(&directory)?))
}

/// Once all install, once all lock, once half of them.
pub(super) fn of_one(scene: &ParallelScene<'_>, nth: u32) -> ChoreResult<Tally> {
    let mut tally = Tally::default();
    for installing in [AT_ONCE, 0, AT_ONCE / 2] {
        let directory = scene.directory(nth)?;
        let run = |number| if number < installing { scene.install(&directory, 0) } else { scene.lock(&directory, 0) };
        let runs = at_once(&(0..AT_ONCE).map(run).collect::<Vec<_>>())?;
        tally.add(Tally::of(&runs, 1, entries(&directory)?));
    }
    Ok(tally)
}

impl ParallelScene<'_> {
    /// A directory that requires all providers; they are published before the first.
    fn directory(&self, nth: u32) -> ChoreResult<std::path::PathBuf> {
        if nth == 0 {
            for provider in 0..AT_ONCE {
                let name = format!("p{provider}");
                self.push(&name, "1.0.0", &self.repository(&format!("directory/{name}")))?.success()?;
            }
        }
        let directory = self.lab.new_folder("directory")?;
        let required =
            (0..AT_ONCE).map(|provider| format!("    p{provider} = {{ source = \"{}\" }}\n", address(provider)));
        let required: String = required.collect();
        paths::write(
            &directory.join("main.tf"),
            format!("terraform {{\n  required_providers {{\n{required}  }}\n}}\n"),
        )?;
        Ok(directory)
    }

    fn install(&self, directory: &Path, provider: usize) -> ProgramRun {
        self.in_directory("install", directory, provider)
    }

    fn lock(&self, directory: &Path, provider: usize) -> ProgramRun {
        self.in_directory("lock", directory, provider)
    }

    fn in_directory(&self, verb: &str, directory: &Path, provider: usize) -> ProgramRun {
        let from = self.repository("directory/${type}");
        let directory = text(directory);
        self.run(&[verb, &address(provider), "--from", &from, "--chdir", &directory, "--platform", PLATFORM])
    }
}

fn address(provider: usize) -> String {
    ADDRESS.replace("widget", &format!("p{provider}"))
}

/// How many providers the lock file names.
fn entries(directory: &Path) -> ChoreResult<usize> {
    let text = match std::fs::read_to_string(directory.join(LOCK_FILE)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        other => other?,
    };
    Ok(text.lines().filter(|line| line.starts_with("provider ")).count())
}
