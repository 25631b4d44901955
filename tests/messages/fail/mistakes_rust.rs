//! What users of Rust type. Each marked line is one mistake.
use triton::prelude::*;

#[triton::kernel]
fn control(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    for i in 0..=n {} //~ 0..=n
    for i in 0.. {} //~ 0..
    for v in [1, 2] {} //~ [1, 2]
    for i in (0..n).rev() {} //~ (0..n).rev()
    for mut i in 0..n {} //~ mut i
    loop {} //~ loop
    while let Some(v) = n {} //~ let
    if let 3 = n {} //~ let
    for i in 0..n {
        if i == 3 {
            break; //~ break
        }
        if i == 4 {
            continue; //~ continue
        }
        if i == 5 {
            return; //~ return
        }
    }
    'outer: for i in 0..n {} //~ 'outer
    match n { //~ match
        0 => {}
        _ => {}
    }
    let Some(a) = n else { return }; //~ else
    let b; //~ let b;
    let c = &n; //~ &n
    let d = *x; //~ *x
    let e = x[0]; //~ x[0]
    let f = [0.0; 4]; //~ [0.0; 4]
    let g = (1, 2).0; //~ (1, 2).0
    let h = |v: i32| v + 1; //~ |v: i32| v + 1
    let j = "text"; //~ "text"
    let k = 'c'; //~ 'c'
    let l = 3usize; //~ 3usize
    let m = 0..n; //~ 0..n
    let o = unsafe { n }; //~ unsafe
    let p = n?; //~ ?
    let q = vec![0.0; 4]; //~ vec!
    let r = format!("{n}"); //~ format!
    panic!("never"); //~ panic!
    assert_eq!(n, 3); //~ assert_eq!
    dbg!(n); //~ dbg!
    print!("{n}"); //~ print!
    println!("{:?}", n); //~ "{:?}"
    println!("{0}", n); //~ "{0}"
    println!("{}"); //~ println!("{}")
    println!("{", n); //~ "{"
    println!("a\0b"); //~ "a\0b"
    fn inner() {} //~ fn inner()
    struct Inner; //~ struct
    use std::cmp::max; //~ use
    static S: i32 = 3; //~ static
    x[0] = 1.0; //~ x[0]
    *out = 1.0; //~ *out
    (n)(3); //~ (n)
}

#[triton::kernel]
fn paths(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let a = f32::sqrt(n); //~ f32::sqrt
    let b = i32::from(n); //~ i32::from
    let c = f32::max(1.0, 2.0); //~ f32::max
    let d = i32::pow(n, 2); //~ i32::pow
}

#[triton::kernel]
fn steps(n: i32) {
    for i in (0..n).step_by(0) {} //~ 0
}

#[triton::kernel]
fn methods(x: Ptr<f32>, view: Tensor<f32, 1>, out: PtrMut<f32>, n: i32) {
    let v = load(x + arange(0, 64), true);
    let a = v.iter(); //~ iter
    let b = v.map(exp); //~ map
    let c = v.len(); //~ len
    let d = v.sqrt(); //~ sqrt
    let e = v.powi(2); //~ powi
    let f = v.mul_add(v, v); //~ mul_add
    let g = v.clone(); //~ clone
    let h = v.abs().sqrt(); //~ abs
    let j = n.pow(2); //~ pow
    let k = n.max(3); //~ max
    let l = n.wrapping_add(3); //~ wrapping_add
    let m = n.into(); //~ into
    let o = x.add(3); //~ add
    let p = x.offset(3); //~ offset
    let q = x.read(); //~ read
    let r = view.len(); //~ len
    let s = view.get(3); //~ get
    let t = view.shape(); //~ shape
    let u = view.write([0], v); //~ write
    let z = n.frobnicate(); //~ frobnicate
}

fn main() {}
