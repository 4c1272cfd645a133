//! How much a text repeats itself: the source's entropy, and the measures of A10.
//!
//! Invariant: the entropy is the source's formula to 1e-9 and never judged by the aware rule; the aware
//! measures do not see what repeats by its nature: code fences, tables, statements that load data, digits
//! outside of lists.

use crate::model::Repetition;

/// Length of the n-grams.
const N: usize = 4;
/// Texts of so few 4-grams are summed as the source sums them.
const FEW: usize = 64;
/// An odd number without a pattern (the golden ratio's), which spreads what it multiplies.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
/// Tokens looked at by the aware rule.
const MOST_TOKENS: usize = 8192;
/// Shortest and longest block whose copies are counted.
const BLOCK: std::ops::RangeInclusive<usize> = 3..=60;

/// Measures the repetition in `text`.
pub(super) fn measure(text: &str) -> Repetition {
    let (entropy_bits, source_ngrams) = entropy(text);
    let tokens = tokens(text);
    Repetition {
        entropy_bits,
        source_ngrams,
        tokens: count(tokens.len()),
        distinct_ratio: distinct_ratio(&tokens),
        block_copies: block_copies(&tokens),
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Shannon entropy of the 4-grams of tokens split at single blanks, and how many 4-grams there are.
fn entropy(text: &str) -> (f64, u32) {
    let mut grams = Vec::new();
    if !text.is_empty() {
        let mut last = [0; N];
        let mut seen = 0;
        let mut start = 0;
        let ends = memchr::memchr_iter(b' ', text.as_bytes()).chain(Some(text.len()));
        for end in ends {
            let token = text.as_bytes().get(start..end).unwrap_or_default();
            start = end + 1;
            last.rotate_left(1);
            last[N - 1] = token_hash(token);
            seen += 1;
            if seen >= N {
                grams.push(gram(&last));
            }
        }
    }
    let total = grams.len() as f64;
    // Most texts repeat no 4-gram: then the sum needs no sorting.
    if grams.len() > FEW && distinct(&grams) == grams.len() {
        return (total.log2(), count(grams.len()));
    }
    grams.sort_unstable();
    let bits = grams
        .chunk_by(|a, b| a == b)
        .map(|same| same.len() as f64 / total)
        .map(|share| -share * share.log2())
        .sum::<f64>();
    // The empty sum, and the sum of one certain event, are -0.
    (bits.max(0.0) + 0.0, count(grams.len()))
}

/// Hash of a token of either rule; compared within one text only.
fn token_hash(token: &[u8]) -> u64 {
    let mut hash = TokenHash::default();
    token.iter().for_each(|byte| hash.push(*byte));
    hash.0
}

/// A hash that takes a token byte by byte: tokens are short, and a call for each costs more than they do.
#[derive(Clone, Copy, Default)]
struct TokenHash(u64);

impl TokenHash {
    fn push(&mut self, byte: u8) {
        let mixed = (self.0.rotate_left(5) ^ (u64::from(byte) + 1)).wrapping_mul(MIX);
        self.0 = mixed;
    }
}

/// The tokens of the aware rule as hashes: words in lower case with digits masked, characters of scripts
/// that write no blanks; no fences, tables, or lines that insert data.
fn tokens(text: &str) -> Vec<u64> {
    let mut tokens = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => {
                // A fence that opens and closes on one line is a quotation in it.
                if !trimmed.get(3..).unwrap_or_default().contains(mark) {
                    fence = Some(mark);
                }
                continue;
            }
            (Some(open), Some(mark)) if open == mark => {
                fence = None;
                continue;
            }
            (Some(_), _) => continue,
            (None, None) => {}
        }
        if structural(trimmed) {
            continue;
        }
        let (item, listed) = list_item(trimmed);
        line_tokens(item, !listed && !is_data(item), &mut tokens);
        if tokens.len() >= MOST_TOKENS {
            tokens.truncate(MOST_TOKENS);
            break;
        }
    }
    tokens
}

/// A line of a table, a divider, or a statement that loads data.
fn structural(line: &str) -> bool {
    const STATEMENTS: &[&str] = &[
        "INSERT INTO",
        "INSERT OR",
        "REPLACE INTO",
        "VALUES (",
        "UPDATE ",
        "COPY ",
    ];
    let bytes = line.as_bytes();
    let starts = |start: &&str| {
        bytes
            .get(..start.len())
            .is_some_and(|front| front.eq_ignore_ascii_case(start.as_bytes()))
    };
    !line.chars().any(char::is_alphanumeric)
        || line.starts_with('|')
        || (memchr::memchr(b'|', bytes).is_some() && line.matches(" | ").count() >= 2)
        || memchr::memchr_iter(b'\t', bytes).nth(1).is_some()
        || (memchr::memchr(0xe2, bytes).is_some() && line.contains('\u{2502}'))
        || STATEMENTS.iter().any(starts)
        || (line.starts_with('(') && line.trim_end().ends_with("),"))
        || row_of_numbers(line)
        || changed_line(bytes)
}

/// `[0, 0, 1],`: a row of a matrix.
fn row_of_numbers(line: &str) -> bool {
    line.starts_with('[')
        && line.trim_end_matches([',', ' ', '\r']).ends_with(']')
        && !line.contains(char::is_alphabetic)
}

/// A line of a patch: its sign is followed by the line itself, blanks and all. An item of a list has one
/// blank, emphasis no end of a sentence before its second sign.
fn changed_line(line: &[u8]) -> bool {
    match line {
        [b'+' | b'-', b' ', b' ', ..] => true,
        [b'+' | b'-', next, ..] => !matches!(next, b' ' | b'+' | b'-'),
        _ => false,
    }
}

/// A line of JSON, XML, or values parted by commas: rows of data share their form, and their numbers tell
/// them apart (pitfall 16). Equal rows still are repetition.
fn is_data(line: &str) -> bool {
    let opens = line.starts_with(['{', '}', '[', ']', '"', '<']);
    opens || values(line.as_bytes())
}

/// `2024-01-02,ok,0,7`: three commas or semicolons and more without a blank after them, the most of them.
fn values(line: &[u8]) -> bool {
    let mut tight = 0usize;
    let mut loose = 0usize;
    for pair in line.windows(2) {
        if let [b',' | b';', next] = pair {
            match next {
                b' ' => loose += 1,
                _ => tight += 1,
            }
        }
    }
    tight >= 3 && tight > loose
}

/// The body of a list item, and whether it is one: numbers in a list are data, the item's own is not.
fn list_item(line: &str) -> (&str, bool) {
    let bulleted = line
        .strip_prefix(['-', '*', '+', '\u{2022}'])
        .filter(|rest| rest.starts_with(' '));
    let numbered = || {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let body = rest.strip_prefix(['.', ')'])?;
        (rest.len() < line.len() && body.starts_with(' ')).then_some(body)
    };
    match bulleted.or_else(numbered) {
        Some(body) => (body, true),
        None => (line, false),
    }
}

fn line_tokens(line: &str, mask: bool, tokens: &mut Vec<u64>) {
    let mut word = Word::default();
    let mut rest = line;
    while !rest.is_empty() {
        let ascii = rest.bytes().position(|byte| byte >= 0x80);
        let (plain, other) = rest
            .split_at_checked(ascii.unwrap_or(rest.len()))
            .unwrap_or((rest, ""));
        for byte in plain.bytes() {
            if matches!(byte, b'\t'..=b'\r' | b' ') {
                word.end(tokens);
            } else if mask && byte.is_ascii_digit() {
                word.digit();
            } else {
                word.push(byte.to_ascii_lowercase());
            }
        }
        let mut chars = other.chars();
        if let Some(c) = chars.next() {
            character(c, mask, &mut word, tokens);
        }
        rest = chars.as_str();
    }
    word.end(tokens);
}

/// Takes a character beyond ASCII.
fn character(c: char, mask: bool, word: &mut Word, tokens: &mut Vec<u64>) {
    if c.is_whitespace() {
        word.end(tokens);
    } else if by_character(c) {
        word.end(tokens);
        tokens.push(token_hash(c.encode_utf8(&mut [0; 4]).as_bytes()));
    } else if mask && c.is_numeric() {
        word.digit();
    } else {
        for c in c.to_lowercase() {
            c.encode_utf8(&mut [0; 4])
                .bytes()
                .for_each(|byte| word.push(byte));
        }
    }
}

/// A word while it is being read: its hash, and its last byte (0 when it has none yet).
#[derive(Default)]
struct Word {
    hash: TokenHash,
    last: u8,
}

impl Word {
    fn push(&mut self, byte: u8) {
        self.hash.push(byte);
        // A NUL is a byte as any other.
        self.last = byte.max(1);
    }

    /// One mark for a number of any length.
    fn digit(&mut self) {
        if self.last != b'0' {
            self.push(b'0');
        }
    }

    fn end(&mut self, tokens: &mut Vec<u64>) {
        if self.last != 0 {
            tokens.push(self.hash.0);
            *self = Self::default();
        }
    }
}

/// Scripts that write no blanks between words: Han, kana, Thai, Lao, Khmer, Burmese.
pub(super) fn by_character(c: char) -> bool {
    matches!(c,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' | '\u{0e00}'..='\u{0eff}'
        | '\u{1780}'..='\u{17ff}' | '\u{1000}'..='\u{109f}' | '\u{3000}'..='\u{303f}'
        | '\u{ff00}'..='\u{ffef}')
}

fn distinct_ratio(tokens: &[u64]) -> f64 {
    let grams: Vec<u64> = tokens.windows(N).map(gram).collect();
    if grams.is_empty() {
        return 1.0;
    }
    distinct(&grams) as f64 / grams.len() as f64
}

/// A 4-gram as one hash: two of them fall together once in 2^64.
fn gram(tokens: &[u64]) -> u64 {
    tokens.iter().fold(0u64, |hash, token| {
        (hash.rotate_left(23) ^ token).wrapping_mul(MIX)
    })
}

/// How many different hashes there are: a table twice their number, open addressing, 0 is an empty place.
fn distinct(hashes: &[u64]) -> usize {
    let size = (hashes.len() * 2).next_power_of_two();
    let shift = 64 - size.trailing_zeros();
    let mut table = vec![0u64; size];
    let mut different = 0;
    for hash in hashes.iter().map(|hash| (*hash).max(1)) {
        let mut place = usize::try_from(hash.wrapping_mul(MIX) >> shift).unwrap_or(0);
        while let Some(slot) = table.get_mut(place & (size - 1)) {
            if *slot == 0 {
                *slot = hash;
                different += 1;
                break;
            }
            if *slot == hash {
                break;
            }
            place += 1;
        }
    }
    different
}

/// The most copies of one block of 3 to 60 tokens that stand back to back.
fn block_copies(tokens: &[u64]) -> u32 {
    if tokens.len() < *BLOCK.start() {
        return 0;
    }
    let mut most = 1;
    for length in BLOCK {
        if tokens.len() / length < 2 {
            break;
        }
        // A stretch in which each token equals the one `length` before it makes copies from `length` tokens
        // on, and so covers a multiple of `length`: only those places are looked at.
        let same = |at: usize| matches!((tokens.get(at), tokens.get(at + length)), (Some(a), Some(b)) if a == b);
        let mut at = 0;
        while at + length < tokens.len() {
            if same(at) {
                let before = (0..at).rev().take_while(|at| same(*at)).count();
                let after = (at..tokens.len()).take_while(|at| same(*at)).count();
                most = most.max((before + after) / length + 1);
                at += after - after % length;
            }
            at += length;
        }
        if tokens.len() / (length + 1) < most {
            break;
        }
    }
    count(most)
}

/// Number of words: runs between white space; characters of scripts without blanks count one each.
pub(super) fn word_count(text: &str) -> u32 {
    let mut words = 0u32;
    let mut inside = false;
    if text.is_ascii() {
        for byte in text.bytes() {
            let blank = matches!(byte, b'\t'..=b'\r' | b' ');
            words = words.saturating_add(u32::from(!blank && !inside));
            inside = !blank;
        }
        return words;
    }
    for c in text.chars() {
        if !c.is_ascii() && by_character(c) {
            words = words.saturating_add(u32::from(c.is_alphanumeric()));
            inside = false;
        } else if c.is_whitespace() {
            inside = false;
        } else if !inside {
            words = words.saturating_add(1);
            inside = true;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use crate::texts::read;

    fn stutters(text: &str) -> bool {
        let r = read(text).repetition;
        (r.tokens >= 60 && r.distinct_ratio <= 0.2) || r.block_copies >= 6
    }

    fn list(line: fn(u32) -> String) -> String {
        (0..20).map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn rows_of_data_share_their_form() {
        for (text, expected) in [
            (
                list(|n| format!("{{\"id\": {n}, \"ok\": true, \"status\": \"done\"}},")),
                false,
            ),
            (
                (0..40)
                    .map(|n| format!("{{\"id\": {n}, \"ok\": true, \"status\": \"done\"}}, "))
                    .collect(),
                false,
            ),
            (
                list(|n| format!("{{\n \"id\": {n},\n \"name\": \"item\",\n \"on\": true\n}},")),
                false,
            ),
            (list(|n| format!("2024-01-{n:02},ok,0,0,0,ok")), false),
            ("[0, 0, 0, 0, 0, 0],\n".repeat(20), false),
            (
                "-    self.assertEquals(a, b)\n+    self.assertEqual(a, b)\n".repeat(25),
                false,
            ),
            // The same row again and again is repetition.
            ("{\"tool\": \"search\", \"q\": \"rust\"}\n".repeat(30), true),
        ] {
            assert_eq!(stutters(&text), expected, "{}", &text[..text.len().min(60)]);
        }
    }

    #[test]
    fn repetition_by_example() {
        for (text, expected) in [
            ("Let me check the port again. ".repeat(12), true),
            (
                "\u{6211}\u{5148}\u{68c0}\u{67e5}\u{63a5}\u{53e3}\u{3002}".repeat(30),
                true,
            ),
            (
                (1..40)
                    .map(|n| format!("Hmm, let me verify entry {n}. Verified. Posted. "))
                    .collect(),
                true,
            ),
            (
                format!(
                    "```\n{}```\nThat is the log.",
                    "conn reset by peer\n".repeat(40)
                ),
                false,
            ),
            (
                list(|n| format!("INSERT INTO city (id) VALUES ({n}, 'x');")),
                false,
            ),
            (
                list(|n| format!("| name{n} | string | required | none |")),
                false,
            ),
            (
                list(|n| format!("- Flight HAT{n} (JFK to SEA) price ${n}3")),
                false,
            ),
            (list(|_| "- retry the same call once more".into()), true),
            (
                list(|n| {
                    format!(
                        "{0}one {0}two {0}three {0}four",
                        char::from_u32(97 + n).unwrap_or('z')
                    )
                }),
                false,
            ),
            (String::new(), false),
            ("---\n".repeat(50), false),
        ] {
            assert_eq!(stutters(&text), expected, "{}", &text[..text.len().min(60)]);
        }
        assert_eq!(read("a b c d").repetition.source_ngrams, 1);
        assert!((read("").repetition.distinct_ratio - 1.0).abs() < f64::EPSILON);
    }
}
