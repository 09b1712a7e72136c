//! The files of a certificate → a TLS configuration for HTTP/2 and HTTP/1.1.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

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
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    if let Some(end) = end_of(&certificates[0]).filter(|end| *end < now.cast_signed()) {
        let days = (now.cast_signed() - end) / (24 * 60 * 60);
        return Err(wrong(&tls.certificate, &format_args!("the certificate expired {days} days ago")));
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

/// When a certificate ends, in seconds since 1970 (RFC 5280 §4.1): `None` if it can't be parsed; rustls has
/// the better message for that.
fn end_of(certificate: &[u8]) -> Option<i64> {
    let (certificate, _) = inside(certificate, SEQUENCE)?;
    let (mut fields, _) = inside(certificate, SEQUENCE)?;
    if let Some((_, rest)) = inside(fields, VERSION) {
        fields = rest;
    }
    // The serial number, the algorithm and the issuer stand before the times.
    for tag in [INTEGER, SEQUENCE, SEQUENCE] {
        (_, fields) = inside(fields, tag)?;
    }
    let (times, _) = inside(fields, SEQUENCE)?;
    let (_, _, end) = element(times)?;
    let (tag, end, _) = element(end)?;
    seconds_of(tag, end)
}

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// The content of the next element of DER, if it has this tag, and the rest.
fn inside(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, inside, rest) = element(der)?;
    (found == tag).then_some((inside, rest))
}

/// The next element of DER: its tag, its content, and the rest.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (octets, rest) =
        rest.split_at_checked(if first < 0x80 { 0 } else { usize::from(first & 0x7f) })?;
    if octets.len() > 4 {
        return None;
    }
    let long = octets.iter().fold(0, |length, octet| length << 8 | usize::from(*octet));
    let (inside, rest) = rest.split_at_checked(if first < 0x80 { usize::from(first) } else { long })?;
    Some((tag, inside, rest))
}

/// A time in the form of certificates: `YYMMDDHHMMSSZ`, of 1950 to 2049, or `YYYYMMDDHHMMSSZ`.
fn seconds_of(tag: u8, text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let (year, rest) = match tag {
        UTC_TIME => {
            let year: i64 = text.get(..2)?.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, text.get(2..)?)
        }
        GENERALIZED_TIME => (text.get(..4)?.parse().ok()?, text.get(4..)?),
        _ => return None,
    };
    let part = |at: usize| rest.get(at..at + 2).and_then(|text| text.parse::<i64>().ok());
    let [month, day, hour, minute, second] = [part(0)?, part(2)?, part(4)?, part(6)?, part(8)?];
    // Years that begin in March have their odd day at the end.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        + (153 * month + 2) / 5
        + day
        - 719_469;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_certificates_have_them() {
        for (tag, text, seconds) in [
            (UTC_TIME, "700101000000Z", Some(0)),
            (UTC_TIME, "260301000000Z", Some(1_772_323_200)),
            (UTC_TIME, "240229235959Z", Some(1_709_251_199)),
            (UTC_TIME, "491231235959Z", Some(2_524_607_999)),
            (GENERALIZED_TIME, "20500101000000Z", Some(2_524_608_000)),
            (UTC_TIME, "2403", None),
            (SEQUENCE, "240229235959Z", None),
        ] {
            assert_eq!(seconds_of(tag, text.as_bytes()), seconds, "{text}");
        }
    }

    #[test]
    fn the_end_of_a_certificate() {
        let mut parameters = rcgen::CertificateParams::new(["localhost".to_owned()]).expect("a name");
        parameters.not_after = rcgen::date_time_ymd(2031, 2, 3);
        let key = rcgen::KeyPair::generate().expect("a key");
        let certificate = parameters.self_signed(&key).expect("a certificate");
        assert_eq!(end_of(certificate.der()), Some(1_927_843_200));
        for octets in [&[][..], &[0x30], &[0x30, 0x85, 1, 1, 1, 1, 1], &certificate.der()[..40]] {
            assert_eq!(end_of(octets), None);
        }
    }
}
