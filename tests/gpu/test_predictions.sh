# SPDX-License-Identifier: Apache-2.0
# What plans for a GPU say: what the emulated GPU counts, limits of any GPU, and the page tests/bench/gpu.md.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
emu=$top_builddir/tests/gpu
[ -x "$emu/qcnn-emu" ] && [ -x "$emu/work-checked" ] || tap_skip_all "no emulated GPU in this build"

# Launches, copies, waits, operations and bytes.
"$emu/work-checked" >points 2>findings
status=$?
{ grep '^not ok' points; cat findings; } | sed 's/^/# /'
[ $status -eq 0 ] && [ ! -s findings ]
tap_result $? "counted as planned: $(grep -c '^ok' points) points"

# Limits of a GPU.
printf 'QCNN 1;\nqubit[13] q; param float[13] t; ry(each t) on q; cx on ring(q); observe z(q[0]);\n' >layer.qcnn
plan() { "$emu/qcnn-emu" compile --emit=plan --device=cuda "$@" layer.qcnn; }
most() { sed -n "s/^  $1 *[^ ]* to \([^ ]*\) s, and the host's own work.*/\1/p" out; }
tap_exit 0 "a usual GPU" plan
tap_has out 'limits     assumed, a usual GPU: memory 2000 GB/s' "its limits"
tap_exit 0 "a GPU by its name" plan --gpu=h200
tap_has out 'limits     assumed, H200: memory 4800 GB/s, multiply-add 6.7e+04 GFLOP/s single, 3.4e+04 double' "its limits"
tap_has out 'batch      1 sample in 1 unit' "of one sample"
tap_exit 0 "with another memory" plan --gpu=h200,memory=1,launch=7
tap_has out 'H200: memory 1 GB/s' "is slower"
tap_has out ' 7 us a launch, 8 a copy, 10 a wait' "launches too"
bytes=$(sed -n 's/^  forward .* launches, \([^ ]*\) bytes of memory.*/\1/p' out)
tap_ok "takes as long as its memory" awk -v s="$(most forward)" -v b="$bytes" 'BEGIN { exit !(b > 5e4 && s > 0.99 * b / 0.85e9 && s < b / 0.85e9 + 1e-4) }'
tap_exit 0 "limits alone" plan --gpu=single=1,copy=0.001,wait=0.001,launch=0.001
flops=$(sed -n 's/^flops  *\([^ ]*\) forward.*/\1/p' out)
tap_ok "a GPU that computes slowly" awk -v s="$(most forward)" -v f="$flops" 'BEGIN { exit !(f > 1e5 && s > f / 1e9) }'
tap_exit 0 "many samples" plan --gpu=h100 --batch=200
tap_has out 'batch      200 samples in 2 units' "in units"
tap_has out 'in 2 units, 2 side by side where the host has as many threads' "which are computed side by side"
"$emu/qcnn-emu" bench --circuit=sel --qubits=28 --show >layer.qcnn
tap_exit 0 "a plan of a training" plan
bytes() { sed -n 's/^  forward .* launches, \([^ ]*\) bytes of memory.*/\1/p' out; }
training=$(bytes)
tap_exit 0 "a plan of the forward pass alone" plan --forward
tap_ok "is another one: $(bytes) bytes, $training in a training" awk -v a="$(bytes)" -v b="$training" 'BEGIN { exit !(a > 0 && a < b) }'
for wrong in h101 h100,h200 memory=0 memory= memory=1x colour=1; do
	tap_exit 2 "--gpu=$wrong" plan --gpu=$wrong
done
tap_exit 2 "a GPU's name for the processor" "$QCNN" compile --emit=plan --device=cpu --gpu=h100 layer.qcnn
tap_has err '--gpu is for plans of --device=cuda' "is refused"

# A state in a tile: waits and launches are the time of small jobs.
printf 'QCNN 1;\nqubit[4] q; param float[4] t; ry(each t) on q; cx on ring(q); observe z(q[0]);\n' >layer.qcnn
tap_exit 0 "a small circuit" plan --gpu=h100
tap_ok "takes its launches, copies and waits" awk -v s="$(most 'with gradient')" 'BEGIN { exit !(s > 0.99 * (4e-6 + 2 * 8e-6 + 10e-6) && s < 5e-5) }'

# The page.
sh "$top_srcdir/tests/bench/gpu.sh" "$emu/qcnn-emu" >page 2>err
tap_same page "$top_srcdir/tests/bench/gpu.md" "tests/bench/gpu.md is what plans say now (else: make bench-gpu)"
tap_done
