use insta::assert_snapshot;

use super::*;

#[test]
fn every_file_of_docs_is_a_topic() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let mut names = std::collections::BTreeSet::new();
    for part in ["start", "how-to", "concepts", "reference"] {
        for file in std::fs::read_dir(format!("{folder}/{part}")).expect("docs are there") {
            let name = file.expect("it can be listed").file_name();
            let name = name.to_string_lossy().into_owned();
            // `help` leaves out the page of measurements, whose wide tables need a browser, and pages about files of this
            // repository that a program does not have.
            let is_page = std::path::Path::new(&name).extension().is_some_and(|ending| ending == "md");
            if !is_page || name == "performance.md" || name.starts_with("with-") {
                continue;
            }
            assert!(topics::of_file(&name).is_some(), "{name} is not a topic of `tofu-oci help`");
            assert!(names.insert(name.clone()), "two folders have {name}");
        }
    }
}

#[test]
fn a_code_of_a_template_was_explained_by_no_page() {
    let page = code("hcl:not-supported", 80).expect("an expression is refused with it").to_string();
    assert!(page.contains("an expression of a `repository_template`: not supported"), "{page}");
}

#[test]
fn no_page_is_wider_than_its_terminal_or_shows_markup() {
    for width in [60, 80, 100] {
        for topic in TOPICS {
            let page = page(topic.text(), width).to_string();
            assert!(page.lines().count() > 5, "{}", topic.name);
            for line in page.lines().filter(|line| !line.starts_with("    ")) {
                assert!(line.chars().count() <= width, "{} at {width}: {line}", topic.name);
                let prose = line.replace("***", "");
                assert!(
                    !prose.contains(".md)") && !prose.contains("**") && !prose.starts_with('|'),
                    "{}: {line}",
                    topic.name
                );
            }
        }
    }
}

#[test]
fn a_page_is_readable_without_colours() {
    let page = page(
        "# A page\n\nIt has [links](trust.md), and\n`code`.\n\n## Part\n\n- one\n- two two two two two two two two\n\n```console\n$ tofu init\n```\n\n| code | why |\n|---|---|\n| `a\\|b` | because it is so, and will be so for a long time |\n",
        40,
    );
    assert_snapshot!(page.to_string(), @"
    A page
    ======

    It has links (`tofu-oci help trust`),
    and `code`.

    Part
    ----

      - one
      - two two two two two two two two

        $ tofu init

    code  why
    ----  ----------------------------------
    a|b   because it is so, and will be so
          for a long time
    ");
}

#[test]
fn a_table_that_is_too_narrow_is_shown_in_rows() {
    let text = "| code | what | fix |\n|---|---|---|\n| `a-very-long-name-of-a-code` | something happened that needs many words | do something that needs words |\n";
    assert_snapshot!(page(text, 40).to_string(), @"
    a-very-long-name-of-a-code
      what: something happened that needs
        many words
      fix: do something that needs words
    ");
}

#[test]
fn a_rule_and_a_code_are_found_by_their_names() {
    let found = rule("second-spelling-tag", 80).expect("a rule").to_string();
    assert!(found.starts_with("`second-spelling-tag`\n") && found.contains("What to do"), "{found}");
    assert!(!found.contains("no-version-tags"), "{found}");
    assert_snapshot!(code("moved-tag", 80).expect("a code").to_string(), @"
    `moved-tag`

      - what happened: the version names another index than the one seen before
      - what to do: ask the publisher why; if it is right: `tofu-oci verify
        ADDR@VERSION --accept`
    ");
    assert!(code("no-such-code", 80).is_none() && rule("moved-tag", 80).is_none());
}
