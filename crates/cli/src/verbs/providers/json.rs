//! The providers of a configuration as JSON lines; `docs/json.md` says what the members are.

use std::path::Path;

use serde::Serialize;
use tofu_oci_lockfile::LockFile;
use tofu_oci_mapper::ModuleMirrors;
use tofu_oci_tfconfig::{
    ConfigOrigin, Declared, MissingModule, ModuleNode, ProviderTree, StateLook, StateProvider, UsedBy,
};
use tofu_oci_types::{Constraints, PathText, ProviderAddr, Version};

use super::call_place::{CallPlace, ComesFrom};
use super::place::InstallPlace;
use crate::report::json_line;

/// Prints modules, modules that were not read, the state and providers.
pub(super) fn print(tree: &ProviderTree, lock: Option<&LockFile>, origins: &[InstallPlace], mirrors: &ModuleMirrors) {
    module(&tree.root, mirrors);
    for missing in &tree.not_looked_into {
        #[derive(Serialize)]
        struct UnreadModuleLine<'a> {
            event: &'static str,
            key: &'a str,
            path: &'a str,
            source: &'a str,
            computed: bool,
            called: At<'a>,
            comes_from: ComesFrom<'a>,
        }
        let MissingModule { key, path, source, is_computed: computed, declared } = missing;
        let called = At::of(declared);
        let place = CallPlace::of(source, mirrors);
        let comes_from = place.json();
        json_line(&UnreadModuleLine {
            event: "module-unread",
            key,
            path,
            source,
            computed: *computed,
            called,
            comes_from,
        });
    }
    state(&tree.state);
    for (need, origin) in tree.providers.iter().zip(origins) {
        let (place, rule, reason) = match origin {
            InstallPlace::Place { place, rule } => (Some(place.as_str()), Some(rule.as_str()), None),
            InstallPlace::BuiltIn => (None, Some("part of the program"), None),
            InstallPlace::Unknown { reason, .. } => (None, None, Some(reason.as_str())),
        };
        json_line(&Provider {
            event: "provider",
            address: &need.address,
            constraints: &need.constraints,
            local_names: &need.local_names,
            aliases: &need.aliases,
            in_configuration: need.in_configuration,
            in_state: need.in_state,
            locked: lock.and_then(|lock| lock.get(&need.address)).map(|entry| &entry.version),
            place,
            rule,
            reason,
        });
    }
}

#[derive(Serialize)]
struct Provider<'a> {
    event: &'static str,
    address: &'a ProviderAddr,
    constraints: &'a Constraints,
    local_names: &'a [String],
    aliases: &'a [String],
    in_configuration: bool,
    in_state: bool,
    locked: Option<&'a Version>,
    place: Option<&'a str>,
    rule: Option<&'a str>,
    reason: Option<&'a str>,
}

#[derive(Serialize)]
struct At<'a> {
    #[serde(serialize_with = "tofu_oci_types::path_as_text")]
    path: &'a Path,
    line: usize,
    column: usize,
}

impl<'a> At<'a> {
    fn of(declared: &'a Declared) -> Self {
        Self { path: &declared.path, line: declared.at.line, column: declared.at.column }
    }
}

#[derive(Serialize)]
struct Module<'a> {
    event: &'static str,
    key: &'a str,
    path: &'a str,
    source: &'a str,
    #[serde(serialize_with = "tofu_oci_types::path_as_text")]
    folder: &'a Path,
    called: Option<At<'a>>,
    comes_from: Option<ComesFrom<'a>>,
    requires: Vec<Required<'a>>,
    uses: Vec<Use<'a>>,
    configurations: Vec<Configuration<'a>>,
}

#[derive(Serialize)]
struct Required<'a> {
    local_name: &'a str,
    address: &'a ProviderAddr,
    constraints: &'a Constraints,
    configuration_aliases: &'a [String],
    explicit: bool,
    declared: At<'a>,
}

#[derive(Serialize)]
struct Use<'a> {
    local_name: &'a str,
    alias: Option<&'a str>,
    address: &'a ProviderAddr,
    kind: &'static str,
    by: &'a str,
    declared: At<'a>,
}

#[derive(Serialize)]
struct Configuration<'a> {
    local_name: &'a str,
    alias: Option<&'a str>,
    address: &'a ProviderAddr,
    origin: &'static str,
    from: Option<&'a str>,
    block: Option<At<'a>>,
    block_module: Option<&'a str>,
}

fn module(node: &ModuleNode, mirrors: &ModuleMirrors) {
    let requires = node.requires.iter().map(|required| Required {
        local_name: &required.local_name,
        address: &required.address,
        constraints: &required.constraints,
        configuration_aliases: &required.aliases,
        explicit: required.explicit,
        declared: At::of(&required.declared),
    });
    let uses = node.uses.iter().map(|used| Use {
        local_name: &used.local_name,
        alias: used.alias.as_deref(),
        address: &used.address,
        kind: kind(&used.by),
        by: used.by.text(),
        declared: At::of(&used.declared),
    });
    let configurations = node.configurations.iter().map(|config| {
        let (origin, from) = match &config.origin {
            ConfigOrigin::Own => ("own", None),
            ConfigOrigin::Passed { from, .. } => ("passed", Some(from.as_str())),
            ConfigOrigin::Inherited { from } => ("inherited", Some(from.as_str())),
            ConfigOrigin::Empty => ("empty", None),
            _ => ("missing", None),
        };
        Configuration {
            local_name: &config.local_name,
            alias: config.alias.as_deref(),
            address: &config.address,
            origin,
            from,
            block: config.block.as_ref().map(|block| At::of(&block.declared)),
            block_module: config.block.as_ref().map(|block| block.module.as_str()),
        }
    });
    let place = node.called.as_ref().map(|_| CallPlace::of(&node.source, mirrors));
    json_line(&Module {
        event: "module",
        key: &node.key,
        path: &node.path,
        source: &node.source,
        folder: &node.dir,
        called: node.called.as_ref().map(At::of),
        comes_from: place.as_ref().map(CallPlace::json),
        requires: requires.collect(),
        uses: uses.collect(),
        configurations: configurations.collect(),
    });
    node.children.iter().for_each(|child| module(child, mirrors));
}

fn kind(by: &UsedBy) -> &'static str {
    match by {
        UsedBy::Resource(_) => "resource",
        UsedBy::Data(_) => "data",
        UsedBy::Ephemeral(_) => "ephemeral",
        UsedBy::Import(_) => "import",
        UsedBy::Function(_) => "function",
        UsedBy::Module(_) => "module",
        _ => "other",
    }
}

fn state(state: &StateLook) {
    #[derive(Serialize)]
    struct StateProviderLine<'a> {
        address: &'a ProviderAddr,
        modules: &'a [String],
    }
    #[derive(Serialize)]
    struct StateLine<'a> {
        event: &'static str,
        outcome: &'static str,
        path: Option<PathText<'a>>,
        backend: Option<&'a str>,
        providers: Vec<StateProviderLine<'a>>,
    }
    let named = |StateProvider { address, modules }: &'_ StateProvider| (address.clone(), modules.clone());
    let providers: Vec<_> = match state {
        StateLook::Read { providers, .. } => providers.iter().map(named).collect(),
        _ => Vec::new(),
    };
    let (outcome, path, backend) = match state {
        StateLook::Read { path, .. } => ("read", Some(path.as_path()), None),
        StateLook::Encrypted { path } => ("encrypted", Some(path.as_path()), None),
        StateLook::Elsewhere { backend, .. } => ("elsewhere", None, Some(backend.as_str())),
        _ => ("absent", None, None),
    };
    let providers = providers.iter().map(|(address, modules)| StateProviderLine { address, modules }).collect();
    json_line(&StateLine { event: "state", outcome, path: path.map(PathText), backend, providers });
}
