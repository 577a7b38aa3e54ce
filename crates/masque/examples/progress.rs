//! Checks a model with a time limit and watches progress:
//! `cargo run --release -p masque --example progress -- models/ispl/dining_cryptographers.ispl N=40`

use std::time::Duration;

use masque::{Check, Loader};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().unwrap_or_else(|| "models/ispl/dining_cryptographers.ispl".to_string());
    let mut loader = Loader::new();
    for define in args {
        let (name, value) = define.split_once('=').ok_or("parameters are written NAME=VALUE")?;
        loader = loader.parameter(name, value.parse()?);
    }
    let model = loader.load([path])?;
    let check = Check::new().timeout(Duration::from_secs(10)).on_progress(|progress| {
        eprint!("\r{} of {} properties decided", progress.decided, progress.total);
    });
    let report = model.check(&check)?;
    eprintln!();
    for property in &report.properties {
        println!("{}: {}", property.name, property.verdict);
    }
    match &report.states {
        Some(states) => println!("{states} states"),
        None => println!("the states were not counted"),
    }
    Ok(())
}
