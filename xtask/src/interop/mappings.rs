//! The three ways from an address to a repository without `--from`, each with a real registry behind it.
//!
//! ```text
//! oci_mirror          a block of the file that TF_CLI_CONFIG_FILE names
//! the magic suffix    localhost.SUFFIX:PORT is the registry on localhost:PORT, by each way to choose the suffix
//! oci-providers.v1    a document of Python's HTTPS server; what it may not say is refused with its code
//! air-gapped          oci_mirror alone: the HTTPS server is never asked
//! tofu                the same files read by real tofu, where there is one: the same packages, locks and refusals
//! ```
//!
//! One private authority signs the registry's certificate and the HTTPS server's.

mod discovered;
mod opentofu;
mod origin;
mod user;

use std::fs;

use super::content;
use super::https::HttpsServer;
use super::lab::{Lab, seen, text};
use super::registries::{ADDRESS, PLATFORM, published};
use crate::failure::{Failure, Outcome};
use crate::paths;
use crate::process::{Printed, find};
use crate::registry::Guard;
use user::User;

pub(super) fn run(lab: &Lab) -> Outcome {
    let registry = Guard::tls()?;
    let certificates = registry.certificates().ok_or_else(|| Failure::new("the registry has no certificates"))?;
    let server = HttpsServer::start(lab, certificates)?;
    let dist = text(&paths::testdata().join("dist"));
    let mirror = format!("{}/mirror/acme-widget", registry.address());
    lab.tofu_oci(&registry, &["push", &dist, &mirror, "--address", ADDRESS]).success()?;

    through_oci_mirror(lab, &registry, &mirror)?;
    seen("an oci_mirror block of TF_CLI_CONFIG_FILE: resolve, explain, install, install again");
    by_magic_suffix(lab, &registry, &dist)?;
    seen("the magic suffix, as it is and chosen by option, variable and tofu_oci block: the same four");
    discovered::run(lab, &registry, &server, &dist)?;
    air_gapped(lab, &registry, &server)?;
    seen("oci_mirror alone: refused for every other provider, and the HTTPS server sees no connection");
    if find("tofu").is_none() {
        println!("   NOT RUN: `tofu` is not on the PATH, so nothing is compared with it");
        return Ok(());
    }
    opentofu::run(lab, &registry, &server)
}

/// The template of the mirror that [`run`] has filled.
fn mirror_template(registry: &Guard) -> String {
    format!("{}/mirror/${{namespace}}-${{type}}", registry.address())
}

/// A CLI configuration that sends the providers of one host to the mirror, and others nowhere.
fn oci_mirror_alone(registry: &Guard) -> String {
    let template = mirror_template(registry);
    let include = "[\"registry.example.test/*/*\"]";
    format!(
        "provider_installation {{\n  oci_mirror {{\n    repository_template = \"{template}\"\n    \
         include = {include}\n  }}\n}}\n"
    )
}

fn through_oci_mirror(lab: &Lab, registry: &Guard, repository: &str) -> Outcome {
    let user = User::new(lab, registry)?.with_cli_configuration(&oci_mirror_alone(registry))?;
    installed_from(&user, ADDRESS, repository, "oci_mirror at ")
}

fn by_magic_suffix(lab: &Lab, registry: &Guard, dist: &str) -> Outcome {
    let port = registry.address().rsplit_once(':').map_or("", |(_, port)| port);
    let repository = format!("localhost:{port}/acme/opentofu-provider-widget");
    // The push tells by itself which address leads there.
    let pushed = lab.tofu_oci(registry, &["push", dist, &repository]).success()?;
    let address = format!("localhost.oci.opentofu.org:{port}/acme/widget");
    pushed.must_show(&address)?;
    // An address is written by whoever writes a module: a registry of this machine must be allowed.
    User::new(lab, registry)?.run(&["resolve", &address]).refused_with(1)?.must_show("--private-host localhost")?;
    let user = || Ok::<_, Failure>(User::new(lab, registry)?.with_variable("TOFU_OCI_PRIVATE_HOST", "localhost"));
    installed_from(&user()?, &address, &repository, "suffix .oci.opentofu.org")?;

    let address = format!("localhost.oci.example.test:{port}/acme/widget");
    let rule = "suffix .oci.example.test";
    let by_option = user()?.with_argument("--magic-suffix=.oci.example.test");
    installed_from(&by_option, &address, &repository, rule)?;
    let by_variable = user()?.with_variable("TOFU_OCI_MAGIC_SUFFIX", "oci.example.test");
    installed_from(&by_variable, &address, &repository, rule)?;
    let block = "tofu_oci {\n  magic_suffix = \"oci.example.test\"\n}\n";
    let by_block = user()?.with_home_file(".tofurc", block)?;
    installed_from(&by_block, &address, &repository, rule)
}

/// `resolve`, `resolve --explain`, `install` and a second `install` that has nothing to do.
fn installed_from(user: &User<'_>, address: &str, repository: &str, rule: &str) -> Outcome {
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

/// With mirrors alone nobody is asked who is not a mirror.
fn air_gapped(lab: &Lab, registry: &Guard, server: &HttpsServer) -> Outcome {
    let block = oci_mirror_alone(registry);
    let user = User::new(lab, registry)?.with_cli_configuration(&block)?;
    server.take_log()?;
    installed_from(&user, ADDRESS, &format!("{}/mirror/acme-widget", registry.address()), "oci_mirror at ")?;
    let port = registry.address().rsplit_once(':').map_or("", |(_, port)| port);
    for address in [format!("{}/acme/widget", server.host()), format!("localhost.oci.opentofu.org:{port}/acme/widget")]
    {
        let project = user.project(&address)?;
        let install = user.run(&["install", "--chdir", &text(&project), "--platform", PLATFORM]);
        install.refused_with(1)?.must_show("no installation method")?;
        nothing_in(&project)?;
        user.run(&["resolve", &address]).refused_with(1)?;
    }
    // An error in the file opens no way out either.
    let broken =
        User::new(lab, registry)?.with_cli_configuration(&block.replace("include", "includes = 1\n include"))?;
    let project = broken.project(&format!("{}/acme/widget", server.host()))?;
    broken.run(&["install", "--chdir", &text(&project), "--platform", PLATFORM]).refused_with(2)?;
    nothing_in(&project)?;
    match server.take_log()?.as_slice() {
        [] => Ok(()),
        log => Err(Failure::new(format!("an air-gapped configuration asks the HTTPS server: {log:?}"))),
    }
}

/// A failure unless the project holds nothing but its configuration.
fn nothing_in(project: &std::path::Path) -> Outcome {
    match paths::files_below(project)?.as_slice() {
        [one] if one.ends_with("main.tf") => Ok(()),
        files => Err(Failure::new(format!("a refused install leaves {files:?}"))),
    }
}

/// The one JSON line with this event.
fn event(printed: &Printed, name: &str) -> Outcome<serde_json::Value> {
    let mut found = events(printed, name);
    match found.len() {
        1 => Ok(found.remove(0)),
        count => Err(printed.failure(&format!("{count} lines with the event `{name}`"))),
    }
}

/// The JSON lines with this event.
fn events(printed: &Printed, name: &str) -> Vec<serde_json::Value> {
    let lines = printed.stdout.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    lines.filter(|line| line["event"] == name).collect()
}
