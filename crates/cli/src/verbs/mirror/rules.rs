//! What is asked for: by arguments, by a configuration, or by a `mirror.toml`.

use std::path::{Path, PathBuf};

use tofu_oci_fetch::{RenamedReleases, Trust};
use tofu_oci_lockfile::LOCK_FILE_NAME;
use tofu_oci_mirror::{
    AttestationRule, DelistedPolicy, DestinationName, MirrorRules, MirroredAddress, ProviderRule, RulesError, RulesFile,
};
use tofu_oci_types::{Constraints, ProviderAddr};

use crate::args::{ConfigTestsArgs, MirrorArgs, TrustArgs};
use crate::destination;
use crate::diagnostic::{Diagnostic, settings_fault, settings_text};
use crate::invocation;
use crate::mistake;
use crate::verbs::context::{Context, config_folder, demand_directory};
use crate::verbs::required::{given, nothing_required, required};

/// The name of the rules in the current directory.
pub(in crate::verbs) const RULES_FILE: &str = "mirror.toml";

/// What is to be mirrored, from where, where to, and whom to trust.
pub(super) struct MirrorInput {
    pub(super) rules: MirrorRules,
    /// `None` if no destination is named, because nothing is mirrored.
    pub(super) to: Option<DestinationName>,
    /// As written; empty for the places of the CLI configuration, or of `--from`.
    pub(super) sources: Vec<String>,
    pub(super) trust: Trust,
    /// Where attestations of upstream releases are.
    pub(super) attestations: Vec<AttestationRule>,
    /// The folder of the rules.
    pub(super) dir: PathBuf,
}

/// Reads the arguments, and the files that they name.
pub(super) fn input(context: &Context, args: &MirrorArgs) -> Result<MirrorInput, Diagnostic> {
    let required = match &args.carry.from_config {
        Some(dir) => of_configuration(context, dir, &args.carry.tests)?,
        None => Vec::new(),
    };
    input_with(args, required)
}

/// The same with these providers in the place of those that a configuration requires.
pub(super) fn input_with(
    args: &MirrorArgs,
    required: Vec<(ProviderAddr, Constraints)>,
) -> Result<MirrorInput, Diagnostic> {
    let (file, dir) = match (&args.carry.from_config, args.carry.providers.as_slice()) {
        (Some(dir), _) => (of_rules(by_config(args, dir, required)?), dir.clone()),
        (None, []) => of_file(args)?,
        (None, providers) => (of_rules(by_name(args, providers)?), PathBuf::from(".")),
    };
    let RulesFile { mut rules, to, sources, attestations, trust, .. } = file;
    if let Some(min_age) = args.min_age {
        rules.min_age = min_age;
    }
    rules.gone = gone(rules.gone, args.allow_all_gone);
    let to = args.to.as_ref().or(to.as_ref());
    if to.is_none() && !args.print_trust {
        return Err(Diagnostic::usage("`mirror` needs a destination")
            .hint("name it: --to 'REGISTRY/${namespace}/${type}', --to oci:DIR or --to static:DIR")
            .hint("or write the providers and `to` in mirror.toml, and name none"));
    }
    let trust_policy = args.carry.trust.trust_policy.clone().or_else(|| trust.map(|path| dir.join(path)));
    let trust = crate::trust::load(&TrustArgs { trust_policy, ..args.carry.trust.clone() }, &dir)?;
    let trust = Trust { renamed: args.carry.rename.or(RenamedReleases::Refuse), ..trust };
    rules.predecessors = trust.policy.predecessors().clone();
    let sources = if args.carry.lookup.from.is_some() { Vec::new() } else { sources };
    Ok(MirrorInput {
        rules,
        to: to.map(|to| destination::parse_for_any(to)).transpose()?,
        sources,
        trust,
        attestations,
        dir,
    })
}

fn of_rules(providers: Vec<ProviderRule>) -> RulesFile {
    let rules = MirrorRules { providers, ..MirrorRules::default() };
    let modules = MirrorRules::default();
    RulesFile { rules, modules, to: None, modules_to: None, sources: Vec::new(), attestations: Vec::new(), trust: None }
}

fn by_name(args: &MirrorArgs, providers: &[String]) -> Result<Vec<ProviderRule>, Diagnostic> {
    let rule = |(address, versions)| ProviderRule {
        versions,
        latest: args.carry.latest.map(|latest| latest as usize),
        platforms: args.carry.platform.iter().cloned().collect(),
        ..ProviderRule::all_of(address)
    };
    Ok(given(providers)?.into_iter().map(rule).collect())
}

/// The providers that a configuration requires.
fn of_configuration(
    context: &Context,
    dir: &Path,
    tests: &ConfigTestsArgs,
) -> Result<Vec<(ProviderAddr, Constraints)>, Diagnostic> {
    demand_directory(dir, "--from-config")?;
    let folder = config_folder(context, dir, tests);
    let required = required(context, &folder).map_err(Diagnostic::of_needed_configuration)?;
    if required.is_empty() {
        return Err(nothing_required(&folder));
    }
    Ok(required)
}

/// The locked version of each provider that is required, else the newest that the constraints admit.
fn by_config(
    args: &MirrorArgs,
    dir: &Path,
    required: Vec<(ProviderAddr, Constraints)>,
) -> Result<Vec<ProviderRule>, Diagnostic> {
    let lock = tofu_oci_lockfile::read(&dir.join(LOCK_FILE_NAME))?;
    let rule = |(address, constraints)| {
        let locked = lock.file().guide(&address).map(|guide| guide.entry.version.clone());
        ProviderRule {
            versions: locked.clone().map_or(constraints, Constraints::exactly),
            latest: Some(args.carry.latest.map_or(1, |latest| latest as usize)),
            platforms: args.carry.platform.iter().cloned().collect(),
            locked,
            ..ProviderRule::all_of(address)
        }
    };
    Ok(required.into_iter().map(rule).collect())
}

fn of_file(args: &MirrorArgs) -> Result<(RulesFile, PathBuf), Diagnostic> {
    let path = args.carry.rules.clone().unwrap_or_else(|| PathBuf::from(RULES_FILE));
    if args.carry.rules.is_none() && path.symlink_metadata().is_err() {
        let verb = invocation::verb();
        let example = match verb {
            "bundle create" => "tofu-oci bundle create FILE hashicorp/random",
            _ => "tofu-oci mirror hashicorp/random --to 'REGISTRY/${namespace}/${type}'",
        };
        return Err(Diagnostic::usage(format!(
            "`{verb}` needs to know which providers, and there is no mirror.toml here"
        ))
        .hint(format!("name providers: {example}"))
        .hint("or a configuration: --from-config DIR; or write a mirror.toml: tofu-oci help mirroring"));
    }
    if args.carry.latest.is_some() || !args.carry.platform.is_empty() {
        return Err(Diagnostic::usage("--latest and --platform are for providers that the command names")
            .hint("write `latest` and `platforms` in the [[provider]] of the file"));
    }
    let file = read(&path)?;
    if file.rules.providers.is_empty() {
        let text = format!("{} names no provider", path.display());
        return Err(Diagnostic::usage(text).code("rules-invalid").hint("its modules: tofu-oci module mirror"));
    }
    if !args.prune {
        demand_versions(&file.rules, &path)?;
    }
    Ok((file, path.parent().unwrap_or(Path::new("")).to_owned()))
}

/// Refuses an entry that names no version: what is there is withdrawn with `--prune` alone.
pub(in crate::verbs) fn demand_versions<A: MirroredAddress>(
    rules: &MirrorRules<A>,
    path: &Path,
) -> Result<(), Diagnostic> {
    if rules.providers.iter().all(|rule| rule.latest != Some(0)) {
        return Ok(());
    }
    let text = format!("`latest = 0` in {} names no version, which only --prune can follow", path.display());
    let hint = "write 1 or more; or add --prune to withdraw the versions that are there";
    Err(Diagnostic::usage(text).code("rules-invalid").hint(hint))
}

/// What becomes of versions that are gone, with `--allow-all-gone` or without it.
pub(in crate::verbs) fn gone(policy: DelistedPolicy, allows_all: bool) -> DelistedPolicy {
    match policy {
        DelistedPolicy::Withdraw if allows_all => DelistedPolicy::WithdrawAll,
        policy => policy,
    }
}

/// The rules of a file.
pub(in crate::verbs) fn read(path: &Path) -> Result<RulesFile, Diagnostic> {
    let hint = "mirror.toml is looked for in the current directory; --rules names another file";
    let text = settings_text(path, "the rules", "rules-unreadable", hint)?;
    RulesFile::parse(&text).map_err(|error| broken(path, &text, &error))
}

/// The fault with its line, shown as errors of a trust policy are.
fn broken(path: &Path, text: &str, error: &RulesError) -> Diagnostic {
    let fault = error.to_string();
    settings_fault(path, text, error.span.as_ref(), &fault)
        .code("rules-invalid")
        .more_hints(error.problem.instead().or_else(|| mistake::other_kind(&fault)))
        .hint("every member of the file: tofu-oci help mirroring")
}
