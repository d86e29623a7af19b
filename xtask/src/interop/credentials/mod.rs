//! Credentials for real: registry:2 over TLS with a token server and with a password file, helpers that are programs,
//! and the files of docker, podman, skopeo and crane.

mod expiry;
mod relay;
mod site;
mod ways;

use super::lab::Lab;
use crate::failure::Outcome;
use site::Site;

/// The programs without which it cannot run.
pub(super) const NEEDS: &[&str] = &["docker-registry", "htpasswd", "python3"];

pub(super) fn run(lab: &Lab) -> Outcome {
    let sites = [Site::token(lab)?, Site::htpasswd(lab)?];
    expiry::run(lab)?;
    for site in &sites {
        ways::run(site)?;
    }
    expiry::run(lab)
}
