//! What an own host offers.

use serde_json::{Map, Value};

use crate::{BridgeSettings, HostService, OwnHost};

/// Whether a client may learn where the repositories are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PublishedRepositories {
    Named,
    Hidden,
}

/// The discovery document. The addresses of the registries are relative to it, so that a client stays on the host that it knows.
///
/// Spec: seed 000, "service discovery"; seed 002 (RFC), "OCI Registry as an implementation detail of `direct` installation".
pub(crate) fn document(settings: &BridgeSettings, own: &OwnHost, repositories: PublishedRepositories) -> Value {
    let mut services = Map::new();
    for service in &own.services {
        let (name, folder) = match service {
            HostService::Providers => ("providers.v1", "registry"),
            HostService::Modules => ("modules.v1", "modules"),
        };
        services.insert(name.to_owned(), format!("{}{folder}/{}/", settings.base.path(), own.hostname).into());
    }
    if let (PublishedRepositories::Named, Some(template)) = (repositories, &own.repositories) {
        services.insert("oci-providers.v1".to_owned(), template.as_str().into());
    }
    services.into()
}
