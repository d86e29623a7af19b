//! Odd folders.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use futures_util::TryStreamExt as _;
use tofu_oci_types::ProviderAddr;

use super::FolderSource;
use crate::{Offer, Package, Source as _, SourceError};

const ADDRESS: &str = "example.com/acme/widget";
const ZIP: &str = "terraform-provider-widget_1.0.0_linux_amd64.zip";

/// A folder with these files, each of which holds its own name; a name that ends in `/` is a folder.
fn folder(names: &[&str]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for name in names {
        put(root.path(), name);
    }
    root
}

fn put(root: &Path, name: &str) {
    let path = root.join(name);
    if name.ends_with('/') {
        return fs::create_dir_all(path).unwrap();
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, name).unwrap();
}

fn address() -> ProviderAddr {
    ADDRESS.parse().unwrap()
}

async fn offer(source: &FolderSource, version: &str, platform: &str) -> Result<Offer, SourceError> {
    source.release(&address(), &version.parse().unwrap()).await?.offer(&platform.parse().unwrap()).await
}

/// The bytes of the zip that is offered.
async fn bytes(offer: &Offer) -> Result<String, SourceError> {
    let Package::Zip(part) = &offer.package else { panic!("no zip: {:?}", offer.package) };
    let stream = part.checked(offer.place(), offer.release.open(part).await?.stream)?;
    let pieces: Vec<_> = stream.try_collect().await?;
    Ok(String::from_utf8(pieces.concat()).unwrap())
}

/// What the folder has of the provider: `VERSION: PLATFORM …`, or the code of the error.
async fn listed(root: &Path) -> String {
    let source = FolderSource::new(root);
    let listing = match source.versions(&address()).await {
        Ok(listing) => listing,
        Err(error) => return error.code().to_owned(),
    };
    let mut lines = Vec::new();
    for version in &listing.versions {
        let release = source.release(&address(), version).await.unwrap();
        let platforms: Vec<String> = release.platforms().await.unwrap().iter().map(ToString::to_string).collect();
        lines.push(format!("{version}: {}", platforms.join(" ")));
    }
    lines.join(", ")
}

#[track_caller]
fn check(names: &[&str], want: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let names: Vec<String> = names.iter().map(|name| name.replace("WIDGET", ADDRESS)).collect();
    let root = folder(&names.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(runtime.block_on(listed(root.path())), want, "{names:?}");
}

#[test]
fn zips_and_folders_are_packages() {
    check(&[&format!("WIDGET/{ZIP}"), "WIDGET/1.1.0/linux_amd64/x"], "1.0.0: linux_amd64, 1.1.0: linux_amd64");
    check(&["WIDGET/1.10.0/linux_amd64/", "WIDGET/1.9.0/darwin_arm64/x"], "1.9.0: darwin_arm64, 1.10.0: linux_amd64");
    check(&["Example.COM/Acme/widget/Terraform-Provider-Widget_1.0.0_Linux_AMD64_x.ZIP"], "1.0.0: linux_amd64");
    check(
        &["WIDGET/1.0.0+b1/linux_amd64/x", "WIDGET/1.0.0/linux_amd64/x"],
        "1.0.0: linux_amd64, 1.0.0+b1: linux_amd64",
    );
}

#[test]
fn other_names_are_passed_over() {
    check(&[], "provider-not-found");
    check(&["example.com/acme/gadget/1.0.0/linux_amd64/x"], "provider-not-found");
    check(
        &["WIDGET/index.json", "WIDGET/1.0.0.json", "WIDGET/latest/linux_amd64/x", "a b/c/d/1.0.0/linux_amd64/x", "x"],
        "provider-not-found",
    );
    check(&["WIDGET/1.0.0/.tofu-oci-1-0/package/x", "WIDGET/1.0.0/linux_amd64.lock"], "provider-not-found");
}

#[tokio::test]
async fn of_a_folder_and_a_zip_the_folder_counts() {
    let root = folder(&[&format!("{ADDRESS}/{ZIP}"), &format!("{ADDRESS}/1.0.0/linux_amd64/x")]);
    let offer = offer(&FolderSource::new(root.path()), "1.0.0", "linux_amd64").await.unwrap();
    assert_eq!(offer.package, Package::Folder(root.path().join(ADDRESS).join("1.0.0/linux_amd64")));
    assert_eq!((offer.bytes(), offer.zh(), offer.allowed.len()), (None, None, 0));
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let root = folder(&[&format!("{ADDRESS}/{ZIP}")]);
    let source = FolderSource::new(root.path());
    let offer = offer(&source, "1.0.0", "linux_amd64").await.unwrap();
    assert_eq!(bytes(&offer).await.unwrap(), format!("{ADDRESS}/{ZIP}"));
    assert_eq!(self::offer(&source, "1.0.0", "linux_arm64").await.unwrap_err().code(), "platform-not-supported");
    assert_eq!(self::offer(&source, "2.0.0", "linux_amd64").await.unwrap_err().code(), "mirror-version-missing");
}

#[tokio::test]
async fn a_missing_folder_is_an_error_and_not_a_missing_provider() {
    let root = folder(&["a-file"]);
    for (name, want) in [("missing", "missing does not exist"), ("a-file", "a-file is not a folder")] {
        let error = FolderSource::new(root.path().join(name)).versions(&address()).await.unwrap_err();
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert_eq!((error.code(), cause), ("fs-dir-missing", format!("{}/{want}", root.path().display())));
        assert!(error.is_without_answer());
    }
}

#[tokio::test]
async fn a_folder_that_changes_after_it_was_searched_is_an_error() {
    let root = folder(&[&format!("{ADDRESS}/{ZIP}")]);
    let (source, zip) = (FolderSource::new(root.path()), root.path().join(ADDRESS).join(ZIP));
    let first = offer(&source, "1.0.0", "linux_amd64").await.unwrap();
    fs::write(&zip, "another zip").unwrap();
    let error = bytes(&first).await.unwrap_err();
    assert!(error.to_string().contains("has the wrong size"), "{error}");
    fs::remove_file(&zip).unwrap();
    assert_eq!(offer(&source, "1.0.0", "linux_amd64").await.unwrap_err().code(), "archive-not-found");
}

#[tokio::test]
async fn a_folder_is_searched_once() {
    let root = folder(&[&format!("{ADDRESS}/{ZIP}")]);
    let source = Arc::new(FolderSource::new(root.path()));
    assert_eq!(source.versions(&address()).await.unwrap().versions.len(), 1);
    fs::remove_dir_all(root.path().join("example.com")).unwrap();
    assert_eq!(source.versions(&address()).await.unwrap().versions.len(), 1);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[tokio::test]
    async fn links_are_packages_and_lead_nowhere_else() {
        let elsewhere = folder(&["package/x", "a.zip", "versions/linux_amd64/x", "types/widget/1.0.0/linux_amd64/x"]);
        let to = |name: &str| elsewhere.path().join(name);
        let root = folder(&[&format!("{ADDRESS}/1.0.0/")]);
        let own = root.path().join(ADDRESS);
        symlink(to("package"), own.join("1.0.0/linux_amd64")).unwrap();
        symlink(to("a.zip"), own.join("terraform-provider-widget_1.1.0_linux_amd64.zip")).unwrap();
        symlink(to("nowhere"), own.join("terraform-provider-widget_1.2.0_linux_amd64.zip")).unwrap();
        symlink(to("versions"), own.join("2.0.0")).unwrap();
        symlink(to("types"), root.path().join("example.com/other")).unwrap();
        symlink(root.path(), own.join("circle")).unwrap();
        assert_eq!(listed(root.path()).await, "1.0.0: linux_amd64, 1.1.0: linux_amd64, 1.2.0: linux_amd64");
        let linked = elsewhere.path().join("mirror");
        symlink(root.path(), &linked).unwrap();
        assert!(listed(&linked).await.starts_with("1.0.0: linux_amd64"), "the folder itself may be a link");
        let dangling = offer(&FolderSource::new(root.path()), "1.2.0", "linux_amd64").await.unwrap_err();
        assert_eq!(dangling.code(), "archive-not-found");
    }

    /// The bridge would make a zip of the user's own folder and give it to every client.
    #[tokio::test]
    async fn a_link_out_of_a_static_tree_is_not_read() {
        let elsewhere = folder(&["package/x", "a.zip"]);
        let to = |name: &str| elsewhere.path().join(name);
        let root = folder(&[&format!("{ADDRESS}/1.0.0/"), &format!("{ADDRESS}/{ZIP}"), &format!("{ADDRESS}/b/x")]);
        let own = root.path().join(ADDRESS);
        symlink(to("package"), own.join("1.0.0/linux_amd64")).unwrap();
        symlink(to("a.zip"), own.join("terraform-provider-widget_1.1.0_linux_amd64.zip")).unwrap();
        symlink(to("nowhere"), own.join("terraform-provider-widget_1.2.0_linux_amd64.zip")).unwrap();
        symlink(ZIP, own.join("terraform-provider-widget_1.3.0_linux_amd64.zip")).unwrap();
        let tree = || FolderSource::tree(root.path(), |_| true);
        for version in ["1.0.0", "1.1.0", "1.2.0"] {
            let error = offer(&tree(), version, "linux_amd64").await.unwrap_err();
            let cause = std::error::Error::source(&error).unwrap().to_string();
            assert!(cause.contains(" is a link that leads out of "), "{cause}");
        }
        let inside = offer(&tree(), "1.3.0", "linux_amd64").await.unwrap();
        assert_eq!(bytes(&inside).await.unwrap(), format!("{ADDRESS}/{ZIP}"));
        // A link that comes after the question.
        fs::remove_file(own.join(ZIP)).unwrap();
        symlink(to("a.zip"), own.join(ZIP)).unwrap();
        assert_eq!(bytes(&inside).await.unwrap_err().code(), "fs-unreadable");
        // A filesystem mirror of the user's own configuration is as in OpenTofu.
        assert!(offer(&FolderSource::new(root.path()), "1.0.0", "linux_amd64").await.is_ok());
    }

    /// `install` and `lock` read and linked the file, which may be any that this user may read.
    #[tokio::test]
    async fn a_link_out_of_an_unpacked_package_of_a_static_tree_was_taken() {
        let elsewhere = folder(&["secret.txt"]);
        for name in ["LICENSE", "docs/LICENSE", "terraform-provider-widget"] {
            let root = folder(&[&format!("{ADDRESS}/1.0.0/linux_amd64/docs/x"), &format!("{ADDRESS}/shared")]);
            let package = root.path().join(ADDRESS).join("1.0.0/linux_amd64");
            symlink("../../shared", package.join("inside")).unwrap();
            let tree = || FolderSource::tree(root.path(), |_| true);
            assert!(offer(&tree(), "1.0.0", "linux_amd64").await.is_ok(), "a link inside the tree is followed");
            symlink(elsewhere.path().join("secret.txt"), package.join(name)).unwrap();
            let error = offer(&tree(), "1.0.0", "linux_amd64").await.unwrap_err();
            let cause = std::error::Error::source(&error).unwrap().to_string();
            assert_eq!(error.code(), "fs-unreadable", "{name}");
            assert!(cause.contains(&format!("{name} is a link that leads out of ")), "{cause}");
            // A filesystem mirror of the user's own configuration is as in OpenTofu.
            assert!(offer(&FolderSource::new(root.path()), "1.0.0", "linux_amd64").await.is_ok());
        }
    }

    #[tokio::test]
    async fn a_pipe_is_never_opened() {
        let root = folder(&[&format!("{ADDRESS}/")]);
        let pipe = root.path().join(ADDRESS).join(ZIP);
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let error = offer(&FolderSource::new(root.path()), "1.0.0", "linux_amd64").await.unwrap_err();
        assert_eq!(error.code(), "bad-zip");
    }

    #[tokio::test]
    async fn one_unreadable_folder_is_an_error_for_all_providers() {
        let root = folder(&[&format!("{ADDRESS}/{ZIP}"), "example.com/acme/gadget/"]);
        let closed = root.path().join("example.com/acme/gadget");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o0)).unwrap();
        let code = listed(root.path()).await;
        // The superuser reads everything.
        let want = if fs::read_dir(&closed).is_ok() { "1.0.0: linux_amd64" } else { "fs-unreadable" };
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(code, want);
    }
}
