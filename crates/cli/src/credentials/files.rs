//! Credential files, read. What they mean is decided in the `credentials` crate.

use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use tofu_oci_credentials::{AuthFile, FileKind, FileState, FoundFile, Place, SearchPath, auth_file_paths};
use tofu_oci_mapper::config::Environment;
use zeroize::Zeroizing;

use super::settings::ListedFile;
use crate::diagnostic::Diagnostic;

/// A credential file larger than this is not one. A device that never ends is not read to its end.
const FILE_LIMIT: u64 = 64 << 20;

/// How paths are named for people: the home folder as `~`.
pub(crate) struct Shown {
    home: Option<PathBuf>,
}

impl Shown {
    /// With the home folder of this user.
    pub(crate) fn new(environment: &Environment) -> Self {
        // Where the home folder is the root, everything would be in it.
        Self { home: environment.home.clone().filter(|home| home.parent().is_some()) }
    }

    /// A path for people.
    pub(crate) fn path(&self, path: &Path) -> String {
        match self.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
            Some(rest) => format!("~{}{}", std::path::MAIN_SEPARATOR, rest.display()),
            None => path.display().to_string(),
        }
    }
}

/// The files of the usual places, the most important first.
pub(super) fn ambient(environment: &Environment, shown: &Shown) -> Vec<FoundFile> {
    let variable = |name: &str| std::env::var_os(name);
    let search = auth_file_paths(&variable, environment.home.as_deref(), std::env::consts::OS);
    let find = |place: SearchPath| {
        let path = environment.working_dir.join(&place.path);
        let name = shown.path(&path);
        let state = state(&name, &path);
        let SearchPath { because, known_to_opentofu, kind, .. } = place;
        FoundFile { name, because, known_to_opentofu, kind, state }
    };
    search.into_iter().map(find).collect()
}

/// The files that somebody has listed.
pub(super) fn listed(files: &[ListedFile], place: &Place, shown: &Shown) -> Vec<FoundFile> {
    let find = |file: &ListedFile| {
        let name = shown.path(&file.path);
        let state = state(&name, &file.path);
        let because = format!("docker_style_config_files in {place}");
        FoundFile { name, because, known_to_opentofu: true, kind: FileKind::of(&file.path), state }
    };
    files.iter().map(find).collect()
}

/// Of files that somebody has listed every one must be there and sound.
pub(super) fn refuse(files: &[ListedFile], found: &[FoundFile], place: &Place, shown: &Shown) -> Option<Diagnostic> {
    let fault = |(written, file): (&ListedFile, &FoundFile)| {
        let name = &file.name;
        let text = match &file.state {
            _ if written.written.is_empty() => "docker_style_config_files has an empty name in it".to_owned(),
            FileState::Missing => format!("docker_style_config_files names {name}, which is not there"),
            FileState::Unreadable { reason } => {
                format!("docker_style_config_files names {name}, which cannot be read: {reason}")
            }
            FileState::TooLarge { limit } => {
                format!("docker_style_config_files names {name}, which is larger than {} MiB", limit >> 20)
            }
            FileState::Malformed(error) => format!("docker_style_config_files names a file that is none: {error}"),
            FileState::Read(file) => {
                let warning = file.off()?;
                format!("docker_style_config_files names a file with a fault in it: {warning}")
            }
        };
        let diagnostic = Diagnostic::usage(text).code("config-file-error").cause(format!("it is written in {place}"));
        Some(match written.written.strip_prefix("~/").zip(shown.home.as_ref()) {
            Some((rest, home)) => {
                diagnostic.hint(format!("~ is not expanded there: write {}", home.join(rest).display()))
            }
            None => diagnostic.hint("mend the file, or take it out of the list; relative names count from the folder of the CLI configuration"),
        })
    };
    files.iter().zip(found).find_map(fault)
}

fn state(name: &str, path: &Path) -> FileState {
    match read(path) {
        Ok(bytes) => match AuthFile::parse(name, &bytes) {
            Ok(file) => FileState::Read(file),
            Err(error) => FileState::Malformed(error),
        },
        // Of a link, too, that points nowhere.
        Err(error) if error.kind() == ErrorKind::NotFound => FileState::Missing,
        Err(error) if error.kind() == ErrorKind::FileTooLarge => FileState::TooLarge { limit: FILE_LIMIT },
        Err(error) => FileState::Unreadable { reason: reason(&error) },
    }
}

fn read(path: &Path) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut file = tofu_oci_disk::open_file(path)?;
    let data = file.metadata()?;
    if data.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    // Taken at once, so that no shorter copy of a secret is left behind in memory.
    let room = data.len().clamp(16 << 10, FILE_LIMIT) + 1;
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(room).unwrap_or(16 << 10)));
    file.by_ref().take(FILE_LIMIT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_LIMIT { Err(ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// The system's reason in words that do not depend on the system.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        ErrorKind::NotADirectory => "a part of its path is no folder".to_owned(),
        ErrorKind::PermissionDenied => "it may not be read by this user".to_owned(),
        _ => {
            let text = error.to_string();
            text.split_once(" (os error").map_or(text.as_str(), |(text, _)| text).to_lowercase()
        }
    }
}
