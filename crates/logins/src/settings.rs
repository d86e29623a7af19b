//! What the CLI configuration says about the credentials of registries.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tofu_oci_credentials::{Block, BlockStyle, DefaultHelper, FilePlace, HelperName};
use tofu_oci_mapper::config::{BlockAttribute, CliConfigProblem, CliConfigReading, ConfigSetting, RawBlock};
use tofu_oci_types::{Event, Secret, TextPosition};

use crate::path_names::PathNames;
use crate::refusal::CredentialRefusal;

/// The blocks that count, and what is wrong with the others.
pub(crate) struct CredentialSettings {
    pub(crate) blocks: Vec<Block>,
    pub(crate) default: Option<DefaultHelper>,
    pub(crate) search: SearchSetting,
    /// Why no verb that needs credentials begins.
    pub(crate) refusal: Option<CredentialRefusal>,
    /// What is wrong, and does not stop verbs that need only credentials.
    pub(crate) warnings: Vec<Event>,
}

/// Where credential files are looked for.
pub(crate) enum SearchSetting {
    /// In the usual places.
    Ambient,
    /// Only here, as the CLI configuration says.
    Listed { files: Vec<ListedFile>, place: FilePlace },
    /// Nowhere, as this says.
    Off { place: FilePlace },
}

/// One of `docker_style_config_files`.
pub(crate) struct ListedFile {
    pub(crate) written: String,
    pub(crate) path: PathBuf,
}

/// What the CLI configuration says.
pub(crate) fn read(reading: &Arc<CliConfigReading>, names: &PathNames) -> CredentialSettings {
    let reader = BlockReader { reading, names };
    let config = &reading.config;
    let defaults = config.oci_default_credentials.as_ref();
    CredentialSettings {
        blocks: config.oci_credentials.iter().filter_map(|block| reader.block(block)).collect(),
        default: defaults.and_then(|block| reader.default_helper(block)),
        search: defaults.map_or(SearchSetting::Ambient, |block| reader.search(block)),
        refusal: reader.refusal(),
        warnings: reading.warnings().map(warning).collect(),
    }
}

fn warning(problem: &CliConfigProblem) -> Event {
    let event = Event::warning("cli-configuration", problem.message.clone());
    problem.instead.iter().fold(event, |event, instead| event.with_hint(instead.clone()))
}

/// The codes that a misspelt argument causes too.
const INCOMPLETE: [&str; 3] = ["block-basic-needs-both", "block-oauth-needs-both", "block-no-style"];

struct BlockReader<'a> {
    reading: &'a Arc<CliConfigReading>,
    names: &'a PathNames,
}

impl BlockReader<'_> {
    fn block(&self, block: &RawBlock) -> Option<Block> {
        let style = style(block)?;
        Some(Block { label: block.label.clone()?, place: self.place(block.file, block.span.start), style })
    }

    fn default_helper(&self, block: &RawBlock) -> Option<DefaultHelper> {
        let (helper, attribute) = helper(block)?;
        Some(DefaultHelper { helper, place: self.place(block.file, attribute.span.start) })
    }

    fn search(&self, block: &RawBlock) -> SearchSetting {
        let discover = block.attribute("discover_ambient_credentials");
        if let Some(attribute) = discover.filter(|attribute| attribute.value == ConfigSetting::Bool(false)) {
            return SearchSetting::Off { place: self.place(block.file, attribute.span.start) };
        }
        let Some(attribute) = block.attribute("docker_style_config_files") else { return SearchSetting::Ambient };
        let ConfigSetting::List(files) = &attribute.value else { return SearchSetting::Ambient };
        let file = self.reading.files.get(block.file);
        let folder = file.and_then(|file| file.path.parent()).unwrap_or(Path::new(""));
        let listed = |written: &str| ListedFile { written: written.to_owned(), path: folder.join(written) };
        let files = files.iter().filter_map(ConfigSetting::as_text).map(listed).collect();
        SearchSetting::Listed { files, place: self.place(block.file, attribute.span.start) }
    }

    fn refusal(&self) -> Option<CredentialRefusal> {
        let problems: Vec<&CliConfigProblem> = self.reading.credential_errors().collect();
        let first = *problems.first()?;
        // A misspelt argument is also a missing one, and the missing one is reported first.
        let is_cause = |problem: &&&CliConfigProblem| problem.code == "misspelt-name" && problem.file == first.file;
        let cause = problems.iter().find(is_cause).filter(|_| INCOMPLETE.contains(&first.code.as_str()));
        let problem = (*cause.unwrap_or(&first)).clone();
        Some(CredentialRefusal::Configuration { reading: Arc::clone(self.reading), problem, more: problems.len() - 1 })
    }

    fn place(&self, file: usize, offset: usize) -> FilePlace {
        let Some(file) = self.reading.files.get(file) else { return FilePlace { file: String::new(), line: None } };
        let line = TextPosition::of(&file.text, offset).line;
        FilePlace { file: self.names.name(&file.path), line: Some(line) }
    }
}

/// The kind of credentials that a block holds. As in `OpenTofu`, the arguments that are set decide.
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

/// The helper that a block names; `None` if that is not a name, which the reading reports.
fn helper(block: &RawBlock) -> Option<(HelperName, &BlockAttribute)> {
    let attribute = block.attribute("docker_credentials_helper")?;
    Some((HelperName::parse(attribute.value.as_text()?).ok()?, attribute))
}
