//! Errors of `install` and `versions`.

use tofu_oci_installer::InstallError;
use tofu_oci_lockfile::LockFileError;
use tofu_oci_source::{NotOffered, SourceError};
use tofu_oci_types::Version;

use super::Complaint;
use crate::exit::Exit;

impl From<SourceError> for Complaint {
    fn from(error: SourceError) -> Self {
        Self::from(&error)
    }
}

impl From<&SourceError> for Complaint {
    fn from(error: &SourceError) -> Self {
        match error {
            SourceError::Store(error) => Self::from(error),
            SourceError::NotOffered { address, place, what } => {
                let text = match what {
                    NotOffered::UnknownProvider => format!("there is no provider {address} at {place}"),
                    NotOffered::VersionMissing { version, .. } => format!("{address} has no version {version}"),
                    NotOffered::PlatformMissing { version, platform, .. } => {
                        format!("{address} {version} has no package for {platform}")
                    }
                    _ => format!("{address}: {what}"),
                };
                let mut complaint = Self::new(Exit::Fixable, text);
                complaint.causes.push(format!("asked {place}"));
                match what {
                    NotOffered::VersionMissing { offered, .. } => complaint.hint(versions("it has", offered)),
                    NotOffered::PlatformMissing { offered, .. } => {
                        let list = offered.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                        complaint.hint(format!("this release offers {list}"))
                    }
                    _ => complaint.hint("check the name; `tofu-oci resolve ADDR` says where it is looked for"),
                }
            }
            _ => Self::of(Exit::Fixable, error),
        }
    }
}

impl From<LockFileError> for Complaint {
    fn from(error: LockFileError) -> Self {
        Self::of(Exit::Fixable, &error)
            .hint("mend the file by hand, or take it back from version control; nothing was changed")
    }
}

impl From<InstallError> for Complaint {
    fn from(error: InstallError) -> Self {
        let complaint = Self::of(exit(&error), &error);
        match error {
            InstallError::Source(error) => Self::from(error),
            InstallError::LockFile(error) => Self::from(error),
            InstallError::NoMatchingVersion { place, offered, .. } => {
                complaint.about_place(&place).hint(versions("it has", &offered))
            }
            InstallError::LockedVersionNotAdmitted { .. } => {
                complaint.hint("choose a new version with --upgrade, or change the constraint")
            }
            InstallError::LockedVersionGone { offered, .. } => {
                complaint.hint(versions("it has", &offered)).hint("choose one of them with --upgrade")
            }
            InstallError::Package { place, .. } => {
                complaint.about_place(&place).hint("nothing of it was kept; the release itself must be mended")
            }
            InstallError::NotTheLockedPackage { place, .. } => complaint
                .about_place(&place)
                .hint("nothing was installed: either the repository or the lock file is not what it was")
                .hint("if the package was replaced on purpose, remove the provider's block from the lock file"),
            InstallError::LocallyModified { path, .. } => {
                complaint.hint(format!("delete {} and run the same command again", path.display()))
            }
            _ => complaint,
        }
    }
}

impl Complaint {
    fn about_place(mut self, place: &str) -> Self {
        self.causes.push(format!("it came from {place}"));
        self
    }
}

fn versions(lead: &str, offered: &[Version]) -> String {
    const SHOWN: usize = 8;
    if offered.is_empty() {
        return "it has no versions".to_owned();
    }
    let newest: Vec<String> = offered.iter().rev().take(SHOWN).map(ToString::to_string).collect();
    let more = offered.len().saturating_sub(SHOWN);
    let rest = if more > 0 { format!(" and {more} older") } else { String::new() };
    format!("{lead} {}{rest}", newest.join(", "))
}

fn exit(error: &InstallError) -> Exit {
    match error {
        InstallError::Config { .. } => Exit::Usage,
        InstallError::Io { source, .. } => super::io_exit(source),
        _ => Exit::Fixable,
    }
}
