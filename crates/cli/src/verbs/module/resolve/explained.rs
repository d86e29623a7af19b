//! What is asked for `--explain`: every rule, what the place offers, what is chosen of it.

use std::sync::Arc;

use tofu_oci_explain::modules::{ModuleChoice, choose_module, mapping_steps};
use tofu_oci_explain::releases::{NoticesOf, VersionNotice};
use tofu_oci_source::{Listing, MethodOpener};
use tofu_oci_types::{ModuleName, Predecessors, Reference};

use super::super::mapped::unlisted;
use super::super::open::{self, AskedRegistry, OpenedModule, WantedOfRegistry};
use super::model::{ExplainedModule, ModuleAsk, ResolvedModule, wanted};
use super::{line, text};
use crate::connect::Connector;
use crate::diagnostic::Diagnostic;
use crate::verbs::context::Context;

/// Explains where a module comes from. The exit code is 0 even if nothing would be pulled.
pub(super) async fn explain(
    context: &Context,
    ask: &ModuleAsk<'_>,
    predecessors: &Predecessors,
    connector: &Connector,
) -> Result<(), Diagnostic> {
    let offered = match (ask.name, ask.mapped) {
        (ModuleName::Registry { address, subdir, constraints }, None) => {
            // What is wrong with the CLI configuration ends the verb.
            let opener = open::opener(connector)?;
            of_registry((address, subdir, constraints), opener, connector).await
        }
        _ => of_repository(ask, connector).await,
    };
    if let Ok(found) = &offered.found {
        open::note_other_address(context, ask.name, found, predecessors);
    }
    let explained = explained(ask, offered);
    context.emit_all(|lines| line::explained(lines, ask, &explained), || text::explained(ask, &explained));
    Ok(())
}

struct ModulePlaceAnswer {
    registry: Option<String>,
    place: String,
    listing: Result<Listing, Diagnostic>,
    notices: Vec<VersionNotice>,
    found: Result<OpenedModule, Diagnostic>,
}

fn explained<'a>(ask: &ModuleAsk<'a>, answer: ModulePlaceAnswer) -> ExplainedModule<'a> {
    let ModulePlaceAnswer { registry, place, listing, notices, found } = answer;
    let nothing = Listing::default();
    let choice = choice(ask, listing.as_ref().unwrap_or(&nothing), &notices);
    let steps = match ask.name {
        ModuleName::Registry { address, .. } => mapping_steps(ask.mirrors, address),
        _ => Vec::new(),
    };
    ExplainedModule { steps, registry, place, listing, notices, choice, found: found.map(ResolvedModule::of) }
}

/// Of a module that no rule maps.
async fn of_registry(wanted: WantedOfRegistry<'_>, opener: MethodOpener, connector: &Connector) -> ModulePlaceAnswer {
    let host = wanted.0.hostname();
    let (place, notices) = (host.display(), Vec::new());
    let registry = match opener.module_registry(host).await {
        Ok(registry) => registry,
        Err(error) => {
            let diagnostic = Diagnostic::from(error);
            return ModulePlaceAnswer {
                registry: None,
                place,
                listing: Err(diagnostic.clone()),
                notices,
                found: Err(diagnostic),
            };
        }
    };
    let asked = AskedRegistry { registry, opener };
    let listing = asked.registry.versions(wanted.0).await.map_err(Diagnostic::from);
    let found = match &listing {
        Ok(listing) => asked.find(wanted, listing, connector).await,
        Err(diagnostic) => Err(diagnostic.clone()),
    };
    ModulePlaceAnswer { registry: Some(asked.registry.address()), place, listing, notices, found }
}

/// Of a module in a repository or directory.
async fn of_repository(ask: &ModuleAsk<'_>, connector: &Connector) -> ModulePlaceAnswer {
    let end = open::end(ask.name).or_else(|| ask.mapped.map(|mapped| mapped.end.clone()));
    let end = end.expect("any other name is of a repository");
    let listed = async {
        let store = connector.source(&end).map_err(unlisted)?;
        let tags = store.tags().await.map_err(unlisted)?;
        let listing = Listing::in_store(&*store, &tags).await.map_err(unlisted)?;
        Ok::<_, Diagnostic>((store, listing))
    };
    let listed = listed.await;
    let notices = match &listed {
        Ok((store, listing)) => NoticesOf::Module(store.as_ref()).versions(listing).await,
        Err(_) => Vec::new(),
    };
    let found = match (&listed, ask.name, ask.mapped) {
        (Ok((store, listing)), ModuleName::Registry { address, subdir, constraints }, Some(mapped)) => {
            open::of_mapped((address, subdir, constraints), mapped, Arc::clone(store), listing).await
        }
        (Err(diagnostic), ModuleName::Registry { .. }, _) => Err(diagnostic.clone()),
        _ => open::find(ask.name, ask.mapped, connector).await,
    };
    let listing = listed.map(|(_, listing)| listing);
    ModulePlaceAnswer { registry: None, place: end.to_string(), listing, notices, found }
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
