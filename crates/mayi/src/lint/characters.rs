//! Characters that are not what they look like, and lines that are not robots.txt at all.

use crate::percent;

/// Whether a pattern is written as a regular expression: it has signs that mean something only there. Dots, round
/// brackets, plus signs and names in brackets are in URLs too.
pub(super) fn is_regex_pattern(pattern: &[u8]) -> bool {
    let escapes =
        |at: usize| pattern.get(at + 1).is_some_and(|next| b"./?+*$()[]{}dDwWsSb-".contains(next));
    let classes = [&b"[0-9"[..], b"[a-z", b"[A-Z", b"[^", b"(?:", b"(?i", b"(?!", b"(?=", b"(.*)"];
    pattern.starts_with(b"^")
        || memchr::memchr_iter(b'\\', pattern).any(escapes)
        || classes.iter().any(|class| memchr::memmem::find(pattern, class).is_some())
}

/// Whether a character has no shape, or is white space that only looks like a space.
pub(super) fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{A0}' | '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{1680}' | '\u{17B4}'
            | '\u{17B5}' | '\u{180B}'..='\u{180F}' | '\u{2000}'..='\u{200F}' | '\u{2028}'..='\u{202F}'
            | '\u{205F}'..='\u{206F}' | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
            | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E01EF}'
    )
}

/// Whether an invisible character is a part of how its neighbours are written: a joiner within Persian
/// or within an emoji, and what chooses the form of the character before it.
pub(super) fn is_in_its_place(character: char, before: Option<char>) -> bool {
    let joins = matches!(character, '\u{200C}' | '\u{200D}' | '\u{180B}'..='\u{180D}' | '\u{FE00}'..='\u{FE0F}');
    joins && before.is_some_and(|before| !before.is_ascii() && !before.is_whitespace())
}

/// The text without such characters at its ends or within it.
pub(super) fn without_invisible(text: &str) -> String {
    text.chars().filter(|character| !is_invisible(*character)).collect()
}

/// What a character is called, for those that can't be seen.
pub(super) fn name_of(character: char) -> String {
    let name = match character {
        '\u{A0}' => "no-break space",
        '\u{AD}' => "soft hyphen",
        '\u{200B}' => "zero-width space",
        '\u{200C}' | '\u{200D}' => "zero-width joiner",
        '\u{2060}' => "word joiner",
        '\u{200E}' | '\u{200F}' | '\u{61C}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => {
            "direction mark"
        }
        '\u{2028}' | '\u{2029}' => "line separator",
        '\u{3000}' => "ideographic space",
        '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' => "wide space",
        '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}' => "variation selector",
        '\u{FEFF}' => "byte order mark",
        _ => "invisible character",
    };
    format!("{name} (U+{:04X})", u32::from(character))
}

/// The text with every letter replaced by the ASCII letter that it looks like, including full-width forms.
pub(super) fn folded(text: &str) -> String {
    text.chars().map(ascii_of).collect()
}

/// The same with the digits and signs that look like letters, and then with the capital that looks like
/// a small l.
pub(super) fn folded_further(text: &str) -> [String; 2] {
    let without_digits = |character: char| match ascii_of(character) {
        '0' => 'o',
        '1' | '|' => 'l',
        '5' | '$' => 's',
        other => other,
    };
    let digits: String = text.chars().map(without_digits).collect();
    let capitals = digits.replace('I', "l");
    [digits, capitals]
}

/// Whether [`folded_further`] changes this octet of a text in ASCII.
pub(super) fn is_folded_further(octet: u8) -> bool {
    matches!(octet, b'0' | b'1' | b'|' | b'5' | b'$' | b'I')
}

/// The ASCII character that this one looks like, or the character itself.
pub(super) fn ascii_of(character: char) -> char {
    match character {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(character) - 0xFEE0).unwrap_or(character),
        // Bold, italic, script, double-struck, sans-serif and monospace letters, 26 capitals and 26 small
        // ones in turn.
        '\u{1D400}'..='\u{1D6A3}' => {
            let place = ((u32::from(character) - 0x1D400) % 52) as u8;
            char::from(if place < 26 { b'A' + place } else { b'a' + place - 26 })
        }
        '\u{24B6}'..='\u{24CF}' => char::from(b'A' + (u32::from(character) - 0x24B6) as u8),
        '\u{24D0}'..='\u{24E9}' => char::from(b'a' + (u32::from(character) - 0x24D0) as u8),
        'а' | 'α' | 'ɑ' | 'ᴀ' => 'a',
        'А' | 'Α' | 'Ꭺ' | 'ꓮ' => 'A',
        'В' | 'Β' | 'Ᏼ' | 'ꓐ' => 'B',
        'с' | 'ϲ' | 'ⅽ' | 'ᴄ' | 'ⲥ' => 'c',
        'С' | 'Ⅽ' | 'Ꮯ' | 'ꓚ' | 'Ⲥ' => 'C',
        'ԁ' | 'ⅾ' | 'ᴅ' | 'д' => 'd',
        'Ⅾ' | 'Ꭰ' | 'ꓓ' | 'Д' => 'D',
        'е' | 'ε' | 'ё' | 'ᴇ' | 'ⲉ' => 'e',
        'Е' | 'Ε' | 'Ё' | 'Ꭼ' | 'ꓰ' => 'E',
        'ɡ' | 'ց' | 'ɢ' => 'g',
        'Ꮐ' | 'ꓖ' => 'G',
        'һ' | 'հ' => 'h',
        'Н' | 'Η' | 'Ꮋ' | 'ꓧ' => 'H',
        'і' | 'ι' | 'ı' | 'ⅰ' | 'ɪ' | 'и' | 'ї' => 'i',
        'І' | 'Ι' | 'Ⅰ' | 'ꓲ' | 'Ї' => 'I',
        'К' | 'Κ' | 'Ꮶ' | 'ꓗ' => 'K',
        'ӏ' | 'ⅼ' | 'ʟ' | 'ǀ' | 'л' => 'l',
        'Ⅼ' | 'Ꮮ' | 'ꓡ' => 'L',
        'м' | 'ⅿ' | 'ᴍ' => 'm',
        'М' | 'Μ' | 'Ⅿ' | 'Ꮇ' | 'ꓟ' => 'M',
        'п' | 'ո' | 'ɴ' => 'n',
        'Ν' | 'ꓠ' => 'N',
        'о' | 'ο' | 'օ' | 'ⲟ' | 'ᴏ' => 'o',
        'О' | 'Ο' | 'Օ' | 'Ⲟ' | 'Ꮎ' | 'ꓳ' => 'O',
        'р' | 'ρ' | 'ⲣ' | 'ᴘ' => 'p',
        'Р' | 'Ρ' | 'Ꮲ' | 'ꓑ' => 'P',
        'ʀ' | 'г' => 'r',
        'Ꮢ' | 'ꓣ' => 'R',
        'ѕ' | 'ꜱ' | 'ſ' => 's',
        'Ѕ' | 'Ꮪ' | 'Տ' | 'ꓢ' => 'S',
        'т' | 'τ' | 'ᴛ' => 't',
        'Т' | 'Τ' | 'Ꭲ' | 'ꓔ' => 'T',
        'υ' | 'ս' | 'ᴜ' => 'u',
        'ꓴ' | 'Ս' => 'U',
        'ԝ' | 'ᴡ' | 'ω' => 'w',
        'Ꮃ' | 'ꓪ' | 'Ԝ' => 'W',
        'у' | 'γ' => 'y',
        'У' | 'Υ' => 'Y',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' | '﹣' | '⁃' => '-',
        '﹕' | '︓' | '︰' | '∶' | '꞉' | 'ː' | '։' | '׃' | '܃' | '܄' | '᛬' | '᠄' | '⁚' | '፡' => {
            ':'
        }
        '∗' | '⁎' | '✱' | '﹡' | '٭' => '*',
        '∕' | '⁄' | '⧸' => '/',
        other => other,
    }
}

/// The first character of a text that could be meant as its colon: where, and how many octets.
pub(super) fn wrong_colon(text: &str) -> Option<(usize, usize)> {
    let is_one = |character: char| {
        matches!(character, ';' | '=' | '；' | '﹔' | '\u{37E}' | '＝' | '⁝' | '·' | '‚')
            || character != ':' && ascii_of(character) == ':'
    };
    let (at, character) = text.char_indices().find(|(_, character)| is_one(*character))?;
    // A colon before it is the colon.
    (!text[..at].contains(':')).then_some((at, character.len_utf8()))
}

/// Whether a line is HTML, or what a program printed instead of the file.
pub(super) fn is_markup(line: &str) -> bool {
    let starts_with = |line: &str, start: &str| {
        line.as_bytes()
            .get(..start.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(start.as_bytes()))
    };
    let is_tag = line.strip_prefix('<').is_some_and(|rest| {
        rest.starts_with(['!', '/', '?']) || rest.starts_with(|next: char| next.is_ascii_alphabetic())
    });
    let bare = if starts_with(line, "php ") { &line[4..] } else { line };
    let levels = [
        "warning: ",
        "notice: ",
        "fatal error: ",
        "parse error: ",
        "deprecated: ",
        "strict standards: ",
    ];
    let starts = ["?>", "-->", "&lt;", "&nbsp;", "{\"", "[{\""];
    if is_tag || starts.iter().any(|start| starts_with(line, start)) {
        return true;
    }
    let (is_level, is_trace) =
        (levels.iter().any(|start| starts_with(bare, start)), starts_with(line, "thrown in "));
    if !is_level && !is_trace {
        return false;
    }
    let lower = line.to_ascii_lowercase();
    lower.contains(" on line ") || is_level && lower.contains(".php")
}

/// A tag or a character reference of HTML within a value: where it starts and ends.
pub(super) fn markup_in(value: &str) -> Option<(usize, usize)> {
    let lower = value.to_ascii_lowercase();
    let references = ["&nbsp;", "&amp;", "&lt;", "&gt;", "&quot;"];
    let reference = references.iter().filter_map(|text| lower.find(text)).min().map(|start| {
        let end = lower[start..].find(';').map_or(lower.len(), |end| start + end + 1);
        (start, end)
    });
    let tags =
        ["br", "p", "div", "span", "pre", "body", "html", "b", "i", "a", "li", "td", "font", "script"];
    let tag = lower.match_indices('<').find_map(|(start, _)| {
        let inner = lower[start + 1..].strip_prefix('/').unwrap_or(&lower[start + 1..]);
        let name = &inner[..inner.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(inner.len())];
        let behind = &inner[name.len()..];
        let is_one = tags.contains(&name) && behind.starts_with(['>', '/', ' ']);
        let end = lower[start..].find('>').map_or(lower.len(), |end| start + end + 1);
        is_one.then_some((start, end))
    });
    [reference, tag].into_iter().flatten().min()
}

/// A placeholder that was not filled in: where it starts and ends in the text.
pub(super) fn template_in(text: &str) -> Option<(usize, usize)> {
    // Nearly every line has none of the signs that open one, and is not searched for each of them.
    if !text.bytes().any(|octet| b"{<[%$@_".contains(&octet)) {
        return left_over_word(text);
    }
    // What opens a placeholder and nothing else; where a `#` in it starts a comment, its end is missing.
    for (open, close) in [("{{", "}}"), ("{%", "%}"), ("<%", "%>"), ("<?", "?>"), ("{!!", "!!}")] {
        let Some(start) = text.find(open) else { continue };
        // `{%22` is a brace and a percent-encoded quotation mark.
        let is_encoded =
            open.ends_with('%') && percent::escaped(&text.as_bytes()[start + 2..]).is_some();
        if !is_encoded && !is_behind_wildcard(text, start) {
            let length = text[start..].find(close).map(|length| length + close.len());
            return Some((start, length.map_or(text.len(), |length| start + length)));
        }
    }
    for (open, close) in
        [("${", "}"), ("@{", "}"), ("%{", "}"), ("[[", "]]"), ("[%", "%]"), ("{!", "!}")]
    {
        if let Some(start) = text.find(open)
            && !is_behind_wildcard(text, start)
            && let Some(length) = text[start..].find(close)
        {
            return Some((start, start + length + close.len()));
        }
    }
    word_between(text).or_else(|| bracketed_word(text))
}

/// Whether there is a wildcard before a place of a pattern. Then the pattern is for URLs that really contain
/// the placeholder, as crawlers find them in pages whose own placeholders were not filled in.
fn is_behind_wildcard(text: &str, place: usize) -> bool {
    text.starts_with(['/', '*']) && text[..place].contains('*')
}

/// A word in capitals between signs that no URL has there: `%%SITE%%`, `%SITE%`, `__SITE__`, `@@SITE@@`,
/// `$(SITE)`.
fn word_between(text: &str) -> Option<(usize, usize)> {
    let is_word = |word: &str| {
        word.len() >= 3
            && word.bytes().all(|octet| octet.is_ascii_uppercase() || b"_-.".contains(&octet))
    };
    for (open, close) in [("%%", "%%"), ("__", "__"), ("@@", "@@"), ("$(", ")"), ("%", "%")] {
        for (start, _) in text.match_indices(open).take(20) {
            let inner = &text[start + open.len()..];
            let Some(length) = inner.find(close) else { break };
            let word = &inner[..length];
            // `%DE%` is a percent-encoded octet and the start of the next one.
            let is_encoded = open == "%" && word.bytes().take(2).all(|octet| octet.is_ascii_hexdigit());
            if is_word(word) && !is_encoded {
                return Some((start, start + open.len() + length + close.len()));
            }
        }
    }
    None
}

/// A word in brackets: `<path>` anywhere, and `[your-domain]` or `{path}` where it is a whole part of a path
/// or a host.
fn bracketed_word(text: &str) -> Option<(usize, usize)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-_ $.".contains(c);
    for (open, close) in [('<', '>'), ('[', ']'), ('{', '}')] {
        let Some(start) = text.find(open) else { continue };
        let inner = &text[start + 1..];
        let Some(end) = inner.find(close) else { continue };
        let word = &inner[..end];
        let is_bounded = |octet: Option<&u8>| octet.is_none_or(|octet| b"/.:".contains(octet));
        let (before, behind) = (text.as_bytes()[..start].last(), inner.as_bytes().get(end + 1));
        let is_whole = is_bounded(before) && is_bounded(behind) && !is_behind_wildcard(text, start);
        let has_letters = word.bytes().any(|octet| octet.is_ascii_alphabetic())
            || open == '{' && before == Some(&b'/');
        if !word.is_empty() && has_letters && word.chars().all(is_word) && (open == '<' || is_whole) {
            return Some((start, start + end + 2));
        }
    }
    left_over_word(text)
}

/// `YOUR-SITE`, `INSERT_PATH` and the like, as a part of a path or a value.
fn left_over_word(text: &str) -> Option<(usize, usize)> {
    if !text.bytes().any(|octet| matches!(octet, b'_' | b'-')) {
        return None;
    }
    let is_left = |part: &&str| {
        let rest =
            ["YOUR", "INSERT", "REPLACE", "CHANGE"].iter().find_map(|word| part.strip_prefix(word));
        rest.is_some_and(|rest| {
            rest.len() > 2
                && rest.starts_with(['_', '-'])
                && rest.bytes().all(|octet| octet.is_ascii_uppercase() || b"_-".contains(&octet))
        })
    };
    let part = text.split(['/', '.', '?', '=', ' ']).find(is_left)?;
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    Some((start, start + part.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_folded_further_is_known_in_advance() {
        for octet in 0..128_u8 {
            let text = char::from(octet).to_string();
            let changes = folded_further(&text).iter().any(|folded| *folded != text);
            assert_eq!(changes, is_folded_further(octet), "{text:?}");
        }
    }
}
