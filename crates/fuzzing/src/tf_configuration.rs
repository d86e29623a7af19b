//! The providers of a configuration: the first byte chooses between a `.tf` and a `.tf.json` file, the rest is its text.
//! Places that are named exist.

use std::fs;
use std::path::Path;

use tofu_oci_tfconfig::{ConfigFolder, configuration};

use crate::input::with_folder;
use crate::seeds;

/// Reads the text.
pub fn run(bytes: &[u8]) {
    with_folder("tf_configuration", |folder| read(folder, bytes));
}

fn read(folder: &Path, bytes: &[u8]) {
    let Some((kind, text)) = bytes.split_first() else { return };
    let names = ["main.tf", "main.tf.json"];
    let chosen = names[usize::from(kind % 2)];
    for name in names {
        let _ = fs::remove_file(folder.join(name));
    }
    fs::write(folder.join(chosen), text).expect("a file is written");
    let lines = text.split(|byte| *byte == b'\n').count();
    match configuration(&ConfigFolder::new(folder)) {
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
}

/// The configurations that are compared with the real programs.
pub fn seeds() -> Vec<Vec<u8>> {
    let with = |kind: u8, end: &str| {
        seeds::contents("configurations", end).into_iter().map(move |text| [&[kind][..], &text].concat())
    };
    with(0, ".tf").chain(with(0, ".tofu")).chain(with(1, ".tf.json")).collect()
}
