//! A goal about what a file says besides rules → the file that says it: preferences about uses in every group, a group for
//! purposes, a sitemap.
//!
//! A group in which nothing may be fetched needs no preference: what can't be fetched can't be used. A line
//! that says something else about a part of the site is a deliberate exception: it is not changed, and the
//! edit is refused.

use std::collections::HashMap;
use std::ops::Range;

use super::access::{cost_of_rules, holds, is_global_start};
use super::change::{Change, written};
use super::goal::{AccessGoal, Carrier, Goal, Preferences};
use super::{Granted, Unedited, pay, read};
use crate::crawler::Crawler;
use crate::directive::{
    CONTENT_SIGNAL, CONTENT_USAGE, Directive, GroupStart, Role, SITEMAP, USER_AGENT_PURPOSE,
};
use crate::preference::{Preference, Statement};
use crate::records::ContentSignal;
use crate::robots_txt::{ReadOptions, Record, RobotsTxt};
use crate::selection::{Selection, cost_of_selecting, is_regex, select};
use crate::structured::split_path;
use crate::work::Work;

/// What a look at a file for such a goal costs: each line is read for each use, and compared with what was there.
const UNITS_PER_OCTET: usize = 4;

/// Reaches one goal that is not about access.
pub(super) fn grant(
    text: &[u8],
    goal: &Goal,
    options: &ReadOptions,
    work: &Work,
) -> Result<(Vec<u8>, Granted), Unedited> {
    let old = read(text, options, work)?;
    let new = plan(&old, goal, work)?;
    let mut granted = Granted::default();
    let list = if new == text { &mut granted.already } else { &mut granted.changed };
    list.push("*".to_owned());
    let changed = read(&new, options, work)?;
    // The goal is reached, and everything else is unchanged.
    let says_so = plan(&changed, goal, work)? == new;
    if !says_so || !is_the_rest_as_it_was(&old, &changed, goal) {
        return Err(Unedited::WouldChangeOthers { crawler: "*".to_owned() });
    }
    Ok((new, granted))
}

/// The text in which the goal is reached.
fn plan(robots: &RobotsTxt<'_>, goal: &Goal, work: &Work) -> Result<Vec<u8>, Unedited> {
    pay(work, UNITS_PER_OCTET * robots.text().len())?;
    let mut change = Change::of(robots);
    match goal {
        Goal::Access(_) => {}
        Goal::Prefer(carrier, preferences) => {
            Stating { robots, carrier: *carrier, preferences: *preferences }.state(&mut change)?;
        }
        Goal::RefusePurposes(purposes) => refuse_purposes(robots, purposes, &mut change, work)?,
        Goal::Sitemap(url) => name_sitemap(robots, url, &mut change),
    }
    Ok(change.applied())
}

/// The directive whose lines a goal may change.
fn directive_of(goal: &Goal) -> Option<&'static Directive> {
    match goal {
        Goal::Prefer(carrier, _) => Some(carrier.directive()),
        Goal::Sitemap(_) => Some(&SITEMAP),
        Goal::Access(_) | Goal::RefusePurposes(_) => None,
    }
}

/// Whether the other records are the same as before, in the same groups. A group may have come: one of `*` that allows
/// everything, as having no group does, or one of the purposes that were named.
fn is_the_rest_as_it_was(old: &RobotsTxt<'_>, new: &RobotsTxt<'_>, goal: &Goal) -> bool {
    let own = directive_of(goal);
    let kept = |robots: &RobotsTxt<'_>, indexes: Range<usize>| -> Vec<(&'static str, Vec<u8>)> {
        let records = robots.records()[indexes].iter();
        let others = records.filter(|record| own.is_none_or(|own| !record.is(own)));
        others.map(|record| (record.directive().name, robots.value(*record).to_vec())).collect()
    };
    let groups_of = |robots: &RobotsTxt<'_>| -> Vec<_> {
        let first = robots.group_ranges().next().map_or(robots.records().len(), |group| group.start);
        let before = kept(robots, 0..first);
        std::iter::once(before).chain(robots.group_ranges().map(|group| kept(robots, group))).collect()
    };
    let (mut before, mut after) = (groups_of(old), groups_of(new));
    before.retain(|group| !group.is_empty());
    after.retain(|group| !group.is_empty());
    let is_new = |group: &[(&'static str, Vec<u8>)]| match goal {
        Goal::RefusePurposes(_) => {
            group.iter().all(|(name, _)| *name == USER_AGENT_PURPOSE.name || *name == "Disallow")
        }
        _ => matches!(group, [("User-agent", any), ("Allow", all)] if any == b"*" && all == b"/"),
    };
    if after.len() == before.len() + 1
        && let Some(place) = after.iter().rposition(|group| is_new(group))
    {
        after.remove(place);
    }
    before == after
}

/// Preferences that a file is to state for everybody.
struct Stating<'r, 't> {
    robots: &'r RobotsTxt<'t>,
    carrier: Carrier,
    preferences: Preferences,
}

impl Stating<'_, '_> {
    fn state(&self, change: &mut Change<'_, '_>) -> Result<(), Unedited> {
        let robots = self.robots;
        let groups: Vec<_> = robots.group_ranges().collect();
        let first = groups.first().map_or(robots.records().len(), |group| group.start);
        // A Content-Signal before all groups is for everybody (WILD-1).
        let before: Vec<usize> = (0..first).filter(|index| self.is_own(*index)).collect();
        let is_said_before = self.carrier == Carrier::ContentSignal && !before.is_empty();
        if is_said_before {
            self.state_in(&before, None, change)?;
        }
        let (refusal, starts) = (AccessGoal::refuse_all(), self.starts());
        for group in &groups {
            let is_refused = holds(robots, Some(&Selection::of_group(group.clone())), &refusal);
            if is_refused && !self.may_count_elsewhere(group, &starts) {
                continue;
            }
            let records: Vec<usize> = group.clone().filter(|index| self.is_own(*index)).collect();
            let place = (!is_said_before && !is_refused).then(|| self.place_in(group.clone()));
            self.state_in(&records, place, change)?;
        }
        let has_global = groups.iter().cloned().flatten().any(|index| is_global_start(robots, index));
        if !is_said_before && !has_global {
            change.add_group_of_all(&[&self.line(), b"Allow: /"]);
        }
        Ok(())
    }

    /// How often each group-start line is there.
    fn starts(&self) -> HashMap<Vec<u8>, usize> {
        let mut starts: HashMap<Vec<u8>, usize> = HashMap::new();
        for record in self.robots.records() {
            if record.starts_group() {
                *starts.entry(self.robots.value(*record).to_ascii_lowercase()).or_default() += 1;
            }
        }
        starts
    }

    /// Whether a group may count together with another one: both name a crawler, or it names purposes or regular
    /// expressions, of which a crawler may match several.
    fn may_count_elsewhere(&self, group: &Range<usize>, starts: &HashMap<Vec<u8>, usize>) -> bool {
        self.robots.records()[group.clone()].iter().any(|record| {
            let value = self.robots.value(*record);
            match record.role() {
                Role::StartsGroup(GroupStart::ProductToken) => {
                    is_regex(value) || starts.get(&value.to_ascii_lowercase()) > Some(&1)
                }
                Role::StartsGroup(_) => true,
                _ => false,
            }
        })
    }

    /// Makes these records say it. `place` is the record after which a line is inserted if nothing says it
    /// yet; None if it is said elsewhere.
    fn state_in(
        &self,
        records: &[usize],
        place: Option<usize>,
        change: &mut Change<'_, '_>,
    ) -> Result<(), Unedited> {
        // The records about all of the site, and what they say after this.
        let mut of_all: Vec<(usize, Vec<u8>)> = Vec::new();
        for &index in records {
            let value = self.robots.value(self.robots.records()[index]);
            let (path, said) = self.split(value);
            if path.is_some_and(|path| path != b"/") {
                if !self.says_all(said) {
                    return Err(self.in_the_way(index));
                }
            } else {
                let said = self.without_contradiction(said).ok_or_else(|| self.in_the_way(index))?;
                of_all.push((index, said));
            }
        }
        // Of several lines, those with the path `/` decide alone (USE-3).
        let longest = of_all.iter().map(|(index, _)| self.path_octets(*index)).max();
        of_all.retain(|(index, _)| Some(self.path_octets(*index)) == longest);
        let is_said =
            |label: &str| of_all.iter().any(|(_, said)| self.says(said, label) != Preference::Unknown);
        let missing: Vec<_> = self.wanted().filter(|(label, ..)| !is_said(label)).collect();
        let missing: Vec<String> =
            missing.iter().map(|(label, _, word)| format!("{label}={word}")).collect();
        if !missing.is_empty() {
            match (of_all.last_mut(), place) {
                (Some((_, said)), _) => {
                    said.extend_from_slice(if said.is_empty() { b"" } else { b", " });
                    said.extend_from_slice(missing.join(", ").as_bytes());
                }
                (None, Some(place)) => change.insert_after(place, self.line()),
                (None, None) => {}
            }
        }
        for (index, said) in of_all {
            let value = self.robots.value(self.robots.records()[index]);
            let (_, old) = self.split(value);
            if said != old {
                let start = &value[..value.len() - old.len()];
                change.replace_value(index, &[start, &said].concat())?;
            }
        }
        Ok(())
    }

    /// What is wanted: label, preference and the word for it.
    fn wanted(&self) -> impl Iterator<Item = (&'static str, Preference, &'static str)> {
        self.carrier.members(self.preferences)
    }

    fn line(&self) -> Vec<u8> {
        let members: Vec<_> = self.wanted().map(|(label, _, word)| format!("{label}={word}")).collect();
        written(self.carrier.directive().name, members.join(", ").as_bytes())
    }

    fn is_own(&self, index: usize) -> bool {
        self.robots.records()[index].is(self.carrier.directive())
    }

    /// The record of a group after which a new line is inserted: after its group-start lines and the lines
    /// about uses.
    fn place_in(&self, group: Range<usize>) -> usize {
        let records = self.robots.records();
        let is_start = |record: &Record| record.starts_group();
        let is_statement = |record: &Record| record.is(&CONTENT_USAGE) || record.is(&CONTENT_SIGNAL);
        let start = group.start;
        let of_top =
            group.take_while(|&index| is_start(&records[index]) || is_statement(&records[index]));
        of_top.last().unwrap_or(start)
    }

    fn split<'v>(&self, value: &'v [u8]) -> (Option<&'v [u8]>, &'v [u8]) {
        match self.carrier {
            Carrier::ContentUsage => split_path(value),
            Carrier::ContentSignal => (None, value),
        }
    }

    fn path_octets(&self, index: usize) -> usize {
        self.split(self.robots.value(self.robots.records()[index])).0.map_or(0, <[u8]>::len)
    }

    fn says(&self, said: &[u8], label: &str) -> Preference {
        match self.carrier {
            Carrier::ContentUsage => {
                Statement::parse(said).map_or(Preference::Unknown, |said| said.preference(label))
            }
            Carrier::ContentSignal => ContentSignal::parse(said).preference(label),
        }
    }

    fn says_all(&self, said: &[u8]) -> bool {
        self.wanted().all(|(label, wanted, _)| self.says(said, label) == wanted)
    }

    /// The members with the wanted words where they say something else about a label of the goal. None if they can't be read.
    fn without_contradiction(&self, said: &[u8]) -> Option<Vec<u8>> {
        let is_readable = match self.carrier {
            Carrier::ContentUsage => Statement::parse(said).is_some() && !said.is_empty(),
            Carrier::ContentSignal => true,
        };
        let text = std::str::from_utf8(said).ok().filter(|_| is_readable)?;
        let mut changed = text.to_owned();
        for (label, wanted, word) in self.wanted() {
            let key_of = |member: &str| member.split('=').next().unwrap_or_default().trim().to_owned();
            let is_it = |member: &str| key_of(member).eq_ignore_ascii_case(label);
            if !changed.split(',').any(is_it) || self.says(changed.as_bytes(), label) == wanted {
                continue;
            }
            let members = changed.split(',').map(|member| {
                if !is_it(member) {
                    return member.to_owned();
                }
                let start = &member[..member.len() - member.trim_start().len()];
                format!("{start}{label}={word}")
            });
            changed = members.collect::<Vec<_>>().join(",");
            if self.says(changed.as_bytes(), label) != wanted {
                return None;
            }
        }
        Some(changed.into_bytes())
    }

    fn in_the_way(&self, index: usize) -> Unedited {
        let record = self.robots.records()[index];
        let statement = written(record.directive().name, self.robots.value(record));
        Unedited::StatementInTheWay {
            line: self.robots.line_of(record).number(),
            statement: String::from_utf8_lossy(&statement).into_owned(),
        }
    }
}

/// Adds a group for the purposes that may fetch something.
fn refuse_purposes(
    robots: &RobotsTxt<'_>,
    purposes: &[String],
    change: &mut Change<'_, '_>,
    work: &Work,
) -> Result<(), Unedited> {
    let refusal = AccessGoal::refuse_all();
    let mut missing: Vec<Vec<u8>> = Vec::new();
    for purpose in purposes {
        let crawler = Crawler::unnamed().with_purpose(purpose).unwrap_or_else(|_| Crawler::unnamed());
        pay(work, cost_of_selecting(robots, &crawler))?;
        let selection = select(robots, &crawler, &mut ());
        pay(work, cost_of_rules(robots, selection.as_ref()))?;
        if holds(robots, selection.as_ref(), &refusal) {
            continue;
        }
        let is_named = |record: &&Record| {
            record.role() == Role::StartsGroup(GroupStart::Purpose)
                && robots.value(**record).eq_ignore_ascii_case(purpose.as_bytes())
        };
        if let Some(record) = robots.records().iter().find(is_named) {
            let line = robots.line_of(*record).number();
            return Err(Unedited::PurposeInTheWay { line, purpose: purpose.clone() });
        }
        missing.push(written(USER_AGENT_PURPOSE.name, purpose.as_bytes()));
    }
    if !missing.is_empty() {
        missing.push(b"Disallow: /".to_vec());
        change.add_group(missing, &[])?;
    }
    Ok(())
}

/// Adds a sitemap below the others, or at the end.
fn name_sitemap(robots: &RobotsTxt<'_>, url: &str, change: &mut Change<'_, '_>) {
    if robots.sitemaps().any(|known| known == url.as_bytes()) {
        return;
    }
    let line = written(SITEMAP.name, url.as_bytes());
    match robots.records().iter().rposition(|record| record.is(&SITEMAP)) {
        Some(last) => change.insert_after(last, line),
        None => change.add_at_end(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::edit;

    fn granted(file: &str, goal: Goal) -> Result<String, Unedited> {
        let edited = edit(file.as_bytes(), &[goal], &ReadOptions::default())?;
        Ok(String::from_utf8(edited.octets).expect("text"))
    }

    fn no_training(carrier: Carrier) -> Goal {
        let preferences = Preferences { train: Preference::Disallowed, ..Preferences::default() };
        Goal::prefer(carrier, preferences).expect("it says something")
    }

    #[track_caller]
    fn check(file: &str, goal: &Goal, expected: &str) {
        assert_eq!(granted(file, goal.clone()).as_deref(), Ok(expected), "{goal:?} in {file:?}");
        assert_eq!(granted(expected, goal.clone()).as_deref(), Ok(expected), "again, {goal:?}");
    }

    #[test]
    fn a_preference_is_in_every_group_that_may_fetch_something() {
        check(
            "User-agent: *\nDisallow: /x\n\nUser-agent: A\nDisallow: /\n\nUser-agent: B\nUser-agent: C\nCrawl-delay: 2\nAllow: /\n",
            &no_training(Carrier::ContentUsage),
            "User-agent: *\nContent-Usage: train-ai=n\nDisallow: /x\n\nUser-agent: A\nDisallow: /\n\nUser-agent: B\nUser-agent: C\nContent-Usage: train-ai=n\nCrawl-delay: 2\nAllow: /\n",
        );
        check(
            "User-agent: A\nDisallow: /\n",
            &no_training(Carrier::ContentSignal),
            "User-agent: A\nDisallow: /\n\nUser-agent: *\nContent-Signal: ai-train=no\nAllow: /\n",
        );
        check(
            "",
            &no_training(Carrier::ContentUsage),
            "User-agent: *\nContent-Usage: train-ai=n\nAllow: /\n",
        );
    }

    #[test]
    fn what_is_said_already_is_changed_where_it_stands() {
        check(
            "User-agent: *\ncontent-usage: train-ai=y, search=y # for now\r\nDisallow:\n",
            &no_training(Carrier::ContentUsage),
            "User-agent: *\ncontent-usage: train-ai=n, search=y # for now\nDisallow:\n",
        );
        check(
            "User-agent: *\nContent-Usage: / search=y\nDisallow:\n",
            &no_training(Carrier::ContentUsage),
            "User-agent: *\nContent-Usage: / search=y, train-ai=n\nDisallow:\n",
        );
        // Before all groups it is for everybody.
        check(
            "Content-Signal: search=yes, AI-Train=yes\nUser-agent: *\nContent-Signal: ai-train=no\nDisallow:\n\nUser-agent: A\nDisallow: /x\n",
            &no_training(Carrier::ContentSignal),
            "Content-Signal: search=yes, ai-train=no\nUser-agent: *\nContent-Signal: ai-train=no\nDisallow:\n\nUser-agent: A\nDisallow: /x\n",
        );
    }

    /// `A` may fetch nothing by its first group, and something by both.
    #[test]
    fn groups_that_count_together_are_seen_together() {
        check(
            "User-agent: A\nContent-Usage: / train-ai=y\nDisallow: /\n\nUser-agent: *\nUser-agent: a\nAllow: /\n",
            &no_training(Carrier::ContentUsage),
            "User-agent: A\nContent-Usage: / train-ai=n\nDisallow: /\n\nUser-agent: *\nUser-agent: a\nContent-Usage: train-ai=n\nAllow: /\n",
        );
        check(
            "User-agent: A\nContent-Usage: /press/ train-ai=y\nDisallow: /\n\nUser-agent: *\nAllow: /\n",
            &no_training(Carrier::ContentUsage),
            "User-agent: A\nContent-Usage: /press/ train-ai=y\nDisallow: /\n\nUser-agent: *\nContent-Usage: train-ai=n\nAllow: /\n",
        );
    }

    #[test]
    fn an_exception_that_somebody_made_is_not_touched() {
        for line in [
            "Content-Usage: /free/ train-ai=y",
            "Content-Usage: /free/ search=y",
            "Content-Usage: train-ai=(",
        ] {
            let why = granted(&format!("User-agent: *\n{line}\n"), no_training(Carrier::ContentUsage));
            let why = why.expect_err("it is in the way");
            assert_eq!((why.code(), why.line()), ("statement-in-the-way", Some(2)), "{line}");
        }
        let same = "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /free/ train-ai=n\n";
        check(same, &no_training(Carrier::ContentUsage), same);
    }

    #[test]
    fn purposes_get_a_group_and_sitemaps_a_line() {
        let purposes = || Goal::refuse_purposes(&["SHOPPING", "NEWS"]).expect("purposes");
        check(
            "User-agent: *\nDisallow: /x\n\nUser-Agent-Purpose: news\nDisallow: /\n",
            &purposes(),
            "User-agent: *\nDisallow: /x\n\nUser-Agent-Purpose: news\nDisallow: /\n\nUser-Agent-Purpose: SHOPPING\nDisallow: /\n",
        );
        let why = granted("User-Agent-Purpose: NEWS\nDisallow: /x\n", purposes())
            .expect_err("a group is there");
        assert_eq!((why.code(), why.line()), ("purpose-in-the-way", Some(1)));

        let sitemap = || Goal::sitemap("https://h/s.xml").expect("a sitemap");
        check(
            "User-agent: *\nDisallow: /x",
            &sitemap(),
            "User-agent: *\nDisallow: /x\n\nSitemap: https://h/s.xml\n",
        );
        check(
            "Sitemap: https://h/a.xml\nUser-agent: *\nDisallow: /x\n",
            &sitemap(),
            "Sitemap: https://h/a.xml\nSitemap: https://h/s.xml\nUser-agent: *\nDisallow: /x\n",
        );
    }

    #[test]
    fn wrong_goals_are_reported() {
        let nothing = Goal::prefer(Carrier::ContentSignal, Preferences::default());
        assert_eq!(
            nothing.expect_err("nothing is said").to_string(),
            "give a value for search, ai-input or train, for the Content-Signal lines"
        );
        let input = Preferences { ai_input: Preference::Disallowed, ..Preferences::default() };
        assert!(Goal::prefer(Carrier::ContentUsage, input).is_err(), "it has no word for that");
        assert!(Goal::refuse_purposes(&["a b"]).is_err() && Goal::refuse_purposes(&["a#b"]).is_err());
        assert!(Goal::refuse_purposes::<&str>(&[]).is_err());
        for url in ["sitemap.xml", "https://h/a b", "https://h/#a", "ftp://h/s.xml"] {
            assert!(Goal::sitemap(url).is_err(), "{url}");
        }
    }
}
