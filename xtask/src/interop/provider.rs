//! A real provider, all the way: built, published in each layout, installed, and run by real terraform.

use std::path::Path;

use super::lab::{LAYOUTS, Lab, seen, text};
use super::provider_build::release;
use super::terraform::{ADDRESS, TerraformProject, find_executable};
use crate::failure::ChoreResult;
use crate::process::find;
use crate::registry::Guard;

const VERSIONS: [&str; 2] = ["1.0.0", "1.1.0"];

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let registry = Guard::tls()?;
    let releases = [release(lab, VERSIONS[0])?, release(lab, VERSIONS[1])?];
    seen("testdata/provider built: two versions, three platforms each");
    for layout in LAYOUTS {
        let repository = format!("{}/{layout}/acme/demo", registry.address());
        for folder in &releases {
            publish(lab, &registry, folder, &repository, layout)?;
        }
        vendored(lab, &registry, &repository)?;
        seen(&format!("{layout}: --vendor, terraform with no CLI configuration; upgrade; a changed byte refused"));
        mirrored(lab, &registry, &repository)?;
        seen(&format!("{layout}: --into, terraform with a filesystem_mirror; upgrade; a changed byte refused"));
    }
    if find("tofu").is_none() {
        println!("   NOT RUN: `tofu` is not on the PATH, so no init through an oci_mirror block");
        return Ok(());
    }
    for layout in LAYOUTS.iter().filter(|layout| **layout != "image") {
        through_oci_mirror(lab, &registry, layout)?;
        seen(&format!("{layout}: tofu init and apply through an oci_mirror block over TLS"));
    }
    Ok(())
}

fn publish(lab: &Lab, registry: &Guard, folder: &Path, repository: &str, layout: &str) -> ChoreResult {
    let folder = text(folder);
    let arguments = ["push", &folder, repository, "--address", ADDRESS, "--layout", layout];
    lab.tofu_oci(registry, &arguments).success()?;
    Ok(())
}

/// `install --vendor`: `terraform.d/plugins` of the project needs no CLI configuration.
fn vendored(lab: &Lab, registry: &Guard, repository: &str) -> ChoreResult {
    let project = TerraformProject::new(lab, "terraform")?;
    for version in VERSIONS {
        install(lab, registry, repository, &project, version, &["--vendor"])?;
        project.must_run(version)?;
    }
    project.must_refuse_changed(&project.executable_below("terraform.d/plugins")?)
}

/// `install --into DIR`: a filesystem mirror that the CLI configuration names.
fn mirrored(lab: &Lab, registry: &Guard, repository: &str) -> ChoreResult {
    let mirror = lab.new_folder("mirror")?;
    let block = format!("  filesystem_mirror {{\n    path = \"{}\"\n  }}", mirror.display());
    let project = TerraformProject::new(lab, "terraform")?.with_cli_configuration(&installation(&block))?;
    for version in VERSIONS {
        install(lab, registry, repository, &project, version, &["--into", &text(&mirror)])?;
        project.must_run(version)?;
    }
    project.must_refuse_changed(&find_executable(&mirror)?)
}

/// Released OpenTofu with the published packages, and with the lock file that install wrote.
fn through_oci_mirror(lab: &Lab, registry: &Guard, layout: &str) -> ChoreResult {
    let template = format!("{}/{layout}/${{namespace}}/${{type}}", registry.address());
    let block = format!(
        "  oci_mirror {{\n    repository_template = \"{template}\"\n    include = [\"registry.example.test/*/*\"]\n  }}"
    );
    let repository = format!("{}/{layout}/acme/demo", registry.address());
    let mut project = TerraformProject::new(lab, "tofu")?.with_cli_configuration(&installation(&block))?;
    if let Some(file) = registry.ca_file() {
        project = project.with_certificates(file);
    }
    // Only the lock file is wanted here: the packages go elsewhere, so that tofu has to fetch its own.
    let elsewhere = lab.new_folder("elsewhere")?;
    install(lab, registry, &repository, &project, VERSIONS[0], &["--into", &text(&elsewhere)])?;
    project.must_run(VERSIONS[0])
}

fn installation(block: &str) -> String {
    format!("provider_installation {{\n{block}\n}}\n")
}

fn install(
    lab: &Lab,
    registry: &Guard,
    repository: &str,
    project: &TerraformProject<'_>,
    version: &str,
    target: &[&str],
) -> ChoreResult {
    let wanted = format!("{ADDRESS}@{version}");
    let directory = text(project.directory());
    let arguments = ["install", &wanted, "--from", repository, "--chdir", &directory, "--upgrade"];
    lab.tofu_oci(registry, &[&arguments[..], target].concat()).success()?;
    Ok(())
}
