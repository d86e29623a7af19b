//! Paths of requests, read strictly: what is asked for, or what is wrong with the path.

pub(crate) mod mix_up;
pub(crate) mod module_route;
pub(crate) mod request_path;
pub(crate) mod route;
pub(crate) mod route_fault;

pub(crate) use mix_up::MixUp;
pub(crate) use module_route::{ModuleRoute, ModuleRouteKind, module_address};
pub(crate) use request_path::RequestPath;
pub(crate) use route::{ProviderRoute, Route, RouteKind, address};
pub(crate) use route_fault::{RouteFault, version};
