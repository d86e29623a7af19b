//! Ranges of IP addresses.

use std::net::IpAddr;
use std::str::FromStr;

/// The addresses that share their first bits: `10.0.0.0/8`, or one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    first: IpAddr,
    bits: u8,
}

/// An IPv4 address that is written as an IPv6 one is that IPv4 address.
fn bits_of(address: IpAddr) -> (u128, u8) {
    match address.to_canonical() {
        IpAddr::V4(address) => (u128::from(address.to_bits()) << 96, 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    }
}

impl AddressRange {
    /// Whether the address is in the range.
    pub fn contains(&self, address: IpAddr) -> bool {
        let ((first, width), (other, other_width)) = (bits_of(self.first), bits_of(address));
        let differing = (first ^ other).checked_shr(128 - u32::from(self.bits)).unwrap_or(0);
        width == other_width && differing == 0
    }
}

impl FromStr for AddressRange {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse::<u8>().map_err(|_| ())?)),
            None => (text, None),
        };
        let first = address.parse::<IpAddr>().map_err(|_| ())?.to_canonical();
        let width = bits_of(first).1;
        let bits = bits.unwrap_or(width);
        if bits <= width { Ok(Self { first, bits }) } else { Err(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(range: &str, address: &str, want: Option<bool>) {
        let range = range.parse::<AddressRange>().ok();
        assert_eq!(range.map(|range| range.contains(address.parse().unwrap())), want, "{range:?} {address}");
    }

    #[test]
    fn a_range_is_an_address_and_how_many_of_its_bits_count() {
        check("10.0.0.0/8", "10.255.0.1", Some(true));
        check("10.0.0.0/8", "11.0.0.1", Some(false));
        check("10.1.2.3", "10.1.2.3", Some(true));
        check("10.1.2.3", "10.1.2.4", Some(false));
        check("10.1.2.3", "::ffff:10.1.2.3", Some(true));
        check("0.0.0.0/0", "203.0.113.9", Some(true));
        check("0.0.0.0/0", "::1", Some(false));
        check("fd00::/8", "fdff::1", Some(true));
        check("fd00::/8", "fe00::1", Some(false));
        check("::/0", "2001:db8::1", Some(true));
        for wrong in ["", "10.0.0.0/33", "10.0.0/8", "host", "fd00::/129", "10.0.0.0/-1"] {
            check(wrong, "10.0.0.1", None);
        }
    }
}
