//! Rules about what refers to a release.

use std::collections::BTreeMap;

use futures_util::StreamExt as _;
use serde_json::Value;
use tofu_oci_store::{ReadStore, StoreError, fetch_bytes};
use tofu_oci_types::{Descriptor, Digest, Reference};

use super::catalogue::signatures::{REFERRER_DANGLING, REFERRER_MISSING, REFERRER_OTHER_SUBJECT};
use super::subject::Findings;
use crate::facts::{Facts, Release};

/// Most referrers of one index that are opened.
const MOST: usize = 100;

/// Most bytes of a referrer's manifest.
const LIMIT: u64 = 4 * 1024 * 1024;

/// What the referrers of the indexes say about themselves, and tags of referrers whose subject is not there.
#[derive(Debug, Default)]
pub struct Referring {
    opened: BTreeMap<Digest, Opened>,
    dangling: Vec<(String, Digest)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Opened {
    /// The digest of its subject; none when it names none.
    Subject(Option<String>),
    Missing(String),
}

impl Referring {
    /// Opens at most 100 referrers of each index, and asks for the subject of each tag `sha256-HEX…`.
    pub async fn read(store: &dyn ReadStore, facts: &Facts) -> Self {
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
        let mut dangling = Vec::new();
        for (tag, subject) in facts.tags.iter().filter_map(|tag| Some((tag.clone(), subject_of(tag)?))) {
            let known = facts.releases.iter().any(|release| index_digest(release) == Some(&subject));
            if !known && matches!(exists(store, &subject).await, Ok(false)) {
                dangling.push((tag, subject));
            }
        }
        Self { opened, dangling }
    }
}

fn index_digest(release: &Release) -> Option<&Digest> {
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
        Err(StoreError::NotFound { .. } | StoreError::UnknownRepository { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

async fn open(store: &dyn ReadStore, referrer: &Descriptor) -> Opened {
    match fetch_bytes(store, referrer, LIMIT).await {
        Ok(bytes) => {
            let document: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            Opened::Subject(document["subject"]["digest"].as_str().map(str::to_owned))
        }
        Err(error) => Opened::Missing(error.to_string()),
    }
}

pub(super) fn check(referring: &Referring, release: &Release) -> Findings {
    let mut found = Findings::new();
    let Some(index) = index_digest(release) else { return found };
    for referrer in release.referrers.iter().flatten().take(MOST) {
        let place = format!("referrer {}", referrer.digest);
        match referring.opened.get(&referrer.digest) {
            Some(Opened::Missing(problem)) => found.push(REFERRER_MISSING.at(place, problem.clone())),
            Some(Opened::Subject(None)) => found.push(REFERRER_OTHER_SUBJECT.at(place, "it names no subject")),
            Some(Opened::Subject(Some(subject))) if *subject != index.to_string() => {
                found.push(REFERRER_OTHER_SUBJECT.at(place, format!("its subject is `{subject}`, not {index}")));
            }
            Some(Opened::Subject(_)) | None => {}
        }
    }
    found
}

pub(super) fn dangling(referring: &Referring) -> Findings {
    let said = |subject: &Digest| format!("the repository has no {subject}");
    referring.dangling.iter().map(|(tag, subject)| REFERRER_DANGLING.at(format!("tag {tag}"), said(subject))).collect()
}
