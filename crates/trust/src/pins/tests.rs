use std::collections::BTreeSet;
use std::time::UNIX_EPOCH;

use insta::assert_snapshot;
use tofu_oci_types::{Digest, Identity};

use super::*;
use crate::testing::{address, bundle, index, key, policy, version};
use crate::{Archives, Evidence, Policy, Subject, judge};

/// Judges a release of `acme/widget` at a place by a rule that names key 1, and remembers it.
fn remember(pins: &mut Pins, release: &str, place: &str, found: &[Evidence]) {
    let policy = policy(&[1], "unsigned = \"allow\"\nmoved_tags = \"allow\"");
    let policy = Policy::parse(&policy).unwrap().resolve(|_| Ok(Vec::new())).unwrap();
    let (address, version, index) = (address("example.com/acme/widget"), version(release), index(release));
    let facts = ReleaseFacts {
        of: Subject::Provider { address: &address, version: &version },
        place: &place.parse().unwrap(),
        identity: &Identity::Index { sha256: index, sha512: None },
        archives: &Archives::Unknown,
    };
    let verdict = judge(&policy, pins, &facts, found, UNIX_EPOCH);
    assert_eq!(verdict.refusal, None);
    pins.remember(&facts, &verdict);
}

fn pins(releases: &[&str]) -> Pins {
    let mut pins = Pins::default();
    for release in releases {
        let found = if *release == "1.4.0" { vec![bundle(1)] } else { Vec::new() };
        remember(&mut pins, release, "ghcr.io/acme/widget", &found);
    }
    pins
}

/// The text with another index for a release.
fn moved(release: &str, text: &str) -> Pins {
    let (from, to) = (index(release), index("elsewhere"));
    Pins::parse(&text.replace(from.as_str(), to.as_str())).unwrap()
}

#[track_caller]
fn check_broken(text: &str, want: &str) {
    assert_eq!(Pins::parse(text).expect_err("must be refused").to_string(), want);
}

#[test]
fn the_text_is_sorted_and_reads_back_byte_for_byte() {
    let text = pins(&["1.10.0", "1.4.0", "1.9.0"]).to_text();
    assert_snapshot!(text, @r#"
    {
      "version": 1,
      "providers": [
        {
          "address": "example.com/acme/widget",
          "version": "1.4.0",
          "place": "ghcr.io/acme/widget",
          "index": "sha256:74b860b3270666137a4d543c3e3d1e4e473d54636f7593d1c17bf693e6540bbe",
          "signers": [
            {
              "name": "a",
              "key": "sha256:f857ae4ed6e34e33761aea25caaee3fe54a15960fb92dcd63a375ab121deb2a9",
              "public_key": "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEb/A7lJJBzh2t1DUZ5pYOCoW0GmmgXDKBA6orzhWUyhY8T3U6Vb8B3FP2wLDH7ueLQMb/fSWpbiKCuYnO9xwUSg==",
              "statements": [
                {
                  "predicate_type": "https://sigstore.dev/cosign/sign/v1"
                }
              ]
            }
          ]
        },
        {
          "address": "example.com/acme/widget",
          "version": "1.9.0",
          "place": "ghcr.io/acme/widget",
          "index": "sha256:7717cbf90c63a3b096008763a02066239916fa9916f98254d1aa3b2470830fcd",
          "signers": []
        },
        {
          "address": "example.com/acme/widget",
          "version": "1.10.0",
          "place": "ghcr.io/acme/widget",
          "index": "sha256:e91dee3b412922e56d788d757cd30eaaae92b0846323abdb99eeb58b9cfe30c1",
          "signers": []
        }
      ],
      "signed": [
        {
          "address": "example.com/acme/widget",
          "threshold": 1,
          "predicate_types": [
            "https://sigstore.dev/cosign/sign/v1"
          ],
          "signers": [
            {
              "name": "a",
              "key": "sha256:f857ae4ed6e34e33761aea25caaee3fe54a15960fb92dcd63a375ab121deb2a9",
              "public_key": "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEb/A7lJJBzh2t1DUZ5pYOCoW0GmmgXDKBA6orzhWUyhY8T3U6Vb8B3FP2wLDH7ueLQMb/fSWpbiKCuYnO9xwUSg=="
            }
          ]
        }
      ]
    }
    "#);
    let read = Pins::parse(&text).unwrap();
    assert_eq!(read.to_text(), text);
    assert_eq!(read.iter().collect::<Vec<_>>(), pins(&["1.4.0", "1.9.0", "1.10.0"]).iter().collect::<Vec<_>>());
    assert!(!read.is_changed());
    assert_eq!(Pins::parse(&Pins::default().to_text()), Ok(Pins::default()));
}

#[test]
fn a_broken_file_is_an_error_and_never_no_pins() {
    let text = pins(&["1.4.0"]).to_text();
    check_broken("", "line 1, column 0: EOF while parsing a value");
    check_broken("{}", "line 1, column 2: missing field `version`");
    check_broken(
        "{\"version\":2,\"providers\":[],\"signed\":[]}",
        "it is of version 2, and this program reads version 1",
    );
    let half = &text[..text.len() / 2];
    assert!(matches!(Pins::parse(half), Err(PinsError::Syntax { .. })));
    assert!(matches!(Pins::parse(&format!("{text}x")), Err(PinsError::Syntax { .. })));
    let member = text.replace("\"signers\"", "\"signer\"");
    assert!(Pins::parse(&member).unwrap_err().to_string().contains("unknown field `signer`"));
    let twice = text.replace("\"place\":", "\"place\": \"x\", \"place\":");
    assert!(Pins::parse(&twice).unwrap_err().to_string().contains("duplicate field `place`"));

    let other = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, key(2).public().spki_der());
    let own = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, key(1).public().spki_der());
    let swapped = text.replace(&own, &other);
    let want = format!(
        "the signer \"a\" of example.com/acme/widget 1.4.0: its `public_key` is another key, {}",
        key(2).public().id()
    );
    check_broken(&swapped, &want);
    let lost = text.replace(&format!("\"public_key\": \"{own}\",\n"), "");
    assert_ne!(lost, text);
    check_broken(&lost, "the signer \"a\" of example.com/acme/widget 1.4.0: its `public_key` is missing");
}

#[test]
fn two_programs_at_once_lose_nothing_of_each_other() {
    let disk = pins(&["1.0.0"]);
    let (mut one, mut other) = (Pins::parse(&disk.to_text()).unwrap(), Pins::parse(&disk.to_text()).unwrap());
    remember(&mut one, "1.4.0", "ghcr.io/acme/widget", &[bundle(1)]);
    remember(&mut other, "1.5.0", "ghcr.io/acme/widget", &[]);
    remember(&mut other, "1.4.0", "ghcr.io/acme/widget", &[]);
    let first = one.onto(&disk).unwrap();
    let second = other.onto(&first).unwrap();
    assert_eq!(second.to_text(), pins(&["1.0.0", "1.4.0", "1.5.0"]).to_text(), "the signer stays");
    assert_eq!(one.onto(&other.onto(&disk).unwrap()).unwrap().to_text(), second.to_text());
}

#[test]
fn two_programs_that_saw_different_indexes_do_not_overwrite_each_other() {
    let mut one = Pins::default();
    remember(&mut one, "1.4.0", "ghcr.io/acme/widget", &[]);
    let theirs = moved("1.4.0", &one.to_text());
    let error = one.onto(&theirs).expect_err("the tag has moved between the two");
    assert_eq!(error.theirs, index("elsewhere"));

    // A move that the policy allows replaces what was there when it was judged.
    let mut allowed = theirs.clone();
    remember(&mut allowed, "1.4.0", "ghcr.io/acme/widget", &[]);
    assert_eq!(allowed.onto(&theirs).unwrap().to_text(), one.to_text());
}

#[test]
fn one_change_is_held_against_what_was_there_at_first() {
    let mut twice = Pins::default();
    remember(&mut twice, "1.4.0", "ghcr.io/acme/widget", &[]);
    remember(&mut twice, "1.4.0", "ghcr.io/acme/widget", &[bundle(1)]);
    assert_eq!(twice.onto(&Pins::default()).unwrap().to_text(), pins(&["1.4.0"]).to_text());
    assert!(twice.onto(&moved("1.4.0", &twice.to_text())).is_err());
}

#[test]
fn what_a_list_of_checksums_covered_is_remembered_with_it() {
    let zip = tofu_oci_types::PackageHash::zh(&Digest::sha256(b"zip")).unwrap();
    let text = pins(&["1.0.0"]).to_text().replace(
        "\"signers\": []",
        &format!("\"signers\": [{{\"name\": \"b\", \"key\": \"openpgp:{}\", \"statements\": [{{\"predicate_type\": \"x\", \"zips\": [\"{zip}\"]}}]}}]", "AB".repeat(20)),
    );
    let read = Pins::parse(&text).unwrap();
    let signer = &read.iter().next().unwrap().signers[0];
    assert_eq!(signer.statements[0].zips, Some(BTreeSet::from([zip.clone()])));
    assert_eq!(
        read.signers(&address("example.com/acme/widget")).count(),
        1,
        "who signed a version signed the provider"
    );
    assert_eq!(Pins::parse(&read.to_text()).unwrap(), read);
    let error = Pins::parse(&text.replace(zip.as_str(), "h1:x")).unwrap_err();
    assert_snapshot!(error, @r#"the signer "b" of example.com/acme/widget 1.0.0: `zips` holds something that is not a zh: checksum"#);
}

#[test]
fn what_is_known_of_a_provider_cannot_be_written_wrong() {
    let text = pins(&["1.4.0"]).to_text();
    let threshold = text.replace("\"threshold\": 1", "\"threshold\": 2");
    check_broken(&threshold, "the threshold 2 of example.com/acme/widget cannot have been reached by 1 keys");
    let none = text.replace("\"threshold\": 1", "\"threshold\": 0");
    check_broken(&none, "the threshold 0 of example.com/acme/widget cannot have been reached by 1 keys");
    let (_, signed) = text.split_once("\"signed\": [").unwrap();
    let entry = signed.trim_end().trim_end_matches('}').trim_end().trim_end_matches(']');
    let twice = text.replace("\"signed\": [", &format!("\"signed\": [{entry},"));
    check_broken(&twice, "example.com/acme/widget is signed twice");
    let (_, statements) = text.split_once("\"statements\": [").unwrap();
    let (statements, _) = statements.split_once(']').unwrap();
    let silent = text.replace(statements, "");
    check_broken(&silent, "the signer \"a\" of example.com/acme/widget 1.4.0: it has signed no statement");
}

#[test]
fn one_place_in_two_spellings_is_one_place() {
    for (one, other) in [("ghcr.io/acme/widget", "GHCR.io/acme/widget"), ("oci:layout", "oci:./x/..//layout/")] {
        let mut pins = Pins::default();
        remember(&mut pins, "1.0.0", one, &[]);
        let text = pins.to_text();
        remember(&mut pins, "1.0.0", other, &[]);
        assert_eq!(pins.to_text(), text);
        let mut swapped = Pins::default();
        remember(&mut swapped, "1.0.0", other, &[]);
        assert_eq!(swapped.to_text(), text, "and one text");
        let read = Pins::parse(&text.replace(one, other)).unwrap();
        assert!(read.get(&address("example.com/acme/widget"), &version("1.0.0"), &one.parse().unwrap()).is_some());
        assert_eq!(read.to_text(), text);
    }
}

/// Pins of 1.4.0, and the contents of `linux_amd64` in them.
fn with_contents(at: &str, h1: &[&str]) -> Pins {
    let mut pins = Pins::default();
    remember(&mut pins, "1.4.0", at, &[bundle(1)]);
    let (address, version, index) = (address("example.com/acme/widget"), version("1.4.0"), index("1.4.0"));
    let facts = ReleaseFacts {
        of: Subject::Provider { address: &address, version: &version },
        place: &at.parse().unwrap(),
        identity: &Identity::Index { sha256: index, sha512: None },
        archives: &Archives::Unknown,
    };
    let hashes: BTreeSet<_> = h1.iter().map(|hash| hash.parse().unwrap()).collect();
    pins.remember_contents(&facts, &Contents::from([("linux_amd64".parse().unwrap(), hashes)]));
    pins
}

#[test]
fn contents_are_remembered_with_the_index_that_has_them() {
    const PLACE: &str = "ghcr.io/acme/widget";
    let (one, other) = (with_contents(PLACE, &["h1:one="]), with_contents(PLACE, &["h1:other="]));
    let both = with_contents(PLACE, &["h1:other=", "h1:one="]);
    let disk = one.onto(&Pins::default()).unwrap();
    assert_eq!(other.onto(&disk).unwrap().to_text(), both.to_text(), "two programs at once lose nothing");
    let text = both.to_text();
    let (_, entry) = text.split_once("\"signers\"").unwrap();
    let (_, contents) = entry.split_once("      \"contents\"").unwrap();
    let (contents, _) = contents.split_once("\"signed\"").unwrap();
    assert_snapshot!(contents.trim_end(), @r#"
    : {
            "linux_amd64": [
              "h1:one=",
              "h1:other="
            ]
          }
        }
      ],
    "#);
    assert_eq!(Pins::parse(&text).unwrap().to_text(), text);

    // What is seen later of the same index keeps them, and so does a pin of it at another place; another index does not.
    let mut later = Pins::parse(&text).unwrap();
    remember(&mut later, "1.4.0", PLACE, &[]);
    assert!(!later.is_changed());
    remember(&mut later, "1.4.0", "mirror.example/widget", &[]);
    assert_eq!(later.iter().filter(|pin| !pin.contents.is_empty()).count(), 2);
    let mut other = moved("1.4.0", &text);
    remember(&mut other, "1.4.0", PLACE, &[]);
    assert!(other.iter().all(|pin| pin.contents.is_empty()));

    let wrong = text.replace("h1:one=", "zh:0000000000000000000000000000000000000000000000000000000000000000");
    let error = Pins::parse(&wrong).unwrap_err();
    assert_snapshot!(error, @"the contents of example.com/acme/widget 1.4.0 for linux_amd64: zh:0000000000000000000000000000000000000000000000000000000000000000 is not an h1: checksum");
}

#[test]
fn a_pin_says_under_which_address_its_release_was_published() {
    let mut pins = pins(&["1.9.0"]);
    let (address, version, place) = (address("example.com/acme/widget"), version("1.9.0"), "ghcr.io/acme/widget");
    let facts = ReleaseFacts {
        of: Subject::Provider { address: &address, version: &version },
        place: &place.parse().unwrap(),
        identity: &Identity::Index { sha256: index("1.9.0"), sha512: None },
        archives: &Archives::Unknown,
    };
    pins.remember_published_as(&facts, &"old.example/acme/widget".parse().unwrap());
    let text = pins.to_text();
    assert!(text.contains("\"published_as\": \"old.example/acme/widget\""), "{text}");
    assert_eq!(Pins::parse(&text).unwrap().to_text(), text);
    // The same index says the same wherever it is.
    remember(&mut pins, "1.9.0", "ghcr.io/copy/widget", &[]);
    assert_eq!(pins.to_text().matches("published_as").count(), 2);
}
