//! The CLI configuration: its files, its blocks, and what is wrong with them.

use std::path::Path;
use std::sync::Arc;

use tofu_oci_credentials::opentofu::{ConfigFault, FaultEffect};
use tofu_oci_credentials::{CredentialLookup, FilePlace};
use tofu_oci_logins::PathNames;
use tofu_oci_mapper::config::{
    CliConfigProblem, CliConfigReading, ConfigFileState, ConfigSetting, Effect, Environment, MainFileOrigin,
};
use tofu_oci_types::TextPosition;

use super::sources::sources;
use crate::access::model::{ExplainedFile, FileCondition, FileProblem};

/// The CLI configuration as far as credentials of registries are concerned.
pub struct CredentialConfiguration {
    reading: Arc<CliConfigReading>,
    names: PathNames,
}

impl CredentialConfiguration {
    /// What has been read.
    pub fn new(environment: &Environment, reading: &Arc<CliConfigReading>) -> Self {
        Self { reading: Arc::clone(reading), names: PathNames::new(environment) }
    }

    /// What is wrong, as the prediction takes it.
    pub fn faults(&self) -> Vec<ConfigFault> {
        self.reading.credential_errors().filter_map(|wrong| self.fault(wrong)).collect()
    }

    /// The files that were looked at, the main one first even if it is missing.
    pub fn files(&self, lookup: &CredentialLookup) -> Vec<ExplainedFile> {
        let main = self.reading.located.main.iter();
        let position = |path: &Path| self.reading.files.iter().position(|file| file.path == path);
        let mut files: Vec<ExplainedFile> = main
            .filter(|main| !main.exists)
            .filter(|main| {
                position(&main.path).is_none_or(|nth| self.reading.files[nth].state == ConfigFileState::Missing)
            })
            .map(|main| ExplainedFile {
                name: self.names.name(&main.path),
                named_by: match main.origin {
                    MainFileOrigin::Option(name) => Some(name.to_owned()),
                    MainFileOrigin::Variable(name) => Some(format!("${name}")),
                    _ => None,
                },
                known_to_opentofu: true,
                state: FileCondition::Missing,
                problems: position(&main.path).map(|nth| self.problems(nth)).unwrap_or_default(),
                sources: Vec::new(),
            })
            .collect();
        files.extend(
            self.reading.files.iter().enumerate().filter(|(_, file)| file.state != ConfigFileState::Missing).map(
                |(nth, file)| {
                    let name = self.names.name(&file.path);
                    ExplainedFile {
                        sources: sources(&name, lookup),
                        name,
                        named_by: None,
                        known_to_opentofu: true,
                        state: match file.state {
                            ConfigFileState::Read | ConfigFileState::Missing => FileCondition::Read,
                            ConfigFileState::Dropped => FileCondition::Malformed,
                            ConfigFileState::Unreadable => FileCondition::Unreadable,
                        },
                        problems: self.problems(nth),
                    }
                },
            ),
        );
        files
    }

    fn problems(&self, file: usize) -> Vec<FileProblem> {
        // A missing file that a variable names does not stop verbs that need only credentials, and is reported here.
        let missing = self.reading.warnings().filter(|wrong| self.reading.errors().any(|error| error == *wrong));
        let all = self.reading.credential_errors().chain(missing);
        let here = all.filter(|wrong| wrong.file == Some(file));
        here.map(|wrong| FileProblem {
            line: self.place(wrong).and_then(|place| place.line),
            text: match &wrong.instead {
                Some(instead) => format!("{} ({}): {instead}", wrong.message, wrong.code),
                None => format!("{} ({})", wrong.message, wrong.code),
            },
            opentofu: self.does(wrong).map(str::to_owned),
        })
        .collect()
    }

    /// What `OpenTofu` does about it.
    fn does(&self, wrong: &CliConfigProblem) -> Option<&'static str> {
        Some(match wrong.code.as_str() {
            "cli-config-missing" => "prints a warning, and goes on without the file",
            "cli-config-unreadable" => "prints an error, and goes on without the file",
            _ if wrong.effect == Effect::FileDropped => does(&FaultEffect::ConfigDropped),
            _ => does(&self.fault(wrong)?.effect),
        })
    }

    /// Whether it is the main file that is wrong.
    fn of_main(&self, wrong: &CliConfigProblem) -> bool {
        let path = wrong.file.and_then(|file| self.reading.files.get(file)).map(|file| &file.path);
        self.reading.located.main.as_ref().is_some_and(|main| Some(&main.path) == path)
    }

    /// `None` if `OpenTofu` goes on with the rest, as the policy does: without a file that cannot be opened, or without
    /// one of those beside the main file.
    fn fault(&self, wrong: &CliConfigProblem) -> Option<ConfigFault> {
        let opened = !matches!(wrong.code.as_str(), "cli-config-missing" | "cli-config-unreadable");
        if wrong.effect == Effect::FileDropped && !(opened && self.of_main(wrong)) {
            return None;
        }
        let effect = match (wrong.effect, wrong.code.as_str()) {
            (Effect::Crash, _) => FaultEffect::Crash,
            (Effect::FileDropped, _) => FaultEffect::ConfigDropped,
            (Effect::FirstUsed, _) => FaultEffect::FirstKept,
            (Effect::SilentlyIgnored, _) => FaultEffect::PassedOver,
            (_, "block-files-without-discovery") => FaultEffect::DiscoveryOff,
            (Effect::KeptAnyway, "invalid-helper-name") => self.kept(wrong)?,
            _ if self.of_default_block(wrong) => FaultEffect::DefaultsInstead,
            _ => FaultEffect::BlockDropped,
        };
        Some(ConfigFault { code: wrong.code.clone(), place: self.place(wrong)?, effect })
    }

    /// An invalid helper name, which `OpenTofu` runs.
    fn kept(&self, wrong: &CliConfigProblem) -> Option<FaultEffect> {
        let (file, start) = (wrong.file?, wrong.span.as_ref()?.start);
        let config = &self.reading.config;
        let mut blocks = config.oci_default_credentials.iter().chain(&config.oci_credentials);
        let block = blocks.find(|block| block.file == file && block.span.contains(&start))?;
        let name = match &block.attribute("docker_credentials_helper")?.value {
            ConfigSetting::Text(name) => name.clone(),
            _ => return None,
        };
        Some(match &block.label {
            Some(label) => FaultEffect::BlockHelperKept { label: label.clone(), name },
            None => FaultEffect::DefaultHelperKept { name },
        })
    }

    /// Whether the problem is in the default block.
    fn of_default_block(&self, wrong: &CliConfigProblem) -> bool {
        let Some((file, span)) = wrong.file.zip(wrong.span.as_ref()) else { return false };
        let before = self.reading.files.get(file).and_then(|file| file.text.get(..span.end)).unwrap_or_default();
        before.rfind("oci_default_credentials") > before.rfind("oci_credentials")
    }

    fn place(&self, wrong: &CliConfigProblem) -> Option<FilePlace> {
        let file = self.reading.files.get(wrong.file?)?;
        let line = wrong.span.as_ref().map(|span| TextPosition::of(&file.text, span.start).line);
        Some(FilePlace { file: self.names.name(&file.path), line })
    }
}

/// What `OpenTofu` does after a mistake.
fn does(effect: &FaultEffect) -> &'static str {
    match effect {
        FaultEffect::FirstKept => "prints an error, and goes on with the first such block",
        FaultEffect::DefaultsInstead => "prints an error, and goes on without the block: every file is searched",
        FaultEffect::DiscoveryOff => "prints an error, and searches no file",
        FaultEffect::DefaultHelperKept { .. } => "prints an error, and uses the name all the same",
        FaultEffect::BlockHelperKept { .. } => "uses the name without a word",
        FaultEffect::PassedOver => "passes it over without a word",
        FaultEffect::Crash => "crashes at the first access to a registry",
        FaultEffect::ConfigDropped => "prints an error, and goes on without the whole file, mirrors too",
        _ => "prints an error, and goes on without the block",
    }
}
