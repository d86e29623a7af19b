//! Where providers and checksums stand in the text.

use tofu_oci_types::{PackageHash, ProviderAddr};

/// The lines of a lock file that has been read.
pub(super) struct Lines<'a>(Vec<&'a str>);

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self(text.lines().collect())
    }

    /// The line of a provider's block, from 1.
    pub(super) fn of_provider(&self, address: &ProviderAddr) -> usize {
        let quoted = format!("\"{address}\"");
        let is_block = |line: &&str| line.trim_start().starts_with("provider") && line.contains(&quoted);
        self.0.iter().position(is_block).map_or(1, |at| at + 1)
    }

    /// The line of a checksum of a provider, from 1; that of its block where the text escapes characters.
    pub(super) fn of_hash(&self, address: &ProviderAddr, hash: &PackageHash) -> usize {
        let block = self.of_provider(address);
        let quoted = format!("\"{hash}\"");
        let below = self.0.iter().skip(block - 1);
        below
            .take_while(|line| !line.starts_with('}'))
            .position(|line| line.contains(&quoted))
            .map_or(block, |at| block + at)
    }
}
