//! Names, and where they may lead.

use super::*;

/// A table with `near.test`, `lan.test` and so on.
struct Table;

#[async_trait]
impl NameService for Table {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let texts: &[&str] = match name.trim_end_matches('.').to_ascii_lowercase().as_str() {
            "near.test" => &["127.0.0.1"],
            "lan.test" => &["10.1.2.3", "fd00::1"],
            "far.test" => &["93.184.216.34"],
            "both.test" => &["192.168.0.1", "93.184.216.34"],
            _ => return Err(io::Error::other("no such name")),
        };
        Ok(texts.iter().map(|text| text.parse().expect("an address")).collect())
    }
}

fn url(host: &str) -> Url {
    Url::parse(&format!("https://{host}/")).expect("a test address")
}

/// Whether a name may be named, and if so what it leads to.
async fn led(resolver: &Resolver, from: &str, to: &str, allowed: &[&str]) -> String {
    let allowed = NamedHosts::new(&allowed.iter().map(ToString::to_string).collect::<Vec<_>>());
    if !resolver.may_name(&url(from), &url(to), &allowed) {
        return "refused".to_owned();
    }
    match resolver.look_up(to.split(':').next().unwrap_or_default(), AddressScope::Machine).await {
        Ok(found) => found.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_name_that_a_far_host_names_does_not_lead_near() {
    let check = async |namer: &str, named: &str, want: &str| {
        let resolver = Resolver::new(Arc::new(Table));
        // A host that is asked for a document was looked up before.
        let _ = resolver.look_up(namer, AddressScope::Machine).await;
        let got = led(&resolver, namer, named, &[]).await;
        assert!(got.starts_with(want), "{namer} names {named}: {got}");
    };
    check("far.test", "near.test", "near.test is at 127.0.0.1, on this machine").await;
    check("far.test", "NEAR.test.:5000", "NEAR.test. is at 127.0.0.1").await;
    check("far.test", "lan.test", "lan.test is at 10.1.2.3").await;
    check("far.test", "both.test", "93.184.216.34").await;
    check("far.test", "far.test", "93.184.216.34").await;
    check("lan.test", "near.test", "near.test is at 127.0.0.1").await;
    check("lan.test", "lan.test", "10.1.2.3 fd00::1").await;
    check("10.0.0.1", "lan.test", "10.1.2.3 fd00::1").await;
    check("near.test", "lan.test", "10.1.2.3 fd00::1").await;
    check("localhost", "near.test", "127.0.0.1").await;
    check("unknown.test", "lan.test", "lan.test is at").await;
    check("both.test", "lan.test", "lan.test is at").await;
    check("lan.test", "127.0.0.1", "refused").await;
    check("lan.test", "169.254.169.254", "refused").await;
    check("far.test", "unknown.test", "no such name").await;
}

#[tokio::test]
async fn what_an_address_is_written_with_leads_into_private_networks_and_not_to_this_machine() {
    let written = async |to: &str| {
        let resolver = Resolver::new(Arc::new(Table));
        if !resolver.may_be_written(&url(to), &NamedHosts::default()) {
            return "refused".to_owned();
        }
        resolver
            .look_up(to, AddressScope::Machine)
            .await
            .map_or_else(|error| error.to_string(), |found| found[0].to_string())
    };
    assert_eq!(written("lan.test").await, "10.1.2.3");
    assert_eq!(written("far.test").await, "93.184.216.34");
    assert!(written("near.test").await.contains("127.0.0.1, on this machine"));
    for near in ["127.0.0.1", "localhost", "169.254.169.254", "[fe80::1]"] {
        assert_eq!(written(near).await, "refused", "{near}");
    }
}

#[tokio::test]
async fn what_the_user_names_may_be_anywhere_and_what_no_host_named_too() {
    let resolver = Resolver::new(Arc::new(Table));
    assert_eq!(led(&resolver, "far.test", "near.test", &["near.test"]).await, "127.0.0.1");
    assert_eq!(led(&resolver, "far.test", "near.test:5000", &["near.test:5000"]).await, "127.0.0.1");
    assert!(led(&resolver, "far.test", "lan.test", &["near.test"]).await.contains("10.1.2.3, on this"));
    let resolver = Resolver::new(Arc::new(Table));
    assert_eq!(resolver.look_up("near.test", AddressScope::Machine).await.expect("it is known").len(), 1);
}

#[tokio::test]
async fn a_redirect_leads_as_far_away_as_its_host_or_farther() {
    use AddressScope::{Internet, Machine, Network};

    let check = async |from: &str, to: &str, allowed: &[&str], want: Option<AddressScope>| {
        let resolver = Resolver::new(Arc::new(Table));
        let _ = resolver.look_up(from, AddressScope::Machine).await;
        let allowed = NamedHosts::new(&allowed.iter().map(ToString::to_string).collect::<Vec<_>>());
        let got = resolver.led(&HeldUrl::anywhere(url(from)), &url(to), &allowed);
        assert_eq!(got, want, "{from} leads to {to}, and {allowed:?} may be named");
    };
    let everywhere = ["1.1.1.1", "other.test", "10.0.0.1", "[fd00::1]", "169.254.169.254", "127.0.0.1", "localhost"];
    for (from, nearest) in [
        ("far.test", Internet),
        ("unknown.test", Internet),
        ("both.test", Internet),
        ("93.184.216.34", Internet),
        ("lan.test", Network),
        ("10.1.2.3", Network),
        ("[fd00::9]", Network),
        ("near.test", Machine),
        ("127.0.0.2", Machine),
    ] {
        for to in everywhere {
            let is_near_enough = AddressScope::of_host(&url(to)).is_none_or(|scope| scope <= nearest);
            check(from, to, &[], is_near_enough.then_some(nearest)).await;
            check(from, to, &[to], Some(Machine)).await;
            check(from, to, &["elsewhere.test"], is_near_enough.then_some(nearest)).await;
        }
        check(from, &format!("{from}:9000"), &[], Some(Machine)).await;
    }
    for odd in [
        "127.1",
        "0x7f.1",
        "2130706433",
        "017700000001",
        "127.0.0.1.",
        "0",
        "[::ffff:10.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::a9fe:a9fe]",
        "[2002:a00:1::]",
        "100.64.0.1",
        "224.0.0.1",
        "LOCALHOST.",
        "x.localhost",
    ] {
        check("far.test", odd, &[], None).await;
    }
    check("10.0.0.1", "10.0.0.2:9000", &["10.0.0.2:1"], Some(Network)).await;
    check("far.test", "10.0.0.2:9000", &["10.0.0.2:1"], None).await;
    check("far.test", "10.0.0.2:9000", &["10.0.0.2:9000"], Some(Machine)).await;
}

#[tokio::test]
async fn a_host_stays_held_on_its_own_redirects_and_a_chain_never_comes_nearer() {
    let resolver = Resolver::new(Arc::new(Table));
    let none = NamedHosts::default();
    let _ = resolver.look_up("lan.test", AddressScope::Machine).await;
    let first = HeldUrl { url: url("x.test"), nearest: AddressScope::Internet };
    assert_eq!(resolver.led(&first, &url("x.test:8443"), &none), Some(AddressScope::Internet));
    // The second host is in a private network, as this run has learned by itself; the first one is not.
    let second = HeldUrl { url: url("lan.test"), nearest: AddressScope::Internet };
    assert_eq!(resolver.led(&second, &url("10.0.0.1"), &none), None);
}

#[tokio::test]
async fn a_name_that_was_far_once_leads_no_nearer_after_its_addresses_change() {
    struct Turning(std::sync::atomic::AtomicBool);
    #[async_trait]
    impl NameService for Turning {
        async fn addresses(&self, _: &str) -> io::Result<Vec<IpAddr>> {
            let before = self.0.swap(true, std::sync::atomic::Ordering::SeqCst);
            Ok(vec![if before { [127, 0, 0, 1] } else { [93, 184, 216, 34] }.into()])
        }
    }
    let resolver = Resolver::new(Arc::new(Turning(false.into())));
    for _ in 0..2 {
        let _ = resolver.look_up("turning.test", AddressScope::Machine).await;
    }
    let from = HeldUrl::anywhere(url("turning.test"));
    assert_eq!(resolver.led(&from, &url("169.254.169.254"), &NamedHosts::default()), None);
    let held = resolver.look_up("turning.test", AddressScope::Internet).await;
    assert!(held.unwrap_err().to_string().contains("turning.test is at 127.0.0.1"), "a later look-up is held as well");
}

#[tokio::test]
async fn a_redirect_does_not_bar_the_user_from_the_host_that_it_names() {
    let resolver = Resolver::new(Arc::new(Table));
    let from = HeldUrl::anywhere(url("far.test"));
    assert_eq!(resolver.led(&from, &url("lan.test"), &NamedHosts::default()), Some(AddressScope::Internet));
    assert!(resolver.look_up("lan.test", AddressScope::Internet).await.is_err());
    assert_eq!(resolver.look_up("lan.test", AddressScope::Machine).await.expect("it is known").len(), 2);
    // From now on it is known where it is: a connection may be open.
    assert_eq!(resolver.led(&from, &url("lan.test"), &NamedHosts::default()), None);
    assert!(!resolver.may_name(&url("far.test"), &url("lan.test"), &NamedHosts::default()));
    assert_eq!(resolver.look_up("lan.test", AddressScope::Machine).await.expect("it is known").len(), 2);
}

/// A name whose addresses change with each question.
struct Changing(Mutex<Vec<&'static str>>);

#[async_trait]
impl NameService for Changing {
    async fn addresses(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        let text = self.0.lock().expect("no test panics here").pop().expect("one more answer");
        Ok(vec![text.parse().expect("an address")])
    }
}

/// A redirect within the host led there, with a path of the registry's choice.
#[tokio::test]
async fn a_registry_over_plain_http_whose_name_changed_its_address_led_to_this_machine() {
    let second_answer = async |scheme: &str, first: &'static str, second: &'static str| {
        let resolver = Resolver::new(Arc::new(Changing(Mutex::new(vec![second, first]))));
        let at = |rest: &str| Url::parse(&format!("{scheme}://registry.test{rest}")).expect("a test address");
        let remote = resolver.look_up("registry.test", AddressScope::Machine).await.expect("the user names it")[0];
        let (url, remote) = (at(":5000/v2/x/tags/list"), Some(SocketAddr::new(remote, 5000)));
        let nearest = HeldUrl::answered(&url, AddressScope::Machine, remote);
        let led = resolver.led(&HeldUrl { url, nearest }, &at("/latest/meta-data"), &NamedHosts::default());
        resolver.look_up("registry.test", led.expect("it is the same host")).await.is_ok()
    };
    assert!(!second_answer("http", "93.184.216.34", "169.254.169.254").await);
    assert!(!second_answer("http", "93.184.216.34", "10.1.2.3").await);
    assert!(!second_answer("http", "10.1.2.3", "127.0.0.1").await);
    assert!(second_answer("http", "10.1.2.3", "10.1.2.4").await);
    assert!(second_answer("http", "10.1.2.3", "93.184.216.34").await);
    // A certificate proves that it is the same host.
    assert!(second_answer("https", "93.184.216.34", "10.1.2.3").await);
}

#[tokio::test]
async fn what_another_program_looks_up_is_looked_up_before() {
    let check = async |from: &str, to: &str, want: bool| {
        let resolver = Resolver::new(Arc::new(Table));
        let got = resolver.named_host(&url(from), &url(to), &NamedHosts::default()).await;
        assert_eq!(got != NamedHost::TooNear, want, "{from} names {to}");
    };
    check("far.test", "near.test", false).await;
    check("far.test", "lan.test", false).await;
    check("far.test", "both.test", false).await;
    check("far.test", "far.test:22", true).await;
    check("far.test", "unknown.test", true).await;
    check("unknown.test", "lan.test", false).await;
    check("lan.test", "10.0.0.1", true).await;
    check("lan.test", "near.test", false).await;
    check("near.test", "lan.test", true).await;
}

#[tokio::test]
async fn a_name_that_was_looked_up_before_led_another_program_elsewhere() {
    let named = async |from: &str, to: &str, allowed: &[&str]| {
        let allowed = NamedHosts::new(&allowed.iter().map(ToString::to_string).collect::<Vec<_>>());
        Resolver::new(Arc::new(Table)).named_host(&url(from), &url(to), &allowed).await
    };
    let far = NamedHost::At(vec![[93, 184, 216, 34].into()]);
    assert_eq!(named("registry.test", "far.test", &[]).await, far);
    assert_eq!(named("far.test", "far.test", &[]).await, far);
    assert_eq!(named("far.test", "unknown.test", &[]).await, NamedHost::At(Vec::new()));
    assert_eq!(named("far.test", "1.1.1.1", &[]).await, NamedHost::Anywhere);
    assert_eq!(named("far.test", "near.test", &["near.test"]).await, NamedHost::Anywhere);
}

#[tokio::test]
async fn names_in_documents_filled_the_memory_of_a_server() {
    let resolver = Resolver::new(Arc::new(Table));
    let from = url("far.test");
    for number in 0..2 * MOST_NAMES {
        assert!(resolver.may_name(&from, &url(&format!("made-up-{number}.test")), &NamedHosts::default()));
    }
    assert!(resolver.may_name(&from, &url(&"long.".repeat(1000)), &NamedHosts::default()));
    assert_eq!(resolver.known().iter().count(), MOST_NAMES);
}

#[test]
fn a_misspelt_host_is_not_asked_for_again() {
    let check = |words: &str, want: bool| {
        let error = io::Error::other(format!("failed to lookup address information: {words}"));
        assert_eq!(is_unknown(&error), want, "{words}");
    };
    check("Name or service not known", true);
    check("nodename nor servname provided, or not known", true);
    check("Temporary failure in name resolution", false);
}
