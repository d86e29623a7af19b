//! The package of a module, byte for byte. Everything here blocks.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tofu_oci_archive::{
    Limits, PackableModule, WrittenZip, all_module_files, module_files, read_zip, windows_refusal, write_zip,
};
use tofu_oci_disk::{Purpose, Scratch};
use tofu_oci_layout::{ModulePlan, ModuleZip, annotation, plan_module};
use tofu_oci_types::{Digest, Version};

use super::checks::{CheckedModule, check};
use super::report::{LeftOutFile, ModuleContents};
use super::request::{ModuleChecks, PackedFiles};
use crate::PackError;
use crate::error::ModuleFault;

/// The names under which a README is looked for in the root of a package, in any case.
const READMES: [&str; 3] = ["readme.md", "readme", "readme.txt"];

/// What a module's package is made of.
pub(super) struct BuildJob {
    pub(super) dir: PathBuf,
    pub(super) checks: ModuleChecks,
    pub(super) version: Version,
    pub(super) annotations: BTreeMap<String, String>,
    pub(super) work_dir: PathBuf,
}

/// A module ready to be sent.
pub(super) struct BuiltModule {
    pub(super) plan: ModulePlan,
    pub(super) contents: ModuleContents,
    /// What the checks found; nothing if they were not made.
    pub(super) checked: CheckedModule,
    /// Names that Windows cannot hold, each with the reason.
    pub(super) not_for_windows: Vec<(String, &'static str)>,
    pub(super) path: PathBuf,
    /// Where the zip lies, until the last owner lets go.
    _scratch: Arc<Scratch>,
}

/// Packs the folder, and reads the package back as an installer would.
pub(super) fn build(job: &BuildJob, folder: &PackableModule) -> Result<BuiltModule, PackError> {
    let BuildJob { dir, checks, version, annotations, work_dir } = job;
    let failed = |error| PackError::archive(dir, error);
    let scratch = Scratch::temporary(work_dir, Purpose::Push)
        .map_err(|error| PackError::io("create a folder in", work_dir, error))?;
    let checked = match checks {
        ModuleChecks::Run => check(&folder.files, &scratch.path().join("checked"))?,
        ModuleChecks::Skip => CheckedModule::default(),
    };
    let not_for_windows =
        folder.files.iter().filter_map(|file| Some((file.name.clone(), windows_refusal(&file.name)?)));
    let not_for_windows = not_for_windows.collect();
    let path = scratch.path().join("module.zip");
    let WrittenZip { digest, size, contents } = write_zip(&folder.files, &path).map_err(failed)?;
    let limits = Limits::default();
    limits.check_packed(size).map_err(failed)?;
    let h1 = read_zip(&path, &limits).map_err(failed)?.h1();
    let mut annotations = annotations.clone();
    let mut annotate = |key: &str, value: String| annotations.insert(key.to_owned(), value);
    annotate(annotation::MODULE_VERSION, version.to_string());
    annotate(annotation::IMAGE_VERSION, version.to_string());
    annotate(annotation::MODULE_H1, h1.to_string());
    let named = |name: &&str| contents.files().iter().find(|file| file.name.eq_ignore_ascii_case(name));
    if let Some(readme) = READMES.iter().find_map(named) {
        annotate(annotation::MODULE_README, Digest::from_sha256(readme.sha256).to_string());
    }
    // The same name at every place, so that a copy has the same digest as a push.
    let filename = format!("module_{version}.zip");
    let plan = plan_module(&ModuleZip { digest: digest.clone(), size, filename }, &annotations);
    let left_out = folder.left_out.iter().map(|out| LeftOutFile {
        name: out.name.clone(),
        reason: out.reason.code(),
        text: out.reason.to_string(),
    });
    let contents = ModuleContents {
        zip: digest,
        size,
        files: folder.files.len(),
        h1,
        annotations,
        ignore_file: folder.ignore_file,
        left_out: left_out.collect(),
    };
    Ok(BuiltModule { plan, contents, checked, not_for_windows, path, _scratch: Arc::new(scratch) })
}

/// The files of the folder.
pub(super) fn files(dir: &Path, files: PackedFiles) -> Result<PackableModule, PackError> {
    let path = || dir.to_owned();
    match std::fs::metadata(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(ModuleFault::NoFolder { path: path() }.into()),
        Err(error) => return Err(PackError::io("read", dir, error)),
        Ok(metadata) if !metadata.is_dir() => return Err(ModuleFault::NotAFolder { path: path() }.into()),
        Ok(_) => {}
    }
    let limits = Limits::default();
    let found = match files {
        PackedFiles::Chosen => module_files(dir, &limits),
        PackedFiles::All => all_module_files(dir, &limits),
    };
    found.map_err(|error| PackError::archive(dir, error))
}
