//! The providers that a tree of files holds.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tofu_oci_types::ProviderAddr;

/// The providers of `DIR/HOST/NAMESPACE/TYPE`, sorted. What does not read as an address is passed over.
///
/// # Errors
/// If the folder, or one in it, cannot be listed.
pub fn providers_in_tree(dir: &Path) -> io::Result<Vec<ProviderAddr>> {
    let mut found = Vec::new();
    for (host, folder) in folders(dir)? {
        for (namespace, folder) in folders(&folder)? {
            for (provider_type, _) in folders(&folder)? {
                found.extend(format!("{host}/{namespace}/{provider_type}").parse::<ProviderAddr>());
            }
        }
    }
    found.sort_by_key(ToString::to_string);
    Ok(found)
}

/// The folders in a folder by their names; links to folders, too.
fn folders(dir: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if let (Ok(name), true) = (entry.file_name().into_string(), entry.path().is_dir()) {
            found.push((name, entry.path()));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_lists_its_providers() {
        let dir = tempfile::tempdir().unwrap();
        for folder in
            ["b.example/acme/zap", "a.example/acme/zap", ".first-seen/a.example/x", "a.example/not an address/x"]
        {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        fs::write(dir.path().join("index.json"), "").unwrap();
        let found: Vec<String> = providers_in_tree(dir.path()).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(found, ["a.example/acme/zap", "b.example/acme/zap"]);
        assert!(providers_in_tree(&dir.path().join("missing")).is_err());
    }
}
