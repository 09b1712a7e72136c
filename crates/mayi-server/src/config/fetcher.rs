//! A configuration → the fetcher that it describes, and how that reads files and pages.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mayi::page::PageOptions;
use mayi::registry::Registry;
use mayi::report::Answering;
use mayi::{Dialect, Extension, ReadOptions};
use mayi_fetch::{FetchOptions, Fetcher, InvalidOption};

use super::{Config, ConfigError, ReadSettings};

impl Config {
    /// The fetcher that it describes. A shared store needs the call to be inside a runtime.
    ///
    /// # Errors
    /// When a part of it can't be used, or the store can't be opened.
    pub fn fetcher(&self) -> Result<Fetcher, ConfigError> {
        let fetch = &self.fetch;
        let mut options = FetchOptions::new(&fetch.fetch_as);
        options.allow_private = fetch.allow_private;
        for range in &fetch.allow_addresses {
            options.allow_addresses.push(
                range.parse().map_err(|error| {
                    ConfigError::new(format_args!("fetch.allow_addresses: {error}"))
                })?,
            );
        }
        let wrong_roots = |why: &dyn fmt::Display| {
            let path = fetch.roots.as_deref().unwrap_or(Path::new(""));
            ConfigError::new(format_args!("fetch.roots: `{}`: {why}", path.display()))
        };
        if let Some(path) = &fetch.roots {
            options.roots = std::fs::read(path).map_err(|error| wrong_roots(&error))?;
        }
        options.timeout = Duration::from_secs(fetch.timeout_seconds);
        options.offline = fetch.offline;
        (options.connections_per_host, options.connections) =
            (fetch.connections_per_host, fetch.connections);
        (options.store, options.store_octets) = (Some(fetch.store.clone()), fetch.store_octets);
        let builder = options.builder_with_store().map_err(|error| match error {
            InvalidOption::Roots(error) => wrong_roots(&error),
            InvalidOption::Store(error) => ConfigError::new(format_args!("fetch.store: {error}")),
            error => ConfigError::new(format_args!("fetch.fetch_as: {error}")),
        })?;
        let builder = builder
            .answering(self.reading.answering()?)
            .ready_octets(fetch.ready_octets)
            .listener(Arc::new(crate::events::Told::default()));
        Ok(builder.build())
    }
}

impl ReadSettings {
    fn answering(&self) -> Result<Answering, ConfigError> {
        let dialect = Dialect::find(&self.dialect)
            .map_err(|error| ConfigError::new(format_args!("reading.dialect: {error}")))?;
        let mut options = ReadOptions::default().with_dialect(dialect);
        let mut registry = Registry::built_in();
        for path in &self.registries {
            let name = path.display().to_string();
            let wrong = |why: &dyn fmt::Display| {
                ConfigError::new(format_args!("reading.registries: `{name}`: {why}"))
            };
            let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
            registry = Arc::new(registry.extended(&name, &text).map_err(|error| wrong(&error))?);
        }
        options = options.with_registry(registry);
        let mut answering = Answering::default()
            .with_options(options)
            .with_page_options(self.page_options())
            .with_registered_purposes_only(self.registered_purposes_only);
        for name in &self.no_extensions {
            let extension = Extension::find(name)
                .map_err(|error| ConfigError::new(format_args!("reading.no_extensions: {error}")))?;
            answering = answering.without(extension);
        }
        Ok(answering)
    }

    /// How pages are read.
    pub(crate) fn page_options(&self) -> PageOptions {
        let mut options = PageOptions::default();
        options.union = self.union;
        options
    }
}
