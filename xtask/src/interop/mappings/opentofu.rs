//! The same files read by real `tofu`: it does what `resolve --explain` and `config check` say it will, and what it
//! installs and locks is what we install and lock.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tofu_oci_types::Platform;

use super::checks::{events, mirror_template, oci_mirror_alone};
use super::origin::ProviderOrigin;
use super::user::MappingUser;
use crate::failure::{ChoreFailure, ChoreResult};
use crate::interop::content;
use crate::interop::https::HttpsServer;
use crate::interop::lab::{Lab, seen, text};
use crate::interop::registries::ADDRESS;
use crate::paths;
use crate::process::Printed;
use crate::registry::Guard;

/// The constraint of every project here.
const CONSTRAINT: &str = "~> 1.0";

/// In the place of a file's name: the file is named by this variable.
const VARIABLE: &str = "TF_CLI_CONFIG_FILE";

/// A CLI configuration, and what it is an example of.
struct TemplateCase {
    what: &'static str,
    /// Files of the home folder, or the one that `TF_CLI_CONFIG_FILE` names.
    files: Vec<(&'static str, String)>,
    address: String,
    /// What `config check` must find, besides notes.
    findings: &'static [&'static str],
    /// How it ends for us and for `tofu`: an outcome of `choice` and, where one is installed, the version.
    ours: (&'static str, &'static str),
    tofu: (&'static str, &'static str),
}

pub(super) fn run(lab: &Lab, registry: &Guard, server: &HttpsServer) -> ChoreResult {
    let newer = format!("{}/newer/acme/widget", registry.address());
    for dist in ["dist", "dist-next"] {
        let dist = text(&paths::testdata().join(dist));
        lab.tofu_oci(registry, &["push", &dist, &newer, "--address", ADDRESS]).success()?;
    }
    let origin = ProviderOrigin::publish(lab, registry, server)?;
    server.take_log()?;
    let release = release(&MappingUser::new(lab, registry)?)?;
    for case in cases(registry, &origin) {
        let told = compare(lab, registry, server, &release, &case);
        let told = told.map_err(|failure| ChoreFailure::new(format!("{}: {failure}", case.what)))?;
        seen(&format!("tofu {release}, {}: {told}", case.what));
    }
    Ok(())
}

fn cases(registry: &Guard, origin: &ProviderOrigin) -> Vec<TemplateCase> {
    let template = mirror_template(registry);
    let newer = template.replace("/mirror/", "/newer/");
    let mirror = |template: &str, more: &str| {
        format!("  oci_mirror {{\n    repository_template = \"{template}\"\n    include = [{more}]\n  }}\n")
    };
    let (ours, all) = ("\"registry.example.test/*/*\"", "\"registry.example.test/*/*\", \"*/*\"");
    let installation = |methods: &str| format!("provider_installation {{\n{methods}}}\n");
    let good = mirror(&template, ours);
    let direct = format!("  direct {{\n    exclude = [{ours}]\n  }}\n");
    let one = |content: String| vec![(".tofurc", content)];
    let case = |what, files, findings, ours, tofu| TemplateCase {
        what,
        files,
        address: ADDRESS.to_owned(),
        findings,
        ours,
        tofu,
    };
    let open = |what, content: String, findings| TemplateCase {
        what,
        files: vec![(".tofurc", content), (".terraform.d/origin.tfrc", origin.host_block.clone())],
        address: origin.address.to_owned(),
        findings,
        ours: ("refuses", ""),
        tofu: ("serves", "1.0.0"),
    };
    let served = ("serves", "1.0.0");
    vec![
        case("an oci_mirror alone", vec![(VARIABLE, oci_mirror_alone(registry))], &[], served, served),
        case("disjoint methods", one(installation(&format!("{good}{direct}"))), &[], served, served),
        case("the mirror after direct", one(installation(&format!("{direct}{good}"))), &[], served, served),
        case(
            "a mirror that lacks what a later one has",
            one(installation(&format!("{good}{}", mirror(&newer, ours)))),
            &["mirror-overlap", "unreachable-method"],
            ("stops", ""),
            ("stops", ""),
        ),
        case(
            "a mirror with more before one with less",
            one(installation(&format!("{}{good}", mirror(&newer, ours)))),
            &["mirror-overlap", "unreachable-method"],
            ("serves", "1.1.0"),
            ("serves", "1.1.0"),
        ),
        case(
            "no method for the provider",
            one(installation(&mirror(&template, "\"registry.example.test/other/*\""))),
            &[],
            ("not-found", ""),
            ("not-found", ""),
        ),
        case(
            "a misspelt symbol: the mirror is dropped and the next one serves",
            one(installation(&format!("{}{good}", mirror(&newer.replace("${type}", "${tpye}"), ours)))),
            &["missing-type", "unknown-symbol"],
            ("refuses", ""),
            served,
        ),
        case(
            "a broken pattern: no method is left",
            one(installation(&mirror(&template, "\"registry.example.test/*/widget\""))),
            &["empty-installation", "include-pattern"],
            ("refuses", ""),
            ("not-found", ""),
        ),
        open(
            "`provider_installation =`: it counts as absent",
            installation(&mirror(&template, all)).replacen(" {", " = {", 1),
            &["block-equals"],
        ),
        open(
            "a syntax error: the file counts as absent",
            installation(&mirror(&template, all)).replacen(']', "", 1),
            &["hcl1-parse"],
        ),
    ]
}

/// Runs both programs with the files of the case; one line about how it ended.
fn compare(
    lab: &Lab,
    registry: &Guard,
    server: &HttpsServer,
    release: &str,
    case: &TemplateCase,
) -> ChoreResult<String> {
    let mut user = MappingUser::new(lab, registry)?;
    for (name, content) in &case.files {
        user = match *name {
            VARIABLE => user.with_cli_configuration(content)?,
            name => user.with_home_file(name, content)?,
        };
    }
    let checked = user.check().output()?;
    let found = events(&checked, "finding");
    let found: Vec<&Value> = found.iter().filter(|finding| finding["level"] != "note").collect();
    let mut rules: Vec<&str> = found.iter().filter_map(|finding| finding["rule"].as_str()).collect();
    // Releases may take offence in different places.
    rules.dedup();
    if rules != case.findings || checked.code != Some(i32::from(!rules.is_empty())) {
        return Err(checked.failure(&format!("config check finds {rules:?}, not {:?}", case.findings)));
    }

    let opens = found.iter().any(|finding| finding["opens_to_origin"] == true);
    let subject = format!("{}@{CONSTRAINT}", case.address);
    let explained = user.run(&["resolve", &subject, "--explain", "--json"]).output()?;
    let choices = events(&explained, "choice");
    let choice = |of: &dyn Fn(&Value) -> bool| {
        choices.iter().find(|choice| of(choice)).ok_or_else(|| explained.failure("a choice is missing"))
    };
    let ours = choice(&|choice| choice["program"] == "tofu-oci")?;
    let theirs =
        choice(&|choice| choice["releases"].as_array().is_some_and(|list| list.iter().any(|one| one == release)))?;
    for (choice, want) in [(ours, case.ours), (theirs, case.tofu)] {
        let version = choice["version"].as_str().filter(|_| choice["outcome"] == "serves").unwrap_or_default();
        if (choice["outcome"].as_str().unwrap_or_default(), version) != want {
            return Err(explained.failure(&format!("it is not explained that it ends with {want:?}")));
        }
    }

    let project = user.project(&case.address)?;
    let init = user.tofu(&["init", "-input=false", "-no-color"])?.directory(&project).output()?;
    did(&init, &project, case.tofu)?;
    for line in lines_named(&found, release) {
        if !init.all().contains(&format!(" {line}:")) {
            return Err(init.failure(&format!("config check says that an error names line {line}")));
        }
    }
    let asked = server.take_log()?;
    let fetched = asked.iter().any(|line| line.ends_with(".zip 200"));
    if (fetched, asked.is_empty()) != (opens, !opens) {
        let predicted = if opens { "to be asked" } else { "not to be asked" };
        return Err(init.failure(&format!("config check says that the origin is {predicted}; requests: {asked:?}")));
    }
    let own = user.project(&case.address)?;
    let install = user.run(&["install", "--chdir", &text(&own)]).output()?;
    did(&install, &own, case.ours)?;
    if !server.take_log()?.is_empty() {
        return Err(install.failure("tofu-oci asks the origin"));
    }
    if case.ours == case.tofu && case.ours.0 == "serves" {
        let package = format!(".terraform/providers/{}/{}/{}", case.address, case.ours.1, Platform::current());
        content::must_be_equal(&own.join(&package), &project.join(&package))?;
        same_lock(&own, &project)?;
    }
    let ended = |(outcome, version): (&str, &str)| match outcome {
        "serves" => format!("installs {version}"),
        "not-found" => "finds nothing".to_owned(),
        other => other.to_owned(),
    };
    let from = if opens { " from the origin" } else { "" };
    Ok(format!("it {}{from}, tofu-oci {}", ended(case.tofu), ended(case.ours)))
}

/// The lines that errors of a release name, as the findings say.
fn lines_named<'f>(findings: &[&'f Value], release: &str) -> Vec<&'f str> {
    let of_release =
        |finding: &&&Value| finding["releases"].as_array().is_some_and(|list| list.iter().any(|one| one == release));
    let line = |finding: &&'f Value| {
        let (_, rest) = finding["detail"].as_str()?.split_once("prints an error that names line ")?;
        rest.split(|letter: char| !letter.is_ascii_digit()).next()
    };
    findings.iter().filter(of_release).filter_map(line).collect()
}

/// A failure unless the program did what an outcome and a version say.
fn did(printed: &Printed, project: &Path, (outcome, version): (&str, &str)) -> ChoreResult {
    let folder = project.join(".terraform/providers");
    let files = if folder.is_dir() { paths::files_below(&folder)? } else { Vec::new() };
    let right = match outcome {
        "serves" => {
            let part = format!("/{version}/{}/", Platform::current());
            let locks = format!("/{version}/{}.lock", Platform::current());
            let of_it = |file: &str| file.contains(&part) || file.ends_with(&locks);
            printed.code == Some(0) && !files.is_empty() && files.iter().all(|file| of_it(&text(file)))
        }
        _ => printed.code != Some(0) && files.is_empty(),
    };
    if right {
        return Ok(());
    }
    Err(printed.failure(&format!("this should be `{outcome} {version}`, and there is {files:?}")))
}

/// Our lock file is the one that `tofu` writes, with the checksum of the manifest besides.
fn same_lock(ours: &Path, theirs: &Path) -> ChoreResult {
    let read = |folder: &Path| fs::read_to_string(folder.join(".terraform.lock.hcl"));
    let (ours, theirs) = (read(ours)?, read(theirs)?);
    let without = |lock: &str| {
        lock.lines().filter(|line| !line.contains("\"ch:")).map(|line| format!("{line}\n")).collect::<String>()
    };
    if without(&ours) == theirs && ours != theirs {
        return Ok(());
    }
    Err(ChoreFailure::new(format!("our lock file\n{ours}\nis not the one of tofu\n{theirs}")))
}

/// The release of which we know how it reads these files that is the nearest one below the program's.
fn release(user: &MappingUser<'_>) -> ChoreResult<String> {
    let printed = user.tofu(&["version", "-json"])?.success()?;
    let said: Value = serde_json::from_str(&printed.stdout)?;
    let version = said["terraform_version"].as_str().unwrap_or_default();
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or_default());
    let minor = parts.nth(1).unwrap_or_default();
    let known = ["1.13", "1.12", "1.10"].into_iter().find(|known| {
        known.split_once('.').and_then(|(_, known)| known.parse::<u32>().ok()).is_some_and(|known| known <= minor)
    });
    known.map(str::to_owned).ok_or_else(|| printed.failure("this release has no oci_mirror"))
}
