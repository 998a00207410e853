//! Whose a message is, by its content type.

/// How much of a foreign content type a reason shows.
const MAX_SHOWN: usize = 80;

/// The media type of a content type: what stands before the parameters (RFC 9110, section 8.3.1).
fn media_type(content_type: &str) -> &str {
    content_type.split_once(';').map_or(content_type, |(media_type, _)| media_type).trim_ascii()
}

/// Whether `content_type` names one of `ours`. One that names nothing is anybody's.
pub(super) fn is_one_of<'a>(content_type: &str, ours: impl IntoIterator<Item = &'a str>) -> bool {
    let theirs = media_type(content_type);
    theirs.is_empty() || ours.into_iter().any(|ours| theirs.eq_ignore_ascii_case(ours))
}

/// The media type, safe to show: printable ASCII, the rest escaped, cut at 80 characters.
pub(super) fn shown(content_type: &str) -> String {
    let mut escaped = media_type(content_type).chars().flat_map(char::escape_default);
    let mut shown: String = escaped.by_ref().take(MAX_SHOWN).collect();
    if escaped.next().is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_case_and_space_do_not_count() {
        for same in ["a/b", "A/B", " a/b ", "a/b;charset=utf-8", "a/b ; x", "", " ", "; charset=utf-8"] {
            assert!(is_one_of(same, ["a/b"]), "{same}");
        }
        for other in ["a/c", "a/b+x", "a", "a/b x", "\0", "a/bb"] {
            assert!(!is_one_of(other, ["a/b"]), "{other}");
        }
    }

    #[test]
    fn a_hostile_type_is_cut_and_escaped() {
        assert_eq!(shown("a\r\n\u{1b}[31m; x"), "a\\r\\n\\u{1b}[31m");
        assert_eq!(shown("a\u{202e}b"), "a\\u{202e}b");
        let long = shown(&"x".repeat(1_000_000));
        assert_eq!(long, format!("{}…", "x".repeat(MAX_SHOWN)));
        assert_eq!(shown(&"x".repeat(MAX_SHOWN)), "x".repeat(MAX_SHOWN));
    }
}
