//! Large groups → what it costs mayi to prepare them for a crawler, and after how many questions that
//! has paid.

use std::hint::black_box;

use mayi::{Crawler, RobotsTxt, Target};

use crate::corpus::{CRAWLERS, Corpus};
use crate::figures::count;
use crate::heap;
use crate::hostile::{self, Case};
use crate::measure::repeat;

pub struct Preparation {
    pub title: String,
    pub rules: usize,
    /// Seconds to read the file for all crawlers.
    pub parse: f64,
    /// Seconds to prepare the rules of one.
    pub prepare: f64,
    /// Octets on the heap for the prepared rules.
    pub heap: i64,
    /// Seconds for a decision straight from the text, and for one by the prepared rules.
    pub direct: f64,
    pub prepared: f64,
}

impl Preparation {
    /// After how many questions preparing was the cheaper way.
    pub fn pays_after(&self) -> Option<f64> {
        let saved = self.direct - self.prepared;
        (saved > 0.0).then(|| (self.prepare / saved).ceil().max(1.0))
    }
}

/// Measures the large groups of the hostile cases, the largest file of the corpus and one of the
/// median size.
pub fn run(corpus: &Corpus) -> Vec<Preparation> {
    let mut rows = Vec::new();
    for name in ["literal-miss", "wildcard-miss", "anchored-miss"] {
        let recipe = hostile::find(name).expect("it is one of the recipes");
        rows.push(measure(recipe.title.to_owned(), &(recipe.make)()));
    }
    let mut sites: Vec<_> = corpus.sites.iter().collect();
    sites.sort_by_key(|site| site.octets.len());
    let median = sites.get(sites.len() / 2).map(|site| ("the median", *site));
    let largest = sites.last().map(|site| ("the largest", *site));
    for (which, site) in [largest, median].into_iter().flatten() {
        let urls = site.questions[0].iter().map(|question| question.url.clone()).collect();
        let case = Case { file: site.octets.clone(), urls, allowed: false };
        let title = format!("{which} file of the corpus ({} octets)", count(site.octets.len()));
        rows.push(measure(title, &case));
    }
    rows
}

fn measure(title: String, case: &Case) -> Preparation {
    let crawler = Crawler::new(CRAWLERS[0]).expect("a product token");
    let questions = case.urls.len() as f64;

    let (parse, robots) = repeat(|| RobotsTxt::parse(black_box(&case.file)));
    let (prepare, rules) = repeat(|| black_box(&robots).for_crawler(&crawler));
    let (_again, heap) = heap::count(|| robots.for_crawler(&crawler));
    let allowed_directly = |url: &&String| robots.decide(&crawler, &target(url)).is_allowed();
    let (direct, allowed) = repeat(|| case.urls.iter().filter(allowed_directly).count());
    let allowed_by_rules = |url: &&String| rules.decide(&target(url)).is_allowed();
    let (prepared, again) = repeat(|| case.urls.iter().filter(allowed_by_rules).count());
    assert_eq!(allowed, again, "prepared rules must answer alike: {title}");

    Preparation {
        title,
        rules: rules.len(),
        parse,
        prepare,
        heap: heap.live,
        direct: direct / questions,
        prepared: prepared / questions,
    }
}

fn target(url: &str) -> Target<'_> {
    Target::parse(url).expect("the workloads have good URLs")
}
