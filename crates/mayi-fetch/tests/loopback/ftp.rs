//! robots.txt over FTP (REP-18): a tiny server, and what a broken or hostile one can do.

use std::net::SocketAddr;
use std::sync::Arc;

use mayi::access::{AccessResult, Origin, Unavailable};
use mayi_fetch::Robots;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::support::*;

/// What a server does, step by step.
#[derive(Clone)]
struct Script {
    greeting: &'static str,
    user: &'static str,
    pass: &'static str,
    /// What EPSV is answered with; `PORT` is the port.
    extended: &'static str,
    /// What PASV is answered with; `HIGH` and `LOW` are the port.
    passive: &'static str,
    retrieve: &'static str,
    body: Vec<u8>,
    /// What is said after the file; nothing and an end where it is empty.
    done: &'static str,
    resets_data: bool,
    stalls: bool,
}

fn honest() -> Script {
    Script {
        greeting: "220 ready",
        user: "331 a password, please",
        pass: "230 welcome",
        extended: "229 Entering Extended Passive Mode (|||PORT|)",
        passive: "227 Entering Passive Mode (127,0,0,1,HIGH,LOW).",
        retrieve: "150 here it comes",
        body: FILE.into(),
        done: "226 done",
        resets_data: false,
        stalls: false,
    }
}

/// A server that goes by a script, and the commands that it was given.
async fn server(script: Script) -> Server {
    let script = Arc::new(script);
    Server::of_connections(move |stream, said| {
        let script = Arc::clone(&script);
        async move {
            // Whoever asked may have gone.
            let _ = converse(stream, &script, |command| {
                said.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(command);
            })
            .await;
        }
    })
    .await
}

async fn converse(stream: TcpStream, script: &Script, note: impl Fn(String)) -> std::io::Result<()> {
    let data = TcpListener::bind("127.0.0.1:0").await?;
    let port = data.local_addr()?.port();
    let fill = |text: &str| {
        let text = text.replace("PORT", &port.to_string());
        text.replace("HIGH", &(port >> 8).to_string()).replace("LOW", &(port & 0xff).to_string())
    };
    let mut control = BufReader::new(stream);
    control.write_all(format!("{}\r\n", script.greeting).as_bytes()).await?;
    let mut line = String::new();
    while control.read_line(&mut line).await? > 0 {
        let command = line.trim_end().to_owned();
        note(command.clone());
        let reply = match command.split(' ').next().unwrap_or_default() {
            "USER" => script.user,
            "PASS" => script.pass,
            "TYPE" => "200 binary",
            "EPSV" => script.extended,
            "PASV" => script.passive,
            "RETR" => script.retrieve,
            _ => "500 what?",
        };
        control.write_all(format!("{}\r\n", fill(reply)).as_bytes()).await?;
        if command.starts_with("RETR") && reply.starts_with('1') {
            let (mut data, _) = data.accept().await?;
            data.write_all(&script.body).await?;
            if script.stalls {
                data.read_to_end(&mut Vec::new()).await?;
            }
            if script.resets_data {
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                data.set_zero_linger()?;
            }
            drop(data);
            if script.done.is_empty() {
                return Ok(());
            }
            control.write_all(format!("{}\r\n", script.done).as_bytes()).await?;
        }
        line.clear();
    }
    Ok(())
}

fn origin(address: SocketAddr) -> Origin {
    Origin::of_url(&format!("ftp://{address}/pub/x")).expect("an origin")
}

async fn fetch_from(script: Script) -> Robots {
    let server = server(script).await;
    builder().build().robots(&origin(server.address)).await
}

async fn fetch_hastily_from(script: Script) -> Robots {
    let server = server(script).await;
    builder().patience(hasty()).build().robots(&origin(server.address)).await
}

#[tokio::test]
async fn a_file_comes_by_either_passive_mode() {
    let by_extended = server(honest()).await;
    let robots = builder().build().robots(&origin(by_extended.address)).await;
    assert_file(&robots);
    let expected = ["USER anonymous", "PASS anonymous@", "TYPE I", "EPSV", "RETR /robots.txt"];
    assert_eq!(by_extended.heads(), expected);

    let by_passive = server(Script { extended: "500 what?", ..honest() }).await;
    assert_file(&builder().build().robots(&origin(by_passive.address)).await);
    assert_eq!(by_passive.heads()[3..], ["EPSV", "PASV", "RETR /robots.txt"]);
    // Some leave out the parentheses.
    let passive = "227 Entering Passive Mode 127,0,0,1,HIGH,LOW";
    assert_file(&fetch_from(Script { extended: "500 what?", passive, ..honest() }).await);
}

#[tokio::test]
async fn replies_of_several_lines() {
    // A line within a reply may begin like the end of another one (RFC 959 §4.2).
    let greeting = "220-Welcome.\r\n 220 is not the end\r\n331 neither is this\r\n220 ready";
    let user = "230-\r\n230-You are in.\r\n\r\n230 go on";
    let robots = fetch_from(Script { greeting, user, ..honest() }).await;
    assert_file(&robots);
}

/// The data connection goes to the server that was asked, not to whom it points at.
#[tokio::test]
async fn no_server_sends_anybody_elsewhere() {
    for passive in [
        "227 Entering Passive Mode (10,0,0,1,HIGH,LOW)",
        "227 Entering Passive Mode (169,254,169,254,HIGH,LOW)",
        "227 Entering Passive Mode (8,8,8,8,HIGH,LOW)",
    ] {
        let server = server(Script { extended: "502 no", passive, ..honest() }).await;
        let connector = Arc::new(OnLoopback(std::sync::Mutex::default()));
        let fetcher = builder().connector(Arc::clone(&connector) as _).build();
        assert_file(&fetcher.robots(&origin(server.address)).await);
        let dialled = connector.0.lock().expect("no panic").clone();
        assert_eq!(dialled.len(), 2);
        assert!(dialled.iter().all(|address| address.ip() == server.address.ip()), "{dialled:?}");
    }
    // Nor to a port where other services live.
    for extended in ["229 (|||22|)", "229 (|||0|)", "229 (|||99999|)", "229 ()", "229 é(é"] {
        assert_failed(&fetch_from(Script { extended, ..honest() }).await, "protocol");
    }
    let passive = "227 (127,0,0,1,0,22)";
    assert_failed(&fetch_from(Script { extended: "500 no", passive, ..honest() }).await, "protocol");
}

#[tokio::test]
async fn no_such_file() {
    for retrieve in ["550 no such file", "450 busy"] {
        let robots = fetch_from(Script { retrieve, ..honest() }).await;
        assert_eq!(*robots.access(), AccessResult::Unavailable(Unavailable::Status(404)));
        assert!(allows(&robots, "/private/x"));
    }
}

#[tokio::test]
async fn broken_transfers_are_unreachable() {
    for script in [
        Script { done: "426 connection closed; transfer aborted", ..honest() },
        Script { done: "451 local error", ..honest() },
        Script { done: "", ..honest() },
        Script { resets_data: true, ..honest() },
        Script { stalls: true, ..honest() },
        Script { retrieve: "425 can't open data connection", ..honest() },
        Script { greeting: "421 too many users", ..honest() },
        Script { greeting: "SSH-2.0-x", ..honest() },
        Script { user: "530 not for you", ..honest() },
        Script { pass: "530 not for you", ..honest() },
        Script { extended: "500 no", passive: "500 no", ..honest() },
        Script { user: "331-", ..honest() },
    ] {
        let robots = fetch_hastily_from(script).await;
        assert!(matches!(robots.access(), AccessResult::Unreachable(_)), "{}", robots.access());
        assert!(!allows(&robots, "/open"), "{}", robots.access());
    }
}

#[tokio::test]
async fn the_limit_holds_here_too() {
    let mut body = FILE.as_bytes().to_vec();
    body.resize(4 << 20, b'#');
    let robots = fetch_from(Script { body, ..honest() }).await;
    assert_file(&robots);
    let copy = robots.kept().copy.as_ref().expect("a copy");
    assert!(copy.is_cut && copy.body.len() < 513 * 1024);
}

#[tokio::test]
async fn replies_without_an_end() {
    for again in ["220-and so on\r\n", "x"] {
        let server = Server::of_connections(move |mut stream, _| async move {
            while stream.write_all(again.repeat(1000).as_bytes()).await.is_ok() {}
        })
        .await;
        let robots = builder().patience(hasty()).build().robots(&origin(server.address)).await;
        assert!(matches!(robots.access(), AccessResult::Unreachable(_)), "{}", robots.access());
    }
    let silent = Server::of_connections(|mut stream, _| async move {
        let _ = stream.read_to_end(&mut Vec::new()).await;
    })
    .await;
    let robots = builder().patience(hasty()).build().robots(&origin(silent.address)).await;
    assert_failed(&robots, "timeout");
}

/// Connects for real, on loopback only, and writes down to whom.
struct OnLoopback(std::sync::Mutex<Vec<SocketAddr>>);

impl mayi_fetch::dial::Connector for OnLoopback {
    fn connect(
        &self,
        address: SocketAddr,
    ) -> mayi_fetch::clock::Later<'_, std::io::Result<Box<dyn mayi_fetch::dial::Stream>>> {
        self.0.lock().expect("no panic").push(address);
        assert!(address.ip().is_loopback(), "the tests stay on loopback");
        Box::pin(async move {
            Ok(Box::new(TcpStream::connect(address).await?) as Box<dyn mayi_fetch::dial::Stream>)
        })
    }
}
