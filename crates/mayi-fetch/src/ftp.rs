//! A file over FTP (REP-18): in passive and binary mode, anonymously (RFC 959, RFC 2428).
//!
//! The data connection goes to the address of the control connection, whatever address the server names, so a
//! server can't redirect the client to another host.

use std::net::SocketAddr;

use bytes::Bytes;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use crate::clock::{Later, within};
use crate::dial::{Dialer, Stream};
use crate::transport::{
    Get, Patience, Response, Transport, TransportError, TransportErrorKind as Kind,
};

/// The maximum length of a line of a server, and the maximum number of lines in one reply.
const MOST_LINE: u64 = 4096;
const MOST_LINES: usize = 200;

/// Sends requests over ftp.
pub(crate) struct Ftp {
    dialer: Dialer,
    patience: Patience,
}

/// A control connection.
struct Control {
    stream: BufReader<Box<dyn Stream>>,
}

/// The reply of a server: three digits, and its last line.
struct Reply {
    code: u16,
    text: String,
}

impl Ftp {
    pub(crate) fn new(dialer: Dialer, patience: Patience) -> Self {
        Self { dialer, patience }
    }

    async fn retrieve(&self, get: Get<'_>) -> Result<Response, TransportError> {
        let host =
            get.url.host_str().ok_or_else(|| TransportError::new(Kind::Url, "it has no host"))?;
        let port = get.url.port_or_known_default().unwrap_or(21);
        let dialled = self.dialer.dial(host, port, get.named_port).await;
        let (stream, address) = dialled?;
        let mut control = Control { stream: BufReader::new(stream) };
        let greeted = within(&*self.dialer.clock, self.patience.first_byte, control.reply()).await;
        let late = || TransportError::new(Kind::Timeout, "the server sends no greeting");
        expect(&greeted.ok_or_else(late)??, &[220])?;
        let reply = control.say("USER anonymous").await?;
        if expect(&reply, &[230, 331])? == 331 {
            expect(&control.say("PASS anonymous@").await?, &[230, 202])?;
        }
        expect(&control.say("TYPE I").await?, &[200])?;
        let data = self.passive(&mut control, address).await?;
        let path = get.url.path();
        let reply = control.say(&format!("RETR {path}")).await?;
        match reply.code {
            125 | 150 => {}
            // No such file, or no access: like 404 and 403 in HTTP.
            450 | 550 => return Ok(Response::of_status(404)),
            _ => return Err(unexpected(&reply)),
        }
        let mut body = Vec::new();
        let limit = get.body_octets as u64 + 1;
        data.take(limit)
            .read_to_end(&mut body)
            .await
            .map_err(|error| TransportError::of_io(Kind::Truncated, error))?;
        let is_cut = body.len() > get.body_octets;
        if !is_cut {
            // A server that breaks off says so here, or not at all.
            expect(&control.reply().await?, &[226, 250])?;
        }
        Ok(Response { status: 200, body: Bytes::from(body), is_cut, ..Response::default() })
    }

    /// A data connection to the port that the server offers.
    async fn passive(
        &self,
        control: &mut Control,
        address: SocketAddr,
    ) -> Result<Box<dyn Stream>, TransportError> {
        let mut reply = control.say("EPSV").await?;
        let port = if reply.code == 229 {
            extended_port(&reply.text)
        } else {
            reply = control.say("PASV").await?;
            expect(&reply, &[227])?;
            passive_port(&reply.text)
        };
        let port = port.filter(|port| *port >= 1024).ok_or_else(|| unexpected(&reply))?;
        self.dialer.dial_again(SocketAddr::new(address.ip(), port)).await
    }
}

impl Transport for Ftp {
    fn get<'a>(&'a self, get: Get<'a>) -> Later<'a, Result<Response, TransportError>> {
        Box::pin(self.retrieve(get))
    }
}

impl Control {
    async fn say(&mut self, command: &str) -> Result<Reply, TransportError> {
        let line = format!("{command}\r\n");
        let said = self.stream.write_all(line.as_bytes()).await;
        said.map_err(|error| TransportError::of_io(Kind::Connection, error))?;
        self.reply().await
    }

    /// Reads a reply: one line, or several from `123-` to `123 ` with the same code, whatever the
    /// lines between them begin with (RFC 959 §4.2).
    async fn reply(&mut self) -> Result<Reply, TransportError> {
        let mut begun = None;
        for _ in 0..MOST_LINES {
            let mut line = Vec::new();
            let read = (&mut self.stream).take(MOST_LINE).read_until(b'\n', &mut line).await;
            read.map_err(|error| TransportError::of_io(Kind::Connection, error))?;
            if !line.ends_with(b"\n") {
                return Err(TransportError::new(Kind::Truncated, "an incomplete reply"));
            }
            let text = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
            let code: Option<u16> = text.get(..3).and_then(|code| code.parse().ok());
            match (code, text.as_bytes().get(3)) {
                (Some(code), None | Some(b' ')) if begun.is_none_or(|first| first == code) => {
                    return Ok(Reply { code, text });
                }
                (Some(code), Some(b'-')) if begun.is_none() => begun = Some(code),
                _ if begun.is_some() => {}
                _ => return Err(unexpected(&Reply { code: 0, text })),
            }
        }
        Err(TransportError::new(Kind::Protocol, "a reply with too many lines"))
    }
}

fn expect(reply: &Reply, codes: &[u16]) -> Result<u16, TransportError> {
    if codes.contains(&reply.code) { Ok(reply.code) } else { Err(unexpected(reply)) }
}

fn unexpected(reply: &Reply) -> TransportError {
    TransportError::new(Kind::Protocol, format_args!("the server says `{}`", reply.text.escape_debug()))
}

/// `229 … (|||port|)`.
fn extended_port(text: &str) -> Option<u16> {
    let inner = text.split_once('(')?.1.split_once(')')?.0;
    let delimiter = inner.chars().next()?;
    inner.split(delimiter).nth(3)?.parse().ok()
}

/// `227 … (h,h,h,h,p,p)`; the address is ignored.
fn passive_port(text: &str) -> Option<u16> {
    let inner = text.split_once('(').map_or(text, |(_, inner)| inner);
    let inner = inner.trim_end_matches(|last: char| !last.is_ascii_digit());
    let mut numbers = inner.rsplit(',').map(|number| number.trim().parse::<u8>().ok());
    let (low, high) = (numbers.next()??, numbers.next()??);
    Some(u16::from(high) << 8 | u16::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports() {
        assert_eq!(extended_port("229 Entering Extended Passive Mode (|||6446|)"), Some(6446));
        assert_eq!(extended_port("229 odd (!!!70000!)"), None);
        assert_eq!(passive_port("227 Entering Passive Mode (10,0,0,1,4,1)."), Some(1025));
        assert_eq!(passive_port("227 Entering Passive Mode"), None);
        assert_eq!(passive_port("227 (1,2,3,4,300,1)"), None);
    }
}
