//! The sites that a besieged service is asked about.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const GOOD: &str = "User-agent: *\nDisallow: /private/\n";

pub(crate) struct Sites {
    pub(crate) good: SocketAddr,
    /// Good sites that nobody has asked about yet.
    pub(crate) fresh: Vec<SocketAddr>,
    /// A site whose file is full of expressions that were slow.
    pub(crate) hostile: SocketAddr,
    /// A site whose file is as large as a file may be.
    pub(crate) large: SocketAddr,
    /// Sites that accept and say nothing.
    pub(crate) stalling: Vec<SocketAddr>,
}

impl Sites {
    pub(crate) async fn start() -> Self {
        let hostile = format!("User-agent: ({}b)*c\n", "a?|.a|".repeat(160));
        let hostile = hostile.repeat(400) + GOOD;
        let large = "User-agent: *\n".to_owned() + &"Allow:/\nDisallow:/a*b$\n".repeat(22_000);
        let mut stalling = Vec::new();
        // Sites of one kind have one address, as there are few connections to one.
        for _ in 0..32 {
            stalling.push(site(2, None).await);
        }
        let mut fresh = Vec::new();
        for _ in 0..64 {
            fresh.push(site(3, Some(GOOD.to_owned())).await);
        }
        let good = site(4, Some(GOOD.to_owned())).await;
        let (hostile, large) = (site(5, Some(hostile)).await, site(6, Some(large)).await);
        Self { good, fresh, hostile, large, stalling }
    }

    /// What attackers have to know, as words of a command.
    pub(crate) fn words(&self) -> Vec<String> {
        [self.hostile, self.large].iter().chain(&self.stalling).map(ToString::to_string).collect()
    }

    /// The same from words.
    pub(crate) fn of_words(words: &[String]) -> Self {
        let addresses: Vec<SocketAddr> =
            words.iter().map(|word| word.parse().expect("an address")).collect();
        let [hostile, large, stalling @ ..] = &*addresses else { panic!("two addresses and more") };
        let (hostile, large, stalling) = (*hostile, *large, stalling.to_vec());
        Self { good: hostile, fresh: Vec::new(), hostile, large, stalling }
    }
}

/// A site with a file, or one that accepts and says nothing.
async fn site(kind: u8, file: Option<String>) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::new(127, 0, kind, 1), 0)).await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let file = Arc::new(file);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let file = Arc::clone(&file);
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 4096]).await;
                match &*file {
                    None => tokio::time::sleep(Duration::from_secs(20)).await,
                    Some(file) => {
                        let length = file.len();
                        let head = format!(
                            "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
                        );
                        let _ = stream.write_all((head + file).as_bytes()).await;
                    }
                }
            });
        }
    });
    address
}
