//! What has to hold for whatever the program `git` answers.

use std::collections::BTreeSet;

use super::answers::{GitTree, commit, commit_named, named, submodules};

/// Reads the bytes as answers of git: to `ls-remote`, `rev-parse`, and, before a line `---` and after it, to `ls-tree` and
/// `config`.
///
/// # Panics
/// If what has to hold for whatever comes out does not.
pub fn git_answers(bytes: &[u8]) {
    let names = ["refs/tags/v1".to_owned(), "refs/heads/v1".to_owned()];
    let found = named(bytes, &names);
    assert!(found.is_none_or(|found| names.iter().any(|name| name == found)));
    for commit in [commit_named(bytes, &names), commit(bytes).ok()].into_iter().flatten() {
        let text = commit.as_str();
        assert!((4..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit()), "{text:?}");
    }
    let cut = bytes.windows(5).position(|window| window == b"\n---\n");
    let (list, settings) = cut.map_or((bytes, &b""[..]), |cut| (&bytes[..cut], &bytes[cut + 5..]));
    let tree = match GitTree::parse(list) {
        Ok(tree) => tree,
        Err(problem) => return assert!(!problem.contains(char::is_control), "{problem:?}"),
    };
    assert!(tree.entries >= tree.commits.len() && tree.entries <= list.len());
    match submodules(settings, &tree.commits) {
        Ok(all) => {
            let folders: BTreeSet<_> = all.iter().map(|one| &one.path).collect();
            assert_eq!(folders.len(), all.len(), "a folder has two submodules");
            for one in &all {
                assert_eq!(tree.commits.get(&one.path), Some(&one.commit));
                assert!(!one.commit.as_str().starts_with('-'));
            }
        }
        Err((path, problem)) => assert!(!path.contains(char::is_control) && !problem.is_empty(), "{path:?}"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_the_target_checks_holds() {
        super::git_answers(b"0123456789\trefs/tags/v1\n");
        super::git_answers(b"160000 commit 0123456789 -\tsub\0\n---\nsubmodule.x.path\nsub\0submodule.x.url\n../b\0");
    }
}
