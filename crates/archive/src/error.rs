//! What can be wrong with an archive.

use std::io;
use std::path::{Path, PathBuf};

use tofu_oci_types::Digest;

/// Why an archive was refused, or could not be read or written.
///
/// Names are quoted as the archive spells them. Nothing here is transient by itself; [`ArchiveError::Input`] carries
/// the error of the source of the bytes, which may be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The bytes do not begin as a zip archive does. Self-extracting archives are refused here too.
    #[error("this is not a zip archive")]
    NotAZip,
    /// The bytes of a layer do not begin as its media type says.
    #[error("this does not begin as a {format} does")]
    NotALayer {
        /// What it should be: `gzip stream`, `zstd stream` or `tar archive`.
        format: &'static str,
    },
    /// The archive ends before it is complete.
    #[error("the archive is cut short")]
    Truncated,
    /// A structure of the archive contradicts itself or the format.
    #[error("the archive is damaged: {reason}")]
    Malformed { reason: &'static str },
    /// A compressed stream or a tar structure that its decoder refuses.
    #[error("the {what} is damaged")]
    Damaged {
        /// Which part: `zip entry`, `gzip stream`, `zstd stream` or `tar archive`.
        what: &'static str,
        #[source]
        source: io::Error,
    },
    /// A name that could leave the package's folder, or that some system cannot hold.
    #[error("the archive has an entry with an unsafe name, `{name}`: {reason}", name = name.escape_debug())]
    UnsafeName {
        /// The name as the archive spells it; invalid UTF-8 is replaced.
        name: String,
        reason: &'static str,
    },
    /// A name of a repository inside of the package: `.git` and the like, or what makes a folder a bare repository of git.
    #[error("the package has `{name}`, a part of a repository of version control, whose settings can run commands", name = name.escape_debug())]
    EmbeddedRepository { name: String },
    /// One name twice, or one name both as a file and as a directory.
    #[error("the archive has two entries named `{name}`")]
    DuplicateName { name: String },
    /// Two names that are one on a system that ignores case or normalises Unicode.
    #[error("the archive has the entries `{first}` and `{second}`, which are one name on some systems")]
    NameCollision { first: String, second: String },
    /// A symbolic link; a package consists of files.
    #[error("`{name}` is a symbolic link, which a package must not contain")]
    Symlink { name: String },
    /// A link of a module's folder that leads out of the folder.
    #[error("`{name}` is a link to `{target}`, which lies outside of the module's folder", target = target.escape_debug())]
    LinkOutside { name: String, target: String },
    /// A link of a module's folder to something that does not exist.
    #[error("`{name}` is a link to `{target}`, which does not exist", target = target.escape_debug())]
    LinkToNothing { name: String, target: String },
    /// A link in a module to a folder that holds the link, or to itself.
    #[error("`{name}` is a link to `{target}`, which leads in a circle", target = target.escape_debug())]
    LinkInCircle { name: String, target: String },
    /// A line of an ignore file that is not a pattern.
    #[error("line {line} of {file} is not a pattern: `{pattern}`", pattern = pattern.escape_debug())]
    IgnoreLine {
        file: &'static str,
        /// The number of the line, from 1.
        line: usize,
        pattern: String,
    },
    /// Secrets in files that belong to a module's package.
    #[error("{first} holds {kind}", first = found.first().map(FoundSecret::place).unwrap_or_default(), kind = found.first().map_or("a secret", |found| found.kind))]
    Secrets {
        /// They, at most one of each file. What they are is not repeated anywhere.
        found: Vec<FoundSecret>,
    },
    /// Something that is neither a file nor a directory.
    #[error("`{name}` is {kind}, which a package must not contain")]
    UnsupportedEntry { name: String, kind: &'static str },
    /// A hard link to something that is not in the package.
    #[error("`{name}` is a hard link to `{target}`, which is not a file of the package")]
    DanglingHardLink { name: String, target: String },
    #[error("`{name}` is encrypted")]
    Encrypted { name: String },
    /// A compression method other than stored and deflate.
    #[error("`{name}` is compressed with method {method}; a package uses stored or deflate")]
    UnsupportedMethod { name: String, method: u16 },
    /// The central directory and the entry itself (or its local header) disagree.
    #[error("the archive's directory and the entry `{name}` disagree about its {what}")]
    Mismatch {
        name: String,
        /// What they disagree about, such as `size`.
        what: &'static str,
    },
    /// The contents do not have the CRC-32 that the archive records.
    #[error("`{name}` does not have the checksum that the archive records")]
    BadChecksum { name: String },
    /// The uncompressed layer is not the one that the image's config names.
    #[error("the layer has the contents {found}, but the image names {expected}")]
    WrongDiffId {
        /// The `diff_id` of the image's config.
        expected: Digest,
        /// The digest of the bytes that came.
        found: Digest,
    },
    /// The archive itself has more bytes than the limit: nothing of it was unpacked, or only a part.
    #[error("the archive has {size} bytes or more, and the limit is {limit}")]
    Oversized {
        /// Its bytes: those that were declared, or one more than the limit if more came.
        size: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// More bytes than the limit.
    #[error("the archive holds more than {limit} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
    /// More entries than the limit.
    #[error("the archive has more than {limit} entries")]
    TooManyEntries { limit: usize },
    /// More gzip members or zstd frames in a layer than the limit.
    #[error("the archive has more than {limit} compressed parts")]
    TooManyMembers { limit: usize },
    /// The archive expands more than the limit.
    #[error("the archive expands to more than {limit} times its size")]
    RatioExceeded {
        /// The limit: bytes out for each byte in.
        limit: u64,
    },
    /// An archive or a folder without a single file.
    #[error("the package has no files")]
    Empty,
    /// No root file has the name of the provider's executable.
    #[error("the package has no executable `terraform-provider-{provider_type}`")]
    NoExecutable {
        /// The provider's type, the last part of its address.
        provider_type: String,
        /// The files in the package's root, at most 20.
        found: Vec<String>,
    },
    /// A file changed its size while it was packed.
    #[error("{path} changed while it was read", path = path.display())]
    Changed { path: PathBuf },
    /// The caller asked to stop.
    #[error("cancelled")]
    Cancelled,
    /// The bytes could not be read; the source is the error of their [`crate::ByteSource`], untouched.
    #[error("the archive could not be fetched")]
    Input(#[source] io::Error),
    /// A file or folder of this machine could not be used.
    #[error("cannot {action} {path}", path = path.display())]
    Io {
        /// A verb, such as `write`.
        action: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Where a secret was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSecret {
    /// The file, in the package.
    pub name: String,
    /// The number of its line, from 1.
    pub line: usize,
    /// What it is, with its article.
    pub kind: &'static str,
}

impl FoundSecret {
    /// The file and its line.
    pub fn place(&self) -> String {
        format!("{}:{}", self.name.escape_debug(), self.line)
    }
}

impl ArchiveError {
    /// A stable kebab-case name of what went wrong.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } | Self::Input(_) => "io",
            Self::NoExecutable { .. } => "executable-not-found",
            Self::Changed { .. } => "archive-changed",
            Self::LinkOutside { .. } | Self::LinkToNothing { .. } | Self::LinkInCircle { .. } => "module-link",
            Self::IgnoreLine { .. } => "ignore-file-invalid",
            Self::EmbeddedRepository { .. } => "embedded-repository",
            Self::Secrets { .. } => "module-secrets",
            _ => "bad-zip",
        }
    }

    /// Whether the archive itself is at fault, so that fetching it again brings the same answer.
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Self::Cancelled | Self::Input(_) | Self::Io { .. } | Self::Changed { .. })
    }

    /// Whether the rest of the archive does not matter: it is something else, or more than is read. A transfer that changed
    /// some bytes is an unlikely cause of that.
    pub fn ends_reading(&self) -> bool {
        matches!(
            self,
            Self::NotAZip
                | Self::Empty
                | Self::NotALayer { .. }
                | Self::Oversized { .. }
                | Self::TooLarge { .. }
                | Self::TooManyEntries { .. }
                | Self::TooManyMembers { .. }
                | Self::RatioExceeded { .. }
        )
    }

    /// For `map_err`: an [`ArchiveError::Io`] about `path`.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }
}
