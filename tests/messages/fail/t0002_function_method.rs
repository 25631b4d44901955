//! A function for kernels is no method.
struct Model;

impl Model {
    #[triton::function]
    fn forward(&self) -> f32 {
        1.0
    }
}

fn main() {}
