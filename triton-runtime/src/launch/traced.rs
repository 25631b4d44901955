//! Which image a launch takes, and why not each of the others: for [`trace`].

use super::Launch;
use crate::error::Result;
use crate::gpu::Gpu;
use crate::kernel::{Code, Holds};
use crate::stream::Stream;
use crate::trace::{self, Traced};
use triton_ir::metadata::{Image, ParamMetadata, ParamType, ProgramMap, Specialization};

impl<S, const N: usize> Launch<'_, S, N> {
    /// The launch after all checks, of which it tells, with its time if that is asked for.
    #[cold]
    pub(super) fn traced(&self, stream: &Stream, holds: Holds, dims: [u32; 3]) -> Result<()> {
        self.tell(stream, holds, dims);
        if !trace::is_timed() || stream.is_captured() {
            return self.on_device(stream, holds, dims);
        }
        // Code is compiled and loaded before the clock starts.
        if let Some(code) = self.code(stream, dims)? {
            Code::load_all(&[code])?;
        }
        let before = stream.record_timed_event()?;
        self.on_device(stream, holds, dims)?;
        let after = stream.record_timed_event()?;
        after.synchronize()?;
        trace::time(&self.metadata().instance, self.config, after.since(&before)?);
        Ok(())
    }

    /// Tells of the launch. Where there is no GPU, images are those of the assumed one.
    fn tell(&self, stream: &Stream, holds: Holds, dims: [u32; 3]) {
        let gpu = stream.gpu().unwrap_or(trace::ASSUMED);
        let chosen = self.selected(&gpu, holds, dims).ok().map(|(index, _)| index);
        let images = self.kernel.config(self.config).map_or(&[][..], |config| &config.images[..]);
        let why =
            |(index, image): (usize, &Image)| (Some(index) != chosen).then(|| self.refusal(image, holds, dims, &gpu));
        let holds = format!("{}.{}", holds.specialization.name(), holds.order);
        let images = images.iter().enumerate().map(why).collect();
        let (metadata, config, args) = (self.metadata(), self.config, &self.args[..]);
        trace::launch(&Traced { metadata, config, args, programs: dims, holds, images }, stream);
    }

    /// Why a launch does not take an image, or that it prefers another.
    fn refusal(&self, image: &Image, holds: Holds, dims: [u32; 3], gpu: &Gpu) -> String {
        if !image.target.runs_on(gpu.capability) {
            return format!("a device of compute capability {} does not run {}", gpu.capability, image.target.name());
        }
        if !gpu.runs(image) {
            return format!(
                "the driver is too old, or a block has less than {} bytes of shared memory",
                image.shared_bytes
            );
        }
        if image.order != 0 && image.order != holds.order {
            return "operands are not in this order".into();
        }
        if image.specialization > holds.specialization {
            return self.unkept(image);
        }
        let is_shared = image.programs == ProgramMap::Peers;
        if !image.takes(dims, gpu.multiprocessors) {
            let why = if is_shared {
                "too few programs along x, or an odd number"
            } else {
                "all programs are resident together"
            };
            return why.into();
        }
        if !self.has_maps(image) {
            let peers = if is_shared { ", or rows are multiples of 32 bytes apart" } else { "" };
            return format!("no tensor map describes one of the views{peers}");
        }
        if !self.keeps_dividends(image, dims) {
            return "the dividend of a remainder may be negative".into();
        }
        "one before it is taken".into()
    }

    /// The argument that does not keep what an image assumes.
    fn unkept(&self, image: &Image) -> String {
        let of_params = self.args.iter().zip(self.metadata().params.iter()).filter(|(_, param)| param.specialize);
        for (arg, param) in of_params {
            let promised = param.promised.in_order(&param.orders, image.order);
            if arg.specialization(promised) < image.specialization {
                return unkept(param, arg.words(), image.specialization);
            }
        }
        "the arguments keep less than it assumes".into()
    }
}

/// What an argument is that keeps less than a specialization assumes.
fn unkept(param: &ParamMetadata, words: &[u64], assumed: Specialization) -> String {
    let name = &param.name;
    let ParamType::Tensor { dtype, rank, .. } = param.ty else {
        return match param.ty.scalar() {
            Some(_) => {
                format!("`{name}` is {}; `#[no_specialize]` leaves it out, if no access depends on it", words[0])
            }
            None => format!("`{name}` is not aligned to 16 bytes"),
        };
    };
    let (extents, strides) = words[1..].split_at(usize::from(rank));
    let is_whole = |elements: u64| (elements * u64::from(dtype.bytes())).is_multiple_of(16);
    let [pitches @ .., last] = strides else { return format!("`{name}` has no axes") };
    if *last != 1 {
        return format!("elements of `{name}` are {last} apart along its last axis");
    }
    if assumed > Specialization::UnitStride && !words[0].is_multiple_of(16) {
        return format!("the first element of `{name}` is not aligned to 16 bytes");
    }
    if let Some(pitch) = pitches.iter().find(|&&pitch| !is_whole(pitch)) {
        return format!("rows of `{name}` are {pitch} elements of {dtype} apart, no multiple of 16 bytes");
    }
    let last = extents.last().copied().unwrap_or(1);
    format!("rows of `{name}` have {last} elements of {dtype}, no multiple of 16 bytes")
}
