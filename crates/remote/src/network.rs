//! What all exchanges with registries and token servers go through.

use std::sync::Arc;

use tofu_oci_http::{HttpClient, SecretScrubber};
use tofu_oci_store::StoreError;

use crate::exchange::{Exchange, ExchangeObserver};
use crate::hosts::Hosts;

/// The connections, the addresses of registries, and what observes exchanges.
#[derive(Clone)]
pub(crate) struct RegistryNetwork {
    pub(crate) http: Arc<HttpClient>,
    pub(crate) hosts: Arc<Hosts>,
    pub(crate) observer: Option<Arc<dyn ExchangeObserver>>,
}

impl RegistryNetwork {
    /// Secrets that were sent.
    pub(crate) fn scrubber(&self) -> &SecretScrubber {
        self.http.scrubber()
    }

    /// The error without any secret that was sent, in case the registry has repeated one.
    pub(crate) fn scrub(&self, error: StoreError) -> StoreError {
        error.map_foreign_text(&|text| self.scrubber().hide(text))
    }

    /// Shows an exchange to the observer, if there is one, without any secret that was sent.
    pub(crate) fn saw(&self, exchange: impl FnOnce() -> Exchange) {
        if let Some(observer) = &self.observer {
            observer.saw(&exchange().map_text(&|text| self.scrubber().hide(text)));
        }
    }
}
