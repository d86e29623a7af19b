//! `check --list-rules`.

use serde::Serialize;
use tofu_oci_checker::{CheckRule, Group};

use crate::page::{Line, Page};
use crate::printer;
use crate::report::json_line;
use crate::verbs::context::Context;

#[derive(Serialize)]
struct RuleLine {
    event: &'static str,
    rule: &'static str,
    level: &'static str,
    group: &'static str,
    finds: &'static str,
}

/// The rules, each with its level and what it finds, by what they are about.
pub(super) fn print(context: &Context, rules: impl Iterator<Item = &'static CheckRule>) {
    let rules: Vec<&CheckRule> = rules.collect();
    let width = rules.iter().map(|rule| rule.id.len()).max().unwrap_or_default();
    let mut page = Page::default();
    for group in Group::ALL {
        let of_group: Vec<_> = rules.iter().filter(|rule| rule.group == group).collect();
        if of_group.is_empty() {
            continue;
        }
        page.push(Line::default().styled(anstyle::Style::new().bold(), group.title()));
        for rule in of_group {
            let (level, group) = (rule.level.word(), group.title());
            if context.json {
                json_line(&RuleLine { event: "rule", rule: rule.id, level, group, finds: rule.finds });
            }
            page.line(format_args!("  {level:<7}  {:<width$}  {}", rule.id, rule.finds));
        }
        page.gap();
    }
    if !context.json {
        printer::stdout(&page);
    }
}
