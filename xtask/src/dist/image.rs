//! A container image: from nothing, one layer for each platform, not run by root.
//!
//! The program asks the system which authorities it trusts. An empty image has none, so the layer brings Mozilla's list
//! where the program looks first; `SSL_CERT_FILE` names another file.
//!
//! Spec: OCI image format 1.1.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::member::{Member, gzip, tar};
use super::release::{REPOSITORY, Release, SUMMARY};
use crate::failure::{ChoreResult, Doing};
use crate::paths;

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// The user and the group that images without a shell have for this.
const USER: u32 = 65532;

/// Writes an image layout; `programs` are the processors with their programs and licences.
pub(super) fn write(folder: &Path, release: &Release, programs: &[(&str, Vec<Member>)]) -> ChoreResult {
    if folder.exists() {
        fs::remove_dir_all(folder).doing(|| format!("removing {}", folder.display()))?;
    }
    let labels = labels(release);
    let mut manifests = Vec::new();
    for (architecture, files) in programs {
        let layer = tar(&layer(files), release.date)?;
        let packed = gzip(&layer)?;
        let config = json!({
            "created": release.created(),
            "architecture": architecture,
            "os": "linux",
            "config": {
                "User": format!("{USER}:{USER}"),
                "Env": ["PATH=/usr/bin", "HOME=/home/nonroot", "XDG_CACHE_HOME=/cache"],
                "Entrypoint": ["/usr/bin/tofu-oci"],
                "WorkingDir": "/home/nonroot",
                "Labels": labels,
            },
            "rootfs": { "type": "layers", "diff_ids": [digest(&layer)] },
            "history": [{ "created": release.created(), "created_by": "cargo xtask dist" }],
        });
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": blob(folder, CONFIG, &json_bytes(&config)?)?,
            "layers": [blob(folder, LAYER, &packed)?],
            "annotations": labels,
        });
        let mut descriptor = blob(folder, MANIFEST, &json_bytes(&manifest)?)?;
        descriptor["platform"] = json!({ "architecture": architecture, "os": "linux" });
        manifests.push(descriptor);
    }
    let index = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": manifests, "annotations": labels });
    let mut root = blob(folder, INDEX, &json_bytes(&index)?)?;
    root["annotations"] = json!({ "org.opencontainers.image.ref.name": release.version });
    let top = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": [root] });
    paths::write(&folder.join("index.json"), json_bytes(&top)?)?;
    paths::write(&folder.join("oci-layout"), json_bytes(&json!({ "imageLayoutVersion": "1.0.0" }))?)
}

/// The program, the authorities, who the user is, and where it may write.
fn layer(files: &[Member]) -> Vec<Member> {
    let mut members = files.to_vec();
    members.push(Member::file("etc/ssl/certs/ca-certificates.crt", authorities()));
    members.push(Member::file("etc/passwd", format!("nonroot:x:{USER}:{USER}:nonroot:/home/nonroot:/sbin/nologin\n")));
    members.push(Member::file("etc/group", format!("nonroot:x:{USER}:\n")));
    // For a volume, if the rest is read-only: a bridge refuses a cache that others could fill.
    members.push(Member::folder("cache", 0o700, USER));
    members.push(Member::folder("home/nonroot", 0o700, USER));
    members.push(Member::folder("tmp", 0o1777, 0));
    members
}

/// Mozilla's list of authorities in PEM.
fn authorities() -> String {
    let mut text = String::new();
    for certificate in webpki_root_certs::TLS_SERVER_ROOT_CERTS {
        let encoded = STANDARD.encode(certificate);
        text += "-----BEGIN CERTIFICATE-----\n";
        for line in encoded.as_bytes().chunks(64) {
            text += &String::from_utf8_lossy(line);
            text.push('\n');
        }
        text += "-----END CERTIFICATE-----\n";
    }
    text
}

fn labels(release: &Release) -> Value {
    json!({
        "org.opencontainers.image.created": release.created(),
        "org.opencontainers.image.description": SUMMARY,
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.revision": release.commit,
        "org.opencontainers.image.source": REPOSITORY,
        "org.opencontainers.image.title": "tofu-oci",
        "org.opencontainers.image.version": release.version,
    })
}

/// Writes a blob and gives its descriptor.
fn blob(folder: &Path, media_type: &str, bytes: &[u8]) -> ChoreResult<Value> {
    let digest = digest(bytes);
    paths::write(&folder.join("blobs").join(digest.replace(':', "/")), bytes)?;
    Ok(json!({ "mediaType": media_type, "digest": digest, "size": bytes.len() }))
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", super::sums::hex(&Sha256::digest(bytes)))
}

fn json_bytes(value: &Value) -> ChoreResult<Vec<u8>> {
    Ok(serde_json::to_vec(value)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_has_both_platforms_and_no_root() {
        let folder = tempfile::tempdir().unwrap();
        let release = Release { version: "1.0.0".to_owned(), date: 0, commit: "abc".to_owned() };
        let files = vec![Member::program("usr/bin/tofu-oci", "run")];
        write(folder.path(), &release, &[("amd64", files.clone()), ("arm64", files)]).unwrap();
        let read =
            |path: &str| -> Value { serde_json::from_slice(&fs::read(folder.path().join(path)).unwrap()).unwrap() };
        let follow = |entry: &Value| read(&format!("blobs/{}", entry["digest"].as_str().unwrap().replace(':', "/")));
        let index = follow(&read("index.json")["manifests"][0]);
        assert_eq!(index["manifests"][1]["platform"]["architecture"], "arm64");
        let manifest = follow(&index["manifests"][0]);
        let config = follow(&manifest["config"]);
        assert_eq!(manifest["layers"].as_array().unwrap().len(), 1);
        assert_eq!(
            (&config["config"]["User"], &config["created"]),
            (&json!("65532:65532"), &json!("1970-01-01T00:00:00Z"))
        );
    }

    #[test]
    fn the_user_of_an_image_alone_may_fill_its_cache() {
        let folders = layer(&[]).into_iter().filter(|member| member.path.ends_with('/'));
        let lines: Vec<String> = folders.map(|one| format!("{} {:o} {}", one.path, one.mode, one.owner)).collect();
        assert_eq!(lines, ["cache/ 700 65532", "home/nonroot/ 700 65532", "tmp/ 1777 0"]);
    }

    #[test]
    fn the_authorities_are_pem() {
        let text = authorities();
        assert!(text.matches("-----BEGIN CERTIFICATE-----\n").count() > 50);
        assert!(text.lines().all(|line| line.len() <= 64));
    }
}
