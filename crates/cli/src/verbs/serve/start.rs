//! What a server says before it serves.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tofu_oci_bridge::{BaseUrl, BridgeConfig, ModuleLocations, Server, SumsSigner, WrittenPlace};
use tofu_oci_mirror::UpstreamUse;
use tofu_oci_types::{Event, Pattern, masked, quoted};

use super::settings::Settings;
use crate::page::Page;
use crate::verbs::context::Context;

/// The first line of `--json`.
#[derive(Serialize)]
#[serde(tag = "event", rename = "serving")]
struct Serving {
    url: String,
    mirror: String,
    /// What the registries of modules begin with, if there are modules.
    #[serde(skip_serializing_if = "Option::is_none")]
    modules: Option<String>,
    listen: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    listen_metrics: Option<String>,
    hosts: Vec<String>,
    restricted: bool,
    sealed: bool,
    /// What clients must trust, of `--trial-tls`.
    #[serde(skip_serializing_if = "Option::is_none")]
    authority: Option<PathBuf>,
}

/// The lines of `--check-config`.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum SettingsLine {
    /// A place of providers.
    Served { include: Vec<String>, exclude: Vec<String>, from: String, upstream: Vec<String> },
    /// A place of modules.
    ServedModules {
        include: Vec<String>,
        exclude: Vec<String>,
        from: String,
        upstream: Vec<String>,
        oci_locations: bool,
    },
    /// The last line.
    Settings { places: usize, hosts: Vec<String>, restricted: bool, sealed: bool },
}

/// Warns of settings that are allowed, and that few people want.
pub(super) fn warn(context: &Context, settings: &Settings, signer: &SumsSigner) {
    let config = &settings.config;
    let has_own_providers = config.hosts.iter().any(|host| config.has_providers_of(host));
    if has_own_providers && signer.key().is_none() {
        let text =
            "without `signing_key`, releases that their publisher has not signed cannot be installed from own hosts";
        let hint = "make a key: tofu-oci serve --new-key bridge-key.asc";
        context.reporter.event(&Event::warning("no-signing-key", text).with_hint(hint));
    }
    let is_https = config.tls.is_some() || config.url.as_ref().is_some_and(|url| url.to_string().starts_with("https:"));
    if !is_https && !config.providers.is_empty() {
        let text = "Terraform and OpenTofu take no network mirror without https";
        let hint = "add a certificate: --tls-cert FILE --tls-key FILE; or `url`, if a proxy in front speaks TLS";
        let trial = "to try it: --trial-tls DIR makes a certificate";
        context.reporter.event(&Event::note("no-https", text).with_hint(hint).with_hint(trial));
    }
}

/// Where it listens, and what to write.
pub(super) fn announce(
    context: &Context,
    config: &BridgeConfig,
    base: &BaseUrl,
    server: &Server,
    authority: Option<&Path>,
) {
    let listen: Vec<String> = server.addresses().iter().map(ToString::to_string).collect();
    let metrics = server.metrics_address().map(|address| address.to_string());
    let hosts: Vec<String> = config.hosts.iter().map(tofu_oci_types::Hostname::display).collect();
    let (url, mirror) = (base.to_string(), base.join("mirror/"));
    let modules = (!config.modules.is_empty()).then(|| base.join("modules/"));
    let line = Serving {
        url,
        mirror,
        modules,
        listen,
        listen_metrics: metrics,
        hosts,
        restricted: !config.clients.is_empty(),
        sealed: config.upstreams == UpstreamUse::Sealed,
        authority: authority.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned())),
    };
    context.emit(&line, Page::default);
    context.say(&announcement(config, &line));
}

fn announcement(config: &BridgeConfig, serving: &Serving) -> Page {
    let Serving { url, mirror, modules, listen, sealed, authority, .. } = serving;
    let mut page = Page::of(format!("serving {url} at {}", listen.join(" and ")));
    let methods = methods(config, mirror);
    if !methods.is_empty() || modules.is_some() {
        page.line("in the CLI configuration of clients:");
    }
    for line in methods {
        page.line(format!("  {line}"));
    }
    if let Some(modules) = modules {
        page.line(format!("  host \"HOST\" {{ services = {{ \"modules.v1\" = \"{modules}HOST/\" }} }}"));
        page.line("  (clients then ask HOST for no other service: write those that you need, such as providers.v1, beside it)");
    }
    for host in &config.hosts {
        let shown = host.display();
        if config.has_providers_of(host) {
            page.line(format!("in required_providers: source = \"{shown}/NAMESPACE/TYPE\""));
        }
        if config.has_modules_of(host) {
            page.line(format!("in module blocks: source = \"{shown}/NAMESPACE/NAME/SYSTEM\""));
        }
    }
    if !config.clients.is_empty() {
        page.line("each client shows its token: a `credentials` block, or https://NAME:TOKEN@… in the url");
    }
    if let Some(path) = authority {
        page.line("clients must trust the certificate of this trial; on Linux and the BSDs:");
        page.line(format!("  export SSL_CERT_FILE={}", quoted(&path.display().to_string())));
        page.line(
            "  (on macOS and Windows: add that file to the system's certificates, and remove it after the trial)",
        );
    }
    if *sealed {
        page.line("sealed: no upstream is asked");
    }
    page
}

/// What clients write to take from here what is served here, and everything else from where they take it now. A provider of an own
/// host needs no method.
fn methods(config: &BridgeConfig, mirror: &str) -> Vec<String> {
    let is_own = |pattern: &Pattern| pattern.hostname().is_some_and(|host| config.hosts.contains(host));
    let is_served = |pattern: &Pattern| {
        let covers = |patterns: &[Pattern]| patterns.iter().any(|other| other.covers(pattern));
        config.providers.iter().any(|served| covers(&served.include) && !covers(&served.exclude))
    };
    let include = config.providers.iter().flat_map(|served| &served.include).filter(|pattern| !is_own(pattern));
    let include: BTreeSet<String> = include.map(ToString::to_string).collect();
    let exclude = config.providers.iter().flat_map(|served| &served.exclude).filter(|pattern| !is_served(pattern));
    let exclude: BTreeSet<String> = exclude.map(ToString::to_string).collect();
    if include.is_empty() {
        return Vec::new();
    }
    let list = |name: &str, patterns: &BTreeSet<String>| {
        let quoted: Vec<String> = patterns.iter().map(|pattern| format!("\"{pattern}\"")).collect();
        (!quoted.is_empty()).then(|| format!("    {name} = [{}]", quoted.join(", ")))
    };
    let block = |name: &str, members: Vec<Option<String>>| {
        [format!("  {name} {{")].into_iter().chain(members.into_iter().flatten()).chain(["  }".to_owned()])
    };
    let own = vec![Some(format!("    url     = \"{mirror}\"")), list("include", &include), list("exclude", &exclude)];
    let mut lines = vec!["provider_installation {".to_owned()];
    lines.extend(block("network_mirror", own));
    if !include.contains("*/*/*") {
        lines.extend(block("direct", vec![list("exclude", &include)]));
    }
    if !exclude.is_empty() {
        lines.extend(block("direct", vec![list("include", &exclude)]));
    }
    lines.push("}".to_owned());
    lines
}

/// The report of `--check-config`.
pub(super) fn print_settings(context: &Context, settings: &Settings) {
    let config = &settings.config;
    let providers = config.providers.iter().map(|served| SettingsLine::Served {
        include: texts(&served.include),
        exclude: texts(&served.exclude),
        from: masked(&settings.located(&served.from.text)),
        upstream: upstreams(served.pull.as_ref().map(|pull| &*pull.upstream)),
    });
    let modules = config.modules.iter().map(|served| SettingsLine::ServedModules {
        include: texts(&served.include),
        exclude: texts(&served.exclude),
        from: masked(&settings.located(&served.from.text)),
        upstream: upstreams(served.pull.as_ref().map(|pull| &*pull.upstream)),
        oci_locations: served.locations == ModuleLocations::Oci,
    });
    let sealed = config.upstreams == UpstreamUse::Sealed;
    let end = SettingsLine::Settings {
        places: config.providers.len() + config.modules.len(),
        hosts: config.hosts.iter().map(tofu_oci_types::Hostname::display).collect(),
        restricted: !config.clients.is_empty(),
        sealed,
    };
    let lines: Vec<SettingsLine> = providers.chain(modules).chain([end]).collect();
    context.emit_all(
        |out| out.add_all(&lines),
        || {
            let mut page = Page::of("the settings are right");
            lines.iter().filter_map(|line| line.text(sealed)).for_each(|text| page.line(text));
            page
        },
    );
}

fn texts(patterns: &[impl ToString]) -> Vec<String> {
    patterns.iter().map(ToString::to_string).collect()
}

fn upstreams(places: Option<&[WrittenPlace]>) -> Vec<String> {
    places.unwrap_or_default().iter().map(|place| masked(&place.text)).collect()
}

impl SettingsLine {
    /// It for people; `None` for the last one.
    fn text(&self, sealed: bool) -> Option<String> {
        let except = |exclude: &[String]| {
            if exclude.is_empty() { String::new() } else { format!(" except {}", exclude.join(", ")) }
        };
        let missing = |upstream: &[String]| match upstream.join(", ") {
            upstream if upstream.is_empty() => String::new(),
            upstream if sealed => format!("; sealed, so that {upstream} is never asked"),
            upstream => format!("; what is missing from {upstream}"),
        };
        match self {
            Self::Served { include, exclude, from, upstream } => {
                Some(format!("{} from {from}{}{}", include.join(", "), except(exclude), missing(upstream)))
            }
            Self::ServedModules { include, exclude, from, upstream, oci_locations } => {
                let more = if *oci_locations { "; OpenTofu goes to the repository" } else { "" };
                let (include, except, missing) = (include.join(", "), except(exclude), missing(upstream));
                Some(format!("modules {include} from {from}{except}{missing}{more}"))
            }
            Self::Settings { .. } => None,
        }
    }
}
