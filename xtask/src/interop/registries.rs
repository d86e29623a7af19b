//! The round trip against registry:2 in all its modes.

use std::path::Path;

use super::content;
use super::lab::{Lab, seen, text};
use crate::failure::Outcome;
use crate::paths;
use crate::registry::Guard;

/// The provider of the fixtures.
pub(super) const ADDRESS: &str = "registry.example.test/acme/widget";
/// The platform that is installed, whatever this machine is.
pub(super) const PLATFORM: &str = "linux_amd64";

/// Starts a registry in one mode.
type Start = fn() -> Outcome<Guard>;

pub(super) fn run(lab: &Lab) -> Outcome {
    let modes: [(&str, Start); 4] = [
        ("plain HTTP", Guard::plain),
        ("TLS with a private CA", Guard::tls),
        ("htpasswd", Guard::htpasswd),
        ("token server", Guard::token),
    ];
    for (mode, start) in modes {
        let registry = start()?;
        round_trip(lab, &registry)?;
        seen(&format!("registry:2, {mode}: push, versions, install, push again, copy there and back"));
        if registry.docker_config().is_some() {
            let repository = format!("{}/acme/widget", registry.address());
            lab.stranger(&["versions", &repository]).refused()?;
            seen(&format!("registry:2, {mode}: nothing without credentials"));
        }
    }
    Ok(())
}

fn round_trip(lab: &Lab, registry: &Guard) -> Outcome {
    let repository = format!("{}/acme/widget", registry.address());
    let dist = text(&paths::testdata().join("dist"));
    let push = lab.tofu_oci(registry, &["push", &dist, &repository, "--address", ADDRESS]);
    push.success()?;
    lab.tofu_oci(registry, &["versions", &repository]).success()?.must_show("1.0.0")?;
    install_and_compare(lab, registry, &repository, "1.0.0")?;
    push.success()?.must_show("nothing was sent")?;

    let copy = |from: &str, to: &str| {
        lab.tofu_oci(registry, &["copy", from, to, "--version", "1.0.0"]).success()?;
        install_and_compare(lab, registry, to, "1.0.0")
    };
    let folder = format!("oci:{}", text(&lab.new_folder("layout")?.join("packages")));
    copy(&repository, &format!("{}/acme/second", registry.address()))?;
    copy(&repository, &folder)?;
    copy(&folder, &format!("{}/acme/back", registry.address()))
}

/// Installs the provider of the fixtures from `place` and compares it with what was published.
pub(super) fn install_and_compare(lab: &Lab, registry: &Guard, place: &str, version: &str) -> Outcome {
    let work = lab.new_folder("work")?;
    let wanted = format!("{ADDRESS}@{version}");
    let directory = text(&work);
    let arguments = ["install", &wanted, "--from", place, "--chdir", &directory, "--platform", PLATFORM];
    lab.tofu_oci(registry, &arguments).success()?;
    let package = work.join(".terraform/providers").join(ADDRESS).join(version).join(PLATFORM);
    content::must_be_equal(&package, &published(lab, version)?)?;
    content::must_contain(&work.join(".terraform.lock.hcl"), "\"h1:")?;
    content::must_contain(&work.join(".terraform.lock.hcl"), ADDRESS)
}

/// The package as the release files have it: a folder for 1.2.0, the unpacked zip for the others.
pub(super) fn published(lab: &Lab, version: &str) -> Outcome<std::path::PathBuf> {
    let zip = match version {
        "1.2.0" => return Ok(paths::testdata().join("dist-folders").join(PLATFORM)),
        "1.1.0" => paths::testdata().join("dist-next"),
        _ => paths::testdata().join("dist"),
    };
    let folder = lab.new_folder("published")?;
    unzip(&zip.join(format!("terraform-provider-widget_{version}_{PLATFORM}.zip")), &folder)?;
    Ok(folder)
}

fn unzip(zip: &Path, folder: &Path) -> Outcome {
    Ok(zip::ZipArchive::new(std::fs::File::open(zip)?)?.extract(folder)?)
}
