//! JSON.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeSeed;
use serde_json::error::Category;

use super::format::{Format, Wrong, codec};

codec! {
    /// JSON: the default codec, for a person can read it and any language can write it.
    ///
    /// ```
    /// use queue_core::codec::{Codec, Json, Wire};
    /// let (job, mut body) = (("welcome".to_owned(), 7), Vec::new());
    /// Json::new().encode(&job, &mut body)?;
    /// assert_eq!(body, br#"["welcome",7]"#);
    ///
    /// let message = Wire { body: &body.into(), content_type: Some("application/json; charset=utf-8"), kind: None };
    /// let read: (String, i32) = Json::new().decode(message)?;
    /// assert_eq!(read, job);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// The content type is `application/json`, registered by RFC 8259. JSON has no form for bytes (they become an array of
    /// numbers), nor for a number that is not finite (it becomes `null`). The keys of a map must be strings, numbers or booleans.
    Json
}

impl Format for Json {
    const TYPE: &'static str = "application/json";

    fn write<J: Serialize>(job: &J, body: &mut Vec<u8>) -> Result<(), Cow<'static, str>> {
        serde_json::to_writer(body, job).map_err(|error| {
            // A message of the job's own cannot be told from one of the crate's, except by its words.
            let ours = ["key must be a string", "float key must be finite (got NaN or +/-inf)"];
            let said = error.to_string();
            ours.into_iter().find(|ours| *ours == said).unwrap_or("the job refuses to be written").into()
        })
    }

    fn read<'de, S: DeserializeSeed<'de>>(seed: S, body: &'de [u8]) -> Result<S::Value, Wrong> {
        let mut json = serde_json::Deserializer::from_slice(body);
        let job = seed.deserialize(&mut json).map_err(|error| wrong(&error))?;
        json.end().map_err(|_| Wrong::LONG)?;
        Ok(job)
    }
}

fn wrong(error: &serde_json::Error) -> Wrong {
    match error.classify() {
        // The message may show a value.
        Category::Data => Wrong::Job(Some((error.line(), error.column()))),
        Category::Eof => Wrong::SHORT,
        // One of the crate's fixed messages, with line and column.
        Category::Syntax => Wrong::Bytes(error.to_string().into()),
        Category::Io => Wrong::MALFORMED,
    }
}
