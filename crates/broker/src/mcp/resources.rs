//! The resources: pages of the documentation and models of the gallery. They are parts of the program.

use std::sync::LazyLock;

use masque_text::did_you_mean;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents};

/// A text of the program.
struct Page {
    uri: String,
    title: &'static str,
    kind: &'static str,
    text: &'static str,
}

/// Pages of the documentation, then the models of the gallery.
static PAGES: LazyLock<Vec<Page>> = LazyLock::new(|| {
    let docs = masque_docs::PAGES.iter().map(|page| Page {
        uri: format!("masque://docs/{}", page.name),
        title: page.title,
        kind: "text/markdown",
        text: page.text,
    });
    let models = masque_gallery::MODELS.iter().map(|model| Page {
        uri: format!("masque://models/{}", model.path),
        title: model.title,
        kind: "text/plain",
        text: model.text,
    });
    docs.chain(models).collect()
});

/// All resources, for clients.
pub(super) fn list() -> Vec<Resource> {
    let resource = |page: &Page| {
        let name = page.uri.trim_start_matches("masque://");
        Resource::new(&page.uri, name)
            .with_title(page.title)
            .with_mime_type(page.kind)
            .with_size(page.text.len() as u64)
    };
    PAGES.iter().map(resource).collect()
}

/// A resource by its URI, or a message about the URI.
pub(super) fn read(uri: &str) -> Result<ReadResourceResult, String> {
    let Some(page) = PAGES.iter().find(|page| page.uri == uri) else {
        let hint = did_you_mean(uri, PAGES.iter().map(|page| page.uri.as_str()));
        let hint = hint.unwrap_or_else(|| "`resources/list` has all of them".to_string());
        return Err(format!("there is no resource `{}`; {hint}", crate::fault::brief(uri)));
    };
    Ok(ReadResourceResult::new(vec![ResourceContents::text(page.text, &page.uri).with_mime_type(page.kind)]))
}

/// The text of a page of the documentation, by its name.
pub(super) fn doc(name: &str) -> &'static str {
    masque_docs::PAGES.iter().find(|page| page.name == name).map_or("", |page| page.text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// Every file of the gallery is a resource.
    #[test]
    fn the_gallery_is_complete() {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        let mut files = BTreeSet::new();
        for language in ["ispl", "bdi", "lcc"] {
            for entry in std::fs::read_dir(models.join(language)).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() {
                    let name = path.file_name().unwrap().to_string_lossy().into_owned();
                    files.insert(format!("masque://models/{language}/{name}"));
                }
            }
        }
        let uris = PAGES.iter().map(|page| page.uri.clone());
        let listed: BTreeSet<String> = uris.filter(|uri| uri.starts_with("masque://models/")).collect();
        assert_eq!(listed, files);
    }

    #[test]
    fn resources_by_their_uris() {
        for resource in list() {
            assert!(read(&resource.uri).is_ok(), "{}", resource.uri);
        }
        let unknown = read("masque://docs/isp").unwrap_err();
        assert!(unknown.contains("did you mean `masque://docs/ispl`?"), "{unknown}");
        assert!(read("file:///etc/passwd").is_err() && read("").is_err());
    }
}
