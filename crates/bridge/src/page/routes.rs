//! From a request for a page to the page.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::get;
use futures_util::StreamExt as _;
use http::StatusCode;
use http::request::Parts;
use tofu_oci_docs::PageName;
use tofu_oci_types::{ModuleAddr, Moment, Platform, ProviderAddr, Version};
use tokio::time::{Instant, timeout, timeout_at};
use url::form_urlencoded;

use super::docs::DocsPage;
use super::docs_cache::DocsCache;
use super::frame::{PageFrame, icon, style};
use super::links::PageLinks;
use super::list::{ServedKinds, ServedList, found};
use super::module::{ModulePage, ModuleVersionPage};
use super::opinion::ReleaseOpinions;
use super::package_contents::ContentsCache;
use super::pager::ListPart;
use super::problem;
use super::provider::{ProviderPage, RowFacts, RowState, VersionRow};
use super::release::ReleasePage;
use super::snippets::ClientSetup;
use super::words::foreign;
use crate::paths::{
    MixUp, ModuleRoute, ModuleRouteKind, ProviderRoute, RequestPath, RouteFault, RouteKind, address, module_address,
    version,
};
use crate::served::newest;
use crate::{Admitted, Bridge, Refusal, ServedAddress, VersionAbsence, WithdrawnVersion};

/// How many providers and modules a part of the list has.
const PART: usize = 50;
/// How many versions a part of the list of a module has: none of them is read.
const MODULE_VERSIONS: usize = 50;
/// How many versions a part of the list has: each of them is read.
const VERSIONS: usize = 10;
/// How many of them are read at a time, so that clients do not wait for a page.
const AT_ONCE: usize = 2;
/// How long a page waits for them.
const PATIENCE: Duration = Duration::from_secs(4);
/// The most characters of a search that are read.
const QUERY: usize = 200;

/// The paths below the base URL that have a page, or a part of one.
const PAGES: [&str; 5] = ["/", "/style.css", "/icon.svg", "/providers/{*path}", "/module/{*path}"];

/// What the pages are made from.
struct PageState {
    bridge: Arc<Bridge>,
    opinions: ReleaseOpinions,
    looks: ContentsCache,
    docs: DocsCache,
}

/// The pages below the path of the base URL.
pub(crate) fn routes(bridge: Arc<Bridge>) -> Router {
    let [start_page, style_sheet, icon_file, provider_pages, module_pages] = PAGES;
    Router::new()
        .route(start_page, get(start))
        .route(style_sheet, get(async || style()))
        .route(icon_file, get(async || icon()))
        .route(provider_pages, get(providers))
        .route(module_pages, get(modules))
        .with_state(Arc::new(PageState {
            bridge,
            opinions: ReleaseOpinions::default(),
            looks: ContentsCache::default(),
            docs: DocsCache::default(),
        }))
}

/// Whether a path below the base URL has a page, or could have one.
pub(crate) fn is_page(path: &str) -> bool {
    PAGES.iter().any(|page| match page.strip_suffix("{*path}") {
        Some(folder) => path.starts_with(folder),
        None => path == *page,
    })
}

async fn start(State(state): State<Arc<PageState>>, request: Request) -> Response {
    let (visit, bridge) = (Visit::of(request), &state.bridge);
    let frame = visit.frame(bridge);
    let client = match bridge.access.admit(&visit.request, None) {
        Ok(client) => client,
        Err(denied) => return problem::denied(&frame, &denied),
    };
    let (providers, modules) = (bridge.catalog.providers().await, bridge.catalog.modules().modules());
    let kinds = ServedKinds::of(bridge.catalog.has_providers(), bridge.catalog.modules().is_served());
    let mut served: Vec<ServedAddress> = providers.into_iter().map(ServedAddress::from).collect();
    served.extend(modules.into_iter().map(ServedAddress::from));
    served.retain(|address| client.may_see(address));
    let served = found(served, &visit.query);
    let part = ListPart::new(visit.part, PART, served.len());
    let listed = part.of(&served).iter().map(|address| {
        let versions = match address {
            ServedAddress::Provider(address) => {
                bridge.catalog.known_versions(address).map(|known| known.versions.clone())
            }
            ServedAddress::Module(address) => {
                bridge.catalog.modules().known_versions(address).map(|known| known.versions.clone())
            }
        };
        (address.clone(), versions)
    });
    let listed: Vec<_> = listed.collect();
    let content = ServedList { served: &listed, part, kinds }.content(&frame);
    frame.answer(StatusCode::OK, &format!("{} of {}", kinds.title(), bridge.settings.base.authority()), &content)
}

async fn modules(State(state): State<Arc<PageState>>, request: Request) -> Response {
    let visit = Visit::of(request);
    let frame = visit.frame(&state.bridge);
    let (address, version) = match visit.module() {
        Ok(named) => named,
        Err(fault) => return problem::not_a_page(&frame, &fault.sentence(&state.bridge.settings)),
    };
    let client = match state.bridge.access.admit(&visit.request, Some(&(&address).into())) {
        Ok(client) => client,
        Err(denied) => return problem::denied(&frame, &denied),
    };
    let answer = match &version {
        None => state.module(&visit, &frame, &address).await,
        Some(version) => state.module_version(&frame, &client, &address, version).await,
    };
    answer.unwrap_or_else(|refusal| problem::refused(&frame, &refusal))
}

async fn providers(State(state): State<Arc<PageState>>, request: Request) -> Response {
    let visit = Visit::of(request);
    let frame = visit.frame(&state.bridge);
    let named = match visit.named() {
        Ok(named) => named,
        Err(fault) => return problem::not_a_page(&frame, &fault.sentence(&state.bridge.settings)),
    };
    let client = match state.bridge.access.admit(&visit.request, Some(&(&named.address).into())) {
        Ok(client) => client,
        Err(denied) => return problem::denied(&frame, &denied),
    };
    let answer = match (&named.version, &named.page) {
        (None, _) => state.provider(&visit, &frame, &named.address).await,
        (Some(version), None) => state.release(&frame, &client, &named.address, version).await,
        (Some(version), Some(page)) => state.docs(&visit, &frame, (&named.address, version, page)).await,
    };
    answer.unwrap_or_else(|refusal| problem::refused(&frame, &refusal))
}

impl PageState {
    async fn provider(
        &self,
        visit: &Visit,
        frame: &PageFrame<'_>,
        address: &ProviderAddr,
    ) -> Result<Response, Refusal> {
        let served = self.bridge.catalog.versions(address).await?;
        let mut newest_first: Vec<&Version> = served.versions.iter().chain(&served.withdrawn).collect();
        newest_first.sort_by(|one, other| other.precedence(one));
        let part = ListPart::new(visit.part, VERSIONS, newest_first.len());
        let (until, withdrawn) = (Instant::now() + PATIENCE, &served.withdrawn);
        let rows = part.of(&newest_first).iter().map(|version| async move {
            let state = if withdrawn.contains(version) {
                RowState::Withdrawn(timeout_at(until, self.withdrawn(address, version)).await.unwrap_or_default())
            } else {
                RowState::Offered(timeout_at(until, self.facts(address, version)).await.ok().flatten())
            };
            VersionRow { version: (*version).clone(), state }
        });
        let rows: Vec<_> = rows.collect();
        let rows: Vec<VersionRow> = futures_util::stream::iter(rows).buffered(AT_ONCE).collect().await;
        let trouble = self.bridge.catalog.trouble(address);
        let documented = match newest(&served.versions) {
            Some(newest) => timeout_at(until, self.is_documented(address, newest)).await.ok().flatten(),
            None => None,
        };
        let setup = self.setup();
        let page = ProviderPage { served: &served, documented, trouble, setup, rows: &rows, part, now: now() };
        Ok(frame.answer(StatusCode::OK, &address.to_string(), &page.content(frame)))
    }

    /// The version, if it has documentation.
    async fn is_documented(&self, address: &ProviderAddr, version: &Version) -> Option<Version> {
        let served = self.bridge.catalog.release(address, version).await.ok()?;
        self.docs.of(&served.release).await.ok().flatten().map(|_| version.clone())
    }

    async fn docs(
        &self,
        visit: &Visit,
        frame: &PageFrame<'_>,
        (address, version, name): (&ProviderAddr, &Version, &PageName),
    ) -> Result<Response, Refusal> {
        let served = self.bridge.catalog.release(address, version).await?;
        let docs = self.docs.of(&served.release).await;
        let docs = docs.as_ref().map(|docs| docs.as_deref()).map_err(|unread| *unread);
        // A release may be readable although its tags cannot be listed now.
        let listed = self.bridge.catalog.versions(address).await.ok();
        let mut versions: Vec<&Version> = listed.iter().flat_map(|listed| &listed.versions).collect();
        versions.sort_by(|one, other| other.precedence(one));
        let page = DocsPage { served: &served, docs, name, versions: &versions, find: &visit.find };
        let title = page.page().and_then(|page| page.title.as_deref()).map(foreign);
        let title = format!("{} - {address} {version}", title.unwrap_or_else(|| name.to_string()));
        let status = match docs {
            Err(_) => StatusCode::BAD_GATEWAY,
            Ok(_) if page.is_there() => StatusCode::OK,
            Ok(_) => StatusCode::NOT_FOUND,
        };
        Ok(frame.answer(status, &title, &page.content(frame)))
    }

    /// Who withdrew a version and why, if its place can say it.
    async fn withdrawn(&self, address: &ProviderAddr, version: &Version) -> WithdrawnVersion {
        match self.bridge.catalog.release(address, version).await {
            Err(Refusal::UnknownVersion { absence: VersionAbsence::Withdrawn(withdrawn), .. }) => withdrawn,
            _ => WithdrawnVersion::default(),
        }
    }

    /// `None` if the place fails.
    async fn facts(&self, address: &ProviderAddr, version: &Version) -> Option<RowFacts> {
        let served = match self.bridge.catalog.release(address, version).await {
            Ok(served) => served,
            Err(refusal @ Refusal::Untrusted { .. }) => return Some(RowFacts::refused(refusal.code())),
            Err(_) => return None,
        };
        Some(RowFacts {
            created: served.created.clone(),
            protocols: served.protocols.clone(),
            platforms: served.packages.keys().cloned().collect(),
            opinion: self.opinions.on(&self.bridge.catalog, &served).await.ok(),
        })
    }

    async fn release(
        &self,
        frame: &PageFrame<'_>,
        client: &Admitted,
        address: &ProviderAddr,
        version: &Version,
    ) -> Result<Response, Refusal> {
        let served = self.bridge.catalog.release(address, version).await?;
        let opinion = self.opinions.on(&self.bridge.catalog, &served).await.ok();
        let archive = |platform: &Platform| {
            let kind = RouteKind::Archive(version.clone(), platform.clone());
            let path = ProviderRoute { address: address.clone(), kind }.path();
            frame.links.below(&self.bridge.access.link(client, &path))
        };
        let documented = matches!(timeout(PATIENCE, self.docs.of(&served.release)).await, Ok(Ok(Some(_))));
        let setup = self.setup();
        let page = ReleasePage { served: &served, documented, setup, opinion, archive: &archive, now: now() };
        Ok(frame.answer(StatusCode::OK, &format!("{address} {version}"), &page.content(frame)))
    }

    async fn module(&self, visit: &Visit, frame: &PageFrame<'_>, address: &ModuleAddr) -> Result<Response, Refusal> {
        let modules = self.bridge.catalog.modules();
        let served = modules.versions(address).await?;
        let mut newest_first: Vec<&Version> = served.versions.iter().chain(&served.withdrawn).collect();
        newest_first.sort_by(|one, other| other.precedence(one));
        let part = ListPart::new(visit.part, MODULE_VERSIONS, newest_first.len());
        let (trouble, rows) = (modules.trouble(address), part.of(&newest_first));
        let page = ModulePage { served: &served, trouble, setup: self.setup(), rows, part };
        Ok(frame.answer(StatusCode::OK, &address.to_string(), &page.content(frame)))
    }

    async fn module_version(
        &self,
        frame: &PageFrame<'_>,
        client: &Admitted,
        address: &ModuleAddr,
        version: &Version,
    ) -> Result<Response, Refusal> {
        let served = self.bridge.catalog.modules().module(address, version).await?;
        let look = self.looks.of(&served, self.bridge.packages.folder()).await;
        let path = ModuleRoute { address: address.clone(), kind: ModuleRouteKind::Archive(version.clone()) }.path();
        let archive = frame.links.below(&self.bridge.access.link(client, &path));
        let look = look.as_deref().map_err(|unlooked| *unlooked);
        // A package may be readable although its tags cannot be listed now.
        let listed = self.bridge.catalog.modules().versions(address).await.ok();
        let is_deprecated = listed.is_some_and(|listed| listed.deprecated.contains(version));
        let page = ModuleVersionPage { served: &served, setup: self.setup(), look, is_deprecated, archive, now: now() };
        Ok(frame.answer(StatusCode::OK, &format!("{address} {version}"), &page.content(frame)))
    }

    fn setup(&self) -> ClientSetup<'_> {
        let Bridge { settings, access, .. } = &*self.bridge;
        ClientSetup { settings, restricted: access.is_restricted() }
    }
}

fn now() -> Moment {
    SystemTime::now().into()
}

/// A request for a page.
struct Visit {
    request: Parts,
    query: String,
    /// What is searched for in the documentation of a provider.
    find: String,
    /// Which part of the list is asked for, from 1.
    part: usize,
}

/// What the path of a page names.
struct Named {
    address: ProviderAddr,
    version: Option<Version>,
    /// A page of the documentation of the version.
    page: Option<PageName>,
}

impl Visit {
    fn of(request: Request) -> Self {
        let (request, _) = request.into_parts();
        let member = |wanted: &str| {
            let members = form_urlencoded::parse(request.uri.query().unwrap_or_default().as_bytes());
            members.into_iter().find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned())
        };
        let words = |name| member(name).unwrap_or_default().chars().take(QUERY).collect::<String>();
        let (query, find) = (words("q"), words("find").trim().to_owned());
        let part = member("page").and_then(|number| number.parse().ok()).unwrap_or(1);
        Self { request, query, find, part }
    }

    fn frame<'a>(&'a self, bridge: &'a Bridge) -> PageFrame<'a> {
        PageFrame { links: PageLinks::new(&bridge.settings.base), query: &self.query }
    }

    /// The module and perhaps the version that the path names, or why it names nothing.
    fn module(&self) -> Result<(ModuleAddr, Option<Version>), RouteFault> {
        let path = RequestPath::parse(self.request.uri.path()).map_err(RouteFault::Path)?;
        match path.segments()[..] {
            ["module", host, namespace, name, system] => Ok((module_address([host, namespace, name, system])?, None)),
            ["module", host, namespace, name, system, number] => {
                Ok((module_address([host, namespace, name, system])?, Some(version(number)?)))
            }
            _ => Err(RouteFault::MixUp(MixUp::Unknown)),
        }
    }

    /// What the path names, or why it names nothing.
    fn named(&self) -> Result<Named, RouteFault> {
        let path = RequestPath::parse(self.request.uri.path()).map_err(RouteFault::Path)?;
        let unknown = || RouteFault::MixUp(MixUp::Unknown);
        let segments = path.segments();
        let (folder, rest) = match segments[..] {
            ["providers", host, namespace, provider_type, ref rest @ ..] => ([host, namespace, provider_type], rest),
            _ => return Err(unknown()),
        };
        let (number, page) = match *rest {
            [] => (None, None),
            [number] => (Some(number), None),
            [number, "docs"] => (Some(number), Some(PageName::overview())),
            [number, "docs", ref page @ ..] => (Some(number), Some(page.join("/").parse().map_err(|_| unknown())?)),
            _ => return Err(unknown()),
        };
        let [host, namespace, provider_type] = folder;
        let address = address(host, namespace, provider_type)?;
        Ok(Named { address, version: number.map(version).transpose()?, page })
    }
}
