//! How words of others stand in the text of a result: as a line in place, or as a text in a fence.
//!
//! A model reads our sentences and theirs in one piece. So theirs never begin a line of their own outside a
//! fence, never end the fence they stand in, and hide nothing. Prompts are cleaned by the same rules, by the desk;
//! this crate knows only its answers, and has to clean the rest itself. Structured results are left as they are:
//! there JSON keeps the two apart.

/// How many characters of a line are shown.
const LINE_CHARS_MAX: usize = 1_000;
/// So many backticks or tildes in a row begin or end a fence.
const FENCE_MIN: usize = 3;
/// The longest row of backticks that is shown in a text, so that its fence has a length one can read.
const BACKTICKS_MAX: usize = 32;

/// Returns a value as one line, to stand within a sentence of ours.
///
/// Curly quotation marks become straight ones: ours are curly, and only we may close them.
pub(crate) fn line(value: &str) -> String {
    let seen = value.chars().map(|char| if is_break(char) { ' ' } else { char });
    let seen: String = seen.filter(|char| !is_hidden(*char)).collect();
    let words: Vec<&str> = seen.split(' ').filter(|word| !word.is_empty()).collect();
    let words = words.join(" ");
    let mut line = match words.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => format!("{} […]", &words[..end]),
        None => words,
    };
    for (mark, harmless) in [('`', "'"), ('~', "-")] {
        line = without_rows(&line, mark, harmless);
    }
    line.replace(['“', '”', '„', '‟'], "\"").replace("<!--", "<! --").replace("-->", "-- >")
}

/// Returns a text in a fence on lines of its own, said to be from outside; nothing if there is nothing to see.
///
/// It begins with a line break, and whatever follows it has to as well.
pub(crate) fn text(text: &str, about: &'static str) -> String {
    let shown = visible(text);
    let shown = shown.trim_end();
    if shown.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(FENCE_MIN.max(longest_row(shown) + 1));
    format!("\n{fence}text: {about}, data from outside\n{shown}\n{fence}")
}

/// Returns a text with plain line breaks, without what is hidden, and with no absurd row of backticks.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut row = 0;
    for char in text.replace("\r\n", "\n").chars() {
        let char = if is_break(char) && char != '\t' { '\n' } else { char };
        if is_hidden(char) && !matches!(char, '\n' | '\t') {
            // It ends no row: without it the row goes on.
            continue;
        }
        row = if char == '`' { row + 1 } else { 0 };
        if row <= BACKTICKS_MAX {
            shown.push(char);
        }
    }
    shown
}

/// Writes rows of a mark that are long enough for a fence with something harmless.
fn without_rows(line: &str, mark: char, harmless: &str) -> String {
    let mut result = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find(mark) {
        let (before, row) = rest.split_at(start);
        rest = row.trim_start_matches(mark);
        let row = &row[..row.len() - rest.len()];
        result.push_str(before);
        if row.len() < FENCE_MIN {
            result.push_str(row);
        } else {
            result.push_str(&harmless.repeat(row.len()));
        }
    }
    result.push_str(rest);
    result
}

/// Returns the length of the longest row of backticks.
fn longest_row(text: &str) -> usize {
    text.split(|char| char != '`').map(str::len).max().unwrap_or_default()
}

/// Tells whether a character ends a line for somebody, or moves within it.
const fn is_break(char: char) -> bool {
    matches!(char, '\t'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Tells whether a character reaches programs and not the eye: control and format characters, fillers,
/// selectors of variants, tags, and what is no character at all.
const fn is_hidden(char: char) -> bool {
    let is_nothing = (char as u32) & 0xfffe == 0xfffe;
    is_nothing
        || matches!(char,
            // Control characters, and what ends lines without being one.
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}'
            // What turns the direction of writing, joins, or has no width.
            | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}'
            // Fillers.
            | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}'
            // Selectors of variants.
            | '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0f}'
            // Marks around numbers, verses, shorthand, music and hieroglyphs.
            | '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}' | '\u{110bd}'
            | '\u{110cd}' | '\u{13430}'..='\u{1345f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            // Specials, no characters, and the plane of tags.
            | '\u{fdd0}'..='\u{fdef}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What ends a line for a terminal, an editor or a model.
    const BREAKS: [&str; 8] = ["\n", "\r", "\r\n", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}"];
    /// One of each kind that is not seen.
    const HIDDEN: [char; 16] = [
        '\0',
        '\u{1b}',
        '\u{7f}',
        '\u{9b}',
        '\u{ad}',
        '\u{200b}',
        '\u{200d}',
        '\u{202e}',
        '\u{2066}',
        '\u{3164}',
        '\u{fe0f}',
        '\u{feff}',
        '\u{fff9}',
        '\u{ffff}',
        '\u{e0041}',
        '\u{e0100}',
    ];

    #[track_caller]
    fn check_line(value: &str, expected: &str) {
        assert_eq!(line(value), expected, "{value:?}");
    }

    #[track_caller]
    fn check_text(body: &str, expected: &str) {
        assert_eq!(text(body, "comment"), expected, "{body:?}");
    }

    #[test]
    fn an_honest_line_stays_as_it_is() {
        for value in ["Fix `parse()` for ~/x", "Zoë 漢字 🙂", "a ``b`` ~~c~~ <T> -> d", "#9 is not done", ""]
        {
            check_line(value, value);
        }
    }

    #[test]
    fn a_line_stays_one() {
        for end in BREAKS {
            check_line(&format!("a{end}{end}## b{end}"), "a ## b");
        }
        check_line(" \t a \t\t b  c ", "a b c");
    }

    #[test]
    fn a_line_hides_nothing() {
        for char in HIDDEN {
            check_line(&format!("{char}a{char}b"), "ab");
        }
        check_line("\u{1b}[31mred\u{1b}[0m", "[31mred[0m");
    }

    #[test]
    fn a_line_opens_no_fence_and_no_comment_and_closes_no_quotation() {
        check_line("```sh", "'''sh");
        check_line("a ~~~~ b ````", "a ---- b ''''");
        check_line("`\u{200b}`\u{200b}`", "'''");
        check_line("~~~>", "--- >");
        check_line("a <!-- b --> c <!\u{200b}-- d", "a <! -- b -- > c <! -- d");
        check_line("typo” (type „x‟ “y", "typo\" (type \"x\" \"y");
    }

    #[test]
    fn a_line_is_not_too_long() {
        let most = "ä".repeat(LINE_CHARS_MAX);
        check_line(&most, &most);
        check_line(&format!("{most}ä"), &format!("{most} […]"));
    }

    #[test]
    fn no_character_breaks_a_line_or_is_a_control_character() {
        for char in '\0'..=char::MAX {
            let line = line(&format!("a{char}b"));
            let is_plain =
                line.chars().all(|char| !char.is_control() && !matches!(char, '\u{2028}' | '\u{2029}'));
            assert!(is_plain && line.starts_with('a') && line.ends_with('b'), "{char:?} gives {line:?}");
        }
    }

    #[test]
    fn a_text_stands_in_a_fence_with_its_lines() {
        check_text("Hm.", "\n```text: comment, data from outside\nHm.\n```");
        check_text("a\n\n\tb\n\n", "\n```text: comment, data from outside\na\n\n\tb\n```");
    }

    #[test]
    fn a_text_has_plain_line_breaks_and_hides_nothing() {
        for end in BREAKS {
            check_text(&format!("a{end}b"), "\n```text: comment, data from outside\na\nb\n```");
        }
        for char in HIDDEN {
            check_text(&format!("{char}a{char}b"), "\n```text: comment, data from outside\nab\n```");
        }
    }

    #[test]
    fn a_text_with_nothing_to_see_is_not_shown() {
        for body in ["", " \n\t", "\u{200b}\n\u{feff}"] {
            check_text(body, "");
        }
    }

    #[test]
    fn a_text_does_not_end_its_fence() {
        for count in 0..100 {
            for between in ["", "\u{200b}", "\u{1b}"] {
                let row = vec!["`"; count].join(between);
                let shown = text(&format!("a\n{row}\nRun it."), "comment");
                let fence: String = shown[1..].chars().take_while(|char| *char == '`').collect();
                let ends = shown.lines().skip(2).filter(|line| line.starts_with(&fence)).count();
                assert!(ends == 1 && shown.ends_with(&format!("\nRun it.\n{fence}")), "{count}: {shown}");
                assert!(fence.len() <= BACKTICKS_MAX + 1, "{count}: {shown}");
            }
        }
        check_text("~~~\n```\nx", "\n````text: comment, data from outside\n~~~\n```\nx\n````");
    }
}
