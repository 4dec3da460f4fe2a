# SPDX-License-Identifier: Apache-2.0
# Split states on emulated GPUs: numbers against the reference, the same bits for any number of ranks, which exchange by an emulated
# NCCL or through memory of the host, and what fails.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
emu=$top_builddir/tests/gpu
[ -x "$emu/split-fast" ] || tap_skip_all "no emulated GPU in this build"

export TMPDIR=$PWD
EMU_DEVICES=8 "$emu/split-fast" cuda >points 2>findings
status=$?
{ grep '^not ok' points; grep -v '^OMP' findings; } | sed 's/^/# /'
[ $status -eq 0 ]
tap_result $? "random programs: $(grep -c '^ok' points) points"

# Parts of more amplitudes than a tile; gates, controls and products of z on the bits that number parts; exchanges in several batches.
cat >deep.qcnn <<'END'
QCNN 1;
const int n = 14;
qubit[n] q;
input float[n] x;
param float[n] w;
param float[n] v;
ry(each x) on q;
ry(each w) on q;
for int k in [0:n-2] { cx q[k], q[k+1]; }
rxx(w[0]) q[0], q[n-1];
ry(each v) on q;
crz(v[1]) q[n-1], q[n-2];
for int k in [0:n-2] { cx q[k], q[k+1]; }
rx(v[2]) q[n-1];
observe z(q[0]) * z(q[n-1]);
END
awk 'BEGIN {
	for (i = 0; i < 14; i++) printf "x%d,", i
	print "label"
	for (k = 0; k < 2; k++) {
		for (i = 0; i < 14; i++) printf "%.2f,", (k * 7 + i * 3) % 11 / 4
		print k % 2 ? 1 : -1
	}
}' >deep.csv
cat >deep.yaml <<'END'
model: { file: deep.qcnn }
data: { train: deep.csv, label: label }
train: { epochs: 1, batch_size: 2, loss: mse }
run: { seed: 5, device: cuda, split: 8 }
END
train() { # PROGRAM NAME OPTION...
	program=$1 name=$2
	shift 2
	"$program" train --fresh --set log.dir="log-$name" -o "$name.bin" "$@" deep.yaml
}
train "$QCNN" ref -q --set run.device=ref --set run.split=1
for precision in single double; do
	for ranks in 1 2 $([ $precision = single ] && echo 4) 8; do
		devices=3 way="memory of the host: rank"
		[ $ranks = 4 ] && devices=4 way="NCCL 2.18.3"
		[ $precision$ranks = double2 ] && way="NCCL 2.18.3"
		case $way in N*) export EMU_NCCL=none ;; *) unset EMU_NCCL ;; esac
		EMU_DEVICES=$devices tap_exit 0 "$precision: a training by $ranks ranks" train "$emu/qcnn-fast" $ranks --set run.precision=$precision --ranks=$ranks
		tap_ok "gives the weights of one" cmp 1.bin $ranks.bin
		[ $ranks = 1 ] || tap_has err "GPUs exchanged by $way" "by that way"
	done
	unset EMU_NCCL
	[ $precision = single ] && cp 1.bin single.bin
	"$QCNN" weights diff ref.bin 1.bin >differences
	most=$(sed -n 's/.*largest difference \([^ ]*\) .*/\1/p' differences | sort -g | tail -1)
	tap_ok "off from those of ref by $most" awk "BEGIN { exit !($most > 0 && $most < $([ $precision = single ] && echo 1e-5 || echo 1e-12)) }"
done

# Every access.
grep -v ' x;\|each x' deep.qcnn | sed 's/n = 14/n = 9/' >small.qcnn
jacobian="run -q --device=cuda --ranks=4 --seed=3 --emit=jacobian --format=csv small.qcnn"
# shellcheck disable=SC2086
"$emu/qcnn-fast" $jacobian >fast
if [ -x "$emu/qcnn-emu" ]; then
	# shellcheck disable=SC2086
	EMU_NCCL=none EMU_DEVICES=4 tap_exit 0 "each access is checked" "$emu/qcnn-emu" $jacobian -v
	tap_has err "GPUs exchange by NCCL" "with NCCL"
	sed -i '/GPUs exchange by\|^$/d' err
	tap_is "$(cat err)" "" "and found to be right"
	tap_same out fast "the same bits"
fi

# So many gates that the state is normalised: by the norm of all parts.
cat >norm.qcnn <<'EOF'
QCNN 1;
qubit[6] q;
param float[6] w;
for int k in [0:99] { rx(each w) on q; cx q[0], q[5]; ry(each w) on q; cx on ring(q); }
observe z(q[0]) * z(q[5]), x(q[3]);
EOF
EMU_DEVICES=2 tap_exit 0 "a deep circuit" "$emu/qcnn-fast" run -q --device=cuda --ranks=2 --seed=3 --format=csv norm.qcnn
"$QCNN" run -q --device=ref --seed=3 --format=csv norm.qcnn >want
tap_ok "has the readouts of ref" awk -F, 'NR == 2 { split($0, want) } NR == 4 { for (k = 2; k <= NF; k++) { n++; d = $k - want[k]; bad += d * d > 1e-8 } }
	END { exit bad || n != 2 }' want out

# ---- what fails ----

EMU_FAIL=cudaMemcpy2DAsync:3 tap_exit 78 "a device that fails in an exchange" train "$emu/qcnn-fast" failed --ranks=2
tap_has err "the state was lost: " "ends the training"
tap_has err "the GPU failed: cudaMemcpy2DAsync: unknown error" "and names the call"
# Of each sample rank 0 clears the sums of two passes, and rank 1 the first state too.
EMU_FAIL=cudaMemsetAsync:5 tap_exit 78 "one of another rank" train "$emu/qcnn-fast" failed --set run.split=2 --ranks=2
tap_has err "the state was lost: rank 1 has given up: the GPU failed: cudaMemsetAsync: unknown error" "is named"
EMU_FAIL=cudaMemsetAsync:20 tap_exit 75 "in a later step" train "$emu/qcnn-fast" failed --set run.split=2 --set train.epochs=9 --ranks=2
tap_has err "the same command resumes behind step" "no step is lost"
EMU_FAIL=cudaMalloc:1 tap_exit 78 "no memory" train "$emu/qcnn-fast" failed --ranks=2
tap_has err "of 2: the GPU failed: cudaMalloc: out of memory" "of a rank"

# nccl FAULT STATUS TEXT DESCRIPTION [OPTION...]: a training by two ranks, with that fault of NCCL.
nccl() {
	fault=$1 status=$2 text=$3 what=$4
	shift 4
	EMU_NCCL=$fault EMU_DEVICES=2 tap_exit "$status" "$what" train "$emu/qcnn-fast" failed --ranks=2 "$@"
	tap_has err "$text" "is reported"
}
# Those that wait for the deadline do so beside the others.
waits() { # NAME FAULT OPTION...
	name=$1
	export EMU_DEVICES=2 EMU_NCCL=$2
	shift 2
	train "$emu/qcnn-fast" "$name" --ranks=2 "$@" >"$name.out" 2>"$name.err" &
	unset EMU_DEVICES EMU_NCCL
}
# waited PID STATUS NAME TEXT DESCRIPTION
waited() {
	wait "$1"
	tap_is $? "$2" "$5"
	tap_has "$3.err" "$4" "is reported"
}
waits silent silent:1:3
silent=$!
waits connect async:1:1
connect=$!
waits required init:1 --transport=nccl
required=$!
nccl none 0 "GPUs exchanged by memory of the host: as --transport says" "NCCL that is not wanted" --transport=tcp
tap_ok "and changes no bit" cmp single.bin failed.bin
nccl byte:1:3 78 "bytes from rank 0 are not those that it sent" "a byte that changes"
nccl byte:0:500 75 "bytes from rank 1 are not those that it sent" "in a later step" --set train.epochs=9
nccl async:1:2 78 "rank 1 has given up: NCCL failed: remote process exited" "an error of another rank's NCCL"
nccl none 78 "--transport=nccl is for ranks on GPUs: give --device=cuda" "ranks on processors" --transport=nccl --set run.device=cpu
EMU_FAIL=cudaDriverGetVersion:2 nccl none 0 "rank 0 cannot ask which GPU it has" "a GPU that is not known"
# Its stream waits for NCCL, which does not end by itself.
EMU_FAIL=cudaMemcpyAsync:2 nccl silent:0:2 78 "the GPU failed: cudaMemcpyAsync: unknown error" "a GPU that fails while NCCL waits"
# By its end, and not by the deadline.
nccl lost:1:3 78 "rank 1 has ended" "a rank that is killed in an exchange"
# On two hosts, of which one is played by this one.
printf '#!/bin/sh\nshift\nEMU_HOST=a sh -c "$*"\n' >agent
chmod +x agent
away="--hosts=local,a --launcher=exec:$PWD/agent --iface=lo"
# shellcheck disable=SC2086
nccl none 0 "NCCL does not encrypt what it sends to other hosts, and --transport=nccl is not given" "ranks of two hosts" $away
# shellcheck disable=SC2086
nccl none 0 "GPUs exchanged by NCCL 2.18.3" "where that is requested" $away --transport=nccl
tap_ok "give the same bits" cmp single.bin failed.bin
EMU_DEVICES=1 EMU_NCCL=none tap_exit 78 "one GPU for two ranks" train "$emu/qcnn-fast" failed --ranks=2 --transport=nccl
tap_has err "ranks 0 and 1 have the same GPU" "has no NCCL"

# Started together, one of them on a host without a GPU.
for rank in 0 1; do
	PMI_RANK=$rank PMI_SIZE=2 MPI_LOCALNRANKS=2 EMU_DEVICES=$((1 - rank)) \
		train "$emu/qcnn-fast" mixed --ranks=2 >out.$rank 2>err.$rank &
	pid=$!
	[ $rank -eq 0 ] && first=$pid
done
wait $first
tap_is $? 78 "GPUs and processors in one group"
wait $pid
cp err.0 err
tap_has err "rank 1 of 2: the device cuda cannot be used here: the NVIDIA driver finds no GPU; all ranks of a state compute on the same device" \
	"are refused"

waited $silent 78 silent "nothing has been transferred for the whole deadline" "a transfer that does not go on"
waited $connect 0 connect "GPUs exchanged by memory of the host: NCCL fails in rank 1: remote process exited" "NCCL that cannot connect ranks"
waited $required 78 required "--transport=nccl cannot be used: NCCL fails in rank 1: unhandled system error" "NCCL that cannot begin"
tap_is "$(echo emu-nccl-*)" "emu-nccl-*" "no file is left"

tap_exit 0 "a plan" "$emu/qcnn-fast" compile --emit=plan --device=cuda --ranks=8 deep.qcnn
grep '^split' out >of-cuda
tap_ok "has exchanges" grep -q 'split      8 ranks, [1-9]' of-cuda
for ranks in 1 2; do
	"$emu/qcnn-fast" compile --emit=plan --device=cuda --ranks=$ranks --optimizations=heisenberg_tail deep.qcnn >tail-$ranks
done
tap_ok "without ranks, gates are a Heisenberg tail" grep -q ' tail$' tail-1
tap_ok "with ranks, none is" [ -z "$(grep -E ' tail$|heisenberg_tail' tail-2)" ]
tap_exit 2 "how long it takes" "$emu/qcnn-fast" compile --emit=plan --device=cuda --ranks=8 --link=25 deep.qcnn
tap_has err "not predicted: without --gpu and --link" "is not predicted"
tap_exit 2 "how long a step takes" "$emu/qcnn-fast" train --dry-run --link=25 deep.yaml
tap_has err "not predicted: without --link, the dry run" "is not predicted either"
tap_ok "before anything is tried" [ ! -s out ]

grep -v ' x;\|each x' deep.qcnn >large.qcnn
sed -i 's/n = 14/n = 30/' large.qcnn
EMU_DEVICES=2 tap_exit 78 "a state too large for two GPUs" "$emu/qcnn-fast" run -q --device=cuda --ranks=2 large.qcnn
tap_has err "4.0 GiB available" "which have 4 GiB each"
EMU_DEVICES=1 tap_exit 78 "for one that two ranks share" "$emu/qcnn-fast" run -q --device=cuda --ranks=2 large.qcnn
tap_has err "2.0 GiB available" "2 GiB for each"
tap_done
