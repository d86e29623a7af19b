//! Whose signatures count.

use std::collections::{BTreeMap, BTreeSet};

use tofu_oci_types::{Predecessors, ProviderAddr};

use crate::{DistinctKeys, KeyId, KeyMaterial, Material, OpenPgpKey, Pins, Policy, PublicKey, TrustRule};

/// The keys whose signatures count: those of the rule, or those that the pins remember if it names none.
pub(super) struct TrustedKeys {
    pub(super) public: Vec<PublicKey>,
    pub(super) openpgp: Vec<OpenPgpKey>,
    names: BTreeMap<KeyId, String>,
    /// The `OpenPGP` keys that speak for no other host and namespace.
    dedicated: BTreeSet<KeyId>,
    /// All of them, distinguished by their material.
    pub(super) distinct: DistinctKeys,
    /// Material that a certificate of the policy revoked for a grave reason, with the reason, in whatever form it signs.
    compromised: BTreeMap<Material, String>,
    /// Which addresses count as one.
    pub(super) predecessors: Predecessors,
}

impl TrustedKeys {
    pub(super) fn new(policy: &Policy, rule: &TrustRule, pins: &Pins, address: Option<&ProviderAddr>) -> Self {
        let (names, dedicated, distinct) = (BTreeMap::new(), BTreeSet::new(), rule.distinct_keys());
        let (compromised, predecessors) = (policy.compromised(), policy.predecessors().clone());
        let (public, openpgp) = (Vec::new(), Vec::new());
        let mut trusted = Self { public, openpgp, names, dedicated, distinct, compromised, predecessors };
        for key in &rule.keys {
            match &key.material {
                KeyMaterial::Public(public) => trusted.add_public(&key.name, public),
                KeyMaterial::OpenPgp(certificates) => {
                    for certificate in certificates {
                        trusted.openpgp.push(certificate.clone());
                        trusted.names.entry(certificate.id()).or_insert_with(|| key.name.clone());
                    }
                }
            }
        }
        trusted.openpgp = OpenPgpKey::merged(trusted.openpgp);
        let Some(address) = address else { return trusted };
        trusted.dedicated = policy.dedicated(trusted.openpgp.iter().map(OpenPgpKey::id), address);
        if rule.keys.is_empty() {
            trusted.distinct = pins.distinct_keys(address);
            for signer in pins.signers(address) {
                match &signer.public_key {
                    Some(public) => trusted.add_public(&signer.name, public),
                    None => {
                        trusted.names.insert(signer.key.clone(), signer.name.clone());
                    }
                }
            }
        }
        trusted
    }

    /// Whether there is no key whose signature would count.
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// One key under two names is one key.
    fn add_public(&mut self, name: &str, key: &PublicKey) {
        let id = key.id();
        if !self.names.contains_key(&id) {
            self.public.push(key.clone());
            self.names.insert(id, name.to_owned());
        }
    }

    /// Whether what an `OpenPGP` key signs can be about no other host and namespace.
    pub(super) fn is_dedicated(&self, key: &KeyId) -> bool {
        self.dedicated.contains(key)
    }

    /// What a key is called.
    pub(super) fn name(&self, key: &KeyId) -> Option<&str> {
        self.names.get(key).map(String::as_str)
    }

    /// What is known of the material of a key.
    pub(super) fn materials(&self, id: &KeyId) -> BTreeSet<Material> {
        let certificate = self.openpgp.iter().find(|certificate| certificate.id() == *id);
        certificate.map(OpenPgpKey::materials).unwrap_or_default()
    }

    /// Why what a key has signed does not count although its own form is not revoked; `signed_by` is the fingerprint of the
    /// key of an `OpenPGP` certificate that made the signature, or `None` if that is not known.
    pub(super) fn compromised(&self, id: &KeyId, signed_by: Option<&str>) -> Option<&str> {
        let certificate = || self.openpgp.iter().find(|certificate| certificate.id() == *id);
        let materials: BTreeSet<Material> = match (self.public_key(id), signed_by) {
            (Some(public), _) => BTreeSet::from([public.numbers()]),
            (None, Some(fingerprint)) => {
                certificate().and_then(|key| key.material_of(fingerprint)).into_iter().collect()
            }
            (None, None) => self.materials(id),
        };
        materials.iter().find_map(|material| self.compromised.get(material)).map(String::as_str)
    }

    /// The key of this id, if it is present: of an `OpenPGP` key of the pins only the fingerprint is.
    pub(super) fn public_key(&self, id: &KeyId) -> Option<&PublicKey> {
        self.public.iter().find(|key| key.id() == *id)
    }
}
