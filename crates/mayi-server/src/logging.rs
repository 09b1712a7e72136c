//! What happens → lines on standard error, and traces where they are asked for.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{ConfigError, LogFormat, Logging};

/// Starts to write what happens, for the whole process. What it gives is to be held until the end.
///
/// # Errors
/// When the filter is wrong, or when this build can't do what is asked for.
pub fn start(logging: &Logging) -> Result<Flush, ConfigError> {
    let filter = EnvFilter::try_new(&logging.level)
        .map_err(|error| ConfigError::new(format_args!("log.level: {error}")))?;
    let lines = tracing_subscriber::fmt::layer().with_writer(BoxMakeWriter::new(std::io::stderr));
    let lines: Box<dyn tracing_subscriber::Layer<_> + Send + Sync> = match logging.format {
        LogFormat::Text => Box::new(lines.with_ansi(false).with_target(false)),
        LogFormat::Json => Box::new(lines.json().flatten_event(true).with_current_span(false)),
    };
    let registry = tracing_subscriber::registry().with(filter).with(lines);
    let Some(endpoint) = &logging.traces else {
        // Somebody else may have started already, and then it is theirs.
        drop(registry.try_init());
        return Ok(Flush::default());
    };
    traced(registry, endpoint)
}

/// Sends what has not been sent yet, when it is dropped.
#[derive(Default)]
pub struct Flush {
    #[cfg(feature = "otel")]
    provider: Option<opentelemetry_sdk::trace::SdkTracerProvider>,
}

impl std::fmt::Debug for Flush {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Flush").finish_non_exhaustive()
    }
}

#[cfg(feature = "otel")]
impl Drop for Flush {
    fn drop(&mut self) {
        if let Some(provider) = &self.provider {
            drop(provider.shutdown());
        }
    }
}

#[cfg(not(feature = "otel"))]
fn traced<S>(_: S, _: &str) -> Result<Flush, ConfigError> {
    Err(ConfigError::new(
        "log.traces: this build has no traces: it was made without the feature `otel`",
    ))
}

#[cfg(feature = "otel")]
fn traced<S>(registry: S, endpoint: &str) -> Result<Flush, ConfigError>
where
    S: tracing::Subscriber + Send + Sync + for<'s> tracing_subscriber::registry::LookupSpan<'s>,
{
    use opentelemetry::trace::TracerProvider;
    use opentelemetry_otlp::{SpanExporter, WithExportConfig};

    let exporter = SpanExporter::builder()
        .with_http()
        .with_endpoint(endpoint)
        .build()
        .map_err(|error| ConfigError::new(format_args!("log.traces: {error}")))?;
    let provider =
        opentelemetry_sdk::trace::SdkTracerProvider::builder().with_batch_exporter(exporter).build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("mayi"));
    drop(registry.with(layer).try_init());
    Ok(Flush { provider: Some(provider) })
}
