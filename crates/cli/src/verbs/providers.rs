//! `providers`.

mod call_place;
mod json;
mod place;
mod text;

use std::path::Path;

use tofu_oci_lockfile::LOCK_FILE_NAME;
use tofu_oci_logins::Access;
use tofu_oci_tfconfig::{ConfigFinding, ProviderTree, StateLook, providers_tree};
use tofu_oci_types::{Event, ProviderAddr};

use super::context::{Context, config_folder};
use super::install::working_dir;
use super::required::{warn_of_arguments, warn_of_missing};
use crate::args::{Network, ProvidersArgs};
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::lookup::Finder;
use call_place::note_leaving;
pub(super) use place::place as declared_at;
use place::{InstallPlace, place};

/// Prints the providers of a configuration, module by module.
pub(crate) fn providers(context: &Context, args: &ProvidersArgs) -> Result<(), Diagnostic> {
    let dir = working_dir(args.chdir.as_deref())?;
    let mirrors = crate::modules::load(&args.mapping, &args.predecessors, &dir)?;
    let folder = config_folder(context, &dir, &args.tests);
    let tree = providers_tree(&folder).map_err(Diagnostic::of_needed_configuration)?;
    let lock = tofu_oci_lockfile::read(&dir.join(LOCK_FILE_NAME))?.into_file();
    let finder = Finder::new(
        &args.lookup,
        context.connector(&Network::default(), Access::Anonymous),
        args.chdir.as_deref(),
        &[],
    );
    let finder = match finder {
        // Faults of the user's files stop every verb; after an invalid --from the tree is still worth printing.
        Err(diagnostic) if args.lookup.from.is_none() => return Err(diagnostic),
        finder => finder,
    };
    let origins: Vec<InstallPlace> = tree.providers.iter().map(|need| origin(finder.as_ref(), &need.address)).collect();
    let lock = lock.as_ref();
    context.emit_all(
        |lines| json::add(lines, (&tree, lock), &origins, &mirrors),
        || text::render(&tree, lock, &origins, &mirrors, &dir),
    );
    warn(context, &tree, &dir);
    warn_of_places(context, &origins);
    note_leaving(context, &tree, &mirrors);
    refusal(&tree, &dir)
}

/// A failed lookup becomes `Unknown`: the tree is worth reading without it.
fn origin(finder: Result<&Finder, &Diagnostic>, address: &ProviderAddr) -> InstallPlace {
    if address.is_builtin() {
        return InstallPlace::BuiltIn;
    }
    let unknown = |diagnostic: &Diagnostic| InstallPlace::Unknown {
        reason: diagnostic.text().to_owned(),
        hints: diagnostic.hints().to_vec(),
    };
    match finder.map(|finder| finder.places_unasked(address)) {
        Ok(Ok(found)) => {
            let join = |list: Vec<String>| list.join(", then ");
            let (places, rules) = found.into_iter().map(|found| (found.place, found.rule)).unzip();
            InstallPlace::Place { place: join(places), rule: join(rules) }
        }
        Ok(Err(diagnostic)) => unknown(&diagnostic),
        Err(diagnostic) => unknown(diagnostic),
    }
}

/// Warns of what is missing from the tree, and of findings that `OpenTofu` accepts.
fn warn(context: &Context, tree: &ProviderTree, dir: &Path) {
    warn_of_arguments(context, tree.by_variables);
    for module in &tree.not_looked_into {
        warn_of_missing(context, module);
    }
    let state = match &tree.state {
        StateLook::Elsewhere { backend, declared } => {
            let place = place(declared, dir);
            Some(format!("the state is kept by the backend `{backend}` ({place}) and was not looked into"))
        }
        StateLook::Encrypted { path } => {
            Some(format!("the state {} is encrypted and was not looked into", path.display()))
        }
        _ => None,
    };
    if let Some(text) = state {
        let event = Event::warning("state-not-read", text);
        context.reporter.event(&event.with_hint("`tofu providers` shows the providers that it names"));
    }
    for ConfigFinding { code, declared, message, instead, .. } in
        tree.findings.iter().filter(|finding| !finding.refused)
    {
        let text = format!("{}: {message}", place(declared, dir));
        context.reporter.event(&Event::warning(code, text).with_hint(instead.clone()));
    }
}

/// One warning for all providers without a place.
fn warn_of_places(context: &Context, origins: &[InstallPlace]) {
    let mut hints: Vec<&str> = Vec::new();
    let mut count = 0;
    for origin in origins {
        let InstallPlace::Unknown { hints: more, .. } = origin else { continue };
        count += 1;
        for hint in more {
            if !hints.contains(&hint.as_str()) {
                hints.push(hint);
            }
        }
    }
    if count > 0 {
        let text = if count == 1 {
            "one provider has no place".to_owned()
        } else {
            format!("{count} providers have no place")
        };
        let event = Event::warning("no-place", text);
        context.reporter.event(&hints.into_iter().fold(event, Event::with_hint));
    }
}

/// One error for everything that `OpenTofu` refuses.
fn refusal(tree: &ProviderTree, dir: &Path) -> Result<(), Diagnostic> {
    let refused: Vec<&ConfigFinding> = tree.findings.iter().filter(|finding| finding.refused).collect();
    let text = match refused.len() {
        0 => return Ok(()),
        1 => "OpenTofu refuses this configuration".to_owned(),
        several => format!("OpenTofu refuses this configuration for {several} reasons"),
    };
    let diagnostic =
        refused.iter().fold(Diagnostic::new(Exit::Fixable, text).code("refused-by-opentofu"), |diagnostic, finding| {
            diagnostic.cause(format!("{}: {}", place(&finding.declared, dir), finding.message))
        });
    Err(refused.iter().fold(diagnostic, |diagnostic, finding| {
        diagnostic.hint(format!("{}: {}", place(&finding.declared, dir), finding.instead))
    }))
}
