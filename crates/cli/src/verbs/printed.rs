//! What `install` prints.

use std::path::Path;

use serde::Serialize;
use tofu_oci_installer::{InstallOutcome, Installed, PlannedPackage};
use tofu_oci_trust::{ProvenIdentity, Standing};
use tofu_oci_types::Scheme;

use super::context::Context;
use super::locked::LockChange;
use crate::page::Page;
use crate::report::{JsonLines, human_bytes};

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum InstallLine<'a> {
    Installed(&'a Installed),
    Planned(&'a PlannedPackage),
    Lock(&'a LockOutcome<'a>),
}

/// What became of the lock file, or would become of it.
#[derive(Serialize)]
pub(super) struct LockOutcome<'a> {
    #[serde(serialize_with = "tofu_oci_types::path_as_text")]
    pub(super) path: &'a Path,
    pub(super) outcome: &'static str,
    pub(super) changes: Vec<LockChange>,
    /// The lines that would change, if nothing was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) diff: Option<String>,
}

/// Packages that are in their places now. `pins` is the pin file, and what was done to it, if that is worth a line.
pub(super) fn installed(
    context: &Context,
    installed: &[Installed],
    lock: &LockOutcome<'_>,
    pins: Option<(&Path, &'static str)>,
) {
    let lines = |lines: &JsonLines| {
        lines.add_all(installed.iter().map(InstallLine::Installed).chain([InstallLine::Lock(lock)]));
    };
    context.emit_all(lines, || {
        let mut page = Page::default();
        if installed.is_empty() {
            page.line("the configuration requires no providers");
        }
        for package in installed {
            let verb = match package.outcome {
                InstallOutcome::Installed if package.from_cache => "installed from the package cache:",
                InstallOutcome::Installed => "installed",
                InstallOutcome::Linked => "linked from the plugin cache:",
                InstallOutcome::AlreadyInstalled => "already installed",
            };
            of_package(verb, package, &mut page);
            if package.small {
                page.line(format_args!("  {} received, by its small layer", human_bytes(package.received)));
            }
        }
        let pins = pins.map(|(path, outcome)| format!(", pins {} {outcome}", shown(path))).unwrap_or_default();
        of_lock_file(lock, &pins, &mut page);
        page
    });
}

/// Packages that would be installed.
pub(super) fn planned(context: &Context, packages: &[PlannedPackage], lock: &LockOutcome<'_>) {
    let lines =
        |lines: &JsonLines| lines.add_all(packages.iter().map(InstallLine::Planned).chain([InstallLine::Lock(lock)]));
    context.emit_all(lines, || {
        let mut page = Page::default();
        if packages.is_empty() {
            page.line("the configuration requires no providers");
        }
        for PlannedPackage { installed, download, .. } in packages {
            let verb = match installed.outcome {
                InstallOutcome::Installed => "would install",
                InstallOutcome::Linked => "would link from the plugin cache:",
                InstallOutcome::AlreadyInstalled => "already installed",
            };
            of_package(verb, installed, &mut page);
            if installed.from_cache {
                page.line("  from the package cache");
            }
            if *download > 0 {
                page.line(format_args!("  {} to download from {}", human_bytes(*download), installed.place));
            }
        }
        of_lock_file(lock, "", &mut page);
        let is_certain = |PlannedPackage { installed, claimed, .. }: &PlannedPackage| {
            claimed.is_empty() && installed.hashes.iter().any(|hash| hash.scheme() == Scheme::H1)
        };
        if lock.diff.is_some() && !packages.iter().all(is_certain) {
            page.line("no package was downloaded: the h1: lines are what the releases claim, or are missing");
        }
        page
    });
}

/// What would become of the lock file, alone.
pub(super) fn lock_file(context: &Context, lock: &LockOutcome<'_>) {
    context.emit(&InstallLine::Lock(lock), || {
        let mut page = Page::default();
        of_lock_file(lock, "", &mut page);
        page
    });
}

fn of_package(verb: &str, package: &Installed, page: &mut Page) {
    let Installed { address, version, platform, path, .. } = package;
    page.line(format_args!("{verb} {address} {version} {platform}"));
    page.line(format_args!("  {}", shown(path)));
    if let Some(published_as) = &package.published_as {
        page.line(format_args!("  published as {published_as}"));
    }
    if let Some(trust) = package.trust.as_ref().filter(|trust| !trust.signers.is_empty()) {
        let names: Vec<&str> = trust.signers.iter().map(|signer| signer.name.as_str()).collect();
        page.line(format_args!("  {} by {}", standing(trust.standing), names.join(", ")));
    }
}

fn of_lock_file(lock: &LockOutcome<'_>, more: &str, page: &mut Page) {
    page.line(format_args!("lock file {} {}{more}", shown(lock.path), lock.outcome.replace('-', " ")));
    if let Some(diff) = &lock.diff {
        page.gap();
        page.block("", diff);
        return;
    }
    // The lines above list all of a new file.
    if lock.outcome == "updated" {
        lock.changes.iter().for_each(|change| page.line(format_args!("  {}", change.text())));
    }
}

/// Why a package is trusted, in words.
fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Signed => "signed",
        Standing::Pinned => "signed before",
        Standing::Unsigned => "unsigned, although there are signatures",
    }
}

/// The path without the `./` of the current directory.
pub(super) fn shown(path: &Path) -> std::path::Display<'_> {
    path.strip_prefix(".").unwrap_or(path).display()
}

/// What was built where, by the certificate of a workflow; `None` for a person.
pub(super) fn built(identity: &ProvenIdentity) -> Option<String> {
    let repository = identity.repository.as_ref()?;
    let mut text = identity.workflow.clone().unwrap_or_else(|| identity.subject.clone());
    text.extend(identity.workflow_ref.iter().map(|reference| format!("@{reference}")));
    text.push_str(&format!(", from {repository}"));
    let claims = [
        (" at ", &identity.reference),
        (", commit ", &identity.commit),
        (", run ", &identity.run),
        (", environment ", &identity.environment),
        (", ", &identity.runner),
    ];
    text.extend(claims.into_iter().filter_map(|(name, claim)| Some(format!("{name}{}", claim.as_ref()?))));
    Some(text)
}
