//! Errors of packages, lock files and installations.

use tofu_oci_archive::ArchiveError;
use tofu_oci_disk::LockError;
use tofu_oci_fetch::{FetchError, PinFileError};
use tofu_oci_installer::InstallError;
use tofu_oci_lockfile::{LockFileError, LockRefusal, ManifestLines};
use tofu_oci_source::SourceError;
use tofu_oci_types::Version;

use super::source::{SHOWN, versions};
use super::{Diagnostic, Refused};
use crate::exit::Exit;
use crate::invocation;

impl From<LockFileError> for Diagnostic {
    fn from(error: LockFileError) -> Self {
        let diagnostic = Self::of(Exit::Fixable, &error).code(error.code());
        match &error {
            LockFileError::Io { action, path, source } => diagnostic.io_hint(action, path, source),
            _ => diagnostic.hint("correct the file by hand, or restore it from version control; nothing was changed"),
        }
    }
}

/// What chooses a new version. `--locked` and `--upgrade` exclude each other.
fn upgrade() -> String {
    if invocation::says("locked") || invocation::says("lockfile") {
        return format!("`{}`", invocation::command("lock --upgrade"));
    }
    "--upgrade".to_owned()
}

impl From<InstallError> for Diagnostic {
    fn from(error: InstallError) -> Self {
        let code = error.code();
        Self::of_install(error).or_code(code)
    }
}

impl Diagnostic {
    fn of_install(error: InstallError) -> Self {
        let diagnostic = Self::of(exit(&error), &error);
        match error {
            InstallError::Fetch(error) => Self::of_fetch(error),
            InstallError::LockFile(error) => Self::from(error),
            InstallError::NoMatchingVersion { address, place, offered, .. } => {
                let diagnostic = diagnostic.cause(format!("asked {place}")).hint(versions("it has", &offered));
                match offered.last() {
                    Some(newest) if offered.iter().all(Version::is_prerelease) => diagnostic.hint(format!(
                        "a prerelease is installed only by its exact version: {address}@{newest}, or version = \"{newest}\""
                    )),
                    _ => diagnostic,
                }
            }
            InstallError::LockedVersionNotAdmitted { .. } => {
                diagnostic.hint(format!("choose a new version with {}, or change the constraint", upgrade()))
            }
            InstallError::LockedVersionGone { offered, .. } => {
                diagnostic.hint(versions("it has", &offered)).hint(format!("choose one of them with {}", upgrade()))
            }
            InstallError::UnspecifiedVersion { .. } => diagnostic.hint("name another version: ADDR@VERSION"),
            InstallError::VersionsDiffer { .. } => diagnostic.hint("name one version for all platforms: ADDR@VERSION"),
            InstallError::NotTheLockedRelease { place, refusal, .. } => {
                let LockRefusal::OtherRelease { locked } = &refusal else { return diagnostic };
                let shown = locked.iter().take(SHOWN).map(|hash| format!("the lock file has {hash}"));
                shown
                    .fold(diagnostic, Self::cause)
                    .cause(format!("it came from {place}"))
                    .hint("either the repository or the lock file is not what it was")
                    .hint("if the release was replaced on purpose, remove the provider's block from the lock file")
            }
            InstallError::Pins(error) => Self::from(error),
            InstallError::LockFileOutdated { missing, unneeded, .. } => diagnostic.hint(if unneeded.is_empty() {
                format!(
                    "record it, look at the difference and commit the file: {}",
                    invocation::lock_all_platforms(missing.iter())
                )
            } else {
                "run the same command without --locked, look at the difference and commit the file".to_owned()
            }),
            InstallError::LockFileChanged { .. } => diagnostic.hint("run the same command again"),
            _ => diagnostic,
        }
    }

    fn of_fetch(error: FetchError) -> Self {
        let diagnostic = Self::of(fetch_exit(&error), &error);
        match error {
            FetchError::Source(error @ (SourceError::Layout { .. } | SourceError::Unusable { .. })) => {
                Self::from(error).hint("nothing of it was installed")
            }
            FetchError::Source(error) => Self::from(error),
            FetchError::Package { place, source, .. } if source.is_refusal() => {
                let diagnostic = diagnostic.cause(format!("it came from {place}"));
                match other_provider(&source) {
                    Some(other) => diagnostic
                        .hint(format!("{place} holds the provider {other}; check --from and the address"))
                        .hint("nothing of it was installed"),
                    None => diagnostic
                        .archive_hint(&source)
                        .hint("nothing of it was installed; the publisher must correct the release itself"),
                }
            }
            FetchError::Package { source, .. } => diagnostic.archive_hint(&source),
            FetchError::LayerType { .. } => {
                diagnostic.hint("layers are tar, tar+gzip or tar+zstd; the publisher must build the image so")
            }
            FetchError::NotTheLockedPackage { place, refusal, locked_for, platform, address, .. }
                if !locked_for.is_empty() && !locked_for.contains(&platform) =>
            {
                diagnostic
                    .locked_and_found(&refusal)
                    .cause(format!("it came from {place}"))
                    .hint(format!(
                        "the lock file holds checksums of other platforms only; nothing vouches for {platform} yet"
                    ))
                    .hint(format!(
                        "to lock it too: {}",
                        invocation::command(&format!("lock {address} --platform {platform}"))
                    ))
            }
            FetchError::Untrusted { address, version, place, refusal, rule, by_hand } => {
                let release = super::RefusedRelease { address: &address, version: &version, place: &place };
                diagnostic.untrusted(&Refused { refusal: &refusal, rule: &rule, by_hand, release })
            }
            FetchError::OtherAddress { address, published_as, .. } => diagnostic.renaming(&address, &published_as),
            FetchError::NotTheLockedPackage { place, refusal, .. } => diagnostic
                .locked_and_found(&refusal)
                .cause(format!("it came from {place}"))
                .hint("nothing of it was installed: either the repository or the lock file is not what it was")
                .hint("if the package was replaced on purpose, remove the provider's block from the lock file"),
            FetchError::NotTheOfferedPackage { offered, found, .. } => offered
                .iter()
                .take(SHOWN)
                .map(|hash| format!("the place names  {hash}"))
                .chain(found.iter().map(|hash| format!("the package has  {hash}")))
                .fold(diagnostic, Self::cause)
                .hint("nothing of it was installed; whoever runs the mirror must correct the package or its checksums"),
            FetchError::LocallyModified { path, .. } => {
                diagnostic.hint(format!("delete {} and run the same command again", path.display()))
            }
            FetchError::LinkOutOfTree { link, .. } => diagnostic
                .hint("nothing was written or deleted there; such a link may have come with the repository")
                .hint(format!("delete the link {} and run the same command again", link.display())),
            FetchError::Lock(error) => Self::from(error),
            FetchError::Io { action, path, source } => diagnostic.io_hint(action, &path, &source),
            _ => diagnostic,
        }
    }
}

impl From<LockError> for Diagnostic {
    fn from(error: LockError) -> Self {
        match &error {
            LockError::Held { .. } => Self::of(Exit::Fixable, &error).locked(),
            LockError::Io { path, source } => {
                Self::of(super::io::io_exit(source), &error).code("io").io_hint("lock", path, source)
            }
        }
    }
}

impl From<FetchError> for Diagnostic {
    fn from(error: FetchError) -> Self {
        let code = error.code();
        Self::of_fetch(error).or_code(code)
    }
}

impl Diagnostic {
    /// Both sides of a disagreement about checksums, so that nobody has to compute them again.
    fn locked_and_found(self, refusal: &LockRefusal) -> Self {
        if let LockRefusal::OtherManifest { lines: ManifestLines::Required, .. } = refusal {
            return self.cause(
                "a rule of the policy says manifest_checksums = \"required\", so equal contents are not enough",
            );
        }
        let LockRefusal::NoMatch { locked, found } = refusal else { return self };
        let locked = locked.iter().map(|hash| format!("the lock file has {hash}"));
        let found = found.iter().map(|hash| format!("the package has  {hash}"));
        locked.take(SHOWN).chain(found).fold(self, Self::cause)
    }
}

/// The type of the provider whose executable lies where another's was looked for.
fn other_provider(error: &ArchiveError) -> Option<&str> {
    let ArchiveError::NoExecutable { found, .. } = error else { return None };
    let name = found.iter().find_map(|name| name.strip_prefix("terraform-provider-"))?;
    name.split(['_', '.']).next().filter(|name| !name.is_empty())
}

fn exit(error: &InstallError) -> Exit {
    match error {
        InstallError::Pins(PinFileError::Invalid { .. }) => Exit::Usage,
        InstallError::Fetch(error) => fetch_exit(error),
        _ => Exit::Fixable,
    }
}

fn fetch_exit(error: &FetchError) -> Exit {
    match error {
        FetchError::Io { source, .. } | FetchError::Package { source: ArchiveError::Io { source, .. }, .. } => {
            super::io::io_exit(source)
        }
        _ => Exit::Fixable,
    }
}
