//! Comments, code and strings are told apart.

use super::lines;

/// The code and the comment of each line.
fn parts(text: &str) -> Vec<(String, String)> {
    lines(text).into_iter().map(|line| (line.code, line.comment)).collect()
}

fn one(text: &str) -> (String, String) {
    let mut parts = parts(text);
    assert_eq!(parts.len(), 1, "{parts:?}");
    parts.remove(0)
}

#[test]
fn a_line_comment_ends_with_its_line() {
    let parts = parts("a // one\n/// two\nb");
    let expected = [("a ", "// one"), ("", "/// two"), ("b", "")];
    assert_eq!(parts, expected.map(|(code, comment)| (code.to_owned(), comment.to_owned())));
}

#[test]
fn block_comments_nest_and_span_lines() {
    let parts = parts("a /* x /* y */\nz */ b");
    assert_eq!(parts[0], ("a ".to_owned(), "/* x /* y */".to_owned()));
    assert_eq!(parts[1], (" b".to_owned(), "z */".to_owned()));
}

#[test]
fn strings_hold_neither_code_nor_comments() {
    assert_eq!(one(r#"f("// no \" no"); // yes"#), (r#"f(""); "#.to_owned(), "// yes".to_owned()));
    assert_eq!(one(r#"f("\\"); // yes"#), (r#"f(""); "#.to_owned(), "// yes".to_owned()));
    assert_eq!(one(r###"f(r#"// "no" "#); // yes"###), (r###"f(r#""#); "###.to_owned(), "// yes".to_owned()));
    assert_eq!(one(r#"f(br"\"); // yes"#), (r#"f(br""); "#.to_owned(), "// yes".to_owned()));
}

#[test]
fn a_string_over_several_lines_leaves_their_count() {
    let parts = parts("f(\"\n// no\n\\\n\"); // yes");
    assert_eq!(parts.len(), 4);
    assert_eq!(parts[1], (String::new(), String::new()));
    assert_eq!(parts[3], ("\"); ".to_owned(), "// yes".to_owned()));
}

#[test]
fn quotes_in_characters_and_lifetimes_open_no_string() {
    assert_eq!(one(r#"('"', '\'', '\\', '\u{2605}'); // yes"#).1, "// yes");
    assert_eq!(one("fn f<'a>(x: &'a str) {} // yes").1, "// yes");
    assert_eq!(one("'l: loop { break 'l } // yes").1, "// yes");
}

#[test]
fn a_raw_name_opens_no_string() {
    assert_eq!(one(r#"let r#fn = for_r"x // no"; // yes"#).1, "// yes");
}

#[test]
fn blank_lines_are_told() {
    let blank: Vec<bool> = lines("a\n  \n//\n").iter().map(super::Line::is_blank).collect();
    assert_eq!(blank, [false, true, false, true]);
}
