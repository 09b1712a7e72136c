//! The first row and the caller's options → which field is what, and what a row of output has.

use std::collections::BTreeSet;

use mayi::lint::nearest;
use mayi_tables::answer::RowAnswer;

use crate::exit::Failure;
use crate::text::shown;

use super::rows::{Fields, Format, Names};

/// The default columns of the output.
const DEFAULT: &str = "*,allowed,reason,rule,rule_line,error";

/// The same for several crawlers.
const DEFAULT_OF_SEVERAL: &str = "*,allowed,error";

/// The list of what each crawler is answered, in a JSON object.
const LIST: &str = "answers";

/// The caller's options about columns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Words<'a> {
    /// Whether the first row is a header, if the caller says so.
    pub(crate) header: Option<bool>,
    pub(crate) url: Option<&'a str>,
    pub(crate) agent: Option<&'a str>,
    pub(crate) purposes: Option<&'a str>,
    pub(crate) apps: Option<&'a str>,
    pub(crate) user_agent: Option<&'a str>,
    /// The crawlers, if rows do not name them; with several, every row is answered for each.
    pub(crate) agents: &'a [String],
    pub(crate) columns: Option<&'a str>,
    pub(crate) prefix: &'a str,
}

/// Which field is what. A field is known by its place: in the row, or among the wanted members.
#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) input: Format,
    pub(crate) output: Format,
    /// The names of the input's columns, where there is a header.
    pub(crate) header: Option<Vec<String>>,
    /// How many fields a row has to have, but for NDJSON.
    pub(crate) width: usize,
    /// The members that are wanted, and those that are ours, for NDJSON.
    pub(crate) members: Names,
    pub(crate) url: usize,
    pub(crate) agent: Option<usize>,
    pub(crate) purposes: Option<usize>,
    pub(crate) apps: Option<usize>,
    pub(crate) user_agent: Option<usize>,
    pub(crate) written: Vec<Written>,
    /// The name of the error that a bad row of NDJSON always gets.
    pub(crate) error_name: String,
}

/// A column of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// All columns of the input.
    Input,
    /// One of them, with its name.
    Field(usize, String),
    /// An answer, for the crawler of this number, with its name.
    Answer(RowAnswer, usize, String),
    /// A list of what each of several crawlers is answered, with its name, for NDJSON.
    List(Vec<RowAnswer>, String),
}

impl Columns {
    /// Reads the first row of separated values: a header, or a row like the others.
    pub(crate) fn of_first_row(
        row: &[u8],
        fields: &Fields,
        formats: (Format, Format),
        words: &Words<'_>,
    ) -> Result<Self, Failure> {
        let texts: Vec<String> = (0..fields.len())
            .map(|index| String::from_utf8_lossy(&fields.octets(row, index)).trim().to_owned())
            .collect();
        let has_header = words.header.unwrap_or_else(|| {
            let wanted = [words.url, words.agent, words.purposes, words.apps, words.user_agent];
            let is_name = |word: &&str| word.parse::<usize>().is_err();
            wanted.iter().flatten().any(is_name)
                || texts.iter().any(|text| text.eq_ignore_ascii_case("url"))
        });
        Self::of_header(has_header.then_some(texts), fields.len(), formats, words)
    }

    /// Columns that are known by these names, or by their number.
    pub(crate) fn of_header(
        header: Option<Vec<String>>,
        width: usize,
        formats: (Format, Format),
        words: &Words<'_>,
    ) -> Result<Self, Failure> {
        let (input, output) = formats;
        let place = |word: &str| place(word, header.as_deref(), width);
        let url = match (words.url, &header) {
            (Some(word), _) => place(word)?,
            (None, Some(_)) => place("url").or_else(|failure| match width {
                1 => Ok(0),
                _ => Err(failure),
            })?,
            (None, None) => 0,
        };
        let agent = match words.agent {
            Some(word) => Some(place(word)?),
            None if !words.agents.is_empty() => None,
            None => Some(place("agent").map_err(|_| nobody_asks())?),
        };
        let optional = |word: Option<&str>| word.map(place).transpose();
        let (purposes, apps) = (optional(words.purposes)?, optional(words.apps)?);
        let user_agent = optional(words.user_agent)?;
        let written = written(words, output, true, |word| {
            let index = place(word)?;
            Ok((index, name_of(index, header.as_deref())))
        })?;
        let members = Names::default();
        let columns = Self {
            input,
            output,
            header,
            width,
            members,
            url,
            agent,
            purposes,
            apps,
            user_agent,
            written,
            error_name: format!("{}{}", words.prefix, RowAnswer::Error.name()),
        };
        columns.check_names()?;
        Ok(columns)
    }

    /// What the members of NDJSON are.
    pub(crate) fn of_members(output: Format, words: &Words<'_>) -> Result<Self, Failure> {
        if words.header == Some(true) {
            return Err(Failure::new("NDJSON has no header: its members have names"));
        }
        let mut members = Names::default();
        let url = members.want(words.url.unwrap_or("url"));
        let agent = match words.agent {
            None if !words.agents.is_empty() => None,
            word => Some(members.want(word.unwrap_or("agent"))),
        };
        let purposes = words.purposes.map(|word| members.want(word));
        let apps = words.apps.map(|word| members.want(word));
        let user_agent = words.user_agent.map(|word| members.want(word));
        let knows_input = output == Format::Ndjson;
        let written =
            written(words, output, knows_input, |word| Ok((members.want(word), word.to_owned())))?;
        let error_name = format!("{}{}", words.prefix, RowAnswer::Error.name());
        let passes_on = written.contains(&Written::Input);
        if passes_on && output != Format::Ndjson {
            return Err(Failure::new(
                "`*` can't be among the columns here: rows of NDJSON can have any members; name those \
                 that are wanted",
            ));
        }
        if passes_on {
            // A bad row always gets an error.
            members.ours = vec![error_name.clone()];
            members.ours.extend(written.iter().filter_map(|written| match written {
                Written::Answer(_, _, name) | Written::List(_, name) => Some(name.clone()),
                Written::Input | Written::Field(..) => None,
            }));
        }
        let input = Format::Ndjson;
        let columns = Self {
            input,
            output,
            header: None,
            width: 0,
            members,
            url,
            agent,
            purposes,
            apps,
            user_agent,
            written,
            error_name,
        };
        columns.check_names()?;
        Ok(columns)
    }

    /// The columns that questions are asked with.
    #[cfg(feature = "columns")]
    pub(crate) fn asked_with(&self) -> impl Iterator<Item = usize> {
        [Some(self.url), self.agent, self.purposes, self.apps, self.user_agent].into_iter().flatten()
    }

    /// Whether anything about the crawler differs from row to row.
    pub(crate) fn has_crawlers(&self) -> bool {
        [self.agent, self.purposes, self.apps, self.user_agent].iter().any(Option::is_some)
    }

    /// Whether the uses are asked for.
    pub(crate) fn has_uses(&self) -> bool {
        self.written.iter().any(|written| match written {
            Written::Answer(answer, ..) => answer.is_use(),
            Written::List(answers, _) => answers.iter().any(|answer| answer.is_use()),
            Written::Input | Written::Field(..) => false,
        })
    }

    /// The names of the columns of the output, where it gets a header.
    pub(crate) fn output_header(&self) -> Option<Vec<String>> {
        if !self.output.is_separated() || self.input != Format::Ndjson && self.header.is_none() {
            return None;
        }
        let mut names = Vec::new();
        for written in &self.written {
            match written {
                Written::Input => names.extend(self.header.iter().flatten().cloned()),
                Written::Field(_, name) | Written::Answer(_, _, name) | Written::List(_, name) => {
                    names.push(name.clone());
                }
            }
        }
        Some(names)
    }

    /// Fails if an answer would have the name of an input column, or if two members of an object would have
    /// the same name.
    fn check_names(&self) -> Result<(), Failure> {
        if !self.output.is_separated() {
            self.check_members()?;
        }
        let mut answers = BTreeSet::new();
        for written in &self.written {
            if let Written::Answer(_, crawler, name) = written
                && !answers.insert(name)
                && *crawler > 0
            {
                return Err(Failure::new(format_args!(
                    "two columns would be called `{name}`; ask for these crawlers one after the other"
                )));
            }
        }
        let header = self.header.as_deref().unwrap_or_default();
        if !self.written.contains(&Written::Input) {
            return Ok(());
        }
        for written in &self.written {
            if let Written::Answer(_, _, name) | Written::List(_, name) = written
                && header.contains(name)
            {
                let name = shown(name.as_bytes());
                return Err(Failure::new(format_args!(
                    "the input already has a column `{name}`; rename the answer columns with \
                     `--prefix`, or choose columns with `--columns`"
                )));
            }
        }
        Ok(())
    }
}

impl Columns {
    /// Fails if two members of a row of NDJSON, or two columns of a table, would have the same name: readers
    /// silently use one of them.
    fn check_members(&self) -> Result<(), Failure> {
        let passes_on = self.input == Format::Ndjson && self.written.contains(&Written::Input);
        let mut members = BTreeSet::new();
        for written in &self.written {
            let names = match written {
                Written::Input => {
                    (0..self.width).map(|index| name_of(index, self.header.as_deref())).collect()
                }
                Written::Field(_, name) | Written::Answer(_, _, name) | Written::List(_, name) => {
                    vec![name.clone()]
                }
            };
            // A member of the input that is named beside `*` would come twice from every row that has it.
            let is_there = passes_on && matches!(written, Written::Field(..));
            for name in names {
                let shown = shown(name.as_bytes());
                if is_there || !members.insert(name) {
                    let whole = if self.output.is_table() { "table" } else { "object" };
                    return Err(Failure::new(format_args!(
                        "the {whole} can't have two members `{shown}`; `--columns` lists the columns \
                         that are wanted, each once"
                    )));
                }
            }
        }
        Ok(())
    }
}

/// Whether a list of columns has one of the uses.
pub(crate) fn asks_for_uses(list: Option<&str>) -> bool {
    let is_use =
        |word: &str| RowAnswer::ALL.iter().any(|answer| answer.is_use() && answer.name() == word);
    list.is_some_and(|list| list.split(',').map(str::trim).any(is_use))
}

/// The columns that the caller wants written.
fn written(
    words: &Words<'_>,
    output: Format,
    knows_input: bool,
    mut input: impl FnMut(&str) -> Result<(usize, String), Failure>,
) -> Result<Vec<Written>, Failure> {
    let default = if words.agents.len() > 1 { DEFAULT_OF_SEVERAL } else { DEFAULT };
    // Columns that are not known beforehand can't be written all.
    let default = if knows_input { default.to_owned() } else { default.replace('*', "url") };
    let list = words.columns.unwrap_or(&default);
    let mut written = Vec::new();
    for word in list.split(',').map(str::trim) {
        let answer = RowAnswer::named(word);
        written.push(match answer {
            _ if word == "*" => Written::Input,
            Some(answer) => Written::Answer(answer, 0, format!("{}{word}", words.prefix)),
            None if word.is_empty() => {
                return Err(Failure::new("`--columns` is a list of names with commas in between"));
            }
            None => {
                let (index, name) = input(word).map_err(|failure| match failure {
                    Failure::Message(message) => {
                        let answers = RowAnswer::ALL.map(RowAnswer::name);
                        let meant = perhaps(word, answers);
                        let answers = answers.join(", ");
                        Failure::new(format_args!("{message}{meant}; the answers are *, {answers}"))
                    }
                    Failure::BrokenPipe => failure,
                })?;
                Written::Field(index, name)
            }
        });
    }
    Ok(if words.agents.len() > 1 { of_several(written, words, output) } else { written })
}

/// The same columns for several crawlers: an answer has a column for each of them, with its product token in the name.
/// In an object all of them are one list.
fn of_several(written: Vec<Written>, words: &Words<'_>, output: Format) -> Vec<Written> {
    let mut all = Vec::new();
    let mut listed = Vec::new();
    let mut place = None;
    for written in written {
        match written {
            Written::Answer(answer, _, _) if answer.is_of_crawler() && output == Format::Ndjson => {
                place.get_or_insert(all.len());
                listed.push(answer);
            }
            Written::Answer(answer, _, name) if answer.is_of_crawler() => {
                let agents = words.agents.iter().enumerate();
                all.extend(agents.map(|(crawler, agent)| {
                    Written::Answer(answer, crawler, format!("{name}_{agent}"))
                }));
            }
            written => all.push(written),
        }
    }
    if let Some(place) = place {
        // Every entry says whose it is.
        listed.retain(|answer| *answer != RowAnswer::Agent);
        listed.insert(0, RowAnswer::Agent);
        all.insert(place, Written::List(listed, format!("{}{LIST}", words.prefix)));
    }
    all
}

/// The place of a column that is named, or numbered from 1. A name that is in no column is looked for
/// again, ignoring case.
fn place(word: &str, header: Option<&[String]>, width: usize) -> Result<usize, Failure> {
    let names = header.unwrap_or_default();
    let places = |is_it: fn(&str, &str) -> bool| -> Vec<usize> {
        (0..names.len()).filter(|&index| is_it(&names[index], word)).collect()
    };
    let mut found = places(|name, word| name == word);
    if found.is_empty() {
        found = places(str::eq_ignore_ascii_case);
    }
    let shown_word = shown(word.as_bytes());
    match (&found[..], header) {
        ([only], _) => return Ok(*only),
        ([first, second, ..], _) => {
            let (first, second) = (first + 1, second + 1);
            return Err(Failure::new(format_args!(
                "columns {first} and {second} are both called `{shown_word}`; a number chooses one"
            )));
        }
        ([], _) => {}
    }
    if let Some(number) = word.parse().ok().filter(|number| (1..=width).contains(number)) {
        return Ok(number - 1);
    }
    Err(match header {
        Some(names) => {
            let meant = perhaps(word, names.iter().map(String::as_str));
            let names = shown(names.join(", ").as_bytes());
            Failure::new(format_args!(
                "there is no column `{shown_word}`{meant}; the header has {names}"
            ))
        }
        None => Failure::new(format_args!(
            "there is no column `{shown_word}`; there is no header, and the columns are 1 to {width}"
        )),
    })
}

/// The suggestion for a misspelled word, for the end of a message.
fn perhaps<'n>(word: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    let near = nearest(word, known);
    near.map(|near| format!("; did you mean `{}`?", shown(near.as_bytes()))).unwrap_or_default()
}

/// The name of an input column in the output.
fn name_of(index: usize, header: Option<&[String]>) -> String {
    header.map_or_else(|| (index + 1).to_string(), |names| names[index].clone())
}

fn nobody_asks() -> Failure {
    Failure::new(
        "no crawler is given: use `--agent` for all rows, or `--agent-column` to name a column",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(row: &str, words: &Words<'_>) -> Result<Columns, String> {
        let mut fields = Fields::default();
        fields.read_tsv(row.as_bytes());
        let formats = (Format::Tsv, Format::Tsv);
        Columns::of_first_row(row.as_bytes(), &fields, formats, words).map_err(
            |failure| match failure {
                Failure::Message(message) => message,
                Failure::BrokenPipe => unreachable!("nothing is written"),
            },
        )
    }

    const WORDS: Words<'_> = Words {
        header: None,
        url: None,
        agent: None,
        purposes: None,
        apps: None,
        user_agent: None,
        agents: &[String::new()],
        columns: None,
        prefix: "",
    };

    #[test]
    fn a_header_is_told_from_a_row() {
        for (row, words, header, url) in [
            ("https://a/\tx", WORDS, false, 0),
            ("id\tURL", WORDS, true, 1),
            ("id\tlink", Words { url: Some("link"), ..WORDS }, true, 1),
            ("id\tlink", Words { url: Some("2"), ..WORDS }, false, 1),
            ("link", Words { header: Some(true), ..WORDS }, true, 0),
            ("url", Words { header: Some(false), ..WORDS }, false, 0),
        ] {
            let columns = columns(row, &words).expect(row);
            assert_eq!((columns.header.is_some(), columns.url), (header, url), "{row}");
        }
    }

    #[test]
    fn what_can_not_be_found_is_said() {
        for (row, words, part) in [
            (
                "id\tlink",
                Words { header: Some(true), ..WORDS },
                "no column `url`; the header has id, link",
            ),
            ("id", Words { url: Some("2"), ..WORDS }, "columns are 1 to 1"),
            ("url", Words { agents: &[], ..WORDS }, "no crawler is given"),
            ("url\tallowed", WORDS, "already has a column `allowed`"),
            (
                "url",
                Words { columns: Some("url,alowed"), ..WORDS },
                "no column `alowed`; the header has url; did you mean `allowed`?",
            ),
            (
                "url\tcrawler",
                Words { agent: Some("crawlr"), ..WORDS },
                "no column `crawlr`; did you mean `crawler`?",
            ),
            ("url\tid\turl", WORDS, "columns 1 and 3 are both called `url`; a number chooses one"),
            ("Url\tURL", WORDS, "columns 1 and 2 are both called `url`"),
            ("url", Words { columns: Some("url,,"), ..WORDS }, "commas in between"),
        ] {
            let message = columns(row, &words).expect_err(row);
            assert!(message.contains(part), "{message}");
        }
        assert!(columns("url\tallowed", &Words { prefix: "mayi_", ..WORDS }).is_ok());
        assert!(Columns::of_members(Format::Csv, &Words { columns: Some("*"), ..WORDS }).is_err());
    }

    #[test]
    fn a_column_whose_name_is_not_the_only_one_is_chosen_by_number_or_case() {
        for (row, word, expected) in [("url\tid\turl", "3", 2), ("Url\turl", "url", 1)] {
            let columns = columns(row, &Words { url: Some(word), ..WORDS }).expect(row);
            assert_eq!(columns.url, expected, "{row}");
        }
    }

    #[test]
    fn members_of_an_object_are_named_once() {
        let of_row = |row: &str, list| {
            let mut fields = Fields::default();
            fields.read_tsv(row.as_bytes());
            let words = Words { columns: list, ..WORDS };
            Columns::of_first_row(row.as_bytes(), &fields, (Format::Tsv, Format::Ndjson), &words)
        };
        let of_object = |list| Columns::of_members(Format::Ndjson, &Words { columns: list, ..WORDS });
        for wrong in [
            of_row("url\tid\tid", None),
            of_row("url\tid", Some("*,id")),
            of_row("url\tid", Some("allowed,id,allowed")),
            of_row("url\tid", Some("url,1")),
            of_object(Some("id,url,id")),
            of_object(Some("*,id")),
        ] {
            let Err(Failure::Message(message)) = wrong else { panic!("it is refused") };
            assert!(message.contains("two members"), "{message}");
        }
        assert!(of_row("url\tid\tid", Some("url,2,allowed")).is_ok());
        assert!(of_object(Some("url,id,allowed")).is_ok());
    }
}
