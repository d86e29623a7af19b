//! What is left of a `provider_installation`.

use insta::assert_snapshot;

use super::memory::{MemoryFiles, environment};
use super::{find, methods, of, reported, shown};

const AIR_GAPPED: &str = "provider_installation {\n  filesystem_mirror {\n    path = \"/m\"\n  }\n}\n";

#[test]
fn an_air_gapped_file_has_no_findings() {
    assert_snapshot!(reported(AIR_GAPPED), @"");
}

#[test]
fn a_dropped_file_opens_the_way_to_the_origin() {
    let text = format!("{AIR_GAPPED}plugin_cache_dir = \"/m\n");
    assert_snapshot!(reported(&text), @r#"
    error[hcl1-parse] this quote has no closing quote on its line
     --> /home/u/.tofurc:6:20 "\""
      = what happens: 1.10 and later: prints an error that names line 6, and goes on without this file
                      1.10 and later: no provider_installation is left: OpenTofu takes the local plugin folders, and downloads every other provider from its own registry, with exit code 0
      = instead: write the closing quote, and `\n` for a line's end
    "#);
    assert!(of(&text).iter().all(|finding| finding.opens_to_origin));
    assert_snapshot!(reported(&AIR_GAPPED.replace("lation {", "lation = {")), @r#"
    error[block-equals] provider_installation must be a block
     --> /home/u/.tofurc:1:1 "provider_installation"
      = what happens: 1.10 and later: prints an error that names line 1, and goes on without this block
                      1.10 and later: no provider_installation is left: OpenTofu takes the local plugin folders, and downloads every other provider from its own registry, with exit code 0
      = instead: leave the = out: provider_installation { … }
    "#);
    assert_snapshot!(reported(&AIR_GAPPED.replace("installation", "instalation")), @r#"
    error[misspelt-name] there is no setting provider_instalation
     --> /home/u/.tofurc:1:1 "provider_instalation"
      = what happens: 1.10 and later: says nothing, and ignores it
                      1.10 and later: no provider_installation is left: OpenTofu takes the local plugin folders, and downloads every other provider from its own registry, with exit code 0
      = instead: write provider_installation
    "#);
}

#[test]
fn a_repeated_argument_drops_the_file_from_1_12_on() {
    let text = AIR_GAPPED.replace("    path", "    path = \"/x\"\n    path");
    assert_snapshot!(reported(&text), @r#"
    error[hcl1-parse] the argument `path` was already set; each can be given once only
     --> /home/u/.tofurc:4:5 "path"
      = what happens: 1.12 and later: prints an error that names line 4, and goes on without this file
                      1.12 and later: no provider_installation is left: OpenTofu takes the local plugin folders, and downloads every other provider from its own registry, with exit code 0
      = instead: write each argument once; of a list, all in one pair of brackets
    "#);
}

#[test]
fn a_dropped_method_leaves_its_providers_to_direct() {
    let bad = "  oci_mirror {\n    repository_template = \"ghcr.io/${name}\"\n    include             = [\"registry.example.com/acme/widget\"]\n  }\n";
    assert_snapshot!(methods(&format!("{bad}  direct {{}}")), @r#"
    error[unknown-symbol] `ghcr.io/${name}` mentions `name` at column 11, which an address does not have
     --> /home/u/.tofurc:3:38 "name"
      = what happens: 1.10 and later: prints an error that names line 2, and goes on without this method; the others serve
                      1.10 and later: direct at /home/u/.tofurc:6 takes over registry.example.com/acme/widget: downloads from each provider's own registry
      = instead: write ${hostname}, ${namespace} or ${type}
    "#);
    assert_snapshot!(methods(&format!("{bad}  direct {{ exclude = [\"registry.example.com/*/*\"] }}")), @r#"
    error[unknown-symbol] `ghcr.io/${name}` mentions `name` at column 11, which an address does not have
     --> /home/u/.tofurc:3:38 "name"
      = what happens: 1.10 and later: prints an error that names line 2, and goes on without this method; the others serve
      = instead: write ${hostname}, ${namespace} or ${type}
    "#);
    assert_snapshot!(methods(bad), @r#"
    error[empty-installation] no method of provider_installation is left
     --> /home/u/.tofurc:1:1 "provider_installation"
      = what happens: init finds no release of any provider, and names no cause; no method counts in their place
      = instead: write the methods as their errors say

    error[unknown-symbol] `ghcr.io/${name}` mentions `name` at column 11, which an address does not have
     --> /home/u/.tofurc:3:38 "name"
      = what happens: 1.10 and later: prints an error that names line 2, and goes on without this method
                      1.10 and later: no method is left, so that no provider can be installed
      = instead: write ${hostname}, ${namespace} or ${type}
    "#);
}

#[test]
fn two_blocks() {
    assert_snapshot!(reported(&format!("{AIR_GAPPED}provider_installation {{\n  direct {{}}\n}}\n")), @r#"
    error[two-blocks] provider_installation is given a second time
     --> /home/u/.tofurc:6:1 "provider_installation"
      = what happens: 1.10 and later: prints an error that names no line, and uses the first one
      = instead: put all methods into one block, the first to be asked first
    "#);
}

#[test]
fn methods_as_objects_in_json() {
    let text = r#"{"provider_installation": {"filesystem_mirror": {"path": "/m"}, "direct": {}}}"#;
    assert_snapshot!(reported(text), @r#"
    error[two-blocks] the methods of this provider_installation are taken for blocks of their own
     --> /home/u/.tofurc:1:2 "\"provider_installation\""
      = what happens: 1.10 and later: prints an error that names no line, and uses the first one
      = instead: write every method as a list: "direct": [{ … }]

    error[empty-installation] no method of provider_installation is left
     --> /home/u/.tofurc:1:2 "\"provider_installation\""
      = what happens: init finds no release of any provider, and names no cause; no method counts in their place
      = instead: write the methods as their errors say

    error[method-not-block] path is taken for a method, and is not a block
     --> /home/u/.tofurc:1:50 "\"path\""
      = what happens: 1.10 and later: prints an error that names no line, and goes on without this entry
                      1.10 and later: no method is left, so that no provider can be installed
      = instead: write every method as a list: "direct": [{ … }]
    "#);
    let lists = r#"{"provider_installation": {"filesystem_mirror": [{"path": "/m"}]}}"#;
    assert_snapshot!(reported(lists), @"");
}

#[test]
fn places_are_found_in_json_too() {
    let text = "{\"provider_installation\": {\n  \"oci_mirror\": [{\"repository_template\": \"ghcr.io\", \"include\": [\"a.example.com/b/c\"]}],\n  \"filesystem_mirror\": [{\"path\": \"/nowhere\"}]\n}}\n";
    assert_snapshot!(reported(text), @r#"
    warning[mirror-overlap] filesystem_mirror in line 3 takes providers of this oci_mirror too: a.example.com/b/c
     --> /home/u/.tofurc:2:4 "oci_mirror"
      = what happens: init aborts (tag-not-found) for each version of these providers that only filesystem_mirror has; it works as long as the oci_mirror has everything that the other has
      = instead: write "exclude": ["a.example.com/b/c"] in filesystem_mirror in line 3

    error[template-no-repository] the template gives `ghcr.io`, which names no repository
     --> /home/u/.tofurc:2:42 "\"ghcr.io\""
      = what happens: OpenTofu reads it without a complaint; init then aborts for every provider of this method
      = instead: write a path after the registry, such as ghcr.io/acme/${namespace}/${type}

    error[folder-missing] the folder /nowhere is not there
     --> /home/u/.tofurc:3:34 "\"/nowhere\""
      = what happens: init aborts for every provider that the method is for, even if another method has it
      = instead: write a folder that is there, even an empty one, or leave the method out
    "#);
}

#[test]
fn a_block_without_methods() {
    assert_snapshot!(reported("provider_installation {\n}\n"), @r#"
    error[empty-installation] provider_installation has no method
     --> /home/u/.tofurc:1:1 "provider_installation"
      = what happens: init finds no release of any provider, and names no cause; no method counts in their place
      = instead: write direct {} into it, or leave the block out
    "#);
    assert_snapshot!(methods("  dev_overrides { \"acme/widget\" = \"/m\" }"), @r#"
    error[empty-installation] provider_installation has no method
     --> /home/u/.tofurc:1:1 "provider_installation"
      = what happens: init finds no release of any provider, and names no cause; no method counts in their place. dev_overrides is not a method: init needs one for these providers too
      = instead: write direct {} into it, or leave the block out

    note[dev-override-active] registry.opentofu.org/acme/widget comes from the folder of its developer
     --> /home/u/.tofurc:2:19 "\"acme/widget\""
      = what happens: its version and the lock file are not looked at, but init installs it all the same and needs a method for it
      = instead: take the entry out when the released provider is meant
    "#);
}

#[test]
fn folders_that_count_without_being_named() {
    let package = "/w/terraform.d/plugins/example.com/acme/widget/1.0.0/linux_amd64/x";
    let files = MemoryFiles::from([(package, "")]);
    assert_snapshot!(shown(&find(&environment(), &files, None, &[])), @"
    note[implicit-folders] there is no provider_installation, and providers lie in /w/terraform.d/plugins
      = what happens: example.com/acme/widget come from these folders only, in the versions and for the platforms that lie there: their registries are not asked
      = instead: write a provider_installation with a filesystem_mirror and direct to say what is meant
    ");
    let mut elsewhere = environment();
    elsewhere.launch_dir = "/l".into();
    assert_snapshot!(shown(&find(&elsewhere, &files, None, &[])), @"
    note[implicit-folders] there is no provider_installation, and providers lie in /w/terraform.d/plugins
      = only in OpenTofu 1.12 and later
      = what happens: example.com/acme/widget come from these folders only, in the versions and for the platforms that lie there: their registries are not asked
                      1.10 with -chdir lists ./terraform.d/plugins of the folder that it was started in, and then opens it below the other one: init aborts
      = instead: write a provider_installation with a filesystem_mirror and direct to say what is meant
    ");
    let files = MemoryFiles::from([(package, ""), ("/home/u/.tofurc", AIR_GAPPED), ("/m/", "")]);
    assert_snapshot!(shown(&find(&environment(), &files, None, &[])), @"");
}

#[test]
fn a_single_method_as_an_object_in_json() {
    assert_snapshot!(reported(r#"{"provider_installation": {"direct": {}}}"#), @r#"
    error[empty-installation] provider_installation has no method
     --> /home/u/.tofurc:1:2 "\"provider_installation\""
      = what happens: init finds no release of any provider, and names no cause; no method counts in their place
      = instead: write every method as a list, such as "direct": [{}]; a single object is taken for the block itself
    "#);
    assert_snapshot!(reported(r#"{"provider_installation": {"direct": [{}]}}"#), @"");
}
