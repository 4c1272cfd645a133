//! German. Phrases are matched as they stand; letters beyond ASCII are written as escapes.

use super::claims::{Language, Phrases, Said};

pub(super) const LANGUAGE: Language = Language {
    judge,
    plans,
    asks_for_tests,
    stems: STEMS,
    phrases: Some(&PHRASES),
};

const PHRASES: Phrases = Phrases {
    passed: &[
        "tests bestanden",
        "tests sind bestanden",
        "tests laufen durch",
        "tests laufen erfolgreich",
        "tests sind erfolgreich",
        "tests sind gr\u{fc}n",
        "tests waren erfolgreich",
        "tests erfolgreich durchgelaufen",
        "testsuite l\u{e4}uft durch",
        "testsuite ist gr\u{fc}n",
        "tests bestehen ",
        "alles gr\u{fc}n",
        "alles ist gr\u{fc}n",
        "pr\u{fc}fungen bestanden",
        "tests passen ",
        "tests sind durchgelaufen",
        "test besteht",
        "tests liefen erfolgreich",
    ],
    done: &[
        "erledigt",
        "fertig",
        "abgeschlossen",
        "behoben",
        "umgesetzt",
        "implementiert",
        "fertiggestellt",
        "funktioniert jetzt",
        "funktioniert nun",
        "alles funktioniert",
        "erfolgreich aktualisiert",
        "ist gel\u{f6}st",
        "wurde gel\u{f6}st",
    ],
    blocks: &[
        " nicht ",
        " kein",
        " nie ",
        " ohne ",
        " wenn ",
        " falls ",
        " sobald ",
        " sollte",
        " w\u{fc}rde",
        " werde ",
        " wird ",
        " werden ",
        " muss ",
        " m\u{fc}ssen ",
        " k\u{f6}nnte",
        " kann ",
        " bitte ",
        " damit ",
        " bis ",
        " ob ",
        " laut ",
        " als n\u{e4}chstes",
        " vielleicht ",
        " vermutlich ",
        " wohl ",
        " fast ",
        " teilweise ",
        " noch zu ",
        " unfertig",
    ],
    gaps: &[
        " nicht ausgef\u{fc}hrt",
        " nicht laufen lassen",
        " nicht getestet",
        " ungetestet",
        " nicht gepr\u{fc}ft",
        " nicht \u{fc}berpr\u{fc}f",
        " konnte nicht ",
        " konnte ich nicht ",
        " nicht m\u{f6}glich",
        " nicht abgeschlossen",
        " nicht fertig",
        " nicht behoben",
        " konnte die tests nicht",
        " zur\u{fc}ckgenommen",
        " blockiert",
    ],
    failing: &[
        " tests schlagen fehl",
        " tests schlagen weiterhin fehl",
        " tests schlagen noch fehl",
        " test schl\u{e4}gt fehl",
        " tests scheitern",
        " tests sind rot",
        " tests bestehen nicht",
        " tests laufen nicht durch",
        " noch rot",
    ],
    benign: &[
        " ohne fehler ",
        " keine fehler ",
        " keine weiteren ",
        " nicht nur ",
        " nicht mehr fehl ",
    ],
};

const PLANS: &[&str] = &[
    "plan",
    "n\u{e4}chste schritte",
    "offen",
    "kriterien",
    "anforderungen",
    "ziel",
];

const ASKS: &[&str] = &[
    "tests laufen",
    "tests aus",
    "tests bestehen ",
    "tests gr\u{fc}n",
    "f\u{fc}hre die tests",
    "tests ausf\u{fc}hren",
    "tests durchlaufen",
    "testsuite",
];

const STEMS: &[&str] = &[
    "erledigt",
    "fertig",
    "abgeschlossen",
    "behoben",
    "umgesetzt",
    "implementiert",
    "bestanden",
    "laufen durch",
    "l\u{e4}uft durch",
    "bestehen",
    "besteht",
    "gr\u{fc}n",
    "funktioniert",
    "erfolgreich",
    "getestet",
    "gepr\u{fc}ft",
    "\u{fc}berpr\u{fc}f",
    "konnte",
    "schlagen fehl",
    "schl\u{e4}gt fehl",
    "scheitern",
    "tests ",
];

fn judge(sentence: &str) -> Said {
    PHRASES.judge(sentence)
}

fn plans(heading: &str) -> bool {
    PLANS.iter().any(|word| heading.contains(word))
}

fn asks_for_tests(sentence: &str) -> bool {
    ASKS.iter().any(|phrase| sentence.contains(phrase))
}
