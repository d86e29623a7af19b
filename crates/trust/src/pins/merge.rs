//! Two programs at once.

use std::cmp::Ordering;

use tofu_oci_types::{Digest, ProviderAddr};

use super::signers::add_signer;
use super::{Admission, Change, Force, Pin, contents};

/// Somebody else has pinned another index for the same version while this program ran.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} {} at {} was pinned to {theirs} meanwhile, and was {} here", ours.address, ours.version, ours.place, ours.index)]
pub struct PinConflict {
    /// What was seen here.
    pub ours: Box<Pin>,
    /// The index that the file names by now.
    pub theirs: Digest,
}

/// What there is one pin of.
pub(super) fn place_of(pin: &Pin) -> (&ProviderAddr, String, &str) {
    (&pin.address, pin.version.to_string(), &pin.place)
}

impl Pin {
    /// Whether both are of one version at one place.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        place_of(self) == place_of(other)
    }
}

pub(super) fn order(one: &Pin, other: &Pin) -> Ordering {
    let versions = || one.version.precedence(&other.version);
    one.address.cmp(&other.address).then_with(versions).then_with(|| place_of(one).cmp(&place_of(other)))
}

pub(super) fn insert(pins: &mut Vec<Pin>, pin: Pin) {
    match pins.binary_search_by(|have| order(have, &pin)) {
        Ok(at) => pins[at] = pin,
        Err(at) => pins.insert(at, pin),
    }
}

pub(super) fn onto(disk: &[Pin], changed: &[Change]) -> Result<Vec<Pin>, PinConflict> {
    let mut pins = disk.to_vec();
    for Change { pin, before, force } in changed {
        let theirs = pins.iter().find(|have| order(have, pin).is_eq());
        let mut pin = pin.clone();
        match theirs {
            Some(theirs) if theirs.index == pin.index => {
                for signer in &theirs.signers {
                    add_signer(&mut pin.signers, signer);
                }
                pin.signers.sort_by(|one, other| one.key.cmp(&other.key));
                contents::add(&mut pin.contents, &theirs.contents);
                if theirs.admission == Admission::ByHand && pin.signers.is_empty() {
                    pin.admission = Admission::ByHand;
                }
            }
            Some(theirs) if *force == Force::No && Some(&theirs.index) != before.as_ref() => {
                return Err(PinConflict { ours: Box::new(pin), theirs: theirs.index.clone() });
            }
            _ => {}
        }
        insert(&mut pins, pin);
    }
    Ok(pins)
}
