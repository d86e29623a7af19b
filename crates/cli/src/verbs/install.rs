//! `install`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tofu_oci_fetch::Trust;
use tofu_oci_installer::{
    InstallError, InstallPreview, InstallRequest, InstallTarget, LockWrite, NarrowEntry, Options, PluginCache, Upgrade,
};
use tofu_oci_lockfile::{LOCK_FILE_NAME, LockFile, WriteOutcome};
use tofu_oci_tfconfig::{ConfigFolder, configuration};
use tofu_oci_types::{Constraints, Event, Platform, ProviderAddr, Version};

use super::context::{Context, config_folder, demand_directory};
use super::locked::{LockChange, changes, diff, lacking};
use super::printed::{self, LockOutcome};
use super::required::{demand_opentofu, given, nothing_required, required};
use super::superfluous::superfluous;
use crate::args::{InstallArgs, LookupArgs, RegistryAccess};
use crate::diagnostic::Diagnostic;
use crate::ends::From;
use crate::invocation;
use crate::lookup::Finder;
use crate::package_cache;
use crate::subject;

pub(super) use super::printed::shown;

/// Installs what was named, or what the configuration requires.
pub(crate) async fn install(context: &Context, args: &InstallArgs) -> Result<(), Diagnostic> {
    let dir = working_dir(args.chdir.as_deref())?;
    args.lookup.from.as_deref().map(From::parse).transpose()?;
    let platforms = platforms(args)?;
    let folder = config_folder(context, &dir, &args.tests);
    let lock_path = dir.join(LOCK_FILE_NAME);
    let lock = tofu_oci_lockfile::read(&lock_path)?;
    let wanted = wanted(context, args, &folder, lock.text().is_some())?;
    if args.into.is_none() && !args.vendor {
        demand_opentofu(&wanted, lock.file())?;
    }
    // Addresses on the command line say nothing about other entries, and tests that do not count may need them.
    let forget = if args.providers.is_empty() && folder.tests.is_some() {
        superfluous(context, &folder, &wanted, lock.file())?
    } else {
        BTreeSet::new()
    };
    let trust = crate::trust::load(&args.trust, &dir)?;
    let trust = Trust { renamed: args.rename.or(subject::renamed(args.providers.iter())), ..trust };
    let written_to = written_to(args, &dir);
    let finder = finder(context, &args.lookup, &args.access, args.chdir.as_deref(), &written_to).await?;
    finder.tell_apart(&wanted, trust.policy.predecessors()).await?;
    let cache = finder.cache(&dir)?;
    warn_of_overrides(context, &finder, &wanted);
    let target = target(args, &dir, &folder.data_dir, cache);
    let mut jobs = Vec::new();
    for (address, constraints) in &wanted {
        let source = finder.source(address)?;
        for platform in &platforms {
            jobs.push(InstallRequest {
                address: address.clone(),
                constraints: constraints.clone(),
                platform: platform.clone(),
                source: Arc::clone(&source),
                target: target.clone(),
                upgrade: if args.upgrade { Upgrade::Newest } else { Upgrade::KeepLocked },
            });
        }
    }
    tracing::info!(packages = jobs.len(), lock_file = %lock_path.display(), locked = lock.text().is_some(), "installing");
    let mut options = Options::new(lock, trust);
    options.forget = forget;
    options.waiter = context.waiter(&args.access.network);
    options.package_cache = package_cache::of_install(args, context.reporter.as_ref())?;
    let run = InstallRun { context, args, folder: &folder, jobs: &jobs, options: &options };
    if args.write() == LockWrite::Compare {
        run.check_locked().await?;
    }
    if args.dry_run { run.preview().await } else { run.install().await }
}

struct InstallRun<'a> {
    context: &'a Context,
    args: &'a InstallArgs,
    folder: &'a ConfigFolder,
    jobs: &'a [InstallRequest],
    options: &'a Options,
}

impl InstallRun<'_> {
    async fn install(&self) -> Result<(), Diagnostic> {
        let Self { context, args, jobs, options, .. } = self;
        let reporter = context.reporter.as_ref();
        let report = match args.write() {
            LockWrite::Write => tofu_oci_installer::install(jobs, options, reporter).await,
            LockWrite::Compare => tofu_oci_installer::install_locked(jobs, options, reporter).await,
        };
        let report = report.map_err(|error| {
            let diagnostic = Diagnostic::from(error);
            if jobs.len() > 1 {
                diagnostic.hint("packages that were complete stay; the lock file is as it was")
            } else {
                diagnostic
            }
        })?;
        let written = LockOutcome {
            path: options.lock.path(),
            outcome: word(report.written),
            changes: match args.write() {
                LockWrite::Write => self.own_changes(&report.lock),
                LockWrite::Compare => Vec::new(),
            },
            diff: None,
        };
        // Whoever fills a mirror does not expect files in the working directory.
        let pins = args.into.as_ref().map(|_| report.pins).filter(|pins| *pins != WriteOutcome::Unchanged);
        let pins = pins.map(|pins| (options.trust.pins_path.as_path(), word(pins)));
        self.note_narrow(&report.narrow);
        self.warn_of_unmet(&report.lock);
        if args.write() == LockWrite::Compare {
            self.warn_of_lacking(&report.lock);
        }
        printed::installed(context, &report.installed, &written, pins);
        Ok(())
    }

    async fn preview(&self) -> Result<(), Diagnostic> {
        let preview = self.previewed().await?;
        self.note_narrow(&preview.narrow);
        self.warn_of_unmet(&preview.lock);
        printed::planned(self.context, &preview.packages, &self.would_write(&preview.lock));
        Ok(())
    }

    async fn previewed(&self) -> Result<InstallPreview, InstallError> {
        let reporter = self.context.reporter.as_ref();
        tofu_oci_installer::preview(self.jobs, self.options, self.args.write(), reporter).await
    }

    /// Fails, with the difference, unless the lock file has exactly the required providers.
    async fn check_locked(&self) -> Result<(), Diagnostic> {
        let Err(error) = tofu_oci_installer::check_locked(self.jobs, self.options) else { return Ok(()) };
        let InstallError::LockFileOutdated { missing, unneeded, .. } = &error else { return Err(error.into()) };
        let is_recorded = unneeded.is_empty().then(|| missing.clone());
        let preview = self.previewed().await;
        let lock = preview.as_ref().ok().map(|preview| &preview.lock);
        let hint = is_recorded.map(|missing| {
            let version = |address| lock.and_then(|lock| Some(&lock.get(address)?.version));
            let command = self.lock_all(missing.iter().map(|address| (address, version(address))));
            format!("record it, look at the difference and commit the file: {command}")
        });
        let diagnostic = Diagnostic::from(error).more_hints(hint);
        match &preview {
            Ok(preview) => {
                printed::lock_file(self.context, &self.would_write(&preview.lock));
                Err(diagnostic)
            }
            Err(error) => Err(diagnostic.cause(format!("what it would become is not known: {error}"))),
        }
    }

    fn would_write(&self, lock: &LockFile) -> LockOutcome<'_> {
        let stored = &self.options.lock;
        let (outcome, diff) = match stored.would_write(lock) {
            WriteOutcome::Unchanged => ("unchanged", None),
            WriteOutcome::Created | WriteOutcome::Updated => ("would-change", Some(diff(stored, lock))),
        };
        LockOutcome { path: stored.path(), outcome, changes: self.own_changes(lock), diff }
    }

    /// The changes of this run. Other programs report what they have locked meanwhile.
    fn own_changes(&self, lock: &LockFile) -> Vec<LockChange> {
        let Self { jobs, options, .. } = self;
        let own =
            |address: &ProviderAddr| options.forget.contains(address) || jobs.iter().any(|job| job.address == *address);
        // Constraints that were written otherwise change no file.
        if options.lock.file() == lock {
            return Vec::new();
        }
        let mut changes = changes(options.lock.file(), lock);
        changes.retain(|change| own(&change.address));
        changes
    }

    /// Reports new entries of the lock file that are for few platforms.
    fn note_narrow(&self, narrow: &[NarrowEntry]) {
        let said = |NarrowEntry { address, version, platforms, .. }: &NarrowEntry| {
            format!("{address} {version} for {}", names(platforms))
        };
        let has = if self.args.dry_run { "would have" } else { "has" };
        let text = match narrow {
            [] => return,
            [one] => format!("the lock file {has} {} only; the release has {}, too", said(one), names(&one.missing)),
            many => {
                let all: Vec<String> = many.iter().map(said).collect();
                format!("the lock file {has} fewer platforms than the releases: {}", all.join("; "))
            }
        };
        let locked = narrow.iter().map(|entry| (&entry.address, Some(&entry.version)));
        let hint = format!("to lock every platform: {}", self.lock_all(locked));
        let note = Event::note("lock-narrow", text);
        // `lock` is for OpenTofu.
        let is_lockable = narrow.iter().all(|entry| entry.address.clone().for_opentofu().is_ok());
        self.context.reporter.event(&if is_lockable { note.with_hint(hint) } else { note });
    }

    /// Warns of versions, installed by their address, that the configuration does not admit.
    fn warn_of_unmet(&self, lock: &LockFile) {
        if self.args.providers.is_empty() {
            return;
        }
        let Ok(found) = configuration(self.folder) else { return };
        for job in self.jobs {
            let required = found.requirements.iter().find(|required| required.address == job.address);
            let locked = lock.get(&job.address).map(|entry| &entry.version);
            let (Some(required), Some(version)) = (required, locked) else { continue };
            if !required.constraints.admits(version) {
                let (address, constraints) = (&required.address, &required.constraints);
                let text = format!(
                    "the configuration requires {address} {constraints}, which does not admit {version}: `init` will refuse it"
                );
                let hint = "change the constraint, or install a version that it admits";
                self.context.reporter.event(&Event::warning("constraint-unmet", text).with_hint(hint));
            }
        }
    }

    /// Warns of checksums that the lock file lacks although it must not change.
    fn warn_of_lacking(&self, lock: &LockFile) {
        let lacking = lacking(self.options.lock.file(), lock);
        if lacking.is_empty() {
            return;
        }
        let what: Vec<String> = lacking.iter().map(LockChange::lacking).collect();
        let text = format!("{} lacks {}; it stays as it is", shown(self.options.lock.path()), what.join(", "));
        let hint = format!(
            "to record them: {}",
            self.lock_all(lacking.iter().map(|change| (&change.address, change.to.as_ref())))
        );
        self.context.reporter.event(&Event::warning("lock-not-updated", text).with_hint(hint));
    }

    /// The command that locks these for every platform. It goes by the configuration, which has to admit what was installed by its
    /// address.
    fn lock_all<'l>(&self, locked: impl Iterator<Item = (&'l ProviderAddr, Option<&'l Version>)> + Clone) -> String {
        let command = invocation::lock_all_platforms(locked.clone().map(|(address, _)| address));
        let required = match (self.args.providers.as_slice(), configuration(self.folder)) {
            ([_, ..], Ok(found)) if !found.requirements.is_empty() => found.requirements,
            _ => return command,
        };
        let admits = |(address, version): (&ProviderAddr, Option<&Version>)| {
            let required = required.iter().find(|required| required.address == *address);
            required.is_some_and(|required| version.is_none_or(|version| required.constraints.admits(version)))
        };
        match locked.into_iter().find(|locked| !admits(*locked)) {
            Some((address, Some(version))) => {
                format!("let the configuration require {address} {version}, then {command}")
            }
            Some((address, None)) => format!("let the configuration require {address}, then {command}"),
            None => command,
        }
    }
}

fn names(platforms: &[Platform]) -> String {
    platforms.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn word(written: WriteOutcome) -> &'static str {
    match written {
        WriteOutcome::Created => "created",
        WriteOutcome::Updated => "updated",
        WriteOutcome::Unchanged => "unchanged",
    }
}

fn target(args: &InstallArgs, dir: &Path, data_dir: &Path, cache: Option<PluginCache>) -> InstallTarget {
    match &args.into {
        Some(mirror) if args.packed => InstallTarget::MirrorPacked(mirror.clone()),
        Some(mirror) => InstallTarget::MirrorUnpacked(mirror.clone()),
        None if args.vendor => InstallTarget::vendor(dir),
        None => InstallTarget::WorkingDir { data_dir: data_dir.to_owned(), cache },
    }
}

/// The directory of `--chdir`, or the current one.
pub(super) fn working_dir(chdir: Option<&Path>) -> Result<PathBuf, Diagnostic> {
    let dir = chdir.unwrap_or(Path::new("."));
    demand_directory(dir, "--chdir")?;
    Ok(dir.to_owned())
}

/// The folders that `install` writes to; no package comes from them.
fn written_to(args: &InstallArgs, dir: &Path) -> Vec<PathBuf> {
    match &args.into {
        Some(mirror) => vec![mirror.clone()],
        None if args.vendor => vec![dir.join("terraform.d").join("plugins")],
        None => Vec::new(),
    }
}

/// Finds the places of packages, outside the folders that are `written_to`.
pub(super) async fn finder(
    context: &Context,
    lookup: &LookupArgs,
    access: &RegistryAccess,
    chdir: Option<&Path>,
    written_to: &[PathBuf],
) -> Result<Finder, Diagnostic> {
    let connector = context.connector(&access.network, lookup.access(&access.identity, chdir).await?);
    Finder::new(lookup, connector, chdir, written_to)
}

/// `OpenTofu` runs these providers from the folders of their developers, whatever is installed.
fn warn_of_overrides(context: &Context, finder: &Finder, wanted: &[(ProviderAddr, Constraints)]) {
    let overrides = finder.configured().and_then(|configured| configured.reading.config.installation.as_ref());
    for entry in overrides.iter().flat_map(|installation| &installation.dev_overrides) {
        if wanted.iter().any(|(address, _)| *address == entry.address) {
            let text = format!(
                "dev_overrides in the CLI configuration: OpenTofu runs {} from {}, whatever is installed and locked",
                entry.address,
                entry.path.display()
            );
            let hint = "the provider is installed all the same; remove the entry to use what is installed";
            context.reporter.event(&Event::warning("dev-override", text).with_hint(hint));
        }
    }
}

fn platforms(args: &InstallArgs) -> Result<Vec<Platform>, Diagnostic> {
    let mut platforms = args.platform.clone();
    platforms.sort();
    platforms.dedup();
    match platforms.len() {
        0 => Ok(vec![Platform::current()]),
        1 => Ok(platforms),
        _ if args.into.is_some() || args.vendor => Ok(platforms),
        _ => Err(Diagnostic::usage(".terraform/providers is for one platform")
            .hint("install for several platforms with --vendor or --into DIR")),
    }
}

/// The addresses of the command line, or of the configuration. An empty list is an error, unless a lock file has to be
/// brought up to date.
fn wanted(
    context: &Context,
    args: &InstallArgs,
    folder: &ConfigFolder,
    is_locked: bool,
) -> Result<Vec<(ProviderAddr, Constraints)>, Diagnostic> {
    if !args.providers.is_empty() {
        return given(&args.providers);
    }
    let required = required(context, folder)?;
    if required.is_empty() && !is_locked {
        return Err(nothing_required(folder));
    }
    Ok(required)
}
