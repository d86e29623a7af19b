//! A question without an answer, and when to ask again.

use std::time::Duration;

use tofu_oci_fetch::{FetchError, ModuleFetchError};
use tofu_oci_mirror::{MirrorError, ModuleMirrorError, UpstreamUse};
use tofu_oci_packer::PackError;
use tofu_oci_source::{ModuleError, SourceError};
use tofu_oci_store::StoreError;

use super::refused::if_sealed;
use crate::Refusal;

/// A refusal, and when the place may be asked again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct QueryFailure {
    pub(super) refusal: Refusal,
    pub(super) again: Again,
}

impl QueryFailure {
    /// The same, which says so if an upstream is sealed.
    pub(super) fn if_sealed(self, upstream_use: UpstreamUse) -> Self {
        Self { refusal: if_sealed(self.refusal, upstream_use), ..self }
    }
}

/// When a place may be asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// Not for a waiting client: the answer is a refusal, or the fault does not pass by itself.
    Never,
    /// After a short pause.
    Soon,
    /// After the time that it names.
    After(Duration),
}

impl Again {
    /// By what went wrong.
    pub(super) fn of(error: &MirrorError) -> Self {
        let source = match error {
            MirrorError::Source(error) | MirrorError::Fetch(FetchError::Source(error)) => error.innermost(),
            MirrorError::Store(error) => return Self::of_store(error),
            _ => return Self::Never,
        };
        match source {
            SourceError::Store(error) => Self::of_store(error),
            error if error.is_transient() => Self::Soon,
            _ => Self::Never,
        }
    }

    /// By what went wrong when a module was listed or fetched.
    pub(super) fn of_pull(error: &ModuleMirrorError) -> Self {
        match error {
            ModuleMirrorError::Module(error) | ModuleMirrorError::Fetch(ModuleFetchError::Module(error)) => {
                Self::of_module(error)
            }
            ModuleMirrorError::Store(error) | ModuleMirrorError::Pack(PackError::Store(error)) => Self::of_store(error),
            ModuleMirrorError::Bundle(error) => Self::of(error),
            _ => Self::Never,
        }
    }

    /// By what went wrong with the package of a module.
    pub(super) fn of_module(error: &ModuleError) -> Self {
        match error {
            ModuleError::Store(error) => Self::of_store(error),
            error if error.is_transient() => Self::Soon,
            _ => Self::Never,
        }
    }

    /// By what went wrong in a repository.
    pub(super) fn of_store(error: &StoreError) -> Self {
        match error {
            StoreError::RateLimited { seconds, .. } => Self::After(Duration::from_secs(*seconds)),
            error if error.is_transient() => Self::Soon,
            _ => Self::Never,
        }
    }
}
