//! The bounds on work for data that strangers send.

/// The most that is read of a file of keys, in bytes.
pub const KEYS_LIMIT: usize = 1 << 20;

/// The most that is read of a file of signatures, in bytes.
pub const SIGNATURES_LIMIT: usize = 64 << 10;

/// How many signatures a file of signatures may hold.
pub(crate) const SIGNATURES: usize = 64;

/// The work that is left. A document, a key and a signature are cheap; thousands of them are not, and whoever can write
/// to a repository can put thousands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VerifyBudget {
    /// How often a document is hashed and checked with a key.
    documents: usize,
    /// Certificates that travel with a document.
    certificates: usize,
    /// What those certificates say of themselves, in signatures.
    self_signatures: usize,
    /// What is read of files of keys, in bytes.
    bytes: usize,
}

impl Default for VerifyBudget {
    fn default() -> Self {
        Self { documents: 256, certificates: 64, self_signatures: 512, bytes: 4 << 20 }
    }
}

impl VerifyBudget {
    /// Whether one more document may be checked with a key.
    pub(super) fn document(&mut self) -> bool {
        take(&mut self.documents, 1)
    }

    /// Whether a file of keys may be read.
    pub(super) fn read(&mut self, bytes: usize) -> bool {
        take(&mut self.bytes, bytes)
    }

    /// Whether one more certificate with so many signatures may be looked at.
    pub(super) fn certificate(&mut self, self_signatures: usize) -> bool {
        take(&mut self.self_signatures, self_signatures) && take(&mut self.certificates, 1)
    }

    /// How often a document was checked with a key.
    #[cfg(test)]
    pub(crate) fn documents_done(self) -> usize {
        Self::default().documents - self.documents
    }
}

fn take(left: &mut usize, wanted: usize) -> bool {
    match left.checked_sub(wanted) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => false,
    }
}
