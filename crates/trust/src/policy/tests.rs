use std::io;

use insta::assert_snapshot;
use tofu_oci_types::ProviderAddr;

use super::*;
use crate::Pins;
use crate::testing::{address, key};

/// A policy whose only key file, `acme.pub`, holds key 1.
fn read(text: &str) -> Result<Policy, PolicyError> {
    Policy::parse(text)?.resolve(|path| match path.to_str() {
        Some("keys/acme.pub") => Ok(key(1).public().to_pem().into_bytes()),
        Some("keys/empty.pub") => Ok(b"\n".to_vec()),
        Some("keys/broken.asc") => Ok(b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n".to_vec()),
        _ => Err(io::ErrorKind::NotFound.into()),
    })
}

const KEY: &str = "[[key]]\nname = \"acme\"\nfile = \"keys/acme.pub\"\n";
const RULE: &str = "[[rule]]\nproviders = [\"example.com/acme/*\"]\nkeys = [\"acme\"]\n";

/// What is refused, as `LINE: TEXT => WHAT IS WRONG`, with the text that is pointed at.
#[track_caller]
fn refused(text: &str) -> String {
    let error = read(text).expect_err("must be refused");
    let instead = error.problem.instead().map(|instead| format!(" [{instead}]")).unwrap_or_default();
    match error.span.clone() {
        Some(span) => {
            let line = text[..span.start].lines().count().max(1);
            format!("{line}: {} => {error}{instead}", &text[span].replace('\n', "⏎"))
        }
        None => format!("{error}{instead}"),
    }
}

#[test]
fn every_member_has_its_default_and_its_values() {
    let policy = read(&format!("{KEY}{RULE}")).unwrap();
    let rule = policy.rule(&address("example.com/acme/widget"));
    let (path, providers) = ("trust.toml".into(), vec!["example.com/acme/*".to_owned()]);
    assert_eq!(rule.origin, RuleOrigin::File { path, line: 4, providers });
    assert_eq!((rule.keys.len(), rule.threshold), (1, 1));
    assert_eq!(rule.keys[0].material.ids(), [key(1).public().id()]);
    assert_eq!(rule.predicate_types, [crate::SIGN_PREDICATE]);
    assert_eq!(rule.unsigned, Unsigned::ByDefault(Action::Refuse));
    assert_eq!((rule.unnamed, rule.moved_tags), (Action::Refuse, Action::Refuse));
    assert_eq!((rule.expired_keys, rule.manifest_checksums), (ExpiredKeys::Warn, ManifestChecksums::Optional));

    let all = "threshold = 1\npredicate_types = [\"urn:x\"]\nunsigned = \"warn\"\nunnamed = \"allow\"\n\
               moved_tags = \"warn\"\nexpired_keys = \"refuse\"\nmanifest_checksums = \"required\"\n";
    let policy = read(&format!("{KEY}{RULE}{all}")).unwrap();
    let rule = policy.rule(&address("example.com/acme/widget"));
    assert_eq!(rule.predicate_types, ["urn:x"]);
    assert_eq!(rule.unsigned, Unsigned::Said(Action::Warn));
    assert_eq!((rule.unnamed, rule.moved_tags), (Action::Allow, Action::Warn));
    assert_eq!((rule.expired_keys, rule.manifest_checksums), (ExpiredKeys::Refuse, ManifestChecksums::Required));
}

#[test]
fn manifest_checksums_can_be_off_in_one_rule_or_in_all() {
    let policy = read(&format!("{KEY}{RULE}manifest_checksums = \"off\"\n")).unwrap();
    let (named, other) = (address("example.com/acme/widget"), address("example.com/other/widget"));
    let of = |policy: &Policy| [&named, &other].map(|address| policy.rule(address).manifest_checksums);
    assert_eq!(of(&policy), [ManifestChecksums::Off, ManifestChecksums::Optional]);
    assert_eq!(of(&policy.without_manifest_checksums()), [ManifestChecksums::Off; 2]);
}

#[test]
fn without_a_file_unsigned_is_allowed_and_moved_tags_are_refused() {
    for policy in [Policy::default(), read("").unwrap(), read(&format!("{KEY}{RULE}")).unwrap()] {
        let rule = policy.rule(&address("registry.opentofu.org/acme/widget"));
        assert_eq!(rule.origin, RuleOrigin::Default);
        assert_eq!((rule.keys.len(), rule.threshold), (0, 1));
        assert_eq!(rule.unsigned, Unsigned::ByDefault(Action::Allow));
        assert_eq!(rule.moved_tags, Action::Refuse);
    }
}

#[test]
fn the_first_rule_with_a_matching_pattern_counts() {
    let text = "[[rule]]\nproviders = [\"example.com/acme/*\", \"registry.opentofu.org/acme/*\"]\nunsigned = \"warn\"\n\
                [[rule]]\nproviders = [\"*/*/*\"]\nunsigned = \"refuse\"\n";
    let policy = read(text).unwrap();
    let unsigned = |text: &str| policy.rule(&address(text)).unsigned.action();
    assert_eq!(unsigned("example.com/acme/widget"), Action::Warn);
    assert_eq!(unsigned("registry.opentofu.org/acme/widget"), Action::Warn);
    assert_eq!(unsigned("example.com/other/widget"), Action::Refuse);
}

#[test]
fn modules_have_rules_of_their_own() {
    let text = "[[rule]]\nproviders = [\"*/*/*\"]\nunsigned = \"refuse\"\n\
                [[rule]]\nmodules = [\"ghcr.io/acme/*\"]\nunsigned = \"warn\"\n";
    let policy = read(text).unwrap();
    assert!(policy.module_rule(&"ghcr.io/other/network".parse().unwrap()).is_none());
    let rule = policy.module_rule(&"ghcr.io/acme/network".parse().unwrap()).unwrap();
    assert_eq!(rule.unsigned, Unsigned::Said(Action::Warn));
    // A rule for modules is for no provider.
    let alone = read("[[rule]]\nmodules = [\"*\"]\nunsigned = \"refuse\"\n").unwrap();
    assert_eq!(alone.rule(&address("example.com/acme/widget")).origin, RuleOrigin::Default);
}

#[test]
fn what_is_misread_is_refused_with_its_place() {
    assert_snapshot!(refused("[[rule]]\nproviders = [\"a/b\"]\nunsignd = \"refuse\"\n"), @"2: unsignd => unknown field `unsignd`, expected one of `providers`, `modules`, `keys`, `threshold`, `predicate_types`, `slsa`, `unsigned`, `unnamed`, `moved_tags`, `expired_keys`, `manifest_checksums`");
    assert_snapshot!(refused("[[rules]]\n"), @"1: rules => unknown field `rules`, expected one of `key`, `identity`, `rule` [write [[rule]]]");
    assert_snapshot!(refused("[[rule]]\nproviders = [\"a/b\"\n"), @"2:  => unclosed array, expected `]`");
    assert_snapshot!(refused("[[rule]]\nproviders = [\"a/b\"]\nunsigned = \"deny\"\n"), @r#"3: "deny" => unknown variant `deny`, expected one of `refuse`, `warn`, `allow`"#);
    assert_snapshot!(refused("[[rule]]\nproviders = [\"a/b\"]\nexpired_keys = \"allow\"\n"), @r#"3: "allow" => unknown variant `allow`, expected `refuse` or `warn`"#);
    let nothing = r#"a rule names the providers or the modules that it is for [write providers = ["HOST/NAMESPACE/TYPE"], or ["*/*/*"] for all; for modules, modules = ["HOST/REPOSITORY"], or ["*"]]"#;
    assert_eq!(refused("[[rule]]\nkeys = []\n"), format!("1: [[rule]] => {nothing}"));
    assert_eq!(refused("[[rule]]\nproviders = []\n"), format!("2: [] => {nothing}"));
    assert_eq!(refused("[[rule]]\nproviders = [\"*/*/*\"]\nmodules = []\n"), format!("3: [] => {nothing}"));
    assert_snapshot!(refused("[[rule]]\nmodules = [\"ghcr.io/a*\"]\n"), @r#"2: "ghcr.io/a*" => `ghcr.io/a*` is not a pattern of repositories with modules: * replaces all that follows the last slash [write HOST/REPOSITORY, HOST/PATH/*, HOST/* or *]"#);
    assert_snapshot!(refused("[[rule]]\nproviders = [\"*/acme/*\"]\n"), @r#"2: "*/acme/*" => `*/acme/*` is not a pattern of providers: the host can be * only if the namespace and the type are * too [write the host, or */*/* for every provider]"#);
    assert_snapshot!(refused(&format!("{KEY}{RULE}predicate_types = [\"provenance\"]\n")), @r#"7: ["provenance"] => the predicate type "provenance" is not a URI, which is what signers write [write "https://slsa.dev/provenance/v1"]"#);
    assert_snapshot!(refused(&format!("{KEY}{RULE}predicate_types = []\n")), @"7: [] => the list of predicate types is empty; omit it for the usual one");
    assert_snapshot!(refused(&RULE.replace("[[rule]]", "[[rule]]\n")), @r#"4: "acme" => there is no key or identity named "acme" [add a [[key]] with that `name`, and `file` or `pem`, or an [[identity]]]"#);
    assert_snapshot!(refused(&format!("{KEY}{}", RULE.replace("[\"acme\"]", "[\"acm\"]"))), @r#"6: "acm" => there is no key or identity named "acm" [the keys and identities are: acme]"#);
    assert_snapshot!(refused(&format!("{KEY}{KEY}")), @r#"5: "acme" => there are two keys or identities named "acme""#);
}

/// Each is written so elsewhere; the error said only what it must be, and a literal `{tag}` was taken.
#[test]
fn a_slip_in_an_identity_is_answered_with_what_to_write() {
    const SOUND: &str = "[[identity]]\nname = \"ci\"\nrepository = \"github.com/acme/widget\"\nworkflow = \".github/workflows/release.yml\"\nref = \"refs/tags/v{version}\"\n[[rule]]\nproviders = [\"*/*/*\"]\nkeys = [\"ci\"]\n";
    read(SOUND).expect("a policy");
    for (right, slip, want) in [
        ("github.com/acme", "https://github.com/acme", "[write repository = \"github.com/acme/widget\"]"),
        ("github.com/acme/widget\"", "https://github.com/acme/widget.git\"", "= \"github.com/acme/widget\"]"),
        ("github.com/acme/widget\"", "github.com/acme/widget.git\"", "= \"github.com/acme/widget\"]"),
        ("github.com/acme/widget", "git@github.com:acme/widget.git", "= \"github.com/acme/widget\"]"),
        ("github.com/acme/widget", "ssh://git@github.com/acme/widget.git/", "= \"github.com/acme/widget\"]"),
        ("github.com/acme/widget", "github.com/acme/widget/", "= \"github.com/acme/widget\"]"),
        (".github/workflows/release.yml", "release.yml", "[write workflow = \".github/workflows/release.yml\"]"),
        ("v{version}", "{tag}", "[write ref = \"refs/tags/v{version}\"]"),
        ("v{version}", "v{tag}", "[write ref = \"refs/tags/v{version}\"]"),
        (
            "keys = [\"ci\"]",
            "identities = [\"ci\"]",
            "[the name of an [[identity]] stands in `keys`, as that of a [[key]] does]",
        ),
    ] {
        let said = refused(&SOUND.replace(right, slip));
        assert!(said.ends_with(want), "{said}");
    }
}

#[test]
fn a_slip_in_the_form_of_the_file_is_answered_with_what_to_write() {
    let instead = |text: &str| read(text).expect_err("must be refused").problem.instead();
    let check = |text: &str, want: &str| assert_eq!(instead(text).as_deref(), Some(want), "{text}");
    check("[identity]\nname = \"ci\"\n", "write [[identity]], with two brackets");
    check("[[rules]]\n", "write [[rule]]");
    check(&RULE.replace("[\"acme\"]", "\"acme\""), "write [\"acme\"], a list");
    let identity = "[[identity]]\nname = \"ci\"\nrepository = \"github.com/acme/widget\"\n";
    check(&format!("{identity}repository_id = 1234\n"), "write \"1234\", in quotes");
    check(
        &format!("{identity}workflow = \".github/workflows/Release\"\n"),
        "write workflow = \".github/workflows/Release.yml\"",
    );
    // A hint repeated the text that was refused.
    for member in ["workflow = \".gitlab-ci.yml\"\n", "workflow = \"acme/ci/build.yml\"\n"] {
        let error = read(&format!("{identity}{member}")).expect_err("must be refused").problem;
        assert!(error.to_string().contains(".github/workflows"), "{error}");
        assert_eq!(error.instead(), None, "{member}");
    }
    let any = identity.replace("acme/widget", "*/w");
    assert_eq!(instead(&format!("{any}workflow = \".github/workflows/a.yml\"\n")), None);
}

#[test]
fn a_key_that_cannot_be_used_is_refused_with_its_place() {
    let with = |member: &str| format!("[[key]]\nname = \"acme\"\n{member}\n{RULE}");
    assert_snapshot!(refused(&with("")), @r#"2: "acme" => the key "acme" has neither `file` nor `pem` [write file = "PATH", or pem = """the key itself"""]"#);
    assert_snapshot!(refused(&with("file = \"x\"\npem = \"y\"")), @r#"4: "y" => the key "acme" has both `file` and `pem` [write file = "PATH", or pem = """the key itself"""]"#);
    assert_snapshot!(refused(&with("file = \"keys/lost.pub\"")), @r#"3: "keys/lost.pub" => the key file keys/lost.pub cannot be read [a key file's path is relative to the policy file]"#);
    assert_snapshot!(refused(&with("file = \"keys/empty.pub\"")), @r#"3: "keys/empty.pub" => the key "acme" cannot be used: the key file is empty"#);
    assert_snapshot!(refused(&with("pem = \"two\\nlines\"")), @r#"3: "two\nlines" => the key "acme" cannot be used: the key is malformed: the file holds no PEM block `PUBLIC KEY`"#);
    assert!(refused(&with("file = \"keys/broken.asc\"")).contains("OpenPGP"), "by its content");
    assert_snapshot!(refused("[[key]]\nname = \" \"\nfile = \"keys/acme.pub\"\n"), @r#"2: " " => a key or identity needs a name"#);
}

#[test]
fn a_path_as_the_text_of_a_key_was_called_a_file_without_a_key() {
    let policy = format!("[[key]]\nname = \"acme\"\npem = \"../cosign.pub\"\n{RULE}");
    assert_snapshot!(refused(&policy), @r#"3: "../cosign.pub" => `pem` of the key "acme" is not the text of a key [if it is a file, write file = "../cosign.pub"]"#);
}

#[test]
fn a_threshold_that_only_names_can_meet_is_refused() {
    let threshold = |keys: &str, threshold: u8| {
        let again = KEY.replace("acme\"", "again\"").replace("keys/again", "keys/acme");
        let rule = RULE.replace("[\"acme\"]", keys);
        format!("{KEY}{again}{rule}threshold = {threshold}\n")
    };
    assert_snapshot!(refused(&threshold("[\"acme\", \"again\"]", 2)), @"10: 2 => the threshold 2 cannot be met: the rule has one key; a key counts once, whatever its names and forms");
    assert_snapshot!(refused(&threshold("[\"acme\"]", 0)), @r#"10: 0 => the threshold must be at least 1; unsigned = "allow" allows unsigned releases"#);
    let without = format!("{}threshold = 1\n", RULE.replace("[\"acme\"]", "[]"));
    assert_snapshot!(refused(&without), @"4: 1 => the threshold 1 cannot be met: the rule names no key or identity");
    assert!(read(&threshold("[\"acme\", \"again\"]", 1)).is_ok());
}

#[test]
fn a_key_that_no_rule_names_is_refused() {
    assert_snapshot!(refused(KEY), @r#"2: "acme" => no rule names the key or identity "acme", so it protects nothing [add a [[rule]] with `providers` and keys = ["acme"], or take it out]"#);
    let again = KEY.replace("acme\"", "again\"").replace("keys/again", "keys/acme");
    assert!(refused(&format!("{KEY}{again}{RULE}")).starts_with("5: \"again\" => no rule names the key or identity"));
}

#[test]
fn a_pattern_without_a_host_is_refused() {
    let rule = "[[rule]]\nproviders = [\"acme/*\"]\nunsigned = \"refuse\"\n";
    assert_snapshot!(refused(rule), @r#"2: "acme/*" => the pattern "acme/*" names no host, and so means one default host alone [write HOST/acme/*, such as registry.opentofu.org/acme/*]"#);
    assert!(refused(&rule.replace("acme/*", "*/*")).contains("names no host"));
    assert!(read(&rule.replace("acme/*", "*/*/*")).is_ok());
}

#[test]
fn a_dot_at_the_end_of_a_host_escapes_no_rule() {
    for host in ["example.com.", "EXAMPLE.com.:443", "example.com\u{3002}"] {
        let error = format!("{host}/acme/widget").parse::<ProviderAddr>().unwrap_err().to_string();
        assert!(error.ends_with("it ends with a dot; write it without the dot"), "{error}");
    }
    let policy = read(&format!("{KEY}{RULE}")).unwrap();
    for same in ["EXAMPLE.com", "example.com:443", "\u{ff45}xample.com", "example\u{3002}com", "exam\u{ad}ple.com"] {
        assert_eq!(policy.rule(&address(&format!("{same}/acme/widget"))).keys.len(), 1, "{same}");
    }
    let rule = "[[rule]]\nproviders = [\"example.com./acme/*\"]\nunsigned = \"refuse\"\n";
    assert_snapshot!(refused(rule), @r#"2: "example.com./acme/*" => `example.com./acme/*` is not a pattern of providers: `example.com.` is not a hostname: it ends with a dot; write it without the dot [write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*"]"#);
    let rule = "[[rule]]\nproviders = [\"127.1/acme/*\"]\nunsigned = \"refuse\"\n";
    assert_snapshot!(refused(rule), @r#"2: "127.1/acme/*" => `127.1/acme/*` is not a pattern of providers: `127.1` is not a hostname: an IPv4 address is four decimal numbers from 0 to 255 without leading zeros [write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*"]"#);
}

/// A file of `testdata/trust`.
fn fixture(path: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../../testdata/trust/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Whether two key files can reach a threshold of two.
fn two(files: [&[u8]; 2]) -> Result<Policy, String> {
    let text = "[[key]]\nname = \"one\"\nfile = \"0\"\n[[key]]\nname = \"two\"\nfile = \"1\"\n\
                [[rule]]\nproviders = [\"*/*/*\"]\nkeys = [\"one\", \"two\"]\nthreshold = 2\n";
    let read = |path: &std::path::Path| Ok(files[usize::from(path.to_str() == Some("1"))].to_vec());
    Policy::parse(text).unwrap().resolve(read).map_err(|error| error.to_string())
}

/// The public key of a certificate of `testdata/trust/gpg`, in PEM.
fn as_pem(name: &str) -> Vec<u8> {
    use p256::pkcs8::{EncodePublicKey as _, LineEnding};

    let certificate = fixture(name);
    let point = certificate.windows(65).find_map(|bytes| p256::PublicKey::from_sec1_bytes(bytes).ok());
    point.unwrap().to_public_key_pem(LineEnding::LF).unwrap().into_bytes()
}

#[test]
fn one_key_in_two_forms_does_not_reach_a_threshold_of_two() {
    let refused = two([&fixture("gpg/p256.pgp"), &as_pem("gpg/p256.pgp")]).unwrap_err();
    assert_snapshot!(refused, @r#"the keys "one" and "two" are one key in two forms, and a threshold counts distinct keys"#);
    assert!(two([&as_pem("gpg/p256.pgp"), &fixture("gpg/p256.pgp")]).is_err());
    assert!(two([&fixture("gpg/p256.pgp"), &key(1).public().to_pem().into_bytes()]).is_ok());
    assert!(two([&fixture("gpg/p256.pgp"), &fixture("gpg/rsa.pgp")]).is_ok());
    let rsa = fixture("cosign/test-keys/rsa-2048.pub");
    assert!(two([&fixture("gpg/rsa.pgp"), &rsa]).is_ok());
    assert!(two([&fixture("gpg/cosign-rsa.pgp"), &rsa]).is_err());
    assert!(two([&fixture("gpg/twin-one.pgp"), &fixture("gpg/twin-two.pgp")]).is_err());
    assert!(two([&fixture("gpg/twin-one.pgp"), &fixture("gpg/holder.pgp")]).is_err());
}

#[test]
fn one_file_with_two_certificates_of_one_key_does_not_reach_a_threshold_of_two() {
    let text = "[[key]]\nname = \"one\"\nfile = \"0\"\n\
                [[rule]]\nproviders = [\"*/*/*\"]\nkeys = [\"one\"]\nthreshold = 2\n";
    let refused = Policy::parse(text).unwrap().resolve(|_| Ok(fixture("gpg/twins.pgp"))).unwrap_err().to_string();
    assert_snapshot!(refused, @"the threshold 2 cannot be met: the rule has one key; a key counts once, whatever its names and forms");
    assert_eq!(crate::OpenPgpKey::parse(&fixture("gpg/twins.pgp")).unwrap().len(), 2);
}

#[test]
fn one_key_in_two_forms_beside_another_key_makes_two_keys() {
    let files = [fixture("gpg/twin-one.pgp"), fixture("gpg/twin-two.pgp"), fixture("gpg/rsa.pgp")];
    let of = |threshold: u8| {
        let keys = (0..3).map(|nth| format!("[[key]]\nname = \"{nth}\"\nfile = \"{nth}\"\n")).collect::<String>();
        let rule = "[[rule]]\nproviders = [\"*/*/*\"]\nkeys = [\"0\", \"1\", \"2\"]\n";
        let text = format!("{keys}{rule}threshold = {threshold}\n");
        let read = |path: &std::path::Path| Ok(files[path.to_str().unwrap().parse::<usize>().unwrap()].clone());
        Policy::parse(&text).unwrap().resolve(read).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(of(2), Ok(()));
    assert_snapshot!(of(3).unwrap_err(), @r#"the keys "0" and "1" are one key in two forms, and a threshold counts distinct keys"#);
}

#[test]
fn each_algorithm_has_the_same_material_in_pem_and_in_openpgp() {
    let certificate = |name: &str| fixture(&format!("gpg/{name}.pgp"));
    let of = |bytes: &[u8]| crate::OpenPgpKey::parse(bytes).unwrap().remove(0).materials();
    let is_in = |public: crate::PublicKey, bytes: &[u8]| assert!(of(bytes).contains(&public.numbers()), "{public:?}");
    let point = |curve, length: usize, bytes: &[u8]| {
        bytes.windows(length).find_map(|point| crate::PublicKey::from_ec_point(curve, point).ok()).unwrap()
    };
    let (p256, p384) = (certificate("p256"), certificate("p384"));
    is_in(point(crate::keys::Curve::P256, 65, &p256), &p256);
    is_in(point(crate::keys::Curve::P384, 97, &p384), &p384);
    let rsa = fixture("cosign/test-keys/rsa-2048.pub");
    is_in(crate::PublicKey::from_pem(&rsa).unwrap(), &certificate("cosign-rsa"));
    // The number of an Ed25519 key stands after the number of its bits and the byte 0x40.
    let ed25519 = certificate("twin-one");
    let at = ed25519.windows(3).position(|bytes| bytes == [0x01, 0x07, 0x40]).unwrap() + 3;
    is_in(crate::PublicKey::from_ed25519(&ed25519[at..at + 32]).unwrap(), &ed25519);
    for name in ["p521", "dsa", "secp256k1", "rsa1024"] {
        assert_eq!(of(&certificate(name)), of(&certificate(name)), "{name}");
        assert!(!of(&certificate(name)).is_empty(), "{name}");
    }
}

#[test]
fn two_spellings_of_one_key_do_not_reach_a_threshold_of_two() {
    use base64::Engine as _;

    let spellings = [fixture("cosign/test-keys/rsa-2048.pub"), fixture("cosign/test-keys/rsa-2048-pkcs1.pub")];
    let refused = two([&spellings[0], &spellings[1]]).unwrap_err();
    assert_snapshot!(refused, @"the threshold 2 cannot be met: the rule has one key; a key counts once, whatever its names and forms");
    let whole = key(1);
    let point = p256::PublicKey::from_sec1_bytes(whole.public().material()).unwrap().to_sec1_bytes();
    let compressed = {
        use p256::elliptic_curve::sec1::ToEncodedPoint as _;
        p256::PublicKey::from_sec1_bytes(&point).unwrap().to_encoded_point(true)
    };
    let mut der = vec![0x30, 0x39, 0x30, 0x13];
    der.extend(b"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x22\x00");
    der.extend(compressed.as_bytes());
    let base64 = base64::engine::general_purpose::STANDARD.encode(der);
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{base64}\n-----END PUBLIC KEY-----\n");
    assert!(two([pem.as_bytes(), whole.public().to_pem().as_bytes()]).is_err());
}

#[test]
fn two_addresses_are_decided_alike_by_one_rule_alone() {
    let text = "[[rule]]\nproviders = [\"example.com/acme/*\"]\nunsigned = \"warn\"\n\
                [[rule]]\nproviders = [\"example.com/other/*\"]\nunsigned = \"warn\"\n";
    let policy = read(text).unwrap();
    let alike = |one: &str, other: &str| policy.decides_alike(&Pins::default(), &address(one), &address(other));
    assert!(alike("example.com/acme/widget", "example.com/acme/gadget"));
    assert!(alike("example.net/a/b", "example.net/c/d"), "no rule is for either");
    assert!(!alike("example.com/acme/widget", "example.com/other/widget"), "a rule that says the same is another rule");
    assert!(!alike("example.com/acme/widget", "example.net/a/b"));
}

#[test]
fn a_source_as_git_writes_it_was_refused_without_the_way_to_write_it() {
    for source in ["https://github.com/acme/widget.git", "github.com/acme/widget.git", "git@github.com:acme/widget"] {
        let said = refused(&format!("{KEY}{RULE}slsa.source = \"{source}\"\n"));
        assert!(said.ends_with("[write slsa.source = \"github.com/acme/widget\"]"), "{said}");
    }
}
