//! Parts of packages that lie on the web.

use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_http::{BodySize, Downloaded, Protection, WebClient, WebDownload, WebError, WebFault};
use tofu_oci_store::StoreError;
use tofu_oci_types::Place;

use crate::{Failure, Locator, Part, PartStream, SourceError};

/// The bytes of a part, as [`Release::open`](crate::Release::open) gives them.
pub(crate) async fn open(web: &WebClient, place: &Place, part: &Part) -> Result<PartStream, SourceError> {
    opened(web, place, part).await.map_err(|failure| SourceError::Failed { place: place.clone(), failure })
}

/// The same, for a part that belongs to no provider.
pub(crate) async fn opened(web: &WebClient, place: &Place, part: &Part) -> Result<PartStream, Failure> {
    let opened = web.download(&download(part)?).await;
    let Downloaded { size, stream } = opened.map_err(|error| not_opened(&error))?;
    let broken_at = place.clone();
    Ok(PartStream { size, stream: stream.map_err(move |error| broken(&broken_at, error)).boxed() })
}

/// The size of a part, as [`Release::size`](crate::Release::size) gives it.
pub(crate) async fn size(web: &WebClient, place: &Place, part: &Part) -> Result<Option<u64>, SourceError> {
    if part.size.is_some() {
        return Ok(part.size);
    }
    let failed = |failure| SourceError::Failed { place: place.clone(), failure };
    web.size(&download(part).map_err(failed)?).await.map_err(|error| failed(not_opened(&error)))
}

/// How many bytes come is bounded by whoever reads them.
fn download(part: &Part) -> Result<WebDownload, Failure> {
    let Locator::Url(url) = &part.at else {
        return Err(Failure::PackageMissing(format!("{part} is not a file of the web")));
    };
    let protection = if part.digest.is_some() { Protection::Digest } else { Protection::Tls };
    let size = part.size.map_or(BodySize::AtMost(u64::MAX), BodySize::Known);
    Ok(WebDownload { url: url.clone(), protection, size })
}

fn not_opened(error: &WebError) -> Failure {
    match error.fault {
        WebFault::Status(status @ (401 | 403)) => {
            Failure::PackageRefused { status, problem: format!("{} answered {status}", error.url) }
        }
        WebFault::Status(404 | 410) => Failure::PackageMissing(error.to_string()),
        _ => Failure::from(error),
    }
}

fn broken(place: &Place, error: WebError) -> StoreError {
    let (place, problem) = (place.clone(), error.to_string());
    match error.fault {
        WebFault::Network(network) => StoreError::Unreachable { place, fault: network.fault, problem },
        _ => StoreError::Malformed { place, problem },
    }
}
