use insta::assert_snapshot;
use tofu_oci_types::TofuRelease;

use super::*;

fn pattern(text: &str) -> Pattern {
    text.parse().expect(text)
}

/// A file with these methods, each with its lines.
fn file(methods: &[(&str, &[&str])]) -> String {
    let method = |(name, lines): &(&str, &[&str])| {
        let line = |line: &&str| format!("    {line}\n");
        let lines: String = lines.iter().map(line).collect();
        format!("  {name} {{\n{lines}  }}\n")
    };
    format!("provider_installation {{\n{}}}\n", methods.iter().map(method).collect::<String>())
}

/// What a text is after a change; `None` if it stays.
#[track_caller]
fn changed(text: &str, change: &MirrorChange) -> Option<String> {
    let reading = read_snippet(text, TofuRelease::V1_13);
    assert!(reading.errors().next().is_none(), "{:?} of\n{text}", reading.problems);
    edit_mirrors(text, reading.config.installation.as_ref(), change).expect("a text that is read back")
}

/// The text after `config add`: one method alone serves the pattern, from the template, and a second run changes nothing.
#[track_caller]
fn add(text: &str, of: &str, template: &str) -> String {
    let change = MirrorChange::Add(pattern(of), template.to_owned());
    let after = changed(text, &change).unwrap_or_else(|| text.to_owned());
    assert_eq!(changed(&after, &change), None, "twice is not once:\n{after}");
    let installation = read_snippet(&after, TofuRelease::V1_13).config.installation.expect("a block");
    let address = of.replace('*', "zzz").parse().expect("an address");
    let serving = installation.methods.iter().filter(|method| method.selector.select(&address).is_in());
    let serving: Vec<&str> = serving
        .map(|method| match &method.kind {
            MethodKind::OciMirror { template } => template.as_str(),
            other => other.name(),
        })
        .collect();
    assert_eq!(serving, [template], "{after}");
    after
}

#[track_caller]
fn remove(text: &str, of: &str) -> String {
    changed(text, &MirrorChange::Remove(pattern(of))).unwrap_or_else(|| text.to_owned())
}

const ACME: &str = "example.com/acme/*";
const TEMPLATE: &str = "ghcr.io/acme/${type}";

#[test]
fn a_file_without_methods_gets_a_block_at_its_end() {
    assert_snapshot!(add("# mine\ndisable_checkpoint = true\n", ACME, TEMPLATE), @r#"
    # mine
    disable_checkpoint = true

    provider_installation {
      oci_mirror {
        repository_template = "ghcr.io/acme/${type}"
        include             = ["example.com/acme/*"]
      }
      direct {
        exclude = ["example.com/acme/*"]
      }
    }
    "#);
}

#[test]
fn what_was_added_and_removed_leaves_the_bytes_of_before() {
    let written = [
        "",
        "# mine\n",
        "disable_checkpoint = true\r\n# mine\r\n",
        "provider_installation {\n  # mine\n  direct {}\n}\n",
        "provider_installation {\n  direct {\n    exclude = [\"a.test/*/*\"] # why\n  }\n}\ncredentials \"h.test\" {\n  token = \"t\"\n}\n",
        "provider_installation {\n\tdirect {\n\t\texclude = [\n\t\t\t\"a.test/*/*\", # why\n\t\t]\n\t}\n}\n",
        "provider_installation {\n\tdirect {\n\t\texclude = [\n\t\t\t\"a.test/*/*\", # why\n\t\t]\n\t}\n}",
        "provider_installation {\r\n  network_mirror {\r\n    url = \"https://m.test/\"\r\n    include = [\"*/*/*\"]\r\n  }\r\n}\r\n",
    ];
    let built = [
        file(&[("dev_overrides", &[r#""a.test/b/c" = "/d""#]), ("direct", &["# mine", r#"exclude = ["b.test/*/*"]"#])]),
        file(&[
            ("network_mirror", &[r#"url = "https://m.test/""#, r#"include = ["example.com/acme/*"]"#]),
            ("direct", &[r#"exclude = ["example.com/acme/*"]"#]),
        ]),
        file(&[
            (
                "oci_mirror",
                &[
                    r#"repository_template = "r.test/old/${namespace}/${type}""#,
                    "include = [",
                    r#"  "example.com/acme/*", # team acme"#,
                    r#"  "example.com/other/*","#,
                    "]",
                ],
            ),
            ("direct", &[r#"exclude = ["example.com/acme/*", "example.com/other/*"]"#]),
        ]),
        file(&[
            ("filesystem_mirror", &[r#"path = "/m2""#]),
            ("filesystem_mirror", &[r#"path = "/m1""#, r#"include = ["*/*/*"]"#, r#"exclude = ["example.com/*/*"]"#]),
        ]),
        file(&[
            ("network_mirror", &[r#"url = "https://m.test/""#]),
            ("direct", &[r#"exclude = ["example.com/acme/*"]"#]),
        ]),
    ];
    for text in written.map(str::to_owned).into_iter().chain(built) {
        assert_eq!(remove(&add(&text, ACME, TEMPLATE), ACME), text);
    }
}

#[test]
fn comments_and_layout_stay() {
    let text = "\
# above
provider_installation { # the block
    # of the team
    oci_mirror {
        repository_template = \"r.test/${hostname}/${namespace}/${type}\" # all of it
        include             = [
            \"example.com/*/*\", # the host
            \"b.test/*/*\" // and another
        ]
    }
    direct { exclude = [\"example.com/*/*\", \"b.test/*/*\"] }
}
";
    assert_snapshot!(add(text, ACME, TEMPLATE), @r#"
    # above
    provider_installation { # the block
        oci_mirror {
            repository_template = "ghcr.io/acme/${type}"
            include             = ["example.com/acme/*"]
        }
        # of the team
        oci_mirror {
            repository_template = "r.test/${hostname}/${namespace}/${type}" # all of it
            include             = [
                "example.com/*/*", # the host
                "b.test/*/*" // and another
            ]
            exclude             = ["example.com/acme/*"]
        }
        direct { exclude = ["example.com/*/*", "b.test/*/*"] }
    }
    "#);
}

#[test]
fn blocks_in_one_line_are_opened() {
    assert_snapshot!(add("provider_installation { direct {} }", ACME, TEMPLATE), @r#"
    provider_installation {
      oci_mirror {
        repository_template = "ghcr.io/acme/${type}"
        include             = ["example.com/acme/*"]
      }
      direct {
        exclude = ["example.com/acme/*"]
      } }
    "#);
    assert_snapshot!(add("provider_installation {\n direct { include = [\"example.com/*/*\"] }\n}\n", ACME, TEMPLATE), @r#"
    provider_installation {
     oci_mirror {
      repository_template = "ghcr.io/acme/${type}"
      include             = ["example.com/acme/*"]
     }
     direct { include = ["example.com/*/*"]
       exclude = ["example.com/acme/*"]
     }
    }
    "#);
}

#[test]
fn another_template_replaces_the_one_of_the_pattern() {
    let text = add("", ACME, "r.test/old/${type}");
    assert_eq!(add(&text, ACME, TEMPLATE), add("", ACME, TEMPLATE));
}

#[test]
fn a_mirror_that_serves_the_pattern_already_leaves_the_file() {
    let text = add("", "example.com/*/*", "r.test/${namespace}/${type}");
    assert_eq!(add(&text, ACME, "r.test/${namespace}/${type}"), text);
}

#[test]
fn a_mirror_of_a_part_keeps_it_and_gets_it_back() {
    let part = add("", ACME, TEMPLATE);
    let both = add(&part, "example.com/*/*", "r.test/${namespace}/${type}");
    assert_snapshot!(both, @r#"
    provider_installation {
      oci_mirror {
        repository_template = "r.test/${namespace}/${type}"
        include             = ["example.com/*/*"]
        exclude             = ["example.com/acme/*"]
      }
      oci_mirror {
        repository_template = "ghcr.io/acme/${type}"
        include             = ["example.com/acme/*"]
      }
      direct {
        exclude = ["example.com/acme/*", "example.com/*/*"]
      }
    }
    "#);
    assert_eq!(remove(&both, "example.com/*/*"), part);
    assert_snapshot!(remove(&both, ACME), @r#"
    provider_installation {
      oci_mirror {
        repository_template = "r.test/${namespace}/${type}"
        include             = ["example.com/*/*"]
      }
      direct {
        exclude = ["example.com/acme/*", "example.com/*/*"]
      }
    }
    "#);
    assert_snapshot!(remove(&add(&add("", "example.com/*/*", "r.test/${namespace}/${type}"), ACME, TEMPLATE), "example.com/*/*"), @r#"
    provider_installation {
      oci_mirror {
        repository_template = "ghcr.io/acme/${type}"
        include             = ["example.com/acme/*"]
      }
      direct {
        exclude = ["example.com/acme/*"]
      }
    }
    "#);
}

#[test]
fn a_pattern_among_others_goes_alone() {
    let text = file(&[
        (
            "oci_mirror",
            &[
                r#"repository_template = "r.test/${hostname}/${namespace}/${type}""#,
                r#"include = ["a.test/*/*", "example.com/*/*"]"#,
            ],
        ),
        ("direct", &[r#"exclude = ["a.test/*/*", "example.com/*/*"]"#]),
    ]);
    assert_snapshot!(remove(&text, "a.test/*/*"), @r#"
    provider_installation {
      oci_mirror {
        repository_template = "r.test/${hostname}/${namespace}/${type}"
        include = ["example.com/*/*"]
      }
      direct {
        exclude = ["example.com/*/*"]
      }
    }
    "#);
    assert_eq!(remove(&text, "c.test/*/*"), text);
}

#[test]
fn a_text_that_looks_like_a_brace_is_none() {
    let text = "credentials \"h.test\" {\n  token = \"provider_installation { } ]\"\n}\nprovider_installation {\n  direct {\n    exclude = [\"a.test/*/*\"] # ] }\n  } # }\n}\n";
    assert_eq!(remove(&add(text, ACME, TEMPLATE), ACME), text);
}

#[test]
fn a_mirror_that_had_been_set_aside_is_used_again_without_its_exclude() {
    let text = file(&[
        ("oci_mirror", &[r#"repository_template = "t.test/${namespace}/${type}""#, r#"include = ["example.com/*/*"]"#]),
        ("oci_mirror", &[r#"repository_template = "u.test/${type}""#, r#"include = ["example.com/acme/*"]"#]),
    ]);
    let first = add(&text, ACME, "t.test/${namespace}/${type}");
    add(&first, ACME, "u.test/${type}");
}

#[test]
fn comments_in_a_list_outlast_two_new_patterns() {
    let text = file(&[
        (
            "oci_mirror",
            &[
                r#"repository_template = "ghcr.io/acme/${type}""#,
                r#"include = ["example.com/acme/*"]"#,
                "exclude = [",
                r#"  "example.com/acme/never", # never"#,
                "]",
            ],
        ),
        ("direct", &[r#"include = ["example.com/acme/a", "example.com/acme/b"]"#]),
    ]);
    assert_snapshot!(add(&text, ACME, TEMPLATE), @r#"
    provider_installation {
      oci_mirror {
        repository_template = "ghcr.io/acme/${type}"
        include = ["example.com/acme/*"]
        exclude = [
          "example.com/acme/never", # never
          "example.com/acme/a",
          "example.com/acme/b",
        ]
      }
      direct {
        include = ["example.com/acme/a", "example.com/acme/b"]
      }
    }
    "#);
}

#[test]
fn a_removal_that_would_leave_no_method_is_refused_unless_it_was_for_every_provider() {
    let all = add("", "*/*/*", "t.test/${hostname}/${namespace}/${type}");
    assert_eq!(remove(&all, "*/*/*"), "");
    let alone = file(&[(
        "oci_mirror",
        &[r#"repository_template = "ghcr.io/acme/${type}""#, r#"include = ["example.com/acme/*"]"#],
    )]);
    let reading = read_snippet(&alone, TofuRelease::V1_13);
    let change = MirrorChange::Remove(pattern(ACME));
    assert_eq!(edit_mirrors(&alone, reading.config.installation.as_ref(), &change), Err(MirrorEditError::NoMethod));
}

/// The new mirror left the host to a method that is not for all of it.
#[test]
fn providers_that_would_come_from_nowhere_stop_the_change() {
    let text = file(&[
        (
            "filesystem_mirror",
            &[r#"path = "/m""#, r#"include = ["example.com/*/*"]"#, r#"exclude = ["example.com/acme/*"]"#],
        ),
        ("direct", &[]),
    ]);
    let reading = read_snippet(&text, TofuRelease::V1_13);
    let change = MirrorChange::Add(pattern("*/*/*"), "t.test/${hostname}/${namespace}/${type}".to_owned());
    assert_eq!(edit_mirrors(&text, reading.config.installation.as_ref(), &change), Err(MirrorEditError::NotServed));
    // A method that is for the whole pattern leaves no part of it to itself.
    add(
        &file(&[("direct", &[r#"include = ["example.com/acme/*", "example.com/acme/foo"]"#]), ("direct", &[])]),
        ACME,
        TEMPLATE,
    );
}

#[test]
fn of_two_mirrors_for_one_pattern_one_serves_whatever_the_template() {
    let include = r#"include = ["example.com/acme/*"]"#;
    let text = file(&[
        ("oci_mirror", &[r#"repository_template = "ghcr.io/one/${type}""#, include]),
        ("oci_mirror", &[r#"repository_template = "ghcr.io/two/${type}""#, include]),
    ]);
    add(&add(&text, ACME, "ghcr.io/two/${type}"), ACME, "ghcr.io/three/${type}");
}

/// An argument was written into the comment, so that the text was not read back and `config add` refused.
#[test]
fn comments_of_several_lines_within_a_block_stay() {
    for text in [
        "provider_installation {\n  direct { /* one\n     two */\n  }\n}\n",
        "provider_installation {\n  direct { /* one\n     two */ }\n}\n",
        "provider_installation {\r\n  direct { /* one\r\n     two */\r\n  }\r\n}\r\n",
        "provider_installation { /* one\n     two */\n  direct {}\n}\n",
        "provider_installation { /* one\n     two */ direct {} }\n",
        "provider_installation {\n  direct {\n    include = [\"*/*/*\"] /* one\n     two */\n  }\n}\n",
        "provider_installation {\n  direct {\n    exclude = [\n      \"a.test/*/*\" /* one\n     two */\n    ]\n  }\n}\n",
        "provider_installation {\n  direct {\n    exclude = [\n      \"a.test/*/*\", /* \" */ # /*\n    ]\n  }\n}\n",
    ] {
        let after = add(text, ACME, TEMPLATE);
        let comment = if text.contains("two") { "two */" } else { "/* \" */ # /*" };
        assert!(after.contains(comment), "{after}");
        remove(&after, ACME);
    }
    let text = file(&[("direct", &["/* one", "   two */"])]);
    assert_eq!(remove(&add(&text, ACME, TEMPLATE), ACME), text);
}
