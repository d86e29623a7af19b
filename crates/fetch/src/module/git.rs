//! Which commit is fetched by the program `git`, and within which limits.
//!
//! ```text
//! ls-remote    the name of the tag or branch       none: a commit, perhaps shortened; how long the names of objects are
//! fetch        that commit alone, if the server gives it
//! ls-tree      how many files, how many bytes: nothing is checked out beyond the limits
//! checkout     into the temporary folder
//! submodules   each in the same way, into its folder
//! ```
//!
//! Spec: go-getter's `GitGetter`; git-fetch(1), git-ls-tree(1), gitmodules(5).

mod answers;
mod current;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod repository;

use std::path::Path;

use tofu_oci_archive::{ArchiveError, Limits};
use tofu_oci_disk::FileError;
use tofu_oci_source::{GitCheckout, GitFault, ModuleError};
use tofu_oci_types::GitReference;

use self::answers::{GitTree, Submodule, submodules};
use self::repository::{GitRepository, SHORT, git_error};
use super::error::ModuleFetchError;
use crate::blocking::blocking;

pub use self::answers::VersionTag;
pub use self::current::{current_commit, version_tags_of};

/// How deeply submodules may be nested, and how many a package may have.
const DEEPEST: usize = 8;
const MOST: usize = 64;

/// Most bytes of the list of a commit's files.
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
            blocking(move || std::fs::remove_dir_all(&git))
                .await
                .map_err(FileError::at("remove", folder.join(".git")))?;
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
