//! `mayi bulk` with Parquet and Arrow IPC: the same answers as for text, columns passed through as they are, and files that
//! are not what they should be.
#![cfg(feature = "columns")]

mod common;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int16Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, DictionaryArray, Float64Array, Int64Array,
    LargeStringArray, RecordBatch, StringArray, StringViewArray, StructArray,
    TimestampMicrosecondArray,
};
use common::mayi;
use mayi_tables::reading::{Table, TableFormat};
use mayi_tables::writing::TableWriter;
use serde_json::{Value, json};

const FILE: &str =
    "User-agent: *\nDisallow: /private/\nAllow: /private/press\n\nUser-agent: OtherBot\nDisallow: /x\n";

const URLS: [Option<&str>; 7] = [
    Some("https://a/private/x"),
    Some("https://a/private/press"),
    None,
    Some("nonsense"),
    Some("https://b/"),
    Some("https://A:443/x?q"),
    Some("https://a/é\tb"),
];

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().expect("a folder"));
        fs::create_dir(place.path("robots")).expect("a folder");
        fs::write(place.path("robots/a.txt"), FILE).expect("a file");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs it over the folder; words that start with `@` are files.
    fn bulk(&self, words: &[&str]) -> common::Run {
        let word = |word: &&str| match word.strip_prefix('@') {
            Some(name) => self.path(name).to_string_lossy().into_owned(),
            None => (*word).to_owned(),
        };
        let words: Vec<String> = [&["bulk", "--robots-dir", "@robots", "-a", "ExampleBot"], words]
            .concat()
            .iter()
            .map(word)
            .collect();
        mayi(&words.iter().map(|word| &**word).collect::<Vec<_>>(), b"")
    }

    fn write(&self, name: &str, batches: Vec<RecordBatch>) {
        let kind = if name.ends_with("parquet") { TableFormat::Parquet } else { TableFormat::Ipc };
        let mut writer = TableWriter::new(Vec::new(), kind, &batches[0].schema()).expect("a table");
        for batch in batches {
            let encoded = writer.encoder().encode(vec![batch]).expect("rows");
            writer.write(encoded).expect("it is written");
        }
        fs::write(self.path(name), writer.finish().expect("it ends")).expect("a file");
    }
}

/// All rows of a table.
fn read(path: &Path) -> Vec<RecordBatch> {
    let start = fs::read(path).expect("a file");
    let table = Table::open(path, TableFormat::of_start(&start).expect("a table")).expect("a table");
    let all: Vec<usize> = (0..table.schema().fields().len()).collect();
    table.parts().flat_map(|part| table.read(&part, &all).expect("it is whole")).collect()
}

/// A table of the URLs in some layout, with a number for each.
fn table_of(urls: ArrayRef) -> RecordBatch {
    let numbers: Int64Array = (0_i64..).take(urls.len()).collect();
    RecordBatch::try_from_iter([("n", Arc::new(numbers) as ArrayRef), ("url", urls)]).expect("columns")
}

fn layouts() -> Vec<(&'static str, ArrayRef)> {
    vec![
        ("utf8", Arc::new(StringArray::from(URLS.to_vec()))),
        ("large", Arc::new(LargeStringArray::from(URLS.to_vec()))),
        ("view", Arc::new(StringViewArray::from(URLS.to_vec()))),
        ("dictionary", Arc::new(URLS.into_iter().collect::<DictionaryArray<Int16Type>>())),
    ]
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Whatever holds the URLs, and wherever the rows go, the answers are those of NDJSON.
#[test]
fn every_format_has_the_answers_of_ndjson() {
    let place = Place::new();
    let rows: Vec<String> = URLS
        .iter()
        .enumerate()
        .map(|(n, url)| json!({ "n": n, "url": url }).to_string() + "\n")
        .collect();
    fs::write(place.path("rows.ndjson"), rows.concat()).expect("a file");
    let words = ["--columns", "*,origin,allowed,reason,rule,rule_line,octets,group,train,error"];
    let expected = lines(&place.bulk(&[&["@rows.ndjson"], &words[..]].concat()).stdout);
    assert_eq!(expected.len(), URLS.len());
    let tsv = |input: &str| {
        let words =
            ["--output-format", "tsv", "--columns", "n,url,allowed,reason,rule,rule_line,error"];
        place.bulk(&[&[input], &words[..]].concat()).stdout
    };
    let expected_tsv = tsv("@rows.ndjson");
    for (layout, urls) in layouts() {
        for ending in ["parquet", "arrow"] {
            let input = format!("@in-{layout}.{ending}");
            place.write(&input[1..], vec![table_of(urls.clone())]);
            let run = place.bulk(&[&[&*input, "--output-format", "ndjson"], &words[..]].concat());
            assert_eq!((run.status, lines(&run.stdout)), (Some(0), expected.clone()), "{input}");
            assert_eq!(tsv(&input), expected_tsv, "{input}");
            for output in ["@out.parquet", "@out.arrow", "@out.feather"] {
                let run = place.bulk(&[&[&*input, "-o", output], &words[..]].concat());
                assert_eq!(run.status, Some(0), "{}", run.stderr);
                assert!(run.stderr.contains("3 of 7 rows have an error"), "{}", run.stderr);
                let batches = read(&place.path(&output[1..]));
                assert_eq!(
                    batches[0].schema().field(1).data_type(),
                    urls.data_type(),
                    "{input} {output}"
                );
                assert_eq!(batches[0].column(1), &urls);
                // The table that was written is read again by way of NDJSON.
                let words = ["--columns", "*", "--output-format", "ndjson", "--prefix", "again_"];
                let again = lines(&place.bulk(&[&[output], &words[..]].concat()).stdout);
                for (again, expected) in again.iter().zip(&expected) {
                    for (name, value) in expected.as_object().expect("an object") {
                        let said = match name.as_str() {
                            "error" => Value::from(format!(
                                "{}: {}",
                                value["code"].as_str().unwrap_or_default(),
                                value["message"].as_str().unwrap_or_default()
                            )),
                            _ => value.clone(),
                        };
                        assert_eq!(again[name], said, "{input} {output} {name}");
                    }
                }
            }
        }
    }
}

/// Text becomes a table with the answers of NDJSON, too.
#[test]
fn text_becomes_a_table() {
    let place = Place::new();
    fs::write(
        place.path("rows.csv"),
        "url,note\nhttps://a/private/,\"x,\ny\"\nhttps://a/\nhttps://a/,\n",
    )
    .expect("a file");
    for output in ["@out.parquet", "@out.arrow"] {
        let run = place.bulk(&["@rows.csv", "-o", output]);
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        let batches = read(&place.path(&output[1..]));
        assert_eq!(batches.len(), 1);
        let batch = &batches[0];
        let names: Vec<_> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
        assert_eq!(names, ["url", "note", "allowed", "reason", "rule", "rule_line", "error"]);
        let notes: Vec<_> = batch.column(1).as_string::<i32>().iter().collect();
        assert_eq!(notes, [Some("x,\ny"), None, Some("")]);
        let allowed: Vec<_> = batch.column(2).as_boolean().iter().collect();
        assert_eq!(allowed, [Some(false), None, Some(true)]);
        let reasons = batch.column(3).as_dictionary::<Int8Type>();
        let reasons: Vec<_> =
            reasons.downcast_dict::<StringArray>().expect("strings").into_iter().collect();
        assert_eq!(reasons, [Some("rule"), None, Some("no-rule")]);
        assert_eq!(batch.column(5).as_primitive::<UInt32Type>().value(0), 2);
        assert!(batch.column(6).as_string::<i32>().value(1).contains("the row has 1 of 2 columns"));
    }
    fs::write(
        place.path("rows.ndjson"),
        "{\"url\":\"https://a/\",\"n\":[1]}\n{\"url\":\"https://a/x\"}\n",
    )
    .expect("a file");
    let run = place.bulk(&[
        "@rows.ndjson",
        "-o",
        "@out.parquet",
        "--columns",
        "n,url,allowed",
        "-a",
        "OtherBot",
    ]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let batch = &read(&place.path("out.parquet"))[0];
    let names: Vec<_> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["n", "url", "allowed_ExampleBot", "allowed_OtherBot"]);
    assert_eq!(batch.column(0).as_string::<i32>().iter().collect::<Vec<_>>(), [Some("[1]"), None]);
    assert_eq!(batch.column(3).as_boolean().iter().collect::<Vec<_>>(), [Some(true), Some(false)]);
}

/// Columns of every type are passed through as they are.
#[test]
fn columns_keep_their_types_and_values() {
    let place = Place::new();
    let mut lists = ListBuilder::new(Int32Builder::new());
    lists.append_value([Some(1), None]);
    lists.append_null();
    let urls: ArrayRef = Arc::new(StringArray::from(vec!["https://a/", "https://a/private/"]));
    let inner: ArrayRef = Arc::new(Float64Array::from(vec![Some(0.5), None]));
    let fields =
        vec![(Arc::new(arrow_schema::Field::new("f", inner.data_type().clone(), true)), inner)];
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("list", Arc::new(lists.finish()) as ArrayRef, true),
        ("url", urls, false),
        ("struct", Arc::new(StructArray::from(fields)), true),
        ("time", Arc::new(TimestampMicrosecondArray::from(vec![1, 2]).with_timezone("UTC")), true),
        ("octets", Arc::new(BinaryArray::from(vec![Some(&b"\xFF\0"[..]), None])), true),
        ("flag", Arc::new(BooleanArray::from(vec![Some(true), None])), true),
        ("word", Arc::new(["a", "a"].into_iter().collect::<DictionaryArray<Int8Type>>()), true),
    ])
    .expect("columns");
    for input in ["@in.parquet", "@in.arrow"] {
        place.write(&input[1..], vec![batch.clone(), batch.clone()]);
        for output in ["@out.parquet", "@out.arrow"] {
            let run = place.bulk(&[input, "-o", output, "--columns", "*,allowed"]);
            assert_eq!((run.status, &*run.stderr), (Some(0), ""), "{input} {output}");
            let batches = read(&place.path(&output[1..]));
            assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 4);
            for written in &batches {
                for (at, field) in batch.schema().fields().iter().enumerate() {
                    assert_eq!(written.schema().field(at), field.as_ref(), "{input} {output}");
                    assert_eq!(
                        &written.column(at).to_data(),
                        &batch.column(at).to_data(),
                        "{input} {output}"
                    );
                }
            }
        }
        // One column is enough to be read, and what is left out is left out.
        let run = place.bulk(&[input, "--columns", "flag,allowed,time", "--output-format", "csv"]);
        let row = "true,true,1970-01-01T00:00:00.000001Z\n,false,1970-01-01T00:00:00.000002Z\n";
        assert_eq!(run.stdout, format!("flag,allowed,time\n{row}{row}"), "{}", run.stderr);
    }
}

#[test]
fn many_row_groups_stay_in_order_and_several_tables_are_one() {
    let place = Place::new();
    let batch = |first: i64| {
        let urls: StringArray = (first..first + 500)
            .map(|n| Some(format!("https://a/{}{n}", if n % 3 == 0 { "private/" } else { "" })))
            .collect();
        let numbers: Int64Array = (first..first + 500).collect();
        RecordBatch::try_from_iter([("url", Arc::new(urls) as ArrayRef), ("n", Arc::new(numbers))])
            .expect("columns")
    };
    fs::create_dir(place.path("in")).expect("a folder");
    place.write("in/a.parquet", (0..20).map(|group| batch(group * 500)).collect());
    place.write("in/b.arrow", (20..40).map(|group| batch(group * 500)).collect());
    let run = place.bulk(&["@in", "--jobs", "5", "-o", "@out.parquet"]);
    assert_eq!((run.status, &*run.stderr), (Some(0), ""));
    let mut next = 0;
    for batch in read(&place.path("out.parquet")) {
        for row in 0..batch.num_rows() {
            let number = batch.column(1).as_primitive::<arrow_array::types::Int64Type>().value(row);
            assert_eq!((number, batch.column(2).as_boolean().value(row)), (next, next % 3 != 0));
            next += 1;
        }
    }
    assert_eq!(next, 20_000);
    place.write("in/c.parquet", vec![table_of(Arc::new(StringArray::from(URLS.to_vec())))]);
    let run = place.bulk(&["@in", "-o", "@other.parquet"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("c.parquet` has other columns than the first file"), "{}", run.stderr);
    assert!(!place.path("other.parquet").exists());
}

#[test]
fn tables_that_can_not_be_read_are_clear_errors() {
    let place = Place::new();
    place.write("good.parquet", vec![table_of(Arc::new(StringArray::from(URLS.to_vec())))]);
    let whole = fs::read(place.path("good.parquet")).expect("a file");
    fs::write(place.path("cut.parquet"), &whole[..whole.len() - 20]).expect("a file");
    fs::write(place.path("text.parquet"), "url\nhttps://a/\n").expect("a file");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut gzip, &whole).expect("it is compressed");
    fs::write(place.path("good.parquet.gz"), gzip.finish().expect("gzip")).expect("a file");
    for (words, part) in [
        (
            &["@cut.parquet"][..],
            "cut.parquet` can't be read: it is not a complete Parquet file; its footer can't be read",
        ),
        (&["@text.parquet"], "it is not a complete Parquet file"),
        (
            &["@good.parquet", "--url-column", "n"],
            "the column `n` can't be used: it has the type Int64",
        ),
        (
            &["@good.parquet", "--url-column", "link"],
            "there is no column `link`; the header has n, url",
        ),
        (&["@good.parquet", "-o", "@o.parquet.gz"], "this format has its own compression"),
        (
            &["@good.parquet", "-o", "@o.parquet", "--columns", "url,*"],
            "the table can't have two members `url`",
        ),
        (&["-", "--format", "parquet"], "can't be read from standard input"),
        (
            &["@good.parquet.gz", "--format", "tsv"],
            "is Parquet, which can be read only from a file that is not compressed",
        ),
        (&["-", "-o", "@o.parquet"], "the input is empty"),
    ] {
        let run = place.bulk(words);
        assert_eq!((run.status, &*run.stdout), (Some(2), ""), "{words:?}");
        assert!(run.stderr.contains(part), "{words:?}: {}", run.stderr);
        assert!(!run.stderr.contains("panicked"), "{words:?}: {}", run.stderr);
    }
}

/// Damage in a later row group: the rows before it are answered as text, and a file of the output is left as it was.
#[test]
fn the_rows_before_damage_are_answered() {
    let place = Place::new();
    let urls: ArrayRef = Arc::new(StringArray::from(vec!["https://a/private/"; 100]));
    place.write("in.parquet", (0..3).map(|_| table_of(urls.clone())).collect());
    let mut octets = fs::read(place.path("in.parquet")).expect("a file");
    // The pages of the second row group begin in the second third of what comes before the footer.
    let third = octets.len() / 5;
    octets[2 * third..2 * third + third / 2].fill(0);
    fs::write(place.path("in.parquet"), octets).expect("a file");
    let run = place.bulk(&["@in.parquet", "--output-format", "tsv"]);
    assert_eq!(run.status, Some(2), "{}", run.stderr);
    let rows = run.stdout.lines().count() - 1;
    assert!(rows == 100 || rows == 200, "{rows}");
    assert!(
        run.stderr.contains("row group")
            && run.stderr.contains(&format!("the {rows} rows before that")),
        "{}",
        run.stderr
    );
    let run = place.bulk(&["@in.parquet", "-o", "@out.parquet"]);
    assert!(
        run.stderr.contains("out.parquet` is left as it was") && !place.path("out.parquet").exists()
    );
}

#[test]
fn a_closed_pipe_ends_a_table_too() {
    let place = Place::new();
    let urls: StringArray = (0..200_000_u64)
        .map(|n| Some(format!("https://a/{}", n.wrapping_mul(0x9E37_79B9_7F4A_7C15))))
        .collect();
    place.write("in.parquet", vec![table_of(Arc::new(urls.clone())), table_of(Arc::new(urls))]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_mayi"))
        .args(["bulk", "-a", "x", "--output-format", "parquet", "-r"])
        .args([place.path("robots/a.txt"), place.path("in.parquet")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdout = child.stdout.take().expect("it has standard output");
    stdout.read_exact(&mut [0; 4]).expect("its first octets");
    drop(stdout);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
}

/// Several crawlers, and crawlers that rows name, are answered as in text.
#[test]
fn tables_have_crawlers_as_text_has() {
    let place = Place::new();
    let rows = [
        ("https://a/x", Some("OtherBot"), "crawl"),
        ("https://a/x", Some("ExampleBot"), ""),
        ("https://a/private/", None, ""),
        ("https://a/private/", Some("no token"), ""),
        ("nonsense", Some("OtherBot"), ""),
    ];
    let urls: ArrayRef = Arc::new(LargeStringArray::from_iter_values(rows.map(|row| row.0)));
    let agents: ArrayRef =
        Arc::new(rows.iter().map(|row| row.1).collect::<DictionaryArray<Int8Type>>());
    let purposes: ArrayRef = Arc::new(StringViewArray::from_iter_values(rows.map(|row| row.2)));
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("url", urls, true),
        ("bot", agents, true),
        ("for", purposes, true),
    ]);
    place.write("in.parquet", vec![batch.expect("columns")]);
    let lines: Vec<_> = rows
        .iter()
        .map(|(url, agent, purpose)| format!("{url}\t{}\t{purpose}\n", agent.unwrap_or_default()))
        .collect();
    fs::write(place.path("in.tsv"), format!("url\tbot\tfor\n{}", lines.concat())).expect("a file");
    for words in [
        &[
            "--agent-column",
            "bot",
            "--purposes-column",
            "for",
            "--columns",
            "url,agent,allowed,rule,error",
        ][..],
        &["-a", "OtherBot", "--columns", "url,allowed,rule,origin,error"],
    ] {
        let tsv =
            |input: &str| place.bulk(&[&[input, "--output-format", "tsv"], words].concat()).stdout;
        let expected = tsv("@in.tsv");
        assert_eq!(expected.lines().count(), 6);
        assert_eq!(tsv("@in.parquet"), expected);
        let run = place.bulk(&[&["@in.parquet", "-o", "@out.parquet"], words].concat());
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        let again = ["@out.parquet", "--columns", "*", "--missing", "allow", "--output-format", "tsv"];
        assert_eq!(place.bulk(&again).stdout, expected);
    }
}
