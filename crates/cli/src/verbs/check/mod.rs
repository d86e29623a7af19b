//! `check`.
//!
//! ```text
//! TARGET ──> repository · lock_file · registry ──> Checked ──> output: table, JSON, JUnit, SARIF ──> exit code
//! ```

mod lock_file;
mod output;
mod registry;
mod repository;
mod target;

use tofu_oci_checker::opentofu::Prediction;
use tofu_oci_checker::{CheckedAs, Finding, Group, Level, ProbeReport, rule, rules};

use super::Context;
use crate::args::{CheckArgs, FailOn};
use crate::complaint::Complaint;
use crate::exit::Exit;
use target::Target;

/// What was checked, and what came of it.
struct Checked {
    /// The target as people write it.
    target: String,
    /// What was done, such as `3 versions looked at`.
    looked_at: String,
    /// The groups of rules that it was looked at by.
    groups: Vec<Group>,
    findings: Vec<Finding>,
    /// Of a repository: who it was checked as, and what `OpenTofu` makes of it.
    predicted: Option<(CheckedAs, Vec<Prediction>)>,
    /// Of a registry: every capability.
    probe: Option<ProbeReport>,
}

/// Checks, prints, and decides how to end.
///
/// # Errors
/// Only what keeps it from looking; findings are no error but an exit code.
pub(crate) async fn check(context: &Context, args: &CheckArgs) -> Result<Exit, Complaint> {
    let filter = Filter::new(args)?;
    let target = Target::parse(&args.target)?;
    let mut checked = match target {
        Target::Repository(end, None) if args.registry => registry::check(context, args, &end).await?,
        _ if args.registry => {
            return Err(Complaint::usage("--registry takes a scratch repository")
                .hint("name one that holds nothing: tofu-oci check REGISTRY/scratch/probe --registry"));
        }
        Target::Repository(end, version) => repository::check(context, args, &end, version).await?,
        Target::LockFile(path) => lock_file::check(context, args, &path).await?,
    };
    checked.findings.retain(|finding| filter.keeps(finding));
    output::print(context, args.format(), &checked);
    let lowest = match args.fail_on {
        FailOn::Error => Level::Error,
        FailOn::Warning => Level::Warning,
        FailOn::Note => Level::Note,
    };
    let fails = checked.findings.iter().any(|finding| finding.level() <= lowest);
    Ok(if fails { Exit::Fixable } else { Exit::Done })
}

/// Which rules count.
struct Filter<'a> {
    only: &'a [String],
    ignore: &'a [String],
}

impl<'a> Filter<'a> {
    fn new(args: &'a CheckArgs) -> Result<Self, Complaint> {
        for name in args.rules.iter().chain(&args.ignore) {
            if rule(name).is_none() {
                let complaint = Complaint::usage(format!("there is no rule `{name}`"));
                let near = rules().map(|rule| rule.id).filter(|id| id.contains(name.as_str())).collect::<Vec<_>>();
                return Err(match near.as_slice() {
                    [] => complaint.hint("docs/check.md lists every rule"),
                    near => complaint.hint(format!("rules of such a name: {}", near.join(", "))),
                });
            }
        }
        Ok(Self { only: &args.rules, ignore: &args.ignore })
    }

    fn keeps(&self, finding: &Finding) -> bool {
        let is = |name: &String| name == finding.rule.id;
        (self.only.is_empty() || self.only.iter().any(is)) && !self.ignore.iter().any(is)
    }
}
