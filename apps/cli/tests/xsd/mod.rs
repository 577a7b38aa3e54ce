//! A validator for the part of XML Schema that the schema of JUnit uses: elements with sequences and choices of
//! references to other elements, attributes, mixed content, and strings with a pattern.

use std::collections::BTreeMap;

use roxmltree::{Document, Node};

/// The global elements and types of a schema.
pub(crate) struct Schema {
    elements: BTreeMap<String, Element>,
}

/// What an element may contain.
#[derive(Clone, Default)]
struct Element {
    /// Names of attributes, with whether they are required and whether they are times.
    attributes: BTreeMap<String, (bool, bool)>,
    /// Names of elements that may stand in it. In this schema all occur in any number, except in `rerunType`,
    /// which Masque does not write.
    children: Vec<String>,
    /// Whether it may contain text.
    has_text: bool,
}

impl Schema {
    /// Reads a schema. Fails if it uses what this validator does not know.
    pub(crate) fn read(text: &str) -> Schema {
        let document = Document::parse(text).unwrap();
        let root = document.root_element();
        let types: BTreeMap<&str, Node<'_, '_>> = elements_of(root)
            .filter(|node| node.tag_name().name() == "complexType")
            .map(|node| (node.attribute("name").unwrap(), node))
            .collect();
        let mut elements = BTreeMap::new();
        for node in elements_of(root).filter(|node| node.tag_name().name() == "element") {
            let name = node.attribute("name").unwrap().to_string();
            let content =
                elements_of(node).next().or(node.attribute("type").and_then(|t| types.get(t).copied()));
            let element = content.map_or(Element { has_text: true, ..Element::default() }, Element::read);
            elements.insert(name, element);
        }
        Schema { elements }
    }

    /// Where a document breaks the schema; empty if it is valid.
    pub(crate) fn errors(&self, text: &str) -> Vec<String> {
        let document = match Document::parse(text) {
            Ok(document) => document,
            Err(error) => return vec![format!("not XML: {error}")],
        };
        let mut errors = Vec::new();
        self.check(document.root_element(), &mut errors);
        errors
    }

    fn check(&self, node: Node<'_, '_>, errors: &mut Vec<String>) {
        let name = node.tag_name().name();
        let Some(element) = self.elements.get(name) else {
            return errors.push(format!("unknown element <{name}>"));
        };
        for attribute in node.attributes() {
            match element.attributes.get(attribute.name()) {
                None => errors.push(format!("<{name}> has no attribute {}", attribute.name())),
                Some((_, true)) if !is_time(attribute.value()) => {
                    errors.push(format!("{} is no time", attribute.value()))
                }
                Some(_) => {}
            }
        }
        for (attribute, (is_required, _)) in &element.attributes {
            if *is_required && !node.has_attribute(attribute.as_str()) {
                errors.push(format!("<{name}> needs the attribute {attribute}"));
            }
        }
        for child in node.children() {
            if child.is_text() && !element.has_text && !child.text().unwrap_or_default().trim().is_empty() {
                errors.push(format!("<{name}> contains text"));
            }
            if child.is_element() {
                if !element.children.iter().any(|allowed| allowed == child.tag_name().name()) {
                    errors.push(format!("<{name}> contains <{}>", child.tag_name().name()));
                }
                self.check(child, errors);
            }
        }
    }
}

impl Element {
    fn read(content: Node<'_, '_>) -> Element {
        let mut element =
            Element { has_text: content.attribute("mixed") == Some("true"), ..Element::default() };
        for node in content.descendants().filter(|node| node.is_element() && *node != content) {
            match node.tag_name().name() {
                "attribute" => {
                    let is_required = node.attribute("use") == Some("required");
                    let is_time = match node.attribute("type") {
                        Some("xs:string") => false,
                        Some("SUREFIRE_TIME") => true,
                        other => panic!("unknown type {other:?}"),
                    };
                    let name = node.attribute("name").unwrap().to_string();
                    element.attributes.insert(name, (is_required, is_time));
                }
                "element" => {
                    let name = node.attribute("ref").or(node.attribute("name")).unwrap();
                    element.children.push(name.to_string());
                }
                "sequence" | "choice" => {}
                other => panic!("the validator does not know xs:{other}"),
            }
        }
        element
    }
}

fn elements_of<'a, 'i>(node: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(|child| child.is_element())
}

/// The pattern of `SUREFIRE_TIME`, without separators of thousands: digits, and at most three after a dot.
fn is_time(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number(whole) && is_number(fraction) && fraction.len() <= 3
}
