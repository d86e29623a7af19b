use std::sync::Mutex;

use super::*;
use crate::LOCK_NAME;

fn waiter(seconds: u64) -> Waiter {
    Waiter { program: "tofu-oci test".to_owned(), limit: Duration::from_secs(seconds) }
}

/// Waits for `on`, which another process has, and returns the reports and the outcome.
async fn wait(on: &Lockable, seconds: u64) -> (Vec<String>, Result<Lock, LockError>) {
    let reports = Mutex::new(Vec::new());
    let ended = lock(on, &waiter(seconds), &|held| reports.lock().unwrap().push(held.to_string())).await;
    (reports.into_inner().unwrap(), ended)
}

fn ways(folder: &Path) -> [Lockable; 2] {
    [Lockable::File(folder.join(LOCK_NAME)), Lockable::Folder(folder.to_owned())]
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_is_told_for_whom_and_gives_up() {
    let folder = tempfile::tempdir().unwrap();
    for on in ways(folder.path()) {
        let (reports, first) = wait(&on, 5).await;
        assert_eq!(reports, [""; 0], "it is free");
        let begin = Instant::now();
        let (reports, ended) = wait(&on, 5).await;
        assert_eq!(begin.elapsed(), Duration::from_secs(5));
        let who = format!("{on} is locked by tofu-oci test (process {} on ", std::process::id());
        assert_eq!(reports.len(), 1, "{reports:?}");
        assert!(reports[0].starts_with(&who), "{reports:?}");
        let error = ended.expect_err("the first one has it").to_string();
        assert!(error.starts_with(&who) && error.ends_with(", and was not released within 5 s"), "{error}");
        drop(first);
        assert!(wait(&on, 0).await.1.is_ok(), "a lock that is free needs no patience");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lock_of_another_program_is_waited_for_too() {
    let folder = tempfile::tempdir().unwrap();
    for on in ways(folder.path()) {
        let held = match &on {
            Lockable::Folder(path) => File::open(path),
            other => open(other.path()),
        };
        let held = held.unwrap();
        held.lock().unwrap();
        let (reports, ended) = wait(&on, 3).await;
        assert_eq!(reports, [format!("{on} is locked by another program")]);
        assert!(matches!(ended, Err(LockError::Held { .. })));
    }
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_is_released_in_time_is_had() {
    let folder = tempfile::tempdir().unwrap();
    for on in ways(folder.path()) {
        let first = wait(&on, 5).await.1.unwrap();
        let release = async move {
            tokio::time::sleep(Duration::from_secs(4)).await;
            drop(first);
        };
        let ((reports, second), ()) = tokio::join!(wait(&on, 60), release);
        assert_eq!(reports.len(), 1);
        assert!(second.is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn one_second_is_no_wait_worth_a_word() {
    let folder = tempfile::tempdir().unwrap();
    let on = Lockable::Folder(folder.path().to_owned());
    let _first = wait(&on, 5).await.1.unwrap();
    let reports = Mutex::new(0);
    let short = Waiter { limit: Duration::from_millis(900), ..waiter(0) };
    assert!(lock(&on, &short, &|_| *reports.lock().unwrap() += 1).await.is_err());
    assert_eq!(reports.into_inner().unwrap(), 0);
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_was_locked_looks_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let lock = wait(&Lockable::Folder(folder.path().to_owned()), 0).await.1.unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the holder's name");
    drop(lock);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_lock_file_stays_and_names_nobody_when_it_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let on = Lockable::File(folder.path().join(LOCK_NAME));
    let lock = wait(&on, 0).await.1.unwrap();
    assert_ne!(fs::metadata(on.path()).unwrap().len(), 0);
    drop(lock);
    assert_eq!(fs::metadata(on.path()).unwrap().len(), 0);
}

#[tokio::test]
async fn a_record_lock_names_its_holder_too() {
    let folder = tempfile::tempdir().unwrap();
    let on = Lockable::Record(folder.path().join("linux_amd64.lock"));
    let lock = wait(&on, 0).await.1.unwrap();
    assert!(fs::read_to_string(on.path()).unwrap().starts_with("tofu-oci test (process "));
    drop(lock);
    assert_eq!(fs::read_to_string(on.path()).unwrap(), "", "as OpenTofu leaves it");
}

#[tokio::test]
async fn a_lock_file_in_no_folder_is_an_error() {
    let on = Lockable::File("/no/such/folder/lock".into());
    assert_eq!(wait(&on, 0).await.1.expect_err("it cannot be made").to_string(), "cannot lock /no/such/folder/lock");
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_with_the_name_of_a_lock_leads_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let (inside, precious) = (folder.path().join("inside"), folder.path().join("precious"));
    fs::create_dir(&inside).unwrap();
    fs::write(&precious, "years of work").unwrap();
    for name in [LOCK_NAME, HOLDER_NAME] {
        std::os::unix::fs::symlink("../precious", inside.join(name)).unwrap();
        assert!(wait(&Lockable::File(inside.join(name)), 0).await.1.is_err());
    }
    drop(wait(&Lockable::Folder(inside), 0).await.1.unwrap());
    assert_eq!(fs::read_to_string(&precious).unwrap(), "years of work");
}

#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn a_pipe_in_the_place_of_the_holders_name_holds_nobody_up() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join(HOLDER_NAME);
    mknodat(CWD, &note, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    // The writer makes a read of the pipe end, so that the test ends even if the program reads it.
    let mut pipe = File::options().read(true).write(true).open(&note).unwrap();
    writeln!(pipe, "nobody (process 1 on far-away, since today)\n{}", "x".repeat(2000)).unwrap();
    let held = File::open(folder.path()).unwrap();
    held.lock().unwrap();
    let on = Lockable::Folder(folder.path().to_owned());
    let (reports, ended) = wait(&on, 3).await;
    assert_eq!(reports, [format!("{on} is locked by another program")]);
    assert!(matches!(ended, Err(LockError::Held { .. })));
}

/// An OCI image layout in the working directory: a `push` had the file locked, a `lock` removed it, and the next `push`
/// locked a new one.
#[tokio::test]
async fn the_lock_of_a_folder_leaves_the_lock_of_what_is_in_it_alone() {
    let folder = tempfile::tempdir().unwrap();
    let [content, whole] = ways(folder.path());
    let writer = wait(&content, 0).await.1.unwrap();
    drop(wait(&whole, 0).await.1.unwrap());
    assert!(wait(&content, 0).await.1.is_err(), "the writer still has it");
    drop(writer);
    // A process that another test starts may hold a copy of the handle for a moment.
    assert!(wait(&content, 10).await.1.is_ok());
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_was_removed_while_it_was_locked_makes_nobody_wait() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(LOCK_NAME);
    let on = Lockable::File(path.clone());
    let before = open(&path).unwrap();
    assert!(has_name(&before, &path));
    fs::remove_file(&path).unwrap();
    assert!(!has_name(&before, &path), "it is gone");
    let lock = wait(&on, 0).await.1.unwrap();
    assert!(!has_name(&before, &path), "another one has the name");
    assert!(has_name(lock.file.as_ref().unwrap(), &path), "and that one is locked");
}

/// A record lock ends when its process closes any handle of the file, also one that was only read.
#[cfg(unix)]
#[tokio::test]
async fn who_asks_for_the_holder_of_a_record_does_not_give_up_its_own_lock() {
    const PATH: &str = "TOFU_OCI_TEST_RECORD";
    if let Some(path) = std::env::var_os(PATH) {
        let (_, tried) = wait(&Lockable::Record(path.into()), 0).await;
        assert!(matches!(tried, Err(LockError::Held { .. })), "the parent has it: {tried:?}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let on = Lockable::Record(folder.path().join("linux_amd64.lock"));
    let lock = wait(&on, 0).await.1.unwrap();
    let mut tries = Tries::Record(on.path(), Some(open(on.path()).unwrap()));
    let held = tries.held(&on).to_string();
    assert!(held.contains("is locked by tofu-oci test (process "), "{held}");
    let own = std::thread::current().name().unwrap_or_default().to_owned();
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &own])
        .env(PATH, on.path())
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
    assert!(String::from_utf8_lossy(&child.stdout).contains("1 passed"), "the child has run");
    drop((tries, lock));
}
