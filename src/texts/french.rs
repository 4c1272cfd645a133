//! French. Phrases are matched as they stand; letters beyond ASCII are written as escapes.

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
        "tests passent",
        "tests sont pass\u{e9}s",
        "tests ont r\u{e9}ussi",
        "tests r\u{e9}ussissent",
        "tests sont verts",
        "tests sont au vert",
        "tests r\u{e9}ussis",
        "suite de tests passe",
        "tout est vert",
        "v\u{e9}rifications passent",
        "test passe",
    ],
    done: &[
        "termin\u{e9}",
        "corrig\u{e9}",
        "impl\u{e9}ment\u{e9}",
        "r\u{e9}solu",
        "achev\u{e9}",
        "tout fonctionne",
        "fonctionne maintenant",
        "fonctionne d\u{e9}sormais",
        "c'est fait",
        "est fait",
        "mis en place",
        "mise \u{e0} jour effectu\u{e9}e",
    ],
    blocks: &[
        " ne ",
        " pas ",
        " jamais ",
        " aucun",
        " sans ",
        " si ",
        " une fois ",
        " quand ",
        " lorsque ",
        " devrait",
        " devraient",
        " doit ",
        " doivent ",
        " pourrait",
        " va ",
        " vais ",
        " vont ",
        " allons ",
        " afin ",
        " pour que ",
        " veuillez ",
        " faut ",
        " presque ",
        " partiellement ",
        " probablement ",
        " selon ",
        " sera ",
        " seront ",
        " peut-\u{ea}tre ",
    ],
    gaps: &[
        " pas ex\u{e9}cut",
        " pas lanc\u{e9}",
        " pas test\u{e9}",
        " non test\u{e9}",
        " pas v\u{e9}rifi",
        " non v\u{e9}rifi",
        "n'ai pas pu",
        "n'avons pas pu",
        " impossible ",
        " pas termin\u{e9}",
        " inachev\u{e9}",
        " pas corrig\u{e9}",
        " bloqu\u{e9}",
    ],
    failing: &[
        " tests \u{e9}chouent",
        " test \u{e9}choue",
        " tests ne passent pas",
        " tests ne passent toujours pas",
        " \u{e9}chouent encore",
        " \u{e9}chouent toujours",
        " tests sont rouges",
    ],
    benign: &[
        " sans erreur ",
        " sans erreurs ",
        " aucune erreur ",
        " pas seulement ",
    ],
};

const PLANS: &[&str] = &[
    "plan",
    "prochaines \u{e9}tapes",
    "\u{e0} faire",
    "crit\u{e8}res",
    "objectif",
    "reste",
];

const ASKS: &[&str] = &[
    "lance les tests",
    "ex\u{e9}cute les tests",
    "ex\u{e9}cuter les tests",
    "lancer les tests",
    "tests passent",
    "tests doivent passer",
    "suite de tests",
    "ex\u{e9}cutez les tests",
    "lancez les tests",
];

const STEMS: &[&str] = &[
    "termin",
    "corrig\u{e9}",
    "impl\u{e9}ment",
    "r\u{e9}solu",
    "achev",
    "fonctionne",
    "est fait",
    "tests",
    "passent",
    "v\u{e9}rifi",
    "ex\u{e9}cut",
    "\u{e9}chou",
    "mis en place",
    "effectu\u{e9}e",
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
