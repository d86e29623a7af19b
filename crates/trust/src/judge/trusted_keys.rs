//! Whose signatures count.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tofu_oci_types::{Predecessors, ProviderAddr};

use crate::keyless::{OtherMember, Proven, TrustedRoot};
use crate::verdict::Sought;
use crate::{
    DistinctKeys, Flaw, HostNumbers, Identity, KeyId, KeyMaterial, Material, OpenPgpKey, Pins, Policy, PublicKey,
    TrustRule, TrustedIdentity,
};

/// The keys whose signatures count: those of the rule, or those that the pins remember if it names none.
pub(super) struct TrustedKeys {
    pub(super) public: Vec<PublicKey>,
    pub(super) openpgp: Vec<OpenPgpKey>,
    /// Whose certificates count.
    identities: Vec<TrustedIdentity>,
    names: BTreeMap<KeyId, String>,
    /// The identities that speak for no other provider.
    exact: BTreeSet<KeyId>,
    /// The `OpenPGP` keys and identities that speak for no other host and namespace.
    dedicated: BTreeSet<KeyId>,
    /// All of them, distinguished by their material.
    pub(super) distinct: DistinctKeys,
    /// Material that a certificate of the policy revoked for a grave reason, with the reason, in whatever form it signs.
    compromised: BTreeMap<Material, String>,
    /// The numbers of the repositories that identities signed this provider for before, and of their owners; and who vouched for
    /// them.
    remembered: Vec<(Option<String>, HostNumbers)>,
    /// Which addresses count as one.
    pub(super) predecessors: Predecessors,
}

impl TrustedKeys {
    pub(super) fn new(policy: &Policy, rule: &TrustRule, pins: &Pins, address: Option<&ProviderAddr>) -> Self {
        let (names, dedicated, distinct) = (BTreeMap::new(), BTreeSet::new(), rule.distinct_keys());
        let (compromised, predecessors) = (policy.compromised(), policy.predecessors().clone());
        let (public, openpgp, identities, exact) = (Vec::new(), Vec::new(), Vec::new(), BTreeSet::new());
        let remembered = Vec::new();
        let mut trusted = Self {
            public,
            openpgp,
            identities,
            names,
            exact,
            dedicated,
            distinct,
            compromised,
            remembered,
            predecessors,
        };
        for key in &rule.keys {
            match &key.material {
                KeyMaterial::Public(public) => trusted.add_public(&key.name, public),
                KeyMaterial::Identity(identity) => trusted.add_identity(&key.name, identity),
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
        // Whoever signed: the members of an identity may change, and the repository is the same.
        for signer in pins.signers(address).filter(|signer| !signer.numbers.is_empty()) {
            let vouched_by = signer.identity.as_ref().and_then(Identity::vouched_by).map(str::to_owned);
            trusted.remembered.push((vouched_by, signer.numbers.clone()));
        }
        let identities = || trusted.identities.iter().map(|trusted| trusted.identity.id());
        let dedicated = trusted.openpgp.iter().map(OpenPgpKey::id).chain(identities());
        (trusted.dedicated, trusted.exact) =
            (policy.dedicated(dedicated, address), policy.exact(identities(), address));
        if rule.keys.is_empty() {
            trusted.distinct = pins.distinct_keys(address);
            for signer in pins.signers(address) {
                match (&signer.public_key, &signer.identity) {
                    (Some(public), _) => trusted.add_public(&signer.name, public),
                    (None, Some(identity)) => {
                        trusted.add_identity(&signer.name, &TrustedIdentity { identity: identity.clone(), root: None });
                        let said = pins.said_alone(address, &signer.key);
                        if said.iter().any(|statement| statement.zips.is_none()) {
                            trusted.exact.insert(signer.key.clone());
                        }
                        if !said.is_empty() {
                            trusted.dedicated.insert(signer.key.clone());
                        }
                    }
                    (None, None) => {
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

    /// Whose signatures count.
    pub(super) fn sought(&self) -> Sought {
        let alone = !self.is_empty() && self.names.len() == self.identities.len();
        if alone { Sought::Identities } else { Sought::Keys }
    }

    /// One key under two names is one key.
    fn add_public(&mut self, name: &str, key: &PublicKey) {
        let id = key.id();
        if !self.names.contains_key(&id) {
            self.public.push(key.clone());
            self.names.insert(id, name.to_owned());
        }
    }

    fn add_identity(&mut self, name: &str, trusted: &TrustedIdentity) {
        let id = trusted.identity.id();
        if !self.names.contains_key(&id) {
            self.identities.push(trusted.clone());
            self.names.insert(id, name.to_owned());
        }
    }

    /// The roots that its identities name.
    pub(super) fn roots(&self) -> Vec<Arc<TrustedRoot>> {
        let mut roots: Vec<Arc<TrustedRoot>> = Vec::new();
        for root in self.identities.iter().filter_map(|trusted| trusted.root.as_ref()) {
            if !roots.iter().any(|have| have.name == root.name) {
                roots.push(Arc::clone(root));
            }
        }
        roots
    }

    /// Which identity made a signature, with the version that its ref names.
    pub(super) fn identity_of(&self, proven: &Proven, wanted: Option<&str>) -> Result<(KeyId, Option<String>), Flaw> {
        let mut admitted: Vec<(KeyId, Option<String>)> = Vec::new();
        let mut nearest: Option<(&TrustedIdentity, OtherMember)> = None;
        for trusted in &self.identities {
            match trusted.admits(proven) {
                Ok(version) => admitted.push((trusted.identity.id(), version)),
                Err(other) => nearest = nearest.or(other.map(|other| (trusted, other))),
            }
        }
        // Of several identities, one that names the right version, else one that names none.
        let rank = |(_, version): &(KeyId, Option<String>)| match version {
            Some(_) if version.as_deref() == wanted => 0,
            None => 1,
            Some(_) => 2,
        };
        let found = admitted.into_iter().min_by_key(rank);
        found.ok_or_else(|| match nearest {
            Some((trusted, OtherMember { member, found })) => {
                let name = self.name(&trusted.identity.id()).unwrap_or_default().to_owned();
                Flaw::OtherIdentity { name, member, found }
            }
            None => Flaw::Keyless { identity: Box::new(proven.identity.clone()) },
        })
    }

    /// Whether the name of the repository or of its owner was given to another one since an identity signed this provider. An
    /// identity that says the number itself has decided that.
    ///
    /// A certificate without a number is not shown to be of the same repository if its issuer gave numbers before: GitHub and
    /// GitLab give them always. An issuer of one's own may give none, and a number that another one gave says nothing of it.
    pub(super) fn given_away(&self, key: &KeyId, proven: &Proven) -> Option<Flaw> {
        let identity = self.identity(key).filter(|identity| identity.repository_id.is_none())?;
        proven.identity.numbered().find_map(|(of, name, found)| {
            let counts =
                |vouched_by: &Option<String>| found.is_some() || vouched_by.as_deref() == identity.vouched_by();
            let remembered = self.remembered.iter().filter(|(vouched_by, _)| counts(vouched_by));
            let known: BTreeSet<&str> = remembered.filter_map(|(_, numbers)| numbers.get(of, &name)).collect();
            if known.is_empty() || found.is_some_and(|found| known.contains(found)) {
                return None;
            }
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            Some(Flaw::OtherNumber { of, name, known, found: found.map(str::to_owned) })
        })
    }

    /// The identity of this id.
    pub(super) fn identity(&self, id: &KeyId) -> Option<&Identity> {
        self.identities.iter().map(|trusted| &trusted.identity).find(|identity| identity.id() == *id)
    }

    /// Whether an identity speaks for no other provider.
    pub(super) fn is_exact(&self, key: &KeyId) -> bool {
        self.exact.contains(key)
    }

    /// Whether what an `OpenPGP` key signs can be about no other host and namespace.
    pub(super) fn is_dedicated(&self, key: &KeyId) -> bool {
        self.dedicated.contains(key)
    }

    /// All of them, with what each is called.
    pub(super) fn names(&self) -> impl Iterator<Item = (&KeyId, &str)> {
        self.names.iter().map(|(key, name)| (key, name.as_str()))
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
