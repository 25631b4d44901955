//! What is typed by hands that know Rust. Each marked line is one mistake.
use triton::prelude::*;

#[triton::kernel]
fn control(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    for i in 0..=n {} //~
    for i in 0.. {} //~
    for v in [1, 2] {} //~
    for i in (0..n).rev() {} //~
    for mut i in 0..n {} //~
    loop {} //~
    while let Some(v) = n {} //~
    if let 3 = n {} //~
    for i in 0..n {
        if i == 3 {
            break; //~
        }
        if i == 4 {
            continue; //~
        }
        if i == 5 {
            return; //~
        }
    }
    'outer: for i in 0..n {} //~
    match n { //~
        0 => {}
        _ => {}
    }
    let Some(a) = n else { return }; //~
    let b; //~
    let c = &n; //~
    let d = *x; //~
    let e = x[0]; //~
    let f = [0.0; 4]; //~
    let g = (1, 2).0; //~
    let h = |v: i32| v + 1; //~
    let j = "text"; //~
    let k = 'c'; //~
    let l = 3usize; //~
    let m = 0..n; //~
    let o = unsafe { n }; //~
    let p = n?; //~
    let q = vec![0.0; 4]; //~
    let r = format!("{n}"); //~
    panic!("never"); //~
    assert_eq!(n, 3); //~
    dbg!(n); //~
    print!("{n}"); //~
    println!("{:?}", n); //~
    println!("{0}", n); //~
    println!("{}"); //~
    println!("{", n); //~
    println!("a\0b"); //~
    fn inner() {} //~
    struct Inner; //~
    use std::cmp::max; //~
    static S: i32 = 3; //~
    x[0] = 1.0; //~
    *out = 1.0; //~
    (n)(3); //~
}

#[triton::kernel]
fn paths(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let a = f32::sqrt(n); //~
    let b = i32::from(n); //~
    let c = f32::max(1.0, 2.0); //~
    let d = i32::pow(n, 2); //~
}

#[triton::kernel]
fn steps(n: i32) {
    for i in (0..n).step_by(0) {} //~
}

#[triton::kernel]
fn methods(x: Ptr<f32>, view: Tensor<f32, 1>, out: PtrMut<f32>, n: i32) {
    let v = load(x + arange(0, 64), true);
    let a = v.iter(); //~
    let b = v.map(exp); //~
    let c = v.len(); //~
    let d = v.sqrt(); //~
    let e = v.powi(2); //~
    let f = v.mul_add(v, v); //~
    let g = v.clone(); //~
    let h = v.abs().sqrt(); //~
    let j = n.pow(2); //~
    let k = n.max(3); //~
    let l = n.wrapping_add(3); //~
    let m = n.into(); //~
    let o = x.add(3); //~
    let p = x.offset(3); //~
    let q = x.read(); //~
    let r = view.len(); //~
    let s = view.get(3); //~
    let t = view.shape(); //~
    let u = view.write([0], v); //~
    let z = n.frobnicate(); //~
}

fn main() {}
