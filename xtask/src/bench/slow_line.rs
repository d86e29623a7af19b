//! The large package over a line of 100 Mbit/s: by its zip, and by its small layer.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tofu_oci_testkit::DelayedLine;

use super::measure::output;
use super::stage::BenchStage;
use crate::failure::ChoreResult;

/// 100 Mbit/s.
const BYTES_A_SECOND: u64 = 12_500_000;

const ROUND_TRIP: Duration = Duration::from_millis(20);

/// What the package comes by.
#[derive(Clone, Copy)]
pub(super) enum SlowLayer {
    Zip,
    Small,
}

/// The plain registry at the end of the line, with the package once as it is and once with its small layer.
pub(super) struct SlowLineBench {
    line: DelayedLine,
}

impl SlowLayer {
    fn repository(self) -> &'static str {
        match self {
            Self::Zip => "line-zip",
            Self::Small => "line-small",
        }
    }

    /// How the package is published.
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Zip => &[],
            Self::Small => &["--small"],
        }
    }
}

impl SlowLineBench {
    /// Publishes the package twice, and locks each without the line.
    pub(super) fn make(stage: &BenchStage<'_>) -> ChoreResult<Self> {
        let registry = stage.plain.address();
        for layer in [SlowLayer::Zip, SlowLayer::Small] {
            let repository = format!("{registry}/{}", layer.repository());
            output(&mut stage.push(&stage.package.one, &repository, layer.options()))?;
            let folder = stage.fresh(&locked(layer))?;
            output(&mut install(stage, registry, layer, &folder))?;
        }
        let line = DelayedLine::near_end().with_bandwidth(BYTES_A_SECOND).leads_to(registry, ROUND_TRIP);
        Ok(Self { line })
    }

    /// Installs over the line, with a lock file.
    pub(super) fn install(&self, stage: &BenchStage<'_>, layer: SlowLayer) -> ChoreResult<Command> {
        let folder = stage.fresh(&format!("{}-project", layer.repository()))?;
        let name = ".terraform.lock.hcl";
        fs::copy(stage.work.join(locked(layer)).join(name), folder.join(name))?;
        Ok(install(stage, &self.line.address(), layer, &folder))
    }

    /// The zip over the line, to nowhere.
    pub(super) fn curl(&self, stage: &BenchStage<'_>) -> Command {
        let mut command = Command::new("curl");
        command.args(["--silent", "--fail", "--http1.1", "--output", "/dev/null"]);
        command.arg(format!("http://{}/v2/{}/blobs/{}", self.line.address(), SlowLayer::Zip.repository(), stage.blob));
        command
    }
}

/// The folder with the lock file.
fn locked(layer: SlowLayer) -> String {
    format!("{}-lock", layer.repository())
}

fn install(stage: &BenchStage<'_>, registry: &str, layer: SlowLayer, folder: &Path) -> Command {
    let mut command = stage.tofu_oci(folder);
    command.arg("install").arg(stage.package.address());
    command.arg("--from").arg(format!("{registry}/{}", layer.repository()));
    command.args(["--platform", "linux_amd64", "--chdir"]).arg(folder);
    command
}
