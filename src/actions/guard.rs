//! Decides whether a command text may be given to the shell parser at all.
//!
//! Invariant: what passes is parsed in bounded time and bounded stack. The parser recurses for nesting and
//! for prefix words, and a stack overflow cannot be caught. Text in single quotes and quoted here-documents
//! is data to the parser and counts for nothing.

/// Longest text that is parsed, in bytes.
pub(super) const MAX_BYTES: usize = 256 << 10;
/// Deepest nesting of parentheses, braces and substitutions. Real commands need fewer than ten.
const MAX_DEPTH: usize = 32;
/// Most words that put another command behind them. Nested ones recurse.
const MAX_PREFIXES: u32 = 200;
/// Most such words in one command, without a separator between.
const MAX_PREFIX_RUN: u32 = 32;
/// Most words that recurse without the parser counting them: `time` and `coproc`.
const MAX_UNCOUNTED: u32 = 24;
/// Most substitutions and expansions.
const MAX_EXPANSIONS: u32 = 2_000;
/// Most operators of a list: the parser gives up beyond 1,000 in one chain.
const MAX_OPERATORS: u32 = 4_000;
/// Most here-documents.
const MAX_HEREDOCS: usize = 64;

/// Words that recurse in the parser.
const PREFIXES: &[&str] = &[
    "time", "coproc", "!", "if", "while", "until", "case", "for", "select", "function", "[[",
    "else", "elif", "repeat", "foreach", "always", "then", "do",
];

/// Whether the text stays within every bound.
pub(super) fn allows(text: &str) -> bool {
    text.len() <= MAX_BYTES && Scan::new(text).run()
}

/// What the scanner is inside of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    /// `(`, `$(`, `<(`: commands again.
    Parens,
    /// `((`: here `<<` is a shift.
    Arithmetic,
    /// `{` or `${`.
    Braces,
    /// Double quotes: apostrophes are letters.
    Quotes,
    /// Back-ticks.
    Ticks,
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    within: Vec<Within>,
    depth: usize,
    prefixes: u32,
    prefix_run: u32,
    uncounted: u32,
    expansions: u32,
    operators: u32,
    heredocs: usize,
    /// Here-documents that begin after this line.
    pending: Vec<Heredoc>,
    /// Quotes can no longer be told for sure (a `case` inside a substitution): everything counts.
    doubtful: bool,
}

struct Heredoc {
    end: Vec<u8>,
    strips_tabs: bool,
    quoted: bool,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text: text.as_bytes(),
            at: 0,
            within: Vec::new(),
            depth: 0,
            prefixes: 0,
            prefix_run: 0,
            uncounted: 0,
            expansions: 0,
            operators: 0,
            heredocs: 0,
            pending: Vec::new(),
            doubtful: false,
        }
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    fn rest(&self, at: usize) -> &'a [u8] {
        self.text.get(at..).unwrap_or_default()
    }

    fn before(&self) -> u8 {
        self.at.checked_sub(1).map_or(b' ', |at| self.byte(at))
    }

    fn stays_within(&self) -> bool {
        self.depth <= MAX_DEPTH
            && self.prefixes <= MAX_PREFIXES
            && self.prefix_run <= MAX_PREFIX_RUN
            && self.uncounted <= MAX_UNCOUNTED
            && self.expansions <= MAX_EXPANSIONS
            && self.operators <= MAX_OPERATORS
            && self.heredocs <= MAX_HEREDOCS
    }

    fn run(mut self) -> bool {
        let mut word_starts = true;
        while self.at < self.text.len() {
            if !self.stays_within() {
                return false;
            }
            let byte = self.byte(self.at);
            let quoted = self.within.last() == Some(&Within::Quotes);
            if word_starts && !byte.is_ascii_whitespace() && (!quoted || self.doubtful) {
                self.word();
            }
            word_starts = byte.is_ascii_whitespace() || b";|&()`{}\"".contains(&byte);
            match byte {
                b'\\' => self.at += 1,
                b'"' => self.toggle(Within::Quotes),
                b'`' => {
                    self.expansions += 1;
                    self.toggle(Within::Ticks);
                }
                b'\'' if !self.apostrophe_is_letter() => self.skip_single_quotes(),
                b'#' if !quoted && self.starts_comment() => self.skip_comment(),
                b'(' => self.open_parens(),
                b'{' => self.open(Within::Braces),
                b')' => self.close(&[Within::Parens, Within::Arithmetic]),
                b'}' => self.close(&[Within::Braces]),
                b'<' if !quoted => self.angle(),
                b'\n' => {
                    self.prefix_run = 0;
                    self.skip_heredocs();
                }
                b';' | b'|' => {
                    self.operators += 1;
                    self.prefix_run = 0;
                }
                // `>&` and `&>` end nothing.
                b'&' => self.operators += 1,
                _ => {}
            }
            self.at += 1;
        }
        self.stays_within()
    }

    fn open(&mut self, what: Within) {
        if self.before() == b'$' {
            self.expansions += 1;
        }
        self.depth += 1;
        self.within.push(what);
    }

    fn open_parens(&mut self) {
        let doubled = self.before() == b'(' || self.byte(self.at + 1) == b'(';
        let inside = self.within.contains(&Within::Arithmetic);
        self.open(if doubled || inside {
            Within::Arithmetic
        } else {
            Within::Parens
        });
    }

    fn close(&mut self, what: &[Within]) {
        if self.within.last().is_some_and(|top| what.contains(top)) {
            self.within.pop();
            self.depth = self.depth.saturating_sub(1);
        }
    }

    fn toggle(&mut self, what: Within) {
        if self.within.last() == Some(&what) {
            self.within.pop();
        } else {
            self.within.push(what);
        }
    }

    /// In double quotes, and in `${...}` inside them.
    fn apostrophe_is_letter(&self) -> bool {
        self.doubtful
            || self
                .within
                .iter()
                .rev()
                .find(|w| **w != Within::Braces)
                .is_some_and(|w| *w == Within::Quotes)
    }

    /// Counts the word that starts here if it recurses.
    fn word(&mut self) {
        let rest = self.rest(self.at);
        let end = rest
            .iter()
            .take(12)
            .position(|b| b.is_ascii_whitespace() || b";|&()".contains(b))
            .unwrap_or(rest.len().min(12));
        let word = rest.get(..end).unwrap_or_default();
        if PREFIXES.iter().any(|prefix| prefix.as_bytes() == word) {
            self.prefixes += 1;
            self.prefix_run += 1;
            self.uncounted += u32::from(matches!(word, b"time" | b"coproc"));
            self.doubtful |= word == b"case" && !self.within.is_empty();
        }
    }

    fn skip_single_quotes(&mut self) {
        let escapes = self.before() == b'$';
        let mut at = self.at + 1;
        loop {
            let rest = self.rest(at);
            let Some(end) = memchr::memchr2(b'\'', b'\\', rest) else {
                // Without an end the rest is counted as it stands.
                return;
            };
            at += end;
            match self.byte(at) {
                b'\\' if escapes => at += 2,
                b'\\' => at += 1,
                _ => {
                    self.at = at;
                    return;
                }
            }
        }
    }

    fn starts_comment(&self) -> bool {
        let before = self.before();
        before.is_ascii_whitespace() || before == b';'
    }

    fn skip_comment(&mut self) {
        let rest = self.rest(self.at);
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        self.at += end.saturating_sub(1);
    }

    fn angle(&mut self) {
        if self.byte(self.at + 1) != b'<' {
            return;
        }
        if self.byte(self.at + 2) == b'<' {
            self.at += 2;
        } else if !self.within.contains(&Within::Arithmetic) {
            self.heredoc();
        }
    }

    fn heredoc(&mut self) {
        let strips_tabs = self.byte(self.at + 2) == b'-';
        let mut at = self.at + 2 + usize::from(strips_tabs);
        while matches!(self.byte(at), b' ' | b'\t') {
            at += 1;
        }
        let rest = self.rest(at);
        let end = rest
            .iter()
            .take(256)
            .position(|b| b.is_ascii_whitespace() || b";|&()<>`$".contains(b))
            .unwrap_or(rest.len().min(256));
        let raw = rest.get(..end).unwrap_or_default();
        self.heredocs += 1;
        self.pending.push(Heredoc {
            end: raw
                .iter()
                .copied()
                .filter(|b| !b"'\"\\".contains(b))
                .collect(),
            strips_tabs,
            quoted: raw.iter().any(|b| b"'\"\\".contains(b)),
        });
        self.at = (at + end).saturating_sub(1);
    }

    /// Jumps over the bodies of here-documents. Of unquoted ones the expansions are counted, since the
    /// parser reads them; quotes are letters there.
    fn skip_heredocs(&mut self) {
        for heredoc in std::mem::take(&mut self.pending) {
            let start = self.at + 1;
            let Some(end) = heredoc.end_after(self.rest(start)) else {
                // Without an end nobody knows where the body stops: it is counted as it stands.
                return;
            };
            if !heredoc.quoted {
                let body = self.rest(start).get(..end).unwrap_or_default();
                self.count_body(body);
            }
            self.at = (start + end).min(self.text.len()).saturating_sub(1);
        }
    }

    fn count_body(&mut self, body: &[u8]) {
        let depth = self.depth;
        let mut deepest = depth;
        let mut before = 0;
        for &byte in body {
            match byte {
                b'(' | b'{' if before == b'$' => {
                    self.expansions += 1;
                    self.depth += 1;
                    deepest = deepest.max(self.depth);
                }
                b')' | b'}' => self.depth = self.depth.saturating_sub(1).max(depth),
                b'`' => self.expansions += 1,
                _ => {}
            }
            before = byte;
        }
        self.depth = if deepest > MAX_DEPTH { deepest } else { depth };
        if memchr::memchr2(b'$', b'`', body).is_some() {
            let words = body.split(|b| b.is_ascii_whitespace() || b"();`".contains(b));
            for word in words {
                self.prefixes += u32::from(PREFIXES.iter().any(|p| p.as_bytes() == word));
                self.uncounted += u32::from(matches!(word, b"time" | b"coproc"));
            }
        }
    }
}

impl Heredoc {
    /// Where the line after the end word begins.
    fn end_after(&self, text: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let mut line = rest.get(..end).unwrap_or_default();
            while self.strips_tabs && line.first() == Some(&b'\t') {
                line = line.get(1..).unwrap_or_default();
            }
            at += end + 1;
            if line == self.end.as_slice() {
                return Some(at);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_commands_pass() {
        for text in [
            "cd app && pytest -q 2>&1 | tail -3",
            "for i in 1 2 3; do if test -f $i; then echo \"it's $i\"; fi; done",
            "python - <<'EOF'\nprint((((((1))))))\nEOF",
            "",
        ] {
            assert!(allows(text), "{text}");
        }
        let ticks = format!("cat > a.md <<'EOF'\n{}\nEOF\nls", "`x` (".repeat(4000));
        assert!(allows(&ticks));
        assert!(allows(&format!("echo '{}'", "((((".repeat(5000))));
        let python = format!("python -c '{}'", "if while for ".repeat(300));
        assert!(allows(&python));
    }

    #[test]
    fn hostile_shapes_do_not() {
        for shape in [
            "(",
            "{ ",
            "$(",
            "${a:-",
            "\"${a:-",
            "`",
            "time ",
            "coproc ",
            "! ",
            "if ",
            "while ",
            "[[ ( ",
            "$((",
            "<(",
            "a=(",
            "((",
            "case x in x) ",
            "f() { ",
            "else ",
            "if true; then ",
            "<<E ",
            "${a[",
            "until ",
        ] {
            assert!(!allows(&shape.repeat(5000)), "{shape}");
        }
        assert!(!allows(&"a;".repeat(200_000)));
        assert!(!allows(&"x".repeat(MAX_BYTES + 1)));
    }
}
