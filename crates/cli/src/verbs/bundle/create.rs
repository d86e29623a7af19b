//! `bundle create`: what of a configuration goes into a bundle; `mirror` and `module mirror` with the bundle as their
//! destination.

use std::path::Path;

use tofu_oci_archive::Limits;
use tofu_oci_fetch::{RenamedReleases, Trust};
use tofu_oci_mirror::{
    BundleFile, BundledModules, Carrying, Destination, DestinationName, ExistingReleases, HostedModules, MappedModules,
    MirrorMode, MirrorRules, ModuleMirrorJob, ModuleMirrorReport, ModuleUpstream, NeededProvider, NestedModules, Prune,
};
use tofu_oci_packer::{Forms, Signing};
use tofu_oci_store::BundleArchive;
use tofu_oci_tfconfig::{ConfigFolder, OuterCall};
use tofu_oci_trust::PrivateKey;
use tofu_oci_types::{Constraints, ModuleSource, ProviderAddr};

use super::report::BundleReport;
use crate::args::{BundleCreateArgs, CarryArgs, MirrorArgs, ModuleMappingArgs};
use crate::connect::Connector;
use crate::destination::BundleShape;
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::modules as mapping;
use crate::verbs::context::{Context, config_folder};
use crate::verbs::mirror::{carry, collect, key_of};
use crate::verbs::module::{mirror as modules, open};
use crate::verbs::required::{missing_modules, nothing_required, required_but};
use crate::verbs::sign::one_password;

/// Writes a bundle with what was asked for: of a configuration also the modules that it calls.
pub(crate) async fn create(context: &Context, args: BundleCreateArgs) -> Result<Exit, Diagnostic> {
    let shape =
        BundleShape { max_part: args.max_size.map_or(u64::MAX, |size| size.0), existing: ExistingReleases::Drop };
    let mirror = MirrorArgs {
        to: Some(DestinationName::Bundle(args.file.clone()).to_string()),
        min_age: None,
        plan: false,
        prune: false,
        verify: false,
        allow_all_gone: false,
        print_trust: false,
        carry: args.carry,
    };
    let Some(dir) = &mirror.carry.from_config else { return carry(context, &mirror, shape).await };
    let folder = config_folder(context, dir, &mirror.carry.tests);
    let configuration = modules::configuration(&folder)?;
    if configuration.1.is_empty() {
        return carry(context, &mirror, shape).await;
    }
    one_password(mirror.carry.key_password_stdin, mirror.carry.access.identity.password_stdin)?;
    let key = key_of(context, &mirror).await?;
    let bundle =
        BundleFile::new(args.file, shape.max_part, shape.existing, context.waiter(&mirror.carry.access.network))?;
    // One password serves both kinds: standard input is read once.
    let access = mirror.carry.lookup.access(&mirror.carry.access.identity, None).await?;
    let connector = context.connector(&mirror.carry.access.network, access.clone());
    let required = required_apart_from_registries(context, &folder)?;
    let configuration = BundledConfiguration { dir, calls: configuration, providers: &required };
    let report = collect_modules(context, &mirror.carry, &connector, configuration, &bundle, key.as_ref()).await?;
    let required = with_those_of_modules(required, &report.providers);
    let providers = match required.as_slice() {
        // Nothing is known of what the bundle would lack.
        [] if report.lines.is_empty() && !missing_modules(&folder).is_empty() => return Err(nothing_required(&folder)),
        [] => None,
        _ => Some(collect(context, &mirror, (required, access), &bundle, key.as_ref()).await?),
    };
    Destination::finish(&bundle, context.reporter.as_ref()).await?;
    Ok(BundleReport { providers, modules: Some(report) }.print(context))
}

/// What a configuration requires, and its installed modules. A module of a registry that is not installed is read with the
/// modules of the bundle.
fn required_apart_from_registries(
    context: &Context,
    folder: &ConfigFolder,
) -> Result<Vec<(ProviderAddr, Constraints)>, Diagnostic> {
    let is_read = |source: &str| matches!(source.parse(), Ok(ModuleSource::Registry(..)));
    required_but(context, folder, is_read).map_err(Diagnostic::of_needed_configuration)
}

/// The same with the providers that the modules require; the constraints of one provider add up.
fn with_those_of_modules(
    mut required: Vec<(ProviderAddr, Constraints)>,
    more: &[NeededProvider],
) -> Vec<(ProviderAddr, Constraints)> {
    for NeededProvider { address, constraints, .. } in more {
        match required.iter_mut().find(|(known, _)| known == address) {
            Some((_, known)) => *known = known.and(constraints),
            None => required.push((address.clone(), constraints.clone())),
        }
    }
    required
}

/// A configuration that a bundle is made for.
struct BundledConfiguration<'a> {
    dir: &'a Path,
    /// Its calls of modules, and what it is called.
    calls: (String, Vec<OuterCall>),
    /// The providers that it requires itself.
    providers: &'a [(ProviderAddr, Constraints)],
}

/// Collects the modules that a configuration calls, and those that they call. They come from the bundle of `--from`, else from
/// the repositories of `modules.toml` and the registries of all other addresses.
async fn collect_modules(
    context: &Context,
    args: &CarryArgs,
    connector: &Connector,
    configuration: BundledConfiguration<'_>,
    bundle: &BundleFile,
    key: Option<&PrivateKey>,
) -> Result<ModuleMirrorReport, Diagnostic> {
    let BundledConfiguration { dir, calls, providers } = configuration;
    let trust = crate::trust::load(&args.trust, dir)?;
    let trust = Trust { renamed: args.rename.or(RenamedReleases::Refuse), ..trust };
    let from = args.lookup.from.as_deref().and_then(|from| from.strip_prefix("bundle:"));
    let upstream: Box<dyn ModuleUpstream> = match from {
        Some(file) => Box::new(BundledModules::new(BundleArchive::open(file).await?)),
        None => Box::new(MappedModules {
            mirrors: mapping::load(&ModuleMappingArgs::default(), &args.trust.predecessors, dir)?,
            open: connector.repositories()?,
            others: HostedModules { opener: open::opener(connector)?, git: connector.git() },
        }),
    };
    let (limits, work_dir) = (Limits::default(), std::env::temp_dir());
    let how = Carrying {
        trust: &trust,
        signing: key.map(|key| Signing { key, forms: Forms::Bundle }),
        limits: &limits,
        jobs: usize::from(args.jobs),
        work_dir: &work_dir,
    };
    let job = ModuleMirrorJob {
        wanted: &[],
        configuration: Some(calls),
        upstream: upstream.as_ref(),
        destination: bundle,
        rules: &MirrorRules::default(),
        prune: Prune::Keep,
        nested: NestedModules::Follow,
        mode: MirrorMode::Run,
        how: &how,
        reporter: context.reporter.as_ref(),
    };
    let report = job.run().await?;
    for needed in report.providers.iter().filter(|needed| providers.iter().all(|(own, _)| *own != needed.address)) {
        for caller in &needed.required_by {
            upstream.admit_provider(caller, &needed.address).await?;
        }
    }
    Ok(report)
}
