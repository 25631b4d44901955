//! What the compiler made of a kernel, as bytes. Warnings are left out: what is warned of is not kept.

use crate::deflate::inflate;
use triton_core::Compiled;
use triton_core::metadata::{
    Config, Image, MapElements, MapSwizzle, ProgramMap, Promised, Specialization, Target, TensorMap, Text,
};
use triton_core::types::DType;

const PROGRAMS: &[ProgramMap] = &[ProgramMap::Identity, ProgramMap::Persistent, ProgramMap::Peers];
const SWIZZLES: &[MapSwizzle] = &[MapSwizzle::None, MapSwizzle::B32, MapSwizzle::B64, MapSwizzle::B128];
const ELEMENTS: &[MapElements] = &[MapElements::Bits, MapElements::Tf32];

/// The record of the configs of each instance; `None` if it cannot hold them.
pub(super) fn write(instances: &[Vec<Compiled>]) -> Option<Vec<u8>> {
    let mut out = Writer(Vec::new());
    out.list(instances, |out, configs| out.list(configs, compiled))?;
    Some(out.0)
}

/// What a record holds; `None` if it is not a whole one.
pub(super) fn read(bytes: &[u8]) -> Option<Vec<Vec<Compiled>>> {
    let mut input = Reader(bytes);
    let instances = input.list(|input| input.list(read_compiled))?;
    input.0.is_empty().then_some(instances)
}

fn compiled(out: &mut Writer, compiled: &Compiled) -> Option<()> {
    out.list(&compiled.outers, |out, dtype| match dtype {
        None => out.word(0),
        Some(dtype) => out.word(1 + u32::try_from(position(DType::ALL, *dtype)?).ok()?),
    })?;
    out.list(&compiled.promised, |out, orders| out.list(orders, |out, promised| promise(out, *promised)))?;
    out.word(compiled.config.num_warps)?;
    out.text(&compiled.config.ir)?;
    out.list(&compiled.config.images, image)
}

fn read_compiled(input: &mut Reader<'_>) -> Option<Compiled> {
    Some(Compiled {
        outers: input.list(|input| {
            Some(match input.word()?.checked_sub(1) {
                None => None,
                Some(index) => Some(*DType::ALL.get(index as usize)?),
            })
        })?,
        promised: input.list(|input| input.list(read_promise))?,
        config: Config::new(input.word()?, input.text()?, input.list(read_image)?.into()),
        spills: None,
    })
}

fn promise(out: &mut Writer, promised: Promised) -> Option<()> {
    let (kind, multiple) = match promised {
        Promised::Divisible => (0, 0),
        Promised::Unit => (1, 0),
        Promised::Pitch(multiple) => (2, multiple),
        Promised::Extent(multiple) => (3, multiple),
        Promised::Nothing => (4, 0),
    };
    out.word(kind)?;
    out.word(multiple)
}

fn read_promise(input: &mut Reader<'_>) -> Option<Promised> {
    match (input.word()?, input.word()?) {
        (0, _) => Some(Promised::Divisible),
        (1, _) => Some(Promised::Unit),
        (2, multiple) => Some(Promised::Pitch(multiple)),
        (3, multiple) => Some(Promised::Extent(multiple)),
        (4, _) => Some(Promised::Nothing),
        _ => None,
    }
}

fn image(out: &mut Writer, image: &Image) -> Option<()> {
    out.member(Target::ALL, image.target)?;
    out.member(Specialization::ALL, image.specialization)?;
    out.word(image.order.into())?;
    out.bytes(image.entry.as_bytes())?;
    out.text(&image.ptx)?;
    out.words([image.ptx_version.0, image.ptx_version.1, image.threads])?;
    out.words(image.cluster)?;
    out.words([image.shared_bytes, image.has_assert_buffer.into(), image.assumes_dividends.into()])?;
    out.member(PROGRAMS, image.programs)?;
    // No limit on registers is 0, which none is.
    out.words([image.wanted_blocks, image.max_registers.unwrap_or(0)])?;
    out.list(&image.tensor_maps, |out, map| {
        out.word(map.param)?;
        out.words(map.extents)?;
        out.member(SWIZZLES, map.swizzle)?;
        out.member(ELEMENTS, map.elements)
    })
}

fn read_image(input: &mut Reader<'_>) -> Option<Image> {
    let (target, specialization) = (input.member(Target::ALL)?, input.member(Specialization::ALL)?);
    let order = u8::try_from(input.word()?).ok()?;
    let entry = String::from_utf8(input.bytes()?.to_vec()).ok()?;
    let ptx = input.text()?;
    let [major, minor, threads] = input.words()?;
    let cluster = input.words()?;
    let [shared_bytes, has_assert_buffer, assumes_dividends] = input.words()?;
    let programs = input.member(PROGRAMS)?;
    let [wanted_blocks, max_registers] = input.words()?;
    let maps = input.list(|input| {
        let (param, extents) = (input.word()?, input.words()?);
        Some(TensorMap::new(param, extents, input.member(SWIZZLES)?, input.member(ELEMENTS)?))
    })?;
    Some(Image::new(
        target,
        specialization,
        order,
        entry.into(),
        ptx,
        (major, minor),
        threads,
        cluster,
        shared_bytes,
        has_assert_buffer != 0,
        assumes_dividends != 0,
        programs,
        wanted_blocks,
        (max_registers != 0).then_some(max_registers),
        maps.into(),
    ))
}

fn position<T: PartialEq>(all: &[T], value: T) -> Option<usize> {
    all.iter().position(|member| *member == value)
}

/// Numbers as 4 bytes, the least significant first; what has a length behind it.
struct Writer(Vec<u8>);

impl Writer {
    fn word(&mut self, word: u32) -> Option<()> {
        self.0.extend(word.to_le_bytes());
        Some(())
    }

    fn words<const N: usize>(&mut self, words: [u32; N]) -> Option<()> {
        words.into_iter().try_for_each(|word| self.word(word))
    }

    fn len(&mut self, len: usize) -> Option<()> {
        self.word(u32::try_from(len).ok()?)
    }

    fn member<T: PartialEq>(&mut self, all: &[T], value: T) -> Option<()> {
        self.len(position(all, value)?)
    }

    fn list<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Writer, &T) -> Option<()>) -> Option<()> {
        self.len(items.len())?;
        items.iter().try_for_each(|of| item(self, of))
    }

    fn bytes(&mut self, bytes: &[u8]) -> Option<()> {
        self.len(bytes.len())?;
        self.0.extend(bytes);
        Some(())
    }

    /// The length of a text, and its stream; 0, and the text, if it is not deflated.
    fn text(&mut self, text: &Text) -> Option<()> {
        match text {
            Text::Deflated { bytes, len, .. } => {
                self.len(*len)?;
                self.bytes(bytes)
            }
            Text::Plain(text) => {
                self.word(0)?;
                self.bytes(text.as_bytes())
            }
            _ => None,
        }
    }
}

/// What is left of a record.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn word(&mut self) -> Option<u32> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*word))
    }

    fn words<const N: usize>(&mut self) -> Option<[u32; N]> {
        let mut words = [0; N];
        for word in &mut words {
            *word = self.word()?;
        }
        Some(words)
    }

    fn member<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        all.get(self.word()? as usize).copied()
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Reader<'a>) -> Option<T>) -> Option<Vec<T>> {
        let len = self.word()?;
        // Each takes a byte at least: of a damaged length nothing is reserved.
        (0..len).map(|_| item(self)).collect()
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.word()? as usize;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    fn text(&mut self) -> Option<Text> {
        let len = self.word()? as usize;
        let bytes = self.bytes()?;
        match len {
            0 => Some(Text::from(String::from_utf8(bytes.to_vec()).ok()?)),
            _ => Some(Text::of_stream(bytes.to_vec(), len, inflate)),
        }
    }
}
