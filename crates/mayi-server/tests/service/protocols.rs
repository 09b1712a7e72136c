//! HTTP/1.1 and HTTP/2, with and without TLS, and our own client.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use mayi_server::client::Client;
use mayi_server::{Server, Tls};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::support::{Service, config};

async fn ask_two<S>(stream: S) -> (hyper::Version, u16)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let executor = TokioExecutor::new();
    let spoken = hyper::client::conn::http2::handshake(executor, TokioIo::new(stream)).await;
    let (mut sender, connection) = spoken.expect("HTTP/2");
    tokio::spawn(connection);
    let body = json!({ "url": "https://a/", "agent": "a", "robots": "" }).to_string();
    let request = hyper::Request::post("http://localhost/v1/decide")
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(body)))
        .expect("a request");
    let response = sender.send_request(request).await.expect("an answer");
    let (version, status) = (response.version(), response.status().as_u16());
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    assert!(body.starts_with(b"{\"url\":\"https://a/\""));
    (version, status)
}

#[tokio::test]
async fn http_2_by_prior_knowledge() {
    let service = Service::start().await;
    let stream = TcpStream::connect(service.address).await.expect("it listens");
    assert_eq!(ask_two(stream).await, (hyper::Version::HTTP_2, 200));
}

#[tokio::test]
async fn tls_with_both_protocols() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let certificate = folder.path().join("certificate.pem");
    let key = folder.path().join("key.pem");
    std::fs::write(&certificate, made.cert.pem()).expect("a file");
    std::fs::write(&key, made.signing_key.serialize_pem()).expect("a file");
    let mut config = config();
    config.tls = Some(Tls::new(certificate, key));
    let service = Service::with(config).await;
    for protocol in ["h2", "http/1.1"] {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(made.cert.der().to_vec())).expect("a root");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let stream = TcpStream::connect(service.address).await.expect("it listens");
        let name = ServerName::try_from("localhost").expect("a name");
        let stream = tokio_rustls::TlsConnector::from(Arc::new(tls)).connect(name, stream).await;
        let stream = stream.expect("TLS");
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(protocol.as_bytes()));
        if protocol == "h2" {
            assert_eq!(ask_two(stream).await, (hyper::Version::HTTP_2, 200));
        }
    }
}

/// The certificate that a service shows.
async fn shown_by(address: std::net::SocketAddr) -> Vec<u8> {
    #[derive(Debug)]
    struct Anybody;
    impl rustls::client::danger::ServerCertVerifier for Anybody {
        fn verify_server_cert(
            &self,
            _: &CertificateDer<'_>,
            _: &[CertificateDer<'_>],
            _: &ServerName<'_>,
            _: &[u8],
            _: rustls::pki_types::UnixTime,
        ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
            Ok(rustls::client::danger::ServerCertVerified::assertion())
        }

        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &rustls::DigitallySignedStruct,
        ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
            Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
        }

        fn verify_tls13_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &rustls::DigitallySignedStruct,
        ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
            Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
        }

        fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
            vec![rustls::SignatureScheme::ECDSA_NISTP256_SHA256]
        }
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anybody))
        .with_no_client_auth();
    let stream = TcpStream::connect(address).await.expect("it listens");
    let name = ServerName::try_from("localhost").expect("a name");
    let stream = tokio_rustls::TlsConnector::from(Arc::new(tls)).connect(name, stream).await;
    let stream = stream.expect("TLS");
    stream.get_ref().1.peer_certificates().expect("a certificate")[0].to_vec()
}

#[tokio::test]
async fn a_certificate_is_read_again_and_one_that_has_ended_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let [certificate, key] = ["certificate.pem", "key.pem"].map(|name| folder.path().join(name));
    let write = |end: i32| {
        let names = ["localhost".to_owned()];
        let mut parameters = rcgen::CertificateParams::new(names).expect("a name");
        parameters.not_before = rcgen::date_time_ymd(2020, 1, 1);
        parameters.not_after = rcgen::date_time_ymd(end, 1, 1);
        let pair = rcgen::KeyPair::generate().expect("a key");
        let made = parameters.self_signed(&pair).expect("a certificate");
        std::fs::write(&certificate, made.pem()).expect("a file");
        std::fs::write(&key, pair.serialize_pem()).expect("a file");
        made.der().to_vec()
    };
    let mut config = config();
    config.tls = Some(Tls::new(&certificate, &key));
    write(2021);
    let error = Server::bind(config.clone()).await.expect_err("it has ended").to_string();
    assert!(error.contains("the certificate expired"), "{error}");
    let first = write(2999);
    let server = Server::bind(config).await.expect("a free port");
    let (address, reload) = (server.address(), server.reload());
    let running = tokio::spawn(server.run_until(std::future::pending()));
    assert_eq!(shown_by(address).await, first);
    let second = write(2998);
    reload.reload().expect("it can be used");
    assert_eq!(shown_by(address).await, second);
    write(2021);
    assert!(reload.reload().is_err());
    assert_eq!(shown_by(address).await, second, "it stays as it was");
    running.abort();
}

#[tokio::test]
async fn a_service_with_wrong_files_does_not_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let empty = folder.path().join("empty");
    std::fs::write(&empty, "").expect("a file");
    let mut keys = config();
    keys.keys = Some(empty.clone());
    let mut tls = config();
    tls.tls = Some(Tls::new(&empty, &empty));
    let mut store = config();
    store.fetch.store = "mysql://x".to_owned();
    let mut dialect = config();
    dialect.reading.dialect = "x".to_owned();
    let mut guard = config();
    guard.fetch.allow_addresses = vec!["x".to_owned()];
    for (config, why) in [
        (keys, "no keys"),
        (tls, "no certificate"),
        (store, "there is no such store"),
        (dialect, "no dialect is called"),
        (guard, "not a range of addresses"),
    ] {
        let error = Server::bind(config).await.expect_err("it can't start").to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[tokio::test]
async fn our_own_client() {
    let service = Service::start().await;
    let url = format!("http://{}/", service.address);
    let mut client = Client::new(&url, None).expect("a URL");
    let request =
        json!({ "url": "https://a/b", "agent": "a", "robots": "User-agent: *\nDisallow: /b\n" });
    for _ in 0..3 {
        let answer = client.decide(request.to_string().into_bytes()).await.expect("an answer");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        assert_eq!(answer["access"]["allowed"], false);
    }
    let wrong = client.decide(b"{}".to_vec()).await.expect("an answer");
    assert!(wrong.contains("\"invalid-request\""), "{wrong}");
    let robots = client.robots("http://[::1]/").await.expect("an answer");
    assert!(robots.contains("\"from\":\"none\""), "{robots}");
    drop(service);
    for url in ["http://127.0.0.1:1/", "http://127.0.0.1:1"] {
        let error = Client::new(url, Some("key")).expect("a URL").decide(Vec::new()).await;
        assert!(error.expect_err("nobody is there").to_string().contains("no answer from"));
    }
    assert!(Client::new("http://a/", Some("a\nb")).is_err());
}
