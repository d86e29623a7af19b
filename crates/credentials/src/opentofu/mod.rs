//! What `OpenTofu` 1.10 to 1.13 would do with the same blocks, files and helpers.
//!
//! A second set of rules, written from measurements of the real programs and not derived from ours, so that
//! `auth explain` can tell the difference and the tests can compare both with what was measured.
//!
//! ```text
//! CredentialPolicy + [ConfigFault] + RepositoryRef --predict--> Prediction: what would be chosen, once the registry asks
//! WireFacts --wire_differences--> [Difference]: where it would speak otherwise with registry and token server
//! ```
//!
//! The releases chose the same in every case that was measured; they differ on the wire only.

mod fault;
mod keys;
mod predict;
mod wire;

pub use fault::{ConfigFault, FaultEffect};
pub use predict::predict;
pub use wire::{Difference, HeldCredential, Ping, Redirect, Redirector, Severity, WireFacts, wire_differences};

use crate::CredentialOrigin;
use tofu_oci_types::Secret;

/// What `OpenTofu` would use for a repository, once its registry asks. `because` is a sentence without a full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prediction {
    /// Nothing.
    Anonymous {
        /// Why not, where something that was configured counts for nothing.
        because: Option<String>,
    },
    /// A name and a password. Where one of them is empty a Basic challenge fails, and a token server is sent them.
    Basic {
        /// The name.
        username: String,
        password: Secret,
        origin: CredentialOrigin,
    },
    /// A token that is sent to the registry as it is.
    Token {
        access: Secret,
        origin: CredentialOrigin,
    },
    /// A helper is asked. Its "not found" is final; its `<token>` is an error.
    Ask {
        /// The program: a name to be found on the PATH, or a path from the working directory, `./...`.
        program: String,
        /// What it is asked for.
        server: String,
        /// Where it is named.
        origin: CredentialOrigin,
    },
    /// An error, whether the registry asks for a credential or not.
    Refused {
        /// As in the list of stable codes, or `config-dropped`.
        code: &'static str,
        because: String,
    },
    Crash {
        because: String,
    },
    /// One of several entries, another from run to run.
    Random {
        /// Their keys, sorted.
        keys: Vec<String>,
    },
}

#[cfg(test)]
mod measured;
#[cfg(test)]
mod tests;
