//! The kernel over every layout of strings, and files that are not what they say.
#![cfg(feature = "columns")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int64Array, LargeStringArray, NullArray, RecordBatch,
    StringArray, StringViewArray, StructArray,
};
use mayi::access::SiteFile;
use mayi::{Crawler, ReadOptions};
use mayi_tables::answer::RowAnswer;
use mayi_tables::files::{Files, RobotsSource};
use mayi_tables::kernel::{self, RowQuestion};
use mayi_tables::reading::{Table, TableFormat};
use mayi_tables::writing::TableWriter;

const ROWS: [Option<&str>; 6] = [
    Some("https://example.com/private/x"),
    None,
    Some("https://example.com/"),
    Some("nonsense"),
    Some("https://example.com/private/press"),
    Some("https://example.com/private/x"),
];

fn files() -> Files {
    let text = "User-agent: *\nDisallow: /private/\nAllow: /private/press\nContent-Usage: train-ai=n\n";
    let options = ReadOptions::default();
    let file = SiteFile::read(text.as_bytes().to_vec(), &options);
    Files::new(RobotsSource::One(file), options, 1 << 20).asking_for_uses(true)
}

fn crawler(name: &str) -> Crawler {
    Crawler::new(name).expect("a product token")
}

/// The URLs in all layouts that strings can have.
fn layouts() -> Vec<ArrayRef> {
    let utf8 = StringArray::from(ROWS.to_vec());
    let keys = [Some(0), None, Some(1), Some(2), Some(3), Some(0)];
    let values = StringViewArray::from(vec![ROWS[0], ROWS[2], ROWS[3], ROWS[4], Some("unused")]);
    let views = DictionaryArray::<Int32Type>::new(keys.into_iter().collect(), Arc::new(values));
    vec![
        Arc::new(utf8),
        Arc::new(LargeStringArray::from(ROWS.to_vec())),
        Arc::new(StringViewArray::from(ROWS.to_vec())),
        Arc::new(ROWS.into_iter().collect::<DictionaryArray<Int8Type>>()),
        Arc::new(views),
        // A slice starts in the middle of its buffers.
        Arc::new(StringArray::from([&[Some("https://a/")], &ROWS[..]].concat()).slice(1, ROWS.len())),
    ]
}

#[test]
fn every_layout_of_strings_is_answered_alike() {
    let files = files();
    let answers = [
        RowAnswer::Allowed,
        RowAnswer::Reason,
        RowAnswer::Rule,
        RowAnswer::RuleLine,
        RowAnswer::Train,
        RowAnswer::Error,
    ];
    for urls in layouts() {
        let crawlers = [crawler("ExampleBot")];
        let question = RowQuestion { files: &files, crawlers: &crawlers, answers: &answers };
        let decided = question.decide(&urls).expect("it is text");
        let allowed: Vec<_> = decided.column(0).as_boolean().iter().collect();
        assert_eq!(allowed, [Some(false), None, Some(true), None, Some(true), Some(false)]);
        let reasons = decided.column(1).as_dictionary::<Int8Type>();
        let reasons: Vec<_> =
            reasons.downcast_dict::<StringArray>().expect("strings").into_iter().collect();
        assert_eq!(reasons, [Some("rule"), None, Some("no-rule"), None, Some("rule"), Some("rule")]);
        let rules: Vec<_> = decided.column(2).as_string::<i32>().iter().collect();
        assert_eq!(
            rules,
            [Some("/private/"), None, None, None, Some("/private/press"), Some("/private/")]
        );
        let lines: Vec<_> = decided.column(3).as_primitive::<UInt32Type>().iter().collect();
        assert_eq!(lines, [Some(2), None, None, None, Some(3), Some(2)]);
        let train = decided.column(4).as_dictionary::<Int8Type>();
        let train: Vec<_> =
            train.downcast_dict::<StringArray>().expect("strings").into_iter().collect();
        let (unknown, no) = (Some("unknown"), Some("disallowed"));
        assert_eq!(train, [unknown, None, no, None, no, unknown]);
        let errors: Vec<_> = decided.column(5).as_string::<i32>().iter().collect();
        assert_eq!(errors[1], Some("invalid-url: the row has no URL"));
        assert!(
            errors[3].is_some_and(|error| error.starts_with("invalid-url: `nonsense` has no scheme"))
        );
        assert_eq!(errors.iter().filter(|error| error.is_some()).count(), 2);
    }
}

#[test]
fn what_is_no_text_is_refused_and_nothing_is_nothing() {
    let files = files();
    let (crawlers, answers) = ([crawler("ExampleBot")], [RowAnswer::Allowed, RowAnswer::Error]);
    let question = RowQuestion { files: &files, crawlers: &crawlers, answers: &answers };
    let decide = |urls: &dyn Array| question.decide(urls);
    let message = decide(&Int64Array::from(vec![1])).expect_err("it is refused").to_string();
    assert!(message.contains("Int64") && message.contains("LargeUtf8"), "{message}");
    let nulls = decide(&NullArray::new(2)).expect("rows without a URL");
    assert_eq!((nulls.len(), nulls.column(1).null_count()), (2, 0));
    let empty = DictionaryArray::<Int8Type>::new(
        vec![None, None].into_iter().collect(),
        Arc::new(StringArray::new_null(0)),
    );
    assert_eq!(decide(&empty).expect("rows without a URL").column(1).null_count(), 0);
    assert_eq!(decide(&StringArray::new_null(0)).expect("no rows").len(), 0);
}

/// Threads share the rows, and the answers are those of one thread, in order.
#[test]
fn many_rows_are_answered_as_few_are() {
    let files = files();
    let (crawlers, answers) =
        ([crawler("ExampleBot")], [RowAnswer::Allowed, RowAnswer::Rule, RowAnswer::Error]);
    let question = RowQuestion { files: &files, crawlers: &crawlers, answers: &answers };
    let urls = |rows: std::ops::Range<usize>| -> ArrayRef {
        let url = |row: usize| match row % 5 {
            0 => None,
            1 => Some(format!("https://example.com/private/{row}")),
            2 => Some("nonsense".to_owned()),
            _ => Some(format!("https://{}.example/a", row / 100)),
        };
        Arc::new(rows.map(url).collect::<StringArray>())
    };
    let parts = [urls(0..0), urls(0..100_001), urls(100_001..100_002), urls(100_002..200_000)];
    let decided = question.decide_all(&parts).expect("strings");
    let origins = kernel::origins(&parts).expect("strings");
    let whole = question.decide(&urls(0..200_000)).expect("strings");
    let mut row = 0;
    for part in decided {
        assert_eq!(part.as_struct(), &whole.slice(row, part.len()));
        row += part.len();
    }
    assert_eq!(row, 200_000);
    let origins: Vec<_> = origins.iter().flat_map(|part| part.as_string::<i32>().iter()).collect();
    assert_eq!(origins.len(), 200_000);
    for (row, origin) in origins.into_iter().enumerate() {
        match row % 5 {
            0 | 2 => assert_eq!(origin, None),
            1 => assert_eq!(origin, Some("https://example.com")),
            _ => assert_eq!(origin, Some(&*format!("https://{}.example", row / 100))),
        }
    }
}

/// The same files are asked for crawlers alone and together, and what was prepared for one is not taken for the others'.
#[test]
fn crawlers_ask_alone_and_together() {
    let text = "User-agent: a\nDisallow: /\n\nUser-agent: b\nDisallow: /b\n";
    let options = ReadOptions::default();
    let file = SiteFile::read(text.as_bytes().to_vec(), &options);
    let files = Files::new(RobotsSource::One(file), options, 1 << 20);
    let urls = StringArray::from(vec!["https://example.com/b", "https://example.com/", "x"]);
    let ask = |names: &[&str]| {
        let crawlers: Vec<_> = names.iter().map(|name| crawler(name)).collect();
        let answers = [RowAnswer::Allowed, RowAnswer::Error, RowAnswer::Agent];
        let question = RowQuestion { files: &files, crawlers: &crawlers, answers: &answers };
        let decided = question.decide(&urls).expect("strings");
        assert_eq!(decided.fields(), &question.fields());
        decided
    };
    let allowed = |decided: &StructArray| -> Vec<_> {
        assert_eq!(decided.column(1).null_count(), 2);
        decided.column(0).as_boolean().iter().collect()
    };
    let (of_a, of_b) = ([Some(false), Some(false), None], [Some(false), Some(true), None]);
    assert_eq!(allowed(&ask(&["a"])), of_a);
    let both = ask(&["a", "b"]);
    assert_eq!(both.column_names(), ["a", "b"]);
    assert_eq!(allowed(both.column(0).as_struct()), of_a);
    assert_eq!(allowed(both.column(1).as_struct()), of_b);
    let agents = both.column(1).as_struct().column(2).as_string::<i32>();
    assert!(agents.iter().all(|agent| agent == Some("b")), "in the row with an error too: {agents:?}");
    assert_eq!(allowed(&ask(&["b"])), of_b);
}

/// A pattern of half a megabyte is not written into every row.
#[test]
fn a_long_pattern_is_cut() {
    let text = format!("User-agent: *\nDisallow: /{}\n", "*".repeat(400_000));
    let options = ReadOptions::default();
    let file = SiteFile::read(text.into_bytes(), &options);
    let files = Files::new(RobotsSource::One(file), options, 1 << 20);
    let question = RowQuestion {
        files: &files,
        crawlers: &[crawler("a")],
        answers: &[RowAnswer::Rule, RowAnswer::RuleLine],
    };
    let urls = StringArray::from(vec!["https://example.com/b"; 10_000]);
    let decided = question.decide(&urls).expect("strings");
    let rule = decided.column(0).as_string::<i32>().value(9_999);
    assert!(rule.len() < 5_000 && rule.starts_with("/**") && rule.ends_with("*…"), "{}", rule.len());
    assert_eq!(decided.column(1).as_primitive::<UInt32Type>().value(9_999), 2);
}

/// A table of URLs, with so many rows in each of two row groups.
fn sample(path: &Path, kind: TableFormat, rows: i64) {
    let batch = |first: i64| {
        let urls: StringArray =
            (first..first + rows).map(|n| Some(format!("https://example.com/{n}"))).collect();
        let numbers: Int64Array = (first..first + rows).collect();
        let kinds: DictionaryArray<Int32Type> = (first..first + rows).map(|_| "kind").collect();
        RecordBatch::try_from_iter([
            ("url", Arc::new(urls) as ArrayRef),
            ("n", Arc::new(numbers)),
            ("kind", Arc::new(kinds)),
        ])
        .expect("columns of one length")
    };
    let schema = batch(0).schema();
    let mut writer = TableWriter::new(Vec::new(), kind, &schema).expect("a table");
    for first in [0, rows] {
        let encoded = writer.encoder().encode(vec![batch(first)]).expect("rows");
        writer.write(encoded).expect("it is written");
    }
    fs::write(path, writer.finish().expect("it ends")).expect("a file");
}

/// How many rows a file has, read part by part.
fn rows_of(path: &Path, kind: TableFormat) -> Result<usize, String> {
    let table = Table::open(path, kind).map_err(|error| error.to_string())?;
    let all: Vec<usize> = (0..table.schema().fields().len()).collect();
    let mut rows = 0;
    for part in table.parts() {
        for batch in table.read(&part, &all).map_err(|error| error.to_string())? {
            rows += batch.num_rows();
        }
    }
    Ok(rows)
}

#[test]
fn a_table_that_is_cut_anywhere_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("table");
    for kind in [TableFormat::Parquet, TableFormat::Ipc] {
        sample(&path, kind, 5);
        assert_eq!(rows_of(&path, kind), Ok(10));
        let whole = fs::read(&path).expect("a file");
        for end in 0..whole.len() {
            fs::write(&path, &whole[..end]).expect("a file");
            let error = rows_of(&path, kind).expect_err("it is cut");
            assert!(
                error.contains(&format!("it is not a complete {} file", kind.name())),
                "{kind:?} cut at {end}: {error}"
            );
        }
    }
}

/// Whatever octet is damaged, there is an answer or an error: no panic, and no memory that the file does not need.
#[test]
fn a_table_that_is_damaged_anywhere_ends_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("table");
    for kind in [TableFormat::Parquet, TableFormat::Ipc] {
        sample(&path, kind, 5);
        let whole = fs::read(&path).expect("a file");
        let mut errors = 0;
        for place in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[place] ^= 0x21;
            fs::write(&path, &damaged).expect("a file");
            errors += usize::from(rows_of(&path, kind).is_err());
        }
        assert!(errors > whole.len() / 10, "{kind:?}: {errors} of {}", whole.len());
    }
}

/// A footer that tells of more rows than there are costs no memory for them, and the first part of them is an error.
#[test]
fn a_row_group_that_is_said_to_be_huge_is_an_error() {
    use parquet::file::metadata::{ParquetMetaDataReader, ParquetMetaDataWriter};
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("table");
    sample(&path, TableFormat::Parquet, 5);
    let whole = fs::read(&path).expect("a file");
    let metadata = ParquetMetaDataReader::new()
        .parse_and_finish(&fs::File::open(&path).expect("a file"))
        .expect("a footer");
    let mut builder = metadata.into_builder();
    let groups = builder
        .take_row_groups()
        .into_iter()
        .map(|group| group.into_builder().set_num_rows(1 << 60).build().expect("a row group"));
    let lying = builder.set_row_groups(groups.collect()).build();
    let length =
        u32::from_le_bytes(whole[whole.len() - 8..whole.len() - 4].try_into().expect("4 octets"));
    let mut octets = whole[..whole.len() - 8 - length as usize].to_vec();
    ParquetMetaDataWriter::new(&mut octets, &lying).finish().expect("a footer");
    fs::write(&path, octets).expect("a file");
    let error = rows_of(&path, TableFormat::Parquet).expect_err("it lies");
    assert!(
        error.contains("row group 0") && error.contains("10 rows") || error.contains("5 rows"),
        "{error}"
    );
}

/// A compressed buffer starts with the number of its octets, for which the reader would take memory at once.
#[test]
fn a_compressed_batch_that_is_said_to_be_huge_is_an_error() {
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("table");
    let numbers: Int64Array = (0..1000).map(|_| 7).collect();
    let batch = RecordBatch::try_from_iter([("n", Arc::new(numbers) as ArrayRef)]).expect("a column");
    for compression in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let options = IpcWriteOptions::default().try_with_compression(Some(compression));
        let options = options.expect("it can be compressed");
        let mut writer =
            FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).expect("a table");
        writer.write(&batch).expect("it is written");
        let whole = writer.into_inner().expect("it ends");
        fs::write(&path, &whole).expect("a file");
        assert_eq!(rows_of(&path, TableFormat::Ipc), Ok(1000));

        // The thousand numbers have 8,000 octets, and the buffer says so.
        let said = 8000_i64.to_le_bytes();
        let at = whole.windows(8).position(|octets| octets == said).expect("the length of a buffer");
        for (lie, message) in [(1_i64 << 60, "decompressed"), (1 << 31, "at most 1073741824")] {
            let mut lying = whole.clone();
            lying[at..at + 8].copy_from_slice(&lie.to_le_bytes());
            fs::write(&path, lying).expect("a file");
            let error = rows_of(&path, TableFormat::Ipc).expect_err("it lies");
            assert!(error.contains(message), "{error}");
        }
    }
}

#[test]
fn parts_are_small_and_come_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("table");
    sample(&path, TableFormat::Parquet, 150_000);
    let table = Table::open(&path, TableFormat::Parquet).expect("a table");
    let mut next = 0;
    let mut parts = 0;
    for part in table.parts() {
        let batches = table.read(&part, &[1]).expect("it is whole");
        assert!(batches.iter().map(RecordBatch::num_rows).sum::<usize>() <= 1 << 17);
        for batch in batches {
            for number in batch.column(0).as_primitive::<arrow_array::types::Int64Type>().values() {
                assert_eq!(*number, next);
                next += 1;
            }
        }
        parts += 1;
    }
    assert_eq!((next, parts), (300_000, 4));
}
