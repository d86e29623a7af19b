//! Which entries of the lock file an `install` without addresses removes.

use std::collections::BTreeSet;

use tofu_oci_lockfile::LockFile;
use tofu_oci_tfconfig::{ConfigFolder, MissingModule, StateLook, configuration, state};
use tofu_oci_types::{Constraints, Event, ProviderAddr};

use super::context::Context;
use crate::diagnostic::Diagnostic;

/// The locked providers that neither the configuration nor its state requires.
///
/// If a module or the state cannot be read, their requirements are unknown: `install` then removes nothing and prints a
/// note.
///
/// Spec: `OpenTofu` 1.12, `init`: requirements are those of the configuration and of the state; providercache installer,
/// "locks for any providers that are no longer needed".
pub(super) fn superfluous(
    context: &Context,
    folder: &ConfigFolder,
    required: &[(ProviderAddr, Constraints)],
    lock: &LockFile,
) -> Result<BTreeSet<ProviderAddr>, Diagnostic> {
    let locked = lock.iter().map(|(address, _)| address.clone());
    let mut unneeded: BTreeSet<ProviderAddr> = locked.collect();
    unneeded.retain(|locked| required.iter().all(|(address, _)| address != locked));
    if unneeded.is_empty() {
        return Ok(unneeded);
    }
    let missing = configuration(folder)?.missing_modules;
    let unknown = match state(folder) {
        _ if !missing.is_empty() => missing.first().map(MissingModule::why).unwrap_or_default(),
        Ok(StateLook::Absent) => return Ok(unneeded),
        Ok(StateLook::Read { providers, .. }) => {
            let needed = providers.into_iter().map(|provider| meant(provider.address, required));
            let needed = needed.filter(|needed| required.iter().all(|(address, _)| address != needed));
            // If the provider has no entry, the entry that will choose its version.
            for guide in needed.filter_map(|needed| lock.guide(&needed)) {
                unneeded.remove(&guide.by);
            }
            return Ok(unneeded);
        }
        Ok(StateLook::Elsewhere { backend, .. }) => {
            format!("the state is in the backend `{backend}`, which is not read here")
        }
        Ok(StateLook::Encrypted { path }) => format!("the state {} is encrypted", path.display()),
        Ok(_) => "the state is not read here".to_owned(),
        Err(error) => format!("the state cannot be read: {error}"),
    };
    let names: Vec<String> = unneeded.iter().map(ToString::to_string).collect();
    let text = format!("the lock file keeps entries that the configuration does not require: {}", names.join(", "));
    let hint = format!("{unknown}, so it may need them; `tofu init` takes them out if it does not");
    context.reporter.event(&Event::note("lock-entries-kept", text).with_hint(hint));
    Ok(BTreeSet::new())
}

/// The provider that `OpenTofu` reads an address in the state as. It moves an address of `registry.terraform.io` that the
/// configuration does not name to its own registry.
///
/// Spec: `OpenTofu` 1.10 to 1.13, tofumigrate `MigrateStateProviderAddresses`.
fn meant(address: ProviderAddr, required: &[(ProviderAddr, Constraints)]) -> ProviderAddr {
    let as_it_is = std::env::var("OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION").is_ok_and(|set| set == "0");
    let is_named = required.iter().any(|(required, _)| *required == address);
    if as_it_is || is_named || address.hostname().display() != "registry.terraform.io" {
        return address;
    }
    let own = format!("{}/{}", address.namespace(), address.provider_type()).parse();
    own.unwrap_or(address)
}
