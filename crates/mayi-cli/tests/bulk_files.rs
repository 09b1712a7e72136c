//! `mayi bulk` and files: several of them, folders, compressed ones, and an output that is there when it is whole.

mod common;

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::mayi;

const FILE: &str = "User-agent: *\nDisallow: /private/\n";

/// A folder with a robots.txt and some inputs.
struct Inputs(tempfile::TempDir);

impl Inputs {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("robots.txt"), FILE).expect("a file");
        let inputs = Self(folder);
        for (name, octets) in files {
            let path = inputs.path(name);
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
            fs::write(path, octets).expect("a file");
        }
        inputs
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs it with these words; those that start with `@` are files of the folder.
    fn bulk(&self, words: &[&str]) -> common::Run {
        let words: Vec<String> = words.iter().map(|word| self.word(word)).collect();
        let robots = self.word("@robots.txt");
        let all = ["bulk", "-r", &robots, "-a", "ExampleBot", "--columns", "url,allowed"];
        mayi(&[&all[..], &words.iter().map(|word| &**word).collect::<Vec<_>>()].concat(), b"")
    }

    fn word(&self, word: &str) -> String {
        match word.strip_prefix('@') {
            Some(name) => self.path(name).to_string_lossy().into_owned(),
            None => word.to_owned(),
        }
    }

    /// The names of what is in the folder.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("a folder");
        let name = |entry: Result<fs::DirEntry, _>| entry.expect("an entry").file_name();
        let mut names: Vec<_> =
            entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

fn gzip(octets: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(octets).expect("it is compressed");
    encoder.finish().expect("gzip")
}

fn bzip2(octets: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    encoder.write_all(octets).expect("it is compressed");
    encoder.finish().expect("bzip2")
}

fn zstd(octets: &[u8]) -> Vec<u8> {
    zstd::encode_all(octets, 3).expect("zstd")
}

fn xz(octets: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).expect("an encoder");
    encoder.write_all(octets).expect("it is compressed");
    encoder.finish().expect("xz")
}

#[test]
fn compressed_files_are_recognised_by_their_content() {
    let rows = b"url\nhttps://a/private/\nhttps://a/\n";
    let files: [(&str, Vec<u8>); 5] = [
        ("a.tsv.gz", gzip(rows)),
        ("b", bzip2(rows)),
        ("c.txt", zstd(rows)),
        ("d.tsv", xz(rows)),
        ("e.gz", [gzip(b"url\nhttps://a/pri"), gzip(b"vate/\nhttps://a/\n")].concat()),
    ];
    let files: Vec<_> = files.iter().map(|(name, octets)| (*name, &**octets)).collect();
    let inputs = Inputs::new(&files);
    for (name, _) in files {
        let run = inputs.bulk(&[&format!("@{name}")]);
        assert_eq!(run.stdout, "url\tallowed\nhttps://a/private/\tfalse\nhttps://a/\ttrue\n", "{name}");
        assert_eq!((run.status, &*run.stderr), (Some(0), ""), "{name}");
    }
    let inputs = Inputs::new(&[("a.csv.gz", &gzip(b"id,url\n1,https://a/\n"))]);
    assert_eq!(inputs.bulk(&["@a.csv.gz"]).stdout, "url,allowed\nhttps://a/,true\n");
}

/// The rows before the cut are answered, the one in which it is is not, and the end says where it is.
#[test]
fn a_compressed_file_that_is_cut_off_is_an_error_with_its_place() {
    let url = |n: usize| format!("https://a/private/{}", n.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let rows = (0..50_000).map(url).collect::<Vec<_>>().join("\n");
    for (name, octets) in
        [("gzip", gzip(rows.as_bytes())), ("zstd", zstd(rows.as_bytes())), ("xz", xz(rows.as_bytes()))]
    {
        let cut = octets.len() * 3 / 4;
        let inputs = Inputs::new(&[("a", &octets[..cut])]);
        let run = inputs.bulk(&["--no-header", "@a"]);
        assert_eq!(run.status, Some(2), "{name}");
        let answered = run.stdout.lines().count();
        assert!(answered > 10_000 && answered < 50_000, "{name}: {answered}");
        for (number, row) in run.stdout.lines().enumerate() {
            assert_eq!(row, format!("{}\tfalse", url(number)), "{name}");
        }
        let place = format!("its {name} data is cut off: it ends at octet {cut}");
        assert!(run.stderr.contains(&place), "{}", run.stderr);
        assert!(run.stderr.contains("rows before that are answered"), "{}", run.stderr);
        let run = inputs.bulk(&["--no-header", "@a", "-o", "@out.tsv"]);
        assert_eq!((run.status, &*run.stdout), (Some(2), ""));
        assert!(run.stderr.contains("out.tsv` is left as it was"), "{}", run.stderr);
        assert_eq!(inputs.names(), ["a", "robots.txt"]);
    }
}

#[test]
fn folders_are_read_in_the_order_of_names() {
    let inputs = Inputs::new(&[
        ("in/b.csv", b"url\nhttps://a/4\n"),
        ("in/a/z.csv.gz", &gzip(b"url\nhttps://a/2\n")),
        ("in/a/b/x.csv", b"url\nhttps://a/1\n"),
        ("in/a.csv", b"url\nhttps://a/3\n"),
        ("in/_SUCCESS", b""),
        ("in/.a.csv.crc", b"nonsense"),
        ("in/_temporary/c.csv", b"url\nhttps://a/no\n"),
        ("first.csv", b"url\nhttps://a/0\n"),
        ("empty/_SUCCESS", b""),
    ]);
    let run = inputs.bulk(&["@first.csv", "@in"]);
    let urls: Vec<_> = run.stdout.lines().map(|row| row.split(',').next().expect("a URL")).collect();
    assert_eq!(
        urls,
        ["url", "https://a/0", "https://a/1", "https://a/2", "https://a/3", "https://a/4"]
    );
    for (words, part) in [
        (["@empty", "@first.csv"], "there are no files in"),
        (["@first.csv", "@absent.csv"], "absent.csv` can't be read"),
    ] {
        let run = inputs.bulk(&words);
        assert_eq!((run.status, &*run.stdout), (Some(2), ""));
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
}

#[test]
fn the_name_of_the_output_says_its_format_and_how_it_is_compressed() {
    let inputs = Inputs::new(&[("a.tsv", b"url\nhttps://a/private/\n")]);
    let expected = "url,allowed\nhttps://a/private/,false\n";
    for (name, program) in [
        ("out.csv", "cat"),
        ("out.csv.gz", "gzip"),
        ("out.csv.zst", "zstd"),
        ("out.csv.bz2", "bzip2"),
        ("out.csv.xz", "xz"),
    ] {
        let run = inputs.bulk(&["@a.tsv", "--output", &format!("@{name}")]);
        assert_eq!((run.status, &*run.stdout, &*run.stderr), (Some(0), "", ""), "{name}");
        assert_eq!(inputs.names(), ["a.tsv", name, "robots.txt"]);
        // What we write we read; and other programs do, where the machine has them.
        let again = inputs.bulk(&["--format", "csv", &format!("@{name}")]);
        assert_eq!(again.stdout, expected);
        let words: &[&str] = if program == "cat" { &[] } else { &["-d", "-c"] };
        if let Ok(output) = Command::new(program).args(words).arg(inputs.path(name)).output() {
            assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{name}");
        }
        fs::remove_file(inputs.path(name)).expect("it is there");
    }
    let run = inputs.bulk(&["@a.tsv", "-o", "-", "--output-format", "csv"]);
    assert_eq!(run.stdout, expected);
}

#[test]
fn an_input_is_not_overwritten() {
    let inputs = Inputs::new(&[("in/a.tsv", b"url\nhttps://a/\n")]);
    for (input, output) in
        [("@in/a.tsv", "@in/a.tsv"), ("@in", "@in/../in/a.tsv"), ("@in", "@robots.txt")]
    {
        let run = inputs.bulk(&[input, "-o", output]);
        assert_eq!(run.status, Some(2));
        assert!(run.stderr.contains("it is one of the inputs"), "{}", run.stderr);
    }
    assert_eq!(fs::read(inputs.path("in/a.tsv")).expect("a file"), b"url\nhttps://a/\n");
    assert_eq!(fs::read(inputs.path("robots.txt")).expect("a file"), FILE.as_bytes());
}

/// Starts it with an output file and an input that does not end, and waits until it has answered some of it.
#[cfg(unix)]
fn started(inputs: &Inputs, output: &Path) -> (std::process::Child, std::process::ChildStdin) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mayi"))
        .args(["bulk", "-a", "x", "--no-header", "-r"])
        .arg(inputs.path("robots.txt"))
        .arg("--output")
        .arg(output)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("it has standard input");
    // More than what all its buffers hold.
    let rows = "https://a/private/\n".repeat(500_000);
    stdin.write_all(rows.as_bytes()).expect("it reads");
    (child, stdin)
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_is_killed_leaves_nothing_behind() {
    let inputs = Inputs::new(&[]);
    let output = inputs.path("out.tsv");
    fs::write(&output, "old").expect("a file");
    let (mut child, _stdin) = started(&inputs, &output);
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    assert_eq!(inputs.names(), ["out.tsv", "robots.txt"]);
    assert_eq!(fs::read(&output).expect("a file"), b"old");
}

/// A limit on the size of files stands for a full disk: both fail a write in the middle.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_nothing_behind() {
    let inputs = Inputs::new(&[("rows", "https://a/private/\n".repeat(500_000).as_bytes())]);
    let output = Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 100; exec \"$0\" bulk -a x --no-header -r \"$1\" -o \"$2\" \"$3\"",
        ])
        .arg(env!("CARGO_BIN_EXE_mayi"))
        .args([inputs.path("robots.txt"), inputs.path("out.tsv"), inputs.path("rows")])
        .output()
        .expect("it runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("could not be written") && stderr.contains("out.tsv"), "{stderr}");
    assert_eq!(inputs.names(), ["robots.txt", "rows"]);
}

/// A device is written to, and not replaced.
#[cfg(unix)]
#[test]
fn a_device_stays_what_it_is() {
    use std::os::unix::fs::FileTypeExt;
    let inputs = Inputs::new(&[("a.tsv", b"url\nhttps://a/\n")]);
    let link = inputs.path("null");
    std::os::unix::fs::symlink("/dev/null", &link).expect("a link");
    let run = inputs.bulk(&["@a.tsv", "-o", "@null"]);
    assert_eq!((run.status, &*run.stderr), (Some(0), ""));
    assert!(fs::metadata(&link).expect("it is there").file_type().is_char_device());
}

#[test]
fn a_closed_pipe_ends_it() {
    let inputs = Inputs::new(&[("rows.gz", &gzip("https://a/private/\n".repeat(500_000).as_bytes()))]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_mayi"))
        .args(["bulk", "-a", "x", "--no-header", "-r"])
        .args([inputs.path("robots.txt"), inputs.path("rows.gz")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdout = child.stdout.take().expect("it has standard output");
    stdout.read_exact(&mut [0; 100]).expect("some rows");
    drop(stdout);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
}
