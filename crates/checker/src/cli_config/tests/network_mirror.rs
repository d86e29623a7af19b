//! What a `network_mirror` cannot serve, and what of its arguments has no effect.

use insta::assert_snapshot;

use super::memory::{MemoryFiles, environment};
use super::{find, fine, installation, methods, shown};

#[test]
fn the_end_of_a_url_without_a_slash_is_never_asked_for() {
    let mirror = |url: &str| format!("  network_mirror {{\n    url = \"{url}\"\n  }}");
    assert_snapshot!(methods(&mirror("https://mirror.example.com/providers")), @r#"
    warning[mirror-url-unused] `providers` at the end of this url is never asked for
     --> /home/u/.tofurc:3:11 "\"https://mirror.example.com/providers\""
      = what happens: the addresses of a mirror are relative to its url: without a / at its end they replace the last part of it
      = instead: write a / at the end of the url
    "#);
    assert_snapshot!(methods(&mirror("https://u:secret@mirror.example.com/a/?key=secret")), @r#"
    warning[mirror-url-unused] the query of this url is never sent
     --> /home/u/.tofurc:3:11 "***"
      = what happens: requests go to the addresses below the url, without its query
      = instead: leave out the ? and what follows it; guard a mirror with a token or with USER:PASSWORD@ in its url
    "#);
    for url in ["https://mirror.example.com/providers/", "https://mirror.example.com/", "https://mirror.example.com"] {
        fine("mirror-url-unused", &mirror(url));
    }
}

#[test]
fn a_host_with_a_port_cannot_come_from_a_network_mirror() {
    let mirror = |include: &str| {
        format!(
            "  network_mirror {{\n    url     = \"https://mirror.example.com/\"\n    include = [\"{include}\"]\n  }}"
        )
    };
    assert_snapshot!(methods(&mirror("registry.example.com:8443/*/*")), @r#"
    error[mirror-host-port] no network_mirror serves providers of registry.example.com:8443: the host has a port
     --> /home/u/.tofurc:2:3 "network_mirror"
      = what happens: init takes the host in the mirror's address for the scheme of a URL, and aborts (unsupported protocol scheme)
      = instead: write an oci_mirror or a filesystem_mirror for these providers, and exclude = ["registry.example.com:8443/*/*"] here
    "#);
    fine("mirror-host-port", &mirror("registry.example.com/*/*"));
    let files = |include: &str| MemoryFiles::from([("/home/u/.tofurc", installation(&mirror(include)).as_str())]);
    let required = ["registry.example.com:8443/acme/widget"];
    assert_snapshot!(shown(&find(&environment(), &files("*/*/*"), None, &required)), @r#"
    error[mirror-host-port] no network_mirror serves providers of registry.example.com:8443: the host has a port
     --> /home/u/.tofurc:2:3 "network_mirror"
      = what happens: init takes the host in the mirror's address for the scheme of a URL, and aborts (unsupported protocol scheme)
      = instead: write an oci_mirror or a filesystem_mirror for these providers, and exclude = ["registry.example.com:8443/*/*"] here
    "#);
    let other = find(&environment(), &files("registry.example.com/*/*"), None, &required);
    assert!(other.iter().all(|finding| finding.rule != "mirror-host-port"), "{}", shown(&other));
}

#[test]
fn trust_all_hashes_is_for_the_default_registry_alone() {
    let mirror = |include: &str| {
        format!(
            "  network_mirror {{\n    url              = \"https://mirror.example.com/\"\n    trust_all_hashes = true\n    include          = [{include}]\n  }}"
        )
    };
    assert_snapshot!(methods(&mirror("\"example.com/*/*\", \"*/*\"")), @r#"
    note[ignored-argument] no argument in network_mirror is called `trust_all_hashes`
     --> /home/u/.tofurc:4:5 "trust_all_hashes"
      = only in OpenTofu 1.10
      = what happens: OpenTofu silently ignores it, and everything in it
      = instead: write it all the same if a newer OpenTofu reads the file

    warning[trust-all-hashes] trust_all_hashes records nothing for providers of example.com
     --> /home/u/.tofurc:4:24 "true"
      = only in OpenTofu 1.12 and later
      = what happens: all checksums of the mirror are recorded for registry.opentofu.org alone; for other hosts a package may match the checksum of any platform, and one malformed checksum of any platform ends init
      = instead: write the argument into a network_mirror that includes registry.opentofu.org/*/* alone

    warning[pattern-default-host] `*/*` is for registry.opentofu.org only, and not for example.com
     --> /home/u/.tofurc:5:44 "\"*/*\""
      = what happens: a pattern of two parts means `registry.opentofu.org/*/*`
      = instead: write "example.com/*/*", or "registry.opentofu.org/*/*" if only that host is meant
    "#);
    assert_snapshot!(methods(&mirror("\"*/*/*\"")), @r#"
    note[ignored-argument] no argument in network_mirror is called `trust_all_hashes`
     --> /home/u/.tofurc:4:5 "trust_all_hashes"
      = only in OpenTofu 1.10
      = what happens: OpenTofu silently ignores it, and everything in it
      = instead: write it all the same if a newer OpenTofu reads the file

    warning[trust-all-hashes] trust_all_hashes records nothing for providers of other hosts
     --> /home/u/.tofurc:4:24 "true"
      = only in OpenTofu 1.12 and later
      = what happens: all checksums of the mirror are recorded for registry.opentofu.org alone; for other hosts a package may match the checksum of any platform, and one malformed checksum of any platform ends init
      = instead: write the argument into a network_mirror that includes registry.opentofu.org/*/* alone
    "#);
    fine("trust-all-hashes", &mirror("\"registry.opentofu.org/*/*\""));
    fine("trust-all-hashes", &mirror("\"example.com/*/*\"").replace("true", "false"));
}
