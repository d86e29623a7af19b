//! The providers that a state file names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hcl_edit::expr::{Expression, TraversalOperator};
use tofu_oci_types::ProviderAddr;

use crate::error::{ConfigProblem, TfConfigError};
use crate::facts::{Backend, BackendSetting, position, problem};
use crate::files;
use crate::json::{self, TfJsonKind, TfJsonValue};
use crate::model::{ConfigFolder, StateLook, StateProvider};
use crate::syntax::TfValue;

/// Most bytes of a state file.
const LIMIT: u64 = 256 << 20;

/// The state of a configuration.
///
/// Spec: `OpenTofu` 1.12, `backend/local` (`StatePaths`), `statefile.Read`.
pub(crate) fn look(folder: &ConfigFolder, backend: Option<&Backend>) -> Result<StateLook, TfConfigError> {
    let workspace = workspace(folder)?;
    let default = workspace == "default";
    let written = match backend {
        None => BackendSetting::Absent,
        Some(backend) => {
            let written = if default { &backend.path } else { &backend.workspace_dir };
            if backend.kind != "local" || *written == BackendSetting::Computed {
                let (backend, declared) = (backend.kind.clone(), backend.at.clone());
                return Ok(StateLook::Elsewhere { backend, declared });
            }
            written.clone()
        }
    };
    let place = match &written {
        BackendSetting::Text(text) if !text.is_empty() => text,
        _ if default => "terraform.tfstate",
        _ => "terraform.tfstate.d",
    };
    let place = folder.dir.join(place);
    read(if default { place } else { place.join(workspace).join("terraform.tfstate") })
}

/// The workspace that the environment names, or that was selected last.
pub(crate) fn workspace(folder: &ConfigFolder) -> Result<String, TfConfigError> {
    let workspace = match folder.workspace.as_deref().filter(|name| !name.is_empty()) {
        Some(name) => name.to_owned(),
        None => selected(&folder.data_dir)?,
    };
    if is_workspace(&workspace) { Ok(workspace) } else { Err(TfConfigError::InvalidWorkspace { name: workspace }) }
}

/// The workspace that was selected last.
fn selected(data_dir: &Path) -> Result<String, TfConfigError> {
    let path = data_dir.join("environment");
    let text = files::text(&path, files::WRITTEN)?.unwrap_or_default();
    Ok(if text.trim().is_empty() { "default".to_owned() } else { text.trim().to_owned() })
}

/// Whether a workspace may have this name: it must be the name of one folder, without a path to others.
///
/// Spec: `OpenTofu` 1.12, `validWorkspaceName`, which lets `..` through.
fn is_workspace(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~$&+:=@".contains(&byte);
    !matches!(name, "" | "." | "..") && name.bytes().all(allowed)
}

fn read(path: PathBuf) -> Result<StateLook, TfConfigError> {
    let Some(bytes) = files::bytes(&path, LIMIT)? else { return Ok(StateLook::Absent) };
    if bytes.is_empty() {
        return Ok(StateLook::Absent);
    }
    let text = String::from_utf8_lossy(&bytes);
    let root = json::parse(&path, &text)?;
    if root.member("encrypted_data").is_some() {
        return Ok(StateLook::Encrypted { path });
    }
    let providers = StateFile { path: &path, text: &text }.providers(&root)?;
    Ok(StateLook::Read { path, providers })
}

struct StateFile<'a> {
    path: &'a Path,
    text: &'a str,
}

impl StateFile<'_> {
    fn wrong(&self, offset: usize, message: String) -> TfConfigError {
        problem(position(self.path, self.text, offset), ConfigProblem::State { message })
    }

    fn providers(&self, root: &TfJsonValue) -> Result<Vec<StateProvider>, TfConfigError> {
        let Some(version) = root.member("version") else {
            return Err(self.wrong(root.offset, "it has no `version`".to_owned()));
        };
        match &version.kind {
            TfJsonKind::Number(number) if number == "4" => {}
            TfJsonKind::Number(number) => {
                let at = position(self.path, self.text, version.offset);
                return Err(problem(at, ConfigProblem::StateVersion { version: number.clone() }));
            }
            _ => return Err(self.wrong(version.offset, "its `version` is not a number".to_owned())),
        }
        let mut found: BTreeMap<ProviderAddr, BTreeSet<String>> = BTreeMap::new();
        let resources = match root.member("resources").map(|resources| (resources, &resources.kind)) {
            None | Some((_, TfJsonKind::Null)) => &Vec::new(),
            Some((_, TfJsonKind::Array(list))) => list,
            Some((json, _)) => return Err(self.wrong(json.offset, "its `resources` are not a list".to_owned())),
        };
        for resource in resources {
            let module = resource.member("module").map(|module| {
                let steps = TfValue::Json(module).address();
                steps.map_or_else(|| module.as_str().unwrap_or_default().to_owned(), |steps| steps.join("."))
            });
            for provider in self.named(resource)? {
                let text = provider.as_str().unwrap_or_default();
                let Some(address) = address(text) else {
                    let message = format!("`{text}` names no provider configuration");
                    return Err(self.wrong(provider.offset, message));
                };
                found.entry(address).or_default().insert(module.clone().unwrap_or_default());
            }
        }
        let provider =
            |(address, modules): (_, BTreeSet<_>)| StateProvider { address, modules: modules.into_iter().collect() };
        Ok(found.into_iter().map(provider).collect())
    }

    /// The provider configurations of a resource: its own, or those of its instances.
    fn named<'j>(&self, resource: &'j TfJsonValue) -> Result<Vec<&'j TfJsonValue>, TfConfigError> {
        if let Some(provider) = resource.member("provider").filter(|provider| provider.as_str() != Some("")) {
            return Ok(vec![provider]);
        }
        let instances = match resource.member("instances").map(|instances| &instances.kind) {
            Some(TfJsonKind::Array(list)) => list.as_slice(),
            _ => &[],
        };
        let named: Vec<&TfJsonValue> = instances.iter().filter_map(|instance| instance.member("provider")).collect();
        if named.is_empty() {
            return Err(self.wrong(resource.offset, "this resource names no provider".to_owned()));
        }
        Ok(named)
    }
}

/// The provider in `module.a.provider["registry.opentofu.org/hashicorp/aws"].west`, or in the form from before
/// namespaces, `provider.aws`.
///
/// Spec: `OpenTofu` 1.12, `addrs.ParseAbsProviderConfigStr`, `ParseLegacyAbsProviderConfigStr`.
fn address(text: &str) -> Option<ProviderAddr> {
    let expression = hcl_edit::parser::parse_expr(text).ok()?;
    let Expression::Traversal(traversal) = &expression else { return None };
    let mut operators = traversal.operators.iter().map(hcl_edit::Decorated::value);
    let mut word = traversal.expr.as_variable()?.as_str().to_owned();
    while word == "module" {
        let TraversalOperator::GetAttr(_) = operators.next()? else { return None };
        let TraversalOperator::GetAttr(next) = operators.next()? else { return None };
        next.as_str().clone_into(&mut word);
    }
    if word != "provider" {
        return None;
    }
    match operators.next()? {
        TraversalOperator::Index(source) => source.as_str()?.parse().ok(),
        TraversalOperator::GetAttr(name) => format!("-/{}", name.as_str()).parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<&str>) {
        assert_eq!(address(text).map(|address| address.to_string()).as_deref(), want, "{text}");
    }

    #[test]
    fn configurations_as_states_name_them() {
        check(r#"provider["registry.opentofu.org/hashicorp/aws"]"#, Some("registry.opentofu.org/hashicorp/aws"));
        check(r#"provider["example.test/acme/widget"].west"#, Some("example.test/acme/widget"));
        check(r#"module.a.module.b.provider["acme/widget"]"#, Some("registry.opentofu.org/acme/widget"));
        check(r#"provider["acme/widget"].by["a"]"#, Some("registry.opentofu.org/acme/widget"));
        check("provider.aws", Some("registry.opentofu.org/-/aws"));
        check("module.a.provider.aws.west", Some("registry.opentofu.org/-/aws"));
        check("", None);
        check("aws", None);
        check("provider[0]", None);
        check(r#"module.a["k"].provider["acme/widget"]"#, None);
    }
}
