//! Settings by which two providers, or two modules, are served out of one place: they are refused.
//!
//! Rights, `exclude` and trust are about addresses. They hold only if no second address leads to what the first one has.

use tofu_oci_bridge::{ServedModules, ServedProviders, WrittenPlace};
use tofu_oci_mapper::{AddressRule, NotOneToOne, TemplateRepositories, check_one_to_one};
use tofu_oci_types::{ModuleAddr, ProviderAddr};

use super::settings::Settings;
use crate::diagnostic::Diagnostic;
use crate::ends::From;

/// Refuses places that two addresses share, among those that are served and their upstreams.
///
/// # Errors
/// Two such addresses; exit code 2.
pub(super) fn refuse(settings: &Settings) -> Result<(), Diagnostic> {
    let config = &settings.config;
    let predecessors = config.all_predecessors();
    let places = config.providers.iter().map(|served| of_providers(settings, served));
    let places: Vec<_> = places.collect::<Result<_, Diagnostic>>()?;
    let rules = config.providers.iter().zip(&places).map(|(served, places)| {
        let repositories = places.iter().map(|(_, repositories)| repositories.clone());
        AddressRule::new(&served.include, &served.exclude, repositories)
    });
    let rules: Vec<AddressRule<'_, ProviderAddr>> = rules.collect();
    let is_of = |place: usize, address: &ProviderAddr| config.provider_place(&predecessors, address) == Some(place);
    check_one_to_one(&rules, &is_of, &predecessors)
        .map_err(|error| refused(settings, places[error.rule().0][error.rule().1].0, &error))?;
    let modules: Vec<_> = config.modules.iter().map(|served| of_modules(settings, served)).collect();
    let rules =
        config.modules.iter().zip(&modules).map(|(served, repositories)| {
            AddressRule::new(&served.include, &served.exclude, repositories.iter().cloned())
        });
    let rules: Vec<AddressRule<'_, ModuleAddr>> = rules.collect();
    let is_of = |place: usize, address: &ModuleAddr| config.module_place(&predecessors, address) == Some(place);
    check_one_to_one(&rules, &is_of, &predecessors)
        .map_err(|error| refused(settings, &config.modules[error.rule().0].from, &error))
}

/// The repositories of a place and of its upstreams. What has many providers keeps each for itself; what cannot be read is
/// refused elsewhere.
fn of_providers<'a>(
    settings: &Settings,
    served: &'a ServedProviders,
) -> Result<Vec<(&'a WrittenPlace, TemplateRepositories)>, Diagnostic> {
    let upstream = served.pull.iter().flat_map(|pull| &pull.upstream);
    let read = |place: &'a WrittenPlace| {
        let repositories = From::parse(&settings.located(&place.text)).ok()?.repositories();
        let repositories = repositories.map_err(|error| {
            let diagnostic = Diagnostic::usage(error.to_string()).code(error.code()).hint(error.instead());
            settings.about(place, diagnostic)
        });
        Some((place, repositories.transpose()?))
    };
    let read = |place: &'a WrittenPlace| read(place).map(|(place, repositories)| Ok((place, repositories?)));
    std::iter::once(&served.from).chain(upstream).filter_map(read).collect()
}

fn of_modules(settings: &Settings, served: &ServedModules) -> Option<TemplateRepositories<ModuleAddr>> {
    let is_one_file_of_many = ["bundle:", "static:"].iter().any(|kind| served.from.text.starts_with(kind));
    settings.located(&served.from.text).parse().ok().filter(|_| !is_one_file_of_many)
}

fn refused(settings: &Settings, place: &WrittenPlace, error: &NotOneToOne) -> Diagnostic {
    let diagnostic = Diagnostic::usage(error.to_string()).code(error.code()).hint(error.instead());
    let diagnostic = match (settings.is_of_file(), error) {
        (false, NotOneToOne::Meeting { .. }) => diagnostic.hint("--include and --include-modules say what is served"),
        _ => diagnostic,
    };
    settings.about(place, diagnostic)
}
