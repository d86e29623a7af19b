//! Tables of `OpenTofu`'s own rules, one test each. The measured cases are replayed with the program itself,
//! in `tests/e2e/credentials_replay`.

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;
use tofu_oci_vectors::Vectors;

use crate::choose::tests::{found, told};
use crate::key::fit_parts;
use crate::{
    Block, BlockStyle, Choice, Credential, CredentialPolicy, DefaultHelper, FilePlace, HelperName, SearchScope,
    Specificity, auth_file_paths,
};
use tofu_oci_types::Secret;

fn text<'a>(case: &'a Value, name: &str) -> &'a str {
    case[name].as_str().unwrap_or_else(|| panic!("{name} is a text in {case}"))
}

fn place() -> FilePlace {
    FilePlace { file: "tofurc".to_owned(), line: Some(1) }
}

#[test]
fn keys_match_as_measured() {
    Vectors::open("oci_credentials_match.json").each("auths_key_match", |case| {
        let got = fit_parts(text(case, "key"), text(case, "registry"), text(case, "repository"));
        assert_eq!(got.map_or(0, Specificity::specificity) as u64, case["specificity"], "{case}");
    });
}

#[test]
fn prefixes_are_read_as_measured() {
    Vectors::open("oci_credentials_match.json").each("repository_address_prefix", |case| {
        let got = match tofu_oci_types::parse_prefix(text(case, "input")) {
            Ok(tofu_oci_types::RepositoryPrefix::Registry(registry)) => Some((registry, String::new())),
            Ok(tofu_oci_types::RepositoryPrefix::Repository(whole)) => {
                Some((whole.registry().to_owned(), whole.name().to_owned()))
            }
            Err(_) => None,
        };
        let want =
            (case["ok"] == true).then(|| (text(case, "registry").to_owned(), text(case, "repository").to_owned()));
        assert_eq!(got, want, "{case}");
    });
}

/// A block's arguments as its style.
fn style(arguments: &Value) -> BlockStyle {
    let given = |name: &str| arguments.get(name).map(|_| text(arguments, name));
    match (given("username"), given("access_token"), given("docker_credentials_helper")) {
        (Some(""), _, _) => BlockStyle::Undecided { argument: "username" },
        (_, Some(""), _) => BlockStyle::Undecided { argument: "access_token" },
        (Some(username), _, _) => {
            let password = Secret::new(text(arguments, "password"));
            BlockStyle::Basic { username: username.to_owned(), password }
        }
        (_, Some(access), _) => BlockStyle::Token { access: Secret::new(access) },
        (_, _, Some(name)) => BlockStyle::Helper(HelperName::parse(name).expect("a name")),
        _ => panic!("no style in {arguments}"),
    }
}

fn block(label: &str, arguments: &Value) -> Block {
    Block { label: label.to_owned(), place: place(), style: style(arguments) }
}

/// The policy of a case, and its sources in order.
fn policy(case: &Value) -> (CredentialPolicy, Vec<String>) {
    let mut locations = Vec::new();
    let mut blocks = Vec::new();
    for (label, arguments) in case["oci_credentials"].as_object().expect("blocks") {
        locations.push(format!("oci_credentials:{label}"));
        blocks.push(block(label, arguments));
    }
    let defaults = &case["oci_default_credentials"];
    let default = defaults["docker_credentials_helper"].as_str().map(|name| {
        locations.push("oci_default_credentials".to_owned());
        DefaultHelper { helper: HelperName::parse(name).expect("a name"), place: place() }
    });
    let env = |name: &str| case["env"][name].as_str().map(OsString::from);
    let (search, paths): (SearchScope, Vec<String>) = match &defaults["docker_style_config_files"] {
        Value::Array(files) => {
            let absolute = |file: &Value| file.as_str().expect("a path").replacen("./", "$CONFIGDIR/", 1);
            (SearchScope::Listed, files.iter().map(absolute).collect())
        }
        _ if defaults["discover_ambient_credentials"] == false => (SearchScope::Off, Vec::new()),
        _ => {
            let paths = auth_file_paths(&env, Some(Path::new("$HOME")), text(case, "os"));
            (SearchScope::Ambient, paths.iter().map(|found| found.path.display().to_string()).collect())
        }
    };
    let mut files = Vec::new();
    for path in paths {
        if let Some(content) = case["files"].get(&path) {
            files.push(found(&path, &content.to_string()));
            locations.push(path);
        }
    }
    (CredentialPolicy::new(blocks, default, search, files), locations)
}

#[test]
fn policies_choose_as_opentofus_own_tests_say() {
    Vectors::open("oci_credentials.json").each("policies", |case| {
        let (policy, locations) = policy(case);
        assert_eq!(Value::from(locations), case["want_locations"], "{case}");
        for lookup in case["lookups"].as_array().expect("look-ups") {
            // A registry alone is asked for by a repository that no path names.
            let repository = text(lookup, "repository");
            let repository = if repository.contains('/') { repository.to_owned() } else { format!("{repository}/zz") };
            let account = policy.look_up(&repository.parse().expect("a repository"));
            let want = match lookup["kind"].as_str() {
                None => "anonymous".to_owned(),
                Some("basic") => text(lookup, "username").to_owned(),
                Some("oauth") => "token".to_owned(),
                Some(_) => format!("helper {} {}", text(lookup, "helper"), text(lookup, "server_url")),
            };
            assert_eq!(told(&account.choice), want, "{} {lookup}", case["name"]);
            let chosen =
                account.candidates.iter().find(|candidate| candidate.verdict == crate::CandidateVerdict::Chosen);
            let fit = chosen.and_then(|candidate| candidate.fit).map(|fit| fit.specificity() as u64);
            assert_eq!(fit, lookup["specificity"].as_u64(), "{} {lookup}", case["name"]);
            match &account.choice {
                Choice::Credential { credential: Credential::Basic { password, .. }, .. } => {
                    assert_eq!(password.expose(), text(lookup, "password"));
                }
                Choice::Credential { credential: Credential::RegistryToken(token), .. } => {
                    assert_eq!(token.expose(), text(lookup, "access_token"));
                }
                _ => {}
            }
        }
    });
}
