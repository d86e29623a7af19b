//! Lists of tags.

use tofu_oci_store::{AccessFault, ReadStore as _, StoreError};

use crate::server::{Reply, Server, reply};
use crate::support::{check_error, store};

fn page(tags: &str) -> Reply {
    reply(200).header("content-type", "application/json").body(format!(r#"{{"name":"x","tags":{tags}}}"#))
}

async fn listed(server: &Server) -> Result<Vec<String>, StoreError> {
    Ok(store(server).tags().await?.iter().map(ToString::to_string).collect())
}

#[tokio::test]
async fn tags_come_unsorted_and_foreign_ones_are_left_out() {
    let server = Server::start(|_, _| page(r#"["2.0.0","1.0.0","bad+tag","latest"]"#));
    assert_eq!(listed(&server).await.unwrap(), ["2.0.0", "1.0.0", "latest"]);
    assert_eq!(server.lines(), ["GET /v2/x/tags/list?n=1000"]);
}

#[tokio::test]
async fn tags_null_is_an_empty_list() {
    let server = Server::start(|_, _| page("null"));
    assert_eq!(listed(&server).await.unwrap(), [""; 0]);
}

#[tokio::test]
async fn pages_are_followed_by_relative_and_absolute_links() {
    let server = Server::start(|request, _| match request.target.as_str() {
        "/v2/x/tags/list?n=1000" => page(r#"["1.0.0"]"#).header("link", r#"</v2/x/tags/list?last=1.0.0>; rel="next""#),
        "/v2/x/tags/list?last=1.0.0" => {
            page("[]").header("link", format!(r#"<http://{}/v2/x/tags/list?last=2.0.0>; rel="next""#, request.host()))
        }
        _ => page(r#"["3.0.0"]"#),
    });
    assert_eq!(listed(&server).await.unwrap(), ["1.0.0", "3.0.0"]);
}

#[tokio::test]
async fn a_link_to_another_host_is_refused() {
    let other = Server::start(|_, _| page(r#"["9.9.9"]"#));
    let link = format!(r#"<http://{}/v2/x/tags/list>; rel="next""#, other.host());
    let server = Server::start(move |_, _| page(r#"["1.0.0"]"#).header("link", link.clone()));
    assert!(matches!(listed(&server).await, Err(StoreError::Forbidden { .. })));
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn a_link_loop_ends() {
    let server = Server::start(|_, _| page(r#"["1.0.0"]"#).header("link", "</v2/x/tags/list?n=1>; rel=next"));
    assert!(matches!(listed(&server).await, Err(StoreError::Forbidden { .. })));
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn an_oversized_page_is_refused() {
    let server = Server::start(|_, _| reply(200).body(vec![b' '; 8 * 1024 * 1024 + 1]));
    assert!(matches!(listed(&server).await, Err(StoreError::TooLarge { .. })));
}

#[tokio::test]
async fn a_404_is_an_unknown_repository_unless_the_registry_says_otherwise() {
    for answer in [reply(404).error("NAME_UNKNOWN", "no"), reply(404).error("NAME_INVALID", "no"), reply(404)] {
        let server = Server::start(move |_, _| answer.clone());
        assert!(matches!(listed(&server).await, Err(StoreError::UnknownRepository { .. })));
    }
    let html = reply(404).header("content-type", "text/html").body("<h1>404</h1>");
    let server = Server::start(move |_, _| html.clone());
    assert!(matches!(listed(&server).await, Err(StoreError::UnknownRepository { .. })));
    let server = Server::start(|_, _| reply(404).error("DENIED", "no"));
    check_error(listed(&server).await, &server, "HOST/x answered 404 to GET /v2/x/tags/list: no (DENIED)");
    for status in [400, 403, 405] {
        let server = Server::start(move |_, _| reply(status).error("NAME_UNKNOWN", "no"));
        assert!(matches!(listed(&server).await, Err(StoreError::UnknownRepository { .. })), "{status}");
    }
    let server = Server::start(|_, _| reply(401).error("NAME_UNKNOWN", "no"));
    assert!(matches!(listed(&server).await, Err(StoreError::Denied { fault: AccessFault::NoKnownScheme(401), .. })));
    let server = Server::start(|_, _| reply(403).error("DENIED", "no"));
    assert!(matches!(listed(&server).await, Err(StoreError::Denied { .. })));
    let server = Server::start(|_, _| reply(401).error("UNAUTHORIZED", "who are you"));
    assert!(matches!(listed(&server).await, Err(StoreError::Denied { fault: AccessFault::NoKnownScheme(401), .. })));
}

#[tokio::test]
async fn a_list_that_is_none_is_malformed() {
    let server = Server::start(|_, _| reply(200).body("<html>"));
    assert!(matches!(listed(&server).await, Err(StoreError::Malformed { .. })));
}

#[tokio::test]
async fn a_list_whose_pages_are_too_large_together_is_refused() {
    let server = Server::start(|_, nth| {
        let next = format!(r#"<?last={nth}>; rel="next""#);
        page("[]").body([br#"{"tags":[]}"#, &*vec![b' '; 8 * 1024 * 1024 - 20]].concat()).header("link", next)
    });
    check_error(listed(&server).await, &server, "the list of tags of HOST/x is larger than 33554432 bytes");
    assert_eq!(server.requests().len(), 5);
}

#[tokio::test]
async fn a_registry_that_sends_the_same_page_for_ever_is_not_asked_a_thousand_times() {
    let server = Server::start(|_, nth| {
        let next = format!(r#"<?last={nth}>; rel="next""#);
        page(r#"["1.0.0","1.1.0"]"#).header("link", next)
    });
    let want = "HOST/x is not usable: its list of tags goes on although 10 pages in a row have no new tag";
    check_error(listed(&server).await, &server, want);
    assert_eq!(server.requests().len(), 11);
}
