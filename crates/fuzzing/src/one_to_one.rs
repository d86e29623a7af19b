//! Rules that send addresses to places: each line is a pattern, a space and a template. Two addresses that are named as one
//! place have one place, and no two short addresses have one if none are named.

use std::collections::BTreeMap;
use std::str::FromStr;

use tofu_oci_mapper::{
    AddressRule, NotOneToOne, TemplateAddress, TemplatePlace, TemplateRepositories, check_one_to_one,
};
use tofu_oci_types::{ModuleAddr, ModulePattern, Pattern, Predecessors, ProviderAddr};

use crate::input::text_of;
use crate::seeds;

/// The most rules that are tried.
const MOST: usize = 4;

/// Parts of addresses that meet easily.
const PARTS: [&str; 5] = ["a", "b", "a-a", "a-b", "a-a-a"];

/// Judges the rules.
pub fn run(bytes: &[u8]) {
    let text = text_of(bytes);
    let of = |host: &str, end: &str| -> Vec<String> {
        PARTS.iter().flat_map(|one| PARTS.map(|other| format!("{host}/{one}/{other}{end}"))).collect()
    };
    judge::<ProviderAddr, _>(text, &[of("a.test", ""), of("b.test", "")].concat(), Pattern::matches);
    judge::<ModuleAddr, _>(text, &[of("a.test", "/a"), of("a.test", "/b-a")].concat(), ModulePattern::matches);
}

/// Rules for addresses of one kind; the first rule whose pattern matches counts.
fn judge<A: TemplateAddress + FromStr, M: Fn(&A::Pattern, &A) -> bool>(text: &str, short: &[String], matches: M)
where
    A::Pattern: FromStr,
    TemplateRepositories<A>: FromStr + Clone,
{
    let rule = |line: &str| {
        let (pattern, template) = line.split_once(' ')?;
        Some((pattern.parse().ok()?, template.parse().ok()?))
    };
    let written: Vec<(A::Pattern, TemplateRepositories<A>)> = text.lines().filter_map(rule).take(MOST).collect();
    let rules: Vec<AddressRule<'_, A>> = written
        .iter()
        .map(|(pattern, places)| AddressRule::new(std::slice::from_ref(pattern), &[], [places.clone()]))
        .collect();
    let rule_of = |address: &A| written.iter().position(|(pattern, _)| matches(pattern, address));
    let place = |text: &str| {
        let address: A = text.parse().ok()?;
        written[rule_of(&address)?].1.place(&address).ok()
    };
    match check_one_to_one(&rules, &|rule, address| rule_of(address) == Some(rule), Predecessors::NONE) {
        Ok(()) => {
            let mut known = BTreeMap::new();
            for address in short {
                if let Some(TemplatePlace::Registry(place)) = place(address) {
                    let other = known.insert(place.to_string(), address);
                    assert!(other.is_none(), "{address} and {other:?} both get {place}: {text}");
                }
            }
        }
        Err(NotOneToOne::Meeting { first, second, .. }) => {
            assert_ne!(first, second, "{text}");
            assert!(place(&first).is_some() && place(&second).is_some(), "{first} {second}: {text}");
        }
        Err(error) => assert!(!error.instead().is_empty()),
    }
}

/// Rules of one kind and of both.
pub fn seeds() -> Vec<Vec<u8>> {
    seeds::of([
        "a.test/*/* r.test/${namespace}-${type}",
        "*/*/* r.test/${hostname}/${namespace}/${type}",
        "a.test/a/* r.test/own/${type}\n*/*/* r.test/${namespace}/${type}",
        "a.test/*/* oci:lay/${type}/../${namespace}\nb.test/*/* R.test:443/${type}/x/${namespace}",
        "a.test/*/*/* r.test/${namespace}-${name}-${target_system}",
        "a.test/*/*/a r.test/${namespace}/${name}\n*/*/*/* r.test/${target_system}/${name}/${namespace}",
        "a.test/*/* r.test/%{if namespace == \"a\"}own%{else}${namespace}%{endif}/${type}",
    ])
}
