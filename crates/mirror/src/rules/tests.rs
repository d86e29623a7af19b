use super::{DelistedPolicy, MirrorRules, Providers, RulesFile};

#[track_caller]
fn check_refused(text: &str, want: &str) {
    let error = RulesFile::parse(text).expect_err("must be refused");
    let place = error.span.as_ref().map_or("", |span| &text[span.clone()]);
    let instead = error.problem.instead().map(|instead| format!("; {instead}")).unwrap_or_default();
    assert_eq!(format!("{place}: {error}{instead}"), want, "{text}");
}

#[test]
fn mistakes_of_a_first_rules_file_get_the_right_form() {
    check_refused(
        "[provider]\naddress = \"example.com/acme/zap\"",
        "[provider]: [provider] is a table, and the file has a list of them; write [[provider]], with two brackets",
    );
    check_refused(
        "[source]\nattestations = \"attestations\"",
        "[source]: [source] is a table, and the file has a list of them; write [[source]], with two brackets",
    );
    check_refused(
        "[[provider]]\naddress = \"example.com/acme/zap@1.0.0\"",
        "\"example.com/acme/zap@1.0.0\": `address` has a version after the @; write address = \"example.com/acme/zap\" and versions = \"1.0.0\"",
    );
}

#[test]
fn sources_in_two_brackets_were_answered_in_the_words_of_the_parser() {
    let text = "[[provider]]\naddress = \"example.com/acme/zap\"\n[[sources]]\nattestations = \"./${version}\"\n";
    let problem = RulesFile::parse(text).expect_err("must be refused").problem;
    let instead = problem.instead().unwrap_or_default();
    assert_eq!(instead, "write [[source]] for `attestations`, or sources = [\"PLACE\"]", "{problem}");
}

#[test]
fn hints_for_a_rules_file_were_refused_when_they_were_typed() {
    let provider = "[[provider]]\naddress = \"example.com/acme/zap\"\n";
    check_refused(
        &format!("min_age = 7\n{provider}"),
        "7: `7` is not an age; write a number with d, h, m or s, such as 7d or 36h, or 0; write \"7d\" for days",
    );
    check_refused(
        &format!("{provider}versions = [\"1.3.0\", \"1.4.0\"]"),
        "[\"1.3.0\", \"1.4.0\"]: `versions` takes one constraint, not a list; \
         write one [[provider]] for each version; entries for one provider add up",
    );
    check_refused(&format!("{provider}versions = 1.4"), "1.4: invalid type: floating point `1.4`, expected a string");
    check_refused(
        &format!("{provider}to = \"oci:x\""),
        "to: `to` is for the whole file, and stands in a table; \
         write `to` above the first [[provider]], and above every other table",
    );
    check_refused(
        &format!("allow = [\"example.com/acme\"]\n{provider}"),
        "\"example.com/acme\": `example.com/acme` is not a pattern of providers: with a host it reads \
         example.com/NAMESPACE/acme; write \"example.com/acme/*\" or \"example.com/NAMESPACE/acme\"",
    );
}

#[test]
fn a_file_says_what_is_mirrored_from_where_and_where_to() {
    let file = RulesFile::parse(
        r#"
        to = "ghcr.io/acme/${namespace}/${type}"
        sources = ["direct", "static:/srv/tree"]
        min_age = "7d"
        allow = ["registry.opentofu.org/*/*"]
        deny = ["registry.opentofu.org/acme/zap@1.4.0", "*/*/*@< 0.1"]
        trust = "keys/trust.toml"
        gone = "withdraw"
        [[provider]]
        address = "acme/widget"
        versions = "~> 1.2"
        latest = 3
        platforms = ["linux_amd64", "darwin_arm64"]
        [[provider]]
        pattern = "registry.opentofu.org/acme/*"
        "#,
    )
    .unwrap();
    assert_eq!(file.to.as_deref(), Some("ghcr.io/acme/${namespace}/${type}"));
    assert_eq!(file.sources, ["direct", "static:/srv/tree"]);
    assert_eq!(file.trust, Some("keys/trust.toml".into()));
    let MirrorRules { providers, allow, deny, min_age, gone, .. } = file.rules;
    assert_eq!((min_age.to_string().as_str(), gone), ("7d", DelistedPolicy::Withdraw));
    assert_eq!(allow[0].to_string(), "registry.opentofu.org/*/*");
    let denied: Vec<String> = deny.iter().map(ToString::to_string).collect();
    assert_eq!(denied, ["registry.opentofu.org/acme/zap@1.4.0", "*/*/*@< 0.1.0"]);
    assert_eq!(providers[0].providers, Providers::One("registry.opentofu.org/acme/widget".parse().unwrap()));
    assert_eq!((providers[0].versions.to_string().as_str(), providers[0].latest), ("~> 1.2", Some(3)));
    assert_eq!(providers[0].platforms.len(), 2);
    assert!(providers[1].is_for(&"registry.opentofu.org/acme/zap".parse().unwrap()));
    assert!(!providers[1].is_for(&"example.com/acme/zap".parse().unwrap()));
}

#[test]
fn what_would_be_without_effect_is_refused_with_its_place() {
    check_refused(
        "",
        ": the file names no provider and no module; write [[provider]] with address = \"HOST/NAMESPACE/TYPE\"",
    );
    check_refused(
        "[[provider]]\naddres = \"acme/zap\"",
        "addres: unknown field `addres`, expected one of `address`, `pattern`, `versions`, `latest`, `platforms`",
    );
    check_refused(
        "[[provider]]\nlatest = 1",
        "[[provider]]: a [[provider]] has neither `address` nor `pattern`; write [[provider]] with address = \"HOST/NAMESPACE/TYPE\"",
    );
    check_refused(
        "[[provider]]\naddress = \"a/b\"\npattern = \"h.example/a/*\"",
        "\"h.example/a/*\": a [[provider]] has both `address` and `pattern`; write a [[provider]] for each",
    );
    check_refused(
        "[[provider]]\npattern = \"acme/*\"",
        "\"acme/*\": the pattern \"acme/*\" names no host, and so means one default host alone; write HOST/acme/*, such as registry.opentofu.org/acme/*",
    );
    check_refused(
        "deny = [\"acme/network/aws@1.0.0\"]\n[[provider]]\naddress = \"a/b\"",
        "\"acme/network/aws@1.0.0\": the pattern \"acme/network/aws@1.0.0\" is for a provider of a host without a dot; for a module write HOST/acme/network/aws@1.0.0, such as registry.terraform.io/acme/network/aws@1.0.0; if the host has no dot, write it with its port",
    );
    check_refused(
        "[[provider]]\naddress = \"a/b\"\nplatforms = []",
        "[]: the list of platforms is empty; omit it for all platforms",
    );
    check_refused(
        "min_age = \"7\"\n[[provider]]\naddress = \"a/b\"",
        "\"7\": `7` is not an age; write a number with d, h, m or s, such as 7d or 36h, or 0; write \"7d\" for days",
    );
    check_refused(
        "sources = []\n[[provider]]\naddress = \"a/b\"",
        "[]: the list of sources is empty; omit it for those of the CLI configuration",
    );
}

#[test]
fn a_file_has_entries_for_modules_in_the_lists_of_both() {
    let file = RulesFile::parse(
        r#"
        modules_to = "ghcr.io/acme/${name}-${target_system}"
        min_age = "7d"
        allow = ["registry.opentofu.org/*/*"]
        deny = ["example.com/acme/zap@1.0.0", "example.com/acme/net/aws@< 2", "*/*/*/*@0.0.0"]

        [[module]]
        address = "example.com/acme/net/aws"
        versions = "~> 1.0"
        latest = 2
        "#,
    )
    .unwrap();
    let (rules, modules) = (&file.rules, &file.modules);
    assert_eq!(file.modules_to.as_deref(), Some("ghcr.io/acme/${name}-${target_system}"));
    assert_eq!((rules.allow.len(), rules.deny.len(), rules.providers.len()), (1, 1, 0));
    assert_eq!((modules.allow.len(), modules.deny.len(), modules.providers.len()), (0, 2, 1));
    assert_eq!((modules.min_age, modules.providers[0].latest), (rules.min_age, Some(2)));
    let (net, version) = ("example.com/acme/net/aws".parse().unwrap(), |text: &str| text.parse().unwrap());
    assert!(modules.deny[0].denies(&net, &version("1.9.0")) && !modules.deny[0].denies(&net, &version("2.0.0")));
    check_refused(
        "[[module]]\naddress = \"example.com/acme/net/aws@1.0.0\"",
        "\"example.com/acme/net/aws@1.0.0\": `address` has a version after the @; write address = \"example.com/acme/net/aws\" and versions = \"1.0.0\"",
    );
    check_refused(
        "[[module]]\npattern = \"example.com/acme/*/*\"",
        "pattern: a [[module]] has no `pattern`: a registry does not list its modules, so a pattern cannot name them; write a [[module]] with address = \"HOST/NAMESPACE/NAME/SYSTEM\" for each",
    );
    check_refused(
        "[module]\naddress = \"example.com/acme/net/aws\"",
        "[module]: [module] is a table, and the file has a list of them; write [[module]], with two brackets",
    );
}
