//! What the tests of this crate share: folders of release files, and a store that watches.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use tofu_oci_store::{Body, ByteStream, MemoryStore, Pushed, ReadStore, Store, StoreError, fetch_bytes};
use tofu_oci_trust::PrivateKey;
use tofu_oci_types::{Descriptor, Digest, Event, Place, Predecessors, ProviderAddr, Reference, Reporter, Tag, Version};
use tokio::sync::watch;

use crate::{
    Dist, ExecutableCheck, Forms, H1Mode, PackError, PackageLayout, Publication, PushReport, PushRequest, Rename,
    ReplaceTag, Signer, Signing, SmallLayers, SumsMode,
};

/// A folder of release files in the making; removed with the value.
pub(crate) struct Folder(pub(crate) tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    pub(crate) fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> &Self {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, contents).unwrap();
        self
    }

    pub(crate) fn zip(&self, name: &str, files: &[(&str, &[u8])]) -> &Self {
        self.file(name, zip(files))
    }

    /// A package of the provider `zap` that holds nothing but an executable.
    pub(crate) fn package(&self, version: &str, platform: &str) -> &Self {
        let program = format!("program {version} {platform}").repeat(100);
        self.zip(
            &format!("terraform-provider-zap_{version}_{platform}.zip"),
            &[(&format!("terraform-provider-zap_v{version}"), program.as_bytes())],
        )
    }

    /// Damages a zip in the middle of its compressed program.
    pub(crate) fn damage(&self, name: &str) {
        let path = self.path().join(name);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[90] ^= 0x55;
        std::fs::write(path, bytes).unwrap();
    }

    /// A checksum file over every zip.
    pub(crate) fn sums(&self, name: &str) -> &Self {
        let mut text = String::new();
        let mut zips: Vec<PathBuf> =
            std::fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        zips.retain(|path| path.extension().is_some_and(|ending| ending == "zip"));
        zips.sort();
        for zip in zips {
            let digest = Digest::sha256(&std::fs::read(&zip).unwrap());
            writeln!(text, "{}  {}", digest.encoded(), zip.file_name().unwrap().to_str().unwrap()).unwrap();
        }
        self.file(name, text)
    }

    /// The folder's path in a text that is compared.
    pub(crate) fn hide(&self, text: &str) -> String {
        text.replace(&self.path().display().to_string(), "DIST").replace('\\', "/")
    }

    /// What went wrong, with its causes.
    pub(crate) fn told(&self, error: &PackError) -> String {
        let mut text = error.to_string();
        let mut cause = std::error::Error::source(error);
        while let Some(error) = cause {
            write!(text, "\n  cause: {error}").unwrap();
            cause = error.source();
        }
        self.hide(&text)
    }
}

pub(crate) fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().unix_permissions(0o755);
    for (name, contents) in files {
        writer.start_file(*name, options).unwrap();
        writer.write_all(contents).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A push with the usual settings, to be changed by the test.
pub(crate) struct Push {
    pub(crate) dist: Dist,
    pub(crate) address: ProviderAddr,
    pub(crate) version: Version,
    pub(crate) layout: PackageLayout,
    pub(crate) h1: H1Mode,
    pub(crate) small: SmallLayers,
    pub(crate) jobs: usize,
    pub(crate) replace: ReplaceTag,
    pub(crate) rename: Rename,
    pub(crate) executables: ExecutableCheck,
    pub(crate) signer: Option<(PrivateKey, Forms)>,
    pub(crate) sums: SumsMode,
    pub(crate) memo_dir: Option<PathBuf>,
    pub(crate) work: tempfile::TempDir,
}

impl Push {
    pub(crate) fn new(folder: &Folder, version: &str) -> Self {
        Self {
            dist: crate::read_dist(&folder.path()).unwrap(),
            address: "example.com/acme/zap".parse().unwrap(),
            version: version.parse().unwrap(),
            layout: PackageLayout::Artifact,
            h1: H1Mode::Compute,
            small: SmallLayers::Omit,
            jobs: 4,
            replace: ReplaceTag::Refuse,
            rename: Rename::Refuse,
            executables: ExecutableCheck::Refuse,
            signer: None,
            sums: SumsMode::Attach,
            memo_dir: None,
            work: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn request(&self) -> PushRequest<'_> {
        PushRequest {
            dist: &self.dist,
            publication: Publication {
                address: &self.address,
                version: &self.version,
                layout: self.layout,
                jobs: self.jobs,
                replace: self.replace,
                rename: self.rename,
                predecessors: Predecessors::NONE,
                signer: self.signer.as_ref().map(|(key, forms)| Signer::Key(Signing { key, forms: *forms })),
            },
            h1: self.h1,
            small: self.small,
            executables: self.executables,
            docs: None,
            sums: self.sums,
            memo_dir: self.memo_dir.clone(),
            work_dir: self.work.path().to_owned(),
        }
    }

    pub(crate) async fn run(&self, store: &dyn Store) -> Result<PushReport, PackError> {
        let result = crate::push(&self.request(), store, &EventLog::default()).await;
        assert_eq!(std::fs::read_dir(self.work.path()).unwrap().count(), 0, "the work folder is left as it was");
        result
    }
}

/// Keeps the events.
#[derive(Default)]
pub(crate) struct EventLog(Mutex<Vec<Event>>);

impl EventLog {
    /// The codes of the messages.
    pub(crate) fn codes(&self) -> Vec<&'static str> {
        let events = self.0.lock().unwrap();
        events
            .iter()
            .filter_map(|event| if let Event::Message { code, .. } = event { Some(*code) } else { None })
            .collect()
    }

    /// What was reported of the bytes of one subject.
    pub(crate) fn of(&self, name: &str) -> Vec<String> {
        let events = self.0.lock().unwrap();
        let told = events.iter().filter_map(|event| match event {
            Event::Started { subject, bytes } if subject == name => Some(format!("started {}", bytes.unwrap_or(0))),
            Event::Progress { subject, done } if subject == name => Some(format!("progress {done}")),
            Event::Finished { subject, outcome } if subject == name => Some(outcome.clone()),
            _ => None,
        });
        told.collect()
    }
}

impl Reporter for EventLog {
    fn event(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

/// A store in memory that writes down what is done to it, and demands the order in which a release must arrive.
pub(crate) struct Watching {
    pub(crate) inner: MemoryStore,
    /// `push MEDIA_TYPE` and `tag TAG`, in order.
    pub(crate) done: Mutex<Vec<String>>,
    /// Fails the push or tag with this number, from 0.
    pub(crate) fail_at: Option<usize>,
    /// Somebody else publishes this under the tag 1.4.0 while the index is pushed.
    pub(crate) rival: Option<Descriptor>,
    /// Whether it lists what it took as a referrer.
    pub(crate) lists_referrers: bool,
    /// Whether somebody may list its tags.
    pub(crate) lists_tags: bool,
    /// The tag that it does not let go.
    pub(crate) keeps: Option<Tag>,
    /// The content that may not be read.
    pub(crate) denied: Option<Digest>,
    /// Somebody else writes this right after a tag was written, once.
    pub(crate) meanwhile: Mutex<Option<(Descriptor, Tag)>>,
    pub(crate) running: AtomicUsize,
    pub(crate) most_running: AtomicUsize,
    /// While this is false, it takes nothing to its end.
    pub(crate) open: watch::Sender<bool>,
}

impl Watching {
    pub(crate) fn new() -> Self {
        Self {
            inner: MemoryStore::new("memory".parse().unwrap()),
            done: Mutex::default(),
            fail_at: None,
            rival: None,
            lists_referrers: true,
            lists_tags: true,
            keeps: None,
            denied: None,
            meanwhile: Mutex::default(),
            running: AtomicUsize::new(0),
            most_running: AtomicUsize::new(0),
            open: watch::Sender::new(true),
        }
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.done.lock().unwrap())
    }

    fn note(&self, what: String) -> Result<(), StoreError> {
        let mut done = self.done.lock().unwrap();
        if self.fail_at == Some(done.len()) {
            return Err(StoreError::Unreachable {
                place: self.place(),
                fault: tofu_oci_types::NetworkFault::Lost,
                problem: "told to fail".to_owned(),
            });
        }
        done.push(what);
        Ok(())
    }

    fn denial(&self) -> StoreError {
        let fault = tofu_oci_store::AccessFault::RegistryStatus(403);
        StoreError::Denied { place: self.place(), fault, problem: "denied".to_owned() }
    }

    /// Demands that everything that a manifest names is there.
    async fn demand_children(&self, manifest: &[u8]) {
        let manifest: serde_json::Value = serde_json::from_slice(manifest).unwrap();
        let lists = ["layers", "manifests"].iter().filter_map(|name| manifest[name].as_array()).flatten();
        let children: Vec<serde_json::Value> = lists.chain(manifest.get("config")).cloned().collect();
        for child in children {
            let child: Descriptor = serde_json::from_value(child).unwrap();
            assert!(self.inner.exists(&child).await.unwrap(), "{child:?} must come before what names it");
        }
    }
}

#[async_trait]
impl ReadStore for Watching {
    fn place(&self) -> Place {
        self.inner.place()
    }
    async fn resolve(&self, reference: &Reference) -> Result<Descriptor, StoreError> {
        self.inner.resolve(reference).await
    }
    async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        if self.lists_tags {
            return self.inner.tags().await;
        }
        Err(self.denial())
    }
    async fn exists(&self, descriptor: &Descriptor) -> Result<bool, StoreError> {
        self.inner.exists(descriptor).await
    }
    async fn fetch_unverified(&self, descriptor: &Descriptor) -> Result<ByteStream, StoreError> {
        if self.denied.as_ref() == Some(&descriptor.digest) {
            return Err(self.denial());
        }
        self.inner.fetch_unverified(descriptor).await
    }
    async fn referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        if self.lists_referrers { self.inner.referrers(subject).await } else { Ok(Vec::new()) }
    }
}

#[async_trait]
impl Store for Watching {
    async fn push(&self, descriptor: &Descriptor, body: &dyn Body) -> Result<Pushed, StoreError> {
        self.note(format!("push {}", descriptor.media_type))?;
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_running.fetch_max(running, Ordering::SeqCst);
        if let (Some(bytes), true) = (body.in_memory(), tofu_oci_store::is_manifest_type(&descriptor.media_type)) {
            self.demand_children(bytes).await;
        }
        if let (Some(rival), true) = (&self.rival, descriptor.media_type.contains("index")) {
            self.inner.tag(rival, &"1.4.0".parse().unwrap()).await?;
        }
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        self.open.subscribe().wait_for(|open| *open).await.unwrap();
        let pushed = self.inner.push(descriptor, body).await;
        self.running.fetch_sub(1, Ordering::SeqCst);
        pushed
    }

    async fn tag(&self, descriptor: &Descriptor, tag: &Tag) -> Result<(), StoreError> {
        self.note(format!("tag {tag}"))?;
        let mut open = vec![descriptor.clone()];
        while let Some(next) = open.pop() {
            let bytes = fetch_bytes(&self.inner, &next, 1 << 20).await.unwrap();
            self.demand_children(&bytes).await;
            let manifest: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
            let children = manifest["manifests"].as_array().cloned().unwrap_or_default();
            open.extend(children.into_iter().map(|child| serde_json::from_value::<Descriptor>(child).unwrap()));
        }
        self.inner.tag(descriptor, tag).await?;
        let meanwhile = self.meanwhile.lock().unwrap().take();
        match meanwhile {
            Some((descriptor, tag)) => self.inner.tag(&descriptor, &tag).await,
            None => Ok(()),
        }
    }

    async fn untag(&self, tag: &Tag, expected: &Digest) -> Result<bool, StoreError> {
        self.note(format!("untag {tag}"))?;
        if self.keeps.as_ref() == Some(tag) {
            let (by_tag, by_digest) = ("405: no".to_owned(), "405: no".to_owned());
            return Err(StoreError::TagStays { place: self.place(), tag: tag.clone(), by_tag, by_digest });
        }
        self.inner.untag(tag, expected).await
    }
}

/// The tags of a store, as text.
pub(crate) async fn tags(store: &dyn ReadStore) -> BTreeSet<String> {
    store.tags().await.unwrap().iter().map(Tag::to_string).collect()
}

/// The names in a folder, sorted.
pub(crate) fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The P-256 key whose private number is this byte, 32 times over; from 1.
///
/// Spec: RFC 5208 (PKCS#8), RFC 5915 (`ECPrivateKey`).
pub(crate) fn key(number: u8) -> PrivateKey {
    use base64::Engine as _;
    let mut der = vec![0x30, 0x41, 0x02, 0x01, 0x00, 0x30, 0x13];
    der.extend([0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]);
    der.extend([0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]);
    der.extend([0x04, 0x27, 0x30, 0x25, 0x02, 0x01, 0x01, 0x04, 0x20]);
    der.extend([number; 32]);
    let body = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<&str> = body.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    let pem = ["-----BEGIN PRIVATE KEY-----", &lines.join("\n"), "-----END PRIVATE KEY-----", ""].join("\n");
    PrivateKey::from_pem(pem.as_bytes(), None).unwrap()
}
