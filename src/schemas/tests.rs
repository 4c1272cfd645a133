use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::model::{Fit, Shape};

/// What a check says: nothing when it fits, else keyword and pointer, `~` in front when lenient.
fn check(schema: &Value, arguments: &Value) -> String {
    let schema = compile(&schema.to_string()).expect("compiles");
    told(&schema, &arguments.to_string())
}

fn told(schema: &Schema, arguments: &str) -> String {
    match schema.check(arguments, false) {
        (Fit::Fits, None) => String::new(),
        (Fit::Unassessed, None) => "unassessed".to_owned(),
        (Fit::Breaks { lenient }, Some(breach)) => {
            let mark = if lenient { "~" } else { "" };
            format!("{mark}{} {}", breach.keyword, breach.pointer)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a12_types_members_and_bounds() {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1, "maxLength": 4, "pattern": "^never$"},
            "line": {"type": "integer", "minimum": 1, "exclusiveMaximum": 10},
            "mode": {"enum": ["r", "w", 2]},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
            "deep": {"type": "object", "properties": {"a/b": {"type": ["boolean", "null"]}},
                     "required": ["a/b"], "additionalProperties": false},
            "when": {"type": "string", "format": "date-time"},
            "size": {"type": "number"},
            "fixed": {"const": {"a": [1, 2]}}
        },
        "required": ["path"],
        "additionalProperties": false
    });
    for (arguments, expected) in [
        (json!({"path": "a"}), ""),
        (
            json!({"path": "a", "line": 1.0, "size": 3, "when": "soon"}),
            "",
        ),
        (json!({}), "required /path"),
        (json!({"path": null}), "type /path"),
        (json!({"path": ""}), "minLength /path"),
        (json!({"path": "\u{e9}\u{e9}\u{e9}\u{e9}"}), ""),
        (json!({"path": "abcde"}), "maxLength /path"),
        (json!({"path": {}}), "type /path"),
        (json!({"path": 5}), "~type /path"),
        (json!({"path": "a", "line": "1"}), "~type /line"),
        (json!({"path": "a", "line": "one"}), "type /line"),
        (json!({"path": "a", "line": 1.5}), "type /line"),
        (json!({"path": "a", "line": true}), "type /line"),
        (json!({"path": "a", "line": null}), ""),
        (json!({"path": "a", "line": 0}), "minimum /line"),
        (json!({"path": "a", "line": 10}), "exclusiveMaximum /line"),
        (json!({"path": "a", "mode": 2.0}), ""),
        (json!({"path": "a", "mode": "x"}), "enum /mode"),
        (json!({"path": "a", "tags": ["x", "y"]}), ""),
        (json!({"path": "a", "tags": ["x", {}]}), "type /tags/1"),
        (
            json!({"path": "a", "tags": ["x", "y", "z"]}),
            "maxItems /tags",
        ),
        (json!({"path": "a", "tags": "[\"x\"]"}), "~type /tags"),
        (json!({"path": "a", "tags": "a,b"}), "type /tags"),
        (json!({"path": "a", "deep": {"a/b": null}}), ""),
        (
            json!({"path": "a", "deep": {"a/b": "x"}}),
            "type /deep/a~1b",
        ),
        (json!({"path": "a", "deep": {}}), "required /deep/a~1b"),
        (
            json!({"path": "a", "more": 1}),
            "~additionalProperties /more",
        ),
        (json!({"path": "a", "more": 1, "size": "x"}), "type /size"),
        (json!({"path": "a", "fixed": {"a": [1, 2.0]}}), ""),
        (json!({"path": "a", "fixed": {"a": [1]}}), "const /fixed"),
        (json!(["a"]), "unassessed"),
        (json!("a"), "unassessed"),
    ] {
        assert_eq!(check(&schema, &arguments), expected, "{arguments}");
    }
    let schema = compile(&schema.to_string()).unwrap();
    assert_eq!(told(&schema, ""), "required /path");
    assert_eq!(told(&schema, "{\"path\""), "unassessed");
    let (fit, breach) = schema.check("path=a", true);
    assert_eq!(fit, Fit::Breaks { lenient: false });
    assert_eq!(&*breach.unwrap().pointer, "");
}

/// A part with a definition of its own, and a base or a name.
fn part(name: &str, id: &str) -> Value {
    let mut part = json!({"$defs": {"v": {"type": "object"}},
                          "properties": {"a": {"$ref": "#/$defs/v"}}});
    part[name] = json!(id);
    part
}

/// What is added to a schema that makes it one that is not understood.
fn not_understood() -> Vec<(&'static str, Value)> {
    vec![
        (
            "a dialect of its own",
            json!({"$schema": "https://example.com/mine"}),
        ),
        ("no dialect", json!({"$schema": 7})),
        ("a base inside", json!({"allOf": [part("$id", "inner")]})),
        (
            "a base of draft 4",
            json!({"allOf": [part("id", "http://example.com/inner")]}),
        ),
        (
            "an item's base",
            json!({"properties": {"a": {"items": part("$id", "inner")}}}),
        ),
        (
            "a way through a base",
            json!({"properties": {"a": {"$ref": "#/$defs/in/properties/a"}},
                   "$defs": {"in": part("$id", "inner")}}),
        ),
        (
            "a base and a reference at one place",
            json!({"properties": {"a": {"$id": "inner", "$ref": "#/$defs/v"}}}),
        ),
        (
            "a dialect inside",
            json!({"allOf": [{"$schema": "https://example.com/mine"}]}),
        ),
        (
            "an anchor",
            json!({"properties": {"a": {"$ref": "#v"}},
                             "$defs": {"v": {"$anchor": "v", "type": "integer"}}}),
        ),
        (
            "an escape",
            json!({"properties": {"a": {"$ref": "#/$defs/%76"}}}),
        ),
        (
            "another document",
            json!({"properties": {"a": {"$ref": "other.json#/$defs/v"}}}),
        ),
        (
            "its own name",
            json!({"$id": "t", "properties": {"a": {"$ref": "t#/$defs/v"}}}),
        ),
        (
            "a dynamic one",
            json!({"properties": {"a": {"$dynamicRef": "#v"}}}),
        ),
        (
            "a recursive one",
            json!({"properties": {"a": {"$recursiveRef": "#"}}}),
        ),
    ]
}

/// An inner `$id` is a new base: `#/$defs/v` below it is that of the part.
#[test]
fn a12_what_references_mean_is_known_or_not_assessed() {
    let with = |more: Value| {
        let mut schema = json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/v"}},
            "$defs": {"v": {"type": "integer"}},
        });
        let members = schema.as_object_mut().expect("an object");
        members.extend(more.as_object().expect("an object").clone());
        compile(&schema.to_string())
    };
    let breaks = |schema: Option<Schema>| {
        let said = schema.map(|schema| told(&schema, r#"{"a": {}}"#));
        said.is_some_and(|said| said == "type /a")
    };
    assert!(breaks(with(json!({}))));
    assert!(breaks(with(json!({"$id": "https://example.com/tool"}))));
    for dialect in [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    ] {
        assert!(breaks(with(json!({"$schema": dialect}))), "{dialect}");
    }
    for (why, more) in not_understood() {
        assert!(with(more).is_none(), "{why}");
    }
    // A base without references below it, a mere name, and a member that is called so change nothing.
    for more in [
        json!({"allOf": [{"$id": "inner", "type": "object"}]}),
        json!({"allOf": [part("$id", "#inner")], "$defs": {"v": {"type": "integer"}}}),
        json!({"properties": {"a": {"$ref": "#/$defs/v"}, "$id": {"$ref": "#/$defs/v"}}}),
        json!({"allOf": [{"const": {"a": {}}, "$comment": "$ref"}]}),
    ] {
        assert!(breaks(with(more.clone())), "{more}");
    }
}

/// A word that the named dialect does not have is passed over, as validators do.
#[test]
fn a12_words_of_other_dialects() {
    const FOUR: &str = "http://json-schema.org/draft-04/schema#";
    const SEVEN: &str = "http://json-schema.org/draft-07/schema#";
    const NEW: &str = "https://json-schema.org/draft/2020-12/schema";
    for (word, breaking, having) in [
        (
            json!({"prefixItems": [{"type": "integer"}]}),
            json!([{}]),
            [false, false, true],
        ),
        (
            json!({"items": [{"type": "integer"}]}),
            json!([{}]),
            [true, true, false],
        ),
        (json!({"const": 1}), json!({}), [false, true, true]),
        (
            json!({"exclusiveMinimum": 5}),
            json!(5),
            [false, true, true],
        ),
        (
            json!({"minimum": 5, "exclusiveMinimum": true}),
            json!(5),
            [true, false, false],
        ),
    ] {
        let mut dialects = [FOUR, SEVEN, NEW].map(Some).to_vec();
        dialects.push(None);
        for (dialect, has) in dialects.into_iter().zip(having.into_iter().chain([true])) {
            let mut schema = json!({"properties": {"a": word}});
            if let Some(dialect) = dialect {
                schema["$schema"] = json!(dialect);
            }
            let said = check(&schema, &json!({"a": breaking}));
            assert_eq!(!said.is_empty(), has, "{schema}: {said}");
        }
    }
}

#[test]
fn a12_branches_and_references() {
    let optional = json!({"properties": {"a": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}});
    assert_eq!(check(&optional, &json!({"a": null})), "");
    assert_eq!(check(&optional, &json!({"a": "7"})), "~anyOf /a");
    assert_eq!(check(&optional, &json!({"a": "x"})), "anyOf /a");
    let tree = json!({
        "$ref": "#/$defs/node", "type": "array",
        "$defs": {"node": {"type": "object", "required": ["v"], "properties": {
            "v": {"type": "integer"}, "next": {"oneOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}}}
    });
    assert_eq!(
        check(&tree, &json!({"v": 1, "next": {"v": 2, "next": null}})),
        ""
    );
    assert_eq!(
        check(&tree, &json!({"v": 1, "next": {"next": null}})),
        "oneOf /next"
    );
    let both = json!({"allOf": [{"required": ["a"]}, {"required": ["b"]}]});
    assert_eq!(check(&both, &json!({"a": 1})), "required /b");
    let twice = json!({"oneOf": [{"required": ["a"]}, {"required": ["a"]}]});
    assert_eq!(
        check(&twice, &json!({"a": 1})),
        "",
        "more than one may match"
    );
    let tuple = json!({"properties": {"t": {"prefixItems": [{"type": "string"}], "items": false}}});
    assert_eq!(check(&tuple, &json!({"t": ["x", 1]})), "false /t/1");
}

#[test]
fn a12_what_is_not_understood_passes() {
    for schema in [
        json!({}),
        json!({"type": "any"}),
        json!({"type": {"type": "string"}}),
        json!({"path": {"type": "string"}}),
        json!({"type": ["object", "widget"]}),
        json!({"patternProperties": {"^x": {}}, "additionalProperties": false}),
        json!({"not": {}}),
        json!({"if": {}, "then": false}),
        json!({"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": true}}}),
        json!({"enum": []}),
    ] {
        assert_eq!(check(&schema, &json!({"a": null})), "", "{schema}");
    }
    let draft_4 = json!({"properties": {"a": {"minimum": 1, "exclusiveMinimum": true}}});
    assert_eq!(check(&draft_4, &json!({"a": 1})), "minimum /a");
    let defaulted = json!({"required": ["a"], "properties": {"a": {"default": 1}}});
    assert_eq!(check(&defaulted, &json!({})), "~required /a");
}

#[test]
fn a12_what_cannot_be_compiled_is_no_schema() {
    let deep = |levels: usize| {
        let open = r#"{"properties":{"a":"#.repeat(levels);
        format!("{open}{{}}{}", "}}".repeat(levels))
    };
    for text in [
        "",
        "7",
        "true",
        "[]",
        "{\"type\"",
        r#"{"properties": {"a": "string"}}"#,
        r#"{"$ref": "https://example.com/s.json"}"#,
        r#"{"$ref": "other.json#/a"}"#,
        r##"{"$ref": "#/$defs/none"}"##,
        r##"{"$ref": "#anchor"}"##,
        r#"{"$ref": 5}"#,
        r#"{"anyOf": {}}"#,
        &deep(17),
        &format!(r#"{{"description": "{}"}}"#, "x".repeat(TEXT_MAX)),
        &format!("{{\"anyOf\": [{}{{}}]}}", "{},".repeat(NODES_MAX)),
    ] {
        assert!(
            compile(text).is_none(),
            "{}",
            text.get(..60).unwrap_or(text)
        );
    }
    assert!(compile(&deep(16)).is_some());
    let wide = json!({"x".repeat(500): 1}).to_string();
    let strict = compile(r#"{"additionalProperties": false}"#).unwrap();
    let (_, breach) = strict.check(&wide, false);
    assert!(breach.unwrap().pointer.len() <= crate::model::Breach::POINTER_MAX);
}

#[test]
fn a12_schemas_that_would_never_end_are_not_assessed() {
    let recursive = json!({"$ref": "#"});
    assert_eq!(check(&recursive, &json!({})), "unassessed");
    // Every level doubles the work, twice.
    let doubling = json!({
        "anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}],
        "$defs": {"a": {"properties": {"x": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}}, "allOf": [{"required": ["y"]}]}}
    });
    let mut value = json!({});
    for _ in 0..40 {
        value = json!({ "x": value });
    }
    let schema = compile(&doubling.to_string()).unwrap();
    assert_eq!(told(&schema, &value.to_string()), "unassessed");
    let long = json!({"properties": {"a": {"items": {"enum": (0..500).collect::<Vec<_>>()}}}});
    let items = json!({"a": vec![-1; 5000]});
    assert_eq!(check(&long, &items), "enum /a/0");
    let items = json!({"a": vec![499; 5000]});
    assert_eq!(check(&long, &items), "unassessed");
    let huge = format!(r#"{{"a": "{}"}}"#, "x".repeat(ARGUMENTS_MAX));
    assert_eq!(told(&compile("{}").unwrap(), &huge), "unassessed");
}

/// Any JSON, rich in the words of schemas.
fn any_json() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("type"),
        Just("properties"),
        Just("required"),
        Just("items"),
        Just("anyOf"),
        Just("oneOf"),
        Just("allOf"),
        Just("$ref"),
        Just("enum"),
        Just("const"),
        Just("additionalProperties"),
        Just("minimum"),
        Just("maxLength"),
        Just("a"),
        Just("b"),
        Just("prefixItems"),
        Just("default"),
        Just("nullable"),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a~/\u{e9}]{0,3}".prop_map(Value::from),
        prop_oneof![
            Just("#"),
            Just("string"),
            Just("object"),
            Just("#/a"),
            Just("#/properties/a")
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..6).prop_map(|members| {
                members
                    .into_iter()
                    .map(|(k, v)| (k.to_owned(), v))
                    .collect::<Value>()
            }),
        ]
    })
}

proptest! {
    #[test]
    fn a12_any_json_as_schema_and_as_arguments_ends(schema in any_json(), arguments in any_json()) {
        if let Some(schema) = compile(&schema.to_string()) {
            for strict in [false, true] {
                let (fit, breach) = schema.check(&arguments.to_string(), strict);
                prop_assert_eq!(matches!(fit, Fit::Breaks { .. }), breach.is_some());
                prop_assert!(breach.is_none_or(|b| b.pointer.len() <= 123));
            }
        }
    }

    #[test]
    fn a12_any_text_as_schema_and_as_arguments_ends(
        schema in "[{}\\[\\]\":,a$ref#/0-9.e-]{0,40}", arguments in "[{}\\[\\]\":,a0-9.e-]{0,40}",
    ) {
        if let Some(schema) = compile(&schema) {
            schema.check(&arguments, false);
        }
    }
}
