//! The parts of an error that came from outside.

use super::StoreError;

impl StoreError {
    /// The same error with another form of whatever came from outside: the problem, the request, the hint.
    #[must_use]
    pub fn map_foreign_text(mut self, map: &dyn Fn(&str) -> String) -> Self {
        match &mut self {
            Self::Malformed { problem, .. }
            | Self::ChunksLost { problem, .. }
            | Self::Denied { problem, .. }
            | Self::Unauthorized { problem, .. }
            | Self::NoToken { problem, .. }
            | Self::Unreachable { problem, .. } => *problem = map(problem),
            Self::Forbidden { host, problem, .. } => {
                *host = host.as_deref().map(map);
                *problem = map(problem);
            }
            Self::Rejected { request, problem, .. } | Self::Disturbed { request, problem, .. } => {
                *request = map(request);
                *problem = map(problem);
            }
            Self::Credentials { problem, hint, .. } => {
                *problem = map(problem);
                *hint = hint.as_deref().map(map);
            }
            Self::TagStays { by_tag, by_digest, .. } => {
                *by_tag = map(by_tag);
                *by_digest = map(by_digest);
            }
            // Listed one by one, so that a new variant is not forgotten: these hold no foreign text.
            Self::NotFound { .. }
            | Self::UnknownRepository { .. }
            | Self::DigestMismatch { .. }
            | Self::SizeMismatch { .. }
            | Self::UnsupportedDigest { .. }
            | Self::TooLarge { .. }
            | Self::TooManyManifests { .. }
            | Self::TooDeep { .. }
            | Self::NotListed { .. }
            | Self::MissingPart { .. }
            | Self::CutOff { .. }
            | Self::RateLimited { .. }
            | Self::Io(_)
            | Self::Locked(_)
            | Self::ReadOnly { .. } => {}
        }
        self
    }
}
