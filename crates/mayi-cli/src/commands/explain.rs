//! `mayi explain`: the same question, drawn for a person.

use std::io::{self, Write};

use mayi::report::Report;
use mayi::{Crawler, Explanation, GroupBy, MatchingRule, Reason, RuleKind};

use super::check::{exit_of, verdict, write_json, write_parts, wrong_url};
use crate::asking::Asking;
use crate::cli::Explain;
use crate::exit::{Exit, Failure};
use crate::input;
use crate::snippet;
use crate::text::{BAD, DIM, GOOD, STRONG, counted, shown, styled};

/// How many groups and rules are listed before the rest is only counted.
const MOST_LISTED: usize = 8;

pub(crate) fn run(explain: &Explain) -> Result<Exit, Failure> {
    let question = &explain.question;
    let asking = Asking::new(question)?;
    let urls = input::urls(question)?;
    let mut out = crate::text::out();
    let mut exit = Exit::Allowed;
    let mut is_first = true;
    asking.each(urls, |url, asked| {
        let asked = match asked {
            Ok(asked) => asked,
            Err(error) => {
                exit = Exit::NoAnswer;
                wrong_url(&mut out, error, url, question)?;
                return Ok(());
            }
        };
        let explanation = asked.file.explain(asked.crawler(), &asked.target);
        let report = asked.explained_by(&explanation);
        exit = exit.max(exit_of(&report));
        if question.json {
            write_json(&mut out, &report)?;
            return Ok(());
        }
        if !std::mem::take(&mut is_first) {
            writeln!(out)?;
        }
        draw(&mut out, &explanation, &report, asked.crawler(), asked.name, explain.context)?;
        Ok(())
    })?;
    out.flush()?;
    Ok(exit)
}

fn draw(
    out: &mut impl Write,
    explanation: &Explanation<'_>,
    report: &Report<'_>,
    crawler: &Crawler,
    file: &str,
    context: u32,
) -> io::Result<()> {
    let url = shown(explanation.target().url().as_bytes());
    let verdict = verdict(report);
    writeln!(
        out,
        "{verdict}  {}  for {crawler}\n",
        styled(STRONG, url),
        crawler = crawler.product_token()
    )?;
    draw_file(out, report, file)?;
    draw_lines(out, explanation, file, context)?;
    draw_target(out, explanation)?;
    draw_groups(out, explanation, crawler)?;
    draw_rules(out, explanation)?;
    draw_applications(out, report)?;
    writeln!(out, "{}      crawling is {}", step("uses"), report.uses.crawl.name())?;
    write_parts(out, report)?;
    draw_irregularities(out, explanation)?;
    let clauses: Vec<_> = explanation.clauses().iter().map(ToString::to_string).collect();
    writeln!(out, "{}   {}", step("clauses"), clauses.join(", "))
}

/// Where the file came from, where it was fetched.
fn draw_file(out: &mut impl Write, report: &Report<'_>, file: &str) -> io::Result<()> {
    let Some(story) = &report.file else { return Ok(()) };
    writeln!(out, "{}    {file}: {}", step("access"), shown(story.sentence().as_bytes()))?;
    for hop in &story.hops {
        let said = match (hop.status, &hop.error) {
            (Some(status), _) => format!("status {status}"),
            (None, error) => error.as_deref().unwrap_or_default().to_owned(),
        };
        let (url, said) = (shown(hop.url.as_bytes()), shown(said.as_bytes()));
        writeln!(out, "            {}", styled(DIM, format!("{url}: {said}")))?;
    }
    writeln!(out)
}

/// The lines of the file around the one that decided.
fn draw_lines(
    out: &mut impl Write,
    explanation: &Explanation<'_>,
    file: &str,
    context: u32,
) -> io::Result<()> {
    let winner = explanation.winner();
    let of_group = || explanation.decision().group()?.lines().first().copied();
    let Some(middle) = winner.map(MatchingRule::line).or_else(of_group) else { return Ok(()) };
    let first = middle.number().saturating_sub(context).max(1);
    let lines = explanation.robots_txt().into_iter().flat_map(mayi::RobotsTxt::lines);
    let lines = lines.skip(first as usize - 1);
    writeln!(out, "    {}", styled(DIM, format!("{file}:{middle}")))?;
    for line in lines.take_while(|line| line.number() <= middle.plus(context)) {
        let (number, text) = (line.number(), line.text());
        let lead = format!("  {} ", styled(STRONG, ">"));
        match winner {
            _ if number != middle => snippet::write_line(out, "    ", number, text)?,
            None => snippet::write_line(out, &lead, number, text)?,
            Some(rule) => {
                let start = (rule.span().start - line.span().start) as usize;
                let place = start..start + rule.pattern().len();
                let style = if rule.kind() == RuleKind::Allow { GOOD } else { BAD };
                snippet::write_marked(out, (&lead, "    "), number, text, place, style)?;
            }
        }
    }
    writeln!(out)
}

fn draw_target(out: &mut impl Write, explanation: &Explanation<'_>) -> io::Result<()> {
    let forms: Vec<_> = explanation.compared().iter().map(|form| shown(form)).collect();
    let forms = forms.join("  or  ");
    writeln!(out, "{}    {forms}  {}", step("target"), styled(DIM, "path and query, as compared"))
}

fn draw_groups(
    out: &mut impl Write,
    explanation: &Explanation<'_>,
    crawler: &Crawler,
) -> io::Result<()> {
    let token = crawler.product_token();
    let why = match (explanation.decision().reason(), explanation.decision().group()) {
        // There is no file to have groups.
        (Reason::Unavailable | Reason::Unreachable, _) => return Ok(()),
        (Reason::RobotsTxt, _) => "robots.txt itself may always be fetched".to_owned(),
        (_, Some(group)) => match group.by() {
            GroupBy::ProductToken if names_itself(explanation, token.as_str()) => {
                format!("{token} is named")
            }
            GroupBy::ProductToken => format!("a token that {token} falls back to is named"),
            GroupBy::Regex => format!("none names {token}, and a regular expression matches it"),
            GroupBy::Purpose => format!("none names {token}, and one is for its purpose"),
            _ => format!("none names {token}, so the global one applies"),
        },
        (_, None) => format!("none names {token} or `*`: no rules apply"),
    };
    let count = counted(explanation.groups().len(), "group");
    writeln!(out, "{}    {count}; {why}", step("groups"))?;
    // The chosen ones first: of thousands of groups, they are the ones to see.
    let (chosen, others): (Vec<_>, Vec<_>) =
        explanation.groups().iter().partition(|group| group.is_chosen());
    for group in chosen.iter().chain(&others).take(MOST_LISTED) {
        for start in group.starts().iter().take(MOST_LISTED) {
            let mark = if start.by().is_some() && group.is_chosen() { "+" } else { "-" };
            let by = start.by().map_or(String::new(), |by| format!(" ({})", by.name()));
            let line = format!("{mark} line {}: {}{by}", start.line(), shown(start.value()));
            let style = if group.is_chosen() { STRONG } else { DIM };
            writeln!(out, "            {}", styled(style, line))?;
        }
        left_out(out, group.starts().len())?;
    }
    left_out(out, explanation.groups().len())
}

/// Whether a group-start line has the crawler's own token, and not one that it falls back to.
fn names_itself(explanation: &Explanation<'_>, token: &str) -> bool {
    let mut starts = explanation.groups().iter().flat_map(mayi::ConsideredGroup::starts);
    let is_own = |value: &[u8]| {
        value.get(..token.len()).is_some_and(|start| start.eq_ignore_ascii_case(token.as_bytes()))
    };
    starts.any(|start| start.by() == Some(GroupBy::ProductToken) && is_own(start.value()))
}

fn draw_rules(out: &mut impl Write, explanation: &Explanation<'_>) -> io::Result<()> {
    if explanation.decision().group().is_none() {
        return Ok(());
    }
    let matches = explanation.matches();
    let why = match matches {
        [] => "none matches, so it is allowed",
        [_] => "one matches, and decides",
        [one, two, ..] if one.octets() == two.octets() && one.kind() != two.kind() => {
            "of two with as many octets, allow wins"
        }
        _ => "the one with the most octets wins",
    };
    writeln!(out, "{}     {why}", step("rules"))?;
    for (place, rule) in matches.iter().take(MOST_LISTED).enumerate() {
        let (mark, role) = match place {
            0 => ("+", "wins"),
            1 => ("-", "runner-up"),
            _ => ("-", ""),
        };
        let (line, column) = (rule.line(), rule.column());
        let octets = counted(rule.octets(), "octet");
        let mut text =
            format!("{mark} line {line}:{column}: {} {}", rule.kind().name(), shown(rule.pattern()));
        if rule.normalised() != rule.pattern() {
            text = format!("{text} (compared as {})", shown(rule.normalised()));
        }
        let style = if place == 0 { STRONG } else { DIM };
        writeln!(out, "            {}  {octets}  {role}", styled(style, text))?;
    }
    left_out(out, matches.len())
}

/// Which App-Directives rules match and name each application, and which of them apply.
fn draw_applications(out: &mut impl Write, report: &Report<'_>) -> io::Result<()> {
    for asked in report.explanation.iter().flat_map(|explained| &explained.applications) {
        let why = match asked.by {
            None => "no group is for it",
            Some(GroupBy::Global) => "the groups of `*` are for it",
            Some(_) => "the groups of its product token are for it",
        };
        writeln!(out, "{}       {}: {why}", step("app"), asked.application)?;
        for rule in asked.rules.iter().take(MOST_LISTED) {
            let (mark, role) =
                if rule.applies { ("+", "applies") } else { ("-", "loses to a longer one") };
            let octets = counted(rule.octets, "octet");
            writeln!(out, "            {mark} line {}: {octets}  {role}", rule.line)?;
        }
        left_out(out, asked.rules.len())?;
        for name in &asked.unusable {
            writeln!(out, "            - {name} has another type than the registered one: not used")?;
        }
    }
    Ok(())
}

fn draw_irregularities(out: &mut impl Write, explanation: &Explanation<'_>) -> io::Result<()> {
    let robots = explanation.robots_txt().into_iter();
    let mut found = robots.flat_map(mayi::RobotsTxt::irregularities).peekable();
    if found.peek().is_none() {
        return Ok(());
    }
    writeln!(out, "{}     some lines are irregular", step("lines"))?;
    for irregularity in found.by_ref().take(MOST_LISTED) {
        let (line, clause) = (irregularity.line(), irregularity.clause());
        writeln!(out, "            line {line}: {} {}", irregularity.summary(), styled(DIM, clause))?;
    }
    left_out(out, MOST_LISTED + found.count())
}

fn left_out(out: &mut impl Write, all: usize) -> io::Result<()> {
    match all.saturating_sub(MOST_LISTED) {
        0 => Ok(()),
        more => {
            writeln!(out, "            {}", styled(DIM, format!("and {more} more (--json lists them)")))
        }
    }
}

fn step(name: &str) -> String {
    format!("  {}", styled(STRONG, name))
}
