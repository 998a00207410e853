//! A Rust file, line by line, with code and comments apart.
//!
//! No parser: it knows just enough to tell a comment from a string that looks like one. So source text inside a string, such as a
//! test's example, is neither code nor comment.

/// One line of a Rust file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// The code, without comments and without what is inside string literals.
    pub(super) code: String,
    /// The comments on the line, their slashes and stars included.
    pub(super) comment: String,
}

impl Line {
    /// Whether nothing stands on it.
    pub(super) fn is_blank(&self) -> bool {
        self.code.trim().is_empty() && self.comment.trim().is_empty()
    }
}

/// Takes `text` apart. The lines are in order and none is left out.
pub(super) fn lines(text: &str) -> Vec<Line> {
    let mut reader = Reader { rest: text, before: ' ', inside: Inside::Code, lines: vec![Line::default()] };
    while !reader.rest.is_empty() {
        reader.step();
    }
    reader.lines
}

/// What the next character belongs to.
#[derive(Debug, Clone, Copy)]
enum Inside {
    Code,
    /// From `//` to the end of the line.
    LineComment,
    /// From `/*` to its `*/`, with how many are open: they nest.
    BlockComment(usize),
    /// A string with escapes.
    Text,
    /// A raw string, with how many `#` end it.
    RawText(usize),
}

struct Reader<'a> {
    rest: &'a str,
    /// The character before `rest`.
    before: char,
    inside: Inside,
    lines: Vec<Line>,
}

impl<'a> Reader<'a> {
    fn step(&mut self) {
        if self.rest.starts_with('\n') {
            if matches!(self.inside, Inside::LineComment) {
                self.inside = Inside::Code;
            }
            self.lines.push(Line::default());
            self.skip(1);
            return;
        }
        match self.inside {
            Inside::Code => self.code(),
            Inside::LineComment => self.comment(1),
            Inside::BlockComment(depth) => self.block_comment(depth),
            Inside::Text => self.text(),
            Inside::RawText(hashes) => self.raw_text(hashes),
        }
    }

    fn code(&mut self) {
        if self.rest.starts_with("//") {
            self.inside = Inside::LineComment;
            self.comment(2);
        } else if self.rest.starts_with("/*") {
            self.inside = Inside::BlockComment(1);
            self.comment(2);
        } else if self.rest.starts_with('"') {
            self.inside = Inside::Text;
            self.keep(1);
        } else if let Some(hashes) = self.raw_text_begins() {
            self.inside = Inside::RawText(hashes);
            self.keep(hashes + 2);
        } else if let Some(length) = character_literal(self.rest) {
            self.skip(length);
        } else {
            self.keep(1);
        }
    }

    fn block_comment(&mut self, depth: usize) {
        if self.rest.starts_with("/*") {
            self.inside = Inside::BlockComment(depth + 1);
            self.comment(2);
        } else if self.rest.starts_with("*/") {
            self.inside = if depth == 1 { Inside::Code } else { Inside::BlockComment(depth - 1) };
            self.comment(2);
        } else {
            self.comment(1);
        }
    }

    fn text(&mut self) {
        if self.rest.starts_with('"') {
            self.inside = Inside::Code;
            self.keep(1);
        } else if self.rest.starts_with(r"\\") || self.rest.starts_with("\\\"") {
            self.skip(2);
        } else {
            self.skip(1);
        }
    }

    fn raw_text(&mut self, hashes: usize) {
        let closes = self.rest.strip_prefix('"').is_some_and(|after| starts_with_hashes(after, hashes));
        if closes {
            self.inside = Inside::Code;
            self.keep(hashes + 1);
        } else {
            self.skip(1);
        }
    }

    /// How many `#` the raw string has that begins here: `r"`, `r#"`, and after a `b` or `c` too; `r#name` is none.
    fn raw_text_begins(&self) -> Option<usize> {
        let after = self.rest.strip_prefix('r')?;
        if is_name(self.before) && !matches!(self.before, 'b' | 'c') {
            return None;
        }
        let hashes = after.chars().take_while(|letter| *letter == '#').count();
        after.chars().nth(hashes).filter(|letter| *letter == '"').map(|_| hashes)
    }

    /// Puts the next `count` characters on the line's code.
    fn keep(&mut self, count: usize) {
        let kept = self.skip(count);
        self.line().code.push_str(kept);
    }

    /// Puts the next `count` characters on the line's comment.
    fn comment(&mut self, count: usize) {
        let kept = self.skip(count);
        self.line().comment.push_str(kept);
    }

    /// Goes on by `count` characters and gives them.
    fn skip(&mut self, count: usize) -> &'a str {
        let end = self.rest.char_indices().nth(count).map_or(self.rest.len(), |(at, _)| at);
        let (skipped, rest) = self.rest.split_at(end);
        self.rest = rest;
        self.before = skipped.chars().next_back().unwrap_or(self.before);
        skipped
    }

    #[expect(clippy::expect_used, reason = "the list begins with one line and only grows")]
    fn line(&mut self) -> &mut Line {
        self.lines.last_mut().expect("a line")
    }
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn starts_with_hashes(text: &str, count: usize) -> bool {
    text.chars().take(count).filter(|letter| *letter == '#').count() == count
}

/// How many characters the character literal has that `text` begins with; a lifetime is none.
fn character_literal(text: &str) -> Option<usize> {
    let mut letters = text.strip_prefix('\'')?.chars();
    if letters.next()? != '\\' {
        return (letters.next()? == '\'').then_some(3);
    }
    // An escape: the quote that may follow the backslash does not end it.
    letters.next()?;
    letters.position(|letter| letter == '\'').map(|between| between + 4)
}

#[cfg(test)]
mod tests;
