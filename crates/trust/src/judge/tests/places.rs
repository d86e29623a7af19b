//! One place in several spellings, and pins of several spellings that an earlier program wrote.

use super::*;

/// Version 1.4.0, let in at a place.
fn seen_at(place: &str) -> Scene {
    Scene { place: place.parse().unwrap(), ..Scene::new() }.remembered()
}

#[test]
fn a_tag_that_has_moved_is_noticed_under_every_name_of_the_place() {
    let groups: [&[&str]; 4] = [
        &["localhost:5000/x", "127.0.0.1:5000/x", "127.1:5000/x", "[::1]:5000/x", "LOCALHOST.:5000/x"],
        &["r.test/x", "r.test:443/x", "R.test./x", "r.test:80/x"],
        &["docker.io/acme/x", "index.docker.io/acme/x", "registry-1.docker.io/acme/x", "docker.io:443/acme/x"],
        &["b\u{fc}cher.example/x", "xn--bcher-kva.example/x"],
    ];
    for group in groups {
        for one in group {
            for other in group {
                let moved = Scene { place: other.parse().unwrap(), ..seen_at(one) }.offers("1.4.0", "moved");
                check(&moved, "refused moved-tag");
                check(&moved.accepted(), "unsigned []; Note accepted");
            }
        }
    }
    for other in ["localhost:5001/x", "127.0.0.2:5000/x", "localhost:5000/y", "r.test/x"] {
        check(
            &Scene { place: other.parse().unwrap(), ..seen_at("localhost:5000/x") }.offers("1.4.0", "moved"),
            "unsigned []",
        );
    }
}

/// A pin file by an earlier program: each of these places with this index.
fn earlier(pins: &[(&str, &str)]) -> Scene {
    let seen: serde_json::Value = serde_json::from_str(&seen_at("r.test/x").pins.to_text()).unwrap();
    let pins: Vec<serde_json::Value> = pins
        .iter()
        .map(|(place, content)| {
            let mut pin = seen["providers"][0].clone();
            pin["place"] = (*place).into();
            pin["index"] = index(content).to_string().into();
            pin
        })
        .collect();
    let text = serde_json::json!({ "version": 1, "providers": pins, "signed": [] }).to_string();
    Scene { pins: Pins::parse(&text).unwrap(), place: "localhost:5000/x".parse().unwrap(), ..Scene::new() }
}

#[test]
fn pins_of_two_spellings_that_agree_become_one() {
    let merged = earlier(&[("127.0.0.1:5000/x", "1.4.0"), ("localhost:5000/x", "1.4.0"), ("[::1]:5000/x", "1.4.0")]);
    assert_eq!(merged.pins.to_text(), seen_at("localhost:5000/x").pins.to_text());
    check(&merged, "unsigned []");
}

#[test]
fn pins_of_two_spellings_that_disagree_let_no_index_in_until_one_is_accepted() {
    let torn = earlier(&[("127.0.0.1:5000/x", "1.4.0"), ("localhost:5000/x", "other")]);
    let again = Scene { pins: Pins::parse(&torn.pins.to_text()).unwrap(), ..torn.clone() };
    for scene in [&torn, &again] {
        assert_eq!(scene.pins.iter().count(), 2, "both facts stay");
        check(scene, "refused moved-tag");
        check(&scene.clone().offers("1.4.0", "other"), "refused moved-tag");
        check(&scene.clone().offers("1.4.0", "third"), "refused moved-tag");
    }
    // Another change of the file loses neither.
    let mut changed = torn.clone().offers("1.5.0", "1.5.0").remembered();
    changed.pins = changed.pins.onto(&torn.pins).unwrap();
    check(&changed.offers("1.4.0", "1.4.0"), "refused moved-tag");
    let accepted = torn.clone().accepted();
    let written = Pins::parse(&accepted.pins.onto(&torn.pins).unwrap().to_text()).unwrap();
    assert_eq!(written.iter().count(), 1);
    let accepted = Scene { pins: written, ..torn };
    check(&accepted, "unsigned []; Note accepted");
    check(&accepted.offers("1.4.0", "other"), "refused moved-tag");
}

#[test]
fn one_place_that_is_written_twice_is_an_error() {
    let text = seen_at("r.test/x").pins.to_text();
    let mut pins: serde_json::Value = serde_json::from_str(&text).unwrap();
    let pin = pins["providers"][0].clone();
    pins["providers"].as_array_mut().unwrap().push(pin);
    let error = Pins::parse(&pins.to_string()).unwrap_err().to_string();
    assert_eq!(error, "example.com/acme/widget 1.4.0 at r.test/x is pinned twice");
}

#[test]
fn a_pin_by_sha512_holds_for_the_same_bytes_and_for_no_others() {
    let sha512 = |content: &str| {
        let mut hasher = tofu_oci_types::DigestHasher::sha512();
        hasher.update(content.as_bytes());
        hasher.finish()
    };
    let by_both = |content: &str| Identity::Index { sha256: index(content), sha512: Some(sha512(content)) };
    let text = seen_at("r.test/x").pins.to_text().replace(index("1.4.0").as_str(), sha512("1.4.0").as_str());
    let pinned = Scene { pins: Pins::parse(&text).unwrap(), place: "r.test/x".parse().unwrap(), ..Scene::new() };
    let same = Scene { identity: by_both("1.4.0"), ..pinned.clone() };
    check(&same, "unsigned []");
    assert_eq!(same.remembered().pins.to_text(), seen_at("r.test/x").pins.to_text(), "from now on by SHA-256");
    let other = pinned.offers("1.4.0", "other");
    check(&Scene { identity: by_both("other"), ..other }, "refused moved-tag");
}
