//! Each rule by itself.

use insta::assert_snapshot;
use tofu_oci_types::{RepositoryRef, Secret};

use super::{ConfigFault, FaultEffect, Prediction, predict};
use crate::{
    AuthFile, Block, BlockStyle, CredentialPolicy, DefaultHelper, FilePlace, FileState, FoundFile, HelperName,
    SearchScope,
};

fn place(line: usize) -> FilePlace {
    FilePlace { file: "tofu.rc".to_owned(), line: Some(line) }
}

fn file(name: &str, text: &str) -> FoundFile {
    let state = match AuthFile::parse(name, text.as_bytes()) {
        Ok(file) => FileState::Read(file),
        Err(error) => FileState::Malformed(error),
    };
    FoundFile { state, ..FoundFile::for_test(name, "~/.docker") }
}

fn files(texts: &[&str]) -> CredentialPolicy {
    let files = texts.iter().enumerate().map(|(position, text)| file(&format!("{position}.json"), text));
    CredentialPolicy::new(Vec::new(), None, SearchScope::Ambient, files.collect())
}

fn block(label: &str, style: BlockStyle) -> Block {
    Block { label: label.to_owned(), place: place(3), style }
}

fn basic(username: &str) -> BlockStyle {
    BlockStyle::Basic { username: username.to_owned(), password: Secret::new("pw") }
}

fn helper(name: &str) -> HelperName {
    HelperName::parse(name).expect("a name")
}

fn fault(effect: FaultEffect) -> ConfigFault {
    ConfigFault { code: "some-code".to_owned(), place: place(7), effect }
}

/// The prediction in one line. Origins and reasons are shown, passwords too: they are made up here.
#[track_caller]
fn check(policy: &CredentialPolicy, faults: &[ConfigFault], repository: &str) -> String {
    let repository = RepositoryRef::from_opentofu(repository).expect("a repository");
    match predict(policy, faults, &repository) {
        Prediction::Anonymous { because: None } => "anonymous".to_owned(),
        Prediction::Anonymous { because: Some(because) } => format!("anonymous: {because}"),
        Prediction::Basic { username, password, origin } => format!("{username}:{} from {origin}", password.expose()),
        Prediction::Token { access, origin } => format!("token {} from {origin}", access.expose()),
        Prediction::Ask { program, server, origin } => format!("{program} get {server} from {origin}"),
        Prediction::Refused { code, because } => format!("{code}: {because}"),
        Prediction::Crash { because } => format!("crash: {because}"),
        Prediction::Random { keys } => format!("one of {keys:?}"),
    }
}

/// `auths` of these keys, each with itself as the user.
fn keys(keys: &[&str]) -> String {
    use base64::Engine as _;
    let entry = |key: &&str| {
        let auth = base64::engine::general_purpose::STANDARD.encode(format!("{}:pw", key.replace(':', ".")));
        ((*key).to_owned(), serde_json::json!({ "auth": auth }))
    };
    let auths: serde_json::Map<String, serde_json::Value> = keys.iter().map(entry).collect();
    serde_json::json!({ "auths": auths }).to_string()
}

#[test]
fn the_longer_prefix_wins_then_the_block_then_the_earlier_file() {
    let both = [file("a", &keys(&["r", "r/a"])), file("b", &keys(&["r", "r/a/b"]))];
    let ambient = CredentialPolicy::new(Vec::new(), None, SearchScope::Ambient, both.to_vec());
    assert_snapshot!(check(&ambient, &[], "r/a/b/c"), @r#"r/a/b:pw from auths "r/a/b" in b:1"#);
    assert_snapshot!(check(&ambient, &[], "r/a/x"), @r#"r/a:pw from auths "r/a" in a:1"#);
    assert_snapshot!(check(&ambient, &[], "r/x"), @r#"r:pw from auths "r" in a:1"#);
    assert_snapshot!(check(&ambient, &[], "s/x"), @"anonymous");
    let blocks = vec![block("r", basic("blk")), block("r/a:", basic("first")), block("r/a", basic("second"))];
    let with_blocks = CredentialPolicy::new(blocks, None, SearchScope::Ambient, both.to_vec());
    assert_snapshot!(check(&with_blocks, &[], "r/a/b/c"), @r#"r/a/b:pw from auths "r/a/b" in b:1"#);
    assert_snapshot!(check(&with_blocks, &[], "r/a/x"), @r#"first:pw from oci_credentials "r/a:" in tofu.rc:3"#);
    assert_snapshot!(check(&with_blocks, &[], "r/x"), @r#"blk:pw from oci_credentials "r" in tofu.rc:3"#);
}

#[test]
fn inside_a_file_auths_come_before_helpers_and_the_default_helper_before_the_store() {
    let text = r#"{"auths": {"r": {"auth": "dTpw"}, "s": {}}, "credHelpers": {"r": "one", "s": "two", "t": ""}, "credsStore": "store"}"#;
    let default = Some(DefaultHelper { helper: helper("default"), place: place(1) });
    let policy = CredentialPolicy::new(Vec::new(), default, SearchScope::Ambient, vec![file("f", text)]);
    assert_snapshot!(check(&policy, &[], "r/x"), @r#"u:p from auths "r" in f:1"#);
    assert_snapshot!(check(&policy, &[], "s/x"), @r#"docker-credential-two get https://s from credHelpers "s": "two" in f:1"#);
    assert_snapshot!(check(&policy, &[], "t/x"), @r#"docker-credential-default get https://t from docker_credentials_helper "default" of oci_default_credentials in tofu.rc:1"#);
    assert_snapshot!(check(&files(&[text]), &[], "t:5000/x"), @r#"docker-credential-store get https://t:5000 from credsStore "store" in 0.json:1"#);
    assert_snapshot!(check(&files(&[r#"{"credHelpers": {"r/a": "x", "https://r": "x", "R": "x"}}"#]), &[], "r/a/b"), @"anonymous");
    let block =
        CredentialPolicy::new(vec![block("r", BlockStyle::Helper(helper("h")))], None, SearchScope::Off, Vec::new());
    assert_snapshot!(check(&block, &[], "r/x"), @r#"docker-credential-h get https://r from oci_credentials "r" in tofu.rc:3"#);
}

#[test]
fn a_helpers_name_is_run_as_a_path() {
    assert_snapshot!(check(&files(&[r#"{"credHelpers": {"r": "x/evil"}}"#]), &[], "r/x"), @r#"./docker-credential-x/evil get https://r from credHelpers "r": "x/evil" in 0.json:1"#);
    assert_snapshot!(check(&files(&[r#"{"credsStore": "/e\u001b[0m"}"#]), &[], "r/x"), @r#"./docker-credential-/e[0m get https://r from credsStore "/e\u{1b}[0m" in 0.json:1"#);
}

#[test]
fn keys_that_are_read_alike_are_taken_at_random() {
    assert_snapshot!(check(&files(&[&keys(&["r/a", "r/a:", "r"])]), &[], "r/a/b"), @r#"one of ["r/a", "r/a:"]"#);
    assert_snapshot!(check(&files(&[&keys(&["r/a", "r/a:", "r/a/b"])]), &[], "r/a/b"), @r#"r/a/b:pw from auths "r/a/b" in 0.json:1"#);
    let same = r#"{"auths": {"r/a": {"auth": "dTpw"}, "r/a@": {"auth": "dTpw"}}}"#;
    assert_snapshot!(check(&files(&[same]), &[], "r/a"), @r#"u:p from auths "r/a" in 0.json:1"#);
    assert_snapshot!(check(&files(&[&keys(&["r/a"]), &keys(&["r/a:"])]), &[], "r/a"), @r#"r/a:pw from auths "r/a" in 0.json:1"#);
}

#[test]
fn an_auth_without_a_colon_stands_in_the_way_of_every_other_source_and_of_none() {
    let bad = r#"{"auths": {"r": {"auth": "bm9jb2xvbg=="}, "s": {"auth": "dTpw"}}}"#;
    assert_snapshot!(check(&files(&[bad]), &[], "r/x"), @"anonymous: 0.json:1: the `auth` of r has no colon, and is passed over without a word");
    assert_snapshot!(check(&files(&[bad]), &[], "s/x"), @r#"u:p from auths "s" in 0.json:1"#);
    assert_snapshot!(check(&files(&[&keys(&["r/x"]), bad]), &[], "r/x"), @"auth-without-colon: 1.json:1: the `auth` of r has no colon");
    let blocks = vec![block("r", basic("blk")), block("r/x", BlockStyle::Undecided { argument: "username" })];
    let policy = CredentialPolicy::new(blocks, None, SearchScope::Ambient, vec![file("f", bad)]);
    assert_snapshot!(check(&policy, &[], "r/x"), @r#"block-style-undecided: tofu.rc:3: oci_credentials "r/x" has an empty username; f:1: the `auth` of r has no colon"#);
    let alone = CredentialPolicy::new(
        vec![block("r", BlockStyle::Undecided { argument: "access_token" })],
        None,
        SearchScope::Off,
        Vec::new(),
    );
    assert_snapshot!(check(&alone, &[], "r/x"), @r#"anonymous: tofu.rc:3: oci_credentials "r" has an empty access_token, and is passed over without a word"#);
}

#[test]
fn half_a_pair_is_kept_and_none_is_anonymous() {
    assert_snapshot!(check(&files(&[r#"{"auths": {"r": {"auth": "Og=="}}}"#]), &[], "r/x"), @r#"anonymous: auths "r" in 0.json:1 holds neither name nor password"#);
    assert_snapshot!(check(&files(&[r#"{"auths": {"r": {"auth": "dTo="}}}"#]), &[], "r/x"), @r#"u: from auths "r" in 0.json:1"#);
    assert_snapshot!(check(&files(&[r#"{"auths": {"r": {"auth": "OnA6cQ=="}}}"#]), &[], "r/x"), @r#":p:q from auths "r" in 0.json:1"#);
}

#[test]
fn a_token_is_sent_as_it_is() {
    let token = BlockStyle::Token { access: Secret::new("acc") };
    let policy =
        CredentialPolicy::new(vec![block("r", token)], None, SearchScope::Ambient, vec![file("f", &keys(&["r"]))]);
    assert_snapshot!(check(&policy, &[], "r/x"), @r#"token acc from oci_credentials "r" in tofu.rc:3"#);
}

#[test]
fn nothing_is_sent_for_docker_io() {
    let policy = files(&[&keys(&["docker.io", "registry-1.docker.io", "https://index.docker.io/v1/"])]);
    assert_snapshot!(check(&policy, &[], "docker.io/library/x"), @"anonymous: no credential is ever sent for docker.io/...: the registry that is asked, registry-1.docker.io, has another name");
    assert_snapshot!(check(&policy, &[], "registry-1.docker.io/library/x"), @r#"registry-1.docker.io:pw from auths "registry-1.docker.io" in 0.json:1"#);
    assert_snapshot!(check(&policy, &[], "index.docker.io/library/x"), @"anonymous");
    assert_snapshot!(check(&files(&["{}"]), &[], "docker.io/library/x"), @"anonymous: no credential is ever sent for docker.io/...: the registry that is asked, registry-1.docker.io, has another name");
    assert_snapshot!(check(&files(&[r#"{"auths": {"docker.io": {"auth": "eA=="}}, "credsStore": "s"}"#]), &[], "docker.io/x"), @"auth-without-colon: 0.json:1: the `auth` of docker.io has no colon");
}

#[test]
fn one_broken_file_turns_all_ambient_files_off_and_nothing_else() {
    let good = keys(&["r"]);
    assert_snapshot!(check(&files(&[&good, "\n{\"auths\": []}"]), &[], "r/x"), @"anonymous: 1.json:2: its `auths` is not an object, so no ambient file is read");
    let unreadable = FoundFile {
        state: FileState::Unreadable { reason: "Not a directory".to_owned() },
        ..FoundFile::for_test("~/.docker/config.json", "~/.docker")
    };
    let policy =
        CredentialPolicy::new(Vec::new(), None, SearchScope::Ambient, vec![file("f", &good), unreadable.clone()]);
    assert_snapshot!(check(&policy, &[], "r/x"), @"anonymous: ~/.docker/config.json: it cannot be read: Not a directory, so no ambient file is read");
    let missing = FoundFile::for_test("gone", "~/.docker");
    let policy = CredentialPolicy::new(Vec::new(), None, SearchScope::Ambient, vec![missing.clone(), file("f", &good)]);
    assert_snapshot!(check(&policy, &[], "r/x"), @r#"r:pw from auths "r" in f:1"#);
    let default = Some(DefaultHelper { helper: helper("d"), place: place(1) });
    let policy = CredentialPolicy::new(vec![block("r", basic("blk"))], default, SearchScope::Ambient, vec![unreadable]);
    assert_snapshot!(check(&policy, &[], "r/x"), @r#"blk:pw from oci_credentials "r" in tofu.rc:3"#);
    assert_snapshot!(check(&policy, &[], "s/x"), @r#"docker-credential-d get https://s from docker_credentials_helper "d" of oci_default_credentials in tofu.rc:1"#);
    for listed in [missing, file("list", "{")] {
        let policy = CredentialPolicy::new(
            vec![block("r", basic("blk"))],
            None,
            SearchScope::Listed,
            vec![file("f", &good), listed],
        );
        let refused = check(&policy, &[], "docker.io/x");
        assert!(refused.starts_with("config-file-error: "), "{refused}");
    }
}

#[test]
fn files_that_only_this_program_looks_at_count_for_nothing() {
    let unknown = |text: &str| FoundFile {
        known_to_opentofu: false,
        because: "$DOCKER_CONFIG".to_owned(),
        ..file("dc/config.json", text)
    };
    let policy = |text: &str| {
        CredentialPolicy::new(Vec::new(), None, SearchScope::Ambient, vec![unknown(text), file("f", &keys(&["s"]))])
    };
    assert_snapshot!(check(&policy(&keys(&["r", "s"])), &[], "r/x"), @"anonymous: dc/config.json ($DOCKER_CONFIG) is not looked at");
    assert_snapshot!(check(&policy(&keys(&["r", "s"])), &[], "s/x"), @r#"s:pw from auths "s" in f:1"#);
    assert_snapshot!(check(&policy("{"), &[], "s/x"), @r#"s:pw from auths "s" in f:1"#);
    assert_snapshot!(check(&policy(&keys(&["r"])), &[], "t/x"), @"anonymous");
}

#[test]
fn an_identity_token_counts_for_nothing() {
    let alone = r#"{"auths": {"r": {"identitytoken": "idt"}}}"#;
    assert_snapshot!(check(&files(&["{}", alone]), &[], "r/x"), @"anonymous: 1.json:1: the `identitytoken` of r is not looked at");
    assert_snapshot!(check(&files(&[alone]), &[], "s/x"), @"anonymous");
    let cloud = r#"{"auths": {"r": {"auth": "dTo=", "identitytoken": "idt"}}}"#;
    assert_snapshot!(check(&files(&[cloud]), &[], "r/x"), @r#"u: from auths "r" in 0.json:1"#);
}

#[test]
fn mistakes_in_the_configuration_are_told_and_passed_over() {
    let ambient = files(&[&keys(&["r"])]);
    let from_file = r#"r:pw from auths "r" in 0.json:1"#;
    for effect in [FaultEffect::BlockDropped, FaultEffect::FirstKept, FaultEffect::DefaultsInstead] {
        assert_eq!(check(&ambient, &[fault(effect)], "r/x"), from_file);
    }
    assert_snapshot!(check(&ambient, &[fault(FaultEffect::DiscoveryOff)], "r/x"), @"anonymous");
    assert_snapshot!(check(&ambient, &[fault(FaultEffect::Crash)], "r/x"), @"crash: tofu.rc:7: a second oci_default_credentials block");
    let dropped = [fault(FaultEffect::Crash), fault(FaultEffect::ConfigDropped)];
    assert_snapshot!(check(&ambient, &dropped, "r/x"), @"config-dropped: tofu.rc:7: after a syntax error the whole CLI configuration counts for nothing, mirrors too");
    let kept = |name: &str| [fault(FaultEffect::DefaultHelperKept { name: name.to_owned() })];
    assert_eq!(check(&ambient, &kept("a/b"), "r/x"), from_file);
    assert_snapshot!(check(&ambient, &kept("a/b"), "s/x"), @r#"./docker-credential-a/b get https://s from docker_credentials_helper "a/b" of oci_default_credentials in tofu.rc:7"#);
    assert_snapshot!(check(&ambient, &kept(""), "s/x"), @"anonymous");
    let block = [fault(FaultEffect::BlockHelperKept { label: "s".to_owned(), name: "a b".to_owned() })];
    assert_snapshot!(check(&ambient, &block, "s/x"), @r#"docker-credential-a b get https://s from oci_credentials "s" in tofu.rc:7"#);
}
