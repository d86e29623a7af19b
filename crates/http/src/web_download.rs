//! How a file of any web host is fetched.

use async_trait::async_trait;
use reqwest::Method;
use url::Url;

use crate::answer::HttpAnswer;
use crate::authorization::split_login;
use crate::clean::{host_of, shown_url};
use crate::client::HttpClient;
use crate::download::{BodySize, Download, Downloaded, RangeSource};
use crate::held_url::HeldUrl;
use crate::redirect::Protection;
use crate::requester::{HttpRequest, TimeLimit, WebFault};
use crate::retry::Attempts;
use crate::web::{WebClient, WebError, WebRequester};

/// A file to get.
#[derive(Clone)]
pub struct WebDownload {
    /// The address. Its user info is sent as Basic.
    pub url: Url,
    /// What protects the file from being changed on its way.
    pub protection: Protection,
    /// What is known of its size.
    pub size: BodySize,
}

impl WebClient {
    /// The file, after the head of the first answer has been seen. It is resumed by Range after a break.
    ///
    /// # Errors
    /// If no answer begins the file; a status other than 200 is an error. The same errors may end the stream.
    pub async fn download(&self, download: &WebDownload) -> Result<Downloaded<WebError>, WebError> {
        let source = WebSource { client: self.clone(), download: download.clone() };
        Download::start(source, download.size, self.http.attempts().by(self.retry)).await
    }

    /// The size of a file in bytes, by HEAD, or by a GET of its first byte if the server refuses HEAD; `None` if the server
    /// does not say it.
    ///
    /// # Errors
    /// If no answer comes, or it says that there is no such file.
    pub async fn size(&self, download: &WebDownload) -> Result<Option<u64>, WebError> {
        let mut attempts = self.http.attempts().by(self.retry);
        let mut answer = self.ask(download, Method::HEAD, &[], &mut attempts).await?;
        if matches!(answer.status(), 400 | 403 | 405 | 501) {
            let first = [("range", "bytes=0-0".to_owned())];
            answer = self.ask(download, Method::GET, &first, &mut attempts).await?;
        }
        match answer.status() {
            200 if answer.content_encoding().is_none() => Ok(answer.length()),
            200 => Ok(None),
            206 => Ok(answer.content_range().and_then(|range| range.total)),
            status => Err(WebError { url: shown_url(answer.url()), fault: WebFault::Status(status) }),
        }
    }

    /// The last answer, after all redirects, its body unread.
    async fn ask(
        &self,
        download: &WebDownload,
        method: Method,
        headers: &[(&'static str, String)],
        attempts: &mut Attempts,
    ) -> Result<HttpAnswer, WebError> {
        let (url, authorization) = split_login(&download.url, self.http.scrubber());
        let request = HttpRequest {
            method,
            to: HeldUrl::anywhere(url),
            accept: "*/*",
            authorization,
            headers: headers.to_vec(),
            form: None,
            limit: 0,
            time: TimeLimit::WithoutProgress,
        };
        let wanted = |_: &HttpAnswer| false;
        let requester = WebRequester { client: self, protection: download.protection, wanted };
        self.http.get(&request, attempts, &requester).await
    }
}

/// A file that is being downloaded.
struct WebSource {
    client: WebClient,
    download: WebDownload,
}

#[async_trait]
impl RangeSource for WebSource {
    type PartAnswer = HttpAnswer;
    type DownloadError = WebError;

    fn http(&self) -> &HttpClient {
        &self.client.http
    }

    fn protection(&self) -> Protection {
        self.download.protection
    }

    fn label(&self) -> String {
        format!("GET {}{}", host_of(&self.download.url), self.download.url.path())
    }

    async fn send(&self, headers: &[(&'static str, String)], attempts: &mut Attempts) -> Result<HttpAnswer, WebError> {
        self.client.ask(&self.download, Method::GET, headers, attempts).await
    }

    async fn refused(&self, answer: HttpAnswer) -> WebError {
        WebError { url: shown_url(answer.url()), fault: WebFault::Status(answer.status()) }
    }

    fn fault(&self, fault: WebFault) -> WebError {
        WebError { url: shown_url(&self.download.url), fault }
    }
}
