//! A package of Alpine, which `nfpm` writes: it has no signature, so `apk add` takes it with `--allow-untrusted`.
//!
//! Spec: the configuration of nfpm 2.

use std::fs;

use serde_json::json;

use super::member::Member;
use super::release::{MAINTAINER, REPOSITORY, Release, SUMMARY};
use crate::failure::{ChoreResult, Doing};
use crate::paths;
use crate::process::{ProgramRun, find};

/// The package with these files, or `None` if there is no `nfpm`. It depends on nothing.
pub(super) fn package(release: &Release, architecture: &str, files: &[Member]) -> ChoreResult<Option<Vec<u8>>> {
    let Some(nfpm) = find("nfpm") else { return Ok(None) };
    let folder = tempfile::tempdir()?;
    let mut contents = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let source = folder.path().join(number.to_string());
        paths::write(&source, &file.bytes)?;
        let info = json!({ "mode": file.mode, "mtime": release.created(), "owner": "root", "group": "root" });
        contents.push(json!({ "src": source, "dst": format!("/{}", file.path), "file_info": info }));
    }
    let config = json!({
        "name": "tofu-oci",
        "arch": architecture,
        "version": version(release),
        "version_schema": "none",
        "maintainer": MAINTAINER,
        "description": SUMMARY,
        "homepage": REPOSITORY,
        "license": "Apache-2.0",
        "mtime": release.created(),
        "contents": contents,
    });
    let (settings, package) = (folder.path().join("nfpm.yaml"), folder.path().join("package.apk"));
    paths::write(&settings, config.to_string())?;
    let run = ProgramRun::inheriting(nfpm).args(["package", "--packager", "apk"]).arg("--config").arg(&settings);
    run.arg("--target").arg(&package).variable("SOURCE_DATE_EPOCH", release.date.to_string()).success()?;
    Ok(Some(fs::read(&package).doing(|| format!("reading {}", package.display()))?))
}

/// Alpine writes `1.0.0_rc1`, which is older than `1.0.0`.
fn version(release: &Release) -> String {
    match release.version.split_once('-') {
        Some((version, preview)) => format!("{version}_{}", preview.replace('.', "")),
        None => release.version.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release() -> Release {
        Release { version: "1.2.0-rc.1".to_owned(), date: 1_700_000_000, commit: String::new() }
    }

    #[test]
    fn a_preview_is_named_as_alpine_orders_versions() {
        assert_eq!(version(&release()), "1.2.0_rc1");
        assert_eq!(version(&Release { version: "1.2.0".to_owned(), ..release() }), "1.2.0");
    }

    #[test]
    fn the_same_files_make_the_same_package() {
        let files = [Member::program("usr/bin/tofu-oci", "run"), Member::file("usr/share/doc/a", "text")];
        let once = package(&release(), "amd64", &files).unwrap();
        assert_eq!(once, package(&release(), "amd64", &files).unwrap());
        assert_eq!(once.map(|bytes| bytes.starts_with(&[0x1f, 0x8b])), find("nfpm").map(|_| true), "an apk is gzip");
    }
}
