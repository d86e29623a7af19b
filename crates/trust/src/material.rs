//! Key material: what makes two key files hold one key, whatever their form.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tofu_oci_types::Digest;

use crate::KeyId;

/// The numbers of one public key: the same for a PEM file, an `OpenPGP` primary key and an `OpenPGP` subkey.
///
/// It is the SHA-256 of the algorithm's name and of the numbers. Of RSA it is the modulus alone: whoever can sign with one
/// exponent can sign with every exponent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Material(Digest);

impl Material {
    /// The material of an RSA key with this modulus.
    pub(crate) fn rsa(modulus: &[u8]) -> Self {
        let zeros = modulus.iter().take_while(|byte| **byte == 0).count();
        Self::of("rsa", modulus.get(zeros..).unwrap_or_default())
    }

    /// The material of a key of another algorithm.
    pub(crate) fn of(algorithm: &str, numbers: &[u8]) -> Self {
        Self(Digest::sha256(&[algorithm.as_bytes(), &[0], numbers].concat()))
    }

    /// The material of every key with unknown numbers, so that all of them count as one key.
    fn unknown() -> Self {
        Self::of("unknown", &[])
    }
}

/// Keys with the same material, distinguished from keys with other material. Every count of keys is made here.
///
/// Two keys are one key if they share material: a certificate shares that of its primary key and of its subkeys that can
/// sign. Two keys that share nothing are one key, too, if each of them shares material with a third one.
#[derive(Clone, Debug, Default)]
pub(crate) struct DistinctKeys {
    counted: BTreeMap<KeyId, KeyId>,
}

impl DistinctKeys {
    /// Of keys with their material. Keys without any count as one key: nothing shows that they are several.
    pub(crate) fn new(keys: impl IntoIterator<Item = (KeyId, BTreeSet<Material>)>) -> Self {
        let mut materials: BTreeMap<KeyId, BTreeSet<Material>> = BTreeMap::new();
        for (key, material) in keys {
            materials.entry(key).or_default().extend(material);
        }
        let mut groups: Vec<(KeyId, BTreeSet<KeyId>, BTreeSet<Material>)> = Vec::new();
        for (key, mut material) in materials {
            if material.is_empty() {
                material.insert(Material::unknown());
            }
            let (same, other): (Vec<_>, Vec<_>) =
                groups.into_iter().partition(|(_, _, known)| !known.is_disjoint(&material));
            let mut group = (key.clone(), BTreeSet::from([key]), material);
            for (first, keys, material) in same {
                group.0 = group.0.min(first);
                group.1.extend(keys);
                group.2.extend(material);
            }
            groups = other;
            groups.push(group);
        }
        let counted =
            groups.into_iter().flat_map(|(first, keys, _)| keys.into_iter().map(move |key| (key, first.clone())));
        Self { counted: counted.collect() }
    }

    /// The key that a key counts as: one of those with the same material, always the same one.
    pub(crate) fn counted<'a>(&'a self, key: &'a KeyId) -> &'a KeyId {
        self.counted.get(key).unwrap_or(key)
    }

    /// The same of one of the keys; `None` for any other.
    pub(crate) fn known(&self, key: &KeyId) -> Option<&KeyId> {
        self.counted.get(key)
    }

    /// Whether two keys are one.
    pub(crate) fn same(&self, one: &KeyId, other: &KeyId) -> bool {
        self.counted(one) == self.counted(other)
    }

    /// How many keys there are.
    pub(crate) fn count(&self) -> usize {
        self.counted.values().collect::<BTreeSet<_>>().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u8) -> KeyId {
        KeyId::of_openpgp(&[number; 20])
    }

    /// How many keys there are, of keys with these materials.
    #[track_caller]
    fn check(keys: &[(u8, &[&str])], want: usize) {
        let keys = keys.iter().map(|(number, materials)| {
            (id(*number), materials.iter().map(|name| Material::of(name, &[])).collect::<BTreeSet<_>>())
        });
        let keys: Vec<_> = keys.collect();
        assert_eq!(DistinctKeys::new(keys.clone()).count(), want, "{keys:?}");
        assert_eq!(DistinctKeys::new(keys.iter().rev().cloned()).count(), want, "{keys:?}");
    }

    #[test]
    fn keys_that_share_material_are_one() {
        check(&[], 0);
        check(&[(1, &["a"]), (2, &["b"])], 2);
        check(&[(1, &["a"]), (2, &["a"])], 1);
        check(&[(1, &["a"]), (1, &["a"])], 1);
        check(&[(1, &["a", "b"]), (2, &["b", "c"]), (3, &["d"])], 2);
        check(&[(1, &["a"]), (3, &["b"]), (2, &["a", "b"])], 1);
        check(&[(1, &[]), (2, &[]), (3, &["a"])], 2);
    }

    #[test]
    fn an_rsa_modulus_is_the_same_with_and_without_a_leading_zero() {
        assert_eq!(Material::rsa(&[0, 1, 2]), Material::rsa(&[1, 2]));
        assert_ne!(Material::rsa(&[1, 2]), Material::of("p256", &[1, 2]));
    }
}
