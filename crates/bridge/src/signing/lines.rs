//! The lines of a `SHA256SUMS`.

use std::collections::BTreeMap;
use std::fmt;

use tofu_oci_trust::Sums;
use tofu_oci_types::{PackageHash, Platform, ZipName};

use super::release_sums::SumsZip;

/// The zip of each platform of a release, by its usual file name.
#[derive(Clone, Debug)]
pub(super) struct SumsLines(BTreeMap<Platform, SumsZip>);

impl SumsLines {
    pub(super) fn new(zips: impl IntoIterator<Item = (Platform, SumsZip)>) -> Self {
        Self(zips.into_iter().collect())
    }

    pub(super) fn zips(&self) -> &BTreeMap<Platform, SumsZip> {
        &self.0
    }

    /// The zips by the names that a file has for them: the usual ones, or those of the build. `None` if it lacks a zip, or
    /// if clients would not read it. It may have more lines, such as the line of a manifest file.
    ///
    /// Spec: `OpenTofu` 1.12, getproviders `matchingChecksumAuthentication`: the second word of a line is the name, whatever
    /// stands before it.
    pub(super) fn zips_in(&self, text: &[u8]) -> Option<BTreeMap<Platform, SumsZip>> {
        let sums = Sums::parse(text).ok()?;
        let lines = std::str::from_utf8(text).ok()?.lines();
        let words: Option<Vec<&str>> = lines.map(|line| line.split_ascii_whitespace().nth(1)).collect();
        let words = words?;
        let usual = ZipName::parse(&self.0.values().next()?.name)?;
        let listed = sums.archives(usual.provider_type, &usual.version.parse().ok()?);
        let named = |(platform, zip): (&Platform, &SumsZip)| {
            let (name, zh) = (*listed.get(platform)?)?;
            let fits =
                PackageHash::zh(&zip.digest).as_ref() == Some(zh) && !name.contains('/') && words.contains(&name);
            fits.then(|| (platform.clone(), SumsZip { name: name.to_owned(), ..zip.clone() }))
        };
        self.0.iter().map(named).collect()
    }
}

/// As `sha256sum` writes them, sorted by name.
impl fmt::Display for SumsLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: BTreeMap<_, _> = self.0.values().map(|zip| (&zip.name, &zip.digest)).collect();
        lines.iter().try_for_each(|(name, digest)| writeln!(f, "{}  {name}", digest.encoded()))
    }
}
