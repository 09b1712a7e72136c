//! Octets that may be compressed → the decompressed octets; and the reverse.
//!
//! Compressed input is recognised by its first octets, and several compressed streams in a row are read as
//! one. The ending of a name says how output is compressed. Everything is streamed: memory does not grow with
//! the size.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bzip2::read::MultiBzDecoder;
use bzip2::write::BzEncoder;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzReader, XzWriter};

/// The largest window that is decompressed, as a power of two: that of `zstd --long`, and twice that of `xz -9`.
const WINDOW_LOG: u32 = 27;

/// How much a decompressor is asked for at once. When it finds damage, this much can be lost, so it is
/// little.
const PIECE: usize = 1 << 13;

/// How octets are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// gzip (RFC 1952).
    Gzip,
    /// Zstandard (RFC 8878).
    Zstd,
    /// bzip2.
    Bzip2,
    /// xz.
    Xz,
}

impl Compression {
    /// How many octets say how something is compressed.
    const MARK: usize = 6;

    /// What the first octets say.
    fn of_start(start: &[u8]) -> Option<Self> {
        match start {
            [0x1F, 0x8B, ..] => Some(Self::Gzip),
            // The second is a frame to be skipped, with which some programs begin.
            [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Some(Self::Zstd),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Self::Bzip2),
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            _ => None,
        }
    }

    /// What the ending of a name says.
    pub fn of_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_ascii_lowercase().to_str()? {
            "gz" => Some(Self::Gzip),
            "zst" => Some(Self::Zstd),
            "bz2" => Some(Self::Bzip2),
            "xz" => Some(Self::Xz),
            _ => None,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
        }
    }
}

/// A name without the ending that says how the file is compressed.
pub fn plain_name(path: &Path) -> &Path {
    let stem = path.file_stem().unwrap_or(OsStr::new(""));
    if Compression::of_name(path).is_some() { Path::new(stem) } else { path }
}

/// The same input, decompressed where its first octets say that it is compressed.
///
/// # Errors
/// When its first octets can't be read.
pub fn decompressed(mut input: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut start = [0; Compression::MARK];
    let mut length = 0;
    while length < start.len() {
        match input.read(&mut start[length..]) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let start = &start[..length];
    let whole = io::Cursor::new(start.to_vec()).chain(input);
    let Some(compression) = Compression::of_start(start) else { return Ok(Box::new(whole)) };
    let position = Arc::new(Position::default());
    let whole =
        BufReader::with_capacity(1 << 16, Positioned { input: whole, position: Arc::clone(&position) });
    let decoder: Box<dyn Read + Send> = match compression {
        Compression::Gzip => Box::new(MultiGzDecoder::new(whole)),
        Compression::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(whole)?;
            decoder.window_log_max(WINDOW_LOG)?;
            Box::new(decoder)
        }
        Compression::Bzip2 => Box::new(MultiBzDecoder::new(whole)),
        // In units of 1,024 octets; the decoder itself takes a little more than its window.
        Compression::Xz => {
            Box::new(XzReader::new_mem_limit(whole, true, (1 << (WINDOW_LOG - 10)) + 1024))
        }
    };
    Ok(Box::new(Decompressed { decoder, compression, position, failed: None }))
}

/// How far a compressed input has been read.
#[derive(Debug, Default)]
struct Position {
    octets: AtomicU64,
    /// Whether the end of the input was reached.
    is_past_end: AtomicBool,
}

struct Positioned<R> {
    input: R,
    position: Arc<Position>,
}

impl<R: Read> Read for Positioned<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.position.octets.fetch_add(count as u64, Ordering::Relaxed);
        self.position.is_past_end.store(count == 0, Ordering::Relaxed);
        Ok(count)
    }
}

/// First returns what was decompressed before the damage, and then the error with its place.
struct Decompressed {
    decoder: Box<dyn Read + Send>,
    compression: Compression,
    position: Arc<Position>,
    failed: Option<io::Error>,
}

impl Read for Decompressed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let mut filled = 0;
        while filled < buffer.len() {
            let end = buffer.len().min(filled + PIECE);
            match self.decoder.read(&mut buffer[filled..end]) {
                Ok(count) => {
                    filled += count;
                    // There may be more only when somebody has written it.
                    if filled < end {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let error = self.explained(&error);
                    if filled == 0 {
                        return Err(error);
                    }
                    self.failed = Some(error);
                    break;
                }
            }
        }
        Ok(filled)
    }
}

impl Decompressed {
    fn explained(&self, error: &io::Error) -> io::Error {
        let (name, position) = (self.compression.name(), self.position.octets.load(Ordering::Relaxed));
        let message = if self.position.is_past_end.load(Ordering::Relaxed) {
            format!(
                "its {name} data is cut off: it ends at octet {position}, before the end of the data"
            )
        } else {
            format!("its {name} data is damaged at octet {position} or before: {error}")
        };
        io::Error::new(error.kind(), message)
    }
}

/// An output that compresses what is written.
pub struct Compressor<W: Write>(Coder<W>);

enum Coder<W: Write> {
    /// As it is.
    Plain(W),
    Gzip(GzEncoder<W>),
    Zstd(zstd::stream::write::Encoder<'static, W>),
    Bzip2(BzEncoder<W>),
    Xz(Box<XzWriter<W>>),
}

impl<W: Write> Compressor<W> {
    /// Compresses what is written to this output, or passes it on as it is.
    ///
    /// # Errors
    /// When a compressor can't be made.
    pub fn new(output: W, compression: Option<Compression>) -> io::Result<Self> {
        Ok(Self(match compression {
            None => Coder::Plain(output),
            Some(Compression::Gzip) => {
                Coder::Gzip(GzEncoder::new(output, flate2::Compression::default()))
            }
            Some(Compression::Zstd) => {
                let mut encoder = zstd::stream::write::Encoder::new(output, 3)?;
                encoder.include_checksum(true)?;
                Coder::Zstd(encoder)
            }
            Some(Compression::Bzip2) => {
                Coder::Bzip2(BzEncoder::new(output, bzip2::Compression::default()))
            }
            Some(Compression::Xz) => {
                Coder::Xz(Box::new(XzWriter::new(output, XzOptions::with_preset(6))?))
            }
        }))
    }

    /// Writes the end of the compressed stream, and gives the output back.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn finish(self) -> io::Result<W> {
        match self.0 {
            Coder::Plain(output) => Ok(output),
            Coder::Gzip(encoder) => encoder.finish(),
            Coder::Zstd(encoder) => encoder.finish(),
            Coder::Bzip2(encoder) => encoder.finish(),
            Coder::Xz(encoder) => encoder.finish(),
        }
    }
}

impl<W: Write> Write for Compressor<W> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Coder::Plain(output) => output.write(octets),
            Coder::Gzip(encoder) => encoder.write(octets),
            Coder::Zstd(encoder) => encoder.write(octets),
            Coder::Bzip2(encoder) => encoder.write(octets),
            Coder::Xz(encoder) => encoder.write(octets),
        }
    }

    /// Flushes output that is not compressed. Flushing a compressor would only make its output larger.
    fn flush(&mut self) -> io::Result<()> {
        if let Coder::Plain(output) = &mut self.0 { output.flush() } else { Ok(()) }
    }
}

impl<W: Write> fmt::Debug for Compressor<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compressor").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Compression; 4] =
        [Compression::Gzip, Compression::Zstd, Compression::Bzip2, Compression::Xz];

    fn compressed(octets: &[u8], compression: Compression) -> Vec<u8> {
        let mut output = Compressor::new(Vec::new(), Some(compression)).expect("a compressor");
        output.write_all(octets).expect("it is written");
        output.finish().expect("it ends")
    }

    /// What is read of octets, and how that ends.
    fn read(octets: Vec<u8>) -> (Vec<u8>, io::Result<()>) {
        let mut read = Vec::new();
        let ended = decompressed(io::Cursor::new(octets))
            .and_then(|mut input| input.read_to_end(&mut read).map(|_| ()));
        (read, ended)
    }

    #[test]
    fn what_is_compressed_is_read_again_in_as_many_streams_as_there_are() {
        let text = "https://example.com/\n".repeat(20_000).into_bytes();
        for compression in ALL {
            let mut streams = compressed(&text, compression);
            streams.extend(compressed(b"", compression));
            streams.extend(compressed(b"last\n", compression));
            let (octets, ended) = read(streams);
            ended.expect("it is whole");
            assert_eq!(octets, [&*text, b"last\n"].concat(), "{compression:?}");
        }
        for plain in [&b""[..], b"B", b"BZh", b"\x1F", b"url\nhttps://a/\n"] {
            assert_eq!(read(plain.to_vec()).0, plain);
        }
    }

    /// Wherever a stream ends too early, that is said, and what came before is a start of the text.
    #[test]
    fn a_stream_that_is_cut_anywhere_says_so() {
        let text: Vec<u8> =
            (0..300).flat_map(|n| format!("https://example.com/{n}\n").into_bytes()).collect();
        for compression in ALL {
            let first = compressed(&text, compression);
            let both = [&*first, &*first].concat();
            for cut in Compression::MARK..both.len() {
                let (octets, ended) = read(both[..cut].to_vec());
                let whole = [&*text, &*text].concat();
                assert!(whole.starts_with(&octets), "{compression:?} cut at {cut}");
                if cut == first.len() {
                    // A whole stream is a whole file.
                    assert!(ended.is_ok() && octets == text, "{compression:?}");
                    continue;
                }
                let error = ended.expect_err("it is cut").to_string();
                assert!(
                    error.contains("cut off") && error.contains(&cut.to_string()),
                    "{compression:?} cut at {cut}: {error}"
                );
            }
        }
    }

    /// Damage is found, and no more is given out than there was.
    #[test]
    fn a_stream_that_is_damaged_anywhere_says_so() {
        let text: Vec<u8> =
            (0..300).flat_map(|n| format!("https://example.com/{n}\n").into_bytes()).collect();
        for compression in ALL {
            let stream = compressed(&text, compression);
            for place in Compression::MARK..stream.len() {
                let mut damaged = stream.clone();
                damaged[place] ^= 0x10;
                let (octets, ended) = read(damaged);
                // Damage in the names and times of a header does no harm.
                assert!(ended.is_err() || octets == text, "{compression:?} damaged at {place}");
            }
        }
    }

    #[test]
    fn a_bomb_costs_no_memory() {
        for compression in ALL {
            let mut bomb = Compressor::new(Vec::new(), Some(compression)).expect("a compressor");
            for _ in 0..8 {
                bomb.write_all(&vec![b'a'; 1 << 20]).expect("it is written");
            }
            let bomb = bomb.finish().expect("it ends");
            let mut input = decompressed(io::Cursor::new(bomb)).expect("a stream");
            let (mut buffer, mut total) = (vec![0; 1 << 16], 0);
            loop {
                let count = input.read(&mut buffer).expect("it is whole");
                if count == 0 {
                    break;
                }
                total += count;
            }
            assert_eq!(total, 8 << 20, "{compression:?}");
        }
    }

    #[test]
    fn endings_say_how_to_compress() {
        for (name, compression, plain) in [
            ("a.csv.gz", Some(Compression::Gzip), "a.csv"),
            ("x/a.tsv.ZST", Some(Compression::Zstd), "a.tsv"),
            ("a.bz2", Some(Compression::Bzip2), "a"),
            ("a.xz", Some(Compression::Xz), "a"),
            ("a.csv", None, "a.csv"),
        ] {
            let path = Path::new(name);
            assert_eq!((Compression::of_name(path), plain_name(path)), (compression, Path::new(plain)));
        }
    }
}
