//! What a setting of `serve.toml` may be.

use std::net::SocketAddr;
use std::ops::Range;
use std::time::Duration;

use tofu_oci_fetch::RenamedReleases;
use tofu_oci_mirror::{
    AttestationTemplate, DenyRule, MinAge, MirroredAddress, RulesError, RulesProblem, UpstreamUse, VersionRule,
    below_table, in_words, rule_pattern, version_rule,
};
use tofu_oci_types::{ByteSize, Hostname, ModulePattern, Pattern, Predecessor, ProviderAddr, Scheme};
use toml::{Spanned, Value};

use super::document::{
    BridgeDocument, CacheTable, ClientTable, LimitsTable, LinksTable, ServedModuleTable, ServedTable,
};
use super::error::{BridgeConfigError, BridgeConfigProblem as Problem};
use super::model::{
    AccessLog, BridgeConfig, CacheSettings, LinkSettings, PullRules, ServedModules, ServedProviders, ServerLimits,
    TlsFiles, WrittenPlace,
};
use crate::{BaseUrl, ClientRule, ModuleLocations, ZipDelivery};

/// The least room for headers: HTTP/1 needs it for its buffer.
const LEAST_HEADER_BYTES: u64 = 8 << 10;

/// The longest time: a hundred years, which can be added to any clock.
const LONGEST: Duration = Duration::from_hours(36_500 * 24);

type SettingTexts = Spanned<Vec<Spanned<String>>>;

fn at(span: Range<usize>, problem: Problem) -> BridgeConfigError {
    BridgeConfigError { span: Some(span), problem }
}

impl BridgeConfig {
    /// Reads the text of a `serve.toml`.
    ///
    /// # Errors
    /// What is wrong, with its place in the text: an unknown member, too, since it would be without effect.
    pub fn parse(text: &str) -> Result<Self, BridgeConfigError> {
        let document: BridgeDocument = toml::from_str(text).map_err(|error| {
            let table: Option<toml::Table> = text.parse().ok();
            let is_table =
                |name: &&str| table.as_ref().and_then(|table| table.get(*name)).is_some_and(toml::Value::is_table);
            let problem = match ["provider", "module", "client"].into_iter().find(is_table) {
                Some(name) => Problem::OneTable { name },
                None => of_parser(error.message(), error.span().and_then(|span| text.get(span))),
            };
            BridgeConfigError { span: error.span(), problem }
        })?;
        if document.provider.is_empty() && document.module.is_empty() {
            return Err(BridgeConfigError { span: None, problem: Problem::NoProvider });
        }
        let mut config = Self::serving(providers(document.provider)?);
        config.modules = modules(document.module)?;
        if let Some(list) = document.listen {
            let may_be_open = document.tls.is_some() || document.plain_http;
            let listen = |written| match socket_address(written)? {
                address if may_be_open || address.ip().to_canonical().is_loopback() => Ok(address),
                address => Err(at(written.span(), Problem::ClearText { address })),
            };
            config.listen = full("listen", list)?.iter().map(listen).collect::<Result<_, _>>()?;
        }
        config.listen_metrics = document.listen_metrics.as_ref().map(socket_address).transpose()?;
        config.url = document.url.as_ref().map(base_url).transpose()?;
        if let (Some(written), Some(url), Some(_)) = (&document.url, &config.url, &document.tls)
            && !url.is_https()
        {
            return Err(at(written.span(), Problem::PlainUrl { instead: url.over_tls() }));
        }
        config.hosts = hosts(&document.hosts, &config)?;
        if let Some(list) = document.hashes {
            config.hashes = hashes(list)?;
        }
        config.delivery = match document.cache.all.as_ref().filter(|all| *all.get_ref()) {
            Some(all) if document.redirect => return Err(at(all.span(), Problem::KeptAndSentAway)),
            Some(_) => ZipDelivery::FromCache,
            None if document.redirect => ZipDelivery::SentAway,
            None => ZipDelivery::PassedOn,
        };
        if document.sealed {
            config.upstreams = UpstreamUse::Sealed;
        }
        config.signing_key = document.signing_key;
        config.trust = document.trust;
        config.predecessors = document.predecessors.iter().map(predecessor).collect::<Result<_, _>>()?;
        config.tls = document.tls.map(|tls| TlsFiles { certificate: tls.certificate, key: tls.key });
        config.plain_http = document.plain_http;
        config.proxies = document.proxies.iter().map(range).collect::<Result<_, _>>()?;
        config.access_log = match document.access_log.as_deref() {
            None | Some("stdout") => AccessLog::Stdout,
            Some("off") => AccessLog::Off,
            Some(path) => AccessLog::File(path.into()),
        };
        config.grace = or(document.grace, duration, config.grace)?;
        config.clients = clients(document.client)?;
        config.links = links(document.links)?;
        config.limits = limits(document.limits)?;
        config.cache = cache(document.cache)?;
        Ok(config)
    }
}

/// What the parser says, about this text.
fn of_parser(message: &str, at: Option<&str>) -> Problem {
    match at {
        Some(text) if message.starts_with("invalid type: string") && message.contains("expected a sequence") => {
            Problem::NotAList { text: text.to_owned() }
        }
        // Of all settings with an address only those that say where to listen may be taken for a number.
        Some(text)
            if message.starts_with("invalid type: integer") && text.parse::<u16>().is_ok_and(|port| port >= 80) =>
        {
            Problem::Listen { text: text.to_owned() }
        }
        _ => match below_table::<BridgeDocument>(message) {
            Some(problem) => Problem::Rule(problem),
            None => Problem::Syntax { message: message.trim_end().replace('\n', "; ") },
        },
    }
}

/// What is written, or what holds without it.
#[expect(clippy::needless_pass_by_value, reason = "a member is read once")]
fn or<W, T>(
    written: Option<Spanned<W>>,
    read: impl Fn(&Spanned<W>) -> Result<T, BridgeConfigError>,
    otherwise: T,
) -> Result<T, BridgeConfigError> {
    written.as_ref().map(read).transpose().map(|value| value.unwrap_or(otherwise))
}

fn full(name: &'static str, list: SettingTexts) -> Result<Vec<Spanned<String>>, BridgeConfigError> {
    if list.get_ref().is_empty() { Err(at(list.span(), Problem::EmptyList { name })) } else { Ok(list.into_inner()) }
}

fn socket_address(written: &Spanned<String>) -> Result<SocketAddr, BridgeConfigError> {
    let text = written.get_ref();
    text.parse().map_err(|_| at(written.span(), Problem::Listen { text: text.clone() }))
}

fn base_url(written: &Spanned<String>) -> Result<BaseUrl, BridgeConfigError> {
    written.get_ref().parse().map_err(|error| at(written.span(), Problem::Url(error)))
}

fn predecessor(written: &Spanned<String>) -> Result<Predecessor, BridgeConfigError> {
    written.get_ref().parse().map_err(|error| at(written.span(), Problem::Predecessor(error)))
}

fn renamed(rename: bool) -> RenamedReleases {
    if rename { RenamedReleases::Accept } else { RenamedReleases::Refuse }
}

fn hosts(list: &[Spanned<String>], config: &BridgeConfig) -> Result<Vec<Hostname>, BridgeConfigError> {
    let mut hosts: Vec<Hostname> = Vec::new();
    for written in list {
        let host: Hostname = written.get_ref().parse().map_err(|error| at(written.span(), Problem::Host(error)))?;
        if hosts.contains(&host) {
            return Err(at(written.span(), Problem::TwoHosts { host }));
        }
        if !config.has_providers_of(&host) && !config.has_modules_of(&host) {
            return Err(at(written.span(), Problem::EmptyHost { host }));
        }
        hosts.push(host);
    }
    Ok(hosts)
}

fn hashes(list: SettingTexts) -> Result<Vec<Scheme>, BridgeConfigError> {
    let span = list.span();
    let scheme = |written: Spanned<String>| match written.get_ref().as_str() {
        "zh" => Ok(Scheme::Zh),
        "h1" => Ok(Scheme::H1),
        text => Err(at(written.span(), Problem::Hash { text: text.to_owned() })),
    };
    let mut hashes: Vec<Scheme> = full("hashes", list)?.into_iter().map(scheme).collect::<Result<_, _>>()?;
    hashes.dedup();
    if hashes.contains(&Scheme::Zh) { Ok(hashes) } else { Err(at(span, Problem::NoZipHash)) }
}

fn range(written: &Spanned<String>) -> Result<super::AddressRange, BridgeConfigError> {
    let text = written.get_ref();
    text.parse().map_err(|()| at(written.span(), Problem::Range { text: text.clone() }))
}

fn duration(written: &Spanned<Value>) -> Result<Duration, BridgeConfigError> {
    let text = in_words(written.get_ref());
    let age: Result<MinAge, _> = text.parse();
    let MinAge(time) = age.map_err(|_| at(written.span(), Problem::Duration { text: text.clone() }))?;
    if time > LONGEST { Err(at(written.span(), Problem::TooLong { text })) } else { Ok(time) }
}

fn size(written: &Spanned<Value>) -> Result<u64, BridgeConfigError> {
    let text = in_words(written.get_ref());
    let ByteSize(size) =
        text.parse().map_err(|reason| at(written.span(), Problem::Size { text: text.clone(), reason }))?;
    Ok(size)
}

fn rule(error: RulesError) -> BridgeConfigError {
    BridgeConfigError { span: error.span, problem: Problem::Rule(error.problem) }
}

fn pattern(written: &Spanned<String>) -> Result<Pattern, BridgeConfigError> {
    rule_pattern::<ProviderAddr>(written).map_err(rule)
}

fn patterns(list: &[Spanned<String>]) -> Result<Vec<Pattern>, BridgeConfigError> {
    list.iter().map(pattern).collect()
}

fn providers(tables: Vec<Spanned<ServedTable>>) -> Result<Vec<ServedProviders>, BridgeConfigError> {
    let mut providers: Vec<ServedProviders> = Vec::with_capacity(tables.len());
    for table in tables {
        let table = table.into_inner();
        let mut include: Vec<Pattern> = Vec::new();
        for written in full("include", table.include)? {
            let pattern = pattern(&written)?;
            let same = |other: &Pattern| other.covers(&pattern) && pattern.covers(other);
            if providers.iter().flat_map(|served| &served.include).any(same) {
                return Err(at(written.span(), Problem::TwoPlaces { pattern }));
            }
            include.push(pattern);
        }
        providers.push(ServedProviders {
            include,
            exclude: patterns(&table.exclude)?,
            from: place(table.from),
            pull: pull(table.upstream, table.min_age, table.allow, table.deny, table.attestations)?,
            renamed: renamed(table.rename),
        });
    }
    Ok(providers)
}

fn module_patterns(list: &[Spanned<String>]) -> Result<Vec<ModulePattern>, BridgeConfigError> {
    let read = |written: &Spanned<String>| {
        written.get_ref().parse().map_err(|error| at(written.span(), Problem::ModulePattern(error)))
    };
    list.iter().map(read).collect()
}

fn modules(tables: Vec<Spanned<ServedModuleTable>>) -> Result<Vec<ServedModules>, BridgeConfigError> {
    let mut modules: Vec<ServedModules> = Vec::with_capacity(tables.len());
    for table in tables {
        let table = table.into_inner();
        let written = full("include", table.include)?;
        let include = module_patterns(&written)?;
        for (written, pattern) in written.iter().zip(&include) {
            let same = |other: &ModulePattern| other.covers(pattern) && pattern.covers(other);
            if modules.iter().flat_map(|served| &served.include).any(same) {
                return Err(at(written.span(), Problem::TwoModulePlaces { pattern: pattern.clone() }));
            }
        }
        let locations = if table.oci_locations { ModuleLocations::Oci } else { ModuleLocations::Archives };
        let exclude = module_patterns(&table.exclude)?;
        let renamed = renamed(table.rename);
        let pull = pull(table.upstream, table.min_age, table.allow, table.deny, None)?;
        modules.push(ServedModules { include, exclude, from: place(table.from), pull, locations, renamed });
    }
    Ok(modules)
}

fn place(written: Spanned<String>) -> WrittenPlace {
    let span = written.span();
    WrittenPlace { text: written.into_inner(), span }
}

fn pull<A: MirroredAddress>(
    upstream: Option<SettingTexts>,
    min_age: Option<Spanned<Value>>,
    allow: Option<SettingTexts>,
    deny: Option<SettingTexts>,
    attestations: Option<Spanned<String>>,
) -> Result<Option<PullRules<A>>, BridgeConfigError> {
    let Some(upstream) = upstream else {
        let spans = [
            ("min_age", min_age.map(|written| written.span())),
            ("allow", allow.map(|list| list.span())),
            ("deny", deny.map(|list| list.span())),
            ("attestations", attestations.map(|written| written.span())),
        ];
        let superfluous = spans.into_iter().find_map(|(name, span)| Some((name, span?)));
        return match superfluous {
            Some((name, span)) => Err(at(span, Problem::NoUpstream { name, of: A::OF })),
            None => Ok(None),
        };
    };
    let min_age = or(
        min_age,
        |written| in_words(written.get_ref()).parse().map_err(|error| at(written.span(), Problem::MinAge(error))),
        MinAge::default(),
    )?;
    let rules = |list: Option<SettingTexts>| -> Result<Vec<VersionRule<A>>, BridgeConfigError> {
        let list = list.map(Spanned::into_inner).unwrap_or_default();
        list.iter().map(|written| version_rule(written).map_err(rule)).collect()
    };
    Ok(Some(PullRules {
        upstream: full("upstream", upstream)?.into_iter().map(place).collect(),
        min_age,
        allow: rules(allow)?,
        deny: rules(deny)?.into_iter().map(DenyRule::from).collect(),
        attestations: attestations.as_ref().map(template).transpose()?,
    }))
}

fn template(written: &Spanned<String>) -> Result<AttestationTemplate, BridgeConfigError> {
    let wrong = |error| at(written.span(), Problem::Rule(RulesProblem::Attestations(error)));
    written.get_ref().parse().map_err(wrong)
}

/// Two clients may share a name, as a client does while its token is replaced.
fn clients(tables: Vec<Spanned<ClientTable>>) -> Result<Vec<ClientRule>, BridgeConfigError> {
    let mut clients: Vec<ClientRule> = Vec::with_capacity(tables.len());
    for table in tables {
        let span = table.span();
        let ClientTable { name, token_sha256, providers, modules } = table.into_inner();
        if providers.is_none() && modules.is_none() {
            return Err(at(span, Problem::SeesNothing));
        }
        let listed = |name, list: Option<SettingTexts>| list.map_or(Ok(Vec::new()), |list| full(name, list));
        let client = ClientRule {
            name: name.get_ref().parse().map_err(|error| at(name.span(), Problem::ClientName(error)))?,
            token: token_sha256
                .get_ref()
                .parse()
                .map_err(|error| at(token_sha256.span(), Problem::TokenHash(error)))?,
            providers: patterns(&listed("providers", providers)?)?,
            modules: module_patterns(&listed("modules", modules)?)?,
        };
        if clients.iter().any(|other| other.token == client.token) {
            return Err(at(token_sha256.span(), Problem::OneToken));
        }
        clients.push(client);
    }
    Ok(clients)
}

fn longer_than_zero(
    name: &'static str,
    written: Option<Spanned<Value>>,
    otherwise: Duration,
) -> Result<Duration, BridgeConfigError> {
    let read = |written: &Spanned<Value>| match duration(written)? {
        Duration::ZERO => Err(at(written.span(), Problem::TooSmall { name, least: "1s" })),
        time => Ok(time),
    };
    or(written, read, otherwise)
}

fn count<T: Copy + PartialOrd + From<u8>>(
    name: &'static str,
    written: Option<Spanned<T>>,
    otherwise: T,
) -> Result<T, BridgeConfigError> {
    let read = |written: &Spanned<T>| match *written.get_ref() {
        number if number < T::from(1) => Err(at(written.span(), Problem::TooSmall { name, least: "1" })),
        number => Ok(number),
    };
    or(written, read, otherwise)
}

fn links(table: LinksTable) -> Result<LinkSettings, BridgeConfigError> {
    let lifetime = longer_than_zero("lifetime", table.lifetime, LinkSettings::default().lifetime)?;
    Ok(LinkSettings { lifetime, secret: table.secret })
}

fn limits(table: LimitsTable) -> Result<ServerLimits, BridgeConfigError> {
    let default = ServerLimits::default();
    let header_bytes = |written: &Spanned<Value>| {
        let bytes = size(written)?;
        let wrong = || at(written.span(), Problem::TooSmall { name: "header_bytes", least: "8KiB" });
        if bytes < LEAST_HEADER_BYTES { Err(wrong()) } else { Ok(usize::try_from(bytes).unwrap_or(usize::MAX)) }
    };
    let connections = count("connections", table.connections, default.connections)?;
    // One address never has all of them.
    let half = connections.div_ceil(2);
    Ok(ServerLimits {
        connections,
        connections_per_address: count("connections_per_address", table.connections_per_address, half)?,
        requests_per_second: table
            .requests_per_second
            .map(|number| count("requests_per_second", Some(number), 1))
            .transpose()?,
        header_bytes: or(table.header_bytes, header_bytes, default.header_bytes)?,
        header_timeout: longer_than_zero("header_timeout", table.header_timeout, default.header_timeout)?,
        idle_timeout: longer_than_zero("idle_timeout", table.idle_timeout, default.idle_timeout)?,
        write_timeout: longer_than_zero("write_timeout", table.write_timeout, default.write_timeout)?,
        streams: count("streams", table.streams, default.streams)?,
    })
}

fn cache(table: CacheTable) -> Result<CacheSettings, BridgeConfigError> {
    let default = CacheSettings::default();
    Ok(CacheSettings {
        dir: table.dir,
        size: or(table.size, size, default.size)?,
        metadata: or(table.metadata, duration, default.metadata)?,
    })
}
