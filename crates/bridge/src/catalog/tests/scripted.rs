//! A place that answers by a script, and counts what it is asked.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tofu_oci_fetch::RenamedReleases;
use tofu_oci_source::{
    ClaimedHashes, Failure, Listing, Locator, NotOffered, Offer, Package, Part, PartStream, Release, ReleaseDate,
    ReleaseDescription, ReleaseId, Search, Source, SourceError, ZipNames,
};
use tofu_oci_trust::{Evidence, Notice, NoticeWriter};
use tofu_oci_types::{Digest, Event, Identity, PackageHash, Place, Platform, ProviderAddr, Reporter, Version};

use crate::{OfferedBy, OpenSource, ServedPlace};

/// What becomes of a question.
#[derive(Clone, Debug)]
pub(super) enum Script {
    Answers,
    AnswersAfter(Duration),
    Fails(Box<SourceError>),
    Hangs,
    Panics,
}

/// A place of releases.
pub(super) struct Scripted {
    place: Place,
    pub(super) script: Mutex<Script>,
    pub(super) listing: Mutex<Listing>,
    /// The releases, by the content that decides about their identity.
    pub(super) contents: Mutex<HashMap<Version, &'static str>>,
    pub(super) notice: Mutex<Option<Notice>>,
    /// How many platforms a release names.
    pub(super) platforms: Mutex<usize>,
    /// How many questions that hung were dropped.
    ended: AtomicUsize,
    /// Of the index, of a release, of its packages.
    lists: AtomicUsize,
    releases: AtomicUsize,
    offers: AtomicUsize,
}

impl Scripted {
    /// A repository with some versions.
    pub(super) fn new(place: &str, versions: &[&str]) -> Arc<Self> {
        let versions: Vec<Version> = versions.iter().map(|text| text.parse().unwrap()).collect();
        let contents = versions.iter().map(|version| (version.clone(), "first")).collect();
        Arc::new(Self {
            place: place.parse().unwrap(),
            script: Mutex::new(Script::Answers),
            listing: Mutex::new(Listing { versions, ..Listing::default() }),
            contents: Mutex::new(contents),
            notice: Mutex::default(),
            platforms: Mutex::new(1),
            ended: AtomicUsize::new(0),
            lists: AtomicUsize::new(0),
            releases: AtomicUsize::new(0),
            offers: AtomicUsize::new(0),
        })
    }

    pub(super) fn served(self: &Arc<Self>, include: &str) -> ServedPlace {
        let source = Arc::clone(self);
        let open: OpenSource = Arc::new(move |_| Ok(Arc::new(Opening(Arc::clone(&source)))));
        ServedPlace {
            include: vec![include.parse().unwrap()],
            exclude: Vec::new(),
            offered: OfferedBy::Place(open),
            list: None,
            renamed: RenamedReleases::Refuse,
        }
    }

    pub(super) fn does(&self, script: Script) {
        *self.script.lock().unwrap() = script;
    }

    /// How often versions, releases and packages were asked for.
    pub(super) fn asked(&self) -> (usize, usize, usize) {
        let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        (count(&self.lists), count(&self.releases), count(&self.offers))
    }

    /// How many questions ended that hung.
    pub(super) fn ended(&self) -> usize {
        self.ended.load(Ordering::Relaxed)
    }

    async fn act(&self, counter: &AtomicUsize) -> Result<(), SourceError> {
        counter.fetch_add(1, Ordering::Relaxed);
        let script = self.script.lock().unwrap().clone();
        match script {
            Script::Answers => Ok(()),
            Script::AnswersAfter(time) => {
                tokio::time::sleep(time).await;
                Ok(())
            }
            Script::Fails(error) => Err(*error),
            Script::Hangs => {
                let _ended = CountedDrop(&self.ended);
                std::future::pending().await
            }
            Script::Panics => panic!("the script says so"),
        }
    }
}

/// Counts when it is dropped.
struct CountedDrop<'a>(&'a AtomicUsize);

impl Drop for CountedDrop<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

pub(super) struct Opening(pub(super) Arc<Scripted>);

#[async_trait]
impl Source for Opening {
    fn place(&self) -> &Place {
        &self.0.place
    }

    async fn versions(&self, _: &ProviderAddr) -> Result<Listing, SourceError> {
        self.0.act(&self.0.lists).await?;
        Ok(self.0.listing.lock().unwrap().clone())
    }

    async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Arc<dyn Release>, SourceError> {
        self.0.act(&self.0.releases).await?;
        let (address, version, place) = (address.clone(), version.clone(), self.0.place.clone());
        let content = self.0.contents.lock().unwrap().get(&version).copied();
        let Some(content) = content else {
            let listing = self.0.listing.lock().unwrap();
            let offered = listing.versions.clone();
            let what = if listing.withdrawn.contains(&version) {
                let reason = Some("it eats data".parse().unwrap());
                let writer = Some(NoticeWriter::Publisher);
                NotOffered::Withdrawn { version, reason, writer, replaced_by: None, offered }
            } else {
                NotOffered::VersionMissing { version, offered }
            };
            return Err(SourceError::NotOffered { address, place, what });
        };
        let identity = Identity::Index { sha256: Digest::sha256(content.as_bytes()), sha512: None };
        let platform: Platform = "linux_amd64".parse().unwrap();
        let h1 = PackageHash::h1(&[7; 32]);
        let more = (1..*self.0.platforms.lock().unwrap()).map(|number| format!("linux_a{number}").parse().unwrap());
        let description = ReleaseDescription {
            platforms: std::iter::once(platform.clone()).chain(more).collect(),
            claims: BTreeMap::from([(platform, BTreeSet::from([h1]))]),
            protocols: vec!["6.0".to_owned()],
            ..ReleaseDescription::default()
        };
        let id = ReleaseId { address, version, place, identity };
        Ok(Arc::new(ScriptedRelease {
            id,
            from: Arc::clone(&self.0),
            description,
            zip: Digest::sha256(content.as_bytes()),
        }))
    }
}

struct ScriptedRelease {
    id: ReleaseId,
    from: Arc<Scripted>,
    description: ReleaseDescription,
    zip: Digest,
}

#[async_trait]
impl Release for ScriptedRelease {
    fn id(&self) -> &ReleaseId {
        &self.id
    }

    async fn describe(&self) -> Result<&ReleaseDescription, SourceError> {
        Ok(&self.description)
    }

    async fn platforms(&self) -> Result<Vec<Platform>, SourceError> {
        Ok(self.description.platforms.clone())
    }

    async fn created(&self) -> Result<Option<ReleaseDate>, SourceError> {
        Ok(None)
    }

    async fn offer(self: Arc<Self>, platform: &Platform) -> Result<Offer, SourceError> {
        self.from.act(&self.from.offers).await?;
        let part = Part { at: Locator::Blob("zip".to_owned()), size: Some(1), digest: Some(self.zip.clone()) };
        Ok(Offer {
            platform: platform.clone(),
            manifest: None,
            package: Package::Zip(part),
            small: None,
            claims: Arc::new(self.description.claims.clone()),
            allowed: Vec::new(),
            signed: BTreeSet::new(),
            release: self,
        })
    }

    async fn evidence(&self, _: Search) -> Result<Vec<Evidence>, SourceError> {
        Ok(Vec::new())
    }

    async fn leaf_evidence(&self) -> Result<Vec<Evidence>, SourceError> {
        Ok(Vec::new())
    }

    async fn notice(&self) -> Result<Option<Notice>, SourceError> {
        Ok(self.from.notice.lock().unwrap().clone())
    }

    async fn zip_names(&self) -> Result<ZipNames, SourceError> {
        Ok(ZipNames::new())
    }

    async fn hashes(&self) -> Result<ClaimedHashes, SourceError> {
        Ok(self.description.claims.clone())
    }

    async fn open(&self, _: &Part) -> Result<PartStream, SourceError> {
        Err(*unavailable())
    }
}

/// The registry answers 503.
pub(super) fn unavailable() -> Box<SourceError> {
    let failure = Failure::ServerError("example.com answered 503".to_owned());
    Box::new(SourceError::Failed { place: "example.com/x".parse().unwrap(), failure })
}

/// The registry refuses the credentials.
pub(super) fn unauthorized() -> Box<SourceError> {
    let failure = Failure::Unauthorized("example.com answered 401".to_owned());
    Box::new(SourceError::Failed { place: "example.com/x".parse().unwrap(), failure })
}

/// The codes of the messages.
#[derive(Default)]
pub(in crate::catalog) struct Codes(pub(super) Mutex<Vec<&'static str>>);

impl Reporter for Codes {
    fn event(&self, event: &Event) {
        if let Event::Message { code, .. } = event {
            self.0.lock().unwrap().push(code);
        }
    }
}
