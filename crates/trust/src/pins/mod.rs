//! What was trusted before: `.tofu-oci.pins.json`, beside the lock file.
//!
//! Every released `init` drops the `ch:` lines of a lock file, and a registry can lose a signature. This file says which
//! index each version was and who had signed it, so that neither makes a signed provider an unsigned one.

mod contents;
mod merge;
mod pin;
mod signers;
#[cfg(test)]
mod tests;
mod text;

use tofu_oci_types::{Place, ProviderAddr, Version};

pub use contents::Contents;
pub use merge::PinConflict;
pub use pin::{Admission, Pin};
use pin::{Force, PinChange};
pub use signers::{PinnedSigner, ProviderSigner, SignedProvider};
pub use text::PinsError;

use crate::{DistinctKeys, Flaw, KeyId, Missing, ReleaseFacts, SignedStatement, Standing, TrustRefusal, Verdict};

/// The name of the pin file, which lies beside the lock file.
pub const PIN_FILE_NAME: &str = ".tofu-oci.pins.json";

/// What was trusted before. A value knows which of its pins it has changed, for [`Pins::onto`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    /// Sorted by address, version and place.
    releases: Vec<Pin>,
    /// Who was signed, sorted by address. It only grows.
    signed: Vec<SignedProvider>,
    /// What was added to it.
    learned: Vec<SignedProvider>,
    /// What each changed pin held before: the index, several if the pins of the place disagreed, or nothing.
    changed: Vec<PinChange>,
}

impl Pins {
    /// Reads the text of a pin file.
    ///
    /// # Errors
    /// Whatever is not exactly what [`Pins::to_text`] writes: misread pins protect no one.
    pub fn parse(text: &str) -> Result<Self, PinsError> {
        Self::parse_with(text, Place::clone)
    }

    /// The same; `resolve` gives a written place the spelling that [`ReleaseFacts::place`] has for it: the path of an
    /// `oci:` directory can be written in several ways that only the file system knows to be one.
    ///
    /// # Errors
    /// Those of [`Pins::parse`].
    pub fn parse_with(text: &str, resolve: impl Fn(&Place) -> Place) -> Result<Self, PinsError> {
        let (releases, signed) = text::parse(text, &resolve)?;
        Ok(Self { releases, signed, learned: Vec::new(), changed: Vec::new() })
    }

    /// The text of the pin file: sorted, the same for the same pins, with a line break at its end.
    pub fn to_text(&self) -> String {
        text::render(&self.releases, &self.signed)
    }

    /// The pin of a version at a place, in whatever spelling; the first one if an earlier program wrote several that
    /// disagree.
    pub fn get(&self, address: &ProviderAddr, version: &Version, place: &Place) -> Option<&Pin> {
        self.at(address, version, place).next()
    }

    /// Every pin of a version at a place, in whatever spelling: several if an earlier program took the spellings for several
    /// places, and they disagree about the index.
    pub(crate) fn at(&self, address: &ProviderAddr, version: &Version, place: &Place) -> impl Iterator<Item = &Pin> {
        let is_version = move |pin: &&Pin| pin.address == *address && pin.version == *version;
        self.releases.iter().filter(is_version).filter(move |pin| pin.same == *place)
    }

    /// The one pin of the release at its place, if it has its index and no other pin disagrees.
    pub fn agreed(&self, facts: &ReleaseFacts<'_>) -> Option<&Pin> {
        let (address, version) = facts.provider()?;
        let mut pins = self.at(address, version, facts.place);
        let pin = pins.next().filter(|_| pins.next().is_none())?;
        facts.is_index(&pin.index).then_some(pin)
    }

    /// All pins: by address, by version from the oldest, by place.
    pub fn iter(&self) -> impl Iterator<Item = &Pin> {
        self.releases.iter()
    }

    /// Whether nothing is pinned.
    pub fn is_empty(&self) -> bool {
        self.releases.is_empty() && self.signed.is_empty()
    }

    /// Whether something was remembered that [`Pins::onto`] has to write.
    pub fn is_changed(&self) -> bool {
        !self.changed.is_empty() || !self.learned.is_empty()
    }

    /// What is known of a provider that was signed, at any place and in any version.
    pub fn signed(&self, address: &ProviderAddr) -> Option<&SignedProvider> {
        self.signed.iter().find(|signed| signed.address == *address)
    }

    /// Everybody who has signed a version of this provider, each key once.
    pub fn signers(&self, address: &ProviderAddr) -> impl Iterator<Item = &ProviderSigner> {
        self.signed(address).into_iter().flat_map(|signed| &signed.signers)
    }

    /// The keys that have signed a version of this provider, distinguished by their material.
    pub(crate) fn distinct_keys(&self, address: &ProviderAddr) -> DistinctKeys {
        DistinctKeys::new(self.signers(address).map(ProviderSigner::key_with_materials))
    }

    /// What an identity said of this provider by a rule that gave the address; nothing if it has signed another provider's
    /// releases, too. A list of archives shows that the rule was for the namespace alone, not for this one provider.
    pub(crate) fn said_alone(&self, address: &ProviderAddr, key: &KeyId) -> Vec<&SignedStatement> {
        let elsewhere = self.signed.iter().filter(|signed| signed.address != *address);
        let pinned = self.releases.iter().filter(|pin| pin.address == *address).flat_map(|pin| &pin.signers);
        let said = pinned.filter(|signer| signer.key == *key).flat_map(|signer| &signer.statements);
        if elsewhere.flat_map(|signed| &signed.signers).any(|signer| signer.key == *key) {
            return Vec::new();
        }
        said.filter(|statement| matches!(statement.missing, None | Some(Missing::Version))).collect()
    }

    /// The pins of this very index under this address and version, wherever it was.
    pub fn same_index(&self, facts: &ReleaseFacts<'_>) -> impl Iterator<Item = &Pin> {
        let is_same = |pin: &&Pin| facts.provider() == Some((&pin.address, &pin.version)) && facts.is_index(&pin.index);
        self.releases.iter().filter(is_same)
    }

    /// Remembers a release that was accepted. A refused one is not remembered: that takes [`Pins::accept`].
    ///
    /// Who had signed this very index stays remembered, whatever the verdict found this time.
    pub fn remember(&mut self, facts: &ReleaseFacts<'_>, verdict: &Verdict) {
        if verdict.refusal.is_none() {
            let admission = match self.agreed(facts) {
                Some(pin) if verdict.standing == Standing::Unsigned => pin.admission,
                _ => Admission::ByPolicy,
            };
            self.put(facts, verdict, admission, Force::No);
        }
    }

    /// Remembers a release that a person accepts: this one index of this one version at this one place.
    ///
    /// That settles that the tag has moved and that no signature by a key of the user's is there, and nothing else. What
    /// `trust.toml` demands still holds, and so does what is known of the provider: its other versions are to be signed.
    ///
    /// # Errors
    /// The refusal that accepting by hand cannot settle; then nothing is remembered.
    pub fn accept(&mut self, facts: &ReleaseFacts<'_>, verdict: &Verdict) -> Result<(), TrustRefusal> {
        let admission = match verdict.standing {
            Standing::Signed | Standing::Pinned => Admission::ByPolicy,
            Standing::Unsigned => Admission::ByHand,
        };
        let besides = verdict.otherwise.as_ref().filter(|_| verdict.standing == Standing::Unsigned);
        if let Some(refusal) = verdict.refusal.iter().chain(besides).find(|refusal| !settled(refusal)) {
            return Err(refusal.clone());
        }
        self.put(facts, verdict, admission, Force::ByHand);
        Ok(())
    }

    fn put(&mut self, facts: &ReleaseFacts<'_>, verdict: &Verdict, admission: Admission, force: Force) {
        let Some((address, version)) = facts.provider() else { return };
        let signed = match verdict.standing {
            Standing::Signed => verdict.signers.as_slice(),
            Standing::Pinned | Standing::Unsigned => &[],
        };
        let signed: Vec<PinnedSigner> =
            signed.iter().filter_map(|signer| PinnedSigner::of(signer, facts, verdict)).collect();
        let mut signers = signed.clone();
        for pinned in self.same_index(facts).flat_map(|pin| &pin.signers) {
            signers::add_signer(&mut signers, pinned);
        }
        signers.sort_by(|one, other| one.key.cmp(&other.key));
        if !signed.is_empty() {
            let learned = SignedProvider::of(address, verdict, &signed);
            if signers::add_provider(&mut self.signed, &learned) {
                self.learned.push(learned);
            }
        }
        let Some(index) = facts.identity.digest() else { return };
        let mut known = Contents::new();
        for pin in self.same_index(facts) {
            contents::add(&mut known, &pin.contents);
        }
        let pin = Pin {
            address: address.clone(),
            version: version.clone(),
            place: facts.place.canonical(),
            same: facts.place.canonical(),
            index: index.clone(),
            // The index says it, so it is the same wherever this index was.
            published_as: self.same_index(facts).find_map(|pin| pin.published_as.clone()),
            signers,
            admission,
            contents: known,
        };
        self.change(pin, force);
    }

    /// Puts a pin in the place of the one before, and keeps in mind that it was changed.
    fn change(&mut self, pin: Pin, force: Force) {
        let before: Vec<&Pin> = self.at(&pin.address, &pin.version, &pin.place).collect();
        if before == [&pin] {
            return;
        }
        let before = before.into_iter().map(|pin| pin.index.clone()).collect();
        let first = self.changed.iter().position(|change| change.pin.is_of(&pin));
        let before = match first {
            Some(first) => self.changed.remove(first).before,
            None => before,
        };
        merge::replace(&mut self.releases, pin.clone());
        self.changed.push(PinChange { pin, before, force });
    }

    /// Remembers contents of a release that is pinned as this very index: a signature covered them, or the package was
    /// fetched and its checksum computed. Another release's are not remembered.
    pub fn remember_contents(&mut self, facts: &ReleaseFacts<'_>, contents: &Contents) {
        let Some(mut pin) = self.agreed(facts).cloned() else { return };
        contents::add(&mut pin.contents, contents);
        let force = self.changed.iter().find(|change| change.pin.is_of(&pin)).map_or(Force::No, |change| change.force);
        self.change(pin, force);
    }

    /// Remembers that a release that is pinned as this very index says that it is of another provider.
    pub fn remember_published_as(&mut self, facts: &ReleaseFacts<'_>, published_as: &ProviderAddr) {
        let Some(pin) = self.agreed(facts).cloned() else { return };
        let pin = Pin { published_as: Some(published_as.clone()), ..pin };
        let force = self.changed.iter().find(|change| change.pin.is_of(&pin)).map_or(Force::No, |change| change.force);
        self.change(pin, force);
    }

    /// The contents that are known of this very index, as far as the verdict on it covers them.
    pub fn contents(&self, facts: &ReleaseFacts<'_>, verdict: &Verdict) -> Contents {
        // An `h1:` that the index names counts only if the index is covered. If archives alone are, the pin does not say
        // which of its contents were computed from them.
        let counts = |pin: &&Pin| verdict.covered.index || !pin.signers.iter().any(PinnedSigner::signed_the_index);
        let mut contents = Contents::new();
        for pin in self.same_index(facts).filter(counts) {
            contents::add(&mut contents, &pin.contents);
        }
        contents
    }

    /// What this value has changed, on top of what the file holds by now.
    ///
    /// # Errors
    /// If another program has pinned another index for the same version meanwhile.
    pub fn onto(&self, disk: &Self) -> Result<Self, PinConflict> {
        let releases = merge::onto(&disk.releases, &self.changed)?;
        let mut signed = disk.signed.clone();
        for learned in &self.learned {
            signers::add_provider(&mut signed, learned);
        }
        Ok(Self { releases, signed, learned: Vec::new(), changed: Vec::new() })
    }
}

/// Whether a person can accept a release by hand that is refused for this: it moved, or no signer has signed it whose
/// signature would count. Whatever else is wrong with signatures is for their signers or for `trust.toml`.
fn settled(refusal: &TrustRefusal) -> bool {
    match refusal {
        TrustRefusal::MovedTag { .. } | TrustRefusal::Unsigned | TrustRefusal::WasSigned { .. } => true,
        TrustRefusal::Signature { flaw, .. } => {
            matches!(
                flaw,
                Flaw::UnknownKey { .. }
                    | Flaw::TravellingKey { .. }
                    | Flaw::Keyless { .. }
                    | Flaw::OtherIdentity { .. }
                    | Flaw::NotProven { .. }
            )
        }
        TrustRefusal::Withdrawn { .. } | TrustRefusal::PredicateType { .. } | TrustRefusal::Threshold { .. } => false,
    }
}
