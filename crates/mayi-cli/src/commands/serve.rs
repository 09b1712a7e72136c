//! `mayi serve`: the words, the environment and a file → the configuration of a service, which runs.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use mayi_server::{Config, Server, new_key, start_logging};
use toml::{Table, Value};

use crate::exit::{Exit, Failure};
use crate::fetching;
use crate::input;
use crate::text::shown;

#[derive(Debug, Args)]
#[command(after_help = "\
What is not said holds as --print-config prints it. The file is TOML with the same members; each of them is
also a variable of the environment, limits.in_flight as MAYI_LIMITS_IN_FLIGHT, and a word, as
--set limits.in_flight=100. Words go before the environment, the environment before the file.

The interface is described at /openapi.json, numbers are at /metrics, a page for people is at /.

Exit status: 0 it was asked to end, and what it had accepted is answered, 2 it could not start.")]
// Words are what people type, and each of these is one.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct ServeArgs {
    /// A file with the configuration
    #[arg(long, value_name = "FILE", env = "MAYI_CONFIG")]
    config: Option<PathBuf>,

    /// Where to listen; 127.0.0.1:9309 where nothing is said
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,

    /// Listen where other machines can ask, with neither keys nor TLS
    #[arg(long)]
    listen_openly: bool,

    /// A file of keys, one of which a client has to send; see --new-key
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,

    /// The certificate to speak TLS with, in PEM form
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,

    /// Its key, in PEM form
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,

    /// Where fetched files are kept: a path, `memory`, or `redis://host:port` (`rediss` for TLS); a file
    /// in the user's cache folder where nothing is said
    #[arg(long, value_name = "STORE", env = "MAYI_STORE", hide_env_values = true)]
    store: Option<String>,

    /// The User-Agent string to fetch with; it should have a contact, as
    /// `ExampleBot/1.0 (+https://example.com/bot)`
    #[arg(long, value_name = "STRING", env = "MAYI_FETCH_AS")]
    fetch_as: Option<String>,

    /// Ask no server: answer from what is kept, however old it is
    #[arg(long)]
    offline: bool,

    /// Connect to private, loopback and other special addresses too, and to any port
    #[arg(long)]
    allow_private: bool,

    /// Connect to these special addresses too, e.g. 127.0.0.0/8; may be given several times
    #[arg(long = "allow-address", value_name = "RANGE")]
    allow_addresses: Vec<String>,

    /// Set any member of the configuration; may be given several times
    #[arg(long = "set", value_name = "MEMBER=VALUE", value_parser = member)]
    set: Vec<(String, String)>,

    /// Print the configuration that would hold, and end
    #[arg(long)]
    print_config: bool,

    /// Print a new key for a client of this name and its line for the file of keys, and end
    #[arg(long, value_name = "NAME", exclusive = true)]
    new_key: Option<String>,
}

fn member(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("a member is set as `limits.in_flight=100`")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

pub(crate) fn run(serve: &ServeArgs) -> Result<Exit, Failure> {
    if let Some(name) = &serve.new_key {
        let (key, line) = new_key(name);
        writeln!(io::stdout(), "# the key, for the client:\n# {key}\n{line}")?;
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
        .map_err(|error| Failure::new(format_args!("no threads are to be had: {error}")))?;
    runtime.block_on(listen(config))?;
    Ok(Exit::Allowed)
}

async fn listen(config: Config) -> Result<(), Failure> {
    let _flush = start_logging(&config.log).map_err(Failure::new)?;
    let store = config.fetch.store.clone();
    let server = Server::bind(config).await.map_err(Failure::new)?;
    // Whoever reads that it listens may ask it to end at once.
    let told_to_end = told_to_end();
    // Whoever started it, a person or a program, reads here where it is.
    writeln!(io::stdout(), "mayi listens on {}", server.url())?;
    tracing::info!(url = server.url(), store = without_login(&store), "listening");
    server.run_until(told_to_end).await;
    tracing::info!("ended");
    Ok(())
}

/// Listens from now on for whoever asks the process to end; done when somebody does.
fn told_to_end() -> impl Future<Output = ()> {
    #[cfg(unix)]
    let terminate = {
        use tokio::signal::unix::{SignalKind, signal};
        // Where the system gives no such signals, the process is ended without a word, as any other.
        let (terminate, interrupt) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
        async move {
            match (terminate, interrupt) {
                (Ok(mut terminate), Ok(mut interrupt)) => {
                    tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
                }
                _ => std::future::pending().await,
            }
        }
    };
    #[cfg(not(unix))]
    let terminate = async { drop(tokio::signal::ctrl_c().await) };
    terminate
}

/// The name of a store without who logs in to it.
fn without_login(store: &str) -> String {
    match (store.split_once("://"), store.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, hosts))) => format!("{scheme}://{hosts}"),
        _ => store.to_owned(),
    }
}

/// What the file, the environment and the words say, in this order: later ones go before earlier ones.
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
    for path in Config::MEMBERS {
        let name = format!("MAYI_{}", path.to_ascii_uppercase().replace('.', "_"));
        // Set to nothing is as good as not set.
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
    ];
    for (path, value) in words.into_iter().flatten() {
        set(&mut table, path, value).map_err(Failure::new)?;
    }
    if !serve.allow_addresses.is_empty() {
        let ranges = serve.allow_addresses.iter().cloned().map(Value::String).collect();
        set(&mut table, "fetch.allow_addresses", Value::Array(ranges)).map_err(Failure::new)?;
    }
    for (path, text) in &serve.set {
        set(&mut table, path, value_of(path, text)).map_err(Failure::new)?;
    }
    let names_store = table.get("fetch").and_then(|fetch| fetch.get("store")).is_some();
    let mut config = Config::from_table(table).map_err(Failure::new)?;
    if !names_store {
        config.fetch.store = default_store();
    }
    Ok(config)
}

/// A file in the user's cache folder, or memory where there is none. It is not the one of the other
/// commands: a store in a file is one process's.
fn default_store() -> String {
    match fetching::store_in_cache("service.store") {
        Ok(path) => path.display().to_string(),
        Err(Failure::Message(message)) => {
            let message = shown(message.as_bytes());
            anstream::eprintln!("mayi: files are kept in memory: {message}");
            "memory".to_owned()
        }
        Err(Failure::BrokenPipe) => "memory".to_owned(),
    }
}

/// A value as TOML would have it, or as the text that it is.
fn value_of(path: &str, text: &str) -> Value {
    let read = format!("value = {text}").parse::<Table>().ok();
    let read = read.and_then(|mut table| if table.len() == 1 { table.remove("value") } else { None });
    match read {
        // What is a text in the configuration stays one, although it may look like a number.
        Some(value) if !Config::TEXTS.contains(&path) || value.is_str() => value,
        _ => Value::String(text.to_owned()),
    }
}

/// Sets a member by its path.
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
