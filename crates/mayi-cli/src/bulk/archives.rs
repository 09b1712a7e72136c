//! WARCs and tables of robots.txt files → an archive, for `mayi bulk` and `mayi cache import`.

use std::io::BufReader;
use std::path::PathBuf;

use mayi_tables::archive::Archive;
use mayi_tables::compressed::decompressed;
use mayi_tables::warc;

use super::inputs;
use crate::exit::Failure;
use crate::input;

/// An archive, and the errors of the files that it was read from. The records before an error are in it.
pub(crate) struct Loaded {
    pub(crate) archive: Archive,
    pub(crate) troubles: Vec<String>,
}

/// Reads WARCs, and folders of them, compressed or not. Bodies are read up to so many octets.
pub(crate) fn of_warcs(paths: &[PathBuf], most: usize) -> Result<Loaded, Failure> {
    let mut loaded = Loaded { archive: Archive::default(), troubles: Vec::new() };
    for path in inputs::expanded(paths)? {
        let input =
            decompressed(input::open(&path)?).map_err(|error| input::unreadable(&path, &error))?;
        // A gzip member for each record is short.
        let input = BufReader::with_capacity(1 << 16, input);
        if let Err(error) = warc::read(input, most, &mut loaded.archive) {
            loaded.troubles.push(format!("`{}` can't be read to its end: {error}", input::name(&path)));
        }
    }
    Ok(loaded)
}

/// Reads tables of robots.txt files.
#[cfg(feature = "columns")]
pub(crate) fn of_tables(paths: &[PathBuf], most: usize) -> Result<Loaded, Failure> {
    use mayi_tables::reading::TableFormat;
    let mut loaded = Loaded { archive: Archive::default(), troubles: Vec::new() };
    for path in inputs::expanded(paths)? {
        let failed =
            |error| Failure::new(format_args!("`{}` can't be read: {error}", input::name(&path)));
        let kind = kind_of(&path)?.unwrap_or(TableFormat::Parquet);
        let skipped = mayi_tables::robots_table::read(&path, kind, most, &mut loaded.archive);
        let skipped = skipped.map_err(failed)?;
        if let Some(first) = skipped.first {
            let (rows, name) = (skipped.rows, input::name(&path));
            loaded
                .troubles
                .push(format!("{rows} rows of `{name}` have no origin; the first is row {first}"));
        }
    }
    Ok(loaded)
}

/// Without the feature there are no such tables.
#[cfg(not(feature = "columns"))]
pub(crate) fn of_tables(_: &[PathBuf], _: usize) -> Result<Loaded, Failure> {
    Err(Failure::new("this mayi can't read tables: it was built without the feature `columns`"))
}

/// How a table is written, by its content.
#[cfg(feature = "columns")]
fn kind_of(path: &std::path::Path) -> Result<Option<mayi_tables::reading::TableFormat>, Failure> {
    use std::io::Read;
    let mut start = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(8).read_to_end(&mut start));
    read.map_err(|error| input::unreadable(path, &error))?;
    Ok(mayi_tables::reading::TableFormat::of_start(&start))
}
