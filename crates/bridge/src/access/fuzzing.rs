//! What has to hold for links.

use http::Uri;
use percent_encoding::percent_decode_str;
use tofu_oci_types::Secret;

use super::client::{ClientName, TokenDigest};
use super::links::{LinkKey, SignedLink, with_query};

const EXPIRES: u64 = 1_767_268_800;

/// Makes a link for the path in the first line, and reads it; then reads the second line as another link, in which `QUERY`
/// stands for the query of the first one.
///
/// # Panics
/// If a link does not read back, or one counts for a path that it was not made for.
pub fn links(text: &str) {
    let (path, other) = text.split_once('\n').unwrap_or((text, ""));
    let client: ClientName = "ci".parse().expect("a name");
    let token: TokenDigest = "0".repeat(64).parse().expect("a digest");
    let key = LinkKey::derived(&Secret::new("secret"), &token);
    let link = key.link(&client, path, EXPIRES);
    let unfolded = link.parse().ok().and_then(|link| with_query(&link));
    let query = unfolded.as_ref().and_then(Uri::query).map(|query| format!("?{query}")).unwrap_or_default();
    let read = |link: &str| {
        let uri: Uri = link.parse().ok()?;
        let uri = with_query(&uri).unwrap_or(uri);
        let signed = SignedLink::of(&uri)?.ok()?;
        Some((uri.path().to_owned(), signed))
    };
    if path.starts_with('/') && path.parse::<Uri>().is_ok_and(|uri| uri.path() == path) {
        let slashes = |bytes: &[u8]| bytes.split(|byte| *byte == b'/').count();
        let decoded: Vec<u8> = percent_decode_str(path).collect();
        match read(&link) {
            Some((same, signed)) => assert!(same == path && signed.client == client && key.made(&signed), "{path:?}"),
            None => assert_ne!(slashes(&decoded), slashes(path.as_bytes()), "{path:?}"),
        }
    }
    if let Some((named, signed)) = read(&other.replace("QUERY", &query))
        && key.made(&signed)
    {
        assert!(percent_decode_str(&named).eq(percent_decode_str(path)), "{named:?} is opened by a link to {path:?}");
        assert_eq!(signed.client, client);
    }
}
