//! Methods that take the same providers, and hosts without a registry.

use insta::assert_snapshot;

use super::memory::{MemoryFiles, environment};
use super::{find, fine, installation, methods, shown};

const MIRROR: &str = r#"  oci_mirror {
    repository_template = "ghcr.io/acme/${hostname}/${namespace}/${type}"
    include             = ["registry.example.com/*/*"]
  }
"#;

#[test]
fn a_mirror_that_overlaps_with_direct() {
    assert_snapshot!(methods(&format!("{MIRROR}  direct {{\n    exclude = [\"registry.example.com/acme/*\", \"example.net/*/*\"]\n  }}")), @r#"
    warning[mirror-overlap] direct in line 6 takes providers of this oci_mirror too: registry.example.com/*/* but registry.example.com/acme/*
     --> /home/u/.tofurc:2:3 "oci_mirror"
      = what happens: init aborts (tag-not-found) for each of these providers that the oci_mirror lacks, although direct has it
                      it aborts for the others too on the day their registry publishes a newer version than the oci_mirror has, unless one is pinned
      = instead: write exclude = ["example.net/*/*", "registry.example.com/*/*"] in direct in line 6
    "#);
    fine("mirror-overlap", &format!("{MIRROR}  direct {{ exclude = [\"registry.example.com/*/*\"] }}"));
    fine("mirror-overlap", &format!("{MIRROR}  direct {{ include = [\"*/*\"] }}"));
    fine("mirror-overlap", &format!("  filesystem_mirror {{ path = \"/m\" }}\n{MIRROR}"));
    fine("mirror-overlap", &format!("  direct {{}}\n{MIRROR}"));
}

#[test]
fn mirrors_that_overlap_with_each_other() {
    let second = "  network_mirror {\n    url = \"https://mirror.example.com/\"\n    include = [\"registry.example.com/acme/*\", \"example.net/*/*\"]\n  }\n  filesystem_mirror {\n    path = \"/m\"\n    include = [\"example.net/a/b\"]\n  }";
    assert_snapshot!(methods(&format!("{MIRROR}{second}")), @r#"
    warning[mirror-overlap] network_mirror in line 6 takes providers of this oci_mirror too: registry.example.com/acme/*
     --> /home/u/.tofurc:2:3 "oci_mirror"
      = what happens: init aborts (tag-not-found) for each version of these providers that only network_mirror has; it works as long as the oci_mirror has everything that the other has
      = instead: write exclude = ["registry.example.com/acme/*"] in network_mirror in line 6

    warning[mirror-overlap] filesystem_mirror in line 10 takes providers of this network_mirror too: example.net/a/b
     --> /home/u/.tofurc:6:3 "network_mirror"
      = what happens: init aborts (mirror-version-missing) for each version of these providers that only filesystem_mirror has; it works as long as the network_mirror has everything that the other has
      = instead: write nothing for filesystem_mirror in line 10, which has no provider of its own: leave it out, or put it first if it gives way

    warning[unreachable-method] this filesystem_mirror serves no provider: network_mirror in line 6 takes them all, and never gives way
     --> /home/u/.tofurc:10:3 "filesystem_mirror"
      = what happens: it is asked for versions, and can fail then; its packages are never used. The order decides, not how narrow a pattern is
      = instead: write it first, or leave it out
    "#);
}

#[test]
fn a_method_that_serves_nothing() {
    let all = "  oci_mirror { repository_template = \"ghcr.io/${hostname}/${namespace}/${type}\" }\n";
    assert_snapshot!(methods(&format!("{all}  direct {{}}")), @r#"
    warning[mirror-overlap] direct in line 3 takes providers of this oci_mirror too: */*/*
     --> /home/u/.tofurc:2:3 "oci_mirror"
      = what happens: init aborts (tag-not-found) for each of these providers that the oci_mirror lacks, although direct has it
                      it aborts for the others too on the day their registry publishes a newer version than the oci_mirror has, unless one is pinned
      = instead: write an include with what the oci_mirror really has, and the same list as exclude in direct in line 3; or leave direct in line 3 out

    warning[unreachable-method] this direct serves no provider: oci_mirror in line 2 takes them all, and never gives way
     --> /home/u/.tofurc:3:3 "direct"
      = what happens: it is asked for versions, and can fail then; its packages are never used. The order decides, not how narrow a pattern is
      = instead: write it first, or leave it out
    "#);
    assert_snapshot!(methods("  filesystem_mirror {\n    path    = \"/m\"\n    include = [\"example.net/a/*\"]\n    exclude = [\"example.net/*/*\"]\n  }\n  direct {}"), @r#"
    warning[unreachable-method] this filesystem_mirror is for no provider: exclude covers all of include
     --> /home/u/.tofurc:2:3 "filesystem_mirror"
      = what happens: exclude beats include at every width, so that the method is never asked
      = instead: write a narrower exclude, or leave the method out
    "#);
    fine("unreachable-method", &format!("  direct {{}}\n{all}"));
    fine("unreachable-method", &format!("{MIRROR}  direct {{}}"));
    let left = all.replace("}\" }", "}\"\n exclude = [\"example.net/a/*\"]\n }");
    fine("unreachable-method", &format!("{left}  direct {{ include = [\"example.net/*/*\"] }}"));
}

#[test]
fn a_wide_method_before_a_narrow_one() {
    assert_snapshot!(methods(&format!("  direct {{}}\n{MIRROR}")), @r#"
    note[direct-needs-origin] direct asks registry.example.com too, although a mirror names it
     --> /home/u/.tofurc:2:3 "direct"
      = what happens: every listing asks the host itself: init aborts where it has no registry or does not answer
      = instead: write exclude = ["registry.example.com/*/*"]

    note[order-decides] direct in line 2 stands before this oci_mirror and takes registry.example.com/*/* too
     --> /home/u/.tofurc:3:3 "oci_mirror"
      = what happens: what both have comes from direct: the order decides, not how narrow a pattern is
      = instead: write exclude = ["registry.example.com/*/*"] in direct in line 2
    "#);
    fine("order-decides", &format!("  filesystem_mirror {{ path = \"/m\" }}\n{MIRROR}"));
    fine("order-decides", "  filesystem_mirror { path = \"/m\" }\n  direct {}");
}

#[test]
fn direct_for_hosts_that_are_only_names() {
    let mirror = "  filesystem_mirror {\n    path    = \"/m\"\n    include = [\"registry.example.test/*/*\", \"tofu.corp/acme/*\"]\n  }\n";
    assert_snapshot!(methods(&format!("{mirror}  direct {{\n    exclude = [\"tofu.corp/*/*\"]\n  }}")), @r#"
    error[direct-needs-origin] direct asks registry.example.test, which no public DNS knows
     --> /home/u/.tofurc:6:3 "direct"
      = what happens: every listing asks the host itself, and init aborts if it does not answer, whoever else has the provider
      = instead: write exclude = ["tofu.corp/*/*", "registry.example.test/*/*"]
    "#);
    fine(
        "direct-needs-origin",
        &format!("{mirror}  direct {{ exclude = [\"registry.example.test/*/*\", \"tofu.corp/*/*\"] }}"),
    );
    fine(
        "direct-needs-origin",
        "  filesystem_mirror {\n path = \"/m\"\n include = [\"registry.opentofu.org/*/*\"]\n }\n  direct {}",
    );
}

#[test]
fn direct_for_a_required_provider_of_no_host() {
    let text = installation("  direct {}");
    let files = MemoryFiles::from([("/home/u/.tofurc", text.as_str())]);
    let required = ["mirror/acme/widget", "registry.example.com/acme/widget"];
    assert_snapshot!(shown(&find(&environment(), &files, None, &required)), @r#"
    error[direct-needs-origin] direct asks mirror, which no public DNS knows
     --> /home/u/.tofurc:2:3 "direct"
      = what happens: every listing asks the host itself, and init aborts if it does not answer, whoever else has the provider
      = instead: write a mirror that has mirror/acme/widget, and exclude = ["mirror/acme/widget"]
    "#);
}

#[test]
fn patterns_without_a_host_are_for_the_default_one() {
    assert_snapshot!(methods("  filesystem_mirror {\n    path    = \"/m\"\n    include = [\"registry.example.com/*/*\", \"*/*\"]\n  }"), @r#"
    warning[pattern-default-host] `*/*` is for registry.opentofu.org only, and not for registry.example.com
     --> /home/u/.tofurc:4:44 "\"*/*\""
      = what happens: a pattern of two parts means `registry.opentofu.org/*/*`
      = instead: write "registry.example.com/*/*", or "registry.opentofu.org/*/*" if only that host is meant
    "#);
    fine("pattern-default-host", "  filesystem_mirror {\n path = \"/m\"\n include = [\"*/*\"]\n }");
    fine(
        "pattern-default-host",
        "  filesystem_mirror {\n path = \"/m\"\n include = [\"acme/*\", \"registry.example.com/*/*\"]\n }",
    );
}

#[test]
fn a_required_provider_whose_host_names_a_registry() {
    let files = MemoryFiles::default();
    assert_snapshot!(shown(&find(&environment(), &files, None, &["ghcr.io.oci.opentofu.org/acme/widget"])), @"
    note[magic-host] only tofu-oci finds ghcr.io.oci.opentofu.org/acme/widget in a registry by its host
      = what happens: OpenTofu asks the host itself, and init aborts
      = instead: write an oci_mirror for it too: `tofu-oci config add` writes one
    ");
    assert_snapshot!(shown(&find(&environment(), &files, None, &["example.com/acme/widget"])), @"");
}

#[test]
fn what_both_methods_leave_out_is_named_once() {
    let reported = super::reported(
        "provider_installation {\n  oci_mirror {\n    repository_template = \"ghcr.io/${namespace}/${type}\"\n    include = \
         [\"a.example/*/*\"]\n    exclude = [\"a.example/b/c\"]\n  }\n  direct { exclude = [\"a.example/b/c\"] }\n}\n",
    );
    assert!(reported.contains("of this oci_mirror too: a.example/*/* but a.example/b/c\n"), "{reported}");
}
