use super::*;

fn versions(text: &str) -> Vec<Version> {
    text.split_whitespace().map(|version| version.parse().expect("a version of this test")).collect()
}

/// `CHOSEN: WHY; HELD CAUSE, …`.
#[track_caller]
fn check(wanted: &str, offered: &str, withdrawn: &str, want: &str) {
    let listing = Listing { versions: versions(offered), withdrawn: versions(withdrawn), ..Listing::default() };
    let wanted = if wanted.is_empty() { Constraints::any() } else { wanted.parse().expect("constraints of this test") };
    let choice = choose_module(&wanted, &listing, &[]);
    let held: Vec<String> = choice.held_back.iter().map(|held| format!("{} {:?}", held.version, held.cause)).collect();
    let version = choice.version.map_or_else(|| "-".to_owned(), |version| version.to_string());
    assert_eq!(format!("{version}: {}; {}", choice.why, held.join(", ")), want);
}

#[test]
fn newer_versions_say_what_holds_them_back() {
    check("", "1.4.0 1.5.0", "", "1.5.0: the newest release; ");
    check("", "1.4.0 2.0.0-rc.1", "1.5.0", "1.4.0: the newest release; 2.0.0-rc.1 Prerelease, 1.5.0 Withdrawn");
    check("~> 1.4", "1.4.0 1.5.0 2.0.0", "1.3.0", "1.5.0: the newest release that meets ~> 1.4; 2.0.0 Constraint");
    check("2.0.0-rc.1", "1.4.0 2.0.0-rc.1", "", "2.0.0-rc.1: the version that is named; ");
}

#[test]
fn without_a_choice_every_version_says_why() {
    check("", "", "", "-: it offers no version; ");
    check(
        "",
        "1.0.0-rc.1",
        "1.0.0",
        "-: no version that it offers is a release; 1.0.0 Withdrawn, 1.0.0-rc.1 Prerelease",
    );
    check(
        "> 2.0.0",
        "1.0.0 1.1.0",
        "",
        "-: no version that it offers meets > 2.0.0; 1.1.0 Constraint, 1.0.0 Constraint",
    );
    check("", "0.0.0", "", "-: no version that it offers is a release; 0.0.0 Unspecified");
}

#[test]
fn the_first_rule_for_a_module_counts_and_the_others_say_why_not() {
    let text = r#"
        [[module_mirror]]
        include = ["a.example/*/*/*"]
        exclude = ["a.example/acme/*/*"]
        repository_template = "r.example/a/${namespace}/${name}-${target_system}"
        [[module_mirror]]
        include = ["b.example/*/*/*"]
        repository_template = "r.example/b/${namespace}/${name}-${target_system}"
        [[module_mirror]]
        include = ["a.example/acme/*/*"]
        repository_template = "r.example/c/${name}-${target_system}"
        [[module_mirror]]
        include = ["b.example/*/*/*", "*/*/*/*"]
        repository_template = "oci:modules"
        "#;
    let mirrors = ModuleMirrors::parse(text, tofu_oci_types::Predecessors::NONE).expect("a mapping");
    let steps = mapping_steps(&mirrors, &"a.example/acme/network/aws".parse().expect("an address"));
    let said: Vec<String> =
        steps.iter().map(|step| format!("{} {} {}", step.number, step.selected, step.matches)).collect();
    let want = [
        "1 false no, by exclude \"a.example/acme/*/*\"",
        "2 false no, its include names other modules",
        "3 true yes, by include \"a.example/acme/*/*\"",
        "4 false by include \"*/*/*/*\", but an earlier rule counts",
    ];
    assert_eq!(said, want);
}
