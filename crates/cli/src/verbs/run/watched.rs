//! What the command asked for, and what went wrong meanwhile: it is printed after the command has failed.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tofu_oci_source::{Listing, Release, Source, SourceError};
use tofu_oci_types::{Event, Level, Place, ProviderAddr, Reporter, Version};

use super::watched_bytes::WatchedRelease;
use crate::diagnostic::Diagnostic;

/// What was asked, and what went wrong, in the order in which it did.
#[derive(Default)]
pub(super) struct Watched(Mutex<Observations>);

#[derive(Default)]
struct Observations {
    releases: Vec<(ProviderAddr, Version)>,
    problems: Vec<Diagnostic>,
    warnings: Vec<Event>,
    notes: Vec<Event>,
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

    /// Which releases and modules say another address, each once: the command got them.
    pub(super) fn notes(&self) -> Vec<Event> {
        self.seen(|seen| std::mem::take(&mut seen.notes))
    }

    fn seen<T>(&self, look: impl FnOnce(&mut Observations) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What `of` names, a provider or a module, could not be read.
    pub(super) fn failed(&self, of: &str, error: &SourceError) {
        let problem = Diagnostic::from(error).about(of);
        self.seen(|seen| {
            if !seen.problems.iter().any(|known| known.text() == problem.text()) {
                seen.problems.push(problem);
            }
        });
    }
}

impl Reporter for Watched {
    fn event(&self, event: &Event) {
        self.seen(|seen| {
            let heard = match event {
                Event::Message { level: Level::Warning, .. } => &mut seen.warnings,
                Event::Message { code: "other-address", .. } => &mut seen.notes,
                _ => return,
            };
            if !heard.contains(event) {
                heard.push(event.clone());
            }
        });
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
        versions.inspect_err(|error| self.watched.failed(&address.to_string(), error))
    }

    async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Arc<dyn Release>, SourceError> {
        let asked = (address.clone(), version.clone());
        self.watched.seen(|seen| {
            if !seen.releases.contains(&asked) {
                seen.releases.push(asked);
            }
        });
        let release = self.source.release(address, version).await;
        let release = release.inspect_err(|error| self.watched.failed(&address.to_string(), error))?;
        Ok(Arc::new(WatchedRelease { release, watched: Arc::clone(&self.watched) }))
    }
}
