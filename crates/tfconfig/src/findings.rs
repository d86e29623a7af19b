//! Findings about a valid configuration.

use crate::facts::{ConfigRef, Passed, config_name};
use crate::model::Declared;
use crate::model::{ConfigFinding, ConfigOrigin, UsedBy};
use crate::module::ModuleFacts;
use crate::resolve::ModuleScope;
use crate::summary;
use crate::summary::subtree;

/// The findings of a module and those below it, each once.
///
/// Spec: `OpenTofu` 1.12, `configs.validateProviderConfigs`, `ProviderFunctionTransformer`, `ProviderTransformer`.
pub(crate) fn all(root: &ModuleScope<'_>) -> Vec<ConfigFinding> {
    let mut found = Vec::new();
    below(root, &mut found);
    let mut once: Vec<ConfigFinding> = Vec::new();
    for finding in found {
        if !once.contains(&finding) {
            once.push(finding);
        }
    }
    once
}

fn below(scope: &ModuleScope<'_>, found: &mut Vec<ConfigFinding>) {
    let module = &scope.node.module;
    found.extend(module.findings.iter().cloned());
    requirements(module, found);
    functions(scope, found);
    references(scope, found);
    calls(scope, found);
    if scope.above.is_some_and(|above| !above.node.is_test()) {
        given(scope, found);
    }
    for node in &scope.node.children {
        below(&scope.below(node), found);
    }
}

fn finding(code: &'static str, refused: bool, at: &Declared, message: String, instead: String) -> ConfigFinding {
    ConfigFinding { code, refused, declared: at.clone(), message, instead }
}

fn requirements(module: &ModuleFacts, found: &mut Vec<ConfigFinding>) {
    for block in &module.providers {
        if let Some((constraints, at)) = &block.version {
            let name = &block.name;
            let message = format!("`version` in a provider block is deprecated; it counts as `{constraints}`");
            let instead = format!("put `version = \"{constraints}\"` into the entry `{name}` of `required_providers`");
            found.push(finding("deprecated-version", false, at, message, instead));
        }
        if block.several && block.alias.is_none() {
            let message = format!("the provider `{}` has a `for_each` and no `alias`", block.name);
            let instead = "give it an `alias`".to_owned();
            found.push(finding("for-each-without-alias", true, &block.at, message, instead));
        }
    }
    let Ok(requires) = summary::requires(module) else { return };
    for pair in requires.windows(2) {
        let [first, second] = pair else { continue };
        if first.address == second.address {
            let (address, first, name) = (&first.address, &first.local_name, &second.local_name);
            let message = format!("{address} is required under two names, `{first}` and `{name}`");
            let instead = "use one local name for it in the whole module".to_owned();
            found.push(finding("two-names-for-one-provider", false, &second.declared, message, instead));
        }
    }
    for required in &requires {
        if let Err(error) = required.address.clone().for_opentofu() {
            let instead = "publish the provider under a namespace without an underscore, or use Terraform".to_owned();
            found.push(finding("namespace-underscore", true, &required.declared, error.to_string(), instead));
        }
    }
    for required in requires.iter().filter(|required| required.address.is_builtin()) {
        if !required.constraints.is_any() {
            let message = format!("`{}` is built into the program and has no version to choose", required.local_name);
            let instead = "leave `version` out".to_owned();
            found.push(finding("version-of-built-in", true, &required.declared, message, instead));
        }
    }
}

fn functions(scope: &ModuleScope<'_>, found: &mut Vec<ConfigFinding>) {
    let module = &scope.node.module;
    for call in &module.functions {
        if module.required.contains_key(&call.name) {
            if scope.config(&call.name, call.alias.as_deref()).0 == ConfigOrigin::Missing {
                let name = config_name(&call.name, call.alias.as_deref());
                let message =
                    format!("`{}` names the configuration `{name}`, which the module does not have", call.text);
                let instead =
                    "the function runs in a provider without configuration, if it can; check the name".to_owned();
                found.push(finding("missing-configuration", false, &call.at, message, instead));
            }
            continue;
        }
        let message =
            format!("`{}` is a function of `{}`, which `required_providers` does not name", call.text, call.name);
        let instead = format!("add an entry `{}` with its `source` to `required_providers` of this module", call.name);
        found.push(finding("unknown-function-provider", true, &call.at, message, instead));
    }
}

/// `provider =` of resources and imports.
fn references(scope: &ModuleScope<'_>, found: &mut Vec<ConfigFinding>) {
    let module = &scope.node.module;
    for resource in &module.resources {
        if let Some(reference) = &resource.provider {
            reference_of(scope, reference, resource.by.text(), &resource.at, found);
        }
    }
    for import in &module.imports {
        let Some(reference) = &import.provider else { continue };
        reference_of(scope, reference, &format!("import to {}", import.to), &import.at, found);
        let target = module.resources.iter().find(|resource| resource.by == UsedBy::Resource(import.to.clone()));
        if let Some(target) = target
            && target
                .provider
                .as_ref()
                .is_none_or(|other| other.name != reference.name || other.alias != reference.alias)
        {
            let message = format!("this import and the resource `{}` name different providers", import.to);
            let instead = format!("write `provider = {}` in the resource, or leave it out here", reference.text());
            found.push(finding("import-provider-differs", true, &import.at, message, instead));
        }
        if import.in_module {
            let message = "an import into a module cannot choose the provider".to_owned();
            let instead = "pass it with `providers` in the module block".to_owned();
            found.push(finding("import-provider-in-module", true, &import.at, message, instead));
        }
    }
}

fn reference_of(
    scope: &ModuleScope<'_>,
    reference: &ConfigRef,
    user: &str,
    at: &Declared,
    found: &mut Vec<ConfigFinding>,
) {
    let (origin, _) = scope.config(&reference.name, reference.alias.as_deref());
    let name = config_name(&reference.name, reference.alias.as_deref());
    if origin == ConfigOrigin::Missing {
        let message = format!("`{user}` uses the configuration `{name}`, which the module does not have");
        let alias = reference.alias.as_deref().unwrap_or_default();
        let instead = if scope.above.is_some() {
            format!("demand it with `configuration_aliases = [{name}]` and pass it in the module block")
        } else {
            format!("add a block `provider \"{}\"` with `alias = \"{alias}\"`", reference.name)
        };
        found.push(finding("missing-configuration", true, at, message, instead));
    }
    instance_key(scope, reference, at, found);
}

fn instance_key(scope: &ModuleScope<'_>, reference: &ConfigRef, at: &Declared, found: &mut Vec<ConfigFinding>) {
    let several =
        scope.node.module.block(&reference.name, reference.alias.as_deref()).is_some_and(|block| block.several);
    let name = config_name(&reference.name, reference.alias.as_deref());
    if several && reference.key.is_none() {
        let message = format!("`{name}` is several configurations (`for_each`)");
        found.push(finding("instance-key-missing", true, at, message, format!("choose one: `{name}[each.key]`")));
    } else if !several && reference.key.is_some() {
        let message = format!("`{name}` is one configuration, and has no instances to choose from");
        let instead = format!("write `{name}` without the key, or give its provider block a `for_each`");
        found.push(finding("instance-key-unexpected", true, at, message, instead));
    }
}

/// The configurations that this module passes on.
fn calls(scope: &ModuleScope<'_>, found: &mut Vec<ConfigFinding>) {
    for call in scope.node.module.calls.values() {
        for Passed { child, parent, at } in &call.providers {
            if child.key.is_some() {
                let message = format!("`{}` on the left side has an instance key", child.text());
                found.push(finding("instance-key-unexpected", true, at, message, "leave the key out".to_owned()));
            }
            instance_key(scope, parent, at, found);
            let name = config_name(&parent.name, parent.alias.as_deref());
            let module = &scope.node.module;
            let (origin, _) = scope.config(&parent.name, parent.alias.as_deref());
            if origin == ConfigOrigin::Missing {
                let message =
                    format!("`{name}` is passed to module `{}`, and there is no such configuration", call.name);
                let instead = format!("add a provider block for `{name}`, or pass another one");
                found.push(finding("missing-configuration", true, at, message, instead));
            } else if parent.alias.is_none()
                && !module.required.contains_key(&name)
                && module.block(&name, None).is_none()
            {
                let message = format!("`{name}` is passed to module `{}`, and nothing here declares it", call.name);
                let instead = format!("add an entry `{name}` with its `source` to `required_providers`");
                found.push(finding("undeclared-provider", false, at, message, instead));
            }
        }
    }
}

/// The configurations that this module gets from its caller.
fn given(scope: &ModuleScope<'_>, found: &mut Vec<ConfigFinding>) {
    let (Some(call), Some(above)) = (scope.call(), scope.above) else { return };
    let module = &scope.node.module;
    let configured = |name: &str, alias: Option<&str>| {
        module.block(name, alias).is_some_and(|block| !block.empty || block.version.is_some())
    };
    for required in module.required.values() {
        for alias in &required.aliases {
            let alias = Some(alias.as_str());
            if scope.passed(&required.name, alias).is_none() && !configured(&required.name, alias) {
                let name = config_name(&required.name, alias);
                let message =
                    format!("module `{}` demands a configuration `{name}` of {}", call.name, required.address);
                let instead = format!("add `{name} = …` to `providers` in the module block");
                found.push(finding("missing-configuration", true, &call.at, message, instead));
            }
        }
    }
    if let Some((argument, at)) = repeated(scope)
        && let Some(block) = module.providers.iter().find(|block| configured(&block.name, block.alias.as_deref()))
    {
        let message = format!(
            "`{argument}` cannot be used: module `{}` has a provider block of its own ({})",
            call.name, block.at
        );
        let instead = "move the provider block to the calling module and pass it with `providers`".to_owned();
        found.push(finding("provider-block-in-repeated-module", true, at, message, instead));
    }
    for passed in &call.providers {
        let Passed { child, parent, at } = passed;
        let (name, alias) = (config_name(&child.name, child.alias.as_deref()), child.alias.as_deref());
        if configured(&child.name, alias) {
            let message = format!("module `{}` has a configuration `{name}` of its own; it takes no other", call.name);
            let instead = "remove this entry, or the provider block in the module".to_owned();
            found.push(finding("configuration-not-replaceable", true, at, message, instead));
        } else if !declares(module, child) {
            undeclared(scope, passed, found);
        } else if !demanded(module, child) && !used(scope, child) {
            let message = format!("module `{}` does not use the configuration `{name}`", call.name);
            found.push(finding("unused-configuration", false, at, message, "remove this entry".to_owned()));
        }
        let (theirs, ours) = (module.known_address(&child.name), above.node.module.known_address(&parent.name));
        if let (Some(theirs), Some(ours)) = (theirs, ours)
            && theirs != ours
        {
            let message = format!("`{}` is {ours}, and `{name}` in module `{}` is {theirs}", parent.text(), call.name);
            let instead = format!("pass a configuration of {theirs}");
            found.push(finding("provider-differs", true, at, message, instead));
        }
    }
}

/// Whether the module requires this configuration from its caller, used or not.
fn demanded(module: &ModuleFacts, child: &ConfigRef) -> bool {
    let required = module.required.get(&child.name);
    child.alias.as_ref().is_some_and(|alias| required.is_some_and(|required| required.aliases.contains(alias)))
}

/// Whether a module declares that it may get this configuration.
fn declares(module: &ModuleFacts, child: &ConfigRef) -> bool {
    let required = module.required.get(&child.name);
    module.block(&child.name, child.alias.as_deref()).is_some()
        || match &child.alias {
            None => required.is_some(),
            Some(alias) => required.is_some_and(|required| required.aliases.contains(alias)),
        }
}

fn undeclared(scope: &ModuleScope<'_>, Passed { child, at, .. }: &Passed, found: &mut Vec<ConfigFinding>) {
    let name = config_name(&child.name, child.alias.as_deref());
    let module = &scope.node.name;
    let address = scope.node.module.known_address(&child.name);
    // `OpenTofu` still guesses the default namespace, and refuses everything else.
    let guessed = address.is_some_and(|address| {
        address.namespace() == "hashicorp" && *address.hostname() == tofu_oci_types::Hostname::default_registry()
    });
    let message = if used(scope, child) {
        format!("module `{module}` uses `{name}` and does not declare it")
    } else {
        format!("module `{module}` does not know the configuration `{name}`")
    };
    let instead = match &child.alias {
        None => format!("remove this entry, or add `{name}` with its `source` to `required_providers` of the module"),
        Some(_) => format!("remove this entry, or add `configuration_aliases = [{name}]` in the module"),
    };
    found.push(finding("unknown-configuration", !guessed, at, message, instead));
}

/// Whether a module, or one below it that inherits the configuration, uses it.
fn used(scope: &ModuleScope<'_>, child: &ConfigRef) -> bool {
    let Some(address) = scope.node.module.known_address(&child.name) else { return true };
    let here = |module: &ModuleFacts| {
        let by_resource = module.resources.iter().map(|resource| {
            let name = ModuleFacts::local_name(&resource.type_name, resource.provider.as_ref(), &resource.at).ok();
            (name, resource.provider.as_ref().and_then(|provider| provider.alias.clone()))
        });
        let by_import = module.imports.iter().map(|import| {
            let name = ModuleFacts::local_name(&import.type_name, import.provider.as_ref(), &import.at).ok();
            (name, import.provider.as_ref().and_then(|provider| provider.alias.clone()))
        });
        let by_function = module.functions.iter().map(|call| (Some(call.name.clone()), call.alias.clone()));
        let on = module.calls.values().flat_map(|call| &call.providers);
        let on = on.map(|passed| (Some(passed.parent.name.clone()), passed.parent.alias.clone()));
        let mut all = by_resource.chain(by_import).chain(by_function).chain(on);
        all.any(|(name, alias)| {
            let same = name.is_none_or(|name| module.known_address(&name).as_ref() == Some(&address));
            same && alias == child.alias
        })
    };
    let node = scope.node;
    // The needs of a module that was not read are unknown.
    let unknown = |node: &super::walk::CallNode| node.children.len() < node.module.calls.len();
    here(&node.module)
        || unknown(node)
        || (child.alias.is_none() && subtree(node).iter().skip(1).any(|node| here(&node.module) || unknown(node)))
}

/// The argument of this call, or of one above, that forbids provider blocks.
fn repeated<'a>(scope: &ModuleScope<'a>) -> Option<(&'static str, &'a Declared)> {
    let own = scope.call().and_then(|call| call.repeated.as_ref());
    own.map(|(argument, at)| (*argument, at)).or_else(|| repeated(scope.above?))
}
