//! `modules.toml`: the repositories in which the modules of registries are kept. Read before any request is made.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tofu_oci_mapper::{ModuleMirrors, ModuleMirrorsError, TemplatePlace};
use tofu_oci_remote::RegistryClient;
use tofu_oci_store::{DirStore, ReadStore};

use crate::args::{ModuleMappingArgs, PredecessorArgs};
use crate::diagnostic::{Diagnostic, settings_fault, settings_text};

/// The name of the mapping in the directory of the configuration.
const MAPPING_FILE: &str = "modules.toml";

/// The mapping of a directory; an empty one if there is no file.
pub(crate) fn load(
    args: &ModuleMappingArgs,
    predecessors: &PredecessorArgs,
    dir: &Path,
) -> Result<ModuleMirrors, Diagnostic> {
    let Some(path) = mapping_file(args, dir) else { return Ok(ModuleMirrors::default()) };
    let hint = "modules.toml is looked for beside the configuration; --modules names another file";
    let text = settings_text(&path, "the mapping of modules", "module-mapping-unreadable", hint)?;
    match ModuleMirrors::parse(&text, &predecessors.all()) {
        Ok(mirrors) => Ok(mirrors.read_from(&path)),
        Err(error) => Err(broken(&path, &text, &error)),
    }
}

/// The repository or folder that a module is kept in. Nothing is asked yet.
pub(crate) fn kept_in(client: &Arc<RegistryClient>, place: TemplatePlace) -> Arc<dyn ReadStore> {
    match place {
        TemplatePlace::Registry(repository) => Arc::new(client.store(repository)),
        TemplatePlace::Layout(dir) => Arc::new(DirStore::open_later(dir)),
    }
}

/// The file of a directory, or `None` if the directory has no such file. A broken link counts as a file that cannot be read.
pub(crate) fn mapping_file(args: &ModuleMappingArgs, dir: &Path) -> Option<PathBuf> {
    let beside = if dir == Path::new(".") { PathBuf::from(MAPPING_FILE) } else { dir.join(MAPPING_FILE) };
    args.modules_file.clone().or_else(|| Some(beside).filter(|path| path.symlink_metadata().is_ok()))
}

/// The fault with its line, shown as errors of the CLI configuration are.
fn broken(path: &Path, text: &str, error: &ModuleMirrorsError) -> Diagnostic {
    settings_fault(path, text, error.span.as_ref(), &error.to_string())
        .code("module-mapping-invalid")
        .more_hints(error.problem.instead())
        .hint("every member of the file: tofu-oci help modules")
}
