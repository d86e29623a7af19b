//! Lock files and pin files: what is written reads back as the same, and is written as the same bytes again.

use tofu_oci_lockfile::{LockFile, LockFileError};
use tofu_oci_trust::Pins;

use crate::input::text_of;
use crate::seeds;

/// Reads the text as each of the files.
pub fn run(bytes: &[u8]) {
    let text = text_of(bytes);
    match LockFile::parse(text) {
        Ok(file) => {
            let written = file.to_text();
            let again = LockFile::parse(&written).unwrap_or_else(|error| panic!("{error} in {written:?}"));
            assert_eq!(again, file, "{written:?}");
            assert_eq!((again.to_text(), again.ignored_modules()), (written, 0));
        }
        Err(LockFileError::Invalid { at, .. }) => {
            assert!((1..=text.matches('\n').count() + 1).contains(&at.line) && at.column >= 1, "{at}");
        }
        Err(error) => panic!("{error}"),
    }
    if let Ok(pins) = Pins::parse(text) {
        let written = pins.to_text();
        let again = Pins::parse(&written).unwrap_or_else(|error| panic!("{error} in {written:?}"));
        assert_eq!(again.to_text(), written);
        assert_eq!(again.iter().count(), pins.iter().count());
    }
}

/// Lock files that were measured.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut found = seeds::bytes(seeds::texts("lockfile.json", &["file"]));
    found.extend(seeds::contents("configurations", ".terraform.lock.hcl"));
    found.extend(seeds::of(["module \"x\" {\n}\nprovider \"a.example/b/c\" {\n  version = \"1.0.0\"\n  hashes = [\"h1:$${x}\\t\", \"zh:y\"]\n}\n"]));
    found
}
