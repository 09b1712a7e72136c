//! Values of Structured Fields, clauses and product tokens as JSON, in both directions.
//!
//! A value is the JSON value if there is one, or else an object that names its type: `{"token": "y"}`.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use crate::crawler::ProductToken;
use crate::spec::Clause;
use crate::structured::Value;

/// What JSON has no value for.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum Typed<'v> {
    Token(Cow<'v, str>),
    Bytes(Cow<'v, str>),
    Date(i64),
    Display(Cow<'v, str>),
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Boolean(value) => serializer.serialize_bool(*value),
            Self::Integer(value) => serializer.serialize_i64(*value),
            Self::Decimal(value) => serializer.serialize_f64(*value),
            Self::String(value) => serializer.serialize_str(value),
            Self::Token(value) => Typed::Token(Cow::Borrowed(value)).serialize(serializer),
            Self::Bytes(value) => Typed::Bytes(STANDARD.encode(value).into()).serialize(serializer),
            Self::Date(value) => Typed::Date(*value).serialize(serializer),
            Self::Display(value) => Typed::Display(Cow::Borrowed(value)).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(
            untagged,
            expecting = "a value of a directive, such as true, 1, \"text\" or {\"token\": \"y\"}"
        )]
        enum Any {
            Boolean(bool),
            Integer(i64),
            Decimal(f64),
            String(String),
            Typed(Typed<'static>),
        }
        Ok(match Any::deserialize(deserializer)? {
            Any::Boolean(value) => Self::Boolean(value),
            Any::Integer(value) => Self::Integer(value),
            Any::Decimal(value) => Self::Decimal(value),
            Any::String(value) => Self::String(value.into()),
            Any::Typed(Typed::Token(value)) => Self::Token(value.into_owned().into()),
            Any::Typed(Typed::Bytes(value)) => {
                Self::Bytes(STANDARD.decode(&*value).map_err(de::Error::custom)?.into())
            }
            Any::Typed(Typed::Date(value)) => Self::Date(value),
            Any::Typed(Typed::Display(value)) => Self::Display(value.into_owned().into()),
        })
    }
}

impl Serialize for Clause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

impl<'de> Deserialize<'de> for Clause {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = Cow::<'_, str>::deserialize(deserializer)?;
        let unknown = || de::Error::custom(format_args!("no clause is called `{}`", id.escape_debug()));
        Self::named(&id).ok_or_else(unknown)
    }
}

impl Serialize for ProductToken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ProductToken {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let token = Cow::<'_, str>::deserialize(deserializer)?;
        Self::new(&token).map_err(de::Error::custom)
    }
}
