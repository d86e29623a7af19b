//! The documentation of a provider, packed to go with a release.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use tofu_oci_archive::{ArchiveError, InputFile, plain_files, write_zip, zip_files};
use tofu_oci_disk::{FileError, read_file};
use tofu_oci_docs::{MOST_BYTES, PageName};
use tofu_oci_source::docs_limits;
use tofu_oci_types::Event;

use crate::PackError;

/// Where publishers keep their documentation, seen from the root of the provider's source.
const FOLDERS: [&str; 2] = ["docs", "website/docs"];

/// How many files that stay out are named.
const NAMED: usize = 5;

/// The documentation of a provider: the same bytes for the same pages, whatever the folder calls them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseDocs {
    zip: Bytes,
    pages: usize,
    dir: PathBuf,
    /// Files that are not pages, sorted.
    left_out: Vec<String>,
}

impl ReleaseDocs {
    /// Packs the pages of a `docs` or `website/docs` folder, with a temporary file in `work_dir`.
    ///
    /// # Errors
    /// [`PackError::NoDocs`] if there is no such folder, or it has no page, [`PackError::TwoPages`] of two files that are one page, and
    /// [`PackError::Archive`] of a symbolic link, a name that some system cannot hold, or more than 8 MiB or 5000 pages.
    pub fn pack(dir: &Path, work_dir: &Path) -> Result<Self, PackError> {
        if !dir.is_dir() {
            return Err(PackError::NoDocs { path: dir.to_owned(), inside: None });
        }
        let refused = |source: ArchiveError| PackError::Archive { path: dir.to_owned(), source: Arc::new(source) };
        let limits = docs_limits();
        let (mut pages, mut left_out) = (BTreeMap::<PageName, InputFile>::new(), Vec::new());
        let files = match plain_files(dir, &tofu_oci_archive::Limits::default()) {
            Err(ArchiveError::Empty) => Vec::new(),
            other => other.map_err(refused)?,
        };
        for file in files {
            let Some(page) = PageName::of_file(&file.name) else {
                left_out.push(file.name);
                continue;
            };
            let named = InputFile { name: page.file_name(), ..file.clone() };
            if let Some(first) = pages.insert(page.clone(), named) {
                return Err(PackError::TwoPages { page: page.to_string(), first: first.path, second: file.path });
            }
        }
        if pages.is_empty() {
            let inside = FOLDERS.iter().map(|folder| dir.join(folder)).find(|folder| folder.is_dir());
            return Err(PackError::NoDocs { path: dir.to_owned(), inside });
        }
        if pages.len() > limits.entries {
            return Err(refused(ArchiveError::TooManyEntries { limit: limits.entries }));
        }
        let work = tempfile::tempdir_in(work_dir)
            .map_err(FileError::at("create a folder in", &work_dir.display().to_string()))?;
        let out = work.path().join("docs.zip");
        let files: Vec<InputFile> = pages.into_values().collect();
        let size = |file: &InputFile| std::fs::metadata(&file.path).map_or(0, |metadata| metadata.len());
        if files.iter().map(size).sum::<u64>() > limits.total_bytes {
            return Err(refused(ArchiveError::TooLarge { limit: limits.total_bytes }));
        }
        write_zip(&files, &out).map_err(refused)?;
        let zip = read_file(&out, MOST_BYTES).map_err(FileError::at("read", &out.display().to_string()))?;
        // Whoever reads it goes by the same limits.
        zip_files(&zip, &limits).map_err(refused)?;
        Ok(Self { zip: zip.into(), pages: files.len(), dir: dir.to_owned(), left_out })
    }

    /// The zip.
    pub fn zip(&self) -> &Bytes {
        &self.zip
    }

    /// How many pages it has.
    pub fn pages(&self) -> usize {
        self.pages
    }

    /// What is to be said of files that are not pages.
    pub(crate) fn remark(&self) -> Option<Event> {
        let named = self.left_out.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = match self.left_out.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let dir = self.dir.display();
        let text = format!("the documentation has no place for these files of {dir}: {named}{more}");
        let hint = "pages are index.md, and .md files in resources, data-sources, functions, guides and the like";
        (!self.left_out.is_empty()).then(|| Event::note("docs-left-out", text).with_hint(hint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        dir
    }

    fn packed(files: &[(&str, &[u8])]) -> Result<ReleaseDocs, PackError> {
        let (dir, work) = (folder(files), tempfile::tempdir().unwrap());
        let packed = ReleaseDocs::pack(dir.path(), work.path());
        assert_eq!(std::fs::read_dir(work.path()).unwrap().count(), 0);
        packed
    }

    #[test]
    fn both_kinds_of_folder_give_the_same_bytes() {
        let new = packed(&[("index.md", b"a"), ("resources/x.md", b"b")]).unwrap();
        let old = packed(&[("index.html.markdown", b"a"), ("r/x.html.markdown", b"b")]).unwrap();
        assert_eq!((new.zip(), new.pages()), (old.zip(), 2));
        assert!(new.remark().is_none());
        let other = packed(&[("index.md", b"a"), ("images/x.png", b"b"), ("cdktf/python/index.md", b"c")]).unwrap();
        let Some(Event::Message { text, .. }) = other.remark() else { panic!("no remark") };
        assert!(text.ends_with(": cdktf/python/index.md, images/x.png"), "{text}");
    }

    #[test]
    fn what_no_reader_could_read_is_refused() {
        let code = |files: &[(&str, &[u8])]| packed(files).map(|_| ()).map_err(|error| format!("{error:?}"));
        let error = code(&[("index.md", b"a"), ("index.html.md", b"b")]).unwrap_err();
        assert!(error.starts_with("TwoPages"), "{error}");
        let error = code(&[("docs/index.md", b"a")]).unwrap_err();
        assert!(error.starts_with("NoDocs") && error.contains("docs\""), "{error}");
        assert!(code(&[]).unwrap_err().starts_with("NoDocs"));
        let noise: Vec<u8> = (0..=8_u32 << 20).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        assert!(code(&[("index.md", &noise)]).unwrap_err().contains("TooLarge"));
        // It would inflate to a thousand times its size.
        assert!(code(&[("index.md", &vec![b'a'; 4 << 20])]).unwrap_err().contains("RatioExceeded"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_folder_is_refused() {
        let dir = folder(&[("index.md", b"a")]);
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("x.md")).unwrap();
        let error = ReleaseDocs::pack(dir.path(), dir.path()).unwrap_err();
        assert!(format!("{error:?}").contains("Symlink"), "{error:?}");
    }
}
