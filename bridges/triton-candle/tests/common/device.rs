//! The device of tests.

use candle_core::Device;

/// Where tests run: the CPU, or with the feature `cuda` a GPU, if `TRITON_CANDLE_DEVICE` is `cuda`. Each thread has a device of its own, since the
/// stream of candle's is that of the thread.
pub fn device() -> Device {
    thread_local! {
        static DEVICE: Device = match std::env::var("TRITON_CANDLE_DEVICE") {
            Ok(device) if device == "cuda" => Device::new_cuda(0).expect("a GPU"),
            _ => Device::Cpu,
        };
    }
    DEVICE.with(Clone::clone)
}
