//! To which registry connections are made before its first answer.

use std::sync::Arc;

use crate::client::RegistryClient;
use crate::hosts::KnownRoot;

impl RegistryClient {
    /// Makes connections for so many requests to a registry that will soon go out at once. A host of this machine that was
    /// not asked yet whether it speaks TLS gets both kinds: those of the wrong kind are forgotten with its answer.
    pub(crate) fn connect_ahead(self: &Arc<Self>, registry: &str, count: usize) {
        let Some(runtime) = tokio::runtime::Handle::try_current().ok().filter(|_| count > 0) else { return };
        match self.network.hosts.known_root(registry) {
            Ok(KnownRoot::Known(root)) => self.http().connect_ahead(&root, count),
            Ok(KnownRoot::Either { secure, plain }) => {
                self.http().connect_ahead(&plain, count);
                // A plain server on this machine takes each of these for a broken request, and no harm is done.
                self.http().connect_ahead(&secure, count);
                let (client, registry) = (Arc::clone(self), registry.to_owned());
                runtime.spawn(async move {
                    match client.network.hosts.root(&registry).await {
                        Ok(root) if root == secure => client.http().forget_ahead(&plain),
                        _ => client.http().forget_ahead(&secure),
                    }
                });
            }
            // The first request reports it.
            Err(_) => {}
        }
    }
}
