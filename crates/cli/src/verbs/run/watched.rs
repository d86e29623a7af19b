//! What the command asked for, and what went wrong meanwhile: it is printed after the command has failed.

use std::sync::{Mutex, PoisonError};

use tofu_oci_source::SourceError;
use tofu_oci_types::{Event, Level, ProviderAddr, Reporter, Version};

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

    /// The notes about releases and modules that say another address; the command has them.
    pub(super) fn notes(&self) -> Vec<Event> {
        self.seen(|seen| std::mem::take(&mut seen.notes))
    }

    /// A release was asked for.
    pub(super) fn asked(&self, address: &ProviderAddr, version: &Version) {
        let asked = (address.clone(), version.clone());
        self.seen(|seen| {
            if !seen.releases.contains(&asked) {
                seen.releases.push(asked);
            }
        });
    }

    fn seen<T>(&self, look: impl FnOnce(&mut Observations) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// `of`, a provider or a module, could not be read.
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
