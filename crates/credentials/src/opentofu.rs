//! What `OpenTofu` would do with the same files, blocks and helpers.

use crate::{Origin, Policy, Secret, Place};
use tofu_oci_types::RepositoryRef;

/// Stand-in until the real one comes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Prediction {
    Anonymous { because: Option<String> },
    Basic { username: String, password: Secret, origin: Origin },
    Token { access: Secret, origin: Origin },
    Ask { program: String, server: String, origin: Origin },
    Refused { code: &'static str, because: String },
    Crash { because: String },
    Random { keys: Vec<String> },
}

/// Stand-in.
#[allow(missing_docs)]
pub struct ConfigFault { pub code: String, pub place: Place }

/// Stand-in.
pub fn predict(_: &Policy, _: &[ConfigFault], _: &RepositoryRef) -> Prediction { Prediction::Anonymous { because: None } }
