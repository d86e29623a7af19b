//! What a repository of git has now, asked without fetching it.

use std::path::Path;

use tofu_oci_archive::Limits;
use tofu_oci_disk::{FileError, Purpose, Scratch};
use tofu_oci_source::{GitCheckout, GitFault};
use tofu_oci_types::GitReference;

use super::answers::{VersionTag, commit_named, version_tags};
use super::repository::{GitRepository, SHORT, git_error};
use crate::ModuleFetchError;

/// Most bytes of a list of tags.
const TAGS: usize = 16 << 20;

/// The commit that a source of git names now, in full. A source that names a commit, in full or shortened, names that one: it is
/// given as it is written. `work_dir` is an existing folder for a temporary one.
///
/// # Errors
/// If the repository cannot be asked, or has no tag or branch of that name.
pub async fn current_commit(checkout: &GitCheckout, work_dir: &Path) -> Result<GitReference, ModuleFetchError> {
    let reference = checkout.source().reference();
    let names = match reference {
        None => vec!["HEAD".to_owned()],
        Some(name) => vec![format!("refs/tags/{name}"), format!("refs/heads/{name}"), name.to_string()],
    };
    let commits: Vec<String> = names.iter().map(|name| format!("{name}^{{}}")).collect();
    let mut question = vec!["--", checkout.source().url().as_str()];
    question.extend(names.iter().chain(&commits).map(String::as_str));
    let listed = listed(checkout, work_dir, &question, SHORT).await?;
    let written = || reference.filter(|reference| reference.is_hexadecimal()).cloned();
    commit_named(&listed, &names).or_else(written).ok_or_else(|| {
        let reference = reference.map_or("HEAD", GitReference::as_str).to_owned();
        git_error(checkout, GitFault::NoReference { reference })
    })
}

/// The tags of a repository that are versions, `v1.4.0` or `1.4.0`, ascending. `work_dir` is an existing folder for a temporary
/// one.
///
/// # Errors
/// If the repository cannot be asked.
pub async fn version_tags_of(checkout: &GitCheckout, work_dir: &Path) -> Result<Vec<VersionTag>, ModuleFetchError> {
    let question = ["--tags", "--", checkout.source().url().as_str()];
    Ok(version_tags(&listed(checkout, work_dir, &question, TAGS).await?))
}

/// The answer of `git ls-remote`, asked in a repository of its own: the settings of one around the folder do not count.
async fn listed(
    checkout: &GitCheckout,
    work_dir: &Path,
    question: &[&str],
    most: usize,
) -> Result<Vec<u8>, ModuleFetchError> {
    let scratch = Scratch::temporary(work_dir, Purpose::Push).map_err(FileError::at("create a folder in", work_dir))?;
    let limits = Limits::default();
    let repository = GitRepository { checkout, dir: scratch.path(), limits: &limits };
    repository.admit().await?;
    repository.init("sha1").await?;
    repository.ask(&[&["ls-remote"], question].concat(), most).await
}
