//! What is measured: our program, and what people use today, on the same bytes and the same registry.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tofu_oci_testkit::{RealMode, RealRegistry};

use super::bridge::{BenchWire, BridgeBench};
use super::lock::{self, Releases};
use super::measure::{BenchCase, BenchClock, output};
use super::mirror::{MirrorBench, Mirrored, VERSIONS, logged};
use super::module::ModuleBench;
use super::package::{BenchPackage, sha256};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::paths;
use crate::process::find;

/// The case whose requests are counted.
pub(super) const UNCHANGED: &str = "mirror 100, unchanged";

/// The programs in their release builds.
pub(super) struct Programs {
    tofu_oci: PathBuf,
    xtask: PathBuf,
    tofu: Option<PathBuf>,
}

impl Programs {
    /// Our program.
    pub(super) fn tofu_oci(&self) -> &Path {
        &self.tofu_oci
    }

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
    programs: &'a Programs,
    package: &'a BenchPackage,
    work: &'a Path,
    tls: RealRegistry,
    plain: RealRegistry,
    ca: PathBuf,
    blob: String,
    lock: PathBuf,
    locked: OnceCell<Releases>,
    mirrored: OnceCell<MirrorBench>,
    bridged: OnceCell<BridgeBench>,
    modules: OnceCell<ModuleBench>,
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
        };
        let report = output(&mut stage.push(&package.one, &stage.release(), &["--json"]))?;
        let zip = report.split('"').find(|word| word.starts_with("zh:")).map(|hash| hash.replace("zh:", "sha256:"));
        stage.blob = zip.ok_or_else(|| ChoreFailure::new(format!("push reported no zh: checksum: {report}")))?;
        let folder = work.join("lock");
        fs::create_dir_all(&folder)?;
        output(&mut stage.install(&folder))?;
        Ok(stage)
    }

    fn release(&self) -> String {
        format!("{}/bench/{}", self.tls.address(), self.package.provider_type)
    }

    fn tofu_oci(&self, home: &Path) -> Command {
        let mut command = Command::new(&self.programs.tofu_oci);
        command.env("HOME", home).env("XDG_CACHE_HOME", home.join("cache")).env("TOFU_OCI_CA_FILE", &self.ca);
        command.env("TOFU_OCI_CACHE_DIR", "");
        command
    }

    fn push(&self, dist: &Path, repository: &str, more: &[&str]) -> Command {
        let mut command = self.tofu_oci(&self.work.join("home"));
        command.arg("push").arg(dist).arg(repository).args(["--address", &self.package.address()]);
        command.args(["--version", &self.package.version]).args(more);
        command
    }

    fn install(&self, folder: &Path) -> Command {
        let mut command = self.tofu_oci(&self.work.join("home"));
        command.arg("install").arg(self.package.address()).args(["--from", &self.release()]);
        command.args(["--platform", "linux_amd64", "--chdir"]).arg(folder);
        command
    }

    /// Every case that the machine's programs allow.
    pub(super) fn cases(&'a self) -> Vec<BenchCase<'a>> {
        let mut cases = vec![
            self.case("inflate to nowhere", BenchClock::Printed, |stage, _| {
                let mut command = Command::new(&stage.programs.xtask);
                command.arg("bench-inflate").arg(stage.package.zip());
                Ok(vec![command])
            }),
            self.case("install", BenchClock::Wall, |stage, _| Ok(vec![stage.install(&stage.fresh("install")?)])),
            self.case("install, lock file", BenchClock::Wall, |stage, _| {
                let folder = stage.fresh("install-lock")?;
                fs::copy(&stage.lock, folder.join(".terraform.lock.hcl"))?;
                Ok(vec![stage.install(&folder)])
            }),
            self.case("curl + unzip", BenchClock::Wall, Self::curl_unzip),
        ];
        if self.programs.tofu.is_some() {
            cases.push(self.case("tofu init", BenchClock::Wall, Self::tofu_init));
        }
        cases.push(self.case("curl PUT one", BenchClock::Wall, |stage, round| {
            stage.curl_put(&[stage.package.zip()], &format!("curl-one/{round}"))
        }));
        for (name, dist, more) in [
            ("push one, no h1", &self.package.one, ["--h1", "skip"]),
            ("push one, h1 computed", &self.package.one, ["--h1", "compute"]),
            ("push all, no h1", &self.package.all, ["--h1", "skip"]),
            ("push all, h1 computed", &self.package.all, ["--h1", "compute"]),
        ] {
            cases.push(self.case(name, BenchClock::Wall, move |stage, round| {
                let repository = stage.fresh_repository(name, round);
                // A fresh home has no memo of h1 checksums.
                let home = stage.fresh("home-push")?;
                let mut command = stage.push(dist, &repository, &more);
                command.env("HOME", &home).env("XDG_CACHE_HOME", home.join("cache"));
                Ok(vec![command])
            }));
        }
        cases.push(self.case("push all, h1 remembered", BenchClock::Wall, |stage, round| {
            let first = stage.fresh_repository("remember", round);
            output(&mut stage.push(&stage.package.all, &first, &["--dry-run"]))?;
            let repository = stage.fresh_repository("remembered", round);
            Ok(vec![stage.push(&stage.package.all, &repository, &[])])
        }));
        cases.push(self.case("push all, unchanged", BenchClock::Wall, |stage, _| {
            let repository = stage.fresh_repository("unchanged", 0);
            output(&mut stage.push(&stage.package.all, &repository, &[]))?;
            Ok(vec![stage.push(&stage.package.all, &repository, &[])])
        }));
        cases.extend(self.cache_cases());
        cases.extend(self.lock_cases());
        cases.extend(self.mirror_cases());
        cases.extend(self.bridge_cases());
        cases.extend(self.module_cases());
        cases.push(self.case("sha256sum + curl PUT all", BenchClock::Wall, |stage, round| {
            let zips = stage.package.zips()?;
            // A push by hand needs the digest first.
            let sums = zips.iter().map(|zip| {
                let mut sum = Command::new("sha256sum");
                sum.arg(zip);
                sum
            });
            let puts = stage.curl_put(&zips, &format!("curl-all/{round}"))?;
            Ok(sums.chain(puts).collect())
        }));
        cases
    }

    /// Five providers on ten platforms: from a signed index alone, and by everything that is downloaded without it.
    fn lock_cases(&'a self) -> [BenchCase<'a>; 3] {
        let lock = |stage: &'a Self, policy| {
            let folder = stage.fresh("lock-many")?;
            let mut command = stage.tofu_oci(&folder);
            stage.releases()?.configure(&folder, policy)?;
            command.arg("lock").arg("--chdir").arg(&folder).env("TF_CLI_CONFIG_FILE", folder.join("rc"));
            Ok(vec![command])
        };
        [
            self.case("lock, signed", BenchClock::Wall, move |stage, _| lock(stage, lock::Trusted::Key)),
            self.case("lock, unsigned", BenchClock::Wall, move |stage, _| lock(stage, lock::Trusted::Nobody)),
            self.case("curl + sha256sum", BenchClock::Wall, |stage, _| {
                let folder = stage.fresh("curl-many")?;
                Ok(stage.releases()?.download(&folder))
            }),
        ]
    }

    /// One large package from an origin into a registry, and many versions that are there already.
    fn mirror_cases(&'a self) -> Vec<BenchCase<'a>> {
        let into = move |name, mirrored| {
            self.case(name, BenchClock::Wall, move |stage, round| {
                Ok(vec![stage.mirror(mirrored, &stage.fresh_repository(name, round))?])
            })
        };
        let mut cases = vec![
            into("mirror one", Mirrored::Large),
            into("mirror 100", Mirrored::Many),
            self.case("curl | curl", BenchClock::Wall, |stage, round| {
                let upload = stage.upload(&format!("piped/{round}"))?;
                Ok(vec![stage.mirrored()?.curl_to_curl(&upload)])
            }),
            self.case(UNCHANGED, BenchClock::Wall, |stage, _| {
                let (mut first, again) = (stage.mirror_unchanged()?, stage.mirror_unchanged()?);
                output(&mut first)?;
                Ok(vec![again])
            }),
        ];
        if find("terraform").is_some() {
            cases.push(self.case("terraform mirror one", BenchClock::Wall, |stage, _| {
                Ok(vec![stage.mirrored()?.terraform(Mirrored::Large, &stage.fresh("terraform")?)?])
            }));
            cases.push(self.case("terraform mirror 1, unchanged", BenchClock::Wall, |stage, _| {
                let folder = stage.fresh("terraform")?;
                output(&mut stage.mirrored()?.terraform(Mirrored::Many, &folder)?)?;
                Ok(vec![stage.mirrored()?.terraform(Mirrored::Many, &folder)?])
            }));
        }
        cases
    }

    fn mirror(&self, mirrored: Mirrored, base: &str) -> ChoreResult<Command> {
        Ok(self.mirrored()?.mirror(self.tofu_oci(&self.work.join("home")), mirrored, base))
    }

    fn mirror_unchanged(&self) -> ChoreResult<Command> {
        self.mirror(Mirrored::Many, &self.fresh_repository(UNCHANGED, 0))
    }

    /// One large package through the bridge and from the registry itself; `run` and a static mirror.
    fn bridge_cases(&'a self) -> Vec<BenchCase<'a>> {
        let mut cases = Vec::new();
        for (suffix, wire) in [(", TLS", BenchWire::Tls), ("", BenchWire::Plain)] {
            cases.push(self.case(&format!("bridge: registry{suffix}"), BenchClock::Wall, move |stage, _| {
                stage.bridged()?;
                Ok(vec![stage.blob_curl(wire)])
            }));
            cases.push(self.case(&format!("bridge: package{suffix}"), BenchClock::Wall, move |stage, _| {
                Ok(vec![stage.bridged()?.download(wire)])
            }));
        }
        if find("terraform").is_some() {
            cases.push(self.case("bridge: init, static mirror", BenchClock::Wall, |stage, _| {
                Ok(vec![stage.bridged()?.init_from_nginx(&stage.fresh("static-init")?)?])
            }));
            cases.push(self.case("bridge: run -- init", BenchClock::Wall, |stage, _| {
                let folder = stage.fresh("run-init")?;
                Ok(vec![stage.bridged()?.run_init(stage.tofu_oci(&folder), &folder)?])
            }));
        }
        cases
    }

    /// A module of 50 MB, published and fetched.
    /// The package cache: filled, used by a second project, and an installation that finds everything in its place.
    fn cache_cases(&'a self) -> Vec<BenchCase<'a>> {
        let cached = |stage: &Self, cache: &Path, project: &Path| {
            let mut command = stage.install(project);
            command.env("TOFU_OCI_CACHE_DIR", cache);
            command
        };
        vec![
            self.case("install, kept in the cache", BenchClock::Wall, move |stage, _| {
                Ok(vec![cached(stage, &stage.fresh("cache-new")?, &stage.fresh("install-kept")?)])
            }),
            self.case("install from the cache", BenchClock::Wall, move |stage, _| {
                let cache = stage.work.join("cache");
                output(&mut cached(stage, &cache, &stage.fresh("install-first")?))?;
                Ok(vec![cached(stage, &cache, &stage.fresh("install-second")?)])
            }),
            self.case("install, in its place", BenchClock::Wall, move |stage, _| {
                let (cache, project) = (stage.work.join("cache"), stage.fresh("install-there")?);
                output(&mut cached(stage, &cache, &project))?;
                Ok(vec![cached(stage, &cache, &project)])
            }),
        ]
    }

    fn module_cases(&'a self) -> Vec<BenchCase<'a>> {
        let mut cases = vec![
            self.case("module: push", BenchClock::Wall, |stage, round| {
                let home = stage.work.join("home");
                Ok(vec![stage.modules()?.push(stage.tofu_oci(&home), &format!("modules/push/{round}"))])
            }),
            self.case("module: pull", BenchClock::Wall, |stage, _| {
                let folder = stage.fresh("module-pull")?;
                Ok(vec![stage.modules()?.pull(stage.tofu_oci(&folder), &folder.join("module"))])
            }),
            self.case("module: curl + unzip", BenchClock::Wall, |stage, _| {
                Ok(stage.modules()?.curl_unzip(&stage.fresh("module-curl")?))
            }),
        ];
        if let (Some(oras), Some(_)) = (find("oras"), find("zip")) {
            cases.push(self.case("module: zip + oras push", BenchClock::Wall, move |stage, round| {
                let folder = stage.fresh("module-oras")?;
                Ok(stage.modules()?.oras(&oras, &folder, &format!("modules/oras/{round}")))
            }));
        }
        cases
    }

    /// The module, made and published when it is first asked for.
    fn modules(&self) -> ChoreResult<&ModuleBench> {
        if let Some(modules) = self.modules.get() {
            return Ok(modules);
        }
        let modules = ModuleBench::make(self.work, self.plain.address(), || self.tofu_oci(&self.work.join("home")))?;
        Ok(self.modules.get_or_init(|| modules))
    }

    /// The package of a registry, to nowhere.
    fn blob_curl(&self, wire: BenchWire) -> Command {
        let registry = if let BenchWire::Tls = wire { &self.tls } else { &self.plain };
        let mut command = Command::new("curl");
        command.args(["--silent", "--fail", "--http1.1", "--output", "/dev/null", "--cacert"]).arg(&self.ca);
        command.arg(format!("{}/v2/bench/{}/blobs/{}", registry.url(), self.package.provider_type, self.blob));
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
        let there = logged(&mut self.mirror_unchanged()?, self.plain.address(), || self.plain.output())?;
        let origin = self.mirrored()?.take_log()?.len();
        println!("\n{UNCHANGED}: {origin} requests to the origin and {there} to the registry for {VERSIONS} versions");
        Ok(())
    }

    /// The origin, made when it is first asked for.
    fn mirrored(&self) -> ChoreResult<&MirrorBench> {
        if let Some(origin) = self.mirrored.get() {
            return Ok(origin);
        }
        let certificates = self.tls.certificates().ok_or_else(|| ChoreFailure::new("no certificates"))?;
        let origin = MirrorBench::make(self.work, self.package, certificates, &self.ca)?;
        Ok(self.mirrored.get_or_init(|| origin))
    }

    /// The releases that are locked, made and pushed when they are first asked for.
    fn releases(&self) -> ChoreResult<&Releases> {
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

    fn case(
        &'a self,
        name: &str,
        clock: BenchClock,
        prepare: impl Fn(&'a Self, usize) -> ChoreResult<Vec<Command>> + 'a,
    ) -> BenchCase<'a> {
        BenchCase { name: name.to_owned(), clock, prepare: Box::new(move |round| prepare(self, round)) }
    }

    /// An empty folder of this name.
    fn fresh(&self, name: &str) -> ChoreResult<PathBuf> {
        let folder = self.work.join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    fn fresh_repository(&self, name: &str, round: usize) -> String {
        let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        format!("{}/{name}/{round}", self.plain.address())
    }

    fn curl_unzip(&self, _round: usize) -> ChoreResult<Vec<Command>> {
        let folder = self.fresh("curl")?;
        let url = format!("https://{}/v2/bench/{}/blobs/{}", self.tls.address(), self.package.provider_type, self.blob);
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--fail", "--http1.1", "--cacert"])
            .arg(&self.ca)
            .arg("-o")
            .arg(folder.join("p.zip"))
            .arg(url);
        let mut unzip = Command::new("unzip");
        unzip.arg("-q").arg(folder.join("p.zip")).arg("-d").arg(folder.join("unpacked"));
        Ok(vec![curl, unzip])
    }

    fn tofu_init(&self, _round: usize) -> ChoreResult<Vec<Command>> {
        let folder = self.fresh("tofu")?;
        let (address, version) = (self.package.address(), &self.package.version);
        let required = format!("x = {{ source = \"{address}\", version = \"{version}\" }}");
        fs::write(folder.join("main.tf"), format!("terraform {{ required_providers {{ {required} }} }}\n"))?;
        let template = format!("{}/bench/${{type}}", self.tls.address());
        let include = "include = [\"registry.example.test/bench/*\"]";
        fs::write(
            folder.join("rc"),
            format!(
                "provider_installation {{\n  oci_mirror {{\n    repository_template = \"{template}\"\n    {include}\n  }}\n}}\n"
            ),
        )?;
        let mut command = Command::new(self.programs.tofu.as_ref().ok_or_else(|| ChoreFailure::new("no tofu"))?);
        command.arg("init").current_dir(&folder).env("SSL_CERT_FILE", &self.ca);
        command.env("TF_CLI_CONFIG_FILE", folder.join("rc")).env("CHECKPOINT_DISABLE", "1").env("HOME", &folder);
        Ok(vec![command])
    }

    /// One POST (not timed) and one PUT a file, one after the other: what a careful script does today.
    fn curl_put(&self, zips: &[PathBuf], repository: &str) -> ChoreResult<Vec<Command>> {
        let mut commands = Vec::new();
        for zip in zips {
            let location = self.upload(repository)?;
            let digest = sha256(zip)?;
            let mut put = Command::new("curl");
            put.args(["--silent", "--fail", "-X", "PUT", "-H", "Content-Type: application/octet-stream", "-T"]);
            put.arg(zip).arg(format!("{location}&digest={digest}"));
            commands.push(put);
        }
        Ok(commands)
    }

    /// Where a new upload goes.
    fn upload(&self, repository: &str) -> ChoreResult<String> {
        let url = format!("http://{}/v2/{repository}/blobs/uploads/", self.plain.address());
        let head = output(Command::new("curl").args(["--silent", "--fail", "-X", "POST", "-D", "-", &url]))?;
        head.lines()
            .find_map(|line| line.split_once(": ").filter(|(name, _)| name.eq_ignore_ascii_case("location")))
            .map(|(_, location)| location.trim().to_owned())
            .ok_or_else(|| ChoreFailure::new("the registry gave no Location"))
    }
}
