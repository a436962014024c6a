//! JSON Schema and regular expressions beyond the files of cases: refusals, and sentences held against the schema.

use std::sync::Arc;

use fairhand::ErrorKind;
use fairhand::error::Detail;
use fairhand::grammar::{Constraint, Grammar, json_schema_to_gbnf};
use serde_json::{Value, json};

use super::judge::{Outcome, World, judge_schema};
use super::library::sample;
use super::random::Choices;

fn data(text: &str) -> Vec<Value> {
    serde_json::from_str(text).unwrap()
}

#[test]
fn more_cases() {
    let world = World::new();
    for case in data(include_str!("../data/grammar/schema_more_cases.json")) {
        assert_eq!(judge_schema(&world, &case), Outcome::Passed, "{}", case["name"]);
    }
}

#[test]
fn what_cannot_be_exact_is_refused_with_its_path() {
    for case in data(include_str!("../data/grammar/schema_refused.json")) {
        let error = Grammar::from_json_schema(&case["schema"]).map_err(|error| (error.kind(), error.detail().cloned()));
        let Err((kind, Some(Detail::Path { path }))) = error else { panic!("{case}: {error:?}") };
        assert_eq!(kind, ErrorKind::InvalidSchema, "{case}");
        assert_eq!(path, case["path"].as_str().unwrap(), "{case}");
    }
}

#[test]
fn depth_is_bounded() {
    let mut deep = json!({ "type": "null" });
    for _ in 0..200 {
        deep = json!({ "items": deep, "type": "array" });
    }
    assert_eq!(Grammar::from_json_schema(&deep).unwrap_err().kind(), ErrorKind::InvalidSchema);
    let wide: serde_json::Map<String, Value> = (0..300).map(|i| (format!("p{i}"), json!({ "type": "null" }))).collect();
    let wide = Grammar::from_json_schema(&json!({ "type": "object", "properties": wide })).unwrap();
    assert!(wide.matches(b"{\"p0\": null, \"p299\": null}") && !wide.matches(b"{\"p1\": null, \"p0\": null}"));
}

/// Choices in one another multiply, and patterns with counts, too: what is too much is refused, soon.
#[test]
fn choices_are_bounded() {
    let either = |i: usize| json!({ "anyOf": [{ "minLength": i }, { "maximum": i }] });
    let many = json!({ "allOf": (0..16).map(either).collect::<Vec<_>>() });
    assert_eq!(Grammar::from_json_schema(&many).unwrap_err().kind(), ErrorKind::InvalidSchema);

    // They double with each name, or are as many as pairs: refused before they are made.
    let next = |i: usize| (format!("p{i}"), json!([format!("p{}", (i + 1) % 40)]));
    let dependent: serde_json::Map<String, Value> = (0..40).map(next).collect();
    let bounds = |key: &str| json!({ "anyOf": (0..1000).map(|i| json!({ key: i })).collect::<Vec<_>>() });
    let names: Vec<String> = (0..20_000).map(|i| format!("p{i}")).collect();
    for many in [
        json!({ "type": "object", "dependentRequired": dependent }),
        json!({ "allOf": [bounds("minimum"), bounds("maximum"), bounds("minLength")] }),
        json!({ "allOf": [bounds("minimum"), { "not": { "required": names } }] }),
        json!({ "oneOf": (0..20_000).map(|i| json!({ "const": i })).collect::<Vec<_>>() }),
    ] {
        let error = Grammar::from_json_schema(&many).unwrap_err();
        assert!(error.message().contains("too many choices"), "{error}");
    }

    let branch = |i: usize| {
        let nested = json!({ "type": "array", "items": { "$ref": "#" } });
        json!({ "type": "object", "properties": { "kind": { "const": i }, "of": nested }, "required": ["kind"] })
    };
    let kinds = json!({ "oneOf": (0..40).map(branch).collect::<Vec<_>>() });
    let grammar = Grammar::from_json_schema(&kinds).unwrap();
    assert!(grammar.matches(br#"{"kind": 39, "of": [{"kind": 0}]}"#) && !grammar.begins(br#"{"kind": 40"#));

    let mut nested = json!({ "type": "null" });
    for i in 0..30 {
        nested = json!({ "oneOf": [{ "type": "array", "items": nested }, { "const": i }] });
    }
    assert!(Grammar::from_json_schema(&nested).unwrap().matches(b"[[27]]"));
    let long = json!({ "type": "string", "pattern": "^(a|b)*a(a|b){12}$", "maxLength": 1000 });
    assert_eq!(Grammar::from_json_schema(&long).unwrap_err().kind(), ErrorKind::InvalidSchema);
}

/// Whether a value is valid: the words of the specification, for the keywords of the schemas below.
fn valid(root: &Value, schema: &Value, value: &Value) -> bool {
    let Value::Object(keywords) = schema else { return schema == &Value::Bool(true) };
    let number = value.as_f64();
    let length = value.as_str().map(|text| text.chars().count() as u64);
    let items = value.as_array();
    keywords.iter().all(|(key, of)| match key.as_str() {
        "$ref" => {
            let pointer = of.as_str().unwrap().trim_start_matches('#').replace("%25", "%");
            // Names of schemas are known by the cases alone.
            root.pointer(&pointer).is_none_or(|target| valid(root, target, value))
        }
        "type" => {
            let is = |name: &Value| match name.as_str().unwrap() {
                "integer" => number.is_some_and(|number| number.fract() == 0.0),
                "number" => value.is_number(),
                "string" => value.is_string(),
                "array" => value.is_array(),
                "object" => value.is_object(),
                "boolean" => value.is_boolean(),
                _ => value.is_null(),
            };
            of.as_array().map_or_else(|| is(of), |names| names.iter().any(is))
        }
        "enum" => of.as_array().unwrap().contains(value),
        "const" => of == value,
        // What a pattern matches is judged by the cases alone.
        "not" => of.get("pattern").is_some() || !valid(root, of, value),
        "if" => {
            let next = if valid(root, of, value) { "then" } else { "else" };
            keywords.get(next).is_none_or(|of| valid(root, of, value))
        }
        "contains" => items.is_none_or(|items| items.iter().any(|item| valid(root, of, item))),
        "propertyNames" => value
            .as_object()
            .is_none_or(|members| members.keys().all(|name| valid(root, of, &Value::from(name.as_str())))),
        "minProperties" => value.as_object().is_none_or(|members| members.len() as u64 >= of.as_u64().unwrap()),
        "maxProperties" => value.as_object().is_none_or(|members| members.len() as u64 <= of.as_u64().unwrap()),
        "dependentRequired" => value.as_object().is_none_or(|members| {
            of.as_object().unwrap().iter().all(|(name, needed)| {
                let mut needed = needed.as_array().unwrap().iter();
                !members.contains_key(name) || needed.all(|name| members.contains_key(name.as_str().unwrap()))
            })
        }),
        "dependentSchemas" => value.as_object().is_none_or(|members| {
            of.as_object().unwrap().iter().all(|(name, of)| !members.contains_key(name) || valid(root, of, value))
        }),
        "minimum" => number.is_none_or(|number| number >= of.as_f64().unwrap()),
        "maximum" => number.is_none_or(|number| number <= of.as_f64().unwrap()),
        // In draft 4 these are flags of the bound beside them.
        "exclusiveMinimum" => number.is_none_or(|number| match of {
            Value::Bool(exclusive) => !exclusive || number > keywords["minimum"].as_f64().unwrap(),
            of => number > of.as_f64().unwrap(),
        }),
        "exclusiveMaximum" => number.is_none_or(|number| match of {
            Value::Bool(exclusive) => !exclusive || number < keywords["maximum"].as_f64().unwrap(),
            of => number < of.as_f64().unwrap(),
        }),
        "multipleOf" => number.is_none_or(|number| {
            let times = number / of.as_f64().unwrap();
            (times - times.round()).abs() < 1e-9 * times.abs().max(1.0)
        }),
        "minLength" => length.is_none_or(|length| length >= of.as_u64().unwrap()),
        "maxLength" => length.is_none_or(|length| length <= of.as_u64().unwrap()),
        "minItems" => items.is_none_or(|items| items.len() as u64 >= of.as_u64().unwrap()),
        "maxItems" => items.is_none_or(|items| items.len() as u64 <= of.as_u64().unwrap()),
        "uniqueItems" => items.is_none_or(|items| (1..items.len()).all(|i| !items[..i].contains(&items[i]))),
        "items" if of.is_array() => items.is_none_or(|items| {
            items.iter().zip(of.as_array().unwrap()).all(|(item, schema)| valid(root, schema, item))
        }),
        "items" => {
            let prefix = keywords.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
            items.is_none_or(|items| items.iter().skip(prefix).all(|item| valid(root, of, item)))
        }
        "prefixItems" => {
            let schemas = of.as_array().unwrap();
            items.is_none_or(|items| items.iter().zip(schemas).all(|(item, schema)| valid(root, schema, item)))
        }
        "properties" => value.as_object().is_none_or(|members| {
            of.as_object()
                .unwrap()
                .iter()
                .all(|(name, of)| members.get(name).is_none_or(|value| valid(root, of, value)))
        }),
        "required" => value.as_object().is_none_or(|members| {
            of.as_array().unwrap().iter().all(|name| members.contains_key(name.as_str().unwrap()))
        }),
        "additionalProperties" => value.as_object().is_none_or(|members| {
            let named = |name: &String| {
                // Whether a name matches a pattern is asked of the cases alone.
                let has_patterns = keywords.contains_key("patternProperties");
                has_patterns || keywords.get("properties").is_some_and(|all| all.get(name).is_some())
            };
            members.iter().all(|(name, value)| named(name) || valid(root, of, value))
        }),
        "anyOf" => of.as_array().unwrap().iter().any(|of| valid(root, of, value)),
        "oneOf" => of.as_array().unwrap().iter().filter(|of| valid(root, of, value)).count() == 1,
        "allOf" => of.as_array().unwrap().iter().all(|of| valid(root, of, value)),
        _ => true,
    })
}

/// Sentences made at random, within budgets, parse as JSON and are valid against the schema they come from.
#[test]
fn sentences_are_valid() {
    let world = World::new();
    let files = [
        include_str!("../data/grammar/json_schema_cases.json"),
        include_str!("../data/grammar/schema_more_cases.json"),
    ];
    let mut sampled = 0;
    for case in files.into_iter().flat_map(data) {
        let schema = &case["schema"];
        let grammar = Arc::new(Grammar::parse(&json_schema_to_gbnf(schema).unwrap()).unwrap());
        let mut constraint = Constraint::new(grammar, world.trie.clone()).unwrap();
        let mut choices = Choices(3);
        for spare in 0..40 {
            let output = sample(&mut constraint, &world, &mut choices, spare);
            let text = String::from_utf8_lossy(&output).into_owned();
            match serde_json::from_slice::<Value>(&output) {
                Ok(value) => assert!(valid(schema, schema, &value), "{}: {text}", case["name"]),
                Err(error) => assert!(error.to_string().contains("out of range"), "{}: {error}: {text}", case["name"]),
            }
            sampled += 1;
        }
    }
    assert!(sampled > 3000);
}

#[test]
fn bounds_on_integers_are_exact() {
    let mut choices = Choices(17);
    for _ in 0..150 {
        let mut ends = [0; 2].map(|_| choices.below(4000) as i64 - 2000);
        ends.sort_unstable();
        let [low, high] = ends;
        let schemas = [
            json!({ "type": "integer", "minimum": low, "maximum": high }),
            json!({ "type": "integer", "minimum": low }),
            json!({ "type": "number", "exclusiveMinimum": low as f64 / 8.0, "maximum": high as f64 / 8.0 }),
        ];
        for schema in schemas {
            let Ok(grammar) = Grammar::from_json_schema(&schema) else { continue };
            for _ in 0..200 {
                let integer = choices.below(6000) as i64 - 3000;
                let number = if schema["type"] == "integer" { json!(integer) } else { json!(integer as f64 / 16.0) };
                let text = number.to_string();
                assert_eq!(
                    grammar.matches(text.as_bytes()),
                    valid(&schema, &schema, &number) && text != "-0.0",
                    "{text}: {schema}"
                );
            }
        }
    }
}

#[test]
fn regular_expressions() {
    let cases: [(&str, &[&str], &[&str]); 15] = [
        (r"^a$|^b", &["a", "b"], &["", "ab"]),
        (r"a??b+?c{2,}?", &["bcc", "abbccc"], &["abc", "aabcc"]),
        (r"(?:ab)*(c|(?:d|e)+)?", &["", "ababc", "dee"], &["aba", "cc"]),
        (r"\D\W\S[^\d\s]", &["a!bc", "é😀日x"], &["1!bc", "aabc", "a! c", "a!b1"]),
        (r"[\dx-][a\-z][\]^][^^]", &["5-]a", "xz^b", "--]c"], &["yz^b", "5b]a", "5-]^"]),
        (r"\t\n\r\f\v\0\cJ", &["\t\n\r\u{c}\u{b}\0\n"], &["tnrfv0J"]),
        (r"\uD83D\uDE00[\uD83D\uDE01-😎]", &["😀😁", "😀😎"], &["😀😀", "😀"]),
        (r"a|bc", &["a", "bc"], &["", "ab", "abc"]),
        (r"^\d{1,3}(\.\d+)?$", &["1", "123.45"], &["", "1234", "1.", "a"]),
        (r"[^\s,]+(?:, [^\s,]+)*", &["a", "a, b", "é, 😀"], &["a,b", ", a", ""]),
        (r".*", &["", "abc", "é"], &["a\nb", "\u{2028}"]),
        (r"(?<year>[0-9]{4})?x*?", &["", "2026", "2026xx", "x"], &["202"]),
        (r"\u00e9\x41\u{1F600}\/", &["éA😀/"], &["eA😀/"]),
        (r"[\w.-]+@[\]\\-]", &["a.b-c@]", "x@\\", "x@-"], &["@]", "a@a"]),
        (r"[]|x", &["x"], &[""]),
    ];
    for (pattern, matching, others) in cases {
        let grammar = Grammar::from_regex(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        matching.iter().for_each(|text| assert!(grammar.matches(text.as_bytes()), "{pattern}: {text:?}"));
        others.iter().for_each(|text| assert!(!grammar.matches(text.as_bytes()), "{pattern}: {text:?}"));
    }
    for (pattern, at) in [
        ("(a", 3),
        ("a)", 2),
        ("*a", 1),
        ("a{2", 4),
        ("a{3,2}", 6),
        ("(?=a)", 3),
        (r"\1", 2),
        ("[a", 3),
        ("a^b", 2),
        (r"\p{L}", 2),
        ("(?!a)", 3),
        ("a(?<=b)", 4),
        ("(?<n>a)\\k<n>", 9),
        (r"a\b", 3),
        (r"\B", 2),
        ("a**", 3),
        ("x|*", 3),
        ("a{,2}", 3),
        ("a]", 2),
        ("(^a)", 2),
        (r"\uD83D", 3),
        (r"\x4", 3),
        ("[z-a]", 4),
        (r"[\d-x]", 5),
        ("(?<n", 5),
        ("a\\", 3),
    ] {
        let error = Grammar::from_regex(pattern).expect_err(pattern);
        let Some(Detail::Position { column, .. }) = error.detail() else { panic!("{pattern}: {error:?}") };
        assert_eq!(*column, at, "{pattern}: {error}");
    }
    assert!(Grammar::from_regex(&"(".repeat(100_000)).is_err());
}
