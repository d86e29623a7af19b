//! `module lock`.
//!
//! ```text
//! folders --read--> files, calls --look--> an outcome for each call --write--> files, each replaced as a whole
//!                                                                   --check--> problems
//! ```

mod look;
mod outcome;
mod print;
mod remarks;

use std::path::{Path, PathBuf};

use tofu_oci_fetch::FolderLock;
use tofu_oci_tfconfig::{CallFileWrite, TfConfigError, module_calls};

use self::outcome::{CallOutcome, ConfigToLock, LockedCall, LookedFile};
use self::print::LockEnd;
use crate::args::ModuleLockArgs;
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::invocation;
use crate::trust;
use crate::verbs::context::{Context, data_dir, demand_directory};
use crate::verbs::install::working_dir;

/// Pins the calls of modules, or says what is wrong with their pins.
pub(super) async fn lock(context: &Context, args: &ModuleLockArgs) -> Result<(), Diagnostic> {
    let dir = working_dir(args.chdir.as_deref())?;
    let dirs: Vec<PathBuf> = match &args.chdir {
        _ if args.dirs.is_empty() => vec![dir],
        Some(_) => args.dirs.iter().map(|below| dir.join(below)).collect(),
        None => args.dirs.clone(),
    };
    if let Some(file) = dirs.iter().find(|dir| dir.is_file()) {
        demand_directory(file, "tofu-oci module lock")?;
    }
    let configurations = dirs.iter().map(|dir| read(dir, args)).collect::<Result<Vec<_>, _>>()?;
    let looked = look::look(context, args, &configurations).await?;
    let calls: Vec<&LockedCall<'_>> = looked.iter().flat_map(|file| &file.calls).collect();
    remarks::report(context, &calls, args.check);
    if args.check {
        return check(context, &calls);
    }
    refuse(&calls)?;
    let writes = writes(&looked)?;
    if !args.dry_run {
        write(context, args, &writes).await?;
    }
    print::print(context, &calls, &writes, if args.dry_run { LockEnd::WouldWrite } else { LockEnd::Written });
    Ok(())
}

fn read(dir: &Path, args: &ModuleLockArgs) -> Result<ConfigToLock, Diagnostic> {
    let files = module_calls(dir, &data_dir(dir)).map_err(|error| match error {
        TfConfigError::NoConfiguration { .. } => Diagnostic::of(Exit::Usage, &error)
            .code(error.code())
            .hint("name the folder of the configuration: tofu-oci module lock DIR"),
        error => Diagnostic::of_needed_configuration(error),
    })?;
    Ok(ConfigToLock { trust: trust::load(&args.trust, dir)?, files })
}

/// Says what is wrong with the pins, and nothing is written.
fn check(context: &Context, calls: &[&LockedCall<'_>]) -> Result<(), Diagnostic> {
    let wrong = print::problems(context, calls);
    print::print(context, calls, &[], LockEnd::Checked);
    if wrong == 0 {
        return Ok(());
    }
    let what = if wrong == 1 { "a call of a module is".to_owned() } else { format!("{wrong} calls of modules are") };
    let diagnostic = Diagnostic::new(Exit::Fixable, format!("{what} not as `tofu-oci module lock` leaves them"))
        .code("module-lock-outdated");
    let lock = invocation::this_without("check");
    let free = calls.iter().filter(|call| call.is_free()).count();
    let pin = (free > 0).then(|| format!("pin what is not pinned: {lock}; commit the files"));
    let diagnostic = diagnostic.more_hints(pin);
    let rest = if free == 0 { "each call" } else { "the other calls" };
    Err(if wrong > free { diagnostic.hint(format!("`{lock}` says what to do about {rest}")) } else { diagnostic })
}

/// Refuses to write if a call cannot be pinned: the first one with its line, the others by their places.
fn refuse(calls: &[&LockedCall<'_>]) -> Result<(), Diagnostic> {
    let mut refused = calls.iter().filter_map(|call| match &call.outcome {
        CallOutcome::Refused(diagnostic) => Some((call, diagnostic)),
        _ => None,
    });
    let Some((first, diagnostic)) = refused.next() else { return Ok(()) };
    let diagnostic = first.shown(Diagnostic::clone(diagnostic));
    let others = refused.map(|(call, other)| format!("also {}: {}", call.place(), other.text()));
    Err(diagnostic.more_causes(others).hint("no file was changed"))
}

/// The files that change.
fn writes(looked: &[LookedFile<'_>]) -> Result<Vec<CallFileWrite>, Diagnostic> {
    let mut writes = Vec::new();
    for LookedFile { file, calls } in looked {
        let pins: Vec<_> = calls.iter().map(LockedCall::pin).collect();
        writes.extend(file.pinned(&pins)?);
    }
    Ok(writes)
}

/// Writes the files, if none of them has changed since it was read. Other runs wait meanwhile.
async fn write(context: &Context, args: &ModuleLockArgs, writes: &[CallFileWrite]) -> Result<(), Diagnostic> {
    for write in writes {
        write.check()?;
    }
    for (nth, write) in writes.iter().enumerate() {
        let folder_lock =
            FolderLock::take(write.place(), &context.waiter(&args.access.network), context.reporter.as_ref()).await?;
        let written = write.write();
        drop(folder_lock);
        written.map_err(|error| match nth {
            0 => Diagnostic::from(error),
            _ => Diagnostic::from(error).hint(format!("{nth} of {} files were written", writes.len())),
        })?;
    }
    Ok(())
}
