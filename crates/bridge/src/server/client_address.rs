//! Who the client is behind proxies.

use std::net::IpAddr;

use http::HeaderMap;
use http::header::HeaderName;

use crate::AddressRange;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address of the client: the last one of `X-Forwarded-For` that is not a proxy's, if the peer is one of the
/// proxies. The client itself may have written the rest of the header.
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

/// A client that has one address of IPv6 has many: their first half identifies the client.
pub(super) fn network_of(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("{:x}::", address.to_bits() >> 64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(peer: &str, forwarded: &[&str], want: &str) {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(FORWARDED_FOR, line.parse().unwrap());
        }
        let proxies = ["10.0.0.0/8".parse().unwrap()];
        let client = client_address(peer.parse().unwrap(), &headers, &proxies);
        assert_eq!(client.to_string(), want, "{forwarded:?}");
    }

    #[test]
    fn only_a_known_proxy_says_who_asks() {
        check("192.0.2.1", &[], "192.0.2.1");
        check("192.0.2.1", &["198.51.100.7"], "192.0.2.1");
        check("10.0.0.1", &["198.51.100.7"], "198.51.100.7");
        check("::ffff:10.0.0.1", &["198.51.100.7"], "198.51.100.7");
        check("10.0.0.1", &["127.0.0.1, 198.51.100.7"], "198.51.100.7");
        check("10.0.0.1", &["198.51.100.7, 10.0.0.2"], "198.51.100.7");
        check("10.0.0.1", &["198.51.100.7", "203.0.113.5"], "203.0.113.5");
        check("10.0.0.1", &["someone"], "10.0.0.1");
    }
}
