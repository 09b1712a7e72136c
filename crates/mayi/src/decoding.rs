//! Octets of a URL or a pattern → the form in which they are compared by dialects that decode every escape.
//!
//! REP-11 decodes only characters that mean the same raw and encoded. Some engines first decode more, and
//! then encode what may not be raw; they compare these forms. [`Decoding`] says which characters are
//! exceptions. This module does not know what a wildcard or an end anchor means.

use memchr::memchr;

use crate::dialect::{Decoding, Dollars};
use crate::percent::{escaped, push_escape};

impl Decoding {
    /// The form of what follows the authority of a URL. It starts with `/`, as every path does.
    pub(crate) fn target(&self, written: &[u8]) -> Vec<u8> {
        let fragment = if self.fragment { None } else { memchr(b'#', written) };
        let written = &written[..fragment.unwrap_or(written.len())];
        let mut form = Vec::with_capacity(written.len() + 8);
        if !written.starts_with(b"/") {
            form.push(b'/');
        }
        self.write(written, b"", &mut form);
        form
    }

    /// The form of a pattern. It is empty, and matches nothing, if the pattern makes no rule.
    pub(crate) fn pattern(&self, written: &[u8]) -> Vec<u8> {
        let mut form = Vec::with_capacity(written.len() + 8);
        match self.dollars {
            Dollars::Plain => {
                let anchored = written.strip_suffix(b"$");
                self.write(anchored.unwrap_or(written), b"*", &mut form);
                form.extend_from_slice(if anchored.is_some() { b"$" } else { b"" });
            }
            Dollars::OnlyAtTheEnd => {
                self.write(&with_single_signs(written), b"*$", &mut form);
                if memchr(b'$', &form).is_some_and(|dollar| dollar + 1 < form.len()) {
                    form.clear();
                }
            }
        }
        form
    }

    /// Decodes what may be decoded and encodes what may not be raw, except for these special characters of a
    /// pattern.
    fn write(&self, octets: &[u8], signs: &[u8], form: &mut Vec<u8>) {
        let mut in_query = false;
        let mut rest = octets;
        while let Some((&octet, after)) = rest.split_first() {
            rest = after;
            if octet == b'%'
                && let Some(value) = escaped(after)
            {
                rest = &after[2..];
                if self.kept.contains(&value) {
                    push_escape(form, value);
                } else {
                    self.push(value, form);
                }
            } else if signs.contains(&octet) || in_query && self.query.contains(&octet) {
                form.push(octet);
            } else if octet == b'?' && !in_query && !self.query.is_empty() {
                in_query = true;
                form.push(octet);
            } else {
                self.push(octet, form);
            }
        }
    }

    fn push(&self, octet: u8, form: &mut Vec<u8>) {
        let is_unreserved = octet.is_ascii_alphanumeric() || b"-._~".contains(&octet);
        if is_unreserved || self.raw.contains(&octet) {
            form.push(octet);
        } else {
            push_escape(form, octet);
        }
    }
}

/// A pattern in which consecutive wildcards are one, and an end anchor with any wildcards and anchors after
/// it is one end anchor.
fn with_single_signs(written: &[u8]) -> Vec<u8> {
    let mut single = Vec::with_capacity(written.len());
    for &octet in written {
        let is_more = match single.last() {
            Some(b'*') => octet == b'*',
            Some(b'$') => octet == b'*' || octet == b'$',
            _ => false,
        };
        if !is_more {
            single.push(octet);
        }
    }
    single
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{Comparison, Dialect};

    fn decoding(dialect: &Dialect) -> &'static Decoding {
        let Comparison::Decoded(decoding) = dialect.comparison else { panic!("{dialect}") };
        decoding
    }

    #[test]
    fn targets() {
        let (urllib, protego) = (decoding(&Dialect::URLLIB), decoding(&Dialect::PROTEGO));
        for (written, of_urllib, of_protego) in [
            ("/a%2fb%25c%7e", "/a/b%25c~", "/a%2Fb%25c~"),
            ("/a=b%3Dc?d=e%3Df&g#h", "/a%3Db%3Dc?d=e%3Df&g%23h", "/a=b=c%3Fd=e=f%26g"),
            ("/*$%2A%24ü 100%", "/%2A%24%2A%24%C3%BC%20100%25", "/%2A%24%2A%24%C3%BC%20100%"),
            ("?a?b", "/?a%3Fb", "/%3Fa%3Fb"),
            ("", "/", "/"),
        ] {
            let form = |decoding: &Decoding| String::from_utf8(decoding.target(written.as_bytes()));
            assert_eq!(form(urllib).as_deref(), Ok(of_urllib), "{written}");
            assert_eq!(form(protego).as_deref(), Ok(of_protego), "{written}");
        }
    }

    #[test]
    fn patterns() {
        let (urllib, protego) = (decoding(&Dialect::URLLIB), decoding(&Dialect::PROTEGO));
        for (written, of_urllib, of_protego) in [
            ("/a**b*$", "/a*b*$", "/a**b*$"),
            ("/a$b", "", "/a%24b"),
            ("/a$$*$", "/a$", "/a%24%24*$"),
            ("/%2A%24$", "/%2A%24$", "/%2A%24$"),
            ("/a?b=*&c", "/a?b=*&c", "/a%3Fb=*%26c"),
            ("$", "$", "$"),
            ("", "", ""),
        ] {
            let form = |decoding: &Decoding| String::from_utf8(decoding.pattern(written.as_bytes()));
            assert_eq!(form(urllib).as_deref(), Ok(of_urllib), "{written}");
            assert_eq!(form(protego).as_deref(), Ok(of_protego), "{written}");
        }
    }
}
