//! One repository of git, asked and fetched by the program `git`.

use std::path::Path;

use tofu_oci_archive::Limits;
use tofu_oci_disk::FileError;
use tofu_oci_source::{
    GitCheckout, GitCommand, GitFault, GitLimits, GitOutput, LocationAccess, LocationFault, ModuleError, ModulePackage,
};
use tofu_oci_types::{GitReference, GitTransport, Place};

use super::answers::{commit, has_sha256, named};
use crate::ModuleFetchError;
use crate::blocking::blocking;

/// The name that the commit gets in the temporary repository.
const WANTED: &str = "refs/tofu-oci/wanted";

/// What git says where it is asked for a login and has none.
const LOGIN: [&str; 3] = ["could not read Username", "could not read Password", "Authentication failed"];

/// Most bytes of a short answer.
pub(super) const SHORT: usize = 1 << 20;

/// One repository, and the folder that it is checked out into.
pub(super) struct GitRepository<'a> {
    pub(super) checkout: &'a GitCheckout,
    pub(super) dir: &'a Path,
    pub(super) limits: &'a Limits,
}

impl GitRepository<'_> {
    pub(super) fn failed(&self, fault: GitFault) -> ModuleFetchError {
        git_error(self.checkout, fault)
    }

    /// The error for what git says.
    fn refused(&self, message: String) -> ModuleFetchError {
        let wants_login = LOGIN.iter().any(|words| message.contains(words));
        self.failed(match self.checkout.access() {
            LocationAccess::Anonymous if wants_login => GitFault::Location(LocationFault::Login),
            _ => GitFault::Refused { message },
        })
    }

    pub(super) fn place(&self) -> Place {
        ModulePackage::of_git(self.checkout.clone()).place().clone()
    }

    pub(super) async fn run(&self, arguments: &[&str], output: usize) -> Result<GitOutput, ModuleFetchError> {
        // A repository and its files.
        let folder = self.limits.packed_bytes.saturating_add(self.limits.total_bytes);
        let command = GitCommand {
            arguments,
            dir: self.dir,
            transport: self.checkout.source().transport(),
            named_by: self.checkout.named_by(),
            access: self.checkout.access(),
            pinned: self.checkout.pinned(),
            limits: GitLimits { folder, output },
        };
        self.checkout.program().run(&command).await.map_err(|error| self.failed(error.into()))
    }

    /// The output of a command that must succeed.
    pub(super) async fn ask(&self, arguments: &[&str], output: usize) -> Result<Vec<u8>, ModuleFetchError> {
        let said = self.run(arguments, output).await?;
        if said.success { Ok(said.stdout) } else { Err(self.refused(said.message)) }
    }

    /// Makes an empty repository whose objects have names of this kind.
    pub(super) async fn init(&self, format: &str) -> Result<(), ModuleFetchError> {
        // A git before 2.29 does not know the option, and makes a repository of SHA-1.
        let format = (format != "sha1").then(|| format!("--object-format={format}"));
        let options = ["init", "--quiet", "--template="].into_iter().chain(format.as_deref()).chain(["."]);
        self.ask(&options.collect::<Vec<_>>(), SHORT).await?;
        self.plain_files().await
    }

    /// The attributes of a repository change no file: these have precedence.
    async fn plain_files(&self) -> Result<(), ModuleFetchError> {
        let info = self.dir.join(".git/info");
        let write = move || {
            std::fs::create_dir_all(&info)?;
            std::fs::write(info.join("attributes"), "* -text -ident -working-tree-encoding -filter\n")
        };
        blocking(write).await.map_err(|source| {
            ModuleFetchError::from(FileError::new("write", self.dir.join(".git/info/attributes"), source))
        })
    }

    /// Refuses a repository if whoever named it may not name it.
    pub(super) async fn admit(&self) -> Result<(), ModuleFetchError> {
        self.checkout.admit().await.map_err(|fault| self.failed(GitFault::Location(fault)))
    }

    /// Fetches the commit that the source names, and gives it in full.
    pub(super) async fn fetch(&self) -> Result<GitReference, ModuleFetchError> {
        self.admit().await?;
        let dir = self.dir.to_owned();
        // The folder of a submodule is there already, and empty.
        blocking(move || std::fs::create_dir_all(&dir)).await.map_err(FileError::at("create", self.dir))?;
        self.init("sha1").await?;
        let url = self.checkout.source().url().as_str();
        let reference = self.checkout.source().reference();
        let wanted = reference.map_or("HEAD", GitReference::as_str);
        let names = match reference {
            None => vec!["HEAD".to_owned()],
            Some(_) => vec![format!("refs/tags/{wanted}"), format!("refs/heads/{wanted}"), wanted.to_owned()],
        };
        let mut question = vec!["ls-remote", "--", url, "HEAD"];
        question.extend(names.iter().map(String::as_str).filter(|name| *name != "HEAD"));
        let listed = self.ask(&question, SHORT).await?;
        if has_sha256(&listed).unwrap_or(wanted.len() == 64) {
            let git = self.dir.join(".git");
            blocking(move || std::fs::remove_dir_all(&git))
                .await
                .map_err(FileError::at("remove", self.dir.join(".git")))?;
            self.init("sha256").await?;
        }
        let missing = || self.failed(GitFault::NoReference { reference: wanted.to_owned() });
        match named(&listed, &names) {
            Some(name) => {
                self.shallow(name).await?.map_err(|message| self.refused(message))?;
                self.resolve(WANTED).await?.ok_or_else(missing)
            }
            None if reference.is_some_and(GitReference::is_hexadecimal) => {
                if matches!(wanted.len(), 40 | 64) && self.shallow(wanted).await?.is_ok() {
                    return self.resolve(WANTED).await?.ok_or_else(missing);
                }
                // Not every server serves every commit; a shortened name can only be looked up among all commits.
                let all = ["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"];
                self.ask(&["fetch", "--progress", "--no-tags", "--", url, all[0], all[1]], SHORT).await?;
                self.resolve(wanted).await?.ok_or_else(missing)
            }
            None => Err(missing()),
        }
    }

    /// Fetches one commit without those before it; `Err` has what git says if the server refuses.
    async fn shallow(&self, name: &str) -> Result<Result<(), String>, ModuleFetchError> {
        let (url, refspec) = (self.checkout.source().url().as_str(), format!("+{name}:{WANTED}"));
        let said = self.run(&["fetch", "--progress", "--depth=1", "--no-tags", "--", url, &refspec], SHORT).await?;
        if said.success {
            return Ok(Ok(()));
        }
        // A web server that only serves files.
        if said.message.contains("shallow") && self.checkout.source().transport() != GitTransport::Ssh {
            let said = self.run(&["fetch", "--progress", "--no-tags", "--", url, &refspec], SHORT).await?;
            return Ok(if said.success { Ok(()) } else { Err(said.message) });
        }
        Ok(Err(said.message))
    }

    /// The commit that a name means; `None` if no commit has that name, or several have it.
    async fn resolve(&self, name: &str) -> Result<Option<GitReference>, ModuleFetchError> {
        let name = format!("{name}^{{commit}}");
        let said = self.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &name], SHORT).await?;
        if !said.success {
            return Ok(None);
        }
        commit(&said.stdout).map(Some).map_err(|problem| self.failed(GitFault::Answer { problem }))
    }
}

pub(super) fn git_error(checkout: &GitCheckout, fault: GitFault) -> ModuleFetchError {
    let source = checkout.source();
    let place = ModulePackage::of_git(checkout.clone()).place().clone();
    ModuleFetchError::Module(ModuleError::Git { place, repository: source.to_string(), fault })
}
