//! The outcome of `check`, in four forms.

mod json;
mod junit;
mod sarif;
mod table;

use super::checked::Checked;
use crate::args::FindingsFormat;
use crate::diagnostic::Diagnostic;
use crate::printer;
use crate::verbs::context::Context;

pub(super) fn print(context: &Context, format: FindingsFormat, checked: &Checked) {
    match format {
        FindingsFormat::Table => table::render(checked, context.quiet, &mut printer::stdout),
        FindingsFormat::Json => json::print(checked),
        FindingsFormat::Junit => printer::document(&junit::render(checked)),
        FindingsFormat::Sarif => printer::document(&sarif::render(checked)),
    }
}

/// Prints a document to stdout even if the target is unreadable, for programs that expect one.
pub(super) fn print_unreadable(format: FindingsFormat, target: &str, diagnostic: &Diagnostic) {
    match format {
        FindingsFormat::Table | FindingsFormat::Json => {}
        FindingsFormat::Junit => printer::document(&junit::unreadable(target, diagnostic)),
        FindingsFormat::Sarif => printer::document(&sarif::unreadable(target, diagnostic)),
    }
}

#[cfg(test)]
mod tests {
    use tofu_oci_checker::Rejection;
    use tofu_oci_checker::opentofu::ModulePrediction;
    use tofu_oci_checker::{CheckedAs, Finding, FindingLevel, rules};
    use tofu_oci_types::TofuReleases;

    use super::*;
    use crate::hostile::{HOSTILE, harmless};
    use crate::verbs::check::checked::{Predicted, Unjudged};

    #[test]
    fn no_finding_acts_on_a_terminal_in_any_form() {
        let text = || HOSTILE.to_owned();
        let mut groups = Vec::new();
        for rule in rules() {
            if !groups.contains(&rule.group) {
                groups.push(rule.group);
            }
        }
        let finding = |rule| {
            let (place, text, version) = (text(), text(), Some(text()));
            Finding { rule, place, text, version, platform: None, diff: Some("-a\n+b\n".to_owned()) }
        };
        let why = Diagnostic::new(crate::exit::Exit::Fixable, HOSTILE).cause(HOSTILE).hint(HOSTILE);
        let findings: Vec<Finding> = rules().map(finding).collect();
        assert!(findings.len() > 40, "{}", findings.len());
        let mut checked = Checked {
            target: text(),
            looked_at: text(),
            groups,
            lowest: FindingLevel::Note,
            findings,
            not_judged: vec![Unjudged { place: text(), version: Some(text()), platform: None, why }],
            predicted: Some(Predicted::Providers(CheckedAs::Executables(text()), Vec::new())),
            ..Checked::default()
        };
        table::render(&checked, false, &mut |page| harmless(&page.to_string()));
        checked.predicted = Some(Predicted::Modules(vec![ModulePrediction {
            releases: TofuReleases::ALL,
            source: Some(text()),
            reference: Some(text()),
            digest: None,
            installs: false,
            because: Some(Rejection::RepositoryUnreadable),
            detail: text(),
            unread: true,
        }]));
        table::render(&checked, false, &mut |page| harmless(&page.to_string()));
        for document in [
            junit::render(&checked),
            sarif::render(&checked),
            junit::unreadable(HOSTILE, &checked.not_judged[0].why),
            sarif::unreadable(HOSTILE, &checked.not_judged[0].why),
        ] {
            harmless(document.as_str());
        }
    }
}
