//! Builds `testdata/provider` and packs it as a release: a folder of zips a version.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::lab::{Lab, text};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::paths;
use crate::process::{ProgramRun, find};

/// The platforms of the release, and the machine that runs the stage has to be one of them.
const PLATFORMS: &[(&str, &str)] = &[("linux", "amd64"), ("linux", "arm64"), ("darwin", "arm64")];

/// Builds a version for all platforms; the folder with the release zips.
pub(super) fn release(lab: &Lab, version: &str) -> ChoreResult<PathBuf> {
    let folder = lab.new_folder(&format!("demo-{version}"))?;
    for (os, arch) in PLATFORMS {
        let executable = lab.new_folder("build")?.join(format!("terraform-provider-demo_v{version}"));
        build(version, os, arch, &executable)?;
        pack(&executable, &folder.join(format!("terraform-provider-demo_{version}_{os}_{arch}.zip")))?;
    }
    Ok(folder)
}

fn build(version: &str, os: &str, arch: &str, executable: &Path) -> ChoreResult {
    let go = find("go").ok_or_else(|| ChoreFailure::new("go is not on the PATH"))?;
    ProgramRun::inheriting(go)
        .args(["build", "-trimpath", "-ldflags", &format!("-s -w -X main.version={version}"), "-o"])
        .args([text(executable).as_str(), "."])
        .variable("CGO_ENABLED", "0")
        .variable("GOFLAGS", "-mod=mod")
        .variable("GOOS", os)
        .variable("GOARCH", arch)
        .directory(&paths::testdata().join("provider"))
        .success()?;
    Ok(())
}

/// Writes a release zip of one executable.
pub(super) fn pack(executable: &Path, zip: &Path) -> ChoreResult {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    let mut writer = ZipWriter::new(File::create(zip)?);
    writer.start_file("README.md", options.unix_permissions(0o644))?;
    writer.write_all(b"# Provider demo\n\nIts data source returns its version.\n")?;
    let name = executable.file_name().unwrap_or_default().to_string_lossy();
    writer.start_file(name, options.unix_permissions(0o755))?;
    io::copy(&mut File::open(executable)?, &mut writer)?;
    writer.finish()?;
    Ok(())
}
