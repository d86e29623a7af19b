//! What became of each call.

use std::path::Path;

use tofu_oci_fetch::Trust;
use tofu_oci_installer::{ModulePin, ModulePinChange};
use tofu_oci_tfconfig::{CallFile, CallSource, PinNote, PinnedSource, SourceCall};
use tofu_oci_types::{Tag, masked};

use crate::diagnostic::Diagnostic;
use crate::excerpt::excerpt_in_full;

pub(super) struct ConfigToLock {
    pub(super) trust: Trust,
    pub(super) files: Vec<CallFile>,
}

/// A file, and an outcome for each of its calls.
pub(super) struct LookedFile<'a> {
    pub(super) file: &'a CallFile,
    pub(super) calls: Vec<LockedCall<'a>>,
}

pub(super) struct LockedCall<'a> {
    pub(super) file: &'a CallFile,
    pub(super) call: &'a SourceCall,
    pub(super) outcome: CallOutcome,
}

pub(super) enum CallOutcome {
    /// Its package is known.
    Pinned(Box<ModulePin>),
    /// It cannot be pinned, or its pin does not hold.
    Refused(Box<Diagnostic>),
    /// Its source is an expression.
    Computed,
    /// It is not a package in a repository.
    Other,
}

impl LockedCall<'_> {
    /// Its file, without the `./` of the current folder.
    pub(super) fn path(&self) -> &Path {
        self.call.at.path.strip_prefix(".").unwrap_or(&self.call.at.path)
    }

    /// `PATH:LINE:COLUMN`.
    pub(super) fn place(&self) -> String {
        format!("{}:{}", self.path().display(), self.call.at.at)
    }

    /// `module.NAME`.
    pub(super) fn name(&self) -> String {
        format!("module.{}", self.call.module)
    }

    /// A diagnostic with the line of the call. A line with a secret in it is not shown.
    pub(super) fn shown(&self, diagnostic: Diagnostic) -> Diagnostic {
        let text = self.call.source_text();
        if masked(text) != text {
            return diagnostic.excerpt(format!("  --> {}\n", tofu_oci_types::printable(&self.place())));
        }
        let path = self.path().display().to_string();
        diagnostic.excerpt(excerpt_in_full(&path, self.file.text(), &self.call.span()))
    }

    /// The package that was found.
    pub(super) fn found(&self) -> Option<&ModulePin> {
        match &self.outcome {
            CallOutcome::Pinned(pin) => Some(pin),
            _ => None,
        }
    }

    /// Whether it could be pinned, and is not.
    pub(super) fn is_free(&self) -> bool {
        self.found().is_some_and(|pin| pin.change == ModulePinChange::Pinned)
    }

    /// Whether its file changes for it.
    pub(super) fn is_changed(&self) -> bool {
        self.found()
            .is_some_and(|pin| pin.change != ModulePinChange::Kept || self.note() != self.note_before().cloned())
    }

    /// What its file gets; `None` for a call that is not pinned.
    pub(super) fn pin(&self) -> Option<PinnedSource> {
        let pin = self.found()?;
        Some(PinnedSource { digest: pin.digest.clone(), note: self.note() })
    }

    /// The comment that it gets; `None` if its version is not known.
    pub(super) fn note(&self) -> Option<PinNote> {
        let before = self.note_before();
        let tag = self.found()?.tag.clone().filter(|_| self.call.has_room());
        match (tag, before) {
            (Some(tag), before) => {
                Some(PinNote { tag: Some(tag), constraint: before.and_then(|note| note.constraint.clone()) })
            }
            (None, before) => before.cloned(),
        }
    }

    fn note_before(&self) -> Option<&PinNote> {
        match &self.call.source {
            CallSource::Oci(_, note) => note.as_ref(),
            _ => None,
        }
    }

    /// Its source with the digest, without secrets.
    pub(super) fn source_after(&self) -> String {
        let after = self.found().and_then(|pin| self.call.pinned_text(&pin.digest));
        masked(after.as_deref().unwrap_or(self.call.source_text()))
    }
}

/// The version that a tag is, or the tag with its name.
pub(super) fn named(tag: &Tag) -> String {
    PinNote { tag: Some(tag.clone()), constraint: None }.to_string()
}
