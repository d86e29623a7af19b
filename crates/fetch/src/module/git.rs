//! The files of a commit, checked out by the program `git`.
//!
//! ```text
//! ls-remote    the name of the tag or branch       none: a commit, perhaps shortened
//! fetch        that commit alone, if the server gives it
//! ls-tree      how many files, how many bytes: nothing is checked out beyond the limits
//! checkout     into the temporary folder
//! submodules   each in the same way, into its folder
//! ```
//!
//! Spec: go-getter's `GitGetter`; git-fetch(1), git-ls-tree(1), gitmodules(5).

mod answers;

use std::path::Path;

use tofu_oci_archive::{ArchiveError, Limits};
use tofu_oci_source::{GitCheckout, GitCommand, GitFault, GitLimits, ModuleError};
use tofu_oci_types::{GitReference, GitTransport};

use self::answers::{GitTree, Submodule, commit, named, submodules};
use super::error::ModuleFetchError;
use crate::blocking::blocking;

/// The name that the commit gets in the temporary repository.
const WANTED: &str = "refs/tofu-oci/wanted";

/// How deeply submodules may be nested, and how many a package may have.
const DEEPEST: usize = 8;
const MOST: usize = 64;

/// Most bytes of a short answer, and of the list of a commit's files.
const SHORT: usize = 1 << 20;
const LIST: usize = 32 << 20;

/// What is checked out so far.
pub(super) struct CheckedOut<'a> {
    limits: &'a Limits,
    entries: usize,
    bytes: u64,
    submodules: usize,
}

impl<'a> CheckedOut<'a> {
    pub(super) fn new(limits: &'a Limits) -> Self {
        Self { limits, entries: 0, bytes: 0, submodules: 0 }
    }

    /// Checks out the commit that a source names into the empty folder `dir`, with its submodules, and gives the commit.
    pub(super) async fn check_out(
        &mut self,
        checkout: &GitCheckout,
        dir: &Path,
    ) -> Result<GitReference, ModuleFetchError> {
        let failed = |fault| git_error(checkout, fault);
        let mut waiting = vec![(checkout.clone(), dir.to_owned(), String::new(), 0)];
        let mut first = None;
        while let Some((one, folder, path, depth)) = waiting.pop() {
            if depth > 0 && !is_empty_folder(dir, &path).await {
                let problem = "its folder is not an empty one of the package".to_owned();
                return Err(failed(GitFault::Submodule { path, problem, code: "git-submodules" }));
            }
            let repository = GitRepository { checkout: &one, dir: &folder, limits: self.limits };
            let (commit, found) = match self.one(&repository).await {
                Ok(done) => done,
                Err(ModuleFetchError::Module(ModuleError::Git { fault, .. })) if depth > 0 => {
                    return Err(failed(submodule_fault(&path, &fault)));
                }
                Err(error) => return Err(error),
            };
            first.get_or_insert(commit);
            // Only the files are wanted, and the repositories of many submodules are large together.
            let git = folder.join(".git");
            blocking(move || std::fs::remove_dir_all(&git)).await.map_err(|source| ModuleFetchError::Io {
                action: "remove",
                path: folder.join(".git"),
                source,
            })?;
            for Submodule { path: inner, address, commit } in found {
                let path = if path.is_empty() { inner.clone() } else { format!("{path}/{inner}") };
                self.submodules += 1;
                if depth + 1 > DEEPEST || self.submodules > MOST {
                    let problem = format!("at most {MOST} submodules are fetched, nested at most {DEEPEST} deep");
                    return Err(failed(GitFault::Submodule { path, problem, code: "git-submodules" }));
                }
                let source = one.source().submodule(&address, commit).map_err(|error| {
                    failed(GitFault::Submodule { path: path.clone(), problem: error.to_string(), code: error.code() })
                })?;
                let next = one
                    .submodule(source)
                    .map_err(|fault| failed(submodule_fault(&path, &GitFault::Location(fault))))?;
                waiting.push((next, folder.join(&inner), path, depth + 1));
            }
        }
        Ok(first.expect("the first repository was checked out"))
    }

    async fn one(
        &mut self,
        repository: &GitRepository<'_>,
    ) -> Result<(GitReference, Vec<Submodule>), ModuleFetchError> {
        let commit = repository.fetch().await?;
        let list = repository.ask(&["ls-tree", "-r", "-z", "-l", "--full-tree", commit.as_str()], LIST).await?;
        let tree = GitTree::parse(&list).map_err(|problem| repository.failed(GitFault::Answer { problem }))?;
        (self.entries, self.bytes) = (self.entries + tree.entries, self.bytes.saturating_add(tree.bytes));
        let refused = |source| ModuleFetchError::Archive { place: repository.place(), source };
        if self.entries > self.limits.entries {
            return Err(refused(ArchiveError::TooManyEntries { limit: self.limits.entries }));
        }
        if self.bytes > self.limits.total_bytes {
            return Err(refused(ArchiveError::TooLarge { limit: self.limits.total_bytes }));
        }
        repository.ask(&["checkout", "--progress", "--force", "--detach", commit.as_str(), "--"], SHORT).await?;
        if tree.commits.is_empty() {
            return Ok((commit, Vec::new()));
        }
        let blob = format!("{commit}:.gitmodules");
        let output = repository.run(&["config", "--blob", &blob, "-z", "--list"], SHORT).await?;
        let text = if output.success { output.stdout } else { Vec::new() };
        let found = submodules(&text, &tree.commits).map_err(|(path, problem)| {
            repository.failed(GitFault::Submodule { path, problem, code: "git-submodules" })
        })?;
        Ok((commit, found))
    }
}

/// Whether `path` is an empty folder of `dir` that no link leads to. On a disk that ignores case, a link and the folder of a
/// submodule may be one.
async fn is_empty_folder(dir: &Path, path: &str) -> bool {
    let (dir, path) = (dir.to_owned(), path.to_owned());
    let look = move || {
        let real = std::fs::canonicalize(&dir).ok()?.join(&path);
        let is_itself = std::fs::canonicalize(&real).ok()? == real;
        Some(is_itself && std::fs::read_dir(&real).ok()?.next().is_none())
    };
    blocking(look).await.unwrap_or_default()
}

fn submodule_fault(path: &str, fault: &GitFault) -> GitFault {
    GitFault::InSubmodule { path: path.to_owned(), fault: Box::new(fault.clone()) }
}

fn git_error(checkout: &GitCheckout, fault: GitFault) -> ModuleFetchError {
    let source = checkout.source();
    let place = tofu_oci_source::ModulePackage::of_git(checkout.clone()).place().clone();
    ModuleFetchError::Module(ModuleError::Git { place, repository: source.to_string(), fault })
}

/// One repository, and the folder that it is checked out into.
struct GitRepository<'a> {
    checkout: &'a GitCheckout,
    dir: &'a Path,
    limits: &'a Limits,
}

impl GitRepository<'_> {
    fn failed(&self, fault: GitFault) -> ModuleFetchError {
        git_error(self.checkout, fault)
    }

    fn place(&self) -> tofu_oci_types::Place {
        tofu_oci_source::ModulePackage::of_git(self.checkout.clone()).place().clone()
    }

    async fn run(&self, arguments: &[&str], output: usize) -> Result<tofu_oci_source::GitOutput, ModuleFetchError> {
        // A repository and its files.
        let folder = self.limits.packed_bytes.saturating_add(self.limits.total_bytes);
        let command = GitCommand {
            arguments,
            dir: self.dir,
            transport: self.checkout.source().transport(),
            named_by: self.checkout.named_by(),
            limits: GitLimits { folder, output },
        };
        self.checkout.program().run(&command).await.map_err(|error| self.failed(error.into()))
    }

    /// The output of a command that must succeed.
    async fn ask(&self, arguments: &[&str], output: usize) -> Result<Vec<u8>, ModuleFetchError> {
        let said = self.run(arguments, output).await?;
        if said.success { Ok(said.stdout) } else { Err(self.failed(GitFault::Refused { message: said.message })) }
    }

    /// The attributes of a repository change no file: these have precedence.
    async fn plain_files(&self) -> Result<(), ModuleFetchError> {
        let info = self.dir.join(".git/info");
        let write = move || {
            std::fs::create_dir_all(&info)?;
            std::fs::write(info.join("attributes"), "* -text -ident -working-tree-encoding -filter\n")
        };
        blocking(write).await.map_err(|source| ModuleFetchError::Io {
            action: "write",
            path: self.dir.join(".git/info/attributes"),
            source,
        })
    }

    /// Fetches the commit that the source names, and gives it in full.
    async fn fetch(&self) -> Result<GitReference, ModuleFetchError> {
        let dir = self.dir.to_owned();
        // The folder of a submodule is there already, and empty.
        blocking(move || std::fs::create_dir_all(&dir)).await.map_err(|source| ModuleFetchError::Io {
            action: "create",
            path: self.dir.to_owned(),
            source,
        })?;
        self.ask(&["init", "--quiet", "--template=", "."], SHORT).await?;
        self.plain_files().await?;
        let url = self.checkout.source().url().as_str();
        let reference = self.checkout.source().reference();
        let wanted = reference.map_or("HEAD", GitReference::as_str);
        let names = match reference {
            None => vec!["HEAD".to_owned()],
            Some(_) => vec![format!("refs/tags/{wanted}"), format!("refs/heads/{wanted}"), wanted.to_owned()],
        };
        let mut question = vec!["ls-remote", "--", url];
        question.extend(names.iter().map(String::as_str));
        let listed = self.ask(&question, SHORT).await?;
        let missing = || self.failed(GitFault::NoReference { reference: wanted.to_owned() });
        match named(&listed, &names) {
            Some(name) => {
                self.shallow(name).await?.map_err(|message| self.failed(GitFault::Refused { message }))?;
                self.resolve(WANTED).await?.ok_or_else(missing)
            }
            None if reference.is_some_and(GitReference::is_hexadecimal) => {
                if matches!(wanted.len(), 40 | 64) && self.shallow(wanted).await?.is_ok() {
                    return self.resolve(WANTED).await?.ok_or_else(missing);
                }
                // Not every server gives any commit, and a shortened one can only be looked for in all of them.
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
