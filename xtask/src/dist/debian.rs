//! A package of Debian: an `ar` archive of two tar archives.
//!
//! Spec: deb(5), deb-control(5).

use super::member::{Member, gzip, tar};
use super::release::{MAINTAINER, REPOSITORY, Release, SUMMARY};
use crate::failure::ChoreResult;

/// The package with these files. It depends on nothing.
pub(super) fn package(release: &Release, architecture: &str, files: &[Member]) -> ChoreResult<Vec<u8>> {
    let rooted = |member: &Member| Member { path: format!("./{}", member.path), ..member.clone() };
    let data: Vec<Member> = files.iter().map(rooted).collect();
    let size: usize = files.iter().map(|file| file.bytes.len().div_ceil(1024)).sum();
    let control = Member::file("./control", control(release, architecture, size));
    let parts = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", gzip(&tar(&[control], release.date)?)?),
        ("data.tar.gz", gzip(&tar(&data, release.date)?)?),
    ];
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in parts {
        archive.extend(header(name, release.date, bytes.len()).into_bytes());
        archive.extend_from_slice(&bytes);
        if bytes.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    Ok(archive)
}

/// Sixty bytes before a member.
fn header(name: &str, date: u64, size: usize) -> String {
    format!("{name:<16}{date:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, "100644")
}

fn control(release: &Release, architecture: &str, kibibytes: usize) -> String {
    // A tilde sorts before the end: `1.0.0~rc.1` is older than `1.0.0`.
    let version = release.version.replace('-', "~");
    format!(
        "Package: tofu-oci\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: {MAINTAINER}\n\
         Installed-Size: {kibibytes}\nSection: admin\nPriority: optional\nHomepage: {REPOSITORY}\n\
         Description: {SUMMARY}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_sixty_bytes() {
        assert_eq!(
            header("control.tar.gz", 1_700_000_000, 345),
            "control.tar.gz  1700000000  0     0     100644  345       `\n"
        );
    }

    #[test]
    fn a_preview_is_older_than_its_release() {
        let release = Release { version: "1.2.0-rc.1".to_owned(), date: 0, commit: String::new() };
        let text = control(&release, "amd64", 12);
        assert!(text.starts_with("Package: tofu-oci\nVersion: 1.2.0~rc.1\nArchitecture: amd64\n"), "{text}");
        assert!(text.ends_with('\n'), "{text}");
        let maintainer = format!("\nMaintainer: {}\nInstalled-Size: 12\n", env!("CARGO_PKG_AUTHORS"));
        assert!(text.contains(&maintainer) && text.contains("\nHomepage: https://"), "{text}");
        let package = package(&release, "amd64", &[Member::file("usr/share/a", "text")]).unwrap();
        assert!(package.starts_with(b"!<arch>\ndebian-binary   0 "));
    }
}
