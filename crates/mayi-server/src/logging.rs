//! What happens → lines on standard error.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{ConfigError, LogFormat, Logging};

/// Starts to write what happens, for the whole process.
///
/// # Errors
/// When the filter is wrong.
pub fn start(logging: &Logging) -> Result<(), ConfigError> {
    let filter = EnvFilter::try_new(&logging.level)
        .map_err(|error| ConfigError::new(format_args!("log.level: {error}")))?;
    let lines = tracing_subscriber::fmt::layer().with_writer(BoxMakeWriter::new(std::io::stderr));
    let lines: Box<dyn tracing_subscriber::Layer<_> + Send + Sync> = match logging.format {
        LogFormat::Text => Box::new(lines.with_ansi(false).with_target(false)),
        LogFormat::Json => Box::new(lines.json().flatten_event(true).with_current_span(false)),
    };
    // Somebody else may have started already, and then it is theirs.
    drop(tracing_subscriber::registry().with(filter).with(lines).try_init());
    Ok(())
}
