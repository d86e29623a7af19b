//! What one file says that matters here.

use std::path::Path;

use tofu_oci_types::{Constraints, ProviderAddr};

use super::{Declared, UsedBy};
use crate::{ConfigProblem, InstallError};

/// What one file says about providers and modules.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Blocks `required_providers`; a module has at most one in files that are no overrides.
    pub(super) required: Vec<RequiredBlock>,
    /// Provider blocks.
    pub(super) providers: Vec<ProviderBlock>,
    /// Resources of all modes, also data sources of `check` blocks.
    pub(super) resources: Vec<Resource>,
    /// Import blocks.
    pub(super) imports: Vec<Import>,
    /// Calls of functions of providers.
    pub(super) functions: Vec<FunctionCall>,
    /// Calls of modules.
    pub(super) modules: Vec<ModuleCall>,
    /// Backends, `cloud` blocks among them.
    pub(super) backends: Vec<Backend>,
}

/// A block `required_providers`.
#[derive(Clone, Debug)]
pub(super) struct RequiredBlock {
    pub(super) entries: Vec<Required>,
    pub(super) at: Declared,
}

/// An entry of `required_providers`.
#[derive(Clone, Debug)]
pub(super) struct Required {
    pub(super) name: String,
    /// The one that the entry names, or that the name implies.
    pub(super) address: ProviderAddr,
    pub(super) constraints: Constraints,
    /// The aliases of `configuration_aliases`.
    pub(super) aliases: Vec<String>,
    pub(super) at: Declared,
}

/// A provider block.
#[derive(Clone, Debug)]
pub(super) struct ProviderBlock {
    pub(super) name: String,
    pub(super) alias: Option<String>,
    /// The deprecated `version`.
    pub(super) version: Option<(Constraints, Declared)>,
    /// Whether it has a `for_each`.
    pub(super) several: bool,
    /// Whether it configures nothing: a placeholder for a configuration that is passed in.
    pub(super) empty: bool,
    pub(super) at: Declared,
}

/// A resource, data source or ephemeral resource.
#[derive(Clone, Debug)]
pub(super) struct Resource {
    /// Mode, type and name.
    pub(super) by: UsedBy,
    pub(super) type_name: String,
    pub(super) provider: Option<ConfigRef>,
    pub(super) at: Declared,
}

/// An `import` block.
#[derive(Clone, Debug)]
pub(super) struct Import {
    /// The address without instance keys.
    pub(super) to: String,
    pub(super) type_name: String,
    /// Whether it imports into a child module.
    pub(super) in_module: bool,
    pub(super) provider: Option<ConfigRef>,
    pub(super) at: Declared,
}

/// A call of `provider::NAME::FUNCTION` or `provider::NAME::ALIAS::FUNCTION`.
#[derive(Clone, Debug)]
pub(super) struct FunctionCall {
    pub(super) name: String,
    pub(super) alias: Option<String>,
    pub(super) text: String,
    pub(super) at: Declared,
}

/// A call of a module.
#[derive(Clone, Debug)]
pub(super) struct ModuleCall {
    pub(super) name: String,
    /// Nothing where it has none, as in an override file.
    pub(super) source: Option<ModuleSource>,
    /// The `providers` map.
    pub(super) providers: Vec<Passed>,
    /// `count`, `for_each`, `enabled` or `depends_on`, which forbid provider blocks below.
    pub(super) repeated: Option<(&'static str, Declared)>,
    pub(super) at: Declared,
}

/// The source of a module.
#[derive(Clone, Debug)]
pub(super) struct ModuleSource {
    /// As written; an expression where it is computed.
    pub(super) text: String,
    pub(super) computed: bool,
    pub(super) at: Declared,
}

/// An entry of a `providers` map.
#[derive(Clone, Debug)]
pub(super) struct Passed {
    pub(super) child: ConfigRef,
    pub(super) parent: ConfigRef,
    pub(super) at: Declared,
}

/// A reference to a provider configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConfigRef {
    pub(super) name: String,
    pub(super) alias: Option<String>,
    /// The instance key as written.
    pub(super) key: Option<String>,
}

impl ConfigRef {
    /// `name`, `name.alias` or `name.alias[key]`.
    pub(super) fn text(&self) -> String {
        let key = self.key.as_ref().map(|key| format!("[{key}]")).unwrap_or_default();
        format!("{}{key}", config_name(&self.name, self.alias.as_deref()))
    }
}

/// A backend or `cloud` block.
#[derive(Clone, Debug)]
pub(super) struct Backend {
    pub(super) kind: String,
    /// The `path` of a local backend.
    pub(super) path: Setting,
    /// The `workspace_dir` of a local backend.
    pub(super) workspace_dir: Setting,
    pub(super) at: Declared,
}

/// An argument of a backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    Absent,
    Text(String),
    /// It would have to be evaluated.
    Computed,
}

/// `name` or `name.alias`.
pub(super) fn config_name(name: &str, alias: Option<&str>) -> String {
    alias.map_or_else(|| name.to_owned(), |alias| format!("{name}.{alias}"))
}

/// The local name that a resource type implies: all before the first underscore.
pub(super) fn implied_name(resource_type: &str) -> &str {
    resource_type.split('_').next().unwrap_or(resource_type)
}

/// The provider that a local name stands for where nothing says otherwise.
///
/// Spec: `OpenTofu` 1.12, `addrs.ImpliedProviderForUnqualifiedType`.
pub(super) fn implied(name: &str, at: &Declared) -> Result<ProviderAddr, InstallError> {
    let text = if name == "terraform" { "terraform.io/builtin/terraform" } else { name };
    parse_source(text, at)
}

/// A local name of a provider must be in normal form.
pub(super) fn normal_name(name: &str, at: &Declared) -> Result<(), InstallError> {
    let address = if name.contains('/') { None } else { name.parse::<ProviderAddr>().ok() };
    match address {
        Some(address) if address.provider_type() == name => Ok(()),
        Some(address) => Err(problem(
            at.clone(),
            ConfigProblem::InvalidLocalName {
                name: name.to_owned(),
                instead: Some(address.provider_type().to_owned()),
            },
        )),
        None => Err(problem(at.clone(), ConfigProblem::InvalidLocalName { name: name.to_owned(), instead: None })),
    }
}

/// A source as `required_providers` writes it.
pub(super) fn parse_source(text: &str, at: &Declared) -> Result<ProviderAddr, InstallError> {
    text.parse().map_err(|error: tofu_oci_types::InvalidProviderAddr| {
        problem(at.clone(), ConfigProblem::InvalidSource { message: error.to_string() })
    })
}

/// Constraints as `required_providers` writes them. An empty text is none: `OpenTofu` refuses it, unlike a lock file.
pub(super) fn parse_constraints(text: &str, at: &Declared) -> Result<Constraints, InstallError> {
    let constraints: Constraints = text.parse().map_err(|error: tofu_oci_types::InvalidConstraints| {
        problem(at.clone(), ConfigProblem::InvalidConstraints { message: error.to_string() })
    })?;
    if constraints.is_any() {
        let message = format!("`{text}` is not a version constraint: leave `version` out to admit every version");
        return Err(problem(at.clone(), ConfigProblem::InvalidConstraints { message }));
    }
    Ok(constraints)
}

pub(super) fn problem(at: Declared, problem: ConfigProblem) -> InstallError {
    InstallError::Config { path: at.path, line: at.line, column: at.column, problem }
}

/// The position of a byte of a file's text.
pub(super) fn position(path: &Path, text: &str, offset: usize) -> Declared {
    let before = text.get(..offset).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|character| *character != '\n').count() + 1;
    Declared { path: path.to_owned(), line, column }
}
