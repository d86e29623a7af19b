//! Which configuration of a provider each module gets.

use std::collections::BTreeSet;

use tofu_oci_types::ProviderAddr;

use crate::error::TfConfigError;
use crate::facts::{ConfigRef, ModuleCall, Passed};
use crate::model::{ConfigBlock, ConfigOrigin, ModuleNode, ProviderConfig, ProviderUse, UsedBy};
use crate::module::ModuleFacts;
use crate::summary::requires;
use crate::walk::CallNode;

/// A module, seen with the modules above it.
#[derive(Clone, Copy)]
pub(crate) struct ModuleScope<'a> {
    pub(crate) node: &'a CallNode,
    pub(crate) above: Option<&'a ModuleScope<'a>>,
}

impl<'a> ModuleScope<'a> {
    /// A module below this one. A test inherits nothing: it sets up what it runs.
    pub(crate) fn below<'b>(&'b self, node: &'b CallNode) -> ModuleScope<'b> {
        ModuleScope { node, above: if node.is_test() { None } else { Some(self) } }
    }

    /// The call of this module; nothing for the root.
    pub(crate) fn call(&self) -> Option<&'a ModuleCall> {
        self.above.and_then(|above| above.node.module.calls.get(&self.node.name))
    }

    /// The entry of the caller's `providers` map for this configuration.
    pub(crate) fn passed(&self, name: &str, alias: Option<&str>) -> Option<&'a Passed> {
        let fits = |passed: &&Passed| passed.child.name == name && passed.child.alias.as_deref() == alias;
        self.call()?.providers.iter().find(fits)
    }

    /// How this module gets a configuration, and the block at the end of the way.
    ///
    /// A placeholder block gives way to what is passed. Default configurations are inherited, by provider and not by
    /// name, also where a `providers` map says nothing of them.
    ///
    /// Spec: `OpenTofu` 1.12, `ProviderConfigTransformer`, `ProviderTransformer`, `AbsProviderConfig.Inherited`.
    pub(crate) fn config(&self, name: &str, alias: Option<&str>) -> (ConfigOrigin, Option<ConfigBlock>) {
        let own = self.node.module.block(name, alias);
        if let (Some(passed), Some(above)) = (self.passed(name, alias), self.above)
            && own.is_none_or(|block| block.empty && block.version.is_none())
        {
            let (_, block) = above.config(&passed.parent.name, passed.parent.alias.as_deref());
            return (ConfigOrigin::Passed { from: passed.parent.text(), at: passed.at.clone() }, block);
        }
        if let Some(block) = own {
            let block = ConfigBlock {
                module: self.node.key.clone(),
                local_name: block.name.clone(),
                alias: block.alias.clone(),
                several: block.several,
                declared: block.at.clone(),
            };
            return (ConfigOrigin::Own, Some(block));
        }
        if alias.is_some() {
            return (ConfigOrigin::Missing, None);
        }
        let Some(address) = self.node.module.known_address(name) else { return (ConfigOrigin::Empty, None) };
        let mut above = self.above;
        while let Some(scope) = above {
            if let Some(local) = scope.default_of(&address) {
                return (ConfigOrigin::Inherited { from: scope.node.key.clone() }, scope.config(local, None).1);
            }
            above = scope.above;
        }
        (ConfigOrigin::Empty, None)
    }

    /// The local name under which this module has a default configuration of a provider.
    fn default_of(&self, address: &ProviderAddr) -> Option<&'a str> {
        let module = &self.node.module;
        let own = module.providers.iter().filter(|block| block.alias.is_none()).map(|block| block.name.as_str());
        let passed = self.call().into_iter().flat_map(|call| &call.providers);
        let passed = passed.filter(|passed| passed.child.alias.is_none()).map(|passed| passed.child.name.as_str());
        own.chain(passed).find(|name| module.known_address(name).as_ref() == Some(address))
    }

    /// The module as people see it, and those below.
    pub(crate) fn node(&self) -> Result<ModuleNode, TfConfigError> {
        let uses = uses(&self.node.module)?;
        let requires = requires(&self.node.module)?;
        let configurations = self.configurations(&uses);
        let mut children = Vec::new();
        for node in &self.node.children {
            children.push(self.below(node).node()?);
        }
        let CallNode { key, path, source, dir, called, .. } = self.node;
        let (key, path, source, dir, called) = (key.clone(), path.clone(), source.clone(), dir.clone(), called.clone());
        Ok(ModuleNode { key, path, source, dir, called, requires, uses, configurations, children })
    }

    /// Every configuration that the module has, gets, demands or uses.
    fn configurations(&self, uses: &[ProviderUse]) -> Vec<ProviderConfig> {
        let module = &self.node.module;
        let mut names: BTreeSet<(String, Option<String>)> = BTreeSet::new();
        names.extend(module.providers.iter().map(|block| (block.name.clone(), block.alias.clone())));
        let passed = self.call().into_iter().flat_map(|call| &call.providers);
        names.extend(passed.map(|passed| (passed.child.name.clone(), passed.child.alias.clone())));
        names.extend(uses.iter().map(|used| (used.local_name.clone(), used.alias.clone())));
        for required in module.required.values() {
            let aliases = required.aliases.iter();
            names.extend(aliases.map(|alias| (required.name.clone(), Some(alias.clone()))));
            if !names.iter().any(|(name, _)| *name == required.name) {
                names.insert((required.name.clone(), None));
            }
        }
        let config = |(local_name, alias): (String, Option<String>)| {
            let address = module.known_address(&local_name)?;
            // The built-in provider takes no configuration.
            if address.is_builtin() {
                return None;
            }
            let (origin, block) = self.config(&local_name, alias.as_deref());
            Some(ProviderConfig { local_name, alias, address, origin, block })
        };
        names.into_iter().filter_map(config).collect()
    }
}

/// What in a module needs a provider.
fn uses(module: &ModuleFacts) -> Result<Vec<ProviderUse>, TfConfigError> {
    let mut found = Vec::new();
    for resource in &module.resources {
        let local_name = ModuleFacts::local_name(&resource.type_name, resource.provider.as_ref(), &resource.at)?;
        found.push(ProviderUse {
            address: module.address(&local_name, &resource.at)?,
            local_name,
            alias: alias(resource.provider.as_ref()),
            by: resource.by.clone(),
            declared: resource.at.clone(),
        });
    }
    for import in &module.imports {
        // The resource decides where there is one.
        let target = UsedBy::Resource(import.to.clone());
        let target = module.resources.iter().find(|resource| resource.by == target);
        let provider = import.provider.as_ref().or(target.and_then(|target| target.provider.as_ref()));
        let local_name = ModuleFacts::local_name(&import.type_name, provider, &import.at)?;
        found.push(ProviderUse {
            address: module.address(&local_name, &import.at)?,
            local_name,
            alias: alias(provider),
            by: UsedBy::Import(import.to.clone()),
            declared: import.at.clone(),
        });
    }
    for call in &module.functions {
        found.push(ProviderUse {
            address: module.address(&call.name, &call.at)?,
            local_name: call.name.clone(),
            alias: call.alias.clone(),
            by: UsedBy::Function(call.text.clone()),
            declared: call.at.clone(),
        });
    }
    for call in module.calls.values() {
        for passed in &call.providers {
            found.push(ProviderUse {
                address: module.address(&passed.parent.name, &passed.at)?,
                local_name: passed.parent.name.clone(),
                alias: passed.parent.alias.clone(),
                by: UsedBy::Module(call.name.clone()),
                declared: passed.at.clone(),
            });
        }
    }
    found.sort_by(|a, b| a.declared.cmp(&b.declared));
    Ok(found)
}

fn alias(reference: Option<&ConfigRef>) -> Option<String> {
    reference.and_then(|reference| reference.alias.clone())
}
