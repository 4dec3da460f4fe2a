#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpu.sh [QCNN]: prints tests/bench/gpu.md, what plans for GPUs are expected to take. QCNN is a program that makes plans for the device
# cuda; none has to be there (default: tests/gpu/qcnn-emu).
set -eu
qcnn=$(command -v "${1:-tests/gpu/qcnn-emu}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gpus="h100 h200 a100 rtx4090"

# name | circuit | samples | line of the plan: forward or gradient | precision | exact optimisations, or none
cat >"$work/jobs" <<'END'
QCNN, 23 qubits, gradient|--circuit=qcnn --qubits=23|1|gradient|single
the same with heisenberg_tail|--circuit=qcnn --qubits=23|1|gradient|single|heisenberg_tail
the same in double precision|--circuit=qcnn --qubits=23|1|gradient|double
QCNN, 8 qubits, batch 65,536, gradient|--circuit=qcnn --qubits=8|65536|gradient|single
QCNN, 8 qubits, batch 32, gradient|--circuit=qcnn --qubits=8|32|gradient|single
QCNN, 8 qubits, one sample, gradient|--circuit=qcnn --qubits=8|1|gradient|single
one entangling layer, 28 qubits|--circuit=sel --qubits=28|1|forward|single
three entangling layers, 28 qubits|--circuit=sel --qubits=28 --layers=3|1|forward|single
random circuit on a grid, 30 qubits, 20 cycles|--circuit=random --qubits=30 --layers=20|1|forward|single
the same with 100 cycles|--circuit=random --qubits=30 --layers=100|1|forward|single
brickwork of any two-qubit gates, 30 qubits, depth 20|--circuit=brickwork --qubits=30 --layers=20|1|forward|single
quantum Fourier transform, 28 qubits|--circuit=qft --qubits=28|1|forward|single
END

# plan GPU: of the job in $circuit, $samples, $line, $precision.
plan() {
	"$qcnn" compile --emit=plan --device=cuda --gpu="$1" --batch="$samples" --precision="$precision" --optimizations="${optimisations:-none}" \
		--no-pass=cone $([ "$line" = forward ] && echo --forward) "$work/model.qcnn" >"$work/plan"
}

# span: seconds as in the plan, as text.
span='function text(s) { return s >= 1 ? sprintf("%.3g s", s) : s >= 1e-3 ? sprintf("%.3g ms", 1e3 * s) : sprintf("%.3g µs", 1e6 * s) }
	function both(a, b) { a = text(a); b = text(b); if (a == b) return a
		split(a, x, " "); split(b, y, " "); return (x[2] == y[2] ? x[1] : a) " – " b }'

limits() {
	printf '| | memory | single | double | multiprocessors | between precisions | host and device |\n|---|--:|--:|--:|--:|--:|--:|\n'
	for gpu in $gpus; do
		plan $gpu
		sed -n 's/^limits  *assumed, \(.*\): memory \([^ ]*\) GB.*multiply-add \([^ ]*\) GFLOP.s single, \([^ ]*\) double, \([^ ]*\) G.*host \([^ ]*\) GB.s, \([^ ]*\) multi.*/\1|\2|\3|\4|\7|\5|\6/p' "$work/plan" |
			awk -F'|' -v gpu=$gpu '{ printf "| %s (`%s`) | %.4g GB/s | %.4g TFLOP/s | %.4g TFLOP/s | %d | %.4g · 10⁹/s | %.4g GB/s |\n", $1, gpu, $2, $3 / 1e3, $4 / 1e3, $5, $6, $7 }'
	done
}

jobs() {
	printf '| job | H100 | H200 | A100 | RTX 4090 | launches | copies | waits | memory | readouts on H100 |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n'
	while IFS='|' read -r name circuit samples line precision optimisations; do
		# shellcheck disable=SC2086
		"$qcnn" bench $circuit --show >"$work/model.qcnn"
		printf '| %s ' "$name"
		for gpu in $gpus; do
			plan $gpu
			cp "$work/plan" "$work/plan-$gpu"
			awk -v line="$line" "$span"' $1 == line || $2 == line { sub(/with gradient/, "gradient"); printf "| %s ", both($2, $4); exit }' "$work/plan"
		done
		awk -v line="$line" -v samples="$samples" '
			/^shape/ { for (k = 1; k < NF; k++) if ($(k + 1) ~ /^sample/) width = $k }
			!bytes && ($1 == line || $2 == line) {
				for (k = 1; k < NF; k++) { if ($(k + 1) == "launches,") launches = $k; if ($(k + 1) == "copies") copies = $k
					if ($(k + 1) == "bytes" && $(k + 3) ~ /memory/) bytes = $k; if ($(k + 1) ~ /^waits/) waits = $k } }
			/^  [a-z]/ { part = $1 }
			/^    (forward|back)/ && (line == "gradient" || $1 == "forward") {
				for (k = 1; k <= NF; k++) if ($k == "to") { all += $(k - 1) + $(k + 1); out += part == "outputs" ? $(k - 1) + $(k + 1) : 0 } }
			END { printf "| %d | %d | %d | %s | %s |\n", launches, copies, waits, bytes < 1e8 ? sprintf("%.3g MB", bytes / 1e6) : sprintf("%.3g GB", bytes / 1e9),
				samples % width ? "-" : sprintf("%.0f %%", 100 * out / all) }' "$work/plan-h100"
	done <"$work/jobs"
}

cat <<'END'
# What GPUs are expected to take

**Everything on this page is predicted: no GPU has been measured.** `make bench-gpu` prints it again, from plans; so does, for any
circuit and any GPU,

    qcnn compile --emit=plan --device=cuda --gpu=h100 --batch=1024 model.qcnn
    qcnn compile --emit=plan --device=cuda --gpu=memory=1800,single=90000,double=1400,units=170 model.qcnn

`tests/gpu/check.sh` measures these jobs where there is a GPU.

END
jobs
cat <<'END'

A range is what arithmetic and memory take at the same time (the first number) and one after the other (the second). Launches, copies,
waits and memory are those of a call of the whole batch, in and out of the device's memory. The last column is the part of a unit's time on
an H100 that readouts take in launches of their own, with what the backward pass begins with, their copies and waits. Products of Z have no
such launches: the last stage sums them, and the first one of the backward pass makes lambda of them.

Gradients are those of a loss that a GPU computes itself, such as mse. The work of the host comes on top: encoding, matrices, losses and the
chain rule. With `--device=null`, which does that work alone, a call takes
19 ms for the 65,536 samples of 8 qubits on two processors (an AMD EPYC, as of [the page of the cpu](README.md)), 9 µs for 32 samples,
and 5 to 75 µs for one sample of the other jobs. Matrices of samples are also brought into the kernels' precision and order, which is
not in these numbers. So a training of many small samples on a fast GPU waits for its processors, of which it should have more than two.

## The model

What a plan asks of a GPU is counted from the launches that would be made: kernels, blocks of threads, bytes of memory that a launch
reads and writes, operations in single and in double precision, conversions between the two, copies, calls and waits of the host. A test holds
these numbers to those that an emulated GPU counts (`tests/gpu/test_counted_work.c`): operations, launches, copies, calls, waits and bytes written are
equal, bytes read are up to 1 % more (parts of sectors of small matrices). The sizes of the test are small; the numbers of large
jobs come from the same code.

Seconds of a unit are those of its parts one after the other. Where a batch has several units, up to 8 are under way at a time, each in a
stream of its own, where units have at most 2^21 amplitudes and the host has a thread for each: then the seconds of the batch are
those of the units that one stream does, or what kernels and copies of all units take one after the other, if that is more; the
multiprocessors have the blocks of all streams. Of a part,

- memory is bytes over 85 % of the rate of memory;
- arithmetic is operations over 73 % of the peak forward (91 % of a kernel's instructions are multiply-adds, and one is issued in 80 % of
  the cycles) and over 52 % in the backward pass (65 % of the instructions), and conversions over their own rate; where a launch has fewer
  blocks than the GPU has multiprocessors, only as many multiprocessors compute;
- launches take at least 4 µs each, for the host cannot ask for them faster, and clearing memory as long;
- a copy takes 8 µs and its bytes over the rate between host and device; a wait of the host, or a call of it between two kernels, takes 10 µs.

Not in the model: caches (a state that fits into the second-level cache, 40 to 72 MB, is read faster than from memory), a clock that falls
under load, and the ends of launches, where some multiprocessors have no block left. The limits are the makers' peak rates, and rates between
host and device that are usual of PCI Express:

END
circuit='--circuit=qcnn --qubits=8' samples=1 line=gradient precision=single
# shellcheck disable=SC2086
"$qcnn" bench $circuit --show >"$work/model.qcnn"
limits
cat <<'END'

## Published figures

As these projects have published them, on their circuits, by their clocks; **not measured here**. Circuits, precisions and what is in the
time differ, so that they show orders of magnitude and no ratios.

| program | job | GPU | seconds | source |
|---|---|---|--:|---|
| qsim, own CUDA kernels | random circuit, 30 qubits, depth 20, fusion of 3 qubits, no sampling | A100 | 1.561 | [1] |
| | the same, 28 qubits | A100 | 0.384 | [1] |
| | the same, 24 qubits | A100 | 0.030 | [1] |
| qsim with cuQuantum (cuStateVec) | noiseless circuit of depth 30 on 30 qubits, and 100,000 samples, fusion of 4 qubits | A100, 40 GB | 2.95 | [2] |
| | depth 28 on 28 qubits | A100, 40 GB | 1.23 | [2] |
| | depth 26 on 26 qubits | A100, 40 GB | 0.89 | [2] |
| lightning.gpu (cuStateVec) | Jacobian of ⟨Z⟩ on each of 31 qubits, one strongly entangling layer, adjoint | 4 × A100, 80 GB | 675 | [3] |
| | ten steps of VQE with gradients, C2H2, 24 qubits, Hamiltonian of 6,401 terms | A100 (plotted as "Batch=4") | 903 | [4] |
| | the same, H2, 20 qubits, 2,951 terms | A100 ("Batch=4") | 55.9 | [4] |

1. qsim, "Choosing hardware for your qsim simulation", "Sample benchmarks": <https://github.com/quantumlib/qsim/blob/main/docs/choose_hw.md>
   (version of June 6, 2026).
2. The same page, "Select a specific machine", which calls the circuits "noiseless depth-N circuit on N qubits".
3. PennyLane, data of "Hybrid quantum programming with PennyLane Lightning on HPC platforms" (<https://arxiv.org/abs/2403.02512>),
   DataCollection/distributed/Perlmutter_LGPU_MPI/sel_gradient_results/results.txt: <https://github.com/PennyLaneAI/lightning-on-hpc>
   (version of March 19, 2024).
4. The same, DataCollection/single_node/VQE/lightning_gpu/lightning.gpu-data.txt, and genplot.py for "Batch=4".
END
