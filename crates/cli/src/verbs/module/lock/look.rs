//! The packages of all calls, each asked for once.

use std::collections::BTreeSet;

use tofu_oci_installer::{
    AskedRepositories, ModulePin, ModulePinError, ModulePinOptions, ModulePinRequest, MovedTags, Upgrade, pin_modules,
};
use tofu_oci_tfconfig::{CallFile, CallSource, SourceCall};

use super::outcome::{CallOutcome, ConfigToLock, LockedCall, LookedFile};
use crate::args::ModuleLockArgs;
use crate::diagnostic::Diagnostic;
use crate::ends::End;
use crate::exit::Exit;
use crate::subject::corrected;
use crate::verbs::context::Context;

/// The outcome of each call of each file. A file of several configurations is there once; every configuration's policy
/// counts for its calls. It fails if a registry could not be asked: nothing is known of its modules then.
pub(super) async fn look<'a>(
    context: &Context,
    args: &ModuleLockArgs,
    configurations: &'a [ConfigToLock],
) -> Result<Vec<LookedFile<'a>>, Diagnostic> {
    let repositories = repositories(context, args, configurations).await?;
    let mut looked: Vec<LookedFile<'a>> = Vec::new();
    for ConfigToLock { trust, files } in configurations {
        let options = ModulePinOptions {
            trust,
            upgrade: if args.upgrade { Upgrade::Newest } else { Upgrade::KeepLocked },
            moved: if args.accept_moved { MovedTags::Accept } else { MovedTags::Refuse },
        };
        let mut requests: Vec<ModulePinRequest> = Vec::new();
        for request in files.iter().flat_map(CallFile::calls).filter_map(request) {
            if !requests.contains(&request) {
                requests.push(request);
            }
        }
        let mut answers: Vec<(ModulePinRequest, Result<ModulePin, Diagnostic>)> = Vec::new();
        let found = pin_modules(&requests, &repositories, &options, context.reporter.as_ref()).await;
        for (request, answer) in requests.into_iter().zip(found) {
            answers.push((request, answer.map_err(|error: ModulePinError| Diagnostic::from(error))));
        }
        for file in files {
            let calls = file.calls().iter().map(|call| LockedCall { file, call, outcome: outcome(call, &answers) });
            let calls: Vec<LockedCall<'_>> = calls.collect();
            calls.iter().try_for_each(unasked)?;
            match looked.iter_mut().find(|known| known.file.place() == file.place()) {
                None => looked.push(LookedFile { file, calls }),
                Some(known) => {
                    for (known, again) in known.calls.iter_mut().zip(calls) {
                        if matches!(again.outcome, CallOutcome::Refused(_)) {
                            *known = again;
                        }
                    }
                }
            }
        }
    }
    Ok(looked)
}

/// Opens the repositories; a password is read for their one registry.
async fn repositories(
    context: &Context,
    args: &ModuleLockArgs,
    configurations: &[ConfigToLock],
) -> Result<AskedRepositories, Diagnostic> {
    let calls = configurations.iter().flat_map(|configuration| &configuration.files).flat_map(CallFile::calls);
    let requests: Vec<ModulePinRequest> = calls.filter_map(request).collect();
    let registries: BTreeSet<&str> = requests.iter().map(|request| request.source.repository().registry()).collect();
    let registries: Vec<&str> = registries.into_iter().collect();
    let access = args.access.identity.access(&registries, args.chdir.as_deref()).await?;
    let connector = context.connector(&args.access.network, access);
    let mut repositories = AskedRepositories::default();
    for request in &requests {
        let repository = request.source.repository();
        if !repositories.has(repository) {
            repositories.insert(repository.clone(), connector.source(&End::Registry(repository.clone()))?);
        }
    }
    Ok(repositories)
}

/// What to ask for a call; `None` if its source is not a package in a repository.
fn request(call: &SourceCall) -> Option<ModulePinRequest> {
    let CallSource::Oci(source, note) = &call.source else { return None };
    let tag = note.as_ref().and_then(|note| note.tag.clone());
    let constraints = note.as_ref().and_then(|note| note.constraint.as_ref());
    let constraints = constraints.map(|constraint| constraint.constraints().clone());
    Some(ModulePinRequest { source: source.as_ref().clone(), tag, constraints })
}

fn outcome(call: &SourceCall, answers: &[(ModulePinRequest, Result<ModulePin, Diagnostic>)]) -> CallOutcome {
    let refused = |diagnostic| CallOutcome::Refused(Box::new(diagnostic));
    match &call.source {
        CallSource::Oci(..) => {
            let wanted = request(call);
            let (_, answer) = answers
                .iter()
                .find(|(request, _)| Some(request) == wanted.as_ref())
                .expect("there is an answer to each request");
            match answer {
                Ok(pin) => CallOutcome::Pinned(Box::new(pin.clone())),
                Err(diagnostic) => refused(diagnostic.clone()),
            }
        }
        CallSource::InvalidOci(error) => {
            let hint = corrected(call.source_text());
            let hint = hint.unwrap_or_else(|| "OpenTofu refuses this source; correct it".to_owned());
            refused(Diagnostic::of(Exit::Usage, error).code(error.code()).hint(hint))
        }
        CallSource::InvalidNote(error) => refused(
            Diagnostic::of(Exit::Usage, error)
                .code("invalid-constraints")
                .hint("the comment of a pin reads: # 1.4.0 (~> 1.4)"),
        ),
        CallSource::Computed(_) => CallOutcome::Computed,
        _ => CallOutcome::Other,
    }
}

/// Ends the run if a registry could not be asked: what it would have said is not known.
fn unasked(call: &LockedCall<'_>) -> Result<(), Diagnostic> {
    match &call.outcome {
        CallOutcome::Refused(diagnostic) if diagnostic.is_unasked() || diagnostic.exit() == Exit::Unexpected => {
            Err(call.shown(Diagnostic::clone(diagnostic)))
        }
        _ => Ok(()),
    }
}
