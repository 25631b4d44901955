//! A sample of the cases, and those that once failed.

use triton_tests::fuzz::{Attribute, Input, corpus, input, run};

/// Runs it with the stack that rustc has.
fn with_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(test).expect("a thread");
    thread.join().expect("no panic");
}

#[test]
fn nothing_panics() {
    with_stack(|| {
        let seeds = corpus::seeds();
        assert!(seeds.len() > 100, "only {} seeds", seeds.len());
        let failed: Vec<_> =
            (0..300).filter_map(|case| run(&input(&seeds, case)).err().map(|why| (case, why))).collect();
        assert!(failed.is_empty(), "{failed:?}");
    });
}

/// Deeper than the parser's stack reaches, and as deep as it may be.
#[test]
fn depth_is_refused_before_parsing() {
    with_stack(|| {
        for depth in [300, 2000] {
            let inner = (0..depth).fold(quote::quote!(n), |inner, _| quote::quote!((n + #inner)));
            let item = quote::quote!(fn kernel(x: PtrMut<i32>, n: i32) { store(x, #inner, true); });
            for attribute in [Attribute::Kernel, Attribute::Function, Attribute::Link] {
                run(&Input { attribute, args: Default::default(), item: item.clone() }).expect("an error of ours");
            }
        }
    });
}

/// A level of a type takes the parser twice the stack of one of an expression.
#[test]
fn depth_of_types_is_refused_before_parsing() {
    with_stack(|| {
        for depth in [155, 250, 319] {
            let inner = (0..depth).fold(quote::quote!(i32), |inner, _| quote::quote!((#inner)));
            let item = quote::quote!(fn kernel(x: #inner, n: i32) {});
            for attribute in [Attribute::Kernel, Attribute::Function, Attribute::Link] {
                run(&Input { attribute, args: Default::default(), item: item.clone() }).expect("an error of ours");
            }
        }
    });
}
