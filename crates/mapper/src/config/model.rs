//! The settings from the files and the environment.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use tofu_oci_types::{Hostname, ProviderAddr};

use crate::{MagicSuffix, RepositoryTemplate, Selector};

/// The settings that `OpenTofu` goes on with after it has read the files.
#[derive(Clone, Debug, Default)]
pub struct CliConfig {
    /// The first `provider_installation` block; `None` if none counts, so that the implicit methods do.
    pub installation: Option<Installation>,
    /// Where packages are kept between installations; with variables expanded, absolute.
    pub plugin_cache_dir: Option<PathBuf>,
    /// Whether a cached package may be used although the lock file has no checksum of it.
    pub plugin_cache_may_break_lock: bool,
    /// Hosts whose services the files name, so that no request to them is needed.
    pub hosts: BTreeMap<Hostname, HostBlock>,
    /// `credentials` blocks, the label is the host. A later block of a host replaces an earlier one.
    pub credentials: Vec<RawBlock>,
    /// The `credentials_helper` block, the label is the helper's name.
    pub credentials_helper: Option<RawBlock>,
    /// Valid `oci_credentials` blocks, the label is the prefix of the repositories.
    pub oci_credentials: Vec<RawBlock>,
    /// The first `oci_default_credentials` block.
    pub oci_default_credentials: Option<RawBlock>,
    /// The settings for requests to registries.
    pub registry_protocols: RegistryProtocols,
    /// `TF_TOKEN_*` variables whose name is that of a host.
    pub tokens: Vec<TokenVariable>,
    /// The suffix in a block `tofu_oci`, which `OpenTofu` ignores, and its place.
    pub magic_suffix: Option<(MagicSuffix, TextPlace)>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPlace {
    /// The file, as its place in [`super::CliConfigReading::files`].
    pub file: usize,
    /// The bytes of its text.
    pub span: Range<usize>,
}

/// A `host` block.
#[derive(Clone, Debug, PartialEq)]
pub struct HostBlock {
    /// The value of each service, by its identifier such as `providers.v1`.
    pub services: BTreeMap<String, ConfigSetting>,
    pub at: TextPlace,
}

/// A value of a setting whose form another crate checks.
#[derive(Clone, Debug, PartialEq)]
pub enum ConfigSetting {
    Bool(bool),
    /// A number in decimal digits.
    Number(String),
    Text(String),
    List(Vec<ConfigSetting>),
    /// A block or an object.
    Map(BTreeMap<String, ConfigSetting>),
}

impl ConfigSetting {
    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// The kinds of blocks that are kept as they were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// `credentials "HOST"`.
    Credentials,
    /// `credentials_helper "NAME"`.
    CredentialsHelper,
    /// `oci_credentials "PREFIX"`.
    OciCredentials,
    /// `oci_default_credentials`.
    OciDefaultCredentials,
}

impl BlockKind {
    /// The block's name in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Credentials => "credentials",
            Self::CredentialsHelper => "credentials_helper",
            Self::OciCredentials => "oci_credentials",
            Self::OciDefaultCredentials => "oci_default_credentials",
        }
    }
}

/// A block of arguments whose meaning is another crate's.
#[derive(Clone, Debug, PartialEq)]
pub struct RawBlock {
    pub kind: BlockKind,
    /// The label, if this kind has one.
    pub label: Option<String>,
    /// The arguments by name, each once.
    pub attributes: Vec<BlockAttribute>,
    /// The file, as its place in [`super::CliConfigReading::files`].
    pub file: usize,
    /// The bytes of the whole block.
    pub span: Range<usize>,
}

impl RawBlock {
    /// The argument of this name.
    pub fn attribute(&self, name: &str) -> Option<&BlockAttribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }
}

/// An argument. `Debug` masks every value that may be a secret.
#[derive(Clone, PartialEq)]
pub struct BlockAttribute {
    pub name: String,
    /// Its value, in the clear.
    pub value: ConfigSetting,
    /// The bytes of the value.
    pub span: Range<usize>,
}

/// Arguments of credentials that hold no secret.
const HARMLESS: [&str; 5] =
    ["args", "username", "docker_credentials_helper", "discover_ambient_credentials", "docker_style_config_files"];

impl fmt::Debug for BlockAttribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Attribute");
        shown.field("name", &self.name);
        if HARMLESS.contains(&self.name.as_str()) && self.name != "args" {
            shown.field("value", &self.value);
        } else {
            shown.field("value", &"***");
        }
        shown.field("span", &self.span).finish()
    }
}

/// Settings of `registry_protocols`, or of the variables that replace them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegistryProtocols {
    /// How often a request for metadata is tried again.
    pub retry_count: i64,
    /// How long an answer may take, in seconds.
    pub request_timeout_seconds: i64,
}

impl Default for RegistryProtocols {
    fn default() -> Self {
        Self { retry_count: 1, request_timeout_seconds: 10 }
    }
}

/// A variable `TF_TOKEN_HOST` that holds a token for a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenVariable {
    pub host: Hostname,
    /// The name of the variable.
    pub variable: String,
    pub token: Masked,
}

/// A secret text. `Debug` and `Display` give `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Masked(String);

impl Masked {
    /// Hides `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text in the clear.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Masked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Masked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A `provider_installation` block.
#[derive(Clone, Debug)]
pub struct Installation {
    /// Providers that come from a folder of their developer.
    pub dev_overrides: Vec<DevOverride>,
    /// The methods in the order of the file, those that are dropped among them.
    pub methods: Vec<Method>,
    /// The file, as its place in [`super::CliConfigReading::files`].
    pub file: usize,
    /// The bytes of the whole block.
    pub span: Range<usize>,
    /// The bytes of its name.
    pub name_span: Range<usize>,
}

/// A provider that comes from a folder of its developer, without versions and checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DevOverride {
    pub address: ProviderAddr,
    /// The folder, absolute against the working directory.
    pub path: PathBuf,
    /// The folder as it was written.
    pub written: String,
    /// The bytes of the entry.
    pub span: Range<usize>,
}

/// A method of installation.
#[derive(Clone, Debug)]
pub struct Method {
    pub kind: MethodKind,
    /// The patterns of `include` as they were written.
    pub include: Vec<String>,
    /// The patterns of `exclude` as they were written.
    pub exclude: Vec<String>,
    /// The patterns; empty if one of them is invalid, which also drops the method.
    pub selector: Selector,
    /// The file, as its place in [`super::CliConfigReading::files`]; `None` for an implicit method.
    pub file: Option<usize>,
    /// The file and line for people, such as `/home/u/.tofurc:3`; `None` for an implicit method.
    pub place: Option<String>,
    /// The bytes of the whole block.
    pub span: Range<usize>,
    /// The problem for which `OpenTofu` drops the method, as its place in [`super::CliConfigReading::problems`].
    pub dropped: Option<usize>,
}

impl Method {
    /// The method for people: `oci_mirror at /home/u/.tofurc:3`, or `direct (implicit)`.
    pub fn label(&self) -> String {
        match &self.place {
            Some(place) => format!("{} at {place}", self.kind.name()),
            None => format!("{} (implicit)", self.kind.name()),
        }
    }
}

/// What a method does, with its arguments.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum MethodKind {
    /// The registry that a provider's address names.
    Direct {
        /// How often a download is tried again, if that is said.
        download_retry_count: Option<i64>,
    },
    FilesystemMirror {
        /// The folder, absolute against the working directory.
        path: PathBuf,
        /// The folder as it was written.
        written: String,
    },
    /// A server of the network mirror protocol.
    NetworkMirror {
        /// Its address as it was written.
        url: String,
        /// How often a download is tried again, if that is said.
        download_retry_count: Option<i64>,
        /// Whether its checksums are recorded without a check.
        trust_all_hashes: bool,
    },
    /// Repositories of OCI registries.
    OciMirror {
        /// The repository of each provider.
        template: RepositoryTemplate,
    },
    /// Something that `OpenTofu` could not read; such a method is always dropped.
    Unreadable {
        /// The block's name as it was written.
        name: String,
    },
}

impl MethodKind {
    /// The block's name in the file.
    pub fn name(&self) -> &str {
        match self {
            Self::Direct { .. } => "direct",
            Self::FilesystemMirror { .. } => "filesystem_mirror",
            Self::NetworkMirror { .. } => "network_mirror",
            Self::OciMirror { .. } => "oci_mirror",
            Self::Unreadable { name } => name,
        }
    }
}
