//! A bill of materials: every crate of the program with its version, licence and checksum.
//!
//! Spec: `CycloneDX` 1.5.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::dependencies::DistCrate;
use super::release::Release;
use crate::failure::{ChoreFailure, ChoreResult};

/// What a lock file says about a crate.
#[derive(Deserialize)]
struct LockedCrate {
    name: String,
    version: String,
    checksum: Option<String>,
}

#[derive(Deserialize)]
struct LockFile {
    package: Vec<LockedCrate>,
}

/// The document for these crates, the program's own first.
pub(super) fn document(release: &Release, crates: &[DistCrate], lock_file: &str) -> ChoreResult<Vec<u8>> {
    let locked: LockFile = toml::from_str(lock_file)?;
    let sums: BTreeMap<(String, String), String> = locked
        .package
        .into_iter()
        .filter_map(|package| Some(((package.name, package.version), package.checksum?)))
        .collect();
    let [program, parts @ ..] = crates else { return Err(ChoreFailure::new("a program has a crate")) };
    let components = parts.iter().map(|part| {
        let sum = sums.get(&(part.name.clone(), part.version.clone()));
        let mut component = component("library", part);
        if let Some(sum) = sum {
            component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
        }
        component
    });
    let uses = crates.iter().map(|part| json!({ "ref": part.purl(), "dependsOn": part.uses }));
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "timestamp": release.created(), "component": component("application", program) },
        "components": components.collect::<Vec<_>>(),
        "dependencies": uses.collect::<Vec<_>>(),
    });
    let mut bytes = serde_json::to_vec_pretty(&document)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn component(kind: &str, part: &DistCrate) -> Value {
    let mut component = json!({
        "type": kind,
        "bom-ref": part.purl(),
        "name": part.name,
        "version": part.version,
        "purl": part.purl(),
    });
    if let Some(licence) = &part.license {
        // Older crates write a slash for `OR`.
        component["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
    }
    if let Some(repository) = &part.repository {
        component["externalReferences"] = json!([{ "type": "vcs", "url": repository }]);
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_the_checksum_of_the_lock_file() {
        let release = Release { version: "1.0.0".to_owned(), date: 0, commit: String::new() };
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"abcd\"\n";
        let crates = super::super::dependencies::tests::sample();
        let document: Value = serde_json::from_slice(&document(&release, &crates, lock).unwrap()).unwrap();
        assert_eq!(document["metadata"]["component"]["bom-ref"], "pkg:cargo/p@1.0.0");
        assert_eq!(document["components"][0]["hashes"][0]["content"], "abcd");
        assert_eq!(document["dependencies"][0]["dependsOn"], json!(["pkg:cargo/b@1.0.0"]));
    }
}
