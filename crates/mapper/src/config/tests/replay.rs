//! Every measured case: the same complaints as the real programs, and the same methods afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;
use tofu_oci_types::{ProviderAddr, TofuRelease};
use tofu_oci_vectors::Vectors;

use super::super::{CliConfigProblem, CliConfigReading, Environment, Os, ProblemStage, Severity, read};
use super::MemoryFiles;
use crate::{MagicSuffix, MappedPlace, Methods};

const RELEASES: [(&str, TofuRelease); 3] =
    [("1.10.10", TofuRelease::V1_10), ("1.12.6", TofuRelease::V1_12), ("1.13-dev", TofuRelease::V1_13)];

#[test]
fn every_case_is_read_as_by_the_real_programs() {
    let table = Vectors::open("real_tofu_sources.json");
    let (mut readings, mut refused) = (0, 0);
    table.each("cases", |case| {
        let mut differences = String::new();
        for (version, release) in RELEASES {
            let measured = case["measured_with"].as_array().is_some_and(|all| all.iter().any(|one| one == version));
            let expect = match &case["differs"][version] {
                Value::Null if measured => &case["expect"],
                Value::Null => continue,
                own => own,
            };
            let world = World::of(case);
            let reading = read(&world.environment, &world.files, release);
            if let Some(code) = crate::tests::other_code(case) {
                let codes: Vec<&str> = reading.problems.iter().map(|problem| problem.code.as_str()).collect();
                assert_eq!(codes, [code], "{case}");
                continue;
            }
            let methods = reading.methods(&world.environment, &world.files);
            let found = same_problems(&reading, expect).and_then(|()| same_methods(case, &methods, expect));
            differences.extend(found.err().map(|what| format!("in {version}: {what}\n")));
            readings += 1;
            refused += usize::from(expect["config_error"].is_string());
        }
        assert!(differences.is_empty(), "{differences}");
    });
    let enough = readings > 3 * 600 && refused > 3 * 120;
    assert!(enough || !table.is_own(), "{readings} readings, {refused} refused");
}

/// A user's files and variables, below `/base`.
pub(super) struct World {
    pub(super) environment: Environment,
    pub(super) files: MemoryFiles,
}

impl World {
    pub(super) fn of(case: &Value) -> Self {
        let mut files =
            MemoryFiles::from([("/dev/null", ""), ("/base/home/", ""), ("/base/cache/", ""), ("/base/w/main.tf", "")]);
        let mut vars = BTreeMap::from([("HOME".to_owned(), "/base/home".to_owned())]);
        if let Some(text) = case["cli_config"].as_str() {
            let path = format!("/base/{}", case["cli_config_name"].as_str().unwrap_or("rc.tfrc"));
            files.add(&path, &text.replace("$WORK", "/base/w").replace("$BASE", "/base"));
            vars.insert("TF_CLI_CONFIG_FILE".to_owned(), path);
        }
        for (path, text) in case["files"].as_object().into_iter().flatten() {
            let path = placed(path);
            let path = if path.starts_with('/') { path } else { format!("/base/{path}") };
            files.add(&path, text.as_str().expect("a text"));
        }
        for (name, value) in case["env"].as_object().into_iter().flatten() {
            vars.insert(name.clone(), placed(value.as_str().expect("a text")));
        }
        for (name, offer) in case["offers"].as_object().into_iter().flatten() {
            if let Some(folder) = name.strip_prefix("fs:") {
                let provider = case["provider"].as_str().expect("a text");
                for version in offer["versions"].as_array().into_iter().flatten() {
                    let version = version.as_str().expect("a text");
                    files.add(&below_work(&format!("{folder}/{provider}/{version}/linux_amd64/provider")), "");
                }
            }
        }
        let commands = case["commands"].to_string();
        let working_dir = if commands.contains("-chdir=sub") { "/base/w/sub" } else { "/base/w" };
        let environment = Environment {
            os: Os::Unix,
            home: Some(PathBuf::from("/base/home")),
            app_data: None,
            launch_dir: PathBuf::from("/base/w"),
            working_dir: PathBuf::from(working_dir),
            named: None,
            vars,
        };
        Self { environment, files }
    }
}

fn placed(text: &str) -> String {
    text.replace("$HOME", "/base/home").replace("$WORK", "/base/w").replace("$BASE", "/base")
}

/// A path below `/base/w`, its `..` resolved.
fn below_work(path: &str) -> String {
    let mut parts: Vec<&str> = vec!["base", "w"];
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Fails with what differs.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: &T, wanted: &T) -> Result<(), String> {
    if got == wanted { Ok(()) } else { Err(format!("{what}: {got:?}, not {wanted:?}")) }
}

/// The same codes, stage, severity and line; and every place lies inside its file.
fn same_problems(reading: &CliConfigReading, expect: &Value) -> Result<(), String> {
    let reported: Vec<&CliConfigProblem> = reading.problems.iter().filter(|problem| !problem.ours).collect();
    let codes: Vec<&str> = reported.iter().map(|problem| problem.code.as_str()).collect();
    let Some(wanted) = expect["config_error"].as_str() else { return same("codes", &codes, &Vec::new()) };
    let Some(first) = reported.first() else { return Err(format!("no {wanted}")) };
    same("first code", &first.code.as_str(), &wanted)?;
    let more = reported.iter().flat_map(|problem| &problem.also).map(String::as_str);
    let also: BTreeSet<&str> = codes.iter().copied().chain(more).filter(|code| *code != wanted).collect();
    let wanted = expect["also"].as_array().into_iter().flatten().map(|code| code.as_str().expect("a code")).collect();
    same("other codes", &also, &wanted)?;
    let stage = if expect["stage"] == "load" { ProblemStage::Load } else { ProblemStage::Sources };
    same("stage", &first.stage, &stage)?;
    let severity = if expect["severity"] == "warning" { Severity::Warning } else { Severity::Error };
    same("severity", &first.severity, &severity)?;
    let line = expect["line"].as_u64().map(|line| usize::try_from(line).expect("a line"));
    same("line", &first.reported, &line)?;
    for problem in reported {
        let text = problem.file.and_then(|file| reading.files.get(file)).map(|file| file.text.as_str());
        if let (Some(span), Some(text)) = (&problem.span, text) {
            same("span inside the file", &text.get(span.clone()).is_some(), &true)?;
        }
    }
    Ok(())
}

/// Whoever served in the end is among the methods, and stands first where everyone could have served.
fn same_methods(case: &Value, methods: &Methods, expect: &Value) -> Result<(), String> {
    let was_refused = expect["config_error"].is_string();
    let expect = if expect["then"].is_object() { &expect["then"] } else { expect };
    let commands = case["commands"].to_string();
    // An argument may beat the file, and scripts change files in between.
    if case["commands"].is_array() && !commands.contains("chdir") {
        return Ok(());
    }
    let Ok(address) = case["provider"].as_str().expect("a text").parse::<ProviderAddr>() else { return Ok(()) };
    let candidates = methods.candidates(&address, &MagicSuffix::default());
    let described: Vec<(String, Option<String>)> = candidates
        .iter()
        .filter(|candidate| candidate.selection.is_in())
        .map(|candidate| {
            let repository = match &candidate.place {
                Some(Ok(MappedPlace::Oci(place))) => Some(place.repository.to_string()),
                _ => None,
            };
            (candidate.method.kind.name().replace("oci_mirror", "oci"), repository)
        })
        .collect();
    // Everyone has a release in these cases, so that nobody was left to ask.
    if was_refused && expect["install_error"] == "no-matching-release" {
        return same("methods", &described, &Vec::new());
    }
    let Some(method) = expect["method"].as_str().filter(|method| !["cache", "none"].contains(method)) else {
        return Ok(());
    };
    let wanted = (method.to_owned(), expect["repository"].as_str().map(str::to_owned));
    let serves = |(name, repository): &(String, Option<String>)| {
        *name == wanted.0 && (wanted.1.is_none() || *repository == wanted.1)
    };
    if !described.iter().any(serves) {
        return Err(format!("{wanted:?} is not among {described:?}"));
    }
    let offers = &case["offers"];
    let healthy =
        !["fails", "broken", "platforms_of", "extra_tags"].iter().any(|word| offers.to_string().contains(word));
    let everyone =
        offers["oci:*"]["versions"].is_array() && offers["oci:*"]["versions"] == offers["direct"]["versions"];
    let two = described.iter().all(|(name, _)| name == "oci" || name == "direct");
    if healthy && everyone && two && case["lock"].is_null() {
        return same("who is asked first", &described.first(), &Some(&wanted));
    }
    Ok(())
}
