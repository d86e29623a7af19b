//! The sources of credentials, in the order that counts.

use tofu_oci_types::Secret;

use crate::HelperName;
use crate::file::{EntryAuth, FileState, FileWarning, FoundFile, OpenTofuEffect};
use crate::key::shown;
use crate::place::FilePlace;

/// A valid `oci_credentials` block of the CLI configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its label as written: a registry, or a repository prefix.
    pub label: String,
    pub place: FilePlace,
    pub style: BlockStyle,
}

/// What a block holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockStyle {
    /// `username` and `password`; the name is not empty, the password may be.
    Basic {
        /// The name.
        username: String,
        password: Secret,
    },
    /// `access_token` and `refresh_token`. `OpenTofu` sends the former and never uses the latter.
    Token {
        /// The access token; not empty.
        access: Secret,
    },
    /// `docker_credentials_helper`.
    Helper(HelperName),
    /// The argument that decides the style is there and empty: `username` or `access_token`.
    Undecided { argument: &'static str },
}

/// The helper of `oci_default_credentials`, which serves every registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultHelper {
    pub helper: HelperName,
    /// Where it is named.
    pub place: FilePlace,
}

/// Which files are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchScope {
    /// Those that docker, podman and `OpenTofu` know: see [`crate::auth_file_paths`].
    Ambient,
    /// Those of `docker_style_config_files`.
    Listed,
    /// None: `discover_ambient_credentials = false`.
    Off,
}

/// The sources of credentials: blocks, the default helper and files, in the order that counts.
#[derive(Clone, Debug)]
pub struct CredentialPolicy {
    blocks: Vec<Block>,
    default: Option<DefaultHelper>,
    search: SearchScope,
    files: Vec<FoundFile>,
}

impl CredentialPolicy {
    /// Puts the sources together; blocks and files in their order. If the search is off, no file counts.
    pub fn new(blocks: Vec<Block>, default: Option<DefaultHelper>, search: SearchScope, files: Vec<FoundFile>) -> Self {
        let files = if search == SearchScope::Off { Vec::new() } else { files };
        Self { blocks, default, search, files }
    }

    /// No credentials at all.
    pub fn anonymous() -> Self {
        Self::new(Vec::new(), None, SearchScope::Off, Vec::new())
    }

    /// What people should know about the files, whatever repository is asked for.
    ///
    /// A warning says so if `OpenTofu` would read no ambient file at all because of it.
    pub fn warnings(&self) -> Vec<FileWarning> {
        let mut warnings: Vec<FileWarning> = Vec::new();
        for file in &self.files {
            for mut warning in file.warnings() {
                if self.search != SearchScope::Ambient || !file.known_to_opentofu {
                    warning.opentofu = OpenTofuEffect::Nothing;
                } else if warning.opentofu == OpenTofuEffect::AllFilesOff {
                    warning.problem.push_str("; OpenTofu then reads no ambient file at all");
                }
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
        }
        warnings
    }

    /// Problems that only a report about the files shows: they are errors for other repositories.
    pub fn notes(&self) -> Vec<FileWarning> {
        let mut notes: Vec<FileWarning> = Vec::new();
        for file in &self.files {
            let FileState::Read(file) = &file.state else { continue };
            for entry in file.auths.iter().filter(|entry| entry.auth == EntryAuth::WithoutColon) {
                let problem = format!("the `auth` of {} has no colon between username and password", shown(&entry.key));
                notes.push(file.note(entry.line, problem));
            }
            for named in file.helpers.iter().chain(&file.store).filter(|named| named.is_misnamed()) {
                let problem = format!("`{}` cannot be the name of a credential helper", shown(&named.name));
                notes.push(file.note(named.line, problem));
            }
        }
        notes
    }

    /// The files, missing and malformed ones too, the most important first.
    pub fn files(&self) -> &[FoundFile] {
        &self.files
    }

    /// The blocks in their order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The helper of `oci_default_credentials`.
    pub(crate) fn default_helper(&self) -> Option<&DefaultHelper> {
        self.default.as_ref()
    }

    /// Which files are looked at.
    pub fn search(&self) -> SearchScope {
        self.search
    }
}

#[cfg(test)]
mod tests;
