//! The modules that `serve` has: the repositories that the settings name, opened anew for each question, and their upstreams.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tofu_oci_archive::Limits;
use tofu_oci_bridge::{OpenModules, PullRules, ServedModulePlace, ServedModules, WrittenPlace};
use tofu_oci_fetch::Trust;
use tofu_oci_mapper::{ModuleMirrors, ModuleRepositories};
use tofu_oci_mirror::{
    GitModules, GitTemplate, HostedModules, InvalidGitTemplate, MappedModuleRepositories, MirrorRules, ModuleChain,
    ModuleEnds, ModulePullThrough, ModuleUpstream, OpenModuleEnds, PullOptions, StoredModules,
};
use tofu_oci_source::MethodOpener;
use tofu_oci_types::{ModuleAddr, masked};

use super::settings::Settings;
use super::upstream::{JOBS, KNOWN};
use crate::connect::Connector;
use crate::diagnostic::Diagnostic;
use crate::ends::LAYOUT_MARK;
use crate::invocation;
use crate::lookup::ORIGIN;
use crate::modules::kept_in;
use crate::verbs::context::Context;
use crate::verbs::module;

/// Opens every place of modules. No registry is asked yet.
pub(super) fn open(
    context: &Context,
    settings: &Settings,
    connector: &Connector,
    trust: &Trust,
) -> Result<Vec<ServedModulePlace>, Diagnostic> {
    let place = |served: &ServedModules| {
        let repositories = repositories(settings, served)?;
        let pull = served.pull.as_ref().map(|rules| {
            let trust = Trust { renamed: served.renamed, ..trust.clone() };
            pull_through(context, settings, (rules, &repositories), connector, trust)
        });
        let (pull, open) = (pull.transpose()?, open_modules(repositories, connector)?);
        let (include, exclude) = (served.include.clone(), served.exclude.clone());
        Ok(ServedModulePlace { include, exclude, open, pull, locations: served.locations, renamed: served.renamed })
    };
    settings.config.modules.iter().map(place).collect()
}

fn pull_through(
    context: &Context,
    settings: &Settings,
    (rules, to): (&PullRules<ModuleAddr>, &ModuleRepositories),
    connector: &Connector,
    trust: Trust,
) -> Result<ModulePullThrough, Diagnostic> {
    let predecessors = trust.policy.predecessors().clone();
    let upstreams = rules.upstream.iter().map(|place| Upstream::open(settings, place, connector));
    let upstreams: Vec<Upstream> = upstreams.collect::<Result<_, Diagnostic>>()?;
    let (to, store, shared_by) = (to.clone(), connector.repositories()?, predecessors.clone());
    let ends: OpenModuleEnds = Arc::new(move || {
        let mirrors = ModuleMirrors::everywhere(to.clone());
        let destination = MappedModuleRepositories::new(mirrors, Arc::clone(&store)).shared_by(shared_by.clone());
        let upstream = ModuleChain(upstreams.iter().map(Upstream::modules).collect());
        ModuleEnds { upstream, destination: Box::new(destination) }
    });
    let (allow, deny, min_age) = (rules.allow.clone(), rules.deny.clone(), rules.min_age);
    let options = PullOptions {
        trust,
        rules: MirrorRules { allow, deny, predecessors, min_age, ..MirrorRules::default() },
        attestations: None,
        upstream_use: settings.config.upstreams,
        limits: Limits::default(),
        jobs: JOBS,
        work_dir: std::env::temp_dir(),
    };
    Ok(ModulePullThrough::new(ends, options, Arc::clone(&context.reporter)))
}

/// What an upstream may be.
const HOSTS: &str = "\"direct\" in `upstream` is the registry of the host of each module; git::https://HOST/${namespace}/${name}.git is \
                     a git repository for each";

/// Where modules come from.
enum Upstream {
    Repositories(ModuleRepositories, Connector),
    Git(GitTemplate, Box<MethodOpener>, Connector),
    /// The registry of each host, which is known for a time.
    Hosts(Box<Mutex<(Instant, MethodOpener)>>, Connector),
}

impl Upstream {
    fn open(settings: &Settings, place: &WrittenPlace, connector: &Connector) -> Result<Self, Diagnostic> {
        if place.text == ORIGIN {
            let opener = Box::new(Mutex::new((Instant::now(), module::open::opener(connector)?)));
            return Ok(Self::Hosts(opener, connector.clone()));
        }
        if GitTemplate::is_meant(&place.text) {
            let template = place.text.parse().map_err(|error: InvalidGitTemplate| {
                let diagnostic =
                    Diagnostic::usage(format!("`{}` names no git repository: {error}", masked(&place.text)));
                let hint = "write git::https://HOST/${namespace}/${name}.git, perhaps with //FOLDER";
                settings.about(place, diagnostic.code("settings-invalid").hint(hint))
            })?;
            let opener = Box::new(module::open::opener(connector)?);
            return Ok(Self::Git(template, opener, connector.clone()));
        }
        if place.text.starts_with("https:") || place.text.starts_with("http:") {
            return Err(
                Diagnostic::usage(format!("`{}` is neither \"direct\" nor a repository", place.text)).hint(HOSTS)
            );
        }
        let repositories = template(settings, place).map_err(|error| error.hint(HOSTS))?;
        // What opens them is tried at the start.
        connector.repositories()?;
        Ok(Self::Repositories(repositories, connector.clone()))
    }

    fn modules(&self) -> Box<dyn ModuleUpstream> {
        let opened = "it was opened at the start, and its files were read then";
        match self {
            Self::Repositories(repositories, connector) => {
                let (repositories, open) = (repositories.clone(), connector.repositories().expect(opened));
                Box::new(StoredModules { repositories, open })
            }
            Self::Git(template, known, connector) => {
                Box::new(GitModules::new(template.clone(), known.anew(), connector.git(), std::env::temp_dir()))
            }
            Self::Hosts(known, connector) => {
                let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                if known.0.elapsed() > KNOWN {
                    *known = (Instant::now(), module::open::opener(connector).expect(opened));
                }
                Box::new(HostedModules { opener: known.1.anew(), git: connector.git() })
            }
        }
    }
}

/// The repositories that `from` names.
pub(super) fn repositories(settings: &Settings, served: &ServedModules) -> Result<ModuleRepositories, Diagnostic> {
    let about = |error: Diagnostic| settings.about(&served.from, error.code("settings-invalid"));
    let (repositories, text) = (template(settings, &served.from)?, settings.located(&served.from.text));
    let dir = text.strip_prefix("oci:").filter(|dir| !dir.contains("${")).map(PathBuf::from);
    if let Some(dir) = dir.as_ref().filter(|dir| dir.join(LAYOUT_MARK).exists()) {
        let diagnostic = Diagnostic::usage(format!(
            "{} is one image layout, and modules are served out of a folder with a layout for each",
            dir.display()
        ));
        return Err(about(
            diagnostic.hint("move it to the folder HOST/NAMESPACE/NAME/SYSTEM of another one, and name that one"),
        ));
    }
    // What is fetched makes it.
    if let Some(dir) = dir.filter(|dir| served.pull.is_none() && !dir.is_dir()) {
        let diagnostic = Diagnostic::usage(format!("there is no folder {}", dir.display()));
        let hint = if settings.is_of_file() {
            "a path in serve.toml is relative to that file"
        } else {
            "name the folder with the image layouts, which `tofu-oci module mirror --to oci:DIR` makes"
        };
        return Err(about(diagnostic.hint(hint)));
    }
    Ok(repositories)
}

/// The repositories that a text names.
fn template(settings: &Settings, place: &WrittenPlace) -> Result<ModuleRepositories, Diagnostic> {
    let about = |error: Diagnostic| settings.about(place, error.code("settings-invalid"));
    if let Some((kind, _)) = place.text.split_once(':').filter(|(kind, _)| ["bundle", "static"].contains(kind)) {
        let diagnostic = Diagnostic::usage(format!(
            "modules are served out of repositories and image layouts, and `{}` is not one",
            place.text
        ));
        return Err(about(if kind == "bundle" {
            diagnostic.hint(format!(
                "bring its modules into image layouts first: tofu-oci module mirror --from {} --to oci:DIR; then serve oci:DIR",
                invocation::quoted(&place.text)
            ))
        } else {
            diagnostic.hint("write 'REGISTRY/${namespace}/${name}-${target_system}' or oci:DIR")
        }));
    }
    settings.located(&place.text).parse().map_err(|error: tofu_oci_mapper::TemplateError| {
        about(Diagnostic::usage(error.to_string()).hint(error.instead()))
    })
}

pub(crate) fn open_modules(repositories: ModuleRepositories, connector: &Connector) -> Result<OpenModules, Diagnostic> {
    let client = connector.client()?;
    Ok(Arc::new(move |address| Ok(kept_in(&client, repositories.place(address)?))))
}
