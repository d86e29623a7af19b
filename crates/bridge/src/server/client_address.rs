//! Who is at the other end, if proxies stand between.

use std::net::IpAddr;

use http::HeaderMap;
use http::header::HeaderName;

use crate::AddressRange;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The headers by which a proxy shows itself.
const OF_PROXIES: [HeaderName; 3] =
    [FORWARDED_FOR, HeaderName::from_static("forwarded"), HeaderName::from_static("x-real-ip")];

/// The address of the client: the last one of `X-Forwarded-For` that is not a proxy's, if the peer is one of the proxies.
/// Whatever else the header says, the client itself may have written.
pub(super) fn client_address(peer: IpAddr, headers: &HeaderMap, proxies: &[AddressRange]) -> IpAddr {
    let is_proxy = |address: IpAddr| proxies.iter().any(|range| range.contains(address));
    let mut client = peer.to_canonical();
    let lines: Vec<&str> = headers.get_all(&FORWARDED_FOR).iter().filter_map(|line| line.to_str().ok()).collect();
    for written in lines.iter().rev().flat_map(|line| line.rsplit(',')) {
        if !is_proxy(client) {
            break;
        }
        let Ok(address) = written.trim().parse::<IpAddr>() else { break };
        client = address.to_canonical();
    }
    client
}

/// Whether a program of this machine asks, and not a proxy for someone else. What a proxy says of its client does not count:
/// the client itself may have written it.
pub(super) fn is_of_this_machine(peer: IpAddr, headers: &HeaderMap) -> bool {
    peer.to_canonical().is_loopback() && !OF_PROXIES.iter().any(|name| headers.contains_key(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(peer: &str, forwarded: &[&str], want: (&str, bool)) {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(FORWARDED_FOR, line.parse().unwrap());
        }
        let proxies = ["10.0.0.0/8".parse().unwrap()];
        let peer = peer.parse().unwrap();
        let client = client_address(peer, &headers, &proxies);
        assert_eq!((client.to_string().as_str(), is_of_this_machine(peer, &headers)), want, "{forwarded:?}");
    }

    #[test]
    fn only_a_known_proxy_says_who_asks() {
        check("192.0.2.1", &[], ("192.0.2.1", false));
        check("192.0.2.1", &["198.51.100.7"], ("192.0.2.1", false));
        check("10.0.0.1", &["198.51.100.7"], ("198.51.100.7", false));
        check("::ffff:10.0.0.1", &["198.51.100.7"], ("198.51.100.7", false));
        check("10.0.0.1", &["127.0.0.1, 198.51.100.7"], ("198.51.100.7", false));
        check("10.0.0.1", &["198.51.100.7, 10.0.0.2"], ("198.51.100.7", false));
        check("10.0.0.1", &["198.51.100.7", "203.0.113.5"], ("203.0.113.5", false));
        check("10.0.0.1", &["someone"], ("10.0.0.1", false));
    }

    #[test]
    fn a_proxy_on_this_machine_is_not_this_machine() {
        check("127.0.0.1", &[], ("127.0.0.1", true));
        check("::1", &[], ("::1", true));
        check("127.0.0.1", &["127.0.0.1"], ("127.0.0.1", false));
    }

    #[test]
    fn a_client_behind_a_proxy_read_the_metrics_by_saying_that_it_is_this_machine() {
        check("10.0.0.1", &["127.0.0.1"], ("127.0.0.1", false));
        check("10.0.0.1", &["::1"], ("::1", false));
    }
}
