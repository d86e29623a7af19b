//! How near an address is, and which hosts a host may name. Pure.
//!
//! A host of the internet must not send this program to this machine or into a private network: a server there trusts its
//! neighbours. So a host may name hosts that are as far away as itself, or farther.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Where an address is. A nearer place is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AddressScope {
    Internet,
    /// A private network, or one that a carrier's customers share.
    Network,
    /// This machine or its link: loopback, link-local (also a cloud's metadata), no address, several machines at once.
    Machine,
}

impl AddressScope {
    /// Where an IP address is. An IPv6 address that contains an IPv4 address is where that one is.
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => Self::of_v6(address),
        }
    }

    /// Where the host of a URL is; `None` for a name that only the name service knows.
    pub fn of_host(url: &Url) -> Option<Self> {
        match url.host()? {
            Host::Ipv4(address) => Some(Self::of_v4(address)),
            Host::Ipv6(address) => Some(Self::of_v6(address)),
            Host::Domain(name) => {
                let name = name.strip_suffix('.').unwrap_or(name);
                (name == "localhost" || name.ends_with(".localhost")).then_some(Self::Machine)
            }
        }
    }

    fn of_v4(address: Ipv4Addr) -> Self {
        if METADATA_V4.contains(&address) {
            return Self::Machine;
        }
        let [first, second, third, _] = address.octets();
        match (first, second, third) {
            (0 | 127 | 224.., ..) | (169, 254, _) => Self::Machine,
            // Carriers (RFC 6598), protocols (RFC 6890), benchmarks (RFC 2544).
            (100, 64..=127, _) | (192, 0, 0) | (198, 18 | 19, _) => Self::Network,
            _ if address.is_private() => Self::Network,
            _ => Self::Internet,
        }
    }

    fn of_v6(address: Ipv6Addr) -> Self {
        if let Some(inner) = inner_v4(address) {
            return Self::of_v4(inner);
        }
        let local = address.is_loopback() || address.is_unspecified() || address.is_multicast();
        if local || address.is_unicast_link_local() || METADATA_V6.contains(&address) {
            Self::Machine
        } else if address.is_unique_local() || is_site_local(address) || is_translated_locally(address) {
            Self::Network
        } else {
            Self::Internet
        }
    }
}

/// Where clouds answer a machine about itself beside 169.254.0.0/16: to whoever asks from it, and with its logins.
const METADATA_V4: [Ipv4Addr; 2] = [
    // Alibaba Cloud, "Access instance metadata" of ECS.
    Ipv4Addr::new(100, 100, 100, 200),
    // Azure, "What is IP address 168.63.129.16?".
    Ipv4Addr::new(168, 63, 129, 16),
];

/// The same in the range of private networks.
const METADATA_V6: [Ipv6Addr; 5] = [
    // AWS, "Access instance metadata for an EC2 instance".
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    // AWS, "Set up the Amazon EKS Pod Identity Agent".
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
    // Google Cloud, "View and query VM metadata".
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    // Oracle Cloud, "Getting Instance Metadata".
    Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
    // Scaleway, the datasource for it in cloud-init's documentation.
    Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),
];

/// `fec0::/10`, which RFC 3879 has deprecated.
fn is_site_local(address: Ipv6Addr) -> bool {
    address.segments()[0] & 0xffc0 == 0xfec0
}

/// `64:ff9b:1::/48`, which each network translates as it likes (RFC 8215).
fn is_translated_locally(address: Ipv6Addr) -> bool {
    matches!(address.segments(), [0x64, 0xff9b, 1, ..])
}

/// The IPv4 address that an IPv6 address contains: mapped (`::ffff:0:0/96`), compatible (`::/96`), translated
/// (`64:ff9b::/96`, `::ffff:0:0:0/96`), or tunnelled (`2002::/16`, Teredo's `2001::/32`).
fn inner_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let of = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => Some(of(high, low)),
        [0x2001, 0, .., high, low] => Some(of(!high, !low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(want: Option<AddressScope>, hosts: &[&str]) {
        for host in hosts {
            let url = Url::parse(&format!("https://{host}/")).expect("a test address");
            assert_eq!(AddressScope::of_host(&url), want, "{host}");
        }
    }

    #[test]
    fn however_an_address_is_written_it_is_where_it_is() {
        check(
            Some(AddressScope::Machine),
            &[
                "127.0.0.1",
                "127.1:5000",
                "0x7f.1",
                "2130706433",
                "017700000001",
                "127\u{3002}0\u{3002}0\u{3002}1",
                "127.0.0.1.",
                "0.0.0.0",
                "0",
                "169.254.169.254",
                "224.0.0.1",
                "255.255.255.255",
                "localhost",
                "LOCALHOST.",
                "x.y.localhost",
                "[::1]",
                "[::]",
                "[::ffff:127.0.0.1]",
                "[::127.0.0.1]",
                "[64:ff9b::7f00:1]",
                "[::ffff:0:127.0.0.1]",
                "[2001:0:1:2:3:4:80ff:fffe]",
                "[2002:7f00:1::]",
                "[fe80::1]",
                "[ff02::1]",
                "[fd00:ec2::254]",
            ],
        );
        check(
            Some(AddressScope::Network),
            &[
                "10.0.0.1",
                "172.16.0.1",
                "172.31.255.255",
                "192.168.1.1",
                "100.64.0.1",
                "100.127.255.255",
                "192.0.0.8",
                "198.19.0.1",
                "[fd00::1]",
                "[fc00::1]",
                "[fec0::1]",
                "[::ffff:10.0.0.1]",
                "[64:ff9b::a00:1]",
                "[64:ff9b:1::7f00:1]",
            ],
        );
        check(
            Some(AddressScope::Internet),
            &["93.184.216.34", "172.32.0.1", "100.128.0.1", "192.0.2.1", "[2606:4700::1111]", "[::ffff:1.1.1.1]"],
        );
        check(None, &["example.com", "localhost.example.com", "notlocalhost", "registry"]);
    }

    #[test]
    fn metadata_of_a_cloud_was_only_a_private_network_or_the_internet() {
        check(
            Some(AddressScope::Machine),
            &[
                "100.100.100.200",
                "168.63.129.16",
                "[::ffff:168.63.129.16]",
                "[fd00:ec2::254]",
                "[fd00:ec2::23]",
                "[fd20:ce::254]",
                "[fd00:c1::a9fe:a9fe]",
                "[fd00:42::42]",
            ],
        );
        check(Some(AddressScope::Network), &["100.100.100.199", "[fd00:ec2::1]", "[fd20:ce::1]", "[fd00:42::1]"]);
        check(Some(AddressScope::Internet), &["168.63.129.15"]);
    }
}
