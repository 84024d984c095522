//! Text from programs and file names in HTML and XML, made harmless.
//!
//! Whatever a name holds, a reader sees it as it is and a browser never takes it for markup or
//! script. Control characters, and those that reorder what stands around them, are shown by
//! their number: with them a program could look like another.

use serde_json::Value;
use std::fmt::Write;

/// How a character that would be taken for markup is written.
pub fn entity(c: char) -> Option<&'static str> {
    match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        _ => None,
    }
}

/// Text for the content of an element or for a quoted attribute.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match (entity(c), c) {
            (Some(entity), _) => out.push_str(entity),
            (None, '\'') => out.push_str("&#39;"),
            (None, c) => push_visible(&mut out, c),
        }
    }
    out
}

/// A sentence: what stands between backquotes is code.
pub fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escape(text);
    }
    let part = |(at, part): (usize, &&str)| match at % 2 {
        0 => escape(part),
        _ => format!("<code>{}</code>", escape(part)),
    };
    parts.iter().enumerate().map(part).collect()
}

/// JSON for the content of a `script` element: nothing in it can end the element.
pub fn json(value: &Value) -> String {
    let mut out = String::new();
    for c in value.to_string().chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// Text as a reader should see it, not yet escaped.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| push_visible(&mut out, c));
    out
}

fn push_visible(out: &mut String, c: char) {
    let reorders =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}');
    let breaks = matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    if (c.is_control() && !matches!(c, '\n' | '\t')) || reorders || breaks {
        let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
    } else {
        out.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn markup_and_hidden_characters_become_text() {
        assert_eq!(escape("<b a='1' c=\"2\">&"), "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;");
        assert_eq!(escape("a\u{202e}b\0c\td\n"), "a\\u{202e}b\\u{0}c\td\n");
        assert_eq!(visible("<\u{2066}>"), "<\\u{2066}>");
        // XML has no place for these, not even escaped.
        assert_eq!(escape("\u{1b}\u{ffff}"), "\\u{1b}\\u{ffff}");
    }

    #[test]
    fn code_in_sentences_is_escaped_too() {
        assert_eq!(prose("after `a<b`"), "after <code>a&lt;b</code>");
        assert_eq!(prose("one ` is <none>"), "one ` is &lt;none&gt;");
    }

    #[test]
    fn json_cannot_end_its_element_and_reads_back() {
        let value = json!({"</script><!--": "\u{2028}\u{2029}&]]>"});
        let text = json(&value);
        assert!(!text.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("it is JSON"), value);
    }
}
