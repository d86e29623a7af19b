//! What was found, in four forms.

mod json;
mod junit;
mod sarif;
mod table;

use tofu_oci_checker::{Level, Rule, rules};

use super::{Checked, Context};
use crate::args::Format;
use crate::complaint::Complaint;
use crate::printer;

/// Prints to stdout.
pub(super) fn print(context: &Context, format: Format, checked: &Checked) {
    match format {
        Format::Table => table::render(checked, context.quiet, &mut printer::stdout),
        Format::Json => json::print(checked),
        Format::Junit => printer::document(&junit::render(checked)),
        Format::Sarif => printer::document(&sarif::render(checked)),
    }
}

/// Prints to stdout that nothing could be looked at, for programs that read a document whatever happens.
pub(super) fn print_unreadable(format: Format, target: &str, complaint: &Complaint) {
    match format {
        Format::Table | Format::Json => {}
        Format::Junit => printer::document(&junit::unreadable(target, complaint)),
        Format::Sarif => printer::document(&sarif::unreadable(target, complaint)),
    }
}

/// The rules that the target was looked at by.
fn applied(checked: &Checked) -> Vec<&'static Rule> {
    rules().filter(|rule| checked.groups.contains(&rule.group)).collect()
}

fn count(checked: &Checked, level: Level) -> usize {
    checked.findings.iter().filter(|finding| finding.level() == level).count()
}
