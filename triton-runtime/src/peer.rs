//! Several GPUs of one host: who may access whose memory, and copies between them.

use crate::buffer::{DeviceData, DeviceDataMut};
use crate::copy::same_length;
use crate::device::{Backend, Device};
use crate::error::{Error, Result};
use crate::stream::Stream;

impl Device {
    /// Whether the hardware lets this device access memory of another one: over NVLink, or PCI Express. A device can access its own.
    ///
    /// ```
    /// use triton_runtime::Device;
    ///
    /// let all = Device::all();
    /// for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
    ///     println!("{a} -> {b}: {}", a.can_access_peer(b));
    /// }
    /// # assert!(Device::cpu().can_access_peer(&Device::cpu()));
    /// ```
    pub fn can_access_peer(&self, peer: &Device) -> bool {
        match (self.backend(), peer.backend()) {
            _ if self == peer => true,
            (Backend::Cuda(me), Backend::Cuda(peer)) => me.can_access(peer).unwrap_or(false),
            (Backend::Cpu | Backend::Cuda(_) | Backend::Sim(_), Backend::Cpu | Backend::Cuda(_) | Backend::Sim(_)) => {
                false
            }
        }
    }

    /// Lets this device access memory of another one: all that the other has allocated, and what it will. [`Stream::copy_to_peer`] then goes over
    /// NVLink without the host's memory, and [`View::from_raw_parts`](crate::View::from_raw_parts) takes addresses of the other device. It holds in one direction, until
    /// the process ends; calling it again changes nothing.
    ///
    /// # Errors
    /// [`Error::Peer`] where the hardware has no way, or what the driver says.
    pub fn enable_peer_access(&self, peer: &Device) -> Result<()> {
        match (self.backend(), peer.backend()) {
            _ if self == peer => Ok(()),
            (Backend::Cuda(me), Backend::Cuda(other)) if me.can_access(other)? => me.enable_access(other),
            (Backend::Cpu | Backend::Cuda(_) | Backend::Sim(_), Backend::Cpu | Backend::Cuda(_) | Backend::Sim(_)) => {
                Err(Error::Peer { device: self.to_string(), peer: peer.to_string() })
            }
        }
    }

    /// A new stream whose work is started before that of other streams of the device, wherever both wait for multiprocessors: for short work that
    /// others wait for, such as a reduction beside a product.
    ///
    /// # Errors
    /// What the driver says; never on the CPU or the simulator.
    pub fn high_priority_stream(&self) -> Result<Stream> {
        Stream::urgent(self)
    }
}

impl Stream {
    /// Enqueues a copy between buffers or slices of equal length of two GPUs of this process, or of one device. The stream is of either. It comes after the earlier uses of both, and before the later ones, whichever streams these are on. Without
    /// [peer access](Device::enable_peer_access) the driver copies through the host's memory.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::WrongDevice`] unless both are GPUs or one device, and the stream is of one of them; [`Error::Capture`], or a fault of earlier
    /// work.
    ///
    /// ```
    /// use triton_runtime::{Device, Result};
    ///
    /// # fn main() -> Result<()> {
    /// let (here, there) = (Device::best(), Device::all().swap_remove(0));
    /// let (stream, other) = (here.stream()?, there.stream()?);
    /// let x = stream.upload(&[1.0f32, 2.0])?;
    /// let mut y = other.zeros::<f32>(2)?;
    /// stream.copy_to_peer(&x, &mut y)?;
    /// assert_eq!(other.download(&y)?, [1.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn copy_to_peer<S, D>(&self, source: &S, target: &mut D) -> Result<()>
    where
        S: DeviceData + ?Sized,
        D: DeviceDataMut<Item = S::Item> + ?Sized,
    {
        let (source, target) = (source.as_slice(), target.as_mut_slice());
        same_length(source.len(), target.len())?;
        let bytes = source.len() * size_of::<S::Item>();
        let (to, from) = (target.allocation(), source.allocation());
        to.copy_from_peer(target.offset(), from, source.offset(), bytes, self)
    }
}
