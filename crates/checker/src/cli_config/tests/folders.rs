//! Folders that are named.

use insta::assert_snapshot;

use super::memory::{MemoryFiles, environment};
use super::{find, fine, methods, reported, shown};

#[test]
fn a_folder_that_is_not_there() {
    assert_snapshot!(methods("  filesystem_mirror {\n    path = \"/nowhere\"\n  }"), @r#"
    error[folder-missing] the folder /nowhere is not there
     --> /home/u/.tofurc:3:12 "\"/nowhere\""
      = what happens: init aborts for every provider that the method is for, even if another method has it
      = instead: write a folder that is there, even an empty one, or leave the method out
    "#);
    fine("folder-missing", "  filesystem_mirror { path = \"/m\" }");
}

#[test]
fn a_file_in_place_of_a_folder() {
    let text = "provider_installation {\n  filesystem_mirror { path = \"/f\" }\n}\n";
    let files = MemoryFiles::from([("/home/u/.tofurc", text), ("/f", "")]);
    assert_snapshot!(shown(&find(&environment(), &files, None, &[])), @r#"
    warning[folder-missing] /f is not a folder
     --> /home/u/.tofurc:2:30 "\"/f\""
      = what happens: it is taken for an empty folder
      = instead: write the folder that the providers are in
    "#);
}

#[test]
fn a_path_that_is_not_expanded() {
    assert_snapshot!(methods("  filesystem_mirror {\n    path = \"~/mirror\"\n  }"), @r#"
    error[path-not-expanded] `~/mirror` is taken letter by letter
     --> /home/u/.tofurc:3:12 "\"~/mirror\""
      = what happens: neither ~ nor $NAME is expanded here: the folder would be /w/~/mirror
                      init aborts for every provider that the method is for, even if another method has it
      = instead: write path = "/home/u/mirror"
    "#);
    assert_snapshot!(methods("  filesystem_mirror {\n    path = \"$DATA/mirror\"\n  }"), @r#"
    error[path-not-expanded] `$DATA/mirror` is taken letter by letter
     --> /home/u/.tofurc:3:12 "\"$DATA/mirror\""
      = what happens: neither ~ nor $NAME is expanded here: the folder would be /w/$DATA/mirror
                      init aborts for every provider that the method is for, even if another method has it
      = instead: write the whole path from the root
    "#);
    fine("path-not-expanded", "  filesystem_mirror { path = \"/m\" }");
}

#[test]
fn a_relative_path() {
    let text = "provider_installation {\n  filesystem_mirror { path = \"./mirror\" }\n}\n";
    let files = MemoryFiles::from([("/home/u/.tofurc", text), ("/w/mirror/", "")]);
    assert_snapshot!(shown(&find(&environment(), &files, None, &[])), @r#"
    note[path-relative] `./mirror` depends on the working directory
     --> /home/u/.tofurc:2:30 "\"./mirror\""
      = what happens: it is looked for below the folder of the configuration, here /w/mirror
      = instead: write path = "/w/mirror"
    "#);
    fine("path-relative", "  filesystem_mirror { path = \"/m\" }");
}

#[test]
fn folders_of_developers() {
    assert_snapshot!(methods("  dev_overrides {\n    \"acme/widget\" = \"/m\"\n    \"acme/gadget\" = \"~/go/bin\"\n    \"acme/other\"  = \"/nowhere\"\n  }\n  direct {}"), @r#"
    note[dev-override-active] registry.opentofu.org/acme/widget comes from the folder of its developer
     --> /home/u/.tofurc:3:5 "\"acme/widget\""
      = what happens: its version and the lock file are not looked at, but init installs it all the same and needs a method for it
      = instead: take the entry out when the released provider is meant

    error[dev-override-missing] the folder /w/~/go/bin is not there
     --> /home/u/.tofurc:4:5 "\"acme/gadget\""
      = what happens: init goes well, then every command that needs registry.opentofu.org/acme/gadget fails
      = instead: write "/home/u/go/bin": neither ~ nor $NAME is expanded here

    error[dev-override-missing] the folder /nowhere is not there
     --> /home/u/.tofurc:5:5 "\"acme/other\""
      = what happens: init goes well, then every command that needs registry.opentofu.org/acme/other fails
      = instead: write the folder that the built program is in, or leave the entry out
    "#);
    fine("dev-override-missing", "  dev_overrides { \"acme/widget\" = \"/m\" }\n  direct {}");
}

#[test]
fn a_cache_folder_that_is_not_there() {
    assert_snapshot!(reported("plugin_cache_dir = \"/nowhere\"\n"), @r#"
    error[plugin-cache-dir] plugin_cache_dir names /nowhere, which is not there
     --> /home/u/.tofurc:1:20 "\"/nowhere\""
      = what happens: 1.10 and later: prints an error that names no line, and uses it all the same
      = instead: create the folder, mkdir -p /nowhere; or leave plugin_cache_dir out
    "#);
    assert_snapshot!(reported("plugin_cache_dir = \"/m\"\n"), @"");
    let tilde = reported("plugin_cache_dir = \"~/.terraform.d/plugin-cache\"\n");
    let write = "= instead: write \"/home/u/.terraform.d/plugin-cache\", for ~ is not expanded; and create the folder: \
                 mkdir -p /home/u/.terraform.d/plugin-cache\n";
    assert!(tilde.replace('\\', "/").contains(write), "{tilde}");
}
