//! What an upstream answers.

use serde_json::{Map, Value, json};

use super::releases::{MirrorHashes, UpstreamPackage, UpstreamReleases, UpstreamVersion};
use crate::fault::{Answer, RequestHead};
use crate::ranges;

pub(super) fn answer(releases: &UpstreamReleases, head: &RequestHead) -> Answer {
    let path = decoded(&head.path);
    let found = match path.strip_prefix(releases.mirror_at.as_str()) {
        Some(path) => mirror(releases, path, head),
        None => registry(releases, path.trim_start_matches('/'), head),
    };
    found.unwrap_or_else(Answer::not_found)
}

fn registry(releases: &UpstreamReleases, path: &str, head: &RequestHead) -> Option<Answer> {
    let segments: Vec<&str> = path.split('/').collect();
    match segments[..] {
        [".well-known", "terraform.json"] => Some(Answer::json(&json!({"providers.v1": "/v1/providers/"}))),
        ["v1", "providers", namespace, name, "versions"] => versions(releases, &format!("{namespace}/{name}")),
        ["v1", "providers", namespace, name, version, "download", os, arch] => {
            download(releases, &format!("{namespace}/{name}"), version, &format!("{os}_{arch}"))
        }
        ["files", namespace, name, version, file] => {
            self::file(releases, &format!("{namespace}/{name}"), version, file, head)
        }
        _ => None,
    }
}

fn mirror(releases: &UpstreamReleases, path: &str, head: &RequestHead) -> Option<Answer> {
    let segments: Vec<&str> = path.split('/').collect();
    match segments[..] {
        [_, namespace, name, "index.json"] => index(releases, &format!("{namespace}/{name}")),
        [_, namespace, name, file] => mirrored(releases, &format!("{namespace}/{name}"), file, head),
        _ => None,
    }
}

/// A path without its percent signs; names of other alphabets are sent with them.
fn decoded(path: &str) -> String {
    let mut pieces = path.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let code = piece.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(code.unwrap_or(b'%'));
        bytes.extend_from_slice(piece.get(2..).unwrap_or_default().as_bytes());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn versions(releases: &UpstreamReleases, provider: &str) -> Option<Answer> {
    let known = releases.providers.get(provider)?;
    let version = |(version, packages): &(String, UpstreamVersion)| {
        let platforms: Vec<Value> = packages.keys().map(|platform| json!(platform_members(platform))).collect();
        json!({"version": version, "protocols": releases.protocols, "platforms": platforms})
    };
    let versions: Vec<Value> = known.versions.iter().map(version).collect();
    let mut document = json!({"id": provider, "versions": versions});
    if !known.warnings.is_empty() {
        document["warnings"] = json!(known.warnings);
    }
    Some(Answer::json(&document))
}

fn download(releases: &UpstreamReleases, provider: &str, version: &str, platform: &str) -> Option<Answer> {
    let package = releases.version(provider, version)?.get(platform)?;
    let at = |file: &str| format!("{}/files/{provider}/{version}/{file}", releases.files_at);
    let sums = sums_name(provider, version);
    let key = |key: &crate::ScratchOpenPgpKey| json!({"key_id": key.id(), "ascii_armor": key.armored()});
    let keys: Vec<Value> = releases.named.iter().map(key).collect();
    let mut document = platform_members(platform);
    document.extend([
        ("protocols".to_owned(), json!(releases.protocols)),
        ("filename".to_owned(), json!(package.file_name)),
        ("download_url".to_owned(), json!(at(&package.file_name))),
        ("shasums_url".to_owned(), json!(at(&sums))),
        ("shasums_signature_url".to_owned(), json!(at(&format!("{sums}.sig")))),
        ("shasum".to_owned(), json!(package.zh.trim_start_matches("zh:"))),
        ("signing_keys".to_owned(), json!({"gpg_public_keys": keys})),
    ]);
    Some(Answer::json(&Value::Object(document)))
}

fn file(releases: &UpstreamReleases, provider: &str, version: &str, file: &str, head: &RequestHead) -> Option<Answer> {
    let packages = releases.version(provider, version)?;
    if let Some(package) = packages.values().find(|package| package.file_name == file) {
        return Some(zip(package, head));
    }
    let bytes = |body: Vec<u8>| Some(Answer::new(200).header("Content-Type", "application/octet-stream").body(body));
    let name = sums_name(provider, version);
    let sums = sums(packages);
    match file.strip_prefix(name.as_str())? {
        "" => bytes(sums.into_bytes()),
        ".sig" => bytes(releases.signer.sign(sums.as_bytes())),
        _ => None,
    }
}

fn index(releases: &UpstreamReleases, provider: &str) -> Option<Answer> {
    let known = releases.providers.get(provider)?;
    let versions: Map<String, Value> = known.versions.iter().map(|(version, _)| (version.clone(), json!({}))).collect();
    Some(Answer::json(&json!({"versions": versions})))
}

/// `VERSION.json`, or a zip beside it.
fn mirrored(releases: &UpstreamReleases, provider: &str, file: &str, head: &RequestHead) -> Option<Answer> {
    let Some(version) = file.strip_suffix(".json") else {
        let packages = releases.providers.get(provider)?.versions.iter().flat_map(|(_, packages)| packages.values());
        return packages.filter(|package| package.file_name == file).map(|package| zip(package, head)).next();
    };
    let archive = |(platform, package): (&String, &UpstreamPackage)| {
        let url = match releases.files_at.as_str() {
            "" => package.file_name.clone(),
            origin => format!("{origin}/files/{provider}/{version}/{}", package.file_name),
        };
        let mut archive = json!({"url": url});
        match releases.hashes {
            MirrorHashes::Absent => {}
            MirrorHashes::Zh => archive["hashes"] = json!([package.zh]),
            MirrorHashes::H1 => archive["hashes"] = json!([package.h1]),
            MirrorHashes::These(hashes) => archive["hashes"] = json!(hashes),
            MirrorHashes::Both => archive["hashes"] = json!([package.h1, package.zh]),
        }
        (platform.clone(), archive)
    };
    let archives: Map<String, Value> = releases.version(provider, version)?.iter().map(archive).collect();
    Some(Answer::json(&json!({"archives": archives})))
}

fn zip(package: &UpstreamPackage, head: &RequestHead) -> Answer {
    let etag = format!("\"{}\"", package.zh);
    ranges::give(head, &etag, package.zip.clone(), |status| {
        let answer = Answer::new(status).header("Content-Type", "application/zip");
        answer.header("Accept-Ranges", "bytes").header("Etag", etag.clone())
    })
}

fn sums_name(provider: &str, version: &str) -> String {
    format!("terraform-provider-{}_{version}_SHA256SUMS", provider.rsplit('/').next().unwrap_or_default())
}

/// A line for each zip, sorted by platform.
fn sums(packages: &UpstreamVersion) -> String {
    let line = |package: &UpstreamPackage| format!("{}  {}\n", package.zh.trim_start_matches("zh:"), package.file_name);
    packages.values().map(line).collect()
}

fn platform_members(platform: &str) -> Map<String, Value> {
    let (os, arch) = platform.split_once('_').unwrap_or((platform, ""));
    [("os".to_owned(), json!(os)), ("arch".to_owned(), json!(arch))].into_iter().collect()
}
