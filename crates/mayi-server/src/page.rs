//! The page at `/`: files of the folder `page`, in the program itself.

/// A file of the page.
pub(crate) struct Asset {
    pub(crate) path: &'static str,
    pub(crate) content_type: &'static str,
    pub(crate) octets: &'static [u8],
}

/// The page runs, shows and requests only what comes from this server.
pub(crate) const POLICY: &str = "default-src 'self'; base-uri 'none'; form-action 'none'; \
                                 frame-ancestors 'none'; object-src 'none'";

macro_rules! assets {
    ($($path:literal $file:literal $content_type:literal,)*) => {
        /// Every file of the page, with where it is served.
        pub(crate) const ASSETS: &[Asset] = &[$(Asset {
            path: $path,
            content_type: $content_type,
            octets: include_bytes!(concat!("../page/", $file)),
        },)*];
    };
}

assets! {
    "/" "index.html" "text/html; charset=utf-8",
    "/address.js" "address.js" "text/javascript; charset=utf-8",
    "/api.js" "api.js" "text/javascript; charset=utf-8",
    "/app.js" "app.js" "text/javascript; charset=utf-8",
    "/combobox.js" "combobox.js" "text/javascript; charset=utf-8",
    "/comparison.js" "comparison.js" "text/javascript; charset=utf-8",
    "/decisions.js" "decisions.js" "text/javascript; charset=utf-8",
    "/dom.js" "dom.js" "text/javascript; charset=utf-8",
    "/editor.js" "editor.js" "text/javascript; charset=utf-8",
    "/example.js" "example.js" "text/javascript; charset=utf-8",
    "/fetching.js" "fetching.js" "text/javascript; charset=utf-8",
    "/filetools.js" "filetools.js" "text/javascript; charset=utf-8",
    "/findings.js" "findings.js" "text/javascript; charset=utf-8",
    "/grid.js" "grid.js" "text/javascript; charset=utf-8",
    "/history.js" "history.js" "text/javascript; charset=utf-8",
    "/icon.svg" "icon.svg" "image/svg+xml",
    "/linediff.js" "linediff.js" "text/javascript; charset=utf-8",
    "/livepage.js" "livepage.js" "text/javascript; charset=utf-8",
    "/manual.js" "manual.js" "text/javascript; charset=utf-8",
    "/naming.js" "naming.js" "text/javascript; charset=utf-8",
    "/octets.js" "octets.js" "text/javascript; charset=utf-8",
    "/overview.js" "overview.js" "text/javascript; charset=utf-8",
    "/provenance.js" "provenance.js" "text/javascript; charset=utf-8",
    "/robots.txt" "robots.txt" "text/plain; charset=utf-8",
    "/share.js" "share.js" "text/javascript; charset=utf-8",
    "/sites.js" "sites.js" "text/javascript; charset=utf-8",
    "/state.js" "state.js" "text/javascript; charset=utf-8",
    "/style.css" "style.css" "text/css; charset=utf-8",
    "/syntax.js" "syntax.js" "text/javascript; charset=utf-8",
    "/tabs.js" "tabs.js" "text/javascript; charset=utf-8",
    "/telling.js" "telling.js" "text/javascript; charset=utf-8",
    "/theme.js" "theme.js" "text/javascript; charset=utf-8",
    "/toolbar.js" "toolbar.js" "text/javascript; charset=utf-8",
    "/versions.js" "versions.js" "text/javascript; charset=utf-8",
    "/why.js" "why.js" "text/javascript; charset=utf-8",
    "/wizard.js" "wizard.js" "text/javascript; charset=utf-8",
    "/words.js" "words.js" "text/javascript; charset=utf-8",
}

/// Whether a path is one of the page.
pub(crate) fn is_asset(path: &str) -> bool {
    ASSETS.iter().any(|asset| asset.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// A file that is missing in the list would be missing in the program.
    #[test]
    fn every_file_of_the_page_is_served() {
        let folder =
            std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/page")).expect("the folder");
        let files: BTreeSet<String> = folder
            .map(|file| file.expect("a file").file_name().into_string().expect("ASCII"))
            .map(|name| if name == "index.html" { "/".to_owned() } else { format!("/{name}") })
            .collect();
        let served: BTreeSet<String> = ASSETS.iter().map(|asset| asset.path.to_owned()).collect();
        assert_eq!(served, files);
        for asset in ASSETS {
            assert!(!asset.octets.is_empty(), "{} is empty", asset.path);
        }
    }
}
