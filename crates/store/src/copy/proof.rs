//! The proof that the destination lists what refers to the copied manifests.

use std::collections::{BTreeMap, HashSet};

use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_types::{Descriptor, Digest};

use super::graph::Graph;
use crate::body::StoredBody;
use crate::copy_error::CopyError;
use crate::error::StoreError;
use crate::traits::{ReadStore, Store};

/// How often the destination is asked to list what is missing.
const ROUNDS: usize = 3;

/// The referrers that were copied, by subject.
#[derive(Default)]
pub(super) struct ReferrerProof {
    referrers: BTreeMap<Digest, Vec<Descriptor>>,
}

impl ReferrerProof {
    /// Remembers the referrers among these manifests.
    pub(super) fn extend(&mut self, graph: &Graph) {
        for (subject, referrer) in graph.referrers() {
            self.referrers.entry(subject.clone()).or_default().push(referrer.clone());
        }
    }

    /// Demands that the destination lists every referrer of the manifests that were copied. What is missing is pushed
    /// again: another program may have replaced the list.
    ///
    /// # Errors
    /// [`StoreError::NotListed`] with what is missing in the end.
    pub(super) async fn demand(
        &self,
        from: &dyn ReadStore,
        to: &dyn Store,
        copied: &HashSet<Digest>,
        jobs: usize,
    ) -> Result<(), CopyError> {
        let mut open: Vec<(&Digest, Vec<&Descriptor>)> = self
            .referrers
            .iter()
            .filter(|(subject, _)| copied.contains(subject))
            .map(|(subject, referrers)| (subject, referrers.iter().collect()))
            .collect();
        for round in 1.. {
            to.settle().await.map_err(CopyError::destination)?;
            open = missing(to, open, jobs).await.map_err(CopyError::destination)?;
            let Some((subject, referrers)) = open.first() else { break };
            if round == ROUNDS {
                let missing = referrers.iter().map(|referrer| referrer.digest.clone()).collect();
                let (place, subject) = (to.place(), (*subject).clone());
                return Err(CopyError::destination(StoreError::NotListed { place, subject, missing }));
            }
            for referrer in open.iter().flat_map(|(_, referrers)| referrers) {
                to.push(referrer, &StoredBody(from, referrer)).await.map_err(CopyError::destination)?;
            }
        }
        Ok(())
    }
}

/// What a store does not list of these referrers.
async fn missing<'a>(
    store: &dyn Store,
    open: Vec<(&'a Digest, Vec<&'a Descriptor>)>,
    jobs: usize,
) -> Result<Vec<(&'a Digest, Vec<&'a Descriptor>)>, StoreError> {
    let looks: Vec<_> = open.into_iter().map(|(subject, referrers)| look(store, subject, referrers)).collect();
    let mut found: Vec<_> = futures_util::stream::iter(looks).buffered(jobs).try_collect().await?;
    found.retain(|(_, missing)| !missing.is_empty());
    Ok(found)
}

async fn look<'a>(
    store: &dyn Store,
    subject: &'a Digest,
    mut referrers: Vec<&'a Descriptor>,
) -> Result<(&'a Digest, Vec<&'a Descriptor>), StoreError> {
    let listed: HashSet<Digest> = store.referrers(subject).await?.into_iter().map(|found| found.digest).collect();
    referrers.retain(|referrer| !listed.contains(&referrer.digest));
    Ok((subject, referrers))
}
