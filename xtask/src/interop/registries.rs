//! push, versions, install, push again and copy, against registry:2 plain, over TLS, with a password file and with a
//! token server; the same, signatures and the probe against distribution 3 and zot, if these are installed.

use std::path::Path;

use tofu_oci_testkit::RealProgram;

use super::content;
use super::lab::{Lab, seen, text};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::paths;
use crate::process::in_ci;
use crate::registry::Guard;

/// The provider of the fixtures.
pub(super) const ADDRESS: &str = "registry.example.test/acme/widget";
/// The platform that is installed, whatever this machine is.
pub(super) const PLATFORM: &str = "linux_amd64";

/// Starts a registry in one mode.
type Start = fn() -> ChoreResult<Guard>;

pub(super) fn run(lab: &Lab) -> ChoreResult {
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
    signed_trip(lab, &Guard::plain()?)?;
    seen("registry:2: push of a signed version, sign, verify, check");
    other(lab, "distribution 3", RealProgram::Distribution3, in_ci())?;
    other(lab, "zot", RealProgram::Zot, false)
}

/// Another registry, if it is there; a failure if it is not and must be.
fn other(lab: &Lab, name: &str, program: RealProgram, needed: bool) -> ChoreResult {
    if !program.available() {
        let why =
            format!("{name}: {} is not on the PATH (CONTRIBUTING.md says where it comes from)", program.names()[0]);
        if needed {
            return Err(ChoreFailure::new(why));
        }
        println!("   NOT RUN  {why}");
        return Ok(());
    }
    let registry = Guard::of(program)?;
    round_trip(lab, &registry)?;
    seen(&format!("{name}: push, versions, install, push again, copy there and back"));
    signed_trip(lab, &registry)?;
    seen(&format!("{name}: push of a signed version, sign, verify, check, the probe"));
    Ok(())
}

/// A signed version beside one that is signed later; what `verify` and `check` print about them.
fn signed_trip(lab: &Lab, registry: &Guard) -> ChoreResult {
    let repository = format!("{}/acme/signed", registry.address());
    let keys = paths::testdata().join("trust/cosign/test-keys");
    let folder = lab.new_folder("keys")?;
    let key = folder.join("p256.pem");
    paths::write(&key, std::fs::read(keys.join("p256.pem"))?)?;
    private(&key)?;
    let (key, public) = (text(&key), text(&keys.join("p256.pub")));
    let [dist, next] = ["dist", "dist-next"].map(|name| text(&paths::testdata().join(name)));
    // The OpenPGP signature of the fixtures is a placeholder, which `check` refuses.
    let push = |dist: &str| {
        let push = ["push", dist, &repository, "--address", ADDRESS, "--sums", "skip"];
        lab.tofu_oci(registry, &push)
    };
    push(&dist).success()?;
    push(&next).args(["--sign-key", &key]).success()?;
    lab.tofu_oci(registry, &["sign", &format!("{repository}:1.0.0"), "--key", &key]).success()?;
    for version in ["1.0.0", "1.1.0"] {
        let wanted = format!("{ADDRESS}@{version}");
        let verify = ["verify", &wanted, "--from", &repository, "--key", &public, "--chdir", &text(&folder)];
        lab.tofu_oci(registry, &verify).success()?;
        install_and_compare(lab, registry, &repository, version)?;
    }
    lab.tofu_oci(registry, &["check", &repository, "--address", ADDRESS, "--deep"]).success()?;
    let probe = format!("{}/scratch/probe", registry.address());
    lab.tofu_oci(registry, &["check", &probe, "--registry"]).success().map(drop)
}

/// Makes a private key its owner's alone.
fn private(key: &Path) -> ChoreResult {
    #[cfg(unix)]
    std::fs::set_permissions(key, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    let _ = key;
    Ok(())
}

fn round_trip(lab: &Lab, registry: &Guard) -> ChoreResult {
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
pub(super) fn install_and_compare(lab: &Lab, registry: &Guard, place: &str, version: &str) -> ChoreResult {
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
pub(super) fn published(lab: &Lab, version: &str) -> ChoreResult<std::path::PathBuf> {
    let zip = match version {
        "1.2.0" => return Ok(paths::testdata().join("dist-folders").join(PLATFORM)),
        "1.1.0" => paths::testdata().join("dist-next"),
        _ => paths::testdata().join("dist"),
    };
    let folder = lab.new_folder("published")?;
    unzip(&zip.join(format!("terraform-provider-widget_{version}_{PLATFORM}.zip")), &folder)?;
    Ok(folder)
}

/// Unpacks a zip of this project's own tests.
pub(super) fn unzip(zip: &Path, folder: &Path) -> ChoreResult {
    Ok(zip::ZipArchive::new(std::fs::File::open(zip)?)?.extract(folder)?)
}
