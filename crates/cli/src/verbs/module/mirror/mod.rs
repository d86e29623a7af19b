//! `module mirror`.

mod asked;
mod model;
mod text;

use std::path::Path;

use tofu_oci_archive::Limits;
use tofu_oci_fetch::{RenamedReleases, Trust};
use tofu_oci_mapper::ModuleMirrors;
use tofu_oci_mirror::{
    BundleFile, BundledModules, Carrying, ExistingReleases, HostedModules, MappedModuleRepositories, MappedModules,
    MirrorMode, ModuleDestination, ModuleMirrorJob, ModuleMirrorReport, ModuleUpstream, NestedModules,
};
use tofu_oci_packer::Signing;
use tofu_oci_store::BundleArchive;

use super::open;
use crate::args::{ModuleMirrorArgs, TrustArgs};
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::report::JsonLines;
use crate::signing_key;
use crate::trust;
use crate::verbs::context::{Context, config_folder};
use crate::verbs::mirror::rules::gone;
use crate::verbs::mirror::{exit_of, no_withdrawals, pruning};
use crate::verbs::required::warn_of_arguments;
use crate::verbs::sign::one_password;
use asked::MirrorTarget;
pub(in crate::verbs) use asked::{ModuleCount, configuration, one_of_both, registries, template};
use model::{ModuleMirrorEvent, ModuleMirrorRow, ModuleMirrorSummary};

/// Brings modules to their destination, or says what that would do.
pub(super) async fn mirror(context: &Context, args: &ModuleMirrorArgs) -> Result<Exit, Diagnostic> {
    one_password(args.signing.key_password_stdin, args.access.identity.password_stdin)?;
    let mut wanted = asked::wanted(args)?;
    let folder = args.from_config.as_deref().map(|dir| config_folder(context, dir, &args.tests));
    let configuration = folder.as_ref().map(configuration).transpose()?;
    let by_variables = folder.map(|folder| tofu_oci_tfconfig::configuration(&folder));
    warn_of_arguments(context, by_variables.is_some_and(|found| found.is_ok_and(|found| found.by_variables)));
    let file = asked::rules(args)?;
    let beside = file.as_ref().map(|(_, dir)| dir.as_path());
    let dir = args.from_config.as_deref().or(beside).unwrap_or(Path::new("."));
    let rules_file = file.as_ref().map(|(file, _)| file);
    let to = args.to.as_ref().or(rules_file.and_then(|file| file.modules_to.as_ref()));
    let target = asked::destination(args, to, dir)?;
    if let (true, MirrorTarget::Bundle(file)) = (args.prune, &target) {
        return Err(no_withdrawals(&format_args!("bundle:{}", file.display())));
    }
    let bundle = match asked::from_bundle(args)? {
        Some(file) => Some(BundledModules::new(BundleArchive::open(file).await?)),
        None => None,
    };
    if let (Some(bundle), true, None) = (&bundle, wanted.is_empty(), &configuration) {
        wanted = bundle.wanted(args.latest.map(|latest| latest as usize));
    }
    let named = rules_file.and_then(|file| file.trust.as_ref()).map(|path| dir.join(path));
    let trust_policy = args.trust.trust_policy.clone().or(named);
    let trust = trust::load(&TrustArgs { trust_policy, ..args.trust.clone() }, dir)?;
    let trust = Trust { renamed: args.rename.or(RenamedReleases::Refuse), ..trust };
    let mut rules = rules_file.map(|file| file.modules.clone()).unwrap_or_default();
    wanted.extend(asked::of_rules(&rules));
    rules.predecessors = trust.policy.predecessors().clone();
    rules.min_age = args.min_age.unwrap_or(rules.min_age);
    rules.gone = gone(rules.gone, args.allow_all_gone);
    let none = ModuleMirrors::default();
    let mirrors = if let MirrorTarget::Repositories(mirrors) = &target { mirrors } else { &none };
    let registries = registries(&wanted, mirrors);
    let registries: Vec<&str> = registries.iter().map(String::as_str).collect();
    let access = args.access.identity.access(&registries, None).await?;
    let connector = context.connector(&args.access.network, access);
    let key = signing_key::named(&args.signing, context.reporter.as_ref()).await?;
    let upstream: Box<dyn ModuleUpstream> = match bundle {
        Some(bundle) => Box::new(bundle),
        None => Box::new(MappedModules {
            mirrors: asked::kept(args, (to, &target), dir)?,
            open: connector.repositories()?,
            others: HostedModules { opener: open::opener(&connector)?, git: connector.git() },
        }),
    };
    let destination: Box<dyn ModuleDestination> = match target {
        MirrorTarget::Repositories(mirrors) => {
            let repositories = MappedModuleRepositories::new(mirrors, connector.repositories()?);
            Box::new(repositories.shared_by(trust.policy.predecessors().clone()))
        }
        MirrorTarget::Bundle(file) => {
            Box::new(BundleFile::new(file, u64::MAX, ExistingReleases::Keep, connector.waiting().0)?)
        }
    };
    let (limits, work_dir) = (Limits::default(), std::env::temp_dir());
    let how = Carrying {
        trust: &trust,
        signing: key.as_ref().map(|key| Signing { key, forms: args.signing.sign_format.forms() }),
        limits: &limits,
        jobs: usize::from(args.jobs),
        work_dir: &work_dir,
    };
    let job = ModuleMirrorJob {
        wanted: &wanted,
        configuration,
        upstream: upstream.as_ref(),
        destination: destination.as_ref(),
        rules: &rules,
        prune: pruning(args.prune),
        nested: if args.no_nested { NestedModules::Report } else { NestedModules::Follow },
        mode: if args.plan { MirrorMode::Plan } else { MirrorMode::Run },
        how: &how,
        reporter: context.reporter.as_ref(),
    };
    let (mode, report) = (job.mode, job.run().await?);
    if mode == MirrorMode::Run {
        destination.finish(context.reporter.as_ref()).await?;
    }
    Ok(print(context, mode, report))
}

/// Prints the report. What failed has its line, and the exit code says so.
pub(in crate::verbs) fn print(context: &Context, mode: MirrorMode, report: ModuleMirrorReport) -> Exit {
    let has_problem = report.has_problem();
    let rows: Vec<ModuleMirrorRow> = report.lines.into_iter().map(|line| ModuleMirrorRow::of(context, line)).collect();
    let summary = ModuleMirrorSummary::of(mode, &rows, &report.calls);
    let line =
        if mode == MirrorMode::Plan { ModuleMirrorEvent::ModuleMirrorPlan } else { ModuleMirrorEvent::ModuleMirror };
    let lines = |lines: &JsonLines| {
        lines.add_all(rows.iter().map(line));
        lines.add_all(report.calls.iter().map(ModuleMirrorEvent::ModuleCallLeft));
        lines.add(&ModuleMirrorEvent::ModuleMirrorSummary(&summary));
    };
    context.emit_all(lines, || text::page(mode, &rows, &report.calls, &summary));
    if has_problem { exit_of(rows.iter().filter_map(|row| row.outcome.as_ref().err())) } else { Exit::Done }
}
