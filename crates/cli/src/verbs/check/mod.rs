//! `check`.
//!
//! ```text
//! TARGET ──> repository · module · lock_file · registry ──> Checked ──> output: table, JSON, JUnit, SARIF ──> exit code
//! ```

mod against;
mod checked;
mod list;
mod lock_file;
mod module;
mod output;
mod registry;
mod repository;
mod target;

use tofu_oci_checker::{CheckRule, FindingLevel, rule, rules};

use super::context::Context;
use crate::args::{CheckArgs, FailOn};
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::invocation;
use checked::Checked;
use target::Target;

/// Checks, prints, and chooses the exit code: what could not be judged counts more than a finding.
/// It fails only if nothing could be checked; findings are an exit code, not an error.
pub(crate) async fn check(context: &Context, args: &CheckArgs) -> Result<Exit, Diagnostic> {
    let filter = Filter::new(args)?;
    let Some(target) = &args.target else {
        list::print(context, rules().filter(|rule| filter.keeps(rule)));
        return Ok(Exit::Done);
    };
    let looked = look(context, args, target).await.map_err(not_a_finding);
    let mut checked = looked.inspect_err(|diagnostic| {
        output::print_unreadable(args.format(), target, diagnostic);
    })?;
    checked.lowest = match args.fail_on {
        FailOn::Error => FindingLevel::Error,
        FailOn::Warning => FindingLevel::Warning,
        FailOn::Note => FindingLevel::Note,
    };
    checked.findings.retain(|finding| filter.keeps(finding.rule));
    let filtered = rules().filter(|rule| !filter.keeps(rule)).map(|rule| (rule.id, "left out with --rule or --ignore"));
    checked.left_out.extend(filtered);
    for one in &mut checked.not_judged {
        one.why = context.explained(one.why.clone()).exiting(Exit::Unexpected);
    }
    output::print(context, args.format(), &checked);
    if let Some(diagnostic) = not_judged(&checked) {
        // The report on stdout already contains it.
        diagnostic.print(false);
        return Ok(Exit::Unexpected);
    }
    let fails = checked.findings.iter().any(|finding| finding.level() <= checked.lowest);
    Ok(if fails { Exit::Fixable } else { Exit::Done })
}

/// Exit code 1 means findings. A missing target is wrong usage, code 2; a target that could not be asked is code 3.
fn not_a_finding(diagnostic: Diagnostic) -> Diagnostic {
    match diagnostic.exit() {
        Exit::Fixable if diagnostic.is_unasked() => diagnostic.exiting(Exit::Unexpected),
        Exit::Fixable => diagnostic.exiting(Exit::Usage),
        _ => diagnostic,
    }
}

/// One diagnostic for all that was not judged: each cause once, with its hints.
fn not_judged(checked: &Checked) -> Option<Diagnostic> {
    const MOST: usize = 5;
    let count = checked.not_judged.len();
    let first = checked.not_judged.first()?;
    let what = if count == 1 { format!("{} was", first.place) } else { format!("{count} parts of it were") };
    let mut diagnostic =
        Diagnostic::new(Exit::Unexpected, format!("{}: {what} not judged", checked.target)).code("not-judged");
    let mut causes: Vec<String> = Vec::new();
    for one in &checked.not_judged {
        let cause = one.cause();
        if !causes.contains(&cause) {
            causes.push(cause);
        }
        for hint in one.why.hints() {
            if causes.len() <= MOST && !diagnostic.hints().contains(hint) {
                diagnostic = diagnostic.hint(hint.clone());
            }
        }
        if causes.len() > MOST {
            break;
        }
    }
    let more = causes.len() > MOST;
    diagnostic = diagnostic.more_causes(causes.into_iter().take(MOST));
    Some(if more { diagnostic.cause("and others, see the report") } else { diagnostic })
}

async fn look(context: &Context, args: &CheckArgs, target: &str) -> Result<Checked, Diagnostic> {
    if args.module {
        return module::check(context, args, target).await;
    }
    Ok(match Target::parse(target)? {
        Target::Repository(end, None) if args.registry => registry::check(context, args, &end).await?,
        _ if args.registry => {
            return Err(Diagnostic::usage("--registry takes a scratch repository").hint(format!(
                "name one that holds nothing: {}",
                invocation::with_all_options("check REGISTRY/scratch/probe --registry")
            )));
        }
        Target::Repository(end, version) => repository::check(context, args, &end, version).await?,
        Target::LockFile(path) => lock_file::check(context, args, &path).await?,
    })
}

/// Which rules count.
struct Filter<'a> {
    only: &'a [String],
    ignore: &'a [String],
}

impl<'a> Filter<'a> {
    fn new(args: &'a CheckArgs) -> Result<Self, Diagnostic> {
        for name in args.rules.iter().chain(&args.ignore) {
            if rule(name).is_none() {
                let diagnostic = Diagnostic::usage(format!("there is no rule `{name}`"));
                let near = rules().map(|rule| rule.id).filter(|id| id.contains(name.as_str())).collect::<Vec<_>>();
                return Err(match near.as_slice() {
                    [] => diagnostic.hint("`tofu-oci check --list-rules` lists every rule"),
                    near => diagnostic.hint(format!("rules of such a name: {}", near.join(", "))),
                });
            }
        }
        Ok(Self { only: &args.rules, ignore: &args.ignore })
    }

    fn keeps(&self, rule: &CheckRule) -> bool {
        let is = |name: &String| name == rule.id;
        (self.only.is_empty() || self.only.iter().any(is)) && !self.ignore.iter().any(is)
    }
}
