//! What is asked for `--explain`: every rule, what the place offers, what is chosen of it.

use tofu_oci_explain::modules::{MappingStep, ModuleChoice, choose_module, mapping_steps};
use tofu_oci_explain::releases::{VersionNotice, module_notices_of};
use tofu_oci_source::Listing;
use tofu_oci_types::{Constraints, ModuleName, Reference};

use super::super::mapped::unlisted;
use super::super::open;
use super::{ModuleAsk, ResolvedModule, line, text};
use crate::args::ResolveArgs;
use crate::connect::Connector;
use crate::diagnostic::Diagnostic;
use crate::verbs::context::Context;

/// Why a module comes from where it does.
pub(super) struct ExplainedModule<'a> {
    /// Every rule of the mapping; empty for a source that names its repository.
    pub(super) steps: Vec<MappingStep<'a>>,
    /// The address of the registry that is asked, if no rule maps the module.
    pub(super) registry: Option<String>,
    /// The repository, directory or host that is asked.
    pub(super) place: String,
    /// What it offers.
    pub(super) listing: Result<Listing, Diagnostic>,
    /// What its publishers say of versions later, unverified.
    pub(super) notices: Vec<VersionNotice>,
    /// Which version counts.
    pub(super) choice: ModuleChoice,
    /// The package of that version.
    pub(super) found: Result<ResolvedModule, Diagnostic>,
}

impl ExplainedModule<'_> {
    /// What its publisher says of the chosen version.
    pub(super) fn notice(&self) -> Option<&VersionNotice> {
        let version = self.found.as_ref().ok()?.version.as_ref()?;
        self.notices.iter().find(|notice| notice.version == *version)
    }
}

/// Explains where a module comes from. The exit code is 0 even if nothing would be pulled.
pub(super) async fn explain(
    context: &Context,
    args: &ResolveArgs,
    ask: &ModuleAsk<'_>,
    connector: &Connector,
) -> Result<(), Diagnostic> {
    if ask.mapped.is_none() && matches!(ask.name, ModuleName::Registry { .. }) {
        // What is wrong with the CLI configuration ends the verb.
        open::opener(connector, &args.lookup.private)?;
    }
    let explained = look(args, ask, connector).await;
    if context.json {
        line::explained(ask, &explained);
    } else {
        text::explained(ask, &explained);
    }
    Ok(())
}

async fn look<'a>(args: &ResolveArgs, ask: &ModuleAsk<'a>, connector: &Connector) -> ExplainedModule<'a> {
    let private = &args.lookup.private;
    let end = open::end(ask.name).or_else(|| ask.mapped.map(|mapped| mapped.end().clone()));
    let (mut registry, mut notices) = (None, Vec::new());
    let (place, listing) = match (&end, ask.name) {
        (Some(end), _) => {
            let listing = match connector.source(end) {
                Ok(store) => match store.tags().await {
                    Ok(tags) => {
                        let listing = Listing::of(&tags);
                        notices = module_notices_of(store.as_ref(), &listing).await;
                        Ok(listing)
                    }
                    Err(error) => Err(unlisted(error)),
                },
                Err(diagnostic) => Err(unlisted(diagnostic)),
            };
            (end.to_string(), listing)
        }
        (None, ModuleName::Registry { address, .. }) => {
            let listing = match open::registry(address.hostname(), connector, private).await {
                Ok(found) => {
                    registry = Some(found.address());
                    found.versions(address).await.map_err(Diagnostic::from)
                }
                Err(diagnostic) => Err(diagnostic),
            };
            (address.hostname().display(), listing)
        }
        (None, _) => unreachable!("any other name is of a repository"),
    };
    let nothing = Listing::default();
    let choice = choice(ask, listing.as_ref().unwrap_or(&nothing), &notices);
    let found = match &listing {
        Err(diagnostic) if !names_package(ask.name) => Err(diagnostic.clone()),
        _ => open::find(ask.name, ask.mapped, connector, private).await.map(ResolvedModule::of),
    };
    let steps = match ask.name {
        ModuleName::Registry { address, .. } => mapping_steps(ask.mirrors, address),
        _ => Vec::new(),
    };
    ExplainedModule { steps, registry, place, listing, notices, choice, found }
}

/// Whether the name says itself which package is meant.
fn names_package(name: &ModuleName) -> bool {
    !matches!(name, ModuleName::Registry { .. })
}

/// What the version must meet.
pub(super) fn wanted(name: &ModuleName) -> Constraints {
    match name {
        ModuleName::Registry { constraints, .. } => constraints.clone(),
        _ => Constraints::any(),
    }
}

/// Which version is chosen: the one that a source names, or the newest that the constraints admit.
fn choice(ask: &ModuleAsk<'_>, listing: &Listing, notices: &[VersionNotice]) -> ModuleChoice {
    let named = |why: String| ModuleChoice { version: None, why, held_back: Vec::new() };
    match open::reference(ask.name) {
        Some(Reference::Tag(tag)) if !ask.typed.contains("tag=") => {
            named(format!("its source names no tag, which means {tag}"))
        }
        Some(Reference::Tag(tag)) => {
            ModuleChoice { version: tag.version(), ..named(format!("its source names the tag {tag}")) }
        }
        Some(Reference::Digest(_)) => named("its source names the digest".to_owned()),
        None => choose_module(&wanted(ask.name), listing, notices),
    }
}
