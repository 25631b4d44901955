//! The pages of the book (`docs/`) as documentation, so that `cargo test` compiles and runs every program in them.

macro_rules! pages {
    ($($page:ident)*) => { $( #[doc = include_str!(concat!("../docs/src/", stringify!($page), ".md"))] mod $page {} )* };
}

pages! {
    introduction
    first_kernel
    masks
    views
    types
    reductions
    products
    functions
    instances
    checks
    testing
    simulator
    how_it_works
    glossary
    errors
}
