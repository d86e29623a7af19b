//! The installation methods of the command of `run`, which default host its patterns mean, and which methods a bridge
//! serves.

#![expect(clippy::result_large_err, reason = "errors are rare, and carry values for explanations")]

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use tofu_oci_bridge::OpenSource;
use tofu_oci_mapper::config::{Method, MethodKind, Methods, WrittenMethod, check_oci_mirrors};
use tofu_oci_mapper::{InvalidPattern, MappedPlace, NotOneToOne, Pattern, RepositoryTemplate, Selector, Symbol};
use tofu_oci_source::{ConfiguredMethods, MethodOpener, Source};
use tofu_oci_types::{Event, Hostname, ProviderAddr};

use super::watched::Watched;
use super::watched_source::WatchedSource;
use crate::args::RunArgs;
use crate::diagnostic::Diagnostic;
use crate::ends::{template_instead, without_oci};
use crate::environment::ReadConfig;
use crate::excerpt::excerpt;
use crate::invocation::quoted;
use crate::verbs::context::Context;
use crate::verbs::printed::shown;

/// The methods with `--template` before them; the others are then for other providers.
pub(super) fn with_template(args: &RunArgs, methods: Methods) -> Result<Methods, Diagnostic> {
    let Some(text) = args.template.as_deref().map(without_oci) else { return Ok(methods) };
    let text = &*text;
    let include = args.include.iter().map(|text| {
        let refused = |error: InvalidPattern, hint: String| {
            let diagnostic = Diagnostic::usage(error.to_string());
            diagnostic.excerpt(excerpt("--include", text, &(0..text.len()))).hint(hint)
        };
        let pattern = text
            .parse::<Pattern>()
            .map_err(|error| refused(error, "write HOST/NAMESPACE/TYPE, HOST/NAMESPACE/*, HOST/*/* or */*/*".into()))?;
        // A client that refuses a pattern goes on without the method.
        pattern.for_opentofu().map_err(|error| {
            let host = text.split('/').rev().nth(2).map(|host| format!("{host}/")).unwrap_or_default();
            let clients = "OpenTofu, and Terraform before 1.16, refuse this pattern and go on without the template";
            refused(error, format!("write {host}*/*: {clients}"))
        })
    });
    let selector = Selector { include: include.collect::<Result<_, _>>()?, exclude: Vec::new() };
    // OpenTofu's rule for the patterns of an `oci_mirror` knows no predecessors.
    let template = if args.include.is_empty() || !args.trust.predecessors.predecessor.is_empty() {
        text.parse().map_err(|error| vec![error])
    } else {
        RepositoryTemplate::check(text, &args.include)
    };
    let template = template.map_err(|errors| {
        let first = errors.first().expect("a template that is refused has an error");
        let diagnostic = Diagnostic::usage(first.to_string())
            .excerpt(excerpt("--template", text, &first.span()))
            .hint(template_instead(first));
        if args.include.is_empty() {
            diagnostic.hint(format!("such as: {}", named(args, "ghcr.io/acme/${namespace}/${type}")))
        } else {
            diagnostic.hint("quote a template with ' for your shell: 'ghcr.io/acme/${namespace}/${type}'")
        }
    })?;
    let own = Method {
        include: args.include.clone(),
        selector: selector.clone(),
        ..Method::of_option(MethodKind::OciMirror { template }, "--template")
    };
    check_oci_mirrors(std::slice::from_ref(&own), &args.trust.predecessors.all()).map_err(|error| {
        let diagnostic = Diagnostic::usage(error.to_string()).code(error.code()).excerpt(excerpt(
            "--template",
            text,
            &(0..text.len()),
        ));
        if args.include.is_empty() {
            diagnostic.hint(format!("name the providers: {}", named(args, text)))
        } else {
            diagnostic.hint(error.instead())
        }
    })?;
    let taken: Vec<Pattern> = if selector.include.is_empty() { vec![everything()] } else { selector.include };
    let others = methods.list.into_iter().map(|mut method| {
        method.exclude.extend(taken.iter().map(ToString::to_string));
        method.selector.exclude.extend(taken.iter().cloned());
        method
    });
    let is_left = |method: &Method| !method.selector.exclude.iter().any(|pattern| pattern.covers(&everything()));
    Ok(Methods { explicit: true, list: std::iter::once(own).chain(others.filter(is_left)).collect() })
}

fn everything() -> Pattern {
    "*/*/*".parse().expect("the pattern for every provider")
}

/// Warns of an `oci_mirror` of the CLI configuration that leads two providers to one repository. `OpenTofu` takes it, and the
/// command is one user's, so the run goes on.
pub(super) fn note_shared_repository(context: &Context, args: &RunArgs, methods: &Methods) {
    if let Err(meeting @ NotOneToOne::Meeting { .. }) = check_oci_mirrors(&methods.list, &args.trust.predecessors.all())
    {
        let warning = Event::warning("template-hole", meeting.to_string());
        context.reporter.event(&warning.with_hint(meeting.instead()));
    }
}

/// The methods with the patterns as the command reads them: two parts mean the command's own default host. A command that is
/// neither `OpenTofu` nor Terraform may start either.
pub(super) fn as_read_by(command: &[OsString], mut methods: Methods) -> Methods {
    let name = command.first().and_then(|program| Path::new(program).file_name()).unwrap_or_default();
    let name = name.to_string_lossy();
    let tofu = Hostname::default_registry();
    let terraform: Hostname = "registry.terraform.io".parse().expect("the name of a host");
    let hosts = if name.starts_with("terraform") {
        vec![terraform]
    } else if name.starts_with("tofu") || name.starts_with("opentofu") {
        vec![tofu]
    } else {
        vec![tofu, terraform]
    };
    for Method { selector: Selector { include, exclude }, .. } in &mut methods.list {
        for patterns in [include, exclude] {
            let mut read: Vec<Pattern> = Vec::new();
            for pattern in patterns.iter().flat_map(|pattern| hosts.iter().map(|host| pattern.by_default_of(host))) {
                if !read.contains(&pattern) {
                    read.push(pattern);
                }
            }
            *patterns = read;
        }
    }
    methods
}

/// The methods that a bridge serves, in their order.
pub(super) struct BridgedMethods(Vec<Method>);

impl BridgedMethods {
    pub(super) fn of(configured: &ConfiguredMethods) -> Self {
        let is_oci = |method: &&Method| matches!(method.kind, MethodKind::OciMirror { .. });
        Self(configured.methods.list.iter().filter(is_oci).cloned().collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The providers that each is for.
    pub(super) fn served(&self) -> impl Iterator<Item = Vec<Pattern>> {
        let include = |Method { selector, .. }: &Method| selector.include.clone();
        self.0.iter().map(include).map(|include| if include.is_empty() { vec![everything()] } else { include })
    }

    /// What opens the repositories of each.
    pub(super) fn sources(&self, configured: &Arc<ConfiguredMethods>, opener: &Arc<MethodOpener>) -> BridgedSources {
        BridgedSources { methods: self.0.clone(), configured: Arc::clone(configured), opener: Arc::clone(opener) }
    }

    /// All methods as the command gets them.
    pub(super) fn written(
        configured: &ConfiguredMethods,
        mut urls: impl Iterator<Item = String>,
    ) -> Vec<WrittenMethod> {
        let overrides = configured.reading.config.installation.as_ref().and_then(WrittenMethod::of_overrides);
        let methods = configured.methods.list.iter().filter_map(|method| match WrittenMethod::of(method)? {
            WrittenMethod::OciMirror { include, exclude, .. } => {
                let url = urls.next()?;
                Some(WrittenMethod::NetworkMirror { url, include, exclude, retries: None, trust_all_hashes: false })
            }
            other => Some(other),
        });
        overrides.into_iter().chain(methods).collect()
    }
}

/// What opens the repositories of bridged methods.
#[derive(Clone)]
pub(super) struct BridgedSources {
    methods: Vec<Method>,
    configured: Arc<ConfiguredMethods>,
    opener: Arc<MethodOpener>,
}

impl BridgedSources {
    /// What opens the repositories of one method, and hears what becomes of its questions.
    pub(super) fn open(&self, nth: usize, watched: &Arc<Watched>) -> OpenSource {
        let (sources, watched) = (self.clone(), Arc::clone(watched));
        Arc::new(move |address| {
            let source = sources.methods.get(nth).map(|method| sources.link(method, address));
            let source = source.expect("a method for each of its bridges");
            Ok(Arc::new(WatchedSource::new(source, Arc::clone(&watched))))
        })
    }

    /// Who offers a provider; `None` if the first method for it is not bridged.
    pub(super) fn of(&self, address: &ProviderAddr) -> Option<Arc<dyn Source>> {
        let methods = &self.configured.methods.list;
        let first = methods.iter().find(|method| method.selector.select(address).is_in())?;
        matches!(first.kind, MethodKind::OciMirror { .. }).then(|| self.link(first, address))
    }

    fn link(&self, method: &Method, address: &ProviderAddr) -> Arc<dyn Source> {
        let place = match &method.kind {
            MethodKind::OciMirror { template } => template.place(address).map(MappedPlace::Oci),
            other => unreachable!("{} is not bridged", other.name()),
        };
        self.opener.link(&self.configured, method, &place, address).source
    }
}

/// This command with a template, for a pattern that leaves open no more than the template mentions.
fn named(args: &RunArgs, template: &str) -> String {
    let symbols = template.parse().map(|template: RepositoryTemplate| template.symbols()).unwrap_or_default();
    let include = match (symbols.contains(&Symbol::Namespace), symbols.contains(&Symbol::Type)) {
        (true, true) => "registry.example.com/*/*",
        (false, true) => "registry.example.com/acme/*",
        (_, false) => "registry.example.com/acme/widget",
    };
    let command: Vec<String> = args.command.iter().map(|word| quoted(&word.to_string_lossy())).collect();
    let (template, include) = (quoted(template), quoted(include));
    format!("tofu-oci run --template {template} --include {include} -- {}", command.join(" "))
}

/// No method is an `oci_mirror`.
pub(super) fn nothing_to_bridge(read: &ReadConfig, args: &RunArgs) -> Diagnostic {
    let file = read.reading.located.main.as_ref().filter(|main| main.exists).map(|main| shown(&main.path));
    let text = match file {
        Some(file) => format!("{file} has no oci_mirror, so `run` does not know which repositories to serve"),
        None => "there is no CLI configuration, so `run` does not know which repositories to serve".to_owned(),
    };
    Diagnostic::usage(text)
        .code("nothing-to-serve")
        .hint(format!("name them: {}", named(args, "ghcr.io/acme/${namespace}/${type}")))
        .hint("or write the block into ~/.tofurc: tofu-oci config add 'registry.example.com/*/*' 'ghcr.io/acme/${namespace}/${type}'")
        .hint("or say where modules of registries are: a [[module_mirror]] in modules.toml; see `tofu-oci help modules`")
}

/// Terraform reads `~/.terraformrc`, and this run does not if there is a `~/.tofurc`.
pub(super) fn note_passed_over(context: &Context, args: &RunArgs, read: &ReadConfig) {
    let is_terraform = args
        .command
        .first()
        .is_some_and(|program| std::path::Path::new(program).file_stem().is_some_and(|name| name == "terraform"));
    let located = &read.reading.located;
    let Some(main) = located.main.as_ref().filter(|_| is_terraform && args.cli_config.is_none()) else { return };
    let own = [".terraformrc", "terraform.rc"];
    let is_own = |path: &std::path::Path| path.file_name().is_some_and(|name| own.iter().any(|own| name == *own));
    if let Some(over) =
        located.passed_over.iter().find(|over| over.path.parent() == main.path.parent() && is_own(&over.path))
    {
        let text = format!("{} counts for this command, and {} does not", shown(&main.path), shown(&over.path));
        let note = Event::note("file-passed-over", text);
        context.reporter.event(&note.with_hint("keep what both need in one file, and name it with --cli-config FILE"));
    }
}
