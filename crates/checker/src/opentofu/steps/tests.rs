use crate::go::json::GoReading;
use serde_json::{Value, json};
use tofu_oci_vectors::Vectors;

use super::*;

fn vectors() -> Vectors {
    Vectors::open("oci_selection.json")
}

#[track_caller]
fn check(name: &Value, got: &Result<usize, PredictedOutcome>, case: &Value) {
    let want = match case["error"].as_str() {
        None => Ok(usize::try_from(case["selected_index"].as_u64().unwrap()).unwrap()),
        Some(code) => Err(PredictedOutcome::Refuses(match code {
            "platform-not-supported" => Rejection::PlatformNotOffered,
            "unsupported-artifact-type" => Rejection::IndexOrLeafArtifactType,
            "unsupported-media-type" => Rejection::LeafMediaType,
            "maybe-container-image" => Rejection::NoProviderLeaf,
            "no-zip-layer" => Rejection::NoZipLayer,
            "no-zip-layer-but-others" => Rejection::NoZipLayerOtherFormat,
            "ambiguous" => Rejection::SeveralPackages,
            other => panic!("unknown expectation `{other}`"),
        })),
    };
    assert_eq!(*got, want, "{name}");
}

#[test]
fn entries_are_selected_as_the_vectors_say() {
    let platform = "linux_amd64".parse().unwrap();
    vectors().each("platform_selection", |case| {
        let document = json!({ "manifests": case["manifests"] }).to_string();
        let (index, reading) = GoIndex::read(document.as_bytes());
        assert_eq!(reading, GoReading::Good, "{case}");
        check(&case["name"], &Entries::of(&index.manifests).select(&platform), case);
    });
}

#[test]
fn layers_are_selected_as_the_vectors_say() {
    vectors().each("layer_selection", |case| {
        let types = case["layer_media_types"].as_array().unwrap().iter();
        let layers: Vec<Value> = types.map(|media_type| json!({ "mediaType": media_type })).collect();
        let (manifest, reading) = GoManifest::read(json!({ "layers": layers }).to_string().as_bytes());
        assert_eq!(reading, GoReading::Good, "{case}");
        check(&case["name"], &select_zip(&manifest), case);
    });
}

#[test]
fn bodies_are_judged_as_the_vectors_say() {
    vectors().each("index_manifest_body", |case| {
        let (index, _) = GoIndex::read(case["body"].to_string().as_bytes());
        let want = match case["error"].as_str() {
            None => Ok(()),
            Some("unexpected-artifact-type") => Err(PredictedOutcome::Refuses(Rejection::IndexOrLeafArtifactType)),
            Some(_) => Err(PredictedOutcome::Refuses(Rejection::BodyMediaTypeMissing)),
        };
        assert_eq!(check_body(&index.media_type, INDEX, &index.artifact_type, PROVIDER), want, "{case}");
    });
}
