//! `mayi serve`: options, environment variables and a file → the configuration of a service, which then runs.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use mayi_server::{BindError, Config, Server, new_key, start_logging};
use toml::{Table, Value};

use crate::exit::{Exit, Failure};
use crate::fetching;
use crate::input;
use crate::text::shown;

const EXAMPLES: &str = "\
Examples:
  mayi serve
  mayi serve --listen 0.0.0.0:9309 --keys keys.toml --host mayi.example";

/// The long help text after the options.
const MORE: &str = "\
--print-config prints all settings with their defaults. The configuration file is TOML with the same \
settings. Each setting is also an environment variable (limits.in_flight is MAYI_LIMITS_IN_FLIGHT) and \
an option (--set limits.in_flight=100). Options override environment variables, and these override the \
file.

The API is described at /openapi.json. Metrics are at /metrics. The web page is at /.

Exit status: 0 it was stopped and answered all accepted requests, 2 it could not start, or a second \
signal ended it at once.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = MORE)]
// Each of these is an option that people type.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct ServeArgs {
    /// The configuration file
    #[arg(long, value_name = "FILE", env = "MAYI_CONFIG")]
    config: Option<PathBuf>,

    /// The address to listen on; default: 127.0.0.1:9309
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    listen: Option<SocketAddr>,

    /// Listen on an address other than loopback without API keys and TLS
    #[arg(hide_short_help = true, long)]
    listen_openly: bool,

    /// A host name of the service besides its address and localhost, for example mayi.example. Can be
    /// repeated
    #[arg(hide_short_help = true, long = "host", value_name = "NAME")]
    hosts: Vec<String>,

    /// A file with API keys; clients must send one of them. See --new-key
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,

    /// The TLS certificate, in PEM form
    #[arg(hide_short_help = true, long, value_name = "FILE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,

    /// The private key of the certificate, in PEM form
    #[arg(hide_short_help = true, long, value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,

    /// Where fetched files are cached: a path, `memory`, or `redis://host:port` (`rediss` for TLS).
    /// Default: a file in your cache folder
    #[arg(long, value_name = "STORE", env = "MAYI_STORE", hide_env_values = true)]
    store: Option<String>,

    /// The User-Agent header to fetch with. Give a contact, as in
    /// `ExampleBot/1.0 (+https://example.com/bot)`
    #[arg(long, value_name = "STRING", env = "MAYI_FETCH_AS")]
    fetch_as: Option<String>,

    /// Fetch nothing: answer from the cache, even if it is old
    #[arg(long)]
    offline: bool,

    /// Also connect to private, loopback and other special addresses, and to any port
    #[arg(hide_short_help = true, long)]
    allow_private: bool,

    /// Also connect to these special addresses, for example 127.0.0.0/8. Can be repeated
    #[arg(hide_short_help = true, long = "allow-address", value_name = "RANGE")]
    allow_addresses: Vec<String>,

    /// Send traces to this OpenTelemetry collector by OTLP over HTTP, for example http://127.0.0.1:4318.
    /// The environment variable is OTEL_EXPORTER_OTLP_ENDPOINT
    #[arg(hide_short_help = true, long, value_name = "URL")]
    otlp: Option<String>,

    /// Change any setting. Can be repeated
    #[arg(long = "set", value_name = "SETTING=VALUE", value_parser = member)]
    set: Vec<(String, String)>,

    /// Print the settings that would be used, and exit
    #[arg(long)]
    print_config: bool,

    /// Make an API key for a client with this name. The line for the key file is printed on standard
    /// output, the key itself on standard error
    #[arg(hide_short_help = true, long, value_name = "NAME", exclusive = true)]
    new_key: Option<String>,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| "an address and a port are written as 127.0.0.1:9309 or [::1]:9309".to_owned())
}

fn member(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write a setting as `limits.in_flight=100`")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

pub(crate) fn run(serve: &ServeArgs) -> Result<Exit, Failure> {
    if let Some(name) = &serve.new_key {
        let (key, line) = new_key(name);
        // Separate, so that `>>` to the key file does not store the key, which only the client should have.
        writeln!(io::stdout(), "{line}")?;
        anstream::eprintln!("the key, for the client, which is not shown again:\n{key}");
        return Ok(Exit::Allowed);
    }
    let config = configuration(serve, |name| std::env::var(name).ok())?;
    config.check().map_err(Failure::new)?;
    if serve.print_config {
        write!(io::stdout(), "{}", config.to_toml())?;
        return Ok(Exit::Allowed);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format_args!("threads can't be started: {error}")))?;
    let exit = runtime.block_on(listen(config))?;
    // Work on other threads that nobody waits for any more must not delay the exit.
    runtime.shutdown_background();
    Ok(exit)
}

async fn listen(config: Config) -> Result<Exit, Failure> {
    let _log = start_logging(&config.log).map_err(Failure::new)?;
    let store = config.fetch.store.clone();
    let server = Server::bind(config).await.map_err(|error| match &error {
        BindError::Socket(_, why) if why.kind() == io::ErrorKind::AddrInUse => Failure::new(format_args!(
            "{error}: another mayi may already be running there; --listen 127.0.0.1:0 uses any free port"
        )),
        _ => Failure::new(error),
    })?;
    // A program that reads this line may send a signal at once.
    let mut signals = Signals::listen();
    // The person or program that started it reads the address here.
    writeln!(io::stdout(), "mayi listens on {}", server.url())?;
    tracing::info!(url = server.url(), store = without_login(&store), "listening");
    let (end, ends) = tokio::sync::oneshot::channel::<()>();
    let reload = server.reload();
    let mut running = std::pin::pin!(server.run_until(async { drop(ends.await) }));
    loop {
        tokio::select! {
            // It does not end by itself.
            () = &mut running => return Ok(Exit::Allowed),
            word = signals.next() => match word {
                Word::End => break,
                Word::Reload => match reload.reload() {
                    Ok(()) => tracing::info!("keys and certificates were read again"),
                    Err(error) => tracing::error!(%error, "keys and certificates stay as they were"),
                },
            },
        }
    }
    drop(end);
    tracing::info!("shutting down: accepted requests are finished; a second signal ends at once");
    loop {
        tokio::select! {
            () = &mut running => break,
            word = signals.next() => if word == Word::End {
                tracing::warn!("ended at once: unanswered requests are dropped");
                return Ok(Exit::NoAnswer);
            },
        }
    }
    tracing::info!("ended");
    Ok(Exit::Allowed)
}

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    End,
    /// Keys and certificates must be read again.
    Reload,
}

/// The signals of the process.
struct Signals {
    #[cfg(unix)]
    signals: Option<[tokio::signal::unix::Signal; 3]>,
}

impl Signals {
    /// Starts to listen for them.
    fn listen() -> Self {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let heard = |kind: SignalKind| signal(kind).ok();
            let signals = (
                heard(SignalKind::terminate()),
                heard(SignalKind::interrupt()),
                heard(SignalKind::hangup()),
            );
            // On systems without such signals, the process is simply ended.
            let (Some(terminate), Some(interrupt), Some(hangup)) = signals else {
                return Self { signals: None };
            };
            Self { signals: Some([terminate, interrupt, hangup]) }
        }
        #[cfg(not(unix))]
        Self {}
    }

    /// The next one.
    async fn next(&mut self) -> Word {
        #[cfg(unix)]
        match &mut self.signals {
            Some([terminate, interrupt, hangup]) => tokio::select! {
                _ = terminate.recv() => Word::End,
                _ = interrupt.recv() => Word::End,
                _ = hangup.recv() => Word::Reload,
            },
            None => std::future::pending().await,
        }
        #[cfg(not(unix))]
        {
            drop(tokio::signal::ctrl_c().await);
            Word::End
        }
    }
}

/// The name of a store without who logs in to it.
fn without_login(store: &str) -> String {
    match (store.split_once("://"), store.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, hosts))) => format!("{scheme}://{hosts}"),
        _ => store.to_owned(),
    }
}

/// The settings of the file, the environment and the options, in this order: later ones override earlier
/// ones.
fn configuration(
    serve: &ServeArgs,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Config, Failure> {
    let mut table = match &serve.config {
        Some(path) => {
            let mut text = String::new();
            io::Read::read_to_string(&mut input::open(path)?, &mut text)
                .map_err(|error| input::unreadable(path, &error))?;
            let wrong = |error: &dyn std::fmt::Display| {
                Failure::new(format_args!("{}: {error}", input::name(path)))
            };
            // Read once by itself, so that a mistake is shown where it is.
            Config::from_toml(&text).map_err(|error| wrong(&error))?;
            text.parse::<Table>().map_err(|error| wrong(&error))?
        }
        None => Table::new(),
    };
    standard_traces(&mut table, &variable).map_err(Failure::new)?;
    for path in Config::MEMBERS {
        let name = format!("MAYI_{}", path.to_ascii_uppercase().replace('.', "_"));
        // An empty variable counts as not set.
        if let Some(text) = variable(&name).filter(|text| !text.is_empty()) {
            set(&mut table, path, value_of(path, &text))
                .map_err(|why| Failure::new(format_args!("the variable {name}: {why}")))?;
        }
    }
    let word = |path: &'static str, value: Option<Value>| value.map(|value| (path, value));
    let text = |path: &PathBuf| Value::String(path.display().to_string());
    let words = [
        word("listen", serve.listen.map(|listen| Value::String(listen.to_string()))),
        word("listen_openly", serve.listen_openly.then_some(Value::Boolean(true))),
        word("keys", serve.keys.as_ref().map(text)),
        word("tls.certificate", serve.tls_certificate.as_ref().map(text)),
        word("tls.key", serve.tls_key.as_ref().map(text)),
        word("fetch.store", serve.store.clone().map(Value::String)),
        word("fetch.fetch_as", serve.fetch_as.clone().map(Value::String)),
        word("fetch.offline", serve.offline.then_some(Value::Boolean(true))),
        word("fetch.allow_private", serve.allow_private.then_some(Value::Boolean(true))),
        word("fetch.allow_addresses", list_of(&serve.allow_addresses)),
        word("hosts", list_of(&serve.hosts)),
        word("log.traces", serve.otlp.clone().map(Value::String)),
    ];
    for (path, value) in words.into_iter().flatten() {
        set(&mut table, path, value).map_err(Failure::new)?;
    }
    for (path, text) in &serve.set {
        set(&mut table, path, value_of(path, text)).map_err(Failure::new)?;
    }
    let names_store = table.get("fetch").and_then(|fetch| fetch.get("store")).is_some();
    let mut config = Config::from_merged_toml(&table.to_string()).map_err(Failure::new)?;
    if !names_store {
        config.fetch.store = default_store();
    }
    Ok(config)
}

/// A file in the user's cache folder, or memory if there is no such folder. It is not the file of the other
/// commands, because only one process can open a store in a file.
fn default_store() -> String {
    match fetching::store_in_cache("service.store") {
        Ok(path) => path.display().to_string(),
        Err(Failure::Message(message)) => {
            let message = shown(message.as_bytes());
            anstream::eprintln!("mayi: files are cached in memory: {message}");
            "memory".to_owned()
        }
        Err(Failure::BrokenPipe) => "memory".to_owned(),
    }
}

/// The settings of the standard OpenTelemetry variables; our own variables override them.
fn standard_traces(
    table: &mut Table,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<(), String> {
    let said = |name: &str| variable(name).filter(|text| !text.trim().is_empty());
    let is_off = said("OTEL_SDK_DISABLED").is_some_and(|text| text.eq_ignore_ascii_case("true"))
        || said("OTEL_TRACES_EXPORTER").is_some_and(|text| text == "none");
    let whole = said("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    let base = || said("OTEL_EXPORTER_OTLP_ENDPOINT");
    let endpoint =
        whole.or_else(|| base().map(|url| format!("{}/v1/traces", url.trim_end_matches('/'))));
    if let Some(endpoint) = endpoint.filter(|_| !is_off) {
        set(table, "log.traces", Value::String(endpoint))?;
    }
    let headers = said("OTEL_EXPORTER_OTLP_TRACES_HEADERS");
    if let Some(headers) = headers.or_else(|| said("OTEL_EXPORTER_OTLP_HEADERS")) {
        set(table, "log.trace_headers", value_of("log.trace_headers", &headers))?;
    }
    if let Some(name) = said("OTEL_SERVICE_NAME") {
        set(table, "log.service_name", Value::String(name))?;
    }
    Ok(())
}

/// Texts that were given one by one, where there are any.
fn list_of(texts: &[String]) -> Option<Value> {
    let list = || Value::Array(texts.iter().cloned().map(Value::String).collect());
    (!texts.is_empty()).then(list)
}

/// A value as TOML would have it, or as the text that it is; a list also as texts with commas between them.
fn value_of(path: &str, text: &str) -> Value {
    let read = format!("value = {text}").parse::<Table>().ok();
    let read = read.and_then(|mut table| if table.len() == 1 { table.remove("value") } else { None });
    match read {
        // A setting that is a string stays one, even if it looks like a number.
        Some(value) if Config::LISTS.contains(&path) && value.is_array() => value,
        _ if Config::LISTS.contains(&path) => {
            let texts = text.split(',').map(str::trim).filter(|text| !text.is_empty());
            Value::Array(texts.map(|text| Value::String(text.to_owned())).collect())
        }
        Some(value) if !Config::TEXTS.contains(&path) || value.is_str() => value,
        _ => Value::String(text.to_owned()),
    }
}

/// Sets a setting by its path.
fn set(table: &mut Table, path: &str, value: Value) -> Result<(), String> {
    let (first, rest) = match path.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    let Some(rest) = rest else {
        table.insert(first.to_owned(), value);
        return Ok(());
    };
    let inner = table.entry(first).or_insert_with(|| Value::Table(Table::new()));
    match inner {
        Value::Table(inner) => set(inner, rest, value),
        _ => Err(format!("`{}` is not a table", first.escape_debug())),
    }
}
