//! What is asked for: by arguments, or by a configuration.

use std::path::{Path, PathBuf};

use tofu_oci_mapper::{ModuleMirrors, ModuleRepositories, Symbol, TemplateError, TemplateOf, check_mentioned};
use tofu_oci_mirror::{MirrorRules, ModuleOrigin, NamedPackage, ProviderRule, Providers, RulesFile, WantedModule};
use tofu_oci_tfconfig::{ConfigFolder, OuterCall, outer_calls};
use tofu_oci_types::{Constraints, ModuleAddr, ModuleName, Reference, Subdir, Tag, Version};

use crate::args::ModuleMirrorArgs;
use crate::diagnostic::Diagnostic;
use crate::ends::{demand_template, is_tar, template_instead, without_oci};
use crate::exit::Exit;
use crate::invocation;
use crate::mistake::nothing_to_mirror;
use crate::modules;
use crate::subject::module_name;
use crate::verbs::context::demand_directory;
use crate::verbs::mirror::rules::{RULES_FILE, demand_versions, read};

/// The rules of a file, and its folder; `None` if the arguments name what is wanted.
pub(super) fn rules(args: &ModuleMirrorArgs) -> Result<Option<(RulesFile, PathBuf)>, Diagnostic> {
    if !args.sources.is_empty() || args.from_config.is_some() || args.from.is_some() {
        return Ok(None);
    }
    let path = args.rules.clone().unwrap_or_else(|| PathBuf::from(RULES_FILE));
    if args.rules.is_none() && path.symlink_metadata().is_err() {
        return Err(nothing_to_mirror());
    }
    if args.latest.is_some() {
        return Err(Diagnostic::usage("--latest is for modules that the command names")
            .hint("write `latest` in the [[module]] of the file"));
    }
    let file = read(&path)?;
    if file.modules.providers.is_empty() {
        let text = format!("{} names no module", path.display());
        let hint = "write [[module]] with address = \"HOST/NAMESPACE/NAME/SYSTEM\"";
        return Err(Diagnostic::usage(text).code("rules-invalid").hint(hint));
    }
    if !args.prune {
        demand_versions(&file.modules, &path)?;
    }
    Ok(Some((file, path.parent().unwrap_or(Path::new("")).to_owned())))
}

/// The modules that rules name.
pub(super) fn of_rules(rules: &MirrorRules<ModuleAddr>) -> Vec<WantedModule> {
    let wanted = |rule: &ProviderRule<ModuleAddr>| match &rule.providers {
        Providers::One(address) => {
            let origin = ModuleOrigin::Registry { constraints: rule.versions.clone(), latest: rule.latest };
            Some(WantedModule { address: address.clone(), folder: Subdir::root(), origin })
        }
        Providers::Matching(_) => None,
    };
    rules.providers.iter().filter_map(wanted).collect()
}

/// The modules that the arguments name. Each repository must come with the module that it becomes.
pub(super) fn wanted(args: &ModuleMirrorArgs) -> Result<Vec<WantedModule>, Diagnostic> {
    if let Some(address) = &args.address {
        let [source] = args.sources.as_slice() else {
            return Err(Diagnostic::usage("--as names the module that one source becomes")
                .hint("run `module mirror` once for each source"));
        };
        return Ok(vec![renamed(source, address)?]);
    }
    args.sources.iter().map(|source| by_address(source, args.latest)).collect()
}

fn by_address(text: &str, latest: Option<u32>) -> Result<WantedModule, Diagnostic> {
    match module_name(text)? {
        ModuleName::Registry { address, subdir, constraints } => {
            let origin = ModuleOrigin::Registry { constraints, latest: latest.map(|latest| latest as usize) };
            Ok(WantedModule { address, folder: subdir, origin })
        }
        ModuleName::Layout { .. } => Err(layout()),
        ModuleName::Oci(_) | ModuleName::Git(_) => {
            Err(Diagnostic::usage("a repository does not say which module of a registry it holds")
                .code("module-without-address")
                .hint("name the module that configurations will call: --as HOST/NAMESPACE/NAME/SYSTEM"))
        }
    }
}

/// A layout is copied, and needs no mirror.
fn layout() -> Diagnostic {
    Diagnostic::usage("`module mirror` takes no image layout")
        .hint("copy it: tofu-oci copy oci:DIR:VERSION REPOSITORY; modules in a bundle: --from bundle:FILE")
}

/// One source, under the address that it gets.
fn renamed(source: &str, address: &str) -> Result<WantedModule, Diagnostic> {
    let named = match module_name(address) {
        // The version is invalid.
        Err(error) if address.split('@').next().is_some_and(|name| name.parse::<ModuleAddr>().is_ok()) => {
            return Err(error);
        }
        named => named,
    };
    let Ok(ModuleName::Registry { address, subdir, constraints }) = named else {
        return Err(Diagnostic::usage(format!("--as needs a module of a registry, and `{address}` is not one"))
            .hint("write HOST/NAMESPACE/NAME/SYSTEM, such as registry.example.com/acme/network/aws"));
    };
    if !subdir.is_root() {
        return Err(Diagnostic::usage("--as names a module, not a folder in it")
            .hint("put //SUB into the source: that folder becomes the package"));
    }
    let (location, label) = match module_name(source)? {
        ModuleName::Oci(source) => {
            let label = match source.reference() {
                Reference::Tag(tag) => Some(tag.to_string()),
                Reference::Digest(_) => None,
            };
            (NamedPackage::Oci(source), label)
        }
        ModuleName::Git(source) => {
            let label = source.reference().map(ToString::to_string);
            (NamedPackage::Git(source), label)
        }
        ModuleName::Layout { .. } => return Err(layout()),
        ModuleName::Registry { .. } => {
            return Err(Diagnostic::usage(
                "--as is for a source that has no address, such as oci://REPOSITORY?tag=1.4.0",
            )
            .hint("omit --as: the module of a registry keeps its address"));
        }
    };
    let version = version_of(label.as_deref(), &constraints, &address)?;
    Ok(WantedModule { address, folder: Subdir::root(), origin: ModuleOrigin::At { location, version } })
}

/// The version after the `@`, else that of the source's tag or ref.
fn version_of(label: Option<&str>, constraints: &Constraints, address: &ModuleAddr) -> Result<Version, Diagnostic> {
    if let Some(version) = constraints.exact() {
        return Ok(version.clone());
    }
    let hint = format!("name it: --as {address}@1.4.0");
    if !constraints.is_any() {
        let text = format!("--as needs one version, and `{constraints}` is a constraint");
        return Err(Diagnostic::usage(text).hint(hint));
    }
    let of_label = label.and_then(|label| {
        let of_tag = label.parse().ok().and_then(|tag: Tag| tag.version());
        of_tag.or_else(|| label.strip_prefix('v')?.parse().ok())
    });
    of_label.ok_or_else(|| Diagnostic::usage("the source does not say which version of the module it is").hint(hint))
}

/// The calls of a configuration, and its name.
pub(in crate::verbs) fn configuration(folder: &ConfigFolder) -> Result<(String, Vec<OuterCall>), Diagnostic> {
    demand_directory(&folder.dir, "--from-config")?;
    let calls = outer_calls(folder).map_err(Diagnostic::of_needed_configuration)?;
    Ok((folder.dir.display().to_string(), calls))
}

/// The repositories or the bundle that `--to` names, else the repositories of the mapping in this folder.
pub(super) fn destination(
    args: &ModuleMirrorArgs,
    to: Option<&String>,
    dir: &Path,
) -> Result<MirrorTarget, Diagnostic> {
    let Some(text) = to else {
        let mirrors = modules::load(&args.mapping, &args.trust.predecessors, dir)?;
        if mirrors.mirrors().is_empty() {
            return Err(Diagnostic::usage("`module mirror` needs a destination")
                .code("no-module-mirror")
                .hint("name it: --to 'REGISTRY/${namespace}/${name}-${target_system}' or --to oci:DIR")
                .hint("or write `modules_to` in mirror.toml; see `tofu-oci help module-mirroring`")
                .hint("or write a [[module_mirror]] in modules.toml; see `tofu-oci help modules`"));
        }
        return Ok(MirrorTarget::Repositories(mirrors));
    };
    if let Some(file) = bundle_named(text)? {
        return Ok(MirrorTarget::Bundle(file));
    }
    if !text.starts_with("oci:") {
        one_of_both("to")?;
    }
    let is_one = args.no_nested && args.sources.len() == 1 && args.from_config.is_none();
    let mirrors = template(text, if is_one { ModuleCount::One } else { ModuleCount::Several })?;
    Ok(MirrorTarget::Repositories(mirrors))
}

/// Refuses `--modules` beside the option that takes its place. The variable of `--modules` gives way.
pub(in crate::verbs) fn one_of_both(option: &str) -> Result<(), Diagnostic> {
    if invocation::says("modules") {
        return Err(
            Diagnostic::usage(format!("--{option} and --modules both say where modules go")).hint("omit one of them")
        );
    }
    Ok(())
}

/// How many modules go to a destination.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::verbs) enum ModuleCount {
    One,
    Several,
}

/// The repositories of a template, for modules of any host.
/// It refuses a template that gives two modules one repository.
pub(in crate::verbs) fn template(text: &str, count: ModuleCount) -> Result<ModuleMirrors, Diagnostic> {
    if text.starts_with(['.', '/']) {
        return Err(Diagnostic::usage(format!("`{text}` is a path, and does not say what is written there"))
            .code("destination-without-kind")
            .hint(format!("write oci:{text}")));
    }
    let text = &*without_oci(text);
    if text.starts_with("oci:") {
        demand_template(text, TemplateOf::Modules)?;
    }
    let repositories: ModuleRepositories = text.parse().map_err(|error: TemplateError| {
        Diagnostic::of(Exit::Usage, &error)
            .code("destination-template")
            .hint(template_instead(&error))
            .hint("write 'REGISTRY/${namespace}/${name}-${target_system}' or oci:DIR, quoted with ' for your shell")
    })?;
    if count == ModuleCount::Several && !repositories.template().symbols().contains(&Symbol::Name) {
        let diagnostic =
            Diagnostic::usage(format!("{repositories} is one repository, and a repository holds one module"))
                .code("destination-template")
                .hint("write ${name} into it: 'REGISTRY/${namespace}/${name}-${target_system}'");
        return Err(match invocation::verb() {
            "module mirror" => diagnostic.hint("or name one module, and say --no-nested"),
            _ => diagnostic,
        });
    }
    check_mentioned(&repositories)
        .map_err(|error| Diagnostic::usage(error.to_string()).code(error.code()).hint(error.instead()))?;
    Ok(ModuleMirrors::everywhere(repositories))
}

/// The mapping that says where modules are: that of `modules.toml` for a bundle and for image layouts of `--to`; nothing else
/// is read from the repositories that the mapping writes to.
pub(super) fn kept(
    args: &ModuleMirrorArgs,
    (to, target): (Option<&String>, &MirrorTarget),
    dir: &Path,
) -> Result<ModuleMirrors, Diagnostic> {
    let is_of_layouts = to.is_some_and(|to| to.starts_with("oci:"));
    match target {
        MirrorTarget::Bundle(_) => modules::load(&args.mapping, &args.trust.predecessors, dir),
        MirrorTarget::Repositories(_) if is_of_layouts => modules::load(&args.mapping, &args.trust.predecessors, dir),
        MirrorTarget::Repositories(_) => Ok(ModuleMirrors::default()),
    }
}

/// Where modules go.
pub(super) enum MirrorTarget {
    Repositories(ModuleMirrors),
    Bundle(PathBuf),
}

/// The file of `bundle:FILE`; `None` if the text names something else.
fn bundle_named(text: &str) -> Result<Option<PathBuf>, Diagnostic> {
    match text.strip_prefix("bundle:") {
        Some("") => {
            Err(Diagnostic::usage(format!("`{text}` names no file or folder")).code("destination-without-path"))
        }
        file => Ok(file.map(PathBuf::from)),
    }
}

/// The bundle that `--from` names, if it is given.
pub(super) fn from_bundle(args: &ModuleMirrorArgs) -> Result<Option<PathBuf>, Diagnostic> {
    let Some(text) = &args.from else { return Ok(None) };
    bundle_named(text)?.map(Some).ok_or_else(|| {
        if is_tar(text) {
            let hint = invocation::quoted(&format!("bundle:{text}"));
            return Diagnostic::usage(format!("`{text}` is named without `bundle:`"))
                .hint(format!("write --from {hint}"));
        }
        Diagnostic::usage(format!("--from takes a bundle here, and `{text}` is not one"))
            .hint("write bundle:FILE; a module in a repository is a SOURCE with --as")
    })
}

/// The registries that the arguments name, for a password that is given with them.
pub(in crate::verbs) fn registries(wanted: &[WantedModule], mirrors: &ModuleMirrors) -> Vec<String> {
    let mirrors = mirrors.mirrors();
    let sources = wanted.iter().filter_map(|wanted| match &wanted.origin {
        ModuleOrigin::At { location: NamedPackage::Oci(source), .. } => Some(source.repository().registry()),
        _ => None,
    });
    let destinations = mirrors.iter().filter_map(|mirror| match &mirror.repositories {
        ModuleRepositories::Registry(template) => template.as_str().split('/').next(),
        ModuleRepositories::Layouts(_) => None,
    });
    let mut named: Vec<String> = Vec::new();
    for registry in sources.chain(destinations).filter(|registry| !registry.contains("${")) {
        if !named.iter().any(|known| known == registry) {
            named.push(registry.to_owned());
        }
    }
    named
}
