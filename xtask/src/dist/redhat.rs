//! A package of RPM.

use rpm::{BuildConfig, CompressionWithLevel, FileOptions, PackageBuilder};

use super::member::Member;
use super::release::{MAINTAINER, REPOSITORY, Release, SUMMARY};
use crate::failure::ChoreResult;

/// The package with these files. It depends on nothing.
pub(super) fn package(release: &Release, architecture: &str, files: &[Member]) -> ChoreResult<Vec<u8>> {
    let config = BuildConfig::v4().compression(CompressionWithLevel::Gzip(9)).source_date(u32::try_from(release.date)?);
    let version = release.version.replace('-', "~");
    let mut builder = PackageBuilder::new("tofu-oci", &version, "Apache-2.0", architecture, SUMMARY);
    builder.using_config(config).release("1").description(SUMMARY).build_host("localhost");
    builder.url(REPOSITORY).packager(MAINTAINER);
    for file in files {
        let options = FileOptions::new(format!("/{}", file.path)).permissions(u16::try_from(file.mode)?);
        builder.with_file_contents(file.bytes.clone(), options)?;
    }
    let mut bytes = Vec::new();
    builder.build()?.write(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_files_make_the_same_package() {
        let release = Release { version: "1.2.0-rc.1".to_owned(), date: 1_700_000_000, commit: String::new() };
        let files = [Member::program("usr/bin/tofu-oci", "run"), Member::file("usr/share/doc/a", "text")];
        let bytes = package(&release, "x86_64", &files).unwrap();
        assert_eq!(bytes, package(&release, "x86_64", &files).unwrap());
        let read = rpm::Package::parse(&mut bytes.as_slice()).unwrap();
        assert_eq!(read.metadata.get_version().unwrap(), "1.2.0~rc.1");
        let files = read.metadata.get_file_entries().unwrap();
        let lines = files.iter().map(|file| format!("{:o} {}", file.mode().permissions(), file.path().display()));
        assert_eq!(lines.collect::<Vec<_>>(), ["755 /usr/bin/tofu-oci", "644 /usr/share/doc/a"]);
    }
}
