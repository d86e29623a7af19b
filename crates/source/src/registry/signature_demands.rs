//! What the user demands of the signatures of origin registries.

use tofu_oci_trust::ExpiredKeys;
use tofu_oci_types::Hostname;

/// What a signature by a key of the origin registry must be. The user's own keys are `trust.toml`'s business.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureDemands {
    /// Whether a registry may name no key.
    pub keyless: Keyless,
    /// What a signature by a key that has expired is worth.
    pub expired: ExpiredKeys,
}

/// Whether a registry may name no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyless {
    /// The public registry may: it lists providers whose authors gave it no key.
    PublicRegistry,
    /// No registry may.
    Refused,
}

impl SignatureDemands {
    /// What the variables of `OpenTofu` say.
    ///
    /// Spec: `opentofu-behaviour.md` §8.5: `OPENTOFU_ENFORCE_GPG_VALIDATION` and `OPENTOFU_ENFORCE_GPG_EXPIRATION`, `true` alone.
    pub fn of_variables<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> Self {
        let is_true = |name| variable(name) == Some("true");
        Self {
            keyless: if is_true("OPENTOFU_ENFORCE_GPG_VALIDATION") {
                Keyless::Refused
            } else {
                Keyless::PublicRegistry
            },
            expired: if is_true("OPENTOFU_ENFORCE_GPG_EXPIRATION") { ExpiredKeys::Refuse } else { ExpiredKeys::Warn },
        }
    }

    /// Whether the providers of a host may be unsigned. What the host itself says of a package is then as good as its
    /// `SHA256SUMS`.
    pub(super) fn admit_keyless(self, host: &Hostname) -> bool {
        self.keyless == Keyless::PublicRegistry && *host == Hostname::default_registry()
    }
}
