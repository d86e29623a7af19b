//! Which version a lock file chooses, by the provider's own entry or by its predecessor's.

use tofu_oci_types::ProviderAddr;

use crate::{LockEntry, LockFile};

/// The host whose `hashicorp` namespace `OpenTofu`'s own registry continues.
const PREDECESSOR_HOST: &str = "registry.terraform.io";

/// The one namespace that both registries share.
const NAMESPACE: &str = "hashicorp";

/// An entry that a provider's version is chosen by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guide {
    /// The provider whose entry it is: the wanted one, or its predecessor.
    pub by: ProviderAddr,
    /// The entry that binds. A predecessor's has no checksums here: the two registries do not have the same bytes.
    pub entry: LockEntry,
}

impl Guide {
    /// The predecessor that chooses the version of `address`; `None` if the provider has an entry of its own.
    pub fn predecessor(&self, address: &ProviderAddr) -> Option<&ProviderAddr> {
        (self.by != *address).then_some(&self.by)
    }
}

impl LockFile {
    /// What chooses the version of a provider: its own entry. Without one, the entry of
    /// `registry.terraform.io/hashicorp/X` counts for `registry.opentofu.org/hashicorp/X`, so that a team that migrates
    /// keeps its versions.
    ///
    /// Spec: `OpenTofu` 1.10 to 1.13, depsfile `UpgradeFromPredecessorProject`.
    pub fn guide(&self, address: &ProviderAddr) -> Option<Guide> {
        if let Some(entry) = self.get(address) {
            return Some(Guide { by: address.clone(), entry: entry.clone() });
        }
        let by = predecessor(address)?;
        let entry = self.get(&by)?;
        let entry = LockEntry::new(entry.version.clone(), entry.constraints.clone());
        Some(Guide { by, entry })
    }
}

/// The provider's address in the registry that `OpenTofu`'s continues; `None` for every other provider.
fn predecessor(address: &ProviderAddr) -> Option<ProviderAddr> {
    let provider_type = address.provider_type();
    let default: ProviderAddr = format!("{NAMESPACE}/{provider_type}").parse().ok()?;
    if *address != default {
        return None;
    }
    format!("{PREDECESSOR_HOST}/{NAMESPACE}/{provider_type}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Locks the providers at 1.0.0, 2.0.0 and so on, and says what guides `address`.
    #[track_caller]
    fn check(locked: &[&str], address: &str, want: &str) {
        let mut file = LockFile::default();
        for (number, locked) in locked.iter().enumerate() {
            let mut entry = LockEntry::new(format!("{}.0.0", number + 1).parse().unwrap(), "> 0.1.0".parse().unwrap());
            entry.hashes.insert("h1:x".parse().unwrap());
            file.insert(locked.parse().unwrap(), entry);
        }
        let address: ProviderAddr = address.parse().unwrap();
        let guided = file.guide(&address).map_or_else(
            || "none".to_owned(),
            |guide| {
                let by = guide.predecessor(&address).map(|by| format!(" by {by}")).unwrap_or_default();
                format!("{}{by}, {} checksums", guide.entry.version, guide.entry.hashes.len())
            },
        );
        assert_eq!(guided, want);
    }

    #[test]
    fn the_predecessors_entry_chooses_the_version_alone() {
        const OLD: &str = "registry.terraform.io/hashicorp/null";
        const NEW: &str = "registry.opentofu.org/hashicorp/null";
        for (locked, address, want) in [
            (&[OLD][..], NEW, "1.0.0 by registry.terraform.io/hashicorp/null, 0 checksums"),
            (&[OLD], "hashicorp/null", "1.0.0 by registry.terraform.io/hashicorp/null, 0 checksums"),
            // Its own entry counts alone, checksums included.
            (&[OLD, NEW], NEW, "2.0.0, 1 checksums"),
            (&[OLD, NEW], OLD, "1.0.0, 1 checksums"),
            // It goes one way only, and for this host, namespace and type only.
            (&[NEW], OLD, "none"),
            (&[OLD], "registry.opentofu.org/hashicorp/random", "none"),
            (&[OLD], "registry.example.com/hashicorp/null", "none"),
            (&["registry.terraform.io/acme/null"], "registry.opentofu.org/acme/null", "none"),
            (&["registry.terraform.io/opentofu/null"], "registry.opentofu.org/opentofu/null", "none"),
            (&["registry.example.com/hashicorp/null"], NEW, "none"),
            (&[], NEW, "none"),
        ] {
            check(locked, address, want);
        }
    }
}
