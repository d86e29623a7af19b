//! The upstreams of `serve`: where what a place lacks is fetched from.

#![expect(clippy::result_large_err, reason = "errors are rare, and carry values for explanations")]

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tofu_oci_bridge::WrittenPlace;
use tofu_oci_source::{Listing, Release, Source, SourceError};
use tofu_oci_types::{Place, ProviderAddr, Version, masked};

use super::open::{OpenPlace, open_place};
use super::settings::Settings;
use crate::args::LookupArgs;
use crate::connect::Connector;
use crate::diagnostic::Diagnostic;
use crate::ends::From;
use crate::lookup::{Finder, ORIGIN, in_order, lookup_of};

/// How long it is known what a host publishes, and which token it gets.
pub(super) const KNOWN: Duration = Duration::from_mins(1);

/// How many packages of one release move at a time.
pub(super) const JOBS: usize = 4;

/// The upstreams of a place, in order. Each question opens them anew, so that nothing that they have listed is remembered.
pub(super) struct PulledUpstream {
    place: Place,
    sources: Vec<(String, UpstreamSource)>,
}

enum UpstreamSource {
    /// A repository, or a place on disk.
    Place(OpenPlace),
    /// A network mirror, or the host of each provider.
    Web(Box<WebUpstream>),
}

/// Opens a network mirror, or the host of each provider.
struct WebUpstream {
    text: String,
    connector: Connector,
    finder: Mutex<(Instant, Finder)>,
}

impl PulledUpstream {
    /// Opens each; no request is made.
    pub(super) fn open(
        settings: &Settings,
        places: &[WrittenPlace],
        connector: &Connector,
    ) -> Result<Self, Diagnostic> {
        let open = |place: &WrittenPlace| {
            let source = UpstreamSource::open(&settings.located(&place.text), connector).map_err(|error| {
                settings.about(place, error.hint("\"direct\" in `upstream` is the host of each address"))
            })?;
            Ok((masked(&place.text), source))
        };
        let sources: Vec<_> = places.iter().map(open).collect::<Result<_, Diagnostic>>()?;
        let texts: Vec<&str> = sources.iter().map(|(text, _)| text.as_str()).collect();
        Ok(Self { place: Place::Method(texts.join(", ")), sources })
    }

    fn source(&self, address: &ProviderAddr) -> Result<Arc<dyn Source>, SourceError> {
        let opened = self.sources.iter().map(|(text, source)| Ok((text.clone(), source.source(text, address)?)));
        Ok(in_order(opened.collect::<Result<_, SourceError>>()?))
    }
}

impl UpstreamSource {
    fn open(text: &str, connector: &Connector) -> Result<Self, Diagnostic> {
        if text != ORIGIN {
            let from = From::parse(text)?;
            if let Some(open) = open_place(from, connector)? {
                return Ok(Self::Place(open));
            }
        }
        WebUpstream::new(text, connector).map(|web| Self::Web(Box::new(web)))
    }

    fn source(&self, text: &str, address: &ProviderAddr) -> Result<Arc<dyn Source>, SourceError> {
        match self {
            Self::Place(open) => open(address).map_err(|error| {
                let place = Place::Method(text.to_owned());
                SourceError::Failed { place, failure: error.into() }
            }),
            Self::Web(web) => {
                Ok(web.source(address).expect("it was opened at the start, and its files were read then"))
            }
        }
    }
}

impl WebUpstream {
    fn new(text: &str, connector: &Connector) -> Result<Self, Diagnostic> {
        let finder = Mutex::new((Instant::now(), Self::finder(text, connector)?));
        Ok(Self { text: text.to_owned(), connector: connector.clone(), finder })
    }

    fn finder(text: &str, connector: &Connector) -> Result<Finder, Diagnostic> {
        // The second one is opened to see that it can be.
        let finder = Finder::new(&lookup_of(text, &LookupArgs::default()), connector.clone(), None, &[])?;
        finder.anew()?;
        Ok(finder)
    }

    fn source(&self, address: &ProviderAddr) -> Result<Arc<dyn Source>, Diagnostic> {
        let mut known = self.finder.lock().unwrap_or_else(PoisonError::into_inner);
        if known.0.elapsed() > KNOWN {
            *known = (Instant::now(), Self::finder(&self.text, &self.connector)?);
        }
        let finder = known.1.anew()?;
        drop(known);
        if self.text == ORIGIN { finder.origin(address) } else { finder.source(address) }
    }
}

#[async_trait]
impl Source for PulledUpstream {
    fn place(&self) -> &Place {
        &self.place
    }

    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, SourceError> {
        self.source(address)?.versions(address).await
    }

    async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Arc<dyn Release>, SourceError> {
        self.source(address)?.release(address, version).await
    }
}
