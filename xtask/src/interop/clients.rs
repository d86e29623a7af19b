//! crane and regctl read every layout, down to the bytes of each layer, and copy it without changing a digest.

use serde_json::Value;

use super::content::digest;
use super::lab::{LAYOUTS, Lab, seen, text};
use super::registries::ADDRESS;
use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::paths;
use crate::process::{Printed, ProgramRun};
use crate::registry::Guard;

const TAG: &str = "1.0.0";

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let registry = Guard::plain()?;
    let regctl = Regctl { lab };
    regctl.command(&["registry", "set", "--tls", "disabled", registry.address()])?.success()?;
    let clients: [&dyn Client; 2] = [&Crane { lab }, &regctl];
    let dist = text(&paths::testdata().join("dist"));
    for layout in LAYOUTS {
        let repository = format!("{}/{layout}/widget", registry.address());
        lab.tofu_oci(&registry, &["push", &dist, &repository, "--address", ADDRESS, "--layout", layout]).success()?;
        for client in clients {
            let read = read_release(client, &repository)?;
            let copy = format!("{}/{layout}/{}-copy", registry.address(), client.name());
            client.copy(&format!("{repository}:{TAG}"), &format!("{copy}:{TAG}"))?.success()?;
            let copied = read_release(client, &copy)?;
            if read != copied {
                return Err(ChoreFailure::new(format!("{} changed {read:?} to {copied:?}", client.name())));
            }
            seen(&format!(
                "{layout}: {} reads {} manifests and blobs, and copies them unchanged",
                client.name(),
                read.len()
            ));
        }
    }
    Ok(())
}

/// A client that reads and copies.
trait Client {
    fn name(&self) -> &'static str;
    /// Prints the bytes of a manifest to standard output.
    fn manifest(&self, reference: &str) -> ChoreResult<Printed>;
    /// Prints the digest of `reference` to standard output.
    fn resolve(&self, reference: &str) -> ChoreResult<Printed>;
    /// Reads the whole blob.
    fn blob(&self, repository: &str, digest: &str) -> ChoreResult<Vec<u8>>;
    fn copy(&self, from: &str, to: &str) -> ChoreResult<ProgramRun>;
}

/// Everything below the tag, read and checked: the digests in the order of the index.
fn read_release(client: &dyn Client, repository: &str) -> ChoreResult<Vec<String>> {
    let root = client.resolve(&format!("{repository}:{TAG}"))?.stdout.trim().to_owned();
    let index = checked_manifest(client, &format!("{repository}:{TAG}"), &root)?;
    let mut digests = vec![root];
    for leaf in descriptors(&index, "manifests") {
        let manifest = checked_manifest(client, &format!("{repository}@{leaf}"), &leaf)?;
        digests.push(leaf);
        let config = manifest["config"]["digest"].as_str().map(str::to_owned);
        for blob in config.into_iter().chain(descriptors(&manifest, "layers")) {
            let found = digest(&client.blob(repository, &blob)?);
            if found != blob {
                return Err(ChoreFailure::new(format!("{} reads {found} for {blob}", client.name())));
            }
            digests.push(blob);
        }
    }
    Ok(digests)
}

fn checked_manifest(client: &dyn Client, reference: &str, wanted: &str) -> ChoreResult<Value> {
    let printed = client.manifest(reference)?;
    // Both clients end what they print with a line break of their own, or with none.
    let body = printed.stdout.strip_suffix('\n').unwrap_or(&printed.stdout);
    if digest(body.as_bytes()) != wanted && digest(printed.stdout.as_bytes()) != wanted {
        return Err(printed.failure(&format!("the bytes of {reference} are not {wanted}")));
    }
    serde_json::from_str(body).doing(|| format!("reading {reference}"))
}

fn descriptors(manifest: &Value, member: &str) -> Vec<String> {
    let list = manifest[member].as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(|descriptor| descriptor["digest"].as_str().map(str::to_owned)).collect()
}

struct Crane<'lab> {
    lab: &'lab Lab,
}

impl Crane<'_> {
    fn command(&self, arguments: &[&str]) -> ChoreResult<ProgramRun> {
        Ok(self.lab.tool("crane")?.arg("--insecure").args(arguments))
    }
}

impl Client for Crane<'_> {
    fn name(&self) -> &'static str {
        "crane"
    }

    fn manifest(&self, reference: &str) -> ChoreResult<Printed> {
        self.command(&["manifest", reference])?.success()
    }

    fn resolve(&self, reference: &str) -> ChoreResult<Printed> {
        self.command(&["digest", reference])?.success()
    }

    fn blob(&self, repository: &str, digest: &str) -> ChoreResult<Vec<u8>> {
        self.command(&["blob", &format!("{repository}@{digest}")])?.bytes()
    }

    fn copy(&self, from: &str, to: &str) -> ChoreResult<ProgramRun> {
        self.command(&["copy", from, to])
    }
}

struct Regctl<'lab> {
    lab: &'lab Lab,
}

impl Regctl<'_> {
    fn command(&self, arguments: &[&str]) -> ChoreResult<ProgramRun> {
        Ok(self.lab.tool("regctl")?.args(arguments))
    }
}

impl Client for Regctl<'_> {
    fn name(&self) -> &'static str {
        "regctl"
    }

    fn manifest(&self, reference: &str) -> ChoreResult<Printed> {
        self.command(&["manifest", "get", "--format", "raw-body", reference])?.success()
    }

    fn resolve(&self, reference: &str) -> ChoreResult<Printed> {
        self.command(&["image", "digest", reference])?.success()
    }

    fn blob(&self, repository: &str, digest: &str) -> ChoreResult<Vec<u8>> {
        self.command(&["blob", "get", repository, digest])?.bytes()
    }

    fn copy(&self, from: &str, to: &str) -> ChoreResult<ProgramRun> {
        self.command(&["image", "copy", from, to])
    }
}
