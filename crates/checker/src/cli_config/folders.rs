//! Folders that the files name.
//!
//! Spec: measured on 1.10 and 1.12: a missing folder aborts although another method has the provider; a file
//! in its place is an empty folder; neither `~` nor variables are expanded; a relative path is below `-chdir`.

use super::view::{ReleaseView, each};
use super::{CliConfigFacts, CliConfigFinding, FoundAt};
use crate::FindingLevel;
use tofu_oci_mapper::config::{DevOverride, Method, MethodKind};

pub(super) fn findings(facts: &CliConfigFacts<'_>) -> Vec<CliConfigFinding> {
    each(facts, |view| {
        let mut found: Vec<CliConfigFinding> =
            view.explicit().iter().filter_map(|method| mirror(view, method)).collect();
        let overrides = view.reading.config.installation.iter();
        found.extend(
            overrides
                .flat_map(|block| block.dev_overrides.iter().flat_map(|entry| dev_override(view, block.file, entry))),
        );
        found
    })
}

fn mirror(view: &ReleaseView<'_>, method: &Method) -> Option<CliConfigFinding> {
    let MethodKind::FilesystemMirror { path, written } = &method.kind else { return None };
    let (files, environment) = (view.facts.files, view.facts.environment);
    let shown = path.display();
    let at = || view.place(method, "path");
    if !files.exists(path) {
        const ABORT: &str = "init aborts for every provider that the method is for, even if another method has it";
        let expanded = expanded(view, written);
        return Some(match (is_unexpanded(written), expanded) {
            (true, expanded) => CliConfigFinding::new(
                "path-not-expanded",
                FindingLevel::Error,
                format!("`{written}` is taken letter by letter"),
            )
            .at(at())
            .detail(format!("neither ~ nor $NAME is expanded here: the folder would be {shown}\n{ABORT}"))
            .instead(expanded.map_or_else(
                || "the whole path from the root".to_owned(),
                |path| view.written(method, "path", &format!("\"{path}\"")),
            )),
            (false, _) => {
                CliConfigFinding::new("folder-missing", FindingLevel::Error, format!("the folder {shown} is not there"))
                    .at(at())
                    .detail(ABORT)
                    .instead("a folder that is there, even an empty one, or leave the method out")
            }
        });
    }
    if !files.is_dir(path) {
        let finding =
            CliConfigFinding::new("folder-missing", FindingLevel::Warning, format!("{shown} is not a folder"));
        return Some(
            finding.at(at()).detail("it is taken for an empty folder").instead("the folder that the providers are in"),
        );
    }
    if environment.is_absolute(path.as_path()) && !environment.is_absolute(written.as_ref()) {
        let title = format!("`{written}` depends on the working directory");
        let finding = CliConfigFinding::new("path-relative", FindingLevel::Note, title).at(at());
        let detail = format!("it is looked for below the folder of the configuration, here {shown}");
        return Some(finding.detail(detail).instead(view.written(method, "path", &format!("\"{shown}\""))));
    }
    None
}

fn is_unexpanded(written: &str) -> bool {
    written.starts_with('~') || written.contains('$') || (written.matches('%').count() > 1)
}

/// What the user surely means, or `None` if that is unknown.
fn expanded(view: &ReleaseView<'_>, written: &str) -> Option<String> {
    let home = view.facts.environment.home.as_ref()?.display().to_string();
    let rest = ["~", "$HOME", "${HOME}"].iter().find_map(|start| written.strip_prefix(start))?;
    (rest.is_empty() || rest.starts_with(['/', '\\'])).then(|| format!("{home}{rest}"))
}

fn dev_override(view: &ReleaseView<'_>, file: usize, entry: &DevOverride) -> Vec<CliConfigFinding> {
    let at = view.reading.files.get(file).map(|file| FoundAt::of(file, Some(entry.span.clone())));
    let DevOverride { address, path, .. } = entry;
    if view.facts.files.is_dir(path) {
        let title = format!("{address} comes from the folder of its developer");
        return vec![
            CliConfigFinding::new("dev-override-active", FindingLevel::Note, title)
                .at(at)
                .detail("its version and the lock file are not looked at, but init installs it all the same and needs a method for it")
                .action("take the entry out when the released provider is meant"),
        ];
    }
    let title = format!("the folder {} is not there", path.display());
    let detail = format!("init goes well, then every command that needs {address} fails");
    let finding = CliConfigFinding::new("dev-override-missing", FindingLevel::Error, title).at(at).detail(detail);
    let hint = "the folder that the built program is in, or leave the entry out";
    vec![match expanded(view, &entry.written) {
        Some(path) => finding.instead(format!("\"{path}\": neither ~ nor $NAME is expanded here")),
        None => finding.instead(hint),
    }]
}
