//! Arrays of strings in any of their layouts → the string of a row.

use std::fmt;

use arrow_array::cast::AsArray;
use arrow_array::{Array, LargeStringArray, StringArray, StringViewArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

/// An array of strings: Utf8, LargeUtf8, Utf8View, or a dictionary of one of these. Nothing is copied.
#[derive(Debug)]
#[non_exhaustive]
pub enum Texts<'a> {
    /// Offsets of 32 bits.
    Utf8(&'a StringArray),
    /// Offsets of 64 bits.
    Large(&'a LargeStringArray),
    /// Views.
    View(&'a StringViewArray),
    /// Indices into a list of strings.
    Dictionary {
        /// The index of each row's string.
        keys: Vec<usize>,
        /// Which rows have one.
        nulls: Option<&'a NullBuffer>,
        /// The strings.
        values: Box<Texts<'a>>,
    },
    /// This many rows without a string.
    Nothing(usize),
}

impl<'a> Texts<'a> {
    /// The strings of an array.
    ///
    /// # Errors
    /// When it does not contain strings.
    pub fn of(array: &'a dyn Array) -> Result<Self, NotText> {
        let not_text = || NotText(array.data_type().clone());
        Ok(match array.data_type() {
            DataType::Utf8 => Self::Utf8(array.as_string_opt().ok_or_else(not_text)?),
            DataType::LargeUtf8 => Self::Large(array.as_string_opt().ok_or_else(not_text)?),
            DataType::Utf8View => Self::View(array.as_string_view_opt().ok_or_else(not_text)?),
            DataType::Null => Self::Nothing(array.len()),
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary_opt().ok_or_else(not_text)?;
                let values = Self::of(dictionary.values().as_ref()).map_err(|_| not_text())?;
                if values.is_empty() {
                    return Ok(Self::Nothing(array.len()));
                }
                let (keys, nulls) = (dictionary.normalized_keys(), dictionary.keys().nulls());
                Self::Dictionary { keys, nulls, values: Box::new(values) }
            }
            _ => return Err(not_text()),
        })
    }

    /// Whether arrays of a type have strings.
    pub fn are_in(data_type: &DataType) -> bool {
        match data_type {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => true,
            DataType::Dictionary(_, values) => Self::are_in(values),
            _ => false,
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Utf8(array) => array.len(),
            Self::Large(array) => array.len(),
            Self::View(array) => array.len(),
            Self::Dictionary { keys, .. } => keys.len(),
            Self::Nothing(rows) => *rows,
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The string of a row; none if it is null.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn get(&self, row: usize) -> Option<&str> {
        match self {
            Self::Utf8(array) => array.is_valid(row).then(|| array.value(row)),
            Self::Large(array) => array.is_valid(row).then(|| array.value(row)),
            Self::View(array) => array.is_valid(row).then(|| array.value(row)),
            Self::Dictionary { keys, nulls, values } => {
                let is_valid = nulls.is_none_or(|nulls| nulls.is_valid(row));
                if is_valid { values.get(keys[row]) } else { None }
            }
            Self::Nothing(_) => None,
        }
    }
}

/// An array has no strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotText(DataType);

impl fmt::Display for NotText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "it has the type {}, but it must contain strings: Utf8, LargeUtf8, Utf8View or a dictionary \
             of them",
            self.0
        )
    }
}

impl std::error::Error for NotText {}
