# SPDX-License-Identifier: Apache-2.0
# Which device computes: what auto is, with which device a run goes on, and workers with and without GPUs.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
emu=$top_builddir/tests/gpu/qcnn-fast # the other tests check accesses
[ -x "$top_builddir/tests/gpu/qcnn-emu" ] || tap_skip_all "no emulated GPU in this build"
export XDG_CACHE_HOME=$PWD/cache EMU_DEVICES=1

cat >small.qcnn <<'END'
QCNN 1;
qubit[2] q;
input float[2] x;
param float[4] w;
ry(x[0] * w[0]) q[0];
ry(x[1]) q[1];
cx q[0], q[1];
rz(w[1]) q[0];
ry(w[2]) q[0];
rx(w[3] + x[0]) q[1];
observe z(q[0]) * z(q[1]);
END
awk 'BEGIN { print "a,b,label"; for (k = 0; k < 300; k++) printf "%.3f,%.3f,%d\n", k % 37 / 10, k % 53 / 20, k % 2 ? 1 : -1 }' >small.csv
cat >small.yaml <<'END'
model: { file: small.qcnn }
data: { train: small.csv, label: label }
train: { epochs: 1, batch_size: 50, loss: mse }
run: { seed: 5, threads: 1 }
log: { report: false, tensorboard: false }
END
printf '1.5\n' >one.csv
# crossover OPERATIONS: as if it had been measured of this GPU.
crossover() {
	mkdir -p cache/qcnn
	printf '{"schema": 1, "gpu": "emulated GPU", "threads": 1, "operations": %s}\n' "$1" >cache/qcnn/gpu.json
}
# says FILE PATTERN NAME
says() { tap_ok "$3" grep -q -e "$2" "$1" || tap_note "$(cat "$1")"; }
device() { sed -n 's/.*"device": "\([a-z]*\)".*/\1/p' "$1"/latest/run.json; }
reason() { sed -n 's/.*"device_reason": "\([^"]*\)".*/\1/p' "$1"/latest/run.json; }
train() { "$emu" train -q --set log.dir="$@" small.yaml; }
params() { "$QCNN" weights show --json "$1/latest/weights.bin" | grep -o '"params".*"metadata"'; }

# ---- auto ----
tap_exit 0 "a small job" "$emu" train --dry-run small.yaml
says out 'device    cpu: a step has .* operations, and from .* on a GPU is faster (estimated; qcnn info --measure measures it)' \
	"is the processor's"
crossover 1e3
# A dry run measures steps, which are one an epoch here: fewer are enough.
head -n 26 small.csv >few.csv
tap_exit 0 "with a measured crossover" "$emu" train --dry-run --json --set data.train=few.csv small.yaml
says out '"device": "cuda", "device_reason": "a step has .* operations, and from 1e+03 on a GPU is faster (measured)"' "the GPU's"
printf 'QCNN 1;\nqubit[2] q;\nparam float w;\nh q[0];\ncx q[0], q[1];\nry(w) q[1];\nobserve z(q[0]);\n' >bell.qcnn
crossover 1e9
"$emu" run -v --threads=1 bell.qcnn >out 2>err
says err 'the device cpu: .* from 1e+09 on a GPU is faster (measured)' "below it the processor's"
crossover null
"$emu" run -v --threads=1 bell.qcnn >out 2>err
tap_has err 'the device cpu: the processor is faster than the GPU (measured)' "and where the GPU never pays"
crossover 1e3
sed -i 's/emulated GPU/another GPU/' cache/qcnn/gpu.json
"$emu" run -v --threads=1 bell.qcnn >out 2>err
says err 'the device cpu: .*(estimated' "what another GPU measured says nothing"
crossover 1
EMU_DEVICES=0 "$emu" train --dry-run small.yaml >out 2>err
tap_is "$(grep '^device' out)" 'device    cpu' "without a GPU it is the processor, and nothing is said"
"$emu" train --dry-run --set run.isa=baseline small.yaml >out 2>err
tap_is "$(grep '^device' out)" 'device    cpu' "also with an instruction set of one"
tap_exit 0 "run" "$emu" run -v bell.qcnn
tap_has err 'computing on the device cuda: a step has' "chooses, too"
mv out chosen
"$emu" run --device=cuda bell.qcnn >given
tap_same chosen given "and gives the GPU's numbers"
rm cache/qcnn/gpu.json
EMU_HOST_BYTES=200000000 tap_exit 0 "info --measure" "$emu" info --measure --threads=1
says out 'crossover     none: the processor is faster than the GPU (stored in .*/cache/qcnn/gpu.json)' "measures the crossover"
tap_is "$(cat cache/qcnn/gpu.json)" '{"schema": 1, "gpu": "emulated GPU", "threads": 1, "operations": null}' "and stores it"
printf 'QCNN 1;\nqubit[30] q;\nparam float w;\nh q;\nry(w) q[0];\nobserve z(q[0]);\n' >large.qcnn
crossover 1
for devices in 1 2; do
	EMU_DEVICES=$devices EMU_REPORT=report tap_exit 78 "more than the memory of a GPU, $devices of them" "$emu" run --device=cuda large.qcnn
	says err 'needs 8.0 GiB .*4.0 GiB available' "refused with numbers"
	tap_is "$(grep -c '^call cudaMalloc ' report)" 0 "before memory is taken"
done
tap_is "$(EMU_DEVICES=1 "$emu" run --device=cuda --emit=jacobian large.qcnn 2>&1 | grep -c 'needs 16.0 GiB')" 1 "twice that with a gradient"
tap_exit 0 "without states" "$emu" run -v large.qcnn
tap_has err 'computing on the device cpu: only the processor contracts tensors' "it is the processor's"
tap_exit 0 "also in a plan" "$emu" train --dry-run --set=run.method=tensor small.yaml
tap_has out 'device    cpu: only the processor contracts tensors' "that asks for tensors"
tap_exit 78 "but not on a GPU" "$emu" run --device=cuda --method=tensor large.qcnn
tap_has err 'the method tensor is not possible: only the device cpu contracts tensors' "which is said"

# ---- the device of a run ----
train calm --device=cuda
train auto
tap_is "$(device auto)" cuda "auto is stored as what it was"
says auto/latest/run.json '"device_reason": "a step has .* operations, and from .* on a GPU is faster (measured)"' "with the reason"
params calm >want
params auto >got
tap_same got want "the same weights as by its name"
# stop FOLDER: a training by auto on a GPU that fails in its third step.
stop() {
	EMU_FAIL=cudaStreamSynchronize:3 train "$1" 2>err
	tap_is $? 75 "a training stops in $1"
	name=$(basename "$1"/small-*)
}
stop again
crossover 1e9
tap_exit 0 "now the processor would be faster" "$emu" train --set log.dir=again small.yaml
tap_has err "was begun with cuda, which computes here too, in place of " "the run goes on with the GPU"
params again >got
tap_same got want "to the same weights"
tap_is "$(device again) $(reason again)" "cuda the run was begun with it" "and says so"
crossover 1
stop two
EMU_DEVICES=2 train two --device=cuda:1
params two >got
tap_same got want "on other GPUs"
stop lost
tap_is "$(EMU_DEVICES=0 train lost 2>&1 | grep -c 'was begun with the device cuda, which cannot be used here (the NVIDIA driver finds no GPU)')" 1 \
	"without a GPU it is refused"
EMU_DEVICES=0 tap_exit 78 "also by its name" "$emu" train --set log.dir=lost --resume=$name small.yaml
tap_has err "or here, to other last digits, with --resume=$name --device=cpu" "with the way to go on"
EMU_DEVICES=0 tap_exit 78 "by the device's name" "$emu" train --set log.dir=lost --resume=$name --device=cuda small.yaml
tap_has err 'the device cuda cannot be used: the NVIDIA driver finds no GPU' "too"
EMU_DEVICES=0 tap_exit 78 "the key in the configuration is not enough" "$emu" train --set log.dir=lost --resume=$name --set run.device=cpu small.yaml
tap_has err 'has another configuration: run.device is "cpu" here and "cuda" there' "as for other keys"
EMU_DEVICES=0 tap_exit 78 "another key is refused with --device" \
	"$emu" train --set log.dir=lost --resume=$name --device=cpu --set run.seed=6 small.yaml
tap_has err 'run.seed is 6 here and 5 there' "by its name"
EMU_DEVICES=0 tap_exit 0 "--resume and --device=cpu" "$emu" train --set log.dir=lost --resume=$name --device=cpu small.yaml
says err 'resuming lost/.* after step 2' "go on"
tap_has err 'warning: the run was begun with the device cuda and goes on with cpu: the last digits may differ' "with a warning"
tap_is "$(device lost)" cpu "from then on it is a run of the processor"
stop other
# A run of a GPU has states, and keeps them on the processor, where auto would contract tensors.
printf 'QCNN 1;\nqubit[16] q;\ninput float[2] x;\nparam float[16] t;\nry(x[0]) q[0];\nry(x[1]) q[1];\nry(each t) on q;\ncx on chain(q);\nobserve z(q[15]);\n' >wide.qcnn
wide() { "$emu" train --no-progress --set log.dir=wide --set model.file=wide.qcnn --set train.max_steps=2 "$@" small.yaml; }
tap_exit 0 "16 qubits on a GPU" wide --device=cuda
tap_has wide/latest/run.json '"method": "statevector"' "are states"
tap_exit 0 "extended on the processor" wide --resume=latest --device=cpu --set train.max_steps=3
tap_has wide/latest/run.json '"device": "cpu", "isa"' "there"
tap_has wide/latest/run.json '"method": "statevector"' "they stay states"
tap_exit 0 "which a new run" wide --fresh --device=cpu
tap_has wide/latest/run.json '"method": "tensor"' "is not"
tap_exit 0 "another device in the configuration" "$emu" train --set log.dir=other --set run.device=cpu small.yaml
tap_has err 'differs from this training in run.device alone: it was begun with cuda; --set run.device=cuda goes on with it' "begins a new run"

# ---- workers ----
printf '#!/bin/sh\nhost=$1\nshift\ncase $host in gpu*) EMU_DEVICES=1 ;; *) EMU_DEVICES=0 ;; esac\nexport EMU_DEVICES\nexec sh -c "$*"\n' >start
chmod +x start
workers() { # HOSTS DEVICE
	EMU_DEVICES=0 "$emu" train --fresh --set log.dir=far --hosts=$1 --launcher=exec:./start --remote-path="$(cd "$(dirname "$emu")" && pwd)/qcnn-fast" \
		--set cluster.iface=127.0.0.1 --set cluster.start_seconds=100 --no-progress --device=$2 small.yaml
}
tap_exit 0 "workers with GPUs, and none here" workers gpu1,gpu2 cuda
params far >got
tap_same got want "the same weights"
tap_exit 76 "a worker that has none" workers gpu1,b cuda
tap_has err 'cannot compute on the device cuda, and all workers of a job use the same' "is not mixed with others"
tap_exit 0 "by auto, one that has none" workers gpu1,b auto
tap_is "$(device far)" cpu "is a job of processors, as there is no GPU here"
tap_exit 0 "and with a GPU here" env EMU_DEVICES=1 "$emu" train --fresh --set log.dir=mixed --hosts=b --launcher=exec:./start \
	--remote-path="$(cd "$(dirname "$emu")" && pwd)/qcnn-fast" --set cluster.iface=127.0.0.1 --set cluster.start_seconds=100 --no-progress small.yaml
tap_has err 'cannot compute on the device cuda: all workers use the processor' "says so"
tap_is "$(device mixed) $(reason mixed)" "cpu a worker has no GPU" "and stores it"

# ---- a batch job ----
# Commands in place of Slurm's: the job ends with 75 after a GPU has failed, and is put back into the queue.
mkdir bin
printf '#!/bin/sh\nexec "$@"\n' >bin/srun
printf '#!/bin/sh\necho "$*" >>asked\n' >bin/scontrol
chmod +x bin/srun bin/scontrol
job() { PATH=$PWD/bin:$PATH QCNN="$(cd "$(dirname "$emu")" && pwd)/qcnn-fast" SLURM_JOB_ID=7 "$@"; }
script=$top_srcdir/examples/batch/slurm-gpu.sh
tap_is "$(grep -c '^#SBATCH --gres=gpu:1$' "$script")" 1 "the script asks for a GPU"
EMU_FAIL=cudaStreamSynchronize:3 tap_exit 75 "its training stops" job sh "$script" --set log.dir=batch small.yaml
tap_is "$(cat asked)" "requeue 7" "the job is put back"
tap_exit 0 "and goes on" job sh "$script" --set log.dir=batch small.yaml
tap_is "$(cat asked)" "requeue 7" "it is not put back any more"
params batch >got
tap_same got want "the same weights"
tap_exit 78 "without a GPU" env EMU_DEVICES=0 sh -c "PATH=$PWD/bin:\$PATH QCNN='$emu' SLURM_JOB_ID=7 sh '$script' --set log.dir=none small.yaml"
tap_done
