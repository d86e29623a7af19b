//! What a client of the bridge gets of a zip: the header, a part, the whole, or nothing new.

use std::ops::Range;
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::{StreamExt as _, TryStreamExt as _};
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, LOCATION,
};
use http::{HeaderMap, Method, StatusCode};
use tofu_oci_source::SourceError;
use tofu_oci_store::{BlobSender, ByteStream, ReadStore, StoreError, StoreItem};
use tofu_oci_types::Descriptor;
use tokio::time::timeout;

use super::compact::compact;
use super::held_back::{BodyLength, held_back};
use super::progress::STALLED;
use super::range::{WantedBytes, has_it, wanted};
use super::work::{LayerContents, ZipLayer};
use super::zip_folder::CachedZip;
use super::{PackageZip, Packages, Visibility, ZipBytes, ZipDelivery};
use crate::Refusal;
use crate::place_fault::{stalled, upstream};

impl Packages {
    /// The answer to a GET or HEAD of a zip. Its header follows the head of the place's own answer, so that a failing
    /// place is a 502.
    pub async fn answer(&self, method: &Method, headers: &HeaderMap, zip: &PackageZip) -> Response {
        let etag = format!("\"{}\"", zip.digest);
        let wanted = match *method {
            Method::HEAD if has_it(headers, &etag) => WantedBytes::Unchanged,
            Method::HEAD => WantedBytes::Whole,
            _ => wanted(headers, &etag, zip.size),
        };
        let mut head = Head::new(StatusCode::OK);
        head.put(ETAG, etag);
        head.put(CACHE_CONTROL, self.cache_control());
        head.put(ACCEPT_RANGES, "bytes");
        let part = match wanted {
            WantedBytes::Unchanged => {
                // The length of what the client has: none would become a zero on the way.
                head.put(CONTENT_LENGTH, zip.size.to_string());
                return head.status(StatusCode::NOT_MODIFIED).with(Body::empty());
            }
            WantedBytes::BeyondTheEnd => {
                head.put(CONTENT_RANGE, format!("bytes */{}", zip.size));
                head.put(CONTENT_LENGTH, "0");
                return head.status(StatusCode::RANGE_NOT_SATISFIABLE).with(Body::empty());
            }
            WantedBytes::Part(range) => Some(range),
            WantedBytes::Whole => None,
        };
        head.put(CONTENT_TYPE, "application/zip");
        let mut whole = head.clone();
        whole.put(CONTENT_LENGTH, zip.size.to_string());
        if method == Method::HEAD {
            return whole.with(Body::empty());
        }
        if let Some(range) = &part {
            head = head.status(StatusCode::PARTIAL_CONTENT);
            head.put(CONTENT_RANGE, format!("bytes {}-{}/{}", range.start, range.end - 1, zip.size));
        }
        let range = part.unwrap_or(0..zip.size);
        head.put(CONTENT_LENGTH, (range.end - range.start).to_string());
        let sent = match self.send(zip, range, &head).await {
            // What comes from the disk needs room there. A client takes the whole zip as well, if that needs no disk.
            Err(refusal @ Refusal::Upstream { code: "io", .. }) => match self.pass_on(zip, &whole).await {
                Ok(Some(response)) => {
                    tracing::error!(code = "io", "passed on without the disk: {}", refusal.for_operator());
                    Ok(response)
                }
                Ok(None) | Err(_) => Err(refusal),
            },
            sent => sent,
        };
        sent.unwrap_or_else(|refusal| refused(&refusal.without(zip.place.repository())))
    }

    /// These bytes of a zip, or where the client gets them. Nothing that another host sends to this program reaches a
    /// client before it is verified.
    async fn send(&self, zip: &PackageZip, range: Range<u64>, head: &Head) -> Result<Response, Refusal> {
        let is_outrun =
            || self.learned.as_ref().zip(zip.claims.as_ref()).is_some_and(|(learned, zip)| learned.is_outrun(zip));
        if range == (0..zip.size) && self.options.delivery != ZipDelivery::FromCache && !is_outrun() {
            match self.pass_on(zip, head).await {
                Ok(Some(response)) => return Ok(response),
                Err(refusal) if !self.is_on_disk(zip).await => return Err(refusal),
                // What was verified once is right, whatever its registry does now.
                Ok(None) | Err(_) => {}
            }
        }
        let blamed = |error: StoreError| upstream(zip.address.clone(), &SourceError::from(error));
        let kept = self.on_disk(zip).await?;
        if let (Some(learned), Some(claims)) = (&self.learned, &zip.claims) {
            learned.on_disk(claims, &kept);
        }
        let stream = self.read(zip, &kept, range.clone()).map_err(blamed)?;
        body(zip, Some(kept), &range, stream).await.map(|body| head.with(body)).map_err(blamed)
    }

    /// The whole zip as the registry sends it, or where the client gets it; `None` if it has to lie on disk first.
    async fn pass_on(&self, zip: &PackageZip, head: &Head) -> Result<Option<Response>, Refusal> {
        let ZipBytes::Layer(ZipLayer { store, blob, holds: LayerContents::Provider }) = &zip.bytes else {
            return Ok(None);
        };
        let sent = timeout(STALLED, self.sent(zip, &**store, blob, head)).await;
        sent.unwrap_or_else(|_| Err(stalled(zip.address.clone())))
    }

    /// The same of a layer, however long it takes; `None` if another host has it, and sends clients nothing.
    async fn sent(
        &self,
        zip: &PackageZip,
        store: &dyn ReadStore,
        blob: &Descriptor,
        head: &Head,
    ) -> Result<Option<Response>, Refusal> {
        let blamed = |error: StoreError| upstream(zip.address.clone(), &SourceError::from(error));
        match store.blob_sender(blob).await.map_err(blamed)? {
            BlobSender::Store(stream) => {
                let stream = compact(stream);
                let stream = match (&self.learned, &zip.claims) {
                    (Some(learned), Some(claims)) => learned.on_the_way(claims, stream),
                    _ => stream,
                };
                let body = body(zip, None, &(0..zip.size), stream).await.map_err(blamed)?;
                Ok(Some(head.with(body)))
            }
            BlobSender::OtherHost(Some(address)) if self.options.delivery == ZipDelivery::SentAway => {
                let mut head = Head::new(StatusCode::TEMPORARY_REDIRECT);
                head.put(LOCATION, address);
                head.put(CACHE_CONTROL, "no-store");
                Ok(Some(head.with(Body::empty())))
            }
            BlobSender::OtherHost(_) => Ok(None),
        }
    }

    fn cache_control(&self) -> &'static str {
        match self.options.visibility {
            Visibility::Public => "public, max-age=3600, immutable",
            Visibility::Private => "private, max-age=3600, immutable",
        }
    }
}

/// A body of these bytes of a zip. A damaged one on disk is removed.
async fn body(
    zip: &PackageZip,
    kept: Option<Arc<CachedZip>>,
    range: &Range<u64>,
    stream: ByteStream,
) -> Result<Body, StoreError> {
    let length = BodyLength {
        place: zip.place.clone(),
        what: StoreItem::Blob(zip.digest.clone()),
        bytes: range.end - range.start,
    };
    let name = zip.name.clone();
    let mut stream = Box::pin(held_back(stream, length).map_err(move |error| {
        if let (Some(kept), StoreError::DigestMismatch { .. }) = (&kept, &error) {
            kept.remove();
        }
        tracing::error!(code = error.code(), zip = name, "a body breaks off: {error}");
        error
    }));
    // A body that is wrong in its first piece, as a small one is, has sent no header yet.
    let first = stream.try_next().await?;
    Ok(Body::from_stream(futures_util::stream::iter(first.map(Ok)).chain(stream)))
}

/// The head of an answer.
#[derive(Clone)]
struct Head {
    status: StatusCode,
    headers: HeaderMap,
}

impl Head {
    fn new(status: StatusCode) -> Self {
        Self { status, headers: HeaderMap::new() }
    }

    fn status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    fn put(&mut self, name: HeaderName, value: impl Into<String>) {
        let value = HeaderValue::try_from(value.into()).expect("digests, numbers and our own words are header values");
        self.headers.insert(name, value);
    }

    fn with(&self, body: Body) -> Response {
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        response.headers_mut().clone_from(&self.headers);
        response
    }
}

fn refused(refusal: &Refusal) -> Response {
    tracing::error!(code = refusal.code(), "{}", refusal.for_operator());
    let mut head = Head::new(refusal.status());
    head.put(CONTENT_TYPE, "text/plain; charset=utf-8");
    head.put(CACHE_CONTROL, "no-store");
    let mut response = head.with(Body::from(format!("{refusal}\n")));
    refusal.note_in(&mut response);
    response
}
