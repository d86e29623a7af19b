//! What the command asked for, and what went wrong meanwhile: it is printed after the command has failed.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tofu_oci_source::{Listing, Release, Source, SourceError};
use tofu_oci_types::{Event, Level, Place, ProviderAddr, Reporter, Version};

use crate::diagnostic::Diagnostic;

/// What was asked, and what went wrong, in the order in which it did.
#[derive(Default)]
pub(super) struct Watched(Mutex<Observations>);

#[derive(Default)]
struct Observations {
    releases: Vec<(ProviderAddr, Version)>,
    problems: Vec<Diagnostic>,
    warnings: Vec<Event>,
}

impl Watched {
    /// The releases that were asked for.
    pub(super) fn releases(&self) -> Vec<(ProviderAddr, Version)> {
        self.seen(|seen| seen.releases.clone())
    }

    /// What places answered instead of what was asked for, each once.
    pub(super) fn problems(&self) -> Vec<Diagnostic> {
        self.seen(|seen| std::mem::take(&mut seen.problems))
    }

    /// Warnings of the bridges, each once.
    pub(super) fn warnings(&self) -> Vec<Event> {
        self.seen(|seen| std::mem::take(&mut seen.warnings))
    }

    fn seen<T>(&self, look: impl FnOnce(&mut Observations) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn failed(&self, address: &ProviderAddr, error: &SourceError) {
        let problem = Diagnostic::from(error).about(&address.to_string());
        self.seen(|seen| {
            if !seen.problems.iter().any(|known| known.text() == problem.text()) {
                seen.problems.push(problem);
            }
        });
    }
}

impl Reporter for Watched {
    fn event(&self, event: &Event) {
        if matches!(event, Event::Message { level: Level::Warning, .. }) {
            self.seen(|seen| {
                if !seen.warnings.contains(event) {
                    seen.warnings.push(event.clone());
                }
            });
        }
    }
}

/// A source that is watched.
pub(super) struct WatchedSource {
    source: Arc<dyn Source>,
    watched: Arc<Watched>,
}

impl WatchedSource {
    pub(super) fn new(source: Arc<dyn Source>, watched: Arc<Watched>) -> Self {
        Self { source, watched }
    }
}

#[async_trait]
impl Source for WatchedSource {
    fn place(&self) -> &Place {
        self.source.place()
    }

    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, SourceError> {
        let versions = self.source.versions(address).await;
        versions.inspect_err(|error| self.watched.failed(address, error))
    }

    async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Arc<dyn Release>, SourceError> {
        let asked = (address.clone(), version.clone());
        self.watched.seen(|seen| {
            if !seen.releases.contains(&asked) {
                seen.releases.push(asked);
            }
        });
        let release = self.source.release(address, version).await;
        release.inspect_err(|error| self.watched.failed(address, error))
    }
}
