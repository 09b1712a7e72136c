//! Addresses as reports show them: shortened, so that a report about crawlers does not tell who reads a
//! site.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::format::address;

/// An address without the part that tells one machine from its neighbours: `192.0.2.0/24`,
/// `2001:db8:1::/48`, `*.example.com` for a name.
///
/// ```
/// assert_eq!(mayi_audit::shortened(b"192.0.2.77"), "192.0.2.0/24");
/// assert_eq!(mayi_audit::shortened(b"2001:db8:1:2::3"), "2001:db8:1::/48");
/// assert_eq!(mayi_audit::shortened(b"host.dialup.example.net"), "*.example.net");
/// ```
pub fn shortened(octets: &[u8]) -> String {
    match address(octets) {
        Some(IpAddr::V4(address)) => {
            let [a, b, c, _] = address.octets();
            format!("{}/24", Ipv4Addr::new(a, b, c, 0))
        }
        Some(IpAddr::V6(address)) => {
            let [a, b, c, ..] = address.segments();
            format!("{}/48", Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0))
        }
        None => {
            let name = String::from_utf8_lossy(octets);
            let labels: Vec<_> = name.rsplitn(3, '.').collect();
            match &labels[..] {
                [last, before, _] => format!("*.{before}.{last}"),
                _ => name.chars().take(64).collect(),
            }
        }
    }
}

/// An address as it is, within a bound.
pub(crate) fn full(octets: &[u8]) -> String {
    match address(octets) {
        Some(address) => address.to_string(),
        None => String::from_utf8_lossy(octets).chars().take(255).collect(),
    }
}
