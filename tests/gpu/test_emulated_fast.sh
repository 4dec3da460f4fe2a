# SPDX-License-Identifier: Apache-2.0
# The cuda backend on an emulated GPU that checks nothing: numbers against the reference, one digest in any order, and every call
# that fails. In a build with sanitizers these check the accesses, and that nothing leaks.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
emu=$top_builddir/tests/gpu
[ -x "$emu/qcnn-fast" ] || tap_skip_all "no emulated GPU in this build"

"$emu/states-fast" ${QCNN_SANITIZED:+few} >points 2>findings
status=$?
{ grep '^not ok' points; grep -v '^OMP' findings; } | sed 's/^/# /'
[ $status -eq 0 ] && [ ! -s findings ]
tap_result $? "numbers: $(grep -c '^ok' points) points"

# Blocks and warps in four orders: the digits that the program with all checks has, and every GPU.
grep '^GOLDEN' "$top_srcdir/cli/bench/selftest.def" >want
for seed in 1 2 3 4; do
	EMU_SEED=$seed sh "$top_srcdir/tests/gpu/golden.sh" "$emu/qcnn-fast" 2>err | grep -v MATHS >got
	cmp -s got want && [ ! -s err ] || break
done
tap_same got want "the digits of selftest.def in order $seed"
tap_is "$(cat err)" "" "without a message"

# More qubits than a tile has.
cat >turns.qcnn <<'END'
QCNN 1;
const int n = 13;
qubit[n] q;
param float[n] w;
ry(each w) on q;
cx q[0], q[12];
cx q[12], q[3];
rzz(w[0]) q[1], q[12];
rxx(w[1]) q[2], q[11];
observe z(q[0]), x(q[3]) * y(q[12]), z(q[12]);
END
EMU_REPORT=report tap_exit 0 "a run" "$emu/qcnn-fast" run -q --device=cuda --seed=3 --emit=jacobian turns.qcnn
tap_has report 'allocations left 0' "all memory is given back"

# Noise channels: the processor's trajectories, more of them than a unit has places.
cat >noisy.qcnn <<'END'
QCNN 1;
qubit[5] q;
param float[5] w;
for int k in [0:1] { ry(each w) on q; cx on ring(q); depolarizing(0.1) on ring(q); rx(w[k]) q; pauli_channel(0.1, 0.05, 0.2) q; }
observe z(q[0])*z(q[4]), x(q[2]);
END
for device in cpu cuda; do
	"$emu/qcnn-fast" run -q --device=$device --seed=3 --precision=double --trajectories=300 --emit=jacobian --format=csv noisy.qcnn |
		tr , '\n' >$device.txt
done
paste cpu.txt cuda.txt | awk 'NR > 7 { d = $1 - $2; n++; if (d * d > 1e-24) bad++ } END { exit !(n == 14 && !bad) }'
tap_result $? "derivatives of a model with noise channels"

# Each call that fails, at each place, until the run succeeds.
for call in $(sed -n 's/^call \(cuda[A-Za-z]*\) .*/\1/p' report); do
	n=1 wrong=0
	while [ $n -le 60 ]; do
		EMU_FAIL=$call:$n EMU_REPORT=failed "$emu/qcnn-fast" run -q --device=cuda --seed=3 --emit=jacobian turns.qcnn >out 2>err
		status=$?
		[ $status -eq 0 ] && break
		[ $status -eq 78 ] || [ $status -eq 75 ] && grep -q -E "the GPU failed: $call: |cannot be used|needs .* available" err ||
			{ wrong=1; tap_note "$call:$n: status $status" "$(cat err)"; }
		grep -q 'allocations left 0' failed || { wrong=1; tap_note "$call:$n: $(grep left failed)"; }
		n=$((n + 1))
	done
	tap_is "$wrong" 0 "$call fails, up to $n times: the status is 78, or 75 once it has worked, and the message names it"
done

# A training whose units have two sizes, which have graphs the second time, and at the end of an epoch a third, which takes the place
# of one of them.
cat >three.qcnn <<'END'
QCNN 1;
qubit[2] q;
input float[2] x;
param float[2] w;
ry(x[0] * w[0]) q[0];
ry(x[1]) q[1];
cx q[0], q[1];
rx(w[1]) q[0];
observe z(q[0]);
END
awk 'BEGIN { print "a,b,label"; for (k = 0; k < 2300; k++) printf "%.3f,%.3f,%d\n", k % 37 / 10, k % 53 / 20, k % 2 ? 1 : -1 }' >three.csv
cat >three.yaml <<'END'
model: { file: three.qcnn }
data: { train: three.csv, label: label }
train: { epochs: 2, batch_size: 1100, loss: log_cosh } # computed by the host, between the passes
run: { seed: 5, threads: 1, device: cuda }
log: { report: false, tensorboard: false }
END
train() {
	dir=$1
	shift
	"$emu/qcnn-fast" train -q --set log.dir="$dir" "$@" three.yaml
}
params() { "$QCNN" weights show --json "$1/latest/weights.bin" | grep -o '"params".*"metadata"'; }
EMU_REPORT=report tap_exit 0 "a training" train calm
params calm >want
tap_is "$(sed -n 's/^call cudaGraphInstantiateWithFlags //p' report)" 4 "with two graphs in each epoch"
for call in $(sed -n 's/^call \(cuda[A-Za-z]*\) .*/\1/p' report | grep -E 'Graph|Capture|HostFunc') cudaLaunchKernelExC:6; do # 6: captured
	case $call in cudaLaunchHostFunc) status=78 ;; *) status=75 ;; esac
	EMU_FAIL=$call EMU_REPORT=failed tap_exit $status "a training in which $call fails" train $call
	tap_has err "the GPU failed: ${call%:*}: " "and says so"
	tap_has failed 'allocations left 0' "nothing leaks"
	train $call 2>err
	params $call >got
	tap_same got want "the same command goes on to the same weights"
done
# Both passes in one launch, behind which the host computes the losses.
EMU_REPORT=report tap_exit 0 "a training whose gradients of the loss the GPU computes" train joined --set train.loss=mse
params joined >of_mse
tap_is "$(grep -c '^call cudaLaunchHostFunc' report)" 0 "calls no function of the host"
for call in cudaStreamSynchronize:3 cudaGraphLaunch:1; do
	EMU_FAIL=$call EMU_REPORT=failed tap_exit 75 "there $call fails" train joined-$call --set train.loss=mse
	tap_has err "the GPU failed: ${call%:*}: " "and says so"
	tap_has failed 'allocations left 0' "nothing leaks"
	train joined-$call --set train.loss=mse 2>err
	params joined-$call >got
	tap_same got of_mse "the same command goes on to the same weights"
done
# Units side by side on one GPU, each stream with a thread of the processor.
EMU_REPORT=report tap_exit 0 "the same training on three threads" train side --set run.threads=3
tap_is "$(sed -n 's/^call cudaStreamCreate //p' report)" 3 "has three streams"
params side >got
tap_same got want "and the same weights"
# A second stream has its first unit in the validation of step 1: the GPU has worked before.
awk 'NR <= 1031' three.csv >validation.csv
awk 'NR <= 1001' three.csv >one.csv
for n in 1 2 3 4 5 6; do
	EMU_FAIL=cudaMemcpyAsync:$n train late --fresh --set run.threads=2 \
		--set data.train=one.csv --set data.validation=validation.csv 2>err
	echo "$? $(grep -c 'validation.*the same command resumes' err)"
done >got
printf '%s\n' '78 0' '78 0' '78 0' '78 0' '75 1' '75 1' >want
tap_same got want "what fails once a GPU has worked is worth another try, in each stream"
EMU_DEVICES=0 tap_exit 78 "no device" "$emu/qcnn-fast" run --device=cuda turns.qcnn
tap_has err 'the device cuda cannot be used: the NVIDIA driver finds no GPU; use --device=cpu' "and why"
tap_done
