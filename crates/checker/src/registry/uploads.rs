//! Blobs: ways up, mounts, ranges, digests.

use bytes::Bytes;
use tofu_oci_remote::{RawMethod, RawRequest, RawTarget};
use tofu_oci_store::StoreError;
use tofu_oci_types::{Digest, DigestHasher};

use super::ProbeError;
use super::report::CapabilityState;
use super::scratch::{ScratchContent, ScratchRepository, is_trouble};

pub(super) async fn try_all(scratch: &mut ScratchRepository<'_>) -> Result<(), ProbeError> {
    monolithic(scratch).await?;
    single_post(scratch).await?;
    chunked(scratch).await?;
    out_of_order(scratch).await?;
    streamed(scratch).await?;
    mounts(scratch).await?;
    ranges(scratch).await?;
    wrong_digest(scratch).await?;
    sha512(scratch).await?;
    Ok(())
}

/// What every later attempt needs.
async fn monolithic(scratch: &mut ScratchRepository<'_>) -> Result<(), ProbeError> {
    let layer = scratch.content("layer");
    let refused = |said: String, trouble: bool, scratch: &ScratchRepository<'_>| ProbeError::NoUpload {
        repository: scratch.repository(),
        said,
        trouble,
    };
    let opened = scratch.open().await?;
    let location = match &opened.location {
        Ok(Some(location)) if opened.status == 202 => location.clone(),
        Err(problem) => return Err(refused(problem.clone(), false, scratch)),
        Ok(_) => {
            let trouble = is_trouble(RawMethod::Post, opened.status);
            return Err(refused(format!("POST {}", opened.summary()), trouble, scratch));
        }
    };
    let (state, said) = if location.is_elsewhere() {
        (CapabilityState::Differs, "on another origin, where no credential is shown")
    } else {
        (CapabilityState::Works, "on the registry's own origin")
    };
    let answer = scratch.close(&location, &layer, layer.bytes.clone()).await?;
    if !answer.is_success() {
        let trouble = is_trouble(RawMethod::Put, answer.status);
        return Err(refused(format!("PUT {}", answer.summary()), trouble, scratch));
    }
    scratch.row(
        "upload-post-put",
        "a blob with POST, then PUT",
        CapabilityState::Works,
        format!("POST 202, PUT {}", answer.summary()),
    );
    scratch.row("upload-location", "where uploads go", state, said);
    scratch.layer = Some(layer);
    let empty = ScratchContent { digest: Digest::sha256(b"{}"), bytes: Bytes::from_static(b"{}") };
    let answer = scratch.put_shared_blob(&empty).await?;
    let state = if answer.is_success() { CapabilityState::Works } else { CapabilityState::Missing };
    scratch.row("empty-config", "the empty config as a blob", state, format!("PUT {}", answer.summary()));
    scratch.empty = Some(empty);
    Ok(())
}

async fn single_post(scratch: &mut ScratchRepository<'_>) -> Result<(), StoreError> {
    let blob = scratch.content("one POST");
    let path = format!("blobs/uploads/?digest={}", blob.digest);
    let answer = scratch.upload(RawMethod::Post, RawTarget::Path(&path), blob.bytes.clone(), None).await?;
    let (state, detail) = match answer.status {
        201 => {
            scratch.blobs.push(blob.digest);
            (CapabilityState::Works, "POST 201".to_owned())
        }
        202 => {
            if let Ok(Some(location)) = &answer.location {
                scratch.cancel(location).await;
            }
            (CapabilityState::Missing, "POST 202: it opens an upload instead, as it may".to_owned())
        }
        _ => (CapabilityState::Missing, format!("POST {}", answer.summary())),
    };
    scratch.row("upload-one-post", "a blob with a single POST", state, detail);
    Ok(())
}

/// The two halves of a blob, and their ranges.
fn halves(blob: &ScratchContent) -> [(Bytes, String); 2] {
    let middle = blob.bytes.len() / 2;
    let ranges = [format!("0-{}", middle - 1), format!("{middle}-{}", blob.bytes.len() - 1)];
    let [first, second] = ranges;
    [(blob.bytes.slice(..middle), first), (blob.bytes.slice(middle..), second)]
}

async fn chunked(scratch: &mut ScratchRepository<'_>) -> Result<(), StoreError> {
    const WHAT: &str = "a blob in chunks, in order";
    let blob = scratch.content("chunks");
    let opened = scratch.open().await?;
    let minimum = opened.header("oci-chunk-min-length").map(str::to_owned);
    let Ok(Some(mut location)) = opened.location else {
        scratch.row("upload-chunked", WHAT, CapabilityState::NotTried, format!("POST {}", opened.status));
        return Ok(());
    };
    let mut statuses = Vec::new();
    for (bytes, range) in halves(&blob) {
        let end: usize = range.rsplit('-').next().and_then(|end| end.parse().ok()).unwrap_or(0);
        let answer = scratch.upload(RawMethod::Patch, RawTarget::Session(&location), bytes, Some(range)).await?;
        statuses.push(format!("PATCH {}", answer.summary()));
        if !answer.is_success() {
            scratch.row("upload-chunked", WHAT, CapabilityState::Missing, statuses.join(", "));
            scratch.cancel(&location).await;
            return Ok(());
        }
        let kept = answer.header("range").and_then(|range| range.rsplit('-').next()?.parse::<usize>().ok());
        if kept != Some(end) {
            let kept =
                kept.map_or("it does not say how much it has".to_owned(), |kept| format!("it has bytes 0-{kept}"));
            let said = format!("{}: after bytes 0-{end} {kept}", statuses.join(", "));
            scratch.row("upload-chunked", WHAT, CapabilityState::Differs, said);
            scratch.cancel(&location).await;
            return Ok(());
        }
        if let Ok(Some(next)) = answer.location {
            location = next;
        }
    }
    let answer = scratch.close(&location, &blob, Bytes::new()).await?;
    statuses.push(format!("PUT {}", answer.summary()));
    statuses.extend(minimum.map(|minimum| format!("chunks of at least {minimum} bytes")));
    let state = if answer.is_success() { CapabilityState::Works } else { CapabilityState::Missing };
    scratch.row("upload-chunked", WHAT, state, statuses.join(", "));
    Ok(())
}

async fn out_of_order(scratch: &mut ScratchRepository<'_>) -> Result<(), StoreError> {
    const WHAT: &str = "a chunk out of order is refused";
    let blob = scratch.content("out of order");
    let opened = scratch.open().await?;
    let Ok(Some(location)) = opened.location else {
        scratch.row("chunk-out-of-order", WHAT, CapabilityState::NotTried, format!("POST {}", opened.status));
        return Ok(());
    };
    let [_, (bytes, range)] = halves(&blob);
    let answer = scratch.upload(RawMethod::Patch, RawTarget::Session(&location), bytes, Some(range)).await?;
    let (state, said) = match answer.status {
        416 => (CapabilityState::Works, "PATCH 416".to_owned()),
        _ if answer.is_success() => (
            CapabilityState::Differs,
            format!("PATCH {}: it takes the chunk as if it were the first", answer.summary()),
        ),
        _ => (CapabilityState::Differs, format!("PATCH {}: refused, but not with 416", answer.summary())),
    };
    let session = match &answer.location {
        Ok(Some(next)) => next.clone(),
        _ => location,
    };
    scratch.cancel(&session).await;
    scratch.row("chunk-out-of-order", WHAT, state, said);
    Ok(())
}

async fn streamed(scratch: &mut ScratchRepository<'_>) -> Result<(), StoreError> {
    const WHAT: &str = "a blob with one PATCH without a range";
    let blob = scratch.content("streamed");
    let opened = scratch.open().await?;
    let Ok(Some(location)) = opened.location else {
        scratch.row("upload-streamed", WHAT, CapabilityState::NotTried, format!("POST {}", opened.status));
        return Ok(());
    };
    let patched = scratch.upload(RawMethod::Patch, RawTarget::Session(&location), blob.bytes.clone(), None).await?;
    let (Ok(Some(next)), true) = (&patched.location, patched.is_success()) else {
        scratch.row("upload-streamed", WHAT, CapabilityState::Missing, format!("PATCH {}", patched.summary()));
        scratch.cancel(&location).await;
        return Ok(());
    };
    let answer = scratch.close(next, &blob, Bytes::new()).await?;
    let state = if answer.is_success() { CapabilityState::Works } else { CapabilityState::Missing };
    scratch.row("upload-streamed", WHAT, state, format!("PATCH {}, PUT {}", patched.summary(), answer.summary()));
    Ok(())
}

async fn mounts(scratch: &mut ScratchRepository<'_>) -> Result<(), StoreError> {
    let Some(layer) = scratch.layer.clone() else { return Ok(()) };
    let own = scratch.raw().repository().clone();
    mount(scratch, ("mount-own", "a blob mounted from the same repository"), Some(&own), &layer.digest).await?;
    if let Some(other) = scratch.mount_from {
        let blob = scratch.content("mounted from elsewhere");
        let mut elsewhere = ScratchRepository::new(other, None, "");
        scratch.elsewhere.push(blob.digest.clone());
        let stored = elsewhere.put_blob(&blob).await?;
        scratch.requests += elsewhere.requests;
        let row = ("mount-other", "a blob mounted from another repository");
        if stored.is_success() {
            mount(scratch, row, Some(other.repository()), &blob.digest).await?;
        } else {
            scratch.elsewhere.clear();
            scratch.row(
                row.0,
                row.1,
                CapabilityState::NotTried,
                format!("{}: PUT {}", other.repository(), stored.summary()),
            );
        }
    }
    mount(scratch, ("mount-anonymous", "a blob mounted without a source"), None, &layer.digest).await
}

async fn mount(
    scratch: &mut ScratchRepository<'_>,
    (name, what): (&'static str, &'static str),
    from: Option<&tofu_oci_types::RepositoryRef>,
    digest: &Digest,
) -> Result<(), StoreError> {
    let source = from.map(|from| format!("&from={}", from.name())).unwrap_or_default();
    let path = format!("blobs/uploads/?mount={digest}{source}");
    let (method, target) = (RawMethod::Post, RawTarget::Path(&path));
    let answer = scratch.send(RawRequest { method, target, headers: Vec::new(), body: None, from }).await?;
    let (state, said) = match answer.status {
        201 => (CapabilityState::Works, "POST 201".to_owned()),
        202 => {
            if let Ok(Some(location)) = &answer.location {
                scratch.cancel(location).await;
            }
            (CapabilityState::Missing, "POST 202: it opens an upload instead, as it may".to_owned())
        }
        _ => (CapabilityState::Missing, format!("POST {}", answer.summary())),
    };
    if answer.status == 201 && !scratch.blobs.contains(digest) {
        scratch.blobs.push(digest.clone());
    }
    scratch.row(name, what, state, said);
    Ok(())
}

async fn ranges(scratch: &mut ScratchRepository<'_>) -> Result<(), StoreError> {
    let Some(layer) = scratch.layer.clone() else { return Ok(()) };
    let path = format!("blobs/{}", layer.digest);
    let headers = vec![("range", "bytes=2-5".to_owned())];
    let (method, target) = (RawMethod::Get, RawTarget::Path(&path));
    let answer = scratch.send(RawRequest { method, target, headers, body: None, from: None }).await?;
    let (state, said) = match answer.status {
        206 if answer.body[..] == layer.bytes[2..6] => (CapabilityState::Works, "GET 206".to_owned()),
        206 => (CapabilityState::Differs, "GET 206 with other bytes than those asked for".to_owned()),
        200 => (CapabilityState::Missing, "GET 200: the whole blob".to_owned()),
        _ => (CapabilityState::Missing, format!("GET {}", answer.summary())),
    };
    scratch.row("blob-ranges", "a part of a blob", state, said);
    Ok(())
}

/// A registry that stores bytes under a wrong digest would serve anything under any name.
async fn wrong_digest(scratch: &mut ScratchRepository<'_>) -> Result<(), StoreError> {
    let (blob, other) = (scratch.content("wrong digest"), scratch.content("another one"));
    let answer = scratch.put_blob(&ScratchContent { digest: other.digest, bytes: blob.bytes }).await?;
    let (state, said) = if answer.is_success() {
        (CapabilityState::Differs, format!("PUT {}: it is stored", answer.summary()))
    } else {
        (CapabilityState::Works, format!("PUT {}", answer.summary()))
    };
    scratch.row("digest-checked", "a blob with a wrong digest is refused", state, said);
    Ok(())
}

async fn sha512(scratch: &mut ScratchRepository<'_>) -> Result<(), StoreError> {
    let blob = scratch.content("sha512");
    let mut hasher = DigestHasher::sha512();
    hasher.update(&blob.bytes);
    let digest = hasher.finish();
    let answer = scratch.put_blob(&ScratchContent { digest: digest.clone(), bytes: blob.bytes }).await?;
    let mut said = format!("PUT {}", answer.summary());
    let mut state = if answer.is_success() { CapabilityState::Works } else { CapabilityState::Missing };
    if answer.is_success() {
        // A registry may keep the blob under its preferred digest as well, or only there.
        scratch.blobs.push(blob.digest);
        let head = scratch.ask(RawMethod::Head, &format!("blobs/{digest}")).await?;
        if !head.is_success() {
            (state, said) = (CapabilityState::Differs, format!("{said}, then HEAD {}", head.summary()));
        }
    }
    scratch.row("sha512", "a blob by its sha512 digest", state, said);
    Ok(())
}
