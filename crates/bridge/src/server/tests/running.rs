//! What a server says of the requests that it answers.

use std::time::Duration;

use serde_json::json;
use tofu_oci_mirror::PullOutcome;

use super::{LOOPBACK, RunningServer, answer_of, request_for};

#[tokio::test]
async fn a_line_of_the_log_says_what_was_asked_and_hides_secrets_and_tricks() {
    let server = RunningServer::new().await;
    let agent = format!("User-Agent: evil\u{202e}\"}}{}\r\n", "a".repeat(300));
    let answer = server.get("/hello?token=secret", &agent).await;
    let (lines, heard) = server.stop().await;
    let mut line = lines[0].clone();
    let id = line["id"].as_str().unwrap().to_owned();
    assert!(answer.contains(&format!("x-request-id: {id}\r\n")), "{answer}");
    let agent = line["agent"].as_str().unwrap().to_owned();
    assert!(agent.starts_with("evil") && agent.ends_with('…') && !agent.contains('\u{202e}'), "{agent}");
    assert!(agent.chars().count() < 250, "{agent}");
    for changing in ["time", "id", "ms", "agent"] {
        assert!(line.as_object_mut().unwrap().remove(changing).is_some(), "{changing}");
    }
    let want = json!({
        "event": "request", "address": "127.0.0.1", "method": "GET", "path": "/hello", "status": 200, "bytes": 5,
    });
    assert_eq!((line, heard), (want, vec!["stopping"]));
}

#[tokio::test]
async fn a_complete_download_over_http_1_was_counted_as_broken() {
    let server = RunningServer::with(|options| options.listen_metrics = Some(LOOPBACK)).await;
    assert!(server.get("/sized", "").await.ends_with("\r\n\r\nbegin end"));
    let metrics = answer_of(server.metrics.unwrap(), &request_for("/metrics", "")).await;
    assert!(metrics.contains("\ntofu_oci_broken_answers_total 0\n"), "{metrics}");
    let (lines, _) = server.stop().await;
    assert_eq!((&lines[0]["bytes"], lines[0].get("broken")), (&json!(9), None));
}

#[tokio::test]
async fn the_log_says_why_a_place_failed_and_the_client_learns_no_path() {
    let server = RunningServer::new().await;
    let answer = server.get("/failed", "").await;
    assert!(answer.ends_with("example.com/acme/zap cannot be read: it has no room"), "{answer}");
    let (lines, _) = server.stop().await;
    let reason = "example.com/acme/zap cannot be read: cannot write /srv/zips: No space left on device";
    assert_eq!((&lines[0]["code"], &lines[0]["reason"]), (&json!("io"), &json!(reason)));
}

#[tokio::test]
async fn the_log_says_why_an_answer_has_status_5xx_in_one_line_without_secrets() {
    let server = RunningServer::new().await;
    for path in ["/failing", "/panic", "/unexplained", "/hello", "/none"] {
        server.get(path, "").await;
    }
    let (lines, _) = server.stop().await;
    let said: Vec<_> = lines.iter().map(|line| (&line["status"], &line["code"], line["reason"].as_str())).collect();
    let (code, panicked) = (json!("server-error"), json!("request-panicked"));
    let reason = lines[0]["reason"].as_str().unwrap();
    assert!(reason.starts_with("acme/zap cannot be read: https://h.example/v2/?… answered 500 "), "{reason}");
    assert!(!reason.contains(['\u{1b}', '\n']), "{reason}");
    assert_eq!(said[0], (&json!(502), &code, Some(reason)));
    assert_eq!(said[1], (&json!(500), &panicked, Some("the server failed, and its log says where")));
    assert_eq!(said[2], (&json!(507), &json!(null), Some("Insufficient Storage")));
    assert!(said[3..].iter().all(|(_, _, reason)| reason.is_none()), "{said:?}");
}

#[tokio::test]
async fn only_a_known_proxy_says_who_asks_and_by_which_number() {
    let headers = "X-Forwarded-For: 198.51.100.7\r\nX-Request-Id: abc-1\r\n";
    let behind = RunningServer::with(|options| options.proxies = vec!["127.0.0.0/8".parse().unwrap()]).await;
    assert!(behind.get("/hello", headers).await.contains("x-request-id: abc-1\r\n"));
    assert!(!behind.get("/hello", &headers.replace("abc-1", "a b")).await.contains("a b"));
    let (lines, _) = behind.stop().await;
    assert_eq!(lines[0]["address"], "198.51.100.7");

    let open = RunningServer::new().await;
    assert!(!open.get("/hello", headers).await.contains("abc-1"));
    let (lines, _) = open.stop().await;
    assert_eq!(lines[0]["address"], "127.0.0.1");
}

#[tokio::test]
async fn a_panic_is_an_answer_and_the_server_lives() {
    let server = RunningServer::new().await;
    let answer = server.get("/panic", "").await;
    assert!(answer.starts_with("HTTP/1.1 500 "), "{answer}");
    assert!(server.get("/hello", "").await.ends_with("\r\n\r\nhello"));
    let (lines, heard) = server.stop().await;
    assert_eq!((heard, &lines[0]["code"]), (vec!["request-panicked", "stopping"], &json!("request-panicked")));
}

/// Samples of a text that Prometheus reads.
#[track_caller]
fn samples(text: &str) -> Vec<(&str, f64)> {
    let mut samples = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(comment) = line.strip_prefix("# ") {
            let is_last = lines.peek().is_none();
            let known = ["HELP ", "TYPE ", "UNIT "].iter().any(|word| comment.starts_with(word));
            assert!(if is_last { comment == "EOF" } else { known }, "{line}");
            continue;
        }
        let (name, value) = line.rsplit_once(' ').expect("a name and a value");
        let plain = name.split('{').next().unwrap();
        assert!(plain.starts_with("tofu_oci_"), "{line}");
        assert!(plain.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'), "{line}");
        assert_eq!(name.contains('{'), name.ends_with('}'), "{line}");
        samples.push((name, value.parse().unwrap()));
    }
    samples
}

#[tokio::test]
async fn every_user_of_the_machine_and_every_client_behind_a_proxy_on_it_read_the_metrics() {
    for has_own_address in [false, true] {
        let server = RunningServer::with(|options| {
            options.listen_metrics = has_own_address.then_some(LOOPBACK);
            options.proxies = vec!["127.0.0.0/8".parse().unwrap()];
        });
        let server = server.await;
        for lines in
            ["", "Via: 1.1 proxy\r\n", "X-Forwarded-Host: bridge.example\r\n", "X-Forwarded-For: 127.0.0.1\r\n"]
        {
            for path in ["/metrics", "//metrics", "/metrics?x", "/metrics/"] {
                let answer = server.get(path, lines).await;
                assert!(answer.starts_with("HTTP/1.1 404 ") && !answer.contains("tofu_oci_"), "{lines}: {answer}");
            }
        }
    }
}

#[tokio::test]
async fn prometheus_can_read_the_metrics() {
    let server = RunningServer::with(|options| options.listen_metrics = Some(LOOPBACK)).await;
    server.get("/hello", "").await;
    let on_pull = server.counts.pulls_of("module");
    on_pull(PullOutcome::Fetched { bytes: 7, time: Duration::from_secs(2) });
    on_pull(PullOutcome::Held);
    let answer = answer_of(server.metrics.unwrap(), &request_for("/metrics", "")).await;
    let (head, text) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("content-type: application/openmetrics-text; version=1.0.0; charset=utf-8"), "{head}");
    let samples = samples(text);
    let value = |name: &str| samples.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    assert_eq!(value("tofu_oci_requests_total{route=\"other\",status=\"200\"}"), Some(1.0), "{text}");
    assert_eq!(value("tofu_oci_sent_bytes_total{route=\"other\"}"), Some(5.0), "{text}");
    assert_eq!(value("tofu_oci_requests_in_flight"), Some(1.0), "{text}");
    assert_eq!(value("tofu_oci_zip_cache_bytes"), Some(70_000.0), "{text}");
    for outcome in ["fetched", "held"] {
        let name = format!("tofu_oci_pulls_total{{kind=\"module\",outcome=\"{outcome}\"}}");
        assert_eq!(value(&name), Some(1.0), "{text}");
    }
    assert_eq!(value("tofu_oci_pull_duration_seconds_sum{kind=\"module\"}"), Some(2.0), "{text}");
    assert_eq!(value("tofu_oci_pulled_bytes_total{kind=\"module\"}"), Some(7.0), "{text}");
}
