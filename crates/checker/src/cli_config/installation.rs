//! Files that leave nothing to install from, and folders that count without being named.

use super::view::{ReleaseView, each, is_json};
use super::{CliConfigFacts, CliConfigFinding, FoundAt};
use crate::FindingLevel;
use tofu_oci_mapper::config::{Effect, MethodKind};

pub(super) fn findings(facts: &CliConfigFacts<'_>) -> Vec<CliConfigFinding> {
    let mut found = each(facts, |view| empty(view).into_iter().collect());
    found.extend(each(facts, |view| implicit(view).into_iter().collect()));
    found
}

fn empty(view: &ReleaseView<'_>) -> Option<CliConfigFinding> {
    let block = view.reading.config.installation.as_ref().filter(|_| view.methods.list.is_empty())?;
    if view.reading.problems.iter().any(|problem| problem.effect == Effect::NotPredicted) {
        return None;
    }
    let file = view.reading.files.get(block.file)?;
    let title = if block.methods.is_empty() {
        "provider_installation has no method".to_owned()
    } else {
        "no method of provider_installation is left".to_owned()
    };
    let detail = "init finds no release of any provider, and names no cause; no method counts in their place";
    let detail = if block.dev_overrides.is_empty() {
        detail.to_owned()
    } else {
        format!("{detail}. dev_overrides is not a method: init needs one for these providers too")
    };
    let instead = match (block.methods.is_empty(), is_json(file)) {
        (false, _) => "the methods as their errors say",
        (true, false) => "direct {} into it, or leave the block out",
        (true, true) => {
            "every method as a list, such as \"direct\": [{}]; a single object is taken for the block itself"
        }
    };
    Some(
        CliConfigFinding::new("empty-installation", FindingLevel::Error, title)
            .at(Some(FoundAt::of(file, Some(block.name_span.clone()))))
            .detail(detail)
            .instead(instead),
    )
}

/// Folders that cut providers off from their registries.
fn implicit(view: &ReleaseView<'_>) -> Option<CliConfigFinding> {
    if view.methods.explicit {
        return None;
    }
    let mut folders = Vec::new();
    let mut cut = Vec::new();
    for method in &view.methods.list {
        match &method.kind {
            MethodKind::FilesystemMirror { path, .. } => folders.push(path.display().to_string()),
            MethodKind::Direct { .. } => cut.extend(method.exclude.iter().cloned()),
            _ => {}
        }
    }
    if cut.is_empty() {
        return None;
    }
    let environment = view.facts.environment;
    let mut detail = format!(
        "{} come from these folders only, in the versions and for the platforms that lie there: their registries are not \
         asked",
        cut.join(", ")
    );
    if environment.launch_dir != environment.working_dir {
        detail.push_str(
            "\n1.10 with -chdir lists ./terraform.d/plugins of the folder that it was started in, and then opens it below \
             the other one: init aborts",
        );
    }
    Some(
        CliConfigFinding::new(
            "implicit-folders",
            FindingLevel::Note,
            format!("there is no provider_installation, and providers lie in {}", folders.join(", ")),
        )
        .detail(detail)
        .instead("a provider_installation with a filesystem_mirror and direct to say what is meant"),
    )
}
