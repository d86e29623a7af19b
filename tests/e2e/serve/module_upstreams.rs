//! Modules that the repositories lack: fetched from the registry of their host or from other repositories, packed, kept; or
//! held back, denied, never asked for.

use std::time::Instant;

use tofu_oci_testkit::{Answer, Fault, Rule};

use super::wire::Got;
use super::{PATIENCE, Serving};
use crate::module_located::{private, shows_login};
use crate::module_mirror::{HOST, Upstream, call, five};
use crate::setup::Scene;

const NETWORK: &str = "/modules/registry.example.test/acme/network/aws";

/// A bridge before this upstream, with these lines on top and in its table.
fn serving(upstream: &Upstream, top: &str, rules: &str) -> Serving {
    serving_from(&upstream.scene, "[\"direct\"]", top, rules)
}

/// The same with these upstreams.
fn serving_from(scene: &Scene, upstreams: &str, top: &str, rules: &str) -> Serving {
    Serving::with(scene, &settings(upstreams, top, rules))
}

fn settings(upstreams: &str, top: &str, rules: &str) -> String {
    let module = format!(
        "[[module]]\ninclude = [\"{HOST}/*/*/*\"]\nfrom = \"REGISTRY/m/${{namespace}}/${{name}}-${{target_system}}\"\n\
         upstream = {upstreams}\n{rules}\n"
    );
    format!("{top}\n{module}\n[cache]\nmetadata = \"0s\"\n")
}

impl Upstream {
    /// The tags of a module's repository behind the bridge.
    fn kept(&self, name: &str) -> Vec<String> {
        self.scene.registry.tags(&format!("m/acme/{name}-aws")).into_iter().map(|(tag, _)| tag).collect()
    }
}

/// The archive of a version, by the answer of the protocol.
fn archive(serving: &Serving, module: &str, version: &str) -> Got {
    let got = serving.get(&format!("{module}/{version}/download"));
    assert_eq!(got.status, 200, "{}\n{}", got.text(), serving.log());
    let location = got.header("X-Terraform-Get").to_owned();
    let rest = location.split_once("://").expect("a URL").1;
    serving.get(&rest[rest.find('/').expect("a path")..])
}

#[test]
fn a_module_of_a_public_registry_is_fetched_once_packed_and_kept_and_what_it_calls_is_answered() {
    let upstream = five();
    let bridge = serving(&upstream, "", "");
    let listed = bridge.get(&format!("{NETWORK}/versions")).text();
    assert_eq!(listed, r#"{"modules":[{"versions":[{"version":"1.4.0"}]}]}"#);
    assert!(upstream.fetched().is_empty(), "a list fetches no archive");
    for _ in 0..2 {
        let got = archive(&bridge, NETWORK, "1.4.0");
        assert!(got.status == 200 && got.is_whole && got.body.starts_with(b"PK"), "{}", bridge.log());
    }
    assert_eq!(upstream.fetched().len(), 1, "{:?}", upstream.fetched());
    assert_eq!(upstream.kept("network"), ["1.4.0"]);
    let called = NETWORK.replace("network", "vpc");
    assert!(bridge.get(&format!("{called}/versions")).text().contains("2.0.0"));
    assert_eq!(archive(&bridge, &called, "1.1.0").status, 200);
    drop(bridge);
    // `module mirror` would have brought the same bytes.
    let mirrored = upstream.mirror(&format!("{HOST}/acme/network/aws --no-nested"));
    assert!(mirrored.text.contains("exit code: 0"), "{}", mirrored.text);
    assert_eq!(
        upstream.scene.tag("m/acme/network-aws", "1.4.0"),
        upstream.scene.tag("mirror/acme/network-aws", "1.4.0")
    );
    // What is kept is served without the upstream, and nothing else is.
    let sealed = serving(&upstream, "sealed = true", "");
    let asked = upstream.web.requests().len();
    assert_eq!(archive(&sealed, NETWORK, "1.4.0").status, 200);
    let missing = sealed.get(&format!("{called}/2.0.0/download"));
    assert_eq!(missing.status, 404);
    assert!(missing.text().contains("is sealed, so its upstream is not asked"), "{}", missing.text());
    let unknown = sealed.get(&format!("{}/versions", NETWORK.replace("network", "dns")));
    assert!(unknown.status == 404 && unknown.text().contains("sealed"), "{}", unknown.text());
    assert_eq!(upstream.web.requests().len(), asked);
}

#[test]
fn all_who_ask_at_once_share_one_fetch() {
    let upstream = five();
    let bridge = serving(&upstream, "", "");
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let ask = || bridge.get(&format!("{NETWORK}/1.4.0/download")).status;
        let asked: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        asked.into_iter().map(|one| one.join().expect("it answers")).collect()
    });
    assert_eq!(statuses, [200; 8], "{}", bridge.log());
    assert_eq!(upstream.fetched().len(), 1, "{:?}", upstream.fetched());
}

#[test]
fn the_metrics_did_not_say_which_modules_were_pulled() {
    let upstream = five();
    let settings = settings("[\"direct\"]", "", &format!("min_age = \"7d\"\ndeny = [\"{HOST}/acme/vpc/aws\"]"));
    let held = Serving::counting(&upstream.scene, &settings);
    for (module, version) in [("network", "1.4.0"), ("vpc", "2.0.0")] {
        let path = NETWORK.replace("network", module);
        held.get(&format!("{path}/versions"));
        assert_eq!(held.get(&format!("{path}/{version}/download")).status, 404);
    }
    let pulls = |kind: &str| format!("tofu_oci_pulls_total{{kind=\"module\",outcome=\"{kind}\"}} 1");
    let mut counted = held.metrics("tofu_oci_pulls_total{");
    counted.sort();
    assert_eq!(counted, [pulls("denied"), pulls("held")]);
    drop(held);
    let bridge = Serving::counting(&upstream.scene, &self::settings("[\"direct\"]", "", ""));
    for _ in 0..2 {
        assert_eq!(archive(&bridge, NETWORK, "1.4.0").status, 200);
    }
    assert_eq!(bridge.metrics("tofu_oci_pulls_total{"), [pulls("fetched")]);
    assert!(!bridge.metrics("tofu_oci_pulled_bytes_total{kind=\"module\"} ")[0].ends_with(" 0"));
}

#[test]
fn an_upstream_that_fails_was_no_such_module() {
    let mut upstream = five();
    let bridge = serving(&upstream, "", "");
    let (vpc, dns) = (NETWORK.replace("network", "vpc"), NETWORK.replace("network", "dns"));
    // It answers that there is no such module.
    assert_eq!(bridge.get(&format!("{}/versions", NETWORK.replace("network", "nothing"))).status, 404);
    assert_eq!(bridge.get(&format!("{NETWORK}/9.9.9/download")).status, 404);
    assert_eq!(archive(&bridge, &vpc, "1.0.0").status, 200);
    // The archive is gone. Clients do not read where it was.
    upstream.web.clear();
    upstream.located("network", "1.4.0", "/gone.zip");
    upstream.list();
    let failed = bridge.get(&format!("{NETWORK}/1.4.0/download"));
    assert_eq!(failed.status, 502, "{}", failed.text());
    assert!(!failed.text().contains("gone.zip"), "{}", failed.text());
    bridge.wait_for_line(0, &["\"status\":502", "gone.zip"]);
    assert_eq!(upstream.kept("network"), Vec::<String>::new());
    upstream.web.clear();
    upstream.web.page("/v1/modules/acme/*/aws/versions", Answer::new(403));
    let failed = bridge.get(&format!("{dns}/versions"));
    assert_eq!(failed.status, 502, "{}", failed.text());
    assert!(failed.text().contains("403"), "{}", failed.text());
    // What the repository has is listed without the upstream.
    let bridge = serving(&upstream, "", "");
    let listed = bridge.get(&format!("{vpc}/versions")).text();
    assert_eq!(listed, r#"{"modules":[{"versions":[{"version":"1.0.0"}]}]}"#);
    bridge.wait_for_line(1, &["is listed without its upstream", "403"]);
}

#[test]
fn a_module_that_is_denied_or_not_allowed_is_neither_listed_nor_fetched() {
    let vpc = NETWORK.replace("network", "vpc");
    for (rules, left) in [
        (format!("deny = [\"{HOST}/acme/vpc/aws@< 2.0.0\"]"), vec!["2.0.0"]),
        (format!("allow = [\"{HOST}/acme/*/*@1.1.0\"]"), vec!["1.1.0"]),
    ] {
        let upstream = five();
        let bridge = serving(&upstream, "", &rules);
        let listed = bridge.get(&format!("{vpc}/versions")).text();
        for version in ["1.0.0", "1.1.0", "2.0.0"] {
            assert_eq!(listed.contains(version), left.contains(&version), "{rules}: {listed}");
            let status = bridge.get(&format!("{vpc}/{version}/download")).status;
            assert_eq!(status == 200, left.contains(&version), "{rules} {version}: {status}");
        }
        assert_eq!(upstream.kept("vpc"), left, "{rules}");
    }
}

#[test]
fn a_young_version_is_held_until_it_is_old_enough_and_the_repository_remembers_when_it_was_seen() {
    let upstream = five();
    let bridge = serving(&upstream, "", "min_age = \"7d\"");
    assert_eq!(bridge.get(&format!("{NETWORK}/versions")).text(), r#"{"modules":[{"versions":[]}]}"#);
    let held = bridge.get(&format!("{NETWORK}/1.4.0/download"));
    assert!(held.status == 404 && held.text().contains("min_age"), "{}", held.text());
    assert_eq!(upstream.kept("network"), ["first-seen"]);
    assert!(upstream.fetched().is_empty());
    drop(bridge);
    // Another instance lets it in by what the first one has seen.
    let bridge = serving(&upstream, "", "min_age = \"1s\"");
    let begun = Instant::now();
    while !bridge.get(&format!("{NETWORK}/versions")).text().contains("1.4.0") {
        assert!(begun.elapsed() < PATIENCE, "{}", bridge.log());
    }
    assert_eq!(archive(&bridge, NETWORK, "1.4.0").status, 200);
    assert_eq!(upstream.kept("network"), ["1.4.0", "first-seen"]);
}

#[test]
fn another_repository_is_an_upstream_and_gives_way_to_the_next() {
    let mut upstream = Upstream::start();
    upstream.module("vpc", "1.0.0", &[("main.tf", "# vpc\n")]);
    upstream.list();
    upstream.scene.context.write("net/main.tf", call("vpc", &format!("{HOST}/acme/vpc/aws"), "1.0.0"));
    upstream.scene.run("module push net REGISTRY/up/acme/network-aws --version 1.4.0").success();
    let upstreams = "[\"REGISTRY/up/${namespace}/${name}-${target_system}\", \"direct\"]";
    let bridge = serving_from(&upstream.scene, upstreams, "", "");
    assert_eq!(archive(&bridge, NETWORK, "1.4.0").status, 200);
    assert_eq!(upstream.scene.tag("m/acme/network-aws", "1.4.0"), upstream.scene.tag("up/acme/network-aws", "1.4.0"));
    assert_eq!(archive(&bridge, &NETWORK.replace("network", "vpc"), "1.0.0").status, 200);
    upstream.scene.registry.fault(Rule::on("*", "*up/acme*").then(Fault::status(403, "DENIED")));
    let failed = bridge.get(&format!("{}/versions", NETWORK.replace("network", "other")));
    assert_eq!(failed.status, 502, "a repository that may not be read does not give way: {}", failed.text());
}

#[test]
fn an_untrusted_package_of_an_upstream_is_not_kept() {
    let upstream = Upstream::start();
    upstream.scene.context.write("net/main.tf", "");
    upstream.scene.run("module push net REGISTRY/up/acme/network-aws --version 1.4.0").success();
    let policy = "[[rule]]\nmodules = [\"REGISTRY/up/*\"]\nunsigned = \"refuse\"\n";
    upstream.scene.context.write("trust.toml", policy.replace("REGISTRY", upstream.scene.registry.address()));
    let upstreams = "[\"REGISTRY/up/${namespace}/${name}-${target_system}\"]";
    let bridge = serving_from(&upstream.scene, upstreams, "trust = \"trust.toml\"", "");
    assert_eq!(bridge.get(&format!("{NETWORK}/1.4.0/download")).status, 409, "{}", bridge.log());
    assert_eq!(upstream.kept("network"), Vec::<String>::new());
}

#[test]
fn a_rule_without_an_upstream_and_an_upstream_for_any_host_are_refused() {
    let scene = Scene::new();
    let check = |include: &str, rest: &str| {
        let module = format!(
            "[[module]]\ninclude = [\"{include}\"]\nfrom = \"REGISTRY/m/${{namespace}}/${{name}}-${{target_system}}\"\n{rest}\n"
        );
        scene.context.write("serve.toml", module.replace("REGISTRY", scene.registry.address()));
        scene.run("serve --config serve.toml --check-config").text
    };
    let text = check("registry.example.com/*/*/*", "min_age = \"7d\"");
    assert!(text.contains("the [[module]] has no `upstream`"), "{text}");
    let text = check("*/*/*/*", "upstream = [\"direct\"]");
    assert!(text.contains("\"direct\" asks the host of each module"), "{text}");
    let text = check("registry.example.com/*/*/*", "upstream = [\"REGISTRY/up/${name}\"]");
    assert!(text.contains("up/${name}"), "{text}");
    let text = check("registry.example.com/*/*/*", "upstream = [\"direct\"]\nmin_age = \"7d\"");
    assert!(text.contains("what is missing from direct"), "{text}");
}

#[test]
fn a_version_that_the_registry_answers_for_and_does_not_list_was_kept() {
    let mut upstream = Upstream::start();
    upstream.module("network", "1.4.0", &[("main.tf", "# network\n")]);
    upstream.list();
    upstream.module("network", "9.9.9", &[("main.tf", "# hidden\n")]);
    let bridge = serving(&upstream, "", "");
    let got = bridge.get(&format!("{NETWORK}/9.9.9/download"));
    assert_eq!(got.status, 404, "{}", got.text());
    assert_eq!(archive(&bridge, NETWORK, "1.4.0").status, 200);
    assert_eq!(upstream.kept("network"), ["1.4.0"]);
}

#[cfg(unix)]
#[test]
fn a_registry_of_modules_made_serve_hand_out_a_repository_that_its_login_reads() {
    let upstream = private();
    let bridge = serving(&upstream, "", "");
    let got = bridge.get(&format!("{NETWORK}/1.4.0/download"));
    assert_eq!(got.status, 502, "{}\n{}", got.text(), bridge.log());
    bridge.wait_for_line(0, &["\"status\":502", "demands a login"]);
    let asked = upstream.scene.registry.requests_to("*", "/v2/secret/*");
    assert!(!asked.is_empty() && !asked.iter().any(shows_login), "{asked:?}");
    assert!(upstream.kept("network").is_empty());
    drop(bridge);
    // A repository that serve.toml names is read with the login.
    let bridge = serving_from(&upstream.scene, "[\"REGISTRY/secret/${namespace}/${name}-${target_system}\"]", "", "");
    upstream.scene.run("module push net REGISTRY/secret/acme/network-aws --version 1.4.0").success();
    assert_eq!(archive(&bridge, NETWORK, "1.4.0").status, 200, "{}", bridge.log());
}

#[test]
fn modules_of_git_repositories_are_listed_by_their_tags_packed_and_kept() {
    let scene = Scene::new();
    scene.repository("git/acme/network", &[("main.tf", "# 1\n"), ("aws/main.tf", "# aws\n")]);
    scene.git("git/acme/network", "tag v1.0.0");
    scene.context.write("git/acme/network/aws/main.tf", "# aws 2\n");
    scene.commit("git/acme/network");
    scene.git("git/acme/network", "tag -a -m x 1.1.0");
    let upstream =
        format!("[\"git::file://{}/${{namespace}}/${{name}}//${{target_system}}\"]", scene.path("git").display());
    let bridge = serving_from(&scene, &upstream, "", "");
    let listed = bridge.get(&format!("{NETWORK}/versions")).text();
    assert_eq!(listed, r#"{"modules":[{"versions":[{"version":"1.0.0"},{"version":"1.1.0"}]}]}"#, "{}", bridge.log());
    assert!(archive(&bridge, NETWORK, "1.1.0").is_whole);
    let kept = scene.registry.tags("m/acme/network-aws");
    assert_eq!(kept.iter().map(|(tag, _)| tag.as_str()).collect::<Vec<_>>(), ["1.1.0"]);
    scene.run("module pull 'oci://REGISTRY/m/acme/network-aws?tag=1.1.0' out").success();
    assert_eq!(std::fs::read_to_string(scene.path("out/main.tf")).expect("the file"), "# aws 2\n");
    // What is kept outlives the repository, and a repository that is not there is a failure, no absence.
    std::fs::remove_dir_all(scene.path("git")).expect("it is there");
    assert_eq!(archive(&bridge, NETWORK, "1.1.0").status, 200);
    let missing = bridge.get(&format!("{}/versions", NETWORK.replace("network", "other")));
    assert_eq!(missing.status, 502, "{}", missing.text());
}

#[test]
fn a_git_repository_without_the_folder_of_the_rule_was_a_failure_and_two_tags_were_one_version() {
    let scene = Scene::new();
    for folder in ["git/acme/network", "later/acme/network/aws"] {
        scene.repository(folder, &[("main.tf", "# 1\n")]);
        scene.git(folder, "tag v1.0.0");
    }
    let versions = |serving: &Serving| serving.get(&format!("{NETWORK}/versions")).text();
    let rule = |folder: &str| format!("\"git::file://{}/${{namespace}}/${{name}}", scene.path(folder).display());
    let one = serving_from(&scene, &format!("[{}//${{target_system}}\"]", rule("git")), "", "");
    assert!(versions(&one).contains("1.0.0"), "{}", one.log());
    let missing = one.get(&format!("{NETWORK}/1.0.0/download"));
    assert_eq!(missing.status, 404, "{}\n{}", missing.text(), one.log());
    drop(one);
    // The next upstream has it.
    let both = format!("[{}//${{target_system}}\", {}/${{target_system}}\"]", rule("git"), rule("later"));
    let both = serving_from(&scene, &both, "", "");
    assert_eq!(archive(&both, NETWORK, "1.0.0").status, 200, "{}", both.log());
    drop(both);
    // Two tags of one commit are one version; of two commits, none that can be had.
    let folder = "later/acme/network/aws";
    scene.git(folder, "tag v1.1.0");
    scene.git(folder, "tag -a -m x 1.1.0");
    scene.git(folder, "tag v1.2.0");
    scene.context.write("later/acme/network/aws/main.tf", "# 2\n");
    scene.commit(folder);
    scene.git(folder, "tag 1.2.0");
    let whole = serving_from(&scene, &format!("[{}/${{target_system}}\"]", rule("later")), "", "");
    assert_eq!(archive(&whole, NETWORK, "1.1.0").status, 200, "{}", whole.log());
    let unclear = whole.get(&format!("{NETWORK}/1.2.0/download"));
    assert_eq!(unclear.status, 502, "{}", unclear.text());
    whole.wait_for_line(0, &["v1.2.0 and 1.2.0 are one version, and name different commits"]);
}

#[test]
fn a_rule_for_git_that_a_client_could_turn_or_that_two_modules_share_is_refused() {
    let check = |upstream: &str, include: &str, want: &str| {
        let scene = Scene::new();
        let settings = format!(
            "[[module]]\ninclude = [\"{include}\"]\nfrom = \"r.test/m/${{hostname}}/${{namespace}}/${{name}}-${{target_system}}\"\nupstream = [\"{upstream}\"]\n"
        );
        scene.context.write("serve.toml", settings);
        let said = scene.refuse("serve --config serve.toml --check-config");
        assert!(said.contains(want) && !said.contains("hunter2") && !said.contains("oci:"), "{upstream}: {said}");
    };
    let open = "could make the server ask any host";
    check("git::https://${hostname}/${namespace}/${name}/${target_system}", "*/*/*/*", open);
    check("git::https://${namespace}.g.test/${name}/${target_system}", "a.test/*/*/*", open);
    check("git::https://g.test/${name}//${target_system}", "a.test/*/*/*", "both get git::https://g.test/");
    check("git::https://u:hunter2@g.test/${namespace}/${name}/${target_system}", "a.test/*/*/*", "holds a login");
    check("git::https://g.test/${namespace}?ref=main", "a.test/*/*/*", "leave `ref` out");
    check("git::https://g.test/${type}", "a.test/*/*/*", "names no git repository");
}

/// The client heard that the module is unknown, and looked for a fault in its own configuration.
#[test]
fn a_repository_that_the_registry_names_and_is_not_there_is_a_failure_of_the_registry() {
    let mut upstream = Upstream::before(Scene::new());
    let location = format!("oci://{}/gone/net?tag=1.4.0", upstream.scene.registry.address());
    upstream.located("network", "1.4.0", &location);
    upstream.list();
    let bridge = serving(&upstream, "", "");
    let got = bridge.get(&format!("{NETWORK}/1.4.0/download"));
    assert_eq!(got.status, 502, "{}", got.text());
    let log = bridge.stop().1;
    assert!(log.contains("there is no such package"), "{log}");
}

/// Whoever may push to the repository could read what the logins of the bridge read, and what lies on its machine.
#[test]
fn a_submodule_of_a_repository_by_a_rule_led_to_another_one_on_this_machine() {
    let scene = Scene::new();
    scene.repository("secret", &[("main.tf", "# secret\n")]);
    scene.repository("git/acme/network", &[("aws/main.tf", "# aws\n")]);
    scene.git("git/acme/network", &format!("submodule add -q {} aws/sub", scene.path("secret").display()));
    scene.commit("git/acme/network");
    scene.git("git/acme/network", "tag v1.0.0");
    let upstream =
        format!("[\"git::file://{}/${{namespace}}/${{name}}//${{target_system}}\"]", scene.path("git").display());
    let bridge = serving_from(&scene, &upstream, "", "");
    let got = bridge.get(&format!("{NETWORK}/1.0.0/download"));
    assert_eq!(got.status, 502, "{}", got.text());
    assert!(scene.registry.tags("m/acme/network-aws").is_empty());
    let log = bridge.stop().1;
    assert!(log.contains("aws/sub"), "{log}");
}
