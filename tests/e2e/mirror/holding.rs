//! Versions that are too young, or denied.

use serde_json::{Value, json};

use super::{HOST, Mirrored, PLATFORMS, actions};

/// The record of sightings with every moment in it moved to the year 2020.
fn age(mirrored: &Mirrored) {
    edit_record(mirrored, |sightings| {
        let seen = &mut sightings["providers"][format!("{HOST}/acme/zap")]["versions"];
        for sighting in seen.as_object_mut().expect("an object").values_mut() {
            sighting["seen"] = json!("2020-01-01T00:00:00Z");
        }
    });
}

/// Changes the record of sightings.
fn edit_record(mirrored: &Mirrored, edit: impl FnOnce(&mut Value)) {
    let registry = &mirrored.scene.registry;
    let (media_type, bytes) = registry.manifest("m/acme/zap", "first-seen").expect("a record");
    let mut manifest: Value = serde_json::from_slice(&bytes).expect("JSON");
    let record = &mut manifest["annotations"]["org.opentofu.provider.first-seen"];
    let mut sightings: Value = serde_json::from_str(record.as_str().expect("a text")).expect("JSON");
    edit(&mut sightings);
    *record = json!(sightings.to_string());
    let digest = registry.put_manifest("m/acme/zap", &media_type, manifest.to_string());
    registry.put_tag("m/acme/zap", "first-seen", &digest);
}

#[test]
fn a_version_is_held_back_until_it_has_been_seen_long_enough() {
    let mirrored = Mirrored::with_zap();
    let line = format!("{HOST}/acme/zap --min-age 7d --json");
    let said = mirrored.mirror(&line).success();
    assert_eq!(actions(&said).into_values().collect::<Vec<_>>(), ["held", "held"], "{}", said.text);
    assert_eq!(mirrored.tags("m/acme/zap"), ["first-seen"]);
    age(&mirrored);
    mirrored.upstream.release("acme/zap", "1.2.0", &PLATFORMS[..2]);
    let said = mirrored.mirror(&line).success();
    assert_eq!(actions(&said).into_values().collect::<Vec<_>>(), ["add", "add", "held"], "{}", said.text);
    assert_eq!(mirrored.tags("m/acme/zap"), ["1.0.0", "1.1.0", "first-seen"]);
    // What is held back is not listed.
    let said = mirrored.scene.run("versions REGISTRY/m/acme/zap").success();
    assert!(!said.stdout.contains("1.2.0") && !said.stdout.contains("first-seen"), "{}", said.text);
    // 0 lets it in.
    let said = mirrored.mirror(&format!("{HOST}/acme/zap --min-age 0 --json")).success();
    assert_eq!(actions(&said)["zap 1.2.0"], "add", "{}", said.text);
}

#[test]
fn a_version_that_an_interrupted_run_brought_was_never_taken_for_one_of_the_mirror() {
    let mirrored = Mirrored::with_zap();
    mirrored.mirror(&format!("{HOST}/acme/zap")).success();
    // The run was killed before it wrote the marks.
    edit_record(&mirrored, |sightings| {
        let zap = format!("{HOST}/acme/zap");
        for sighting in sightings["providers"][&zap]["versions"].as_object_mut().expect("an object").values_mut() {
            sighting.as_object_mut().expect("an object").remove("mark");
        }
        assert_eq!(sightings["moving"], Value::Null);
        let since = "2026-01-01T00:00:00Z";
        sightings["moving"][&zap] = json!({ "1.0.0": since, "1.1.0": since, "1.2.0": since });
    });
    let said = mirrored.mirror(&format!("{HOST}/acme/zap --latest 1 --prune --json")).success();
    assert_eq!(actions(&said)["zap 1.0.0"], "withdraw", "{}", said.text);
    assert_eq!(mirrored.tags("m/acme/zap"), ["1.1.0", "first-seen", "withdrawn-1.0.0"]);
    edit_record(&mirrored, |sightings| {
        let zap = &format!("{HOST}/acme/zap");
        let marked =
            |version: &str, mark: &str| sightings["providers"][zap]["versions"][version]["mark"][mark].is_string();
        assert!(marked("1.0.0", "withdrawn") && marked("1.1.0", "mirrored"), "{sightings}");
        assert_eq!(sightings["moving"][zap], Value::Null);
    });
}

#[test]
fn a_plan_with_an_age_remembers_nothing() {
    let mirrored = Mirrored::with_zap();
    mirrored.mirror(&format!("{HOST}/acme/zap --min-age 7d --plan")).success();
    assert_eq!(mirrored.tags("m/acme/zap"), [""; 0]);
}

#[test]
fn a_prerelease_or_build_metadata_of_a_denied_version_was_mirrored_and_bundled() {
    let mirrored = Mirrored::with_zap();
    for version in ["1.0.0+evil", "1.5.0-rc1"] {
        mirrored.upstream.release("acme/zap", version, &PLATFORMS[..1]);
    }
    let wanted = "[[provider]]\naddress = \"HOST/acme/zap\"\n\
                  [[provider]]\naddress = \"HOST/acme/zap\"\nversions = \"1.5.0-rc1\"\n";
    for (denied, left) in [("= 1.0.0", &["1.1.0", "1.5.0-rc1"][..]), ("< 1.5.0, != 1.1.0", &["1.1.0"])] {
        mirrored.rules(&format!("deny = [\"HOST/acme/zap@{denied}\"]\n{wanted}"));
        let to = format!("m{}/${{namespace}}/${{type}}", left.len());
        mirrored.scene.run(&format!("mirror --to 'REGISTRY/{to}'")).success();
        let mut tags = mirrored.tags(&format!("m{}/acme/zap", left.len()));
        tags.retain(|tag| tag != "first-seen");
        assert_eq!(tags, left, "{denied}");
        mirrored.scene.run("bundle create b.tar --rules mirror.toml").success();
        let shown = mirrored.scene.run("bundle show b.tar --json").json();
        let bundled = shown.iter().filter(|line| line["event"] == "bundled").map(|line| line["version"].clone());
        assert_eq!(bundled.collect::<Vec<_>>(), left, "{denied}");
    }
}
