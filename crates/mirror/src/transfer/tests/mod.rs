//! Transfers into a registry that is watched.

mod copies;
mod destinations;
mod disk;
pub(crate) mod offered;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use tofu_oci_archive::Limits;
use tofu_oci_http::Clock;
use tofu_oci_packer::{Rename, ReplaceTag, Signing};
use tofu_oci_remote::{ClientOptions, NoCredentials, RegistryClient, RemoteStore};
use tofu_oci_source::{OciSource, Release, Source as _};
use tofu_oci_testkit::{Behaviour, Fault, ReferrersSupport, Registry, Rule};
use tofu_oci_trust::Evidence;
use tofu_oci_types::{Digest, Event, PackageHash, Predecessors, Reporter};

use self::offered::{OfferedPackage, OfferedRelease};
use crate::{MirrorError, TransferRequest, Transferred, transfer};

pub(super) const BOTH: &[&str] = &["darwin_arm64", "linux_amd64"];

/// A clock that never waits.
pub(crate) struct NoWait;

#[async_trait]
impl Clock for NoWait {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_hours(500_000)
    }

    async fn sleep(&self, _: Duration) {}
}

/// Keeps the codes of what is said.
#[derive(Default)]
pub(crate) struct EventLog(Mutex<Vec<&'static str>>);

impl Reporter for EventLog {
    fn event(&self, event: &Event) {
        if let Event::Message { code, .. } = event {
            self.0.lock().unwrap().push(code);
        }
    }
}

/// A repository of a registry, and a transfer into it.
pub(crate) struct Carried {
    pub(crate) registry: Registry,
    pub(crate) work: tempfile::TempDir,
    replace: ReplaceTag,
    heard: EventLog,
}

impl Carried {
    pub(crate) fn new() -> Self {
        let behaviour = Behaviour { referrers: ReferrersSupport::Supported, ..Behaviour::default() };
        Self {
            registry: Registry::builder().behaviour(behaviour).start(),
            work: tempfile::tempdir().unwrap(),
            replace: ReplaceTag::Refuse,
            heard: EventLog::default(),
        }
    }

    fn replacing(mut self) -> Self {
        self.replace = ReplaceTag::Replace;
        self
    }

    pub(crate) fn store(&self) -> RemoteStore {
        let mut options = ClientOptions::default();
        options.http.clock = Arc::new(NoWait);
        let client = RegistryClient::new(options, Arc::new(NoCredentials), Arc::new(EventLog::default())).unwrap();
        client.store(format!("{}/zap", self.registry.address()).parse().unwrap())
    }

    /// Carries all platforms of the release.
    async fn carry(&self, release: &Arc<OfferedRelease>) -> Result<Transferred, MirrorError> {
        self.carry_signed(Arc::clone(release) as _, None).await
    }

    async fn carry_signed(
        &self,
        release: Arc<dyn Release>,
        signing: Option<Signing<'_>>,
    ) -> Result<Transferred, MirrorError> {
        let request = TransferRequest {
            platforms: release.platforms().await.unwrap(),
            signing,
            files: &[],
            replace: self.replace,
            rename: Rename::Refuse,
            predecessors: Predecessors::NONE,
            limits: &Limits::default(),
            jobs: 2,
            listed: None,
            work_dir: self.work.path(),
        };
        let done = transfer(&request, release, &self.store(), &self.heard).await;
        assert_eq!(std::fs::read_dir(self.work.path()).unwrap().count(), 0, "the work folder is left as it was");
        done
    }

    pub(crate) fn tags(&self) -> Vec<String> {
        self.registry.tags("zap").into_iter().map(|(tag, _)| tag).collect()
    }

    /// The release as an installer finds it.
    async fn release(&self, version: &str) -> Arc<dyn Release> {
        let source = OciSource::new(Arc::new(self.store()));
        source.release(&"example.com/acme/zap".parse().unwrap(), &version.parse().unwrap()).await.unwrap()
    }

    fn has(&self, package: &OfferedPackage) -> bool {
        self.registry.blob("zap", &Digest::sha256(&package.zip)).is_some()
    }

    /// The requests of what follows the last call, without those of this very registry's greeting.
    fn requests(&self) -> Vec<String> {
        let requests = self.registry.requests();
        self.registry.clear_requests();
        requests.iter().map(|request| format!("{} {}", request.method, request.path)).collect()
    }
}

/// `code: message`, with causes.
pub(crate) fn told(error: &MirrorError) -> String {
    let mut text = format!("{}: {error}", error.code());
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[tokio::test]
async fn zips_are_streamed_with_the_evidence_that_speaks_for_them() {
    let (carried, release) = (Carried::new(), Arc::new(OfferedRelease::new("1.4.0", BOTH).signed()));
    let done = carried.carry(&release).await.unwrap();
    assert_eq!((done.platforms.len(), done.unchanged, release.opened()), (2, false, 2));
    assert_eq!(carried.tags(), ["1.4.0"]);
    let found = carried.release("1.4.0").await;
    assert_eq!(found.id().identity.index(), done.index.as_ref());
    let about = found.describe().await.unwrap();
    assert_eq!(about.protocols, ["6.0"]);
    for (platform, package) in &release.packages {
        assert!(carried.has(package));
        let zh = PackageHash::zh(&Digest::sha256(&package.zip));
        assert_eq!(about.zips.get(platform), zh.as_ref());
        assert_eq!(about.claims[platform].len(), 2, "zh and ch; h1 would take a reading of its own");
    }
    let evidence = found.evidence(tofu_oci_source::Search::Everywhere).await.unwrap();
    let [Evidence::Sums { sums, signatures, keys, .. }] = &evidence[..] else { panic!("{evidence:?}") };
    let [Evidence::Sums { sums: had, signatures: signed, .. }] = &release.evidence[..] else { panic!() };
    assert_eq!((sums, signatures, keys.len()), (had, signed, 1));
}

#[tokio::test]
async fn a_second_run_makes_one_small_request() {
    let (carried, release) = (Carried::new(), Arc::new(OfferedRelease::new("1.4.0", BOTH).signed()));
    carried.carry(&release).await.unwrap();
    carried.requests();
    let again = carried.carry(&release).await.unwrap();
    assert!(again.unchanged && release.opened() == 2);
    assert_eq!(carried.requests(), ["GET /v2/zap/manifests/1.4.0"]);
}

#[tokio::test]
async fn a_wrong_package_never_arrives_whole() {
    let carried = Carried::new();
    let release = OfferedRelease::new("1.4.0", BOTH)
        .with("linux_amd64", |package| package.digest = Some(Digest::sha256(b"another package")));
    let release = Arc::new(release);
    let error = carried.carry(&release).await.unwrap_err();
    assert!(told(&error).starts_with("blob-digest-mismatch: "), "{}", told(&error));
    assert!(told(&error).contains("example.com"), "{}", told(&error));
    assert!(carried.tags().is_empty() && !carried.has(release.zip("linux_amd64")));
}

#[tokio::test]
async fn a_size_that_lies_is_an_error_of_the_place_that_said_it() {
    for lie in [299_000, 310_000] {
        let carried = Carried::new();
        let release =
            Arc::new(OfferedRelease::new("1.4.0", BOTH).with("linux_amd64", |package| package.asked = Some(lie)));
        let error = carried.carry(&release).await.unwrap_err();
        assert!(told(&error).starts_with("blob-size-mismatch: "), "{}", told(&error));
        assert!(told(&error).contains("example.com"), "{}", told(&error));
        assert!(carried.tags().is_empty());
    }
}

#[tokio::test]
async fn what_broke_off_is_not_sent_again() {
    let carried = Carried::new();
    let broken = OfferedRelease::new("1.4.0", BOTH).with("linux_amd64", |package| package.lost_after = Some(100_000));
    let broken = Arc::new(broken);
    let error = carried.carry(&broken).await.unwrap_err();
    insta::assert_snapshot!(told(&error), @"connection-lost: cannot reach example.com: the connection was lost");
    assert!(carried.tags().is_empty());
    // The place has tried again by itself, so the registry's client does not.
    assert!(broken.opened() <= 2, "{}", broken.opened());
    let (before, release) = (broken.opened(), Arc::new(OfferedRelease::new("1.4.0", BOTH)));
    let missing = release.packages.values().filter(|package| !carried.has(package)).count();
    let done = carried.carry(&release).await.unwrap();
    assert_eq!((release.opened(), done.unchanged, carried.tags()), (missing, false, vec!["1.4.0".to_owned()]));
    assert!(before >= 1);
}

#[tokio::test]
async fn an_upload_that_breaks_begins_anew() {
    let (carried, release) = (Carried::new(), Arc::new(OfferedRelease::new("1.4.0", &["linux_amd64"])));
    carried.registry.fault(Rule::on("PUT", "/v2/zap/blobs/*").once().then(Fault::Disconnect));
    carried.carry(&release).await.unwrap();
    assert_eq!((release.opened(), carried.has(release.zip("linux_amd64"))), (2, true));
}

#[tokio::test]
async fn a_transfer_that_is_dropped_leaves_no_tag() {
    let carried = Carried::new();
    let gate = tofu_oci_testkit::Gate::closed();
    carried.registry.fault(Rule::on("PUT", "/v2/zap/blobs/*").once().then(Fault::Hold(gate.clone())));
    let release = Arc::new(OfferedRelease::new("1.4.0", BOTH));
    tokio::select! {
        done = carried.carry(&release) => panic!("{done:?}"),
        () = gate.arrived(1) => {}
    }
    assert!(carried.tags().is_empty());
    gate.open();
    carried.carry(&release).await.unwrap();
    assert_eq!(carried.tags(), ["1.4.0"]);
}

#[tokio::test]
async fn a_package_above_the_limit_costs_no_download() {
    let carried = Carried::new();
    let huge = OfferedRelease::new("1.4.0", BOTH).with("linux_amd64", |package| package.asked = Some(3 << 30));
    let huge = Arc::new(huge);
    let error = carried.carry(&huge).await.unwrap_err();
    assert_eq!((error.code(), huge.opened(), carried.requests().len()), ("bad-zip", 0, 1));
}

fn folder_of(files: &[(&str, &[u8])]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let path = folder.path().to_owned();
    (folder, path)
}
