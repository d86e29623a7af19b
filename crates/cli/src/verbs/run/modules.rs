//! Which `host` blocks the command of `run` gets: the hosts whose modules `modules.toml` maps get the server of this
//! run as their registry of modules.
//!
//! A `host` block replaces all services of a host. So the other services of the host, as the user's own block names them,
//! are written beside `modules.v1`; of its discovery document, which is a stranger's, those that are known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tofu_oci_bridge::{BaseUrl, ModuleLocations, OpenModules, ServedModulePlace};
use tofu_oci_fetch::RenamedReleases;
use tofu_oci_mapper::config::{ConfigSetting, MethodKind};
use tofu_oci_mapper::{MapError, ModuleMirror, ModuleMirrors, Pattern, PlaceRule};
use tofu_oci_source::{ConfiguredMethods, MethodOpener};
use tofu_oci_types::{Event, Hostname, ModulePattern};

use super::watched::Watched;
use super::watched_source::WatchedStore;
use crate::connect::Connector;
use crate::diagnostic::Diagnostic;
use crate::environment::ReadConfig;
use crate::modules::kept_in;
use crate::verbs::context::Context;

/// The service of modules, by its identifier.
const MODULES: &str = "modules.v1";

/// The services of hosts, by their identifiers.
pub(super) type HostServices = BTreeMap<Hostname, BTreeMap<String, ConfigSetting>>;

/// The mapping, and the hosts that it names.
pub(super) struct BridgedModules {
    mirrors: Arc<ModuleMirrors>,
    hosts: BTreeSet<Hostname>,
}

impl BridgedModules {
    /// `None` if the mapping names no host.
    pub(super) fn of(mirrors: ModuleMirrors) -> Option<Self> {
        let patterns = mirrors.mirrors().iter().flat_map(|mirror| &mirror.include);
        let hosts: BTreeSet<Hostname> = patterns.filter_map(|pattern| pattern.hostname().cloned()).collect();
        (!hosts.is_empty()).then(|| Self { mirrors: Arc::new(mirrors), hosts })
    }

    /// Says which modules the command does not find in spite of the mapping, or because of it.
    pub(super) fn note(context: &Context, mirrors: &ModuleMirrors) {
        let patterns = || mirrors.mirrors().iter().flat_map(|mirror| &mirror.include);
        if let Some(open) = patterns().find(|pattern| pattern.hostname().is_none()) {
            let text =
                format!("the modules of {open} do not come from the mapping: `run` needs the names of their hosts");
            let hint = "name each host in `include`: \"registry.opentofu.org/*/*/*\"";
            context.reporter.event(&Event::note("module-host-open", text).with_hint(hint));
        }
        let hosts: BTreeSet<&Hostname> = patterns().filter_map(ModulePattern::hostname).collect();
        let is_whole = |mirror: &ModuleMirror, host: &Hostname| {
            let all = |pattern: &ModulePattern| pattern.hostname() == Some(host) && pattern.namespace().is_none();
            mirror.exclude.is_empty() && mirror.include.iter().any(all)
        };
        let parts = hosts.into_iter().filter(|host| !mirrors.mirrors().iter().any(|mirror| is_whole(mirror, host)));
        for host in parts {
            let host = host.display();
            let text = format!("the command finds no other modules of {host} than those of the mapping");
            let hint = format!("map the others too: include = [\"{host}/*/*/*\"]");
            context.reporter.event(&Event::note("module-host-partly", text).with_hint(hint));
        }
    }

    /// What the server of the run has.
    pub(super) fn place(&self, connector: &Connector, watched: &Arc<Watched>) -> Result<ServedModulePlace, Diagnostic> {
        let (client, mirrors, watched) = (connector.client()?, Arc::clone(&self.mirrors), Arc::clone(watched));
        let open: OpenModules = Arc::new(move |address| {
            let mirror = mirrors.of(address).ok_or_else(|| unmapped(&address.to_string()))?;
            let (store, of) = (kept_in(&client, mirror.place(address)?), address.to_string());
            Ok(Arc::new(WatchedStore { store, of, watched: Arc::clone(&watched) }))
        });
        let include = self.mirrors.mirrors().iter().flat_map(|mirror| mirror.include.clone()).collect();
        let (locations, renamed) = (ModuleLocations::Archives, RenamedReleases::ByPolicy);
        Ok(ServedModulePlace { include, exclude: Vec::new(), open, pull: None, locations, renamed })
    }

    /// The services of the hosts, with the server of the run at this URL as their registry of modules.
    pub(super) async fn services(
        &self,
        context: &Context,
        read: &ReadConfig,
        configured: &ConfiguredMethods,
        opener: &MethodOpener,
        base: &BaseUrl,
    ) -> HostServices {
        let mut all = HostServices::new();
        for host in &self.hosts {
            let mut services = match read.reading.config.hosts.get(host) {
                Some(block) => block.services.clone(),
                None if may_be_asked(configured, host) => discovered(context, opener, host).await,
                None => BTreeMap::new(),
            };
            services.insert(MODULES.to_owned(), ConfigSetting::Text(base.join(&format!("modules/{host}/"))));
            all.insert(host.clone(), services);
        }
        all
    }
}

/// A module that an `include` names and an `exclude` takes out.
fn unmapped(address: &str) -> MapError {
    let rule = PlaceRule::OciMirror { template: "modules.toml".to_owned() };
    MapError::TemplateNull { address: address.to_owned(), rule }
}

/// Whether providers of the host may come from its own registry.
fn may_be_asked(configured: &ConfiguredMethods, host: &Hostname) -> bool {
    let Ok(all): Result<Pattern, _> = format!("{}/*/*", host.display()).parse() else { return false };
    configured.methods.list.iter().any(|method| {
        let is_direct = matches!(method.kind, MethodKind::Direct { .. });
        let included = &method.selector.include;
        let is_included = included.is_empty() || included.iter().any(|one| one.covers(&all) || all.covers(one));
        is_direct && is_included && !method.selector.exclude.iter().any(|one| one.covers(&all))
    })
}

/// What the host says of itself. A host that says nothing may have modules in the mapping alone.
async fn discovered(context: &Context, opener: &MethodOpener, host: &Hostname) -> BTreeMap<String, ConfigSetting> {
    match opener.services(host).await {
        Ok(services) => {
            services.known().into_iter().map(|(name, text)| (name.to_owned(), ConfigSetting::Text(text))).collect()
        }
        Err(error) => {
            let text = format!(
                "{} does not say what it offers, so this run knows its modules alone: {}",
                host.display(),
                error.failure
            );
            context.reporter.event(&Event::note("module-host-unknown", text));
            BTreeMap::new()
        }
    }
}
