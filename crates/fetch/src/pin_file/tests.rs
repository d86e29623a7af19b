use tofu_oci_trust::{Archives, Policy, ReleaseFacts, Subject, judge};
use tofu_oci_types::{Digest, Identity};

use super::{PIN_FILE_NAME, Path, PinFileError, Pins, WriteOutcome, beside, read};
use crate::FolderLock;

/// Writes the pins in this program's turn.
fn write(path: &Path, pins: &Pins) -> Result<WriteOutcome, PinFileError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let folder_lock =
        runtime.block_on(FolderLock::take(path, &tofu_oci_disk::Waiter::default(), &tofu_oci_types::NoReporter));
    super::write(path, pins, &folder_lock.unwrap())
}

/// The pins of a file, and one more release.
fn with_release(path: &Path, version: &str, content: &str) -> Pins {
    let mut pins = read(path).expect("pins");
    let (address, version) = ("example.com/acme/widget".parse().unwrap(), version.parse().unwrap());
    let (place, identity) = ("ghcr.io/acme/widget".parse().unwrap(), Identity::of_index(content.as_bytes()));
    let facts = ReleaseFacts {
        of: Subject::Provider { address: &address, version: &version },
        place: &place,
        identity: &identity,
        archives: &Archives::Unknown,
    };
    let verdict = judge(&Policy::default(), &pins, &facts, &[], std::time::UNIX_EPOCH);
    pins.remember(&facts, &verdict);
    pins
}

fn versions(path: &Path) -> Vec<String> {
    read(path).expect("pins").iter().map(|pin| pin.version.to_string()).collect()
}

#[test]
fn no_file_is_no_pins_and_a_broken_one_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(PIN_FILE_NAME);
    assert!(read(&path).unwrap().is_empty());
    assert_eq!(write(&path, &Pins::default()).unwrap(), WriteOutcome::Unchanged);
    assert!(!path.exists(), "nothing has changed");
    let pins = with_release(&path, "1.0.0", "one");
    std::fs::write(&path, "{").unwrap();
    assert!(matches!(read(&path), Err(PinFileError::Invalid { .. })));
    assert!(matches!(write(&path, &pins), Err(PinFileError::Invalid { .. })));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{", "it is never overwritten");
}

#[test]
fn a_file_that_is_not_utf_8_was_blamed_for_a_member() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(PIN_FILE_NAME);
    std::fs::write(&path, b"{\n\"zz\":\"\xff\xfe\",\"version\":1,\"providers\":[],\"signed\":[]}").unwrap();
    let error = read(&path).expect_err("must be refused").to_string();
    assert!(error.ends_with("line 2, column 7: the text is not UTF-8"), "{error}");
}

#[test]
fn creates_updates_and_leaves_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = beside(&folder.path().join(".terraform.lock.hcl"));
    assert_eq!(write(&path, &with_release(&path, "1.0.0", "one")).unwrap(), WriteOutcome::Created);
    let text = std::fs::read(&path).unwrap();
    assert_eq!(write(&path, &with_release(&path, "1.0.0", "one")).unwrap(), WriteOutcome::Unchanged);
    assert_eq!(std::fs::read(&path).unwrap(), text);
    assert_eq!(write(&path, &with_release(&path, "2.0.0", "two")).unwrap(), WriteOutcome::Updated);
    assert_eq!(versions(&path), ["1.0.0", "2.0.0"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn pins_written_by_many_at_once_are_all_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(PIN_FILE_NAME);
    let wanted: Vec<String> = (0..16).map(|number| format!("1.{number}.0")).collect();
    std::thread::scope(|scope| {
        for version in &wanted {
            scope.spawn(|| write(&path, &with_release(&path, version, version)).expect("written"));
        }
    });
    assert_eq!(versions(&path), wanted);
}

#[test]
fn two_that_saw_different_releases_under_one_tag_do_not_both_win() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(PIN_FILE_NAME);
    let (one, other) = (with_release(&path, "1.0.0", "one"), with_release(&path, "1.0.0", "another"));
    write(&path, &one).unwrap();
    assert!(matches!(write(&path, &other), Err(PinFileError::Conflict(_))));
    assert_eq!(read(&path).unwrap().iter().next().unwrap().index, Digest::sha256(b"one"));
}

#[cfg(unix)]
#[test]
fn a_link_is_read_and_gives_way_to_a_file_that_everybody_may_read() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let path = inner.join(PIN_FILE_NAME);
    let empty = Pins::default().to_text();
    std::fs::write(folder.path().join("outside"), &empty).unwrap();
    let pins = with_release(&path, "1.0.0", "one");

    symlink("../outside", &path).unwrap();
    read(&path).unwrap();
    write(&path, &pins).unwrap();
    assert!(!std::fs::symlink_metadata(&path).unwrap().is_symlink());
    assert_eq!(std::fs::read_to_string(folder.path().join("outside")).unwrap(), empty);
    assert_eq!(versions(&path), ["1.0.0"]);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
}
