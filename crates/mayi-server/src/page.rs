//! The page at `/`: files of the folder `page`, in the program itself.

/// A file of the page.
pub(crate) struct Asset {
    pub(crate) path: &'static str,
    pub(crate) content_type: &'static str,
    pub(crate) octets: &'static [u8],
}

/// Nothing is run, shown or asked that does not come from here.
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
}

/// Whether a path is one of the page.
pub(crate) fn is_asset(path: &str) -> bool {
    ASSETS.iter().any(|asset| asset.path == path)
}
