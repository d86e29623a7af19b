//! What can be wrong with an `oci://` module source.

use tofu_oci_fault::Fault;

use super::subdir::InvalidSubdir;
use crate::masked;

/// A text that is not a module source in an OCI repository. User information is not quoted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[error("`{input}` is not a module in an OCI repository: {fault}")]
#[fault(of = fault)]
pub struct InvalidOciModuleSource {
    input: String,
    fault: OciSourceFault,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[fault(named)]
pub(super) enum OciSourceFault {
    #[error("after `oci::` there must be oci://")]
    SchemeNotOci,
    #[error("{0}")]
    SubdirEscapes(InvalidSubdir),
    #[error("between oci:// and `?` there must be HOST[:PORT]/NAME, without a tag and a digest; {reason}")]
    InvalidRepository { reason: String },
    #[error("the repository ends in .{suffix}, which OpenTofu takes for an archive; add archive=false")]
    #[fault(code = "archive-argument")]
    ArchiveSuffix { suffix: &'static str },
    #[error("the argument archive is not for OCI repositories")]
    ArchiveArgument,
    #[error("the argument checksum is not for OCI repositories; name the manifest with digest=")]
    ChecksumArgument,
    #[error("its arguments are not well-formed; they read tag=TAG or digest=DIGEST")]
    MalformedArgument,
    #[error("the argument {name} is there more than once")]
    RepeatedArgument { name: String },
    #[error("the argument {name} is empty")]
    #[fault(code = if *name == "tag" { "empty-tag" } else { "empty-digest" })]
    EmptyArgument { name: &'static str },
    #[error("`{tag}` is not a tag")]
    InvalidTag { tag: String },
    #[error("`{digest}` is not a sha256 or sha512 digest")]
    InvalidDigest { digest: String },
    #[error("the arguments are tag and digest, not {}", .names.join(", "))]
    UnsupportedArgument { names: Vec<String> },
    #[error("only one of tag and digest can be given")]
    TagAndDigest,
}

impl InvalidOciModuleSource {
    pub(super) fn new(input: &str, fault: OciSourceFault) -> Self {
        Self { input: masked(input), fault }
    }
}
