//! The lock file of the command: completed before it for this platform, and after it for all.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tofu_oci_fetch::Trust;
use tofu_oci_installer::{InstallError, LockOptions, LockReport, LockRequest, LockWrite, PlatformChoice, Upgrade};
use tofu_oci_lockfile::{LOCK_FILE_NAME, LockFile, StoredLockFile, WriteOutcome};
use tofu_oci_trust::{ManifestChecksums, Policy};
use tofu_oci_types::{Constraints, Event, PackageHash, Platform, ProviderAddr, Scheme};

use super::bridges::Bridges;

use super::methods::BridgedSources;
use super::shared::lock_command;
use super::watched::Watched;
use crate::args::RunArgs;
use crate::diagnostic::Diagnostic;
use crate::verbs::context::{Context, data_dir};
use crate::verbs::printed::shown;

/// The lock file, as it was before the command.
pub(super) struct LockedByCommand<'a> {
    context: &'a Context,
    args: &'a RunArgs,
    trust: Trust,
    sources: BridgedSources,
    before: StoredLockFile,
}

impl<'a> LockedByCommand<'a> {
    /// Adds checksums of this platform for providers that are locked and not installed, as far as signatures cover them:
    /// the command would refuse packages of which the lock file has none.
    pub(super) async fn before(
        context: &'a Context,
        args: &'a RunArgs,
        dir: &Path,
        trust: Trust,
        sources: BridgedSources,
    ) -> Result<Self, Diagnostic> {
        let path = dir.join(LOCK_FILE_NAME);
        let before = tofu_oci_lockfile::read(&path)?;
        let mut lock = Self { context, args, trust, sources, before };
        let installed = data_dir(dir).join("providers");
        let missing = |address: &ProviderAddr, entry: &tofu_oci_lockfile::LockEntry| {
            let package = [address.to_string(), entry.version.to_string(), Platform::current().to_string()];
            !package.iter().fold(installed.clone(), |path: PathBuf, part| path.join(part)).exists()
        };
        let entries = lock.before.file().iter();
        let wanted: Vec<ProviderAddr> =
            entries.filter(|(address, entry)| missing(address, entry)).map(|(address, _)| address.clone()).collect();
        // If a place fails, it fails for the command too, which then is explained.
        if let Some(Ok(report)) = lock.cover(&wanted).await
            && report.written != WriteOutcome::Unchanged
        {
            lock.note(&report);
            lock.before = tofu_oci_lockfile::read(&path)?;
        }
        Ok(lock)
    }

    /// Adds the checksums of all platforms of the releases that the command asked for.
    pub(super) async fn complete(self, watched: &Watched) -> Result<(), Diagnostic> {
        let after = tofu_oci_lockfile::read(self.before.path())?;
        let locked = |(address, version): &(ProviderAddr, _)| {
            after.file().get(address).is_some_and(|entry| entry.version == *version)
        };
        let wanted: Vec<ProviderAddr> =
            watched.releases().into_iter().filter(locked).map(|(address, _)| address).collect();
        let covered = match self.cover(&wanted).await {
            Some(Ok(report)) => {
                if report.written != WriteOutcome::Unchanged {
                    self.note(&report);
                }
                report.providers.into_iter().map(|provider| provider.address).collect()
            }
            Some(Err(error)) => {
                let text = format!("{} was not completed: {error}", shown(self.before.path()));
                self.context.reporter.event(&Event::warning("lock-incomplete", text));
                return Ok(());
            }
            None => Vec::new(),
        };
        self.note_narrow(after.file(), wanted.iter().filter(|address| !covered.contains(address)));
        Ok(())
    }

    /// Prints what went wrong, and what the lock file has to do with it.
    pub(super) async fn explain(&self, bridges: &Bridges, watched: &Watched) {
        let lock = self.before.file();
        for problem in bridges.refused(watched, lock, &|address| lock_command(self.args, &[address])).await {
            self.context.explained(problem).print(false);
        }
        watched.warnings().iter().for_each(|warning| self.context.reporter.event(warning));
        self.note_origin_only();
    }

    /// Reports a subcommand that reads no installation methods.
    ///
    /// Spec: Terraform 1.11, `OpenTofu` 1.12: `providers lock` (without `-net-mirror` and `-fs-mirror`) and
    /// `providers mirror` ask the origin registries.
    fn note_origin_only(&self) {
        let words: Vec<_> = self.args.command.iter().map(|word| word.to_string_lossy()).collect();
        let of_words = |pair: &[std::borrow::Cow<'_, str>]| match pair {
            [first, second] if first == "providers" => match second.as_ref() {
                "lock" => Some(("providers lock", format!("lock every platform: {}", lock_command(self.args, &[])))),
                "mirror" => {
                    Some(("providers mirror", "`tofu-oci help mirroring` shows how to copy providers".to_owned()))
                }
                _ => None,
            },
            _ => None,
        };
        let Some((name, hint)) = words.windows(2).find_map(of_words) else { return };
        let text = format!("`{name}` asks the registries of the providers' hosts, and no mirror");
        self.context.reporter.event(&Event::note("origin-only", text).with_hint(hint));
    }

    /// Records what signatures cover; `None` if nothing is to be recorded.
    async fn cover(&self, wanted: &[ProviderAddr]) -> Option<Result<LockReport, InstallError>> {
        let readonly = self.args.command.iter().any(|word| word.to_string_lossy().ends_with("-lockfile=readonly"));
        if self.args.no_lock || readonly {
            return None;
        }
        let signed = |address: &&ProviderAddr| self.trust.policy.wants_evidence(&self.trust.pins, address);
        let request = |address: &ProviderAddr| {
            Some(LockRequest {
                address: address.clone(),
                constraints: Constraints::default(),
                source: self.sources.of(address)?,
                platforms: PlatformChoice::Covered,
                upgrade: Upgrade::KeepLocked,
            })
        };
        let requests: Vec<LockRequest> = wanted.iter().filter(signed).filter_map(request).collect();
        if requests.is_empty() {
            return None;
        }
        let path = self.before.path().to_owned();
        let mut options = LockOptions::new(path, LockWrite::Write, std::env::temp_dir(), self.recorded(&requests));
        options.waiter = self.context.waiter(&self.args.network);
        Some(tofu_oci_installer::lock(requests, &options, self.context.reporter.as_ref()).await)
    }

    /// What is trusted. Every init drops `ch:` lines, so none are recorded that no rule demands.
    fn recorded(&self, requests: &[LockRequest]) -> Trust {
        let demanded = requests
            .iter()
            .any(|request| self.trust.policy.rule(&request.address).manifest_checksums == ManifestChecksums::Required);
        if demanded {
            return self.trust.clone();
        }
        let policy = Arc::new(Policy::clone(&self.trust.policy).without_manifest_checksums());
        Trust { policy, ..self.trust.clone() }
    }

    fn note(&self, report: &LockReport) {
        let added: usize =
            report.providers.iter().flat_map(|provider| &provider.platforms).map(|platform| platform.added.len()).sum();
        if added == 0 {
            return;
        }
        let text = format!("{} now has {added} more checksums that are signed", shown(self.before.path()));
        self.context.reporter.event(&Event::note("lock-completed", text));
    }

    /// Reports new entries that are for this platform alone.
    fn note_narrow<'p>(&self, after: &LockFile, unsigned: impl Iterator<Item = &'p ProviderAddr>) {
        let is_new = |address: &&ProviderAddr| {
            let version = |file: &LockFile| file.get(address).map(|entry| entry.version.clone());
            let zips = |hash: &&PackageHash| hash.scheme() == Scheme::Zh;
            let narrow = after.get(address).is_some_and(|entry| entry.hashes.iter().filter(zips).count() < 2);
            narrow && version(after) != version(self.before.file())
        };
        let mut narrow: Vec<&ProviderAddr> = unsigned.filter(is_new).collect();
        if narrow.is_empty() {
            return;
        }
        // The command asks for several at once.
        narrow.sort();
        let names: Vec<String> = narrow.iter().map(ToString::to_string).collect();
        let text = format!("the lock file has {} for {} only", names.join(", "), Platform::current());
        let hint = format!("to lock every platform: {}", lock_command(self.args, &narrow));
        self.context.reporter.event(&Event::note("lock-narrow", text).with_hint(hint));
    }
}
