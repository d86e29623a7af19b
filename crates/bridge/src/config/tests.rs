use std::time::Duration;

use tofu_oci_mirror::UpstreamUse;
use tofu_oci_types::Scheme;

use tofu_oci_fetch::RenamedReleases;

use super::{AccessLog, BridgeConfig, ServerLimits};
use crate::{BaseUrl, ZipDelivery};

/// A provider, for texts that are about something else.
const PROVIDER: &str = "[[provider]]\ninclude = [\"h.example/*/*\"]\nfrom = \"oci:there\"\n";

#[track_caller]
fn check_refused(text: &str, want: &str) {
    let error = BridgeConfig::parse(text).expect_err("must be refused");
    let place = error.span.as_ref().map_or("", |span| &text[span.clone()]);
    let instead = error.problem.instead().map(|instead| format!("; {instead}")).unwrap_or_default();
    assert_eq!(format!("{place}: {error}{instead}"), want, "{text}");
}

/// A setting before the first table.
#[track_caller]
fn check_setting(setting: &str, want: &str) {
    check_refused(&format!("{setting}\n{PROVIDER}"), want);
}

/// What follows the provider.
#[track_caller]
fn check_table(table: &str, want: &str) {
    check_refused(&format!("{PROVIDER}{table}"), want);
}

#[test]
fn a_file_says_what_is_served_to_whom_and_how() {
    let config = BridgeConfig::parse(
        r#"
        listen = ["0.0.0.0:8443", "[::]:8443"]
        listen_metrics = "127.0.0.1:9100"
        url = "https://providers.acme.example/tofu"
        hosts = ["Registry.ACME.example"]
        hashes = ["zh", "h1"]
        signing_key = "bridge-key.asc"
        redirect = true
        sealed = true
        trust = "trust.toml"
        proxies = ["10.0.0.0/8"]
        access_log = "access.log"
        grace = "5s"
        [tls]
        certificate = "tls.crt"
        key = "tls.key"
        [[provider]]
        include = ["registry.acme.example/*/*"]
        from = "ghcr.io/acme/${namespace}/${type}"
        [[provider]]
        include = ["registry.terraform.io/*/*"]
        exclude = ["registry.terraform.io/acme/*"]
        from = "ghcr.io/acme/mirror/${namespace}/${type}"
        upstream = ["direct"]
        min_age = "7d"
        allow = ["registry.terraform.io/hashicorp/*"]
        deny = ["registry.terraform.io/hashicorp/random@< 3"]
        [[client]]
        name = "ci"
        token_sha256 = "9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08"
        providers = ["registry.acme.example/acme/*"]
        [links]
        lifetime = "1h"
        secret = "links.key"
        [limits]
        connections = 10
        connections_per_address = 3
        requests_per_second = 50
        header_bytes = "16KiB"
        header_timeout = "5s"
        idle_timeout = "2m"
        write_timeout = "30s"
        streams = 32
        [cache]
        dir = "cache"
        size = "1GB"
        metadata = "0"
        "#,
    )
    .unwrap();
    assert_eq!(config.listen.len(), 2);
    assert_eq!(config.url.as_ref().map(BaseUrl::to_string).as_deref(), Some("https://providers.acme.example/tofu/"));
    assert_eq!(config.hosts[0].as_str(), "registry.acme.example");
    assert_eq!(config.hashes, [Scheme::Zh, Scheme::H1]);
    assert_eq!((config.delivery, config.upstreams), (ZipDelivery::SentAway, UpstreamUse::Sealed));
    assert!(config.proxies[0].contains([10, 9, 8, 7].into()));
    assert_eq!(config.access_log, AccessLog::File("access.log".into()));
    assert!(config.providers[0].pull.is_none());
    let pull = config.providers[1].pull.as_ref().unwrap();
    assert_eq!((pull.upstream[0].text.as_str(), pull.min_age.to_string().as_str()), ("direct", "7d"));
    assert_eq!(pull.deny[0].to_string(), "registry.terraform.io/hashicorp/random@< 3.0.0");
    assert_eq!((config.clients[0].name.as_str(), &config.clients[0].token.expose()[..4]), ("ci", "9f86"));
    assert_eq!(config.links.lifetime, Duration::from_hours(1));
    assert_eq!(
        config.limits,
        ServerLimits {
            connections: 10,
            connections_per_address: 3,
            requests_per_second: Some(50),
            header_bytes: 16 << 10,
            header_timeout: Duration::from_secs(5),
            idle_timeout: Duration::from_mins(2),
            write_timeout: Duration::from_secs(30),
            streams: 32,
        }
    );
    assert_eq!((config.cache.size, config.cache.metadata), (1_000_000_000, Duration::ZERO));
}

#[test]
fn one_address_has_half_of_all_connections_unless_a_setting_says_otherwise() {
    let limits = |text: &str| {
        BridgeConfig::parse(&format!("{PROVIDER}[limits]\n{text}")).unwrap().limits.connections_per_address
    };
    assert_eq!(limits(""), ServerLimits::default().connections_per_address);
    assert_eq!((limits("connections = 10"), limits("connections = 1")), (5, 1));
}

#[test]
fn a_time_that_no_clock_can_add_does_not_end_the_server() {
    for text in ["36501d", "106751991167300d"] {
        check_table(
            &format!("[limits]\nidle_timeout = {text:?}"),
            &format!("{text:?}: {text:?} is too long; the longest is 36500d"),
        );
    }
    assert!(BridgeConfig::parse(&format!("{PROVIDER}[links]\nlifetime = \"36500d\"")).is_ok());
}

#[test]
fn what_is_not_written_is_safe() {
    let config = BridgeConfig::parse(PROVIDER).unwrap();
    assert!(config.listen.iter().all(|address| address.ip().is_loopback()));
    assert_eq!(config.hashes, [Scheme::Zh]);
    assert_eq!(config.base_url(config.listen[0]).to_string(), "http://127.0.0.1:8080/");
    assert_eq!(config.base_url("0.0.0.0:80".parse().unwrap()).to_string(), "http://localhost/");
}

#[test]
fn a_setting_that_cannot_be_has_its_place_and_what_to_write_instead() {
    check_setting(
        "listn = []",
        "listn: unknown field `listn`, expected one of `listen`, `listen_metrics`, `url`, `hosts`, `hashes`, \
         `signing_key`, `redirect`, `sealed`, `trust`, `predecessors`, `tls`, `plain_http`, `proxies`, `access_log`, `grace`, \
         `provider`, `module`, `client`, `links`, `limits`, `cache`",
    );
    check_setting("listen = []", "[]: the list `listen` is empty; omit `listen`, or name something");
    check_setting(
        "listen = [\"localhost:80\"]",
        "\"localhost:80\": \"localhost:80\" is not an IP address with a port; write 127.0.0.1:80",
    );
    check_setting(
        "listen = [\"127.0.0.1:1\", \"0.0.0.0:8080\"]",
        "\"0.0.0.0:8080\": 0.0.0.0:8080 is not this machine alone, and without [tls] the connection would be in clear text; \
         write [tls] with `certificate` and `key`; or plain_http = true if a proxy in front speaks TLS",
    );
    let url = "; write the address of the server without mirror/, such as https://providers.example.com/";
    check_setting(
        "url = \"h.example\"",
        &format!(
            "\"h.example\": `h.example` is not the URL of a server: it must read https://HOST[:PORT]/[PATH/]{url}"
        ),
    );
    check_setting(
        "url = \"https://h.example/mirror/\"",
        "\"https://h.example/mirror/\": `https://h.example/mirror/` is not the URL of a server: it ends with mirror/, \
         which the server adds for its network mirror; write https://h.example/",
    );
    check_setting(
        "hosts = [\"h.example.\"]",
        "\"h.example.\": `h.example.` is not a hostname: it ends with a dot; write it without the dot",
    );
    check_setting("hosts = [\"h.example\", \"H.EXAMPLE\"]", "\"H.EXAMPLE\": h.example is listed twice");
    check_setting(
        "hosts = [\"i.example\"]",
        "\"i.example\": no [[provider]] or [[module]] includes anything of the own host i.example; \
         write [[provider]] with include = [\"i.example/*/*\"], or [[module]] with include = [\"i.example/*/*/*\"]",
    );
    check_setting(
        "hashes = [\"zh\", \"ch\"]",
        "\"ch\": \"ch\" is not a kind of checksum that a network mirror lists; write hashes = [\"zh\"] or [\"zh\", \"h1\"]",
    );
    check_setting(
        "hashes = [\"h1\"]",
        "[\"h1\"]: `hashes` lacks \"zh\", which lock files need for every platform; write hashes = [\"zh\", \"h1\"]",
    );
    check_setting(
        "proxies = [\"10.0.0.0/64\"]",
        "\"10.0.0.0/64\": \"10.0.0.0/64\" is not an IP address or a range of them; write 10.0.0.5 or 10.0.0.0/8",
    );
    check_setting(
        "grace = \"soon\"",
        "\"soon\": `soon` is not a length of time; write a number with d, h, m or s, such as 60s or 15m",
    );
    check_setting("url = 5", "5: invalid type: integer `5`, expected a string");
    check_setting("tls = { certificate = \"a\" }", "{ certificate = \"a\" }: missing field `key`");
}

#[test]
fn a_number_without_its_unit_was_told_to_stand_in_quotes() {
    let time = |number: u16| {
        let unit = "write a number with d, h, m or s, such as 60s or 15m";
        format!("{number}: `{number}` is not a length of time; {unit}; write \"{number}s\" for seconds")
    };
    check_setting("grace = 5", &time(5));
    check_setting("grace = 300", &time(300));
    check_table("[limits]\nidle_timeout = 30", &time(30));
    let age = "7: `7` is not an age; write a number with d, h, m or s, such as 7d or 36h, or 0; write \"7d\" for days";
    check_table("upstream = [\"direct\"]\nmin_age = 7", age);
}

#[test]
fn a_setting_of_the_file_below_a_table_was_an_unknown_field() {
    let want = "grace: `grace` is for the whole file, and stands in a table; \
                write `grace` above the first [[provider]], and above every other table";
    check_table("grace = \"5s\"", want);
}

#[test]
fn a_text_in_place_of_a_list_was_called_no_sequence() {
    for (setting, text) in [("listen", "\"127.0.0.1:8080\""), ("hosts", "'h.example'"), ("hashes", "\"zh\"")] {
        let want = format!("{text}: {text} must be a list; write it in brackets: [{text}]");
        check_setting(&format!("{setting} = {text}"), &want);
    }
    let want = "\"8080\": \"8080\" must be a list; write an address, in brackets: [\"127.0.0.1:8080\"]";
    check_setting("listen = \"8080\"", want);
    let include = "[[provider]]\ninclude = \"a.example/*/*\"\nfrom = \"oci:x\"\n";
    let want = "\"a.example/*/*\": \"a.example/*/*\" must be a list; write it in brackets: [\"a.example/*/*\"]";
    check_table(include, want);
}

#[test]
fn a_provider_that_cannot_be_has_its_place_and_what_to_write_instead() {
    check_refused(
        "",
        ": the file names neither a provider nor a module; write [[provider]] with include = [\"HOST/NAMESPACE/*\"] and \
         from = \"REGISTRY/${namespace}/${type}\", or [[module]] with include = [\"HOST/NAMESPACE/*/*\"] and \
         from = \"REGISTRY/${namespace}/${name}-${target_system}\"",
    );
    check_refused(
        "[provider]\ninclude = []",
        "[provider]: [provider] is a table, and the file has a list of them; write [[provider]], with two brackets",
    );
    check_table("[[provider]]\ninclude = [\"a.example/b/c\"]", "[[provider]]: missing field `from`");
    let rest = "\nfrom = \"oci:x\"\n";
    let include = |patterns: &str| format!("[[provider]]\ninclude = {patterns}{rest}");
    check_table(&include("[]"), "[]: the list `include` is empty; omit `include`, or name something");
    check_table(
        &include("[\"acme/*\"]"),
        "\"acme/*\": the pattern \"acme/*\" names no host, and so means one default host alone; \
         write HOST/acme/*, such as registry.opentofu.org/acme/*",
    );
    check_table(
        &include("[\"h/*/b\"]"),
        "\"h/*/b\": `h/*/b` is not a pattern of providers: a namespace can be * only if the type is * too; \
         write the namespace, or * for the type too",
    );
    check_table(
        &include("[\"H.example/*/*\"]"),
        "\"H.example/*/*\": two places are for H.example/*/*; write one [[provider]] for the pattern; \
         `upstream` names where it fetches from",
    );
    let no_upstream = "the [[provider]] has no `upstream`; omit";
    let or = "or write upstream = [\"direct\"] to fetch from the host of each provider";
    check_table(
        "min_age = \"7d\"",
        &format!("\"7d\": `min_age` is for what is fetched, and {no_upstream} `min_age`, {or}"),
    );
    check_table("deny = []", &format!("[]: `deny` is for what is fetched, and {no_upstream} `deny`, {or}"));
    check_table("upstream = []", "[]: the list `upstream` is empty; omit `upstream`, or name something");
    check_table(
        "upstream = [\"direct\"]\nmin_age = \"7\"",
        "\"7\": `7` is not an age; write a number with d, h, m or s, such as 7d or 36h, or 0; write \"7d\" for days",
    );
}

#[test]
fn a_client_that_cannot_be_has_its_place_and_no_token_in_the_message() {
    let hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let client = |name: &str, token: &str, providers: &str| {
        format!("[[client]]\nname = \"{name}\"\ntoken_sha256 = \"{token}\"\nproviders = [{providers}]\n")
    };
    let all = "\"*/*/*\"";
    check_table(
        &client("c i", hash, all),
        "\"c i\": `c i` is not the name of a client: it must be 1 to 64 letters, digits, dots, dashes and underscores",
    );
    check_table(&client("ci", hash, ""), "[]: the list `providers` is empty; omit `providers`, or name something");
    let new = "tofu-oci serve --new-token prints a new token and its `token_sha256`";
    let error =
        BridgeConfig::parse(&format!("{PROVIDER}{}", client("ci", "hunter2", all))).expect_err("must be refused");
    assert_eq!(
        format!("{error}; {}", error.problem.instead().unwrap_or_default()),
        format!("`token_sha256` is wrong: it must be the SHA-256 of a token, as 64 hexadecimal digits; {new}")
    );
    let twice = |second: &str, token: &str| format!("{}{}", client("ci", hash, all), client(second, token, all));
    BridgeConfig::parse(&format!("{PROVIDER}{}", twice("ci", &hash.replace('9', "8")))).expect("a token is replaced");
    check_table(&twice("cd", hash), &format!("\"{hash}\": two clients have the same token; {new}"));
}

#[test]
fn an_address_without_tls_was_taken_beside_tls() {
    let tls = "[tls]\ncertificate = \"c\"\nkey = \"k\"\n";
    check_refused(
        &format!("url = \"http://p.example/tofu/\"\n{PROVIDER}{tls}"),
        "\"http://p.example/tofu/\": `url` begins with http://, and with [tls] the server speaks https:// alone; write \
         url = \"https://p.example/tofu/\", or take out [tls] if a proxy in front speaks TLS",
    );
}

#[test]
fn a_limit_that_lets_nothing_through_is_refused() {
    check_table("[limits]\nconnections = 0", "0: `connections` must be at least 1");
    check_table("[limits]\nconnections_per_address = 0", "0: `connections_per_address` must be at least 1");
    check_table("[limits]\nheader_bytes = \"1KB\"", "\"1KB\": `header_bytes` must be at least 8KiB");
    check_table("[limits]\nidle_timeout = \"0\"", "\"0\": `idle_timeout` must be at least 1s");
    check_table("[limits]\nconnections = -1", "-1: invalid value: integer `-1`, expected usize");
    check_table(
        "[cache]\nsize = \"much\"",
        "\"much\": \"much\" is not a size; write a size such as 4GB, 700MB or 2GiB",
    );
}

#[test]
fn what_the_cache_has_of_all_archives_is_not_sent_away() {
    let of = |text: &str| BridgeConfig::parse(&format!("{text}\n{PROVIDER}[cache]\nall = true")).map(|it| it.delivery);
    assert_eq!(of("").ok(), Some(ZipDelivery::FromCache));
    let error = of("redirect = true").expect_err("must be refused");
    assert_eq!(error.to_string(), "`all` keeps every archive here, and `redirect` sends clients elsewhere for them");
    assert_eq!(error.problem.instead().as_deref(), Some("omit `redirect`, or `all` in the [cache]"));
}

/// What a table may hold: the parser names it if it meets anything else.
fn settings_of(table: &str) -> Vec<String> {
    let error = BridgeConfig::parse(&format!("{table}\nnot_a_setting = 1")).expect_err("must be refused").to_string();
    let (_, known) = error.split_once("expected ").expect("the parser names what it knows");
    known.split('`').skip(1).step_by(2).map(ToOwned::to_owned).collect()
}

#[test]
fn the_page_about_serving_explains_every_setting_and_no_other() {
    const TABLES: [&str; 7] = ["tls", "provider", "module", "client", "links", "limits", "cache"];
    let of_lists = ["provider", "module", "client"];
    let mut settings: Vec<String> = settings_of("");
    settings.retain(|setting| !TABLES.contains(&setting.as_str()));
    for table in TABLES {
        let header = if of_lists.contains(&table) { format!("[[{table}]]") } else { format!("[{table}]") };
        settings.extend(settings_of(&header).iter().map(|setting| format!("{table}.{setting}")));
    }
    let (_, page) = include_str!("../../../../docs/reference/serve-settings.md").split_once("\n## Settings\n").unwrap();
    let (page, _) = page.split_once("\n## ").unwrap();
    let row = |line: &'static str| Some(line.strip_prefix("| `")?.split_once("` |")?.0.to_owned());
    let mut explained: Vec<String> = page.lines().filter_map(row).collect();
    settings.sort();
    explained.sort();
    assert_eq!(settings, explained);
}

#[test]
fn modules_alone_are_served_by_their_own_rules() {
    let text = "hosts = [\"m.example\"]\n[[module]]\ninclude = [\"m.example/*/*/*\"]\nfrom = \"ghcr.io/a/${name}\"\noci_locations = true\n\
        [[client]]\nname = \"ci\"\ntoken_sha256 = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"\nmodules = [\"m.example/a/*/*\"]\n";
    let config = BridgeConfig::parse(text).unwrap();
    let [served] = &config.modules[..] else { panic!("one place") };
    assert_eq!(served.locations, crate::ModuleLocations::Oci);
    assert_eq!((config.providers.len(), config.clients[0].providers.len(), config.clients[0].modules.len()), (0, 0, 1));
    let host = "m.example".parse().unwrap();
    assert!(config.has_modules_of(&host) && !config.has_providers_of(&host));
}

#[test]
fn what_modules_lack_is_fetched_by_the_rules_for_providers_with_patterns_of_modules() {
    let text = "[[module]]\ninclude = [\"m.example/*/*/*\"]\nfrom = \"ghcr.io/a/${name}\"\nupstream = [\"direct\"]\nmin_age = \"7d\"\n\
        deny = [\"m.example/a/net/aws@< 2\"]\n";
    let config = BridgeConfig::parse(text).unwrap();
    let pull = config.modules[0].pull.as_ref().unwrap();
    let net = "m.example/a/net/aws".parse().unwrap();
    assert_eq!((pull.upstream[0].text.as_str(), pull.min_age.to_string().as_str()), ("direct", "7d"));
    assert!(pull.deny[0].denies(&net, &"1.9.0".parse().unwrap()) && pull.allow.is_empty());
    check_refused(
        &text.replace("net/aws@", "net@"),
        "\"m.example/a/net@< 2\": `m.example/a/net` is not a pattern of modules: it must read HOST/NAMESPACE/NAME/SYSTEM; write \
         HOST/NAMESPACE/NAME/SYSTEM, such as \"registry.example.com/acme/*/*\", or */*/*/* for every module",
    );
    check_refused(
        &text.replace("upstream = [\"direct\"]\n", ""),
        "\"7d\": `min_age` is for what is fetched, and the [[module]] has no `upstream`; omit `min_age`, or write upstream = [\"direct\"] to \
         fetch from the host of each module",
    );
}

#[test]
fn a_module_that_cannot_be_has_its_place_and_what_to_write_instead() {
    let module = |include: &str| format!("[[module]]\ninclude = [{include}]\nfrom = \"oci:x\"\n");
    check_refused(
        &module("\"a.example/b/*\""),
        "\"a.example/b/*\": `a.example/b/*` is not a pattern of modules: it must read HOST/NAMESPACE/NAME/SYSTEM; write \
         HOST/NAMESPACE/NAME/SYSTEM, such as \"registry.example.com/acme/*/*\", or */*/*/* for every module",
    );
    check_refused(&module(""), "[]: the list `include` is empty; omit `include`, or name something");
    let twice = format!("{}{}", module("\"a.example/*/*/*\""), module("\"A.example/*/*/*\""));
    check_refused(
        &twice,
        "\"A.example/*/*/*\": two places are for A.example/*/*/*; write one [[module]] for the pattern; `upstream` names where it fetches from",
    );
    let nothing = format!("{PROVIDER}[[client]]\nname = \"ci\"\ntoken_sha256 = \"{}\"\n", "0".repeat(64));
    let error = BridgeConfig::parse(&nothing).expect_err("a client without rights");
    assert_eq!(
        error.problem.instead().as_deref(),
        Some("write providers = [\"*/*/*\"], modules = [\"*/*/*/*\"], or both")
    );
}

#[test]
fn what_counts_as_one_address_and_what_is_renamed_is_written() {
    let provider = "[[provider]]\ninclude = [\"a.example/b/c\"]\nfrom = \"ghcr.io/b/c\"\n";
    let config = BridgeConfig::parse(provider).unwrap();
    assert_eq!((config.predecessors.len(), config.providers[0].renamed), (0, RenamedReleases::Refuse));
    let text = format!("predecessors = [\"a.example=b.example\"]\n{provider}rename = true\n");
    let config = BridgeConfig::parse(&text).unwrap();
    assert_eq!((config.predecessors.len(), config.providers[0].renamed), (1, RenamedReleases::Accept));
    check_refused(
        &format!("predecessors = [\"a.example\"]\n{provider}"),
        "\"a.example\": `a.example` is not HOST=PREDECESSOR, such as registry.opentofu.org=registry.terraform.io",
    );
}
