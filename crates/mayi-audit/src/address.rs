//! Addresses as reports show them: shortened, so that a report about crawlers does not reveal who reads a
//! site.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::format::address;

/// An address without the part that identifies one machine: `192.0.2.0/24`,
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

/// Adds an address to a key, in few octets and without writing it as text: millions of lines are counted by
/// such keys, and only few of them are shown. Addresses that are shown in the same way have the same key.
pub(crate) fn add_to_key(key: &mut Vec<u8>, octets: &[u8], is_full: bool) {
    match (address(octets), is_full) {
        (Some(IpAddr::V4(address)), true) => {
            key.push(V4);
            key.extend_from_slice(&address.octets());
        }
        (Some(IpAddr::V4(address)), false) => {
            key.push(V4);
            key.extend_from_slice(&address.octets()[..3]);
        }
        (Some(IpAddr::V6(address)), true) => {
            key.push(V6);
            key.extend_from_slice(&address.octets());
        }
        (Some(IpAddr::V6(address)), false) => {
            key.push(V6);
            key.extend_from_slice(&address.octets()[..6]);
        }
        (None, true) => {
            key.push(NAME);
            key.extend(String::from_utf8_lossy(octets).chars().take(255).collect::<String>().bytes());
        }
        (None, false) => {
            key.push(NAME);
            key.extend_from_slice(shortened(octets).as_bytes());
        }
    }
}

/// The text of what [`add_to_key`] added.
pub(crate) fn of_key(key: &[u8]) -> String {
    match *key {
        [V4, a, b, c] => format!("{}/24", Ipv4Addr::new(a, b, c, 0)),
        [V4, a, b, c, d] => Ipv4Addr::new(a, b, c, d).to_string(),
        [V6, ref start @ ..] if start.len() <= 16 => {
            let mut octets = [0; 16];
            octets[..start.len()].copy_from_slice(start);
            let address = Ipv6Addr::from(octets);
            if start.len() == 16 { address.to_string() } else { format!("{address}/48") }
        }
        [_, ref name @ ..] => String::from_utf8_lossy(name).into_owned(),
        [] => String::new(),
    }
}

/// What the first octet of an address in a key says that it is.
const V4: u8 = 4;
const V6: u8 = 6;
const NAME: u8 = 0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_shown_as_the_addresses_are() {
        for (address, whole) in [
            ("192.0.2.77", "192.0.2.77"),
            ("::ffff:192.0.2.77", "192.0.2.77"),
            ("2001:db8:1:2::3", "2001:db8:1:2::3"),
            ("[2001:DB8::1]", "2001:db8::1"),
            ("::", "::"),
            ("host.dialup.example.net", "host.dialup.example.net"),
            ("-", "-"),
            ("", ""),
        ] {
            let key = |is_full| {
                let mut key = Vec::new();
                add_to_key(&mut key, address.as_bytes(), is_full);
                key
            };
            assert_eq!(of_key(&key(true)), whole);
            assert_eq!(of_key(&key(false)), shortened(address.as_bytes()));
        }
        let key = |address: &[u8]| {
            let mut key = Vec::new();
            add_to_key(&mut key, address, false);
            key
        };
        assert_eq!(key(b"192.0.2.1"), key(b"192.0.2.200"));
        assert_ne!(key(b"192.0.2.1"), key(b"192.0.3.1"));
    }
}
