//! Settings by which a client would choose the host that is asked: they are refused.
//!
//! The bridge asks no host that its settings do not name. A client chooses the parts of an address for which `include` has
//! a wildcard; none of them may lead to a host.

use tofu_oci_bridge::{ServedModules, ServedProviders, WrittenPlace};
use tofu_oci_mapper::{ModuleRepositories, Symbol, TemplateAddress as _};
use tofu_oci_mirror::GitTemplate;
use tofu_oci_types::{ModuleAddr, ProviderAddr};

use super::settings::Settings;
use crate::diagnostic::Diagnostic;
use crate::ends::From;
use crate::lookup::ORIGIN;

/// Refuses places that lead to whatever host a client names.
pub(super) fn refuse(settings: &Settings) -> Result<(), Diagnostic> {
    for served in &settings.config.modules {
        let upstream = served.pull.iter().flat_map(|pull| &pull.upstream);
        for place in std::iter::once(&served.from).chain(upstream) {
            let Some(problem) = module_problem(served, place) else { continue };
            let instead = if place.span.is_empty() {
                "name what it may be: --include-modules 'registry.example.com/acme/*/*'"
            } else if place.text == ORIGIN {
                "name the hosts: include = [\"registry.terraform.io/*/*/*\", \"registry.opentofu.org/*/*/*\"]"
            } else {
                "name what it may be: include = [\"registry.example.com/acme/*/*\"]; or write the registry into the template"
            };
            let diagnostic = Diagnostic::usage(problem).code("settings-invalid");
            return Err(settings.about(place, diagnostic.hint(instead)));
        }
    }
    for served in &settings.config.providers {
        let upstream = served.pull.iter().flat_map(|pull| &pull.upstream);
        for place in std::iter::once(&served.from).chain(upstream) {
            if let Some(problem) = problem(served, place) {
                let diagnostic = Diagnostic::usage(problem).code("settings-invalid");
                return Err(settings.about(place, diagnostic.hint(instead(served, place))));
            }
        }
    }
    Ok(())
}

fn problem(served: &ServedProviders, place: &WrittenPlace) -> Option<String> {
    if place.text == ORIGIN {
        let open = served.include.iter().find(|pattern| pattern.hostname().is_none())?;
        return Some(open_host("\"direct\" asks the host of each provider", open));
    }
    let Ok(From::Repositories(template)) = From::parse(&place.text) else { return None };
    let symbol = template.open_in_registry(&served.include).into_iter().next()?;
    let open = served.include.iter().find(|pattern| ProviderAddr::literal(pattern, symbol).is_none())?;
    Some(open_host(&depends(symbol), open))
}

fn module_problem(served: &ServedModules, place: &WrittenPlace) -> Option<String> {
    if place.text == ORIGIN {
        let open = served.include.iter().find(|pattern| pattern.hostname().is_none())?;
        return Some(open_host("\"direct\" asks the host of each module", open));
    }
    let template = match place.text.parse::<GitTemplate>() {
        Ok(template) => template.after_scheme(),
        Err(_) => match place.text.parse() {
            Ok(ModuleRepositories::Registry(template)) => template,
            _ => return None,
        },
    };
    let symbol = template.open_in_registry(&served.include).into_iter().next()?;
    let open = served.include.iter().find(|pattern| ModuleAddr::literal(pattern, symbol).is_none())?;
    Some(open_host(&depends(symbol), open))
}

fn depends(symbol: Symbol) -> String {
    format!("the registry of the template depends on ${{{}}}", symbol.name())
}

fn open_host(what: &str, open: &impl std::fmt::Display) -> String {
    format!("{what}, and `include` has {open}: a client could make the server ask any host")
}

fn instead(served: &ServedProviders, place: &WrittenPlace) -> String {
    let names_hosts = served.include.iter().all(|pattern| pattern.hostname().is_some());
    if place.span.is_empty() {
        return "name what it may be: --include 'registry.example.com/acme/*'".to_owned();
    }
    if names_hosts && place.text != ORIGIN {
        return "name what it may be: include = [\"registry.example.com/acme/*\"]; or write the registry into the template"
            .to_owned();
    }
    "name the hosts: include = [\"registry.terraform.io/*/*\", \"registry.opentofu.org/*/*\"]".to_owned()
}
