//! What a server says before it serves.

use serde::Serialize;
use tofu_oci_bridge::{BaseUrl, BridgeConfig, ModuleLocations, Server, SumsSigner, WrittenPlace};
use tofu_oci_mirror::UpstreamUse;
use tofu_oci_types::{Event, masked};

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
        context.reporter.event(&Event::note("no-https", text).with_hint(hint));
    }
}

/// Where it listens, and what to write.
pub(super) fn announce(context: &Context, config: &BridgeConfig, base: &BaseUrl, server: &Server) {
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
    };
    context.emit(&line, Page::default);
    context.say(&announcement(config, &line));
}

fn announcement(config: &BridgeConfig, serving: &Serving) -> Page {
    let Serving { url, mirror, modules, listen, sealed, .. } = serving;
    let mut page = Page::of(format!("serving {url} at {}", listen.join(" and ")));
    page.line("in the CLI configuration of clients:");
    if !config.providers.is_empty() {
        page.line(format!("  provider_installation {{ network_mirror {{ url = \"{mirror}\" }} }}"));
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
    if *sealed {
        page.line("sealed: no upstream is asked");
    }
    page
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
