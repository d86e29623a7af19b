//! Which files of a folder make the package of a module.
//!
//! ```text
//! folder --walk--> names --rules.rs--> files to pack (write_zip)
//!                           |
//!                           +--> what is left out, and why        left_out.rs, usual_names.rs
//! files to pack --their first MiB--> secrets, which are refused     secrets.rs
//! ```
//!
//! What comes out depends on names and contents alone: not on modes, owners or times, which differ between machines.

mod glob;
mod left_out;
mod rules;
mod secrets;
mod usual_names;

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

pub use left_out::{LeftOut, LeftOutReason};
pub use rules::IGNORE_FILES;
use rules::IgnoreRules;
use secrets::{find_secret, has_private_key};
use usual_names::UsualName;

use crate::folder::{FolderItem, walk};
use crate::names::{EntryKind, NameSet, check_name, unsafe_name};
use crate::{ArchiveError, FoundSecret, InputFile, Limits, PackageContents, read_directory};

/// How programs and scripts begin: ELF, Mach-O in its forms, and a line that names the interpreter.
const PROGRAMS: [&[u8]; 7] = [
    b"\x7fELF",
    b"#!",
    b"\xfe\xed\xfa\xce",
    b"\xfe\xed\xfa\xcf",
    b"\xce\xfa\xed\xfe",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
];

/// `ELOOP`: a link leads to itself.
const TOO_MANY_LINKS: i32 = if cfg!(target_os = "linux") { 40 } else { 62 };

/// How much of a file is looked through for secrets, 1 MiB.
const LOOKED_THROUGH: u64 = 1 << 20;

/// What a folder gives for a module's package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackableModule {
    /// The files to pack, sorted by name.
    pub files: Vec<InputFile>,
    /// What is not packed, sorted by name.
    pub left_out: Vec<LeftOut>,
    /// The ignore file that counted, if the folder has one.
    pub ignore_file: Option<&'static str>,
}

/// The files below `dir` that make a module's package, fit to be packed.
///
/// A symbolic link to a file or folder inside of `dir` gives the files that it leads to. Scripts and programs get execute
/// bits, by their first bytes.
///
/// # Errors
/// A link that leads outside, to nothing or in a circle, a special file, a name that some system cannot hold, two names
/// that are one on some system, what git takes for a bare repository, a secret in a file, an invalid line of the ignore file, no
/// file at all, and more files or bytes than `limits` let an archive unpack to.
pub fn module_files(dir: &Path, limits: &Limits) -> Result<PackableModule, ArchiveError> {
    let root = fs::canonicalize(dir).map_err(ArchiveError::io("read", dir))?;
    let rules = IgnoreRules::read(&root)?;
    walked(&root, &rules, limits)
}

/// Every file below `dir`, for a package that its publisher has chosen the files of already: an ignore file in it has no effect.
///
/// # Errors
/// As [`module_files`].
pub fn all_module_files(dir: &Path, limits: &Limits) -> Result<PackableModule, ArchiveError> {
    let root = fs::canonicalize(dir).map_err(ArchiveError::io("read", dir))?;
    walked(&root, &IgnoreRules::for_everything(), limits)
}

/// Moves the files that git has checked out in `dir` into the empty folder `into`. A symbolic link to a file or folder inside
/// of `dir` becomes a copy of what it leads to. The caller has removed the `.git` that git wrote.
///
/// # Errors
/// As [`all_module_files`]. Both folders are to be removed then.
pub fn take_checkout(dir: &Path, into: &Path, limits: &Limits) -> Result<PackageContents, ArchiveError> {
    let root = fs::canonicalize(dir).map_err(ArchiveError::io("read", dir))?;
    check_links(&root, limits)?;
    let (linked, own): (Vec<_>, Vec<_>) = walked(&root, &IgnoreRules::for_everything(), limits)?
        .files
        .into_iter()
        .partition(|file| file.path != root.join(&file.name));
    // Copies first: a file that has moved cannot be copied any more.
    for (file, is_copy) in linked.iter().map(|file| (file, true)).chain(own.iter().map(|file| (file, false))) {
        let target = into.join(&file.name);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).map_err(ArchiveError::io("create", folder))?;
        }
        let done = if is_copy { fs::copy(&file.path, &target).map(drop) } else { fs::rename(&file.path, &target) };
        done.map_err(ArchiveError::io("write", &target))?;
    }
    read_directory(into, limits)
}

/// Refuses a link that says a place outside of the folder, before any link is followed: what lies there is not looked at. A `..` after
/// another link may lead anywhere, and is refused, too.
fn check_links(root: &Path, limits: &Limits) -> Result<(), ArchiveError> {
    let mut links = walk(root, &Limits { entries: usize::MAX, ..limits.clone() })?;
    links.retain(|item| item.kind.is_symlink());
    links.sort_by(|a, b| a.name.cmp(&b.name));
    let places: HashSet<PathBuf> = links.iter().map(|link| PathBuf::from(&link.name)).collect();
    for FolderItem { name, path, .. } in links {
        let target = fs::read_link(&path).map_err(ArchiveError::io("read", &path))?;
        let mut place = Path::new(&name).parent().unwrap_or(Path::new("")).to_owned();
        let mut is_through_link = false;
        let is_inside = target.components().all(|part| match part {
            Component::Normal(part) => {
                place.push(part);
                is_through_link |= places.contains(&place);
                true
            }
            Component::CurDir => true,
            Component::ParentDir => !is_through_link && place.pop(),
            Component::RootDir | Component::Prefix(_) => false,
        });
        if !is_inside {
            return Err(ArchiveError::LinkOutside { name, target: target.to_string_lossy().into_owned() });
        }
    }
    Ok(())
}

fn walked(root: &Path, rules: &IgnoreRules, limits: &Limits) -> Result<PackableModule, ArchiveError> {
    let mut walk = ModuleFolderWalk {
        root,
        rules,
        limits,
        names: NameSet::default(),
        entries: 0,
        bytes: 0,
        files: Vec::new(),
        left_out: BTreeSet::new(),
        secrets: Vec::new(),
        start: Vec::new(),
    };
    walk.folder("", root, &mut vec![root.to_owned()])?;
    let ModuleFolderWalk { mut files, left_out, secrets, .. } = walk;
    if !secrets.is_empty() {
        return Err(ArchiveError::Secrets { found: secrets });
    }
    if files.is_empty() {
        return Err(ArchiveError::Empty);
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(PackableModule { files, left_out: left_out.into_iter().collect(), ignore_file: rules.file })
}

struct ModuleFolderWalk<'a> {
    /// Without links in it.
    root: &'a Path,
    rules: &'a IgnoreRules,
    limits: &'a Limits,
    names: NameSet,
    entries: usize,
    bytes: u64,
    files: Vec<InputFile>,
    left_out: BTreeSet<LeftOut>,
    secrets: Vec<FoundSecret>,
    /// Of the file that is looked into.
    start: Vec<u8>,
}

impl ModuleFolderWalk<'_> {
    /// `prefix` is the folder's name with its slash, `above` the real folders on the way to it, itself included.
    fn folder(&mut self, prefix: &str, folder: &Path, above: &mut Vec<PathBuf>) -> Result<(), ArchiveError> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder).map_err(ArchiveError::io("read", folder))? {
            let entry = entry.map_err(ArchiveError::io("read", folder))?;
            let part = entry.file_name();
            let Some(part) = part.to_str() else {
                return Err(unsafe_name(&format!("{prefix}{}", part.to_string_lossy()), "it is not UTF-8"));
            };
            let kind = entry.file_type().map_err(ArchiveError::io("read", &entry.path()))?;
            entries.push((format!("{prefix}{part}"), entry.path(), kind));
        }
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, path, kind) in entries {
            if kind.is_symlink() {
                self.link(name, &path, above)?;
            } else {
                self.entry(name, path, kind, above)?;
            }
        }
        Ok(())
    }

    /// A file or folder, which a link may have led to.
    fn entry(
        &mut self,
        name: String,
        path: PathBuf,
        kind: fs::FileType,
        above: &mut Vec<PathBuf>,
    ) -> Result<(), ArchiveError> {
        let reason = self.rules.reason(&name, kind.is_dir());
        if kind.is_dir() {
            if let Some(reason) = reason.filter(|reason| self.rules.is_final(reason)) {
                self.left_out.insert(LeftOut { name: format!("{name}/"), reason });
                return Ok(());
            }
            check_name(&name)?;
            above.push(path.clone());
            let done = self.folder(&format!("{name}/"), &path, above);
            above.pop();
            return done;
        }
        if let Some(reason) = reason {
            self.left_out.insert(LeftOut { name, reason });
            return Ok(());
        }
        if !kind.is_file() {
            return Err(ArchiveError::UnsupportedEntry { name, kind: "neither a file nor a directory" });
        }
        self.file(name, path)
    }

    fn file(&mut self, name: String, path: PathBuf) -> Result<(), ArchiveError> {
        check_name(&name)?;
        let file = tofu_oci_disk::open_file(&path).map_err(ArchiveError::io("read", &path))?;
        let metadata = file.metadata().map_err(ArchiveError::io("read", &path))?;
        let looks = self.rules.looks_into(&name);
        self.start.clear();
        let most = if looks { LOOKED_THROUGH } else { 4 };
        file.take(most).read_to_end(&mut self.start).map_err(ArchiveError::io("read", &path))?;
        if looks && UsualName::of(&name).may_be_a_key() && has_private_key(&self.start) {
            self.left_out.insert(LeftOut { name, reason: LeftOutReason::Credentials });
            return Ok(());
        }
        self.names.insert(&name, EntryKind::File)?;
        self.entries += 1;
        self.limits.check_entries(self.entries)?;
        self.bytes = self.bytes.saturating_add(metadata.len());
        self.limits.check_unpacked(self.bytes)?;
        if looks && let Some((line, kind)) = find_secret(&self.start) {
            self.secrets.push(FoundSecret { name: name.clone(), line, kind });
        }
        let executable = PROGRAMS.iter().any(|magic| self.start.starts_with(magic));
        self.files.push(InputFile { name, path, executable });
        Ok(())
    }

    /// What a link leads to, under the name of the link. What its target's own name keeps out stays out.
    fn link(&mut self, name: String, path: &Path, above: &mut Vec<PathBuf>) -> Result<(), ArchiveError> {
        if let Some(reason) = self.rules.reason(&name, path.is_dir()).filter(|reason| self.rules.is_final(reason)) {
            self.left_out.insert(LeftOut { name, reason });
            return Ok(());
        }
        let target = || fs::read_link(path).map(|target| target.to_string_lossy().into_owned()).unwrap_or_default();
        let real = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(ArchiveError::LinkToNothing { target: target(), name });
            }
            Err(error) if error.raw_os_error() == Some(TOO_MANY_LINKS) => {
                return Err(ArchiveError::LinkInCircle { target: target(), name });
            }
            Err(error) => return Err(ArchiveError::io("read", path)(error)),
        };
        let Ok(inside) = real.strip_prefix(self.root) else {
            return Err(ArchiveError::LinkOutside { target: target(), name });
        };
        if above.contains(&real) {
            return Err(ArchiveError::LinkInCircle { target: target(), name });
        }
        let kind = fs::metadata(&real).map_err(ArchiveError::io("read", &real))?.file_type();
        let own: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
        if let Some(reason) = self.rules.reason(&own.join("/"), kind.is_dir()) {
            self.left_out.insert(LeftOut { name, reason });
            return Ok(());
        }
        // Folders of links to each other have no end in sight, and no file.
        self.entries += 1;
        self.limits.check_entries(self.entries)?;
        self.entry(name, real, kind, above)
    }
}

#[cfg(test)]
mod tests;
