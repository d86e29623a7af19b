//! The providers of a configuration as JSON lines.

use serde::Serialize;
use tofu_oci_lockfile::LockFile;
use tofu_oci_mapper::ModuleMirrors;
use tofu_oci_tfconfig::{
    ConfigOrigin, Declared, MissingModule, ModuleNode, ProviderConfig, ProviderNeed, ProviderTree, ProviderUse,
    RequiredProvider, StateLook, StateProvider,
};
use tofu_oci_types::{PathText, ProviderAddr, Version};

use super::call_place::{CallPlace, ComesFrom};
use super::place::InstallPlace;
use crate::report::JsonLines;

/// Modules, modules that were not read, the state and providers.
pub(super) fn add(
    lines: &JsonLines,
    (tree, lock): (&ProviderTree, Option<&LockFile>),
    origins: &[InstallPlace],
    mirrors: &ModuleMirrors,
) {
    module(lines, &tree.root, mirrors);
    for module in &tree.not_looked_into {
        let place = CallPlace::of(&module.source, mirrors);
        lines.add(&UnreadModule { module, comes_from: place.json() });
    }
    lines.add(&state(&tree.state));
    for (need, origin) in tree.providers.iter().zip(origins) {
        let (place, rule, reason) = match origin {
            InstallPlace::Place { place, rule } => (Some(place.as_str()), Some(rule.as_str()), None),
            InstallPlace::BuiltIn => (None, Some("part of the program"), None),
            InstallPlace::Unknown { reason, .. } => (None, None, Some(reason.as_str())),
        };
        let locked = lock.and_then(|lock| lock.get(&need.address)).map(|entry| &entry.version);
        lines.add(&NeededProvider { need, locked, place, rule, reason });
    }
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "provider")]
struct NeededProvider<'a> {
    #[serde(flatten)]
    need: &'a ProviderNeed,
    locked: Option<&'a Version>,
    place: Option<&'a str>,
    rule: Option<&'a str>,
    reason: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "module-unread")]
struct UnreadModule<'a> {
    #[serde(flatten)]
    module: &'a MissingModule,
    comes_from: ComesFrom<'a>,
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "module")]
struct ReadModule<'a> {
    key: &'a str,
    path: &'a str,
    source: &'a str,
    folder: PathText<'a>,
    called: Option<&'a Declared>,
    comes_from: Option<ComesFrom<'a>>,
    requires: &'a [RequiredProvider],
    uses: &'a [ProviderUse],
    configurations: Vec<Configuration<'a>>,
}

#[derive(Serialize)]
struct Configuration<'a> {
    local_name: &'a str,
    alias: Option<&'a str>,
    address: &'a ProviderAddr,
    origin: &'static str,
    from: Option<&'a str>,
    block: Option<&'a Declared>,
    block_module: Option<&'a str>,
}

fn module(lines: &JsonLines, node: &ModuleNode, mirrors: &ModuleMirrors) {
    let place = node.called.as_ref().map(|_| CallPlace::of(&node.source, mirrors));
    lines.add(&ReadModule {
        key: &node.key,
        path: &node.path,
        source: &node.source,
        folder: PathText(&node.dir),
        called: node.called.as_ref(),
        comes_from: place.as_ref().map(CallPlace::json),
        requires: &node.requires,
        uses: &node.uses,
        configurations: node.configurations.iter().map(configuration).collect(),
    });
    node.children.iter().for_each(|child| module(lines, child, mirrors));
}

fn configuration(config: &ProviderConfig) -> Configuration<'_> {
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
        block: config.block.as_ref().map(|block| &block.declared),
        block_module: config.block.as_ref().map(|block| block.module.as_str()),
    }
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "state")]
struct State<'a> {
    outcome: &'static str,
    path: Option<PathText<'a>>,
    backend: Option<&'a str>,
    providers: &'a [StateProvider],
}

fn state(state: &StateLook) -> State<'_> {
    let nothing = State { outcome: "absent", path: None, backend: None, providers: &[] };
    match state {
        StateLook::Read { path, providers } => {
            State { outcome: "read", path: Some(PathText(path)), providers, ..nothing }
        }
        StateLook::Encrypted { path } => State { outcome: "encrypted", path: Some(PathText(path)), ..nothing },
        StateLook::Elsewhere { backend, .. } => State { outcome: "elsewhere", backend: Some(backend), ..nothing },
        _ => nothing,
    }
}
