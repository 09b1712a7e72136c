//! Characters that are not what they look like, and lines that are not robots.txt at all.

/// Whether a character has no shape, or is white space that only looks like a space.
pub(super) fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{A0}' | '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{2000}'..='\u{200F}' | '\u{2028}'..='\u{202F}'
            | '\u{205F}'..='\u{206F}' | '\u{3000}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}'
    )
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
        '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => "direction mark",
        '\u{2028}' | '\u{2029}' => "line separator",
        '\u{3000}' => "ideographic space",
        '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' => "wide space",
        '\u{FEFF}' => "byte order mark",
        _ => "invisible character",
    };
    format!("{name} (U+{:04X})", u32::from(character))
}

/// The text with letters that look like ASCII's in their place, full-width forms among them.
pub(super) fn folded(text: &str) -> String {
    text.chars().map(ascii_of).collect()
}

/// The ASCII character that this one looks like, or the character itself.
pub(super) fn ascii_of(character: char) -> char {
    match character {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(character) - 0xFEE0).unwrap_or(character),
        'а' | 'α' => 'a',
        'А' | 'Α' => 'A',
        'В' | 'Β' => 'B',
        'с' | 'ϲ' => 'c',
        'С' => 'C',
        'ԁ' => 'd',
        'е' | 'ε' => 'e',
        'Е' | 'Ε' => 'E',
        'ɡ' => 'g',
        'Н' | 'Η' => 'H',
        'і' | 'ι' | 'ı' => 'i',
        'І' | 'Ι' => 'I',
        'К' | 'Κ' => 'K',
        'ӏ' => 'l',
        'м' => 'm',
        'М' | 'Μ' => 'M',
        'Ν' => 'N',
        'п' => 'n',
        'о' | 'ο' => 'o',
        'О' | 'Ο' => 'O',
        'р' | 'ρ' => 'p',
        'Р' | 'Ρ' => 'P',
        'ѕ' => 's',
        'Ѕ' => 'S',
        'т' | 'τ' => 't',
        'Т' | 'Τ' => 'T',
        'υ' => 'u',
        'ԝ' => 'w',
        'у' | 'γ' => 'y',
        'У' | 'Υ' => 'Y',
        '‐' | '‑' | '‒' | '–' | '—' | '−' => '-',
        '﹕' | '︓' | '∶' | '꞉' | 'ː' => ':',
        other => other,
    }
}

/// The first character of a text that could stand for a colon in it: where, and how many octets.
pub(super) fn wrong_colon(text: &str) -> Option<(usize, usize)> {
    let is_one =
        |character: char| matches!(character, '：' | '﹕' | '︓' | '∶' | '꞉' | 'ː' | ';' | '=');
    let (at, character) = text.char_indices().find(|(_, character)| is_one(*character))?;
    // A colon before it is the colon.
    (!text[..at].contains(':')).then_some((at, character.len_utf8()))
}

/// Whether a line is HTML, or a message of PHP.
pub(super) fn is_markup(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let tag = lower.strip_prefix('<').is_some_and(|rest| {
        rest.starts_with(['!', '/', '?']) || rest.starts_with(|next: char| next.is_ascii_alphabetic())
    });
    let closes = lower.contains('>');
    let php = ["warning: ", "notice: ", "fatal error: ", "parse error: ", "deprecated: "];
    let is_php = php.iter().any(|start| lower.starts_with(start))
        && (lower.contains(" on line ") || lower.contains(".php"));
    tag && closes || lower.starts_with("<!doctype") || lower.starts_with("<?php") || is_php
}

/// A placeholder that somebody should have filled: where it starts and ends in the text.
pub(super) fn template_in(text: &str) -> Option<(usize, usize)> {
    for (open, close) in
        [("{{", "}}"), ("{%", "%}"), ("<%", "%>"), ("${", "}"), ("[[", "]]"), ("$%7B", "%7D")]
    {
        if let Some(start) = text.find(open)
            && let Some(length) = text[start..].find(close)
        {
            return Some((start, start + length + close.len()));
        }
    }
    // `<path>` and `[your-domain]`: words in brackets, which no path has.
    let start = text.find('<')?;
    let inner = &text[start + 1..];
    let end = inner.find('>')?;
    let is_word = |c: char| c.is_ascii_alphabetic() || "-_ ".contains(c);
    let word = &inner[..end];
    (!word.is_empty() && word.chars().all(is_word)).then_some((start, start + end + 2))
}
