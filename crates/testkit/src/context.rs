//! The place in which tests run the built program: a temp folder, and an environment without the machine's settings.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::filters::Filters;
use crate::registry::Registry;

/// A temp folder with `home/`, `tmp/` and `work/`, and the environment of the commands run in it.
///
/// The environment holds `PATH` of the outside, `HOME`, `TMPDIR`, `TZ=UTC`, `LANG=C.UTF-8`, `NO_COLOR=1`, an empty
/// `TOFU_OCI_CACHE_DIR` (so that each run fetches its packages), and what [`TestContext::env`] adds. `DOCKER_CONFIG`, `XDG_*`, `SSL_CERT_*`, `TF_*` and proxies are left out.
#[derive(Debug)]
pub struct TestContext {
    folder: TempDir,
    environment: Vec<(String, String)>,
    filters: Filters,
}

/// What a command printed, and its exit code.
#[derive(Clone, Debug)]
pub struct RunOutput {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Standard output, unfiltered.
    pub stdout: String,
    /// Standard error, unfiltered.
    pub stderr: String,
    filters: Filters,
}

impl Default for TestContext {
    fn default() -> Self {
        Self::new()
    }
}

impl TestContext {
    /// A new, empty context.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("the system has room for a temp folder");
        for name in ["home", "tmp", "work"] {
            fs::create_dir(folder.path().join(name)).expect("a new temp folder is writable");
        }
        let mut filters = Filters::new();
        // Both spellings, where the system's temp folder is a symlink.
        let real = folder.path().canonicalize().expect("the temp folder is there");
        for root in [folder.path(), &real] {
            filters.literal(&root.to_string_lossy(), "[TEMP]");
            for (name, mark) in [("home", "[HOME]"), ("work", "[WORK]")] {
                filters.literal(&root.join(name).to_string_lossy(), mark);
            }
        }
        Self { folder, environment: Vec::new(), filters }
    }

    /// The folder that commands run in.
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// The home folder of commands.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Adds a variable to the environment of later commands.
    pub fn env(&mut self, name: &str, value: impl Into<String>) -> &mut Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// The replacements used for snapshots.
    pub fn filters(&mut self) -> &mut Filters {
        &mut self.filters
    }

    /// Shows the registry's address as `[NAME]` in snapshots.
    pub fn show_registry(&mut self, registry: &Registry, name: &str) -> &mut Self {
        self.filters.literal(registry.address(), &format!("[{name}]"));
        self
    }

    /// Writes a file below the work folder, with its parents.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        write(&self.work().join(name), bytes.as_ref())
    }

    /// Writes a file below the home folder, with its parents.
    pub fn write_home(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        write(&self.home().join(name), bytes.as_ref())
    }

    /// Reads a text file below the work folder.
    pub fn read(&self, name: &str) -> String {
        let path = self.work().join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("reading {}: {error}", path.display()))
    }

    /// All files below the work folder, sorted, `/`-separated: what a command has left.
    pub fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        list(&self.work(), "", &mut found);
        found.sort();
        found
    }

    /// A command in the work folder with the fixed environment and no input.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.work()).env_clear().stdin(Stdio::null());
        for kept in ["PATH", "SystemRoot"] {
            if let Some(value) = std::env::var_os(kept) {
                command.env(kept, value);
            }
        }
        command.env("HOME", self.home()).env("TMPDIR", self.folder.path().join("tmp"));
        command.env("TZ", "UTC").env("LANG", "C.UTF-8").env("NO_COLOR", "1");
        command.env("TOFU_OCI_CACHE_DIR", "");
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a program with arguments and waits for it.
    pub fn run(&self, program: impl AsRef<OsStr>, arguments: &[&str]) -> RunOutput {
        self.output(self.command(program).args(arguments))
    }

    /// Runs a prepared command and waits for it.
    pub fn output(&self, command: &mut Command) -> RunOutput {
        let output = command.output().unwrap_or_else(|error| panic!("running {command:?}: {error}"));
        RunOutput {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            filters: self.filters.clone(),
        }
    }
}

impl RunOutput {
    /// Exit code, standard output and standard error as one filtered text for an inline snapshot.
    pub fn snapshot(&self) -> String {
        let code = self.code.map_or_else(|| "none (signal)".to_owned(), |code| code.to_string());
        let stdout = self.filters.apply(&self.stdout);
        let stderr = self.filters.apply(&self.stderr);
        format!("exit code: {code}\n----- stdout -----\n{stdout}\n----- stderr -----\n{stderr}")
    }

    /// The same, after checking that the command went well.
    #[track_caller]
    pub fn success(&self) -> &Self {
        assert_eq!(self.code, Some(0), "{}", self.snapshot());
        self
    }
}

fn write(path: &Path, bytes: &[u8]) -> PathBuf {
    let folder = path.parent().expect("a file below a folder has a parent");
    fs::create_dir_all(folder).unwrap_or_else(|error| panic!("creating {}: {error}", folder.display()));
    fs::write(path, bytes).unwrap_or_else(|error| panic!("writing {}: {error}", path.display()));
    path.to_owned()
}

fn list(folder: &Path, prefix: &str, found: &mut Vec<String>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("listing {}: {error}", folder.display()));
    for entry in entries {
        let entry = entry.unwrap_or_else(|error| panic!("listing {}: {error}", folder.display()));
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => list(&entry.path(), &format!("{name}/"), found),
            _ => found.push(name),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::TestContext;

    #[test]
    fn runs_with_a_fixed_environment_and_filters_paths() {
        let mut context = TestContext::new();
        context.env("EXTRA", "1");
        context.write("a/b.txt", "text");
        let script = "pwd; echo $HOME $EXTRA $NO_COLOR ${CARGO_HOME-unset}; echo at 127.0.0.1:4711 >&2; exit 3";
        let output = context.run("sh", &["-c", script]);
        let want = "exit code: 3\n----- stdout -----\n[WORK]\n[HOME] 1 1 unset\n\n\
                    ----- stderr -----\nat 127.0.0.1:[PORT]\n";
        assert_eq!(output.snapshot(), want);
        assert_eq!(context.files(), ["a/b.txt"]);
    }
}
