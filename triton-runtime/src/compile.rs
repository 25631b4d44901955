//! Kernels that are compiled while the program runs: by the same compiler as those of attributes, which is called here, so that the code is
//! known to be its own. They need the feature `compiler`.

use crate::args::LaunchArg;
use crate::error::{Error, Result};
use crate::grid::Grid;
use crate::kernel::Kernel;
use crate::launch::Launch;
use crate::launch::mode::Safe;
use crate::stream::Stream;
use std::borrow::Cow;
use triton_core::ast::{self, GenericArg, ParamKind};
use triton_core::diag::Failure;
use triton_ir::metadata::{KernelMetadata, ParamMetadata, ParamType, Promised};
use triton_ir::types::{Class, DType};

impl Kernel {
    /// Compiles one instance of a kernel, and keeps it for the rest of the program: what a launch refers to is never freed.
    ///
    /// # Errors
    /// What is wrong with the kernel, or with this instance.
    #[doc(hidden)]
    pub fn compile(kernel: &ast::Kernel, instance: &ast::Instance) -> Result<&'static Kernel, Failure> {
        let compiled = triton_core::compile(kernel, instance)?;
        let params = params(kernel, instance, &compiled.promised);
        let (name, config) = (kernel.name.name.clone(), compiled.config);
        let spelled = spelling(kernel, instance);
        let metadata = KernelMetadata::new(name.into(), spelled.into(), params.into(), vec![config].into());
        Ok(Box::leak(Box::new(Kernel::of(metadata))))
    }
}

impl<'a, const N: usize> Launch<'a, Safe, N> {
    /// Arguments in the order of the parameters, of a kernel that takes views and scalars alone.
    ///
    /// # Errors
    /// [`Error::Argument`] of a kernel that takes raw pointers, or another number of arguments.
    #[doc(hidden)]
    pub fn of_views(kernel: &'static Kernel, args: [LaunchArg<'a>; N]) -> Result<Launch<'a, Safe, N>> {
        let params = &kernel.metadata().params;
        let raw = params.iter().position(|param| matches!(param.ty, ParamType::Ptr(_) | ParamType::PtrMut(_)));
        let wrong = raw.or_else(|| (params.len() != N).then(|| params.len().min(N)));
        let Some(index) = wrong else { return Ok(Launch::of(kernel, args, 0)) };
        Err(Error::Argument {
            kernel: kernel.metadata().instance.to_string(),
            index,
            found: if raw.is_some() { "a raw pointer" } else { "another number of arguments" }.into(),
            expected: "a view or a number for each parameter".into(),
        })
    }

    /// Enqueues the kernel over a grid, as [`launch`](Launch::launch) does, and keeps the launch for another time.
    ///
    /// # Errors
    /// Those of [`launch`](Launch::launch).
    #[doc(hidden)]
    pub fn enqueue_again(&self, stream: &Stream, grid: impl Into<Grid>) -> Result<()> {
        self.enqueue(stream, grid.into())
    }
}

/// An instance as a user would write it: `add::<f32, 1024>`.
fn spelling(kernel: &ast::Kernel, instance: &ast::Instance) -> String {
    let of = |(arg, generic): (&GenericArg, &ast::Generic)| match (arg, generic.kind) {
        (GenericArg::Type(dtype), _) => dtype.name().to_owned(),
        (GenericArg::Const(value), ast::GenericKind::Const(DType::Bool)) => (*value != 0).to_string(),
        (GenericArg::Const(value), _) => value.to_string(),
    };
    let args: Vec<String> = instance.args.iter().zip(&kernel.generics).map(of).collect();
    let name = &kernel.name.name;
    if args.is_empty() { name.clone() } else { format!("{name}::<{}>", args.join(", ")) }
}

/// The metadata of the parameters: one for each, and of a struct one for each field. `promised` tells of each parameter of the IR what
/// specialized code expects of it.
fn params(kernel: &ast::Kernel, instance: &ast::Instance, promised: &[Vec<Promised>]) -> Vec<ParamMetadata> {
    let mut rest = promised;
    let mut promised = |words: usize| {
        let (own, others) = rest.split_at_checked(words).unwrap_or_default();
        rest = others;
        let (first, orders) = own.first().and_then(|of| of.split_first()).unwrap_or((&Promised::Divisible, &[]));
        (*first, Cow::from(orders.to_vec()))
    };
    let is_int = |dtype: DType| matches!(dtype.class(), Class::Signed | Class::Unsigned);
    let mut all = Vec::new();
    for param in &kernel.params {
        let structure = param.elem.structure.and_then(|index| kernel.structs.get(index));
        if let Some(structure) = structure {
            for (name, ty) in &structure.fields {
                let Some(dtype) = DType::from_name(&ty.name) else { continue };
                let name = format!("{}.{name}", param.name.name);
                let specialize = is_int(dtype) && !param.general;
                let (first, orders) = promised(1);
                all.push(ParamMetadata::new(name.into(), ParamType::Scalar(dtype), 1, specialize, first, orders));
            }
            continue;
        }
        let Some(dtype) = element(kernel, instance, &param.elem.name) else { continue };
        let (ty, specializes) = match param.kind {
            ParamKind::Ptr => (ParamType::Ptr(dtype), true),
            ParamKind::PtrMut => (ParamType::PtrMut(dtype), true),
            ParamKind::Scalar | ParamKind::Struct => (ParamType::Scalar(dtype), is_int(dtype)),
            ParamKind::Tensor(rank) => (ParamType::Tensor { dtype, rank, mutable: false }, true),
            ParamKind::TensorMut(rank) => (ParamType::Tensor { dtype, rank, mutable: true }, true),
        };
        let name = param.name.name.clone();
        let specialize = specializes && !param.general;
        let (first, orders) = promised(ty.words());
        all.push(ParamMetadata::new(name.into(), ty, param.multiple_of, specialize, first, orders));
    }
    all
}

/// The element type that a name stands for in this instance.
fn element(kernel: &ast::Kernel, instance: &ast::Instance, name: &str) -> Option<DType> {
    let generic = kernel.generics.iter().position(|generic| generic.name.name == name);
    match generic.and_then(|index| instance.args.get(index)) {
        Some(GenericArg::Type(dtype)) => Some(*dtype),
        Some(GenericArg::Const(_)) => None,
        None => DType::from_name(name),
    }
}
