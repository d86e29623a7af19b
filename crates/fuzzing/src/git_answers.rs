//! What the program `git` answers.

use crate::seeds;

/// Reads the bytes as each answer; after a line `---` the settings of the submodules.
pub fn run(bytes: &[u8]) {
    tofu_oci_fetch::fuzzing::git_answers(bytes);
}

/// An answer of each kind.
pub fn seeds() -> Vec<Vec<u8>> {
    let commit = "0123456789".repeat(4);
    let references = format!("aaaa\trefs/tags/v1\n{commit}\trefs/tags/v1^{{}}\nbbbb\trefs/heads/v1\n");
    let tree = format!(
        "100644 blob {commit}      12\tmain.tf\0120000 blob {commit} 5\ta b\0160000 commit {commit} -\tsub\0\n---\nsubmodule.x.y.path\nsub\0submodule.x.y.url\n../b\0"
    );
    seeds::of([references.as_str(), tree.as_str(), commit.as_str()])
}
