//! Which method would serve, or where a program would stop, by the rules that `Chain` goes by.

use tofu_oci_source::{Continuation, InstallMethod, PackageAnswer};
use tofu_oci_types::TofuRelease;
use tofu_oci_types::Version;

use super::ask::union;
use super::method::{DirectHost, MethodPackage, MethodStep, RegistryRoot, StepAnswer};
use super::question::ProviderQuestion;

/// A program that installs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallingProgram {
    Ours,
    /// A release of `OpenTofu`.
    OpenTofu(TofuRelease),
}

/// How it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainVerdict {
    /// The method with this number serves this version.
    Serves {
        version: Version,
        /// The number of the method.
        method: usize,
        /// Why, in one sentence.
        why: String,
    },
    /// The method with this number ends the search, though others may have the version.
    Stops {
        version: Option<Version>,
        /// The number of the method.
        method: usize,
        /// The stable name of the error.
        code: String,
        /// Why, in one sentence.
        why: String,
    },
    /// No method has it.
    NotFound {
        /// The stable name of the error.
        code: &'static str,
        /// Why, in one sentence.
        why: String,
    },
    /// It depends on something that this program cannot ask.
    NotKnown {
        /// The number of the method.
        method: usize,
        /// Why, in one sentence.
        why: String,
    },
    /// The CLI configuration has errors, and this program goes no further.
    Refuses {
        /// How many there are.
        errors: usize,
    },
}

/// Whether a method says that the version was withdrawn.
fn is_withdrawn(steps: &[MethodStep], version: &Version) -> bool {
    steps.iter().filter_map(MethodStep::listing).any(|listing| listing.withdrawn.contains(version))
}

/// What a program does with these answers.
///
/// Spec: `real-tofu-sources.md` (measured), §4: every method is asked for versions; then, in order, for the newest.
pub(super) fn verdict(
    steps: &[MethodStep],
    question: &ProviderQuestion<'_>,
    program: InstallingProgram,
) -> ChainVerdict {
    let tofu = program != InstallingProgram::Ours;
    if let Some(locked) = question.locked.as_ref().filter(|locked| !locked.admitted) {
        let why = format!(
            "{} locks {}, which does not meet `{}`",
            locked.path.display(),
            locked.version,
            question.constraints
        );
        return ChainVerdict::NotFound { code: "locked-version-conflict", why };
    }
    let steps: &Vec<MethodStep> = &match program {
        InstallingProgram::OpenTofu(TofuRelease::V1_10 | TofuRelease::V1_11 | TofuRelease::V1_12) => {
            steps.iter().map(MethodStep::after_root).collect()
        }
        _ => steps.to_vec(),
    };
    let asked: Vec<&MethodStep> = steps.iter().filter(|step| step.selected).collect();
    if asked.is_empty() {
        let why = if steps.iter().any(|step| step.number.is_some()) {
            "no method is for this provider"
        } else {
            "there is no method at all"
        };
        let code =
            if steps.iter().any(|step| step.number.is_some()) { "provider-not-found" } else { "no-matching-release" };
        return ChainVerdict::NotFound { code, why: why.to_owned() };
    }
    for step in &asked {
        if let Some(ended) = while_listing(step, tofu) {
            return ended;
        }
    }
    let versions = union(steps, tofu);
    let Some(version) = question.select(&versions) else {
        let (code, why) = match &question.locked {
            _ if versions.is_empty() => ("provider-not-found", "no method has the provider".to_owned()),
            Some(locked) if !tofu && is_withdrawn(steps, &locked.version) => {
                ("withdrawn", format!("{}, which {} locks, was withdrawn", locked.version, locked.path.display()))
            }
            Some(locked) => (
                "locked-version-gone",
                format!("no method has {}, which {} locks", locked.version, locked.path.display()),
            ),
            None => ("no-matching-release", format!("no version that is offered meets `{}`", question.constraints)),
        };
        return ChainVerdict::NotFound { code, why };
    };
    for place in 0..asked.len() {
        if let Some(ended) = for_package(&asked, place, version, tofu) {
            return ended;
        }
    }
    ChainVerdict::NotFound {
        code: "platform-not-supported",
        why: format!("no method has {version} for the platform, and no older version is tried"),
    }
}

fn number(step: &MethodStep) -> usize {
    step.number.unwrap_or_default()
}

/// How a method ends the search while versions are listed.
fn while_listing(step: &MethodStep, tofu: bool) -> Option<ChainVerdict> {
    let method = number(step);
    if tofu {
        match &step.direct {
            DirectHost::Magic { rule } => {
                let why = format!(
                    "no OpenTofu up to 1.13 knows {rule}: it asks this host for its services, and stops if there is no such host"
                );
                return Some(ChainVerdict::NotKnown { method, why });
            }
            DirectHost::OciOnly { host, .. } => {
                let why = format!("no OpenTofu up to 1.13 knows oci-providers.v1, and {host} has no providers.v1");
                let code = "no-provider-service".to_owned();
                return Some(ChainVerdict::Stops { version: None, method, code, why });
            }
            DirectHost::Registry { .. } | DirectHost::Both { .. } | DirectHost::No => {}
        }
        if let Some(registry) = &step.plain_http {
            let why = format!(
                "OpenTofu speaks with registries over TLS alone, and {registry} answers plain HTTP; serve it over TLS"
            );
            return Some(ChainVerdict::Stops { version: None, method, code: "plain-http".to_owned(), why });
        }
    }
    let ends = step.listing_answer().is_some_and(|answer| answer.continuation() == Continuation::Ends);
    match &step.answer {
        StepAnswer::Fails { code, .. } if ends => {
            let ends = "any error except an unknown provider ends the search while versions are listed";
            let why = match &step.root {
                RegistryRoot::Fails { text, .. } if step.after_root => {
                    format!("it asks for /v2/ first ({text}), and {ends}")
                }
                _ => ends.to_owned(),
            };
            Some(ChainVerdict::Stops { version: None, method, code: (*code).to_owned(), why })
        }
        _ => None,
    }
}

/// How a method ends the search for the package; `None` if the next one is asked.
fn for_package(asked: &[&MethodStep], place: usize, version: &Version, tofu: bool) -> Option<ChainVerdict> {
    let step = asked[place];
    let method = number(step);
    if tofu && let Some(stray) = step.strays().find(|tag| tag.version == *version) {
        let why = format!("it reads the tag {} as version {version}, chooses it, and does not find it", stray.tag);
        let code = "tag-not-found".to_owned();
        return Some(ChainVerdict::Stops { version: Some(version.clone()), method, code, why });
    }
    // A registry that is passed over is not a mirror without the version.
    if step.after_root && step.root == RegistryRoot::Missing && step.package(version).is_none() {
        return None;
    }
    let answer = step.package_answer(version);
    let stops = |code: &str, why: String| {
        Some(ChainVerdict::Stops { version: Some(version.clone()), method, code: code.to_owned(), why })
    };
    match (step.kind.after(answer), step.package(version)) {
        (Continuation::Counts, _) => {
            let why = reason(asked, place, version);
            Some(ChainVerdict::Serves { version: version.clone(), method, why })
        }
        (Continuation::Next, _) => None,
        (Continuation::Ends, Some(MethodPackage::Fails { code, text })) => stops(code, text.clone()),
        (Continuation::Ends, _) => {
            let lists = others_that_list(asked, step, version, tofu);
            let code = if step.kind == InstallMethod::Oci { "tag-not-found" } else { "mirror-version-missing" };
            stops(code, format!("this mirror lacks {version}, which {lists}, and a mirror does not give way"))
        }
    }
}

/// What other methods list of a version that a mirror lacks.
fn others_that_list(asked: &[&MethodStep], mirror: &MethodStep, version: &Version, tofu: bool) -> String {
    let others = asked.iter().filter(|other| other.number != mirror.number);
    let lists = others.filter_map(|other| {
        let stray = other.strays().find(|tag| tofu && tag.version == *version);
        match (other.package_answer(version), stray) {
            (PackageAnswer::LacksPlatform, _) => Some(format!("method {} lists for other platforms", other.label())),
            (PackageAnswer::Has | PackageAnswer::Fails, _) => Some(format!("method {} lists", other.label())),
            (PackageAnswer::LacksVersion, Some(stray)) => {
                Some(format!("method {} seems to list by its tag {}", other.label(), stray.tag))
            }
            (PackageAnswer::LacksVersion, None) => None,
        }
    });
    lists.collect::<Vec<_>>().join(" and ")
}

/// Why this method and no other.
fn reason(asked: &[&MethodStep], place: usize, version: &Version) -> String {
    let before: Vec<String> = asked[..place].iter().map(|step| step.label()).collect();
    let also = asked[place + 1..].iter().any(|step| matches!(step.package(version), Some(MethodPackage::Has(_))));
    match (before.is_empty(), also) {
        (true, true) => "the first method in order that has it; a later one has it too".to_owned(),
        (true, false) if asked.len() == 1 => "the only method that is asked".to_owned(),
        (true, false) => "the first method in order, and the only one that has it".to_owned(),
        (false, _) => format!("method {} does not have it and gives way", before.join(" and ")),
    }
}
