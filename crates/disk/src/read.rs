//! Reading files without ever waiting for one.
//!
//! A pipe, a socket or a device may lie in the place of a file: opening it may wait for ever, and reading it may never
//! end. So only regular files are opened, and two other kinds that only a user can mean: the null device, which is an
//! empty file, and a descriptor of this process by its path (`/dev/stdin`, and `/dev/fd/63` of a shell's `<(…)`).

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// Opens a file to read it, without waiting. It also opens a folder, which cannot be read.
///
/// # Errors
/// If it is a pipe, a socket or a device, and those of the system.
pub fn open_file(path: &Path) -> io::Result<File> {
    if is_descriptor(path) {
        return File::open(path);
    }
    check(&fs::metadata(path)?)?;
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // A pipe may have taken its place by now.
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    let file = options.open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

/// All bytes of a file, at most `limit`. It is opened as by [`open_file`].
///
/// # Errors
/// [`ErrorKind::FileTooLarge`] if it has more, and those of [`open_file`].
pub fn read_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open_file(path)?;
    let too_large = || io::Error::new(ErrorKind::FileTooLarge, format!("it is larger than {}", size(limit)));
    let data = file.metadata()?;
    if data.is_file() && data.len() > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

/// A limit for people.
fn size(limit: u64) -> String {
    const MEBIBYTE: u64 = 1 << 20;
    if limit.is_multiple_of(MEBIBYTE) { format!("{} MiB", limit / MEBIBYTE) } else { format!("{limit} bytes") }
}

fn check(data: &Metadata) -> io::Result<()> {
    if data.is_file() || data.is_dir() || is_null_device(data) {
        return Ok(());
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"))
}

#[cfg(unix)]
fn is_null_device(data: &Metadata) -> bool {
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
    data.file_type().is_char_device() && fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == data.rdev())
}

#[cfg(not(unix))]
fn is_null_device(_data: &Metadata) -> bool {
    false
}

/// Whether the path is that of a descriptor of this process: `/dev/stdin`, or `/dev/fd/63` of a shell's `<(…)`.
pub fn is_descriptor(path: &Path) -> bool {
    let Some(text) = path.to_str() else { return false };
    let number = text.strip_prefix("/dev/fd/").or_else(|| text.strip_prefix("/proc/self/fd/"));
    text == "/dev/stdin" || number.is_some_and(|number| number.parse::<u32>().is_ok())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn pipe(folder: &Path) -> std::path::PathBuf {
        let path = folder.join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::from_raw_mode(0o600)).expect("a pipe");
        path
    }

    #[track_caller]
    fn check(path: &Path, want: Result<&[u8], &str>) {
        let got = read_file(path, 4).map_err(|error| error.to_string());
        assert_eq!(got.as_deref().map_err(String::as_str), want, "{}", path.display());
    }

    #[test]
    fn a_pipe_a_socket_or_a_device_in_the_place_of_a_file_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let refused = Err("it is not a regular file");
        check(&pipe(folder.path()), refused);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("pipe", &link).unwrap();
        check(&link, refused);
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        check(&socket, refused);
        check(Path::new("/dev/zero"), refused);
        check(Path::new("/dev/tty"), refused);
        check(folder.path(), Err("Is a directory (os error 21)"));
    }

    #[test]
    fn what_a_user_means_is_read() {
        use std::io::Write as _;
        use std::os::fd::AsRawFd as _;
        let folder = tempfile::tempdir().unwrap();
        check(Path::new("/dev/null"), Ok(b""));
        let path = folder.path().join("file");
        fs::write(&path, "four").unwrap();
        check(&path, Ok(b"four"));
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"pipe").unwrap();
        drop(writer);
        check(Path::new(&format!("/dev/fd/{}", reader.as_raw_fd())), Ok(b"pipe"));
    }

    #[test]
    fn no_more_is_read_than_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "five!").unwrap();
        check(&path, Err("it is larger than 4 bytes"));
        File::options().write(true).open(&path).unwrap().set_len(10 << 30).unwrap();
        let error = read_file(&path, 16 << 20).unwrap_err();
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::FileTooLarge, "it is larger than 16 MiB".to_owned()));
    }
}
