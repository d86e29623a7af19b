//! What is measured: our program, and what people use today, on the same bytes and the same registry.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::growth::{GrowthFamily, GrowthStep};
use super::lock;
use super::measure::{BenchCase, BenchClock, CaseSize, YARDSTICK, output};
use super::mirror::Mirrored;
use super::package::{BenchPackage, sha256};
use super::packed::{PackedBench, Packing, digest_after};
use super::parts::BenchPart;
use super::slow_line::SlowLayer;
use super::stage::{BenchStage, UNCHANGED};
use crate::failure::ChoreResult;
use crate::process::find;
use tofu_oci_testkit::RealTransport;

impl<'a> BenchStage<'a> {
    /// Every case that the machine's programs allow.
    pub(super) fn cases(&'a self) -> Vec<BenchCase<'a>> {
        let mut cases = self.install_cases();
        if self.programs.tofu.is_some() {
            cases.push(self.case("tofu init", BenchClock::Wall, |stage, _| Ok(vec![stage.tofu_init("tofu")?])));
            cases.push(self.case("tofu init, lock file", BenchClock::Wall, Self::tofu_init_locked));
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
        cases.extend(self.slow_line_cases());
        cases.extend(self.lock_cases());
        cases.extend(self.mirror_cases());
        cases.extend(self.bridge_cases());
        cases.extend(self.module_cases());
        cases.extend(self.growth_cases());
        if let Some(oras) = find("oras") {
            for (name, dist) in [("oras push one", &self.package.one), ("oras push all", &self.package.all)] {
                let oras = oras.clone();
                cases.push(self.case(name, BenchClock::Wall, move |stage, round| {
                    Ok(stage.oras(&oras, &BenchPackage::zips(dist)?, &stage.fresh_repository(name, round)))
                }));
            }
        }
        cases.extend(self.copy_cases());
        cases.push(self.case("sha256sum + curl PUT all", BenchClock::Wall, |stage, round| {
            let zips = BenchPackage::zips(&stage.package.all)?;
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

    /// A release from one registry to another.
    fn copy_cases(&'a self) -> Vec<BenchCase<'a>> {
        let mut cases = vec![self.case("copy", BenchClock::Wall, |stage, round| {
            Ok(vec![stage.copy(&stage.copied()?, &stage.fresh_repository("copy", round))])
        })];
        for copier in ["crane", "regctl", "oras"] {
            let Some(program) = find(copier) else { continue };
            cases.push(self.case(&format!("{copier} copy"), BenchClock::Wall, move |stage, round| {
                Ok(vec![stage.copy_with(copier, &program, &stage.fresh_repository(copier, round))?])
            }));
        }
        cases
    }

    /// The large package into a project, with nothing at hand and with much, and the parts of that work.
    fn install_cases(&'a self) -> Vec<BenchCase<'a>> {
        let mut cases = self.parts_cases();
        cases.extend([
            self.case("--version", BenchClock::Wall, |stage, _| {
                let mut command = stage.tofu_oci(stage.work);
                command.arg("--version");
                Ok(vec![command])
            })
            .small(),
            self.case("install, lock file", BenchClock::Wall, |stage, _| {
                let folder = stage.locked_project("install-lock")?;
                Ok(vec![stage.install(&folder)])
            }),
            self.case("install, kept in the cache", BenchClock::Wall, |stage, _| {
                let folder = stage.fresh("install-kept")?;
                Ok(vec![stage.install_with(&stage.fresh("cache-new")?, &folder)])
            }),
            // The projects stay.
            self.case("install, from the cache", BenchClock::Wall, |stage, round| {
                let cache = stage.filled_cache()?;
                Ok(vec![stage.install_with(&cache, &stage.locked_project(&format!("install-cached-{round}"))?)])
            })
            .small(),
            // A project is deleted before each, as a CI job cleans its workspace.
            self.case("install, project made anew", BenchClock::Wall, |stage, _| {
                let cache = stage.filled_cache()?;
                output(&mut stage.install_with(&cache, &stage.locked_project("install-anew")?))?;
                Ok(vec![stage.install_with(&cache, &stage.locked_project("install-anew")?)])
            })
            .small(),
            self.case("install, nothing recorded", BenchClock::Wall, |stage, round| {
                let cache = stage.filled_cache()?;
                // Other times of the files: their recorded checksums no longer count.
                output(Command::new("find").arg(&cache).args(["-type", "f", "-exec", "touch", "{}", "+"]))?;
                Ok(vec![stage.install_with(&cache, &stage.locked_project(&format!("install-hashed-{round}"))?)])
            }),
            self.case("install, already there", BenchClock::Wall, |stage, _| {
                let (cache, folder) = (stage.filled_cache()?, stage.locked_project("install-there")?);
                output(&mut stage.install_with(&cache, &folder))?;
                Ok(vec![stage.install_with(&cache, &folder)])
            })
            .small(),
            self.case("curl + unzip", BenchClock::Wall, Self::curl_unzip),
        ]);
        cases
    }

    pub(super) fn publish_stored(&self) -> ChoreResult<PackedBench> {
        let dist = self.fresh("dist-stored")?;
        let archive = dist.join(self.package.zip().file_name().unwrap_or_default());
        self.package.store(&archive)?;
        output(&mut self.push(&dist, &self.tls_repository("stored"), &[]))?;
        let blob = sha256(&archive)?;
        Ok(PackedBench { archive, repository: "stored".to_owned(), blob, locked: None })
    }

    pub(super) fn publish_small(&self) -> ChoreResult<PackedBench> {
        let repository = self.tls_repository("small");
        let report = output(&mut self.push(&self.package.one, &repository, &["--small", "--json"]))?;
        let blob = digest_after(r#""small":{"digest":""#, &report)?.to_owned();
        let (archive, project) = (self.work.join("small.tar.zst"), self.fresh("small-lock")?);
        output(self.tls_curl("small", &blob).arg("--output").arg(&archive))?;
        output(&mut self.install_from(&repository, &project))?;
        Ok(PackedBench { archive, repository: "small".to_owned(), blob, locked: Some(project) })
    }

    pub(super) fn publish_image(&self) -> ChoreResult<PackedBench> {
        let repository = self.tls_repository("image");
        let report = output(&mut self.push(&self.package.one, &repository, &["--layout", "image", "--json"]))?;
        let (blob, archive) = (digest_after(r#""layer":""#, &report)?.to_owned(), self.work.join("image.tar.gz"));
        output(self.tls_curl("image", &blob).arg("--output").arg(&archive))?;
        Ok(PackedBench { archive, repository: "image".to_owned(), blob, locked: None })
    }

    /// Installs the package in this form into an empty project.
    fn install_packed(&self, packing: Packing) -> ChoreResult<Command> {
        let packed = self.packed(packing)?;
        let folder = self.fresh("packed-project")?;
        if let Some(locked) = &packed.locked {
            let name = ".terraform.lock.hcl";
            fs::copy(locked.join(name), folder.join(name))?;
        }
        Ok(self.install_from(&self.tls_repository(&packed.repository), &folder))
    }

    /// The package in each form, and the parts of its installation.
    fn parts_cases(&'a self) -> Vec<BenchCase<'a>> {
        let part = |work, name, packing| self.part_case(work, name, packing);
        let common = [Packing::CRC, Packing::TAR].into_iter().chain(Packing::COMMON);
        let mut cases: Vec<_> = common.map(|(work, name)| part(work, name, Packing::Deflated)).collect();
        for packing in Packing::ALL {
            cases.extend(packing.decode().map(|(work, name)| part(work, name, packing)));
            cases.push(part(BenchPart::HashArchive, packing.hash(), packing));
            cases.push(self.case(packing.transport(), BenchClock::Wall, move |stage, _| {
                let packed = stage.packed(packing)?;
                let mut curl = stage.tls_curl(&packed.repository, &packed.blob);
                curl.args(["--output", "/dev/null"]);
                Ok(vec![curl])
            }));
            cases.push(
                self.case(packing.install(), BenchClock::Wall, move |stage, _| {
                    Ok(vec![stage.install_packed(packing)?])
                }),
            );
        }
        cases
    }

    fn part_case(&'a self, work: BenchPart, name: &str, packing: Packing) -> BenchCase<'a> {
        self.case(name, BenchClock::Printed, move |stage, _| {
            let mut command = Command::new(&stage.programs.xtask);
            command.arg("bench-part").arg(work.word()).arg(&stage.packed(packing)?.archive);
            command.arg(stage.fresh("part")?.join("written"));
            Ok(vec![command])
        })
    }

    /// The work that shows the machine's noise: one of the CPU, one of the disk.
    pub(super) fn noise_cases(&'a self) -> [BenchCase<'a>; 2] {
        [
            self.part_case(BenchPart::Inflate, YARDSTICK, Packing::Deflated),
            self.case("write 512 MiB and sync", BenchClock::Wall, |stage, _| {
                let mut command = Command::new("dd");
                command.args(["if=/dev/zero", "bs=1M", "count=512", "conv=fsync"]);
                command.arg(format!("of={}", stage.fresh("noise")?.join("written").display()));
                Ok(vec![command])
            }),
        ]
    }

    /// A real package over 100 Mbit/s; how much smaller a made one gets says nothing.
    fn slow_line_cases(&'a self) -> Vec<BenchCase<'a>> {
        if !self.package.is_real {
            return Vec::new();
        }
        let install = move |name, layer| {
            self.case(name, BenchClock::Wall, move |stage, _| Ok(vec![stage.install_slowly(layer)?]))
        };
        vec![
            install("100 Mbit/s: small layer", SlowLayer::Small),
            install("100 Mbit/s: zip", SlowLayer::Zip),
            self.case("100 Mbit/s: curl", BenchClock::Wall, |stage, _| Ok(vec![stage.curl_slowly()?])),
        ]
    }

    /// An empty project with the lock file of the large package.
    fn locked_project(&self, name: &str) -> ChoreResult<PathBuf> {
        let folder = self.fresh(name)?;
        fs::copy(&self.lock, folder.join(".terraform.lock.hcl"))?;
        Ok(folder)
    }

    /// Installs the large package with this package cache.
    fn install_with(&self, cache: &Path, folder: &Path) -> Command {
        let mut command = self.install(folder);
        command.env("TOFU_OCI_CACHE_DIR", cache);
        command
    }

    /// A package cache that has the large package; the project that it came from is still there.
    fn filled_cache(&self) -> ChoreResult<PathBuf> {
        let cache = self.work.join("cache-filled");
        if !cache.exists() {
            output(&mut self.install_with(&cache, &self.fresh("first-project")?))?;
        }
        Ok(cache)
    }

    /// More and more of one thing; each is published when it is first asked for.
    fn growth_cases(&'a self) -> Vec<BenchCase<'a>> {
        let case = |step: GrowthStep| {
            let case = self.case(&step.case(), BenchClock::Wall, move |stage, _| {
                let published = stage.work.join(step.case());
                if !published.exists() {
                    step.publish(stage.work, stage.plain.address(), &|| stage.tofu_oci(&stage.work.join("home")))?;
                    fs::create_dir(&published)?;
                }
                let folder = stage.fresh("growth-project")?;
                Ok(vec![step.install(stage.tofu_oci(&folder), &folder, stage.plain.address())?])
            });
            // One family is measured in one way: a hundred providers take longer than 100 ms.
            if step.family == GrowthFamily::Cores { case } else { case.small() }
        };
        GrowthStep::possible().map(case).collect()
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
            self.case("lock, signed", BenchClock::Wall, move |stage, _| lock(stage, lock::Trusted::Key)).small(),
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
            })
            .small(),
        ];
        if find("terraform").is_some() {
            cases.push(self.case("terraform mirror one", BenchClock::Wall, |stage, _| {
                Ok(vec![stage.mirrored()?.terraform(Mirrored::Large, &stage.fresh("terraform")?)?])
            }));
            let unchanged = self.case("terraform mirror 1, unchanged", BenchClock::Wall, |stage, _| {
                let folder = stage.fresh("terraform")?;
                output(&mut stage.mirrored()?.terraform(Mirrored::Many, &folder)?)?;
                Ok(vec![stage.mirrored()?.terraform(Mirrored::Many, &folder)?])
            });
            cases.push(unchanged.small());
        }
        cases
    }
    /// One large package through the bridge and from the registry itself; `run` and a static mirror.
    fn bridge_cases(&'a self) -> Vec<BenchCase<'a>> {
        let mut cases = Vec::new();
        for (suffix, wire) in [(", TLS", RealTransport::Tls), ("", RealTransport::Plain)] {
            cases.push(self.case(&format!("bridge: registry{suffix}"), BenchClock::Wall, move |stage, _| {
                stage.bridged()?;
                Ok(vec![stage.blob_curl(wire)])
            }));
            cases.push(self.case(&format!("bridge: package{suffix}"), BenchClock::Wall, move |stage, _| {
                Ok(vec![stage.bridged()?.download(wire)])
            }));
        }
        cases.push(self.case("bridge: package on disk, TLS", BenchClock::Wall, |stage, _| {
            Ok(vec![stage.bridged()?.download_kept()])
        }));
        let has_nginx = find("nginx").is_some();
        if has_nginx {
            cases.push(self.case("bridge: nginx, TLS", BenchClock::Wall, |stage, _| {
                Ok(vec![stage.bridged()?.download_from_nginx()?])
            }));
        }
        if find("terraform").is_some() && has_nginx {
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

    fn case(
        &'a self,
        name: &str,
        clock: BenchClock,
        prepare: impl Fn(&'a Self, usize) -> ChoreResult<Vec<Command>> + 'a,
    ) -> BenchCase<'a> {
        let prepare = Box::new(move |round| prepare(self, round));
        BenchCase { name: name.to_owned(), clock, prepare, size: CaseSize::Large }
    }
}
