//! The main job as a session: each command before its output, in a folder that is removed afterwards.

mod recording;

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tofu_oci_testkit::{RealRegistry, ScratchOpenPgpKey};

use crate::failure::{ChoreFailure, ChoreResult};
use crate::process::ProgramRun;
use crate::registry::Guard;
use crate::{paths, program};
use recording::Recording;

/// Arguments of the chore.
#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Draw the session with a directory as a picture that plays, into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// The address that the provider of the story has.
const ADDRESS: &str = "registry.example.test/acme/widget";

/// The configuration of a user of the provider.
const CONFIGURATION: &str = r#"terraform {
  required_providers {
    widget = {
      source  = "registry.example.test/acme/widget"
      version = "~> 1.0"
    }
  }
}
"#;

/// Builds the program and shows its main job: with a directory, then with a registry if one is installed.
pub(crate) fn run(arguments: &DemoArgs) -> ChoreResult {
    let stage = DemoStage::new(arguments.svg.is_some())?;
    println!("# The main job of tofu-oci, first with a plain directory in the place of a registry.");
    println!("# dist/ holds the release files of provider widget 1.0.0, as GoReleaser leaves them.");
    stage.story("oci:packages", "with-directory")?;
    if let (Some(recording), Some(file)) = (&stage.recording, &arguments.svg) {
        paths::write(file, recording.borrow().svg())?;
        println!("\n# The session is drawn in {}.", file.display());
        return Ok(());
    }
    if !RealRegistry::available() {
        println!("\n# The same against a real registry is left out: there is no `docker-registry` on the PATH.");
        println!("# (Debian and Ubuntu: apt-get install docker-registry)");
        return Ok(());
    }
    let guard = Guard::plain()?;
    println!("\n# Now the same against a real registry:2 on {}.", guard.address());
    stage.story(&format!("{}/acme/widget", guard.address()), "with-registry")
}

/// A folder with the release files, and the program to run in it.
struct DemoStage {
    folder: TempDir,
    program: PathBuf,
    /// What was shown so far, if a picture is wanted.
    recording: Option<RefCell<Recording>>,
}

impl DemoStage {
    fn new(recorded: bool) -> ChoreResult<Self> {
        eprintln!("# building tofu-oci …");
        let program = program::build()?;
        let folder = tempfile::tempdir()?;
        let dist = folder.path().join("dist");
        paths::copy_folder(&paths::testdata().join("dist"), &dist)?;
        // The public key lies beside the signature, as its author publishes it.
        let key = ScratchOpenPgpKey::of(1);
        let sums = dist.join("terraform-provider-widget_1.0.0_SHA256SUMS");
        fs::write(dist.join("terraform-provider-widget_1.0.0_SHA256SUMS.sig"), key.sign(&fs::read(sums)?))?;
        fs::write(dist.join("key.asc"), key.armored())?;
        Ok(Self { folder, program, recording: recorded.then(RefCell::default) })
    }

    /// Publish to `place`, list, install into `project`, look at the lock file, install again by it.
    fn story(&self, place: &str, project: &str) -> ChoreResult {
        let say = |text: &str| {
            println!("\n# {text}");
            self.record(|recording| recording.say(text));
        };
        say("Publish the release: one command, every platform.");
        self.tofu_oci(&["push", "dist", place, "--address", ADDRESS])?;
        say("What is there now?");
        self.tofu_oci(&["versions", place])?;

        paths::write(&self.folder.path().join(project).join("main.tf"), CONFIGURATION)?;
        say("Somebody else wants it:");
        self.show(project, "main.tf")?;
        say("Install what the configuration requires, from there, everything verified.");
        self.tofu_oci(&["install", "--chdir", project, "--from", place])?;
        say("The package lies where terraform and tofu run it from:");
        self.list(project)?;
        say("and the lock file says what it must be from now on:");
        self.show(project, ".terraform.lock.hcl")?;

        say("Lock every platform, for colleagues with other machines.");
        self.tofu_oci(&["lock", "--chdir", project, "--from", place])?;

        say("On another machine, with that lock file: the package must match, or nothing is installed.");
        fs::remove_dir_all(self.folder.path().join(project).join(".terraform"))?;
        self.tofu_oci(&["install", "--chdir", project, "--from", place])?;
        say("Once more: there is nothing left to do.");
        self.tofu_oci(&["install", "--chdir", project, "--from", place])
    }

    fn tofu_oci(&self, arguments: &[&str]) -> ChoreResult {
        let run = ProgramRun::isolated(&self.program, self.folder.path()).args(arguments).directory(self.folder.path());
        println!("$ {}", run.line());
        let Some(recording) = &self.recording else {
            return if run.shown()? { Ok(()) } else { Err(ChoreFailure::new(format!("`{}` failed", run.line()))) };
        };
        let printed = run.success()?.stdout;
        print!("{printed}");
        recording.borrow_mut().command(&run.line(), &printed);
        Ok(())
    }

    fn record(&self, what: impl FnOnce(&mut Recording)) {
        if let Some(recording) = &self.recording {
            what(&mut recording.borrow_mut());
        }
    }

    /// A command of the shell whose output is known.
    fn shell(&self, line: &str, printed: &str) {
        println!("$ {line}");
        print!("{printed}");
        self.record(|recording| recording.command(line, printed));
    }

    fn show(&self, project: &str, file: &str) -> ChoreResult {
        let text = fs::read_to_string(self.folder.path().join(project).join(file))?;
        self.shell(&format!("cat {project}/{file}"), &text);
        Ok(())
    }

    fn list(&self, project: &str) -> ChoreResult {
        let providers = Path::new(project).join(".terraform/providers");
        let files = paths::files_below(&self.folder.path().join(&providers))?;
        let files: String = files.iter().map(|file| format!("{}\n", providers.join(file).display())).collect();
        self.shell(&format!("find {} -type f", providers.display()), &files);
        Ok(())
    }
}
