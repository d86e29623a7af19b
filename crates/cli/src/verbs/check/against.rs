//! `--against`: two repositories side by side.

use tofu_oci_checker::facts::{self, Depth, RepositoryFacts, Versions, What};
use tofu_oci_checker::{Finding, Group, NotJudged, drift, not_judged};
use tofu_oci_types::Version;

use super::checked::{Checked, Compared, Comparison, Unjudged};
use super::target::Target;
use crate::args::CheckArgs;
use crate::connect::Connector;
use crate::diagnostic::Diagnostic;
use crate::ends::End;
use crate::verbs::context::Context;

pub(super) fn against(text: &str, checked: Option<&Version>) -> Result<End, Diagnostic> {
    match Target::parse(text)? {
        Target::Repository(end, None) => Ok(end),
        Target::Repository(end, Some(version)) if checked == Some(&version) => Ok(end),
        Target::Repository(_, Some(version)) => {
            Err(Diagnostic::usage(format!("--against compares equal versions; {text} names {version}"))
                .hint("name the repository alone, and the version with --version"))
        }
        Target::LockFile(_) => {
            Err(Diagnostic::usage(format!("--against takes a repository or oci:DIR, and {text} is a lock file"))
                .hint("check the lock file on its own, with --platform"))
        }
    }
}

/// What the comparison with a second repository found.
pub(super) struct RepositoryDifferences {
    pub(super) findings: Vec<Finding>,
    /// What the second repository did not answer for.
    pub(super) unasked: Vec<NotJudged>,
    with: String,
}

impl RepositoryDifferences {
    /// The outcome; `is_judged` says whether all of the first repository was read.
    pub(super) fn compared(&self, is_judged: bool) -> Compared {
        let outcome = match (self.findings.is_empty(), self.unasked.is_empty() && is_judged) {
            (false, _) => Comparison::Different,
            (true, true) => Comparison::Equal,
            (true, false) => Comparison::NotKnown,
        };
        Compared { with: self.with.clone(), outcome }
    }

    /// Adds them to what was found of the first repository.
    pub(super) fn into_checked(self, checked: &mut Checked) {
        checked.against = Some(self.compared(checked.not_judged.is_empty()));
        checked.groups.push(Group::Drift);
        checked.findings.extend(self.findings);
        checked.not_judged.extend(self.unasked.into_iter().map(Unjudged::from));
    }
}

/// The differences of the repository and that of `--against`, both of which are read; for a repository of modules.
pub(super) async fn compare_modules(
    context: &Context,
    args: &CheckArgs,
    (end, other): (&End, &str),
    version: Option<&Version>,
) -> Result<RepositoryDifferences, Diagnostic> {
    let other = against(other, version)?;
    let connector = context.reach(&args.access, &[end, &other], args.chdir.as_deref()).await?;
    let facts = manifests(context, &connector, end, version).await?;
    compare(context, &facts, &connector, &other, version).await
}

/// The differences of the second repository. Manifests suffice: they name everything by its digest.
pub(super) async fn compare(
    context: &Context,
    here: &RepositoryFacts,
    connector: &Connector,
    other: &End,
    version: Option<&Version>,
) -> Result<RepositoryDifferences, Diagnostic> {
    let facts = manifests(context, connector, other, version).await?;
    let there = |one: NotJudged| NotJudged { place: format!("{} of {}", one.place, facts.place), ..one };
    let unasked = not_judged(&facts).into_iter().map(there).collect();
    Ok(RepositoryDifferences { findings: drift(here, &facts), unasked, with: other.to_string() })
}

async fn manifests(
    context: &Context,
    connector: &Connector,
    end: &End,
    version: Option<&Version>,
) -> Result<RepositoryFacts, Diagnostic> {
    let versions = version.map_or(Versions::All, |version| Versions::One(version.clone()));
    let what = What { versions, depth: Depth::Manifests, work_dir: std::env::temp_dir() };
    Ok(facts::read(connector.source(end)?.as_ref(), &what, context.reporter.as_ref()).await?)
}
