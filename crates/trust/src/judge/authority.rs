//! Whose signatures count.

use std::collections::BTreeMap;

use tofu_oci_types::ProviderAddr;

use crate::{KeyId, KeyMaterial, OpenPgpKey, Pins, PublicKey, Rule};

/// The keys whose signatures count: those of the rule, or those that the pins remember where it names none.
pub(super) struct Authority {
    pub(super) public: Vec<PublicKey>,
    pub(super) openpgp: Vec<OpenPgpKey>,
    names: BTreeMap<KeyId, String>,
}

impl Authority {
    pub(super) fn new(rule: &Rule, pins: &Pins, address: &ProviderAddr) -> Self {
        let mut authority = Self { public: Vec::new(), openpgp: Vec::new(), names: BTreeMap::new() };
        for key in &rule.keys {
            match &key.material {
                KeyMaterial::Public(public) => authority.add_public(&key.name, public),
                KeyMaterial::OpenPgp(certificates) => {
                    for certificate in certificates {
                        // The same certificate from two files may hold different subkeys: both are asked.
                        authority.openpgp.push(certificate.clone());
                        authority.names.entry(certificate.id()).or_insert_with(|| key.name.clone());
                    }
                }
            }
        }
        if rule.keys.is_empty() {
            for signer in pins.signers(address) {
                match &signer.public_key {
                    Some(public) => authority.add_public(&signer.name, public),
                    None => {
                        authority.names.insert(signer.key.clone(), signer.name.clone());
                    }
                }
            }
        }
        authority
    }

    /// One key under two names is one key.
    fn add_public(&mut self, name: &str, key: &PublicKey) {
        let id = key.id();
        if !self.names.contains_key(&id) {
            self.public.push(key.clone());
            self.names.insert(id, name.to_owned());
        }
    }

    /// What a key is called.
    pub(super) fn name(&self, key: &KeyId) -> Option<&str> {
        self.names.get(key).map(String::as_str)
    }

    /// Whether the key counts. That it is remembered does not make it present: of an `OpenPGP` key of the pins only the
    /// fingerprint is.
    pub(super) fn public_key(&self, id: &KeyId) -> Option<&PublicKey> {
        self.public.iter().find(|key| key.id() == *id)
    }
}
