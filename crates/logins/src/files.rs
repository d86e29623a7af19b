//! Credential files, read. The `credentials` crate decides what they mean.

use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use tofu_oci_credentials::{AuthFile, FileKind, FilePlace, FileState, FoundFile, SearchPath, auth_file_paths};
use tofu_oci_mapper::config::Environment;
use zeroize::Zeroizing;

use crate::machine::HostMachine;
use crate::path_names::PathNames;
use crate::refusal::{CredentialRefusal, ListedFileFault};
use crate::settings::ListedFile;

/// The largest credential file that is read, in bytes.
const FILE_LIMIT: u64 = 64 << 20;

/// The files of the usual places, the most important first.
pub(crate) fn ambient(machine: &dyn HostMachine, environment: &Environment, names: &PathNames) -> Vec<FoundFile> {
    let variable = |name: &str| machine.variable(name);
    let search = auth_file_paths(&variable, environment.home.as_deref(), machine.system());
    let find = |place: SearchPath| {
        let path = environment.working_dir.join(&place.path);
        let name = names.name(&path);
        let state = state(&name, &path);
        let SearchPath { because, known_to_opentofu, kind, .. } = place;
        FoundFile { name, because, known_to_opentofu, kind, state }
    };
    search.into_iter().map(find).collect()
}

/// The files that `docker_style_config_files` lists.
pub(crate) fn listed(files: &[ListedFile], place: &FilePlace, names: &PathNames) -> Vec<FoundFile> {
    let find = |file: &ListedFile| {
        let name = names.name(&file.path);
        let state = state(&name, &file.path);
        let because = format!("docker_style_config_files in {place}");
        FoundFile { name, because, known_to_opentofu: true, kind: FileKind::of(&file.path), state }
    };
    files.iter().map(find).collect()
}

/// Why the listed files cannot be used: every one must be there and sound.
pub(crate) fn refuse(
    files: &[ListedFile],
    found: &[FoundFile],
    place: &FilePlace,
    names: &PathNames,
) -> Option<CredentialRefusal> {
    let refusal = |(listed, file): (&ListedFile, &FoundFile)| {
        let fault = match &file.state {
            _ if listed.written.is_empty() => ListedFileFault::Unnamed,
            FileState::Missing => ListedFileFault::Missing,
            FileState::Unreadable { reason } => ListedFileFault::Unreadable { reason: reason.clone() },
            FileState::TooLarge { limit } => ListedFileFault::TooLarge { limit: *limit },
            FileState::Malformed(error) => ListedFileFault::Malformed(error.clone()),
            FileState::Read(file) => ListedFileFault::InvalidEntry(file.off()?.clone()),
        };
        let (name, expanded) = (file.name.clone(), names.expand(&listed.written));
        Some(CredentialRefusal::ListedFile { name, fault, place: place.clone(), expanded })
    };
    files.iter().zip(found).find_map(refusal)
}

fn state(name: &str, path: &Path) -> FileState {
    match read(path) {
        Ok(bytes) => match AuthFile::parse(name, &bytes) {
            Ok(file) => FileState::Read(file),
            Err(error) => FileState::Malformed(error),
        },
        // A dangling link counts as missing too.
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
    // Allocated once, so that no shorter copy of a secret stays in memory.
    let room = data.len().clamp(16 << 10, FILE_LIMIT) + 1;
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(room).unwrap_or(16 << 10)));
    file.by_ref().take(FILE_LIMIT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_LIMIT { Err(ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// The system's reason in words that do not depend on the system.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        ErrorKind::NotADirectory => "a part of its path is not a folder".to_owned(),
        ErrorKind::PermissionDenied => "it may not be read by this user".to_owned(),
        _ => {
            let text = error.to_string();
            text.split_once(" (os error").map_or(text.as_str(), |(text, _)| text).to_lowercase()
        }
    }
}
