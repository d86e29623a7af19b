//! What a registry without TLS holds, read by plain requests.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;

use serde_json::Value;

use crate::failure::{ChoreFailure, ChoreResult};
use crate::registry::Guard;

const ACCEPT: &str = "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json";

/// How many tags of versions a repository lists.
pub(super) fn tags(registry: &Guard, name: &str) -> ChoreResult<usize> {
    let list = get(registry, &format!("/v2/{name}/tags/list"))?;
    let tags = list.iter().flat_map(|answer| answer.document["tags"].as_array().into_iter().flatten());
    Ok(tags.filter(|tag| tag.as_str().is_some_and(|tag| !tag.starts_with("sha256-"))).count())
}

/// How many referrers are listed of what a tag points at.
pub(super) fn referrers(registry: &Guard, name: &str, tag: &str) -> ChoreResult<usize> {
    beside(registry, name, tag, "", "manifests")
}

/// How many of cosign's signatures lie beside what a tag points at.
pub(super) fn signatures(registry: &Guard, name: &str, tag: &str) -> ChoreResult<usize> {
    beside(registry, name, tag, ".sig", "layers")
}

/// How many of cosign's signatures lie beside the one release of an image layout.
pub(super) fn signatures_in(layout: &Path) -> ChoreResult<usize> {
    let read = |path: &str| -> ChoreResult<Value> { Ok(serde_json::from_slice(&std::fs::read(layout.join(path))?)?) };
    let index = read("index.json")?;
    let name = |entry: &&Value| entry["annotations"]["org.opencontainers.image.ref.name"].as_str().map(str::to_owned);
    let mut entries = index["manifests"].as_array().into_iter().flatten();
    let Some(entry) = entries.find(|entry| name(entry).is_some_and(|name| name.strip_suffix(".sig").is_some())) else {
        return Ok(0);
    };
    let image = read(&format!("blobs/{}", entry["digest"].as_str().unwrap_or_default().replace(':', "/")))?;
    Ok(image["layers"].as_array().map_or(0, Vec::len))
}

fn beside(registry: &Guard, name: &str, tag: &str, ending: &str, member: &str) -> ChoreResult<usize> {
    let Some(index) = get(registry, &format!("/v2/{name}/manifests/{tag}"))? else { return Ok(0) };
    let digest = index.header("docker-content-digest").unwrap_or_default().replace(':', "-");
    let found = get(registry, &format!("/v2/{name}/manifests/{digest}{ending}"))?;
    Ok(found.and_then(|found| found.document[member].as_array().map(Vec::len)).unwrap_or(0))
}

struct WitnessAnswer {
    head: String,
    document: Value,
}

impl WitnessAnswer {
    fn header(&self, name: &str) -> Option<&str> {
        let named = self.head.lines().filter_map(|line| line.split_once(':'));
        named.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
    }
}

/// The JSON document at this path, or `None` if the registry has none.
fn get(registry: &Guard, path: &str) -> ChoreResult<Option<WitnessAnswer>> {
    let address = registry.address();
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nAccept: {ACCEPT}\r\nConnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let unusable = || ChoreFailure::new(format!("registry:2 answered to GET {path}:\n{text}"));
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(unusable)?;
    match head.split_whitespace().nth(1) {
        Some("404") => Ok(None),
        Some("200") => {
            let document = serde_json::from_str(body).map_err(|_| unusable())?;
            Ok(Some(WitnessAnswer { head: head.to_owned(), document }))
        }
        _ => Err(unusable()),
    }
}
