use insta::assert_snapshot;
use tofu_oci_types::{ModuleAddr, ModulePattern, Pattern, Predecessor, ProviderAddr};

use super::*;

type Written<'a> = (&'a [&'a str], &'a [&'a str], &'a str);

fn said(result: Result<(), NotOneToOne>) -> String {
    match result {
        Ok(()) => "one to one".to_owned(),
        Err(error) => format!("{error}; {}", error.instead()),
    }
}

fn providers(rules: &[Written<'_>]) -> Result<(), NotOneToOne> {
    providers_counting(rules, Predecessors::NONE)
}

fn providers_counting(rules: &[Written<'_>], predecessors: &Predecessors) -> Result<(), NotOneToOne> {
    let read = |texts: &[&str]| -> Vec<Pattern> { texts.iter().map(|text| text.parse().expect("a pattern")).collect() };
    let patterns: Vec<_> = rules.iter().map(|(include, exclude, _)| (read(include), read(exclude))).collect();
    let place = |template: &str| [template.parse().expect("a template")];
    let rules = patterns.iter().zip(rules);
    let rules = rules.map(|((include, exclude), (_, _, template))| AddressRule::new(include, exclude, place(template)));
    let rules: Vec<AddressRule<'_, ProviderAddr>> = rules.collect();
    let takes = |list: &[Pattern], address: &ProviderAddr| list.iter().any(|pattern| pattern.matches(address));
    let rule_of = |address: &ProviderAddr| {
        patterns.iter().position(|(include, exclude)| takes(include, address) && !takes(exclude, address))
    };
    check_one_to_one(&rules, &|rule, address| rule_of(address) == Some(rule), predecessors)
}

fn modules(rules: &[Written<'_>]) -> Result<(), NotOneToOne> {
    let read =
        |texts: &[&str]| -> Vec<ModulePattern> { texts.iter().map(|text| text.parse().expect("a pattern")).collect() };
    let patterns: Vec<_> = rules.iter().map(|(include, exclude, _)| (read(include), read(exclude))).collect();
    let place = |template: &str| [template.parse().expect("a template")];
    let rules = patterns.iter().zip(rules);
    let rules = rules.map(|((include, exclude), (_, _, template))| AddressRule::new(include, exclude, place(template)));
    let rules: Vec<AddressRule<'_, ModuleAddr>> = rules.collect();
    let takes = |list: &[ModulePattern], address: &ModuleAddr| list.iter().any(|pattern| pattern.matches(address));
    let rule_of = |address: &ModuleAddr| {
        patterns.iter().position(|(include, exclude)| takes(include, address) && !takes(exclude, address))
    };
    check_one_to_one(&rules, &|rule, address| rule_of(address) == Some(rule), Predecessors::NONE)
}

#[track_caller]
fn accepts(rules: &[Written<'_>]) {
    assert_eq!(said(providers(rules)), "one to one", "{rules:?}");
}

/// One rule for the providers of a host.
fn refused(template: &str) -> String {
    said(providers(&[(&["a.test/*/*"], &[], template)]))
}

#[test]
fn a_template_that_can_be_read_back_is_one_to_one() {
    for template in [
        "r.test/${namespace}/${type}",
        "r.test/x-${type}/${namespace}-y",
        "r.test/${type}/${namespace}-${type}",
        "r.test/${type}-${namespace}/${type}",
        "r.test/${namespace}--${type}",
        "r.test/${namespace}.${type}",
        "r.test/${namespace}/${type}:",
        "${namespace}.r.test/${type}",
        "oci:lay",
        "oci:lay/${namespace}/./x/../${type}",
        "r.test/%{if namespace == \"acme\"}own%{else}other/own/${namespace}%{endif}/${type}",
    ] {
        accepts(&[(&["a.test/*/*"], &[], template)]);
        accepts(&[
            (&["*/*/*"], &["a.test/*/*"], "r.test/${hostname}/${namespace}/${type}"),
            (&["a.test/*/*"], &[], template),
        ]);
    }
}

#[test]
fn two_symbols_without_a_slash_between_them_are_refused_with_two_addresses() {
    assert_snapshot!(refused("r.test/${namespace}-${type}"), @"`r.test/${namespace}-${type}` sends two providers to one repository: a.test/a-a/a and a.test/a/a-a both get r.test/a-a-a; write / between the symbols, as in r.test/${namespace}/${type}; or a rule for each namespace");
    assert_snapshot!(refused("r.test/${namespace}${type}"), @"`r.test/${namespace}${type}` sends two providers to one repository: a.test/aa/a and a.test/a/aa both get r.test/aaa; write / between the symbols, as in r.test/${namespace}/${type}; or a rule for each namespace");
    assert_snapshot!(refused("r.test/${namespace}-x-${type}"), @"`r.test/${namespace}-x-${type}` sends two providers to one repository: a.test/a-x/a and a.test/a/x-a both get r.test/a-x-x-a; write / between the symbols, as in r.test/${namespace}/${type}; or a rule for each namespace");
    assert_snapshot!(refused("oci:lay/${hostname}/${type}-${namespace}"), @"`oci:lay/${hostname}/${type}-${namespace}` sends two providers to one folder: a.test/a/a-a and a.test/a-a/a both get oci:lay/a.test/a-a-a; write / between the symbols, as in oci:lay/${hostname}/${type}/${namespace}; or a rule for each namespace");
    assert_snapshot!(refused("oci:lay/${namespace}\u{fc}${type}"), @"`oci:lay/${namespace}ü${type}` sends two providers to one folder: a.test/aü/a and a.test/a/üa both get oci:lay/aüüa; write / between the symbols, as in oci:lay/${namespace}/${type}; or a rule for each namespace");
    assert_snapshot!(refused("oci:lay/${namespace}/../${type}"), @"`oci:lay/${namespace}/../${type}` sends two providers to one folder: a.test/acme/zap and a.test/other/zap both get oci:lay/acme/../zap; write / between the symbols, as in ghcr.io/acme/${namespace}/${type}; or a rule for each namespace");
}

#[test]
fn a_symbol_that_is_left_out_is_refused_with_two_addresses() {
    assert_snapshot!(refused("r.test/${type}"), @"`r.test/${type}` sends two providers to one repository: a.test/acme/zap and a.test/other/zap both get r.test/zap; write ${namespace} somewhere in it, or let `include` name exactly one namespace");
    assert_snapshot!(refused("r.test/one"), @"`r.test/one` sends two providers to one repository: a.test/acme/zap and a.test/other/widget both get r.test/one; write ${namespace} somewhere in it, or let `include` name exactly one namespace");
    assert_snapshot!(said(providers(&[(&["*/*/*"], &[], "r.test/${namespace}/${type}")])), @"`r.test/${namespace}/${type}` sends two providers to one repository: registry.example.com/acme/zap and other.example.com/acme/zap both get r.test/acme/zap; write ${hostname} somewhere in it, or let `include` name exactly one hostname; or name the hosts with --predecessor if they are one");
    assert_snapshot!(said(providers(&[(&["*/*/*"], &[], "${hostname}/${namespace}/${type}")])), @"one to one");
    accepts(&[(&["a.test/x/*"], &[], "r.test/${type}")]);
    accepts(&[(&["a.test/x/y"], &[], "r.test/one")]);
    accepts(&[(&["a.test/x/*", "a.test/y/*"], &["a.test/y/*"], "r.test/${type}")]);
}

#[test]
fn hashicorp_google_beta_and_hashicorp_google_s_beta_meet() {
    let rules: &[Written<'_>] = &[
        (&["hashicorp/google-beta"], &[], "r.test/m/hashicorp-google-beta"),
        (&["hashicorp-google/*"], &[], "r.test/m/hashicorp-google-${type}"),
    ];
    assert_snapshot!(said(providers(rules)), @"`r.test/m/hashicorp-google-beta` and `r.test/m/hashicorp-google-${type}` send two providers to one repository: registry.opentofu.org/hashicorp/google-beta and registry.opentofu.org/hashicorp-google/beta both get r.test/m/hashicorp-google-beta; give each rule a path of its own, and write / between the symbols, as in ghcr.io/acme/${namespace}/${type}");
}

#[test]
fn rules_are_judged_together() {
    let meeting: &[Written<'_>] =
        &[(&["a.test/acme-corp/*"], &[], "r.test/acme-corp-${type}"), (&["a.test/acme/*"], &[], "r.test/acme-${type}")];
    assert_snapshot!(said(providers(meeting)), @"`r.test/acme-corp-${type}` and `r.test/acme-${type}` send two providers to one repository: a.test/acme-corp/a and a.test/acme/corp-a both get r.test/acme-corp-a; give each rule a path of its own, and write / between the symbols, as in ghcr.io/acme/${namespace}/${type}");
    let other_host: &[Written<'_>] = &[
        (&["a.test/*/*"], &[], "R.test:443/${namespace}/${type}"),
        (&["b.test/*/*"], &[], "r.test/${namespace}/${type}"),
    ];
    assert_snapshot!(said(providers(other_host)), @"`R.test:443/${namespace}/${type}` and `r.test/${namespace}/${type}` send two providers to one repository: a.test/acme/zap and b.test/acme/zap both get R.test:443/acme/zap; give each rule a path of its own, and write / between the symbols, as in ghcr.io/acme/${namespace}/${type}; or name the hosts with --predecessor if they are one");
    let folder: &[Written<'_>] =
        &[(&["a.test/*/*"], &[], "oci:lay/x/../${namespace}/${type}"), (&["b.test/c/*"], &[], "oci:./lay//c/${type}")];
    assert_snapshot!(said(providers(folder)), @"`oci:lay/x/../${namespace}/${type}` and `oci:./lay//c/${type}` send two providers to one folder: a.test/c/zap and b.test/c/zap both get oci:lay/x/../c/zap; give each rule a path of its own, and write / between the symbols, as in ghcr.io/acme/${namespace}/${type}; or name the hosts with --predecessor if they are one");
    accepts(&[(&["a.test/acme/*"], &[], "r.test/acme/${type}"), (&["a.test/*/*"], &[], "r.test/${namespace}/${type}")]);
    accepts(&[
        (&["a.test/acme/*"], &[], "r.test/own/${type}"),
        (&["a.test/*/*"], &["a.test/own/*"], "r.test/${namespace}/${type}"),
    ]);
    accepts(&[(&["a.test/x/*"], &[], "r.test/terraform-${type}"), (&["a.test/y/*"], &[], "r.test/${type}")]);
    accepts(&[
        (&["a.test/*/*"], &[], "r.test/${namespace}/${type}"),
        (&["b.test/*/*"], &[], "oci:r.test/${namespace}/${type}"),
    ]);
    let own: &[Written<'_>] =
        &[(&["a.test/acme/*"], &[], "r.test/own/${type}"), (&["a.test/*/*"], &[], "r.test/${namespace}/${type}")];
    assert_snapshot!(said(providers(own)), @"`r.test/own/${type}` and `r.test/${namespace}/${type}` send two providers to one repository: a.test/acme/zap and a.test/own/zap both get r.test/own/zap; give each rule a path of its own, and write / between the symbols, as in ghcr.io/acme/${namespace}/${type}");
}

#[test]
fn addresses_that_count_as_one_may_share_a_place() {
    let moved: Predecessor = "registry.opentofu.org=registry.terraform.io".parse().unwrap();
    let moved: Predecessors = [moved].into_iter().collect();
    let both: &[Written<'_>] =
        &[(&["registry.opentofu.org/*/*", "registry.terraform.io/*/*"], &[], "r.test/${namespace}/${type}")];
    assert_snapshot!(said(providers(both)), @"`r.test/${namespace}/${type}` sends two providers to one repository: registry.opentofu.org/acme/zap and registry.terraform.io/acme/zap both get r.test/acme/zap; write ${hostname} somewhere in it, or let `include` name exactly one hostname; or name the hosts with --predecessor if they are one");
    assert_eq!(providers_counting(both, &moved), Ok(()));
    let third: &[Written<'_>] = &[both[0], (&["a.test/*/*"], &[], "r.test/${namespace}/${type}")];
    assert_snapshot!(said(providers_counting(third, &moved)), @"`r.test/${namespace}/${type}` sends two providers to one repository: registry.opentofu.org/acme/zap and a.test/acme/zap both get r.test/acme/zap; write ${hostname} somewhere in it, or let `include` name exactly one hostname; or name the hosts with --predecessor if they are one");
    let turned: &[Written<'_>] = &[
        (&["registry.opentofu.org/*/*"], &[], "r.test/${namespace}/${type}"),
        (&["registry.terraform.io/*/*"], &[], "r.test/${type}/${namespace}"),
    ];
    assert_snapshot!(said(providers_counting(turned, &moved)), @"`r.test/${namespace}/${type}` and `r.test/${type}/${namespace}` send two providers to one repository: registry.opentofu.org/a/b and registry.terraform.io/b/a both get r.test/a/b; give each rule a path of its own, and write / between the symbols, as in ghcr.io/acme/${namespace}/${type}");
}

#[test]
fn hosts_that_count_as_one_with_other_patterns_were_said_to_compute() {
    let same: Predecessor = "a.test=b.test".parse().unwrap();
    let same: Predecessors = [same].into_iter().collect();
    let plain = "r.test/${namespace}/${type}";
    let accepted: [&[Written<'_>]; 4] = [
        &[(&["a.test/acme/*", "b.test/*/*"], &[], plain)],
        &[(&["a.test/*/*", "b.test/*/*"], &["b.test/acme/old"], plain)],
        &[(&["a.test/acme/*", "b.test/other/*"], &[], plain), (&["b.test/*/*"], &[], plain)],
        &[(&["a.test/acme/zap"], &[], "r.test/acme/zap"), (&["b.test/*/*"], &[], plain)],
    ];
    for rules in accepted {
        assert_eq!(said(providers_counting(rules, &same)), "one to one", "{rules:?}");
    }
    let meeting: &[Written<'_>] = &[(&["a.test/acme/*"], &[], "r.test/other/${type}"), (&["b.test/*/*"], &[], plain)];
    assert_snapshot!(said(providers_counting(meeting, &same)), @"`r.test/other/${type}` and `r.test/${namespace}/${type}` send two providers to one repository: a.test/acme/zap and b.test/other/zap both get r.test/other/zap; give each rule a path of its own, and write / between the symbols, as in ghcr.io/acme/${namespace}/${type}");
}

#[test]
fn an_address_of_ipv4_was_in_no_pattern() {
    let rules: &[Written<'_>] =
        &[(&["z.test/x/w"], &[], "r.test/127.0.0.1/x/w"), (&["*/*/*"], &[], "r.test/${hostname}/${namespace}/${type}")];
    assert_snapshot!(said(providers(rules)), @"`r.test/127.0.0.1/x/w` and `r.test/${hostname}/${namespace}/${type}` send two providers to one repository: z.test/x/w and 127.0.0.1/x/w both get r.test/127.0.0.1/x/w; give each rule a path of its own, and write / between the symbols, as in ghcr.io/acme/${namespace}/${type}; or name the hosts with --predecessor if they are one");
}

#[test]
fn what_a_template_computes_is_not_judged() {
    assert_snapshot!(refused("r.test/${namespace == type ? \"a\" : \"b\"}/${namespace}/${type}"), @r#"`r.test/${namespace == type ? "a" : "b"}/${namespace}/${type}` computes with the parts of an address, so it is not known that each provider gets a place of its own; write a template of text and symbols alone, such as ghcr.io/acme/${namespace}/${type}, in a rule for each case"#);
    accepts(&[(&["a.test/x/y"], &[], "r.test/x/${namespace == type ? \"a\" : \"b\"}")]);
    let own = refused("r.test/%{if namespace == \"acme\"}own%{else}${namespace}%{endif}/${type}");
    assert_snapshot!(own, @r#"`r.test/%{if namespace == "acme"}own%{else}${namespace}%{endif}/${type}` sends two providers to one repository: a.test/acme/zap and a.test/own/zap both get r.test/own/zap; write / between the symbols, as in ghcr.io/acme/${namespace}/${type}; or a rule for each namespace"#);
}

#[test]
fn a_computing_template_hides_no_collision_of_the_others() {
    let computing = "r.test/${namespace == type ? \"a\" : \"b\"}/${namespace}/${type}";
    let rules: &[Written<'_>] =
        &[(&["a.test/*/*"], &[], computing), (&["b.test/*/*"], &[], "r.test/${namespace}-${type}")];
    assert_snapshot!(said(providers(rules)), @"`r.test/${namespace}-${type}` sends two providers to one repository: b.test/a-a/a and b.test/a/a-a both get r.test/a-a-a; write / between the symbols, as in r.test/${namespace}/${type}; or a rule for each namespace");
}

#[test]
fn a_search_without_an_end_does_not_say_that_the_template_computes() {
    assert_snapshot!(refused("r.test/${type}-${namespace}-${type}-${namespace}-${type}"), @"tofu-oci cannot tell whether `r.test/${type}-${namespace}-${type}-${namespace}-${type}` sends two providers to one place; write each symbol once, with / between the symbols, such as ghcr.io/acme/${namespace}/${type}");
}

#[test]
fn modules_end_in_a_target_system_without_a_dash() {
    let one = |template: &str| said(modules(&[(&["a.test/*/*/*"], &[], template)]));
    for template in [
        "r.test/${namespace}/${name}-${target_system}",
        "r.test/${namespace}/${name}/${target_system}",
        "r.test/${target_system}-${name}/${namespace}",
        "oci:lay/${hostname}/${namespace}/${name}_${target_system}",
        "oci:lay",
    ] {
        assert_eq!(one(template), "one to one", "{template}");
    }
    assert_snapshot!(one("r.test/${namespace}-${name}-${target_system}"), @"`r.test/${namespace}-${name}-${target_system}` sends two modules to one repository: a.test/a-b/c/d and a.test/a/b-c/d both get r.test/a-b-c-d; write / between the symbols, as in r.test/${namespace}/${name}/${target_system}; or a rule for each namespace");
    assert_snapshot!(one("r.test/${namespace}--${name}/${target_system}"), @"`r.test/${namespace}--${name}/${target_system}` sends two modules to one repository: a.test/a--b/c/aws and a.test/a/b--c/aws both get r.test/a--b--c/aws; write / between the symbols, as in r.test/${namespace}/${name}/${target_system}; or a rule for each namespace");
    assert_snapshot!(one("r.test/${name}/${target_system}"), @"`r.test/${name}/${target_system}` sends two modules to one repository: a.test/acme/network/aws and a.test/other/network/aws both get r.test/network/aws; write ${namespace} somewhere in it, or let `include` name exactly one namespace");
    let across: &[Written<'_>] = &[
        (&["a.test/acme/*/*"], &[], "r.test/m/acme-${name}-${target_system}"),
        (&["a.test/corp/*/*"], &[], "r.test/m/acme-x/${name}"),
        (&["a.test/acme-x/*/*"], &[], "r.test/m/acme-x-${name}-${target_system}"),
    ];
    assert_snapshot!(said(modules(across)), @"`r.test/m/acme-x/${name}` sends two modules to one repository: a.test/corp/network/aws and a.test/corp/network/gcp both get r.test/m/acme-x/network; write ${target_system} somewhere in it, or name each module in `include`, as HOST/NAMESPACE/NAME/SYSTEM");
}

#[test]
fn a_destination_tells_apart_what_it_mentions() {
    let one = |template: &str| said(check_mentioned::<ProviderAddr>(&template.parse().expect("a template")));
    for template in ["r.test/${namespace}/${type}", "r.test/${type}", "r.test/one", "oci:lay"] {
        assert_eq!(one(template), "one to one", "{template}");
    }
    assert_snapshot!(one("r.test/${namespace}-${type}"), @"`r.test/${namespace}-${type}` sends two providers to one repository: example.com/a-a/a and example.com/a/a-a both get r.test/a-a-a; write / between the symbols, as in r.test/${namespace}/${type}; or a rule for each namespace");
}

/// Every address of short parts, by brute force.
#[test]
fn the_decision_is_that_of_brute_force_over_short_addresses() {
    let parts = ["a", "b", "ab", "a-b", "b-a", "a-a", "a-b-a", "a-a-a", "a1", "1"];
    let pieces = ["${namespace}", "${type}", "-", "/", "a", "b-", "-a", "/a-", "--", "."];
    let mut compared = [0, 0, 0];
    for first in pieces {
        for second in pieces {
            for third in pieces {
                for fourth in ["", "/${type}", "-${type}"] {
                    let text = format!("r.test/x{first}{second}{third}{fourth}");
                    let Ok(repositories) = text.parse::<TemplateRepositories>() else { continue };
                    let mut places = std::collections::BTreeMap::new();
                    let mut pair = None;
                    for (namespace, kind) in parts.iter().flat_map(|one| parts.map(|other| (one, other))) {
                        let address: ProviderAddr = format!("a.test/{namespace}/{kind}").parse().unwrap();
                        let Ok(TemplatePlace::Registry(place)) = repositories.place(&address) else { continue };
                        if let Some(known) = places.insert(place.to_string(), address.clone()) {
                            pair = Some((known, address));
                        }
                    }
                    let decided = providers(&[(&["a.test/*/*"], &[], &text)]);
                    match (&decided, &pair) {
                        (Ok(()), None) => compared[0] += 1,
                        (Err(NotOneToOne::Meeting { first, second, .. }), _) => {
                            let place = |address: &str| repositories.place(&address.parse().unwrap()).unwrap();
                            assert_ne!(first, second, "{text}");
                            assert_eq!(place(first), place(second), "{text}");
                            compared[1] += 1;
                        }
                        // The search has a limit: what it leaves unclear is refused.
                        (Err(NotOneToOne::Unclear { .. }), _) => compared[2] += 1,
                        _ => panic!("{text}: {decided:?}, by brute force {pair:?}"),
                    }
                }
            }
        }
    }
    assert!(compared[..2].iter().all(|number| *number > 50), "{compared:?}");
}

#[test]
fn fifty_rules_are_judged_at_once() {
    let patterns: Vec<String> = (0..50).map(|number| format!("a.test/team-{number}/*")).collect();
    let templates: Vec<String> = (0..50).map(|number| format!("r.test/team-{number}/${{type}}")).collect();
    let lists: Vec<[&str; 1]> = patterns.iter().map(|pattern| [pattern.as_str()]).collect();
    let rules: Vec<Written<'_>> =
        lists.iter().zip(&templates).map(|(list, template)| (list.as_slice(), &[][..], template.as_str())).collect();
    accepts(&rules);
}
