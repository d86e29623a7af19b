//! The registries, programs and folders that all cases share, and the commands that they run.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tofu_oci_testkit::{DelayedLine, RealMode, RealRegistry};

use super::bridge::BridgeBench;
use super::lock::Releases;
use super::measure::{BenchCase, output};
use super::mirror::{MirrorBench, Mirrored, VERSIONS};
use super::module::ModuleBench;
use super::package::BenchPackage;
use super::packed::{PackedBench, Packing};
use super::slow_line::{SlowLayer, line};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::paths;
use crate::process::find;
use tofu_oci_testkit::RealTransport;

/// The case whose requests to its origin are counted.
pub(super) const UNCHANGED: &str = "mirror 100, unchanged";

/// The programs in their release builds.
pub(super) struct Programs {
    pub(super) tofu_oci: PathBuf,
    pub(super) xtask: PathBuf,
    pub(super) tofu: Option<PathBuf>,
}

impl Programs {
    /// Builds both in the release profile.
    pub(super) fn build() -> ChoreResult<Self> {
        let status = Command::new(env!("CARGO"))
            .args(["build", "--release", "--package", "tofu-oci-cli", "--package", "xtask"])
            .status()?;
        if !status.success() {
            return Err(ChoreFailure::new("the release build failed"));
        }
        let target = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(target) => PathBuf::from(target),
            None => paths::root().join("target"),
        };
        let release = target.join("release");
        Ok(Self { tofu_oci: release.join("tofu-oci"), xtask: release.join("xtask"), tofu: find("tofu") })
    }
}

/// A TLS registry that holds the package, a plain one to push to, and room for the results.
pub(super) struct BenchStage<'a> {
    pub(super) programs: &'a Programs,
    pub(super) package: &'a BenchPackage,
    pub(super) work: &'a Path,
    pub(super) tls: RealRegistry,
    pub(super) plain: RealRegistry,
    pub(super) ca: PathBuf,
    pub(super) blob: String,
    pub(super) lock: PathBuf,
    locked: OnceCell<Releases>,
    mirrored: OnceCell<MirrorBench>,
    bridged: OnceCell<BridgeBench>,
    modules: OnceCell<ModuleBench>,
    slow_line: OnceCell<DelayedLine>,
    packed: [OnceCell<PackedBench>; Packing::ALL.len()],
}

impl<'a> BenchStage<'a> {
    /// Starts the registries and publishes the package once.
    pub(super) fn start(programs: &'a Programs, package: &'a BenchPackage, work: &'a Path) -> ChoreResult<Self> {
        let tls = RealRegistry::start(RealMode::tls())?;
        let plain = RealRegistry::start(RealMode::plain())?;
        let ca = work.join("ca.pem");
        fs::write(&ca, tls.ca_pem().unwrap_or_default())?;
        let mut stage = Self {
            programs,
            package,
            work,
            tls,
            plain,
            ca,
            blob: String::new(),
            lock: work.join("lock").join(".terraform.lock.hcl"),
            locked: OnceCell::new(),
            mirrored: OnceCell::new(),
            bridged: OnceCell::new(),
            modules: OnceCell::new(),
            slow_line: OnceCell::new(),
            packed: Default::default(),
        };
        let report = output(&mut stage.push(&package.one, &stage.release(), &["--json"]))?;
        let zip = report.split('"').find(|word| word.starts_with("zh:")).map(|hash| hash.replace("zh:", "sha256:"));
        stage.blob = zip.ok_or_else(|| ChoreFailure::new(format!("push reported no zh: checksum: {report}")))?;
        let folder = work.join("lock");
        fs::create_dir_all(&folder)?;
        output(&mut stage.install(&folder))?;
        Ok(stage)
    }

    pub(super) fn release(&self) -> String {
        self.tls_repository(&self.package.provider_type)
    }

    /// The release in a repository of its own name: from one that the other registry has, too, its blobs could be mounted.
    pub(super) fn copied(&self) -> ChoreResult<String> {
        let repository = self.tls_repository("copied");
        output(&mut self.copy(&self.release(), &repository))?;
        Ok(repository)
    }

    pub(super) fn copy(&self, from: &str, to: &str) -> Command {
        let mut command = self.tofu_oci(&self.work.join("home"));
        command.arg("copy").args([from, to]);
        command
    }

    pub(super) fn tls_repository(&self, name: &str) -> String {
        format!("{}/bench/{name}", self.tls.address())
    }

    /// The package in another form, published when it is first asked for.
    pub(super) fn packed(&self, packing: Packing) -> ChoreResult<&PackedBench> {
        let cell = &self.packed[packing as usize];
        if let Some(packed) = cell.get() {
            return Ok(packed);
        }
        let packed = match packing {
            Packing::Deflated => {
                let repository = self.package.provider_type.clone();
                PackedBench { archive: self.package.zip(), repository, blob: self.blob.clone(), locked: None }
            }
            Packing::Stored => self.publish_stored()?,
            Packing::Small => self.publish_small()?,
            Packing::Image => self.publish_image()?,
        };
        Ok(cell.get_or_init(|| packed))
    }

    pub(super) fn tofu_oci(&self, home: &Path) -> Command {
        let mut command = Command::new(&self.programs.tofu_oci);
        command.env("HOME", home).env("XDG_CACHE_HOME", home.join("cache")).env("TOFU_OCI_CA_FILE", &self.ca);
        command.env("TOFU_OCI_CACHE_DIR", "");
        command
    }

    pub(super) fn push(&self, dist: &Path, repository: &str, more: &[&str]) -> Command {
        let mut command = self.tofu_oci(&self.work.join("home"));
        command.arg("push").arg(dist).arg(repository).args(["--address", &self.package.address()]);
        // Each platform has the program of the first one.
        command.args(["--version", &self.package.version, "--skip-executable-check"]).args(more);
        command
    }

    /// Installs the package into `folder`, without a package cache.
    pub(super) fn install(&self, folder: &Path) -> Command {
        self.install_from(&self.release(), folder)
    }

    pub(super) fn install_from(&self, repository: &str, folder: &Path) -> Command {
        let mut command = self.tofu_oci(folder);
        command.arg("install").arg(self.package.address()).args(["--from", repository]);
        command.args(["--platform", "linux_amd64", "--chdir"]).arg(folder);
        command
    }

    pub(super) fn mirror(&self, mirrored: Mirrored, base: &str) -> ChoreResult<Command> {
        Ok(self.mirrored()?.mirror(self.tofu_oci(&self.work.join("home")), mirrored, base))
    }

    pub(super) fn mirror_unchanged(&self) -> ChoreResult<Command> {
        self.mirror(Mirrored::Many, &self.fresh_repository(UNCHANGED, 0))
    }

    /// The module, made and published when it is first asked for.
    pub(super) fn modules(&self) -> ChoreResult<&ModuleBench> {
        if let Some(modules) = self.modules.get() {
            return Ok(modules);
        }
        let modules = ModuleBench::make(self.work, self.plain.address(), || self.tofu_oci(&self.work.join("home")))?;
        Ok(self.modules.get_or_init(|| modules))
    }

    /// The slow line. When it is first asked for, the package is published behind it in both forms, and each is locked.
    pub(super) fn slow_line(&self) -> ChoreResult<&DelayedLine> {
        if let Some(slow_line) = self.slow_line.get() {
            return Ok(slow_line);
        }
        let registry = self.plain.address();
        for layer in SlowLayer::ALL {
            let repository = format!("{registry}/{}", layer.repository());
            output(&mut self.push(&self.package.one, &repository, layer.options()))?;
            output(&mut self.install_from(&repository, &self.fresh(&layer.locked())?))?;
        }
        Ok(self.slow_line.get_or_init(|| line(registry)))
    }

    /// Installs the package over the slow line, with a lock file.
    pub(super) fn install_slowly(&self, layer: SlowLayer) -> ChoreResult<Command> {
        let line = self.slow_line()?.address();
        let (folder, name) = (self.fresh("slow-project")?, ".terraform.lock.hcl");
        fs::copy(self.work.join(layer.locked()).join(name), folder.join(name))?;
        Ok(self.install_from(&format!("{line}/{}", layer.repository()), &folder))
    }

    /// The zip over the slow line, to nowhere.
    pub(super) fn curl_slowly(&self) -> ChoreResult<Command> {
        let (line, repository) = (self.slow_line()?.address(), SlowLayer::Zip.repository());
        let mut command = Command::new("curl");
        command.args(["--silent", "--fail", "--http1.1", "--output", "/dev/null"]);
        command.arg(format!("http://{line}/v2/{repository}/blobs/{}", self.blob));
        Ok(command)
    }

    /// The package of a registry, to nowhere.
    pub(super) fn blob_curl(&self, wire: RealTransport) -> Command {
        let registry = if let RealTransport::Tls = wire { &self.tls } else { &self.plain };
        let mut command = self.curl(registry, &self.package.provider_type, &self.blob);
        command.args(["--output", "/dev/null"]);
        command
    }

    /// A blob of the TLS registry, to where the caller says.
    pub(super) fn tls_curl(&self, repository: &str, blob: &str) -> Command {
        self.curl(&self.tls, repository, blob)
    }

    fn curl(&self, registry: &RealRegistry, repository: &str, blob: &str) -> Command {
        let mut command = Command::new("curl");
        command.args(["--silent", "--fail", "--http1.1", "--cacert"]).arg(&self.ca);
        command.arg(format!("{}/v2/bench/{repository}/blobs/{blob}", registry.url()));
        command
    }

    /// The bridges, started when they are first asked for.
    pub(super) fn bridged(&self) -> ChoreResult<&BridgeBench> {
        if let Some(bridged) = self.bridged.get() {
            return Ok(bridged);
        }
        let repository = format!("{}/bench/{}", self.plain.address(), self.package.provider_type);
        output(&mut self.push(&self.package.one, &repository, &[]))?;
        let certificates = self.tls.certificates().ok_or_else(|| ChoreFailure::new("no certificates"))?;
        let registries = [&self.tls, &self.plain];
        let bridged = BridgeBench::make(self.work, &self.programs.tofu_oci, self.package, certificates, registries)?;
        Ok(self.bridged.get_or_init(|| bridged))
    }

    /// Prints how many requests `mirror` makes if the registry has every version.
    pub(super) fn print_requests(&self) -> ChoreResult {
        output(&mut self.mirror_unchanged()?)?;
        self.mirrored()?.take_log()?;
        let there = self.requests(&mut [self.mirror_unchanged()?])?;
        let origin = self.mirrored()?.take_log()?.len();
        println!("\n{UNCHANGED}: {origin} requests to the origin and {there} to the registry for {VERSIONS} versions");
        Ok(())
    }

    /// Runs a case once more, and counts the requests to both registries in it.
    pub(super) fn requests_of(&self, case: &BenchCase<'_>, round: usize) -> ChoreResult<usize> {
        self.requests(&mut (case.prepare)(round)?)
    }

    fn requests(&self, commands: &mut [Command]) -> ChoreResult<usize> {
        let registries = [&self.tls, &self.plain];
        let mut begins = Vec::new();
        for registry in registries {
            begins.push(self.whole_log(registry)?.len());
        }
        for command in commands {
            output(command)?;
        }
        let mut count = 0;
        for (registry, begin) in registries.into_iter().zip(begins) {
            let log = self.whole_log(registry)?;
            // The last one is the request that `whole_log` makes.
            count += log[begin..].lines().filter(|line| line.contains(" HTTP/1.1\" ")).count() - 1;
        }
        Ok(count)
    }

    /// What a registry has logged. The log comes through a pipe: after the line of one more request it is complete.
    fn whole_log(&self, registry: &RealRegistry) -> ChoreResult<String> {
        let begin = registry.output().len();
        let last = "/v2/no/such/tags/list";
        let url = format!("{}{last}", registry.url());
        Command::new("curl").args(["--silent", "--http1.1", "--cacert"]).arg(&self.ca).arg(url).output()?;
        loop {
            let log = registry.output();
            let line =
                log[begin..].split_inclusive('\n').find(|line| line.contains(&format!("\"GET {last} HTTP/1.1\"")));
            if line.is_some_and(|line| line.ends_with('\n')) {
                return Ok(log);
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    /// The origin, made when it is first asked for.
    pub(super) fn mirrored(&self) -> ChoreResult<&MirrorBench> {
        if let Some(origin) = self.mirrored.get() {
            return Ok(origin);
        }
        let certificates = self.tls.certificates().ok_or_else(|| ChoreFailure::new("no certificates"))?;
        let origin = MirrorBench::make(self.work, self.package, certificates, &self.ca)?;
        Ok(self.mirrored.get_or_init(|| origin))
    }

    /// The releases that are locked, made and pushed when they are first asked for.
    pub(super) fn releases(&self) -> ChoreResult<&Releases> {
        if let Some(releases) = self.locked.get() {
            return Ok(releases);
        }
        let releases = Releases::make(self.work, self.plain.address())?;
        for (dist, repository, address) in releases.pushes() {
            let mut command = self.tofu_oci(&self.work.join("home"));
            command.arg("push").arg(dist).arg(repository).args(["--address", &address]);
            output(command.arg("--sign-key").arg(releases.key()))?;
        }
        Ok(self.locked.get_or_init(|| releases))
    }
    /// An empty folder of this name.
    pub(super) fn fresh(&self, name: &str) -> ChoreResult<PathBuf> {
        let folder = self.work.join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    pub(super) fn fresh_repository(&self, name: &str, round: usize) -> String {
        let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        format!("{}/{name}/{round}", self.plain.address())
    }
}
