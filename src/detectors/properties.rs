//! What holds of every detector on every lane.

use proptest::prelude::*;

use super::testing::{Bench, finding, text};
use super::{Judgement, Rules, Settings, Table, Verdicts};
use crate::lanes::At;
use crate::model::{Claim, Finish};

/// A call as a token of the test language, or a user turn.
fn token() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        Just("a"),
        Just("a1"),
        Just("a2"),
        Just("aB"),
        Just("b"),
        Just("c")
    ];
    let signs = prop::collection::vec(
        prop_oneof![
            Just("!"),
            Just("!7"),
            Just("?"),
            Just("-"),
            Just("%"),
            Just("=x"),
            Just("=ok"),
            Just("=notfoundanywhere"),
            Just("<f"),
            Just(">f"),
            Just("&"),
            Just("*"),
            Just("^"),
            Just("_"),
            Just("~"),
            Just("/20"),
            Just("(edit)"),
            Just("(delegate)"),
        ],
        0..3,
    );
    prop_oneof![
        9 => (name, signs).prop_map(|(name, signs)| format!("{name}{}", signs.concat())),
        1 => Just("|".to_owned()),
    ]
}

fn tables() -> [Table; 2] {
    [Rules::Aware, Rules::Source].map(|rules| Table::new(&Settings::default(), rules))
}

fn judged(table: &Table, bench: &Bench, at: At) -> Verdicts {
    let verdicts = table.judge(&bench.view(at));
    for (anomaly, judgement) in &verdicts {
        assert_ne!(*judgement, Judgement::Quiet);
        if let Some(found) = finding(judgement.clone()) {
            assert_eq!(found.anomaly, *anomaly);
        }
    }
    verdicts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_verdict_does_not_change_with_what_comes_after(
        tokens in prop::collection::vec(token(), 1..40),
        more in prop::collection::vec(token(), 0..10),
    ) {
        let line = tokens.join(" ");
        let before = Bench::of(&line);
        let after = Bench::of(&format!("{line} {}", more.join(" ")));
        for table in tables() {
            for at in 0..before.lane.calls().len() {
                let verdict = judged(&table, &before, At::Call(at));
                prop_assert_eq!(&verdict, &judged(&table, &after, At::Call(at)));
                // Asked again, it says the same.
                prop_assert_eq!(verdict, judged(&table, &before, At::Call(at)));
            }
        }
    }

    #[test]
    fn answers_of_any_shape_are_judged(
        texts in prop::collection::vec((".{0,12}", any::<bool>(), 0u8..7), 1..8),
        tokens in prop::collection::vec(token(), 0..8),
    ) {
        let mut bench = Bench::of(&tokens.join(" "));
        for (words, claims, finish) in texts {
            let mut facts = text(&words);
            if claims {
                facts.claim = Claim::ChecksPassed;
            }
            let finish = [
                Finish::Unknown, Finish::Stop, Finish::Length, Finish::ToolCalls,
                Finish::Filtered, Finish::Error, Finish::Stop,
            ][usize::from(finish)];
            bench.reply(Some(facts), finish);
        }
        for table in tables() {
            for at in 0..bench.lane.replies().len() {
                judged(&table, &bench, At::Reply(at));
            }
        }
    }
}

#[test]
fn indices_that_do_not_exist_are_quiet() {
    let bench = Bench::default();
    for table in tables() {
        assert!(table.judge(&bench.view(At::Call(3))).is_empty());
        assert!(table.judge(&bench.view(At::Reply(3))).is_empty());
    }
}
