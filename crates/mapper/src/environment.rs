//! What a reading depends on besides the files' text: the system, folders, variables, and a way to look at files.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// A file system that can be looked at and not changed. Handed in, because this crate opens nothing by itself.
pub trait ConfigFiles: Send + Sync {
    /// The content of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// The names in a folder, in any order.
    fn list(&self, path: &Path) -> io::Result<Vec<OsString>>;
    /// Whether a folder exists. Links are followed.
    fn is_dir(&self, path: &Path) -> bool;
    /// Whether a file or folder exists. Links are followed.
    fn exists(&self, path: &Path) -> bool;
    /// Whether a symbolic link exists, whatever its target.
    fn is_link(&self, _path: &Path) -> bool {
        false
    }
}

/// The kinds of systems that keep their configuration in different folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Os {
    /// Linux and everything like it.
    Unix,
    /// macOS: as Unix, except the folders of plugins.
    Mac,
    Windows,
}

/// A CLI configuration that counts in place of all others, because an option of the command names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// The option, such as `--cli-config`.
    pub option: &'static str,
    /// The file, relative to the folder in which the program was started.
    pub path: PathBuf,
}

/// The system, folders and variables of the program. `Debug` shows the names of variables without their values, which
/// may be tokens.
#[derive(Clone, PartialEq, Eq)]
pub struct Environment {
    pub os: Os,
    /// The home folder of the user.
    pub home: Option<PathBuf>,
    /// The folder of application data (roaming), on Windows.
    pub app_data: Option<PathBuf>,
    /// The folder in which the program was started.
    pub launch_dir: PathBuf,
    /// The folder that `--chdir` names; otherwise the same.
    pub working_dir: PathBuf,
    /// The file that an option of the command names.
    pub named: Option<NamedFile>,
    pub vars: BTreeMap<String, String>,
}

impl Environment {
    /// A variable that is set and not empty.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment")
            .field("os", &self.os)
            .field("home", &self.home)
            .field("app_data", &self.app_data)
            .field("launch_dir", &self.launch_dir)
            .field("working_dir", &self.working_dir)
            .field("named", &self.named)
            .field("vars", &self.vars.keys().collect::<Vec<_>>())
            .finish()
    }
}

impl Environment {
    /// `folder` with `parts` below it, written as the system writes paths whatever system this program runs on.
    pub(crate) fn join(&self, folder: &Path, parts: &[&str]) -> PathBuf {
        let mut path = folder.as_os_str().to_owned();
        for part in parts {
            if !path.to_string_lossy().ends_with(self.separators()) {
                path.push(if self.os == Os::Windows { "\\" } else { "/" });
            }
            path.push(part);
        }
        PathBuf::from(path)
    }

    /// `path` itself if it is absolute, otherwise below `folder`; without `.` in between.
    pub(crate) fn absolute(&self, folder: &Path, path: &Path) -> PathBuf {
        if self.is_absolute(path) {
            return path.to_owned();
        }
        let text = path.to_string_lossy();
        let parts: Vec<&str> = text.split(self.separators()).filter(|part| !part.is_empty() && *part != ".").collect();
        self.join(folder, &parts)
    }

    /// Whether a path starts at the root of the system (on Windows: of a drive or a server).
    pub fn is_absolute(&self, path: &Path) -> bool {
        let text = path.to_string_lossy();
        if self.os != Os::Windows {
            return text.starts_with('/');
        }
        let mut bytes = text.bytes();
        let drive = matches!((bytes.next(), bytes.next(), bytes.next()), (Some(letter), Some(b':'), Some(b'\\' | b'/')) if letter.is_ascii_alphabetic());
        drive || text.starts_with("\\\\") || text.starts_with("//")
    }

    fn separators(&self) -> &'static [char] {
        if self.os == Os::Windows { &['\\', '/'] } else { &['/'] }
    }
}
