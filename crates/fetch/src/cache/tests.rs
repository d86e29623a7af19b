//! What is known of files, and when it is forgotten; folders that are not used.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tofu_oci_archive::{KnownFiles as _, NoKnownFiles, PackageFile, file_sha256};
use tofu_oci_disk::FileIdentity;
use tofu_oci_types::NoReporter;

use super::take::ComparedFile;
use crate::cache_dir::clone::CloneWay;
use crate::cache_dir::folder::CacheFolder;
use crate::cache_dir::memo::{FileMemo, LEAST};
use crate::cache_dir::open::{CacheDirOrigin, PackageCache, PackageCacheSettings};

/// A cache, and a large file that it knows.
struct KnownFile {
    root: tempfile::TempDir,
    memo: FileMemo,
    file: PathBuf,
}

impl KnownFile {
    fn new() -> Self {
        Self::of(LEAST)
    }

    fn of(size: u64) -> Self {
        let root = tempfile::tempdir().unwrap();
        let memo = FileMemo::of(&CacheFolder::own(root.path()).unwrap());
        let file = root.path().join("file");
        fs::write(&file, vec![7; usize::try_from(size).unwrap()]).unwrap();
        memo.record_at(&file, file_sha256(&file, &NoKnownFiles).unwrap());
        Self { root, memo, file }
    }

    fn is_known(&self) -> bool {
        self.memo.sha256(&fs::metadata(&self.file).unwrap()).is_some()
    }

    /// Overwrites a byte in place, and puts the time of modification back.
    fn edit(&self) {
        let before = fs::metadata(&self.file).unwrap().modified().unwrap();
        let file = File::options().write(true).open(&self.file).unwrap();
        std::io::Write::write_all(&mut &file, b"!").unwrap();
        file.set_modified(before).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_large_file_is_known_until_it_changes() {
    let known = KnownFile::new();
    assert!(known.is_known());
    let copy = known.root.path().join("copy");
    fs::copy(&known.file, &copy).unwrap();
    assert_eq!(known.memo.sha256(&fs::metadata(&copy).unwrap()), None, "another file is not known");
    known.edit();
    assert!(!known.is_known(), "the time of modification is the same, and the last change is not");
}

#[test]
fn a_small_file_is_read_each_time() {
    assert!(!KnownFile::of(LEAST - 1).is_known());
}

/// Whether a large file with two names is known after `change`, which gets the other name.
#[cfg(unix)]
#[track_caller]
fn check_shared(change: impl FnOnce(&KnownFile, &Path), want: bool) {
    let known = KnownFile::new();
    let project = known.root.path().join("project");
    fs::hard_link(&known.file, &project).unwrap();
    assert!(known.is_known(), "the link of a project was taken for an edit");
    change(&known, &project);
    assert_eq!(known.is_known(), want);
}

#[cfg(unix)]
#[test]
fn all_of_a_package_was_read_again_because_a_project_that_shared_it_was_deleted() {
    let delete = |_: &KnownFile, project: &Path| fs::remove_file(project).unwrap();
    let again = |known: &KnownFile, project: &Path| {
        delete(known, project);
        assert!(known.is_known());
        fs::hard_link(&known.file, project).unwrap();
    };
    check_shared(delete, true);
    check_shared(again, true);
}

/// docs/how-to/caching.md says which edits are found without reading every file.
#[cfg(unix)]
#[test]
fn an_edit_is_no_name_that_came_or_went() {
    use std::os::unix::fs::PermissionsExt as _;
    let delete = |project: &Path| fs::remove_file(project).unwrap();
    check_shared(|known, _| known.edit(), false);
    // The two looks before and after a deletion find an edit before and after it.
    check_shared(
        |known, project| {
            delete(project);
            assert!(known.is_known());
            known.edit();
        },
        false,
    );
    check_shared(
        |known, project| {
            known.edit();
            file_sha256(&known.file, &known.memo).unwrap();
            delete(project);
        },
        false,
    );
    check_shared(
        |known, project| {
            let (file, later) = (File::options().write(true).open(&known.file).unwrap(), SystemTime::now());
            file.set_modified(later + Duration::from_secs(1)).unwrap();
            delete(project);
        },
        false,
    );
    check_shared(
        |known, project| {
            fs::set_permissions(&known.file, fs::Permissions::from_mode(0o666)).unwrap();
            known.edit();
            delete(project);
        },
        false,
    );
    check_shared(
        |known, project| {
            fs::rename(project, known.root.path().join("other")).unwrap();
            fs::copy(&known.file, project).unwrap();
            fs::rename(project, &known.file).unwrap();
        },
        false,
    );
    // The limit: nothing has looked between the edit and the deletion.
    check_shared(
        |known, project| {
            known.edit();
            delete(project);
        },
        true,
    );
}

#[cfg(unix)]
#[test]
fn a_number_that_a_new_file_has_got_is_another_file() {
    let known = KnownFile::new();
    let file = FileIdentity::of(&fs::metadata(&known.file).unwrap()).unwrap();
    let shared = FileIdentity { links: 2, changed: (file.changed.0 + 1, 5), ..file };
    assert!(shared.has_other_links_than(&file));
    assert!(!FileIdentity { born: file.born.map(|time| time + 1), ..shared }.has_other_links_than(&file));
    assert!(!FileIdentity { born: None, ..shared }.has_other_links_than(&FileIdentity { born: None, ..file }));
    assert!(!FileIdentity { links: 1, ..shared }.has_other_links_than(&file));
}

/// A record is not believed after `change`.
#[cfg(unix)]
#[track_caller]
fn check_record(change: impl FnOnce(&str) -> String) {
    let known = KnownFile::new();
    let folder = known.root.path().join("packages-v1/files");
    let record = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let changed = change(&fs::read_to_string(&record).unwrap());
    fs::write(&record, changed).unwrap();
    assert!(!known.is_known());
    known.memo.sweep();
}

#[cfg(unix)]
#[test]
fn a_damaged_record_is_not_believed() {
    check_record(|_| String::new());
    check_record(|text| text[..text.len() - 5].to_owned());
    check_record(|text| text.replace(' ', ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_record_of_an_earlier_start_of_the_machine_is_not_believed() {
    check_record(|text| text.replacen(&text[..8], "00000000", 1));
}

#[cfg(unix)]
#[test]
fn a_file_that_was_changed_just_now_is_not_recorded_by_reading_it() {
    let known = KnownFile::new();
    known.edit();
    let read = |known: &KnownFile| file_sha256(&known.file, &known.memo).unwrap();
    assert_eq!(read(&known), read(&known));
    assert!(!known.is_known(), "a change in the same tick of the clock would not show");
}

/// Clones a file that is `edit`ed after it was compared; whether it arrived, and whether what lies there is the compared file.
#[cfg(unix)]
fn clone_edited(way: CloneWay, edit: impl FnOnce(&KnownFile)) -> (bool, bool) {
    let known = KnownFile::new();
    let dir = Some(known.root.path().to_owned());
    let settings = PackageCacheSettings { dir, origin: CacheDirOrigin::Named, lower: None };
    let caches = PackageCache::open(&settings, &NoReporter).0.unwrap();
    let (to, sha256) = (known.root.path().join("to"), file_sha256(&known.file, &NoKnownFiles).unwrap());
    let file = PackageFile { name: "file".to_owned(), size: LEAST, mode: 0o644, sha256 };
    let before = fs::metadata(&known.file).unwrap();
    let compared = ComparedFile { from: &known.file, before, file: &file, memo_knows: true };
    edit(&known);
    let arrived = caches.clone_compared(&compared, &to, &[way]).unwrap();
    let is_known = known.memo.sha256(&fs::metadata(&known.file).unwrap()).is_some();
    let is_compared = file_sha256(&to, &NoKnownFiles).unwrap() == sha256;
    assert!(is_compared || !is_known || way == CloneWay::HardLink, "{way:?}: the edit is remembered as the package");
    if way == CloneWay::HardLink {
        // `cache verify` forgets and removes a package that it finds damaged; the project's file is read from then on.
        caches.forget(&known.file);
        fs::remove_file(&known.file).unwrap();
        assert_eq!(known.memo.sha256(&fs::metadata(&to).unwrap()), None);
    }
    (arrived, is_compared)
}

#[cfg(unix)]
#[test]
fn a_copy_of_a_file_that_was_edited_after_its_comparison_reached_the_project() {
    let put_back = |known: &KnownFile| known.edit();
    assert_eq!(clone_edited(CloneWay::Copy, put_back), (false, false));
    // The status alone has changed, as if another project had been deleted: the package stays in the cache.
    let linked = |known: &KnownFile| fs::hard_link(&known.file, known.root.path().join("other")).unwrap();
    assert_eq!(clone_edited(CloneWay::Copy, linked), (true, true));
    assert_eq!(clone_edited(CloneWay::Copy, |_| ()), (true, true));
}

/// docs/how-to/caching.md says what is not found, and what finds it later.
#[cfg(unix)]
#[test]
fn a_link_to_a_file_that_was_edited_after_its_comparison_is_found_by_the_time_of_the_edit() {
    let write = |known: &KnownFile| {
        let file = File::options().write(true).open(&known.file).unwrap();
        std::io::Write::write_all(&mut &file, b"!").unwrap();
        file.set_modified(SystemTime::now() + Duration::from_secs(1)).unwrap();
    };
    assert_eq!(clone_edited(CloneWay::HardLink, write), (false, false));
    let truncate =
        |known: &KnownFile| File::options().write(true).open(&known.file).unwrap().set_len(LEAST + 1).unwrap();
    assert_eq!(clone_edited(CloneWay::HardLink, truncate), (false, false));
    let replace = |known: &KnownFile| {
        fs::remove_file(&known.file).unwrap();
        fs::write(&known.file, vec![8; usize::try_from(LEAST).unwrap()]).unwrap();
    };
    assert_eq!(clone_edited(CloneWay::HardLink, replace), (false, false));
    assert_eq!(clone_edited(CloneWay::HardLink, |_| ()), (true, true));
    // The limit: the link hides the change of status that putting the time back has left.
    assert_eq!(clone_edited(CloneWay::HardLink, KnownFile::edit), (true, false));
}

/// What is reported of a cache in `root`; whether it is used.
#[track_caller]
fn check_folder(root: &Path, want: bool) {
    let settings = PackageCacheSettings { dir: Some(root.to_owned()), origin: CacheDirOrigin::Named, lower: None };
    assert_eq!(PackageCache::open(&settings, &NoReporter).0.is_some(), want, "{}", root.display());
}

#[test]
fn a_cache_is_made_for_its_owner() {
    let root = tempfile::tempdir().unwrap();
    check_folder(&root.path().join("a/b"), true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = root.path().join("a/b/packages-v1");
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o770)).unwrap();
    }
    check_folder(&root.path().join("a/b"), !cfg!(unix));
}

/// `prune` would remove what lies where the link leads.
#[cfg(unix)]
#[test]
fn a_folder_behind_a_link_is_no_cache() {
    use std::os::unix::fs::symlink;
    let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    symlink(elsewhere.path(), root.path().join("packages-v1")).unwrap();
    check_folder(root.path(), false);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0, "nothing is made there");
    fs::remove_file(root.path().join("packages-v1")).unwrap();
    check_folder(root.path(), true);
    let content = root.path().join("packages-v1/content");
    fs::remove_dir(&content).unwrap();
    symlink(elsewhere.path(), &content).unwrap();
    check_folder(root.path(), false);
}

/// Whoever may write there can put another folder in the place of the cache while a run uses it.
#[cfg(unix)]
#[test]
fn a_cache_below_a_folder_of_everybody_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let root = tempfile::tempdir().unwrap();
    let cache = root.path().join("a/b");
    check_folder(&cache, true);
    for (folder, mode, want) in [("a", 0o777, false), ("a", 0o1777, true), ("a/b", 0o757, false), ("a/b", 0o755, true)]
    {
        fs::set_permissions(root.path().join(folder), fs::Permissions::from_mode(mode)).unwrap();
        check_folder(&cache, want);
    }
}

/// The owner of a folder or of a link may replace it at any time. Only the superuser can make things of another user.
#[cfg(unix)]
#[test]
fn a_cache_below_a_folder_or_link_of_another_user_is_not_used() {
    use std::os::unix::fs::{chown, lchown, symlink};
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let another = Some(12345);
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    check_folder(&at("theirs/cache"), true);
    chown(at("theirs"), another, None).unwrap();
    check_folder(&at("theirs/cache"), false);
    check_folder(&at("theirs/new"), false);
    assert!(!at("theirs/new").exists(), "nothing is made there");
    chown(at("theirs"), Some(0), None).unwrap();
    chown(at("theirs/cache"), another, None).unwrap();
    check_folder(&at("theirs/cache"), false);
    // Our own link is followed, also over another one, with all that is on its way.
    check_folder(&at("ours/cache"), true);
    symlink("ours", at("link")).unwrap();
    symlink(at("link"), at("links")).unwrap();
    check_folder(&at("links/cache"), true);
    lchown(at("link"), another, None).unwrap();
    check_folder(&at("link/cache"), false);
    check_folder(&at("links/cache"), false);
    symlink("links", at("link-to-itself")).unwrap();
    fs::remove_file(at("links")).unwrap();
    symlink("link-to-itself", at("links")).unwrap();
    check_folder(&at("links/cache"), false);
}

#[test]
fn a_file_is_no_cache() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("file"), "").unwrap();
    check_folder(&root.path().join("file"), false);
    fs::write(root.path().join("packages-v1"), "").unwrap();
    check_folder(root.path(), false);
}

#[test]
fn what_a_killed_run_left_is_removed() {
    let root = tempfile::tempdir().unwrap();
    check_folder(root.path(), true);
    let left = root.path().join("packages-v1/scratch/.tofu-oci-1-0");
    fs::create_dir_all(left.join("package/files")).unwrap();
    let aged = SystemTime::now() - Duration::from_hours(48);
    File::open(&left).unwrap().set_modified(aged).unwrap();
    check_folder(root.path(), true);
    assert_eq!(left.exists(), cfg!(not(unix)));
}
