//! The next page of a list.

use std::collections::HashSet;
use std::time::Duration;

use tofu_oci_http::{HeldUrl, host_of, named_address, same_origin, shown_time};
use tokio::time::Instant;
use url::Url;

/// Most pages that are read of one list.
const MAX_PAGES: usize = 1000;

/// Most bytes of all pages of one list together.
pub(crate) const LIST_LIMIT: u64 = 32 * 1024 * 1024;

/// The pages of one list that have been asked for.
pub(crate) struct Pages {
    first: Url,
    began: Instant,
    within: Duration,
    bytes: u64,
    seen: HashSet<String>,
}

impl Pages {
    /// A list whose first page came from here, and whose other pages may take this long together.
    pub(crate) fn new(first: Url, within: Duration) -> Self {
        Self { seen: HashSet::from([first.as_str().to_owned()]), first, began: Instant::now(), within, bytes: 0 }
    }

    /// The address of the next page, by the `Link` headers of the page that came from `current`.
    ///
    /// # Errors
    /// The reason, if it lies on another origin, has been read before, or is one page or minute too many.
    pub(crate) fn next<'a>(
        &mut self,
        current: &HeldUrl,
        links: impl IntoIterator<Item = &'a str>,
    ) -> Result<Option<HeldUrl>, String> {
        let Some(target) = links.into_iter().find_map(next_target) else { return Ok(None) };
        let next =
            named_address(&current.url, target).map_err(|fault| format!("the link to the next page: {fault}"))?;
        if !same_origin(&next, &self.first) {
            return Err(format!("the next page of the list is on another origin, {}", host_of(&next)));
        }
        if self.seen.len() >= MAX_PAGES {
            return Err(format!("the list has more than {MAX_PAGES} pages"));
        }
        if self.began.elapsed() >= self.within {
            let (read, time) = (self.seen.len(), shown_time(self.within));
            return Err(format!("the list has more than {read} pages, which took {time}: too long for one list"));
        }
        if !self.seen.insert(next.as_str().to_owned()) {
            return Err("the list's pages lead back to one that was read before".to_owned());
        }
        Ok(Some(HeldUrl { url: next, nearest: current.nearest }))
    }

    /// Whether this page and those before it are within [`LIST_LIMIT`].
    pub(crate) fn fits(&mut self, page: &[u8]) -> bool {
        self.bytes += page.len() as u64;
        self.bytes <= LIST_LIMIT
    }
}

/// The target of the first link with `rel=next`.
///
/// Spec: RFC 8288, section 3.
fn next_target(header: &str) -> Option<&str> {
    let mut rest = header;
    loop {
        let (_, after) = rest.split_once('<')?;
        let (target, after) = after.split_once('>')?;
        let parameters = after.split('<').next().unwrap_or_default();
        let is_next = parameters.split([';', ',']).any(|parameter| {
            parameter.split_once('=').is_some_and(|(name, value)| {
                name.trim().eq_ignore_ascii_case("rel")
                    && value
                        .trim()
                        .trim_matches('"')
                        .split_ascii_whitespace()
                        .any(|rel| rel.eq_ignore_ascii_case("next"))
            })
        });
        if is_next {
            return Some(target);
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(link: &str, want: Result<Option<&str>, &str>) {
        let first = Url::parse("https://a.test/v2/x/tags/list?n=2").unwrap();
        let got = Pages::new(first.clone(), Duration::MAX).next(&HeldUrl::anywhere(first), [link]);
        match (got, want) {
            (Ok(got), Ok(want)) => assert_eq!(got.as_ref().map(|got| got.url.as_str()), want),
            (Err(reason), Err(want)) => assert!(reason.contains(want), "{reason}"),
            (got, want) => panic!("{link}: got {got:?}, want {want:?}"),
        }
    }

    #[test]
    fn link_forms() {
        check(r#"</v2/x/tags/list?last=a&n=2>; rel="next""#, Ok(Some("https://a.test/v2/x/tags/list?last=a&n=2")));
        check(r"<?last=a,b>; rel=next", Ok(Some("https://a.test/v2/x/tags/list?last=a,b")));
        check(r#"</p>; rel="prev", </n>; title="x"; rel="foo next""#, Ok(Some("https://a.test/n")));
        check(r#"<https://a.test:443/n>; rel="next""#, Ok(Some("https://a.test/n")));
        check(r#"</p>; rel="prev""#, Ok(None));
        check("rubbish", Ok(None));
        check(r#"<https://b.test/n>; rel="next""#, Err("b.test"));
        check(r#"<http://a.test/n>; rel="next""#, Err("a.test"));
        check(r#"<?n=2>; rel="next""#, Err("read before"));
    }

    #[test]
    fn the_number_of_pages_is_bounded() {
        let first = HeldUrl::anywhere(Url::parse("https://a.test/list").unwrap());
        let mut pages = Pages::new(first.url.clone(), Duration::MAX);
        let end = (0..2 * MAX_PAGES).find_map(|page| pages.next(&first, [&*format!("<?p={page}>; rel=next")]).err());
        assert_eq!(end.as_deref(), Some("the list has more than 1000 pages"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_whose_pages_trickle_in_for_ever_ends() {
        let first = HeldUrl::anywhere(Url::parse("https://a.test/v2/x/tags/list").unwrap());
        let mut pages = Pages::new(first.url.clone(), Duration::from_mins(10));
        for page in 0..20 {
            assert!(pages.next(&first, [&*format!("<?p={page}>; rel=next")]).is_ok());
            tokio::time::advance(Duration::from_secs(30)).await;
        }
        let end = pages.next(&first, ["<?p=20>; rel=next"]).unwrap_err();
        assert_eq!(end, "the list has more than 21 pages, which took 600 s: too long for one list");
    }
}
