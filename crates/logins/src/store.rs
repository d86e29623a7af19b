//! A login stored and removed, in docker's file and docker's helpers.

use std::collections::BTreeSet;

use serde::Serialize;
use tofu_oci_credentials::docker_file::{self, EditEffect};
use tofu_oci_credentials::{HelperAnswer, HelperName};
use tofu_oci_types::Secret;

use crate::helper::{self, Erased, HelperFault};
use crate::login_file::{Keeper, LoginFile, LoginFileError};
use crate::machine::HostMachine;
use crate::registry_name::RegistryName;

/// Why a login was not stored.
#[derive(Debug)]
pub enum StoreLoginError {
    /// The file cannot be written.
    File(LoginFileError),
    /// The helper did not keep it.
    Helper(HelperFault),
    /// The helper keeps it, and the file cannot say so.
    Mark {
        /// Why not.
        error: LoginFileError,
        program: String,
    },
}

/// Gives the login of a server to its keeper. The file is known to be writable before a helper gets the secret.
///
/// # Errors
/// If the file cannot be written, or if the helper fails.
pub async fn store(
    machine: &dyn HostMachine,
    file: &LoginFile,
    keeper: &Keeper,
    server: &str,
    username: &str,
    password: &Secret,
) -> Result<EditEffect, StoreLoginError> {
    let staged = file.stage().map_err(StoreLoginError::File)?;
    let Keeper::Helper(name) = keeper else {
        let edit = |bytes: Option<&[u8]>| docker_file::store_login(bytes, server, username, password);
        return staged.write(edit).map_err(StoreLoginError::File);
    };
    helper::run_store(machine, name, server, username, password).await.map_err(StoreLoginError::Helper)?;
    staged
        .write(|bytes| docker_file::store_mark(bytes, server))
        .map_err(|error| StoreLoginError::Mark { error, program: name.program() })
}

/// What a logout removed.
#[derive(Debug)]
pub struct Removal {
    /// Every login that is gone.
    pub removed: Vec<RemovedLogin>,
    /// The first helper that failed: it may still keep a login.
    pub failure: Option<HelperFault>,
}

/// A login that is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RemovedLogin {
    /// The helper or the file that had it.
    pub from: String,
    /// The key that it was kept under.
    pub key: String,
}

/// Removes every login of a registry from the file and from the helpers that it names.
///
/// # Errors
/// If the file cannot be read or written.
pub async fn remove(
    machine: &dyn HostMachine,
    file: &LoginFile,
    registry: &RegistryName,
) -> Result<Removal, LoginFileError> {
    let keys = registry.keys();
    let present = file.present(&keys)?;
    let mut removal = Removal { removed: Vec::new(), failure: None };
    for (helper, server) in kept(file, registry, &present)? {
        match erase(machine, &helper, &server).await {
            Ok(Erased::Gone) => removal.removed.push(RemovedLogin { from: helper.program(), key: server }),
            Ok(Erased::NotThere) => {}
            Err(fault) => removal.failure = removal.failure.or(Some(fault)),
        }
    }
    if !present.is_empty() {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        file.stage()?.write(|bytes| docker_file::remove(bytes.unwrap_or_default(), &keys))?;
        let from_file = |key| RemovedLogin { from: file.shown().to_owned(), key };
        removal.removed.extend(present.into_iter().map(from_file));
    }
    Ok(removal)
}

/// Every helper that may keep a login of the registry, and the name that it may keep it under.
fn kept(
    file: &LoginFile,
    registry: &RegistryName,
    present: &[String],
) -> Result<BTreeSet<(HelperName, String)>, LoginFileError> {
    let docker = docker_file::server_key(registry.as_str());
    let mut kept = BTreeSet::new();
    for server in present.iter().cloned().chain([docker.clone(), registry.url()]) {
        // Docker looks for the helper by the very key; OpenTofu by the host, and asks it for the URL.
        for key in [&docker, &server] {
            if let Keeper::Helper(helper) = file.keeper(key)? {
                kept.insert((helper, server.clone()));
            }
        }
    }
    Ok(kept)
}

/// Asks for the login first: some helpers fail to erase what they do not have.
async fn erase(machine: &dyn HostMachine, helper: &HelperName, server: &str) -> Result<Erased, HelperFault> {
    match helper::run_get(machine, helper, server).await? {
        HelperAnswer::NotFound | HelperAnswer::Empty => Ok(Erased::NotThere),
        HelperAnswer::Credential(_) => helper::run_erase(machine, helper, server).await,
    }
}

#[cfg(test)]
mod tests;
