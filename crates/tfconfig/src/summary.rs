//! What modules require, one by one and taken together.

use std::collections::{BTreeMap, BTreeSet};

use tofu_oci_types::{Constraints, ProviderAddr};

use crate::error::{ConfigProblem, TfConfigError};
use crate::facts::{config_name, problem};
use crate::model::{ConfigRequirements, Declared, Requirement};
use crate::model::{ModuleNode, ProviderNeed, RequiredProvider, StateLook};
use crate::module::{ModuleFacts, block_constraints};
use crate::walk::{CallNode, WalkedModules};

/// What a module requires, sorted by address and local name.
///
/// Functions of providers imply nothing: they demand an entry in `required_providers`.
///
/// Spec: `OpenTofu` 1.12, `configs.Config.addProviderRequirements`.
pub(crate) fn requires(module: &ModuleFacts) -> Result<Vec<RequiredProvider>, TfConfigError> {
    let mut found: Vec<RequiredProvider> = Vec::new();
    for required in module.required.values() {
        found.push(RequiredProvider {
            local_name: required.name.clone(),
            address: required.address.clone(),
            constraints: required.constraints.clone(),
            aliases: required.aliases.clone(),
            explicit: true,
            declared: required.at.clone(),
        });
    }
    let mut add = |local_name: &str, constraints: &Constraints, at: &Declared| -> Result<(), TfConfigError> {
        if let Some(entry) = found.iter_mut().find(|entry| entry.local_name == local_name) {
            entry.constraints = entry.constraints.and(constraints);
            return Ok(());
        }
        found.push(RequiredProvider {
            local_name: local_name.to_owned(),
            address: module.address(local_name, at)?,
            constraints: constraints.clone(),
            aliases: Vec::new(),
            explicit: false,
            declared: at.clone(),
        });
        Ok(())
    };
    let any = Constraints::any();
    for block in &module.providers {
        add(&block.name, &block_constraints(block), &block.at)?;
    }
    for resource in &module.resources {
        add(
            &ModuleFacts::local_name(&resource.type_name, resource.provider.as_ref(), &resource.at)?,
            &any,
            &resource.at,
        )?;
    }
    for import in &module.imports {
        add(&ModuleFacts::local_name(&import.type_name, import.provider.as_ref(), &import.at)?, &any, &import.at)?;
    }
    found.sort_by(|a, b| (&a.address, &a.local_name).cmp(&(&b.address, &b.local_name)));
    Ok(found)
}

/// What `install` needs to know; the built-in provider is left out.
pub(crate) fn configuration(walked: WalkedModules) -> Result<ConfigRequirements, TfConfigError> {
    let mut found: BTreeMap<ProviderAddr, Requirement> = BTreeMap::new();
    let mut open = vec![&walked.root];
    let mut nodes = Vec::new();
    while let Some(node) = open.pop() {
        nodes.push(node);
        open.extend(node.children.iter().rev());
    }
    // A module that is called twice requires the same both times.
    let mut seen = BTreeSet::new();
    for node in nodes.into_iter().filter(|node| seen.insert(&node.dir)) {
        for need in requires(&node.module)? {
            let RequiredProvider { local_name, address, constraints, declared, .. } = need;
            if address.is_builtin() {
                if !constraints.is_any() {
                    return Err(problem(declared, ConfigProblem::BuiltIn { name: local_name }));
                }
                continue;
            }
            let entry = found.entry(address.clone()).or_insert_with(|| Requirement {
                local_name,
                address,
                constraints: Constraints::any(),
                declared: Vec::new(),
            });
            entry.constraints = entry.constraints.and(&constraints);
            entry.declared.push(declared);
        }
    }
    let (missing_modules, by_variables) = (walked.missing, walked.by_variables);
    Ok(ConfigRequirements { requirements: found.into_values().collect(), missing_modules, by_variables })
}

/// Every provider of the configuration and the state.
pub(crate) fn needs(root: &ModuleNode, state: &StateLook) -> Vec<ProviderNeed> {
    let mut found = BTreeMap::new();
    in_module(root, &mut found);
    if let StateLook::Read { providers, .. } = state {
        for provider in providers {
            entry(&mut found, &provider.address).in_state = true;
        }
    }
    found.into_values().collect()
}

fn in_module(node: &ModuleNode, found: &mut BTreeMap<ProviderAddr, ProviderNeed>) {
    for required in &node.requires {
        let need = entry(found, &required.address);
        need.in_configuration = true;
        need.constraints = need.constraints.and(&required.constraints);
        add(&mut need.local_names, &required.local_name);
    }
    for config in node.configurations.iter().filter(|config| config.alias.is_some()) {
        // A name of a function may mean nothing that is required.
        if let Some(need) = found.get_mut(&config.address) {
            add(&mut need.aliases, &config_name(&config.local_name, config.alias.as_deref()));
        }
    }
    node.children.iter().for_each(|child| in_module(child, found));
}

fn entry<'a>(found: &'a mut BTreeMap<ProviderAddr, ProviderNeed>, address: &ProviderAddr) -> &'a mut ProviderNeed {
    found.entry(address.clone()).or_insert_with(|| ProviderNeed {
        address: address.clone(),
        constraints: Constraints::any(),
        local_names: Vec::new(),
        aliases: Vec::new(),
        in_configuration: false,
        in_state: false,
    })
}

fn add(names: &mut Vec<String>, name: &str) {
    if let Err(place) = names.binary_search_by(|other| other.as_str().cmp(name)) {
        names.insert(place, name.to_owned());
    }
}

/// The nodes of a subtree, the top first.
pub(crate) fn subtree(node: &CallNode) -> Vec<&CallNode> {
    let mut nodes = vec![node];
    for child in &node.children {
        nodes.extend(subtree(child));
    }
    nodes
}
