//! The pin file on disk.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use tofu_oci_trust::Pins;

use crate::InstallError;

/// The pins at `path`; none when there is no such file.
///
/// # Errors
/// [`InstallError::Pins`] when it does not parse: pins that are passed over protect nobody.
pub fn read_pins(path: &Path) -> Result<Pins, InstallError> {
    let failed = |source| InstallError::Io { action: "read", path: path.to_owned(), source };
    let text = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Pins::default()),
        Err(error) => return Err(failed(error)),
    };
    let text = String::from_utf8(text)
        .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error.utf8_error())))?;
    Pins::parse(&text).map_err(|source| InstallError::Pins { path: path.to_owned(), source })
}

/// Puts what `pins` has changed on top of what the file holds by now, at once and with mode 0644. Without a change
/// nothing is written.
///
/// # Errors
/// [`InstallError::PinConflict`] when another program has pinned something else meanwhile.
pub fn write_pins(path: &Path, pins: &Pins) -> Result<(), InstallError> {
    if !pins.is_changed() {
        return Ok(());
    }
    let disk = read_pins(path)?;
    let merged = pins.onto(&disk)?;
    let failed = |source| InstallError::Io { action: "write", path: path.to_owned(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut temporary = tempfile::Builder::new().prefix(".tofu-oci.pins.").tempfile_in(folder).map_err(failed)?;
    temporary.write_all(merged.to_text().as_bytes()).map_err(failed)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        temporary.as_file().set_permissions(fs::Permissions::from_mode(0o644)).map_err(failed)?;
    }
    temporary.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_is_no_pins_and_a_broken_one_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pins.json");
        assert!(read_pins(&path).unwrap().is_empty());
        write_pins(&path, &Pins::default()).unwrap();
        assert!(!path.exists(), "nothing has changed");
        fs::write(&path, "{").unwrap();
        assert!(matches!(read_pins(&path), Err(InstallError::Pins { .. })));
        fs::write(&path, [0xff]).unwrap();
        assert!(matches!(read_pins(&path), Err(InstallError::Io { .. })));
    }
}
