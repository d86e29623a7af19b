use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use insta::assert_snapshot;
use tofu_oci_types::{Digest, Identity, PackageHash};

use super::*;
use crate::error::causes;
use crate::{Failure, Locator, Package, ReleaseDate, StrayEffect, StrayTag};

const ADDRESS: &str = "registry.example.test/acme/widget";
const LINUX: &str = "linux_amd64";

/// A place that has versions for platforms, or fails.
struct Fake {
    place: Place,
    kind: InstallMethod,
    versions: BTreeMap<String, Vec<&'static str>>,
    fails: Option<Failure>,
    asked: AtomicUsize,
}

impl Fake {
    fn not_offered(&self, what: NotOffered) -> SourceError {
        SourceError::NotOffered { address: ADDRESS.parse().unwrap(), place: self.place.clone(), what }
    }

    fn check(&self) -> Result<(), Box<SourceError>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        match &self.fails {
            Some(failure) => Err(Box::new(SourceError::Failed { place: self.place.clone(), failure: failure.clone() })),
            None => Ok(()),
        }
    }
}

mod releases;

#[async_trait]
impl Source for Fake {
    fn place(&self) -> &Place {
        &self.place
    }

    async fn versions(&self, _: &ProviderAddr) -> Result<Listing, SourceError> {
        self.check().map_err(|error| *error)?;
        let mut versions: Vec<Version> = self.versions.keys().map(|text| text.parse().unwrap()).collect();
        versions.sort_by(Version::precedence);
        match (versions.is_empty(), self.kind) {
            (true, InstallMethod::Direct) => Err(self.not_offered(NotOffered::UnknownToRegistry)),
            (true, _) => Err(self.not_offered(NotOffered::UnknownProvider)),
            _ => Ok(Listing { versions, ..Listing::default() }),
        }
    }

    async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Arc<dyn Release>, SourceError> {
        self.check().map_err(|error| *error)?;
        let Some(platforms) = self.versions.get(&version.to_string()) else { return Err(self.missing(version)) };
        let identity = match self.kind {
            InstallMethod::Filesystem | InstallMethod::NetworkMirror => Identity::Unidentified,
            InstallMethod::Oci | InstallMethod::Direct => Identity::of_index(b"the same everywhere"),
        };
        let (address, version, place) = (address.clone(), version.clone(), self.place.clone());
        let id = ReleaseId { address, version, place, identity };
        let platforms = platforms.iter().map(|text| text.parse().unwrap()).collect();
        Ok(Arc::new(FakeRelease { id, about: ReleaseDescription { platforms, ..ReleaseDescription::default() } }))
    }
}

/// A release whose every answer names its place.
struct FakeRelease {
    id: ReleaseId,
    about: ReleaseDescription,
}

#[async_trait]
impl Release for FakeRelease {
    fn id(&self) -> &ReleaseId {
        &self.id
    }

    async fn describe(&self) -> Result<&ReleaseDescription, SourceError> {
        Ok(&self.about)
    }

    async fn platforms(&self) -> Result<Vec<Platform>, SourceError> {
        Ok(self.about.platforms.clone())
    }

    async fn created(&self) -> Result<Option<ReleaseDate>, SourceError> {
        Ok(None)
    }

    async fn offer(self: Arc<Self>, platform: &Platform) -> Result<Offer, SourceError> {
        if !self.about.platforms.contains(platform) {
            let ReleaseId { address, version, place, .. } = self.id.clone();
            let offered = self.about.platforms.clone();
            let what = NotOffered::PlatformMissing { version, platform: platform.clone(), offered };
            return Err(SourceError::NotOffered { address, place, what });
        }
        let zip = Part {
            at: Locator::Url("https://x.test/zip".parse().unwrap()),
            size: None,
            digest: Some(Digest::sha256(b"zip")),
        };
        Ok(Offer {
            release: self,
            platform: platform.clone(),
            manifest: None,
            package: Package::Zip(zip),
            small: None,
            claims: Arc::default(),
            allowed: Vec::new(),
            signed: BTreeSet::new(),
        })
    }

    async fn evidence(&self, _: Search) -> Result<Vec<Evidence>, SourceError> {
        Ok(vec![Evidence::Unreadable { origin: Digest::sha256(b""), problem: self.id.place.to_string() }])
    }

    async fn leaf_evidence(&self) -> Result<Vec<Evidence>, SourceError> {
        Ok(Vec::new())
    }

    async fn notice(&self) -> Result<Option<Notice>, SourceError> {
        Ok(None)
    }

    async fn zip_names(&self) -> Result<ZipNames, SourceError> {
        Ok(ZipNames::new())
    }

    async fn hashes(&self) -> Result<ClaimedHashes, SourceError> {
        let hash: PackageHash = format!("h1:{}", self.id.place).parse().unwrap();
        let of = |platform: &Platform| (platform.clone(), BTreeSet::from([PackageHash::clone(&hash)]));
        Ok(self.about.platforms.iter().map(of).collect())
    }

    async fn open(&self, _: &Part) -> Result<PartStream, SourceError> {
        let name = Bytes::from(self.id.place.to_string());
        Ok(PartStream { size: None, stream: stream::once(async move { Ok(name) }).boxed() })
    }
}

impl Fake {
    fn missing(&self, version: &Version) -> SourceError {
        if self.versions.is_empty() {
            return self.not_offered(NotOffered::UnknownProvider);
        }
        let offered = self.versions.keys().map(|text| text.parse().unwrap()).collect();
        self.not_offered(NotOffered::VersionMissing { version: version.clone(), offered })
    }
}

/// What a chain offers of a version.
async fn offer(chain: &Chain, version: &Version, platform: &str) -> Result<Offer, SourceError> {
    let release = chain.release(&ADDRESS.parse().unwrap(), version).await?;
    release.offer(&platform.parse().unwrap()).await
}

/// `oci 1.0.0 1.1.0@darwin_arm64`, `direct !dns`, `fs`.
fn link(text: &str) -> Link {
    let fake = fake(text);
    let (method, name) = (fake.kind, fake.place.to_string());
    Link { method, label: format!("{method} at rc:{}", name.len()), source: Arc::new(fake) }
}

fn fake(text: &str) -> Fake {
    let mut words = text.split_whitespace();
    let name = words.next().unwrap();
    let method = match name.trim_end_matches(char::is_numeric) {
        "oci" => InstallMethod::Oci,
        "direct" => InstallMethod::Direct,
        "net" => InstallMethod::NetworkMirror,
        "fs" => InstallMethod::Filesystem,
        other => panic!("{other}"),
    };
    let mut fake = Fake {
        place: name.parse().unwrap(),
        kind: method,
        versions: BTreeMap::new(),
        fails: None,
        asked: AtomicUsize::new(0),
    };
    for word in words {
        if let Some(code) = word.strip_prefix('!') {
            fake.fails = Some(Failure::ServerError(code.to_owned()));
            continue;
        }
        let (version, platform) = word.split_once('@').unwrap_or((word, LINUX));
        fake.versions.insert(version.to_owned(), vec![if platform == LINUX { LINUX } else { "darwin_arm64" }]);
    }
    fake
}

fn chain(links: &str) -> Chain {
    Chain::new(links.split(',').filter(|text| !text.trim().is_empty()).map(link).collect())
}

/// What a fresh installation of the newest release takes: `VERSION from PLACE`, or the name of the error.
async fn installed(chain: &Chain) -> Result<String, SourceError> {
    let address = ADDRESS.parse().unwrap();
    let listing = chain.versions(&address).await?;
    let newest = "".parse::<tofu_oci_types::Constraints>().unwrap().select(&listing.versions).unwrap().clone();
    let offer = offer(chain, &newest, LINUX).await?;
    let part = offer.package.parts().next().unwrap();
    let bytes: Vec<Bytes> = offer.release.open(part).await?.stream.map(Result::unwrap).collect().await;
    assert_eq!(bytes.concat(), offer.place().to_string().as_bytes(), "opened by the release that made the offer");
    Ok(format!("{} from {}", offer.version(), offer.place()))
}

async fn check(links: &str, want: &str) {
    let got = installed(&chain(links)).await.unwrap_or_else(|error| error.code().to_owned());
    assert_eq!(got, want, "{links}");
}

#[tokio::test]
async fn the_newest_version_of_all_is_chosen_and_the_first_who_has_it_serves() {
    for (first, second) in [("oci", "direct"), ("direct", "net"), ("fs", "oci"), ("net", "fs"), ("oci1", "oci2")] {
        check(&format!("{first} 1.0.0, {second} 1.0.0"), &format!("1.0.0 from {first}")).await;
        check(&format!("{first} 1.1.0, {second} 1.0.0"), &format!("1.1.0 from {first}")).await;
    }
}

#[tokio::test]
async fn mirrors_never_let_others_serve_what_they_lack() {
    for second in ["direct", "net2", "fs", "oci2"] {
        check(&format!("oci, {second} 1.0.0"), "tag-not-found").await;
        check(&format!("oci 1.0.0, {second} 1.1.0"), "tag-not-found").await;
        check(&format!("net, {second} 1.0.0"), "mirror-version-missing").await;
        check(&format!("net 1.0.0, {second} 1.1.0"), "mirror-version-missing").await;
    }
    check("net 2.0.0-rc1, direct 1.1.0", "mirror-version-missing").await;
}

#[tokio::test]
async fn direct_and_folders_give_way() {
    for first in ["direct", "fs"] {
        for second in ["oci", "net", "fs2", "direct2"] {
            check(&format!("{first}, {second} 1.0.0"), &format!("1.0.0 from {second}")).await;
            check(&format!("{first} 1.0.0, {second} 1.1.0"), &format!("1.1.0 from {second}")).await;
        }
    }
}

#[tokio::test]
async fn a_missing_platform_gives_way_everywhere() {
    for first in ["oci", "net", "fs", "direct"] {
        check(&format!("{first} 1.0.0@darwin_arm64, oci2 1.0.0"), "1.0.0 from oci2").await;
        check(&format!("{first} 1.1.0@darwin_arm64, fs2 1.0.0"), "platform-not-supported").await;
        check(&format!("{first} 1.1.0@darwin_arm64"), "platform-not-supported").await;
    }
    check("direct 1.0.0 1.1.0@darwin_arm64, oci 1.0.0", "tag-not-found").await;
    check("oci 1.1.0@darwin_arm64, net 1.0.0", "mirror-version-missing").await;
    let error = installed(&chain("oci 1.0.0@darwin_arm64, fs 1.0.0@darwin_arm64")).await.unwrap_err();
    let SourceError::NotOffered { what: NotOffered::PlatformMissing { offered, .. }, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(offered.len(), 1);
}

#[tokio::test]
async fn nobody_has_it() {
    check("oci", "provider-not-found").await;
    check("oci, fs, net", "provider-not-found").await;
    check("oci, direct", "registry-provider-not-known").await;
    check("direct, oci", "registry-provider-not-known").await;
    check("", "no-matching-release").await;
    let error = installed(&Chain::unmatched()).await.unwrap_err();
    assert_eq!(error.code(), "provider-not-found");
    assert_snapshot!(error, @"registry.example.test/acme/widget matches none of the installation methods");
    assert_snapshot!(installed(&chain("")).await.unwrap_err(), @"registry.example.test/acme/widget cannot be looked for: the CLI configuration has no installation method left");
}

#[tokio::test]
async fn any_other_error_ends_the_search_wherever_it_stands() {
    for failing in ["oci", "net", "fs", "direct"] {
        check(&format!("{failing} !x, oci2 1.0.0"), "server-error").await;
        check(&format!("oci2 1.0.0, {failing} !x"), "server-error").await;
    }
}

#[tokio::test]
async fn the_package_is_asked_of_nobody_behind_the_one_who_has_it() {
    let (address, version) = (ADDRESS.parse().unwrap(), "1.0.0".parse().unwrap());
    let chain = chain("fs 1.0.0, oci !x");
    let offer = offer(&chain, &version, LINUX).await.unwrap();
    assert_eq!(offer.place().to_string(), "fs");
    let release = chain.release(&address, &version).await.unwrap();
    assert_eq!(release.platforms().await.unwrap().len(), 1, "up to the one that fails");
}

#[tokio::test]
async fn of_equal_versions_the_one_of_the_first_link_is_chosen() {
    for links in ["oci 1.0.0+b1, direct 1.0.0", "oci 1.0.0+b1, direct 1.0.0 1.0.0+b1"] {
        check(links, "1.0.0+b1 from oci").await;
    }
    check("oci 1.0.0, direct 1.0.0+b1", "1.0.0 from oci").await;
    let listing = chain("oci 1.0.0 1.1.0, direct 1.1.0 0.9.0").versions(&ADDRESS.parse().unwrap()).await.unwrap();
    let versions: Vec<String> = listing.versions.iter().map(ToString::to_string).collect();
    assert_eq!(versions, ["0.9.0", "1.0.0", "1.1.0"]);
}

#[test]
fn stray_tags_are_joined_too() {
    let stray = |tag: &str, version: &str| StrayTag {
        tag: tag.parse().unwrap(),
        version: version.parse().unwrap(),
        effect: StrayEffect::BreaksInit,
    };
    let one = Listing { stray: vec![stray("2", "2.0.0"), stray("1.4", "1.4.0")], ..Listing::default() };
    let joined = join(vec![one, Listing { stray: vec![stray("2", "2.0.0")], ..Listing::default() }]);
    assert_eq!(joined.stray, [stray("1.4", "1.4.0"), stray("2", "2.0.0")]);
}

#[tokio::test]
async fn the_method_to_blame_is_named() {
    let error = installed(&chain("oci 1.0.0, direct 1.1.0, fs 1.1.0, net 1.0.0")).await.unwrap_err();
    assert_snapshot!(causes(&error), @"oci_mirror at rc:3 ends the search for registry.example.test/acme/widget 1.1.0: registry.example.test/acme/widget 1.1.0 was not found in oci");
    let SourceError::Method(blame) = &error else { panic!("{error}") };
    assert_eq!(blame.elsewhere, ["direct at rc:6", "filesystem_mirror at rc:2"]);
    assert_snapshot!(blame.remedy().unwrap(), @r#"direct at rc:6 would serve it: put `exclude = ["registry.example.test/acme/widget"]` into oci_mirror at rc:3, or move that method after it"#);
    assert!(!error.is_transient());
    assert_eq!(error.innermost().code(), "tag-not-found");

    let error = installed(&chain("oci 1.0.0, net !x")).await.unwrap_err();
    assert_snapshot!(causes(&error), @"network_mirror at rc:3 ends the search for registry.example.test/acme/widget: nothing can be installed from net: x");
    let SourceError::Method(blame) = &error else { panic!("{error}") };
    assert_eq!(blame.remedy(), None);
    assert!(error.is_transient());
}

#[tokio::test]
async fn all_are_asked_for_an_explanation() {
    let asked = chain("oci !x, direct, fs 1.0.0").ask(&ADDRESS.parse().unwrap()).await;
    let text: Vec<String> = asked
        .iter()
        .map(|asked| match &asked.outcome {
            Ok(listing) => format!("{}: {} versions", asked.label, listing.versions.len()),
            Err(error) => format!("{}: {}", asked.label, error.code()),
        })
        .collect();
    assert_snapshot!(text.join("\n"), @r"
    oci_mirror at rc:3: server-error
    direct at rc:6: registry-provider-not-known
    filesystem_mirror at rc:2: 1 versions
    ");
}
