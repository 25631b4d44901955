//! Scenarios of relaxed accesses and fences.

use super::scenarios::check_all;

#[test]
fn fences() {
    check_all(SCENARIOS);
}

const SCENARIOS: &str = "
a relaxed load takes nothing until a fence
t0 write g 0 4
t0 store .release .gpu 64
u0 load .relaxed .gpu 64
u0 fence .gpu
u0 read g 0 4
---
a relaxed load alone takes nothing
t0 write g 0 4
t0 store .release .gpu 64
u0 fence .gpu
u0 load .relaxed .gpu 64
u0 read g 0 4 -> race 0
---
two fences
t0 write g 0 4
t0 fence .gpu
t0 write g 4 4
t0 store .relaxed .gpu 64
u0 load .relaxed .gpu 64
u0 fence .gpu
u0 read g 0 4
u0 read g 4 4 -> race 2
---
a fence of the block does not reach another cluster
t0 write g 0 4
t0 fence .cta
t0 store .relaxed .gpu 64
u0 load .relaxed .gpu 64
u0 fence .gpu
u0 read g 0 4 -> race 0
---
a fence of the block reaches the block
t0 write g 0 4
t0 fence .cta
t0 store .relaxed .gpu 64
t32 load .acquire .cta 64
t32 read g 0 4
t64 load .acquire .gpu 64
t64 read g 0 4 -> race 0
---
each side needs its kind of fence: the releasing one
t0 write g 0 4
t0 fence .acquire .gpu
t0 store .relaxed .gpu 64
u0 load .relaxed .gpu 64
u0 fence .gpu
u0 read g 0 4 -> race 0
---
each side needs its kind of fence: the acquiring one
t0 write g 0 4
t0 fence .release .gpu
t0 store .relaxed .gpu 64
u0 load .relaxed .gpu 64
u0 fence .acquire .gpu
u0 read g 0 4
u32 load .relaxed .gpu 64
u32 fence .release .gpu
u32 read g 0 4 -> race 0
---
fences for shared memory order accesses to it, and no others
t0 write s 0 4
t0 write g 0 4
t0 fence .release .cluster restrict
t0 write s 4 4
t0 store .relaxed .cluster 64
t64 load .relaxed .cluster 64
t64 read s 8 4
t64 fence .acquire .cluster restrict
t64 read s 0 4
t64 read s 4 4 -> race 3
t64 read g 0 4 -> race 1
---
the acquiring fence alone keeps back what is of global memory, until another fence
t0 write s 0 4
t0 write g 0 4
t0 store .release .cluster 64
t64 load .relaxed .cluster 64
t64 fence .acquire .cluster restrict
t64 read s 0 4
t64 read g 8 4
t64 fence .acquire .cluster
t64 read g 0 4
t65 load .relaxed .cluster 64
t65 fence .acquire .cluster restrict
t65 read s 0 4
t65 read g 0 4 -> race 1
---
the releasing fence is for shared memory of the own block
t64 write s 0 4
t64 fence .release .cluster restrict
t64 store .relaxed .cluster 64
t0 load .acquire .cluster 64
t0 read s 0 4 -> race 0
---
it is for what others did before, too, and is passed on
t32 write s 0 4
t32 write g 0 4
barrier t0 t32
t0 fence .release .cluster restrict
t0 store .relaxed .cluster 64
t64 load .relaxed .cluster 64
t64 fence .acquire .cluster restrict
barrier t64 t96
t96 read s 0 4
t96 read g 0 4 -> race 1
---
it adds to a fence for all memory, and ends with the next
t0 write g 0 4
t0 fence .release .cluster
t0 write s 0 4
t0 write g 4 4
t0 fence .release .cluster restrict
t0 store .relaxed .cluster 64
t64 load .acquire .cluster 64
t64 read g 0 4
t64 read s 0 4
t64 read g 4 4 -> race 3
t0 write s 8 4
t0 fence .release .cluster
t0 store .relaxed .cluster 64
t96 load .acquire .cluster 64
t96 read g 4 4
t96 read s 8 4
---
it does not reach another cluster
t0 write s 0 4
t0 fence .release .cluster restrict
t0 store .relaxed .gpu 64
u0 load .acquire .gpu 64
u0 read s 0 4 -> race 0
---
a proxy fence before it is passed on
t0 write s 0 4
t0 proxyfence s
t0 fence .release .cluster restrict
t0 store .relaxed .cluster 64
t64 load .relaxed .cluster 64
t64 fence .acquire .cluster restrict
t64 issue c
c read async s 0 4
---
a proxy fence after it counts, too
t0 write s 0 4
t0 fence .release .cluster restrict
t0 store .relaxed .cluster 64
t64 load .relaxed .cluster 64
t64 fence .acquire .cluster restrict
t64 issue c
c read async s 0 4 -> fence 0
t0 write s 4 4
t0 fence .release .cluster restrict
t0 store .relaxed .cluster 64
t64 load .relaxed .cluster 64
t64 fence .acquire .cluster restrict
t64 proxyfence s
t64 issue d
d read async s 4 4
";
