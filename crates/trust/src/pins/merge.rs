//! Changes of two programs that write the pin file at once.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use tofu_oci_types::{Digest, Place, ProviderAddr};

use super::contents;
use super::pin::{Admission, Force, Pin, PinChange};
use super::signers::add_signer;

/// Somebody else has pinned another index for the same version while this program ran.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} {} at {} was pinned to {theirs} meanwhile, and was {} here", ours.address, ours.version, ours.place, ours.index)]
pub struct PinConflict {
    pub ours: Box<Pin>,
    pub theirs: Digest,
}

/// What a pin is of: address, version and place.
pub(super) fn place_of(pin: &Pin) -> (&ProviderAddr, String, String) {
    (&pin.address, pin.version.to_string(), pin.place.to_string())
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

/// Pins whose places are as they were written, in order. Those of one place in several spellings become one if they agree.
/// Those that disagree stay as they are, so that no index is right until somebody accepts one.
pub(super) fn gathered(pins: &[Pin]) -> Vec<Pin> {
    let mut gathered: Vec<Pin> = Vec::new();
    let mut releases: BTreeMap<(&ProviderAddr, String, Place), Vec<&Pin>> = BTreeMap::new();
    for pin in pins {
        releases.entry((&pin.address, pin.version.to_string(), pin.same.clone())).or_default().push(pin);
    }
    for ((_, _, place), same) in releases {
        let Some(first) = same.first().filter(|first| same.iter().all(|other| other.index == first.index)) else {
            gathered.extend(same.into_iter().cloned());
            continue;
        };
        let mut one = Pin { place, signers: Vec::new(), ..(*first).clone() };
        for other in same {
            other.signers.iter().for_each(|signer| add_signer(&mut one.signers, signer));
            contents::add(&mut one.contents, &other.contents);
            // What was accepted by hand under one name only is held to the policy.
            if other.admission == Admission::ByPolicy {
                one.admission = Admission::ByPolicy;
            }
        }
        one.signers.sort_by(|one, other| one.key.cmp(&other.key));
        gathered.push(one);
    }
    gathered.sort_by(order);
    gathered
}

/// Whether both are of one version at one place, however the places are written.
fn is_same_release(one: &Pin, other: &Pin) -> bool {
    one.address == other.address && one.version == other.version && one.same == other.same
}

/// Puts a pin in the place of all of its release.
pub(super) fn replace(pins: &mut Vec<Pin>, pin: Pin) {
    pins.retain(|have| !is_same_release(have, &pin));
    insert(pins, pin);
}

fn insert(pins: &mut Vec<Pin>, pin: Pin) {
    match pins.binary_search_by(|have| order(have, &pin)) {
        Ok(at) => pins[at] = pin,
        Err(at) => pins.insert(at, pin),
    }
}

pub(super) fn onto(disk: &[Pin], changed: &[PinChange]) -> Result<Vec<Pin>, PinConflict> {
    let mut pins = disk.to_vec();
    for PinChange { pin: ours, before, force } in changed {
        let mut pin = ours.clone();
        for theirs in pins.iter().filter(|have| is_same_release(have, ours)) {
            if theirs.index == pin.index {
                for signer in &theirs.signers {
                    add_signer(&mut pin.signers, signer);
                }
                pin.signers.sort_by(|one, other| one.key.cmp(&other.key));
                contents::add(&mut pin.contents, &theirs.contents);
                if theirs.admission == Admission::ByHand && pin.signers.is_empty() {
                    pin.admission = Admission::ByHand;
                }
            } else if *force == Force::No && !before.contains(&theirs.index) {
                return Err(PinConflict { theirs: theirs.index.clone(), ours: Box::new(pin) });
            }
        }
        replace(&mut pins, pin);
    }
    Ok(pins)
}
