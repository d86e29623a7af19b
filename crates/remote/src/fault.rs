//! Faults of the network and of redirects as errors of a store.

use std::time::Duration;

use tofu_oci_http::{NetworkProblem, RedirectFault};
use tofu_oci_store::{AccessFault, GiveUpReason, StoreError};
use tofu_oci_types::Place;

use crate::exchange::Exchange;
use crate::network::RegistryNetwork;
use crate::realm::RealmRefusal;

/// The network kept this place from answering.
pub(crate) fn unreachable(place: Place, problem: NetworkProblem) -> StoreError {
    StoreError::Unreachable { place, fault: problem.fault, problem: problem.text }
}

/// The registry asks for a longer wait than this program is willing to make.
pub(crate) fn too_long(place: Place, asked: Duration) -> StoreError {
    StoreError::RateLimited { place, seconds: asked.as_secs().max(1), reason: GiveUpReason::Wait }
}

/// A rule forbids an address that an answer names; `problem` says what is wrong with it.
pub(crate) fn forbidden(place: Place, fault: &RedirectFault, problem: String) -> StoreError {
    let host = match fault {
        RedirectFault::PrivateHost(host) => Some(host.clone()),
        _ => None,
    };
    StoreError::Forbidden { place, fault: redirect_rule(fault), host, problem }
}

/// A rule forbids a token server.
pub(crate) fn realm_refused(network: &RegistryNetwork, place: Place, refusal: RealmRefusal) -> StoreError {
    let RealmRefusal { fault, problem } = refusal;
    network.saw(|| Exchange::Refused { code: fault.with_status(), problem: problem.clone() });
    StoreError::Forbidden { place, fault: Some(fault), host: None, problem }
}

/// The rule that a redirect breaks, if it is one that keeps transfers safe.
pub(crate) fn redirect_rule(fault: &RedirectFault) -> Option<AccessFault> {
    match fault {
        RedirectFault::Downgrade(_) => Some(AccessFault::RedirectDowngrade),
        RedirectFault::UnnamedDowngrade(_) | RedirectFault::UnnamedHost(_) => Some(AccessFault::RedirectUnnamed),
        RedirectFault::PrivateHost(_) => Some(AccessFault::PrivateHost),
        _ => None,
    }
}
