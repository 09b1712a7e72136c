//! The files of a certificate → what speaks TLS with it, HTTP/2 and HTTP/1.1.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::config::{ConfigError, Tls};

pub(crate) fn acceptor(tls: &Tls) -> Result<TlsAcceptor, ConfigError> {
    let wrong = |path: &std::path::Path, why: &dyn std::fmt::Display| {
        ConfigError::new(format_args!("`{}` can't be used for TLS: {why}", path.display()))
    };
    let certificates = CertificateDer::pem_file_iter(&tls.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(&tls.certificate, &error))?;
    if certificates.is_empty() {
        return Err(wrong(&tls.certificate, &"there is no certificate in it"));
    }
    let key = PrivateKeyDer::from_pem_file(&tls.key).map_err(|error| wrong(&tls.key, &error))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(ConfigError::new)?
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .map_err(|error| wrong(&tls.key, &error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
