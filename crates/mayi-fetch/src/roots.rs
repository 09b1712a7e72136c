//! Certificates in PEM form, and those of the system → the trusted roots: one set for https and for stores. Which library
//! does the cryptography is chosen here too.

use std::fmt;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject};

/// The library for the cryptography of TLS: `aws-lc-rs`, which is the default, or `ring` if only that is
/// switched on.
pub(crate) fn provider() -> CryptoProvider {
    #[cfg(feature = "aws-lc-rs")]
    return rustls::crypto::aws_lc_rs::default_provider();
    #[cfg(all(feature = "ring", not(feature = "aws-lc-rs")))]
    return rustls::crypto::ring::default_provider();
    #[cfg(not(any(feature = "aws-lc-rs", feature = "ring")))]
    compile_error!("mayi-fetch needs a provider for TLS: switch on the feature `aws-lc-rs` or `ring`");
}

/// Text without a usable certificate.
#[derive(Clone, Debug)]
pub struct InvalidRoots {
    /// What is wrong with the PEM form, or nothing if there is no certificate.
    pem: Option<Arc<pem::Error>>,
}

impl fmt::Display for InvalidRoots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no root certificates in PEM form: ")?;
        match &self.pem {
            Some(error) => error.fmt(f),
            None => f.write_str("there is no certificate in it"),
        }
    }
}

impl std::error::Error for InvalidRoots {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.pem.as_deref().map(|error| error as _)
    }
}

/// The certificates of a PEM file, which must have at least one.
pub(crate) fn read(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, InvalidRoots> {
    let roots: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let roots = roots.map_err(|error| InvalidRoots { pem: Some(Arc::new(error)) })?;
    if roots.is_empty() {
        return Err(InvalidRoots { pem: None });
    }
    Ok(roots)
}

/// The roots of the system and these.
pub(crate) fn with_those_of_the_system(
    extra: &[CertificateDer<'static>],
) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for root in usable(extra)? {
        roots.add(root).map_err(|error| error.to_string())?;
    }
    Ok(roots)
}

/// The same in PEM form, for a library that reads them itself.
#[cfg(feature = "redis")]
pub(crate) fn pem_with_those_of_the_system(
    extra: &[CertificateDer<'static>],
) -> Result<Vec<u8>, String> {
    use base64::Engine;
    let mut pem = String::new();
    for root in usable(extra)? {
        let text = base64::engine::general_purpose::STANDARD.encode(&root);
        pem.push_str("-----BEGIN CERTIFICATE-----\n");
        for line in text.as_bytes().chunks(64) {
            pem.push_str(&String::from_utf8_lossy(line));
            pem.push('\n');
        }
        pem.push_str("-----END CERTIFICATE-----\n");
    }
    Ok(pem.into_bytes())
}

/// The usable certificates of the system, which are not always all of them, and these, which must all be
/// usable.
fn usable(extra: &[CertificateDer<'static>]) -> Result<Vec<CertificateDer<'static>>, String> {
    let mut tried = RootCertStore::empty();
    let mut usable = rustls_native_certs::load_native_certs().certs;
    usable.retain(|root| tried.add(root.clone()).is_ok());
    for root in extra {
        let wrong = |error| format!("an extra root can't be used: {error}");
        tried.add(root.clone()).map_err(wrong)?;
        usable.push(root.clone());
    }
    if usable.is_empty() {
        return Err("no root certificates were found on this system".to_owned());
    }
    Ok(usable)
}
