//! The providers that two methods have in common.
//!
//! Wildcards fill a pattern only from the right, so two patterns have no provider in common, or one covers the other. A
//! wildcard means endlessly many names. So an `exclude` leaves nothing of a pattern exactly if one of its patterns
//! covers it.

use tofu_oci_types::ProviderAddr;

use crate::{Pattern, Selector};

/// The patterns of the providers that both selectors take, none of them covered by another one.
pub fn meet(one: &Selector, other: &Selector) -> Vec<Pattern> {
    let mut found: Vec<Pattern> = Vec::new();
    for left in included(one) {
        for right in included(other) {
            if !left.overlaps(&right) {
                continue;
            }
            let narrow = if left.covers(&right) { right } else { left.clone() };
            let gone = one.exclude.iter().chain(&other.exclude).any(|exclude| exclude.covers(&narrow));
            if !gone && !covered(&narrow, &found) {
                found.retain(|known| !narrow.covers(known));
                found.push(narrow);
            }
        }
    }
    found
}

impl Selector {
    /// Whether there is a provider that both take.
    pub fn overlaps(&self, other: &Self) -> bool {
        !meet(self, other).is_empty()
    }
}

/// The patterns of the providers that a selector takes.
pub fn region(selector: &Selector) -> Vec<Pattern> {
    meet(selector, &Selector::default())
}

/// The exceptions of a selector: the patterns of `exclude` within `pattern`.
pub fn without<'a>(pattern: &Pattern, selectors: &[&'a Selector]) -> Vec<&'a Pattern> {
    let all = selectors.iter().flat_map(|selector| &selector.exclude);
    all.filter(|exclude| pattern.covers(exclude)).collect()
}

/// Whether one of `patterns` covers `pattern`.
pub fn covered(pattern: &Pattern, patterns: &[Pattern]) -> bool {
    patterns.iter().any(|other| other.covers(pattern))
}

fn included(selector: &Selector) -> Vec<Pattern> {
    if selector.include.is_empty() { every().into_iter().collect() } else { selector.include.clone() }
}

fn every() -> Option<Pattern> {
    "*/*/*".parse().ok()
}

/// A pattern with all its three parts.
pub fn full(pattern: &Pattern) -> String {
    let host = pattern.hostname().map_or_else(|| "*".to_owned(), ToString::to_string);
    format!("{host}/{}/{}", pattern.namespace().unwrap_or("*"), pattern.provider_type().unwrap_or("*"))
}

/// Several patterns for people.
pub fn listed(patterns: &[Pattern]) -> String {
    patterns.iter().map(full).collect::<Vec<_>>().join(", ")
}

/// The list `exclude` of a method with `more` in it: its patterns that are still needed, then the new ones.
pub fn merged(exclude: &[String], more: &[Pattern]) -> String {
    let needed = |text: &&String| text.parse::<Pattern>().is_ok_and(|pattern| !covered(&pattern, more));
    let old = exclude.iter().filter(needed).cloned();
    let list: Vec<String> = old.chain(more.iter().map(full)).map(|text| format!("\"{text}\"")).collect();
    format!("[{}]", list.join(", "))
}

/// An example of an address that a pattern selects.
pub fn example(pattern: &Pattern) -> Option<ProviderAddr> {
    let host = pattern.hostname().map_or_else(|| "example.com".to_owned(), |host| host.as_str().to_owned());
    let namespace = pattern.namespace().unwrap_or("example-namespace");
    let provider_type = pattern.provider_type().unwrap_or("example-type");
    format!("{host}/{namespace}/{provider_type}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selector(include: &[&str], exclude: &[&str]) -> Selector {
        let texts = |list: &[&str]| -> Vec<String> { list.iter().map(|text| (*text).to_owned()).collect() };
        Selector::parse(&texts(include), &texts(exclude)).expect("patterns")
    }

    type Lists<'a> = (&'a [&'a str], &'a [&'a str]);

    #[track_caller]
    fn check(one: Lists<'_>, other: Lists<'_>, want: &str) {
        let (one, other) = (selector(one.0, one.1), selector(other.0, other.1));
        assert_eq!(listed(&meet(&one, &other)), want);
        assert_eq!(meet(&other, &one).len(), meet(&one, &other).len());
    }

    #[test]
    fn what_both_take() {
        check((&[], &[]), (&[], &[]), "*/*/*");
        check((&["a.example/*/*"], &[]), (&[], &[]), "a.example/*/*");
        check((&["a.example/*/*"], &[]), (&[], &["a.example/*/*"]), "");
        check((&["a.example/x/*"], &[]), (&[], &["a.example/*/*"]), "");
        check((&["a.example/*/*"], &[]), (&[], &["a.example/x/*"]), "a.example/*/*");
        check((&["a.example/*/*"], &["a.example/x/*"]), (&["a.example/x/y"], &[]), "");
        check((&["a.example/*/*", "b.example/x/y"], &[]), (&["b.example/*/*"], &[]), "b.example/x/y");
        check((&["*/*"], &[]), (&["a.example/*/*"], &[]), "");
        check((&["a.example/*/*", "a.example/x/*"], &[]), (&[], &[]), "a.example/*/*");
        check((&["a.example/x/*", "a.example/*/*"], &[]), (&[], &[]), "a.example/*/*");
    }

    #[test]
    fn an_exclude_is_merged_and_kept_short() {
        let more = region(&selector(&["a.example/*/*"], &[]));
        let old = ["b.example/x/y".to_owned(), "a.example/x/*".to_owned()];
        assert_eq!(merged(&old, &more), r#"["b.example/x/y", "a.example/*/*"]"#);
        assert_eq!(merged(&[], &more), r#"["a.example/*/*"]"#);
    }
}
