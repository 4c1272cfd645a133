//! Spanish. Phrases are matched as they stand; letters beyond ASCII are written as escapes.

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
        "pruebas pasan",
        "pruebas pasaron",
        "pruebas han pasado",
        "tests pasan",
        "tests pasaron",
        "pruebas est\u{e1}n en verde",
        "pruebas superadas",
        "pruebas exitosas",
        "tests en verde",
        "todo est\u{e1} en verde",
        "todo en verde",
        "suite de pruebas pasa",
        "prueba pasa",
    ],
    done: &[
        " listo ",
        "completado",
        "completada",
        "terminado",
        "terminada",
        "corregido",
        "corregida",
        "solucionado",
        "resuelto",
        "resuelta",
        "implementado",
        "implementada",
        " hecho ",
        "finalizado",
        "todo funciona",
        "funciona correctamente",
        "ahora funciona",
    ],
    blocks: &[
        " no ",
        " nunca ",
        " ning\u{fa}n",
        " ninguna",
        " sin ",
        " si ",
        " cuando ",
        " una vez ",
        " deber\u{ed}a",
        " deber\u{ed}an",
        " debe ",
        " deben ",
        " podr\u{ed}a",
        " voy ",
        " vamos ",
        " para que ",
        " por favor",
        " hay que ",
        " casi ",
        " parcialmente ",
        " probablemente ",
        " seg\u{fa}n ",
        " hasta ",
        " ser\u{e1} ",
        " de hecho ",
        " hecho de ",
    ],
    gaps: &[
        " no se ejecut",
        " no ejecut",
        " no he ejecutado",
        " no pude ",
        " no he podido ",
        " no fue posible",
        " sin probar",
        " no probado",
        " no verificado",
        " sin verificar",
        " no est\u{e1} terminado",
        " incompleto",
        " bloqueado",
    ],
    failing: &[
        " pruebas fallan",
        " prueba falla",
        " tests fallan",
        " pruebas no pasan",
        " siguen fallando",
        " pruebas siguen fall",
        " tests no pasan",
    ],
    benign: &[" sin errores ", " ning\u{fa}n error ", " no solo "],
};

const PLANS: &[&str] = &[
    "plan",
    "pr\u{f3}ximos pasos",
    "pendiente",
    "criterios",
    "objetivo",
    "requisitos",
];

const ASKS: &[&str] = &[
    "ejecuta las pruebas",
    "ejecutar las pruebas",
    "corre las pruebas",
    "corre los tests",
    "ejecuta los tests",
    "pruebas pasen",
    "tests pasen",
    "ejecute las pruebas",
    "pruebas pasan",
    "suite de pruebas",
];

const STEMS: &[&str] = &[
    "listo",
    "complet",
    "termin",
    "corregid",
    "solucionad",
    "resuelt",
    "implementad",
    "hecho",
    "finalizad",
    "funciona",
    "pruebas",
    "prueba ",
    "pasan",
    "ejecut",
    "verific",
    "pude",
    "podido",
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
