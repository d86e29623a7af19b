//! Every rule. `cargo xtask fixtures` writes `docs/reference/rules.md` from them.

pub(crate) mod annotations;
pub(crate) mod drift;
pub(crate) mod index;
pub(crate) mod leaf;
pub(crate) mod lock_file;
pub(crate) mod modules;
pub(crate) mod package;
pub(crate) mod registry;
pub(crate) mod signatures;
pub(crate) mod tags;

use crate::model::CheckRule;

/// Every rule, by group.
pub fn rules() -> impl Iterator<Item = &'static CheckRule> {
    [
        tags::ALL,
        index::ALL,
        leaf::ALL,
        package::ALL,
        annotations::ALL,
        signatures::ALL,
        drift::ALL,
        lock_file::ALL,
        registry::ALL,
        modules::ALL,
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// The rule of this name.
pub fn rule(id: &str) -> Option<&'static CheckRule> {
    rules().find(|rule| rule.id == id)
}

/// Whether a rule reads the contents of packages, so that it finds nothing if they were not read.
pub fn needs_packages(rule: &CheckRule) -> bool {
    package::READ.contains(&rule) || modules::READ.contains(&rule) || *rule == annotations::ANNOTATION_H1
}

/// Whether a rule compares a lock file with a repository, so that it finds nothing if none was read.
pub fn needs_repository(rule: &CheckRule) -> bool {
    lock_file::ASKED.contains(&rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_kebab_case() {
        let mut names: Vec<&str> = rules().map(|rule| rule.id).collect();
        assert!(
            names
                .iter()
                .all(|name| name.chars().all(|one| one.is_ascii_lowercase() || one == '-' || one.is_ascii_digit()))
        );
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn every_rule_says_what_why_where_and_what_to_do() {
        for rule in rules() {
            for text in [rule.finds, rule.why, rule.spec, rule.fix] {
                assert!(!text.is_empty() && !text.contains('\n'), "{}", rule.id);
            }
            assert!(!rule.finds.ends_with('.') && !rule.fix.ends_with('.') && rule.why.ends_with('.'), "{}", rule.id);
        }
    }
}
