//! What the CLI configuration says about the credentials of registries.

use std::path::{Path, PathBuf};

use tofu_oci_credentials::{Block, BlockStyle, DefaultHelper, HelperName, Place, Secret};
use tofu_oci_mapper::config::{BlockAttribute, CliConfigProblem, CliConfigReading, ConfigSetting, RawBlock};
use tofu_oci_types::Event;

use super::files::Shown;
use crate::diagnostic::Diagnostic;
use crate::lookup::refusal;

/// The blocks that count, and what is wrong with the others.
pub(super) struct Settings {
    pub(super) blocks: Vec<Block>,
    pub(super) default: Option<DefaultHelper>,
    pub(super) search: Plan,
    /// Why this program goes no further.
    pub(super) refusal: Option<Diagnostic>,
    /// What does not stop verbs that need only credentials.
    pub(super) warnings: Vec<Event>,
}

/// Where credential files are looked for.
pub(super) enum Plan {
    /// In the usual places.
    Ambient,
    /// Here alone, as somebody has written it.
    Listed { files: Vec<ListedFile>, place: Place },
    /// Nowhere, as this says.
    Off { place: Place },
}

/// One of `docker_style_config_files`.
pub(super) struct ListedFile {
    pub(super) written: String,
    pub(super) path: PathBuf,
}

/// What the user's files say. `shown` names files for people.
pub(super) fn read(reading: &CliConfigReading, shown: &Shown) -> Settings {
    let reader = Reader { reading, shown };
    let config = &reading.config;
    let defaults = config.oci_default_credentials.as_ref();
    Settings {
        blocks: config.oci_credentials.iter().filter_map(|block| reader.block(block)).collect(),
        default: defaults.and_then(|block| reader.default_helper(block)),
        search: defaults.map_or(Plan::Ambient, |block| reader.search(block)),
        refusal: reader.refusal(),
        warnings: reading.warnings().map(warning).collect(),
    }
}

fn warning(problem: &CliConfigProblem) -> Event {
    let event = Event::warning("cli-configuration", problem.message.clone());
    problem.instead.iter().fold(event, |event, instead| event.with_hint(instead.clone()))
}

/// What a misspelt argument looks like, too.
const INCOMPLETE: [&str; 3] = ["block-basic-needs-both", "block-oauth-needs-both", "block-no-style"];

struct Reader<'a> {
    reading: &'a CliConfigReading,
    shown: &'a Shown,
}

impl Reader<'_> {
    fn block(&self, block: &RawBlock) -> Option<Block> {
        let style = style(block)?;
        Some(Block { label: block.label.clone()?, place: self.place(block.file, block.span.start), style })
    }

    fn default_helper(&self, block: &RawBlock) -> Option<DefaultHelper> {
        let (helper, attribute) = helper(block)?;
        Some(DefaultHelper { helper, place: self.place(block.file, attribute.span.start) })
    }

    fn search(&self, block: &RawBlock) -> Plan {
        let discover = block.attribute("discover_ambient_credentials");
        if let Some(attribute) = discover.filter(|attribute| attribute.value == ConfigSetting::Bool(false)) {
            return Plan::Off { place: self.place(block.file, attribute.span.start) };
        }
        let Some(attribute) = block.attribute("docker_style_config_files") else { return Plan::Ambient };
        let ConfigSetting::List(files) = &attribute.value else { return Plan::Ambient };
        let file = self.reading.files.get(block.file);
        let folder = file.and_then(|file| file.path.parent()).unwrap_or(Path::new(""));
        let listed = |written: &str| ListedFile { written: written.to_owned(), path: folder.join(written) };
        let files = files.iter().filter_map(ConfigSetting::as_text).map(listed).collect();
        Plan::Listed { files, place: self.place(block.file, attribute.span.start) }
    }

    fn refusal(&self) -> Option<Diagnostic> {
        let problems: Vec<&CliConfigProblem> = self.reading.credential_errors().collect();
        let first = *problems.first()?;
        // An argument with a wrong name is also one that is missing, which is told of first.
        let is_cause = |problem: &&&CliConfigProblem| problem.code == "misspelt-name" && problem.file == first.file;
        let cause = problems.iter().find(is_cause).filter(|_| INCOMPLETE.contains(&first.code.as_str()));
        let diagnostic = refusal(self.reading, cause.unwrap_or(&first), problems.len() - 1);
        Some(
            diagnostic
                .hint("OpenTofu goes on, and may show other credentials than were meant, or none")
                .hint("with --anonymous, or with --username and --password-stdin, nothing of this is read"),
        )
    }

    fn place(&self, file: usize, offset: usize) -> Place {
        let Some(file) = self.reading.files.get(file) else { return Place { file: String::new(), line: None } };
        let line = tofu_oci_hcl::position(&file.text, offset).line;
        Place { file: self.shown.path(&file.path), line: Some(line) }
    }
}

/// The one kind of credentials that a block holds, told by what is not empty, as `OpenTofu` tells it.
fn style(block: &RawBlock) -> Option<BlockStyle> {
    let text = |name: &str| block.attribute(name).and_then(|attribute| attribute.value.as_text());
    if let (Some(username), Some(password)) = (text("username"), text("password")) {
        return Some(match username {
            "" => BlockStyle::Undecided { argument: "username" },
            username => BlockStyle::Basic { username: username.to_owned(), password: Secret::new(password) },
        });
    }
    if let Some(access) = text("access_token") {
        return Some(match access {
            "" => BlockStyle::Undecided { argument: "access_token" },
            access => BlockStyle::Token { access: Secret::new(access) },
        });
    }
    helper(block).map(|(helper, _)| BlockStyle::Helper(helper))
}

/// The helper that a block names; nothing where that is no name, which has been told of.
fn helper(block: &RawBlock) -> Option<(HelperName, &BlockAttribute)> {
    let attribute = block.attribute("docker_credentials_helper")?;
    Some((HelperName::parse(attribute.value.as_text()?).ok()?, attribute))
}
