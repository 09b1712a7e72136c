//! What the values of a directive mean, as JSON has them: each value as Structured Fields write it, and its
//! meaning.

use std::borrow::Cow;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::Serializer;

use crate::preference::Preference;
use crate::structured::{Value, parse_bare_item};

#[derive(serde::Serialize, serde::Deserialize)]
struct Meaning {
    value: String,
    means: Preference,
}

pub(super) fn serialize<S: Serializer>(
    values: &[(Value, Preference)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let meaning = |(value, means): &_| Meaning { value: Value::to_string(value), means: *means };
    serializer.collect_seq(values.iter().map(meaning))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Cow<'static, [(Value, Preference)]>, D::Error> {
    let meanings = Vec::<Meaning>::deserialize(deserializer)?;
    let value = |meaning: Meaning| {
        let value = parse_bare_item(meaning.value.as_bytes()).ok_or_else(|| {
            let text = meaning.value.escape_debug();
            de::Error::custom(format_args!("`{text}` is not a bare item of RFC 9651"))
        })?;
        Ok((value, meaning.means))
    };
    meanings.into_iter().map(value).collect()
}
