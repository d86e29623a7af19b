//! `check` of a lock file.

use std::path::{Path, PathBuf};

use tofu_oci_checker::{
    Coverage, Finding, Group, LockText, coverage, lock_file, needs_repository, not_asked, one_platform,
    version_deprecated, version_gone,
};
use tofu_oci_lockfile::{LockEntry, LockFile, ReleaseHashes};
use tofu_oci_source::{Failure, SourceError};
use tofu_oci_trust::{ManifestChecksums, NoticeReason, ReleaseState};
use tofu_oci_types::{Place, ProviderAddr};

use super::checked::{Checked, Unjudged, idle};
use crate::args::CheckArgs;
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::lookup::Finder;
use crate::page::counted;
use crate::verbs::context::Context;
use crate::verbs::typed::{refuse_given, typed};

/// Checks the file; with `--platform` it asks the providers' repositories too.
pub(super) async fn check(context: &Context, args: &CheckArgs, path: &Path) -> Result<Checked, Diagnostic> {
    refuse_other_options(args)?;
    let text = read(path)?;
    let link = std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    let link: Option<PathBuf> = if link { std::fs::read_link(path).ok() } else { None };
    let shown = path.strip_prefix("./").unwrap_or(path);
    let file = LockText { path: shown, text: &text, link: link.as_deref() };
    let (lock, mut findings) = lock_file(file);
    let mut not_judged = Vec::new();
    let locked = lock.as_ref().map_or(0, |lock| lock.iter().count());
    match &lock {
        Some(lock) if args.platforms.is_empty() => findings.extend(one_platform(file, lock)),
        Some(lock) => {
            let (found, unasked) = platforms(context, args, shown, path, lock).await?;
            findings.extend(found);
            not_judged.extend(unasked);
        }
        None => {}
    }
    Ok(Checked {
        target: shown.display().to_string(),
        looked_at: format!("{} looked at", counted(locked, "provider")),
        groups: vec![Group::LockFile],
        left_out: if lock.is_none() || args.platforms.is_empty() {
            idle(needs_repository, "no repository was asked; --platform asks")
        } else {
            idle(|rule| rule.id == "lock-one-platform", "--platform asks for more")
        },
        findings,
        not_judged,
        ..Checked::default()
    })
}

fn refuse_other_options(args: &CheckArgs) -> Result<(), Diagnostic> {
    let given = [
        ("--version", args.version.is_some()),
        ("--address", args.address.is_some()),
        ("--deep", args.deep),
        ("--against", args.against.is_some()),
        (
            "--trust-policy",
            args.trust.trust_policy.as_deref().is_some_and(|path| typed(path.to_str(), "TOFU_OCI_TRUST_POLICY")),
        ),
    ];
    let because = |option: &str| format!("{option} is for repositories, and this is a lock file");
    refuse_given(&given, because, "a lock file is checked with --platform, --from and --offline")?;
    refuse_idle_options(args)
}

/// Options for repositories need --platform and exclude --offline.
fn refuse_idle_options(args: &CheckArgs) -> Result<(), Diagnostic> {
    let asks = !args.platforms.is_empty();
    let given = [
        ("--from", !asks && typed(args.lookup.from.as_deref(), "TOFU_OCI_FROM")),
        ("--magic-suffix", !asks && typed(args.lookup.magic_suffix.as_deref(), "TOFU_OCI_MAGIC_SUFFIX")),
    ];
    let hint = "without --platform no repository is asked; name each platform that the lock file must cover";
    refuse_given(&given, |option| format!("{option} needs --platform"), hint)?;
    if asks && args.offline {
        return Err(Diagnostic::usage("--platform asks a repository, and --offline asks none")
            .hint("leave out one of the two; without --platform nothing is asked"));
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, Diagnostic> {
    let failed = |error: std::io::Error| {
        use std::io::ErrorKind::{FileTooLarge, InvalidData, InvalidInput, IsADirectory, NotADirectory, NotFound};
        let text = format!("cannot read {}: {error}", path.display());
        if matches!(error.kind(), NotFound | IsADirectory | NotADirectory | InvalidData | InvalidInput | FileTooLarge) {
            return Diagnostic::usage(text).hint("name a .terraform.lock.hcl, or the directory that holds one");
        }
        Diagnostic::new(Exit::Unexpected, text).code("io").io_hint("read", path, &error)
    };
    let bytes = tofu_oci_disk::read_file(path, tofu_oci_lockfile::LOCK_FILE_LIMIT).map_err(failed)?;
    String::from_utf8(bytes).map_err(|error| failed(std::io::Error::new(std::io::ErrorKind::InvalidData, error)))
}

/// Compares the lock file with what the providers' repositories offer for the platforms.
async fn platforms(
    context: &Context,
    args: &CheckArgs,
    shown: &Path,
    path: &Path,
    lock: &LockFile,
) -> Result<(Vec<Finding>, Vec<Unjudged>), Diagnostic> {
    let beside = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let dir = args.chdir.as_deref().or(beside);
    let connector = context.connector(&args.access.network, args.lookup.access(&args.access.identity, dir).await?);
    let finder = Finder::new(&args.lookup, connector, dir, &[])?;
    let policy = crate::trust::load(&args.trust, dir.unwrap_or(Path::new(".")))?.policy;
    let shown = shown.display().to_string();
    let (mut findings, mut not_judged) = (Vec::new(), Vec::new());
    for (address, entry) in lock.iter() {
        let entry = &match policy.rule(address).manifest_checksums {
            ManifestChecksums::Off => entry.clone().without_manifests(),
            ManifestChecksums::Optional | ManifestChecksums::Required => entry.clone(),
        };
        match release(&finder, address, entry).await {
            Ok(ComparedRelease { place, hashes, deprecated }) => {
                findings.extend(deprecated.map(|reason| version_deprecated(&shown, address, entry, &reason)));
                let asked = Coverage {
                    path: &shown,
                    address,
                    entry,
                    platforms: &args.platforms,
                    place: &place,
                    release: &hashes,
                };
                findings.extend(coverage(&asked));
            }
            Err(NoHashes::Gone(problem)) => findings.push(version_gone(&shown, address, entry, &problem)),
            Err(NoHashes::Failed(problem)) => findings.push(not_asked(&shown, address, entry, &problem)),
            Err(NoHashes::NoAnswer(why)) => not_judged.push(Unjudged {
                place: format!("provider {address}"),
                version: Some(entry.version.to_string()),
                platform: None,
                why: *why,
            }),
        }
    }
    Ok((findings, not_judged))
}

/// What the lock file is compared with.
struct ComparedRelease {
    place: Place,
    hashes: ReleaseHashes,
    /// Why its publisher has deprecated it.
    deprecated: Option<NoticeReason>,
}

/// Why there are no hashes to compare with.
enum NoHashes {
    Gone(String),
    /// The release is unusable.
    Failed(String),
    /// The network or the machine failed.
    NoAnswer(Box<Diagnostic>),
}

/// Whether the place could not be asked, so that the error does not describe its content.
fn is_unasked(error: &SourceError) -> bool {
    match error.innermost() {
        SourceError::Store(error) => !error.is_of_content(),
        SourceError::Failed { failure, .. } => matches!(
            failure,
            Failure::Unauthorized(_)
                | Failure::Denied(_)
                | Failure::PackageRefused { .. }
                | Failure::TooManyRequests(_)
                | Failure::ServerError(_)
                | Failure::Network { .. }
        ),
        _ => false,
    }
}

impl From<SourceError> for NoHashes {
    fn from(error: SourceError) -> Self {
        match &error {
            SourceError::NotOffered { .. } => Self::Gone(error.to_string()),
            _ if is_unasked(&error) => Self::NoAnswer(Box::new(Diagnostic::from(&error))),
            _ => Self::Failed(error.to_string()),
        }
    }
}

async fn release(finder: &Finder, address: &ProviderAddr, entry: &LockEntry) -> Result<ComparedRelease, NoHashes> {
    let source = finder.source(address).map_err(|diagnostic| NoHashes::Failed(diagnostic.text().to_owned()))?;
    let release = source.release(address, &entry.version).await?;
    let (hashes, notice) = tokio::join!(release.hashes(), release.notice());
    let deprecated = notice.ok().flatten().filter(|notice| notice.state == ReleaseState::Deprecated);
    let place = release.id().place.clone();
    Ok(ComparedRelease { place, hashes: hashes?, deprecated: deprecated.map(|notice| notice.reason) })
}
