//! Checks a file and prints each verdict with its evidence:
//! `cargo run -p masque --example check_file -- models/ispl/card_game.ispl`

use masque::{Check, Model};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "models/ispl/card_game.ispl".to_string());
    let model = Model::load(&path)?;
    let report = model.check(&Check::new())?;
    for property in &report.properties {
        println!("{}: {}", property.name, property.verdict);
        if let Some(evidence) = &property.evidence {
            println!("{evidence}");
        }
    }
    println!("{} properties, all hold: {}", report.properties.len(), report.all_hold());
    Ok(())
}
