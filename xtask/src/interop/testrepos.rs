//! The repositories of `testdata/testrepos`, most of them broken, give the same results from a directory and over HTTP
//! from a server that checks nothing.
//!
//! What it decides, and where that differs from `OpenTofu`, is a test of the installer (`real_repositories.rs`).

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tofu_oci_testkit::Registry;

use super::lab::{Lab, seen, text};
use super::registries::ADDRESS;
use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::paths;
use crate::process::find;
use crate::served::free_port;

/// Refused both ways with different messages: a registry reports the fault here, a file system there.
const OTHER_WORDS: &[&str] = &["blob-missing", "index-not-json", "layer-size-more", "leaf-missing"];

/// The version and platform that every repository is about.
const PLATFORM: &str = "linux_amd64";

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let folder = paths::testdata().join("testrepos");
    let cases = cases(&folder)?;
    let server = RegistryProgram::start(&folder, &cases)?;
    let mut installed = 0;
    for case in &cases {
        let over_http = decide(lab, &format!("{}/{case}", server.address()), case)?;
        let from_folder = decide(lab, &format!("oci:{}", text(&folder.join(case))), case)?;
        let alike = over_http.code == from_folder.code
            && over_http.files == from_folder.files
            && (over_http.said == from_folder.said || OTHER_WORDS.contains(&case.as_str()));
        if !alike {
            return Err(ChoreFailure::new(format!(
                "{case} is decided in two ways\nover HTTP: {over_http:?}\nfrom the folder: {from_folder:?}"
            )));
        }
        match over_http.code {
            Some(0) => installed += 1,
            Some(1) if over_http.files.is_empty() => {}
            _ => {
                return Err(ChoreFailure::new(format!(
                    "{case} is neither installed nor refused cleanly: {over_http:?}"
                )));
            }
        }
    }
    let refused = cases.len() - installed;
    let by = server.name();
    seen(&format!("{installed} repositories are installed and {refused} refused, served by {by} as from a directory"));
    Ok(())
}

/// The names of the repositories.
fn cases(folder: &Path) -> ChoreResult<Vec<String>> {
    let file = std::fs::read(folder.join("expected.json")).doing(|| "reading expected.json".to_owned())?;
    let cases: Vec<serde_json::Value> = serde_json::from_slice(&file)?;
    let names: Option<Vec<String>> = cases.iter().map(|case| case["case"].as_str().map(str::to_owned)).collect();
    names.filter(|names| names.len() >= 39).ok_or_else(|| ChoreFailure::new("expected.json lacks repositories"))
}

/// The program's result for a repository.
#[derive(Debug)]
struct Decision {
    code: Option<i32>,
    /// Both streams up to the hints, with one name for the repository and one for the working directory.
    said: String,
    /// What lies in the working directory afterwards.
    files: Vec<PathBuf>,
}

fn decide(lab: &Lab, place: &str, case: &str) -> ChoreResult<Decision> {
    let folder = lab.new_folder(case)?;
    let project = text(&folder);
    let install = ["install", ADDRESS, "--from", place, "--platform", PLATFORM, "--chdir", &project];
    // Manifests of other repositories are not those of this one.
    let cache = lab.new_folder("cache")?;
    let printed = lab.stranger(&install).variable("XDG_CACHE_HOME", cache).output()?;
    let all = printed.all().replace(place, "PLACE").replace(&project, "PROJECT");
    // A hint says what to do about a registry, or about a directory.
    let said = all.split("\n\nhint:").next().unwrap_or_default().to_owned();
    Ok(Decision { code: printed.code, said, files: paths::files_below(&folder)? })
}

/// A server of layouts that checks nothing; dropping it ends it.
enum RegistryProgram {
    /// `ociserve.py`, which has no code of this project, where it lies beside the checkout.
    Script { child: Child, address: String },
    /// The registry of the testkit.
    Testkit(Registry),
}

impl RegistryProgram {
    fn start(folder: &Path, cases: &[String]) -> ChoreResult<Self> {
        let script = paths::root().join("../shared/tools/ociserve.py");
        if let Some(python) = find("python3").filter(|_| script.is_file()) {
            return Self::script(&python, &script, folder);
        }
        let registry = Registry::start();
        for case in cases {
            registry.put_layout(case, &folder.join(case));
        }
        Ok(Self::Testkit(registry))
    }

    fn script(python: &Path, script: &Path, folder: &Path) -> ChoreResult<Self> {
        let port = free_port()?;
        let mut child = Command::new(python)
            .arg(script)
            .arg(folder)
            .args(["--port", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .doing(|| "starting ociserve.py".to_owned())?;
        let stdout = child.stdout.take();
        let server = Self::Script { child, address: format!("127.0.0.1:{port}") };
        let first = stdout.and_then(|stdout| BufReader::new(stdout).lines().next()).transpose()?;
        if first.as_deref() == Some("ready") {
            Ok(server)
        } else {
            Err(ChoreFailure::new("ociserve.py does not start"))
        }
    }

    fn address(&self) -> &str {
        match self {
            Self::Script { address, .. } => address,
            Self::Testkit(registry) => registry.address(),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Script { .. } => "ociserve.py",
            Self::Testkit(_) => "the testkit's registry",
        }
    }
}

impl Drop for RegistryProgram {
    fn drop(&mut self) {
        if let Self::Script { child, .. } = self {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
