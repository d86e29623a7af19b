//! What can be wrong with a configuration.

use std::path::{Path, PathBuf};

use tofu_oci_disk::FileError;
use tofu_oci_fault::Fault;

use crate::model::Declared;

/// Why a configuration cannot be read.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
#[fault(end = Usage)]
pub enum TfConfigError {
    /// The configuration is not valid, or contradicts itself.
    #[error("{at}: {problem}")]
    #[fault(of = problem, end = Usage)]
    #[hint(if matches!(problem, ConfigProblem::Syntax { .. }) && is_state(&at.path) => "{STATE}")]
    Invalid { at: Declared, problem: ConfigProblem },
    /// the folder has no `.tf` or `.tofu` files
    #[error("there is no configuration in {}", dir.display())]
    #[fault("no-configuration", todo = "name a provider, or the folder with `--chdir`")]
    NoConfiguration { dir: PathBuf },
    /// `TF_WORKSPACE` is not the name of a workspace
    #[error("`{name}` cannot be the name of a workspace")]
    #[fault("invalid-workspace", todo = "correct or unset the variable")]
    #[hint("it comes from TF_WORKSPACE, else from the file `environment` of the data directory")]
    InvalidWorkspace { name: String },
    /// A file or folder cannot be read.
    #[error(transparent)]
    #[fault(of = _0)]
    Io(#[from] FileError),
}

fn is_state(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "tfstate")
}

impl TfConfigError {
    /// The same about the link that led to the file.
    pub(crate) fn at_path(self, link: &Path) -> Self {
        let path = link.to_owned();
        match self {
            Self::Invalid { at, problem } => Self::Invalid { at: Declared { path, at: at.at }, problem },
            Self::Io(FileError { action, source, .. }) => Self::Io(FileError { action, path, source }),
            other => other,
        }
    }
}

/// What to do about a state that cannot be read.
const STATE: &str = "let `tofu state pull` or `terraform state pull` write it anew, or move the file away";
const CHECK: &str = "check what put it there, a link in a module that was fetched perhaps; it was not read";

/// What is wrong at one position of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum ConfigProblem {
    /// the file does not parse
    #[error("the file does not parse: {message}")]
    #[fault("config-syntax", todo = "correct the line")]
    Syntax { message: String },
    /// a `source` is not a provider address
    #[error("{message}")]
    #[fault("source-address", todo = "write `HOST/NAMESPACE/TYPE`")]
    InvalidSource { message: String },
    /// a `version` is not a list of constraints
    #[error("{message}")]
    #[fault("invalid-constraints", todo = "write for example `~> 1.4`")]
    InvalidConstraints { message: String },
    /// a value must be a string in quotes
    #[error("`{name}` must be a string in quotes")]
    #[fault("not-a-string", todo = "put it in quotes, without expressions")]
    NotAString { name: String },
    /// an entry of `required_providers` is not an object
    #[error("the entry `{name}` must be an object with `source` and `version`")]
    #[fault("invalid-entry", todo = "write `{ source = …, version = … }`")]
    InvalidEntry { name: String },
    /// the entry gives a built-in provider a version or another source
    #[error("`{name}` is built into the program: it has no version and no other source")]
    #[fault("built-in", todo = "remove the entry")]
    BuiltIn { name: String },
    /// a module requires one local name twice
    #[error("`{name}` is required twice in one module; keep one of the two entries")]
    #[fault("duplicate", todo = "keep one entry")]
    Duplicate { name: String },
    /// a `module` block in JSON has two sources
    #[error("the module `{module}` has a `source` twice; keep one of the two")]
    #[fault("source-twice", todo = "keep one of the two")]
    SourceTwice { module: String },
    /// the folder of a module is missing or empty
    #[error("the module's folder `{path}` is not there")]
    #[fault("module-missing", todo = "correct `source`")]
    #[hint("check the module's `source`, or put its folder there")]
    ModuleMissing {
        /// The folder as written, or as it is computed.
        path: String,
    },
    /// a module calls itself
    #[error("the module calls itself: {}", chain.join(" calls "))]
    #[fault("module-loop", todo = "break the circle that the error shows")]
    #[hint("remove one of the calls: no program can follow them to an end")]
    ModuleLoop { chain: Vec<String> },
    #[error("the configuration calls modules more than {limit} times")]
    #[fault(code = "too-many-modules")]
    #[hint("look for modules that call each other many times over")]
    TooManyModules { limit: usize },
    /// modules are nested deeper than the limit in the error
    #[error("the configuration calls modules more than {limit} levels deep")]
    #[fault("modules-too-deep", todo = "simplify the configuration")]
    #[hint("call these modules from one nearer to the root")]
    ModulesTooDeep { limit: usize },
    /// a pipe, device or socket is in the place of a file
    #[error("this is not a regular file")]
    #[fault("no-file", todo = "replace it with a file")]
    #[hint("{CHECK}")]
    NoFile,
    /// the file is larger than the limit in the error
    #[error("the file is larger than {} MiB", limit >> 20)]
    #[fault("too-large", todo = "split the file")]
    #[hint("{CHECK}")]
    TooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
    /// a module has two `required_providers` blocks
    #[error("a module has one `required_providers` block; the first one stands at {first}")]
    #[fault("second-required", todo = "join them")]
    #[hint("move the entries of the second block into the first one")]
    SecondRequired { first: Declared },
    /// `required_providers` is outside a `terraform` block
    #[error("`required_providers` must stand in a `terraform` block")]
    #[fault("misplaced", todo = "move it")]
    #[hint("write `terraform {{ required_providers {{ … }} }}`")]
    Misplaced,
    /// an entry has a member other than `source`, `version` and `configuration_aliases`
    #[error("the entry `{name}` cannot have `{member}`; it has `source`, `version` and `configuration_aliases`")]
    #[fault("unknown-member", todo = "remove the member")]
    UnknownMember { name: String, member: String },
    /// an item of `configuration_aliases` is not `NAME.ALIAS`
    #[error("`configuration_aliases` of `{name}` is a list of names such as `{name}.west`")]
    #[fault("invalid-alias", todo = "write for example `aws.west`")]
    InvalidAlias { name: String },
    /// a reference to a provider configuration has a wrong form
    #[error("`{argument}` names provider configurations: `aws`, `aws.west` or `aws.west[each.key]`")]
    #[fault("invalid-reference", todo = "write `aws`, `aws.west` or `aws.west[each.key]`")]
    InvalidReference {
        /// `provider` or `providers`.
        argument: String,
    },
    /// a local name of a provider is not in normal form
    #[error("`{name}` is not a local name of a provider{}", match instead {
        Some(instead) => format!("; write `{instead}`"),
        None => String::new(),
    })]
    #[fault("invalid-local-name", todo = "write it as the error says")]
    InvalidLocalName { name: String, instead: Option<String> },
    /// a `providers` map has two entries for one configuration
    #[error("`{name}` is passed twice; keep one of the two entries")]
    #[fault("passed-twice", todo = "keep one entry")]
    PassedTwice { name: String },
    /// the state file is not of version 4
    #[error(
        "the state file has version {version}; version 4 is read, which OpenTofu and Terraform 0.12 and later write"
    )]
    #[fault("state-version", todo = "let OpenTofu 1.6 or later write it once")]
    #[hint("{STATE}")]
    StateVersion { version: String },
    /// the file is not a state file
    #[error("this is not a state file: {message}")]
    #[fault("state", todo = "correct the path, or restore the file")]
    #[hint("{STATE}")]
    State { message: String },
}
