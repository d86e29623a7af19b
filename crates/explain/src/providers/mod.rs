//! Every method, what it answers, which one serves, and where `OpenTofu` would stop.
//!
//! ```text
//! ConfiguredMethods (as each release reads them) --steps--> [MethodStep] --ask--> [MethodStep]
//!                                          --verdict, by the rules of Chain--> a ChainVerdict for each program
//! ```

mod ask;
mod check;
mod method;
mod question;
mod verdict;

use std::path::PathBuf;
use std::sync::Arc;

use tofu_oci_source::{ConfiguredMethods, MethodOpener, Source};
use tofu_oci_types::TofuRelease;

pub use ask::root_cause;
pub use check::PackageCheck;
pub use method::{DirectHost, MethodPackage, MethodStep, RegistryRoot, StepAnswer};
pub use question::{LockedVersion, ProviderQuestion};
pub use verdict::{ChainVerdict, InstallingProgram};

use ask::{ask, ask_one, of_opentofu};
use method::{same, steps};
use verdict::verdict;

/// Where a provider would come from.
pub struct ProviderExplanation {
    /// The methods as the latest release reads them.
    pub steps: Vec<MethodStep>,
    /// What each program does; this program comes first.
    pub outcomes: Vec<ProgramOutcome>,
    /// The folder that `dev_overrides` names for the provider.
    pub overridden: Option<PathBuf>,
}

/// Programs that do the same.
pub struct ProgramOutcome {
    pub programs: Vec<InstallingProgram>,
    pub verdict: ChainVerdict,
}

/// Explains where a provider would come from. `latest` are the methods as the latest release reads them, and `read` gives
/// them as another one does. `refused` is the number of errors in the files, if this program refuses them.
///
/// # Errors
/// Those of `read`.
pub async fn explain<E>(
    question: &ProviderQuestion<'_>,
    latest: &ConfiguredMethods,
    refused: Option<usize>,
    opener: &MethodOpener,
    read: impl Fn(TofuRelease) -> Result<ConfiguredMethods, E>,
) -> Result<ProviderExplanation, E> {
    let mut found = steps(latest, opener, question.address);
    ask(&mut found, latest, opener, question).await;
    let ours = match refused {
        None => verdict(&found, question, InstallingProgram::Ours),
        Some(errors) => ChainVerdict::Refuses { errors },
    };
    let theirs = of_opentofu(&found, question).await;
    let mut outcomes = Vec::new();
    for release in tofu_oci_mapper::config::MEASURED {
        let program = InstallingProgram::OpenTofu(release);
        if release == TofuRelease::V1_13 {
            add(&mut outcomes, program, verdict(&theirs, question, program));
            continue;
        }
        let configured = read(release)?;
        let mut others = steps(&configured, opener, question.address);
        // The same methods need no second round of questions.
        if same(&found, &others) {
            add(&mut outcomes, program, verdict(&theirs, question, program));
        } else {
            ask(&mut others, &configured, opener, question).await;
            let others = of_opentofu(&others, question).await;
            add(&mut outcomes, program, verdict(&others, question, program));
        }
    }
    outcomes.insert(0, ProgramOutcome { programs: vec![InstallingProgram::Ours], verdict: ours });
    let mut overrides = latest.reading.config.installation.iter().flat_map(|there| &there.dev_overrides);
    let overridden = overrides.find(|entry| entry.address == *question.address).map(|entry| entry.path.clone());
    Ok(ProviderExplanation { steps: found, outcomes, overridden })
}

/// The same for the one place of `--from`, which `OpenTofu` does not know.
pub async fn explain_place(
    question: &ProviderQuestion<'_>,
    place: String,
    source: &Arc<dyn Source>,
) -> ProviderExplanation {
    let mut steps = vec![MethodStep::from_option(place, source)];
    ask_one(&mut steps, question).await;
    let verdict = verdict(&steps, question, InstallingProgram::Ours);
    let outcomes = vec![ProgramOutcome { programs: vec![InstallingProgram::Ours], verdict }];
    ProviderExplanation { steps, outcomes, overridden: None }
}

/// Programs that do the same share an outcome.
fn add(outcomes: &mut Vec<ProgramOutcome>, program: InstallingProgram, verdict: ChainVerdict) {
    match outcomes.iter_mut().find(|outcome| outcome.verdict == verdict) {
        Some(outcome) => outcome.programs.push(program),
        None => outcomes.push(ProgramOutcome { programs: vec![program], verdict }),
    }
}
