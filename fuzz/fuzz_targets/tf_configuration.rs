//! The providers of a configuration: the first byte chooses between a `.tf` and a `.tf.json` file, the rest is its text.
//! Places that are named exist.

#![no_main]

use std::fs;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;
use tofu_oci_tfconfig::configuration;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a temporary folder"));

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, text)) = bytes.split_first() else { return };
    let names = ["main.tf", "main.tf.json"];
    let chosen = names[usize::from(kind % 2)];
    let folder = FOLDER.path();
    for name in names {
        let _ = fs::remove_file(folder.join(name));
    }
    fs::write(folder.join(chosen), text).expect("a file is written");
    let lines = text.iter().filter(|byte| **byte == b'\n').count() + 1;
    match configuration(folder, &folder.join(".terraform")) {
        Ok(configuration) => {
            for requirement in &configuration.requirements {
                let constraints = requirement.constraints.to_string();
                assert_eq!(constraints.parse(), Ok(requirement.constraints.clone()));
            }
            for module in &configuration.missing_modules {
                assert!((1..=lines).contains(&module.declared.at.line) && module.declared.at.column >= 1);
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
