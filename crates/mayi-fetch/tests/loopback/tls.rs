//! https: who is believed, and what a handshake that goes wrong comes to.

use std::sync::Arc;

use mayi::access::Origin;
use mayi_fetch::{Builder, Robots};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::support::*;

/// Who signs the certificates of a test.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        Self(CertifiedIssuer::self_signed(params, key).expect("a certificate"))
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// TLS for these names, speaking these protocols.
    pub(crate) fn acceptor(&self, names: &[&str], protocols: &[&str]) -> TlsAcceptor {
        self.acceptor_of(&certificate_for(names), protocols)
    }

    fn acceptor_of(&self, params: &CertificateParams, protocols: &[&str]) -> TlsAcceptor {
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        acceptor(certificate.der().clone(), &key, protocols)
    }
}

fn certificate_for(names: &[&str]) -> CertificateParams {
    let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
    CertificateParams::new(names).expect("names")
}

fn acceptor(certificate: CertificateDer<'static>, key: &KeyPair, protocols: &[&str]) -> TlsAcceptor {
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a certificate and its key");
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    TlsAcceptor::from(Arc::new(config))
}

/// A server that has every connection handled by this, once its handshake is done.
pub(crate) async fn tls_server<F, H>(acceptor: TlsAcceptor, handle: H) -> Server
where
    F: Future<Output = ()> + Send + 'static,
    H: Fn(TlsStream<TcpStream>) -> F + Send + Sync + 'static,
{
    let handle = Arc::new(handle);
    Server::of_connections(move |stream, _| {
        let (acceptor, handle) = (acceptor.clone(), Arc::clone(&handle));
        async move {
            if let Ok(stream) = acceptor.accept(stream).await {
                handle(stream).await;
            }
        }
    })
    .await
}

/// Reads a request and says this.
async fn say(mut stream: TlsStream<TcpStream>, octets: Vec<u8>) -> TlsStream<TcpStream> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let Ok(octet) = stream.read_u8().await else { break };
        head.push(octet);
    }
    let _ = stream.write_all(&octets).await;
    let _ = stream.flush().await;
    stream
}

async fn say_file(stream: TlsStream<TcpStream>) {
    let mut stream = say(stream, ok(FILE)).await;
    let _ = stream.shutdown().await;
}

/// A fetcher that believes this authority.
pub(crate) fn trusting(authority: &Authority) -> Builder {
    builder().extra_roots(authority.pem().as_bytes()).expect("a root")
}

pub(crate) async fn fetch_over_tls(builder: Builder, server: &Server, host: &str) -> Robots {
    let url = format!("https://{host}:{}/", server.port());
    builder.build().robots(&Origin::of_url(&url).expect("an origin")).await
}

#[tokio::test]
async fn a_trusted_server_is_believed() {
    let authority = Authority::new();
    for protocols in [&["http/1.1"][..], &[]] {
        let acceptor = authority.acceptor(&["a.test", "127.0.0.1"], protocols);
        let server = tls_server(acceptor, say_file).await;
        // A name is the same with the dot that ends it.
        for host in ["a.test", "a.test.", "A.TEST", "127.0.0.1"] {
            assert_file(&fetch_over_tls(trusting(&authority), &server, host).await);
        }
    }
}

#[tokio::test]
async fn nobody_else_is() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let server = tls_server(authority.acceptor(&["a.test"], &[]), say_file).await;
    assert_failed(&fetch_over_tls(trusting(&stranger), &server, "a.test").await, "tls");
    assert_failed(&fetch_over_tls(trusting(&authority), &server, "b.test").await, "tls");
    assert_failed(&fetch_over_tls(trusting(&authority), &server, "127.0.0.1").await, "tls");

    let mut expired = certificate_for(&["a.test"]);
    expired.not_before = rcgen::date_time_ymd(2001, 1, 1);
    expired.not_after = rcgen::date_time_ymd(2002, 1, 1);
    let server = tls_server(authority.acceptor_of(&expired, &[]), say_file).await;
    assert_failed(&fetch_over_tls(trusting(&authority), &server, "a.test").await, "tls");

    let mut early = certificate_for(&["a.test"]);
    early.not_before = rcgen::date_time_ymd(3001, 1, 1);
    early.not_after = rcgen::date_time_ymd(3002, 1, 1);
    let server = tls_server(authority.acceptor_of(&early, &[]), say_file).await;
    assert_failed(&fetch_over_tls(trusting(&authority), &server, "a.test").await, "tls");

    let key = KeyPair::generate().expect("a key");
    let own = certificate_for(&["a.test"]).self_signed(&key).expect("a certificate");
    let server = tls_server(acceptor(own.der().clone(), &key, &[]), say_file).await;
    assert_failed(&fetch_over_tls(trusting(&authority), &server, "a.test").await, "tls");
}

#[tokio::test]
async fn handshakes_that_go_wrong() {
    let authority = Authority::new();
    let stalled = Server::of_connections(|mut stream, _| async move {
        let _ = stream.read_to_end(&mut Vec::new()).await;
    })
    .await;
    let hasty = || trusting(&authority).patience(hasty());
    assert_failed(&fetch_over_tls(hasty(), &stalled, "a.test").await, "timeout");

    // A server hello that never comes to its end.
    let halting = Server::of_connections(|mut stream, _| async move {
        let _ = stream.write_all(b"\x16\x03\x03\x40\x00\x02\x00\x3f\xf0\x03\x03").await;
        let _ = stream.read_to_end(&mut Vec::new()).await;
    })
    .await;
    assert_failed(&fetch_over_tls(hasty(), &halting, "a.test").await, "timeout");

    let plain = Server::of_connections(|mut stream, _| async move {
        let _ = stream.write_all(&response("400 Bad Request", "", "this is no https")).await;
        let _ = stream.shutdown().await;
        let _ = stream.read_to_end(&mut Vec::new()).await;
    })
    .await;
    assert_failed(&fetch_over_tls(trusting(&authority), &plain, "a.test").await, "tls");

    let closed = Server::of_connections(|stream, _| async move { drop(stream) }).await;
    assert_failed(&fetch_over_tls(trusting(&authority), &closed, "a.test").await, "tls");

    let reset = Server::of_connections(|mut stream, _| async move {
        let _ = stream.read_u8().await;
        let _ = stream.set_zero_linger();
    })
    .await;
    assert_failed(&fetch_over_tls(trusting(&authority), &reset, "a.test").await, "tls");
}

/// Without a length, the end of TLS is the end of the body: a connection that somebody on the way
/// has cut looks the same as one that has ended, but for the notice that it should end with.
#[tokio::test]
async fn a_cut_connection_is_no_whole_file() {
    let authority = Authority::new();
    let until_the_end = format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{FILE}");
    for has_notice in [true, false] {
        let octets = until_the_end.clone();
        let server = tls_server(authority.acceptor(&["a.test"], &[]), move |stream| {
            let octets = octets.clone();
            async move {
                let mut stream = say(stream, octets.into_bytes()).await;
                if has_notice {
                    let _ = stream.shutdown().await;
                } else {
                    let _ = stream.get_mut().0.shutdown().await;
                }
            }
        })
        .await;
        let robots = fetch_over_tls(trusting(&authority), &server, "a.test").await;
        if has_notice {
            assert_file(&robots);
        } else {
            assert!(!allows(&robots, "/open"), "{}", robots.access());
        }
    }
}

/// What is https stays so only as far as its server wants it: REP-19 follows to http too.
#[tokio::test]
async fn redirects_between_the_schemes() {
    let authority = Authority::new();
    let plain = Server::saying(ok(FILE)).await;
    let location = plain.url("/r");
    let secure = tls_server(authority.acceptor(&["a.test"], &[]), move |stream| {
        let octets = redirect(&location);
        async move { drop(say(stream, octets).await) }
    })
    .await;
    assert_file(&fetch_over_tls(trusting(&authority), &secure, "a.test").await);

    let secure = tls_server(authority.acceptor(&["a.test"], &[]), say_file).await;
    let plain = Server::saying(redirect(&format!("https://a.test:{}/r", secure.port()))).await;
    assert_file(&trusting(&authority).build().robots(&plain.origin()).await);
}

#[test]
fn roots_that_are_none() {
    for pem in ["", "hello", "-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n"] {
        assert!(builder().extra_roots(pem.as_bytes()).is_err(), "{pem}");
    }
}
