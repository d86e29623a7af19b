//! The modules that `serve` has: the repositories that the settings name, opened anew for each question.

use std::path::PathBuf;
use std::sync::Arc;

use tofu_oci_bridge::{OpenModules, ServedModulePlace, ServedModules};
use tofu_oci_mapper::ModuleRepositories;

use super::settings::Settings;
use crate::connect::Connector;
use crate::diagnostic::Diagnostic;
use crate::ends::LAYOUT_MARK;
use crate::invocation;
use crate::modules::kept_in;

/// Opens every place of modules. No registry is asked yet.
pub(super) fn open(settings: &Settings, connector: &Connector) -> Result<Vec<ServedModulePlace>, Diagnostic> {
    let place = |served: &ServedModules| {
        let repositories = repositories(settings, served)?;
        let (include, exclude) = (served.include.clone(), served.exclude.clone());
        let open = open_modules(repositories, connector)?;
        Ok(ServedModulePlace { include, exclude, open, locations: served.locations, renamed: served.renamed })
    };
    settings.config.modules.iter().map(place).collect()
}

/// The repositories that `from` names.
pub(super) fn repositories(settings: &Settings, served: &ServedModules) -> Result<ModuleRepositories, Diagnostic> {
    let about = |error: Diagnostic| settings.about(&served.from, error.code("settings-invalid"));
    if let Some((kind, _)) = served.from.text.split_once(':').filter(|(kind, _)| ["bundle", "static"].contains(kind)) {
        let diagnostic = Diagnostic::usage(format!(
            "modules are served out of repositories and image layouts, and `{}` is not one",
            served.from.text
        ));
        return Err(about(if kind == "bundle" {
            diagnostic.hint(format!(
                "bring its modules into image layouts first: tofu-oci module mirror --from {} --to oci:DIR; then serve oci:DIR",
                invocation::quoted(&served.from.text)
            ))
        } else {
            diagnostic.hint("write 'REGISTRY/${namespace}/${name}-${target_system}' or oci:DIR")
        }));
    }
    let text = settings.located(&served.from.text);
    let repositories: ModuleRepositories = text.parse().map_err(|error: tofu_oci_mapper::TemplateError| {
        about(Diagnostic::usage(error.to_string()).hint(error.instead()))
    })?;
    let dir = text.strip_prefix("oci:").filter(|dir| !dir.contains("${")).map(PathBuf::from);
    if let Some(dir) = dir.as_ref().filter(|dir| dir.join(LAYOUT_MARK).exists()) {
        let diagnostic = Diagnostic::usage(format!(
            "{} is one image layout, and modules are served out of a folder with a layout for each",
            dir.display()
        ));
        return Err(about(
            diagnostic.hint("move it to the folder HOST/NAMESPACE/NAME/SYSTEM of another one, and name that one"),
        ));
    }
    if let Some(dir) = dir.filter(|dir| !dir.is_dir()) {
        let diagnostic = Diagnostic::usage(format!("there is no folder {}", dir.display()));
        let hint = if settings.is_of_file() {
            "a path in serve.toml is relative to that file"
        } else {
            "name the folder with the image layouts, which `tofu-oci module mirror --to oci:DIR` makes"
        };
        return Err(about(diagnostic.hint(hint)));
    }
    Ok(repositories)
}

pub(crate) fn open_modules(repositories: ModuleRepositories, connector: &Connector) -> Result<OpenModules, Diagnostic> {
    let client = connector.client()?;
    Ok(Arc::new(move |address| Ok(kept_in(&client, repositories.place(address)?))))
}
