//! Packages that are used without a download although signatures are required: their bytes must be covered.

mod bytes;
mod pins;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use tofu_oci_archive::read_directory;
use tofu_oci_fetch::FetchError;
use tofu_oci_layout::PackageLayout;
use tofu_oci_source::{Failure, NotRead, OciSource};
use tofu_oci_store::MemoryStore;
use tofu_oci_trust::{Policy, Standing};
use tofu_oci_types::{Constraints, PackageHash};

use super::fixture::{ADDRESS, Annotations, PLATFORM, Published, Workspace, address, publish, store};
use super::signing::{index, policy, sign};
use crate::{
    Basis, InstallError, InstallOutcome, InstallRequest, InstallTarget, Installed, LockOptions, LockRequest, LockWrite,
    PlatformChoice, PluginCache, Upgrade, install, lock,
};

const FOLDER: &str = "registry.example.test/acme/widget/1.0.0/linux_amd64";
const PROGRAM: &str = "terraform-provider-widget_v1.0.0";

/// A working directory with a plugin cache, and a signed 1.0.0 in a store.
struct Setting {
    workspace: Workspace,
    store: Arc<MemoryStore>,
    published: Published,
    policy: Arc<Policy>,
    may_break_lock: bool,
}

impl Setting {
    async fn new(layout: PackageLayout, annotations: Annotations) -> Self {
        let store = Arc::new(MemoryStore::new("memory".parse().unwrap()));
        let published = publish(&*store, "1.0.0", layout, annotations).await[PLATFORM].clone();
        sign(&store, "1.0.0").await;
        Self { workspace: Workspace::new(), store, published, policy: policy(""), may_break_lock: false }
    }

    /// The same after the package was installed through the cache.
    async fn used(layout: PackageLayout, annotations: Annotations) -> Self {
        let setting = Self::new(layout, annotations).await;
        setting.run(setting.cached()).await.unwrap();
        setting.forget_installed();
        setting
    }

    fn in_cache(&self) -> PathBuf {
        self.workspace.path().join("cache").join(FOLDER)
    }

    fn installed(&self) -> PathBuf {
        self.workspace.path().join(".terraform/providers").join(FOLDER)
    }

    fn forget_installed(&self) {
        let _ = fs::remove_dir_all(self.workspace.path().join(".terraform"));
    }

    /// A request through the plugin cache.
    fn cached(&self) -> InstallRequest {
        let cache = Some(PluginCache { dir: self.workspace.path().join("cache"), may_break_lock: self.may_break_lock });
        let data_dir = self.workspace.path().join(".terraform");
        self.to(InstallTarget::WorkingDir { data_dir, cache })
    }

    /// A request into `.terraform` itself.
    fn bare(&self) -> InstallRequest {
        self.to(InstallTarget::WorkingDir { data_dir: self.workspace.path().join(".terraform"), cache: None })
    }

    fn to(&self, target: InstallTarget) -> InstallRequest {
        InstallRequest { target, ..self.workspace.job(self.store.clone()) }
    }

    async fn run(&self, job: InstallRequest) -> Result<Installed, InstallError> {
        let mut options = self.workspace.options();
        options.trust.policy = Arc::clone(&self.policy);
        let done = install(&[job], &options, &self.workspace.reporter).await;
        done.map(|mut report| report.installed.remove(0))
    }

    /// Installs from a place that does not answer.
    async fn away(&self, job: InstallRequest) -> Result<Installed, InstallError> {
        let failing = NotRead::failing(
            tofu_oci_types::Place::Method("the place".to_owned()),
            Failure::ServerError("500".to_owned()),
        );
        self.run(InstallRequest { source: Arc::new(failing), ..job }).await
    }

    /// The other package's `h1:` beside the line that names the release's own package.
    fn lock_other(&self, other: &PackageHash) {
        let own = self.published.ch.values().next().unwrap();
        self.workspace.lock("1.0.0", &[other, &self.published.zh, own]);
    }

    /// The contents in the only pin.
    fn contents(&self) -> serde_json::Value {
        let pins = fs::read(self.workspace.trust().pins_path).unwrap();
        serde_json::from_slice::<serde_json::Value>(&pins).unwrap()["providers"][0]["contents"].clone()
    }

    /// Rewrites the pins without contents, as an older version left them.
    fn forget_contents(&self) {
        let path = self.workspace.trust().pins_path;
        let mut pins: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        for pin in pins["providers"].as_array_mut().unwrap() {
            pin.as_object_mut().unwrap().remove("contents");
        }
        fs::write(&path, pins.to_string()).unwrap();
    }
}

/// Puts another package into the folder; returns its `h1:`.
fn other_package(folder: &Path) -> PackageHash {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(PROGRAM), "#!/bin/sh\necho somebody else's\n").unwrap();
    read_directory(folder, &tofu_oci_archive::Limits::default()).unwrap().h1()
}

fn standing(installed: &Installed) -> Option<Standing> {
    installed.trust.as_ref().map(|trust| trust.standing)
}

/// Nothing of it was used: the package was fetched, and what lay there is another one.
#[track_caller]
fn assert_compared(result: &Result<Installed, InstallError>, path: &Path) {
    match result {
        Err(InstallError::Fetch(FetchError::LocallyModified { path: named, .. })) => assert_eq!(named, path),
        other => panic!("{other:?}"),
    }
}
