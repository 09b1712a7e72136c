//! The octets of a body as they come → its decoded octets, up to a limit (REP-24).
//!
//! The limit is for the output: a small body that decompresses to a huge one ends there. The input is limited
//! too, because a body can also decompress to nothing without an end.

use std::io::{self, Write};

use flate2::write::MultiGzDecoder;

/// The codings of a body that a request accepts.
pub(crate) const ACCEPTED: &str = "gzip, br, zstd";

/// The largest window of zstd that has to be kept in memory (RFC 9659).
const ZSTD_WINDOW_LOG: u32 = 23;

/// Decodes a body.
pub(crate) struct Body {
    coding: Coding,
    octets_in: usize,
    most_in: usize,
}

enum Coding {
    Identity(Sink),
    Gzip(Box<MultiGzDecoder<Sink>>),
    Brotli(Box<brotli_decompressor::DecompressorWriter<Sink>>),
    Zstd(Zstd),
}

/// The state of a decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// More may come.
    On,
    /// The limit is reached: nothing more is wanted.
    Full,
}

impl Body {
    /// A decoder for this `Content-Encoding`, which must be one of the accepted ones; otherwise `None`.
    /// Several nested codings are not accepted, because they are one way to make a small body decompress to a
    /// huge one.
    pub(crate) fn new(coding: Option<&str>, limit: usize) -> Option<Self> {
        let sink = Sink { octets: Vec::new(), limit };
        let coding = match coding.map(|coding| coding.trim().to_ascii_lowercase()).as_deref() {
            None | Some("" | "identity") => Coding::Identity(sink),
            Some("gzip" | "x-gzip") => Coding::Gzip(Box::new(MultiGzDecoder::new(sink))),
            Some("br") => {
                Coding::Brotli(Box::new(brotli_decompressor::DecompressorWriter::new(sink, 4096)))
            }
            Some("zstd") => Coding::Zstd(Zstd::new(sink)),
            Some(_) => return None,
        };
        Some(Self { coding, octets_in: 0, most_in: limit.saturating_mul(2).saturating_add(1 << 16) })
    }

    /// Takes more of the body.
    pub(crate) fn push(&mut self, octets: &[u8]) -> io::Result<Flow> {
        self.octets_in += octets.len();
        let written = match &mut self.coding {
            Coding::Identity(sink) => sink.write_all(octets),
            Coding::Gzip(decoder) => decoder.write_all(octets),
            Coding::Brotli(decoder) => decoder.write_all(octets),
            Coding::Zstd(decoder) => decoder.push(octets),
        };
        if self.sink().is_full() {
            return Ok(Flow::Full);
        }
        written?;
        if self.octets_in > self.most_in {
            let message = format!("{} octets of it contain almost no data", self.octets_in);
            return Err(io::Error::other(message));
        }
        Ok(Flow::On)
    }

    /// The body has ended: fails if its coding has not.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        if self.octets_in == 0 {
            return Ok(());
        }
        match &mut self.coding {
            Coding::Identity(_) => Ok(()),
            Coding::Gzip(decoder) => decoder.try_finish(),
            Coding::Brotli(decoder) => decoder.close(),
            Coding::Zstd(decoder) => decoder.end(),
        }
    }

    /// The decoded octets, and whether there are more after them.
    pub(crate) fn into_octets(self) -> (Vec<u8>, bool) {
        let is_cut = self.sink().is_full();
        let mut octets = match self.coding {
            Coding::Identity(sink) => sink.octets,
            Coding::Gzip(mut decoder) => std::mem::take(&mut decoder.get_mut().octets),
            Coding::Brotli(mut decoder) => std::mem::take(&mut decoder.get_mut().octets),
            Coding::Zstd(decoder) => decoder.sink.octets,
        };
        octets.shrink_to_fit();
        (octets, is_cut)
    }

    fn sink(&self) -> &Sink {
        match &self.coding {
            Coding::Identity(sink) => sink,
            Coding::Gzip(decoder) => decoder.get_ref(),
            Coding::Brotli(decoder) => decoder.get_ref(),
            Coding::Zstd(decoder) => &decoder.sink,
        }
    }
}

/// Takes octets up to a limit, and fails then.
struct Sink {
    octets: Vec<u8>,
    limit: usize,
}

impl Sink {
    fn is_full(&self) -> bool {
        self.octets.len() > self.limit
    }
}

impl Write for Sink {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        // One octet more than the limit shows that a file is longer than the limit.
        let room = (self.limit + 1).saturating_sub(self.octets.len());
        if room == 0 && !octets.is_empty() {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "the limit is reached"));
        }
        let taken = octets.len().min(room);
        self.octets.extend_from_slice(&octets[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A decoder for zstd that knows whether its last frame has ended.
struct Zstd {
    decoder: Option<zstd::stream::raw::Decoder<'static>>,
    sink: Sink,
    is_between_frames: bool,
}

impl Zstd {
    fn new(sink: Sink) -> Self {
        let decoder = zstd::stream::raw::Decoder::new().and_then(|mut decoder| {
            decoder.set_parameter(zstd::zstd_safe::DParameter::WindowLogMax(ZSTD_WINDOW_LOG))?;
            Ok(decoder)
        });
        Self { decoder: decoder.ok(), sink, is_between_frames: false }
    }

    fn push(&mut self, octets: &[u8]) -> io::Result<()> {
        use zstd::stream::raw::{InBuffer, Operation, OutBuffer};
        // If the decoder is called after the end of a frame, it expects another one. So it must not be called
        // with an empty piece, nor after a buffer that is full exactly there.
        if octets.is_empty() {
            return Ok(());
        }
        let decoder = self.decoder.as_mut().ok_or_else(|| io::Error::other("no memory for zstd"))?;
        let mut input = InBuffer::around(octets);
        let mut buffer = [0; 8192];
        loop {
            let mut output = OutBuffer::around(&mut buffer[..]);
            let wanted = decoder.run(&mut input, &mut output)?;
            self.is_between_frames = wanted == 0;
            let written = output.pos();
            let has_ended =
                input.pos() == octets.len() && (self.is_between_frames || written < buffer.len());
            self.sink.write_all(&buffer[..written])?;
            if has_ended {
                return Ok(());
            }
        }
    }

    fn end(&mut self) -> io::Result<()> {
        if self.is_between_frames {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the zstd frame has no end"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coded(coding: &str, plain: &[u8]) -> Vec<u8> {
        match coding {
            "gzip" => {
                let mut encoder =
                    flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
                encoder.write_all(plain).and_then(|()| encoder.finish()).expect("gzip")
            }
            "zstd" => zstd::bulk::compress(plain, 3).expect("zstd"),
            "br" => {
                let mut out = Vec::new();
                let mut encoder = brotli::CompressorWriter::new(&mut out, 4096, 5, 20);
                encoder.write_all(plain).expect("brotli");
                drop(encoder);
                out
            }
            _ => plain.to_vec(),
        }
    }

    fn decode(coding: &str, octets: &[u8], piece: usize, limit: usize) -> io::Result<(Vec<u8>, bool)> {
        let mut body = Body::new(Some(coding), limit).expect("a coding");
        for piece in octets.chunks(piece) {
            if body.push(piece)? == Flow::Full {
                return Ok(body.into_octets());
            }
        }
        body.end()?;
        Ok(body.into_octets())
    }

    const CODINGS: [&str; 4] = ["identity", "gzip", "br", "zstd"];

    #[test]
    fn every_coding_in_every_piece() {
        let plain = b"User-agent: *\nDisallow: /private/\n".repeat(300);
        for coding in CODINGS {
            let octets = coded(coding, &plain);
            for piece in [1, 7, 1000, 1 << 20] {
                let decoded = decode(coding, &octets, piece, plain.len()).expect(coding);
                assert!(decoded == (plain.clone(), false), "{coding} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn ends_that_coincide_with_those_of_buffers() {
        for length in [1, 4096, 8191, 8192, 8193, 16_384] {
            let plain = vec![b'#'; length];
            for coding in CODINGS {
                let mut body = Body::new(Some(coding), length).expect("a coding");
                for piece in [&coded(coding, &plain)[..], b""] {
                    assert_eq!(body.push(piece).expect(coding), Flow::On, "{coding}, {length} octets");
                }
                body.end().expect(coding);
                assert!(body.into_octets() == (plain.clone(), false), "{coding}, {length} octets");
            }
        }
    }

    #[test]
    fn a_bomb_ends_at_the_limit() {
        let plain = vec![b'a'; 64 << 20];
        for coding in &CODINGS[1..] {
            let octets = coded(coding, &plain);
            assert!(octets.len() < 100_000, "{coding} is a bomb");
            let (decoded, is_cut) = decode(coding, &octets, 16 << 10, 1000).expect(coding);
            assert_eq!((decoded.len(), is_cut), (1001, true), "{coding}");
        }
    }

    #[test]
    fn a_body_that_ends_early_is_an_error() {
        let plain: Vec<u8> = (0..20_000u32).flat_map(|n| n.to_string().into_bytes()).collect();
        for coding in &CODINGS[1..] {
            let octets = coded(coding, &plain);
            for end in [1, octets.len() / 2, octets.len() - 1] {
                assert!(decode(coding, &octets[..end], 999, 1 << 20).is_err(), "{coding} cut at {end}");
            }
            assert!(decode(coding, b"User-agent: *\nDisallow: /\n", 99, 1 << 20).is_err(), "{coding}");
        }
    }

    #[test]
    fn octets_that_hold_nothing_end_too() {
        // Empty members of gzip, one after the other.
        let nothing = coded("gzip", b"").repeat(20_000);
        assert!(decode("gzip", &nothing, 4096, 1000).is_err());
        assert!(Body::new(Some("gzip, gzip"), 1000).is_none());
        assert!(Body::new(Some("compress"), 1000).is_none());
    }
}
