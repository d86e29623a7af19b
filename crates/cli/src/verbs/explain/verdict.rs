//! Who would serve, or where a program would stop.

use tofu_oci_source::Kind;
use tofu_oci_types::TofuRelease;
use tofu_oci_types::Version;

use super::Question;
use super::ask::union;
use super::step::{Answer, Direct, Package, Root, Step};

/// A program that installs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    /// This one.
    Ours,
    /// A release of `OpenTofu`.
    OpenTofu(TofuRelease),
}

/// How it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The method with this number serves this version.
    Serves { version: Version, method: usize, why: String },
    /// The method with this number ends the search, though others may have the version.
    Stops { version: Option<Version>, method: usize, code: String, why: String },
    /// Nobody has it.
    NotFound { code: &'static str, why: String },
    /// It depends on something that this program cannot ask.
    NotKnown { method: usize, why: String },
    /// The CLI configuration has errors, and this program goes no further.
    Refuses { errors: usize },
}

/// What a program does with these answers.
///
/// Spec: `real-tofu-sources.md` (measured), §4: every method is asked for versions; then, in order, for the newest.
pub(super) fn verdict(steps: &[Step], question: &Question<'_>, program: Program) -> Verdict {
    let tofu = program != Program::Ours;
    if let Some(locked) = question.locked.as_ref().filter(|locked| !locked.admitted) {
        let why = format!(
            "{} locks {}, which does not meet `{}`",
            locked.path.display(),
            locked.version,
            question.constraints
        );
        return Verdict::NotFound { code: "locked-version-conflict", why };
    }
    let steps: &Vec<Step> = &match program {
        Program::OpenTofu(TofuRelease::V1_10 | TofuRelease::V1_11 | TofuRelease::V1_12) => {
            steps.iter().map(Step::behind_root).collect()
        }
        _ => steps.to_vec(),
    };
    let asked: Vec<&Step> = steps.iter().filter(|step| step.selected).collect();
    if asked.is_empty() {
        let why = if steps.iter().any(|step| step.number.is_some()) {
            "no method is for this provider"
        } else {
            "there is no method at all"
        };
        let code =
            if steps.iter().any(|step| step.number.is_some()) { "provider-not-found" } else { "no-matching-release" };
        return Verdict::NotFound { code, why: why.to_owned() };
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
            Some(locked) => (
                "locked-version-gone",
                format!("no method has {}, which {} locks", locked.version, locked.path.display()),
            ),
            None => ("no-matching-release", format!("no version that is offered meets `{}`", question.constraints)),
        };
        return Verdict::NotFound { code, why };
    };
    for place in 0..asked.len() {
        if let Some(ended) = for_package(&asked, place, version, tofu) {
            return ended;
        }
    }
    Verdict::NotFound {
        code: "platform-not-supported",
        why: format!("no method has {version} for the platform, and no older version is tried"),
    }
}

fn number(step: &Step) -> usize {
    step.number.unwrap_or_default()
}

/// How a method ends the search while versions are listed.
fn while_listing(step: &Step, tofu: bool) -> Option<Verdict> {
    let method = number(step);
    if tofu {
        match &step.direct {
            Direct::Magic { rule } => {
                let why = format!(
                    "no OpenTofu up to 1.13 knows {rule}: it asks this host for its services, and stops if there is no such host"
                );
                return Some(Verdict::NotKnown { method, why });
            }
            Direct::OciOnly { host, .. } => {
                let why = format!("no OpenTofu up to 1.13 knows oci-providers.v1, and {host} has no providers.v1");
                let code = "no-provider-service".to_owned();
                return Some(Verdict::Stops { version: None, method, code, why });
            }
            Direct::Both { .. } | Direct::No => {}
        }
        if let Some(registry) = &step.plain_http {
            let why = format!(
                "OpenTofu speaks with registries over TLS alone, and {registry} answers plain HTTP; serve it over TLS"
            );
            return Some(Verdict::Stops { version: None, method, code: "plain-http".to_owned(), why });
        }
    }
    match &step.answer {
        Answer::NotRead { text: why, .. } if tofu => {
            let why = format!("what it offers is not known to tofu-oci: {why}");
            Some(Verdict::NotKnown { method, why })
        }
        Answer::NotRead { code, text: why } => {
            Some(Verdict::Stops { version: None, method, code: (*code).to_owned(), why: why.clone() })
        }
        Answer::Fails { code, .. } => {
            let ends = "any error but an unknown provider ends the search while versions are listed";
            let why = match &step.root {
                Root::Fails { text, .. } if step.behind_root => format!("it asks for /v2/ first ({text}), and {ends}"),
                _ => ends.to_owned(),
            };
            Some(Verdict::Stops { version: None, method, code: (*code).to_owned(), why })
        }
        Answer::NotAsked | Answer::Lists(_) | Answer::Unknown => None,
    }
}

/// How a method ends the search for the package; nothing where the next one has a turn.
fn for_package(asked: &[&Step], place: usize, version: &Version, tofu: bool) -> Option<Verdict> {
    let step = asked[place];
    let method = number(step);
    if tofu && let Some(stray) = step.strays().find(|tag| tag.version == *version) {
        let why = format!("it reads the tag {} as version {version}, chooses it, and does not find it", stray.tag);
        let code = "tag-not-found".to_owned();
        return Some(Verdict::Stops { version: Some(version.clone()), method, code, why });
    }
    match step.package(version) {
        Some(Package::Has) => {
            let why = reason(asked, place, version);
            Some(Verdict::Serves { version: version.clone(), method, why })
        }
        Some(Package::Fails { code, text }) => {
            let (code, why) = ((*code).to_owned(), text.clone());
            Some(Verdict::Stops { version: Some(version.clone()), method, code, why })
        }
        // Whoever is no registry is passed over, though a mirror without the version is not.
        None if step.behind_root && step.root == Root::Missing => None,
        None if matches!(step.kind, Kind::Oci | Kind::NetworkMirror) => {
            let others = asked.iter().filter(|other| other.number != step.number);
            let lists = others.filter_map(|other| {
                let stray = other.strays().find(|tag| tofu && tag.version == *version);
                match (other.package(version), stray) {
                    (Some(Package::LacksPlatform), _) => {
                        Some(format!("method {} lists for other platforms", other.label()))
                    }
                    (Some(_), _) => Some(format!("method {} lists", other.label())),
                    (None, Some(stray)) => {
                        Some(format!("method {} seems to list by its tag {}", other.label(), stray.tag))
                    }
                    (None, None) => None,
                }
            });
            let lists = lists.collect::<Vec<_>>().join(" and ");
            let code = if step.kind == Kind::Oci { "tag-not-found" } else { "mirror-version-missing" }.to_owned();
            let why = format!("this mirror lacks {version}, which {lists}, and a mirror does not give way");
            Some(Verdict::Stops { version: Some(version.clone()), method, code, why })
        }
        Some(Package::LacksPlatform) | None => None,
    }
}

/// Why this method and no other.
fn reason(asked: &[&Step], place: usize, version: &Version) -> String {
    let before: Vec<String> = asked[..place].iter().map(|step| step.label()).collect();
    let also = asked[place + 1..].iter().any(|step| step.package(version) == Some(&Package::Has));
    match (before.is_empty(), also) {
        (true, true) => "the first method in order that has it; a later one has it too".to_owned(),
        (true, false) if asked.len() == 1 => "the only method that is asked".to_owned(),
        (true, false) => "the first method in order, and the only one that has it".to_owned(),
        (false, _) => format!("method {} does not have it and gives way", before.join(" and ")),
    }
}
