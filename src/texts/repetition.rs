//! How much a text repeats itself: the source's entropy, and the measures of A10.
//!
//! Invariant: the entropy is the source's formula to 1e-9 and never judged by the aware rule; the aware
//! measures do not see what repeats by its nature: code fences, tables, statements that load data, digits
//! outside of lists.

use xxhash_rust::xxh3::xxh3_64;

use crate::model::Repetition;

/// Length of the n-grams.
const N: usize = 4;
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
    let tokens: Vec<u64> = if text.is_empty() {
        Vec::new()
    } else {
        text.split(' ')
            .map(|token| xxh3_64(token.as_bytes()))
            .collect()
    };
    let mut grams = grams(&tokens);
    grams.sort_unstable();
    let total = grams.len() as f64;
    let bits = grams
        .chunk_by(|a, b| a == b)
        .map(|same| same.len() as f64 / total)
        .map(|share| -share * share.log2())
        .sum::<f64>();
    // The empty sum, and the sum of one certain event, are -0.
    (bits.max(0.0) + 0.0, count(grams.len()))
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
        line_tokens(item, !listed, &mut tokens);
        if tokens.len() >= MOST_TOKENS {
            tokens.truncate(MOST_TOKENS);
            break;
        }
    }
    tokens
}

/// A line of a table, a divider, or a statement that loads data.
fn structural(line: &str) -> bool {
    let wordless = !line.chars().any(char::is_alphanumeric);
    let upper = line.get(..12).unwrap_or(line).to_ascii_uppercase();
    wordless
        || line.starts_with('|')
        || line.matches(" | ").count() >= 2
        || line.matches('\t').count() >= 2
        || line.contains('\u{2502}')
        || [
            "INSERT INTO",
            "INSERT OR",
            "REPLACE INTO",
            "VALUES (",
            "UPDATE ",
            "COPY ",
        ]
        .iter()
        .any(|start| upper.starts_with(start))
        || (upper.starts_with('(') && line.trim_end().ends_with("),"))
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
    let mut word = String::new();
    for c in line.chars() {
        if c.is_whitespace() {
            flush(&mut word, tokens);
        } else if by_character(c) {
            flush(&mut word, tokens);
            tokens.push(xxh3_64(c.encode_utf8(&mut [0; 4]).as_bytes()));
        } else if mask && c.is_numeric() {
            // One mark for a number of any length.
            if !word.ends_with('0') {
                word.push('0');
            }
        } else {
            word.extend(c.to_lowercase());
        }
    }
    flush(&mut word, tokens);
}

fn flush(word: &mut String, tokens: &mut Vec<u64>) {
    if !word.is_empty() {
        tokens.push(xxh3_64(word.as_bytes()));
        word.clear();
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
    let mut grams = grams(tokens);
    let all = grams.len();
    if all == 0 {
        return 1.0;
    }
    grams.sort_unstable();
    grams.dedup();
    grams.len() as f64 / all as f64
}

/// The 4-grams as one hash each: two of them fall together once in 2^64.
fn grams(tokens: &[u64]) -> Vec<u64> {
    tokens
        .windows(N)
        .map(|gram| {
            gram.iter().fold(0u64, |hash, token| {
                (hash.rotate_left(23) ^ token).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            })
        })
        .collect()
}

/// The most copies of one block of 3 to 60 tokens that stand back to back.
fn block_copies(tokens: &[u64]) -> u32 {
    let mut most = usize::from(tokens.len() >= *BLOCK.start());
    for length in BLOCK {
        // A stretch in which each token equals the one `length` before it.
        let mut stretch = 0;
        for (earlier, later) in tokens.iter().zip(tokens.iter().skip(length)) {
            stretch = if earlier == later { stretch + 1 } else { 0 };
            most = most.max(stretch / length + 1);
        }
        if tokens.len() / (length + 1) < most {
            break;
        }
    }
    count(if tokens.len() < *BLOCK.start() {
        0
    } else {
        most
    })
}

/// Number of words: runs between white space; characters of scripts without blanks count one each.
pub(super) fn word_count(text: &str) -> u32 {
    let mut words = 0u32;
    let mut inside = false;
    for c in text.chars() {
        if by_character(c) {
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

    #[test]
    fn repetition_by_example() {
        let stutters = |text: &str| {
            let r = read(text).repetition;
            (r.tokens >= 60 && r.distinct_ratio <= 0.2) || r.block_copies >= 6
        };
        let list = |line: fn(u32) -> String| (0..20).map(line).collect::<Vec<_>>().join("\n");
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
