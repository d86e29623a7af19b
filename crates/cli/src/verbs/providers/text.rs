//! The providers of a configuration for people.

use std::path::Path;

use tofu_oci_lockfile::{LockEntry, LockFile};
use tofu_oci_mapper::ModuleMirrors;
use tofu_oci_tfconfig::{ConfigOrigin, ModuleNode, ProviderConfig, ProviderNeed, ProviderTree};

use super::call_place::CallPlace;
use super::place::{InstallPlace, place};
use crate::page::Page;

/// The whole report.
pub(super) fn render(
    tree: &ProviderTree,
    lock: Option<&LockFile>,
    origins: &[InstallPlace],
    mirrors: &ModuleMirrors,
    dir: &Path,
) -> Page {
    let mut page = Page::default();
    page.block("", tree.terraform_text().trim_start_matches('\n'));
    page.line("Modules:");
    page.gap();
    module(&tree.root, mirrors, dir, &mut page);
    for missing in &tree.not_looked_into {
        let at = place(&missing.declared, dir);
        page.line(format_args!("{} ({}), called at {at}", missing.path, missing.source));
        page.line(format_args!("  place: {}", CallPlace::of(&missing.source, mirrors).text(dir)));
        page.line("  not looked into");
        page.gap();
    }
    if !tree.providers.is_empty() {
        page.line("Providers:");
    }
    for (need, origin) in tree.providers.iter().zip(origins) {
        page.gap();
        provider(need, lock.and_then(|lock| lock.get(&need.address)), origin, &mut page);
    }
    page.without_gap_at_end()
}

fn module(node: &ModuleNode, mirrors: &ModuleMirrors, dir: &Path, page: &mut Page) {
    let called = match &node.called {
        Some(called) => format!(" ({}), called at {}", node.source, place(called, dir)),
        None if node.source.is_empty() => String::new(),
        None => format!(" ({})", node.source),
    };
    page.line(format_args!("{}{called}", if node.path.is_empty() { "root module" } else { &node.path }));
    if node.called.is_some() {
        page.line(format_args!("  place: {}", CallPlace::of(&node.source, mirrors).text(&node.dir)));
    }
    for required in &node.requires {
        let blank = if required.constraints.is_any() { "" } else { " " };
        let how = if required.explicit { "required" } else { "implied" };
        let at = place(&required.declared, dir);
        let (name, address, constraints) = (&required.local_name, &required.address, &required.constraints);
        page.line(format_args!("  {name} = {address}{blank}{constraints}, {how} at {at}"));
        let configs = node.configurations.iter().filter(|config| config.local_name == *name);
        configs.for_each(|config| page.line(configuration(config, node, dir)));
    }
    let stray = |config: &&ProviderConfig| !node.requires.iter().any(|other| other.local_name == config.local_name);
    for config in node.configurations.iter().filter(stray) {
        page.line(configuration(config, node, dir));
    }
    if node.requires.is_empty() && node.configurations.is_empty() {
        page.line("  needs no provider");
    }
    page.gap();
    node.children.iter().for_each(|child| module(child, mirrors, dir, page));
}

fn configuration(config: &ProviderConfig, node: &ModuleNode, dir: &Path) -> String {
    let name = match &config.alias {
        Some(alias) => format!("{}.{alias}", config.local_name),
        None => config.local_name.clone(),
    };
    let block = config.block.as_ref().map_or_else(
        || "which no provider block configures".to_owned(),
        |block| format!("the provider block at {}", place(&block.declared, dir)),
    );
    let several = config.block.as_ref().is_some_and(|block| block.several);
    let several = if several { ", one for each of its `for_each`" } else { "" };
    let demanded = node.requires.iter().any(|required| {
        required.local_name == config.local_name
            && config.alias.as_ref().is_some_and(|alias| required.aliases.contains(alias))
    });
    let demanded = if demanded { " (demanded by `configuration_aliases`)" } else { "" };
    let says = match &config.origin {
        ConfigOrigin::Own => block,
        ConfigOrigin::Passed { from, at } => format!("passed `{from}` at {}: {block}", place(at, dir)),
        ConfigOrigin::Inherited { from } if from.is_empty() => format!("inherited from root module: {block}"),
        ConfigOrigin::Inherited { from } => {
            let below = node.key.strip_prefix(from.as_str()).unwrap_or_default().replace('.', ".module.");
            format!("inherited from {}: {block}", node.path.strip_suffix(&below).unwrap_or(&node.path))
        }
        ConfigOrigin::Empty => "no provider block: it runs with an empty configuration".to_owned(),
        _ => "missing".to_owned(),
    };
    format!("    {name}: {says}{several}{demanded}")
}

fn provider(need: &ProviderNeed, locked: Option<&LockEntry>, origin: &InstallPlace, page: &mut Page) {
    page.line(&need.address);
    let mut line = |name: &str, value: &str| page.line(format_args!("  {:<14} {value}", format!("{name}:")));
    if !need.constraints.is_any() {
        line("versions", &need.constraints.to_string());
    }
    if !need.local_names.is_empty() {
        line("local names", &need.local_names.join(", "));
    }
    if !need.aliases.is_empty() {
        line("aliases", &need.aliases.join(", "));
    }
    match (need.in_configuration, need.in_state) {
        (false, _) => line("needed by", "the state alone"),
        (true, true) => line("needed by", "the configuration and the state"),
        (true, false) => line("needed by", "the configuration"),
    }
    match (locked, origin) {
        (Some(entry), _) => line("locked", &entry.version.to_string()),
        (None, InstallPlace::BuiltIn) => {}
        (None, _) => line("locked", "no version"),
    }
    match origin {
        InstallPlace::Place { place, rule } => line("place", &format!("{place}, by {rule}")),
        InstallPlace::BuiltIn => line("place", "part of the program"),
        InstallPlace::Unknown { reason, .. } => line("place", &format!("unknown: {reason}")),
    }
}
