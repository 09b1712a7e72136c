//! Questions to a DNS server: the names of an address, the addresses of a name (RFC 1035).
//!
//! The standard library has no reverse look-up, the one of the C library needs `unsafe` and can't be
//! pointed at another server, and a whole resolver is more than two kinds of questions need. So this asks the
//! system's recursive server over UDP, with one datagram in each direction. An answer that does not fit into
//! one datagram counts as none: addresses of crawlers have one name.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// How long one server has for an answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The largest answer that is read.
const MOST_OCTETS: usize = 4096;

/// How many records of an answer are looked at.
const MOST_RECORDS: u16 = 32;

const A: u16 = 1;
const PTR: u16 = 12;
const AAAA: u16 = 28;

/// Asks DNS servers.
#[derive(Clone, Debug)]
pub(crate) struct Resolver {
    servers: Vec<SocketAddr>,
}

impl Resolver {
    /// A resolver with this server.
    pub(crate) fn of(server: SocketAddr) -> Self {
        Self { servers: vec![server] }
    }

    /// A resolver with the servers of the system.
    pub(crate) fn of_system() -> io::Result<Self> {
        let text = std::fs::read_to_string("/etc/resolv.conf")?;
        let servers = text.lines().filter_map(|line| line.trim().strip_prefix("nameserver"));
        let servers = servers.filter_map(|server| server.trim().parse::<IpAddr>().ok());
        let servers: Vec<_> = servers.map(|server| SocketAddr::new(server, 53)).take(2).collect();
        if servers.is_empty() {
            return Err(io::Error::other("it names no server"));
        }
        Ok(Self { servers })
    }

    /// The names of an address; empty if it has none.
    pub(crate) fn names_of(&self, address: IpAddr) -> io::Result<Vec<String>> {
        let records = self.ask(&reverse_name(address), PTR)?;
        Ok(records
            .into_iter()
            .filter_map(|record| if let Record::Name(name) = record { Some(name) } else { None })
            .collect())
    }

    /// Whether a name has this address.
    pub(crate) fn has(&self, name: &str, address: IpAddr) -> io::Result<bool> {
        let kind = if address.is_ipv4() { A } else { AAAA };
        let records = self.ask(name, kind)?;
        Ok(records.into_iter().any(|record| record == Record::Address(address)))
    }

    fn ask(&self, name: &str, kind: u16) -> io::Result<Vec<Record>> {
        let mut last = io::Error::other("there is no DNS server");
        for server in &self.servers {
            match ask(*server, name, kind) {
                Ok(records) => return Ok(records),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Record {
    Name(String),
    Address(IpAddr),
}

fn ask(server: SocketAddr, name: &str, kind: u16) -> io::Result<Vec<Record>> {
    // A number that others can't guess; the port is the system's choice for each question.
    let id = RandomState::new().build_hasher().finish() as u16;
    let question = question(id, name, kind).ok_or_else(|| io::Error::other("not a host name"))?;
    let any: IpAddr =
        if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    // Connected: datagrams of others are not seen.
    socket.connect(server)?;
    socket.send(&question)?;
    let end = Instant::now() + PATIENCE;
    let mut buffer = [0; MOST_OCTETS];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        socket.set_read_timeout(Some(left))?;
        let length = socket.recv(&mut buffer)?;
        if let Some(answer) = answer(&buffer[..length], &question) {
            return answer;
        }
    }
}

/// A question that asks for recursion.
fn question(id: u16, name: &str, kind: u16) -> Option<Vec<u8>> {
    let mut message = id.to_be_bytes().to_vec();
    message.extend([0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0]);
    let name = name.strip_suffix('.').unwrap_or(name);
    for label in name.split('.') {
        let length = u8::try_from(label.len()).ok().filter(|length| (1..=63).contains(length))?;
        message.push(length);
        message.extend(label.as_bytes());
    }
    message.push(0);
    message.extend(kind.to_be_bytes());
    message.extend([0, 1]);
    (message.len() <= 12 + 255 + 4).then_some(message)
}

/// The records of an answer to a question, or none if it answers another question.
fn answer(message: &[u8], question: &[u8]) -> Option<io::Result<Vec<Record>>> {
    let head = message.get(..12)?;
    let is_ours = head[..2] == question[..2] && head[2] & 0x80 != 0;
    let asked = message.get(12..question.len())?;
    // Names come back as they were sent, in whatever case.
    if !is_ours || !asked.eq_ignore_ascii_case(&question[12..]) {
        return None;
    }
    if head[2] & 0x02 != 0 {
        return Some(Err(io::Error::other("the answer does not fit into a datagram")));
    }
    match head[3] & 0x0F {
        0 => {}
        3 => return Some(Ok(Vec::new())),
        code => {
            return Some(Err(io::Error::other(format!("the DNS server answered with code {code}"))));
        }
    }
    let count = u16::from_be_bytes([head[6], head[7]]).min(MOST_RECORDS);
    let damaged = || io::Error::other("the answer is damaged");
    Some(records(message, question.len(), count).ok_or_else(damaged))
}

fn records(message: &[u8], start: usize, count: u16) -> Option<Vec<Record>> {
    let mut at = start;
    let mut records = Vec::new();
    for _ in 0..count {
        at = name_at(message, at)?.1;
        let head = message.get(at..at + 10)?;
        let kind = u16::from_be_bytes([head[0], head[1]]);
        let length = usize::from(u16::from_be_bytes([head[8], head[9]]));
        let data = message.get(at + 10..at + 10 + length)?;
        match kind {
            PTR => records.push(Record::Name(name_at(message, at + 10)?.0)),
            A => records.push(Record::Address(<[u8; 4]>::try_from(data).ok()?.into())),
            AAAA => records.push(Record::Address(<[u8; 16]>::try_from(data).ok()?.into())),
            _ => {}
        }
        at += 10 + length;
    }
    Some(records)
}

/// The name at a place of a message, and where it ends there. Pointers only lead backwards, so there is
/// no loop.
fn name_at(message: &[u8], start: usize) -> Option<(String, usize)> {
    let mut name = String::new();
    let (mut at, mut end, mut before) = (start, None, start);
    loop {
        let length = usize::from(*message.get(at)?);
        match length {
            0 => return Some((name, end.unwrap_or(at + 1))),
            1..=63 => {
                let label = message.get(at + 1..at + 1 + length)?;
                if !name.is_empty() {
                    name.push('.');
                }
                // A dot in a label would make it look like two.
                let plain =
                    label.iter().all(|octet| octet.is_ascii_alphanumeric() || b"-_".contains(octet));
                name.push_str(if plain { std::str::from_utf8(label).ok()? } else { "?" });
                at += 1 + length;
                if name.len() > 255 {
                    return None;
                }
            }
            0xC0.. => {
                let low = usize::from(*message.get(at + 1)?);
                end = end.or(Some(at + 2));
                at = (length & 0x3F) << 8 | low;
                if at >= before {
                    return None;
                }
                before = at;
            }
            _ => return None,
        }
    }
}

/// The name under which the names of an address are kept.
fn reverse_name(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => {
            let [a, b, c, d] = address.octets();
            format!("{d}.{c}.{b}.{a}.in-addr.arpa")
        }
        IpAddr::V6(address) => {
            let digits = address.octets().into_iter().rev().flat_map(|octet| [octet & 15, octet >> 4]);
            let digits: Vec<_> = digits.map(|digit| format!("{digit:x}")).collect();
            format!("{}.ip6.arpa", digits.join("."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_addresses() {
        assert_eq!(reverse_name([192, 0, 2, 1].into()), "1.2.0.192.in-addr.arpa");
        let long = reverse_name("2001:db8::1".parse().expect("an address"));
        assert!(long.starts_with("1.0.0.0.") && long.ends_with("8.b.d.0.1.0.0.2.ip6.arpa"), "{long}");
    }

    #[test]
    fn damaged_answers_are_no_answers() {
        let asked = question(7, "1.2.0.192.in-addr.arpa", PTR).expect("a question");
        let mut message = asked.clone();
        message[2] |= 0x80;
        message[7] = 1;
        // A pointer to itself, a length beyond the end, a name without an end.
        for tail in [
            &[0xC0, asked.len() as u8][..],
            &[0xC0, 12, 0, 12, 0, 1, 0, 0, 0, 0, 0, 200, 1],
            &[63],
            &[0x80],
        ] {
            let damaged = [&message[..], tail].concat();
            assert!(answer(&damaged, &asked).expect("it is ours").is_err(), "{tail:?}");
        }
        assert!(answer(&asked, &asked).is_none(), "a question is no answer");
        assert!(answer(&message[..5], &asked).is_none());
        assert!(question(7, &"a".repeat(64), PTR).is_none());
        assert!(question(7, "a..b", PTR).is_none());
    }
}
