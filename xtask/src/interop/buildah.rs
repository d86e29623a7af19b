//! tofu-oci installs what buildah builds from the RFC's Dockerfile, and buildah pulls our image layout.

use std::path::{Path, PathBuf};

use super::content;
use super::lab::{Lab, seen, text};
use super::registries::{ADDRESS, install_and_compare};
use crate::failure::ChoreResult;
use crate::paths;
use crate::process::ProgramRun;
use crate::registry::Guard;

/// The RFC's own Dockerfile.
/// Spec: provider installation from OCI registries, "Building and publishing".
const DOCKERFILE: &str = r#"FROM scratch
LABEL org.opentofu.package-type="provider_binary"
ARG TARGETPLATFORM
ARG BUILDPLATFORM
ARG TARGETOS
ARG TARGETARCH
COPY ./dist/${TARGETOS}_${TARGETARCH}/* /
"#;

const PLATFORMS: &str = "linux/amd64,linux/arm64,darwin/arm64,windows/amd64";

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let registry = Guard::plain()?;
    let buildah = Buildah { lab, storage: lab.new_folder("buildah")? };

    let built = format!("{}/rfc/widget", registry.address());
    buildah.build_and_push(&format!("{built}:1.2.0"))?;
    install_and_compare(lab, &registry, &built, "1.2.0")?;
    seen("what buildah builds from the RFC's Dockerfile is installed");

    let folders = paths::testdata().join("dist-folders");
    for layout in ["image", "both"] {
        let ours = format!("{}/{layout}/widget", registry.address());
        let arguments =
            ["push", &text(&folders), &ours, "--address", ADDRESS, "--version", "1.2.0", "--layout", layout];
        lab.tofu_oci(&registry, &arguments).success()?;
        for (platform, folder) in [("linux/amd64", "linux_amd64"), ("linux/arm64", "linux_arm64")] {
            buildah.pull_and_compare(&format!("{ours}:1.2.0"), platform, &folders.join(folder))?;
        }
        seen(&format!("buildah pulls what push --layout {layout} wrote"));
    }
    Ok(())
}

/// buildah with a storage of its own and no daemon.
struct Buildah<'lab> {
    lab: &'lab Lab,
    storage: PathBuf,
}

impl Buildah<'_> {
    fn command(&self, arguments: &[&str]) -> ChoreResult<ProgramRun> {
        let (root, runtime) = (text(&self.storage.join("root")), text(&self.storage.join("run")));
        let run = self.lab.tool("buildah")?.args(["--storage-driver", "vfs", "--root", &root, "--runroot", &runtime]);
        Ok(run.args(arguments))
    }

    fn build_and_push(&self, reference: &str) -> ChoreResult {
        let context = self.lab.new_folder("context")?;
        paths::write(&context.join("Dockerfile"), DOCKERFILE)?;
        paths::copy_folder(&paths::testdata().join("dist-folders"), &context.join("dist"))?;
        self.command(&["build", "--isolation", "chroot", "--platform", PLATFORMS, "--manifest", "widget", "."])?
            .directory(&context)
            .success()?;
        let destination = format!("docker://{reference}");
        self.command(&["manifest", "push", "--all", "--tls-verify=false", "widget", &destination])?.success()?;
        Ok(())
    }

    fn pull_and_compare(&self, reference: &str, platform: &str, wanted: &Path) -> ChoreResult {
        let source = format!("docker://{reference}");
        let pulled =
            self.command(&["pull", "--quiet", "--tls-verify=false", "--platform", platform, &source])?.success()?;
        let image = pulled.stdout.trim().to_owned();
        let container = self.command(&["from", "--pull-never", "--platform", platform, &image])?.success()?;
        let container = container.stdout.trim().to_owned();
        let mounted = self.command(&["mount", &container])?.success()?;
        content::must_be_equal(Path::new(mounted.stdout.trim()), wanted)?;
        self.command(&["rm", &container])?.success()?;
        Ok(())
    }
}
