//! ISAAC, section 8.1: what the instance that computes a product takes of a multiprocessor, and how a profiler measures it.

use crate::case::{Case, DType};
use crate::kernels::{Operands, Value};
use crate::raw::{Bare, Code, Parameters, Resources};
use crate::tiles::Tiled;
use crate::{Outcome, data, products, table};
use serde::Serialize;
use triton::metadata::{Image, Target};
use triton::prelude::*;
use triton::{Choice, Pool};
use triton_kernels::linear::kernels::double::{product_f64_pool, split_f64_pool};
use triton_kernels::linear::kernels::split::split_pool;
use triton_kernels::linear::kernels::whole::{product_pool, transposed_pool};
use triton_kernels::select::{Kernel, Plan};

/// An instance on a device.
#[derive(Debug, Serialize)]
pub struct Instance {
    dtype: DType,
    /// As the library names it, and the number of splits.
    name: String,
    tile: [usize; 3],
    /// Programs that share a tile of the result, and groups of warps of a program that do.
    splits: usize,
    groups: usize,
    programs: usize,
    target: &'static str,
    threads: u32,
    /// Blocks of a cluster.
    cluster: u32,
    /// Bytes of a block.
    shared_bytes: u32,
    /// Of a thread; nothing without a GPU.
    registers: Option<u32>,
    local_bytes: Option<u32>,
    /// On a multiprocessor; without a GPU the most that threads and shared memory allow.
    resident_blocks: u32,
    /// Threads that are resident, of as many as a multiprocessor has room for.
    occupancy: f64,
}

/// The image of a pool's member that a launch of dense, aligned operands takes; on a device that is not a GPU the first.
fn image<C: Choice>(
    pool: &'static Pool<C>,
    device: &Device,
    programs: [u32; 3],
    is: impl Fn(&C) -> bool,
) -> Option<&'static Image> {
    let member = pool.members().iter().find(|member| is(member.choice()))?;
    let images = &member.metadata().configs.get(member.config())?.images;
    let (capability, driver) = (device.compute_capability(), device.driver_version());
    let runs = |image: &&Image| {
        capability.is_none_or(|capability| image.target.runs_on(capability))
            && driver.is_none_or(|driver| image.driver() <= driver)
            && (device.is_cpu() || image.takes(programs, device.multiprocessors()))
    };
    images.iter().find(runs)
}

/// The same of the instance of a plan, whose operands are not transposed.
fn image_of(case: &Case, plan: &Plan, device: &Device) -> Option<&'static Image> {
    let [m, n, _] = case.shape;
    let side = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let programs = [m.div_ceil(plan.tile[0]), n.div_ceil(plan.tile[1]), plan.splits].map(side);
    let tile = |sides: [i32; 3]| sides.map(|side| side as usize) == plan.tile;
    macro_rules! of {
        ($pool:expr $(, $groups:expr)?) => {
            image($pool, device, programs, |of| tile([of.BM, of.BN, of.BK]) $(&& of.KL as usize == $groups)?)
        };
    }
    match (plan.kernel, case.dtype) {
        (Kernel::Whole, DType::F32) => of!(product_pool::<f32, false, false>()),
        (Kernel::Whole, DType::F16) => of!(product_pool::<f16, false, false>()),
        (Kernel::Whole, DType::Bf16) => of!(product_pool::<bf16, false, false>()),
        (Kernel::Whole, DType::F64) => of!(product_f64_pool::<false, false>()),
        (Kernel::Transposed, DType::F16) => of!(transposed_pool::<f16, false, false>()),
        (Kernel::Transposed, DType::Bf16) => of!(transposed_pool::<bf16, false, false>()),
        (Kernel::Split { .. }, DType::F64) => of!(split_f64_pool::<false, false, false>()),
        (Kernel::Split { groups, .. }, DType::F32) => of!(split_pool::<f32, f32, false, false, false>(), groups),
        (Kernel::Split { groups, .. }, DType::F16) => of!(split_pool::<f16, f16, false, false, false>(), groups),
        (Kernel::Split { groups, .. }, DType::Bf16) => of!(split_pool::<bf16, bf16, false, false, false>(), groups),
        (Kernel::Whole, DType::I8) | (Kernel::Transposed | Kernel::Split { .. }, _) => None,
    }
}

/// What the driver makes of an image, compiled as the image asks. The library's loader may compile again for another occupancy.
fn resources(image: &Image, device: &Device) -> Outcome<Option<Resources>> {
    if device.ordinal().is_none() {
        return Ok(None);
    }
    let stream = device.stream()?;
    // It is not launched, and so takes no parameters.
    let loaded = Bare::new(&Code::block_of(image), &stream, Parameters::of(&[]))?;
    Ok(Some(loaded.resources()?))
}

impl Instance {
    /// That of a product whose operands are not transposed.
    ///
    /// # Errors
    /// If the table has no instance for it, the device has no code of that, or the driver does not load it.
    pub fn new(case: &Case, device: &Device) -> Outcome<Instance> {
        let (plan, problem) = (products::plan(case)?, products::problem(case));
        let image = image_of(case, &plan, device)
            .ok_or_else(|| format!("`{}`: {device} has no code of the instance {plan}", case.name))?;
        let found = resources(image, device)?;
        let cluster = image.cluster.iter().product();
        let possible = image.target.resident_blocks(image.threads, 0, image.shared_bytes);
        let resident_blocks = found.map_or(possible, |found| found.resident_blocks);
        let room = Target::info(image.target).threads;
        Ok(Instance {
            dtype: case.dtype,
            name: plan.to_string(),
            tile: plan.tile,
            splits: plan.splits,
            groups: match plan.kernel {
                Kernel::Split { groups, .. } => groups,
                Kernel::Whole | Kernel::Transposed => 1,
            },
            programs: plan.programs(&problem),
            target: image.target.name(),
            threads: image.threads,
            cluster,
            shared_bytes: found.map_or(image.shared_bytes, |found| found.shared_bytes),
            registers: found.map(|found| found.registers),
            local_bytes: found.map(|found| found.local_bytes),
            resident_blocks,
            occupancy: f64::from(resident_blocks * image.threads) / f64::from(room),
        })
    }

    fn cells(&self) -> Vec<String> {
        let [m, n, k] = self.tile;
        let number = |value: Option<u32>| value.map_or("-".to_string(), |value| value.to_string());
        vec![
            self.dtype.name().to_string(),
            self.name.clone(),
            format!("{m}x{n}x{k}"),
            self.splits.to_string(),
            self.groups.to_string(),
            self.programs.to_string(),
            self.target.to_string(),
            self.threads.to_string(),
            self.cluster.to_string(),
            self.shared_bytes.to_string(),
            number(self.registers),
            number(self.local_bytes),
            self.resident_blocks.to_string(),
            format!("{:.0} %", 100.0 * self.occupancy),
        ]
    }
}

/// Instances as a table.
pub fn render(instances: &[Instance]) -> String {
    let head = [
        "type",
        "instance",
        "tile",
        "K splits",
        "K groups",
        "programs",
        "target",
        "threads",
        "cluster",
        "shared bytes",
        "registers",
        "local bytes",
        "blocks",
        "occupancy",
    ];
    table::render(&head, 3, &instances.iter().map(Instance::cells).collect::<Vec<_>>())
}

/// What `ncu` is to measure: time, hits in the L2 cache, registers, shared memory, warps that are resident.
const METRICS: &str = "gpu__time_duration.sum,lts__t_sector_hit_rate.pct,launch__registers_per_thread,\
                       launch__shared_mem_per_block,sm__warps_active.avg.pct_of_peak_sustained_active";

/// The commands by which Nsight Compute measures ours and cuBLAS, and what they mean.
pub fn profiler(case: &Case) -> String {
    let [m, n, k] = case.shape;
    let dtype = match case.dtype {
        DType::F32 => "float32",
        DType::F16 => "float16",
        DType::Bf16 => "bfloat16",
        DType::F64 => "float64",
        DType::I8 => "int8",
    };
    let ncu = format!("ncu --clock-control none --metrics {METRICS}");
    let program = format!(
        "import torch; of = dict(device='cuda', dtype=torch.{dtype}); a, b = torch.randn({m}, {k}, **of), torch.randn({k}, {n}, **of); \
         torch.cuda.synchronize(); torch.cuda.cudart().cudaProfilerStart(); torch.matmul(a, b); torch.cuda.synchronize()"
    );
    format!(
        "The L2 hit rate of ours, then of cuBLAS, with the cache emptied before each pass. TFLOP/s are {:.1} over the microseconds of all \
         kernels together.\n\n{ncu} triton-bench papers --table counters --dtype {} --once\n{ncu} --profile-from-start off python3 -c \"{program}\"\n",
        case.flops as f64 / 1e6,
        case.dtype.name()
    )
}

/// Launches a product once, for a profiler.
///
/// # Errors
/// Of the device.
pub fn once(case: &Case, device: &Device, seed: u64) -> Outcome {
    match case.dtype {
        DType::F32 => launch::<f32>(case, device, seed),
        DType::F16 => launch::<f16>(case, device, seed),
        DType::Bf16 => launch::<bf16>(case, device, seed),
        DType::F64 => launch::<f64>(case, device, seed),
        DType::I8 => launch::<i8>(case, device, seed),
    }
}

fn launch<T: Tiled + Value>(case: &Case, device: &Device, seed: u64) -> Outcome {
    let stream = device.stream()?;
    let [of_x, of_y, of_out] = case.lengths();
    let x = stream.upload(&data::random::<T>(of_x, seed))?;
    let y = stream.upload(&data::random::<T>(of_y, seed.wrapping_add(1)))?;
    let mut out = stream.zeros::<T::Out>(of_out)?;
    let product = products::product(case, Operands { x: &x, y: &y, out: &mut out })?;
    println!("{}: one launch of {}", case.name, product.selected(&stream)?);
    products::product(case, Operands { x: &x, y: &y, out: &mut out })?.launch(&stream)?;
    Ok(stream.synchronize()?)
}
