//! `docs/reference/openapi.json` and the routes say the same.

use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value;

use super::{Answer, Site};
use crate::paths::module_route::ModuleRouteKind;
use crate::paths::route::{Route, RouteKind};

const HOST: (&str, &str) = ("host", "registry.acme.example");

fn description() -> Value {
    serde_json::from_str(include_str!("../../../../../docs/reference/openapi.json")).unwrap()
}

/// The name of a parameter, and the value that its description gives as an example.
fn examples(path: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let parameters = path["parameters"].as_array().into_iter().flatten();
    parameters.map(|parameter| (text(&parameter["name"]), text(&parameter["example"]))).collect()
}

fn filled(template: &str, values: &BTreeMap<String, String>) -> String {
    values.iter().fold(template.to_owned(), |path, (name, value)| path.replace(&format!("{{{name}}}"), value))
}

/// What the description calls a route. A new route does not compile without a line here.
fn operation(route: &Route) -> &'static str {
    let route = match route {
        Route::Discovery => return "discovery",
        Route::Provider(route) => route,
        Route::Module(route) => {
            return match route.kind {
                ModuleRouteKind::Versions => "moduleVersions",
                ModuleRouteKind::Download(_) => "moduleDownload",
                ModuleRouteKind::Archive(_) => "moduleArchive",
            };
        }
    };
    match route.kind {
        RouteKind::MirrorVersions => "mirrorVersions",
        RouteKind::MirrorArchives(_) => "mirrorArchives",
        RouteKind::Archive(..) => "mirrorArchive",
        RouteKind::Versions => "versions",
        RouteKind::Download(..) => "download",
        RouteKind::Sums(_) => "releaseSums",
        RouteKind::SumsSignature(_) => "releaseSumsSignature",
    }
}

/// Whether the description has the status of the answer, and its content type with it.
fn is_described(operation: &Value, description: &Value, answer: &Answer) -> bool {
    let named = &operation["responses"][answer.status.as_str()];
    let response = match named["$ref"].as_str() {
        Some(reference) => description.pointer(reference.trim_start_matches('#')).unwrap(),
        None => named,
    };
    let types = response["content"].as_object();
    response.is_object()
        && (answer.body.is_empty() || types.is_some_and(|types| types.contains_key(answer.header("content-type"))))
}

#[tokio::test]
async fn every_described_route_answers_as_described() {
    let (site, description) = (Site::signed().await, description());
    let mut described = BTreeSet::new();
    for (template, path) in description["paths"].as_object().unwrap() {
        let uri = filled(template, &examples(path));
        let route = Route::parse(&uri).unwrap_or_else(|fault| panic!("{uri}: {fault:?}"));
        assert_eq!(path["get"]["operationId"], operation(&route), "{template}");
        described.insert(operation(&route));
        for (method, name) in [("GET", "get"), ("HEAD", "head")] {
            let answer = site.ask(method, &uri, &[HOST]).await;
            assert_eq!(answer.status, 200, "{method} {uri}: {}", answer.shown());
            assert!(
                is_described(&path[name], &description, &answer),
                "{method} {uri}: {}",
                answer.header("content-type")
            );
        }
    }
    assert_eq!(described.len(), 11, "a route is not described: {described:?}");
}

#[test]
fn requests_near_the_description_get_answers_of_the_description() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let (site, description) = (runtime.block_on(Site::signed()), description());
    let paths = description["paths"].as_object().unwrap();
    let operations: Vec<(String, Value)> = paths.iter().map(|(path, value)| (path.clone(), value.clone())).collect();
    let value =
        prop_oneof![4 => Just(None), 1 => any::<String>().prop_map(Some), 1 => "[a-z0-9.+_-]{0,12}".prop_map(Some)];
    let headers = prop::sample::select(vec![
        ("accept", "application/json"),
        ("accept", "text/html"),
        ("range", "bytes=0-0"),
        ("range", "bytes=99999999999999999999-,5-,x"),
        ("if-none-match", "*"),
        ("authorization", "Bearer \u{7f}"),
        ("authorization", "Basic !!"),
        ("x-forwarded-host", "evil.example"),
        ("content-length", "5"),
    ]);
    let method = prop::sample::select(vec!["GET", "GET", "GET", "HEAD", "POST", "QUERY"]);
    let strategy = (prop::sample::select(operations), prop::collection::vec(value, 7), headers, method);
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config)
        .run(&strategy, |((template, path), values, header, method)| {
            let mut filling = examples(&path);
            for (slot, value) in filling.values_mut().zip(values) {
                if let Some(value) = value {
                    *slot = utf8_percent_encode(&value, NON_ALPHANUMERIC).to_string();
                }
            }
            let uri = filled(&template, &filling);
            let Ok(sent) = http::HeaderValue::from_bytes(header.1.as_bytes()) else { return Ok(()) };
            let sent = sent.to_str().unwrap_or("x").to_owned();
            let answer = runtime.block_on(site.ask(method, &uri, &[HOST, (header.0, &sent)]));
            prop_assert!(!answer.status.is_server_error(), "{method} {uri}: {}", answer.shown());
            if method == "GET" && Route::parse(&uri).is_ok() {
                prop_assert!(is_described(&path["get"], &description, &answer), "{uri}: {}", answer.status);
            }
            Ok(())
        })
        .unwrap();
}
