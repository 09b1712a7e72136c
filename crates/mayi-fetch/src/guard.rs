//! An address and a port → whether they may be connected to.
//!
//! A client that asks a crawler or a service about a URL chooses where it connects to. By default only
//! the public internet is allowed: not this machine, not its own network, not the metadata service of
//! its hosting provider. The guard checks the address that is about to be connected to, never a name,
//! so a name that resolves differently the next time gains nothing.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// What may be connected to.
///
/// ```
/// use mayi_fetch::guard::Guard;
///
/// let guard = Guard::default();
/// assert!(guard.check("93.184.215.14".parse()?).is_ok());
/// assert!(guard.check("::ffff:10.0.0.1".parse()?).is_err());
/// let guard = guard.allowing("10.0.0.0/8".parse()?);
/// assert!(guard.check("::ffff:10.0.0.1".parse()?).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    allowed: Vec<AddressRange>,
    any_port: bool,
}

impl Guard {
    /// Allows these special addresses, and no others.
    #[must_use]
    pub fn allowing(mut self, range: AddressRange) -> Self {
        self.allowed.push(range);
        self
    }

    /// Allows every address, special or not, and every port.
    #[must_use]
    pub fn allowing_all() -> Self {
        let everything = |address: IpAddr| AddressRange { address, prefix: 0 };
        let allowed =
            vec![everything(Ipv4Addr::UNSPECIFIED.into()), everything(Ipv6Addr::UNSPECIFIED.into())];
        Self { allowed, any_port: true }
    }

    /// Allows every port, not only those of the schemes and the one in the question.
    #[must_use]
    pub fn allowing_any_port(self) -> Self {
        Self { any_port: true, ..self }
    }

    /// Whether an address may be connected to.
    ///
    /// # Errors
    /// When it is special and not in an allowed range.
    pub fn check(&self, address: IpAddr) -> Result<(), Forbidden> {
        let Some(kind) = special(address) else { return Ok(()) };
        let plain = embedded_v4(address).map_or(address, IpAddr::V4);
        if self.allowed.iter().any(|range| range.contains(address) || range.contains(plain)) {
            return Ok(());
        }
        let what = format!("{address} is {kind}: connections to it are not allowed");
        Err(Forbidden { kind: ForbiddenKind::Address, what })
    }

    /// Whether a port may be connected to: that of the scheme, or the one in the question.
    ///
    /// # Errors
    /// When it is neither.
    pub fn check_port(&self, port: u16, named: u16) -> Result<(), Forbidden> {
        if self.any_port || port == named || matches!(port, 80 | 443) {
            return Ok(());
        }
        let what = format!("port {port} is not 80, 443 or the port in the question");
        Err(Forbidden { kind: ForbiddenKind::Port, what })
    }
}

/// Something that the guard refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forbidden {
    kind: ForbiddenKind,
    what: String,
}

/// What the guard refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ForbiddenKind {
    /// An address that is not public.
    Address,
    /// A port that is neither that of a scheme nor in the question.
    Port,
}

impl Forbidden {
    /// What is refused.
    pub fn kind(&self) -> ForbiddenKind {
        self.kind
    }
}

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Forbidden {}

/// A range of addresses, written as `10.0.0.0/8` or `fd00::/8`; a single address is one too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    address: IpAddr,
    prefix: u8,
}

impl AddressRange {
    /// Whether an address is in it.
    pub fn contains(self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(range), IpAddr::V4(address)) => {
                let shift = 32 - u32::from(self.prefix);
                (u64::from(range.to_bits()) >> shift) == (u64::from(address.to_bits()) >> shift)
            }
            (IpAddr::V6(range), IpAddr::V6(address)) => {
                let differs = range.to_bits() ^ address.to_bits();
                differs.leading_zeros() >= u32::from(self.prefix)
            }
            _ => false,
        }
    }
}

impl FromStr for AddressRange {
    type Err = InvalidRange;

    fn from_str(text: &str) -> Result<Self, InvalidRange> {
        let wrong = || InvalidRange { text: text.into() };
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            Some(prefix) => prefix.parse().map_err(|_| wrong())?,
            None => most,
        };
        if prefix > most {
            return Err(wrong());
        }
        Ok(Self { address, prefix })
    }
}

/// Text that is not a range of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidRange {
    text: Box<str>,
}

impl fmt::Display for InvalidRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text.escape_debug();
        write!(
            f,
            "`{text}` is not a range of addresses: write for example 10.0.0.0/8, fd00::/8 or 127.0.0.1"
        )
    }
}

impl std::error::Error for InvalidRange {}

/// Whether an address is special: of this machine, of an internal network, or of no host at all.
pub(crate) fn is_special(address: IpAddr) -> bool {
    special(address).is_some()
}

/// What makes an address special, if it is (the registries of RFC 6890, and multicast).
fn special(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

fn special_v4(address: Ipv4Addr) -> Option<&'static str> {
    Some(match address.octets() {
        [0, ..] => "an address of this network",
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => "a private address",
        [100, 64..=127, ..] => "a shared address (carrier-grade NAT)",
        [127, ..] => "a loopback address",
        [169, 254, ..] => "a link-local address",
        [192, 0, 0, _] | [192, 88, 99, _] => "an address reserved for a protocol",
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => "an address for documentation",
        [198, 18..=19, ..] => "an address for benchmarks",
        [224..=239, ..] => "a multicast address",
        [255, 255, 255, 255] => "the broadcast address",
        [240..=255, ..] => "a reserved address",
        _ => return None,
    })
}

fn special_v6(address: Ipv6Addr) -> Option<&'static str> {
    if address.is_loopback() {
        return Some("a loopback address");
    }
    if address.is_unspecified() {
        return Some("no address");
    }
    if let Some(address) = embedded_v4(address.into()) {
        return special_v4(address);
    }
    Some(match address.segments() {
        [0xfe80..=0xfebf, ..] => "a link-local address",
        [0xfec0..=0xfeff, ..] => "a site-local address",
        [0xfc00..=0xfdff, ..] => "a unique local address",
        [0xff00..=0xffff, ..] => "a multicast address",
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => "an address for documentation",
        [0x2001, 0..=0x1ff, ..] => "an address reserved for a protocol",
        // Its owner decides which address it stands for.
        [0x2002, ..] => "a 6to4 address",
        [0x2000..=0x3fff, ..] => return None,
        _ => "not a public address",
    })
}

/// The IPv4 address that an IPv6 one stands for: mapped, or of the well-known NAT64 prefix.
fn embedded_v4(address: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(address) = address else { return None };
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_addresses() {
        for (text, is_special) in [
            ("0.0.0.0", true),
            ("9.255.255.255", false),
            ("10.0.0.0", true),
            ("11.0.0.0", false),
            ("100.63.255.255", false),
            ("100.64.0.1", true),
            ("100.127.255.255", true),
            ("100.128.0.0", false),
            ("127.0.0.1", true),
            ("127.255.255.254", true),
            ("169.254.169.254", true),
            ("172.15.0.1", false),
            ("172.16.0.1", true),
            ("172.31.255.255", true),
            ("172.32.0.0", false),
            ("0.255.255.255", true),
            ("1.0.0.0", false),
            ("192.0.0.8", true),
            ("192.0.1.0", false),
            ("192.88.99.1", true),
            ("198.51.100.1", true),
            ("239.255.255.255", true),
            ("223.255.255.255", false),
            ("192.0.2.1", true),
            ("192.168.1.1", true),
            ("192.169.0.1", false),
            ("198.17.0.1", false),
            ("198.19.255.255", true),
            ("203.0.113.7", true),
            ("224.0.0.1", true),
            ("240.0.0.1", true),
            ("255.255.255.255", true),
            ("93.184.215.14", false),
            ("::", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("::ffff:93.184.215.14", false),
            ("::127.0.0.1", true),
            ("64:ff9b::10.0.0.1", true),
            ("64:ff9b::93.184.215.14", false),
            ("64:ff9b:1::1", true),
            ("100::1", true),
            ("::2", true),
            ("5f00::1", true),
            ("2001:0:5db8:d70e::1", true),
            ("2002:5db8:d70e::1", true),
            ("64:ff9b::c0a8:1", true),
            ("2001::1", true),
            ("2001:1ff::1", true),
            ("2001:200::1", false),
            ("2001:db8::1", true),
            ("2002:7f00:1::", true),
            ("2606:2800:21f::1", false),
            ("3fff::1", true),
            ("3fff:1000::1", false),
            ("4000::1", true),
            ("fc00::1", true),
            ("fdff::1", true),
            ("fe80::1", true),
            ("fec0::1", true),
            ("ff02::1", true),
        ] {
            let address = text.parse().expect(text);
            assert_eq!(Guard::default().check(address).is_err(), is_special, "{text}");
            assert_eq!(Guard::allowing_all().check(address), Ok(()), "{text}");
        }
    }

    #[test]
    fn ranges() {
        let range: AddressRange = "127.0.0.0/8".parse().expect("a range");
        assert!(range.contains("127.9.9.9".parse().expect("an address")));
        assert!(!range.contains("128.0.0.1".parse().expect("an address")));
        let single: AddressRange = "::1".parse().expect("a range");
        assert!(single.contains("::1".parse().expect("an address")));
        assert!(!single.contains("::2".parse().expect("an address")));
        for text in ["", "a/8", "1.2.3.4/33", "1.2.3.4/-1", "::/129", "1.2.3.4/", "1.2.3.4/8/8"] {
            assert!(text.parse::<AddressRange>().is_err(), "{text}");
        }
    }

    #[test]
    fn ports() {
        let guard = Guard::default();
        assert!(guard.check_port(443, 80).is_ok());
        assert!(guard.check_port(8080, 8080).is_ok());
        assert!(guard.check_port(22, 80).is_err());
        assert!(guard.allowing_any_port().check_port(22, 80).is_ok());
    }
}
