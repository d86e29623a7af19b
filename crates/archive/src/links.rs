//! Symbolic links in the archive of a module.

use std::fs;
use std::path::Path;

use crate::{ArchiveError, Limits, PackageContents, take_checkout};

/// Puts a copy of what it leads to in the place of each link, as [`take_checkout`] does it. `into` has all other files of the
/// package, and nothing in the places of the links, whose names are checked.
///
/// The links are made when every file is there, in a folder beside `into`, so that nothing is written through them.
pub(crate) fn copy_links(
    into: &Path,
    links: &[(String, Vec<u8>)],
    limits: &Limits,
) -> Result<PackageContents, ArchiveError> {
    let beside = into.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let room = tempfile::Builder::new().prefix("links-").tempdir_in(beside);
    let room = room.map_err(ArchiveError::io("create a folder in", beside))?;
    let work = room.path().join("package");
    fs::rename(into, &work).map_err(ArchiveError::io("rename", into))?;
    fs::create_dir(into).map_err(ArchiveError::io("create", into))?;
    // No name is below another one, so the folders above a link are folders.
    for (name, _) in links {
        let path = work.join(name);
        let above = path.parent().unwrap_or(&work);
        fs::create_dir_all(above).map_err(ArchiveError::io("create", above))?;
    }
    for (name, target) in links {
        // No system makes such a link.
        if target.is_empty() || target.contains(&0) {
            let target = String::from_utf8_lossy(target).into_owned();
            return Err(ArchiveError::LinkToNothing { name: name.clone(), target });
        }
        make_link(&work.join(name), name, target)?;
    }
    take_checkout(&work, into, limits)
}

#[cfg(unix)]
fn make_link(path: &Path, _name: &str, target: &[u8]) -> Result<(), ArchiveError> {
    use std::os::unix::ffi::OsStrExt as _;
    let target = std::ffi::OsStr::from_bytes(target);
    std::os::unix::fs::symlink(target, path).map_err(ArchiveError::io("create", path))
}

/// Links need rights of their own.
#[cfg(not(unix))]
fn make_link(_path: &Path, name: &str, _target: &[u8]) -> Result<(), ArchiveError> {
    Err(ArchiveError::Symlink { name: name.to_owned() })
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use insta::assert_snapshot;

    use crate::zip::tests::builder::{Archive, Raw, deflated, stored};
    use crate::{ArchiveError, Limits, PackageContents, ReadSource, unpack_module_zip, unpack_tar_gz, unpack_zip};

    fn link(name: &str, target: &str) -> Raw {
        stored(name, target).mode(3, 0o120_777)
    }

    /// What an archive gives, and that nothing else is left.
    fn unpacked(unpack: impl Fn(&std::path::Path) -> Result<PackageContents, ArchiveError>) -> String {
        let dir = tempfile::tempdir().unwrap();
        let into = dir.path().join("into");
        std::fs::create_dir(&into).unwrap();
        let contents = match unpack(&into) {
            Ok(contents) => contents,
            Err(error) => return format!("error: {error}"),
        };
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        let file = |name: &str| {
            let path = into.join(name);
            assert!(path.symlink_metadata().unwrap().is_file(), "{name}");
            format!("{name}={}", std::fs::read_to_string(path).unwrap())
        };
        contents.files().iter().map(|found| file(&found.name)).collect::<Vec<_>>().join(" ")
    }

    fn zip(entries: impl IntoIterator<Item = Raw>) -> String {
        let bytes = Archive::of(entries).bytes();
        unpacked(|into| unpack_module_zip(&mut ReadSource::new(&bytes[..]), into, &Limits::default()))
    }

    /// Files with their contents, and links with `>` before their targets.
    fn tar_gz(entries: &[(&str, &str)]) -> String {
        let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let mut tar = tar::Builder::new(gzip);
        for (name, content) in entries {
            let mut header = tar::Header::new_gnu();
            header.set_mode(0o644);
            if let Some(target) = content.strip_prefix('>') {
                header.set_entry_type(tar::EntryType::Symlink);
                header.set_size(0);
                tar.append_link(&mut header, name, target).unwrap();
            } else {
                header.set_size(content.len() as u64);
                tar.append_data(&mut header, name, content.as_bytes()).unwrap();
            }
        }
        let bytes = tar.into_inner().unwrap().finish().unwrap();
        unpacked(|into| unpack_tar_gz(&mut ReadSource::new(&bytes[..]), into, &Limits::default()))
    }

    #[test]
    fn a_link_in_the_archive_of_a_module_was_refused() {
        assert_snapshot!(zip([link("a/b", "../c"), deflated("c/x", "1"), link("main.tf", "c/x")]), @"a/b/x=1 c/x=1 main.tf=1");
        assert_snapshot!(tar_gz(&[("m/LICENSE", ">../LICENSE"), ("LICENSE", "text"), ("n", ">m")]), @"LICENSE=text m/LICENSE=text n/LICENSE=text");
    }

    #[test]
    fn a_link_that_leads_out_of_the_archive_is_refused() {
        assert_snapshot!(zip([link("a", "/etc/passwd"), deflated("b", "")]), @"error: `a` is a link to `/etc/passwd`, which lies outside of the module's folder");
        assert_snapshot!(zip([link("a", "../../into/b"), deflated("b", "")]), @"error: `a` is a link to `../../into/b`, which lies outside of the module's folder");
        assert_snapshot!(tar_gz(&[("a", ">nowhere"), ("b", "")]), @"error: `a` is a link to `nowhere`, which does not exist");
        assert_snapshot!(tar_gz(&[("a", ">b"), ("b", ">a")]), @"error: `a` is a link to `b`, which leads in a circle");
        assert_snapshot!(tar_gz(&[("d/up", ">.."), ("b", "")]), @"error: `d/up` is a link to `..`, which leads in a circle");
        // Nothing is written through a link.
        assert_snapshot!(tar_gz(&[("d", ">/tmp"), ("d/x", "1")]), @"error: the archive has two entries named `d`");
        assert_snapshot!(zip([link("d", "e"), deflated("d/x", "1")]), @"error: the archive has two entries named `d`");
        assert_snapshot!(tar_gz(&[("d", ">e"), ("d/x", ">f"), ("e/y", ""), ("f", "")]), @"error: the archive has two entries named `d`");
    }

    #[test]
    fn a_link_to_an_empty_path_was_a_fault_of_a_temporary_folder() {
        assert_snapshot!(zip([link("d/a", ""), deflated("b", "")]), @"error: `d/a` is a link to ``, which does not exist");
        assert_snapshot!(zip([link("a", "x\0y"), deflated("b", "")]), @r"error: `a` is a link to `x\0y`, which does not exist");
    }

    #[test]
    fn a_link_told_whether_a_file_outside_of_the_archive_exists() {
        assert_snapshot!(zip([link("a", "/no/such/file"), deflated("b", "")]), @"error: `a` is a link to `/no/such/file`, which lies outside of the module's folder");
        assert_snapshot!(tar_gz(&[("d/a", ">../../no-such-file"), ("b", "")]), @"error: `d/a` is a link to `../../no-such-file`, which lies outside of the module's folder");
        // No other link leads through it before it is seen.
        assert_snapshot!(tar_gz(&[("a", ">b/x"), ("b", ">/etc")]), @"error: `b` is a link to `/etc`, which lies outside of the module's folder");
        assert_snapshot!(zip([link("d/a", "../d/./../c"), deflated("c", "1")]), @"c=1 d/a=1");
        // What follows a link is not where the text says.
        let links = [link("a", "l/x/../s"), link("d/e/x", "../.."), link("l", "d/e"), deflated("b", "")];
        assert_snapshot!(zip(links), @"error: `a` is a link to `l/x/../s`, which lies outside of the module's folder");
    }

    #[test]
    fn folders_of_links_to_each_other_were_walked_without_an_end() {
        let links = (0..17)
            .flat_map(|nth| ["a", "b"].map(|name| link(&format!("d{nth:02}/{name}"), &format!("../d{:02}", nth + 1))));
        assert_snapshot!(zip(links.chain([stored("d17/", "").mode(3, 0o040_755)])), @"error: the archive has more than 50000 entries");
    }

    #[test]
    fn a_package_of_a_provider_has_no_links() {
        let bytes = Archive::of([link("a", "b"), deflated("b", "")]).bytes();
        let found = unpacked(|into| unpack_zip(&mut ReadSource::new(&bytes[..]), into, &Limits::default()));
        assert_eq!(found, "error: `a` is a symbolic link, which a package must not contain");
    }
}
