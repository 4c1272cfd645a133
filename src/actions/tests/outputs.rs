//! What runners print (tests/fixtures/commands/runners.txt), read without any exit status.

use super::*;

fn number(count: Option<u32>) -> String {
    count.map_or_else(|| "-".to_owned(), |count| count.to_string())
}

#[test]
fn the_table_of_outputs() {
    let text = include_str!("../../../tests/fixtures/commands/runners.txt");
    let cases = cases(text);
    assert!(cases.len() >= 100, "{} outputs", cases.len());
    let mut wrong = String::new();
    for mut case in cases {
        case.exit_code = Some(0);
        case.answer = case.answer.replace("\\e", "\u{1b}").replace("\\r", "\r");
        let understood = run(&case);
        let found = understood.effects.verification.map_or_else(
            || "no check".to_owned(),
            |check| {
                let (passed, failed) = (number(check.passed), number(check.failed));
                format!("{:?} {passed} {failed}", check.verdict)
            },
        );
        if found != case.expected {
            let _ = writeln!(
                wrong,
                "$ {}\n{}= {found} instead of {}",
                case.command, case.answer, case.expected
            );
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
