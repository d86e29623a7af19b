//! Faults of a part of the work as errors of the crate.

use crate::{AttachError, ModuleFault, PackError, SignError, StateError};

impl From<ModuleFault> for PackError {
    fn from(fault: ModuleFault) -> Self {
        Self::Module(Box::new(fault))
    }
}

impl From<StateError> for PackError {
    fn from(error: StateError) -> Self {
        Self::State(Box::new(error))
    }
}

impl From<SignError> for PackError {
    fn from(error: SignError) -> Self {
        Self::Sign(Box::new(error))
    }
}

impl From<AttachError> for PackError {
    fn from(error: AttachError) -> Self {
        Self::Attach(Box::new(error))
    }
}
