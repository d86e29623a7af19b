//! What the real programs were measured to choose: the part of it that needs no network and no real files.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;

use super::blocks::{self, Written};
use super::{block, place, table, text};
use crate::{
    AuthFile, Choice, Credential, DefaultHelper, FileKind, FileState, FoundFile, HelperAnswer, HelperName,
    HelperOutput, Policy, Search, auth_file_paths, helper_outcome,
};

/// Cases where the choice here is another than `OpenTofu`'s, and what it is. Why, `docs/credentials.md` says.
const OTHERWISE: [(&str, &str); 28] = [
    ("loc-DOCKER_CONFIG", "basic dc:pw"),
    ("loc-DOCKER_CONFIG-home-still-read", "basic dc:pw"),
    ("home-dev-null", "basic xr:pw"),
    ("bad-json-earlier-file", "basic docker:pw"),
    ("bad-dockercfg", "basic docker:pw"),
    ("empty-file", "basic xr:pw"),
    ("json-auths-array", "basic xr:pw"),
    ("json-bom", "basic xr:pw"),
    ("json-trailing-comma", "basic xr:pw"),
    ("json-trailing-text", "basic xr:pw"),
    ("json-credsstore-number", "basic xr:pw"),
    ("file-is-directory", "basic xr:pw"),
    ("parent-is-file", "basic xr:pw"),
    ("unreadable-file", "basic xr:pw"),
    ("bad-base64-other-host", "basic xr:pw"),
    ("auth-number", "basic xr:pw"),
    ("auth-entry-string", "basic xr:pw"),
    ("block-docker.io-bearer", "basic blk:pw"),
    ("entry-no-colon", "auth-without-colon"),
    ("entry-acr-identitytoken", "identity idt"),
    ("entry-acr-identitytoken-basic", "identity idt"),
    ("helper-token-user-basic", "identity idt"),
    ("helper-name-with-slash", "invalid-helper-name"),
    ("helper-name-dotdot", "invalid-helper-name"),
    ("helper-name-absolute", "invalid-helper-name"),
    ("block-token-empty-access", "block-style-undecided"),
    ("wire-realm-userinfo", "anonymous"),
    ("helper-docker.io-never-run", "basic hu:hp"),
];

/// How many choices were compared: some cases ask for two repositories.
const COUNTS: [(&str, usize); 4] = [
    ("as OpenTofu", 208),
    ("otherwise, on purpose", 28),
    ("the wire alone decided", 12),
    ("wrong CLI configuration", 22),
];

/// The case's blocks, or nothing where its CLI configuration is found wrong before anything is chosen.
fn written(case: &Value) -> Option<Vec<Written>> {
    if let Some(json) = case["cli_json"].as_object() {
        let mut blocks = Vec::new();
        for (name, value) in json {
            let value = value.as_object().expect("an object");
            let labelled = value.values().all(Value::is_object) && name == "oci_credentials";
            if labelled {
                blocks.extend(value.iter().map(|(label, arguments)| Written {
                    keys: vec![name.clone(), label.clone()],
                    arguments: arguments.as_object().expect("arguments").clone(),
                }));
            } else {
                blocks.push(Written { keys: vec![name.clone()], arguments: value.clone() });
            }
        }
        return Some(blocks);
    }
    let wrong = case["observed"].get("config_error").is_some()
        || ["crash", "config-dropped"].iter().any(|code| case["expect"]["error"] == *code);
    if wrong { None } else { blocks::read(text(case, "cli_config")) }
}

/// The state of a path in the case's file system.
fn state(case: &Value, path: &str) -> FileState {
    let files = case["files"].as_object().expect("files");
    let unreadable = |reason: &str| FileState::Unreadable { reason: reason.to_owned() };
    let mut path = path.to_owned();
    for _ in 0..8 {
        let parents = Path::new(&path).ancestors().skip(1).filter_map(Path::to_str);
        if parents.into_iter().any(|parent| parent == "/dev/null" || files.get(parent).is_some_and(Value::is_string)) {
            return unreadable("Not a directory");
        }
        let Some(content) = files.get(&path) else { return FileState::Missing };
        if let Some(target) = content.get("@link") {
            target.as_str().expect("a target").clone_into(&mut path);
            continue;
        }
        let content = match content.get("content") {
            Some(_) if case.get("as_user").is_some() => return unreadable("Permission denied"),
            Some(content) => content,
            None if content.get("@dir").is_some() => return unreadable("Is a directory"),
            None => content,
        };
        let bytes = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
        return AuthFile::parse(&path, bytes.as_bytes()).map_or_else(FileState::Malformed, FileState::Read);
    }
    unreadable("Too many levels of symbolic links")
}

fn found(case: &Value, path: &str, because: &str, known_to_opentofu: bool) -> FoundFile {
    let state = state(case, path);
    let kind = FileKind::of(Path::new(path));
    FoundFile { name: path.to_owned(), because: because.to_owned(), known_to_opentofu, kind, state }
}

/// The policy of a case; an error's code where a listed file is missing or wrong.
fn policy(case: &Value, written: &[Written]) -> Result<Policy, &'static str> {
    let mut blocks = Vec::new();
    let mut default = None;
    let mut search = Search::Ambient;
    let mut listed = Vec::new();
    for Written { keys, arguments } in written {
        match keys[0].as_str() {
            "oci_credentials" => blocks.push(block(&keys[1], &Value::from(arguments.clone()))),
            "oci_default_credentials" => {
                default = arguments
                    .get("docker_credentials_helper")
                    .and_then(Value::as_str)
                    .map(|name| DefaultHelper { helper: HelperName::parse(name).expect("a name"), place: place() });
                if arguments.get("discover_ambient_credentials") == Some(&Value::Bool(false)) {
                    search = Search::Off;
                }
                if let Some(files) = arguments.get("docker_style_config_files") {
                    search = Search::Listed;
                    listed = files.as_array().expect("a list").clone();
                }
            }
            _ => {}
        }
    }
    let env = |name: &str| case["env"].get(name).and_then(Value::as_str).map(OsString::from);
    // An empty or absent home is that of the user database, which no case has files in.
    let home = match case["env"].get("HOME") {
        None => "$HOME",
        Some(home) => home.as_str().filter(|home| !home.is_empty()).unwrap_or("/of-the-user-database"),
    };
    let files: Vec<FoundFile> = match search {
        Search::Off => Vec::new(),
        Search::Ambient => auth_file_paths(&env, Some(Path::new(home)), "linux")
            .iter()
            .map(|path| found(case, &path.path.display().to_string(), &path.because, path.known_to_opentofu))
            .collect(),
        Search::Listed => {
            let absolute =
                |path: &str| if path.starts_with('$') { path.to_owned() } else { format!("$CONFIGDIR/{path}") };
            listed.iter().map(|path| found(case, &absolute(path.as_str().expect("a path")), "listed", true)).collect()
        }
    };
    let sound = |file: &FoundFile| matches!(&file.state, FileState::Read(file) if file.off().is_none());
    if search == Search::Listed && !files.iter().all(sound) {
        return Err("config-file-error");
    }
    Ok(Policy::new(blocks, default, search, files))
}

/// What the case's helper leaves behind.
fn run(case: &Value, helper: &HelperName) -> Option<HelperOutput> {
    let helper = case["helpers"].get(helper.as_str())?;
    let stdout = helper.get("get").map(Value::to_string).or_else(|| helper["stdout"].as_str().map(str::to_owned));
    let exit = helper["exit"].as_i64().unwrap_or(0);
    Some(HelperOutput { exit: i32::try_from(exit).ok(), stdout: stdout.unwrap_or_default().into_bytes() })
}

/// `basic USER:PASSWORD`, `access TOKEN`, `identity TOKEN`, `anonymous`, or the code of an error.
fn resolved(case: &Value, choice: Choice) -> String {
    let credential = match choice {
        Choice::Anonymous => return "anonymous".to_owned(),
        Choice::Refused(error) => return error.code().to_owned(),
        Choice::Credential { credential, .. } => credential,
        Choice::Ask { call, .. } => match run(case, &call.helper).map(|output| helper_outcome(&call.helper, &output)) {
            None => return crate::HelperError::NotFound { name: call.helper }.code().to_owned(),
            Some(Err(error)) => return error.code().to_owned(),
            Some(Ok(HelperAnswer::NotFound | HelperAnswer::Empty)) => return "anonymous".to_owned(),
            Some(Ok(HelperAnswer::Credential(credential))) => {
                let asked = case["observed"].get("helper_stdin").map(|_| text(&case["observed"], "helper_stdin"));
                assert!(asked.is_none_or(|asked| asked == call.servers[0]), "{call:?} in {case}");
                credential
            }
        },
    };
    match credential {
        Credential::Basic { username, password } => format!("basic {username}:{}", password.expose()),
        Credential::IdentityToken(token) => format!("identity {}", token.expose()),
        Credential::RegistryToken(token) => format!("access {}", token.expose()),
    }
}

/// What was measured of the choice: as [`resolved`] puts it; nothing where the wire alone decided.
fn measured(case: &Value, got: &str) -> Option<String> {
    let expect = &case["expect"];
    if let Some(basic) = expect["basic"].as_str().or_else(|| expect["bearer_from"]["basic"].as_str()) {
        return Some(format!("basic {basic}"));
    }
    if let Some(token) = expect["access_token"].as_str() {
        return Some(format!("access {token}"));
    }
    let of_choice = ["auth-without-colon", "block-style-undecided", "config-file-error", "helper-identity-token"];
    match expect["error"].as_str() {
        Some(code) if of_choice.contains(&code) || code.starts_with("helper-") => Some(code.to_owned()),
        // What is incomplete was chosen all the same.
        Some("incomplete-basic") => {
            let incomplete = got.starts_with("basic :") || got.ends_with(':') || got.starts_with("access ");
            Some(if incomplete { got.to_owned() } else { "incomplete-basic".to_owned() })
        }
        _ if case["registry"]["challenge"] == "none" => None,
        _ if expect["anonymous"] == true => Some("anonymous".to_owned()),
        _ => None,
    }
}

#[test]
fn the_measured_cases_choose_alike_but_where_it_is_said() {
    let cases = table("real_tofu_credentials.json");
    let cases = cases.as_array().expect("a list of cases");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut otherwise = Vec::new();
    for case in cases {
        let Some(written) = written(case) else {
            *counts.entry("wrong CLI configuration").or_default() += 1;
            continue;
        };
        let repositories: Vec<&str> = match case.get("repositories").and_then(Value::as_object) {
            Some(several) => several.values().filter_map(Value::as_str).collect(),
            None => vec![text(case, "repository")],
        };
        let port = |text: &str| text.replace("{port}", "5000");
        let case: Value = serde_json::from_str(&port(&case.to_string())).expect("JSON");
        let policy = policy(&case, &written);
        for (at, repository) in repositories.iter().enumerate() {
            let got = match &policy {
                Ok(policy) => resolved(&case, policy.look_up(&port(repository).parse().expect("a repository")).choice),
                Err(code) => (*code).to_owned(),
            };
            let want = match &case["expect"]["basic"] {
                Value::Array(several) => Some(format!("basic {}", several[at].as_str().expect("a text"))),
                // The second of two repositories was refused.
                _ if at == 1 && case["expect"]["error"] == "no-credentials-for-basic" => Some("anonymous".to_owned()),
                _ => measured(&case, &got),
            };
            match want {
                None => *counts.entry("the wire alone decided").or_default() += 1,
                Some(want) if want == got => *counts.entry("as OpenTofu").or_default() += 1,
                Some(_) => {
                    *counts.entry("otherwise, on purpose").or_default() += 1;
                    otherwise.push((text(&case, "name").to_owned(), got));
                }
            }
        }
    }
    println!("{} cases: {counts:?}", cases.len());
    let intended: Vec<(String, String)> = OTHERWISE.map(|(name, what)| (name.to_owned(), what.to_owned())).into();
    assert_eq!(otherwise, intended);
    let counted: Vec<(&str, usize)> = counts.into_iter().collect();
    assert_eq!(counted, COUNTS);
}
