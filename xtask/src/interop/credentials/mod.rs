//! Credentials for real: registry:2 over TLS with a token server and with a password file, helpers that are programs,
//! and the files of docker, podman, skopeo and crane.
//!
//! ```text
//! ways      each way to hand over credentials: publish, list, install; missing, wrong or another user's: refused
//! given     what is given for one command; identity tokens
//! logins    files and helpers shared with skopeo, buildah and crane, both ways; a packaged helper (pass)
//! explain   auth explain names the culprit
//! expiry    tokens that die in the middle of 700 MB
//! ```

mod expiry;
mod explain;
mod given;
mod logins;
mod pass;
mod relay;
mod site;
mod ways;

use super::lab::Lab;
use crate::failure::{ChoreFailure, ChoreResult};
use pass::Vault;
use site::Site;

/// The programs without which it cannot run.
pub(super) const NEEDS: &[&str] = &[
    "docker-registry",
    "htpasswd",
    "python3",
    "curl",
    "skopeo",
    "buildah",
    "crane",
    "docker-credential-pass",
    "pass",
    "gpg",
    "gpgconf",
];

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let vault = Vault::new(lab)?;
    let sites = [Site::token(lab)?, Site::htpasswd(lab)?];
    let mut ends: Vec<ChoreResult> = std::thread::scope(|scope| {
        let parts = sites.iter().map(|site| scope.spawn(|| parts(site, &vault))).collect::<Vec<_>>();
        parts
            .into_iter()
            .flat_map(|part| part.join().unwrap_or_else(|_| vec![Err(ChoreFailure::new("a panic"))]))
            .collect()
    });
    drop(sites);
    ends.push(expiry::run(lab));
    let failures: Vec<String> = ends.into_iter().filter_map(|end| Some(end.err()?.to_string())).collect();
    if failures.is_empty() { Ok(()) } else { Err(ChoreFailure::new(failures.join("\n"))) }
}

/// Each part says for itself what is wrong; the next one runs all the same.
fn parts(site: &Site<'_>, vault: &Vault) -> Vec<ChoreResult> {
    vec![ways::run(site), given::run(site), logins::run(site, vault), explain::run(site)]
}
