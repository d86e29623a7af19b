//! `serve` and `run`: real terraform (and tofu) install from registry:2 through the bridge.
//!
//! ```text
//! mirror     the network mirror protocol over TLS: init, apply, providers lock, providers mirror; a version that is added
//! host       the provider registry protocol of the bridge's own hostnames: its own key, and the publisher's signature
//! access     a token, a wrong one, Basic in the URL; two instances behind one name
//! state      a withdrawn version is not chosen; the message of a deprecated one is shown
//! faults     the registry is down: served from the cache; a damaged blob: refused, and nothing is installed
//! promoted   a release with one of two approvals is refused, and installed with both, also out of a bundle
//! upstream   what the registry lacks is pulled through from a signed origin
//! many       40 providers in one configuration
//! ran        `run -- terraform init` with the lock file of another machine
//! ```

mod access;
mod balancer;
mod faults;
mod host;
mod many;
mod mirror;
mod promoted;
mod ran;
mod site;
mod state;
mod upstream;

use super::lab::Lab;
use super::provider_build::release;
use crate::failure::ChoreResult;
use crate::registry::Guard;
use site::{BridgeSite, VERSIONS};

/// The programs without which the sub-stage cannot run.
pub(super) const NEEDS: &[&str] = &["docker-registry", "gpg", "go", "terraform", "nginx", "curl"];

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let releases = [release(lab, VERSIONS[0])?, release(lab, VERSIONS[1])?];
    let registry = Guard::deletable_over_tls()?;
    let site = BridgeSite::new(lab, &registry, &releases)?;
    mirror::run(&site)?;
    host::run(&site)?;
    access::run(&site)?;
    state::run(&site)?;
    faults::damaged(&site)?;
    promoted::run(&site)?;
    upstream::run(&site)?;
    many::run(&site)?;
    faults::down(lab, &releases)?;
    ran::run(&site)
}
