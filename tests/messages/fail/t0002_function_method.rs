//! A function for kernels is not a method.
struct Model;

impl Model {
    #[triton::function]
    fn forward(&self) -> f32 {
        1.0
    }
}

fn main() {}
