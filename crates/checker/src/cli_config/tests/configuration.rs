//! The providers that a configuration requires, and its lock file.

use insta::assert_snapshot;

use super::memory::{MemoryFiles, environment};
use super::{find, installation, lock, shown};

const MIRROR: &str = r#"  oci_mirror {
    repository_template = "ghcr.io/acme/${namespace}/${type}"
    include             = ["registry.example.com/*/*"]
  }"#;
const WIDGET: &str = "registry.example.com/acme/widget";

fn locked(schemes: &[&str], methods: &str) -> String {
    let text = installation(methods);
    let files = MemoryFiles::from([("/home/u/.tofurc", text.as_str()), ("/m/", "")]);
    shown(&find(&environment(), &files, Some(lock(WIDGET, schemes)), &[]))
}

#[test]
fn a_lock_file_with_h1_alone() {
    assert_snapshot!(locked(&["h1"], MIRROR), @r#"
    error[lock-h1-only] registry.example.com/acme/widget 1.0.0 is locked with h1: alone, and comes from an oci_mirror
     --> /w/.terraform.lock.hcl:1:10 "\"registry.example.com/acme/widget\""
      = what happens: init refuses the package of oci_mirror at /home/u/.tofurc:2, identical or not, unless the plugin cache holds it: an oci_mirror is compared by zh: only
      = instead: write the missing zh: into the entry: run `tofu-oci install` here, which verifies h1: and adds it, or remove the entry of registry.example.com/acme/widget and run init again
    "#);
    assert_eq!(locked(&["h1", "zh"], MIRROR), "");
    assert_eq!(locked(&[], MIRROR), "");
    assert_eq!(locked(&["ch"], MIRROR), "");
    assert_eq!(locked(&["h1"], "  filesystem_mirror { path = \"/m\" }"), "");
    assert_eq!(
        locked(&["h1"], &format!("  filesystem_mirror {{ path = \"/m\" }}\n{MIRROR}")).matches("lock-").count(),
        0
    );
}

#[test]
fn a_required_provider_without_a_method() {
    let text = installation(MIRROR);
    let files = MemoryFiles::from([("/home/u/.tofurc", text.as_str())]);
    let required = [WIDGET, "hashicorp/null", "terraform.io/builtin/terraform"];
    assert_snapshot!(shown(&find(&environment(), &files, None, &required)), @r#"
    error[provider-not-covered] no method is for registry.opentofu.org/hashicorp/null, which the configuration requires
     --> /home/u/.tofurc:1:1 "provider_installation"
      = what happens: init says that it was not found in any of the search locations; no registry is asked
      = instead: write "registry.opentofu.org/hashicorp/null" into the include of a method that has it, or out of its exclude
    "#);
    assert_eq!(find(&environment(), &MemoryFiles::default(), None, &required), []);
}
