//! Settings by which two providers, or two modules, are served out of one place: they are refused.
//!
//! Rights, `exclude` and trust are about addresses. They hold only if no second address leads to what the first one has.

use std::path::{Path, PathBuf};

use tofu_oci_bridge::{ServedModules, ServedProviders, WrittenPlace};
use tofu_oci_mapper::{
    AddressRule, NotOneToOne, TemplateOf, TemplateRepositories, check_one_to_one, provider_and_module_in_one_place,
};
use tofu_oci_mirror::GitTemplate;
use tofu_oci_types::{Event, ModuleAddr, Place, ProviderAddr};

use super::settings::Settings;
use crate::diagnostic::Diagnostic;
use crate::ends::From;
use crate::lookup::ORIGIN;
use crate::verbs::context::Context;

/// Refuses places that two addresses share, among those that are served and their upstreams; warns if a provider and
/// a module share one: readers tell them apart by their content.
pub(super) fn refuse(context: &Context, settings: &Settings) -> Result<(), Diagnostic> {
    refuse_spelt(settings, &|place| place)?;
    // Two spellings of one folder.
    let Some((provider, module, place)) = refuse_spelt(settings, &in_full)? else { return Ok(()) };
    let text =
        format!("a provider and a module may share a place: {provider} and the module {module} both get {place}");
    let hint = "give modules a path of their own, such as ghcr.io/acme/modules/${namespace}/${name}-${target_system}";
    context.reporter.event(&Event::warning("same-place", text).with_hint(hint));
    Ok(())
}

/// The place with the folder of its template in full, and without links, as far as the folder exists.
fn in_full(place: String) -> String {
    let Some(template) = place.strip_prefix("oci:").filter(|template| !template.starts_with("//")) else {
        return place;
    };
    let symbol = ["${", "%{"].iter().filter_map(|begin| template.find(begin)).min();
    let fixed = &template[..symbol.unwrap_or(template.len())];
    let root = if symbol.is_some() {
        fixed.rfind(std::path::is_separator).map_or("", |slash| &fixed[..=slash])
    } else {
        fixed
    };
    let folder = if root.is_empty() { "." } else { root };
    let Ok(absolute) = std::path::absolute(folder) else { return place };
    let real = real(&absolute);
    let rest = template[root.len()..].trim_start_matches(std::path::is_separator);
    match real.to_str().filter(|real| !real.contains("${") && !real.contains("%{")) {
        Some(real) if rest.is_empty() => format!("oci:{real}"),
        Some(real) => format!("oci:{}/{rest}", real.trim_end_matches('/')),
        None => place,
    }
}

/// The folder without links, as far as it exists.
fn real(folder: &Path) -> PathBuf {
    match (folder.canonicalize(), folder.parent(), folder.file_name()) {
        (Ok(real), ..) => real,
        (Err(_), Some(parent), Some(name)) => real(parent).join(name),
        _ => folder.to_owned(),
    }
}

/// The same with the places in this spelling.
fn refuse_spelt(
    settings: &Settings,
    spelt: &dyn Fn(String) -> String,
) -> Result<Option<(ProviderAddr, ModuleAddr, Place)>, Diagnostic> {
    let config = &settings.config;
    let predecessors = config.all_predecessors();
    let places = config.providers.iter().map(|served| of_providers(settings, served, spelt));
    let places: Vec<_> = places.collect::<Result<_, Diagnostic>>()?;
    let rules = config.providers.iter().zip(&places).map(|(served, places)| {
        let repositories = places.iter().map(|(_, repositories)| repositories.clone());
        AddressRule::new(&served.include, &served.exclude, repositories)
    });
    let rules: Vec<AddressRule<'_, ProviderAddr>> = rules.collect();
    let is_of = |place: usize, address: &ProviderAddr| config.provider_place(&predecessors, address) == Some(place);
    check_one_to_one(&rules, &is_of, &predecessors)
        .map_err(|error| refused(settings, places[error.rule().0][error.rule().1].0, &error))?;
    let modules: Vec<_> = config.modules.iter().map(|served| of_modules(settings, served, spelt)).collect();
    let of_modules = config.modules.iter().zip(&modules).map(|(served, places)| {
        let repositories = places.iter().map(|(_, repositories)| repositories.clone());
        AddressRule::new(&served.include, &served.exclude, repositories)
    });
    let of_modules: Vec<AddressRule<'_, ModuleAddr>> = of_modules.collect();
    let is_of_module = |place: usize, address: &ModuleAddr| config.module_place(&predecessors, address) == Some(place);
    check_one_to_one(&of_modules, &is_of_module, &predecessors)
        .map_err(|error| refused(settings, modules[error.rule().0][error.rule().1].0, &error))?;
    Ok(provider_and_module_in_one_place(&rules, &is_of, &of_modules, &is_of_module, &predecessors))
}

/// The repositories of a place and of its upstreams. What has many providers keeps each for itself; what cannot be read is
/// refused elsewhere.
fn of_providers<'a>(
    settings: &Settings,
    served: &'a ServedProviders,
    spelt: &dyn Fn(String) -> String,
) -> Result<Vec<(&'a WrittenPlace, TemplateRepositories)>, Diagnostic> {
    let upstream = served.pull.iter().flat_map(|pull| &pull.upstream);
    let read = |place: &'a WrittenPlace| {
        let repositories = From::parse(&spelt(settings.located(&place.text))).ok()?.repositories();
        let repositories = repositories.map_err(|error| {
            let diagnostic = Diagnostic::usage(error.to_string()).code(error.code()).hint(error.instead());
            settings.about(place, diagnostic)
        });
        Some((place, repositories.transpose()?))
    };
    let read = |place: &'a WrittenPlace| read(place).map(|(place, repositories)| Ok((place, repositories?)));
    std::iter::once(&served.from).chain(upstream).filter_map(read).collect()
}

/// The same of a place of modules.
fn of_modules<'a>(
    settings: &Settings,
    served: &'a ServedModules,
    spelt: &dyn Fn(String) -> String,
) -> Vec<(&'a WrittenPlace, TemplateRepositories<ModuleAddr>)> {
    let read = |place: &'a WrittenPlace| {
        if let Ok(template) = place.text.parse::<GitTemplate>() {
            return Some((place, TemplateRepositories::Layouts(template.after_scheme())));
        }
        let is_other = place.text == ORIGIN || ["bundle:", "static:"].iter().any(|kind| place.text.starts_with(kind));
        let repositories = spelt(settings.located(&place.text)).parse().ok().filter(|_| !is_other)?;
        Some((place, repositories))
    };
    let upstream = served.pull.iter().flat_map(|pull| &pull.upstream);
    std::iter::once(&served.from).chain(upstream).filter_map(read).collect()
}

fn refused(settings: &Settings, place: &WrittenPlace, error: &NotOneToOne) -> Diagnostic {
    // The template of git repositories was compared as one of folders.
    let spelt = |text: String| match place.text.split_once("://") {
        Some((scheme, _)) if GitTemplate::is_meant(&place.text) => text.replace("oci:", &format!("{scheme}://")),
        None if GitTemplate::is_meant(&place.text) => text.replace("oci:", "git::ssh://"),
        _ => text,
    };
    let diagnostic = Diagnostic::usage(spelt(error.to_string())).code(error.code());
    let is_one = !place.text.contains("${") && !place.text.contains("%{");
    let diagnostic = match (error, settings.is_of_file()) {
        (NotOneToOne::Meeting { of, .. }, is_of_file) if is_one => diagnostic.hint(only_one(*of, is_of_file)),
        (NotOneToOne::Meeting { .. }, false) => {
            diagnostic.hint(spelt(error.instead())).hint("--include and --include-modules say what is served")
        }
        _ => diagnostic.hint(spelt(error.instead())),
    };
    settings.about(place, diagnostic)
}

/// How to name what a repository without symbols holds.
fn only_one(of: TemplateOf, is_of_file: bool) -> String {
    let (option, address) = match of {
        TemplateOf::Providers => ("--include", "HOST/NAMESPACE/TYPE"),
        TemplateOf::Modules => ("--include-modules", "HOST/NAMESPACE/NAME/SYSTEM"),
    };
    if is_of_file {
        return format!("name what it holds: include = [\"{address}\"]");
    }
    format!("name what it holds: {option} {address}")
}
