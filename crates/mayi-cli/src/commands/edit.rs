//! `mayi edit`: who may fetch what, changed by the smallest edit of a file.
//!
//! `mayi::edit` makes the edit, and checks that nothing changes for anybody else; this file replaces files
//! and reports the result.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use mayi::edit::{AccessGoal, Carrier, Edited, Goal, Granted, NewFile, Preferences, edit, report};
use mayi::registry::{AgentKind, Registry};
use mayi::{Preference, ReadOptions};

use super::check::write_json;
use super::fmt::replace;
use crate::exit::{Exit, Failure};
use crate::input::{self, Loaded};
use crate::text::{STRONG, columns, listed, shown, styled};
use crate::unified;

const EXAMPLES: &str = "\
WHO is a product token such as GPTBot, a kind of crawlers (search, training,
ai-search, assistant, archive, tool), or `*` for everybody.

Examples:
  mayi edit robots.txt --refuse training --allow GPTBot /press/
  mayi edit robots.txt --diff --content-usage train=no";

const MORE: &str = "\
WHO is a product token such as GPTBot, a kind of crawlers (search, training,
ai-search, assistant, archive, tool), or `*` for everybody. The kind `training`
includes CCBot, because its archive is used for training. PATH is all of the site
if it is not given. A longer path counts before a shorter one, and a name before
a kind.

USES are search, train and ai-input, each with yes or no: `train=no,search=yes`.
Few crawlers obey Content-Usage, Content-Signal and User-Agent-Purpose today.
So also refuse, by name or kind, the crawlers that you do not want.

mayi makes the smallest edit that does what you ask. Before it is written, mayi
checks, for every URL, that these crawlers may do what you asked for and no more,
and that nothing changes for any other crawler. If a line prevents the edit, mayi
shows it and changes nothing.

Examples:
  mayi edit robots.txt --refuse training --allow GPTBot /press/
  mayi edit robots.txt --diff --refuse '*' /drafts/
  mayi edit robots.txt --content-usage train=no --sitemap https://example.com/s.xml
  mayi edit robots.txt --new --keep-out /cart/ --refuse training

Exit status: 0 the file is as requested, 1 it would have to change (--diff), 2
the file can't be read, written or edited.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = MORE)]
#[allow(clippy::struct_excessive_bools, reason = "each is a word of the command line")]
pub(crate) struct EditArgs {
    /// The file to edit in place; `-` reads standard input and prints the result
    #[arg(value_name = "FILE")]
    file: String,

    /// WHO may not fetch PATH. Can be repeated
    #[arg(long, num_args = 1..=2, value_names = ["WHO", "PATH"])]
    refuse: Vec<String>,

    /// WHO may fetch PATH. Can be repeated
    #[arg(long, num_args = 1..=2, value_names = ["WHO", "PATH"])]
    allow: Vec<String>,

    /// Write Content-Usage lines (an IETF draft) that say how fetched pages may be used. The draft has no value for
    /// `ai-input`
    #[arg(long, value_name = "USES", value_parser = uses)]
    content_usage: Option<Preferences>,

    /// Say the same in Content-Signal lines, as Cloudflare's customers do
    #[arg(long, value_name = "USES", value_parser = uses)]
    content_signal: Option<Preferences>,

    /// Crawlers with this purpose may fetch nothing (User-Agent-Purpose, a draft). Can be repeated
    #[arg(long, value_name = "PURPOSE")]
    refuse_purpose: Vec<String>,

    /// Name the URL of a sitemap. Can be repeated
    #[arg(long, value_name = "URL")]
    sitemap: Vec<String>,

    /// Change nothing; show what would change
    #[arg(long)]
    diff: bool,

    /// Change nothing; print the edit as a JSON object
    #[arg(short, long, conflicts_with = "diff")]
    json: bool,

    /// List all crawlers; by default long lists are cut
    #[arg(long)]
    all: bool,

    /// Make a new file, which must not exist yet
    #[arg(long, help_heading = "A new file")]
    new: bool,

    /// A path that nobody may fetch. Can be repeated
    #[arg(long, value_name = "PATH", requires = "new", help_heading = "A new file")]
    keep_out: Vec<String>,

    /// A registry file that extends the built-in registries. Can be repeated
    #[arg(hide_short_help = true, long = "registry", value_name = "FILE")]
    registries: Vec<PathBuf>,
}

pub(crate) fn run(args: &EditArgs) -> Result<Exit, Failure> {
    let registry = input::registry(&args.registries)?;
    let options = ReadOptions::default().with_registry(registry.clone());
    let goals = goals(args, &registry)?;
    let Loaded { name, octets, .. } = if args.new { new(args)? } else { input::load_file(&args.file)? };
    let mut out = crate::text::out();
    if args.json {
        let said = report(&octets, &goals, &options);
        write_json(&mut out, &said)?;
        out.flush()?;
        return Ok(if said.refused.is_some() { Exit::NoAnswer } else { Exit::Allowed });
    }
    let edited = edit(&octets, &goals, &options)
        .map_err(|why| Failure::new(format_args!("{name} is not changed: {why}")))?;
    let is_changed = args.new || edited.octets != octets;
    if args.diff {
        let is_file = args.file != "-";
        let old: &[u8] = if args.new { b"" } else { &octets };
        let difference = unified::difference(&args.file, is_file, old, &edited.octets, unified::steps);
        unified::print(&mut out, &difference, is_file)?;
        out.flush()?;
        return Ok(if is_changed { Exit::Disallowed } else { Exit::Allowed });
    }
    if args.file == "-" {
        // The octets as they are: a file that is filtered is not shown.
        let mut stdout = io::stdout().lock();
        stdout.write_all(&edited.octets)?;
        stdout.flush()?;
        return Ok(Exit::Allowed);
    }
    let path = Path::new(&args.file);
    let unwritable =
        |error: io::Error| Failure::new(format_args!("`{}` can't be written: {error}", path.display()));
    if args.new {
        let mut file = std::fs::File::create_new(path).map_err(unwritable)?;
        file.write_all(&edited.octets).map_err(unwritable)?;
    } else if is_changed {
        replace(path, &edited.octets).map_err(unwritable)?;
    }
    tell(&mut out, args, &name, &octets, &edited, &goals)?;
    out.flush()?;
    Ok(Exit::Allowed)
}

/// The goals of the command line. Those about longer paths come later, so that they count, and single crawlers after
/// kinds, after everybody. Where a crawler serves two kinds, refusing one of them counts.
fn goals(args: &EditArgs, registry: &Registry) -> Result<Vec<Goal>, Failure> {
    let is_kind = |who: &str| AgentKind::ALL.iter().any(|kind| kind.name() == who);
    let rank = |who: &str| if who == "*" { 0 } else { 2 - u8::from(is_kind(who)) };
    let mut said: Vec<_> = words(&args.refuse).map(|(who, path)| (false, who, path)).collect();
    said.extend(words(&args.allow).map(|(who, path)| (true, who, path)));
    said.sort_by_key(|(may, who, path)| (path.len(), rank(who), *may != is_kind(who)));
    let of_access = said.into_iter().map(|(may, who, path)| {
        let goal = if may { Goal::allow } else { Goal::refuse };
        goal(&[who], path, registry)
    });
    let carried =
        [(Carrier::ContentUsage, args.content_usage), (Carrier::ContentSignal, args.content_signal)];
    let preferred = carried.into_iter().filter_map(|(by, uses)| Some(Goal::prefer(by, uses?)));
    let purposes = Some(&args.refuse_purpose).filter(|all| !all.is_empty());
    let purposes = purposes.map(|all| Goal::refuse_purposes(all));
    let sitemaps = args.sitemap.iter().map(|url| Goal::sitemap(url));
    // Crawlers that are refused need no statement about uses.
    let goals = of_access.chain(preferred).chain(purposes).chain(sitemaps);
    let goals = goals.collect::<Result<Vec<_>, _>>().map_err(Failure::new)?;
    if goals.is_empty() && !args.new {
        return Err(Failure::new(
            "say what to change: --refuse WHO [PATH], --allow WHO [PATH], --content-usage USES, --content-signal USES, --refuse-purpose PURPOSE or --sitemap URL",
        ));
    }
    Ok(goals)
}

/// `train=no,search=yes`, also in the words of the directives: `train-ai=n`, `ai-train=no`.
fn uses(text: &str) -> Result<Preferences, String> {
    let mut uses = Preferences::default();
    for member in text.split(',').map(str::trim) {
        let (name, says) = member.split_once('=').unwrap_or((member, ""));
        let says = match says.trim() {
            "yes" | "y" => Preference::Allowed,
            "no" | "n" => Preference::Disallowed,
            _ => return Err(format!("`{member}` does not say yes or no: write `train=no`")),
        };
        match name.trim() {
            "search" => uses.search = says,
            "train" | "train-ai" | "ai-train" => uses.train = says,
            "ai-input" => uses.ai_input = says,
            other => return Err(format!("`{other}` is not a use: give search, train or ai-input")),
        }
    }
    Ok(uses)
}

/// The words of an option that is given several times: who, and a path where one follows. No name starts with `/`.
fn words(all: &[String]) -> impl Iterator<Item = (&str, &str)> {
    all.iter().enumerate().filter_map(|(place, word)| {
        let path = all.get(place + 1).map(String::as_str).filter(|next| next.starts_with('/'));
        let is_path = word.starts_with('/') && place > 0;
        (!is_path).then(|| (word.as_str(), path.unwrap_or("/")))
    })
}

/// A new file, before the goals.
fn new(args: &EditArgs) -> Result<Loaded, Failure> {
    let mut file = NewFile::default();
    file.keep_out = args.keep_out.iter().map(|path| path.as_str().into()).collect();
    let text = file.text().map_err(Failure::new)?;
    Ok(Loaded {
        name: input::name(Path::new(&args.file)),
        octets: text.into_bytes(),
        content_type: None,
    })
}

/// Reports the result of each goal.
fn tell(
    out: &mut impl Write,
    args: &EditArgs,
    name: &str,
    old: &[u8],
    edited: &Edited,
    goals: &[Goal],
) -> io::Result<()> {
    let verb = match (args.new, edited.octets == old) {
        (true, _) => "wrote",
        (false, true) => "unchanged",
        (false, false) => "edited",
    };
    writeln!(out, "{verb} {name}")?;
    for (goal, granted) in goals.iter().zip(&edited.granted) {
        let now = if granted.already.is_empty() { "now says" } else { "says already" };
        match goal {
            Goal::Access(goal) => tell_access(out, goal, granted, args.all)?,
            Goal::Prefer(by, _) => writeln!(out, "  {now} how pages may be used ({})", by.name())?,
            Goal::RefusePurposes(all) => writeln!(
                out,
                "  {now} that crawlers with these purposes may not fetch anything: {}",
                all.join(", ")
            )?,
            Goal::Sitemap(url) => {
                writeln!(out, "  {now} where a sitemap is: {}", shown(url.as_bytes()))?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn tell_access(
    out: &mut impl Write,
    goal: &AccessGoal,
    granted: &Granted,
    all: bool,
) -> io::Result<()> {
    let may = if goal.is_to_allow() { "may" } else { "may not" };
    let path = match (goal.path(), goal.is_to_allow()) {
        ("/", true) => "everything".to_owned(),
        ("/", false) => "anything".to_owned(),
        (path, _) => shown(path.as_bytes()),
    };
    let names = |names: &[String]| {
        let names: Vec<_> = names
            .iter()
            .map(|name| if name == "*" { "everybody".to_owned() } else { name.clone() })
            .collect();
        listed(&names, columns(), all)
    };
    if !granted.changed.is_empty() {
        let who = styled(STRONG, names(&granted.changed));
        writeln!(out, "  now {may} fetch {path}: {who}")?;
    }
    if !granted.already.is_empty() {
        writeln!(out, "  {may} fetch {path} already: {}", names(&granted.already))?;
    }
    if !granted.kept.is_empty() {
        writeln!(out, "  keep their rules, in new groups: {}", names(&granted.kept))?;
    }
    Ok(())
}
