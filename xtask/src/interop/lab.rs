//! Where the sub-stages work: temp folders, the program, and other programs with an environment of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

use crate::failure::{ChoreFailure, ChoreResult};
use crate::process::{ProgramRun, find};
use crate::registry::Guard;
use crate::{paths, program};

/// The policy without which container tools refuse to copy images.
const POLICY: &str = r#"{"default": [{"type": "insecureAcceptAnything"}]}"#;

/// The lab of one run; dropping it removes everything in it.
pub(super) struct Lab {
    folder: TempDir,
    program: PathBuf,
    folders: AtomicU32,
    rounds: u32,
    every: usize,
}

/// The three forms in which a release can be published.
pub(super) const LAYOUTS: &[&str] = &["artifact", "image", "both"];

impl Lab {
    /// Builds the program and makes the home folder of everything that runs here. `rounds` is for `parallel`; each
    /// `every`th cell of `faults` runs.
    pub(super) fn new(rounds: u32, every: usize) -> ChoreResult<Self> {
        let program = program::build()?;
        let folder = tempfile::tempdir()?;
        paths::write(&folder.path().join("home/.config/containers/policy.json"), POLICY)?;
        Ok(Self { folder, program, folders: AtomicU32::new(0), rounds, every })
    }

    /// Each how many of the cells of `faults` runs; 1 for all of them.
    pub(super) fn every(&self) -> usize {
        self.every
    }

    /// The path of the program.
    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// The home folder of the programs that run here.
    pub(super) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// How many rounds of parallel runs are played.
    pub(super) fn rounds(&self) -> u32 {
        self.rounds
    }

    /// A new empty folder.
    pub(super) fn new_folder(&self, name: &str) -> ChoreResult<PathBuf> {
        let number = self.folders.fetch_add(1, Ordering::Relaxed) + 1;
        let folder = self.folder.path().join(format!("{number:02}-{name}"));
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// The program with the settings to reach `registry`; its subcommand comes first in `arguments`.
    pub(super) fn tofu_oci(&self, registry: &Guard, arguments: &[&str]) -> ProgramRun {
        let run = ProgramRun::isolated(&self.program, &self.home()).args(arguments);
        let run = match registry.ca_file() {
            Some(file) => run.arg("--ca-file").arg(file),
            None => run,
        };
        match registry.docker_config() {
            Some(folder) => run.variable("DOCKER_CONFIG", folder),
            None => run,
        }
    }

    /// The program without any registry's particulars: no CA, no credentials.
    pub(super) fn stranger(&self, arguments: &[&str]) -> ProgramRun {
        ProgramRun::isolated(&self.program, &self.home()).args(arguments)
    }

    /// Another program from the `PATH`.
    pub(super) fn tool(&self, name: &str) -> ChoreResult<ProgramRun> {
        let path = find(name).ok_or_else(|| ChoreFailure::new(format!("{name} is not on the PATH")))?;
        Ok(self.program_at(&path))
    }

    /// Another program that lies here.
    pub(super) fn program_at(&self, path: &Path) -> ProgramRun {
        ProgramRun::isolated(path, &self.home())
    }
}

/// A path as an argument.
pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Prints one line about what just worked.
pub(super) fn seen(what: &str) {
    println!("   ok  {what}");
}
