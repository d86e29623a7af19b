//! Why a registry refused a request, by stable names.

/// Why a registry refused a request, as far as its answer shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RejectionReason {
    /// The content does not have the digest that the request names.
    WrongDigest,
    /// The registry refuses a chunk of an upload, whatever its length.
    Chunk,
    /// The tag exists, and the repository does not let a push move it.
    ImmutableTag,
    /// The registry stores only the types of a list.
    UnsupportedType,
    /// A registry of AWS has no such repository.
    UnknownAwsRepository,
    /// The registry has no project of this name: the first part of the repository's path.
    UnknownProject,
    /// The request was plain HTTP, and the registry speaks TLS.
    PlainHttp,
    /// None of these.
    Other,
}
