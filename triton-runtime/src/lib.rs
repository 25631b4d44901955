//! Devices, streams, buffers and launches.
