//! `module mirror`: versions that the rules no longer name, and that the registry no longer lists.

use std::process::Stdio;

use insta::assert_snapshot;
use tofu_oci_testkit::{Answer, Behaviour, Deletion, Registry};

use crate::module_mirror::{HOST, TO, Upstream, call, five_before};
use crate::setup::{Said, Scene};

const VPC: &str = "[[module]]\naddress = \"HOST/acme/vpc/aws\"\n";
const NEWEST: &str = "[[module]]\naddress = \"HOST/acme/vpc/aws\"\nlatest = 1\n";
const WITHDRAW: &str = "gone = \"withdraw\"";

/// What was there before a run.
type Prepare<'a> = &'a dyn Fn(&Upstream);

const ALL: [&str; 3] = ["1.0.0", "1.1.0", "2.0.0"];

/// An empty registry that lets tags go.
fn scene() -> Scene {
    Scene::with(Registry::builder().behaviour(Behaviour { deletion: Deletion::Tags, ..Behaviour::default() }))
}

/// The versions of `acme/vpc/aws`, which call nothing.
fn vpc() -> Upstream {
    of_vpc(&ALL)
}

fn of_vpc(versions: &[&str]) -> Upstream {
    let mut upstream = Upstream::before(scene());
    for version in versions {
        upstream.module("vpc", version, &[("main.tf", &format!("# {version}\n"))]);
    }
    upstream.list();
    upstream
}

impl Upstream {
    /// From now on the registry answers this when it is asked for the versions of `acme/vpc/aws`.
    fn answers(&self, answer: Answer) {
        self.web.page_instead("/v1/modules/acme/vpc/aws/versions", answer);
    }

    fn lists(&self, versions: &[&str]) {
        let versions: Vec<String> = versions.iter().map(|version| format!(r#"{{"version":"{version}"}}"#)).collect();
        self.answers(Answer::new(200).body(format!(r#"{{"modules":[{{"versions":[{}]}}]}}"#, versions.join(","))));
    }

    /// The tags of `acme/vpc/aws` at the destination.
    fn tags(&self) -> String {
        let tags = self.mirrored("vpc").into_iter().filter(|tag| !tag.starts_with("sha256-"));
        tags.collect::<Vec<_>>().join(" ")
    }

    /// A run by these rules that finds nothing to do.
    #[track_caller]
    fn changes_nothing(&self, top: &str, tables: &str, rest: &str) -> Said {
        self.scene.registry.clear_requests();
        let said = self.mirror_by(top, tables, rest);
        let asked = self.scene.conversation();
        assert!(asked.iter().all(|line| line.starts_with("GET ") || line.starts_with("HEAD ")), "{asked:#?}");
        said
    }
}

/// What became of each version, by `NAME VERSION`.
fn actions(said: &Said) -> Vec<String> {
    let lines = said.json().into_iter().filter(|line| line["event"] != "module-mirror-summary");
    let lines = lines.filter(|line| line["event"] != "module-call-left");
    let name =
        |line: &serde_json::Value| line["address"].as_str().expect("a name").split('/').nth(2).map(str::to_owned);
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("-").to_owned();
    lines
        .map(|line| format!("{} {} {}", name(&line).unwrap_or_default(), text(&line["version"]), text(&line["action"])))
        .collect()
}

#[test]
fn a_version_that_the_registry_no_longer_lists_is_reported_or_withdrawn() {
    let upstream = vpc();
    upstream.mirror_by("", VPC, "").success();
    upstream.lists(&["1.1.0", "2.0.0"]);
    assert_snapshot!(upstream.text(&upstream.changes_nothing("", VPC, "")), @"
    exit code: 0
    ----- stdout -----
    module                              version  report
    registry.example.test/acme/vpc/aws  1.0.0    kept, although its place no longer lists it

    2 there already, 1 no longer listed; 0 B sent

    ----- stderr -----
    ");
    assert_snapshot!(upstream.text(&upstream.changes_nothing(WITHDRAW, VPC, "--plan")), @"
    exit code: 0
    ----- stdout -----
    module                              version  would be
    registry.example.test/acme/vpc/aws  1.0.0    withdrawn: registry.example.test no longer lists this version

    plan: 2 there already, 1 withdrawn; 0 B to send. Nothing was changed

    ----- stderr -----
    ");
    let said = upstream.mirror_by(WITHDRAW, VPC, "--json").success();
    let line = &said.json()[0];
    assert_eq!((&line["action"], &line["decided_by"]), (&"withdraw".into(), &"place".into()), "{}", said.text);
    assert_eq!(said.json().last().expect("a summary")["withdrawn"], 1, "{}", said.text);
    assert_eq!(upstream.tags(), "1.1.0 2.0.0 first-seen withdrawn-1.0.0");
    let pulled = upstream.scene.run("module pull 'oci://REGISTRY/mirror/acme/vpc-aws?tag=1.0.0' out");
    assert!(pulled.text.contains("registry.example.test no longer lists this version"), "{}", pulled.text);
    let again = upstream.changes_nothing(WITHDRAW, VPC, "--json").success();
    assert_eq!(actions(&again), ["vpc 1.1.0 present", "vpc 2.0.0 present"]);
    // The registry lists it again.
    upstream.lists(&ALL);
    assert_eq!(actions(&upstream.changes_nothing("", VPC, "--plan --json"))[0], "vpc 1.0.0 reinstate");
    let said = upstream.mirror_by("", VPC, "").success();
    assert!(said.stdout.contains("1.0.0    available again\n"), "{}", said.text);
    assert!(upstream.tags().starts_with("1.0.0 1.1.0 2.0.0 first-seen"), "{}", upstream.tags());
    upstream.scene.run("module pull 'oci://REGISTRY/mirror/acme/vpc-aws?tag=1.0.0' out").success();
    upstream.changes_nothing("", VPC, "").success();
}

#[test]
fn an_answer_that_says_nothing_takes_no_version_away() {
    let mut upstream = vpc();
    let below_3 = VPC.replace("aws\"\n", "aws\"\nversions = \"< 3\"\n");
    upstream.mirror_by("", VPC, "").success();
    let kept = "kept, although its place no longer lists it";
    let answers = [
        Answer::new(200).body("{}"),
        Answer::new(200).body(r#"{"errors":["try again"]}"#),
        Answer::new(200).body(r#"{"modules":[]}"#),
        Answer::new(200).body(r#"{"modules":[{}]}"#),
        Answer::new(200).body(r#"{"modules":[{"versions":null}]}"#),
        Answer::new(200).body("<html>"),
        Answer::new(404),
        Answer::new(403),
    ];
    for answer in answers {
        upstream.answers(answer);
        let said = upstream.changes_nothing(WITHDRAW, VPC, "--prune");
        assert!(said.stdout.contains("3 there already;") && said.stderr.contains("stays as it is"), "{}", said.text);
    }
    upstream.module("vpc", "3.0.0", &[("main.tf", "# 3\n")]);
    for listed in [&[][..], &["2.0.0"], &["3.0.0"]] {
        upstream.lists(listed);
        let said = upstream.changes_nothing(WITHDRAW, &below_3, "");
        assert!(said.code == Some(1) && said.text.contains(kept), "{}", said.text);
    }
    assert_snapshot!(upstream.text(&upstream.mirror_by(WITHDRAW, &below_3, "")), @"
    exit code: 1
    ----- stdout -----
    module                              version  report
    registry.example.test/acme/vpc/aws  -        failed
    registry.example.test/acme/vpc/aws  1.0.0    kept, although its place no longer lists it
    registry.example.test/acme/vpc/aws  1.1.0    kept, although its place no longer lists it
    registry.example.test/acme/vpc/aws  2.0.0    kept, although its place no longer lists it

    registry.example.test no longer lists 3 of the 3 mirrored versions of registry.example.test/acme/vpc/aws, and they stay
      hint: look at what the place lists; if they are really gone, add --allow-all-gone

    3 no longer listed, 1 failed; 0 B sent

    ----- stderr -----
    ");
    let said = upstream.mirror_by(WITHDRAW, VPC, "--allow-all-gone --no-nested");
    let all = "3.0.0 first-seen withdrawn-1.0.0 withdrawn-1.1.0 withdrawn-2.0.0";
    assert_eq!(upstream.tags(), all, "{}", said.text);
}

#[test]
fn a_module_that_its_registry_deleted_was_never_withdrawn() {
    let upstream = vpc();
    upstream.mirror_by("", VPC, "").success();
    upstream.answers(Answer::new(404));
    let none = VPC.replace("aws\"\n", "aws\"\nlatest = 0\n");
    for (top, tables, rest) in [("", &none[..], "--prune --plan"), (WITHDRAW, VPC, "--allow-all-gone --plan")] {
        let said = upstream.changes_nothing(top, tables, rest).success();
        assert!(said.stdout.contains("plan: 3 withdrawn;"), "{}", said.text);
    }
    upstream.mirror_by(WITHDRAW, VPC, "--allow-all-gone").success();
    assert_eq!(upstream.tags(), "first-seen withdrawn-1.0.0 withdrawn-1.1.0 withdrawn-2.0.0");
    // What the rules name is nowhere now.
    let said = upstream.changes_nothing(WITHDRAW, VPC, "--allow-all-gone");
    assert!(said.code == Some(1) && said.text.contains("does not know"), "{}", said.text);
    upstream.changes_nothing("", &none, "--prune").success();
}

#[test]
fn a_version_that_people_replaced_and_that_is_gone_was_a_failure() {
    let upstream = vpc();
    upstream.mirror_by("", VPC, "").success();
    upstream.scene.context.write("own/main.tf", "# own\n");
    let push = "module push own REGISTRY/mirror/acme/vpc-aws --version 1.0.0 --replace-tag";
    upstream.scene.run(push).success();
    upstream.lists(&["1.1.0", "2.0.0"]);
    for mode in ["--plan", ""] {
        let said = upstream.changes_nothing(WITHDRAW, VPC, &format!("{mode} --json")).success();
        assert!(actions(&said).contains(&"vpc 1.0.0 replaced-there".to_owned()), "{}", said.text);
        let said = upstream.changes_nothing(WITHDRAW, VPC, mode).success();
        assert!(said.stdout.contains("kept: people put something else under its tag"), "{}", said.text);
    }
}

#[test]
fn pruning_withdraws_only_what_module_mirror_put_there_and_that_no_call_names() {
    let upstream = five_before(scene());
    let scene = &upstream.scene;
    let both = format!("{NEWEST}[[module]]\naddress = \"HOST/acme/network/aws\"\n");
    upstream.mirror_by("", VPC, "").success();
    // Another version is pushed by hand, and one comes from elsewhere by name.
    scene.context.write("own/main.tf", "# own\n");
    scene.run("module push own REGISTRY/mirror/acme/vpc-aws --version 0.9.0").success();
    scene.run("module push own REGISTRY/else --version 0.8.0").success();
    let named = format!("'oci://REGISTRY/else?tag=0.8.0' --as {HOST}/acme/vpc/aws");
    upstream.mirror(&named).success();
    let all = "0.8.0 0.9.0 1.0.0 1.1.0 2.0.0 first-seen";
    upstream.mirror_by("", NEWEST, "").success();
    assert_eq!(upstream.tags(), all, "never without --prune");
    assert_snapshot!(upstream.text(&upstream.changes_nothing("", &both, "--plan --prune")), @"
    exit code: 0
    ----- stdout -----
    module                                  version  would be                                                        called by
    registry.example.test/acme/dns/aws      1.2.0    packed from https://127.0.0.1:[PORT]/dns-1.2.0.zip, 1.2 kB       registry.example.test/acme/network/aws 1.4.0
    registry.example.test/acme/names/aws    0.1.0    packed from https://127.0.0.1:[PORT]/names-0.1.0.zip, 949 B      registry.example.test/acme/dns/aws//zone 1.2.0
    registry.example.test/acme/network/aws  1.4.0    packed from https://127.0.0.1:[PORT]/network-1.4.0.zip, 1.3 kB
    registry.example.test/acme/vpc/aws      1.0.0    withdrawn: the rules of the mirror no longer name this version

    caller                                      at            call                                            not mirrored
    registry.example.test/acme/names/aws 0.1.0  main.tf:2:12  var.which                                       unknown: its source or version is computed
    registry.example.test/acme/tags/aws 0.3.0   main.tf:2:12  git::https://***@git.example.test/x.git?ref=v1  leads elsewhere

    plan: 3 added, 3 there already, 1 withdrawn; 1 call not mirrored; 1 call unknown; 3.4 kB to send. Nothing was changed

    ----- stderr -----
    ");
    upstream.mirror_by("", &both, "--prune").success();
    // 1.1.0 is called by the module `network`.
    assert_eq!(upstream.tags(), "0.8.0 0.9.0 1.1.0 2.0.0 first-seen withdrawn-1.0.0");
    upstream.changes_nothing("", &both, "--prune").success();
    let said = upstream.mirror_by("", NEWEST, "--prune --json").success();
    let gone: Vec<String> = actions(&said).into_iter().filter(|action| action.starts_with("vpc 1.1.0")).collect();
    assert_eq!(gone, ["vpc 1.1.0 withdraw"], "{}", said.text);
    assert_eq!(said.json().iter().find(|line| line["action"] == "withdraw").expect("a line")["decided_by"], "rules");
    // What is called alone is not named: it stays.
    assert!(upstream.mirrored("tags").contains(&"0.3.0".to_owned()), "{}", said.text);
    // The rules name them again, and people have withdrawn another one.
    scene.run("withdraw REGISTRY/mirror/acme/vpc-aws:2.0.0 --reason 'it is bad'").success();
    let said = upstream.mirror_by("", VPC, "--json").success();
    let back = ["vpc 1.0.0 reinstate", "vpc 1.1.0 reinstate", "vpc 2.0.0 withdrawn-there"];
    assert_eq!(actions(&said)[1..], back, "{}", said.text);
    upstream.changes_nothing("", VPC, "").success();
}

#[test]
fn a_module_whose_calls_are_not_known_kept_nothing_from_being_pruned() {
    let mut upstream = vpc();
    upstream.module("caller", "1.0.0", &[("main.tf", &call("vpc", &format!("{HOST}/acme/vpc/aws"), "1.0.0"))]);
    upstream.list();
    let both = format!("{NEWEST}[[module]]\naddress = \"HOST/acme/caller/aws\"\n");
    upstream.mirror_by("", &both, "").success();
    upstream.mirror_by("", VPC, "").success();
    upstream.scene.registry.remove_tag("mirror/acme/caller-aws", "1.0.0");
    upstream.web.page_instead("/caller-1.0.0.zip", Answer::new(200).body("broken"));
    let said = upstream.mirror_by("", &both, "--prune");
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(said.stderr.contains("nothing is pruned"), "{}", said.text);
    assert_eq!(upstream.tags(), "1.0.0 1.1.0 2.0.0 first-seen", "{}", said.text);
    // Nothing leads from a module to another one then.
    upstream.mirror_by("", &both, "--prune --no-nested");
    assert_eq!(upstream.tags(), "2.0.0 first-seen withdrawn-1.0.0 withdrawn-1.1.0");
}

#[test]
fn what_people_withdrew_after_the_mirror_came_back() {
    let upstream = vpc();
    upstream.mirror_by("", VPC, "").success();
    upstream.lists(&["1.1.0", "2.0.0"]);
    upstream.mirror_by(WITHDRAW, VPC, "").success();
    upstream.scene.run("withdraw REGISTRY/mirror/acme/vpc-aws:1.0.0 --reason 'it leaks'").success();
    upstream.lists(&ALL);
    for _ in 0..2 {
        let said = upstream.mirror_by(WITHDRAW, VPC, "--json").success();
        assert!(actions(&said).contains(&"vpc 1.0.0 withdrawn-there".to_owned()), "{}", said.text);
        assert_eq!(upstream.tags(), "1.1.0 2.0.0 first-seen withdrawn-1.0.0");
    }
    upstream.scene.run("withdraw --undo REGISTRY/mirror/acme/vpc-aws:1.0.0").success();
    upstream.mirror_by(WITHDRAW, VPC, "").success();
    assert_eq!(upstream.tags(), "1.0.0 1.1.0 2.0.0 first-seen");
}

#[test]
fn what_people_withdrew_in_the_words_of_the_mirror_came_back() {
    let upstream = vpc();
    upstream.mirror_by("", VPC, "").success();
    upstream.lists(&["1.1.0", "2.0.0"]);
    upstream.mirror_by(WITHDRAW, VPC, "").success();
    let listed = || {
        let line = "module versions oci://REGISTRY/mirror/acme/vpc-aws";
        upstream.scene.run(line).success().stderr.lines().next().unwrap_or_default().to_owned()
    };
    let by_mirror = "withdrawn by the mirror: 1.0.0 (registry.example.test no longer lists this version)";
    assert!(listed().ends_with(by_mirror), "{}", listed());
    let reason = "the vendor no longer lists this version";
    upstream.scene.run(&format!("withdraw REGISTRY/mirror/acme/vpc-aws:1.0.0 --reason '{reason}'")).success();
    assert!(listed().ends_with(&format!("withdrawn by its publisher: 1.0.0 ({reason})")), "{}", listed());
    upstream.lists(&ALL);
    let said = upstream.mirror_by(WITHDRAW, VPC, "--json").success();
    assert!(actions(&said).contains(&"vpc 1.0.0 withdrawn-there".to_owned()), "{}", said.text);
}

#[test]
fn what_a_version_calls_that_stays_although_it_is_gone_was_pruned() {
    let mut upstream = vpc();
    let calls = call("vpc", &format!("{HOST}/acme/vpc/aws"), "1.0.0");
    upstream.module("caller", "1.0.0", &[("main.tf", &calls)]);
    upstream.module("caller", "2.0.0", &[("main.tf", "# calls nothing\n")]);
    upstream.list();
    let both = format!("{NEWEST}[[module]]\naddress = \"HOST/acme/caller/aws\"\n");
    upstream.mirror_by("", &both, "").success();
    let listed = r#"{"modules":[{"versions":[{"version":"2.0.0"}]}]}"#;
    upstream.web.page_instead("/v1/modules/acme/caller/aws/versions", Answer::new(200).body(listed));
    let said = upstream.mirror_by("", &both, "--prune").success();
    assert_eq!(upstream.tags(), "1.0.0 2.0.0 first-seen", "{}", said.text);
    assert!(said.text.contains("kept, although its place no longer lists it"), "{}", said.text);
    upstream.changes_nothing("", &both, "--prune").success();
}

#[test]
fn a_misspelt_constraint_withdrew_the_whole_module() {
    let upstream = vpc();
    upstream.mirror_by("", VPC, "").success();
    let none = VPC.replace("aws\"\n", "aws\"\nversions = \"~> 9.0\"\n");
    for more in ["--prune", "--prune --no-nested"] {
        let said = upstream.mirror_by("", &none, more);
        assert_eq!(said.code, Some(1), "{}", said.text);
        assert_eq!(upstream.tags(), "1.0.0 1.1.0 2.0.0 first-seen", "{}", said.text);
    }
}

#[test]
fn an_entry_without_versions_withdraws_the_module_with_prune_alone() {
    let upstream = vpc();
    upstream.mirror_by("", VPC, "").success();
    let none = VPC.replace("aws\"\n", "aws\"\nlatest = 0\n");
    let said = upstream.mirror_by("", &none, "");
    assert!(
        said.code == Some(2) && said.stderr.contains("`latest = 0` in mirror.toml names no version"),
        "{}",
        said.text
    );
    upstream.mirror_by("", &none, "--prune").success();
    assert_eq!(upstream.tags(), "first-seen withdrawn-1.0.0 withdrawn-1.1.0 withdrawn-2.0.0");
    upstream.changes_nothing("", &none, "--prune").success();
    let clashes = [
        ("--prune --to bundle:b.tar", "bundle:b.tar cannot say that one is withdrawn"),
        ("--prune --from bundle:b.tar", "cannot be used with"),
        ("'oci://REGISTRY/else?tag=0.8.0' --as a/b/c/d --prune", "cannot be used with"),
    ];
    for (line, text) in clashes {
        let said = upstream.scene.run(&format!("module mirror {line}"));
        assert!(said.code == Some(2) && said.stderr.contains(text), "{}", said.text);
    }
}

/// The connection to the destination ends after each write in turn: the next run does what is left.
#[test]
fn a_run_that_breaks_off_at_any_write_is_finished_by_the_next_one() {
    let none = VPC.replace("aws\"\n", "aws\"\nlatest = 0\n");
    let all = |upstream: &Upstream| drop(upstream.mirror_by("", VPC, "").success());
    let gone = |upstream: &Upstream| {
        all(upstream);
        upstream.lists(&["2.0.0"]);
    };
    let back = |upstream: &Upstream| {
        all(upstream);
        upstream.mirror_by("", NEWEST, "--prune").success();
    };
    let (first, both, newest) = ("2.0.0 first-seen", "1.0.0 2.0.0 first-seen", "2.0.0 first-seen withdrawn-1.0.0");
    let cases: [(Prepare<'_>, _, _, _, _); 3] =
        [(&|_| {}, "", NEWEST, "", first), (&gone, WITHDRAW, VPC, "", newest), (&back, "", VPC, "", both)];
    for (prepare, top, tables, rest, want) in cases {
        for at in 0.. {
            let upstream = of_vpc(&["1.0.0", "2.0.0"]);
            prepare(&upstream);
            upstream.scene.break_off_after(at);
            let code = upstream.mirror_by(top, tables, &format!("{rest} --attempts 1 --jobs 1")).code;
            upstream.scene.registry.clear_faults();
            upstream.mirror_by(top, tables, rest).success();
            // A version that is back may keep the tag of its withdrawal.
            assert!(upstream.tags().starts_with(want), "{at}: {}", upstream.tags());
            upstream.changes_nothing(top, tables, rest).success();
            // What was there, or came, is known as the mirror's own.
            upstream.lists(&["1.0.0", "2.0.0"]);
            upstream.mirror_by("", &none, "--prune").success();
            assert!(upstream.tags().starts_with("first-seen withdrawn-"), "{at}: {}", upstream.tags());
            if code == Some(0) {
                assert!(at > 2, "{at}: there are more writes");
                break;
            }
        }
    }
}

#[test]
fn runs_at_once_end_with_the_same() {
    let upstream = vpc();
    let at_once = |top: &str, tables: &str, rest: &str| {
        upstream.mirror_by(top, tables, "--plan").success();
        let line = format!("module mirror --quiet {rest}");
        let start = |_| {
            let mut command = upstream.scene.command(&line);
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
        };
        (0..3).map(start).collect::<Vec<_>>().into_iter().for_each(|mut run| {
            run.wait().expect("it ends");
        });
        upstream.mirror_by(top, tables, rest).success();
    };
    at_once("", VPC, "");
    assert_eq!(upstream.tags(), "1.0.0 1.1.0 2.0.0 first-seen");
    at_once("", NEWEST, "--prune");
    assert_eq!(upstream.tags(), "2.0.0 first-seen withdrawn-1.0.0 withdrawn-1.1.0");
    at_once("", VPC, "");
    assert!(upstream.tags().starts_with("1.0.0 1.1.0 2.0.0 first-seen"), "{}", upstream.tags());
    upstream.changes_nothing("", VPC, "").success();
}

#[test]
fn layouts_and_bundles_do_what_they_do_for_providers() {
    let upstream = vpc();
    let named = format!("{HOST}/acme/vpc/aws");
    let run = |to: &str, rest: &str| upstream.scene.run(&format!("module mirror {named} --to {to} --quiet {rest}"));
    for to in ["oci:lay", "bundle:b.tar"] {
        upstream.lists(&ALL);
        run(to, "").success();
        upstream.lists(&["1.1.0", "2.0.0"]);
        let said = run(to, "").success();
        assert_eq!(said.stdout.contains("1 no longer listed"), to == "oci:lay", "{}", said.text);
    }
    run("oci:lay", "--latest 1 --prune").success();
    let listed = upstream.scene.run(&format!("module versions oci:lay/{named}")).success();
    assert!(listed.text.contains("withdrawn by the mirror: 1.1.0 (the rules of the mirror"), "{}", listed.text);
    assert_eq!(listed.stdout, "2.0.0\n1.0.0\n");
    // What a bundle brings is not the mirror's to take away, and nothing is gone because a bundle lacks it.
    upstream.scene.run(&format!("module mirror --from bundle:b.tar --to '{TO}' --quiet")).success();
    assert_eq!(upstream.tags(), "1.0.0 1.1.0 2.0.0");
    upstream.scene.run(&format!("module mirror {named} --latest 1 --to bundle:new.tar --quiet")).success();
    let said = upstream.scene.run(&format!("module mirror --from bundle:new.tar --to '{TO}' --quiet")).success();
    assert!(said.stdout.ends_with("1 there already; 0 B sent\n"), "{}", said.text);
}
