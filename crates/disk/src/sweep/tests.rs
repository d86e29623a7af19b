use std::fs::File;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::SystemTime;

use super::*;
use crate::{Scratch, ScratchFile};

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A folder as a killed run leaves it.
fn leave(parent: &Path, name: &str) {
    let path = parent.join(name);
    fs::create_dir(&path).unwrap();
    fs::create_dir(path.join("package")).unwrap();
    fs::write(path.join("package/data.bin"), b"half").unwrap();
}

#[test]
fn what_a_killed_run_left_among_temporary_folders_goes() {
    let parent = tempfile::tempdir().unwrap();
    for name in ["tofu-oci-push-Ab12Cd", "tofu-oci-lock-Ab12Cd", "tofu-oci-check-Ab12Cd", "tofu-oci-push-x_4rt0ab"] {
        leave(parent.path(), name);
    }
    // The names of today, as well as those that say nothing of the kernel.
    let ended = Scratch::temporary(parent.path(), Purpose::Lock).unwrap().path().to_owned();
    assert!(!ended.exists());
    leave(parent.path(), ended.file_name().unwrap().to_str().unwrap());
    let living = Scratch::temporary(parent.path(), Purpose::Push).unwrap();
    assert_eq!(names(parent.path()), [living.path().file_name().unwrap().to_str().unwrap()]);
}

#[test]
fn what_a_living_run_uses_stays() {
    let parent = tempfile::tempdir().unwrap();
    leave(parent.path(), "tofu-oci-push-Ab12Cd");
    let held = File::open(parent.path().join("tofu-oci-push-Ab12Cd")).unwrap();
    held.lock().unwrap();
    let first = Scratch::temporary(parent.path(), Purpose::Push).unwrap();
    let second = Scratch::temporary(parent.path(), Purpose::Lock).unwrap();
    assert!(first.path().is_dir() && second.path().is_dir());
    assert!(parent.path().join("tofu-oci-push-Ab12Cd/package/data.bin").is_file());
    drop(held);
    drop(Scratch::temporary(parent.path(), Purpose::Lock).unwrap());
    assert!(!parent.path().join("tofu-oci-push-Ab12Cd").exists());
}

#[test]
fn what_only_looks_like_ours_stays() {
    let parent = tempfile::tempdir().unwrap();
    for name in
        ["tofu-oci-main", "tofu-oci-push-to-staging", "tofu-oci-push-", "tofu-oci-lock-of-the-bike-shed", "other"]
    {
        leave(parent.path(), name);
    }
    // A word that happens to have the length.
    leave(parent.path(), "tofu-oci-push-backup");
    fs::write(parent.path().join("tofu-oci-push-Ab12Cd"), b"a file").unwrap();
    symlink(parent.path().join("other"), parent.path().join("tofu-oci-push-Ab12Ce")).unwrap();
    let before = names(parent.path());
    let own = Scratch::temporary(parent.path(), Purpose::Push).unwrap();
    assert_eq!(fs::metadata(own.path()).unwrap().permissions().mode() & 0o777, 0o700, "nobody else may look into it");
    drop(own);
    assert_eq!(names(parent.path()), before);
    assert!(parent.path().join("other/package/data.bin").is_file());
}

#[test]
fn files_and_folders_beside_the_users_go_and_locks_stay() {
    let parent = tempfile::tempdir().unwrap();
    let living = ScratchFile::beside(parent.path()).unwrap();
    leave(parent.path(), ".tofu-oci-1-0");
    for name in [".tofu-oci-Ab12Cd", LOCK_NAME, ".tofu-oci.pins.json", ".terraform.lock.hcl.bak", "index.json"] {
        fs::write(parent.path().join(name), b"x").unwrap();
    }
    assert_eq!(sweep(parent.path(), FolderOwner::Ours), 2);
    let living = living.path().file_name().unwrap().to_str().unwrap().to_owned();
    let mut want = vec![living, LOCK_NAME.into(), ".tofu-oci.pins.json".into(), ".terraform.lock.hcl.bak".into()];
    want.push("index.json".into());
    want.sort();
    assert_eq!(names(parent.path()), want);
    assert_eq!(sweep(parent.path(), FolderOwner::Ours), 0, "the one that lives was dropped by its own hand");
}

#[test]
fn in_a_persons_folder_only_names_that_are_made_up_are_ours() {
    let parent = tempfile::tempdir().unwrap();
    for name in [".tofu-oci-notes", ".tofu-oci-cache", ".tofu-oci-my-work", ".tofu-oci-Ab12Cd", ".tofu-oci-lock"] {
        leave(parent.path(), name);
    }
    assert_eq!(sweep(parent.path(), FolderOwner::Users), 1);
    assert_eq!(names(parent.path()), [".tofu-oci-cache", ".tofu-oci-lock", ".tofu-oci-my-work", ".tofu-oci-notes"]);
}

#[test]
fn what_another_machine_made_goes_after_a_day() {
    let parent = tempfile::tempdir().unwrap();
    let other = if crate::kernel::label() == Some("0a0a0a0a") { "0b0b0b0b" } else { "0a0a0a0a" };
    let (beside, temporary) = (format!(".tofu-oci-{other}-Ab12Cd"), format!("tofu-oci-push-{other}-Ab12Cd"));
    leave(parent.path(), &beside);
    leave(parent.path(), &temporary);
    let run = || {
        drop(Scratch::temporary(parent.path(), Purpose::Push).unwrap());
        sweep(parent.path(), FolderOwner::Ours);
    };
    run();
    assert_eq!(names(parent.path()), [beside.clone(), temporary.clone()]);
    let long_ago = SystemTime::now() - 2 * FOREIGN;
    for name in [&beside, &temporary] {
        File::open(parent.path().join(name)).unwrap().set_modified(long_ago).unwrap();
    }
    run();
    assert_eq!(names(parent.path()), [""; 0]);
}

#[test]
fn a_file_is_put_over_another_or_only_where_nothing_is() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index.json");
    let file = |text: &str| {
        use std::io::Write as _;
        let file = ScratchFile::beside(folder.path()).unwrap();
        file.as_file().write_all(text.as_bytes()).unwrap();
        file
    };
    assert!(file("first").put_new(&place).unwrap());
    assert!(!file("second").put_new(&place).unwrap());
    assert_eq!(fs::read_to_string(&place).unwrap(), "first");
    file("third").put(&place).unwrap();
    assert_eq!(fs::read_to_string(&place).unwrap(), "third");
    assert_eq!(names(folder.path()), ["index.json"]);
}

#[test]
fn folders_made_while_others_sweep_are_there() {
    let parent = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let folder = Scratch::temporary(parent.path(), Purpose::Push).unwrap();
                    fs::write(folder.path().join("file"), b"x").unwrap();
                    let file = ScratchFile::beside(parent.path()).unwrap();
                    sweep(parent.path(), FolderOwner::Ours);
                    assert!(folder.path().join("file").is_file() && file.path().is_file());
                }
            });
        }
    });
    assert_eq!(names(parent.path()), [""; 0]);
}

#[test]
fn a_folder_that_a_person_named_like_ours_stays() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["backup1", "v1_0_old", "2026_11", "Keep_it"] {
        fs::create_dir(folder.path().join(format!("{OWN_PREFIX}{name}"))).unwrap();
    }
    assert_eq!(sweep(folder.path(), FolderOwner::Users), 0);
    assert_eq!(names(folder.path()).len(), 4);
}
