//! What became of versions that a run was moving when it was interrupted.

use std::collections::BTreeSet;

use tofu_oci_source::Listing;
use tofu_oci_types::{Digest, Moment, Reference, Tag, Version};

use super::{FirstSeen, KeptSightings};
use crate::MirrorError;
use crate::destination::sightings::{Sighted, Sightings, SightingsRecord, VersionMark};

impl<A: Sighted> FirstSeen<A> {
    /// Marks the versions that a run was moving when it was interrupted, if they have arrived or are withdrawn. Gives them.
    pub(crate) async fn mark_interrupted(
        &self,
        record: &SightingsRecord,
        there: &Listing,
        sightings: &mut Sightings,
        now: Moment,
    ) -> Result<BTreeSet<String>, MirrorError> {
        let mut marked = BTreeSet::new();
        let (Some(moving), KeptSightings::Artefact(store)) = (A::moving(record).get(&self.address), &self.kept) else {
            return Ok(marked);
        };
        for text in moving {
            let Ok(version) = text.parse::<Version>() else { continue };
            let is_there = there.versions.contains(&version);
            let tag = match (is_there, there.withdrawn.contains(&version)) {
                (true, _) => Tag::for_version(&version),
                (false, true) => Tag::withdrawn(&version),
                (false, false) => {
                    // It has not come: who brings it later may be somebody else.
                    marked.insert(text.clone());
                    continue;
                }
            };
            let Ok(tag) = tag else { continue };
            let index = match store.manifest(&Reference::Tag(tag)).await {
                Ok((_, bytes)) => Digest::sha256(&bytes),
                // What is missing or damaged is looked at with the version itself.
                Err(error) if error.is_not_found() || error.is_of_content() => continue,
                Err(error) => return Err(error.into()),
            };
            match sightings.mark(&version) {
                Some(VersionMark::Mirrored(known) | VersionMark::Whole(known)) if is_there && *known == index => {}
                _ if is_there => sightings.set_mark(&version, VersionMark::Mirrored(index), now),
                // What people have withdrawn is another one.
                Some(known) if *known.index() == index => {
                    sightings.set_mark(&version, VersionMark::Withdrawn(index), now);
                }
                _ => {}
            }
            marked.insert(text.clone());
        }
        Ok(marked)
    }
}
