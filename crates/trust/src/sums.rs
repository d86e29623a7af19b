//! SHA256SUMS files, and which archive in a list is the one for a platform.

use std::collections::BTreeMap;

use tofu_oci_types::{Digest, PackageHash, Platform, Version, ZipName, platforms_of_build};

/// The largest SHA256SUMS file, in bytes.
pub const SUMS_LIMIT: usize = 1 << 20;

/// What a SHA256SUMS file says: the checksum of each file that it names.
///
/// A line is 64 hexadecimal digits, one space, then a space or an asterisk, and a name, as `sha256sum` writes it.
/// Harmless differences are read: any number of spaces and asterisks before the name, upper-case digits, CR LF, blank
/// lines, `./` before a name, and a file named twice with the same checksum. Every other line is an error, and so is a
/// file with two checksums: it would be unclear which one was meant. `SHA256 (FILE) = CHECKSUM` is read too, as BSD and
/// `sha256sum --tag` write it.
///
/// `OpenTofu` 1.12 takes the first of two lines, records no `zh:` of a file with an odd line, and crashes on a blank
/// one.
///
/// Spec: GNU coreutils, `sha256sum`, "Output format"; `OpenTofu` 1.12, `internal/getproviders/package_authentication.go`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    lines: BTreeMap<String, SumsLine>,
}

/// A line of a SHA256SUMS file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumsLine {
    /// The digest that it gives.
    pub digest: Digest,
    /// The same as a checksum of a package.
    pub zh: PackageHash,
    /// Its number, from 1.
    pub number: usize,
}

/// A file that is not a SHA256SUMS file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SumsError {
    #[error("it has {bytes} bytes, and at most {limit} are read")]
    TooLarge { bytes: usize, limit: usize },
    /// It is not UTF-8.
    #[error("it is not UTF-8")]
    NotText,
    /// A line that does not belong in a SHA256SUMS file.
    #[error("line {number}: {problem}")]
    Line {
        /// Its number, from 1.
        number: usize,
        problem: &'static str,
    },
}

impl Sums {
    /// Reads a SHA256SUMS file of at most [`SUMS_LIMIT`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, SumsError> {
        if bytes.len() > SUMS_LIMIT {
            return Err(SumsError::TooLarge { bytes: bytes.len(), limit: SUMS_LIMIT });
        }
        let text = std::str::from_utf8(bytes).map_err(|_| SumsError::NotText)?;
        let mut lines = BTreeMap::<String, SumsLine>::new();
        for (number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line.trim_end())) {
            if line.is_empty() {
                continue;
            }
            let odd = |problem| SumsError::Line { number, problem };
            let tagged = line.strip_prefix("SHA256 (").and_then(|rest| rest.rsplit_once(") = "));
            let plain = || line.split_once(' ').ok_or_else(|| odd("it must read CHECKSUM  FILE"));
            let (hex, name) = tagged.map_or_else(plain, |(name, hex)| Ok((hex, name)))?;
            let digest: Digest = format!("sha256:{}", hex.to_ascii_lowercase())
                .parse()
                .map_err(|_| odd("the checksum is not one of SHA-256"))?;
            let zh = PackageHash::zh(&digest).ok_or_else(|| odd("the checksum is not one of SHA-256"))?;
            let name = name.trim_end().trim_start_matches([' ', '*']);
            let name = name.strip_prefix("./").unwrap_or(name);
            if name.is_empty() {
                return Err(odd("it must read CHECKSUM  FILE"));
            }
            match lines.get(name) {
                Some(other) if other.digest != digest => {
                    return Err(odd("the file was named before, with another checksum"));
                }
                Some(_) => {}
                None => {
                    lines.insert(name.to_owned(), SumsLine { digest, zh, number });
                }
            }
        }
        Ok(Self { lines })
    }

    /// The list of these files with their digests, numbered as they come; a file with a digest that is not SHA-256 is omitted.
    /// `None` if a file has two digests: it would be unclear which one was meant.
    pub(crate) fn of<'a>(files: impl Iterator<Item = (&'a str, &'a Digest)>) -> Option<Self> {
        let mut lines = BTreeMap::<String, SumsLine>::new();
        for (index, (name, digest)) in files.enumerate() {
            let Some(zh) = PackageHash::zh(digest) else { continue };
            let line = SumsLine { digest: digest.clone(), zh, number: index + 1 };
            if lines.entry(name.to_owned()).or_insert_with(|| line.clone()).digest != line.digest {
                return None;
            }
        }
        Some(Self { lines })
    }

    /// The checksum of a file, by exactly this name.
    pub fn zh(&self, file_name: &str) -> Option<&PackageHash> {
        self.lines.get(file_name).map(|line| &line.zh)
    }

    /// The line that names a file: by exactly this name, or in a folder if no other line has another checksum for it.
    pub fn line(&self, file_name: &str) -> Option<&SumsLine> {
        let below = || {
            let mut found = self.lines.iter().filter(|(name, _)| last_part(name) == file_name).map(|(_, line)| line);
            let first = found.next()?;
            found.all(|line| line.zh == first.zh).then_some(first)
        };
        self.lines.get(file_name).or_else(below)
    }

    /// The archives of a version, each with its name in the list, by the names that builds give them: in a folder, with a `v`
    /// before the version, and as [`platforms_of_build`] reads the platform. Of several for one platform it is that with the
    /// usual name, or else the one that runs on more machines; `None` stands for two that differ in the checksum alone.
    pub fn archives(&self, provider_type: &str, version: &Version) -> BTreeMap<Platform, Option<(&str, &PackageHash)>> {
        let version = version.to_string();
        let mut found = BTreeMap::<Platform, ((u8, bool), Option<(&str, &PackageHash)>)>::new();
        for (name, line) in &self.lines {
            let Some(archive) = ZipName::parse(last_part(name)) else { continue };
            if archive.provider_type != provider_type || archive.version != version {
                continue;
            }
            let other = || Some((vec![archive.platform.parse().ok()?], 0));
            let Some((platforms, demands)) = platforms_of_build(archive.platform).or_else(other) else { continue };
            for platform in platforms {
                let usual = format!("terraform-provider-{provider_type}_{version}_{platform}.zip");
                let (rank, listed) = ((demands, *name != usual), Some((name.as_str(), &line.zh)));
                let (best, kept) = found.entry(platform).or_insert((rank, listed));
                if rank < *best {
                    (*best, *kept) = (rank, listed);
                } else if rank == *best && kept.is_some_and(|(_, zh)| *zh != line.zh) {
                    *kept = None;
                }
            }
        }
        found.into_iter().map(|(platform, (_, archive))| (platform, archive)).collect()
    }

    /// Every file and its checksum, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &PackageHash)> {
        self.lines.iter().map(|(name, line)| (name.as_str(), &line.zh))
    }
}

/// The name of a file without its folder.
fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &[u8], want: &str) {
        let found = match Sums::parse(text) {
            Ok(sums) => sums
                .lines
                .iter()
                .map(|(name, line)| format!("{} {name} {}", line.number, &line.zh.as_str()[..5]))
                .collect::<Vec<_>>()
                .join(", "),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, want);
    }

    fn a(rest: &str) -> Vec<u8> {
        format!("{}{rest}", "a".repeat(64)).into_bytes()
    }

    #[test]
    fn reads_what_the_usual_tools_write() {
        let (a, b) = ("a".repeat(64), "B".repeat(64));
        check(format!("{a}  x.zip\n{b} *y.zip\n").as_bytes(), "1 x.zip zh:aa, 2 y.zip zh:bb");
        check(format!("{a}  x.zip\r\n\r\n{b}  ./y z.zip").as_bytes(), "1 x.zip zh:aa, 3 y z.zip zh:bb");
        check(b"", "");
    }

    #[test]
    fn one_file_with_two_checksums_is_refused() {
        let (a, b) = ("a".repeat(64), "b".repeat(64));
        check(format!("{a}  x.zip\n{a} *x.zip\n").as_bytes(), "1 x.zip zh:aa");
        check(
            format!("{a}  x.zip\n{b}  ./x.zip\n").as_bytes(),
            "line 2: the file was named before, with another checksum",
        );
    }

    #[test]
    fn a_folder_is_a_part_of_the_name_and_no_reason_to_miss_the_file() {
        let (a, b) = ("a".repeat(64), "b".repeat(64));
        let sums = Sums::parse(format!("{a}  dist/x.zip\n{b}  dist/y.zip\n{a}  old/y.zip\n").as_bytes()).unwrap();
        assert_eq!(sums.zh("x.zip"), None);
        assert!(sums.zh("dist/x.zip").is_some());
        assert_eq!(sums.line("x.zip").map(|line| line.number), Some(1));
        assert_eq!(sums.line("y.zip"), None);
    }

    #[test]
    fn bsd_lines_are_read() {
        let a = "a".repeat(64);
        check(format!("SHA256 (x (1).zip) = {a}\n").as_bytes(), "1 x (1).zip zh:aa");
        check(b"SHA512 (x.zip) = aa\n", "line 1: the checksum is not one of SHA-256");
    }

    /// The archives of zap 1.2.0 in a list in which every line has a checksum of its own, or the one before `=`.
    #[track_caller]
    fn check_archives(names: &[&str], want: &str) {
        let line = |(number, name): (usize, &&str)| match name.split_once('=') {
            Some((same, name)) => format!("{}  {name}\n", same.repeat(64)),
            None => format!("{number:064}  {name}\n"),
        };
        let sums = Sums::parse(names.iter().enumerate().map(line).collect::<String>().as_bytes()).unwrap();
        let archives = sums.archives("zap", &"1.2.0".parse().unwrap());
        let found = archives.iter().map(|(platform, archive)| {
            format!("{platform} {}", archive.map_or("-", |(name, _)| name).replace("terraform-provider-zap_", ""))
        });
        assert_eq!(found.collect::<Vec<_>>().join(", "), want);
    }

    #[test]
    fn archives_are_named_as_goreleaser_names_them() {
        const ZAP: &str = "terraform-provider-zap_";
        let names = |rest: &[&str]| rest.iter().map(|rest| format!("{ZAP}{rest}.zip")).collect::<Vec<_>>();
        let check = |rest: &[&str], want: &str| {
            check_archives(&names(rest).iter().map(String::as_str).collect::<Vec<_>>(), want);
        };
        check(&["v1.2.0_linux_amd64", "1.3.0_linux_arm64"], "linux_amd64 v1.2.0_linux_amd64.zip");
        check(&["1.2.0_linux_armv7", "1.2.0_linux_armv6"], "linux_arm 1.2.0_linux_armv6.zip");
        check(&["1.2.0_linux_armv6", "1.2.0_linux_arm"], "linux_arm 1.2.0_linux_arm.zip");
        check(
            &["1.2.0_darwin_all", "1.2.0_darwin_arm64"],
            "darwin_amd64 1.2.0_darwin_all.zip, darwin_arm64 1.2.0_darwin_arm64.zip",
        );
        check(&["1.2.0_haiku_amd64"], "haiku_amd64 1.2.0_haiku_amd64.zip");
        check(&["v1.2.0_linux_amd64", "1.2.0_linux_amd64"], "linux_amd64 1.2.0_linux_amd64.zip");
        check_archives(
            &["dist/terraform-provider-zap_1.2.0_linux_amd64.zip", "old/terraform-provider-zap_1.2.0_linux_amd64.zip"],
            "linux_amd64 -",
        );
        check_archives(
            &["a=dist/terraform-provider-zap_1.2.0_linux_arm.zip", "a=old/terraform-provider-zap_1.2.0_linux_arm.zip"],
            "linux_arm dist/1.2.0_linux_arm.zip",
        );
    }

    #[test]
    fn odd_lines_are_refused() {
        check(b"abc  x.zip\n", "line 1: the checksum is not one of SHA-256");
        check(&a("f  x.zip\n"), "line 1: the checksum is not one of SHA-256");
        check(&a("\n"), "line 1: it must read CHECKSUM  FILE");
        check(&a(" *\n"), "line 1: it must read CHECKSUM  FILE");
        check(b"# comment\n", "line 1: the checksum is not one of SHA-256");
        check(b"\xff\n", "it is not UTF-8");
        check(&vec![b'\n'; SUMS_LIMIT + 1], "it has 1048577 bytes, and at most 1048576 are read");
    }
}
