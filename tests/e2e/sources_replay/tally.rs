//! The two columns.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use super::{Column, Judged, case};

/// The decision that is about every case with an error in the CLI configuration.
pub(super) const ERRORS_STOP: &str = "errors-stop";

/// What the comparison of all cases gives.
#[derive(Default)]
pub(super) struct Tally {
    /// The cases of each column, by group.
    groups: BTreeMap<String, [usize; 2]>,
    /// The cases of each decision, by name and outcome.
    intended: BTreeMap<(&'static str, String), BTreeSet<String>>,
    /// The cases that are as measured, by outcome.
    same: BTreeMap<String, BTreeSet<String>>,
    /// What is neither as measured nor as decided.
    pub(super) bad: Vec<String>,
}

impl Tally {
    pub(super) fn add(&mut self, case: &Value, judged: Result<Judged, String>) {
        let name = case::name(case).to_owned();
        let Judged { column, run } = match judged {
            Ok(judged) => judged,
            Err(what) => return self.bad.push(format!("{name}: {what}")),
        };
        let group = case["group"].as_str().unwrap_or_default().to_owned();
        let count = self.groups.entry(group).or_default();
        let outcome = match run.code {
            Some(code) => format!("exit {} {code}", run.exit.unwrap_or(-1)),
            None => format!("exit {}", run.exit.unwrap_or(-1)),
        };
        let (nth, names) = match column {
            Column::Same => (0, self.same.entry(outcome).or_default()),
            Column::Intended(decision) => (1, self.intended.entry((decision, outcome)).or_default()),
        };
        count[nth] += 1;
        names.insert(name);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
        for (group, [same, intended]) in &self.groups {
            writeln!(f, "{group}: {same} same, {intended} intended differences")?;
        }
        let [same, intended] = [0, 1].map(|nth| self.groups.values().map(|count| count[nth]).sum::<usize>());
        writeln!(f, "{} cases: {same} same, {intended} intended differences", same + intended + self.bad.len())?;
        for ((decision, outcome), names) in &self.intended {
            writeln!(f, "intended, {decision}, {outcome}: {}", list(names))?;
        }
        for (outcome, names) in &self.same {
            writeln!(f, "same, {outcome}: {}", list(names))?;
        }
        Ok(())
    }
}
