//! What can be wrong with an archive.

use std::io;
use std::path::{Path, PathBuf};

use tofu_oci_disk::FileError;
use tofu_oci_fault::Fault;
use tofu_oci_types::Digest;

const MAKE_AGAIN: &str = "the file may be an interrupted download or build; make it again";
const TEST: &str = "`unzip -t` shows what is damaged; build the archive again, or fetch it again";
const ONE_OF_TWO: &str = "remove one of the two, so that the package is the same on every system";
const PLAIN_FILES: &str = "a package consists of plain files: put a copy of the file in its place, or leave it out";
const NO_LINK: &str = "remove the link, or leave it out: a line in .tofuignore";
const PLAIN_ZIP: &str = "make the archive with plain `zip`: stored or deflated, and not encrypted";
const TOO_MUCH: &str = "this is far more than a provider or a module needs; check what it holds";

/// Why an archive was refused, or could not be read or written.
///
/// Names are quoted as the archive spells them. Nothing here is transient by itself; [`ArchiveError::Input`] carries
/// the error of the source of the bytes, which may be.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
#[fault(code = "bad-zip")]
pub enum ArchiveError {
    /// The bytes do not begin as a zip archive does. Self-extracting archives are refused here too.
    #[error("this is not a zip archive")]
    #[hint("{MAKE_AGAIN}")]
    NotAZip,
    #[error("this does not begin as a {format} does")]
    #[hint("{MAKE_AGAIN}")]
    NotALayer {
        /// What it should be: `gzip stream`, `zstd stream` or `tar archive`.
        format: &'static str,
    },
    #[error("the archive is cut short")]
    #[hint("{MAKE_AGAIN}")]
    Truncated,
    #[error("the archive is damaged: {reason}")]
    #[hint("{TEST}")]
    Malformed { reason: &'static str },
    /// A compressed stream or a tar structure that its decoder refuses.
    #[error("the {what} is damaged")]
    #[hint("{TEST}")]
    Damaged {
        /// Which part: `zip entry`, `gzip stream`, `zstd stream` or `tar archive`.
        what: &'static str,
        #[source]
        source: io::Error,
    },
    #[error("the archive has an entry with an unsafe name, `{name}`: {reason}", name = name.escape_debug())]
    #[hint("names in a package are relative, separated by /, and stay inside it: zip from its folder")]
    UnsafeName {
        /// The name as the archive spells it; invalid UTF-8 is replaced.
        name: String,
        reason: &'static str,
    },
    /// a package has a `.git`, `.hg`, `.svn` or another repository of version control in it, whose settings can run
    /// commands
    #[error("the package has `{name}`, a part of a repository of version control, whose settings can run commands", name = name.escape_debug())]
    #[fault(
        "embedded-repository",
        todo = "ask whoever made the package to leave it out; do not unpack it with \
            another program"
    )]
    #[hint("omit it from the package: git, a prompt or an editor would run the commands that it names")]
    EmbeddedRepository { name: String },
    #[error("the archive has two entries named `{name}`")]
    #[hint("{ONE_OF_TWO}")]
    DuplicateName { name: String },
    #[error("the archive has the entries `{first}` and `{second}`, which are one name on some systems")]
    #[hint("{ONE_OF_TWO}")]
    NameCollision { first: String, second: String },
    #[error("`{name}` is a symbolic link, which a package must not contain")]
    #[hint("{PLAIN_FILES}")]
    Symlink { name: String },
    /// a symbolic link in the module's folder leads outside, to nothing or in a circle
    #[error("`{name}` is a link to `{target}`, which lies outside of the module's folder", target = target.escape_debug())]
    #[fault("module-link", todo = "put a copy of the file in its place, or leave it out with a line in `.tofuignore`")]
    #[hint("put a copy of the file in its place, or leave it out: a line in .tofuignore")]
    LinkOutside { name: String, target: String },
    #[error("`{name}` is a link to `{target}`, which does not exist", target = target.escape_debug())]
    #[fault(code = "module-link")]
    #[hint("{NO_LINK}")]
    LinkToNothing { name: String, target: String },
    #[error("`{name}` is a link to `{target}`, which leads in a circle", target = target.escape_debug())]
    #[fault(code = "module-link")]
    #[hint("{NO_LINK}")]
    LinkInCircle { name: String, target: String },
    /// a line of `.tofuignore` or `.terraformignore` is not a pattern, or is longer than 1024 bytes
    #[error("line {line} of {file} is not a pattern: `{pattern}`", pattern = pattern.escape_debug())]
    #[fault("ignore-file-invalid", todo = "correct the line that the error names")]
    #[hint("a pattern is a path with *, **, ? and [a-z]; ! in front takes files back, # begins a comment")]
    IgnoreLine {
        file: &'static str,
        /// The number of the line, from 1.
        line: usize,
        pattern: String,
    },
    /// a file of the module's folder holds a private key or a token
    #[error("{first} holds {kind}", first = found.first().map(FoundSecret::place).unwrap_or_default(), kind = found.first().map_or("a secret", |found| found.kind))]
    #[fault(
        "module-secrets",
        todo = "remove it from the file; or exclude the file with a line in `.tofuignore`; or, \
            if it is no secret, admit the file with the line `!/FILE`"
    )]
    Secrets {
        /// They, at most one of each file. What they are is not repeated anywhere.
        found: Vec<FoundSecret>,
    },
    #[error("`{name}` is {kind}, which a package must not contain")]
    #[hint("{PLAIN_FILES}")]
    UnsupportedEntry { name: String, kind: &'static str },
    #[error("`{name}` is a hard link to `{target}`, which is not a file of the package")]
    #[hint("{PLAIN_FILES}")]
    DanglingHardLink { name: String, target: String },
    #[error("`{name}` is encrypted")]
    #[hint("{PLAIN_ZIP}")]
    Encrypted { name: String },
    #[error("`{name}` is compressed with method {method}; a package uses stored or deflate")]
    #[hint("{PLAIN_ZIP}")]
    UnsupportedMethod { name: String, method: u16 },
    #[error("the archive's directory and the entry `{name}` disagree about its {what}")]
    #[hint("{TEST}")]
    Mismatch {
        name: String,
        /// What they disagree about, such as `size`.
        what: &'static str,
    },
    #[error("`{name}` does not have the checksum that the archive records")]
    #[hint("{TEST}")]
    BadChecksum { name: String },
    #[error("the layer has the contents {found}, but the image names {expected}")]
    WrongDiffId { expected: Digest, found: Digest },
    #[error("the archive has {size} bytes or more, and the limit is {limit}")]
    #[hint("{TOO_MUCH}")]
    Oversized {
        /// Its bytes: those that were declared, or one more than the limit if more came.
        size: u64,
        limit: u64,
    },
    #[error("the archive holds more than {limit} bytes")]
    #[hint("{TOO_MUCH}")]
    TooLarge { limit: u64 },
    #[error("the archive has more than {limit} entries")]
    #[hint("{TOO_MUCH}")]
    TooManyEntries { limit: usize },
    #[error("the archive has more than {limit} compressed parts")]
    #[hint("{TOO_MUCH}")]
    TooManyMembers { limit: usize },
    #[error("the archive expands to more than {limit} times its size")]
    #[hint("{TOO_MUCH}")]
    RatioExceeded {
        /// The limit: bytes out for each byte in.
        limit: u64,
    },
    #[error("the package has no files")]
    Empty,
    #[error("the package has no executable `terraform-provider-{provider_type}`")]
    #[fault(code = "executable-not-found")]
    #[hint("the program lies in the package's root as terraform-provider-{provider_type}[_vVERSION]")]
    #[hint(if !found.is_empty() => "the root holds {}", found.join(", "))]
    NoExecutable {
        provider_type: String,
        /// The files in the package's root, at most 20.
        found: Vec<String>,
    },
    /// an archive changed while it was read
    #[error("{path} changed while it was read", path = path.display())]
    #[fault("archive-changed", todo = "wait until the build is done")]
    #[hint("wait until the build is done, and run the same command again")]
    Changed { path: PathBuf },
    /// The caller asked to stop.
    #[error("cancelled")]
    Cancelled,
    /// The bytes could not be read; the source is the error of their [`crate::ByteSource`], untouched.
    #[error("the archive could not be fetched")]
    #[fault(code = "io")]
    Input(#[source] io::Error),
    /// A file or folder of this machine could not be used.
    #[error(transparent)]
    #[fault(of = _0)]
    Io(#[from] FileError),
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
    /// Whether the archive itself is at fault, so that fetching it again brings the same answer.
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Self::Cancelled | Self::Input(_) | Self::Io(_) | Self::Changed { .. })
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
        move |source| Self::from(FileError::new(action, path, source))
    }
}
