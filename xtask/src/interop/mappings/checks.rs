//! What the ways to a repository have in common: the mirror's block, and what a run must show.

use std::fs;

use super::user::MappingUser;
use crate::failure::{ChoreFailure, ChoreResult};
use crate::interop::content;
use crate::interop::lab::text;
use crate::interop::registries::{PLATFORM, published};
use crate::paths;
use crate::process::Printed;
use crate::registry::Guard;

/// The template of the mirror that [`run`](super::run) has filled.
pub(super) fn mirror_template(registry: &Guard) -> String {
    format!("{}/mirror/${{namespace}}/${{type}}", registry.address())
}

/// A CLI configuration that sends the providers of one host to the mirror, and others nowhere.
pub(super) fn oci_mirror_alone(registry: &Guard) -> String {
    let template = mirror_template(registry);
    let include = "[\"registry.example.test/*/*\"]";
    format!(
        "provider_installation {{\n  oci_mirror {{\n    repository_template = \"{template}\"\n    \
         include = {include}\n  }}\n}}\n"
    )
}

/// `resolve`, `resolve --explain`, `install` and a second `install` that has nothing to do.
pub(super) fn installed_from(user: &MappingUser<'_>, address: &str, repository: &str, rule: &str) -> ChoreResult {
    let resolved = user.run(&["resolve", address]).success()?;
    if resolved.stdout.trim_end() != repository {
        return Err(resolved.failure(&format!("{address} is not resolved to {repository}")));
    }
    resolved.must_show(rule)?;
    user.run(&["resolve", address, "--explain", "--platform", PLATFORM])
        .success()?
        .must_show(&format!("place     {repository}\n"))?
        .must_show("offers    1.0.0\n")?
        .must_show("tofu-oci  installs 1.0.0 from method 1")?;

    let project = user.project(address)?;
    let directory = text(&project);
    let install = user.run(&["install", "--chdir", &directory, "--platform", PLATFORM, "--json"]);
    let first = install.success()?;
    let package = event(&first, "installed")?;
    let lock = project.join(".terraform.lock.hcl");
    if (&package["place"], &package["outcome"]) != (&repository.into(), &"installed".into())
        || event(&first, "lock")?["outcome"] != "created"
    {
        return Err(first.failure(&format!("{address} is not installed from {repository}")));
    }
    let folder = package["path"].as_str().unwrap_or_default();
    content::must_be_equal(&project.join(folder), &published(user.lab(), "1.0.0")?)?;
    content::must_contain(&lock, &format!("provider \"{address}\""))?;
    content::must_contain(&lock, "\"h1:")?;

    let written = fs::read(&lock)?;
    let second = install.success()?;
    if event(&second, "installed")?["outcome"] != "already-installed"
        || event(&second, "lock")?["outcome"] != "unchanged"
        || fs::read(&lock)? != written
    {
        return Err(second.failure("the second install changed something"));
    }
    Ok(())
}

/// A failure unless the project holds nothing but its configuration.
pub(super) fn nothing_in(project: &std::path::Path) -> ChoreResult {
    match paths::files_below(project)?.as_slice() {
        [one] if one.ends_with("main.tf") => Ok(()),
        files => Err(ChoreFailure::new(format!("a refused install leaves {files:?}"))),
    }
}

/// The one JSON line with this event.
pub(super) fn event(printed: &Printed, name: &str) -> ChoreResult<serde_json::Value> {
    let mut found = events(printed, name);
    match found.len() {
        1 => Ok(found.remove(0)),
        count => Err(printed.failure(&format!("{count} lines with the event `{name}`"))),
    }
}

/// The JSON lines with this event.
pub(super) fn events(printed: &Printed, name: &str) -> Vec<serde_json::Value> {
    let lines = printed.stdout.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    lines.filter(|line| line["event"] == name).collect()
}
