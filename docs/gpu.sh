#!/usr/bin/env bash
# Measures what docs/benchmarks.md says about a GPU. It needs no Go there:
#
#   go build -o bin/pawl ./cmd/pawl && go test -c -o bin/cuda.test ./objective/cuda
#   go test -c -o bin/cmd.test ./cmd/pawl && go test -c -o bin/mutants.test ./internal/mutants
#   bash docs/gpu.sh FOLDER [PART...]     # on the machine with the GPU
#
# Parts: tests tune bench checks sanitizer ratchet bisect winner dispatch import rivals slower same kernels profile
# planted gallery energy, and farm, which needs a PostgreSQL. All of them take about 45 minutes. Logs go to FOLDER; a part that fails does not stop the others.
set -uo pipefail

[ $# -gt 0 ] || { echo "usage: bash docs/gpu.sh FOLDER [PART...]" >&2; exit 64; }
out=$(mkdir -p "$1" && cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- tests tune bench checks sanitizer ratchet bisect winner dispatch import rivals slower same kernels profile planted gallery energy
pawl=$PWD/bin/pawl
vendor=$PWD/docs/vendor.py
gallery=$PWD/docs/gallery
planted=$PWD/objective/profile/testdata/planted
tests=$PWD/bin/cuda.test
mutants=$PWD/bin/mutants.test
commands=$PWD/cmd/pawl
best=BLOCK_M=128,BLOCK_N=128,LAZY_RESCALE=true,NUM_STAGES=2,NUM_WARPS=4,OVERLAP=false,QUERY_REGISTERS=false,RESIDENT_WARPS=8,TENSOR_SUM=true
hopper=CONSUMERS=4,BLOCK_N=64,STAGES=6,PINGPONG=true,QUERY_PLACES=2,WORKERS=132,TRUST_MAX=true

# Studies, results and the compile cache stay out of the way.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME=$scratch/cache
cd "$scratch"

# timed LOG COMMAND... appends what the command says, its exit status and its time.
timed() {
  local log=$out/$1 start status
  shift
  printf '\n### %s\n' "$*" >> "$log"
  start=$(date +%s%N)
  "$@" >> "$log" 2>&1
  status=$?
  printf 'exit status %d, %d ms\n' "$status" "$((($(date +%s%N) - start) / 1000000))" >> "$log"
}

# twice NAME FLAGS... tunes from a cold cache, and then the same again.
twice() {
  local name=$1 study
  shift
  rm -rf "$XDG_CACHE_HOME"
  for study in "$name-cold" "$name-warm"; do
    timed tune.log "$pawl" tune attention --out "$study" "$@"
    grep -A 14 '^Where the time went' "$study"/attention/*/suggestions.md >> "$out/tune.log"
    cp "$study"/attention/*/suggestions.json "$out/$study.json"
  done
}

# winner KERNEL prints the best point that a short search finds at the first workload.
winner() {
  local out_of=$scratch/winners
  [ -d "$out_of/$1" ] || timed winners.log "$pawl" tune "$1" --trials 60 --out "$out_of" 1>&2
  python3 -c 'import json, sys
study = json.load(open(sys.argv[1]))
print((study.get("winner") or study["default"])["point"])' "$out_of/$1"/*/suggestions.json
}

# Small problems that mean something: tails everywhere, more work than blocks stay for, more
# steps than a ring has places.
declare -A small=(
  [attention]=B=1,H=3,S=131
  [attention_hopper]=B=2,H=140,HK=70,S=131
  [gemm]=M=520,N=7000,K=456
  [gemm_mma]=M=520,N=7000,K=456
  [rmsnorm]=R=300,C=4104
  [softmax]=R=300,C=4104
  [reduce]=R=300,C=16388
)

for part in "$@"; do
  case $part in
    tests) PAWL_REQUIRE_GPU=1 timed tests.log "$tests" -test.run GPU -test.v ;;
    tune) # from a cold cache, and the same study again: once measured anew, twice remembered
      twice random --trials 100 --sampler random --ignore-earlier
      twice hundred --trials 100
      twice hundreds --trials 400
      ;;
    bench) for _ in 1 2 3 4 5 6 7 8 9 10; do timed bench.log "$pawl" bench attention --at "$best"; done ;;
    checks)
      timed checks.log "$pawl" fuzz attention
      timed checks.log "$pawl" fuzz attention --at "$best" --cases 1000
      for kernel in attention_hopper gemm gemm_mma rmsnorm softmax reduce; do
        timed checks.log "$pawl" fuzz "$kernel" --at "$(winner "$kernel")" --cases 1000
      done
      for kernel in attention_decode attention_hopper gemm gemm_grouped gemm_grouped_fp8 gemm_mma; do timed checks.log "$pawl" fuzz "$kernel" --workload all; done # every type
      PAWL_REQUIRE_GPU=1 PAWL_TEST_ALL=1 timed checks.log "$mutants" -test.run GPUMutants -test.v -test.timeout 30m
      ;;
    sanitizer) # compute-sanitizer's four tools on the winners, and on wrong kernels that only they see, which takes minutes
      timed sanitizer.log "$pawl" fuzz attention --at "$best" --sanitizer --shape "${small[attention]}"
      for kernel in attention_hopper gemm gemm_mma rmsnorm softmax reduce; do
        timed sanitizer.log "$pawl" fuzz "$kernel" --at "$(winner "$kernel")" --sanitizer --shape "${small[$kernel]}"
      done
      timed sanitizer.log "$pawl" fuzz attention_hopper --workload training_512_bf16 --at "$hopper" --sanitizer --shape B=1,H=4,HK=2,S=131
      timed sanitizer.log "$pawl" fuzz attention_hopper --at "${hopper/PINGPONG/MIX_EARLY},KEEP_MAX=true" --sanitizer --shape B=2,H=140,HK=70,S=131
      timed sanitizer.log "$pawl" fuzz attention_hopper --at "$hopper,SHARED_WEIGHTS=true" --sanitizer --shape B=1,H=4,HK=2,S=131
      timed sanitizer.log "$pawl" fuzz attention_hopper --workload wide_2048 --at CONSUMERS=3,PINGPONG=true,WORKERS=128,TRUST_MAX=true,KEEP_MAX=true --sanitizer --shape B=1,H=4,HK=2,S=131
      timed sanitizer.log "$pawl" fuzz gemm --at CLUSTER=2 --sanitizer --shape M=520,N=712,K=456
      timed sanitizer.log "$pawl" fuzz attention_hopper --workload wide_2048_fp8 --sanitizer --shape B=1,H=4,HK=2,S=131
      for kernel in gemm gemm_mma; do
        for workload in square_4096_bf16 square_4096_fp8; do
          timed sanitizer.log "$pawl" fuzz $kernel --workload $workload --sanitizer --shape M=130,N=264,K=784
        done
      done
      PAWL_REQUIRE_GPU=1 PAWL_TEST_ALL=1 timed sanitizer.log "$mutants" -test.run GPUTools -test.v -test.timeout 30m
      ;;
    ratchet) # a gate run: the first has nothing to compare with, the others do
      for point in "$best" "${best/LAZY_RESCALE=true/LAZY_RESCALE=false}" "${best/BLOCK_N=128/BLOCK_N=64}"; do
        printf 'kernels: [{kernel: attention, at: "%s"}]\n' "$point" > gate.yaml
        timed ratchet.log "$pawl" gate
        cp results/ratchet_report.json "$out" # the state of the device stands with each arm
      done
      ;;
    bisect) (cd "$commands" && timed bisect.log ../../bin/cmd.test -test.run TestScripts/gate-bisect-gpu -test.v) ;;
    winner) # what a study's winner is to the baseline and to the other workloads
      printf 'kernels: [{kernel: attention_hopper}]\n' > gate.yaml
      timed winner.log "$pawl" gate
      timed winner.log "$pawl" tune attention_hopper --trials 40 --gate --across --out winner
      cp winner/attention_hopper/*/suggestions.md "$out/winner.md"
      ;;
    rivals) # tuned points beside PyTorch's backends, cuBLAS, and a copy
      short=CONSUMERS=2,BLOCKS=2,BLOCK_N=64,STAGES=2,WORKERS=132,TRUST_MAX=true
      against() { timed rivals.log "$pawl" rivals "$1" --workload "$2" --at "$3" --results "$out/rivals-$1-$2.json"; }
      unrolled=CONSUMERS=4,BLOCK_N=64,STAGES=4,QUERY_PLACES=2,TILES_UNROLLED=2,WORKERS=128,PRODUCER_REGISTERS=3,TRUST_MAX=true,MIX_EARLY=true
      for workload in training_512 training_512_bf16; do against attention_hopper $workload $unrolled,KEEP_MAX=true; done
      for workload in context_1024 context_2048; do against attention_hopper $workload "${unrolled/STAGES=4/STAGES=8},KEEP_MAX=true"; done
      against attention_hopper training_512_causal "${unrolled/STAGES=4/STAGES=6}"
      against attention_hopper small_448 $short,MIX_EARLY=true
      against attention_hopper context_4096_causal "${hopper/QUERY_PLACES=2/QUERY_PLACES=1}"
      against attention_hopper large_640 "${short/BLOCK_N=64/BLOCK_N=80},KEEP_MAX=true"
      for workload in wide_2048 wide_2048_bf16 grouped_2048_causal_bf16; do
        against attention_hopper $workload CONSUMERS=3,BLOCK_N=128,STAGES=2,PINGPONG=true,WORKERS=128,TRUST_MAX=true,KEEP_MAX=true
      done
      for workload in wide_2048_fp8 grouped_2048_causal_fp8; do
        against attention_hopper $workload CONSUMERS=3,BLOCK_N=128,STAGES=3,QUERY_PLACES=2,WORKERS=128,TRUST_MAX=true
      done
      for workload in square_4096 square_8192 square_4096_bf16 square_8192_bf16 square_4096_fp8 square_8192_fp8; do
        timed rivals.log "$pawl" tune gemm --workload $workload --budget 18s --rounds 4 --out rivals
        timed rivals.log "$pawl" rivals gemm --workload $workload --rounds 8 --out rivals --results "$out/rivals-gemm-$workload.json"
      done
      for workload in square_4096 square_8192 square_4096_bf16 tall; do
        timed rivals.log "$pawl" tune gemm_mma --workload $workload --budget 18s --rounds 6 --out rivals
        timed rivals.log "$pawl" rivals gemm_mma --workload $workload --rounds 8 --out rivals --results "$out/rivals-gemm_mma-$workload.json"
      done
      ;;
    dispatch) # what shipping few points costs on the attention workloads; about five minutes
      timed dispatch.log "$pawl" tune attention_hopper --workload all --trials 30 --rounds 6 --budget 90s --out dispatch
      timed dispatch.log "$pawl" dispatch attention_hopper --rounds 6 --out dispatch
      for k in 1 2 3; do timed dispatch.log "$pawl" dispatch attention_hopper --rounds 6 --points $k --out dispatch --to "$out/dispatch-$k"; done
      cp dispatch/attention_hopper/attention_hopper_dispatch.* "$out"
      printf '#include "attention_hopper_dispatch.h"\nint main() { return attention_hopper_dispatch("NVIDIA H200", 32, 0, 0, 64, 0, 8, 8, 512) < 0; }\n' > ask.cu
      timed dispatch.log nvcc -std=c++17 -I"$out" ask.cu -o ask
      timed dispatch.log ./ask
      ;;
    import) # the scripts of the tests, from Kernel Tuner's words to a first search; needs numpy
      sed -n '/^-- convolution.py --$/,$p' "$commands/testdata/import.txt" | awk '/^-- .* --$/ { name = $2; next } { print > name }'
      for script in convolution hotspot dedispersion gemm pnpoly; do
        timed import.log "$pawl" import kernel-tuner $script.py --to imported_$script
        timed import.log "$pawl" check imported_$script
        timed import.log "$pawl" tune imported_$script --trials 10 --rounds 3 --out imported
      done
      ;;
    slower) timed slower.log "$pawl" gate selftest attention --at "$best" --slowdowns 3.5 --comparisons 100 ;;
    same) timed same.log "$pawl" gate selftest attention --at "$best" --slowdowns 0 --comparisons 100 ;;
    kernels) # every workload of the kernels that have no host form, and the vendor's libraries
      timed kernels.log python3 "$vendor"
      for kernel in attention_decode attention_hopper gemm gemm_grouped gemm_grouped_fp8 gemm_mma rmsnorm softmax reduce; do
        for workload in $("$pawl" space "$kernel" --workload none 2>&1 | sed -n 's/.*there are //p' | tr -d ','); do
          timed kernels.log "$pawl" tune "$kernel" --workload "$workload" --trials 100 --out "$kernel-$workload"
        done
      done
      ;;
    profile) # why the default is slow, why another point is faster, and why a gate fails
      timed profile.log "$pawl" profile attention_hopper
      timed profile.log "$pawl" profile attention_hopper --compare default "$hopper"
      timed profile.log "$pawl" profile reduce
      timed profile.log "$pawl" tune attention_hopper --trials 30 --profile --out why
      cp why/attention_hopper/*/suggestions.md "$out/why.md"
      cp why/attention_hopper/*/report.html "$out/why.html"
      timed profile.log "$pawl" profile attention_hopper --out why # its counters stay with the study
      for point in "$hopper" CONSUMERS=2; do # the second is the regression
        printf 'kernels: [{kernel: attention_hopper, at: "%s"}]\nprofile: [regression]\n' "$point" > gate.yaml
        timed profile.log "$pawl" gate --baseline why/baseline.json
      done
      cp why/ratchet_report.md "$out/why-regression.md"
      ;;
    planted) # kernels with one fault each, which the first advice should name; about three minutes
      ncu=$(command -v ncu || ls /usr/local/cuda/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2> /dev/null | tail -n 1)
      for kernel in copy banks strided spills tail; do
        timed planted.log "$pawl" profile "$planted/$kernel" --out faults
        for report in faults/"$kernel"/*/profiles/*.ncu-rep; do # test data of objective/profile
          "$ncu" --import "$report" --page raw --csv --print-units base | gzip -9 > "$out/$kernel.csv.gz"
        done
      done
      # Fifty more in one program, profiled as pawl does it.
      nvcc -O3 -arch=sm_90 -o many "$planted/../faults/faults.cu"
      special=sm__inst_executed_pipe_xu.sum kinds=smsp__sass_thread_inst_executed_op
      timed planted.log "$ncu" --set full --metrics "$special,${kinds}_conversion_pred_on.sum,${kinds}_integer_pred_on.sum,${kinds}_fp64_pred_on.sum" \
        --import-source no --profile-from-start off --clock-control none --cache-control all --export many.ncu-rep --force-overwrite ./many
      "$ncu" --import many.ncu-rep --page raw --csv --print-units base | gzip -9 > "$out/faults.csv.gz"
      timed planted.log "$pawl" profile "$planted/banks" --compare default PAD=1
      # A study whose two points are profiled has evidence for the parameter that moves the loss.
      timed planted.log "$pawl" tune "$planted/banks" --trials 2 --rounds 3 --profile --out evidence
      timed planted.log "$pawl" profile "$planted/banks" --out evidence
      timed planted.log "$pawl" studies lessons banks --out evidence
      cp -r "$planted/banks" banks
      for pad in 1 0; do # the second is the regression
        printf 'kernels: [{kernel: ./banks, at: PAD=%s}]\nprofile: [regression]\n' "$pad" > gate.yaml
        timed planted.log "$pawl" gate --baseline regression/baseline.json
      done
      cp regression/ratchet_report.md "$out/planted-regression.md"
      ;;
    gallery) # every kernel to begin from: its last workload tuned, with caches of each kind, and checked at length
      for kernel in "$gallery"/*; do
        grep -q 'cuda:' "$kernel/kernel.yaml" || continue
        for workload in $("$pawl" space "$kernel" --workload none 2>&1 | sed -n 's/.*there are //p' | tr -d ','); do
          timed gallery.log "$pawl" tune "$kernel" --backend cuda --workload "$workload" --trials 30 --out "gallery-$workload"
        done
        for caches in warm flush; do timed gallery.log "$pawl" bench "$kernel" --backend cuda --caches "$caches"; done
        timed gallery.log "$pawl" fuzz "$kernel" --backend cuda --cases 100
      done
      ;;
    farm) # a study built in and on a farm of this machine, in turns; needs a PostgreSQL (PAWL_FARM_DB=postgres://...)
      [ -n "${PAWL_FARM_DB:-}" ] || { echo "farm: set PAWL_FARM_DB" | tee -a "$out/farm.log"; continue; }
      alone() { timed farm.log "$pawl" tune attention_hopper --trials 100 --ignore-earlier --seed 1 --cache "$scratch/alone-$1" --out "alone-$1"; }
      together() {
        "$pawl" farm init --db "$PAWL_FARM_DB" --farm "farm_$1" >> "$out/farm.log" 2>&1
        "$pawl" worker --db "$PAWL_FARM_DB" --farm "farm_$1" --cache "$scratch/farm-$1" 2> "$out/worker-$1.log" &
        local worker=$!
        until grep -q working "$out/worker-$1.log" || ! kill -0 $worker; do sleep 0.1; done
        timed farm.log "$pawl" tune attention_hopper --trials 100 --ignore-earlier --seed 1 --db "$PAWL_FARM_DB" --farm "farm_$1" --on h200 --out "farm-$1"
        kill $worker
        wait $worker
      }
      for pair in 1 2 3 4; do
        if [ $((pair % 2)) = 1 ]; then alone $pair; together $pair; else together $pair; alone $pair; fi
      done
      ;;
    energy) # what the stencil uses per launch: how well it repeats, and the Pareto front with the time
      cp -r "$gallery/stencil" energy
      sed -i 's/^minimize:.*/minimize: [energy, time]/' energy/kernel.yaml
      for _ in 1 2 3; do timed energy.log "$pawl" bench ./energy --backend cuda --rounds 6 --samples 5; done
      timed energy.log "$pawl" tune ./energy --backend cuda --trials 12 --rounds 6 --out energy-study
      cp energy-study/stencil/*/suggestions.md "$out/energy.md"
      ;;
    *) echo "no part $part" >&2; exit 64 ;;
  esac
done
