//! Which keys may speak for which providers: `trust.toml`, read.
//!
//! ```text
//! text --parse--> PolicyFile --resolve(files)--> Policy --rule(address)--> Rule
//! ```
//!
//! Without a file [`Policy::default`] holds: no keys, unsigned releases are allowed, moved tags are refused, and what the
//! pins remember holds.

mod error;
mod file;
mod key;
mod rule;
#[cfg(test)]
mod tests;

use std::path::Path;

use tofu_oci_types::{Pattern, ProviderAddr};

pub use error::{PolicyError, PolicyProblem};
pub use file::PolicyFile;
pub use key::{KeyMaterial, KeyMaterialError, NamedKey};
pub use rule::{Action, ExpiredKeys, ManifestChecksums, Rule, RuleOrigin, Unsigned};

use crate::{KeyId, Pins};
use rule::FileRule;

/// Which keys may speak for which providers, and what happens where they do not.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    rules: Vec<FileRule>,
    otherwise: Rule,
}

impl Policy {
    /// Reads the text of a `trust.toml`. Its keys are read by [`PolicyFile::resolve`].
    ///
    /// # Errors
    /// What is wrong, with its place in the text: an unknown member, too, since a rule that is misread protects nobody.
    pub fn parse(text: &str) -> Result<PolicyFile, PolicyError> {
        file::parse(text)
    }

    /// The same, read from this file: what its rules refuse names it.
    #[must_use]
    pub fn read_from(mut self, file: &Path) -> Self {
        for rule in &mut self.rules {
            if let RuleOrigin::File { path, .. } = &mut rule.rule.origin {
                file.clone_into(path);
            }
        }
        self
    }

    /// The rule for a provider: the first one with a pattern that matches, or the default.
    pub fn rule(&self, address: &ProviderAddr) -> &Rule {
        let matching = self.rules.iter().find(|rule| rule.patterns.iter().any(|pattern| pattern.matches(address)));
        matching.map_or(&self.otherwise, |found| &found.rule)
    }

    /// Whether every rule that names this key is for the host and the namespace of `address` alone. What the key signs
    /// without naming them can then be about nobody else. Keys of the command line are for what they are asked about.
    pub(crate) fn is_dedicated(&self, key: &KeyId, address: &ProviderAddr) -> bool {
        let named = |rule: &&FileRule| rule.rule.keys.iter().any(|named| named.material.ids().contains(key));
        let alone = |pattern: &Pattern| {
            pattern.hostname() == Some(address.hostname()) && pattern.namespace() == Some(address.namespace())
        };
        self.rules.iter().filter(named).flat_map(|rule| &rule.patterns).all(alone)
    }

    /// Whether signatures can change what is made of a release of this provider. Where not, nobody needs to ask for them.
    pub fn wants_evidence(&self, pins: &Pins, address: &ProviderAddr) -> bool {
        !self.rule(address).keys.is_empty() || pins.signers(address).next().is_some()
    }

    /// A policy of one rule for every provider: signed by one of `keys`, the defaults for all else.
    pub fn with_keys(keys: Vec<NamedKey>) -> Self {
        let rule = Rule {
            origin: RuleOrigin::CommandLine,
            unsigned: Unsigned::ByDefault(Action::Refuse),
            keys,
            ..Rule::default()
        };
        Self { rules: Vec::new(), otherwise: rule }
    }
}
