//! A packaged helper: `docker-credential-pass`, over a password store and a key of its own.

use std::path::PathBuf;

use super::site::Person;
use crate::failure::ChoreResult;
use crate::interop::lab::Lab;
use crate::process::ProgramRun;

const KEY: &str = "stage@example.test";

/// A key that opens without a password, and its agent; dropping it ends the agent.
pub(super) struct Vault {
    key_folder: PathBuf,
    pass: ProgramRun,
    agent: ProgramRun,
}

impl Vault {
    /// Makes a key.
    pub(super) fn new(lab: &Lab) -> ChoreResult<Self> {
        let key_folder = lab.new_folder("gnupg")?;
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&key_folder, private)?;
        let with_key =
            |name: &str| Ok::<_, crate::failure::ChoreFailure>(lab.tool(name)?.variable("GNUPGHOME", &key_folder));
        let make =
            ["--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "", "--quick-generate-key", KEY];
        let vault = Self { pass: with_key("pass")?, agent: with_key("gpgconf")?, key_folder: key_folder.clone() };
        with_key("gpg")?.args(make).args(["default", "default", "never"]).success()?;
        Ok(vault)
    }

    /// Gives a user an empty password store that the key opens.
    pub(super) fn open_for(&self, person: &mut Person<'_>) -> ChoreResult {
        let store = person.path("password-store");
        self.pass.clone().args(["init", KEY]).variable("PASSWORD_STORE_DIR", &store).success()?;
        person.set("GNUPGHOME", &self.key_folder);
        person.set("PASSWORD_STORE_DIR", store);
        Ok(())
    }
}

impl Drop for Vault {
    fn drop(&mut self) {
        // An agent that is not there any more is what is wanted.
        let _ = self.agent.clone().args(["--kill", "all"]).output();
    }
}
