//! Providers and modules in one place.

use std::cell::RefCell;

use tofu_oci_types::{ModuleAddr, Place, Predecessors, ProviderAddr};

use super::meeting::{MappedRegion, SearchEnd, search};
use super::parts::PartRange;
use super::regions::AddressRegion;
use super::{AddressRule, address_of, regions_of, rows_of};
use crate::{TemplateAddress, TemplateOf};

/// A provider and a module that these rules send to one place, if the search finds them. Each kind has its rules, and what says
/// whether the rule of a number counts for an address.
pub fn provider_and_module_in_one_place(
    providers: &[AddressRule<'_, ProviderAddr>],
    is_of_provider: &dyn Fn(usize, &ProviderAddr) -> bool,
    modules: &[AddressRule<'_, ModuleAddr>],
    is_of_module: &dyn Fn(usize, &ModuleAddr) -> bool,
    predecessors: &Predecessors,
) -> Option<(ProviderAddr, ModuleAddr, Place)> {
    // A provider's type is read as a module's name, and its target is of no account.
    let of_providers = mapped(providers, regions_of(providers, is_of_provider, predecessors)).map(|mut mapped| {
        mapped.region.parts.push(PartRange::Fixed("x".to_owned()));
        mapped
    });
    let of_modules: Vec<_> = mapped(modules, regions_of(modules, is_of_module, predecessors)).collect();
    let found = RefCell::new(None);
    for one in of_providers {
        for other in &of_modules {
            let pair = |first: &[String], second: &[String]| {
                let provider = address_of::<ProviderAddr>(first.get(..3)?)?;
                let module = address_of::<ModuleAddr>(second)?;
                let place = providers[one.from.0].places[one.from.1].place(&provider).ok().map(Place::from)?;
                let same = modules[other.from.0].places[other.from.1].place(&module).ok().map(Place::from)?;
                let counts = is_of_provider(one.from.0, &provider) && is_of_module(other.from.0, &module);
                (counts && place == same).then_some((provider, module, place))
            };
            let is_meeting = |first: &[String], second: &[String]| {
                let pair = pair(first, second);
                let is_found = pair.is_some();
                *found.borrow_mut() = pair;
                is_found
            };
            if search(TemplateOf::Modules, (&one, other), true, &is_meeting) == SearchEnd::Meeting {
                return found.into_inner();
            }
        }
    }
    None
}

/// The regions with their places; without those whose places are computed.
fn mapped<A: TemplateAddress>(
    rules: &[AddressRule<'_, A>],
    regions: Vec<(AddressRegion, usize)>,
) -> impl Iterator<Item = MappedRegion> {
    regions.into_iter().flat_map(|(region, rule)| {
        let places = rules[rule].places.iter().enumerate();
        let rows = places.flat_map(|(number, repositories)| {
            let rows = rows_of(repositories, &region).unwrap_or_default().into_iter();
            rows.map(move |(region, row)| MappedRegion { region, row, from: (rule, number) })
        });
        rows.collect::<Vec<_>>()
    })
}

#[cfg(test)]
mod tests {
    use tofu_oci_types::{ModulePattern, Pattern};

    use super::*;

    /// The pair of a rule for providers and one for modules.
    fn pair((providers, from): (&str, &str), (modules, modules_from): (&str, &str)) -> String {
        let include: [Pattern; 1] = [providers.parse().unwrap()];
        let include_modules: [ModulePattern; 1] = [modules.parse().unwrap()];
        let rules = [AddressRule::new(&include, &[], [from.parse().unwrap()])];
        let of_modules = [AddressRule::new(&include_modules, &[], [modules_from.parse().unwrap()])];
        let is_of_provider = |_: usize, address: &ProviderAddr| include[0].matches(address);
        let is_of_module = |_: usize, address: &ModuleAddr| include_modules[0].matches(address);
        let none = Predecessors::NONE;
        match provider_and_module_in_one_place(&rules, &is_of_provider, &of_modules, &is_of_module, none) {
            Some((provider, module, place)) => format!("{provider} {module} {place}"),
            None => "none".to_owned(),
        }
    }

    #[test]
    fn a_provider_and_a_module_shared_a_repository_without_a_word() {
        let providers = ("a.test/*/*", "r.test/${namespace}/${type}");
        for (modules, want) in [
            ("r.test/${namespace}/${name}-${target_system}", "a.test/acme/a-b a.test/acme/a/b r.test/acme/a-b"),
            ("r.test/${namespace}/net", "a.test/acme/net a.test/acme/network/aws r.test/acme/net"),
            ("r.test/${namespace}/${name}/${target_system}", "none"),
            ("r.test/${namespace}/m-${name}.${target_system}", "none"),
            ("u.test/${namespace}/${name}-${target_system}", "none"),
            ("oci:r.test/${namespace}/${name}-${target_system}", "none"),
        ] {
            assert_eq!(pair(providers, ("a.test/*/*/*", modules)), want, "{modules}");
        }
        let one = ("a.test/acme/zap", "r.test/acme/zap");
        assert_eq!(pair(one, ("a.test/*/*/*", "r.test/${namespace}/${name}-${target_system}")), "none");
        assert_eq!(
            pair(one, ("a.test/acme/net/aws", "r.test/acme/zap")),
            "a.test/acme/zap a.test/acme/net/aws r.test/acme/zap"
        );
        assert_eq!(
            pair(("a.test/*/*", "oci:d/${type}"), ("a.test/*/*/*", "oci:d/${name}")),
            "a.test/acme/network a.test/other/network/aws oci:d/network"
        );
    }
}
