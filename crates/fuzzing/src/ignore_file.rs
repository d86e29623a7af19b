//! The ignore file of a module: each file of the folder is packed or left out, and some are never packed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tofu_oci_archive::{ArchiveError, IGNORE_FILES, Limits, module_files};

use crate::input::with_folder;
use crate::seeds;

const FILES: [&str; 6] =
    ["main.tf", ".git/config", "docs/a.md", "modules/a/main.tf", "modules/a/.terraform/x", "a{b}.tf"];

/// Reads the bytes as the ignore file.
pub fn run(bytes: &[u8]) {
    with_folder("ignore_file", |folder| walk(folder, bytes));
}

fn walk(folder: &Path, bytes: &[u8]) {
    for path in FILES.map(|file| folder.join(file)).iter().filter(|path| !path.exists()) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder is made");
        fs::write(path, "").expect("a file is written");
    }
    fs::write(folder.join(IGNORE_FILES[0]), bytes).expect("a file is written");
    match module_files(folder, &Limits::default()) {
        Ok(module) => {
            assert_eq!(module.ignore_file, Some(IGNORE_FILES[0]));
            let packed: BTreeSet<&str> = module.files.iter().map(|file| file.name.as_str()).collect();
            assert!(!packed.iter().any(|name| name.split('/').any(|part| matches!(part, ".git" | ".terraform"))));
            for file in FILES {
                let mut above = file.match_indices('/').map(|(slash, _)| &file[..slash]).chain([file]);
                let is_left_out =
                    above.any(|name| module.left_out.iter().any(|left| left.name.trim_end_matches('/') == name));
                assert!(packed.contains(file) != is_left_out, "{file} {module:?}");
            }
        }
        Err(ArchiveError::IgnoreLine { line, .. }) => {
            assert!((1..=bytes.split(|byte| *byte == b'\n').count()).contains(&line));
        }
        Err(ArchiveError::Empty) => {}
        Err(error) => panic!("{error}"),
    }
}

/// Ignore files of each kind of line.
pub fn seeds() -> Vec<Vec<u8>> {
    seeds::of([
        "# comment\n*.md\n!docs/a.md\n/modules/*/main.tf\n.terraform/\n",
        "a{b}.tf\n[a-z]*.tf\n!\\!x\n**/a\n",
        "/\n!main.tf\n",
        "!.git\n!modules/a/.terraform/x\n",
        "[\n",
    ])
}
