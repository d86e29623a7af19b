use std::io;

use insta::assert_snapshot;

use super::*;
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
    assert_eq!(rule.origin, RuleOrigin::File { line: 4 });
    assert_eq!((rule.keys.len(), rule.threshold), (1, 1));
    assert_eq!(rule.keys[0].material.ids(), [key(1).public().id()]);
    assert_eq!(rule.predicate_types, [crate::SIGN_PREDICATE]);
    assert_eq!(rule.unsigned, Unsigned::ByDefault(Action::Refuse));
    assert_eq!((rule.unnamed, rule.moved_tags), (Action::Refuse, Action::Refuse));
    assert_eq!((rule.expired_keys, rule.manifest_checksums), (ExpiredKeys::Warn, ManifestChecksums::Optional));

    let all = "threshold = 1\npredicate_types = [\"x\"]\nunsigned = \"warn\"\nunnamed = \"allow\"\n\
               moved_tags = \"warn\"\nexpired_keys = \"refuse\"\nmanifest_checksums = \"required\"\n";
    let policy = read(&format!("{KEY}{RULE}{all}")).unwrap();
    let rule = policy.rule(&address("example.com/acme/widget"));
    assert_eq!(rule.predicate_types, ["x"]);
    assert_eq!(rule.unsigned, Unsigned::Said(Action::Warn));
    assert_eq!((rule.unnamed, rule.moved_tags), (Action::Allow, Action::Warn));
    assert_eq!((rule.expired_keys, rule.manifest_checksums), (ExpiredKeys::Refuse, ManifestChecksums::Required));
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
    let text = "[[rule]]\nproviders = [\"example.com/acme/*\", \"acme/*\"]\nunsigned = \"warn\"\n\
                [[rule]]\nproviders = [\"*/*/*\"]\nunsigned = \"refuse\"\n";
    let policy = read(text).unwrap();
    let unsigned = |text: &str| policy.rule(&address(text)).unsigned.action();
    assert_eq!(unsigned("example.com/acme/widget"), Action::Warn);
    assert_eq!(unsigned("registry.opentofu.org/acme/widget"), Action::Warn);
    assert_eq!(unsigned("example.com/other/widget"), Action::Refuse);
}

#[test]
fn what_is_misread_is_refused_with_its_place() {
    assert_snapshot!(refused("[[rule]]\nproviders = [\"a/b\"]\nunsignd = \"refuse\"\n"), @"2: unsignd => unknown field `unsignd`, expected one of `providers`, `keys`, `threshold`, `predicate_types`, `unsigned`, `unnamed`, `moved_tags`, `expired_keys`, `manifest_checksums`");
    assert_snapshot!(refused("[[rules]]\n"), @"1: rules => unknown field `rules`, expected `key` or `rule`");
    assert_snapshot!(refused("[[rule]]\nproviders = [\"a/b\"\n"), @"2:  => unclosed array, expected `]`");
    assert_snapshot!(refused("[[rule]]\nproviders = [\"a/b\"]\nunsigned = \"deny\"\n"), @r#"3: "deny" => unknown variant `deny`, expected one of `refuse`, `warn`, `allow`"#);
    assert_snapshot!(refused("[[rule]]\nproviders = [\"a/b\"]\nexpired_keys = \"allow\"\n"), @r#"3: "allow" => unknown variant `allow`, expected `refuse` or `warn`"#);
    assert_snapshot!(refused("[[rule]]\nkeys = []\n"), @"1: [[rule]] => missing field `providers`");
    assert_snapshot!(refused("[[rule]]\nproviders = []\n"), @r#"2: [] => a rule names the providers that it is for [write providers = ["HOST/NAMESPACE/TYPE"], or ["*/*/*"] for all]"#);
    assert_snapshot!(refused("[[rule]]\nproviders = [\"*/acme/*\"]\n"), @r#"2: "*/acme/*" => `*/acme/*` is not a pattern of providers: the host can be * only if the namespace and the type are * too [write the host, or */*/* for every provider]"#);
    assert_snapshot!(refused(&format!("{KEY}{RULE}predicate_types = []\n")), @"7: [] => the list of predicate types is empty; leave it away for the usual one");
    assert_snapshot!(refused(&RULE.replace("[[rule]]", "[[rule]]\n")), @r#"4: "acme" => there is no key named "acme" [add a [[key]] with that `name`, and `file` or `pem`]"#);
    assert_snapshot!(refused(&format!("{KEY}{}", RULE.replace("[\"acme\"]", "[\"acm\"]"))), @r#"6: "acm" => there is no key named "acm" [the keys are: acme]"#);
    assert_snapshot!(refused(&format!("{KEY}{KEY}")), @r#"5: "acme" => there are two keys named "acme""#);
}

#[test]
fn a_key_that_cannot_be_used_is_refused_with_its_place() {
    let with = |member: &str| format!("[[key]]\nname = \"acme\"\n{member}\n");
    assert_snapshot!(refused(&with("")), @r#"2: "acme" => the key "acme" has neither `file` nor `pem` [write file = "PATH", or pem = """the key itself"""]"#);
    assert_snapshot!(refused(&with("file = \"x\"\npem = \"y\"")), @r#"4: "y" => the key "acme" has both `file` and `pem` [write file = "PATH", or pem = """the key itself"""]"#);
    assert_snapshot!(refused(&with("file = \"keys/lost.pub\"")), @r#"3: "keys/lost.pub" => the key file keys/lost.pub cannot be read [a key file's path is relative to the policy file]"#);
    assert_snapshot!(refused(&with("file = \"keys/empty.pub\"")), @r#"3: "keys/empty.pub" => the key "acme" cannot be used: the key file is empty"#);
    assert_snapshot!(refused(&with("pem = \"no key\"")), @r#"3: "no key" => the key "acme" cannot be used: the key is malformed: the file holds no PEM block `PUBLIC KEY`"#);
    assert!(refused(&with("file = \"keys/broken.asc\"")).contains("OpenPGP"), "by its content");
    assert_snapshot!(refused("[[key]]\nname = \" \"\nfile = \"keys/acme.pub\"\n"), @r#"2: " " => a key needs a name"#);
}

#[test]
fn a_threshold_that_only_names_can_meet_is_refused() {
    let threshold = |keys: &str, threshold: u8| {
        let again = KEY.replace("acme\"", "again\"").replace("keys/again", "keys/acme");
        let rule = RULE.replace("[\"acme\"]", keys);
        format!("{KEY}{again}{rule}threshold = {threshold}\n")
    };
    assert_snapshot!(refused(&threshold("[\"acme\", \"again\"]", 2)), @"10: 2 => the threshold 2 cannot be met: the rule has one key; a key counts once, under whatever names");
    assert_snapshot!(refused(&threshold("[\"acme\"]", 0)), @r#"10: 0 => the threshold must be at least 1; unsigned = "allow" is how unsigned releases are let in"#);
    assert_snapshot!(refused(&threshold("[]", 1)), @"10: 1 => the threshold 1 cannot be met: the rule names no key");
    assert!(read(&threshold("[\"acme\", \"again\"]", 1)).is_ok());
}
