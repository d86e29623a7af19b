//! The lines of providers and checksums in the text.

use std::collections::HashMap;

use tofu_oci_types::{PackageHash, ProviderAddr};

/// An index of the lines of a lock file, made in one pass over the text.
pub(super) struct LockLines<'a> {
    /// The first line of the block with this label, from 1.
    blocks: HashMap<&'a str, usize>,
    /// The first line, from 1, that has this text in quotes in the block that begins on that line.
    quoted: HashMap<(usize, &'a str), usize>,
}

impl<'a> LockLines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let (mut blocks, mut quoted, mut block) = (HashMap::new(), HashMap::new(), None);
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim_start().starts_with("provider") {
                block = Some(number);
                for label in in_quotes(line) {
                    blocks.entry(label).or_insert(number);
                }
            } else if line.starts_with('}') {
                block = None;
            }
            if let Some(block) = block {
                for text in in_quotes(line) {
                    quoted.entry((block, text)).or_insert(number);
                }
            }
        }
        Self { blocks, quoted }
    }

    /// The line of a provider's block, from 1.
    pub(super) fn of_provider(&self, address: &ProviderAddr) -> usize {
        self.blocks.get(address.to_string().as_str()).copied().unwrap_or(1)
    }

    /// The line of a checksum of a provider, from 1; the line of its block if the text escapes characters.
    pub(super) fn of_hash(&self, address: &ProviderAddr, hash: &PackageHash) -> usize {
        let block = self.of_provider(address);
        self.quoted.get(&(block, hash.to_string().as_str())).copied().unwrap_or(block)
    }
}

/// The texts between each two quotation marks of a line.
fn in_quotes(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').skip(1).step_by(2)
}
