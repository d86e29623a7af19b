//! Names and texts that are ignored, and files that are passed over.

use insta::assert_snapshot;

use super::memory::{MemoryFiles, environment};
use super::{find, installation, reported, shown};

#[test]
fn names_that_are_nearly_known() {
    assert_snapshot!(reported("plugin_cache_directory = \"/m\"\nprovider_installation {\n  filesystem_mirror {\n    path   = \"/m\"\n    inclde = [\"a/b\"]\n  }\n}\n"), @r#"
    warning[ignored-argument] no argument at the top of the file is called `plugin_cache_directory`
     --> /home/u/.tofurc:1:1 "plugin_cache_directory"
      = what happens: OpenTofu silently ignores it, and everything in it
      = instead: write plugin_cache_dir

    error[misspelt-name] there is no argument inclde
     --> /home/u/.tofurc:5:5 "inclde"
      = what happens: 1.10 and later: says nothing, and ignores it
      = instead: write include
    "#);
}

#[test]
fn names_that_nobody_knows() {
    assert_snapshot!(reported("colour = \"red\"\nfavourite \"x\" {\n  a = 1\n}\n"), @r#"
    warning[ignored-argument] no argument at the top of the file is called `colour`
     --> /home/u/.tofurc:1:1 "colour"
      = what happens: OpenTofu silently ignores it, and everything in it
      = instead: write a name that OpenTofu knows, or leave it out

    warning[ignored-block] no block at the top of the file is called `favourite`
     --> /home/u/.tofurc:2:1 "favourite"
      = what happens: OpenTofu silently ignores it, and everything in it
      = instead: write a name that OpenTofu knows, or leave it out
    "#);
    assert_snapshot!(reported("disable_checkpoint = true\n"), @"");
}

#[test]
fn names_that_only_newer_releases_know() {
    assert_snapshot!(reported("provider_installation {\n  direct {\n    download_retry_count = 3\n  }\n}\n"), @r#"
    note[ignored-argument] no argument in direct is called `download_retry_count`
     --> /home/u/.tofurc:3:5 "download_retry_count"
      = only in OpenTofu 1.10
      = what happens: OpenTofu silently ignores it, and everything in it
      = instead: write it all the same if a newer OpenTofu reads the file
    "#);
}

#[test]
fn texts_that_are_passed_over() {
    assert_snapshot!(reported("{\"disable_checkpoint\": true} x\n"), @r#"
    warning[ignored-text] what follows the outermost object is not read
     --> /home/u/.tofurc:1:30 "x"
      = what happens: OpenTofu silently passes over it
      = instead: write it whole, or leave it out
    "#);
}

#[test]
fn files_that_are_passed_over() {
    let files = MemoryFiles::from([
        ("/home/u/.tofurc", ""),
        ("/home/u/.terraformrc", ""),
        ("/home/u/.terraform.d/a.tofurc", ""),
    ]);
    assert_snapshot!(shown(&find(&environment(), &files, None, &[])), @"
    warning[file-passed-over] this file is not read
     --> /home/u/.terraformrc
      = what happens: nothing in it counts: .tofurc stands before it
      = instead: write what is needed into the file that is read, or remove this one

    warning[file-passed-over] this file is not read
     --> /home/u/.terraform.d/a.tofurc
      = what happens: nothing in it counts: only names that end in .tfrc or .tfrc.json are read there
      = instead: write what is needed into the file that is read, or remove this one
    ");
    let files = MemoryFiles::from([("/home/u/.tofurc", ""), ("/home/u/.terraform.d/a.tfrc", "")]);
    assert_snapshot!(shown(&find(&environment(), &files, None, &[])), @"");
}

#[test]
fn a_file_that_is_passed_over_where_none_is_read() {
    let files = MemoryFiles::from([("/home/u/.config/opentofu/tofurc", "")]);
    let reported = shown(&find(&environment(), &files, None, &[]));
    assert!(
        reported.contains("what is needed into a file that is read, such as ~/.tofurc, or remove this one"),
        "{reported}"
    );
}

#[test]
fn a_named_file_that_is_not_there() {
    let mut environment = environment();
    environment.vars.insert("TF_CLI_CONFIG_FILE".into(), "x.tfrc".into());
    assert_snapshot!(shown(&find(&environment, &MemoryFiles::from([("/home/u/.tofurc", "")]), None, &[])), @"
    error[cli-config-missing] TF_CLI_CONFIG_FILE names /w/x.tfrc, which is not there
     --> /w/x.tfrc
      = what happens: 1.10 and later: warns, and goes on without this file
                      1.10 and later: no provider_installation is left: OpenTofu takes the local plugin folders, and downloads every other provider from its own registry, with exit code 0
      = instead: name a file that is there, or unset TF_CLI_CONFIG_FILE to have the usual files read

    warning[file-passed-over] this file is not read
     --> /home/u/.tofurc
      = what happens: nothing in it counts: TF_CLI_CONFIG_FILE names another file
      = instead: write what is needed into the file that is read, or remove this one
    ");
}

#[test]
fn a_mirror_in_a_file_that_terraform_reads_too() {
    let text = installation(
        "  oci_mirror {\n    repository_template = \"ghcr.io/${namespace}/${type}\"\n    include             = [\"example.com/*/*\"]\n  }",
    );
    let files = MemoryFiles::from([("/home/u/.terraformrc", text.as_str())]);
    assert_snapshot!(shown(&find(&environment(), &files, None, &[])), @r#"
    warning[terraform-reads-it-too] Terraform reads this file too, and knows no oci_mirror
     --> /home/u/.terraformrc:2:3 "oci_mirror"
      = what happens: every Terraform command prints `Unknown provider installation method`, and goes on with the other methods; OpenTofu reads it well
      = instead: write it to ~/.tofurc, which OpenTofu reads first and Terraform does not read
    "#);
    let files = MemoryFiles::from([("/home/u/.tofurc", text.as_str())]);
    assert_snapshot!(shown(&find(&environment(), &files, None, &[])), @"");
}
