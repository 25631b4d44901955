#!/bin/sh
# Runs what `cargo xtask bundle` put beside this file, on a host with a GPU: run.sh examples|tests|bench|papers|users|tune|collect|costs|conformance
#
# Needs the NVIDIA driver; for the peers of the benchmarks also python3 with PyTorch and Triton.
# OUT=folder    where the benchmarks write their JSON (the current folder if it is not set)
# PYTHON=path   which Python has the peers (python3 if it is not set)
set -u

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
out=${OUT:-.}
python=${PYTHON:-python3}
failed=""

# Some ways of copying a folder lose the permission to run.
chmod +x "$here"/bench/* "$here"/examples/* "$here"/tests/* "$here"/conformance/* 2>/dev/null

say() { printf '\n== %s\n' "$*"; }

# step SECONDS NAME COMMAND..: runs a command with a time limit, and remembers whether it failed.
step() {
    limit=$1 name=$2
    shift 2
    say "$name"
    timeout -k 5 "$limit" "$@"
    code=$?
    [ "$code" -eq 0 ] && return 0
    case $code in
        124 | 137) why="ran longer than $limit s" ;;
        126 | 127) why="cannot be started here (exit code $code)" ;;
        *) why="failed (exit code $code)" ;;
    esac
    printf '== %s: %s\n' "$name" "$why"
    failed="$failed $name"
}

need_gpu() {
    if ! command -v nvidia-smi >/dev/null 2>&1; then
        echo "run.sh: no nvidia-smi: this host has no NVIDIA driver, and everything here needs a GPU" >&2
        exit 2
    fi
    if ! timeout 30 nvidia-smi --query-gpu=name,driver_version,memory.total,memory.used --format=csv,noheader; then
        echo "run.sh: nvidia-smi finds no usable GPU, and everything here needs one" >&2
        exit 2
    fi
}

# each FOLDER COMMAND: runs every program of a folder by a function.
each() {
    found=""
    for program in "$here/$1"/*; do
        [ -x "$program" ] || continue
        found=yes
        "$2" "$program"
    done
    if [ -z "$found" ]; then
        echo "run.sh: there are no programs in $here/$1: make the bundle by \`cargo xtask bundle\`" >&2
        exit 2
    fi
}

example() {
    name=$(basename "$1")
    case $name in
        cust_*) step 20 "$name" "$1" ;;
        *) step 20 "$name" "$1" --device cuda ;;
    esac
}

device_test() {
    # A test that finds no GPU passes and says SKIPPED: here that is a failure.
    name=$(basename "$1")
    log=$out/test-$name.log
    step 100 "$name" "$1" --nocapture >"$log" 2>&1
    cat "$log"
    if grep -q SKIPPED "$log"; then
        printf '== %s: skipped something although there is a GPU\n' "$name"
        failed="$failed $name"
    fi
}

mkdir -p "$out" || exit 2
case ${1:-} in
    examples)
        need_gpu
        each examples example
        ;;
    tests)
        need_gpu
        each tests device_test
        ;;
    bench)
        need_gpu
        bench=$here/bench/triton-bench
        step 420 compare "$bench" compare --json "$out/compare.json" --peers "$python" "$here/peers.py"
        step 10 plot "$bench" plot "$out/compare.json" "$out/results.svg"
        step 15 launch "$bench" launch --json "$out/launch.json"
        step 20 library "$bench" library
        step 60 first-launch "$bench" first-launch --json "$out/first-launch.json"
        step 15 compile "$bench" compile --json "$out/compile.json"
        step 35 cpu "$bench" cpu --json "$out/cpu.json"
        ;;
    papers)
        need_gpu
        step 480 papers "$here/bench/triton-bench" papers --rows --json "$out/papers.json" --peers "$python" "$here/peers.py"
        ;;
    users)
        need_gpu
        step 560 users "$here/bench/triton-bench" users --json "$out/users.json" --peers "$python" "$here/tutorials.py"
        ;;
    tune)
        need_gpu
        step 150 tune "$here/bench/triton-bench" tune --json "$out/tune.json"
        step 150 winners "$here/bench/triton-bench" winners --random 250 --seconds 120 --out "$out/gemm.tsv" --data "$out/times.csv"
        step 300 tune-products "$here/bench/triton-bench" tune-products --filter '^3',8192x8192x,linear --json "$out/tune-products.json"
        step 150 tune-skinny "$here/bench/triton-bench" tune-products --filter '2560x,x16x,NT 32x,NT 64x,NT 256x' --json "$out/tune-skinny.json"
        ;;
    collect)
        need_gpu
        # A run that was stopped goes on where it was.
        step 500 collect "$here/bench/triton-tune" collect --types bf16,f32 --orders NN,NT,TN --seconds 440 --out "$out/data.csv"
        step 60 autotune "$python" "$here/autotune.py"
        ;;
    costs)
        need_gpu
        step 60 costs "$here/bench/triton-bench" costs --json "$out/costs.json"
        ;;
    conformance)
        need_gpu
        step 550 conformance "$here/conformance/conformance" --device cuda
        step 250 library "$here/conformance/library" --device cuda
        # The code and the shared memory of GPUs without the instructions of Hopper.
        step 550 conformance-8.6 env TRITON_DSL_CAPABILITY=8.6 "$here/conformance/conformance" --device cuda
        step 250 library-8.6 env TRITON_DSL_CAPABILITY=8.6 "$here/conformance/library" --device cuda
        ;;
    *)
        echo "usage: run.sh examples|tests|bench|papers|users|tune|collect|costs|conformance" >&2
        exit 2
        ;;
esac

if [ -n "$failed" ]; then
    say "FAILED:$failed"
    exit 1
fi
say "all of $1 done"
