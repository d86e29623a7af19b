//! The methods that are for a provider, with sources behind them.

use std::sync::Arc;

use tofu_oci_mapper::{MagicSuffix, Methods, Place};
use tofu_oci_source::{Failure, Kind, Link, NotRead, OciSource, Source};
use tofu_oci_types::ProviderAddr;
use url::Url;

use super::case::Offered;
use super::folder::Folder;
use super::scripted::{MIRROR, REGISTRY, Server};
use super::watched::{Served, Watched};
use super::world::World;

impl World<'_> {
    pub(super) fn watch(&self, method: Kind, repository: Option<String>, inner: Arc<dyn Source>) -> Link {
        let name = match method {
            Kind::Oci => "oci",
            Kind::Direct => "direct",
            Kind::NetworkMirror => "network_mirror",
            Kind::Filesystem => "filesystem_mirror",
        };
        let served = Served { method: name, repository };
        let source = Arc::new(Watched { inner, served, log: Arc::clone(&self.log) });
        Link { method, label: name.to_owned(), source }
    }

    /// The methods that are for the provider, with their sources.
    pub(super) fn links(&self, methods: &Methods, address: &ProviderAddr) -> Vec<Link> {
        let mut links = Vec::new();
        for candidate in methods.candidates(address, &MagicSuffix::default()) {
            let label = candidate.method.label();
            let link = match candidate.place {
                None => continue,
                Some(Err(error)) => {
                    self.watch(Kind::Oci, None, Arc::new(NotRead::failing(label, Failure::from(error))))
                }
                Some(Ok(Place::Oci(place))) => {
                    let source = Arc::new(OciSource::new(self.registries.open(&place.repository)));
                    self.watch(Kind::Oci, Some(place.repository.to_string()), source)
                }
                Some(Ok(Place::Direct { .. })) => {
                    let offer = self.case.offers.get("direct").cloned().unwrap_or_else(unknown);
                    self.watch(Kind::Direct, None, Arc::new(Server::new("direct", offer, REGISTRY)))
                }
                Some(Ok(Place::NetworkMirror { url })) => {
                    let offer = self.mirror(&url).cloned().unwrap_or_else(unknown);
                    let server = Server::new("network_mirror", offer, MIRROR);
                    self.watch(Kind::NetworkMirror, None, Arc::new(server))
                }
                Some(Ok(Place::Filesystem { path })) => self.watch(Kind::Filesystem, None, Arc::new(Folder { path })),
                Some(Ok(place)) => panic!("{}: {place}", self.case.name),
            };
            links.push(link);
        }
        links
    }

    /// What a network mirror offers: the addresses that are asked for are below the mirror's.
    fn mirror(&self, url: &str) -> Option<&Offered> {
        let asked = Url::parse(url).ok()?.join("index.json").ok()?;
        let fits = |name: &String| {
            let offered = name.strip_prefix("mirror:").and_then(|url| Url::parse(url).ok());
            offered
                .is_some_and(|offered| offered.origin() == asked.origin() && asked.path().starts_with(offered.path()))
        };
        self.case.offers.iter().find(|(name, _)| fits(name)).map(|(_, offer)| offer)
    }
}

/// A server that is there and knows nothing of the provider.
fn unknown() -> Offered {
    Offered { fails: Some("404".to_owned()), ..Offered::default() }
}
