//! The file that a login is kept in, or that names the helper which keeps it.

use std::io;
use std::path::{Path, PathBuf};

use tofu_oci_credentials::docker_file::{self, Edit, EditEffect};
use tofu_oci_credentials::{AuthFile, AuthFileError, HelperName, InvalidHelperName};
use tofu_oci_disk::{PrivateFile, StagedFile};
use tofu_oci_mapper::config::Environment;
use zeroize::Zeroizing;

use crate::machine::HostMachine;
use crate::path_names::PathNames;

/// The file, and its name for people.
#[derive(Debug)]
pub struct LoginFile {
    file: PrivateFile,
    shown: String,
}

/// What keeps the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// The file itself, unencrypted.
    File,
    /// A helper that the file names.
    Helper(HelperName),
}

/// Why the file cannot hold or name a login. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum LoginFileError {
    /// `--auth-file` is empty.
    #[error("--auth-file names no file")]
    Unnamed,
    /// There is no home folder.
    #[error("there is no home directory to keep logins in")]
    NoHome,
    /// The file system refuses it.
    #[error("cannot {action} {file}")]
    Unusable {
        /// `use`, `read` or `write`.
        action: &'static str,
        file: String,
        source: io::Error,
    },
    /// It is not a credential file.
    #[error("{file}{}: {}", source.line().map(|line| format!(":{line}")).unwrap_or_default(), source.problem())]
    Malformed {
        /// The file's name, for people; the error of an edit does not know it.
        file: String,
        source: AuthFileError,
    },
    /// It names an invalid helper.
    #[error("{file} names a credential helper that cannot be one")]
    InvalidHelper { file: String, source: InvalidHelperName },
}

/// A failure while a file is rewritten.
enum RewriteError {
    Io(io::Error),
    Content(AuthFileError),
}

impl LoginFile {
    /// `--auth-file`, otherwise docker's file. Removes what killed runs have left beside it.
    ///
    /// # Errors
    /// If there is no such place, or if it is not a file.
    pub fn choose(
        machine: &dyn HostMachine,
        environment: &Environment,
        auth_file: Option<&Path>,
    ) -> Result<Self, LoginFileError> {
        let path = match auth_file {
            Some(path) if path.as_os_str().is_empty() => return Err(LoginFileError::Unnamed),
            Some(path) => path.to_owned(),
            None => docker_config(machine, environment).ok_or(LoginFileError::NoHome)?,
        };
        let path = environment.working_dir.join(path);
        let shown = PathNames::new(environment).name(&path);
        match PrivateFile::at(&path) {
            Ok(file) => {
                file.sweep();
                Ok(Self { file, shown })
            }
            Err(source) => Err(LoginFileError::Unusable { action: "use", file: shown, source }),
        }
    }

    /// The path for people, with the home folder as `~`.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Whether anyone except its owner may read it.
    pub fn is_shared(&self) -> bool {
        self.file.is_shared()
    }

    /// Whether there is no such file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn is_missing(&self) -> Result<bool, LoginFileError> {
        Ok(self.read_bytes()?.is_none())
    }

    /// Its content; `None` if it is missing.
    ///
    /// # Errors
    /// If it cannot be read, or is not a credential file.
    pub fn read(&self) -> Result<Option<AuthFile>, LoginFileError> {
        let bytes = self.read_bytes()?;
        // Docker takes an empty file for one without entries.
        let bytes = bytes.filter(|bytes| !bytes.trim_ascii().is_empty());
        let parse = |bytes: Zeroizing<Vec<u8>>| {
            let file = AuthFile::parse(&self.shown, &bytes)?;
            // An entry that a look-up only leaves out prevents writing.
            docker_file::remove(&bytes, &[])?;
            Ok(file)
        };
        bytes.map(parse).transpose().map_err(|error| self.malformed(error))
    }

    /// What keeps the login of a server.
    ///
    /// # Errors
    /// As [`LoginFile::read`], and if the file names an invalid helper.
    pub fn keeper(&self, server: &str) -> Result<Keeper, LoginFileError> {
        let Some(file) = self.read()? else { return Ok(Keeper::File) };
        match docker_file::helper_for(&file, server) {
            None => Ok(Keeper::File),
            Some(Ok(helper)) => Ok(Keeper::Helper(helper)),
            Some(Err(source)) => Err(LoginFileError::InvalidHelper { file: self.shown.clone(), source }),
        }
    }

    /// Which of these keys have an entry in `auths`.
    ///
    /// # Errors
    /// As [`LoginFile::read`].
    pub fn present(&self, keys: &[String]) -> Result<Vec<String>, LoginFileError> {
        if self.read()?.is_none() {
            return Ok(Vec::new());
        }
        let bytes = self.read_bytes()?.unwrap_or_default();
        let mut present = Vec::new();
        for key in keys {
            let edit = docker_file::remove(&bytes, &[key]).map_err(|error| self.malformed(error))?;
            if edit.change == EditEffect::Removed {
                present.push(key.clone());
            }
        }
        Ok(present)
    }

    /// Whether people see this file under that name.
    pub fn is_named(&self, shown: &str) -> bool {
        shown == self.shown
    }

    /// Makes sure that the file can be written.
    ///
    /// # Errors
    /// If it cannot.
    pub fn stage(&self) -> Result<StagedLogin<'_>, LoginFileError> {
        let staged = self.file.stage().map_err(|error| self.unusable("write", error))?;
        Ok(StagedLogin { file: self, staged })
    }

    fn read_bytes(&self) -> Result<Option<Zeroizing<Vec<u8>>>, LoginFileError> {
        self.file.read().map_err(|error| self.unusable("read", error))
    }

    fn unusable(&self, action: &'static str, source: io::Error) -> LoginFileError {
        LoginFileError::Unusable { action, file: self.shown.clone(), source }
    }

    fn malformed(&self, source: AuthFileError) -> LoginFileError {
        LoginFileError::Malformed { file: self.shown.clone(), source }
    }
}

/// The file, ready to be written.
pub struct StagedLogin<'a> {
    file: &'a LoginFile,
    staged: StagedFile<'a>,
}

impl Keeper {
    /// The program that keeps it; `None` if the file does.
    pub fn program(&self) -> Option<String> {
        match self {
            Self::File => None,
            Self::Helper(helper) => Some(helper.program()),
        }
    }
}

impl StagedLogin<'_> {
    /// Rewrites the present file.
    pub fn write(
        self,
        edit: impl FnOnce(Option<&[u8]>) -> Result<Edit, AuthFileError>,
    ) -> Result<EditEffect, LoginFileError> {
        let mut change = EditEffect::Nothing;
        let written = self.staged.commit(|bytes| {
            let mut edit = edit(bytes).map_err(RewriteError::Content)?;
            change = edit.change;
            let bytes = Zeroizing::new(std::mem::take(&mut edit.bytes));
            Ok((change != EditEffect::Nothing).then_some(bytes))
        });
        match written {
            Ok(()) => Ok(change),
            Err(RewriteError::Io(error)) => Err(self.file.unusable("write", error)),
            Err(RewriteError::Content(error)) => Err(self.file.malformed(error)),
        }
    }
}

impl From<io::Error> for RewriteError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// `$DOCKER_CONFIG/config.json`, else `~/.docker/config.json`.
fn docker_config(machine: &dyn HostMachine, environment: &Environment) -> Option<PathBuf> {
    let set = machine.variable("DOCKER_CONFIG").filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set.or_else(|| environment.home.as_ref().map(|home| home.join(".docker")))?;
    Some(folder.join("config.json"))
}
