//! A reading: the files, their settings and their problems.

use std::ops::Range;
use std::path::Path;

use tofu_oci_hcl::{Duplicates, HclBody, HclValue};

use super::file::{ConfigFile, ConfigFileState, Unknown};
use super::merge::MergedConfig;
use super::reader::{ReadingNotes, SourceText};
use super::settings::FileSettings;
use super::{
    CliConfig, CliConfigProblem, ConfigFiles, Effect, Environment, Located, MainFile, MainFileOrigin, Severity, Topic,
};
use super::{advice, installation, locate, names, oci, secrets, settings};
use tofu_oci_types::TofuRelease;

/// The user's files as a release of `OpenTofu` reads them.
#[derive(Clone, Debug)]
pub struct CliConfigReading {
    pub release: TofuRelease,
    pub located: Located,
    /// The files that count, in the order of reading.
    pub files: Vec<ConfigFile>,
    /// The settings that `OpenTofu` goes on with.
    pub config: CliConfig,
    /// The problems, in the order in which they are reported.
    pub problems: Vec<CliConfigProblem>,
    /// Unknown names, which `OpenTofu` ignores silently.
    pub unknown: Vec<Unknown>,
}

impl CliConfigReading {
    /// What this program refuses: errors, and unreadable files that exist or that a variable names.
    pub fn errors(&self) -> impl Iterator<Item = &CliConfigProblem> {
        self.problems.iter().filter(|problem| match problem.severity {
            Severity::Error => true,
            Severity::Warning => problem.code == "cli-config-missing" && !self.is_out_of_reach(problem),
        })
    }

    /// What a caller warns of who needs the credentials of registries alone: a main file that is not there. It holds
    /// no blocks. If a variable names it, it is one of [`CliConfigReading::errors`] too, for callers who need places.
    pub fn warnings(&self) -> impl Iterator<Item = &CliConfigProblem> {
        let missing = |problem: &&CliConfigProblem| self.state_of(problem) == Some(ConfigFileState::Missing);
        self.problems.iter().filter(|problem| problem.severity == Severity::Warning).filter(missing)
    }

    /// Whether this is about a file that is missing at its usual place, such as in the home folder `/dev/null`.
    fn is_out_of_reach(&self, problem: &CliConfigProblem) -> bool {
        let named = self.located.main.as_ref().is_some_and(|main| main.origin.named_by().is_some());
        self.state_of(problem) == Some(ConfigFileState::Missing) && !named
    }

    fn state_of(&self, problem: &CliConfigProblem) -> Option<ConfigFileState> {
        problem.file.and_then(|file| self.files.get(file)).map(|file| file.state)
    }

    /// Those of [`CliConfigReading::errors`] that concern the credentials of registries: what is wrong with their blocks, and
    /// files that are there and that is unknown, for they may hold such blocks.
    pub fn credential_errors(&self) -> impl Iterator<Item = &CliConfigProblem> {
        let unknown = |problem: &CliConfigProblem| {
            matches!(self.state_of(problem), Some(ConfigFileState::Dropped | ConfigFileState::Unreadable))
        };
        self.errors().filter(move |problem| problem.topic == Topic::RegistryCredentials || unknown(problem))
    }

    /// The configuration, if it has no errors.
    ///
    /// # Errors
    /// The first of [`CliConfigReading::errors`].
    pub fn refuse(&self) -> Result<&CliConfig, &CliConfigProblem> {
        match self.errors().next() {
            Some(problem) => Err(problem),
            None => Ok(&self.config),
        }
    }
}

/// Reads the CLI configuration as `release` does: the main file, then the configuration directory, then variables.
pub fn read(environment: &Environment, files: &dyn ConfigFiles, release: TofuRelease) -> CliConfigReading {
    let located = locate(environment, files);
    let mut reader = ConfigReader {
        environment,
        files,
        findings: ReadingNotes { release, problems: Vec::new(), unknown: Vec::new() },
        read: Vec::new(),
        merged: MergedConfig::default(),
    };
    if let Some(main) = &located.main {
        reader.main(main);
    }
    for path in &located.directory {
        reader.listed(path);
    }
    let ConfigReader { mut findings, read: files_read, merged, .. } = reader;
    let config = merged.finish(environment, files, &files_read, &mut findings);
    let ReadingNotes { mut problems, unknown, .. } = findings;
    for problem in &mut problems {
        secrets::mask(problem, &files_read);
    }
    CliConfigReading { release, located, files: files_read, config, problems, unknown }
}

struct ConfigReader<'a> {
    environment: &'a Environment,
    files: &'a dyn ConfigFiles,
    findings: ReadingNotes,
    read: Vec<ConfigFile>,
    merged: MergedConfig,
}

impl ConfigReader<'_> {
    fn main(&mut self, main: &MainFile) {
        // A folder can be opened, and fails only when it is read.
        if self.files.is_dir(&main.path) {
            return self.unreadable(&main.path, "it is a folder");
        }
        let error = match self.files.read(&main.path) {
            Ok(bytes) => return self.file(&main.path, &bytes),
            Err(error) => error,
        };
        let missing = error.kind() == std::io::ErrorKind::NotFound;
        let nowhere = error.kind() == std::io::ErrorKind::NotADirectory;
        let named = main.origin.named_by();
        if missing && named.is_none() {
            return;
        }
        let path = main.path.display();
        let (message, instead) = match (named, missing || nowhere) {
            (Some(name), true) => (
                format!("{name} names {path}, which is not there"),
                match main.origin {
                    MainFileOrigin::Option(_) => {
                        format!("name a file that is there, or omit {name} to read the usual files")
                    }
                    _ => format!("name a file that is there, or unset {name} to have the usual files read"),
                },
            ),
            (None, _) if nowhere => (
                format!("{path} cannot be opened: a part of its path is not a folder"),
                "set HOME to a folder, or name a file with TF_CLI_CONFIG_FILE".to_owned(),
            ),
            (_, _) => (format!("{path} cannot be opened: {error}"), "make the file readable".to_owned()),
        };
        let state = if missing || nowhere { ConfigFileState::Missing } else { ConfigFileState::Unreadable };
        let file = Some(self.add(&main.path, String::new(), state));
        let problem =
            CliConfigProblem::load("cli-config-missing", message).instead(instead).effect(Effect::FileDropped);
        self.findings.push(CliConfigProblem { severity: Severity::Warning, file, ..problem });
    }

    fn listed(&mut self, path: &Path) {
        match self.files.read(path) {
            _ if self.files.is_dir(path) => self.unreadable(path, "it is a folder"),
            Ok(bytes) => self.file(path, &bytes),
            Err(error) => self.unreadable(path, &error.to_string()),
        }
    }

    fn unreadable(&mut self, path: &Path, why: &str) {
        let file = Some(self.add(path, String::new(), ConfigFileState::Unreadable));
        let message = format!("{} cannot be read: {why}", path.display());
        let problem = CliConfigProblem::load("cli-config-unreadable", message).effect(Effect::FileDropped);
        self.findings.push(CliConfigProblem { file, ..problem.instead("name a readable file here") });
    }

    fn add(&mut self, path: &Path, text: String, state: ConfigFileState) -> usize {
        self.read.push(ConfigFile { path: path.to_owned(), text, state });
        self.read.len() - 1
    }

    fn file(&mut self, path: &Path, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let index = self.add(path, text.clone(), ConfigFileState::Dropped);
        let duplicates = match self.findings.release {
            TofuRelease::V1_10 => Duplicates::Allowed,
            TofuRelease::V1_11 | TofuRelease::V1_12 | TofuRelease::V1_13 => Duplicates::Refused,
        };
        let document = match tofu_oci_hcl::parse_bytes(bytes, duplicates) {
            Ok(document) => document,
            Err(error) => {
                let instead = advice::syntax(&error, &text);
                let problem =
                    CliConfigProblem::load("hcl1-parse", error.message).effect(Effect::FileDropped).instead(instead);
                let reported = error.reported.map(|place| place.line);
                let span = in_text(bytes, &text, error.span.start)..in_text(bytes, &text, error.span.end);
                self.findings.push(CliConfigProblem { file: Some(index), span: Some(span), reported, ..problem });
                return;
            }
        };
        let source = SourceText { file: index, path, text: &text, syntax: document.syntax, duplicates };
        if let Some(span) = crash(&document.body) {
            let message = "OpenTofu crashes on this text";
            let problem = source.problem("opentofu-crash", span, None, message).effect(Effect::Crash).ours();
            self.findings.push(problem.instead("write it without the broken escape"));
            return;
        }
        let mut settings = FileSettings::default();
        if let Err(error) = settings::read(self.environment, source, &document, &mut settings) {
            let line = error.reported.and_then(|at| source.line(at));
            self.findings.push(source.mismatch("hcl1-parse", line, &error).effect(Effect::FileDropped));
            names::look_at(source, &document.body, &mut self.findings);
            return self.merged.add(settings, Vec::new(), Vec::new(), Vec::new());
        }
        let findings = &mut self.findings;
        settings::registry_protocols(source, &document, &mut settings, findings);
        let installations = installation::read(self.environment, source, &document, findings);
        let (defaults, repositories) = findings.about(Topic::RegistryCredentials, |findings| {
            (oci::defaults(source, &document, findings), oci::repositories(source, &document, findings))
        });
        settings::tofu_oci(source, &document, &mut settings, findings);
        names::look_at(source, &document.body, findings);
        self.merged.add(settings, installations, defaults, repositories);
        if let Some(file) = self.read.get_mut(index) {
            file.state = ConfigFileState::Read;
        }
    }
}

/// Where a byte of a file stands in the text that is shown of it, in which each run of bytes that is not UTF-8 is one
/// replacement character.
fn in_text(bytes: &[u8], text: &str, offset: usize) -> usize {
    let before = bytes.get(..offset).unwrap_or(bytes);
    text.floor_char_boundary(String::from_utf8_lossy(before).len())
}

/// The first text in a file that HCL 1 reads and that has no value.
fn crash(body: &HclBody) -> Option<Range<usize>> {
    fn in_value(value: &HclValue) -> Option<Range<usize>> {
        match value {
            HclValue::Object(body, _) => crash(body),
            HclValue::List(values, _) => values.iter().find_map(in_value),
            HclValue::String(text) => text.fault.as_ref().map(|fault| fault.span.clone()),
            _ => None,
        }
    }
    body.items.iter().find_map(|item| {
        let key = item.keys.iter().find_map(|key| key.fault.as_ref().map(|fault| fault.span.clone()));
        key.or_else(|| in_value(&item.value))
    })
}
