//! One method: whether it is for the address, where it leads, and what it answers.

use std::path::PathBuf;
use std::sync::Arc;

use tofu_oci_mapper::config::{Method, MethodCandidate};
use tofu_oci_mapper::{MappedPlace, Selection};
use tofu_oci_source::{Kind, Listing, Source, StrayEffect};
use tofu_oci_types::{ProviderAddr, RepositoryRef, Version};

use crate::lookup::{Configured, Opener};

/// One method.
#[derive(Clone)]
pub(super) struct Step {
    /// From 1, in the order of asking; nothing for a method that `OpenTofu` drops.
    pub(super) number: Option<usize>,
    /// The method's kind; `--from` counts as an OCI mirror.
    pub(super) kind: Kind,
    /// The block's name.
    pub(super) name: String,
    /// The file and line of the block.
    pub(super) at: Option<String>,
    /// Why it is for the address, or is not.
    pub(super) matches: String,
    /// Whether it is asked.
    pub(super) selected: bool,
    /// Where it leads by the configuration alone.
    given: Option<String>,
    /// Where it leads, when the host of a `direct` has said so too.
    pub(super) place: Option<String>,
    /// What `OpenTofu` makes of a `direct` that leads to OCI.
    pub(super) direct: Direct,
    /// What it answered.
    pub(super) answer: Answer,
    /// What it has of the versions that matter.
    pub(super) packages: Vec<(Version, Package)>,
    /// What the registry of an `oci_mirror` answers at its root.
    pub(super) root: Root,
    /// Whether this is the step of a program that asks for the root first.
    pub(super) behind_root: bool,
    /// The registry, if it was spoken to by plain HTTP.
    pub(super) plain_http: Option<String>,
    pub(super) repository: Option<RepositoryRef>,
    pub(super) source: Option<Arc<dyn Source>>,
}

/// What a registry answers at `/v2/`, which `OpenTofu` up to 1.12 asks before anything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// Nobody asks for it.
    NotAsked,
    /// As a registry does.
    Answers,
    /// 404: it is no registry, and is passed over.
    Missing,
    /// Anything else ends the search.
    Fails { code: &'static str, text: String },
}

/// What `OpenTofu` makes of a `direct`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Direct {
    /// It is no `direct`, or one whose host is not known to publish anything for OCI.
    No,
    /// The host ends in the magic suffix, which no release knows.
    Magic { rule: String },
    /// The host has `oci-providers.v1`, which no release knows, and `providers.v1` besides.
    Both { rule: String },
    /// The host has `oci-providers.v1` alone.
    OciOnly { rule: String, host: String },
}

/// What a method answered.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    /// It is not asked.
    NotAsked,
    /// What it lists.
    Lists(Listing),
    /// It does not know the provider: passed over.
    Unknown,
    /// This program cannot ask it.
    NotRead { code: &'static str, text: String },
    /// Any other error ends the search.
    Fails { code: &'static str, text: String },
}

/// What a method has of one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Package {
    /// A package for the platform.
    Has,
    /// The version, but not for the platform.
    LacksPlatform,
    /// Something that cannot be installed, or an error.
    Fails { code: &'static str, text: String },
}

impl Step {
    /// The one place of `--from`.
    pub(super) fn from_option(place: String, source: &Arc<dyn Source>) -> Self {
        Self {
            number: Some(1),
            kind: Kind::Oci,
            name: "--from".to_owned(),
            at: None,
            matches: "every provider: the CLI configuration is not read".to_owned(),
            selected: true,
            given: None,
            place: Some(place),
            direct: Direct::No,
            answer: Answer::NotAsked,
            packages: Vec::new(),
            root: Root::NotAsked,
            behind_root: false,
            plain_http: None,
            repository: None,
            source: Some(Arc::clone(source)),
        }
    }

    /// The same for a program that asks for the registry's root first.
    pub(super) fn behind_root(&self) -> Self {
        let step = Self { behind_root: true, ..self.clone() };
        match &self.root {
            Root::NotAsked | Root::Answers => step,
            Root::Missing => Self { answer: Answer::Unknown, packages: Vec::new(), ..step },
            Root::Fails { code, text } => Self { answer: Answer::Fails { code, text: text.clone() }, ..step },
        }
    }

    /// The method for people: its number and its name.
    pub(super) fn label(&self) -> String {
        let number = self.number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        format!("{number} ({})", self.name)
    }

    /// What it lists; nothing where it lists nothing.
    pub(super) fn listing(&self) -> Option<&Listing> {
        match &self.answer {
            Answer::Lists(listing) => Some(listing),
            _ => None,
        }
    }

    /// The tags that a release takes for versions that are not there.
    pub(super) fn strays(&self) -> impl Iterator<Item = &tofu_oci_source::StrayTag> {
        self.listing()
            .into_iter()
            .flat_map(|listing| &listing.stray)
            .filter(|tag| tag.effect == StrayEffect::BreaksInit)
    }

    /// What it has of a version; nothing where it does not list it.
    pub(super) fn package(&self, version: &Version) -> Option<&Package> {
        self.packages.iter().find(|(known, _)| known == version).map(|(_, package)| package)
    }
}

/// The methods in the order of the file, those that are dropped among them.
pub(super) fn steps(configured: &Configured, opener: &Opener, address: &ProviderAddr) -> Vec<Step> {
    let candidates = configured.candidates(address);
    let mut steps: Vec<(usize, usize, Step)> = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        let key = (candidate.method.file.unwrap_or_default(), candidate.method.span.start);
        steps.push((key.0, key.1, selected(configured, opener, address, index + 1, candidate)));
    }
    let all = configured.reading.config.installation.iter().flat_map(|installation| &installation.methods);
    for method in all {
        if let Some(problem) = method.dropped.and_then(|problem| configured.reading.problems.get(problem)) {
            let place = steps
                .iter()
                .position(|(file, start, _)| (*file, *start) > (method.file.unwrap_or_default(), method.span.start));
            let step = (method.file.unwrap_or_default(), method.span.start, dropped(method, &problem.message));
            steps.insert(place.unwrap_or(steps.len()), step);
        }
    }
    steps.into_iter().map(|(_, _, step)| step).collect()
}

fn selected(
    configured: &Configured,
    opener: &Opener,
    address: &ProviderAddr,
    number: usize,
    candidate: &MethodCandidate<'_>,
) -> Step {
    let MethodCandidate { method, selection, place } = candidate;
    let link = place.as_ref().map(|place| opener.link(configured, method, place, address));
    let direct = match place {
        Some(Ok(MappedPlace::Oci(oci))) if link.as_ref().is_some_and(|link| link.method == Kind::Direct) => {
            Direct::Magic { rule: oci.rule.to_string() }
        }
        _ => Direct::No,
    };
    let given = place.as_ref().map(|place| match place {
        Ok(place) => place.address(),
        Err(error) => format!("none: {error}"),
    });
    Step {
        number: Some(number),
        kind: link.as_ref().map_or(Kind::Direct, |link| link.method),
        name: method.kind.name().to_owned(),
        at: method.place.clone(),
        matches: matches(method, *selection),
        selected: selection.is_in(),
        given: given.clone(),
        place: given,
        direct,
        answer: Answer::NotAsked,
        packages: Vec::new(),
        root: Root::NotAsked,
        behind_root: false,
        plain_http: None,
        repository: place.as_ref().and_then(|place| place.as_ref().ok()?.repository().cloned()),
        source: link.map(|link| link.source),
    }
}

fn dropped(method: &Method, why: &str) -> Step {
    Step {
        number: None,
        kind: Kind::Direct,
        name: method.kind.name().to_owned(),
        at: method.place.clone(),
        matches: format!("left out by OpenTofu: {why}"),
        selected: false,
        given: None,
        place: None,
        direct: Direct::No,
        answer: Answer::NotAsked,
        packages: Vec::new(),
        root: Root::NotAsked,
        behind_root: false,
        plain_http: None,
        repository: None,
        source: None,
    }
}

/// Why a method is for the address, or is not.
fn matches(method: &Method, selection: Selection) -> String {
    let pattern = |list: &[String], index: usize| list.get(index).cloned().unwrap_or_default();
    match selection {
        Selection::All if method.exclude.is_empty() => "yes, it is for every provider".to_owned(),
        Selection::All => "yes, its exclude names other providers".to_owned(),
        Selection::Included(index) => format!("yes, by include \"{}\"", pattern(&method.include, index)),
        Selection::NotIncluded => "no, its include names other providers".to_owned(),
        Selection::Excluded(index) => format!("no, by exclude \"{}\"", pattern(&method.exclude, index)),
    }
}

/// Whether two readings give the same methods.
pub(super) fn same(one: &[Step], other: &[Step]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| {
            (one.number, &one.name, &one.at) == (other.number, &other.name, &other.at)
                && (&one.matches, &one.given) == (&other.matches, &other.given)
        })
}

/// The folder that a developer's override names, for people.
pub(super) fn override_text(path: &std::path::Path) -> String {
    let path: PathBuf = path.to_owned();
    format!("OpenTofu runs it from {}, by dev_overrides, whatever is installed", path.display())
}
