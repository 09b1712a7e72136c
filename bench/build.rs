//! A checkout of google/robotstxt and abseil → that engine inside the bench, as `cfg(google_robotstxt)`.
//!
//! The checkout is named by `MAYI_GOOGLE_ROBOTSTXT`; nothing is fetched. Without it the bench is built as
//! ever, and its report says that the engine was left out. Where it is named, everything has to be there:
//! a figure that is missing without a word would be taken for one that was not wanted.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The parts of abseil that robots.cc uses, as pkg-config knows them.
const ABSEIL: [&str; 3] = ["absl_strings", "absl_fixed_array", "absl_base"];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(google_robotstxt)");
    println!("cargo::rerun-if-env-changed=MAYI_GOOGLE_ROBOTSTXT");
    println!("cargo::rerun-if-changed=src/google.cc");
    let named = env::var_os("MAYI_GOOGLE_ROBOTSTXT").filter(|named| !named.is_empty());
    let Some(checkout) = named.map(PathBuf::from) else { return };
    if let Err(error) = build(&checkout) {
        println!("cargo::error=MAYI_GOOGLE_ROBOTSTXT: {error}");
    }
}

fn build(checkout: &Path) -> Result<(), String> {
    let source = checkout.join("robots.cc");
    for path in [&source, &checkout.join("robots.h")] {
        if !path.is_file() {
            let path = path.display();
            return Err(format!("{path} is not there; name a checkout of google/robotstxt"));
        }
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let abseil = |what| {
        let found = Command::new("pkg-config").arg(what).args(ABSEIL).output();
        match found {
            Ok(found) if found.status.success() => {
                let words = String::from_utf8_lossy(&found.stdout).into_owned();
                Ok(words.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
            }
            Ok(found) => Err(format!(
                "abseil is not found (Debian: apt-get install libabsl-dev): {}",
                String::from_utf8_lossy(&found.stderr).trim()
            )),
            Err(error) => Err(format!("pkg-config can't be run, to find abseil: {error}")),
        }
    };
    let (flags, libraries) = (abseil("--cflags")?, abseil("--libs")?);
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo names no folder for what is built")?);
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let mut objects = Vec::new();
    for source in [&source, Path::new("src/google.cc")] {
        let object = out.join(source.file_name().ok_or("a source has a name")?).with_extension("o");
        let mut command = Command::new(&compiler);
        command.args(["-std=c++17", "-O3", "-DNDEBUG", "-fPIC", "-w", "-c"]).arg(source);
        command.arg("-o").arg(&object).arg("-I").arg(checkout).args(&flags);
        run(&mut command)?;
        objects.push(object);
    }
    let archive = out.join("libgoogle_robotstxt.a");
    run(Command::new("ar").arg("crs").arg(&archive).args(&objects))?;
    // In this order: each needs what stands behind it.
    println!("cargo::rustc-link-arg={}", archive.display());
    for library in libraries.iter().map(String::as_str).chain(["-lstdc++"]) {
        println!("cargo::rustc-link-arg={library}");
    }
    println!("cargo::rustc-cfg=google_robotstxt");
    Ok(())
}

fn run(command: &mut Command) -> Result<(), String> {
    let said = command.output().map_err(|error| format!("{command:?} can't be run: {error}"))?;
    if said.status.success() {
        return Ok(());
    }
    Err(format!("{command:?} failed:\n{}", String::from_utf8_lossy(&said.stderr)))
}
