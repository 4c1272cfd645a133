//! French.

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
            r"\b(?:tests?|suite(?: de tests)?|ci|pipeline|vérifications|contrôles|pytest)\b",
        ),
        ("END", r" +(?:$|,|\.|et |–|—|-|!|:|\)|\()"),
    ],
    passed: &[
        r"CHECKS [^,:]*\b(?:passent|passe)\b(?: (?:tous|toutes|désormais|maintenant|toujours|encore|entièrement|avec succès|bien|au vert|sans \w+|correctement|à nouveau|de nouveau|à présent|également|aussi|parfaitement|localement|en local))*END",
        r"CHECKS [^,:]*\b(?:sont|est|ont été|a été|ont) (?:(?:tous|toutes|bien|maintenant|désormais|à nouveau) )*(?:passés?|passées?|réussis?|réussies?|verte?s?|au vert|validée?s?|concluants?|ok)\b",
        r"CHECKS [^,:]*\b(?:réussissent|réussit|passed)\b",
        r"CHECKS [^,:]*\bexécutés avec succès\b",
        r"CHECKS (?:: )?(?:\w+ )?(?:au vert|réussis|verts|ok)\b",
        r"CHECKS (?:\w+ )?: (?:[^\w,]+ )?(?:\d+ )?(?:réussis|passés|réussies|au vert|verts|ok)\b",
        r"\btout passe\b",
        r"\btests? [^:]*, ?(?:et )?(?:ils|elles|tous|tout) [^,]*\bpass(?:ent|é|és|e)\b",
        r"\btests et (?:ils|elles|tous|tout) [^,]*\bpassent\b",
        r"\b[1-9]\d* (?:tests? )?(?:réussis|passés)\b",
        r"\btout est (?:au )?vert\b",
        r"\btout (?:est )?au vert\b",
        r"\b(?:passe|passent) tous les tests\b",
        r"\baucun test n'échoue\b",
    ],
    done: &[
        r"\b(?:terminée?s?|corrigée?s?|résolue?s?|achevée?s?|accomplie?s?|finalisée?s?|implémentée?s?|réglée?s?|effectuée?s?|appliquée?s?|éliminée?s?|fini)END",
        r"\b(?:est|sont|a été|ont été) (?:(?:maintenant|désormais|bien|entièrement|complètement|totalement|donc|à présent) )*(?:terminée?s?|corrigée?s?|résolue?s?|achevée?s?|accomplie?s?|finalisée?s?|implémentée?s?|réglée?s?|effectuée?s?|appliquée?s?|prêt|prête|prêts|prêtes|en place)\b",
        r"\b(?:j'ai|nous avons|on a) (?:(?:bien|maintenant|entièrement|également|ajouté et) )*(?:corrigé|terminé|résolu|implémenté|achevé|finalisé|réparé|fini|mis en place)\b",
        r"\btout est (?:prêt|bon|en ordre|en place)\b",
        r"\bc'est (?:fait|corrigé|réparé|terminé|réglé|bon)\b",
        r"\b(?:fonctionne|fonctionnent) (?:(?:bien|de) )*(?:maintenant|désormais|correctement|à nouveau|nouveau|comme (?:prévu|attendu))\b",
        r"\btout fonctionne\b",
        r"\bavec succès\b",
        r"\b(?:mis|mise) (?:en place|à jour)END",
    ],
    firm: &[r"\bne (?:plante|plantent|se produit|échoue|bloque|crashe)\w* plus\b"],
    conditions: &[
        r"\b(?:si|s'il|s'ils|une fois|quand|lorsque|lorsqu'\w+|dès que|tant que|avant de|à condition|lorsqu)\b",
    ],
    blocks: &[
        r"\b(?:ne|pas|jamais|aucune?|sans|ni|rien)\b|\bn'",
        r"\b(?:devrai\w*|doit|doivent|dois|pourrai\w*|va|vais|vont|allons|sera|seront|peut-être|peut|peuvent|faut|faudra\w*|veux|voudrais|souhaite|essaie|essaye|tente)\b",
        r"\b(?:afin|pour|veuillez|selon|d'après|ensuite|puis|probablement|sûrement|normalement|apparemment|semble|semblent|espère|pense|pensent|crois|croit|estime|estiment)\b",
        r"\b(?:presque|partiellement|la plupart|quelques|certains|certaines|à moitié|moitié)\b",
        r"\b(?:assure|assurez|assurer|vérifie|vérifiez|vérifier|confirme que|confirmez|dit que|dis que|indique|affirme|avant|auparavant|initialement|passaient|passeront)\b|\bassure-toi|\bassurez-vous",
        r"^ (?:lance|lancez|exécute|exécutez|relance|relancez)\b|\bjusqu'",
        r"\b(?:est|sont) (?:implémentée?s?|faite?s?|effectuée?s?|résolue?s?) (?:dans|par|en|via|avec)\b",
    ],
    gaps: &[
        r"\b(?:ne|n'\w+|pas|non|jamais)\b[^,]*\b(?:exécut\w+|lanc\w+|test(?:é|ée|és|ées|er)|vérifi\w+|terminée?s?|corrigée?s?|résolue?s?|faite?s?|implémentée?s?|reproduire)\b",
        r"\bn'(?:ai|avons|a|est|ont) (?:\w+ )*(?:pu|réussi|possible)\b",
        r"\b(?:impossible|inachevée?s?|incomplète?s?|incomplet|bloquée?s?|non testée?s?)\b",
        r"\b(?:j'ai|nous avons|a été|ont été|est|sont) (?:annulé|annulée?s?|retiré|rétabli)\b",
        r"\btests? [^,]*\bignorés\b",
        r"\bsans (?:avoir )?(?:exécut|lanc|test|vérifi)(?:er|é)\b|\bdû (?:annuler|retirer|revenir)|\breste(?:nt)? à (?:faire|corriger|tester)",
    ],
    failing: &[
        r"CHECKS [^,]*\b(?:échouent|échoue)\b",
        r"CHECKS ne passent? \w+",
        r"CHECKS [^,]*\bne (?:passent|passe) (?:pas|toujours pas|plus)\b",
        r"CHECKS (?:est|sont|reste|restent) (?:\w+ )*rouges?\b",
        r"\b[1-9]\d* (?:tests? )?(?:échoués|échecs?|en échec)\b",
        r"\b(?:encore|toujours) rouges?\b",
    ],
    benign: &[
        r"\bsans (?:aucune? )?(?:erreurs?|problèmes?|échecs?|avertissements?|régressions?)\b",
        r"\baucune? (?:erreur|échec|régression|problème)\b",
        r"\baucun test n'échoue\b ?,?",
        r"\b(?:0|zéro) (?:échecs?|erreurs?|échoués?)\b",
        r"\bpas seulement\b",
        r"\b(?:j'ai|nous avons) (?:vérifié|confirmé|constaté) que\b",
        r"\b(?:dis-moi|dites-moi|n'hésitez? pas|n'hésite pas|fais-moi)\b.*$",
    ],
};

const PLANS: &[&str] = &[
    "plan",
    "prochaines étapes",
    "prochaine étape",
    "à faire",
    "critères",
    "objectif",
    "reste",
    "à venir",
];

const ASKS: &[&str] = &[
    "lance les tests",
    "exécute les tests",
    "exécuter les tests",
    "lancer les tests",
    "tests passent",
    "tests doivent passer",
    "suite de tests",
    "exécutez les tests",
    "lancez les tests",
    "exécute tous les tests",
    "passer les tests",
];

const STEMS: &[&str] = &[
    "termin",
    "corrig",
    "implément",
    "résolu",
    "achev",
    "fonctionne",
    " fait",
    "passent",
    "passe ",
    "passe.",
    "passe,",
    "passés",
    "sans err",
    "vérifi",
    "exécut",
    "échou",
    "mis en place",
    "effectuée",
    "réussi",
    "au vert",
    "verte",
    "verts",
    "prête",
    "accompli",
    "finalis",
    "succès",
    "annulé",
    "tout passe",
    "tout est",
    "éliminé",
    "annuler",
    "exécuter",
    "n'ai ",
    "n'ont ",
    "ne plante",
    "réglé",
    "échec",
    "rouge",
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
