//! Logins stored and removed with doubles of the helpers.

use std::path::Path;
use std::sync::Arc;

use tofu_oci_credentials::Credential;
use tofu_oci_mapper::config::{ConfigFiles, Environment, Os, read};

use super::*;
use crate::machine::doubles::Doubles;
use crate::{AfterLogin, AfterLogout, CredentialResolver, CurrentLogin, HelperAction, Obstacle};

/// A CLI configuration of no files.
struct NoFiles;

impl ConfigFiles for NoFiles {
    fn read(&self, _path: &Path) -> std::io::Result<Vec<u8>> {
        Err(std::io::ErrorKind::NotFound.into())
    }

    fn list(&self, _path: &Path) -> std::io::Result<Vec<std::ffi::OsString>> {
        Ok(Vec::new())
    }

    fn is_dir(&self, _path: &Path) -> bool {
        false
    }

    fn exists(&self, _path: &Path) -> bool {
        false
    }
}

/// A home folder whose docker file holds a text, and the machine of its user.
struct Home {
    folder: tempfile::TempDir,
    machine: Arc<Doubles>,
    registry: RegistryName,
}

impl Home {
    fn new(docker: &str, machine: Doubles) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join(".docker")).expect("a folder");
        std::fs::write(folder.path().join(".docker/config.json"), docker).expect("a file");
        let registry = RegistryName::parse("ghcr.io").expect("a registry");
        Self { folder, machine: Arc::new(machine), registry }
    }

    fn environment(&self) -> Environment {
        let home = self.folder.path().to_owned();
        let (launch_dir, working_dir) = (home.clone(), home.clone());
        let vars = std::collections::BTreeMap::new();
        Environment { os: Os::Unix, home: Some(home), app_data: None, launch_dir, working_dir, named: None, vars }
    }

    fn file(&self) -> LoginFile {
        LoginFile::choose(self.machine.as_ref(), &self.environment(), None).expect("docker's file")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.folder.path().join(".docker/config.json")).expect("a file")
    }

    /// Stores a login of ada with this password, and gives what the machine answers from then on.
    fn log_in(&self, password: &str) -> AfterLogin {
        let (file, secret) = (self.file(), Secret::new(password));
        let keeper = file.keeper("ghcr.io").expect("a sound file");
        run(store(self.machine.as_ref(), &file, &keeper, "ghcr.io", "ada", &secret)).expect("it is stored");
        self.current().after_login(&file, &Credential::basic("ada", password))
    }

    fn current(&self) -> CurrentLogin {
        let machine: Arc<dyn HostMachine> = self.machine.clone();
        let environment = self.environment();
        let reading = Arc::new(read(&environment, &NoFiles, tofu_oci_types::TofuRelease::V1_13));
        run(CurrentLogin::look(CredentialResolver::read(&machine, &environment, &reading), &self.registry))
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("the doubles answer at once"),
    }
}

#[test]
fn a_login_in_the_file_is_used_and_a_logout_removes_it() {
    let home = Home::new("{}", Doubles::default());
    assert_eq!(home.log_in("pw"), AfterLogin::Used);
    assert!(home.text().contains("YWRhOnB3"), "{}", home.text());
    let removal = run(remove(home.machine.as_ref(), &home.file(), &home.registry)).expect("it is removed");
    assert_eq!(removal.removed.len(), 1, "{removal:?}");
    assert_eq!(home.current().after_logout(), AfterLogout::Nothing);
}

#[test]
fn a_helper_keeps_the_login_and_the_file_only_marks_it() {
    let kept = r#"{"Username":"ada","Secret":"pw"}"#;
    let machine = Doubles::default()
        .answering(HelperAction::Store, r#"{"ServerURL":"ghcr.io","Username":"ada","Secret":"pw"}"#, 0, "")
        .answering(HelperAction::Get, "https://ghcr.io", 0, kept)
        .answering(HelperAction::Get, "ghcr.io", 0, kept)
        .answering(HelperAction::Erase, "https://ghcr.io", 0, "")
        .answering(HelperAction::Erase, "ghcr.io", 0, "");
    let home = Home::new(r#"{"credsStore":"pass"}"#, machine);
    assert_eq!(home.log_in("pw"), AfterLogin::Used);
    assert!(!home.text().contains("pw") && home.text().contains("ghcr.io"), "{}", home.text());
    let removal = run(remove(home.machine.as_ref(), &home.file(), &home.registry)).expect("it is removed");
    let from: Vec<&str> = removal.removed.iter().map(|one| one.from.as_str()).collect();
    assert_eq!(from, ["docker-credential-pass", "docker-credential-pass", "~/.docker/config.json"]);
}

#[test]
fn a_helper_that_fails_stores_nothing() {
    let home = Home::new(r#"{"credsStore":"pass"}"#, Doubles::default());
    let file = home.file();
    let keeper = file.keeper("ghcr.io").expect("a sound file");
    let stored = run(store(home.machine.as_ref(), &file, &keeper, "ghcr.io", "ada", &Secret::new("pw")));
    assert!(matches!(stored, Err(StoreLoginError::Helper(fault)) if fault.code == "helper-not-found"));
    assert_eq!(home.text(), r#"{"credsStore":"pass"}"#);
}

#[test]
fn a_login_after_a_more_specific_helper_is_not_used() {
    let home = Home::new(
        r#"{"credHelpers":{"ghcr.io":"gone"},"auths":{"ghcr.io":{}}}"#,
        Doubles::default().answering(
            HelperAction::Get,
            "https://ghcr.io",
            1,
            "credentials not found in native keychain",
        ),
    );
    let after = home.current().after_login(&home.file(), &Credential::basic("ada", "pw"));
    assert!(matches!(after, AfterLogin::NotUsed(Obstacle::Fault(_) | Obstacle::Empty(_))), "{after:?}");
}
