//! What serde says of a value that has not the shape that was expected, without the value: it may be the user's text.

/// `message` without what it quotes of the value. Serde puts a text into double quotes, a name that it does not know into
/// backticks, and `serde_wasm_bindgen` anything else into `JsValue(…)`; what was expected instead is the crate's own and
/// stays.
pub fn without_values(message: &str) -> String {
    let expected = ["`, expected ", "`, there are no "].iter().filter_map(|own| message.rfind(own)).max();
    let said = message.trim_start_matches("Error: ");
    let named = ["unknown field `", "unknown variant `"].iter().find(|own| said.starts_with(**own));
    if let (Some(named), Some(end)) = (named, expected) {
        return format!("{named}…{}", &message[end..]);
    }
    let (start, close) = match (message.find("JsValue("), message.find('"')) {
        (Some(value), quote) if quote.is_none_or(|quote| value < quote) => (value + "JsValue(".len(), ')'),
        (_, Some(quote)) => (quote + 1, '"'),
        _ => return message.to_owned(),
    };
    let end = message.rfind(close).filter(|end| *end >= start).unwrap_or(message.len());
    format!("{}…{}", &message[..start], &message[end..])
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::*;
    use crate::completion::{Profile, PromptDefinition, Request};

    #[test]
    fn values_go_and_what_was_expected_stays() {
        for (message, plain) in [
            ("missing field `text`", "missing field `text`"),
            ("unknown field `sk-1`, expected `id` or `version`", "unknown field `…`, expected `id` or `version`"),
            ("Error: unknown variant `sk-1`, expected `a`", "unknown variant `…`, expected `a`"),
            ("unknown field `a`, expected b`, expected `id`", "unknown field `…`, expected `id`"),
            ("unknown variant `sk-1`, there are no variants", "unknown variant `…`, there are no variants"),
            ("invalid type: string \"my \\\"own\\\" words\", expected u32", "invalid type: string \"…\", expected u32"),
            (
                "invalid type: JsValue(Object({\"a\":\"sk-1\"})), expected a string",
                "invalid type: JsValue(…), expected a string",
            ),
            (
                "invalid type: JsValue(Error: sk-1 (at x)), expected a string",
                "invalid type: JsValue(…), expected a string",
            ),
            ("invalid type: JsValue(cut", "invalid type: JsValue(…"),
            ("invalid type: string \"cut", "invalid type: string \"…"),
        ] {
            assert_eq!(without_values(message), plain);
        }
    }

    #[test]
    fn what_serde_says_of_planted_text_holds_none_of_it() {
        fn fault<T: for<'de> Deserialize<'de>>(value: Value) -> String {
            without_values(&serde_json::from_value::<T>(value).err().expect("refused").to_string())
        }
        let planted = "sk-planted `x`, \"y\" (z)";
        for message in [
            fault::<Request>(json!({ "task": planted })),
            fault::<Request>(json!({ "task": "complete", "prompt": "x", "maxTokens": planted })),
            fault::<Request>(json!({ "task": "complete", "messages": [{ "role": planted, "content": "x" }] })),
            fault::<Request>(json!({ "task": "tagContent", "text": "x", "options": { planted: 1 } })),
            fault::<Request>(json!({ "task": "prompt", "id": "x", "inputs": [{ planted: "x" }] })),
            fault::<Request>(json!({ "task": "prompt", "id": "x", "variables": planted })),
            fault::<PromptDefinition>(json!({ planted: 1 })),
            fault::<PromptDefinition>(json!({ "id": "x", "version": planted })),
            fault::<Profile>(json!({ "name": "x", planted: 1 })),
            fault::<Profile>(json!({ "name": "x", "sampling": { planted: 1 } })),
        ] {
            assert!(!message.contains("planted"), "{message}");
        }
    }
}
