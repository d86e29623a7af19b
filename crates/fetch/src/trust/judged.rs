//! What the signatures of a release come to.

use serde::Serialize;

/// What the signatures of a release come to, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum SignatureStanding {
    /// Enough keys have signed it.
    Signed {
        /// Their names in the policy.
        by: Vec<String>,
    },
    /// This very index was signed when it was pinned.
    SignedBefore,
    /// No signature counts, and the policy accepts that.
    Unsigned,
    /// The policy or the pins refuse it.
    Refused {
        /// The stable name of the refusal.
        code: &'static str,
    },
    /// No key is known that could have signed it.
    NotJudged {
        /// How many signatures lie beside it.
        found: usize,
    },
}
