//! Rules about the referrers of a release.

use std::collections::{BTreeMap, HashSet};

use futures_util::StreamExt as _;
use serde_json::Value;
use tofu_oci_store::{ReadStore, StoreError, fetch_bytes};
use tofu_oci_types::{Descriptor, Digest, Place, Reference};

use super::catalogue::index::MANIFEST_DIGEST;
use super::catalogue::package::NOT_READ;
use super::catalogue::signatures::{REFERRER_DANGLING, REFERRER_MISSING, REFERRER_OTHER_SUBJECT};
use super::places::Findings;
use crate::facts::{FoundRelease, RepositoryFacts};

/// Most referrers of one index that are opened.
const MOST: usize = 100;

/// Most tags whose subjects are asked for.
const MOST_TAGS: usize = 1000;

/// Most bytes of a referrer's manifest.
const LIMIT: u64 = 4 * 1024 * 1024;

/// The referrers of the indexes, and fallback tags whose subject does not exist.
#[derive(Debug, Default)]
pub struct Referring {
    opened: BTreeMap<Digest, OpenedReferrer>,
    /// Tags whose subjects do not exist.
    dangling: Vec<String>,
    /// Tags whose subjects could not be read.
    unasked: Vec<(String, StoreError)>,
    /// The number of further tags, whose subjects were not asked for.
    left_out: usize,
}

#[derive(Clone, Debug)]
enum OpenedReferrer {
    /// The digest of its subject, if it names one.
    Subject(Option<String>),
    Missing(String),
    /// Its bytes differ from its descriptor.
    Damaged(String),
    /// The store did not answer.
    Unasked(StoreError),
}

impl Referring {
    /// Opens at most 100 referrers of each index, and asks for the subjects of at most 1000 tags `sha256-HEX…`.
    pub async fn read(store: &dyn ReadStore, facts: &RepositoryFacts) -> Self {
        let mut wanted: BTreeMap<Digest, Descriptor> = BTreeMap::new();
        for release in &facts.releases {
            for referrer in release.referrers.iter().flatten().take(MOST) {
                wanted.insert(referrer.digest.clone(), referrer.clone());
            }
        }
        let opened = futures_util::stream::iter(wanted.into_values())
            .map(|referrer| async move { (referrer.digest.clone(), open(store, &referrer).await) })
            .buffered(4);
        let opened = opened.collect::<BTreeMap<_, _>>().await;
        let indexes: HashSet<&Digest> = facts.releases.iter().filter_map(index_digest).collect();
        let tags = facts.tags.iter().filter_map(|tag| Some((tag, subject_of(tag)?)));
        let mut strangers = tags.filter(|(_, subject)| !indexes.contains(subject));
        let asked: Vec<(&String, Digest)> = strangers.by_ref().take(MOST_TAGS).collect();
        let left_out = strangers.count();
        let asked = futures_util::stream::iter(asked)
            .map(|(tag, subject)| async move { (tag, exists(store, &subject).await) })
            .buffered(4);
        let mut referring = Self { opened, left_out, ..Self::default() };
        asked
            .for_each(|(tag, there)| {
                match there {
                    Ok(true) => {}
                    Ok(false) => referring.dangling.push(tag.clone()),
                    Err(error) => referring.unasked.push((tag.clone(), error)),
                }
                std::future::ready(())
            })
            .await;
        referring
    }

    /// Referrers of a release that could not be read.
    pub(crate) fn unasked(&self, release: &FoundRelease) -> impl Iterator<Item = (String, &StoreError)> {
        let listed = release.referrers.iter().flatten().take(MOST);
        listed.filter_map(|referrer| match self.opened.get(&referrer.digest) {
            Some(OpenedReferrer::Unasked(error)) => Some((place(referrer), error)),
            _ => None,
        })
    }

    /// Tags whose subjects could not be read.
    pub(crate) fn unasked_tags(&self) -> impl Iterator<Item = (String, &StoreError)> {
        self.unasked.iter().map(|(tag, error)| (format!("what tag {tag} is about"), error))
    }
}

fn index_digest(release: &FoundRelease) -> Option<&Digest> {
    release.index.found.as_ref().ok().map(|document| &document.digest)
}

/// The digest that a tag of the fallback scheme, or of cosign's older forms, is about.
///
/// Spec: OCI distribution-spec 1.1.1, "Referrers Tag Schema"; cosign, `specs/SIGNATURE_SPEC.md`.
fn subject_of(tag: &str) -> Option<Digest> {
    let bare = [".sig", ".att", ".sbom"].into_iter().find_map(|end| tag.strip_suffix(end)).unwrap_or(tag);
    let (algorithm, hex) = bare.split_once('-')?;
    if !matches!(algorithm, "sha256" | "sha512") {
        return None;
    }
    format!("{algorithm}:{hex}").parse().ok()
}

async fn exists(store: &dyn ReadStore, digest: &Digest) -> Result<bool, StoreError> {
    match store.resolve(&Reference::Digest(digest.clone())).await {
        Ok(_) => Ok(true),
        Err(error) if error.is_not_found() => Ok(false),
        // It exists, whatever is wrong with it.
        Err(error) if error.is_of_content() => Ok(true),
        Err(error) => Err(error),
    }
}

async fn open(store: &dyn ReadStore, referrer: &Descriptor) -> OpenedReferrer {
    match fetch_bytes(store, referrer, LIMIT).await {
        Ok(bytes) => {
            let document: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            OpenedReferrer::Subject(document["subject"]["digest"].as_str().map(str::to_owned))
        }
        Err(error) if error.is_not_found() => OpenedReferrer::Missing(error.to_string()),
        Err(error) if error.is_of_content() => OpenedReferrer::Damaged(error.to_string()),
        Err(error) => OpenedReferrer::Unasked(error),
    }
}

fn place(referrer: &Descriptor) -> String {
    format!("referrer {}", referrer.digest)
}

pub(super) fn check(referring: &Referring, release: &FoundRelease) -> Findings {
    let mut found = Findings::new();
    let Some(index) = index_digest(release) else { return found };
    for referrer in release.referrers.iter().flatten().take(MOST) {
        let place = place(referrer);
        match referring.opened.get(&referrer.digest) {
            Some(OpenedReferrer::Missing(problem)) => found.push(REFERRER_MISSING.at(place, problem.clone())),
            Some(OpenedReferrer::Damaged(problem)) => found.push(MANIFEST_DIGEST.at(place, problem.clone())),
            Some(OpenedReferrer::Subject(None)) => found.push(REFERRER_OTHER_SUBJECT.at(place, "it names no subject")),
            Some(OpenedReferrer::Subject(Some(subject))) if *subject != index.to_string() => {
                found.push(REFERRER_OTHER_SUBJECT.at(place, format!("its subject is `{subject}`, not {index}")));
            }
            Some(OpenedReferrer::Subject(_) | OpenedReferrer::Unasked(_)) | None => {}
        }
    }
    found
}

pub(super) fn dangling(referring: &Referring, place: &Place) -> Findings {
    // The tag names the subject, so equal messages are shown together.
    let said = "the repository does not have the index that the tag is about";
    let mut found: Findings =
        referring.dangling.iter().map(|tag| REFERRER_DANGLING.at(format!("tag {tag}"), said)).collect();
    if referring.left_out > 0 {
        let said =
            format!("{} more tags of referrers and signatures: their indexes were not asked for", referring.left_out);
        found.push(NOT_READ.at(place, said));
    }
    found
}

#[cfg(test)]
mod tests {
    use tofu_oci_store::MemoryStore;

    use super::*;
    use crate::facts::Depth;

    #[test]
    fn many_signatures_of_missing_releases_are_one_text() {
        let tags = ["0a", "0b"].map(|byte| format!("sha256-{}.sig", byte.repeat(32)));
        let place = "registry.example.test/acme/widget".parse().unwrap();
        let found = dangling(&Referring { dangling: tags.to_vec(), ..Referring::default() }, &place);
        let places: Vec<&str> = found.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(places, tags.each_ref().map(|tag| format!("tag {tag}")));
        assert_eq!(found[0].text, found[1].text, "findings that say the same are shown together");
    }

    #[tokio::test]
    async fn a_hundred_thousand_signatures_of_nothing_cost_a_thousand_requests() {
        let place: Place = "registry.example.test/acme/widget".parse().unwrap();
        let tags = (0..100_000).map(|nth| format!("sha256-{nth:064x}.sig")).collect();
        let facts = RepositoryFacts { place: place.clone(), depth: Depth::Manifests, tags, releases: Vec::new() };
        let referring = Referring::read(&MemoryStore::new(place.clone()), &facts).await;
        assert_eq!((referring.dangling.len(), referring.left_out), (MOST_TAGS, 99_000));
        let found = dangling(&referring, &place);
        assert_eq!(found.len(), MOST_TAGS + 1);
        assert!(found.last().unwrap().text.starts_with("99000 more tags"), "{found:?}");
    }
}
