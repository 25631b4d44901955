//! What is promised of strides where operands of products are column-major, and which images there are for it.

use triton_core::ir::parse::parse;
use triton_core::passes::{self, Env};
use triton_tests::expand::expand;

/// The product of tutorial 03, with what is loaded of `b` as it says.
fn product(of_b: &str) -> String {
    format!(
        "#[triton::kernel]
        fn product(a: Ptr<f16>, b: Ptr<i8>, c: PtrMut<f32>, n: i32, k: i32, am: i32, ak: i32, bk: i32, bn: i32) {{
            let (rows, columns, along) = (arange(0, 64), arange(0, 64) % n, arange(0, 32));
            let mut sum = zeros::<f32>([64, 64]);
            for i in 0..k / 32 {{
                let x = load(a + (rows.expand_dims(1) * am + (along.expand_dims(0) + i * 32) * ak), true);
                let y = load(b + {of_b}, true);
                sum = dot(x, y.to::<f16>(), sum);
            }}
            store(c + (rows.expand_dims(1) * n + columns.expand_dims(0)), sum, true);
        }}"
    )
}

/// What a kernel's parameters are promised, and its images that are not of the first order.
fn orders(source: &str) -> (String, Vec<String>) {
    let expansion = expand(source).unwrap();
    assert!(expansion.messages.iter().all(|message| message.text.starts_with("warning")), "{:?}", expansion.messages);
    let mut func = parse(&expansion.kernels[0].ir).unwrap();
    let promised = func.params.iter().skip(3).map(|param| {
        let all = [&[param.promised], &param.orders[..]].concat();
        format!("{}: {}", param.name, all.iter().map(|of| format!("{of:?}")).collect::<Vec<_>>().join(" or "))
    });
    let promised = promised.collect::<Vec<_>>().join(", ");
    passes::run(passes::OPTIMISE, &mut func, &Env::portable().verified()).unwrap();
    let images = triton_core::images(&func).unwrap();
    let turned = images.iter().filter(|image| image.order > 0);
    (promised, turned.map(|image| format!("{} {}", image.target.name(), image.assumptions())).collect())
}

#[test]
fn each_operand_may_be_column_major() {
    let (promised, images) = orders(&product("((along.expand_dims(1) + i * 32) * bk + columns.expand_dims(0) * bn)"));
    let expected = "n: Extent(16) or Extent(4) or Extent(16) or Extent(4), k: Nothing, \
        am: Pitch(8) or Pitch(8) or Unit or Unit, ak: Unit or Unit or Pitch(8) or Pitch(8), \
        bk: Pitch(16) or Unit or Pitch(16) or Unit, bn: Unit or Pitch(16) or Unit or Pitch(16)";
    assert_eq!(promised, expected);
    let expected = [1, 2, 3].map(|order| ["sm_90a", "sm_80"].map(|target| format!("{target} divisible16.{order}")));
    assert_eq!(images, expected.concat());
}

#[test]
fn an_order_that_is_known_is_the_only_one() {
    // The columns of `b` are known to run along memory.
    let (promised, images) = orders(&product("(along.expand_dims(1) + i * 32 + columns.expand_dims(0) * bn)"));
    assert!(promised.ends_with("am: Pitch(8) or Unit, ak: Unit or Pitch(8), bk: Nothing, bn: Pitch(16)"), "{promised}");
    assert_eq!(images, ["sm_90a divisible16.1", "sm_80 divisible16.1"]);
}

#[test]
fn what_no_product_reads_has_one_order() {
    let source = "#[triton::kernel]
        fn copy(a: Ptr<f16>, b: PtrMut<f16>, across: i32, along: i32) {
            let (rows, columns) = (arange(0, 64).expand_dims(1), arange(0, 64).expand_dims(0));
            store(b + (rows * 64 + columns), load(a + (rows * across + columns * along), true), true);
        }";
    let (promised, images) = orders(source);
    assert!(!promised.contains(" or "), "{promised}");
    assert_eq!(images, [] as [&str; 0]);
}
