//! The file that a login is kept in, or that names the helper which keeps it.

use std::path::{Path, PathBuf};

use tofu_oci_credentials::docker_file::{self, Change, Edit};
use tofu_oci_credentials::{AuthFile, AuthFileError, HelperName};
use tofu_oci_mapper::config::Environment;
use zeroize::Zeroizing;

use crate::credentials::files::Shown;
use crate::diagnostic::Diagnostic;
use crate::environment::environment;
use crate::exit::Exit;
use crate::private_file::{PrivateFile, Staged};

/// The file, and how people are told of it.
#[derive(Debug)]
pub(super) struct Target {
    file: PrivateFile,
    shown: String,
}

/// Who keeps the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Keeper {
    /// The file itself, in the clear.
    File,
    /// A helper that the file names.
    Helper(HelperName),
}

/// A failure while a file is rewritten.
enum Trouble {
    Io(std::io::Error),
    Content(AuthFileError),
}

impl Target {
    /// `--auth-file`, else docker's file. What killed runs have left beside it is removed.
    pub(super) fn choose(auth_file: Option<&Path>) -> Result<Self, Diagnostic> {
        let environment = environment(None)?;
        let path = match auth_file {
            Some(path) if path.as_os_str().is_empty() => {
                return Err(Diagnostic::usage("--auth-file names no file").hint("omit it for docker's own file"));
            }
            Some(path) => path.to_owned(),
            None => docker_config(&environment).ok_or_else(|| {
                Diagnostic::usage("there is no home directory to keep logins in")
                    .hint("name a file with --auth-file FILE, or a folder with DOCKER_CONFIG=DIR")
            })?,
        };
        let path = environment.working_dir.join(path);
        let shown = Shown::new(&environment).path(&path);
        match PrivateFile::at(&path) {
            Ok(file) => {
                file.sweep();
                Ok(Self { file, shown })
            }
            Err(error) => Err(unusable(&shown, "use", &error)),
        }
    }

    /// The path for people, with the home folder as `~`.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// Whether anybody but its owner may read it.
    pub(super) fn is_shared(&self) -> bool {
        self.file.is_shared()
    }

    /// Whether there is no such file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn is_missing(&self) -> Result<bool, Diagnostic> {
        Ok(self.file.read().map_err(|error| unusable(&self.shown, "read", &error))?.is_none())
    }

    /// What is in it; nothing where it is missing.
    ///
    /// # Errors
    /// When it cannot be read, and with line and column when it is no such file.
    pub(super) fn read(&self) -> Result<Option<AuthFile>, Diagnostic> {
        let bytes = self.file.read().map_err(|error| unusable(&self.shown, "read", &error))?;
        // Docker takes an empty file for one without entries.
        let bytes = bytes.filter(|bytes| !bytes.trim_ascii().is_empty());
        let parse = |bytes: Zeroizing<Vec<u8>>| {
            let file = AuthFile::parse(&self.shown, &bytes)?;
            // What is only left out when credentials are looked for stands in the way of writing.
            docker_file::remove(&bytes, &[])?;
            Ok(file)
        };
        bytes.map(parse).transpose().map_err(|error| self.malformed(&error))
    }

    /// Who keeps the login of a server.
    ///
    /// # Errors
    /// As [`Target::read`], and when a helper is named that cannot be one.
    pub(super) fn keeper(&self, server: &str) -> Result<Keeper, Diagnostic> {
        let Some(file) = self.read()? else { return Ok(Keeper::File) };
        match docker_file::helper_for(&file, server) {
            None => Ok(Keeper::File),
            Some(Ok(helper)) => Ok(Keeper::Helper(helper)),
            Some(Err(error)) => {
                Err(Diagnostic::usage(format!("{} names a credential helper that cannot be one", self.shown))
                    .code("invalid-helper-name")
                    .cause(error.to_string())
                    .hint("nothing was changed: correct the name, which is the part behind docker-credential-"))
            }
        }
    }

    /// Which of these keys have an entry in `auths`.
    pub(super) fn present(&self, keys: &[String]) -> Result<Vec<String>, Diagnostic> {
        if self.read()?.is_none() {
            return Ok(Vec::new());
        }
        let bytes = self.file.read().map_err(|error| unusable(&self.shown, "read", &error))?.unwrap_or_default();
        let mut present = Vec::new();
        for key in keys {
            let edit = docker_file::remove(&bytes, &[key]).map_err(|error| self.malformed(&error))?;
            if edit.change == Change::Removed {
                present.push(key.clone());
            }
        }
        Ok(present)
    }

    /// Whether this is the file that a message names.
    pub(super) fn is_named(&self, shown: &str) -> bool {
        shown == self.shown
    }

    /// Makes sure that the file can be written.
    pub(super) fn stage(&self) -> Result<Staging<'_>, Diagnostic> {
        let staged = self.file.stage().map_err(|error| unusable(&self.shown, "write", &error))?;
        Ok(Staging { target: self, staged })
    }

    fn malformed(&self, error: &AuthFileError) -> Diagnostic {
        // The error of an edit does not know the file's name.
        let place = error.line().map_or_else(|| self.shown.clone(), |line| format!("{}:{line}", self.shown));
        Diagnostic::usage(format!("{place}: {}", error.problem()))
            .hint("nothing was changed: correct the file, or name another one with --auth-file FILE")
    }
}

/// The file, ready to be written.
pub(super) struct Staging<'a> {
    target: &'a Target,
    staged: Staged<'a>,
}

impl Keeper {
    /// The program that keeps it; none where the file does.
    pub(super) fn program(&self) -> Option<String> {
        match self {
            Self::File => None,
            Self::Helper(helper) => Some(helper.program()),
        }
    }
}

impl Staging<'_> {
    /// Rewrites the file as it is now.
    pub(super) fn write(
        self,
        edit: impl FnOnce(Option<&[u8]>) -> Result<Edit, AuthFileError>,
    ) -> Result<Change, Diagnostic> {
        let mut change = Change::Nothing;
        let written = self.staged.commit(|bytes| {
            let mut edit = edit(bytes).map_err(Trouble::Content)?;
            change = edit.change;
            let bytes = Zeroizing::new(std::mem::take(&mut edit.bytes));
            Ok((change != Change::Nothing).then_some(bytes))
        });
        match written {
            Ok(()) => Ok(change),
            Err(Trouble::Io(error)) => Err(unusable(&self.target.shown, "write", &error)),
            Err(Trouble::Content(error)) => Err(self.target.malformed(&error)),
        }
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

/// `$DOCKER_CONFIG/config.json`, else `~/.docker/config.json`.
fn docker_config(environment: &Environment) -> Option<PathBuf> {
    let set = std::env::var_os("DOCKER_CONFIG").filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set.or_else(|| environment.home.as_ref().map(|home| home.join(".docker")))?;
    Some(folder.join("config.json"))
}

fn unusable(shown: &str, what: &str, error: &std::io::Error) -> Diagnostic {
    Diagnostic::new(Exit::Fixable, format!("cannot {what} {shown}"))
        .cause(error.to_string())
        .io_hint(what, Path::new(shown), error)
        .hint("another file is named by --auth-file FILE, another folder by DOCKER_CONFIG=DIR")
}
