//! Octets as they come → where whole rows end: at a line end, or in CSV at one outside quotes.
//!
//! Octets come in pieces that end anywhere, so a cutter keeps what it has to know from one piece to
//! the next. It looks only for row ends, and reads as few octets as possible: there is one reader for all
//! workers.

/// Finds the ends of rows in octets that come in pieces.
pub(crate) trait Cutter: Send {
    /// Takes a piece and says where its last row ends, if one does.
    fn last_end(&mut self, piece: &[u8]) -> Option<usize>;

    /// Takes a piece up to the end of its first row and says where that is; or takes it whole.
    fn first_end(&mut self, piece: &[u8]) -> Option<usize>;
}

/// A row is a line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LineCutter;

impl Cutter for LineCutter {
    fn last_end(&mut self, piece: &[u8]) -> Option<usize> {
        memchr::memrchr(b'\n', piece).map(|at| at + 1)
    }

    fn first_end(&mut self, piece: &[u8]) -> Option<usize> {
        memchr::memchr(b'\n', piece).map(|at| at + 1)
    }
}

/// A row is a line, except that quoted fields may contain line ends (RFC 4180 §2).
///
/// A quote at the start of a field opens it, a quote in there that is not doubled closes it, and any
/// other is an octet like others.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CsvCutter {
    /// Outside quotes, after this octet.
    Outside(u8),
    /// In a quoted field.
    Quoted,
    /// After a quote in a quoted field: the next octet says which quote it was.
    AfterQuote,
}

impl Default for CsvCutter {
    fn default() -> Self {
        Self::Outside(b'\n')
    }
}

impl CsvCutter {
    /// Takes a piece, calling `outside` with each part of it that is outside quotes, until it says
    /// where to stop.
    fn take(
        &mut self,
        piece: &[u8],
        mut outside: impl FnMut(usize, usize) -> Option<usize>,
    ) -> Option<usize> {
        let mut at = 0;
        while at < piece.len() {
            match *self {
                Self::Outside(mut before) => {
                    let start = at;
                    let opens = loop {
                        let Some(quote) = memchr::memchr(b'"', &piece[at..]) else { break None };
                        let quote = at + quote;
                        if quote > start {
                            before = piece[quote - 1];
                        }
                        at = quote + 1;
                        if matches!(before, b',' | b'\n') {
                            break Some(quote);
                        }
                        before = b'"';
                    };
                    let end = opens.unwrap_or(piece.len());
                    if let Some(stop) = outside(start, end) {
                        *self = Self::default();
                        return Some(stop);
                    }
                    *self = if opens.is_some() {
                        Self::Quoted
                    } else {
                        at = end;
                        Self::Outside(piece[end - 1])
                    };
                }
                Self::Quoted => match memchr::memchr(b'"', &piece[at..]) {
                    None => return None,
                    Some(quote) => {
                        at += quote + 1;
                        *self = Self::AfterQuote;
                    }
                },
                Self::AfterQuote if piece[at] == b'"' => {
                    at += 1;
                    *self = Self::Quoted;
                }
                Self::AfterQuote => *self = Self::Outside(b'"'),
            }
        }
        None
    }
}

impl Cutter for CsvCutter {
    fn last_end(&mut self, piece: &[u8]) -> Option<usize> {
        let mut last = None;
        self.take(piece, |start, end| {
            if let Some(at) = memchr::memrchr(b'\n', &piece[start..end]) {
                last = Some(start + at + 1);
            }
            None
        });
        last
    }

    fn first_end(&mut self, piece: &[u8]) -> Option<usize> {
        self.take(piece, |start, end| {
            memchr::memchr(b'\n', &piece[start..end]).map(|at| start + at + 1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ends of all rows, by the rule of RFC 4180 octet by octet.
    fn ends_one_by_one(text: &[u8]) -> Vec<usize> {
        let (mut ends, mut quoted, mut field_start) = (Vec::new(), false, true);
        let mut at = 0;
        while at < text.len() {
            match text[at] {
                b'"' if quoted && text.get(at + 1) == Some(&b'"') => at += 1,
                b'"' if quoted => quoted = false,
                b'"' if field_start => quoted = true,
                b'\n' if !quoted => ends.push(at + 1),
                _ => {}
            }
            field_start = !quoted && matches!(text[at], b',' | b'\n');
            at += 1;
        }
        ends
    }

    const TEXTS: [&[u8]; 8] = [
        b"a,b\nc,d\n",
        b"a,\"b\nc\",d\n\"\"\n\"x\"\"\n\",\"\"\"\"\n",
        b"5\" disk,a\nb\"\"c\n\"d\"e\"f\n,\"g\n\"\n",
        b"\"a\"\n\"b\",\"c\n\n\"\n\n\n",
        b"\"never closed\na\nb\n",
        b"\r\n\"a\r\nb\"\r\n",
        b"a,\"b\" \"c\nd\"\n,\"\",\"\n\"",
        b"",
    ];

    #[test]
    fn csv_is_cut_alike_wherever_the_pieces_end() {
        for text in TEXTS {
            let expected = ends_one_by_one(text);
            for first in 0..=text.len() {
                for second in first..=text.len() {
                    let mut cutter = CsvCutter::default();
                    let mut last = None;
                    for (start, end) in [(0, first), (first, second), (second, text.len())] {
                        last = cutter.last_end(&text[start..end]).map(|at| start + at).or(last);
                        let before = expected.iter().rfind(|&&at| at <= end).copied();
                        assert_eq!(last, before, "{} cut at {first}, {second}", text.escape_ascii());
                    }
                }
            }
        }
    }

    #[test]
    fn rows_are_found_one_by_one() {
        for text in TEXTS {
            for piece in 1..=text.len().max(1) {
                let (mut cutter, mut ends, mut start) = (CsvCutter::default(), Vec::new(), 0);
                while start < text.len() {
                    let end = (start + piece).min(text.len());
                    start = match cutter.first_end(&text[start..end]) {
                        Some(at) => {
                            ends.push(start + at);
                            start + at
                        }
                        None => end,
                    };
                }
                assert_eq!(ends, ends_one_by_one(text), "{} by {piece}", text.escape_ascii());
            }
        }
    }
}
