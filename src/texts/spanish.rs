//! Spanish.

use std::sync::LazyLock;

use super::claims::{Language, Said};
use super::grammar::{Compiled, Grammar};

pub(super) const LANGUAGE: Language = Language {
    judge,
    silences: |_| false,
    plans,
    asks_for_tests,
    stems: STEMS,
};

static COMPILED: LazyLock<Option<Compiled>> = LazyLock::new(|| Compiled::new(&GRAMMAR));

const GRAMMAR: Grammar = Grammar {
    words: &[
        (
            "CHECKS",
            r"\b(?:pruebas?|tests?|suite(?: de (?:pruebas|tests))?|ci|pipeline|comprobaciones|verificaciones)\b",
        ),
        ("END", r" +(?:$|,|\.|y |–|—|-|!|:|\)|\()"),
    ],
    passed: &[
        r"CHECKS [^,:]*\b(?:pasan|pasa|pasaron|pasó|passed)\b",
        r"CHECKS [^,:]*\b(?:han|ha) (?:sido )?(?:pasado|superad[oa]s?)\b",
        r"CHECKS [^,:]*\b(?:siguen|sigue|están|está) pasando\b",
        r"CHECKS [^,:]*\b(?:son|fueron|resultaron) exitos[oa]s\b",
        r"CHECKS [^,:]*\b(?:en verde|superad[oa]s|exitos[oa]s|aprobad[oa]s|ok)\b",
        r"CHECKS [^,:]*\bse ejecutaron (?:correctamente|con éxito|sin errores)\b",
        r"CHECKS (?:\w+ )?: (?:[^\w,]+ )?(?:\d+ )?(?:superad[oa]s|pasad[oa]s|exitos[oa]s|en verde|ok)\b",
        r"\btodo pasa\b|\ben verde y [^,]*\b(?:pruebas|tests) también\b",
        r"CHECKS [^:]*(?:,|y) (?:y )?tod[oa]s (?:han )?(?:pasaron|pasan|pasado)\b",
        r"\bpasa(?:n|ron)? (?:ya )?tod[oa]s l[oa]s (?:pruebas|tests)\b",
        r"\b[1-9]\d* (?:pruebas? |tests? )?(?:superad[oa]s|pasad[oa]s|exitos[oa]s)\b",
        r"\btodo (?:está )?en verde\b",
        r"\bningun[oa] (?:prueba|test) falla\b",
    ],
    done: &[
        r"(?:^ ?[¡]?|, |: |– )(?:todo )?(?:listo|hecho|list[oa]s)(?: |!)",
        r"\b(?:completad[oa]s?|terminad[oa]s?|corregid[oa]s?|solucionad[oa]s?|resuelt[oa]s?|implementad[oa]s?|finalizad[oa]s?|arreglad[oa]s?|eliminad[oa]s?)END",
        r"\b(?:está|están|ha sido|han sido|quedó|queda|fue|fueron|se ha|se han|he|hemos) (?:(?:ya|ahora|totalmente|completamente|por completo|bien) )*(?:complet[oa]s?|completad[oa]s?|terminad[oa]s?|corregid[oa]s?|solucionad[oa]s?|resuelt[oa]s?|implementad[oa]s?|finalizad[oa]s?|arreglad[oa]s?|realizado|realizad[oa]s?|list[oa]s?|hech[oa]s?|eliminad[oa]s?|funcionando|operativ[oa]s?)\b",
        r"(?:^ |, |y )(?:ya )?(?:corregí|implementé|completé|terminé|arreglé|solucioné|resolví|finalicé)\b",
        r"\bfunciona[n]? (?:ahora|ya|correctamente|bien|como se (?:esperaba|pidió)|de nuevo)\b",
        r"\b(?:ahora|ya) funciona\b|\btodo funciona\b|\bvuelven? a funcionar\b",
        r"\bse (?:\w+ó|\w+aron|\w+ieron) (?:correctamente|con éxito|exitosamente)\b|\bcon éxito\b",
    ],
    firm: &[r"\bya no (?:se )?(?:cae|falla|ocurre|produce|bloquea|rompe|cuelga)\w*\b"],
    conditions: &[
        r"\b(?:si|cuando|una vez|en cuanto|siempre que|mientras|antes de que|a menos que|hasta)\b",
    ],
    blocks: &[
        r"\b(?:no|nunca|ningún|ninguna|ninguno|sin|ni|nada|tampoco)\b",
        r"\b(?:deberían?|debe|deben|podrían?|puede|pueden|voy|vamos|va a|será|serán|estará|estarán|ejecutaré|quiero|quisiera|intento|intentando|intentaré|espero|tiene que|tienen que)\b",
        r"\b(?:para|por favor|hay que|a continuación|después|luego|probablemente|quizás|tal vez|según|parece|parecen|creo|cree|creen|piensa|piensan|opina|considera|supuestamente|aparentemente)\b",
        r"\b(?:casi|parcialmente|la mayoría|mayoría|algunas|algunos|la mitad)\b",
        r"\b(?:asegúrate|asegúrese|asegurar|verifica|verifique|confirma|confirme|comprueba|dijiste|dijo|dice|indica|afirma|antes|anteriormente|pasaban|pasen)\b",
        r"\b(?:de hecho|hecho de|el hecho)\b|^ (?:ejecuta|ejecute|corre|corra|lanza)\b",
        r"\bestá (?:implementad|resuelt|hech)[oa] (?:en|por|con)\b",
        r"\b(?:tareas|archivos|elementos|trabajos) (?:terminad|completad)[oa]s\b",
    ],
    gaps: &[
        r"\bno (?:se |lo |la |he |hemos |han |ha )*(?:lanz\w+|ejecut\w+|prob\w+|verific\w+|comprob\w+|corr\w+ (?:las|los)|termin\w+|complet\w+|implement\w+)\b",
        r"\bno (?:está|están|fue|fueron|ha sido|han sido|quedó) (?:\w+ )*(?:probad|verificad|terminad|corregid|completad|resuelt|implementad|complet|list)\w*\b",
        r"\bno (?:pude|pudimos|he podido|hemos podido|logré|logramos|conseguí|fue posible|es posible|puedo)\b",
        r"\bsin (?:probar|verificar|comprobar|ejecutar|terminar|pruebas)\b",
        r"\b(?:incomplet[oa]|bloquead[oa]|inacabad[oa]|pendiente de (?:probar|verificar))\b",
        r"\b(?:tuve que (?:deshacer|revertir|descartar)|queda pendiente|falta por|revertí|deshice|he revertido|se revirtió|fue revertido)\b",
    ],
    failing: &[
        r"CHECKS [^,]*\b(?:fallan|falla|fallando)\b",
        r"CHECKS [^,]*\bno pasan?\b",
        r"\bno tod[oa]s l[oa]s (?:pruebas|tests)\b",
        r"CHECKS [^,]*\b(?:en rojo)\b",
        r"\b[1-9]\d* (?:pruebas? |tests? )?(?:fallid[oa]s|fallaron|fallan)\b",
        r"\bsiguen? (?:fallando|en rojo)\b",
    ],
    benign: &[
        r"\bsin (?:ningún )?(?:errores|error|problemas|fallos|advertencias|regresiones)\b",
        r"\bningún (?:error|fallo|problema)\b|\bninguna regresión\b",
        r"\bningun[oa] (?:prueba|test) falla\b ?,?",
        r"\b(?:0|cero) (?:fallid[oa]s|fallos|errores)\b",
        r"\bno solo\b",
        r"\b(?:he|hemos) (?:verificado|confirmado|comprobado) que\b|\b(?:verifiqué|confirmé|comprobé) que\b",
        r"\b(?:avísame|avíseme|dime|no dudes en|házmelo saber)\b.*$",
    ],
};

const PLANS: &[&str] = &[
    "plan",
    "próximos pasos",
    "siguientes pasos",
    "pendiente",
    "criterios",
    "objetivo",
    "requisitos",
    "por hacer",
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
    "ejecuta todas las pruebas",
    "pasen las pruebas",
];

const STEMS: &[&str] = &[
    "listo",
    "lista ",
    "lista.",
    "completa",
    "completé",
    "terminad",
    "terminé",
    "corregid",
    "corregí",
    "solucion",
    "resuelt",
    "resolví",
    "implementad",
    "implementé",
    "hecho",
    "finalizad",
    "funciona",
    "prueba",
    "pasan",
    "pasaron",
    "todo pasa",
    "eliminad",
    "deshacer",
    "lanzad",
    "ejecut",
    "verific",
    "pude",
    "podido",
    "en verde",
    "realizad",
    "éxito",
    "correctamente",
    "ya no ",
    "fallan",
    "falla ",
    "rojo",
    "revert",
    "logré",
    "comprobaciones",
    "arregl",
    "fallid",
    "fallando",
    "pasa ",
    "sin err",
];

fn judge(sentence: &str) -> Option<Said> {
    COMPILED.as_ref()?.judge(sentence)
}

fn plans(heading: &str) -> bool {
    PLANS.iter().any(|word| heading.contains(word))
}

fn asks_for_tests(sentence: &str) -> bool {
    ASKS.iter().any(|phrase| sentence.contains(phrase))
}
