//! A recorded launch on the simulator, with what buffers held.

use crate::error::{Error, Result, at};
use crate::program::Kernel;
use crate::trace::Launch;
use std::collections::BTreeMap;
use triton_core::metadata::{Image, MapElements, MapSwizzle, TensorMap};
use triton_core::types::{DType, Elem};
use triton_sim::hopper::{self, DataType, Swizzle};
use triton_sim::{Arg, Launch as SimLaunch, Memory, Module, Options, Outcome};

/// Multiprocessors that share the programs of a launch: few, so that a block of persistent code runs several.
const MULTIPROCESSORS: u32 = 4;

/// Runs an image with the arguments of a launch over a grid of programs. Buffers of which nothing was recorded are zeros.
///
/// # Errors
/// The simulator does not know the code, or memory is missing.
pub fn run(kernel: &Kernel, image: &Image, launch: &Launch, programs: [u32; 3], options: &Options) -> Result<Outcome> {
    let failed = |why: String| Error::Compiler { instance: kernel.to_string(), why };
    let module = Module::parse(&image.text()).map_err(|error| failed(error.to_string()))?;
    let (mut memory, mut buffers) = (Memory::new(), BTreeMap::new());
    let mut args: Vec<Vec<u64>> = Vec::new();
    let types = types(kernel, launch);
    for (arg, ty) in launch.args.iter().zip(&types) {
        let rank = arg.words.len() / 2;
        let is_empty = arg.words.iter().skip(1).take(rank).any(|&extent| extent == 0);
        if ty.is_some() && arg.memory.is_none() && !is_empty {
            let why = format!("`{}` is memory of another library, which is not recorded", arg.name);
            return Err(Error::Value(kernel.to_string(), why));
        }
        let mut words = arg.words.clone();
        if let Some((first, bytes)) = arg.memory {
            let base = match buffers.get(&first) {
                Some(&base) => base,
                None => {
                    let contents = match &arg.data {
                        Some(file) => at(file, std::fs::read(file))?,
                        None => vec![0; bytes as usize],
                    };
                    let base = memory.alloc(bytes.max(1)).map_err(|error| failed(error.to_string()))?;
                    memory.write(base, &contents).map_err(|error| failed(error.to_string()))?;
                    buffers.insert(first, base);
                    base
                }
            };
            words[0] = base + (words[0] - first);
        }
        args.push(words);
    }
    let maps = image.tensor_maps.iter().map(|map| encode(map, &args, &types));
    let maps: Vec<Arg> = maps.map(|map| map.map(Arg::Bytes)).collect::<Option<_>>().ok_or_else(|| {
        failed(format!("no tensor map describes a view of this launch, which takes another image: {launch}"))
    })?;
    let slot = match image.has_assert_buffer {
        true => {
            let slot = memory.alloc(16).map_err(|error| failed(error.to_string()))?;
            memory.write(slot, &[0; 16]).map_err(|error| failed(error.to_string()))?;
            Some(Arg::Bits(slot))
        }
        false => None,
    };
    let words = args.iter().flatten().copied().map(Arg::Bits);
    let counts = image.programs.words(programs).into_iter().flatten().map(Arg::Bits);
    let resident = image.target.resident_blocks(image.threads, 0, image.shared_bytes).max(1) * MULTIPROCESSORS;
    let launch = SimLaunch {
        cluster: image.cluster,
        shared: image.shared_bytes,
        args: words.chain(maps).chain(counts).chain(slot).collect(),
        ..SimLaunch::new(
            &image.entry,
            image.blocks(programs, resident).ok_or_else(|| failed("more blocks than a grid has".into()))?,
            [image.threads, 1, 1],
        )
    };
    module.launch(&mut memory, &launch, options).map_err(|error| failed(error.to_string()))
}

/// The element type of each argument that begins with an address.
fn types(kernel: &Kernel, launch: &Launch) -> Vec<Option<DType>> {
    let mut params = kernel.func.params.iter();
    let of_arg = |words: usize| {
        let first = params.next()?;
        params.by_ref().take(words - 1).for_each(drop);
        match kernel.func.ty(first.value).elem {
            Elem::Ptr { pointee, .. } => Some(pointee),
            Elem::Num(_) => None,
        }
    };
    launch.args.iter().map(|arg| arg.words.len()).map(of_arg).collect()
}

/// A tensor map as the simulator takes it; `None` if none describes the view.
fn encode(map: &TensorMap, args: &[Vec<u64>], types: &[Option<DType>]) -> Option<Vec<u8>> {
    let words = args.get(map.param as usize)?;
    let dtype = (*types.get(map.param as usize)?)?;
    let rank = words.len() / 2;
    let (sizes, strides) = words.get(1..)?.split_at_checked(rank)?;
    let reversed = |values: &[u64]| values.iter().rev().copied().collect::<Vec<u64>>();
    let bytes: Vec<u64> =
        reversed(strides.get(..rank.checked_sub(1)?)?).iter().map(|s| s * u64::from(dtype.bytes())).collect();
    let boxes: Vec<u32> = map.extents.get(..rank)?.iter().rev().copied().collect();
    // Where bits are moved, which type of a width it is does not matter.
    let of_width = [(1, DataType::U8), (2, DataType::U16), (4, DataType::U32), (8, DataType::U64)];
    let (_, of_width) = of_width.into_iter().find(|(bytes, _)| *bytes == dtype.bytes())?;
    let data_type = if map.elements == MapElements::Tf32 { DataType::Tf32 } else { of_width };
    let swizzles = [
        (MapSwizzle::None, Swizzle::None),
        (MapSwizzle::B32, Swizzle::B32),
        (MapSwizzle::B64, Swizzle::B64),
        (MapSwizzle::B128, Swizzle::B128),
    ];
    let (_, swizzle) = swizzles.into_iter().find(|(of, _)| *of == map.swizzle)?;
    let built = hopper::TensorMap::tiled(data_type, words[0], &reversed(sizes), &bytes, &boxes);
    Some(built.swizzle(swizzle).build().ok()?.encode().to_vec())
}
