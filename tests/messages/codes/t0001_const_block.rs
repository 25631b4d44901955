//! A `const` block asserts, and does nothing else.
use triton::prelude::*;

#[triton::kernel(BLOCK = [64])]
fn kernel<const BLOCK: i32>(x: PtrMut<f32>) {
    let size = const { BLOCK * 2 };
    //~ `const`: a `const` block is not part of the kernel language [T0001]
    //~   help: write a `const NAME: type = value;`; as a statement there is `const { assert!(..) }`
    const {
    //~ `const`: a `const` block is not part of the kernel language [T0001]
    //~   help: write a `const NAME: type = value;`; as a statement there is `const { assert!(..) }`
        assert!(BLOCK > 0);
        assert!(BLOCK < 128);
    }
    const { println!("{}", BLOCK) }
    //~ `const`: a `const` block is not part of the kernel language [T0001]
    //~   help: write a `const NAME: type = value;`; as a statement there is `const { assert!(..) }`
    const {}
    //~ `const`: a `const` block is not part of the kernel language [T0001]
    //~   help: write a `const NAME: type = value;`; as a statement there is `const { assert!(..) }`
    store(x, const { assert!(BLOCK > 0) }, true);
    //~ `const`: a `const` block is not part of the kernel language [T0001]
    //~   help: write a `const NAME: type = value;`; as a statement there is `const { assert!(..) }`
}

fn main() {}
