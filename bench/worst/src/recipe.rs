//! Kinds of piece → input of a size: one kind alone, two in turn, one in each half, or one that many crawlers share.

use crate::functions::{Function, OF_FIELDS, OF_FILES, OF_PAGES, OF_PATHS};
use crate::kinds::{ELEMENTS, FIELDS, Kind, LINES, PATHS, letters};

/// One sort of input: its kinds, what stands behind a piece, and who is asked about it.
pub struct Sort {
    pub name: &'static str,
    pub kinds: &'static [Kind],
    pub functions: &'static [Function],
    end: &'static str,
    /// What the input starts with, so that what follows is looked at.
    start: &'static str,
}

pub const SORTS: &[Sort] = &[
    Sort { name: "file", kinds: LINES, functions: OF_FILES, end: "\n", start: "" },
    Sort {
        name: "page",
        kinds: ELEMENTS,
        functions: OF_PAGES,
        end: "",
        start: "<!doctype html><head>",
    },
    Sort { name: "field", kinds: FIELDS, functions: OF_FIELDS, end: ",", start: "" },
    Sort { name: "path", kinds: PATHS, functions: OF_PATHS, end: "", start: "" },
];

/// How two kinds are put together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Alone,
    InTurn,
    InHalves,
    /// In halves, with the first line that makes a group before each half.
    InGroups,
    /// The first kind in a group that many crawlers share, the second in a group of each of them: what is done for each
    /// crawler may not be done for all that they share.
    Shared,
}

impl Way {
    /// Whether it makes sense only for files.
    fn is_of_files(self) -> bool {
        matches!(self, Self::InGroups | Self::Shared)
    }
}

/// How one input is made.
#[derive(Clone, Copy)]
pub struct Recipe {
    pub sort: &'static Sort,
    first: &'static Kind,
    second: &'static Kind,
    way: Way,
}

impl Recipe {
    /// Every recipe of a sort.
    pub fn all(sort: &'static Sort) -> Vec<Self> {
        let mut recipes = Vec::new();
        for first in sort.kinds {
            recipes.push(Self { sort, first, second: first, way: Way::Alone });
            recipes.push(Self { sort, first, second: first, way: Way::InGroups });
            recipes.push(Self { sort, first, second: first, way: Way::Shared });
            for second in sort.kinds.iter().filter(|second| second.name != first.name) {
                recipes.push(Self { sort, first, second, way: Way::InTurn });
                recipes.push(Self { sort, first, second, way: Way::InHalves });
                recipes.push(Self { sort, first, second, way: Way::InGroups });
                recipes.push(Self { sort, first, second, way: Way::Shared });
            }
        }
        recipes.retain(|recipe| !recipe.way.is_of_files() || sort.name == "file");
        recipes
    }

    /// The recipe that the tables call by this name.
    pub fn named(name: &str) -> Result<Self, &'static str> {
        let mut all = SORTS.iter().flat_map(Self::all);
        all.find(|recipe| recipe.name() == name).ok_or("no such input")
    }

    pub fn is_alone(&self) -> bool {
        self.first.name == self.second.name
    }

    /// The two kinds, each by its sort and its name.
    pub fn kinds(&self) -> [(&'static str, &'static str); 2] {
        [self.first, self.second].map(|kind| (self.sort.name, kind.name))
    }

    pub fn name(&self) -> String {
        let (first, second) = (self.first.name, self.second.name);
        match self.way {
            Way::Alone => format!("{}: {first}", self.sort.name),
            Way::InTurn => format!("{}: {first} + {second}", self.sort.name),
            Way::InHalves => format!("{}: {first} / {second}", self.sort.name),
            Way::InGroups => format!("{}: in groups {first} / {second}", self.sort.name),
            Way::Shared => format!("{}: shared {first} / {second}", self.sort.name),
        }
    }

    /// Input of about so many octets.
    pub fn make(&self, octets: usize) -> String {
        let mut text = self.sort.start.to_owned();
        match self.way {
            Way::Alone => self.add(&mut text, &[self.first], octets),
            Way::InTurn => self.add(&mut text, &[self.first, self.second], octets),
            Way::InHalves => {
                self.add(&mut text, &[self.first], octets / 2);
                self.add(&mut text, &[self.second], octets);
            }
            Way::InGroups => {
                text += "User-agent: *\n";
                self.add(&mut text, &[self.first], octets / 2);
                text += "User-agent: examplebot\nUser-agent: otherbot\n";
                self.add(&mut text, &[self.second], octets);
            }
            Way::Shared => {
                let names = (octets / 500).max(2);
                (0..names).for_each(|n| text += &format!("User-agent: {}\n", letters(n)));
                self.add(&mut text, &[self.first], octets * 3 / 4);
                for n in 0..names {
                    let line = format!("User-agent: {}\n", letters(n));
                    let piece = (self.second.make)(n, (octets / 4 / names).saturating_sub(line.len()));
                    if text.len() + line.len() + piece.len() < octets {
                        text += &format!("{line}{piece}\n");
                    }
                }
            }
        }
        text
    }

    fn add(&self, text: &mut String, kinds: &[&Kind], up_to: usize) {
        for n in 0.. {
            let kind = kinds[n % kinds.len()];
            let room = up_to.saturating_sub(text.len() + self.sort.end.len());
            // In turn with another kind, a long piece is one of many.
            let room = if kinds.len() > 1 { room.min(up_to.isqrt() * 4) } else { room };
            let piece = (kind.make)(n, room);
            if piece.len() > room || room == 0 {
                break;
            }
            *text += &piece;
            *text += self.sort.end;
            // What is empty fills nothing.
            if piece.is_empty() && self.sort.end.is_empty() {
                break;
            }
        }
    }
}
