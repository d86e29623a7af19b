//! With which status a refusal is answered.

use http::StatusCode;

use crate::Refusal;

/// What a refusal is answered with.
pub(crate) fn status(refusal: &Refusal) -> StatusCode {
    match refusal {
        Refusal::NotServed { .. }
        | Refusal::UnknownAddress { .. }
        | Refusal::UnknownVersion { .. }
        | Refusal::UnknownPlatform { .. } => StatusCode::NOT_FOUND,
        Refusal::Untrusted { .. } | Refusal::NoSigningKey { .. } => StatusCode::CONFLICT,
        Refusal::Upstream { .. } => StatusCode::BAD_GATEWAY,
    }
}
