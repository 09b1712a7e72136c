//! The program `mayi`: all of it is in the library beside this file.

fn main() -> std::process::ExitCode {
    mayi_cli::main_of(std::env::args_os()).into()
}
