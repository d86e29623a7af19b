//! How the settings of `serve` become places.

#![expect(clippy::result_large_err, reason = "errors are rare, and carry values for explanations")]

use std::sync::Arc;

use tofu_oci_archive::Limits;
use tofu_oci_bridge::{
    BridgeConfig, HostService, ListProviders, OfferedBy, OpenSource, OwnHost, PullRules, ServedModulePlace,
    ServedPlace, ServedProviders,
};
use tofu_oci_fetch::Trust;
use tofu_oci_mapper::UriTemplate;
use tofu_oci_mirror::{
    AttestationRule, Destination, DestinationName, MirrorError, MirrorRules, PullOptions, PullThrough,
};
use tofu_oci_source::{BundleSource, Source};
use tofu_oci_types::{Hostname, Pattern, Place};

use super::module_places;
use super::open::{list_providers, open_place};
use super::settings::Settings;
use super::upstream::{JOBS, PulledUpstream};
use crate::args::{LookupArgs, PredecessorArgs, ServeArgs, TrustArgs};
use crate::connect::Connector;
use crate::destination;
use crate::diagnostic::Diagnostic;
use crate::ends::{End, From};
use crate::verbs::context::Context;
use crate::verbs::mirror::attestations as attestations_of;

/// What is served, and whose signatures count for it.
pub(super) struct OpenedPlaces {
    pub(super) places: Vec<ServedPlace>,
    pub(super) modules: Vec<ServedModulePlace>,
    pub(super) trust: Trust,
}

/// What a package may hold.
pub(super) fn limits() -> Limits {
    Limits::default()
}

/// Opens every place. No registry is asked yet.
pub(super) async fn open(context: &Context, args: &ServeArgs, settings: &Settings) -> Result<OpenedPlaces, Diagnostic> {
    let config = &settings.config;
    let policy = config.trust.as_ref().map(|path| settings.dir.join(path));
    let predecessors = PredecessorArgs { predecessor: config.predecessors.clone() };
    let trust = crate::trust::load(&TrustArgs { trust_policy: policy, predecessors }, &settings.dir)?;
    // `--username` is for the one registry that the command names.
    let lookup = LookupArgs { from: args.from.clone(), ..LookupArgs::default() };
    let connector =
        context.connector(&args.access.network, lookup.access(&args.access.identity, None).await?).lasting();
    // The clones of the connector share this client.
    connector.client()?;
    for served in config.providers.iter().filter(|served| served.pull.is_none()) {
        present(settings, served).await?;
    }
    let places = config.providers.iter().map(|served| {
        let (offered, list) = match &served.pull {
            None => {
                let (open, list) = place(settings, served, &connector)?;
                (OfferedBy::Place(open), list)
            }
            Some(rules) => {
                let through = pull_through(context, settings, served, rules, &connector, &trust)?;
                (OfferedBy::PullThrough(through), None)
            }
        };
        let (include, exclude) = (served.include.clone(), served.exclude.clone());
        Ok(ServedPlace { include, exclude, offered, list, renamed: served.renamed })
    });
    let places = places.collect::<Result<_, Diagnostic>>()?;
    let modules = module_places::open(context, settings, &connector, &trust)?;
    Ok(OpenedPlaces { places, modules, trust: trust.clone() })
}

/// A folder or bundle that is not there would be taken for one without providers.
async fn present(settings: &Settings, served: &ServedProviders) -> Result<(), Diagnostic> {
    let about = |error| settings.about(&served.from, error);
    match From::parse(&settings.located(&served.from.text)).map_err(about)? {
        From::One(End::Layout(dir)) | From::Many(Place::Folder(dir)) if !dir.is_dir() => {
            let diagnostic = Diagnostic::usage(format!("there is no folder {}", dir.display()));
            Err(about(diagnostic.code("settings-invalid").hint("a path in serve.toml is relative to that file")))
        }
        From::Many(Place::Bundle(file)) => {
            BundleSource::new(&file).bundle().await.map(drop).map_err(|error| about(Diagnostic::from(&error)))
        }
        _ => Ok(()),
    }
}

/// What opens a place, and what lists its providers.
fn place(
    settings: &Settings,
    served: &ServedProviders,
    connector: &Connector,
) -> Result<(OpenSource, Option<ListProviders>), Diagnostic> {
    let about = |error| settings.about(&served.from, error);
    let from = From::parse(&settings.located(&served.from.text)).map_err(about)?;
    let list = list_providers(&from);
    let Some(open) = open_place(from, connector)? else {
        return Err(about(
            Diagnostic::usage("a network mirror is served already, and cannot be served again from here")
                .hint("name it as `upstream` of a place of yours, which keeps what clients ask for"),
        ));
    };
    Ok((Arc::new(move |address| open(address).map_err(MirrorError::from)), list))
}

fn pull_through(
    context: &Context,
    settings: &Settings,
    served: &ServedProviders,
    rules: &PullRules,
    connector: &Connector,
    trust: &Trust,
) -> Result<PullThrough, Diagnostic> {
    let about = |error| settings.about(&served.from, error);
    let name = destination::parse(&settings.located(&served.from.text)).map_err(about)?;
    if let DestinationName::Static(_) | DestinationName::Bundle(_) = name {
        return Err(about(
            Diagnostic::usage(format!("{name} cannot keep what is fetched from an upstream"))
                .hint("write a template of repositories, or oci:DIR; or omit `upstream`"),
        ));
    }
    let destination: Arc<dyn Destination> =
        Arc::from(destination::open(connector, name, trust, Default::default()).map_err(about)?);
    let attestations: Vec<AttestationRule> =
        rules.attestations.iter().map(|at| AttestationRule { providers: Vec::new(), at: at.clone() }).collect();
    let attestations = attestations_of(&attestations, &settings.dir, connector).map_err(about)?;
    let upstream = Arc::new(PulledUpstream::open(settings, &rules.upstream, connector)?);
    let rules = MirrorRules {
        allow: rules.allow.clone(),
        deny: rules.deny.clone(),
        predecessors: trust.policy.predecessors().clone(),
        min_age: rules.min_age,
        ..MirrorRules::default()
    };
    let options = PullOptions {
        trust: Trust { renamed: served.renamed, ..trust.clone() },
        rules,
        attestations,
        upstream_use: settings.config.upstreams,
        limits: limits(),
        jobs: JOBS,
        work_dir: std::env::temp_dir(),
    };
    let open = Arc::new(move || Arc::clone(&upstream) as Arc<dyn Source>);
    Ok(PullThrough::new(open, destination, options, Arc::clone(&context.reporter)))
}

/// The own hosts; with the template of their repositories, if every provider of the host is in one place of a registry.
pub(super) fn own_hosts(config: &BridgeConfig) -> Vec<OwnHost> {
    let own = |hostname: &Hostname| {
        let is_of_host = |pattern: &&Pattern| pattern.hostname().is_none_or(|host| host == hostname);
        let of_host: Vec<&ServedProviders> = config
            .providers
            .iter()
            .filter(|served| served.include.iter().any(|pattern| is_of_host(&pattern)))
            .collect();
        let repositories = match of_host.as_slice() {
            [one] if one.pull.is_none() && one.exclude.is_empty() => {
                uri_template(&one.from.text, &one.include, hostname)
            }
            _ => None,
        };
        let services = [
            (HostService::Providers, config.has_providers_of(hostname)),
            (HostService::Modules, config.has_modules_of(hostname)),
        ];
        let services = services.into_iter().filter_map(|(service, has_it)| has_it.then_some(service)).collect();
        OwnHost { hostname: hostname.clone(), repositories, services }
    };
    config.hosts.iter().map(own).collect()
}

/// The template that the host publishes, if the place is for the whole host.
fn uri_template(from: &str, include: &[Pattern], hostname: &Hostname) -> Option<UriTemplate> {
    let whole =
        |pattern: &Pattern| pattern.namespace().is_none() && pattern.hostname().is_none_or(|host| host == hostname);
    match From::parse(from).ok()? {
        From::Repositories(template) if include.iter().any(whole) => template.uri_template(hostname),
        _ => None,
    }
}
