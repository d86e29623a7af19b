//! What can be wrong with a configuration.

use std::io;
use std::path::{Path, PathBuf};

use crate::model::Declared;

/// Why a configuration cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TfConfigError {
    /// The configuration is not valid, or contradicts itself.
    #[error("{at}: {problem}")]
    Invalid { at: Declared, problem: ConfigProblem },
    /// The folder has no configuration files.
    #[error("there is no configuration in {}", dir.display())]
    NoConfiguration { dir: PathBuf },
    /// A folder cannot have the name of the workspace.
    #[error("`{name}` cannot be the name of a workspace")]
    InvalidWorkspace { name: String },
    /// A file or folder cannot be read.
    #[error("cannot read {}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl TfConfigError {
    /// The same about the link that led to the file.
    pub(crate) fn at_path(self, link: &Path) -> Self {
        let path = link.to_owned();
        match self {
            Self::Invalid { at, problem } => Self::Invalid { at: Declared { path, at: at.at }, problem },
            Self::Io { source, .. } => Self::Io { path, source },
            other => other,
        }
    }

    /// A stable kebab-case name of what went wrong.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid { problem, .. } => problem.code(),
            Self::NoConfiguration { .. } => "no-configuration",
            Self::InvalidWorkspace { .. } => "invalid-workspace",
            Self::Io { .. } => "io",
        }
    }
}

/// What is wrong at one position of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigProblem {
    /// The text does not parse.
    #[error("the file does not parse: {message}")]
    Syntax { message: String },
    /// A source that is not a provider address.
    #[error("{message}")]
    InvalidSource { message: String },
    /// A version that is not a list of constraints.
    #[error("{message}")]
    InvalidConstraints { message: String },
    /// Something that must be a plain string.
    #[error("`{name}` must be a string in quotes")]
    NotAString { name: String },
    /// An entry of `required_providers` of another shape.
    #[error("the entry `{name}` must be an object with `source` and `version`")]
    InvalidEntry { name: String },
    /// A provider that is part of the program.
    #[error("`{name}` is built into the program: it has no version and no other source")]
    BuiltIn { name: String },
    /// Two entries for one local name.
    #[error("`{name}` is required twice in one module; keep one of the two entries")]
    Duplicate { name: String },
    /// Two sources of one call.
    #[error("the module `{module}` has a `source` twice; keep one of the two")]
    SourceTwice { module: String },
    /// A module's folder that does not exist.
    #[error("the module's folder `{path}` is not there")]
    ModuleMissing {
        /// The folder as written, or as it is computed.
        path: String,
    },
    /// A module that calls itself, directly or through others.
    #[error("the module calls itself: {}", chain.join(" calls "))]
    ModuleLoop { chain: Vec<String> },
    /// More calls of modules than the limit.
    #[error("the configuration calls modules more than {limit} times")]
    TooManyModules { limit: usize },
    /// Modules that are nested deeper than the limit.
    #[error("the configuration calls modules more than {limit} levels deep")]
    ModulesTooDeep { limit: usize },
    /// A device, a pipe or a socket in place of a file.
    #[error("this is not a regular file")]
    NoFile,
    /// A file larger than the limit.
    #[error("the file is larger than {} MiB", limit >> 20)]
    TooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
    /// A second `required_providers` block in one module.
    #[error("a module has one `required_providers` block; the first one stands at {first}")]
    SecondRequired { first: Declared },
    /// `required_providers` outside of a `terraform` block.
    #[error("`required_providers` must stand in a `terraform` block")]
    Misplaced,
    /// An unknown member of an entry of `required_providers`.
    #[error("the entry `{name}` cannot have `{member}`; it has `source`, `version` and `configuration_aliases`")]
    UnknownMember { name: String, member: String },
    /// An item of `configuration_aliases` of another shape.
    #[error("`configuration_aliases` of `{name}` is a list of names such as `{name}.west`")]
    InvalidAlias { name: String },
    /// A reference to a provider configuration of another shape.
    #[error("`{argument}` names provider configurations: `aws`, `aws.west` or `aws.west[each.key]`")]
    InvalidReference {
        /// `provider` or `providers`.
        argument: String,
    },
    /// A local name that is not in normal form.
    #[error("`{name}` is not a local name of a provider{}", match instead {
        Some(instead) => format!("; write `{instead}`"),
        None => String::new(),
    })]
    InvalidLocalName { name: String, instead: Option<String> },
    /// Two entries of a `providers` map for one configuration of the module.
    #[error("`{name}` is passed twice; keep one of the two entries")]
    PassedTwice { name: String },
    /// A state file that is not of version 4.
    #[error(
        "the state file has version {version}; version 4 is read, which OpenTofu and Terraform 0.12 and later write"
    )]
    StateVersion { version: String },
    /// A state file of another shape.
    #[error("this is not a state file: {message}")]
    State { message: String },
}

impl ConfigProblem {
    /// A stable kebab-case name.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => "config-syntax",
            Self::InvalidSource { .. } => "source-address",
            Self::InvalidConstraints { .. } => "invalid-constraints",
            Self::NotAString { .. } => "not-a-string",
            Self::InvalidEntry { .. } => "invalid-entry",
            Self::BuiltIn { .. } => "built-in",
            Self::Duplicate { .. } => "duplicate",
            Self::SourceTwice { .. } => "source-twice",
            Self::ModuleMissing { .. } => "module-missing",
            Self::ModuleLoop { .. } => "module-loop",
            Self::TooManyModules { .. } => "too-many-modules",
            Self::ModulesTooDeep { .. } => "modules-too-deep",
            Self::NoFile => "no-file",
            Self::TooLarge { .. } => "too-large",
            Self::SecondRequired { .. } => "second-required",
            Self::Misplaced => "misplaced",
            Self::UnknownMember { .. } => "unknown-member",
            Self::InvalidAlias { .. } => "invalid-alias",
            Self::InvalidReference { .. } => "invalid-reference",
            Self::InvalidLocalName { .. } => "invalid-local-name",
            Self::PassedTwice { .. } => "passed-twice",
            Self::StateVersion { .. } => "state-version",
            Self::State { .. } => "state",
        }
    }
}
