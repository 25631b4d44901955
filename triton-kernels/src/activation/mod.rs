//! Activations of elements, activations that gate others, and their gradients.

#[cfg(feature = "activation")]
mod elementwise;
mod kind;

#[cfg(feature = "activation")]
pub use elementwise::{
    Activate, ActivateBackward, Gated, GatedBackward, activation, activation_backward, gated, gated_backward,
};
pub use kind::Activation;
