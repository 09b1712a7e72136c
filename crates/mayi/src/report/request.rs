//! The request to a front end, as JSON.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::carried::carried;
use super::error::{ErrorCode, Names, RequestError};
use super::time::{Exact, time_of_rfc3339};
use crate::access::{AccessResult, SiteFile, Unavailable, Unreachable};
use crate::crawler::{Crawler, CrawlerParts};
use crate::page::{PageControls, PageOptions, PageRules};
use crate::robots_txt::ReadOptions;
use crate::target::Target;

/// One question. Members that are not listed here are an error.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The URL to decide about, absolute.
    #[serde(borrow)]
    pub url: Cow<'a, str>,
    /// The product token of the crawler.
    #[serde(borrow)]
    pub agent: Cow<'a, str>,
    /// The User-Agent string that the crawler sends, to be checked against its tokens.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<Cow<'a, str>>,
    /// What it crawls for: up to [`MOST_CLAIMS`](Self::MOST_CLAIMS) where it is read from JSON.
    #[serde(borrow, default, deserialize_with = "claims", skip_serializing_if = "Vec::is_empty")]
    pub purposes: Vec<Cow<'a, str>>,
    /// The applications that it crawls for: up to as many.
    #[serde(borrow, default, deserialize_with = "claims", skip_serializing_if = "Vec::is_empty")]
    pub apps: Vec<Cow<'a, str>>,
    /// The file, or the result of the request for it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub robots: Option<RobotsInput<'a>>,
    /// What is already known about the page.
    #[serde(
        borrow,
        default,
        deserialize_with = "null_or_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub page: Option<PageInput<'a>>,
    /// The dialect to read the file in; `rfc9309` if there is none.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Cow<'a, str>>,
    /// Whether a crawler's own entry of a structured Robots-Tag is combined with the global one (TAG-4).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub union: bool,
    /// Whether only registered purposes are accepted (PUR-2).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub registered_purposes_only: bool,
    /// The time for which the answer is computed: for rules with a date, and for freshness (TAG-11).
    #[serde(
        default,
        deserialize_with = "time",
        serialize_with = "write_time",
        skip_serializing_if = "Option::is_none"
    )]
    pub now: Option<SystemTime>,
    /// Whether to include an explanation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explain: bool,
}

impl<'a> Request<'a> {
    /// How many purposes, and how many applications, a request in JSON may have. Each is searched for in the
    /// whole file, so an answer can cost their number times the size of the file.
    ///
    /// ```
    /// use mayi::report::Request;
    ///
    /// let with = |count| {
    ///     let apps = vec!["\"a\""; count].join(",");
    ///     format!(r#"{{"url": "https://example.com/", "agent": "a", "apps": [{apps}]}}"#)
    /// };
    /// assert!(Request::from_json(with(Request::MOST_CLAIMS).as_bytes()).is_ok());
    /// assert!(Request::from_json(with(Request::MOST_CLAIMS + 1).as_bytes()).is_err());
    /// ```
    pub const MOST_CLAIMS: usize = 100;

    /// A question about a URL by a crawler; set the other members as needed.
    pub fn new(url: &'a str, agent: &'a str) -> Self {
        Self {
            url: Cow::Borrowed(url),
            agent: Cow::Borrowed(agent),
            user_agent: None,
            purposes: Vec::new(),
            apps: Vec::new(),
            robots: None,
            page: None,
            dialect: None,
            union: false,
            registered_purposes_only: false,
            now: None,
            explain: false,
        }
    }

    /// Sets the time of the request, if it has none and the answer may depend on it: only rules of pages have
    /// dates. The core has no clock; a front end has.
    pub fn complete_now(&mut self, clock: impl FnOnce() -> SystemTime) {
        if self.now.is_none() && self.page.is_some() {
            self.now = Some(clock());
        }
    }

    /// Reads a request from JSON text.
    ///
    /// ```
    /// use mayi::report::{ErrorCode, Request};
    ///
    /// let error = Request::from_json(br#"{"url": "https://example.com/", "bot": "x"}"#).unwrap_err();
    /// assert_eq!(error.code(), ErrorCode::InvalidRequest);
    /// assert!(error.to_string().contains("unknown field `bot`"));
    /// ```
    ///
    /// # Errors
    /// When it is not JSON, or not a request.
    pub fn from_json(json: &'a [u8]) -> Result<Self, RequestError> {
        Self::read(json).map_err(|error| error.naming(Names::read(json)))
    }

    fn read(json: &'a [u8]) -> Result<Self, RequestError> {
        let wrong = |error: serde_json::Error| {
            let code = match error.classify() {
                serde_json::error::Category::Data => ErrorCode::InvalidRequest,
                _ => ErrorCode::InvalidJson,
            };
            RequestError::new(code, error)
        };
        if json.trim_ascii_start().first() == Some(&b'{') {
            if let Some((text, rest)) = carried(json)
                && let Ok(request) = serde_json::from_slice::<Request<'_>>(&rest)
            {
                let robots = Some(RobotsInput::Text(Cow::Owned(text)));
                return Ok(Request { robots, ..request.into_owned() });
            }
            return serde_json::from_slice(json).map_err(wrong);
        }
        serde_json::from_slice::<de::IgnoredAny>(json).map_err(wrong)?;
        let message = "a request is a JSON object with at least `url` and `agent`";
        Err(RequestError::new(ErrorCode::InvalidRequest, message))
    }

    /// The same without what it borrows.
    pub fn into_owned(self) -> Request<'static> {
        let list = |words: Vec<Cow<'_, str>>| words.into_iter().map(owned).collect();
        Request {
            url: owned(self.url),
            agent: owned(self.agent),
            user_agent: self.user_agent.map(owned),
            purposes: list(self.purposes),
            apps: list(self.apps),
            robots: self.robots.map(RobotsInput::into_owned),
            page: self.page.map(|page| PageInput {
                headers: page
                    .headers
                    .into_iter()
                    .map(|(name, value)| (owned(name), owned(value)))
                    .collect(),
                html: page.html.map(|html| match html {
                    HtmlInput::Text(text) => HtmlInput::Text(owned(text)),
                    HtmlInput::Octets(octets) => HtmlInput::Octets(octets),
                }),
            }),
            dialect: self.dialect.map(owned),
            explain: self.explain,
            union: self.union,
            registered_purposes_only: self.registered_purposes_only,
            now: self.now,
        }
    }

    /// The crawler, with all that the request says of it.
    ///
    /// # Errors
    /// When one of those is not what it should be.
    pub fn crawler(&self) -> Result<Crawler, RequestError> {
        Ok(Crawler::of_parts(self.parts())?)
    }

    /// All that is said of the crawler.
    pub fn parts(&self) -> CrawlerParts<'_, Cow<'a, str>> {
        CrawlerParts {
            product_token: &self.agent,
            purposes: &self.purposes,
            registered_purposes_only: self.registered_purposes_only,
            applications: &self.apps,
            user_agent: self.user_agent.as_deref(),
        }
    }

    /// The header fields of the response.
    pub(super) fn fields(&self) -> Vec<(&str, &str)> {
        let fields = self.page.iter().flat_map(|page| &page.headers);
        fields.map(|(name, value)| (&**name, &**value)).collect()
    }

    /// The page rules that apply to the crawler, if the request has a page.
    pub(super) fn page_rules(
        &self,
        fields: &[(&str, &str)],
        crawler: &Crawler,
        mut options: PageOptions,
    ) -> Option<PageRules> {
        options.union |= self.union;
        options.now = self.now.or(options.now);
        let html = self.page.as_ref()?.html.as_ref();
        Some(HtmlInput::controls(html, fields, options).for_crawler(crawler))
    }

    /// An error of this request, with what it is about.
    pub(super) fn wrong(&self, error: RequestError) -> RequestError {
        error.about(&self.url, &self.agent)
    }

    pub(super) fn target(&self) -> Result<Target<'_>, RequestError> {
        Target::parse(&self.url).map_err(RequestError::from)
    }
}

pub(super) fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

impl Names {
    /// What a text names that is not a request: its members are read in turn, up to where they can't be.
    fn read(json: &[u8]) -> Self {
        let mut names = Self::default();
        let mut reader = serde_json::Deserializer::from_slice(json);
        // What is wrong with it is known already.
        let _ = reader.deserialize_map(NamesVisitor(&mut names));
        names
    }
}

struct NamesVisitor<'n>(&'n mut Names);

/// The value of a member: a text, or something else.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Named {
    Text(String),
    Other(de::IgnoredAny),
}

impl<'de> Visitor<'de> for NamesVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            let member = match &*name {
                "url" => &mut self.0.url,
                "agent" => &mut self.0.agent,
                _ => {
                    map.next_value::<de::IgnoredAny>()?;
                    continue;
                }
            };
            if let (Named::Text(text), None) = (map.next_value()?, &member) {
                *member = Some(text);
            }
        }
        Ok(())
    }
}

/// A time of RFC 3339, or null.
fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SystemTime>, D::Error> {
    let Some(text) = Option::<Cow<'_, str>>::deserialize(deserializer)? else { return Ok(None) };
    let time = time_of_rfc3339(&text).ok_or_else(|| {
        let text: String = text.chars().take(64).flat_map(char::escape_debug).collect();
        de::Error::custom(format_args!(
            "`now` has to be a time of RFC 3339, such as `2026-11-15T13:00:00Z`; `{text}` is not one"
        ))
    })?;
    Ok(Some(time))
}

/// The same, as it was given.
// The signature is serde's.
#[allow(clippy::ref_option)]
fn write_time<S: Serializer>(time: &Option<SystemTime>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(Exact).serialize(serializer)
}

/// How many header fields a response may have; servers let far fewer through.
const MOST_FIELDS: usize = 10_000;

fn claims<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_any(Few { most: Request::MOST_CLAIMS, of: PhantomData })
}

fn fields<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_seq(Few { most: MOST_FIELDS, of: PhantomData })
}

/// A list with a bound, or null, which is an empty one.
struct Few<T> {
    most: usize,
    of: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Few<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {}", self.most)
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut few = Vec::new();
        while let Some(item) = items.next_element()? {
            if few.len() == self.most {
                return Err(de::Error::custom(format_args!(
                    "the list has more than {} members",
                    self.most
                )));
            }
            few.push(item);
        }
        Ok(few)
    }
}

/// An object that may be null, and nothing else: a list of its members is not one.
fn null_or_object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    match Option::<TextOrObject<'_, T>>::deserialize(deserializer)? {
        None => Ok(None),
        Some(TextOrObject::Object(object)) => Ok(Some(object)),
        Some(TextOrObject::Text(_)) => {
            Err(de::Error::custom("`page` has to be an object with `headers` and `html`"))
        }
    }
}

/// A response that was already received.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PageInput<'a> {
    /// Its header fields, in order.
    #[serde(borrow, default, deserialize_with = "fields")]
    pub headers: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// Its HTML, or as much of it as there is.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub html: Option<HtmlInput<'a>>,
}

/// The HTML of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HtmlInput<'a> {
    /// Its text: a JSON string.
    Text(Cow<'a, str>),
    /// Its octets: `{"base64": "…"}`.
    Octets(Vec<u8>),
}

impl HtmlInput<'_> {
    /// The page controls of a response with these header fields and, if it is known, this HTML.
    pub fn controls(
        html: Option<&Self>,
        fields: &[(&str, &str)],
        options: PageOptions,
    ) -> PageControls {
        match html {
            Some(Self::Text(text)) => PageControls::read_text(fields, text, options),
            Some(Self::Octets(octets)) => PageControls::read_with(fields, octets, options),
            None => PageControls::read_with(fields, b"", options),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for HtmlInput<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let input = TextOrObject::<Base64Octets>::deserialize(deserializer)?;
        Ok(match input {
            TextOrObject::Text(text) => Self::Text(text),
            TextOrObject::Object(octets) => Self::Octets(decode_base64("page.html", &octets.base64)?),
        })
    }
}

impl Serialize for HtmlInput<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Octets(octets) => {
                Base64Octets { base64: STANDARD.encode(octets) }.serialize(serializer)
            }
        }
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Base64Octets {
    base64: String,
}

fn decode_base64<E: de::Error>(member: &str, base64: &str) -> Result<Vec<u8>, E> {
    STANDARD
        .decode(base64)
        .map_err(|error| E::custom(format_args!("`{member}.base64` is not base64: {error}")))
}

/// The file that a request is about.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RobotsInput<'a> {
    /// Its text: a JSON string.
    Text(Cow<'a, str>),
    /// Its octets: `{"base64": "…", "charset": "iso-8859-1"}`.
    Octets {
        /// The octets.
        octets: Vec<u8>,
        /// The charset that came with them.
        charset: Option<String>,
    },
    /// No file, because the fetch ended in another way: `{"status": 503}` or `{"error": "timeout"}`.
    Ended(AccessResult),
}

impl RobotsInput<'_> {
    /// The file, read with these options, or why there is none.
    ///
    /// # Errors
    /// When the status says that there is a file, but the file is not given.
    pub fn site_file(&self, options: &ReadOptions) -> Result<SiteFile<'_>, RequestError> {
        match self {
            Self::Text(text) => Ok(SiteFile::read(text.as_bytes(), options)),
            Self::Octets { octets, charset: None } => Ok(SiteFile::read(&**octets, options)),
            Self::Octets { octets, charset: Some(charset) } => {
                Ok(SiteFile::read(&**octets, &options.clone().with_charset(charset)))
            }
            Self::Ended(result) => SiteFile::ended(result.clone(), options).ok_or_else(|| {
                let message = "a successful status needs the file: give its text as `robots`";
                RequestError::new(ErrorCode::InvalidRobots, message)
            }),
        }
    }

    /// The same without what it borrows.
    pub fn into_owned(self) -> RobotsInput<'static> {
        match self {
            Self::Text(text) => RobotsInput::Text(owned(text)),
            Self::Octets { octets, charset } => RobotsInput::Octets { octets, charset },
            Self::Ended(result) => RobotsInput::Ended(result),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RobotsInput<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match TextOrObject::<RobotsObject>::deserialize(deserializer)? {
            TextOrObject::Text(text) => Ok(Self::Text(text)),
            TextOrObject::Object(object) => object.input(),
        }
    }
}

impl Serialize for RobotsInput<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let object = match self {
            Self::Text(text) => return serializer.serialize_str(text),
            Self::Octets { octets, charset } => RobotsObject {
                base64: Some(STANDARD.encode(octets)),
                charset: charset.clone(),
                ..RobotsObject::default()
            },
            Self::Ended(result) => RobotsObject::of_result(result),
        };
        object.serialize(serializer)
    }
}

#[derive(Default, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RobotsObject {
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    charset: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl RobotsObject {
    /// The status or the error that leads to a result. If a request has no word for it, one with the same
    /// decision is written.
    fn of_result(result: &AccessResult) -> Self {
        let of_status = |status: u16| Self { status: Some(status.into()), ..Self::default() };
        let of_error = |error: &str| Self { error: Some(error.to_owned()), ..Self::default() };
        let (object, is_same) = match result {
            AccessResult::Successful => (of_status(200), true),
            AccessResult::Unavailable(Unavailable::Status(status))
            | AccessResult::Unreachable(Unreachable::Status(status)) => {
                let has_digits = (100..=999).contains(status);
                (of_status(*status), has_digits && AccessResult::of_status(*status) == *result)
            }
            AccessResult::Unavailable(Unavailable::TooManyRedirects) => {
                (of_error("too-many-redirects"), true)
            }
            AccessResult::Unavailable(Unavailable::RedirectLoop) => (of_error("redirect-loop"), true),
            AccessResult::Unreachable(Unreachable::Network(error)) => {
                (of_error(error), AccessResult::of_error(error) == *result)
            }
            AccessResult::Unavailable(_) => (of_status(404), true),
        };
        match result {
            _ if is_same => object,
            AccessResult::Unreachable(_) => of_error(&result.to_string()),
            _ => of_status(404),
        }
    }

    fn input<'a, E: de::Error>(self) -> Result<RobotsInput<'a>, E> {
        match self {
            Self { base64: Some(base64), charset, status: None, error: None } => {
                let octets = decode_base64("robots", &base64)?;
                Ok(RobotsInput::Octets { octets, charset })
            }
            Self { base64: None, charset: None, status: Some(status), error: None } => {
                let status = u16::try_from(status).ok().filter(|status| (100..=999).contains(status));
                let status = status.ok_or_else(|| {
                    E::custom("`robots.status` is not an HTTP status: it has three digits")
                })?;
                Ok(RobotsInput::Ended(AccessResult::of_status(status)))
            }
            Self { base64: None, charset: None, status: None, error: Some(error) } => {
                Ok(RobotsInput::Ended(AccessResult::of_error(&error)))
            }
            _ => Err(E::custom(
                "`robots` takes exactly one of `base64` (with or without `charset`), `status`, `error`",
            )),
        }
    }
}

/// A member that is a string or an object; the string is borrowed where it can be.
enum TextOrObject<'a, T> {
    Text(Cow<'a, str>),
    Object(T),
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for TextOrObject<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrObjectVisitor(PhantomData))
    }
}

struct TextOrObjectVisitor<'a, T>(PhantomData<(&'a (), T)>);

impl<'de: 'a, 'a, T: Deserialize<'de>> Visitor<'de> for TextOrObjectVisitor<'a, T> {
    type Value = TextOrObject<'a, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string with the text, or an object such as {\"base64\": \"…\"}")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(TextOrObject::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Self::Value, E> {
        Ok(TextOrObject::Text(Cow::Owned(text)))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(de::value::MapAccessDeserializer::new(map)).map(TextOrObject::Object)
    }
}
