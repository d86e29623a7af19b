//! Modules in a store, fetched and put into folders.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use serde_json::json;
use tofu_oci_archive::{InputFile, Limits, write_zip};
use tofu_oci_source::ModulePackage;
use tofu_oci_store::{MemoryStore, Store as _};
use tofu_oci_types::{Descriptor, Digest, NoReporter, Reference, Subdir, Tag};

use super::*;

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// A store with one module package, and a folder to pull it into.
struct World {
    store: Arc<MemoryStore>,
    folder: tempfile::TempDir,
}

/// The zip of these files.
fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let input = |(number, (name, content)): (usize, &(&str, &str))| {
        let path = folder.path().join(number.to_string());
        fs::write(&path, content).unwrap();
        InputFile { name: (*name).to_owned(), path, executable: false }
    };
    let input: Vec<InputFile> = files.iter().enumerate().map(input).collect();
    let path = folder.path().join("zip");
    write_zip(&input, &path).unwrap();
    fs::read(path).unwrap()
}

impl World {
    async fn new(files: &[(&str, &str)]) -> Self {
        Self::of_zip(zip(files)).await
    }

    /// A package with these bytes, under the tag 1.0.0.
    async fn of_zip(zip: Vec<u8>) -> Self {
        let place = "registry.example.test/acme/network".parse().unwrap();
        let world = Self { store: Arc::new(MemoryStore::new(place)), folder: tempfile::tempdir().unwrap() };
        let layer = Descriptor::of("archive/zip", &zip);
        let manifest = json!({ "schemaVersion": 2, "mediaType": MANIFEST,
            "artifactType": "application/vnd.opentofu.modulepkg", "layers": [layer] });
        let bytes = serde_json::to_vec(&manifest).unwrap();
        let manifest = Descriptor::of(MANIFEST, &bytes);
        world.store.insert_unchecked(&layer, Bytes::from(zip));
        world.store.insert_unchecked(&manifest, Bytes::from(bytes));
        world.store.tag(&manifest, &"1.0.0".parse::<Tag>().unwrap()).await.unwrap();
        world
    }

    fn dir(&self) -> PathBuf {
        self.folder.path().join("work/network")
    }

    async fn pull(&self, subdir: &str, replace: Replace) -> Result<ModulePlaced, ModuleFetchError> {
        let reference = Reference::Tag("1.0.0".parse().unwrap());
        let store: Arc<MemoryStore> = Arc::clone(&self.store);
        let package = ModulePackage::of_store(store, &reference, Subdir::new(subdir).unwrap()).await.unwrap();
        let target = ModuleDir::new(Path::new("work/network"), self.folder.path())?;
        let limits = Limits::default();
        fetch_module(&package, &target, "network", &limits, &NoReporter).await?.place(replace, &limits).await
    }

    /// The code of the refusal.
    async fn refused(&self, subdir: &str) -> &'static str {
        let refused = self.pull(subdir, Replace::Never).await.expect_err("must be refused").code();
        assert_eq!(self.left(), BTreeMap::new(), "nothing is left");
        refused
    }

    /// Every file below the folder, with its content.
    fn left(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let mut waiting = vec![self.folder.path().to_owned()];
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    waiting.push(path);
                } else {
                    let name = path.strip_prefix(self.folder.path()).unwrap().to_str().unwrap().replace('\\', "/");
                    found.insert(name, fs::read_to_string(&path).unwrap());
                }
            }
        }
        found
    }
}

fn files(files: &[(&str, &str)]) -> BTreeMap<String, String> {
    files.iter().map(|(name, content)| (format!("work/network/{name}"), (*content).to_owned())).collect()
}

#[tokio::test]
async fn a_module_is_unpacked_into_a_new_or_empty_folder_and_nothing_else_is_left() {
    for is_empty in [false, true] {
        let world = World::new(&[("main.tf", "a"), ("sub/x.tf", "b")]).await;
        if is_empty {
            fs::create_dir_all(world.dir()).unwrap();
        }
        assert_eq!(world.pull("", Replace::Never).await.unwrap(), ModulePlaced::Now);
        assert_eq!(world.left(), files(&[("main.tf", "a"), ("sub/x.tf", "b")]));
    }
}

#[tokio::test]
async fn the_same_files_are_up_to_date_and_others_stay_unless_they_are_to_be_replaced() {
    let world = World::new(&[("main.tf", "a")]).await;
    world.pull("", Replace::Never).await.unwrap();
    assert_eq!(world.pull("", Replace::Never).await.unwrap(), ModulePlaced::Before);
    assert_eq!(world.pull("", Replace::Everything).await.unwrap(), ModulePlaced::Before);
    fs::write(world.dir().join("mine.tf"), "m").unwrap();
    assert_eq!(world.pull("", Replace::Never).await.unwrap_err().code(), "folder-not-empty");
    assert_eq!(world.left(), files(&[("main.tf", "a"), ("mine.tf", "m")]));
    assert_eq!(world.pull("", Replace::Everything).await.unwrap(), ModulePlaced::Replaced);
    assert_eq!(world.left(), files(&[("main.tf", "a")]));
}

/// A client that reads the module meanwhile finds the old one or the new one.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_folder_was_gone_for_a_moment_while_its_files_were_replaced() {
    let world = World::new(&[("main.tf", "a")]).await;
    world.pull("", Replace::Never).await.unwrap();
    let (dir, is_over) = (world.dir(), Arc::new(AtomicBool::new(false)));
    let (looked_at, ends) = (dir.clone(), Arc::clone(&is_over));
    let looking = std::thread::spawn(move || {
        let mut missing = 0;
        while !ends.load(Ordering::Relaxed) {
            missing += usize::from(!looked_at.exists());
        }
        missing
    });
    for _ in 0..200 {
        fs::write(dir.join("mine.tf"), "m").unwrap();
        assert_eq!(world.pull("", Replace::Everything).await.unwrap(), ModulePlaced::Replaced);
    }
    is_over.store(true, Ordering::Relaxed);
    assert_eq!(looking.join().unwrap(), 0);
    assert_eq!(world.left(), files(&[("main.tf", "a")]));
}

#[tokio::test]
async fn a_folder_of_the_package_is_pulled_alone() {
    let world =
        World::new(&[("main.tf", "a"), ("modules/dns/x.tf", "b"), ("modules/vpc/y.tf", "c"), ("z/y.tf", "c")]).await;
    assert_eq!(world.refused("nope").await, "subdir-missing");
    assert_eq!(world.refused("main.tf").await, "subdir-missing");
    assert_eq!(world.refused("modules/*").await, "subdir-ambiguous");
    assert_eq!(world.pull("modules/dns", Replace::Never).await.unwrap(), ModulePlaced::Now);
    assert_eq!(world.left(), files(&[("x.tf", "b")]));
}

#[tokio::test]
async fn a_pattern_may_match_one_folder() {
    let world = World::new(&[("network-1.0.0/main.tf", "a"), ("network-1.0.0/dns/x.tf", "b"), ("README", "c")]).await;
    assert_eq!(world.pull("*/dns", Replace::Never).await.unwrap(), ModulePlaced::Now);
    assert_eq!(world.left(), files(&[("x.tf", "b")]));
}

#[tokio::test]
async fn a_damaged_or_hostile_archive_leaves_nothing() {
    assert_eq!(World::of_zip(b"no zip".to_vec()).await.refused("").await, "bad-zip");
    let mut cut = zip(&[("main.tf", "a")]);
    cut.truncate(cut.len() - 8);
    assert_eq!(World::of_zip(cut).await.refused("").await, "bad-zip");
    // The blob is not the one that the manifest names.
    let world = World::new(&[("main.tf", "a")]).await;
    let good = zip(&[("main.tf", "a")]);
    let other = zip(&[("main.tf", "b")]);
    assert_eq!(good.len(), other.len());
    world.store.insert_unchecked(&Descriptor::of("archive/zip", &good), Bytes::from(other));
    assert_eq!(world.refused("").await, "blob-digest-mismatch");
    let world = World::new(&[("main.tf", "a")]).await;
    world.store.remove(&Digest::sha256(&good));
    assert_eq!(world.refused("").await, "blob-not-found");
}

#[tokio::test]
async fn links_repositories_and_the_current_folder_are_never_replaced() {
    let world = World::new(&[("main.tf", "a")]).await;
    let root = world.folder.path();
    fs::create_dir_all(root.join("work/real/.git")).unwrap();
    fs::write(root.join("file"), "x").unwrap();
    let refused = |name: &str| ModuleDir::new(Path::new(name), &root.join("work")).unwrap_err().to_string();
    assert_eq!(refused("../file"), "../file is a file, and a module is a folder");
    assert_eq!(refused("real"), "real is the root of a git repository, which is never replaced; name a folder in it");
    assert_eq!(refused("."), ". is the current folder, or one above it; name a folder in it");
    assert_eq!(refused(".."), ".. is the current folder, or one above it; name a folder in it");
    assert_eq!(refused("/"), "/ is the current folder, or one above it; name a folder in it");
    assert!(refused("new/..").contains("not the name of a new folder"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("real", root.join("work/link")).unwrap();
        assert_eq!(refused("link"), "link is a symbolic link; name the folder that it leads to");
    }
}

#[test]
fn two_modules_made_a_bare_repository_whose_settings_git_runs() {
    let root = tempfile::tempdir().expect("a test's folder");
    let put = |name: &str| {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().expect("a test's file is in a folder")).expect("the folder is made");
        fs::write(path, "x").expect("the file is written");
    };
    for name in ["o/HEAD", "o/config", "o/objects/x", "p/Head", "p/refs/x", "q/HEAD", "q/objects/x"] {
        put(name);
    }
    let taken = |name: &str| match ModuleDir::new(Path::new(name), root.path()) {
        Ok(_) => "taken".to_owned(),
        Err(error) => format!("{error} ({})", error.code()),
    };
    let told = "o/refs is a part that makes a folder above it a repository of git, whose settings can run commands; \
                name another folder (folder-not-replaced)";
    assert_eq!(taken("o/refs"), told);
    for name in ["o/REFS", "o/refs/heads", "p/objects/pack/x", "o/commondir"] {
        assert!(taken(name).ends_with("(folder-not-replaced)"), "{name}: {}", taken(name));
    }
    for name in ["o/x", "o/x/refs", "refs", "p/refs/y", "refs/objects/x", "o/refs.d"] {
        assert_eq!(taken(name), "taken", "{name}");
    }
}
