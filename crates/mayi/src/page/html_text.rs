//! The octets of an HTML document → text: the standard's order of byte order mark, Content-Type and
//! meta charset (TAG-12).

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use html5gum::{Token, Tokenizer};

use crate::encoding::charset_in;

/// How many octets are searched for a meta charset.
const PRESCANNED: usize = 1024;

/// The charset that the header fields give.
pub(super) fn charset_of(fields: &[(&str, &str)]) -> Option<&'static Encoding> {
    let field = fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    charset_in(field?.1)
}

/// The encoding of a document that starts with these octets.
pub(super) fn encoding_of(start: &[u8], header: Option<&'static Encoding>) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(start) {
        return encoding;
    }
    header.or_else(|| prescanned(start)).unwrap_or(WINDOWS_1252)
}

/// The charset that a meta element in the first octets gives. Raw text is not distinguished from elements, as
/// the standard says.
fn prescanned(start: &[u8]) -> Option<&'static Encoding> {
    let start = &start[..start.len().min(PRESCANNED)];
    for token in Tokenizer::new(start) {
        let Ok(Token::StartTag(tag)) = token else { continue };
        if tag.name.as_slice() != b"meta" {
            continue;
        }
        let attribute = |name: &[u8]| {
            let found = tag.attributes.iter().find(|(known, _)| known.as_slice() == name);
            found.map(|(_, value)| String::from_utf8_lossy(value).into_owned())
        };
        let is_content_type =
            attribute(b"http-equiv").is_some_and(|value| value.eq_ignore_ascii_case("content-type"));
        let encoding = match (attribute(b"charset"), attribute(b"content")) {
            (Some(label), _) => Encoding::for_label(label.as_bytes()),
            (None, Some(content)) if is_content_type => charset_in(&content),
            _ => None,
        };
        match encoding {
            // A document whose octets say so is not in UTF-16.
            Some(encoding) if encoding == UTF_16LE || encoding == UTF_16BE => return Some(UTF_8),
            Some(encoding) if encoding == X_USER_DEFINED => return Some(WINDOWS_1252),
            Some(encoding) => return Some(encoding),
            None => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_the_standard() {
        let meta = b"<meta charset=koi8-r>";
        assert_eq!(encoding_of(b"\xEF\xBB\xBF<meta charset=koi8-r>", None).name(), "UTF-8");
        assert_eq!(encoding_of(meta, charset_in("text/html; charset=\"utf-8\"")).name(), "UTF-8");
        assert_eq!(encoding_of(meta, charset_in("text/html")).name(), "KOI8-R");
        let http_equiv = b"<META HTTP-EQUIV=Content-Type CONTENT='text/html; charset=iso-8859-2'>";
        assert_eq!(encoding_of(http_equiv, None).name(), "ISO-8859-2");
        assert_eq!(encoding_of(b"<meta charset=utf-16>", None).name(), "UTF-8");
        assert_eq!(encoding_of(b"<p>", None).name(), "windows-1252");
    }
}
