//! One method: whether it is for the address, where it leads, and what it answers.

use std::sync::Arc;

use tofu_oci_mapper::config::{Method, MethodCandidate};
use tofu_oci_mapper::{MappedPlace, Selection};
use tofu_oci_source::{
    ConfiguredMethods, InstallMethod, Listing, ListingAnswer, MethodOpener, PackageAnswer, Source, StrayEffect,
    StrayTag,
};
use tofu_oci_types::{ProviderAddr, RepositoryRef, Version};

use super::check::PackageCheck;

/// One method.
#[derive(Clone)]
pub struct MethodStep {
    /// From 1, in the order of asking; `None` for a method that `OpenTofu` drops.
    pub number: Option<usize>,
    /// The method's kind; `--from` counts as an OCI mirror.
    pub kind: InstallMethod,
    pub name: String,
    /// The file and line of the block.
    pub at: Option<String>,
    /// Why it is for the address, or is not.
    pub matches: String,
    /// Whether it is asked.
    pub selected: bool,
    /// Where it leads by the configuration alone.
    given: Option<String>,
    /// Where it leads, also by what the host of a `direct` answered.
    pub place: Option<String>,
    /// What `OpenTofu` makes of a `direct` that leads to OCI.
    pub direct: DirectHost,
    pub answer: StepAnswer,
    /// What has names that are nearly those of packages, and the names that it would have to have.
    pub nearly: Vec<(String, String)>,
    /// What it has of the versions that matter.
    pub packages: Vec<(Version, MethodPackage)>,
    /// What the registry of an `oci_mirror` answers at its root.
    pub root: RegistryRoot,
    /// Whether this is the step of a program that asks for the root first.
    pub after_root: bool,
    /// The registry, if it answers plain HTTP.
    pub plain_http: Option<String>,
    pub(crate) repository: Option<RepositoryRef>,
    pub(crate) source: Option<Arc<dyn Source>>,
    /// What `OpenTofu` asks in place of the source, if that is something else.
    pub(crate) registry: Option<Arc<dyn Source>>,
}

/// What a registry answers at `/v2/`, which `OpenTofu` up to 1.12 asks before anything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegistryRoot {
    /// No program asks for it.
    NotAsked,
    Answers,
    /// 404: it is not a registry, and is passed over.
    Missing,
    /// Anything else ends the search.
    Fails {
        /// The stable name of the error.
        code: &'static str,
        text: String,
    },
}

/// What `OpenTofu` makes of a `direct`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirectHost {
    /// It is not a `direct`, or its host is not known to publish anything for OCI.
    No,
    /// The host ends in the magic suffix, which no release knows.
    Magic {
        /// The rule that gives the repository.
        rule: String,
    },
    /// The host has `providers.v1` alone.
    Registry { address: String },
    /// The host has `oci-providers.v1`, which no release knows, and `providers.v1` besides.
    Both {
        /// The rule that gives the repository.
        rule: String,
        /// The address of the registry.
        address: String,
    },
    /// The host has `oci-providers.v1` alone.
    OciOnly {
        /// The rule that gives the repository.
        rule: String,
        host: String,
    },
}

/// What a method answered.
#[derive(Clone, Debug)]
pub enum StepAnswer {
    NotAsked,
    Lists(Listing),
    /// It does not know the provider: passed over.
    Unknown,
    /// Any other error ends the search.
    Fails {
        /// The stable name of the error.
        code: &'static str,
        text: String,
    },
}

/// What a method has of one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MethodPackage {
    /// A package for the platform, which is compared with this.
    Has(PackageCheck),
    /// The version, but not for the platform.
    LacksPlatform,
    /// Something that cannot be installed, or an error.
    Fails {
        /// The stable name of the error.
        code: &'static str,
        text: String,
    },
}

impl MethodStep {
    /// The one place of `--from`.
    pub fn from_option(place: String, source: &Arc<dyn Source>) -> Self {
        Self {
            number: Some(1),
            kind: InstallMethod::Oci,
            name: "--from".to_owned(),
            at: None,
            matches: "every provider: the CLI configuration is not read".to_owned(),
            selected: true,
            given: None,
            place: Some(place),
            direct: DirectHost::No,
            answer: StepAnswer::NotAsked,
            nearly: Vec::new(),
            packages: Vec::new(),
            root: RegistryRoot::NotAsked,
            after_root: false,
            plain_http: None,
            repository: None,
            source: Some(Arc::clone(source)),
            registry: None,
        }
    }

    /// Its answer as the rules of a chain take it; `None` if it was not asked, or cannot be asked.
    pub(crate) fn listing_answer(&self) -> Option<ListingAnswer> {
        match &self.answer {
            StepAnswer::Lists(_) => Some(ListingAnswer::Lists),
            StepAnswer::Unknown => Some(ListingAnswer::UnknownProvider),
            StepAnswer::Fails { .. } => Some(ListingAnswer::Fails),
            StepAnswer::NotAsked => None,
        }
    }

    /// What it has of a version as the rules of a chain take it.
    pub(crate) fn package_answer(&self, version: &Version) -> PackageAnswer {
        match self.package(version) {
            Some(MethodPackage::Has(_)) => PackageAnswer::Has,
            Some(MethodPackage::LacksPlatform) => PackageAnswer::LacksPlatform,
            Some(MethodPackage::Fails { .. }) => PackageAnswer::Fails,
            None => PackageAnswer::LacksVersion,
        }
    }

    /// The same for a program that asks for the registry's root first.
    #[must_use]
    pub fn after_root(&self) -> Self {
        let step = Self { after_root: true, ..self.clone() };
        match &self.root {
            RegistryRoot::NotAsked | RegistryRoot::Answers => step,
            RegistryRoot::Missing => Self { answer: StepAnswer::Unknown, packages: Vec::new(), ..step },
            RegistryRoot::Fails { code, text } => {
                Self { answer: StepAnswer::Fails { code, text: text.clone() }, ..step }
            }
        }
    }

    /// The method for people: its number and its name.
    pub fn label(&self) -> String {
        let number = self.number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        format!("{number} ({})", self.name)
    }

    /// What it lists; `None` if it gives no list.
    pub fn listing(&self) -> Option<&Listing> {
        match &self.answer {
            StepAnswer::Lists(listing) => Some(listing),
            _ => None,
        }
    }

    /// The tags that a release takes for versions that are not there.
    pub fn strays(&self) -> impl Iterator<Item = &StrayTag> {
        self.listing()
            .into_iter()
            .flat_map(|listing| &listing.stray)
            .filter(|tag| tag.effect == StrayEffect::BreaksInit)
    }

    /// What the package of the version that this program looks for is compared with; `None` if it has no such package.
    pub fn check(&self) -> Option<&PackageCheck> {
        match self.packages.first()? {
            (_, MethodPackage::Has(check)) => Some(check),
            _ => None,
        }
    }

    /// What it has of a version; `None` if it does not list the version.
    pub fn package(&self, version: &Version) -> Option<&MethodPackage> {
        self.packages.iter().find(|(known, _)| known == version).map(|(_, package)| package)
    }
}

/// The methods in the order of the file, those that are dropped among them.
pub(super) fn steps(configured: &ConfiguredMethods, opener: &MethodOpener, address: &ProviderAddr) -> Vec<MethodStep> {
    let candidates = configured.candidates(address);
    let mut steps: Vec<(usize, usize, MethodStep)> = Vec::new();
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
    configured: &ConfiguredMethods,
    opener: &MethodOpener,
    address: &ProviderAddr,
    number: usize,
    candidate: &MethodCandidate<'_>,
) -> MethodStep {
    let MethodCandidate { method, selection, place } = candidate;
    let link = place.as_ref().map(|place| opener.link(configured, method, place, address));
    let direct = match place {
        Some(Ok(MappedPlace::Oci(oci))) if link.as_ref().is_some_and(|link| link.method == InstallMethod::Direct) => {
            DirectHost::Magic { rule: oci.rule.to_string() }
        }
        _ => DirectHost::No,
    };
    let given = place.as_ref().map(|place| match place {
        Ok(place) => place.address(),
        Err(error) => format!("none: {error}"),
    });
    MethodStep {
        number: Some(number),
        kind: link.as_ref().map_or(InstallMethod::Direct, |link| link.method),
        name: method.kind.name().to_owned(),
        at: method.place.clone(),
        matches: matches(method, *selection),
        selected: selection.is_in(),
        given: given.clone(),
        place: given,
        direct,
        answer: StepAnswer::NotAsked,
        nearly: Vec::new(),
        packages: Vec::new(),
        root: RegistryRoot::NotAsked,
        after_root: false,
        plain_http: None,
        repository: place.as_ref().and_then(|place| place.as_ref().ok()?.repository().cloned()),
        source: link.map(|link| link.source),
        registry: None,
    }
}

fn dropped(method: &Method, why: &str) -> MethodStep {
    MethodStep {
        number: None,
        kind: InstallMethod::Direct,
        name: method.kind.name().to_owned(),
        at: method.place.clone(),
        matches: format!("left out by OpenTofu: {why}"),
        selected: false,
        given: None,
        place: None,
        direct: DirectHost::No,
        answer: StepAnswer::NotAsked,
        nearly: Vec::new(),
        packages: Vec::new(),
        root: RegistryRoot::NotAsked,
        after_root: false,
        plain_http: None,
        repository: None,
        source: None,
        registry: None,
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
pub(super) fn same(one: &[MethodStep], other: &[MethodStep]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| {
            (one.number, &one.name, &one.at) == (other.number, &other.name, &other.at)
                && (&one.matches, &one.given) == (&other.matches, &other.given)
        })
}
