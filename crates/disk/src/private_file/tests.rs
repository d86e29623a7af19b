//! Private files on a real file system.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

/// Appends a word to the file and gives its text.
#[track_caller]
fn append(path: &Path, word: &str) -> String {
    let file = PrivateFile::at(path).expect("a file may be here");
    let staged = file.stage().expect("it can be written");
    let edit =
        |bytes: Option<&[u8]>| Ok::<_, io::Error>(Some([bytes.unwrap_or_default(), word.as_bytes()].concat().into()));
    staged.commit(edit).expect("it is written");
    std::fs::read_to_string(path).expect("it is there")
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_new_file_and_its_folder_are_for_the_owner_alone() {
    let root = tempfile::tempdir().expect("a folder");
    let path = root.path().join("a/b/config.json");
    assert_eq!(PrivateFile::at(&path).and_then(|file| file.read()).expect("missing is fine"), None);
    assert_eq!(append(&path, "one"), "one");
    assert_eq!((mode(&path), mode(&root.path().join("a/b"))), (0o600, 0o700));
    assert_eq!(names(&root.path().join("a/b")), ["config.json"]);
    assert!(!PrivateFile::at(&path).expect("a file").is_shared());
}

#[test]
fn the_mode_of_a_file_that_is_there_stays() {
    let root = tempfile::tempdir().expect("a folder");
    let path = root.path().join("config.json");
    std::fs::write(&path, "one").expect("a file");
    for kept in [0o640, 0o400, 0o600] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(kept)).expect("it is ours");
        append(&path, "+");
        assert_eq!(mode(&path), kept);
        assert_eq!(PrivateFile::at(&path).expect("a file").is_shared(), kept == 0o640);
    }
}

#[test]
fn what_a_killed_run_leaves_beside_a_file_that_all_may_read_is_for_the_owner_alone() {
    let root = tempfile::tempdir().expect("a folder");
    let path = root.path().join("config.json");
    std::fs::write(&path, "one").expect("a file");
    for kept in [0o644, 0o666, 0o400] {
        std::fs::set_permissions(&path, Permissions::from_mode(kept)).expect("it is ours");
        let file = PrivateFile::at(&path).expect("a file");
        let staged = file.stage().expect("writable");
        assert_eq!(mode(staged.beside.path()), 0o600);
        let filled = staged.fill(b"secret").expect("it is written");
        assert_eq!((mode(staged.beside.path()), mode(&path)), (0o600, kept));
        staged.put(filled).expect("it is renamed");
        assert_eq!((mode(&path), std::fs::read(&path).expect("a file")), (kept, b"secret".to_vec()));
    }
}

#[test]
fn a_killed_runs_secrets_go_and_files_with_similar_names_stay() {
    let root = tempfile::tempdir().expect("a folder");
    let file = PrivateFile::at(&root.path().join("config.json")).expect("a file may be here");
    let staged = file.stage().expect("writable");
    let living = staged.beside.path().to_owned();
    let killed = root.path().join(".tofu-oci-Ab12Cd");
    let users = [".config.json.Ab12Cd", ".tofu-oci-my-config.json", ".tofu-oci-notes", "config.json.bak"];
    for path in users.iter().map(|name| root.path().join(name)).chain([killed.clone()]) {
        std::fs::write(path, "secret").expect("a file");
    }
    file.sweep();
    assert!(living.exists() && !killed.exists(), "{living:?}");
    drop(staged);
    assert_eq!(names(root.path()), users);
}

#[test]
fn the_file_behind_links_is_written_and_the_links_stay() {
    let root = tempfile::tempdir().expect("a folder");
    let at = |name: &str| root.path().join(name);
    std::fs::create_dir(at("real")).expect("a folder");
    std::fs::write(at("real/config.json"), "one").expect("a file");
    symlink("real/config.json", at("second")).expect("a link");
    symlink(at("second"), at("first")).expect("a link");
    assert_eq!(append(&at("first"), "+two"), "one+two");
    assert!(at("first").is_symlink() && at("second").is_symlink() && !at("real/config.json").is_symlink());
    assert_eq!(names(&at("real")), ["config.json"]);

    symlink("real/new.json", at("dangling")).expect("a link");
    assert_eq!(append(&at("dangling"), "new"), "new");
    assert_eq!(
        (names(&at("real")), mode(&at("real/new.json"))),
        (vec!["config.json".into(), "new.json".into()], 0o600)
    );
    symlink("not-mounted/new.json", at("away")).expect("a link");
    let away = PrivateFile::at(&at("away")).expect("a file may be there");
    assert_eq!(away.stage().map(drop).map_err(|error| error.kind()), Err(ErrorKind::NotFound));
}

#[test]
fn what_is_no_file_is_refused() {
    let root = tempfile::tempdir().expect("a folder");
    let at = |name: &str| root.path().join(name);
    std::fs::write(at("file"), "").expect("a file");
    symlink("loop", at("loop")).expect("a link");
    let refused = |name: &str| PrivateFile::at(&at(name)).map(drop).map_err(|error| error.to_string());
    assert_eq!(refused("."), Err("is a directory".into()));
    assert_eq!(refused("loop"), Err("its links lead in a circle".into()));
    assert!(refused("file/config.json").expect_err("a file is no folder").starts_with("Not a directory"));
    assert_eq!(
        PrivateFile::at(Path::new("/dev/null")).map(drop).map_err(|error| error.to_string()),
        Err("it is not a regular file".into())
    );
}

#[test]
fn an_edit_that_fails_or_changes_nothing_leaves_the_file_as_it_was() {
    let root = tempfile::tempdir().expect("a folder");
    let path = root.path().join("config.json");
    std::fs::write(&path, "one").expect("a file");
    let file = PrivateFile::at(&path).expect("a file");
    let refused = file.stage().expect("writable").commit(|_| Err(io::Error::other("no")));
    assert_eq!(refused.map_err(|error| error.to_string()), Err("no".into()));
    file.stage().expect("writable").commit(|_| Ok::<_, io::Error>(None)).expect("nothing to do");
    drop(file.stage());
    assert_eq!(
        (names(root.path()), std::fs::read(&path).expect("a file")),
        (vec!["config.json".to_owned()], b"one".to_vec())
    );
}

#[test]
fn those_who_write_at_the_same_time_lose_nothing() {
    let root = tempfile::tempdir().expect("a folder");
    let path = root.path().join("config.json");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..8).for_each(|_| drop(append(&path, "+"))));
        }
    });
    assert_eq!(std::fs::read_to_string(&path).expect("a file"), "+".repeat(64));
}
