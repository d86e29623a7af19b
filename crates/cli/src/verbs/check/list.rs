//! `check --list-rules`.

use serde::Serialize;
use tofu_oci_checker::{CheckRule, Group};

use crate::page::{Line, Page};
use crate::report::JsonLines;
use crate::verbs::context::Context;

#[derive(Serialize)]
#[serde(tag = "event", rename = "rule")]
struct RuleLine {
    rule: &'static str,
    level: &'static str,
    group: &'static str,
    finds: &'static str,
}

/// The rules, each with its level and what it finds, by what they are about.
pub(super) fn print(context: &Context, rules: impl Iterator<Item = &'static CheckRule>) {
    let rules: Vec<&CheckRule> = rules.collect();
    let groups = Group::ALL.map(|group| (group, rules.iter().filter(|rule| rule.group == group).collect::<Vec<_>>()));
    let lines = |lines: &JsonLines| {
        for (group, rules) in &groups {
            let group = group.title();
            lines.add_all(rules.iter().map(|CheckRule { id: rule, level, finds, .. }| RuleLine {
                rule,
                level: level.word(),
                group,
                finds,
            }));
        }
    };
    context.emit_all(lines, || {
        let width = rules.iter().map(|rule| rule.id.len()).max().unwrap_or_default();
        let mut page = Page::default();
        for (group, rules) in groups.iter().filter(|(_, rules)| !rules.is_empty()) {
            page.push(Line::default().styled(anstyle::Style::new().bold(), group.title()));
            for rule in rules {
                page.line(format_args!("  {:<7}  {:<width$}  {}", rule.level.word(), rule.id, rule.finds));
            }
            page.gap();
        }
        page
    });
}
