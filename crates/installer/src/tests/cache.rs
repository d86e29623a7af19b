//! The plugin cache: what is linked from it, what is put into it, and what is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_fetch::FetchError;
use tofu_oci_layout::PackageLayout;
use tofu_oci_source::{Listing, Release, Source, SourceError};
use tofu_oci_store::ReadStore;
use tofu_oci_types::{PackageHash, Place, ProviderAddr, Version};

use super::fixture::{PLATFORM, Published, Workspace, store, with_causes};
use crate::{InstallError, InstallOutcome, InstallRequest, InstallTarget, Installed, PluginCache, Upgrade};

const FOLDER: &str = "registry.example.test/acme/widget/1.0.0/linux_amd64";
const GUIDE: &str = "docs/guide.md";

/// A source that must not be asked.
struct UnaskedSource(Place);

#[async_trait]
impl Source for UnaskedSource {
    fn place(&self) -> &Place {
        &self.0
    }
    async fn versions(&self, _: &ProviderAddr) -> Result<Listing, SourceError> {
        panic!("the versions were asked for")
    }
    async fn release(&self, _: &ProviderAddr, _: &Version) -> Result<Arc<dyn Release>, SourceError> {
        panic!("a release was asked for")
    }
}

/// A folder with a cache and a working directory, and a store with 1.0.0.
struct Setting {
    workspace: Workspace,
    store: Arc<dyn ReadStore>,
    published: Published,
    may_break_lock: bool,
}

impl Setting {
    async fn new() -> Self {
        let (store, published) = store(PackageLayout::Artifact).await;
        let published = published[PLATFORM].clone();
        Self { workspace: Workspace::new(), store, published, may_break_lock: false }
    }

    fn cached(&self) -> PathBuf {
        self.workspace.path().join("cache").join(FOLDER)
    }

    fn installed(&self) -> PathBuf {
        self.workspace.path().join(".terraform/providers").join(FOLDER)
    }

    fn job(&self) -> InstallRequest {
        let dir = self.workspace.path().join("cache");
        let data_dir = self.workspace.path().join(".terraform");
        let cache = Some(PluginCache { dir, may_break_lock: self.may_break_lock });
        InstallRequest {
            target: InstallTarget::WorkingDir { data_dir, cache },
            ..self.workspace.job(Arc::clone(&self.store))
        }
    }

    async fn run(&self, job: InstallRequest) -> Result<Installed, InstallError> {
        self.workspace.run(vec![job]).await.map(|(mut installed, _)| installed.remove(0))
    }

    /// Another working directory: nothing installed, and these lines in the lock file.
    fn begin_again(&self, hashes: &[&PackageHash]) {
        let _ = fs::remove_dir_all(self.workspace.path().join(".terraform"));
        self.workspace.lock("1.0.0", hashes);
    }
}

#[track_caller]
fn assert_link(link: &Path, to: &Path) {
    assert_eq!(fs::read_link(link).unwrap(), to);
    assert!(link.join("terraform-provider-widget_v1.0.0").is_file());
}

#[tokio::test]
async fn a_package_goes_into_the_cache_and_a_link_into_the_working_directory() {
    let setting = Setting::new().await;
    let installed = setting.run(setting.job()).await.unwrap();
    assert_eq!((installed.outcome, &installed.path), (InstallOutcome::Installed, &setting.installed()));
    assert_link(&setting.installed(), &setting.cached());
    for place in [setting.installed(), setting.cached()] {
        assert!(place.with_extension("lock").is_file(), "the lock of {}", place.display());
    }
    assert_eq!(setting.workspace.locked().len(), 3);
}

#[tokio::test]
async fn what_is_locked_and_cached_is_linked_without_a_request() {
    let setting = Setting::new().await;
    setting.run(setting.job()).await.unwrap();
    setting.begin_again(&[&setting.published.h1]);
    let job = || InstallRequest { source: Arc::new(UnaskedSource("nowhere".parse().unwrap())), ..setting.job() };
    let linked = setting.run(job()).await.unwrap();
    assert_eq!((linked.outcome, linked.layout), (InstallOutcome::Linked, None));
    assert_link(&setting.installed(), &setting.cached());
    assert_eq!(setting.workspace.locked(), [setting.published.h1.to_string()], "nothing else was verified");
    let again = setting.run(job()).await.unwrap();
    assert_eq!(again.outcome, InstallOutcome::AlreadyInstalled);
}

#[tokio::test]
async fn an_upgrade_asks_for_the_versions_and_links_the_one_that_is_locked() {
    let setting = Setting::new().await;
    setting.run(setting.job()).await.unwrap();
    setting.begin_again(&[&setting.published.h1]);
    let linked = setting.run(InstallRequest { upgrade: Upgrade::Newest, ..setting.job() }).await.unwrap();
    assert_eq!(linked.outcome, InstallOutcome::Linked);
    assert_eq!(setting.workspace.reporter.downloads(), 1);
}

#[cfg(unix)]
#[tokio::test]
async fn a_dangling_link_of_another_cache_is_fixed() {
    let setting = Setting::new().await;
    setting.run(setting.job()).await.unwrap();
    setting.begin_again(&[&setting.published.h1]);
    fs::create_dir_all(setting.installed().parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("/nowhere", setting.installed()).unwrap();
    let linked = setting.run(setting.job()).await.unwrap();
    assert_eq!(linked.outcome, InstallOutcome::Linked);
    assert_eq!(setting.workspace.reporter.codes(), ["replaced-by-link"]);
    assert_link(&setting.installed(), &setting.cached());
}

#[tokio::test]
async fn without_a_locked_h1_the_package_is_fetched_and_compared() {
    let setting = Setting::new().await;
    setting.run(setting.job()).await.unwrap();
    let zh = setting.published.zh.clone();
    for (number, lines) in [vec![&zh], vec![]].into_iter().enumerate() {
        setting.begin_again(&lines);
        let installed = setting.run(setting.job()).await.unwrap();
        assert_eq!(installed.outcome, InstallOutcome::Installed);
        assert_eq!(setting.workspace.reporter.downloads(), number + 2);
        assert_eq!(setting.workspace.locked().len(), 3);
    }
}

#[tokio::test]
async fn a_cached_package_that_was_changed_is_refused_and_stays() {
    let setting = Setting::new().await;
    setting.run(setting.job()).await.unwrap();
    fs::write(setting.cached().join(GUIDE), "tampered").unwrap();
    setting.begin_again(&[&setting.published.h1, &setting.published.zh]);
    let before = setting.workspace.locked();
    let error = setting.run(setting.job()).await.unwrap_err();
    let InstallError::Fetch(FetchError::LocallyModified { path, .. }) = &error else {
        panic!("{}", with_causes(&error))
    };
    assert_eq!(*path, setting.cached());
    assert_eq!(fs::read_to_string(setting.cached().join(GUIDE)).unwrap(), "tampered");
    assert!(fs::symlink_metadata(setting.installed()).is_err(), "nothing is linked");
    assert_eq!(setting.workspace.locked(), before);
}

#[tokio::test]
async fn a_cache_that_may_break_the_lock_file_is_used_without_checksums() {
    let mut setting = Setting::new().await;
    setting.run(setting.job()).await.unwrap();
    setting.may_break_lock = true;
    fs::remove_file(setting.workspace.lock_path()).unwrap();
    fs::remove_dir_all(setting.workspace.path().join(".terraform")).unwrap();
    let linked = setting.run(setting.job()).await.unwrap();
    assert_eq!(linked.outcome, InstallOutcome::Linked);
    assert_eq!(setting.workspace.locked(), [setting.published.h1.to_string()]);
    assert_eq!(setting.workspace.reporter.downloads(), 1);
    // Checksums that are there bind all the same.
    setting.begin_again(&[&setting.published.zh]);
    assert_eq!(setting.run(setting.job()).await.unwrap().outcome, InstallOutcome::Installed);
    assert_eq!(setting.workspace.reporter.downloads(), 2);
}

#[tokio::test]
async fn a_cache_that_may_break_the_lock_file_is_not_used_without_an_executable() {
    let mut setting = Setting::new().await;
    setting.may_break_lock = true;
    fs::create_dir_all(setting.cached()).unwrap();
    fs::write(setting.cached().join("README.md"), "no provider").unwrap();
    let error = setting.run(setting.job()).await.unwrap_err();
    assert!(matches!(error, InstallError::Fetch(FetchError::LocallyModified { .. })), "{}", with_causes(&error));
}

#[tokio::test]
async fn two_at_once_share_a_cache() {
    let setting = Setting::new().await;
    let other = Workspace::new();
    let mut job = setting.job();
    if let InstallTarget::WorkingDir { data_dir, .. } = &mut job.target {
        *data_dir = other.path().join(".terraform");
    }
    let (first, second) = tokio::join!(setting.run(setting.job()), other.run(vec![job]));
    first.unwrap();
    second.unwrap();
    assert_link(&setting.installed(), &setting.cached());
    assert_link(&other.path().join(".terraform/providers").join(FOLDER), &setting.cached());
    let beside: Vec<_> = fs::read_dir(setting.cached().parent().unwrap()).unwrap().flatten().collect();
    assert_eq!(beside.len(), 2, "the package and its lock: {beside:?}");
}
