//! `docs/check.md` says of each rule what the rule says.

use std::fmt::Write as _;

use super::rules;
use crate::model::Group;

#[test]
fn every_rule_is_documented_as_it_is() {
    let guide = include_str!("../../../../../docs/check.md").replace("\r\n", "\n");
    let (_, reported) = guide.split_once("## The rules\n\n").expect("the guide lists the rules");
    let mut want = Vec::new();
    for group in Group::ALL {
        want.push(format!("### {}\n", group.title()));
        for rule in rules().filter(|rule| rule.group == group) {
            let mut text = format!("#### `{}`\n\n{}: {}.\n\n{}\n\n", rule.id, rule.level.word(), rule.finds, rule.why);
            let _ = write!(text, "- What to do: {}.\n- Where it follows from: {}.\n", rule.mend, rule.spec);
            want.push(text);
        }
    }
    assert_eq!(reported, want.join("\n"));
}
