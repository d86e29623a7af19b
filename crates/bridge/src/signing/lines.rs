//! The lines of a `SHA256SUMS`.

use std::collections::BTreeMap;
use std::fmt;

use tofu_oci_trust::Sums;
use tofu_oci_types::{Digest, PackageHash, Platform, ZipName};

/// The zip of each platform of a release: its usual file name and its SHA-256.
#[derive(Clone, Debug)]
pub(super) struct SumsLines(BTreeMap<Platform, (String, Digest)>);

impl SumsLines {
    pub(super) fn new(zips: impl IntoIterator<Item = (Platform, String, Digest)>) -> Self {
        Self(zips.into_iter().map(|(platform, name, digest)| (platform, (name, digest))).collect())
    }

    /// The file names of the zips.
    pub(super) fn names(&self) -> BTreeMap<Platform, String> {
        self.0.iter().map(|(platform, (name, _))| (platform.clone(), name.clone())).collect()
    }

    /// The names that a file has for the zips: the usual ones, or those of the build. `None` if it lacks a zip, or if
    /// clients would not read it. It may have more lines, such as the line of a manifest file.
    ///
    /// Spec: `OpenTofu` 1.12, getproviders `matchingChecksumAuthentication`: the second word of a line is the name, whatever
    /// stands before it.
    pub(super) fn names_in(&self, text: &[u8]) -> Option<BTreeMap<Platform, String>> {
        let sums = Sums::parse(text).ok()?;
        let lines = std::str::from_utf8(text).ok()?.lines();
        let words: Option<Vec<&str>> = lines.map(|line| line.split_ascii_whitespace().nth(1)).collect();
        let words = words?;
        let usual = ZipName::parse(&self.0.values().next()?.0)?;
        let listed = sums.archives(usual.provider_type, &usual.version.parse().ok()?);
        let name_of = |(platform, (_, digest)): (&Platform, &(String, Digest))| {
            let (name, zh) = (*listed.get(platform)?)?;
            let fits = PackageHash::zh(digest).as_ref() == Some(zh) && !name.contains('/') && words.contains(&name);
            fits.then(|| (platform.clone(), name.to_owned()))
        };
        self.0.iter().map(name_of).collect()
    }
}

/// As `sha256sum` writes them, sorted by name.
impl fmt::Display for SumsLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: BTreeMap<_, _> = self.0.values().map(|(name, digest)| (name, digest)).collect();
        lines.iter().try_for_each(|(name, digest)| writeln!(f, "{}  {name}", digest.encoded()))
    }
}
