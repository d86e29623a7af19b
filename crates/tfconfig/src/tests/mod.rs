mod configurations;
mod early;
mod goldens;
mod problems;
mod reading;
mod test_files;

/// A folder with these files; a name that ends in `/` is a folder.
fn folder<'a, C: AsRef<[u8]> + 'a>(files: impl IntoIterator<Item = &'a (&'a str, C)>) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = dir.path().join(name);
        let folder = if name.ends_with('/') { &path } else { path.parent().unwrap() };
        std::fs::create_dir_all(folder).unwrap();
        if folder != path {
            std::fs::write(path, content).unwrap();
        }
    }
    dir
}
