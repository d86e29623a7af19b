//! One table after the other of the measured rules.

use std::path::Path;

use base64::Engine as _;
use insta::assert_snapshot;
use tofu_oci_types::{RepositoryRef, Secret};

use crate::{
    AuthFile, Block, BlockStyle, Choice, Credential, CredentialLookup, CredentialPolicy, DefaultHelper, FileKind,
    FilePlace, FileState, FoundFile, HelperName, SearchScope,
};

/// `auth` of `USER:PASSWORD`.
pub(crate) fn auth(text: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(text)
}

pub(crate) fn found(name: &str, text: &str) -> FoundFile {
    let state = AuthFile::parse(name, text.as_bytes()).map_or_else(FileState::Malformed, FileState::Read);
    FoundFile {
        name: name.to_owned(),
        because: "~/.docker".to_owned(),
        known_to_opentofu: true,
        kind: FileKind::of(Path::new(name)),
        state,
    }
}

fn block(label: &str, style: BlockStyle) -> Block {
    Block { label: label.to_owned(), place: FilePlace { file: "tofurc".to_owned(), line: Some(7) }, style }
}

fn basic(label: &str) -> Block {
    block(label, BlockStyle::Basic { username: format!("block {label}"), password: Secret::new("hunter2") })
}

fn helper(name: &str) -> HelperName {
    HelperName::parse(name).expect("a name")
}

fn default(name: &str) -> DefaultHelper {
    DefaultHelper { helper: helper(name), place: FilePlace { file: "tofurc".to_owned(), line: Some(9) } }
}

/// A file whose `auths` has these keys, each with itself as the user.
fn keys(keys: &[&str]) -> String {
    let auths: serde_json::Map<String, serde_json::Value> = keys
        .iter()
        .map(|key| {
            ((*key).to_owned(), serde_json::json!({"auth": auth(&format!("{}:hunter2", key.replace(':', "_")))}))
        })
        .collect();
    serde_json::json!({ "auths": auths }).to_string()
}

fn policy(blocks: Vec<Block>, default: Option<DefaultHelper>, files: &[&str]) -> CredentialPolicy {
    let files = files.iter().enumerate().map(|(at, text)| found(&format!("file{at}"), text)).collect();
    CredentialPolicy::new(blocks, default, SearchScope::Ambient, files)
}

/// The user that is chosen, `token`, `helper NAME SERVERS`, `anonymous`, or the code of the refusal.
pub(crate) fn told(choice: &Choice) -> String {
    match choice {
        Choice::Anonymous => "anonymous".to_owned(),
        Choice::Credential { credential: Credential::Basic { username, .. }, .. } => username.clone(),
        Choice::Credential { credential: Credential::IdentityToken(_), .. } => "identity token".to_owned(),
        Choice::Credential { credential: Credential::RegistryToken(_), .. } => "token".to_owned(),
        Choice::Ask { call, .. } => format!("helper {} {}", call.helper, call.servers.join(" ")),
        Choice::Refused(error) => error.code().to_owned(),
    }
}

fn look_up(policy: &CredentialPolicy, repository: &str) -> CredentialLookup {
    policy.look_up(&RepositoryRef::from_opentofu(repository).expect("a repository"))
}

#[track_caller]
fn check(policy: &CredentialPolicy, repository: &str, want: &str) {
    assert_eq!(told(&look_up(policy, repository).choice), want, "{repository}");
}

#[track_caller]
fn check_files(files: &[&str], repository: &str, want: &str) {
    check(&policy(Vec::new(), None, files), repository, want);
}

#[test]
fn the_longest_prefix_of_whole_segments_wins() {
    let file = keys(&["ghcr.io", "ghcr.io/acme", "ghcr.io/acme/widget", "ghcr.io/ac"]);
    check_files(&[&file], "ghcr.io/acme/widget", "ghcr.io/acme/widget");
    check_files(&[&file], "ghcr.io/acme/widget/x", "ghcr.io/acme/widget");
    check_files(&[&file], "ghcr.io/acme/widgets", "ghcr.io/acme");
    check_files(&[&file], "ghcr.io/acmes/widget", "ghcr.io");
    check_files(&[&file], "quay.io/acme/widget", "anonymous");
}

#[test]
fn a_longer_prefix_wins_over_an_earlier_file_and_an_earlier_file_over_an_equal_one() {
    let (first, second) = (keys(&["ghcr.io"]), keys(&["ghcr.io", "ghcr.io/acme"]));
    check_files(&[&first, &second], "ghcr.io/acme/x", "ghcr.io/acme");
    let (a, b) = (r#"{"auths": {"ghcr.io": {"auth": "YTpw"}}}"#, r#"{"auths": {"ghcr.io": {"auth": "Yjpw"}}}"#);
    check_files(&[a, b], "ghcr.io/x", "a");
    check_files(&[b, a], "ghcr.io/x", "b");
    check_files(&[r#"{"auths": {"ghcr.io": {}}}"#, b], "ghcr.io/x", "b");
    check_files(&[r#"{"auths": {"ghcr.io": 5}}"#, b], "ghcr.io/x", "b");
    check_files(&["not JSON", b], "ghcr.io/x", "b");
}

#[test]
fn only_a_colon_is_anonymous_and_counts() {
    let file = format!(r#"{{"auths": {{"r.test": {{"auth": "dTpw"}}, "r.test/a": {{"auth": "{}"}}}}}}"#, auth(":"));
    check_files(&[&file], "r.test/a/b", "anonymous");
    check_files(&[&file], "r.test/b", "u");
}

#[test]
fn blocks_come_before_files_of_equal_length() {
    let files = keys(&["r.test", "r.test/a/b"]);
    let policy_of = |blocks: Vec<Block>| policy(blocks, None, &[&files]);
    check(&policy_of(vec![basic("r.test")]), "r.test/x", "block r.test");
    check(&policy_of(vec![basic("r.test/a")]), "r.test/a/b", "r.test/a/b");
    check(&policy_of(vec![basic("r.test/a/b")]), "r.test/a/b/c", "block r.test/a/b");
    check(&policy_of(vec![basic("r.test"), basic("r.test/a")]), "r.test/a", "block r.test/a");
    check(&policy_of(vec![basic("R.test"), basic("r.test:443"), basic("*.test")]), "r.test/x", "r.test");
    // Labels that are read alike are no duplicates: the first counts.
    check(&policy_of(vec![basic("r.test/c:"), basic("r.test/c")]), "r.test/c", "block r.test/c:");
    let token = BlockStyle::Token { access: Secret::new("hunter2") };
    check(&policy_of(vec![block("r.test", token)]), "r.test/x", "token");
}

#[test]
fn helpers_are_asked_where_no_closer_entry_is() {
    let file = r#"{"auths": {"ghcr.io/acme": {"auth": "dTpw"}, "quay.io": {"auth": "cTpw"}},
        "credHelpers": {"ghcr.io": "one", "quay.io": "two", "r.test:5000": "three", "e.test": "", "https://s.test": "x",
        "R.TEST": "y", "p.test/a": "path", "p.test": "host"}, "credsStore": "store"}"#;
    check_files(&[file], "ghcr.io/acme/x", "u");
    check_files(&[file], "ghcr.io/x", "helper one https://ghcr.io");
    check_files(&[file], "quay.io/x", "q");
    check_files(&[file], "r.test:5000/x", "helper three https://r.test:5000");
    check_files(&[file], "p.test/a/x", "helper host https://p.test");
    for other in ["e.test", "s.test", "r.test"] {
        check_files(&[file], &format!("{other}/x"), &format!("helper store https://{other}"));
    }
    check_files(&[r#"{"credHelpers": {"ghcr.io/acme": "path"}}"#], "ghcr.io/acme/x", "anonymous");
    check_files(&[r#"{"credsStore": "store"}"#, &keys(&["ghcr.io"])], "ghcr.io/x", "ghcr.io");
    check_files(&[r#"{"credsStore": "a"}"#, r#"{"credsStore": "b"}"#], "ghcr.io/x", "helper a https://ghcr.io");
    check_files(&[r#"{"credsStore": ""}"#], "ghcr.io/x", "anonymous");
}

#[test]
fn the_default_helper_comes_before_every_store_and_after_every_registry() {
    let with = |files: &[&str]| policy(Vec::new(), Some(default("one")), files);
    check(&with(&[r#"{"credsStore": "two"}"#]), "r.test/x", "helper one https://r.test");
    check(&with(&[r#"{"credHelpers": {"r.test": "two"}}"#]), "r.test/x", "helper two https://r.test");
    check(&with(&[&keys(&["r.test"])]), "r.test/x", "r.test");
    let both = policy(vec![block("r.test", BlockStyle::Helper(helper("b")))], Some(default("one")), &[]);
    check(&both, "r.test/x", "helper b https://r.test");
    check(&both, "s.test/x", "helper one https://s.test");
}

#[test]
fn a_helper_is_asked_again_for_the_address_that_docker_login_marked() {
    let marked = |key: &str| format!(r#"{{"auths": {{"{key}": {{}}}}, "credsStore": "s"}}"#);
    check_files(&[&marked("r.test:5000")], "r.test:5000/x", "helper s https://r.test:5000 r.test:5000");
    check_files(&[&marked("https://r.test")], "r.test/x", "helper s https://r.test");
    check_files(&[&marked("https://r.test/v1/")], "r.test/x", "helper s https://r.test https://r.test/v1/");
    check_files(&[&marked("other.test")], "r.test/x", "helper s https://r.test");
    check_files(&[&marked("r.test/a")], "r.test/a/x", "helper s https://r.test");
    // The mark of another file, or for a helper that no file names, is none.
    check_files(&[r#"{"credsStore": "s"}"#, &marked("r.test")], "r.test/x", "helper s https://r.test");
    check(&policy(Vec::new(), Some(default("d")), &[&marked("r.test")]), "r.test/x", "helper d https://r.test");
    let file = r#"{"auths": {"r.test": {"auth": ""}}, "credHelpers": {"r.test": "h"}}"#;
    check_files(&[file], "r.test/x", "helper h https://r.test r.test");
}

#[test]
fn a_helper_of_podmans_file_is_asked_again_for_its_key() {
    let check = |text: &str, repository: &str, want: &str| {
        let files = vec![found("~/.config/containers/auth.json", text)];
        check(&CredentialPolicy::new(Vec::new(), None, SearchScope::Ambient, files), repository, want);
    };
    check(r#"{"credHelpers": {"r.test:5000": "h"}}"#, "r.test:5000/x", "helper h https://r.test:5000 r.test:5000");
    check(r#"{"credHelpers": {"docker.io": "h"}}"#, "docker.io/x", "helper h https://index.docker.io/v1/ docker.io");
    check(r#"{"credsStore": "s"}"#, "r.test/x", "helper s https://r.test");
    let both = r#"{"auths": {"r.test": {}}, "credHelpers": {"r.test": "h"}}"#;
    check(both, "r.test/x", "helper h https://r.test r.test");
}

#[test]
fn an_auth_without_colon_is_refused_wherever_it_matches() {
    let bad =
        |key: &str| format!(r#"{{"auths": {{"r.test": {{"auth": "dTpw"}}, "{key}": {{"auth": "{}"}}}}}}"#, auth("up"));
    check_files(&[&bad("r.test/a")], "r.test/a/b", "auth-without-colon");
    check_files(&[&bad("r.test/a")], "r.test/b", "u");
    check_files(&[&bad("other.test")], "r.test/a", "u");
    check_files(&[&keys(&["r.test"]), &bad("r.test")], "r.test/a", "auth-without-colon");
    check(&policy(vec![basic("r.test/a")], None, &[&bad("r.test")]), "r.test/a", "auth-without-colon");
    let error = match look_up(&policy(Vec::new(), None, &[&bad("r.test")]), "r.test/x").choice {
        Choice::Refused(error) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert_snapshot!(error, @"the `auth` of r.test in file0:1 has no colon between username and password");
}

#[test]
fn a_block_that_leaves_its_style_open_is_refused_where_it_matches() {
    let open = |label: &str| block(label, BlockStyle::Undecided { argument: "username" });
    check(&policy(vec![open("r.test")], None, &[]), "r.test/x", "block-style-undecided");
    check(&policy(vec![open("r.test")], None, &[&keys(&["r.test/x"])]), "r.test/x", "block-style-undecided");
    check(&policy(vec![open("r.test/a")], None, &[&keys(&["r.test"])]), "r.test/x", "r.test");
    let Choice::Refused(error) = look_up(&policy(vec![open("r.test")], None, &[]), "r.test/x").choice else {
        panic!("it is refused")
    };
    assert_snapshot!(error, @r#"oci_credentials "r.test" in tofurc:7 has an empty username"#);
}

#[test]
fn a_bad_name_of_a_helper_is_refused_where_it_would_win() {
    let file =
        r#"{"auths": {"r.test/a": {"auth": "dTpw"}}, "credHelpers": {"r.test": "x/evil"}, "credsStore": "good"}"#;
    check_files(&[file], "r.test/b", "invalid-helper-name");
    check_files(&[file], "r.test/a", "u");
    check_files(&[file], "s.test/a", "helper good https://s.test");
    check_files(&[r#"{"credsStore": "../evil"}"#, &keys(&["r.test"])], "r.test/x", "r.test");
    check_files(&[r#"{"credsStore": "/evil"}"#, r#"{"credsStore": "good"}"#], "r.test/x", "invalid-helper-name");
    let Choice::Refused(error) = look_up(&policy(Vec::new(), None, &[file]), "r.test/b").choice else {
        panic!("it is refused")
    };
    assert_snapshot!(error, @r#"`x/evil` cannot be the name of a credential helper: credHelpers "r.test": "x/evil" in file0:1"#);
}

#[test]
fn of_keys_that_are_read_alike_the_one_written_so_wins() {
    for order in [["r.test/a", "r.test/a:"], ["r.test/a:", "r.test/a"], ["r.test/a@", "r.test/a"]] {
        check_files(&[&keys(&order)], "r.test/a/b", "r.test/a");
    }
    check_files(&[&keys(&["r.test/a:", "r.test/a@"])], "r.test/a", "r.test/a_");
}

#[test]
fn docker_io_is_served_by_every_name_of_the_hub() {
    for name in ["docker.io", "https://index.docker.io/v1/", "index.docker.io", "registry-1.docker.io"] {
        check_files(&[&keys(&[name])], "docker.io/library/x", &name.replace(':', "_"));
        let helpers = format!(r#"{{"credHelpers": {{"{name}": "h"}}}}"#);
        check_files(&[&helpers], "docker.io/library/x", "helper h https://index.docker.io/v1/");
    }
    check_files(&[&keys(&["registry-1.docker.io", "index.docker.io", "docker.io"])], "docker.io/x", "docker.io");
    check_files(&[&keys(&["docker.io", "index.docker.io/library"])], "docker.io/library/x", "index.docker.io/library");
    check_files(&[&keys(&["index.docker.io"]), &keys(&["docker.io"])], "docker.io/x", "index.docker.io");
    check_files(&[r#"{"credsStore": "s"}"#], "docker.io/x", "helper s https://index.docker.io/v1/");
    let login = r#"{"auths": {"https://index.docker.io/v1/": {}}, "credsStore": "s"}"#;
    check_files(&[login], "docker.io/x", "helper s https://index.docker.io/v1/");
    check(
        &policy(vec![basic("registry-1.docker.io")], None, &[&keys(&["docker.io"])]),
        "docker.io/x",
        "block registry-1.docker.io",
    );
    check_files(&[&keys(&["docker.io.example", "hub.docker.com"])], "docker.io/x", "anonymous");
}

#[test]
fn the_other_names_of_the_hub_take_their_own_key_first() {
    for (own, other) in [("registry-1.docker.io", "index.docker.io"), ("index.docker.io", "registry-1.docker.io")] {
        let repository = format!("{own}/library/x");
        check_files(&[&keys(&["docker.io/library", own])], &repository, own);
        check_files(&[&keys(&["docker.io"]), &keys(&[own])], &repository, own);
        check_files(&[&keys(&["docker.io", other])], &repository, "docker.io");
        check_files(&[&keys(&["https://index.docker.io/v1/"])], &repository, "https_//index.docker.io/v1/");
        check_files(
            &[&keys(&["docker.io"]), r#"{"credsStore": "s"}"#],
            &repository,
            &format!("helper s https://{own}"),
        );
        let login = r#"{"auths": {"https://index.docker.io/v1/": {}}, "credsStore": "s"}"#;
        check_files(&[login], &repository, &format!("helper s https://{own} https://index.docker.io/v1/"));
    }
}

/// Every candidate with its fit and verdict.
fn account(policy: &CredentialPolicy, repository: &str) -> String {
    let account = look_up(policy, repository);
    let lines: Vec<String> = account
        .candidates
        .iter()
        .map(|candidate| {
            let fit = candidate.fit.map_or(0, crate::Specificity::specificity);
            format!("{fit} {} -> {:?}", candidate.origin, candidate.verdict)
        })
        .collect();
    lines.join("\n")
}

#[test]
fn the_account_names_everything_that_was_looked_at() {
    let file = format!(
        "{{\"auths\": {{\"r.test\": {{\"auth\": \"dTpw\"}},\n\"r.test/a\": {{}},\n\"https://r.test\": {{\"auth\": \"dTpw\"}},
\"r.test/a/b\": {{\"auth\": 5}}}},\n\"credHelpers\": {{\"r.test\": \"h\", \"s.test\": \"x/y\"}},\n\"credsStore\": \"{}\"}}",
        "s"
    );
    let policy = policy(vec![basic("R.test"), basic("r.test")], Some(default("d")), &[&file]);
    assert_snapshot!(account(&policy, "r.test/a/b"), @r#"
    0 oci_credentials "R.test" in tofurc:7 -> NoMatch(Some(Case("r.test")))
    2 oci_credentials "r.test" in tofurc:7 -> Chosen
    1 docker_credentials_helper "d" of oci_default_credentials in tofurc:9 -> Outranked
    2 auths "r.test" in file0:1 -> Outranked
    3 auths "r.test/a" in file0:2 -> Empty
    0 auths "https://r.test" in file0:3 -> NoMatch(Some(Scheme("r.test")))
    4 auths "r.test/a/b" in file0:4 -> LeftOut("its `auth` is not text")
    2 credHelpers "r.test": "h" in file0:5 -> Outranked
    0 credHelpers "s.test": "x/y" in file0:5 -> NoMatch(None)
    1 credsStore "s" in file0:6 -> Outranked
    "#);
}

#[test]
fn where_nothing_can_be_chosen_nothing_is() {
    let file = format!(r#"{{"auths": {{"r.test": {{"auth": "{}"}}}}, "credsStore": "x/y"}}"#, auth("up"));
    let refused = policy(vec![basic("r.test")], None, &[&file]);
    assert_snapshot!(account(&refused, "r.test/a"), @r#"
    2 oci_credentials "r.test" in tofurc:7 -> Outranked
    2 auths "r.test" in file0:1 -> Broken(AuthWithoutColon { key: "r.test", place: FilePlace { file: "file0", line: Some(1) } })
    1 credsStore "x/y" in file0:1 -> Outranked
    "#);
    let hub = policy(Vec::new(), None, &[&keys(&["registry-1.docker.io", "docker.io"])]);
    assert_snapshot!(account(&hub, "registry-1.docker.io/x"), @r#"
    2 auths "registry-1.docker.io" in file0:1 -> Chosen
    0 auths "docker.io" in file0:1 -> NoMatch(Some(HubName("registry-1.docker.io")))
    "#);
}

#[test]
fn what_is_off_is_not_looked_at() {
    let files = || vec![found("file0", &keys(&["r.test"]))];
    let off = CredentialPolicy::new(vec![basic("s.test")], None, SearchScope::Off, files());
    check(&off, "r.test/x", "anonymous");
    check(&off, "s.test/x", "block s.test");
    assert!(off.files().is_empty());
    check(&CredentialPolicy::new(Vec::new(), None, SearchScope::Listed, files()), "r.test/x", "r.test");
    let anonymous = look_up(&CredentialPolicy::anonymous(), "r.test/x");
    assert_eq!((anonymous.choice, anonymous.candidates), (Choice::Anonymous, Vec::new()));
}
