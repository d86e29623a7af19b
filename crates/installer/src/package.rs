//! One package into its place: looks once, decides by [`plan`], acts.

use std::sync::Arc;

use tofu_oci_fetch::{
    ExpectedHashes, Fetcher, FoundPackage, Judgement, Linked, OfflineScope, PackageOrigin, PackagePath, PathContents,
    Placement, ProvedContents, TrustChecker, Verified, check_before, check_lines, known_before, recorded,
    report_unexplained, report_wrong, subject, zh_is_suspicious,
};
use tofu_oci_lockfile::{LockEntry, PackageHashes};
use tofu_oci_source::Offer;
use tofu_oci_types::{Event, Identity, Place, Reporter, Scheme, Version};

use crate::choose::{VersionChoice, Warned};
use crate::plan::{CachePolicy, InstallStep, KnownHashes, PlaceAnswer, SeenContents, SeenPackage, StepFacts, plan};
use crate::record::InstallRecord;
use crate::{InstallError, InstallOutcome, InstallRequest, Installed, LockWrite, Options};

/// What the requests of one call share.
pub(crate) struct InstallContext<'a> {
    pub(crate) fetcher: Fetcher<'a>,
    pub(crate) trust_checker: TrustChecker<'a>,
    pub(crate) options: &'a Options,
    pub(crate) write: LockWrite,
    pub(crate) warned: Warned,
    pub(crate) reporter: &'a dyn Reporter,
}

/// One request at work.
pub(crate) struct PackageInstall<'a> {
    pub(crate) request: &'a InstallRequest,
    pub(crate) choice: VersionChoice<'a>,
    pub(crate) context: &'a InstallContext<'a>,
}

/// What one look found: the lock file's entry, the package's place and the plugin cache.
pub(crate) struct LocalState<'a> {
    provider_type: &'a str,
    pub(crate) version: Version,
    /// The entry of this version.
    pub(crate) locked: Option<ExpectedHashes<'a>>,
    pub(crate) place: PackagePath,
    pub(crate) installed: PathContents,
    /// The package in the cache, if there is a cache.
    pub(crate) cached: Option<(PackagePath, PathContents)>,
    unlocked: CachePolicy,
    pub(crate) offline: OfflineScope,
}

/// What a place offers, and the judgement on the release that it belongs to.
pub(crate) struct JudgedOffer {
    pub(crate) offer: Offer,
    pub(crate) judgement: Option<Arc<Judgement>>,
}

impl PackageInstall<'_> {
    pub(crate) async fn run(self) -> Result<InstallRecord, InstallError> {
        let found = self.look().await?;
        let completed = self.install(&found).await?;
        self.warn_of_other_platform(&found).await;
        Ok(completed)
    }

    /// Reads what may be used. Without a locked entry, only a cache that may break the lock file is of use.
    pub(crate) async fn look(&self) -> Result<LocalState<'_>, InstallError> {
        let InstallRequest { address, platform, target, .. } = self.request;
        let version = self.choice.version(self.context.reporter).await?;
        let entry = self.choice.lock.map(|guide| &guide.entry).filter(|entry| entry.version == version);
        let locked =
            entry.map(|entry| ExpectedHashes { entry, manifests: self.context.trust_checker.manifest_lines(address) });
        let says = |entry: &LockEntry| entry.hashes.iter().any(|hash| hash.scheme() != Scheme::Other);
        let unlocked = match target.cache() {
            Some(cache) if cache.may_break_lock && !entry.is_some_and(says) => CachePolicy::Used,
            _ => CachePolicy::Refused,
        };
        let mut cached = target
            .cache()
            .map(|cache| (PackagePath::in_cache(&cache.dir, address, &version, platform), PathContents::Nothing));
        if let Some((path, contents)) = &mut cached
            && (entry.is_some() || unlocked == CachePolicy::Used)
        {
            *contents = path.look(&self.context.options.limits, &self.context.options.package_cache).await?;
        }
        let place = target.path(address, &version, platform);
        let installed = match (&cached, entry) {
            (_, None) => PathContents::Nothing,
            (Some((path, contents @ PathContents::Package(_))), _) if place.leads_to(path).await => contents.clone(),
            _ => place.look(&self.context.options.limits, &self.context.options.package_cache).await?,
        };
        let offline = self.context.trust_checker.offline_scope(address, &version, platform);
        let provider_type = address.provider_type();
        Ok(LocalState { provider_type, version, locked, place, installed, cached, unlocked, offline })
    }

    async fn install(&self, found: &LocalState<'_>) -> Result<InstallRecord, InstallError> {
        match plan(&found.seen(self.not_asked(found), None)) {
            InstallStep::Keep(_) => return self.keep(found, None),
            InstallStep::Link(_) => return self.link(found, None).await,
            InstallStep::Fetch => {}
        }
        let asked = if found.will_be_fetched() { self.ask_to_fetch(found).await } else { self.ask(found).await };
        let offered = match asked {
            Ok(offered) => offered,
            Err(error) => return self.without_the_place(error, found),
        };
        match found.step(&offered)? {
            InstallStep::Keep(by) => self.keep(found, by.offer(&offered)),
            InstallStep::Link(by) => self.link(found, by.offer(&offered)).await,
            InstallStep::Fetch => self.fetch(found, &offered).await,
        }
    }

    /// What the place offers, if the trust policy admits its release.
    pub(crate) async fn ask(&self, found: &LocalState<'_>) -> Result<JudgedOffer, InstallError> {
        let offer = self.choice.offer(&found.version, &self.request.platform).await?;
        self.judged(offer).await
    }

    pub(crate) async fn judged(&self, offer: Offer) -> Result<JudgedOffer, InstallError> {
        let judgement = self.context.trust_checker.of_offer(&offer).await?;
        Ok(JudgedOffer { offer, judgement })
    }

    /// Keeps an installed and locked package if the place does not answer and its answer is not needed.
    fn without_the_place(&self, error: InstallError, found: &LocalState<'_>) -> Result<InstallRecord, InstallError> {
        let PathContents::Package(package) = &found.installed else { return Err(error) };
        if !error.is_without_answer() || plan(&found.seen(PlaceAnswer::Unreachable, None)) == InstallStep::Fetch {
            return Err(error);
        }
        let (from, reason) = (self.request.source.place().clone(), error.with_causes());
        let subject = self.subject(found);
        let text =
            format!("{subject} is installed and locked, and stays as it is; {from} could not be asked: {reason}");
        self.context.reporter.event(&Event::warning("place-unreachable", text));
        let completed =
            self.completed(found, InstallOutcome::AlreadyInstalled, package.bytes(), hashes(package, None), None);
        Ok(InstallRecord { installed: Installed { place: from, ..completed.installed }, ..completed })
    }

    /// The installed package is the right one.
    fn keep(&self, found: &LocalState<'_>, offered: Option<&JudgedOffer>) -> Result<InstallRecord, InstallError> {
        let package = package(&found.installed);
        let hashes = hashes(package, offered);
        match offered {
            Some(offered) => self.report_lines(found, offered, &hashes)?,
            None if found.cached.is_some() || self.context.write == LockWrite::Compare => {
                self.finished(found, "already-installed");
            }
            None => {}
        }
        Ok(self.completed(found, InstallOutcome::AlreadyInstalled, package.bytes(), hashes, offered))
    }

    /// The cached package is the right one.
    async fn link(&self, found: &LocalState<'_>, offered: Option<&JudgedOffer>) -> Result<InstallRecord, InstallError> {
        let (path, contents) = found.cached.as_ref().expect("`plan` links only what is cached");
        let package = package(contents);
        let hashes = hashes(package, offered);
        if let Some(offered) = offered {
            self.report_lines(found, offered, &hashes)?;
        }
        self.link_to(path, found).await?;
        self.finished(found, "linked");
        Ok(self.completed(found, InstallOutcome::Linked, package.bytes(), hashes, offered))
    }

    /// Fetches the package. The right one goes into its place, or into the cache with a link in its place.
    async fn fetch(&self, found: &LocalState<'_>, offered: &JudgedOffer) -> Result<InstallRecord, InstallError> {
        let JudgedOffer { offer, judgement } = offered;
        let cached = found.cached.as_ref().map(|(path, _)| path);
        let target = cached.unwrap_or(&found.place);
        // What the publisher says of the release is asked for beside the download, and never instead of it.
        let proved = ProvedContents::of(offer, found.locked, judgement.as_deref());
        let fetched = self.context.fetcher.fetch(offer, target, found.locked, &proved);
        let noticed = self.context.trust_checker.report_notice(&*offer.release);
        let (verified, ()) = futures_util::future::join(fetched, noticed).await;
        let verified = verified?;
        self.report(offer, found.locked, &verified).await;
        if let (Some(judgement), Some(h1)) = (judgement, &verified.hashes().h1) {
            judgement.fetched(offer, h1);
        }
        let (bytes, hashes) = (verified.bytes(), recorded(offer, verified.hashes()));
        let (origin, received) = (verified.origin(), verified.bytes_received());
        let (mut outcome, word) = match verified
            .place(offer, &self.context.options.limits, &self.context.options.waiter, self.context.reporter)
            .await?
        {
            Placement::Now => (
                InstallOutcome::Installed,
                match origin {
                    PackageOrigin::Place => "installed",
                    PackageOrigin::SmallLayer => "installed from the small layer",
                    PackageOrigin::Cache => "installed-from-cache",
                },
            ),
            Placement::Before => (InstallOutcome::AlreadyInstalled, "already-installed"),
        };
        self.finished(found, word);
        if let Some(cached) = cached
            && self.link_to(cached, found).await? != Linked::Before
        {
            outcome = InstallOutcome::Installed;
        }
        let mut completed = self.completed(found, outcome, bytes, hashes, Some(offered));
        completed.installed.received = received;
        completed.installed.small = origin == PackageOrigin::SmallLayer;
        completed.installed.from_cache = origin == PackageOrigin::Cache && outcome == InstallOutcome::Installed;
        Ok(completed)
    }

    async fn link_to(&self, cached: &PackagePath, found: &LocalState<'_>) -> Result<Linked, InstallError> {
        let linked = found.place.link_to(cached, &self.context.options.waiter, self.context.reporter).await?;
        if linked == Linked::Instead {
            let (place, cached) = (found.place.path().display(), cached.path().display());
            let (address, version) = (&self.request.address, &found.version);
            let text = format!("{place} was replaced by a link to {cached}");
            let hint = format!("what lay there was not the locked package of {address} {version}, or no link to it");
            self.context.reporter.event(&Event::note("replaced-by-link", text).with_hint(hint));
        }
        Ok(linked)
    }

    /// Compares a package that is not fetched with the lock file, and reports wrong lines.
    fn report_lines(
        &self,
        found: &LocalState<'_>,
        offered: &JudgedOffer,
        hashes: &PackageHashes,
    ) -> Result<(), InstallError> {
        let report = check_lines(&offered.offer, found.locked, hashes)?;
        report_wrong(&offered.offer, &report, self.context.reporter);
        Ok(())
    }

    /// Reports lines of the lock file that are not the package's. It asks for the release's other manifests only if a
    /// line is suspicious; without an answer the lines stay unexplained.
    async fn report(&self, offer: &Offer, locked: Option<ExpectedHashes<'_>>, verified: &Verified) {
        let mut report = verified.report().clone();
        if zh_is_suspicious(&report)
            && let Ok(claims) = offer.release.hashes().await
            && let Ok(better) =
                check_lines(&Offer { claims: Arc::new(claims), ..offer.clone() }, locked, verified.hashes())
        {
            report = better;
        }
        report_wrong(offer, &report, self.context.reporter);
        report_unexplained(offer, &report, self.context.reporter);
    }

    /// Warns of a program that does not start on the platform of its package, even if it was installed before. It is no
    /// error: the bytes are those of the release, and `OpenTofu` installs them.
    async fn warn_of_other_platform(&self, found: &LocalState<'_>) {
        let InstallRequest { address, platform, .. } = self.request;
        // An unreadable program is not reported: its package is the right one.
        if let Some(program) = found.place.program(address.provider_type()).await
            && program.contradicts(platform)
        {
            let text = format!("{} holds {program}", self.subject(found));
            let hint = if program.is_archive() {
                "it will not start: unpack the archive where the package comes from"
            } else {
                "it will not start there: tell the publisher, and take another version meanwhile"
            };
            self.context.reporter.event(&Event::warning("other-platform", text).with_hint(hint));
        }
    }

    fn finished(&self, found: &LocalState<'_>, outcome: &str) {
        self.context.reporter.event(&Event::Finished { subject: self.subject(found), outcome: outcome.to_owned() });
    }

    fn subject(&self, found: &LocalState<'_>) -> String {
        subject(&self.request.address, &found.version, &self.request.platform)
    }

    /// The result. Without an offer, the place was not asked.
    pub(crate) fn completed(
        &self,
        found: &LocalState<'_>,
        outcome: InstallOutcome,
        bytes: u64,
        hashes: PackageHashes,
        offered: Option<&JudgedOffer>,
    ) -> InstallRecord {
        let InstallRequest { address, platform, source, target, .. } = self.request;
        let offer = offered.map(|offered| &offered.offer);
        let judgement = offered.and_then(|offered| offered.judgement.clone());
        let installed = Installed {
            address: address.clone(),
            version: found.version.clone(),
            published_as: judgement.as_ref().and_then(|judgement| judgement.published_as().cloned()),
            platform: platform.clone(),
            place: match (offer, target.cache()) {
                (Some(offer), _) => offer.place().clone(),
                (None, Some(cache)) => Place::PluginCache(cache.dir.clone()),
                (None, None) => source.place().clone(),
            },
            path: found.place.path().to_owned(),
            outcome,
            from_cache: false,
            small: false,
            received: 0,
            layout: offer.and_then(Offer::kind),
            bytes,
            hashes: hashes.iter().cloned().collect(),
            identity: judgement.as_ref().and(offer).map_or(Identity::Unidentified, |offer| offer.identity().clone()),
            trust: judgement.as_ref().map(|judgement| judgement.vouched(platform, hashes.zh.as_ref())),
        };
        let offered = offer.map(|offer| offer.claims.keys().cloned().collect()).unwrap_or_default();
        let signed = offer.map(|offer| offer.signed.clone()).unwrap_or_default();
        InstallRecord { installed, hashes, judgement, offered, signed }
    }
}

impl LocalState<'_> {
    fn locks(&self, package: &FoundPackage) -> bool {
        self.locked.is_some_and(|locked| locked.entry.hashes.contains(&package.h1()))
    }

    /// What to do about an offer, unless the lock file refuses it.
    pub(crate) fn step(&self, offered: &JudgedOffer) -> Result<InstallStep, InstallError> {
        check_before(&offered.offer, self.locked)?;
        if let PathContents::Package(package) = &self.installed
            && self.locks(package)
        {
            check_lines(&offered.offer, self.locked, &hashes(package, Some(offered)))?;
        }
        Ok(plan(&self.seen(self.answer(offered), Some(offered))))
    }

    /// Whether the lock file names the offered package. A zip must be locked by its `zh:` if the place says it: an entry
    /// with `h1:` alone is completed by a download. If the place names no checksum, its offer says nothing against what is
    /// locked.
    fn names(&self, offer: &Offer) -> bool {
        let Some(ExpectedHashes { entry, .. }) = self.locked else { return false };
        match offer.zh().or_else(|| offer.ch()) {
            Some(hash) => entry.hashes.contains(&hash),
            None => offer.allowed.is_empty() || offer.allowed.iter().any(|hash| entry.hashes.contains(hash)),
        }
    }

    /// The answer of a place that offers the package.
    fn answer(&self, JudgedOffer { offer, judgement }: &JudgedOffer) -> PlaceAnswer {
        let vouched = judgement.as_ref().is_some_and(|judgement| judgement.stands_for(offer));
        PlaceAnswer::Offer { named: self.names(offer), vouched }
    }

    /// What is known for [`plan`]; with an offer, also how the packages relate to it.
    pub(crate) fn seen(&self, answer: PlaceAnswer, offered: Option<&JudgedOffer>) -> StepFacts {
        let named = matches!(answer, PlaceAnswer::Offer { named: true, .. });
        let bytes = |package: &FoundPackage| {
            let h1 = package.h1();
            let judgement = offered.and_then(|JudgedOffer { offer, judgement }| Some((offer, judgement.as_deref()?)));
            let covers = |(offer, judgement): (&Offer, &Judgement)| {
                judgement.covered().get(&offer.platform).is_some_and(|covered| covered.contains(&h1))
            };
            SeenPackage {
                locked: self.locks(package),
                unasked: self.offline.admits(&h1),
                admitted: judgement.is_none_or(|(offer, judgement)| judgement.admits_unfetched(offer, &h1)),
                of_the_offer: named || judgement.is_some_and(covers),
                same_archive: offered.is_none_or(|offered| package.is_archive(offered.offer.zh().as_ref())),
                has_executable: package.has_executable(self.provider_type),
            }
        };
        let contents = |contents: &PathContents| match contents {
            PathContents::Nothing => SeenContents::Nothing,
            PathContents::DanglingLink | PathContents::Other => SeenContents::Other,
            PathContents::Package(package) => SeenContents::Package(bytes(package)),
        };
        StepFacts {
            installed: contents(&self.installed),
            cached: self.cached.as_ref().map(|(_, cached)| contents(cached)),
            unlocked: self.unlocked,
            answer,
        }
    }
}

impl KnownHashes {
    /// The offer, if what it says is recorded.
    pub(crate) fn offer(self, offered: &JudgedOffer) -> Option<&JudgedOffer> {
        match self {
            Self::Contents => None,
            Self::Offer => Some(offered),
        }
    }
}

/// The package that `plan` chose.
pub(crate) fn package(contents: &PathContents) -> &FoundPackage {
    match contents {
        PathContents::Package(package) => package,
        _ => unreachable!("`plan` uses nothing but a package"),
    }
}

/// Its checksums, with those that the offer names.
pub(crate) fn hashes(package: &FoundPackage, offered: Option<&JudgedOffer>) -> PackageHashes {
    let known = offered.map(|offered| known_before(&offered.offer)).unwrap_or_default();
    PackageHashes { h1: Some(package.h1()), ..known }
}
