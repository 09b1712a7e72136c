//! Looks for input that costs mayi more than its size: what nobody has named yet.
//!
//! Input is made from pairs of kinds of piece, and every public function is asked about it at two sizes.
//! What takes long for its size or grows faster than it is listed, the worst first, and then what takes most memory.
//! Times are the processor's and only a screen: `--count` has valgrind count the instructions of the worst.

mod functions;
mod heap;
mod kinds;
mod recipe;

use std::error::Error;
use std::process::{Command, ExitCode};
use std::time::Duration;

use cpu_time::ThreadTime;

use crate::functions::Function;
use crate::recipe::{Recipe, SORTS};

#[global_allocator]
static ALLOCATOR: heap::Watched = heap::Watched;

const USAGE: &str = "\
Looks for input that costs mayi more than its size.

Usage: cargo run --release --manifest-path bench/worst/Cargo.toml -- [options]

  --octets N      the larger of the two sizes; the other is an eighth (default 65536)
  --pairs N       how many pairs of kinds are tried, beside each kind alone (default 400)
  --all           every pair
  --costly N      only pairs of the N kinds of each sort that cost most alone
  --only TEXT     only inputs and functions whose names, joined by a space, have this in them
  --top N         how many are listed by time, and how many by memory (default 40)
  --count         count the instructions of those listed by time with valgrind. Exits with 1 if one is over the bar
  --seed N        which pairs are tried
  --help          print this

With `make INPUT OCTETS` it prints an input, by the name that the tables give it.

The bar: 4,000 instructions an octet, memory of 10 times the input and 8 MiB, growth as the size.";

/// What is allowed an octet, and a constant that small input may take.
const INSTRUCTIONS_AN_OCTET: f64 = 4000.0;
const INSTRUCTIONS_AT_LEAST: f64 = 200e6;
const MEMORY_AN_OCTET: f64 = 10.0;
const MEMORY_AT_LEAST: i64 = 8 << 20;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What was asked for.
struct Options {
    octets: usize,
    pairs: usize,
    costly: Option<usize>,
    only: Option<String>,
    top: usize,
    count: bool,
    seed: u64,
}

fn run(arguments: &[String]) -> Result<bool, Box<dyn Error>> {
    if let [first, function, recipe, octets] = arguments
        && first == "one"
    {
        return one(function, recipe, octets.parse()?);
    }
    if let [first, recipe, octets] = arguments
        && first == "make"
    {
        print!("{}", Recipe::named(recipe)?.make(octets.parse()?));
        return Ok(true);
    }
    let mut options =
        Options { octets: 65536, pairs: 400, costly: None, only: None, top: 40, count: false, seed: 1 };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} takes a value"));
        match argument.as_str() {
            "--octets" => options.octets = value()?.parse()?,
            "--pairs" => options.pairs = value()?.parse()?,
            "--all" => options.pairs = usize::MAX,
            "--costly" => options.costly = Some(value()?.parse()?),
            "--only" => options.only = Some(value()?.clone()),
            "--top" => options.top = value()?.parse()?,
            "--count" => options.count = true,
            "--seed" => options.seed = value()?.parse()?,
            "--help" => {
                println!("{USAGE}");
                return Ok(true);
            }
            other => return Err(format!("{other} is no option; --help lists them").into()),
        }
    }
    Ok(search(&options))
}

/// Does one piece of work, for valgrind; none where the function is `nothing`.
fn one(function: &str, recipe: &str, octets: usize) -> Result<bool, Box<dyn Error>> {
    let recipe = Recipe::named(recipe)?;
    let input = recipe.make(octets);
    // What is made once in a process is no part of the work.
    mayi::registry::Registry::built_in();
    if function != "nothing" {
        let known = recipe.sort.functions.iter().find(|known| known.name == function);
        (known.ok_or("no such function")?.run)(&input);
    }
    Ok(true)
}

/// What one function took for one input.
struct Found {
    recipe: Recipe,
    function: &'static str,
    octets: usize,
    time: Duration,
    /// How much faster the time grew than the size: 1 is as fast.
    growth: f64,
    peak: i64,
}

impl Found {
    fn nanoseconds_an_octet(&self) -> f64 {
        self.time.as_nanos() as f64 / self.octets as f64
    }

    /// How bad it is: what takes long and grows fast comes first.
    fn badness(&self) -> f64 {
        let growth = if self.time > Duration::from_millis(5) { self.growth.max(1.0) } else { 1.0 };
        self.nanoseconds_an_octet() / 1000.0 * growth * growth
    }

    /// How much memory it takes for its size, beside the constant that all input may take.
    fn memory(&self) -> f64 {
        (self.peak - MEMORY_AT_LEAST) as f64 / self.octets as f64
    }
}

fn search(options: &Options) -> bool {
    mayi::registry::Registry::built_in();
    let all: Vec<Recipe> = SORTS.iter().flat_map(Recipe::all).collect();
    let (alone, mut pairs): (Vec<Recipe>, Vec<Recipe>) = all.into_iter().partition(Recipe::is_alone);
    let mut found = measured_all(alone, options);
    if let Some(count) = options.costly {
        let costly = costly(&mut found, count);
        pairs.retain(|recipe| recipe.kinds().iter().all(|kind| costly.contains(kind)));
    }
    let mut random = options.seed;
    let (pair_count, mut pairs_left) = (pairs.len().max(1), options.pairs);
    pairs.retain(|_| {
        // A generator of the simplest sort: which pairs are tried has to be the same each time, and no more.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let is_tried = pairs_left > 0 && ((random >> 33) as usize % pair_count) < options.pairs;
        pairs_left -= usize::from(is_tried);
        is_tried
    });
    found.extend(measured_all(pairs, options));
    println!("The longest:\n");
    found.sort_by(|one, other| other.badness().total_cmp(&one.badness()));
    let mut is_within = list(&found[..options.top.min(found.len())], options.count);
    println!("\nThe largest:\n");
    found.sort_by(|one, other| other.memory().total_cmp(&one.memory()));
    is_within &= list(&found[..options.top.min(found.len())], false);
    is_within
}

/// The kinds of each sort that cost most alone, by time or by memory.
fn costly(found: &mut [Found], count: usize) -> Vec<(&'static str, &'static str)> {
    let mut costly = Vec::new();
    for sort in SORTS {
        for by_memory in [false, true] {
            let cost = |found: &Found| if by_memory { found.memory() } else { found.badness() };
            found.sort_by(|one, other| cost(other).total_cmp(&cost(one)));
            let mut kinds: Vec<(&str, &str)> = Vec::new();
            for found in found.iter().filter(|found| found.recipe.sort.name == sort.name) {
                let [kind, _] = found.recipe.kinds();
                if !kinds.contains(&kind) && kinds.len() < count.div_ceil(2) {
                    kinds.push(kind);
                }
            }
            costly.append(&mut kinds);
        }
    }
    costly
}

fn measured_all(recipes: Vec<Recipe>, options: &Options) -> Vec<Found> {
    let mut found = Vec::new();
    let count = recipes.len();
    for (place, recipe) in recipes.into_iter().enumerate() {
        eprint!("\r{place} of {count}   ");
        let (small, large) = (recipe.make(options.octets / 8), recipe.make(options.octets));
        for function in recipe.sort.functions {
            let name = format!("{} {}", recipe.name(), function.name);
            if options.only.as_ref().is_none_or(|only| name.contains(only.as_str())) {
                found.push(measured(recipe, function, &small, &large));
            }
        }
    }
    eprintln!();
    found
}

/// Prints a table, and says whether all of it is within the bar.
fn list(found: &[Found], count: bool) -> bool {
    println!(
        "| input | function | octets | ns an octet | growth | peak, octets an octet | instructions an octet |"
    );
    println!("| --- | --- | --: | --: | --: | --: | --: |");
    let mut is_within = true;
    for found in found {
        let counted = if count { instructions(found) } else { None };
        let an_octet = counted.map(|counted| counted / found.octets as f64);
        let bar = INSTRUCTIONS_AN_OCTET + INSTRUCTIONS_AT_LEAST / found.octets as f64;
        is_within &=
            an_octet.is_none_or(|an_octet| an_octet <= bar) && found.memory() <= MEMORY_AN_OCTET;
        println!(
            "| {} | {} | {} | {:.0} | {:.2} | {:.1} | {} |",
            found.recipe.name(),
            found.function,
            found.octets,
            found.nanoseconds_an_octet(),
            found.growth,
            found.peak as f64 / found.octets as f64,
            an_octet.map_or_else(|| "not counted".to_owned(), |count| format!("{count:.0}")),
        );
    }
    is_within
}

fn measured(recipe: Recipe, function: &Function, small: &str, large: &str) -> Found {
    let (small_time, _) = timed(function, small);
    let (time, peak) = timed(function, large);
    let ratio = time.as_secs_f64() / small_time.as_secs_f64().max(1e-5);
    let growth = ratio / (large.len() as f64 / small.len().max(1) as f64);
    Found { recipe, function: function.name, octets: large.len(), time, growth, peak }
}

fn timed(function: &Function, input: &str) -> (Duration, i64) {
    let start = ThreadTime::now();
    let ((), peak) = heap::peak(|| (function.run)(input));
    (start.elapsed(), peak)
}

/// Has valgrind count what a function takes, without what the program and its input take.
fn instructions(found: &Found) -> Option<f64> {
    let counted = |function: &str| -> Option<f64> {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(std::env::current_exe().ok()?)
            .args(["one", function, &found.recipe.name(), &found.octets.to_string()])
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = text.lines().find_map(|line| line.split_once("Collected :"))?;
        line.1.trim().parse().ok()
    };
    Some(counted(found.function)? - counted("nothing")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What once took more memory than the limit. The size is the one that the tables are about, because at smaller sizes
    /// the constant part hides everything.
    #[test]
    fn what_was_too_large_is_within_the_limit() {
        for (recipe, function) in [
            ("file: one-signal", "request"),
            ("file: one-signal", "prepared report"),
            ("file: one-signal", "diff with half"),
            ("file: inline-rule", "lint"),
            ("file: group", "lint"),
            ("file: regex", "compare"),
            ("file: shared one-invisible / usage-labels", "compare"),
            ("file: shared usage-labels / usage-labels", "edit, statements"),
            ("file: shared disallow / disallow", "rules of all crawlers"),
            ("file: one-short-silence", "lint"),
            ("page: meta-list + meta", "page rules"),
            ("page: meta-repeated", "page rules"),
        ] {
            let recipe = Recipe::named(recipe).expect("an input");
            let mut functions = recipe.sort.functions.iter();
            let function = functions.find(|known| known.name == function).expect("a function");
            let input = recipe.make(512_000);
            mayi::registry::Registry::built_in();
            let ((), peak) = heap::peak(|| (function.run)(&input));
            let most = MEMORY_AT_LEAST + (MEMORY_AN_OCTET * input.len() as f64) as i64;
            assert!(peak <= most, "{} of {}: {peak} octets", function.name, recipe.name());
        }
    }
}
