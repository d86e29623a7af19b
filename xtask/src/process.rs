//! Running other programs: with a fixed environment, and with everything that a failed one printed.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::failure::{ChoreFailure, ChoreResult, Doing};

/// The variables of the caller that a program of the interop stage may see. Everything else (proxies, CA bundles,
/// CLI configuration files) is set by the stage itself or absent.
const KEPT: &[&str] = &["PATH", "TMPDIR"];

/// One run of a program.
#[derive(Debug, Clone)]
pub(crate) struct ProgramRun {
    program: PathBuf,
    arguments: Vec<OsString>,
    directory: Option<PathBuf>,
    variables: BTreeMap<OsString, OsString>,
    input: Option<Vec<u8>>,
}

/// What a run printed and how it ended.
#[derive(Debug)]
pub(crate) struct Printed {
    /// The command line, for messages.
    pub(crate) command: String,
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
    /// The exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
}

impl Printed {
    /// Both streams, output first.
    pub(crate) fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// A failure that shows the command, how it ended and what it printed.
    pub(crate) fn failure(&self, why: &str) -> ChoreFailure {
        let code = self.code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
        ChoreFailure::new(format!("{why} ({code})\n$ {}\n{}", self.command, indented(&self.all())))
    }

    /// This run, if its output (either stream) has `text` in it.
    pub(crate) fn must_show(self, text: &str) -> ChoreResult<Self> {
        if self.all().contains(text) { Ok(self) } else { Err(self.failure(&format!("the output lacks `{text}`"))) }
    }
}

impl ProgramRun {
    /// A run of `program` with an environment that holds little more than `PATH` and the given home folder.
    pub(crate) fn isolated(program: impl AsRef<Path>, home: &Path) -> Self {
        let mut variables: BTreeMap<OsString, OsString> =
            KEPT.iter().filter_map(|name| Some((OsString::from(name), env::var_os(name)?))).collect();
        variables.insert("HOME".into(), home.into());
        variables.insert("XDG_RUNTIME_DIR".into(), home.into());
        variables.insert("LC_ALL".into(), "C.UTF-8".into());
        // Each run fetches its packages.
        variables.insert("TOFU_OCI_CACHE_DIR".into(), "".into());
        Self { program: program.as_ref().to_path_buf(), arguments: Vec::new(), directory: None, variables, input: None }
    }

    /// A run of `program` with the caller's own environment: for the tools of the build.
    pub(crate) fn inheriting(program: impl AsRef<Path>) -> Self {
        let variables = env::vars_os().collect();
        Self { program: program.as_ref().to_path_buf(), arguments: Vec::new(), directory: None, variables, input: None }
    }

    /// Adds arguments.
    pub(crate) fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Adds one argument.
    pub(crate) fn arg(self, argument: impl AsRef<OsStr>) -> Self {
        self.args([argument])
    }

    /// Sets the working directory.
    pub(crate) fn directory(mut self, directory: &Path) -> Self {
        self.directory = Some(directory.to_path_buf());
        self
    }

    /// Sets a variable.
    pub(crate) fn variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.variables.insert(name.into(), value.as_ref().to_owned());
        self
    }

    /// Sets what the program reads on its standard input; without this it is empty.
    pub(crate) fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// The command line as one would type it.
    pub(crate) fn line(&self) -> String {
        let name = self.program.file_name().unwrap_or(self.program.as_os_str()).to_string_lossy();
        let words = self.arguments.iter().map(|argument| quoted(&argument.to_string_lossy()));
        std::iter::once(name.into_owned()).chain(words).collect::<Vec<_>>().join(" ")
    }

    /// Runs to the end and gives back what was printed, whatever the exit code.
    pub(crate) fn output(&self) -> ChoreResult<Printed> {
        Ok(self.printed(self.finished()?))
    }

    /// Runs to the end; anything but exit code 0 is a failure.
    pub(crate) fn success(&self) -> ChoreResult<Printed> {
        let printed = self.output()?;
        if printed.code == Some(0) { Ok(printed) } else { Err(printed.failure("a command failed")) }
    }

    /// Runs to the end and gives the very bytes of standard output; anything but exit code 0 is a failure.
    pub(crate) fn bytes(&self) -> ChoreResult<Vec<u8>> {
        let output = self.finished()?;
        if output.status.success() { Ok(output.stdout) } else { Err(self.printed(output).failure("a command failed")) }
    }

    /// Runs to the end; exit code 0 is a failure.
    pub(crate) fn refused(&self) -> ChoreResult<Printed> {
        let printed = self.output()?;
        if printed.code == Some(0) { Err(printed.failure("a command should have refused")) } else { Ok(printed) }
    }

    /// Runs to the end; any other exit code than this one is a failure.
    pub(crate) fn refused_with(&self, code: i32) -> ChoreResult<Printed> {
        let printed = self.output()?;
        if printed.code == Some(code) {
            Ok(printed)
        } else {
            Err(printed.failure(&format!("a command should have refused with exit code {code}")))
        }
    }

    /// Runs to the end with both streams going to the caller's; true for exit code 0.
    pub(crate) fn shown(&self) -> ChoreResult<bool> {
        let status = self.command().status().doing(|| format!("starting {}", self.program.display()))?;
        Ok(status.success())
    }

    /// Starts it and does not wait; both streams go to `log`.
    pub(crate) fn start(&self, log: &Path) -> ChoreResult<Child> {
        let file = std::fs::File::create(log)?;
        self.command()
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()
            .doing(|| format!("starting {}", self.program.display()))
    }

    /// Runs to the end; what was printed, and the largest resident set in bytes.
    pub(crate) fn measured(&self) -> ChoreResult<(Printed, u64)> {
        let child = self.spawned()?;
        let status = format!("/proc/{}/status", child.id());
        let ended = AtomicBool::new(false);
        let (output, peak) = std::thread::scope(|scope| {
            let watch = scope.spawn(|| {
                let mut peak = 0;
                // VmHWM is gone with the process: the last reading before the end counts.
                while !ended.load(Ordering::SeqCst) {
                    peak = high_water(&status).max(peak);
                    std::thread::sleep(Duration::from_millis(5));
                }
                peak
            });
            let output = child.wait_with_output();
            ended.store(true, Ordering::SeqCst);
            (output, watch.join().unwrap_or(0))
        });
        if peak == 0 {
            return Err(ChoreFailure::new(format!("the peak memory of {} cannot be read here", self.line())));
        }
        Ok((self.printed(output?), peak))
    }

    fn finished(&self) -> ChoreResult<Output> {
        Ok(self.spawned()?.wait_with_output()?)
    }

    /// The running program; its input has been written (it is short enough for the pipe) and closed.
    fn spawned(&self) -> ChoreResult<Child> {
        let stdin = if self.input.is_some() { Stdio::piped() } else { Stdio::null() };
        let mut child = self
            .command()
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .doing(|| format!("starting {}", self.program.display()))?;
        if let (Some(mut pipe), Some(input)) = (child.stdin.take(), &self.input) {
            // Who does not read its input is judged by what it prints.
            let _ = pipe.write_all(input);
        }
        Ok(child)
    }

    fn printed(&self, Output { status, stdout, stderr }: Output) -> Printed {
        Printed {
            command: self.line(),
            stdout: String::from_utf8_lossy(&stdout).into_owned(),
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
            code: status.code(),
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).env_clear().envs(&self.variables);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command
    }
}

/// The largest resident set so far, in bytes, by a process's `/proc/PID/status`; 0 if that cannot be read.
pub(crate) fn high_water(status: &str) -> u64 {
    status_bytes(status, "VmHWM:")
}

/// The bytes that a line of a process's `/proc/PID/status` names; 0 if that cannot be read.
pub(crate) fn status_bytes(status: &str, line: &str) -> u64 {
    let Ok(text) = std::fs::read_to_string(status) else { return 0 };
    let found = text.lines().find_map(|here| here.strip_prefix(line));
    let kilobytes = found.and_then(|found| found.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// The path of a program on the `PATH` (or in Go's own `bin` folder), or `None`.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let own = env::var_os("HOME").map(|home| [".cargo/bin", "go/bin"].map(|folder| PathBuf::from(&home).join(folder)));
    env::split_paths(&path)
        .chain(own.into_iter().flatten())
        .map(|folder| folder.join(name))
        .find(|candidate| candidate.is_file())
}

/// True in CI, where what is missing is a failure and not a skip.
pub(crate) fn in_ci() -> bool {
    env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false" && value != "0")
}

/// Text moved in by four columns.
pub(crate) fn indented(text: &str) -> String {
    text.lines().fold(String::new(), |moved, line| moved + "    " + line + "\n")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &[&str], want: &str) {
        let line = ProgramRun::isolated("/usr/bin/tofu-oci", Path::new("/")).args(arguments).line();
        assert_eq!(line, want);
    }

    #[test]
    fn a_line_can_be_typed_again() {
        check(&["push", "dist", "oci:packages"], "tofu-oci push dist oci:packages");
        check(&["install", "example.com/a/b@~> 1.0"], "tofu-oci install 'example.com/a/b@~> 1.0'");
        check(&["", "it's"], r"tofu-oci '' 'it'\''s'");
    }
}
