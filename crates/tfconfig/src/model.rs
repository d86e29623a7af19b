//! What a configuration says about providers, module by module.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use tofu_oci_types::{Constraints, ProviderAddr, TextPosition};

/// A folder with a configuration, and what the user says of it.
#[derive(Clone, Debug)]
pub struct ConfigFolder {
    pub dir: PathBuf,
    /// Where `tofu init` puts what it installs.
    pub data_dir: PathBuf,
    /// The folder in it whose tests count beside those in the folder itself; `None` if tests do not count.
    pub tests: Option<PathBuf>,
    /// The values of variables that the environment names (`TF_VAR_NAME`), by name.
    pub variables: BTreeMap<String, String>,
    /// The workspace that the environment names, before the one that was selected in `data_dir`.
    pub workspace: Option<String>,
}

impl ConfigFolder {
    /// A folder of which nothing is said, without its tests.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        let dir = dir.into();
        Self { data_dir: dir.join(".terraform"), dir, tests: None, variables: BTreeMap::new(), workspace: None }
    }
}

/// What a configuration requires.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigRequirements {
    /// The providers, sorted by address.
    pub requirements: Vec<Requirement>,
    /// Modules from elsewhere that have not been fetched yet; what they require is not known.
    pub missing_modules: Vec<MissingModule>,
    /// Whether the source of a module is computed, or was evaluated from variables.
    pub by_variables: bool,
}

/// One provider that a configuration requires, all its modules taken together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The name in the module that mentions it first.
    pub local_name: String,
    pub address: ProviderAddr,
    /// The constraints of all modules.
    pub constraints: Constraints,
    /// Where it is required.
    pub declared: Vec<Declared>,
}

/// A module that is called and not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissingModule {
    /// The names of the calls on the way to it, joined by dots; of a run of a test, `test.FILE.RUN` in front.
    pub key: String,
    /// The same as programs write it: `module.a.module.b`, or `test.FILE.run.RUN`.
    pub path: String,
    /// Its source as written, except secrets in it.
    pub source: String,
    /// Whether the source is an expression whose value is not known here.
    #[serde(rename = "computed")]
    pub is_computed: bool,
    /// Where it is called.
    #[serde(rename = "called")]
    pub declared: Declared,
}

impl MissingModule {
    /// Why it is not known, for people.
    pub fn why(&self) -> String {
        let Self { path, source, .. } = self;
        if self.is_computed {
            format!("the source of {path}, {source}, is computed")
        } else {
            format!("{path} ({source}) is not installed")
        }
    }
}

/// A place in a configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Declared {
    #[serde(serialize_with = "tofu_oci_types::path_as_text")]
    pub path: PathBuf,
    #[serde(flatten)]
    pub at: TextPosition,
}

impl fmt::Display for Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.at)
    }
}

/// A configuration, its modules, its state and its lock file, as far as they name providers.
#[derive(Clone, Debug)]
pub struct ProviderTree {
    /// The root module, and below it the modules that were looked into.
    pub root: ModuleNode,
    /// Every provider that the configuration or the state needs, sorted by address; the built-in one is among them.
    pub providers: Vec<ProviderNeed>,
    /// Modules from elsewhere that have not been fetched; what they require is not known.
    pub not_looked_into: Vec<MissingModule>,
    /// Whether the source of a module is computed, or was evaluated from variables.
    pub by_variables: bool,
    /// The providers that the state names.
    pub state: StateLook,
    /// What is wrong with the configuration as a whole, in the order of the modules.
    pub findings: Vec<ConfigFinding>,
}

/// One module: the root, one call of a module, or a test file, whose calls are the modules that its runs run.
#[derive(Clone, Debug)]
pub struct ModuleNode {
    /// The names of the calls on the way to it, joined by dots; empty for the root, `test.FILE` for a test file.
    pub key: String,
    /// The same as programs write it: `module.a.module.b`, or `test.FILE.run.RUN`.
    pub path: String,
    /// Its source as written, except secrets in it; a local one that is computed as it is then; empty for the root. Of a
    /// test file its path in the folder.
    pub source: String,
    /// Its folder; a test file itself.
    pub dir: PathBuf,
    /// Where it is called; `None` for the root and for test files.
    pub called: Option<Declared>,
    /// The providers that it requires, sorted by address; one entry for each local name.
    pub requires: Vec<RequiredProvider>,
    /// Everything in it that needs a provider, in the order of the files.
    pub uses: Vec<ProviderUse>,
    /// The configurations that it uses, sorted by local name and alias.
    pub configurations: Vec<ProviderConfig>,
    /// The modules that it calls, sorted by name; below the root the test files are in front.
    pub children: Vec<ModuleNode>,
}

/// A provider that a module requires under a local name.
#[derive(Clone, Debug, Serialize)]
pub struct RequiredProvider {
    /// The name that the module gives it.
    pub local_name: String,
    pub address: ProviderAddr,
    /// The constraints of this module: of `required_providers` and of provider blocks.
    pub constraints: Constraints,
    /// The names in `configuration_aliases`, without the local name in front.
    #[serde(rename = "configuration_aliases")]
    pub aliases: Vec<String>,
    /// Whether `required_providers` has it; otherwise the module only uses it.
    pub explicit: bool,
    /// Where it is required, or first used.
    pub declared: Declared,
}

/// One thing in a module that needs a provider.
#[derive(Clone, Debug, Serialize)]
pub struct ProviderUse {
    pub local_name: String,
    /// The alias, if it names one.
    pub alias: Option<String>,
    pub address: ProviderAddr,
    #[serde(flatten)]
    pub by: UsedBy,
    pub declared: Declared,
}

/// What needs a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "by", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum UsedBy {
    /// A managed resource, `TYPE.NAME`.
    Resource(String),
    /// A data source, also one in a `check` block, `data.TYPE.NAME`.
    Data(String),
    /// An ephemeral resource, `ephemeral.TYPE.NAME`.
    Ephemeral(String),
    /// An `import` block, by the address that it imports to.
    Import(String),
    /// A call of a function of the provider, as written: `provider::NAME::FUNCTION`.
    Function(String),
    /// A `providers` map that passes the configuration to this module.
    Module(String),
}

impl UsedBy {
    /// The address, function or module name alone.
    pub fn text(&self) -> &str {
        match self {
            Self::Resource(text)
            | Self::Data(text)
            | Self::Ephemeral(text)
            | Self::Import(text)
            | Self::Function(text)
            | Self::Module(text) => text,
        }
    }
}

impl fmt::Display for UsedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Import(text) => write!(f, "import to {text}"),
            Self::Module(text) => write!(f, "module.{text}"),
            other => f.write_str(other.text()),
        }
    }
}

/// A configuration of a provider in a module.
#[derive(Clone, Debug)]
pub struct ProviderConfig {
    pub local_name: String,
    /// The alias; `None` for the default configuration.
    pub alias: Option<String>,
    pub address: ProviderAddr,
    /// How the module gets it.
    pub origin: ConfigOrigin,
    /// The provider block that it leads to; `None` if there is none.
    pub block: Option<ConfigBlock>,
}

/// How a module gets a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigOrigin {
    /// A provider block of its own.
    Own,
    /// An entry of the `providers` map of the call.
    Passed {
        /// The configuration as the calling module names it, such as `aws.west` or `aws.by_region[each.key]`.
        from: String,
        at: Declared,
    },
    /// The default configuration of a module above.
    Inherited {
        /// The key of that module; empty for the root.
        from: String,
    },
    /// No block configures it: the provider runs with an empty configuration.
    Empty,
    /// It is missing, and the module requires it.
    Missing,
}

/// A provider block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigBlock {
    /// The key of its module; empty for the root.
    pub module: String,
    pub local_name: String,
    pub alias: Option<String>,
    /// Whether `for_each` makes several instances of it.
    pub several: bool,
    pub declared: Declared,
}

/// One provider, all modules and the state taken together.
#[derive(Clone, Debug, Serialize)]
pub struct ProviderNeed {
    pub address: ProviderAddr,
    /// The constraints of all modules.
    pub constraints: Constraints,
    /// Every local name of it, sorted, each once.
    pub local_names: Vec<String>,
    /// Every configuration of it that has an alias, `LOCAL.ALIAS`, sorted, each once.
    pub aliases: Vec<String>,
    /// Whether a module that was looked into needs it.
    pub in_configuration: bool,
    /// Whether the state names it.
    pub in_state: bool,
}

/// What is known of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateLook {
    /// There is no state file.
    Absent,
    Read {
        path: PathBuf,
        /// The providers that it names, sorted by address.
        providers: Vec<StateProvider>,
    },
    /// It is kept by a backend that is not read here.
    Elsewhere {
        /// The backend's name, or `cloud`.
        backend: String,
        /// Where it is configured.
        declared: Declared,
    },
    Encrypted {
        path: PathBuf,
    },
}

/// A provider that the state names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StateProvider {
    pub address: ProviderAddr,
    /// The modules whose resources name it, as the state writes them (`module.a.module.b`); empty for the root. Sorted.
    pub modules: Vec<String>,
}

/// Something that `OpenTofu` reports, or should report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFinding {
    /// A stable kebab-case name.
    pub code: &'static str,
    /// Whether `OpenTofu` refuses the configuration for it.
    pub refused: bool,
    pub declared: Declared,
    pub message: String,
    /// What to write instead.
    pub instead: String,
}
