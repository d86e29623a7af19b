//! The addresses that patterns tell apart: each region is treated as one by every rule.

use std::collections::{BTreeMap, BTreeSet};

use super::parts::{PartGrammar, PartRange, samples};
use crate::{Symbol, TemplateAddress, TemplateOf};

/// The addresses with these parts, in the order of the symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AddressRegion {
    pub(super) parts: Vec<PartRange>,
}

impl AddressRegion {
    /// Whether it is more than one address.
    pub(super) fn is_open(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, PartRange::Open(_)))
    }

    /// The text that a part has in every address; `None` if it may have several.
    pub(super) fn fixed(&self, of: TemplateOf, symbol: Symbol) -> Option<&str> {
        let number = of.symbols().iter().position(|known| *known == symbol)?;
        match &self.parts[number] {
            PartRange::Fixed(text) => Some(text),
            PartRange::Open(_) => None,
        }
    }

    /// The grammar of an open part.
    pub(super) fn grammar(&self, of: TemplateOf, number: usize) -> Option<PartGrammar> {
        match &self.parts[number] {
            PartRange::Fixed(_) => None,
            PartRange::Open(excluded) => {
                Some(PartGrammar::new(of.symbols()[number], of == TemplateOf::Modules, excluded))
            }
        }
    }

    /// Whether a part can be this text.
    pub(super) fn allows(&self, of: TemplateOf, number: usize, text: &str) -> bool {
        match &self.parts[number] {
            PartRange::Fixed(fixed) => fixed == text,
            PartRange::Open(_) => self.grammar(of, number).is_some_and(|grammar| grammar.allows(text)),
        }
    }

    /// The parts of one of its addresses.
    pub(super) fn example(&self, of: TemplateOf) -> Vec<String> {
        let part = |number: usize| match &self.parts[number] {
            PartRange::Fixed(text) => text.clone(),
            PartRange::Open(_) => {
                let fits = |text: &String| self.allows(of, number, text);
                samples(of.symbols()[number]).find(fits).unwrap_or_default()
            }
        };
        (0..self.parts.len()).map(part).collect()
    }

    /// The same addresses in several regions, so that each part either is one of the texts it is compared with or none of them;
    /// `None` if there are too many.
    pub(super) fn split(&self, of: TemplateOf, cases: &[(Symbol, &str)]) -> Option<Vec<Self>> {
        let mut texts: BTreeMap<Symbol, BTreeSet<&str>> = BTreeMap::new();
        for (symbol, text) in cases {
            texts.entry(*symbol).or_default().insert(text);
        }
        let mut regions = vec![self.clone()];
        for (symbol, texts) in texts {
            let Some(number) = of.symbols().iter().position(|known| *known == symbol) else { continue };
            let PartRange::Open(excluded) = &self.parts[number] else { continue };
            let own = texts.iter().filter(|text| self.allows(of, number, text)).map(|text| (*text).to_owned());
            let mut ranges: Vec<PartRange> = own.map(PartRange::Fixed).collect();
            let others = excluded.iter().cloned().chain(texts.iter().map(|text| (*text).to_owned()));
            ranges.push(PartRange::Open(others.collect()));
            if regions.len() * ranges.len() > MOST_CASES {
                return None;
            }
            let with = |region: &Self, range: &PartRange| {
                let mut region = region.clone();
                region.parts[number] = range.clone();
                region
            };
            regions = regions.iter().flat_map(|region| ranges.iter().map(|range| with(region, range))).collect();
        }
        Some(regions)
    }
}

/// The most regions that the conditions of one template make of one.
const MOST_CASES: usize = 1000;

/// All addresses, in regions: those of a pattern without those of the patterns within it. A pattern for one host divides every host
/// that counts as one with it, so that two of their regions have the same namespaces and names, or none in common.
pub(super) fn regions<'p, A: TemplateAddress<Pattern: 'p>>(
    patterns: impl Iterator<Item = &'p A::Pattern>,
    are_one_host: &dyn Fn(&str, &str) -> bool,
) -> Vec<AddressRegion> {
    let symbols = A::OF.symbols();
    let named: Vec<Vec<&str>> =
        patterns.map(|pattern| symbols.iter().map_while(|symbol| A::literal(pattern, *symbol)).collect()).collect();
    let hosts: BTreeSet<&str> = named.iter().filter_map(|parts| parts.first().copied()).collect();
    let mut nodes: BTreeSet<Vec<&str>> = BTreeSet::from([Vec::new()]);
    for parts in &named {
        let Some((own, within)) = parts.split_first() else { continue };
        for host in hosts.iter().filter(|host| *host == own || are_one_host(host, own)) {
            nodes.extend((0..=within.len()).map(|length| [&[*host], &within[..length]].concat()));
        }
    }
    let mut within: BTreeMap<&[&str], Vec<String>> = BTreeMap::new();
    for node in &nodes {
        if let Some((last, outer)) = node.split_last() {
            within.entry(outer).or_default().push((*last).to_owned());
        }
    }
    let region = |node: &Vec<&str>| {
        let mut parts: Vec<PartRange> = node.iter().map(|text| PartRange::Fixed((*text).to_owned())).collect();
        parts.push(PartRange::Open(within.get(node.as_slice()).cloned().unwrap_or_default()));
        parts.resize(symbols.len().max(parts.len()), PartRange::Open(Vec::new()));
        parts.truncate(symbols.len());
        AddressRegion { parts }
    };
    nodes.iter().map(region).collect()
}

#[cfg(test)]
mod tests {
    use tofu_oci_types::{Pattern, ProviderAddr};

    use super::*;

    fn shown(regions: &[AddressRegion]) -> Vec<String> {
        let part = |part: &PartRange| match part {
            PartRange::Fixed(text) => text.clone(),
            PartRange::Open(excluded) if excluded.is_empty() => "*".to_owned(),
            PartRange::Open(excluded) => format!("*-{}", excluded.join("-")),
        };
        regions.iter().map(|region| region.parts.iter().map(part).collect::<Vec<_>>().join("/")).collect()
    }

    #[test]
    fn patterns_within_others_make_regions_of_their_own() {
        let patterns: Vec<Pattern> =
            ["a.test/x/*", "a.test/y/z", "*/*/*", "b.test/*/*"].iter().map(|text| text.parse().unwrap()).collect();
        let regions = regions::<ProviderAddr>(patterns.iter(), &|_, _| false);
        let want = ["*-a.test-b.test/*/*", "a.test/*-x-y/*", "a.test/x/*", "a.test/y/*-z", "a.test/y/z", "b.test/*/*"];
        assert_eq!(shown(&regions), want);
        assert_eq!(regions[0].example(TemplateOf::Providers), ["registry.example.com", "acme", "zap"]);
    }

    #[test]
    fn hosts_that_count_as_one_are_split_alike() {
        let patterns: Vec<Pattern> = ["a.test/x/*", "b.test/*/*"].iter().map(|text| text.parse().unwrap()).collect();
        let regions = regions::<ProviderAddr>(patterns.iter(), &|one, other| one != other);
        assert_eq!(
            shown(&regions),
            ["*-a.test-b.test/*/*", "a.test/*-x/*", "a.test/x/*", "b.test/*-x/*", "b.test/x/*"]
        );
    }

    #[test]
    fn conditions_split_a_region() {
        let region = &regions::<ProviderAddr>(["a.test/*/*".parse().unwrap()].iter(), &|_, _| false)[1];
        let cases =
            [(Symbol::Namespace, "own"), (Symbol::Hostname, "b.test"), (Symbol::Type, "No"), (Symbol::Type, "t")];
        let split = region.split(TemplateOf::Providers, &cases).unwrap();
        assert_eq!(shown(&split), ["a.test/own/t", "a.test/own/*-No-t", "a.test/*-own/t", "a.test/*-own/*-No-t"]);
    }
}
