//! The book shows what the example `scaling` prints.

#[path = "../../examples/scaling.rs"]
#[allow(dead_code, reason = "a program's entry")]
mod scaling;

const MARK: &str = "<!-- by the example scaling -->\n\n```text\n";

#[test]
fn the_book_shows_the_model() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/several_gpus.md");
    let text = std::fs::read_to_string(&page).expect("the book's page");
    let (before, after) = text.split_once(MARK).expect("the mark in the page");
    let end = after.find("```").expect("the end of the block");
    let (shown, rest) = after.split_at(end);
    if shown != scaling::table() {
        assert!(std::env::var_os("BLESS").is_some(), "the page shows another table; BLESS=1 renews it");
        std::fs::write(page, [before, MARK, &scaling::table(), rest].concat()).expect("the page is written");
    }
}
