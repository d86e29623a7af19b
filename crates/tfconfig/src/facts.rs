//! What one file says about providers and modules.

use std::collections::BTreeMap;
use std::path::Path;

use tofu_oci_types::{Constraints, ProviderAddr, TextPosition};

use crate::error::{ConfigProblem, TfConfigError};
use crate::model::{ConfigFinding, Declared, UsedBy};

/// What one file says about providers and modules.
#[derive(Debug, Default)]
pub(crate) struct FileFacts {
    /// Blocks `required_providers`; a module has at most one in files that are not overrides.
    pub(crate) required: Vec<RequiredBlock>,
    pub(crate) providers: Vec<ProviderBlock>,
    /// Resources of all modes, also data sources of `check` blocks.
    pub(crate) resources: Vec<Resource>,
    pub(crate) imports: Vec<Import>,
    /// Calls of functions of providers.
    pub(crate) functions: Vec<FunctionCall>,
    pub(crate) modules: Vec<ModuleCall>,
    /// Backends, `cloud` blocks among them.
    pub(crate) backends: Vec<Backend>,
    pub(crate) variables: Vec<InputVariable>,
    /// Local values, as templates by name.
    pub(crate) locals: BTreeMap<String, String>,
    pub(crate) outputs: Vec<Output>,
    /// Other names that a module has once.
    pub(crate) names: Vec<DeclaredName>,
    /// What is refused in the file alone.
    pub(crate) findings: Vec<ConfigFinding>,
}

/// A name that a module has once.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredName {
    /// What has the name, with an article.
    pub(crate) space: &'static str,
    pub(crate) name: String,
    pub(crate) at: Declared,
}

/// A `variable` block. What is `None` is not written there.
#[derive(Clone, Debug)]
pub(crate) struct InputVariable {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) type_text: Option<String>,
    pub(crate) default: Option<String>,
    /// The same as a template.
    pub(crate) value: Option<String>,
    pub(crate) sensitive: Option<bool>,
    pub(crate) ephemeral: Option<bool>,
    pub(crate) constant: Option<bool>,
    pub(crate) nullable: Option<bool>,
}

impl InputVariable {
    /// Whether the source of a module can depend on it.
    pub(crate) fn is_early(&self) -> bool {
        self.sensitive != Some(true) && self.ephemeral != Some(true) && self.constant != Some(false)
    }
}

/// An `output` block. What is `None` is not written there.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) sensitive: Option<bool>,
}

/// A block `required_providers`.
#[derive(Clone, Debug)]
pub(crate) struct RequiredBlock {
    pub(crate) entries: Vec<RequiredEntry>,
    pub(crate) at: Declared,
}

/// An entry of `required_providers`.
#[derive(Clone, Debug)]
pub(crate) struct RequiredEntry {
    pub(crate) name: String,
    /// The provider that the entry names, or that the local name implies.
    pub(crate) address: ProviderAddr,
    pub(crate) constraints: Constraints,
    /// The aliases of `configuration_aliases`.
    pub(crate) aliases: Vec<String>,
    pub(crate) at: Declared,
}

/// A provider block.
#[derive(Clone, Debug)]
pub(crate) struct ProviderBlock {
    pub(crate) name: String,
    pub(crate) alias: Option<String>,
    /// The deprecated `version`.
    pub(crate) version: Option<(Constraints, Declared)>,
    /// Whether it has a `for_each`.
    pub(crate) several: bool,
    /// Whether it configures nothing: a placeholder for a configuration that is passed in.
    pub(crate) empty: bool,
    pub(crate) at: Declared,
}

/// A resource, data source or ephemeral resource.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    /// Mode, type and name.
    pub(crate) by: UsedBy,
    pub(crate) type_name: String,
    pub(crate) provider: Option<ConfigRef>,
    pub(crate) at: Declared,
}

/// An `import` block.
#[derive(Clone, Debug)]
pub(crate) struct Import {
    /// The address without instance keys.
    pub(crate) to: String,
    pub(crate) type_name: String,
    /// Whether it imports into a child module.
    pub(crate) in_module: bool,
    pub(crate) provider: Option<ConfigRef>,
    pub(crate) at: Declared,
}

/// A call of `provider::NAME::FUNCTION` or `provider::NAME::ALIAS::FUNCTION`.
#[derive(Clone, Debug)]
pub(crate) struct FunctionCall {
    pub(crate) name: String,
    pub(crate) alias: Option<String>,
    pub(crate) text: String,
    pub(crate) at: Declared,
}

/// A call of a module.
#[derive(Clone, Debug)]
pub(crate) struct ModuleCall {
    pub(crate) name: String,
    /// `None` if it has none, as in an override file.
    pub(crate) source: Option<WrittenSource>,
    /// What it says of its version.
    pub(crate) version: WrittenVersion,
    /// The `providers` map.
    pub(crate) providers: Vec<Passed>,
    /// What it sets, as templates by name.
    pub(crate) arguments: BTreeMap<String, String>,
    /// `count`, `for_each`, `enabled` or `depends_on`, which forbid provider blocks below.
    pub(crate) repeated: Option<(&'static str, Declared)>,
    pub(crate) at: Declared,
}

/// The `version` of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum WrittenVersion {
    #[default]
    Absent,
    Text(String),
    /// An expression, or not a text.
    Computed,
}

/// The source of a module.
#[derive(Clone, Debug)]
pub(crate) struct WrittenSource {
    /// As written; an expression if it is computed.
    pub(crate) text: String,
    /// The expression as a template; `None` for a text.
    pub(crate) template: Option<String>,
    pub(crate) at: Declared,
}

/// An entry of a `providers` map.
#[derive(Clone, Debug)]
pub(crate) struct Passed {
    pub(crate) child: ConfigRef,
    pub(crate) parent: ConfigRef,
    pub(crate) at: Declared,
}

/// A reference to a provider configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigRef {
    pub(crate) name: String,
    pub(crate) alias: Option<String>,
    /// The instance key as written.
    pub(crate) key: Option<String>,
}

impl ConfigRef {
    /// `name`, `name.alias` or `name.alias[key]`.
    pub(crate) fn text(&self) -> String {
        let key = self.key.as_ref().map(|key| format!("[{key}]")).unwrap_or_default();
        format!("{}{key}", config_name(&self.name, self.alias.as_deref()))
    }
}

/// A backend or `cloud` block.
#[derive(Clone, Debug)]
pub(crate) struct Backend {
    pub(crate) kind: String,
    /// The `path` of a local backend.
    pub(crate) path: BackendSetting,
    /// The `workspace_dir` of a local backend.
    pub(crate) workspace_dir: BackendSetting,
    pub(crate) at: Declared,
}

/// An argument of a backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BackendSetting {
    Absent,
    Text(String),
    /// An expression, which is not evaluated.
    Computed,
}

/// `name` or `name.alias`.
pub(crate) fn config_name(name: &str, alias: Option<&str>) -> String {
    alias.map_or_else(|| name.to_owned(), |alias| format!("{name}.{alias}"))
}

/// The local name that a resource type implies: all before the first underscore.
pub(crate) fn implied_name(resource_type: &str) -> &str {
    resource_type.split('_').next().unwrap_or(resource_type)
}

/// The provider that a local name means by default.
///
/// Spec: `OpenTofu` 1.12, `addrs.ImpliedProviderForUnqualifiedType`.
pub(crate) fn implied(name: &str, at: &Declared) -> Result<ProviderAddr, TfConfigError> {
    let text = if name == "terraform" { "terraform.io/builtin/terraform" } else { name };
    parse_source(text, at)
}

/// Refuses a local name of a provider that is not in normal form.
pub(crate) fn normal_name(name: &str, at: &Declared) -> Result<(), TfConfigError> {
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
pub(crate) fn parse_source(text: &str, at: &Declared) -> Result<ProviderAddr, TfConfigError> {
    text.parse().map_err(|error: tofu_oci_types::InvalidProviderAddr| {
        problem(at.clone(), ConfigProblem::InvalidSource { message: error.to_string() })
    })
}

/// Constraints as `required_providers` writes them. An empty text is none: `OpenTofu` refuses it, unlike a lock file.
pub(crate) fn parse_constraints(text: &str, at: &Declared) -> Result<Constraints, TfConfigError> {
    let constraints: Constraints = text.parse().map_err(|error: tofu_oci_types::InvalidConstraints| {
        problem(at.clone(), ConfigProblem::InvalidConstraints { message: error.to_string() })
    })?;
    if constraints.is_any() {
        let message = format!("`{text}` is not a version constraint: leave `version` out to admit every version");
        return Err(problem(at.clone(), ConfigProblem::InvalidConstraints { message }));
    }
    Ok(constraints)
}

pub(crate) fn problem(at: Declared, problem: ConfigProblem) -> TfConfigError {
    TfConfigError::Invalid { at, problem }
}

/// The position of a byte of a file's text.
pub(crate) fn position(path: &Path, text: &str, offset: usize) -> Declared {
    Declared { path: path.to_owned(), at: TextPosition::of(text, offset) }
}

/// Where the lines of a text begin, for many positions in it.
pub(crate) struct LineStarts(Vec<usize>);

impl LineStarts {
    /// Columns after this many bytes of a line count bytes: a file in JSON may be one line.
    const COUNTED: usize = 4096;

    pub(crate) fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect())
    }

    /// The position of a byte.
    pub(crate) fn position(&self, text: &str, offset: usize) -> TextPosition {
        let offset = offset.min(text.len());
        let number = self.0.partition_point(|start| *start <= offset);
        let start = self.0.get(number.saturating_sub(1)).copied().unwrap_or_default();
        let mut counted = (start + Self::COUNTED).min(offset);
        while !text.is_char_boundary(counted) {
            counted -= 1;
        }
        let column = TextPosition::of(&text[start..counted], counted - start).column + (offset - counted);
        TextPosition { line: number, column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_the_same_by_the_starts_of_the_lines() {
        let text = "a\n\nüb\r\n\u{fffd}c";
        let lines = LineStarts::of(text);
        for (offset, _) in text.char_indices() {
            assert_eq!(lines.position(text, offset), TextPosition::of(text, offset), "{offset}");
        }
        assert_eq!(lines.position(text, text.len() + 9), TextPosition::of(text, text.len()));
        let long = format!("\n{}x", "ü".repeat(5000));
        let end = TextPosition { line: 2, column: 2048 + 10_000 - 4096 + 1 };
        assert_eq!(LineStarts::of(&long).position(&long, long.len() - 1), end);
    }
}
