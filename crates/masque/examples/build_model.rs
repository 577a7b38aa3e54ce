//! Builds a model in code and checks it: two players see one card each, of three, and one of them may
//! say what it has. `cargo run -p masque --example build_model`

use masque::{Check, ModelBuilder};

const CARDS: [&str; 3] = ["red", "green", "blue"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = ModelBuilder::new();
    let mut hands = Vec::new();
    for name in ["Alice", "Bob"] {
        let player = builder.agent(name);
        let card = builder.enumeration(&player, "card", CARDS);
        hands.push((player, card));
    }
    let environment = builder.agent("Environment");
    let announced = builder.enumeration(&environment, "announced", ["nothing", "red", "green", "blue"]);
    builder.seen_by_all(&announced);
    // The cards are different, and nothing is said at first.
    let (alice, bob) = (&hands[0], &hands[1]);
    builder.initially(alice.1.expr().differs_from(&bob.1));
    builder.initially(announced.is("nothing"));
    // Alice may say which card she has.
    let pass = builder.action(&alice.0, "pass");
    for card in CARDS {
        let say = builder.action(&alice.0, &format!("say_{card}"));
        builder.may(&alice.0, alice.1.is(card), [&say, &pass]);
        builder.becomes(&announced, card, say.performed());
        builder.proposition(&format!("alice_{card}"), alice.1.is(card));
    }
    builder.property("secret", "AG(alice_red -> K(Bob, alice_red))");
    builder.property("can_learn", "AG(alice_red -> EX K(Bob, alice_red))");

    let model = builder.build()?;
    println!("{}", model.check(&Check::new())?);
    Ok(())
}
