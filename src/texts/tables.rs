//! Claims by example, a table a language (tests/fixtures/texts): what is claimed, and what is none.

use crate::model::Claim;
use crate::texts::read;

const TABLES: &[(&str, &str)] = &[
    (
        "english",
        include_str!("../../tests/fixtures/texts/english.txt"),
    ),
    (
        "german",
        include_str!("../../tests/fixtures/texts/german.txt"),
    ),
    (
        "french",
        include_str!("../../tests/fixtures/texts/french.txt"),
    ),
    (
        "spanish",
        include_str!("../../tests/fixtures/texts/spanish.txt"),
    ),
    (
        "chinese",
        include_str!("../../tests/fixtures/texts/chinese.txt"),
    ),
    (
        "japanese",
        include_str!("../../tests/fixtures/texts/japanese.txt"),
    ),
    (
        "mixed",
        include_str!("../../tests/fixtures/texts/mixed.txt"),
    ),
];

/// `P` says that checks passed, `D` that work is complete, `N` claims nothing, `H` admits a gap.
#[test]
fn the_tables_of_sentences() {
    let mut wrong = Vec::new();
    for (language, table) in TABLES {
        let lines = table.lines().filter(|line| !line.starts_with('#'));
        for line in lines {
            let Some((mark, text)) = line.split_once(' ') else {
                continue;
            };
            let text = text.replace("\\n", "\n").replace("\\\"", "\"");
            let facts = read(text.as_str());
            let right = match mark {
                "P" => facts.claim == Claim::ChecksPassed && !facts.honest_gap,
                "D" => facts.claim == Claim::Done && !facts.honest_gap,
                "N" => facts.claim == Claim::None,
                "H" => facts.claim == Claim::None && facts.honest_gap,
                other => panic!("what is `{other}`?"),
            };
            if !right {
                let gap = if facts.honest_gap { "+gap" } else { "" };
                wrong.push(format!("{language} {mark} {:?}{gap}: {text}", facts.claim));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
