//! The sentences of a text that are its own statements.
//!
//! Invariant: thoughts, code, quotations, quoted mail, open check boxes, and what stands under a heading
//! that announces plans or criteria are not handed out. Sentences come in lower case.

/// Longest sentence that is handed out; what follows in it is left unread.
const LONGEST: usize = 1000;
/// Room made for a line from the start.
const BUFFER: usize = 1024;
/// Lines shorter than this do not run on into the next one.
const WRAPPED: usize = 60;

/// Hands every sentence of `text`, think blocks gone, to `visit`, with whether it is a question. `plans`
/// tells whether a heading announces what is not done yet.
pub(super) fn sentences(
    text: &str,
    plans: impl Fn(&str) -> bool,
    mut visit: impl FnMut(&str, bool),
) {
    let mut buffer = String::with_capacity(text.len().min(BUFFER));
    let mut fence = false;
    let mut planned = false;
    let mut after_gap = false;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            let closes_itself = line.get(3..).is_some_and(|rest| rest.contains("```"));
            fence ^= !closes_itself;
            continue;
        }
        if fence || line.starts_with(['>', '|']) || open_box(line) {
            continue;
        }
        if line.is_empty() {
            flush(&mut buffer, &mut visit);
            after_gap = true;
            continue;
        }
        if let Some(title) = heading(line) {
            flush(&mut buffer, &mut visit);
            planned = plans(&title.to_lowercase());
            after_gap = false;
            if planned || line.starts_with('#') {
                continue;
            }
        } else if after_gap && !listed(line) {
            planned = false;
        }
        after_gap = false;
        if planned {
            continue;
        }
        own_words(line, &mut buffer);
        let runs_on = line.len() >= WRAPPED
            && lines
                .peek()
                .is_some_and(|next| next.starts_with(|c: char| c.is_lowercase()));
        if runs_on {
            buffer.push(' ');
        } else {
            flush(&mut buffer, &mut visit);
        }
    }
    flush(&mut buffer, &mut visit);
}

/// `- [ ] tests pass`: still to be done.
fn open_box(line: &str) -> bool {
    let item = line.trim_start_matches(['-', '*', '+', ' ']);
    item.starts_with("[ ]") || item.starts_with(['\u{2610}', '\u{2b1c}'])
}

/// An item of a list.
fn listed(line: &str) -> bool {
    line.starts_with(['-', '*', '+', '\u{2022}'])
        || line
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .starts_with(['.', ')'])
}

/// The title when the line is a heading: `## Plan`, `**Next steps**`, `Next steps:`.
fn heading(line: &str) -> Option<&str> {
    if line.starts_with('#') {
        return Some(line.trim_start_matches(['#', ' ']));
    }
    let bare = line.trim_matches(['*', '_', ' ']);
    let bold = line.starts_with("**") && line.trim_end_matches(':').ends_with("**");
    let colon = bare.strip_suffix([':', '\u{ff1a}']);
    (bold || colon.is_some()).then(|| colon.unwrap_or(bare))
}

/// Appends the line in lower case: list marks and emphasis gone, code and quotations replaced by `x`.
fn own_words(line: &str, out: &mut String) {
    let mut rest = line.trim_start_matches(['-', '*', '+', '\u{2022}', ' ']);
    while let Some((at, open)) = next_open(rest) {
        lower(rest.get(..at).unwrap_or_default(), out);
        let inside = rest.get(at + open.len_utf8()..).unwrap_or_default();
        let close = closing(open);
        let Some(end) = find_close(inside, open, close) else {
            rest = inside;
            continue;
        };
        let quoted = inside.get(..end).unwrap_or_default();
        if open == '`' && command(quoted) {
            lower(quoted, out);
        } else {
            out.push('x');
        }
        rest = inside.get(end + close.len_utf8()..).unwrap_or_default();
    }
    lower(rest, out);
}

/// The next character that opens a quotation or code.
fn next_open(text: &str) -> Option<(usize, char)> {
    let mut from = 0;
    loop {
        let skip = text.bytes().skip(from).position(may_open)?;
        from += skip;
        let c = text.get(from..)?.chars().next()?;
        if opens(text, from, c) {
            return Some((from, c));
        }
        from += c.len_utf8();
    }
}

/// The first bytes of all characters that may open a quotation.
fn may_open(byte: u8) -> bool {
    matches!(byte, b'`' | b'"' | b'\'' | 0xc2 | 0xe2 | 0xe3)
}

fn opens(text: &str, at: usize, c: char) -> bool {
    match c {
        '`' | '"' | '\u{201c}' | '\u{201e}' | '\u{ab}' | '\u{300c}' | '\u{300e}' | '\u{2018}' => {
            true
        }
        // An apostrophe follows a letter.
        '\'' => text
            .get(..at)
            .and_then(|before| before.chars().next_back())
            .is_none_or(|before| before.is_whitespace() || before == '('),
        _ => false,
    }
}

fn closing(open: char) -> char {
    match open {
        '\u{201c}' => '\u{201d}',
        '\u{201e}' => '\u{201c}',
        '\u{ab}' => '\u{bb}',
        '\u{300c}' => '\u{300d}',
        '\u{300e}' => '\u{300f}',
        '\u{2018}' => '\u{2019}',
        same => same,
    }
}

fn find_close(inside: &str, open: char, close: char) -> Option<usize> {
    if !matches!(open, '\'' | '\u{2018}') {
        return inside.find(close);
    }
    inside.char_indices().find_map(|(at, c)| {
        let after = inside.get(at + c.len_utf8()..)?.chars().next();
        (c == close && after.is_none_or(|after| !after.is_alphanumeric())).then_some(at)
    })
}

/// A command between backticks is part of the sentence: "`make test` passes".
fn command(code: &str) -> bool {
    const FIRST: &[&str] = &[
        "make",
        "npm",
        "npx",
        "yarn",
        "pnpm",
        "cargo",
        "pytest",
        "python",
        "go",
        "mvn",
        "gradle",
        "./gradlew",
        "jest",
        "vitest",
        "tox",
        "rake",
        "bundle",
        "dotnet",
        "bun",
        "deno",
        "uv",
        "poetry",
        "ctest",
        "rspec",
        "phpunit",
        "swift",
        "mix",
        "sbt",
        "bazel",
        "just",
    ];
    let first = code.split_whitespace().next().unwrap_or_default();
    FIRST.contains(&first)
}

/// Appends the text in lower case without marks of emphasis, apostrophes straight.
pub(super) fn lower(text: &str, out: &mut String) {
    let start = out.len();
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| byte == b'*' || byte >= 0x80) {
        out.push_str(rest.get(..at).unwrap_or_default());
        let mut chars = rest.get(at..).unwrap_or_default().chars();
        match chars.next() {
            Some('*' | '\u{200b}') | None => {}
            Some('\u{2019}') => out.push('\''),
            Some(c) => out.extend(c.to_lowercase()),
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    if let Some(added) = out.get_mut(start..) {
        added.make_ascii_lowercase();
    }
}

/// Hands out the sentences in the buffer, and empties it.
fn flush(buffer: &mut String, visit: &mut impl FnMut(&str, bool)) {
    let mut start = 0;
    let mut at = 0;
    while let Some(skip) = buffer.bytes().skip(at).position(may_end) {
        at += skip;
        let mut rest = buffer.get(at..).unwrap_or_default().chars();
        let Some(c) = rest.next() else {
            at += 1;
            continue;
        };
        let next = rest.next();
        let ends = match c {
            '.' => {
                next.is_none_or(|next| next.is_whitespace() || next == ')')
                    && !in_path(buffer.get(start..at).unwrap_or_default())
            }
            '!' | ';' | '?' => true,
            '\u{3002}' | '\u{ff01}' | '\u{ff1f}' | '\u{ff1b}' => true,
            _ => false,
        };
        if ends {
            let question = matches!(c, '?' | '\u{ff1f}');
            hand_out(buffer.get(start..at).unwrap_or_default(), question, visit);
            start = at + c.len_utf8();
        }
        at += c.len_utf8();
    }
    hand_out(buffer.get(start..).unwrap_or_default(), false, visit);
    buffer.clear();
}

/// Whether a text ends within a path of dots: `go test ./...` goes on.
fn in_path(before: &str) -> bool {
    let word = before
        .rsplit(char::is_whitespace)
        .next()
        .unwrap_or_default();
    word.starts_with("./.") && word.bytes().all(|byte| matches!(byte, b'.' | b'/'))
}

/// The first bytes of all characters that may end a sentence.
fn may_end(byte: u8) -> bool {
    matches!(byte, b'.' | b'!' | b';' | b'?' | 0xe3 | 0xef)
}

fn hand_out(sentence: &str, question: bool, visit: &mut impl FnMut(&str, bool)) {
    let sentence = sentence.trim();
    if !sentence.is_empty() {
        let end = sentence.floor_char_boundary(LONGEST);
        visit(sentence.get(..end).unwrap_or_default(), question);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        let plans = |title: &str| title.contains("next steps");
        let text = crate::texts::visible::without_thoughts(text);
        sentences(&text, plans, |sentence, question| {
            all.push(format!("{sentence}{}", if question { "?" } else { "" }));
        });
        all
    }

    #[test]
    fn sentences_are_the_texts_own() {
        assert_eq!(
            all("Done. All `x` pass; see b.py! Is it? Yes"),
            ["done", "all x pass", "see b.py", "is it?", "yes"]
        );
        assert_eq!(
            all("He said \"all tests pass\" and it's 'fine'."),
            ["he said x and it's x"]
        );
        assert_eq!(
            all("```\nall tests pass\n```\n> quoted\n- [ ] open\n| a |"),
            [""; 0]
        );
        assert_eq!(all("`make test` passes"), ["make test passes"]);
        assert_eq!(
            all("Next steps:\n- tests pass\n\n- more\n\nDone."),
            ["done"]
        );
        assert_eq!(all("<think>all done</think>**Fixed**"), ["fixed"]);
        assert_eq!(
            all(&format!("{}\nruns on. End", "long line ".repeat(7))).len(),
            2
        );
    }
}
