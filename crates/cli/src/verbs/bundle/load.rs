//! `bundle load`: where each thing in a bundle goes.

use std::path::Path;

use tofu_oci_archive::Limits;
use tofu_oci_fetch::{RenamedReleases, Trust};
use tofu_oci_mapper::{ModuleMirrors, TemplateRepositories};
use tofu_oci_mirror::{
    BundledModules, Carrying, Destination, DestinationName, JudgedBundle, MappedModuleRepositories, MirrorLine,
    MirrorMode, MirrorRules, ModuleDestination, ModuleMirrorJob, ModuleMirrorReport, NestedModules, Prune,
    WantedModule, judge_bundle,
};
use tofu_oci_source::{BundleSource, Source as _};
use tofu_oci_types::{Event, Place};

use super::report::BundleReport;
use crate::args::{BundleKind, BundleLoadArgs};
use crate::connect::Connector;
use crate::destination;
use crate::diagnostic::Diagnostic;
use crate::ends::{is_tar, without_kind};
use crate::exit::Exit;
use crate::identity::of_from;
use crate::invocation;
use crate::modules as mapping;
use crate::verbs::context::Context;
use crate::verbs::install::working_dir;
use crate::verbs::module::mirror::{ModuleCount, one_of_both, registries, template};

/// Brings the providers and modules of a bundle to their destinations, once all of them have been judged.
pub(crate) async fn load(context: &Context, args: &BundleLoadArgs) -> Result<Exit, Diagnostic> {
    refuse_idle_destinations(args)?;
    let to = args.destination.as_deref().map(|to| provider_destination(&args.file, to)).transpose()?;
    let trust = crate::trust::load(&args.trust, &working_dir(None)?)?;
    let trust = Trust { renamed: args.rename.or(RenamedReleases::Refuse), ..trust };
    let bundle = BundleSource::new(&args.file);
    let held = BundledModules::new(bundle.bundle().await?.clone());
    let takes = |kind: BundleKind| args.only.is_none_or(|only| only == kind);
    let wanted = if takes(BundleKind::Modules) { held.wanted(None) } else { Vec::new() };
    let mirrors = module_mirrors(args, &wanted)?;
    let has_providers = takes(BundleKind::Providers) && !bundle.providers().await?.is_empty();
    let to = to.filter(|_| takes(BundleKind::Providers));
    if has_providers && to.is_none() {
        return Err(Diagnostic::usage(format!("nothing says where the providers of {} go", bundle.place()))
            .hint("name a destination: tofu-oci bundle load FILE 'REGISTRY/${namespace}/${type}'")
            .hint("to load the modules alone: --only modules"));
    }
    let connector = connector(context, args, to.as_ref(), &mirrors).await?;
    let (limits, work_dir, jobs) = (Limits::default(), std::env::temp_dir(), usize::from(args.jobs));
    let how = Carrying { trust: &trust, signing: None, limits: &limits, jobs, work_dir: &work_dir };
    let loading = BundleLoading { context, how };
    let providers = match to {
        Some(to) => {
            let destination = destination::open(&connector, to, &trust, Default::default())?;
            let judged = loading.judge(&bundle, destination.as_ref()).await?;
            Some((destination, judged))
        }
        None => None,
    };
    let refused = if wanted.is_empty() { Vec::new() } else { held.refused(&trust, context.reporter.as_ref()).await };
    if !refused.is_empty() || providers.as_ref().is_some_and(|(_, judged)| judged.is_refused()) {
        let text = format!("{} holds a release that is refused, so nothing of it was loaded", bundle.place());
        context.reporter.event(&Event::warning("nothing-loaded", text));
        let providers = providers.map(|(_, judged)| judged.refused()).filter(|lines| !lines.is_empty());
        let modules =
            (!refused.is_empty()).then(|| ModuleMirrorReport { lines: refused, ..ModuleMirrorReport::default() });
        return Ok(BundleReport { providers, modules }.print(context));
    }
    let providers = match providers {
        Some((destination, judged)) if has_providers || wanted.is_empty() => {
            Some(loading.carry(judged, destination.as_ref()).await?)
        }
        _ => None,
    };
    let mut report = BundleReport { providers, modules: None };
    if !has_providers && wanted.is_empty() {
        warn_of_nothing(context, args, bundle.place());
        if report.providers.is_none() {
            report.modules = Some(ModuleMirrorReport::default());
        }
        return Ok(report.print(context));
    }
    if wanted.is_empty() {
        return Ok(report.print(context));
    }
    match loading.carry_modules(&held, &wanted, mirrors, &connector).await {
        Ok(modules) => report.modules = Some(modules),
        Err(diagnostic) => {
            // The providers are at their destination already.
            report.print(context);
            return Err(diagnostic);
        }
    }
    Ok(report.print(context))
}

/// Refuses a destination of a kind that is not loaded.
fn refuse_idle_destinations(args: &BundleLoadArgs) -> Result<(), Diagnostic> {
    match (args.only, &args.destination, &args.modules_to) {
        (Some(BundleKind::Providers), _, Some(_)) => {
            Err(Diagnostic::usage("--modules-to says where modules go, and --only providers loads none")
                .hint("omit one of them"))
        }
        (Some(BundleKind::Modules), Some(to), modules_to)
            if modules_to.is_some() || folder_of_layouts(to).is_none() =>
        {
            Err(Diagnostic::usage(format!("{to} says where providers go, and --only modules loads none"))
                .hint("omit it; --modules-to TEMPLATE says where modules go"))
        }
        _ => Ok(()),
    }
}

/// Says that the bundle holds nothing of what is asked for.
fn warn_of_nothing(context: &Context, args: &BundleLoadArgs, place: &Place) {
    let lacking = match args.only {
        None => "no providers and no modules",
        Some(BundleKind::Providers) => "no providers",
        Some(BundleKind::Modules) => "no modules",
    };
    let text = format!("{place} holds {lacking}, so nothing of it was loaded");
    context.reporter.event(&Event::warning("nothing-loaded", text));
}

fn provider_destination(file: &Path, text: &str) -> Result<DestinationName, Diagnostic> {
    if !text.starts_with("bundle:") && (text.contains(':') || !is_tar(text)) {
        return destination::parse_for_any(text);
    }
    if !is_tar(&file.to_string_lossy()) && !file.exists() {
        return Err(Diagnostic::usage("`bundle load` takes the file first, and then where it goes")
            .hint(invocation::with_first(text)));
    }
    let [from, to] = [format!("bundle:{}", file.display()), format!("bundle:{}", without_kind(text))];
    let words =
        format!("mirror HOST/NAMESPACE/TYPE --from {} --to {}", invocation::quoted(&from), invocation::quoted(&to));
    Err(Diagnostic::usage("a bundle is not loaded into a bundle")
        .hint(format!("to put it into another one: {}", invocation::with_all_options(&words))))
}

/// Where modules go: by `--modules-to`, by the mapping, or below the folder of image layouts that the providers go to.
fn module_mirrors(args: &BundleLoadArgs, wanted: &[WantedModule]) -> Result<ModuleMirrors, Diagnostic> {
    let count = if wanted.len() > 1 { ModuleCount::Several } else { ModuleCount::One };
    if let Some(text) = &args.modules_to {
        one_of_both("modules-to")?;
        return template(text, count);
    }
    if wanted.is_empty() {
        return Ok(ModuleMirrors::default());
    }
    let mirrors = mapping::load(&args.mapping, &args.trust.predecessors, &working_dir(None)?)?;
    if !mirrors.mirrors().is_empty() {
        return Ok(mirrors);
    }
    if let Some(folder) = args.destination.as_deref().and_then(folder_of_layouts) {
        return template(folder, count);
    }
    let what = if wanted.len() == 1 { "module goes" } else { "modules go" };
    let diagnostic =
        Diagnostic::usage(format!("nothing says where the {what} that bundle:{} holds", args.file.display()))
            .code("no-module-mirror")
            .hint("name it: --modules-to 'REGISTRY/${namespace}/${name}-${target_system}' or oci:DIR")
            .hint("or write a [[module_mirror]] in modules.toml; see `tofu-oci help modules`");
    Err(match args.only {
        Some(_) => diagnostic,
        None => diagnostic.hint("to load the providers alone: --only providers"),
    })
}

/// The destination of providers, if it is a folder that takes modules too.
fn folder_of_layouts(to: &str) -> Option<&str> {
    (to.starts_with("oci:") && !to.contains("${")).then_some(to)
}

/// What reaches both destinations; a password is read for the one registry of them.
async fn connector(
    context: &Context,
    args: &BundleLoadArgs,
    to: Option<&DestinationName>,
    mirrors: &ModuleMirrors,
) -> Result<Connector, Diagnostic> {
    let mut named = registries(&[], mirrors);
    if let Some(DestinationName::Repositories(TemplateRepositories::Registry(_))) = to {
        let of_providers = of_from(args.destination.as_deref())?;
        named.extend(of_providers.filter(|registry| !named.contains(registry)));
    }
    let access = args.access.identity.access(&named.iter().map(String::as_str).collect::<Vec<_>>(), None).await?;
    Ok(context.connector(&args.access.network, access))
}

struct BundleLoading<'a> {
    context: &'a Context,
    how: Carrying<'a>,
}

impl BundleLoading<'_> {
    async fn judge(&self, bundle: &BundleSource, to: &dyn Destination) -> Result<JudgedBundle, Diagnostic> {
        Ok(judge_bundle(bundle, to, &self.how, self.context.reporter.as_ref()).await?)
    }

    async fn carry(&self, judged: JudgedBundle, to: &dyn Destination) -> Result<Vec<MirrorLine>, Diagnostic> {
        let reporter = self.context.reporter.as_ref();
        let lines = judged.carry(to, &self.how, reporter).await;
        to.finish(reporter).await?;
        Ok(lines)
    }

    async fn carry_modules(
        &self,
        held: &BundledModules,
        wanted: &[WantedModule],
        mirrors: ModuleMirrors,
        connector: &Connector,
    ) -> Result<ModuleMirrorReport, Diagnostic> {
        let destination = MappedModuleRepositories::new(mirrors, connector.repositories()?)
            .shared_by(self.how.trust.policy.predecessors().clone());
        let job = ModuleMirrorJob {
            wanted,
            configuration: None,
            upstream: held,
            destination: &destination,
            rules: &MirrorRules::default(),
            prune: Prune::Keep,
            nested: NestedModules::Follow,
            mode: MirrorMode::Run,
            how: &self.how,
            reporter: self.context.reporter.as_ref(),
        };
        let report = job.run().await?;
        destination.finish(job.reporter).await?;
        Ok(report)
    }
}
