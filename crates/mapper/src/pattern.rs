//! The lists of provider patterns of a method.

use tofu_oci_types::{InvalidPattern, Pattern, ProviderAddr};

/// Which providers a method is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// The providers it is for; empty for all of them.
    pub include: Vec<Pattern>,
    /// The providers it is not for, whatever `include` says.
    pub exclude: Vec<Pattern>,
}

/// The answer of a selector for an address. The number is the place of the pattern in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// In, because there is no `include`.
    All,
    /// In, by this pattern of `include`.
    Included(usize),
    /// Out, because no pattern of `include` matches.
    NotIncluded,
    /// Out, by this pattern of `exclude`.
    Excluded(usize),
}

impl Selection {
    /// Whether the method or rule is selected.
    pub fn is_in(&self) -> bool {
        matches!(self, Self::All | Self::Included(_))
    }
}

impl Selector {
    /// Reads both lists as `OpenTofu` does; the first invalid pattern is the error.
    ///
    /// # Errors
    /// The list, the place in it and what is wrong with that pattern.
    pub fn parse(include: &[String], exclude: &[String]) -> Result<Self, (PatternList, usize, InvalidPattern)> {
        let read = |list: &[String], name| {
            list.iter()
                .enumerate()
                .map(|(index, text)| text.parse().and_then(Pattern::for_opentofu).map_err(|error| (name, index, error)))
                .collect::<Result<Vec<Pattern>, _>>()
        };
        Ok(Self { include: read(include, PatternList::Include)?, exclude: read(exclude, PatternList::Exclude)? })
    }

    /// The answer for `address`: `exclude` beats `include`, and an empty `include` means all.
    pub fn select(&self, address: &ProviderAddr) -> Selection {
        let first = |list: &[Pattern]| list.iter().position(|pattern| pattern.matches(address));
        if let Some(index) = first(&self.exclude) {
            return Selection::Excluded(index);
        }
        if self.include.is_empty() {
            return Selection::All;
        }
        first(&self.include).map_or(Selection::NotIncluded, Selection::Included)
    }
}

/// One of the two lists of a selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternList {
    /// `include`.
    Include,
    /// `exclude`.
    Exclude,
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use tofu_oci_types::Hostname;

    use super::*;

    /// The wildcard for a whole part.
    const WILDCARD: &str = "*";
    use tofu_oci_vectors::Vectors;

    #[track_caller]
    fn refused(pattern: &str, code: &str) {
        let error = pattern.parse::<Pattern>().expect_err(pattern);
        assert_eq!(error.code(), code, "{pattern:?}: {error}");
    }

    #[test]
    fn every_pattern_of_the_table() {
        Vectors::open("include_exclude.json").each("patterns", |case| {
            let pattern = case["pattern"].as_str().expect("a text");
            if case["ok"] == false {
                refused(pattern, case["error"].as_str().expect("a code"));
                return;
            }
            let parsed: Pattern = pattern.parse().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(case["hostname"], parsed.hostname().map_or(WILDCARD, Hostname::as_str), "{pattern}");
            assert_eq!(case["namespace"], parsed.namespace().unwrap_or(WILDCARD), "{pattern}");
            assert_eq!(case["type"], parsed.provider_type().unwrap_or(WILDCARD), "{pattern}");
            assert_eq!(parsed.to_string(), pattern);
        });
    }

    #[test]
    fn every_selector_of_the_table() {
        Vectors::open("include_exclude.json").each("selectors", |case| {
            let list = |name: &str| -> Vec<String> {
                let texts = case[name].as_array().expect("a list").iter();
                texts.map(|text| text.as_str().expect("a text").to_owned()).collect()
            };
            let selector = Selector::parse(&list("include"), &list("exclude")).expect("patterns");
            let address: ProviderAddr = case["provider"].as_str().expect("a text").parse().expect("an address");
            assert_eq!(case["matches"], selector.select(&address).is_in(), "{case}");
        });
    }

    #[test]
    fn a_selection_names_the_pattern() {
        let texts = |list: &[&str]| -> Vec<String> { list.iter().map(|text| (*text).to_owned()).collect() };
        let select = |include: &[&str], exclude: &[&str]| {
            let address: ProviderAddr = "example.com/acme/widget".parse().expect("an address");
            Selector::parse(&texts(include), &texts(exclude)).expect("patterns").select(&address)
        };
        assert_eq!(select(&[], &[]), Selection::All);
        assert_eq!(select(&["a/b", "example.com/*/*"], &[]), Selection::Included(1));
        assert_eq!(select(&["a/b"], &[]), Selection::NotIncluded);
        assert_eq!(select(&["example.com/acme/widget"], &["a/b", "*/*/*"]), Selection::Excluded(1));
        let error = Selector::parse(&texts(&["a/b", "x"]), &texts(&["*"])).expect_err("no patterns");
        assert_eq!((error.0, error.1), (PatternList::Include, 1));
    }

    #[test]
    fn full_width_dots_and_dashes_are_refused_as_in_addresses() {
        refused("example.com/\u{ff0e}\u{ff0e}/x", "invalid-namespace");
        refused("example.com/x/\u{ff0e}\u{ff0e}", "invalid-type");
        refused("a\u{3002}b/*", "invalid-namespace");
        refused("foo\u{ff0d}\u{ff0d}bar/*", "invalid-namespace");
        refused("example.com:-5/*/*", "invalid-hostname");
        refused("\u{ff0a}/*", "invalid-namespace");
        refused("*\u{ad}/*", "invalid-namespace");
        refused("\u{ff0a}/*/*", "invalid-hostname");
    }

    #[test]
    fn patterns_meet_and_cover_each_other() {
        let pattern = |text: &str| text.parse::<Pattern>().expect("a pattern");
        let check = |one: &str, other: &str, overlaps: bool, covers: bool| {
            assert_eq!(pattern(one).overlaps(&pattern(other)), overlaps, "{one} {other}");
            assert_eq!(pattern(other).overlaps(&pattern(one)), overlaps, "{other} {one}");
            assert_eq!(pattern(one).covers(&pattern(other)), covers, "{one} {other}");
        };
        check("*/*/*", "example.com/a/b", true, true);
        check("example.com/a/b", "*/*/*", true, false);
        check("*/*", "example.com/a/b", false, false);
        check("example.com/a/*", "example.com/*/*", true, false);
        check("example.com/a/*", "example.com/a/b", true, true);
        check("example.com/a/*", "example.com/b/*", false, false);
        check("EXAMPLE.com:443/a/b", "example.com/a/b", true, true);
    }

    #[test]
    fn says_what_is_wrong_and_what_to_write() {
        let said = |pattern: &str| {
            let error = pattern.parse::<Pattern>().expect_err(pattern);
            format!("{error}; {}", error.instead())
        };
        assert_snapshot!(said("widget"), @r#"`widget` is not a pattern of providers: it must read [HOST/]NAMESPACE/TYPE; write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*""#);
        assert_snapshot!(said("*/widget"), @"`*/widget` is not a pattern of providers: a namespace can be * only if the type is * too; write the namespace, or * for the type too");
        assert_snapshot!(said("*/acme/*"), @"`*/acme/*` is not a pattern of providers: the host can be * only if the namespace and the type are * too; write the host, or */*/* for every provider");
        assert_snapshot!(said("acme/wid*"), @r#"`acme/wid*` is not a pattern of providers: the type has a * that is not alone: a wildcard stands for the whole part; write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*""#);
        assert_snapshot!(said("registry.example.com/*"), @r#"`registry.example.com/*` is not a pattern of providers: with a host it reads registry.example.com/*/*; write "registry.example.com/*/*""#);
        assert_snapshot!(said("r.test/widget"), @r#"`r.test/widget` is not a pattern of providers: with a host it reads r.test/NAMESPACE/widget; write "r.test/widget/*" or "r.test/NAMESPACE/widget""#);
        assert_snapshot!(said("acme/"), @r#"`acme/` is not a pattern of providers: the type is empty; write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*""#);
        assert_snapshot!(said("a--b/*"), @r#"`a--b/*` is not a pattern of providers: the namespace may contain only letters, digits, and single dashes between them; write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*""#);
    }
}
