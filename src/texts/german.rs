//! German. Verbs stand at the ends of clauses, so patterns reach from the checks to what is said of them.

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
            r"\b(?:[\w-]*tests?|[\w-]*suite|[\w-]*testfälle|pipeline|ci|prüfungen|checks)\b",
        ),
        ("END", r" +(?:$|,|\.|und |–|—|-|!|:|\)|\()"),
    ],
    passed: &[
        r"CHECKS [^,:]*\b(?:bestanden|bestehen|besteht|bestand|grün|fehlerfrei|durchgelaufen|passen|passed|ok)\b",
        r"CHECKS [^,:]*\b(?:läuft|laufen|liefen|lief)\b[^,]*\bdurch\b",
        r"CHECKS [^,:]*\b(?:laufen|läuft) (?:jetzt |nun |alle )*(?:wieder|erfolgreich)END",
        r"CHECKS [^,:]*\b(?:sind|ist|waren|war|verliefen|liefen)(?: \w+)? erfolgreichEND",
        r"CHECKS [^,:]*\berfolgreich (?:durch\w*|ausgeführt|gelaufen|absolviert)",
        r"CHECKS [^:]*, (?:und )?(?:alle|sie)(?: \w+){0,2} (?:bestanden|bestehen|grün|erfolgreich)\b",
        r"CHECKS(?: \w+)? : (?:[^\w,]+ )?(?:alle )?(?:\d+ )?(?:bestanden|grün|ok)\b",
        r"CHECKS [^,:]*\b(?:verlaufen|verläuft|verlief) [^,]*\b(?:erfolgreich|fehlerfrei)\b",
        r"\b[1-9]\d* (?:von [1-9]\d* )?(?:tests? )?bestanden\b",
        r"\balles(?: ist| läuft)?(?: jetzt| wieder)? grün\b",
        r"\bgrüne[nr]? (?:testlauf|tests)\b",
    ],
    done: &[
        r"\b(?:erledigt|fertig|abgeschlossen|behoben|umgesetzt|fertiggestellt|gelöst|beendet|korrigiert|repariert|gefixt|implementiert|geschafft|eingebaut|beseitigt|bereinigt)END",
        r"\b(?:ist|sind|wurden?) [^,]*\b(?:behoben|umgesetzt|implementiert|abgeschlossen|gelöst|korrigiert|fertiggestellt|erledigt|beseitigt)\b",
        r"\bhaben? [^,]*\b(?:behoben|umgesetzt|implementiert|abgeschlossen|gelöst|korrigiert|fertiggestellt|erledigt|repariert)\b",
        r"\b(?:fertig|vollständig|komplett) (?:implementiert|umgesetzt)\b",
        r"\berfolgreich (?:an|ab|um|ein|aus|auf)?(?:ge)?\w+(?:t|en)END",
        r"\bfunktionier(?:t|en) [^,]*\b(?:jetzt|nun|wieder|korrekt|einwandfrei|problemlos|wie (?:erwartet|gewünscht))\b",
        r"\balles funktioniert\b",
        r"\b(?:einsatzbereit|bereit (?:für|zum|zur) \w+)",
    ],
    firm: &[
        r"\b(?:stürzt|stürzen|tritt|treten|hängt|bricht|schlägt|schlagen)\b[^,]*\bnicht mehr (?:ab|auf|fehl)?",
    ],
    conditions: &[r"\b(?:wenn|falls|sobald|sofern|solange|angenommen|bevor|erst)\b"],
    blocks: &[
        r"\b(?:nicht|nichts|kein\w*|nie|niemals|ohne|weder)\b",
        r"\b(?:soll\w*|würden?|werde|wird|werden|wirst|muss|müssen|müsste\w*|könnte\w*|kann|können|möchte\w*|will|wollen|dürfte\w*|mag)\b",
        r"\b(?:bitte|damit|bis|ob|laut|gemäß|als nächstes|danach|anschließend|vielleicht|vermutlich|wahrscheinlich|wohl|hoffentlich|angeblich|offenbar|scheint|scheinen)\b",
        r"\b(?:fast|beinahe|nahezu|teilweise|halb|meisten|einige|manche|zur hälfte)\b",
        r"\b(?:unfertig|dass|um zu|vorher|zuvor|früher|ursprünglich|versuche|probiere|gesagt|behauptet|sagte|sagt|meint|glaubt|denkt|vermutet|schrieb|steht|sei|seien|wäre|wären)\b",
        r"\b(?:vor (?:meiner|der|dem|den)|um \S+ \S+ zu|zu (?:beheben|lösen|reparieren))\b",
        r"\bist in \S+ (?:implementiert|umgesetzt)",
    ],
    gaps: &[
        r"\bnicht [^,]*\b(?:ausgeführt|ausführen|getestet|testen|geprüft|prüfen|überprüf\w*|verifizier\w*|laufen (?:lassen|gelassen)|behoben|beheben|abgeschlossen|abschließen|fertig|erledigt|gelöst|lösen|möglich|umgesetzt|implementiert|reproduzier\w*|gelaufen)\b",
        r"\bkonnten? [^,]*\b(?:nicht|nichts|keine[nr]?)\b",
        r"\b(?:ungetestet|unverifiziert|ungeprüft|unvollständig|unfertig|blockiert|unmöglich)\b",
        r"\b(?:rückgängig gemacht|zurückgenommen|zurückgesetzt|revertiert|verworfen)\b",
        r"\bohne (?:\w+ )*tests? (?:auszuführen|laufen zu lassen)|\b(?:steht|stehen|bleibt|fehlt) noch (?:aus|zu|offen)?",
        r"\bmusste [^,]*\b(?:zurück\w+|rückgängig|verwerfen)\b",
        r"\b(?:keine|ohne) (?:\w+ )?tests (?:ausgeführt|gelaufen|laufen|gestartet)",
        r"\btests? [^,]*\b(?:übersprungen|ausgelassen)\b",
    ],
    failing: &[
        r"CHECKS [^,]*\b(?:schlagen|schlägt)\b[^,]*\bfehl\b",
        r"\b(?:schlagen|schlägt)\b[^,]*\bCHECKS [^,]*\bfehl\b",
        r"CHECKS [^,]*\b(?:scheitern|scheitert)\b",
        r"CHECKS (?:ist|sind|bleibt|bleiben) (?:\w+ )*(?:rot|fehlgeschlagen)\b",
        r"CHECKS [^,]*\b(?:bestehen|besteht|laufen|läuft|passen)\b[^,]*\bnicht\b",
        r"\bnicht alle [\w-]*tests\b",
        r"\b[1-9]\d* (?:[\w-]*tests? )?(?:sind |ist |davon )?fehlgeschlagen\b",
        r"\b(?:noch|weiterhin) (?:immer )?rot\b",
    ],
    benign: &[
        r"\b(?:ohne (?:weitere |jegliche )?(?:fehler|probleme|warnungen)|kein\w* (?:weiteren |weitere )?(?:fehler|fehlschläge|regression(?:en)?|probleme|warnungen))\b",
        r"\b(?:0|null) (?:tests? )?fehlgeschlagen\b",
        r"\bnicht nur\b",
        r"\b(?:bestätigt|verifiziert|überprüft|geprüft|sichergestellt|gezeigt) , dass\b",
        r"\b(?:sag|gib|gebt|sagen sie|melde|lass)\b[^.]*\b(?:bescheid|wissen|dich)\b.*$",
        r"\bnicht mehr fehl\b",
        r"^ damit ",
        r"\b(?:ist|sind|wurde|wurden) damit\b",
    ],
};

const PLANS: &[&str] = &[
    "plan",
    "nächste schritte",
    "nächster schritt",
    "offen",
    "kriterien",
    "anforderungen",
    "ziel",
    "aufgaben",
    "todo",
    "noch zu tun",
    "ausstehend",
];

const ASKS: &[&str] = &[
    "tests laufen",
    "tests aus",
    "tests bestehen ",
    "tests grün",
    "führe die tests",
    "tests ausführen",
    "tests durchlaufen",
    "testsuite",
    "alle tests bestehen",
    "tests durch",
    "führe alle tests",
    "lass die tests",
    "tests müssen",
];

const STEMS: &[&str] = &[
    "erledigt",
    "fertig",
    "abgeschlossen",
    "behoben",
    "beheben",
    "umgesetzt",
    "implementiert",
    "bestand",
    "bestehen",
    "besteht",
    "laufen",
    "läuft",
    "grün",
    "funktionier",
    "erfolgreich",
    "getestet",
    "geprüft",
    "prüf",
    "konnte",
    "fehl",
    "scheiter",
    "gelöst",
    "rückgängig",
    "zurück",
    "nicht ",
    "korrigiert",
    "ausgeführt",
    "verifizier",
    "einsatzbereit",
    "beseitigt",
    "auszuführen",
    "beendet",
    "repariert",
    "gefixt",
    "bereit ",
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
