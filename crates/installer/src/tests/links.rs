//! Symbolic links in a tree of packages that lead out of it, as a repository may have them checked in.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tofu_oci_disk::LockError;
use tofu_oci_fetch::FetchError;
use tofu_oci_layout::PackageLayout;

use super::fixture::{PLATFORM, Workspace, store};
use crate::{InstallError, InstallOutcome, InstallRequest, InstallTarget, Installed, PluginCache};

const PROVIDER: &str = "registry.example.test/acme/widget";

/// The ways to install into `root`, each with the folder that packages lie in.
fn targets(root: &Path) -> [(InstallTarget, PathBuf); 4] {
    let cache = Some(PluginCache { dir: root.join("cache"), may_break_lock: true });
    let data_dir = root.join(".terraform");
    [
        (InstallTarget::WorkingDir { data_dir: data_dir.clone(), cache: None }, data_dir.join("providers")),
        (InstallTarget::WorkingDir { data_dir: data_dir.clone(), cache }, data_dir.join("providers")),
        (InstallTarget::vendor(root), root.join("terraform.d/plugins")),
        (InstallTarget::MirrorPacked(root.join("packed")), root.join("packed")),
    ]
}

async fn put(workspace: &Workspace, target: &InstallTarget) -> Result<Installed, InstallError> {
    let (store, _) = store(PackageLayout::Artifact).await;
    let job = InstallRequest { target: target.clone(), ..workspace.job(store) };
    workspace.run(vec![job]).await.map(|(mut installed, _)| installed.remove(0))
}

/// What lies below `.../outside`, which belongs to another project.
fn outside(workspace: &Workspace) -> BTreeMap<String, String> {
    workspace.snapshot().into_iter().filter(|(name, _)| name.starts_with("outside/")).collect()
}

/// A folder of another project: with something in the package's place, and with what a sweep would take for
/// ours.
fn precious(workspace: &Workspace, below: &str) -> PathBuf {
    let outside = workspace.path().join("outside");
    let package = outside.join(below).join(PLATFORM);
    fs::create_dir_all(package.join("docs")).unwrap();
    fs::write(package.join("docs/thesis.md"), "years of work").unwrap();
    fs::create_dir_all(package.with_file_name(".tofu-oci-1-0/package")).unwrap();
    fs::create_dir_all(outside.join(".tofu-oci-1-0/package")).unwrap();
    outside
}

#[track_caller]
fn assert_refused(result: &Result<Installed, InstallError>, link: &Path) {
    match result {
        Err(error) if error.code() == "link-out-of-tree" => {
            assert!(error.to_string().contains(&*link.to_string_lossy()));
        }
        other => panic!("{}: {other:?}", link.display()),
    }
}

#[tokio::test]
async fn nothing_is_made_or_deleted_where_a_link_in_the_tree_leads_out_of_it() {
    let parts = ["registry.example.test", "acme", "widget", "1.0.0"];
    for nth in 0..4 {
        for depth in 1..=parts.len() {
            let workspace = Workspace::new();
            let (target, root) = targets(workspace.path())[nth].clone();
            if matches!(target, InstallTarget::MirrorPacked(_)) && depth == parts.len() {
                continue;
            }
            // With the package in the cache, so that it would be linked.
            if matches!(target, InstallTarget::WorkingDir { cache: Some(_), .. }) {
                put(&workspace, &target).await.unwrap();
                fs::remove_dir_all(workspace.path().join(".terraform")).unwrap();
            }
            let link = root.join(parts[..depth].join("/"));
            let outside_folder = precious(&workspace, &parts[depth..].join("/"));
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(&outside_folder, &link).unwrap();
            let before = outside(&workspace);
            let result = put(&workspace, &target).await;
            assert_eq!(outside(&workspace), before, "{}", link.display());
            assert_refused(&result, &link);
        }
    }
}

#[tokio::test]
async fn a_link_to_a_folder_that_is_not_there_makes_none() {
    for (nth, name) in [(0, "1.0.0"), (0, ""), (2, "1.0.0"), (2, "")] {
        let workspace = Workspace::new();
        let (target, root) = targets(workspace.path())[nth].clone();
        let link = root.join(PROVIDER).join(name);
        let link = PathBuf::from(link.to_string_lossy().trim_end_matches('/'));
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        fs::create_dir(workspace.path().join("outside")).unwrap();
        symlink("../../../../../../outside/none", &link).unwrap();
        assert_refused(&put(&workspace, &target).await, &link);
        assert!(outside(&workspace).len() <= 1);
    }
}

#[tokio::test]
async fn the_lock_of_a_package_is_not_made_where_a_link_leads() {
    for nth in [0, 1] {
        let workspace = Workspace::new();
        let (target, root) = targets(workspace.path())[nth].clone();
        let outside_folder = precious(&workspace, "");
        let lock = root.join(PROVIDER).join("1.0.0").join(format!("{PLATFORM}.lock"));
        fs::create_dir_all(lock.parent().unwrap()).unwrap();
        symlink(outside_folder.join("new"), &lock).unwrap();
        let before = outside(&workspace);
        let result = put(&workspace, &target).await;
        assert_eq!(outside(&workspace), before);
        match result {
            Err(InstallError::Fetch(FetchError::Lock(LockError::Io(error)))) => assert_eq!(error.path, lock),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_package_that_is_a_link_gives_way_and_what_it_leads_to_stays() {
    let workspace = Workspace::new();
    let (target, root) = targets(workspace.path())[1].clone();
    let outside_folder = precious(&workspace, "");
    let link = root.join(PROVIDER).join("1.0.0").join(PLATFORM);
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(outside_folder.join(PLATFORM), &link).unwrap();
    let before = outside(&workspace);
    put(&workspace, &target).await.unwrap();
    assert_eq!(fs::read_link(&link).unwrap(), workspace.path().join("cache").join(PROVIDER).join("1.0.0/linux_amd64"));
    assert_eq!(outside(&workspace), before);
}

#[tokio::test]
async fn links_that_people_make_stay_allowed() {
    for nth in 0..4 {
        // The tree itself, and what it lies in.
        let workspace = Workspace::new();
        let (target, root) = targets(workspace.path())[nth].clone();
        let elsewhere = workspace.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::create_dir_all(root.parent().unwrap()).unwrap();
        symlink(&elsewhere, &root).unwrap();
        put(&workspace, &target).await.unwrap();
        assert!(elsewhere.join(PROVIDER).is_dir());

        // A link inside the tree.
        let workspace = Workspace::new();
        let (target, root) = targets(workspace.path())[nth].clone();
        fs::create_dir_all(root.join("mirror.example.test")).unwrap();
        symlink("mirror.example.test", root.join("registry.example.test")).unwrap();
        put(&workspace, &target).await.unwrap();
        assert!(root.join("mirror.example.test/acme/widget").is_dir());
    }
    let workspace = Workspace::new();
    fs::create_dir(workspace.path().join("data")).unwrap();
    symlink("data", workspace.path().join(".terraform")).unwrap();
    let (target, _) = targets(workspace.path())[0].clone();
    assert_eq!(put(&workspace, &target).await.unwrap().outcome, InstallOutcome::Installed);
    // Reading a locked package follows any link.
    let version = workspace.path().join("data/providers").join(PROVIDER).join("1.0.0");
    fs::rename(&version, workspace.path().join("moved")).unwrap();
    symlink(workspace.path().join("moved"), &version).unwrap();
    assert_eq!(put(&workspace, &target).await.unwrap().outcome, InstallOutcome::AlreadyInstalled);
}

#[tokio::test]
async fn links_that_lead_in_a_circle_between_the_cache_and_the_place_give_way_to_the_package() {
    let workspace = Workspace::new();
    let (target, root) = targets(workspace.path())[1].clone();
    let below = Path::new(PROVIDER).join("1.0.0").join(PLATFORM);
    let (cached, place) = (workspace.path().join("cache").join(&below), root.join(&below));
    for (link, to) in [(&cached, &place), (&place, &cached)] {
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(to, link).unwrap();
    }
    put(&workspace, &target).await.unwrap();
    assert!(cached.join("terraform-provider-widget_v1.0.0").is_file());
    assert!(place.join("terraform-provider-widget_v1.0.0").is_file());
}
