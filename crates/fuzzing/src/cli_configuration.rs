//! The CLI configuration: the text is the main file, and what follows the first line `---` is a file of the
//! configuration directory. Problems point into their files, nothing secret is shown, and the methods can be asked.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use tofu_oci_mapper::MagicSuffix;
use tofu_oci_mapper::config::{CliConfigReading, ConfigFileState, ConfigFiles, Environment, MEASURED, Os, read};
use tofu_oci_types::ProviderAddr;

use crate::seeds;

/// Files of a user.
pub(crate) struct InMemory<'a> {
    pub(crate) main: &'a [u8],
    /// The file in the configuration directory.
    pub(crate) listed: Option<&'a [u8]>,
}

const MAIN: &str = "/home/u/.tofurc";
const FOLDER: &str = "/home/u/.terraform.d";
const LISTED: &str = "/home/u/.terraform.d/a.tfrc";

impl ConfigFiles for InMemory<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match path.to_str() {
            Some(MAIN) => Ok(self.main.to_vec()),
            Some(LISTED) => self.listed.map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::NotFound.into()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        match path.to_str() {
            Some(FOLDER) if self.listed.is_some() => Ok(vec!["a.tfrc".into()]),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn is_dir(&self, path: &Path) -> bool {
        path == Path::new(FOLDER) && self.listed.is_some()
    }

    fn exists(&self, path: &Path) -> bool {
        path == Path::new(MAIN) || ((path == Path::new(LISTED) || path == Path::new(FOLDER)) && self.listed.is_some())
    }
}

/// Where they lie.
pub(crate) fn environment() -> Environment {
    Environment {
        os: Os::Unix,
        home: Some(PathBuf::from("/home/u")),
        app_data: None,
        launch_dir: PathBuf::from("/work"),
        working_dir: PathBuf::from("/work"),
        named: None,
        vars: BTreeMap::new(),
    }
}

/// Reads the text.
pub fn run(bytes: &[u8]) {
    let cut = bytes.windows(5).position(|window| window == b"\n---\n");
    let (main, listed) = cut.map_or((bytes, None), |cut| (&bytes[..=cut], Some(&bytes[cut + 5..])));
    let files = InMemory { main, listed };
    let environment = environment();
    for release in MEASURED {
        let reading = read(&environment, &files, release);
        problems(&reading);
        let address: ProviderAddr = "example.com/acme/widget".parse().expect("an address");
        let methods = reading.methods(&environment, &files);
        assert!(methods.list.iter().all(|method| method.dropped.is_none()));
        for candidate in methods.candidates(&address, &MagicSuffix::default()) {
            assert_eq!(candidate.selection.is_in(), candidate.place.is_some());
            assert!(!candidate.method.label().is_empty());
        }
    }
}

/// CLI configurations that were measured.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut found = seeds::contents("cli-config", ".tfrc");
    let texts = seeds::texts("real_tofu_sources.json", &["cli_config"]);
    found.extend(texts.windows(2).step_by(16).map(|pair| format!("{}\n---\n{}", pair[0], pair[1]).into_bytes()));
    found.extend(seeds::bytes(texts));
    found
}

fn problems(reading: &CliConfigReading) {
    for problem in &reading.problems {
        assert!(!problem.code.is_empty() && !problem.message.is_empty());
        if let (Some(file), Some(span)) = (problem.file, &problem.span) {
            let text = &reading.files[file].text;
            assert!(text.get(span.clone()).is_some(), "{span:?} is no place: {problem:?}");
        }
        assert!(!problem.consequence().is_empty());
    }
    for (index, file) in reading.files.iter().enumerate() {
        let said = || reading.problems.iter().any(|problem| problem.file == Some(index));
        assert!(file.state == ConfigFileState::Read || said(), "{file:?} is dropped silently");
    }
    for method in reading.config.installation.iter().flat_map(|installation| &installation.methods) {
        if let Some(file) = method.file {
            assert!(reading.files[file].text.get(method.span.clone()).is_some(), "{:?}", method.span);
        }
        assert!(method.dropped.is_none_or(|index| index < reading.problems.len()));
    }
    assert_eq!(reading.refuse().is_ok(), reading.errors().next().is_none());
}
