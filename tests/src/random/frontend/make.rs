//! What a random program consists of: constants, functions, and the body of its kernel.

use super::Random;
use super::operands::Operands;
use super::tree::{Elem, Expr, Function, Stmt, Ty};
use triton_core::types::DType;

/// Elements of `out` that a program may write.
pub const ZONE: u32 = 256;
/// Rows of `grid` that a program may write.
pub const ROWS: u32 = 16;
/// The struct's fields, and values for them; those of floats are quarters.
pub const FIELDS: [(&str, &str, &[i64]); 4] = [
    ("count", "i32", &[0, 1, 3]),
    ("scale", "f32", &[1, -6, 8]),
    ("flag", "bool", &[0, 1]),
    ("wide", "i64", &[-1, 5, 1 << 40]),
];
/// The kernel's parameters.
pub const PARAMETERS: &str = "x: Tensor<i32, 1>, y: Tensor<f32, 2>, out: TensorMut<i32, 1>, grid: TensorMut<f32, 2>, \
                              hist: TensorMut<i32, 1>, settings: Settings, n: i32";

/// A whole program.
pub struct Program {
    /// Constants of the file.
    pub constants: Vec<(String, Expr)>,
    /// Functions, each of which may call those before it.
    pub functions: Vec<Function>,
    /// The kernel.
    pub body: Vec<Stmt>,
    /// Programs of the launch.
    pub grid: u32,
    /// Its warps.
    pub num_warps: u32,
    /// What its products are made of, if it has some.
    pub operands: Option<Operands>,
}

/// A name in scope.
#[derive(Clone)]
pub struct Bound {
    /// The name.
    pub name: String,
    /// Its type.
    pub ty: Ty,
    /// Whether it may be assigned.
    pub mutable: bool,
}

/// What makes one body.
pub struct Maker<'a> {
    /// Where choices come from.
    pub random: &'a mut Random,
    /// Functions that can be called.
    pub functions: &'a [Function],
    /// Names, the innermost last.
    pub names: Vec<Bound>,
    /// Blocks around.
    pub depth: usize,
    /// Labels of the loops around that a statement may leave, and whether it may continue them.
    pub loops: Vec<(String, bool)>,
    /// Whether a value is made of the statements.
    pub inside_value: bool,
    /// Whether it is the kernel: views are there.
    pub kernel: bool,
    /// How many names were made.
    pub made: usize,
    /// Operations left.
    pub budget: usize,
    /// What products are made of, if there are to be some.
    pub operands: Option<Operands>,
}

/// A program.
///
/// With `products`, it has loops around them.
pub fn program(random: &mut Random, products: bool) -> Program {
    let (grid, mut num_warps) = (random.pick(&[1, 2, 3]), random.pick(&[1, 1, 2, 4]));
    let operands = products.then(|| Operands::of(random));
    if products {
        num_warps = random.pick(&[1, 2, 2, 4, 4, 4, 8]);
    }
    let constants: Vec<(String, Expr)> =
        (0..random.below(3)).map(|k| (format!("GLOBAL{k}"), constant(random, k))).collect();
    let globals = globals(&constants);
    let mut functions: Vec<Function> = Vec::new();
    for _ in 0..random.below(4) {
        let made = function(random, &functions, &globals);
        functions.push(made);
    }
    let mut names = globals;
    names.push(Bound { name: "settings".into(), ty: Ty::Params, mutable: false });
    names.push(Bound { name: "n".into(), ty: Ty::scalar(DType::I32), mutable: false });
    let budget = if products { random.below(20) } else { 20 + random.below(60) };
    let (depth, loops) = (0, Vec::new());
    let mut maker = Maker {
        random,
        functions: &functions,
        names,
        depth,
        loops,
        inside_value: false,
        kernel: true,
        made: 0,
        budget,
        operands,
    };
    // As extents of a shape they are known while the kernel is compiled.
    let extent = |(k, (name, _)): (usize, &(String, Expr))| {
        Stmt::Let(format!("g{k}"), false, Expr::ArangeTo(Box::new(Expr::Name(name.clone()))))
    };
    let mut body: Vec<Stmt> = constants.iter().enumerate().map(extent).collect();
    while maker.budget > 0 {
        if maker.random.once_in(6) {
            body.extend(maker.products());
        }
        body.extend(maker.stmt(true));
    }
    body.extend(maker.products());
    body.extend(maker.stores());
    let operands = maker.operands;
    Program { constants, functions, body, grid, num_warps, operands }
}

/// A constant of literals and of the constants before it: a power of two, since shapes are made of it.
fn constant(random: &mut Random, k: usize) -> Expr {
    let literal = |x: i64| Box::new(Expr::Literal(DType::I32, x, false));
    let two = random.pick(&[2, 4]);
    match random.below(3) {
        0 if k > 0 => Expr::Binary("*", Box::new(Expr::Name(format!("GLOBAL{}", k - 1))), literal(two)),
        1 => Expr::Binary("<<", literal(two), literal(2)),
        _ => Expr::Binary("-", literal(two + 4), literal(4)),
    }
}

/// The names of constants, as numbers in scope.
fn globals(constants: &[(String, Expr)]) -> Vec<Bound> {
    let bound = |name: &String| Bound { name: name.clone(), ty: Ty::scalar(DType::I32), mutable: false };
    constants.iter().map(|(name, _)| bound(name)).collect()
}

/// A function. Tiles that it takes have one shape, which its calls choose.
fn function(random: &mut Random, before: &[Function], globals: &[Bound]) -> Function {
    let generic = random.once_in(3);
    let any = vec![0];
    let mut params = vec![(
        "a".to_owned(),
        if generic {
            Ty::Tile(Elem::Generic, any.clone())
        } else {
            Ty::Tile(Elem::Of(random.pick(&[DType::I32, DType::F32])), any.clone())
        },
    )];
    for name in ["b", "c"].iter().take(random.below(3)) {
        let ty = match random.below(6) {
            0 if !generic => Ty::Tile(Elem::Of(random.pick(&[DType::I32, DType::F32])), any.clone()),
            0 | 1 if generic => Ty::Tile(Elem::Generic, any.clone()),
            2 => Ty::Params,
            3 => Ty::Tuple(vec![Ty::scalar(DType::I32), params[0].1.clone()]),
            4 => Ty::View(DType::I32, 1),
            _ => Ty::scalar(DType::I32),
        };
        params.push(((*name).to_owned(), ty));
    }
    let constant = !generic && random.once_in(3);
    let mut names = globals.to_vec();
    names.extend(params.iter().map(|(name, ty)| Bound { name: name.clone(), ty: ty.clone(), mutable: false }));
    if constant {
        names.push(Bound { name: "K".into(), ty: Ty::scalar(DType::I32), mutable: false });
    }
    let mut body = Vec::new();
    for (name, ty) in &params {
        if let Ty::Tuple(parts) = ty {
            let unpacked: Vec<String> = (0..parts.len()).map(|k| format!("{name}{k}")).collect();
            let bound = unpacked.iter().zip(parts).map(|(name, ty)| Bound {
                name: name.clone(),
                ty: ty.clone(),
                mutable: false,
            });
            names.extend(bound);
            body.push(Stmt::Unpack(unpacked, Expr::Name(name.clone())));
        }
    }
    let budget = 4 + random.below(10);
    let (depth, loops) = (1, Vec::new());
    let mut maker = Maker {
        random,
        functions: before,
        names,
        depth,
        loops,
        inside_value: false,
        kernel: false,
        made: 0,
        budget,
        operands: None,
    };
    while maker.budget > 0 {
        body.extend(maker.stmt(false));
    }
    let tile = maker.one(|bound| matches!(&bound.ty, Ty::Tile(_, shape) if *shape == any));
    let first = tile.map_or_else(|| params[0].clone(), |bound| (bound.name, bound.ty));
    let (mut value, mut result) = (Expr::Name(first.0), first.1);
    if maker.random.once_in(3) {
        let (more, ty) = (maker.expr(&Ty::scalar(DType::I32), 2), Ty::scalar(DType::I32));
        (value, result) = (Expr::Tuple(vec![value, more]), Ty::Tuple(vec![result, ty]));
    }
    Function { generic, constant, params, body, value, result }
}
