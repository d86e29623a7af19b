//! `verify`.

mod model;
mod text;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tofu_oci_fetch::{Conclusion, FolderLock, ModuleFetchError, ReleaseWithEvidence, Trust, TrustChecker, pin_file};
use tofu_oci_lockfile::LOCK_FILE_NAME;
use tofu_oci_source::{OciSource, Source, version_of};
use tofu_oci_trust::{Flaw, Policy, Standing, Verdict, VersionOf};
use tofu_oci_types::{
    Counter, ModuleAddr, ModuleName, Platform, ProviderAddr, Reference, ReleaseName, Subdir, Tag, Version,
};

use super::context::Context;
use super::install::{finder, working_dir};
use super::magic_address::magic_address;
use super::module::mapped::MappedModule;
use super::module::open::{self as module_open, OpenedModule};
use super::typed::typed;
use crate::args::VerifyArgs;
use crate::diagnostic::{Diagnostic, Refused};
use crate::ends::{End, without_oci};
use crate::exit::Exit;
use crate::invocation;
use crate::modules;
use crate::subject;
pub(super) use model::CodeAndText;
use model::VerifyReport;
pub(super) use text::{built_by, found as found_text};

/// Prints who has signed a release, and whether that is enough; without a subject the same of every locked release.
pub(crate) async fn verify(context: &Context, args: &VerifyArgs) -> Result<(), Diagnostic> {
    let dir = working_dir(args.chdir.as_deref())?;
    let mut trust = Trust {
        renamed: args.rename.or(subject::renamed(args.subject.iter())),
        ..crate::trust::load(&args.trust, &dir)?
    };
    let mut file = crate::trust::policy_file(&args.trust, &dir);
    let filed = Arc::clone(&trust.policy);
    if !args.key.is_empty() {
        let policy = Policy::with_keys(crate::trust::keys(&args.key)?);
        trust.policy = Arc::new(policy.with_predecessors(args.trust.predecessors.all()));
        file = None;
    }
    let mut judging = Judging { trust, filed, file };
    let Some(text) = &args.subject else { return every(context, args, &mut judging, &dir).await };
    match named(context, args, text, &dir).await? {
        VerifySubject::Provider(target) => one(context, args, &mut judging, &target).await,
        VerifySubject::Module(module) => {
            if let Ok(Some(name)) = subject::module(text) {
                module_open::note_other_address(context, &name, &module, judging.trust.policy.predecessors());
            }
            self::module(context, args, &judging, &module).await
        }
    }
}

/// Prints who has signed a module, and whether that is enough.
async fn module(
    context: &Context,
    args: &VerifyArgs,
    judging: &Judging,
    module: &OpenedModule,
) -> Result<(), Diagnostic> {
    if args.accept {
        return Err(Diagnostic::usage("--accept has no meaning for a module: no pin remembers modules")
            .hint("a rule for `modules` in trust.toml says what is accepted: `tofu-oci help trust-policy`"));
    }
    let Judging { trust, file, .. } = judging;
    let OpenedModule { package, version, tag, .. } = module;
    let mut found = ReleaseWithEvidence::of_module(package, version.as_ref(), tag.as_ref()).await?;
    let verdict = found.judge(trust);
    let rule = found.rule(trust);
    let report = VerifyReport { found: &found, rule, file: file.as_deref(), pin: None, accepted: None };
    print(context, &report, &verdict);
    match found.conclusion(&verdict) {
        Conclusion::Refused(refusal) | Conclusion::RefusedFor(_, refusal) => {
            let (place, version) = (found.place.clone(), found.version().cloned());
            let (refusal, rule) = (Box::new(refusal.clone()), Box::new(rule.clone()));
            Err(ModuleFetchError::Untrusted { place, version, refusal, rule }.into())
        }
        Conclusion::Unsigned | Conclusion::UnsignedFor(_) => Err(unsigned(&report, &verdict, None)),
        Conclusion::Trusted => Ok(()),
    }
}

fn print(context: &Context, report: &VerifyReport<'_>, verdict: &Verdict) {
    context.emit(&report.line(verdict), || report.page(verdict));
}

/// The same of every release of the lock file.
async fn every(context: &Context, args: &VerifyArgs, judging: &mut Judging, dir: &Path) -> Result<(), Diagnostic> {
    let locked = locked(dir)?;
    let finder = finder(context, &args.lookup, &args.access, args.chdir.as_deref(), &[]).await?;
    let (mut exit, mut failed) = (Exit::Fixable, Vec::new());
    let count = Counter::new(context.reporter.as_ref(), "releases", locked.len());
    for (address, version) in &locked {
        let judged = async {
            let source = finder.source(address)?;
            let named = VerifyTarget { source, address: address.clone(), version: version.clone() };
            one(context, args, judging, &named).await
        };
        match judged.await {
            Ok(()) => {}
            Err(diagnostic) if diagnostic.exit() == Exit::Interrupted => return Err(diagnostic),
            Err(diagnostic) => {
                if diagnostic.exit() != Exit::Fixable {
                    exit = Exit::Unexpected;
                }
                context.report(diagnostic);
                failed.push(format!("{address} {version}"));
            }
        }
        count.done();
    }
    if failed.is_empty() {
        return Ok(());
    }
    let text = format!("{} of {} locked releases could not be verified", failed.len(), locked.len());
    Err(Diagnostic::new(exit, text).code("not-verified").more_causes(failed))
}

/// What releases are judged by.
struct Judging {
    trust: Trust,
    /// The policy of `trust.toml`, even if `--key` replaces it.
    filed: Arc<Policy>,
    file: Option<PathBuf>,
}

/// Prints who has signed one release, and whether that is enough.
async fn one(
    context: &Context,
    args: &VerifyArgs,
    judging: &mut Judging,
    VerifyTarget { source, address, version }: &VerifyTarget,
) -> Result<(), Diagnostic> {
    let Judging { trust, filed, file } = judging;
    let release = source.release(address, version).await?;
    TrustChecker::new(trust, context.reporter.as_ref()).demand_address(&*release)?;
    let mut found = ReleaseWithEvidence::read(&*release, trust).await?;
    let mut verdict = found.judge(trust);
    let mut accepted = None;
    // Keys of the command line replace trust.toml here; other verbs still apply trust.toml to what is accepted.
    let demanded = if args.accept && !args.key.is_empty() {
        found.refused_once_accepted(Trust { policy: Arc::clone(filed), ..trust.clone() })
    } else {
        None
    };
    if args.accept && demanded.is_none() && found.accept(&mut verdict, trust) {
        let folder_lock =
            FolderLock::take(&trust.pins_path, &context.waiter(&args.access.network), context.reporter.as_ref())
                .await?;
        pin_file::write(&trust.pins_path, &trust.pins, &folder_lock)?;
        accepted = Some(trust.pins_path.as_path());
    }
    // It is named by the address that refuses it.
    let address = found.of.address().unwrap_or(address);
    let pin = trust.pins.get(address, version, &found.pinned_as);
    let report = VerifyReport { found: &found, rule: found.rule(trust), file: file.as_deref(), pin, accepted };
    print(context, &report, &verdict);
    end(args, &report, &verdict, address, version)?;
    let Some((refusal, rule, by_hand)) = demanded else { return Ok(()) };
    let text = format!("{address} {version} is not accepted: {refusal}");
    let refused = Refused { refusal: &refusal, rule: &rule, by_hand, address, version, place: &found.place };
    Err(Diagnostic::new(Exit::Fixable, text)
        .not_trusted(&refused)
        .hint("--key stands for no rule of the policy when --accept remembers a release: nothing is remembered"))
}

/// Succeeds only if a trusted key has signed the release, or the user has just accepted it.
fn end(
    args: &VerifyArgs,
    report: &VerifyReport<'_>,
    verdict: &Verdict,
    address: &ProviderAddr,
    version: &Version,
) -> Result<(), Diagnostic> {
    let place = &report.found.place;
    let refused = |refusal| Refused { refusal, rule: report.rule, by_hand: verdict.by_hand, address, version, place };
    match report.found.conclusion(verdict) {
        Conclusion::Refused(refusal) => {
            let text = format!("{address} {version} is not trusted: {refusal}");
            let refused = refused(refusal);
            let diagnostic = Diagnostic::new(Exit::Fixable, text).not_trusted(&refused);
            Err(match refused.rule() {
                _ if !args.accept => diagnostic,
                Some(_) => diagnostic.hint("--accept never overrides a rule of the policy: nothing is remembered"),
                None => diagnostic.hint(
                    "--accept settles that a version has moved or is not signed, and nothing else: nothing is remembered",
                ),
            })
        }
        Conclusion::RefusedFor(_, refusal) => {
            let (same, others): (Vec<_>, Vec<_>) =
                report.found.refused_platforms(verdict).partition(|(_, other)| *other == refusal);
            let platforms = listed(same.into_iter().map(|(platform, _)| platform));
            let text = format!("{address} {version} is not trusted for {platforms}: {refusal}");
            let others = others.into_iter().map(|(platform, refusal)| format!("not for {platform} either: {refusal}"));
            Err(Diagnostic::new(Exit::Fixable, text).more_causes(others).not_trusted(&refused(refusal)))
        }
        Conclusion::Unsigned if !args.accept => Err(unsigned(report, verdict, None)),
        Conclusion::UnsignedFor(_) if !args.accept => {
            Err(unsigned(report, verdict, Some(listed(report.found.uncovered_platforms(verdict)))))
        }
        Conclusion::Trusted | Conclusion::Unsigned | Conclusion::UnsignedFor(_) => Ok(()),
    }
}

/// Platforms in a sentence.
fn listed<'a>(platforms: impl Iterator<Item = &'a Platform>) -> String {
    platforms.map(Platform::to_string).collect::<Vec<_>>().join(", ")
}

/// No key of the user's has signed it, or its packages for some platforms, and the policy accepts that.
fn unsigned(report: &VerifyReport<'_>, verdict: &Verdict, uncovered: Option<String>) -> Diagnostic {
    let found = report.found;
    let sign = invocation::sign(&found.place, found.version(), report.rule);
    let verb = if found.of == VersionOf::Module { "module pull" } else { "install" };
    let taken = format!("the policy demands no signature, so `{verb}` takes it");
    if let Some((refusal, flaw)) = verdict.best_flaw().as_ref().and_then(|refusal| Some((refusal, refusal.flaw()?)))
        && verdict.standing == Standing::Unsigned
    {
        let text = format!("{found} is not trusted: {refusal}");
        let diagnostic = Diagnostic::new(Exit::Fixable, text).code(refusal.code()).cause(taken).flawed(flaw, &sign);
        return match flaw {
            Flaw::UnknownKey { .. } | Flaw::TravellingKey { .. } => {
                diagnostic.hint("--key FILE judges by a public key without trust.toml")
            }
            _ => diagnostic,
        };
    }
    let uncovered = uncovered.map_or_else(String::new, |platforms| format!(" for {platforms}"));
    let text = format!("{found} is not signed by a key of yours{uncovered}");
    Diagnostic::new(Exit::Fixable, text)
        .code("unsigned")
        .cause(taken)
        .hint("name its publisher's public key: --key FILE, or a [[key]] and a [[rule]] in trust.toml")
        .hint(format!("its publisher signs it{sign}"))
}

/// Every release of the lock file.
fn locked(dir: &Path) -> Result<Vec<(ProviderAddr, Version)>, Diagnostic> {
    let lock = tofu_oci_lockfile::read(&dir.join(LOCK_FILE_NAME))?;
    let locked: Vec<_> = lock.file().iter().map(|(address, entry)| (address.clone(), entry.version.clone())).collect();
    if locked.is_empty() {
        return Err(Diagnostic::usage("no release is named, and no lock file here has one")
            .hint(format!("name one: {}", invocation::with_all_options("verify ADDR@VERSION")))
            .hint("or work in the folder of a lock file: --chdir DIR"));
    }
    Ok(locked)
}

/// What an argument names.
enum VerifySubject {
    Provider(VerifyTarget),
    Module(Box<OpenedModule>),
}

struct VerifyTarget {
    source: Arc<dyn Source>,
    address: ProviderAddr,
    version: Version,
}

/// Reads the argument. A release at a place says itself which provider it is, or that it is a module.
async fn named(context: &Context, args: &VerifyArgs, text: &str, dir: &Path) -> Result<VerifySubject, Diagnostic> {
    let chdir = args.chdir.as_deref();
    // Such a source may be of a provider, too.
    let plain = without_oci(text);
    let is_source = plain != text && matches!(plain.parse(), Ok(ReleaseName::Repository { .. }));
    if is_source {
        module_open::refuse_for_module(text, &args.lookup, &[])?;
    }
    let text = if is_source { &*plain } else { text };
    let read = subject::module(text).map_err(|diagnostic| or_a_repository(diagnostic, args, text, dir))?;
    if let Some(name) = read {
        let mapped = MappedModule::of(&modules::load(&args.mapping, &args.trust.predecessors, dir)?, &name)?;
        // Without a version and a rule the four parts are a repository.
        if mapped.is_some() || text.contains('@') || !matches!(name, ModuleName::Registry { .. }) {
            module_open::refuse_for_module(text, &args.lookup, &[])?;
            return module_of(context, args, &name, mapped.as_ref()).await;
        }
    }
    let (end, version) = match subject::read(text)? {
        ReleaseName::Repository { repository, version } => (End::Registry(repository), version),
        ReleaseName::Layout { dir, version } => (End::Layout(dir), version),
        ReleaseName::Provider { .. } | ReleaseName::Whole(_) => {
            let (address, version) = of_provider(text, dir)?;
            let finder = finder(context, &args.lookup, &args.access, chdir, &[]).await?;
            return Ok(VerifySubject::Provider(VerifyTarget { source: finder.source(&address)?, address, version }));
        }
    };
    if typed(args.lookup.from.as_deref(), "TOFU_OCI_FROM") {
        return Err(subject::two_places(text));
    }
    let store = context.reach(&args.access, &[&end], chdir).await?.source(&end)?;
    let tag = Tag::for_version(&version).map_err(|error| Diagnostic::of(Exit::Usage, &error))?;
    let index = match store.resolve(&Reference::Tag(tag.clone())).await {
        // What was withdrawn names its provider, too; the source then says why it was.
        Err(error) if error.is_not_found() => {
            let kept = match Tag::withdrawn(&version) {
                Ok(kept) => store.resolve(&Reference::Tag(kept)).await.ok(),
                Err(_) => None,
            };
            match kept {
                Some(kept) => kept,
                None if module_open::holds_modules(store.as_ref()).await => {
                    let module = module_open::in_store(store, &end, &Reference::Tag(tag), &Subdir::root()).await?;
                    return Ok(VerifySubject::Module(Box::new(module)));
                }
                None => return Err(module_open::naming_versions(error, store.as_ref()).await),
            }
        }
        found => found?,
    };
    let magic = || if let End::Registry(repository) = &end { magic_address(repository) } else { None };
    let of = version_of(store.as_ref(), &index).await?;
    if of == Some(VersionOf::Module) {
        let module = module_open::in_store(store, &end, &Reference::Tag(tag), &Subdir::root()).await?;
        return Ok(VerifySubject::Module(Box::new(module)));
    }
    let address = of.and_then(|of| of.address().cloned()).or_else(magic).ok_or_else(|| {
        Diagnostic::new(Exit::Fixable, format!("{version} in {end} does not say which provider it is")).hint(format!(
            "say it: {}",
            invocation::with_all_options(&format!(
                "verify HOST/NAMESPACE/TYPE@{version} --from {}",
                invocation::quoted(&end.to_string())
            ))
        ))
    })?;
    Ok(VerifySubject::Provider(VerifyTarget { source: Arc::new(OciSource::new(store)), address, version }))
}

/// The same with the advice for those who mean the repository: without a rule, four parts may be its name.
fn or_a_repository(diagnostic: Diagnostic, args: &VerifyArgs, text: &str, dir: &Path) -> Diagnostic {
    let Some((name, _)) = text.split_once('@').filter(|(name, _)| subject::is_repository(name)) else {
        return diagnostic;
    };
    let Ok(address) = name.parse::<ModuleAddr>() else { return diagnostic };
    let is_mapped =
        modules::load(&args.mapping, &args.trust.predecessors, dir).is_ok_and(|mirrors| mirrors.of(&address).is_some());
    if is_mapped { diagnostic } else { diagnostic.hint(format!("if it is a repository: {name}:1.4.0")) }
}

/// A module that a source names, or an address with the mapping or the registry of its host.
async fn module_of(
    context: &Context,
    args: &VerifyArgs,
    name: &ModuleName,
    mapped: Option<&MappedModule>,
) -> Result<VerifySubject, Diagnostic> {
    let chdir = args.chdir.as_deref();
    let connector = module_open::connector(context, name, mapped, &args.access, chdir).await?;
    connector.config(chdir)?;
    let module = module_open::find(name, mapped, &connector).await?;
    if module.package.repository().is_none() {
        let place = module.package.place();
        let text =
            format!("{} comes from {place}, and only modules in OCI repositories have signatures", module.subject);
        return Err(Diagnostic::new(Exit::Fixable, text).code("unsigned").hint(
            "`tofu-oci module mirror` brings it into a repository of yours, and signs it there with --sign-key",
        ));
    }
    Ok(VerifySubject::Module(Box::new(module)))
}

/// A provider, and one exact version of it: the locked one if none is named.
fn of_provider(text: &str, dir: &Path) -> Result<(ProviderAddr, Version), Diagnostic> {
    let (address, constraints) = subject::provider(text)?;
    if !constraints.is_any() {
        let version = subject::exact(&address, &constraints)?;
        return Ok((address, version));
    }
    let lock = tofu_oci_lockfile::read(&dir.join(LOCK_FILE_NAME))?;
    if let Some(entry) = lock.file().get(&address) {
        return Ok((address, entry.version.clone()));
    }
    let diagnostic = Diagnostic::usage(format!("no version of {address} is named, and the lock file has none"));
    let diagnostic = if subject::is_repository(text) {
        let versions = invocation::command(&format!("module versions oci://{text}"));
        diagnostic.hint(format!("if {text} is a repository: {text}:VERSION; `{versions}` lists those of a module"))
    } else {
        diagnostic
    };
    Err(diagnostic
        .hint(format!("if it is a provider, name a version: {address}@VERSION"))
        .hint(format!("`{}` lists those of the provider", invocation::versions(&address))))
}
