//! The shared store by TLS. The server of the tests speaks none, so something in front of it does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use mayi_fetch::store::{RedisOptions, RedisStore, Store, open_trusting};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::conformance::conforms;
use crate::servers::{Cluster, Server};
use crate::support::{kept, origin};

/// Speaks TLS, and says what it hears to a server on another port of loopback.
struct Front {
    port: u16,
    behind: Arc<AtomicU16>,
}

impl Front {
    async fn start(acceptor: TlsAcceptor) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port on loopback");
        let port = listener.local_addr().expect("its address").port();
        let behind = Arc::new(AtomicU16::new(0));
        let front = Self { port, behind: Arc::clone(&behind) };
        // It ends with the runtime of its test.
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, port) = (acceptor.clone(), behind.load(Ordering::SeqCst));
                tokio::spawn(async move {
                    let Ok(mut outside) = acceptor.accept(stream).await else { return };
                    let Ok(mut inside) = TcpStream::connect(("127.0.0.1", port)).await else { return };
                    let _ = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
                });
            }
        });
        front
    }

    fn lead_to(&self, server: &Server) {
        self.behind.store(server.port, Ordering::SeqCst);
    }
}

/// Who signs the certificates of a test.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        Self(CertifiedIssuer::self_signed(params, key).expect("a certificate"))
    }

    fn acceptor(&self, name: &str) -> TlsAcceptor {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("a certificate and its key");
        TlsAcceptor::from(Arc::new(config))
    }
}

/// A store that trusts this authority, with more patience than usual.
fn connect(url: &str, authority: &Authority) -> RedisStore {
    let mut options = RedisOptions::default();
    options.timeout = Duration::from_secs(10);
    options.extra_roots = authority.0.pem().into_bytes();
    RedisStore::connect(url, options).expect("a URL of Redis")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server() {
    let authority = Authority::new();
    let server = Server::start(&[]);
    let front = Front::start(authority.acceptor("127.0.0.1")).await;
    front.lead_to(&server);
    let url = format!("rediss://127.0.0.1:{}", front.port);
    conforms(Arc::new(connect(&url, &authority))).await;

    let pem = authority.0.pem();
    let store = open_trusting(&url, 0, pem.as_bytes()).expect("a store");
    let entry = kept("a", 1_000, 10);
    store.save(&entry).await.expect("saved");
    // It is the same store for whoever goes past TLS.
    let plain = crate::redis::connect(&server.url());
    assert_eq!(plain.load(&entry.origin).await.expect("an answer"), Some(entry));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster() {
    let authority = Authority::new();
    let mut fronts = Vec::new();
    for _ in 0..3 {
        fronts.push(Front::start(authority.acceptor("127.0.0.1")).await);
    }
    let ports = [0, 1, 2].map(|number: usize| Some(fronts[number].port));
    let cluster = Cluster::announcing(ports);
    for (front, node) in fronts.iter().zip(&cluster.nodes) {
        front.lead_to(node);
    }
    // One node is enough to find the others, and those are found by TLS as well.
    let url = format!("rediss+cluster://127.0.0.1:{}", fronts[0].port);
    conforms(Arc::new(connect(&url, &authority))).await;
}

/// Who can't be trusted is told nothing, and gives nothing.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_else_is_believed() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let server = Server::start(&[]);
    let other_name = Front::start(authority.acceptor("redis.example")).await;
    let unknown = Front::start(stranger.acceptor("127.0.0.1")).await;
    for front in [&other_name, &unknown] {
        front.lead_to(&server);
        for scheme in ["rediss", "rediss+cluster"] {
            let store = connect(&format!("{scheme}://127.0.0.1:{}", front.port), &authority);
            let error = store.save(&kept("a", 1_000, 10)).await.expect_err("nobody to trust");
            assert!(!error.to_string().contains("response within"), "{error}");
        }
    }
    // A server without TLS is none for whoever asks for TLS.
    let store = connect(&format!("rediss://127.0.0.1:{}", server.port), &authority);
    store.load(&origin("a")).await.expect_err("no TLS");
    assert_eq!(server.say("DBSIZE").as_deref(), Some(":0\r\n+OK\r\n"), "nothing has come through");
}
