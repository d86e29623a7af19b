//! A provider to install, and a working directory to install into.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use tofu_oci_archive::{InputFile, write_layer, write_zip};
use tofu_oci_fetch::{RenamedReleases, Trust, pin_file};
use tofu_oci_layout::{
    IndexFacts, LayerBlob, LeafPlan, PackageLayout, Planned, PlatformHashes, PlatformPackage, plan_index, plan_leaves,
};
use tofu_oci_lockfile::{LOCK_FILE_NAME, LockFile, WriteOutcome};
use tofu_oci_source::{OciSource, Source};
use tofu_oci_store::{FileBody, MemoryStore, ReadStore, Store};
use tofu_oci_trust::PIN_FILE_NAME;
use tofu_oci_types::{Constraints, Event, PackageHash, Platform, ProviderAddr, Reporter, Tag};

use crate::{InstallError, InstallRequest, InstallTarget, Installed, Options, Upgrade, install};

pub(super) const ADDRESS: &str = "registry.example.test/acme/widget";
pub(super) const PLATFORM: &str = "linux_amd64";

/// Remembers events.
#[derive(Default)]
pub(super) struct Recorder(Mutex<Vec<Event>>);

impl Reporter for Recorder {
    fn event(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

impl Recorder {
    /// The codes of the messages so far.
    pub(super) fn codes(&self) -> Vec<&'static str> {
        let events = self.0.lock().unwrap();
        let code = |event: &Event| match event {
            Event::Message { code, .. } => Some(*code),
            _ => None,
        };
        events.iter().filter_map(code).collect()
    }

    /// How many packages were fetched.
    pub(super) fn downloads(&self) -> usize {
        self.0.lock().unwrap().iter().filter(|event| matches!(event, Event::Started { .. })).count()
    }
}

/// The checksums of what was published for one platform.
#[derive(Clone, Debug)]
pub(super) struct Published {
    pub(super) h1: PackageHash,
    pub(super) zh: PackageHash,
    pub(super) ch: BTreeMap<tofu_oci_layout::LeafKind, PackageHash>,
}

/// Publishes a version for two platforms and tags it; the checksums by platform.
pub(super) async fn publish(
    store: &dyn Store,
    version: &str,
    layout: PackageLayout,
    annotations: Annotations,
) -> BTreeMap<String, Published> {
    publish_for(&[PLATFORM, "darwin_arm64"], store, version, layout, annotations).await
}

/// The same for these platforms.
pub(super) async fn publish_for(
    platforms: &[&str],
    store: &dyn Store,
    version: &str,
    layout: PackageLayout,
    annotations: Annotations,
) -> BTreeMap<String, Published> {
    let folder = tempfile::tempdir().unwrap();
    let (mut leaves, mut published, mut hashes) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    for platform in platforms.iter().copied() {
        let (package, facts) = pack(folder.path(), version, platform);
        let plans = plan_leaves(&package, layout).unwrap();
        for blob in plans.iter().flat_map(|plan| &plan.blobs) {
            let file = folder.path().join(blob.digest.encoded());
            store.push(blob, &FileBody(&file)).await.unwrap();
        }
        for plan in &plans {
            push(store, &plan.config).await;
            push(store, &plan.manifest).await;
        }
        let ch = plans.iter().map(|plan| (plan.kind, PackageHash::ch(&plan.manifest.descriptor.digest))).collect();
        let (h1, zh) = (facts.h1.clone().unwrap(), facts.zh.clone().unwrap());
        published.insert(platform.to_owned(), Published { h1, zh, ch });
        let said = match annotations {
            Annotations::All => facts,
            Annotations::None => PlatformHashes { h1: None, zh: None, ..facts },
        };
        hashes.insert(package.platform.clone(), said);
        leaves.extend(plans);
    }
    tag(store, version, &leaves, hashes, layout).await;
    published
}

/// Whether the index names checksums.
#[derive(Clone, Copy)]
pub(super) enum Annotations {
    All,
    None,
}

fn pack(folder: &Path, version: &str, platform: &str) -> (PlatformPackage, PlatformHashes) {
    let file = |name: &str, text: String| {
        let path = folder.join(name.replace('/', "-"));
        fs::write(&path, text).unwrap();
        InputFile { executable: name.starts_with("terraform"), name: name.to_owned(), path }
    };
    let files = [
        file("docs/guide.md", format!("the guide of {version}\n").repeat(50)),
        file(&format!("terraform-provider-widget_v{version}"), format!("#!/bin/sh\necho {version} {platform}\n")),
    ];
    let zip = write_zip(&files, &folder.join("zip")).unwrap();
    let layer = write_layer(&files, &folder.join("layer")).unwrap();
    fs::rename(folder.join("zip"), folder.join(zip.digest.encoded())).unwrap();
    fs::rename(folder.join("layer"), folder.join(layer.digest.encoded())).unwrap();
    let filename = format!("terraform-provider-widget_{version}_{platform}.zip");
    let hashes = PlatformHashes {
        h1: Some(zip.contents.h1()),
        zh: PackageHash::zh(&zip.digest),
        size: zip.size,
        filename: filename.clone(),
    };
    let package = PlatformPackage {
        platform: platform.parse().unwrap(),
        filename,
        zip: Some((zip.digest, zip.size)),
        layer: Some(LayerBlob { digest: layer.digest, size: layer.size, diff_id: layer.diff_id }),
        small: None,
    };
    (package, hashes)
}

async fn tag(
    store: &dyn Store,
    version: &str,
    leaves: &[LeafPlan],
    hashes: BTreeMap<Platform, PlatformHashes>,
    layout: PackageLayout,
) {
    let version = version.parse().unwrap();
    let tag = Tag::for_version(&version).unwrap();
    let facts = IndexFacts { address: ADDRESS.parse().unwrap(), version, protocols: vec!["6.0".to_owned()], hashes };
    let index = plan_index(leaves, &facts, layout);
    push(store, &index).await;
    store.tag(&index.descriptor, &tag).await.unwrap();
}

async fn push(store: &dyn Store, planned: &Planned) {
    let bytes = Bytes::from(planned.bytes.clone());
    store.push(&planned.descriptor, &bytes).await.unwrap();
}

/// A working directory.
pub(super) struct Workspace {
    folder: tempfile::TempDir,
    pub(super) reporter: Recorder,
}

impl Workspace {
    pub(super) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), reporter: Recorder::default() }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn lock_path(&self) -> PathBuf {
        self.path().join(LOCK_FILE_NAME)
    }

    /// The pins of this folder, and the default policy.
    pub(super) fn trust(&self) -> Trust {
        let pins_path = self.path().join(PIN_FILE_NAME);
        trust(pins_path)
    }

    /// Writes a lock file with these checksums for the provider.
    pub(super) fn lock(&self, version: &str, hashes: &[&PackageHash]) {
        let mut file = LockFile::default();
        let mut entry = tofu_oci_lockfile::LockEntry::new(version.parse().unwrap(), Constraints::any());
        entry.hashes = hashes.iter().map(|hash| (*hash).clone()).collect();
        file.insert(ADDRESS.parse().unwrap(), entry);
        tofu_oci_lockfile::read(&self.lock_path()).unwrap().write(&file).unwrap();
    }

    /// The checksums in the lock file, sorted.
    pub(super) fn locked(&self) -> Vec<String> {
        self.locked_for(&address())
    }

    /// The same for another provider.
    pub(super) fn locked_for(&self, address: &ProviderAddr) -> Vec<String> {
        let lock = tofu_oci_lockfile::read(&self.lock_path()).unwrap();
        lock.file().get(address).unwrap().hashes.iter().map(ToString::to_string).collect()
    }

    /// A request for the provider's newest version, into `.terraform` of this folder.
    pub(super) fn job(&self, store: Arc<dyn ReadStore>) -> InstallRequest {
        self.job_from(Arc::new(OciSource::new(store)))
    }

    /// The same from any source.
    pub(super) fn job_from(&self, source: Arc<dyn Source>) -> InstallRequest {
        InstallRequest {
            address: address(),
            constraints: Constraints::any(),
            platform: PLATFORM.parse().unwrap(),
            source,
            target: InstallTarget::WorkingDir { data_dir: self.path().join(".terraform"), cache: None },
            upgrade: Upgrade::KeepLocked,
        }
    }

    pub(super) async fn install(&self, store: Arc<dyn ReadStore>) -> Result<Installed, InstallError> {
        self.run(vec![self.job(store)]).await.map(|(mut installed, _)| installed.remove(0))
    }

    /// Usual options, with the lock file as it is now.
    pub(super) fn options(&self) -> Options {
        Options::new(tofu_oci_lockfile::read(&self.lock_path()).unwrap(), self.trust())
    }

    pub(super) async fn run(&self, jobs: Vec<InstallRequest>) -> Result<(Vec<Installed>, WriteOutcome), InstallError> {
        let report = install(&jobs, &self.options(), &self.reporter).await?;
        Ok((report.installed, report.written))
    }

    /// Every file and link below, with its contents; empty folders count too.
    pub(super) fn snapshot(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        collect(self.path(), self.path(), &mut found);
        found
    }
}

fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().display().to_string();
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_symlink() {
            found.insert(name, format!("-> {}", fs::read_link(&path).unwrap().display()));
        } else if kind.is_dir() {
            found.insert(format!("{name}/"), String::new());
            collect(root, &path, found);
        } else {
            found.insert(name, String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned());
        }
    }
}

pub(super) fn address() -> ProviderAddr {
    ADDRESS.parse().unwrap()
}

/// The pins of this file, and the default policy.
pub(super) fn trust(pins_path: PathBuf) -> Trust {
    let pins = pin_file::read(&pins_path).unwrap();
    Trust {
        policy: Arc::default(),
        pins,
        pins_path,
        now: std::time::SystemTime::UNIX_EPOCH,
        renamed: RenamedReleases::ByPolicy,
    }
}

/// A store with version 1.0.0 in this layout, and the checksums of [`PLATFORM`].
pub(super) async fn store(layout: PackageLayout) -> (Arc<MemoryStore>, BTreeMap<String, Published>) {
    let store = Arc::new(MemoryStore::new("memory".parse().unwrap()));
    let published = publish(&*store, "1.0.0", layout, Annotations::All).await;
    (store, published)
}

/// What went wrong, with all causes.
pub(super) fn with_causes(error: &InstallError) -> String {
    let mut text = error.to_string();
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
