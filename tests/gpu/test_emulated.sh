# SPDX-License-Identifier: Apache-2.0
# The cuda backend on an emulated GPU that checks every access: numbers against the reference, races, the same bits in any order.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
emu=$top_builddir/tests/gpu
[ -x "$emu/qcnn-emu" ] || tap_skip_all "no emulated GPU in this build"

# Each planted fault is reported by its name, in any order of threads; correct kernels and graphs are not.
number=0
while read -r text; do
	for seed in 1 2; do
		EMU_DEVICES=2 EMU_SEED=$seed "$emu/faults-emu" $number 2>>reported$number || [ $? -eq 97 ] || text="another status"
	done
	case $text in
	none) tap_is "$(cat reported$number)" "" "number $number has no fault" ;;
	*) tap_is "$(grep -c "^emu: $text: pc" reported$number | sed 's/[1-9].*/found/')" found "number $number: $text" ;;
	esac
	number=$((number + 1))
done <<'END'
none
none
race: read after write
race: read after write
race: write after read
race: write after write
out of the bounds of an allocation
out of the bounds of shared memory
shared memory is read before it is written
some threads wait at a barrier, others have ended
lanes of a warp wait at different places
an address is not a multiple of the access's size
a kernel writes memory of the host, or of another thread
race: write after read
memory of another device
none
a copy from beyond an allocation, or of what was never written
a graph copies memory of the host that is not pinned
a function in a stream calls the runtime
a call that cannot be captured
END

# passes NAME COMMAND...: a test program, all of whose points pass.
passes() {
	name=$1
	shift
	"$@" >points 2>findings
	status=$?
	{ grep '^not ok' points; grep -v '^OMP' findings; } | sed 's/^/# /'
	[ $status -eq 0 ] && [ ! -s findings ]
	tap_result $? "$name: $(grep -c '^ok' points) points"
}
passes "every access, order 1" env EMU_SEED=1 "$emu/states-checked" few
for test in evaluator optimisations positions shots; do
	passes "$test" "$emu/$test-fast" cuda
done
passes "every access of batch rank" env EMU_DEVICES=2 "$emu/optimisations-checked" cuda few

# Units of states side by side, which GPUs get from each other.
for devices in 1 3; do
	passes "batch rank, $devices GPUs" env EMU_DEVICES=$devices EMU_REPORT=report-rank-$devices "$emu/optimisations-fast" cuda units
	grep '^# digest' points >digest-$devices
done
tap_same digest-3 digest-1 "the same bits"
tap_has report-rank-3 'call cudaMemcpyPeerAsync' "with copies between GPUs"
EMU_DEVICES=3 EMU_FAIL=cudaMemcpyPeerAsync:1 "$emu/optimisations-fast" cuda units >out
tap_has out 'the GPU failed: cudaMemcpyPeerAsync: unknown error' "a copy that fails"

# More qubits than a tile has, gates inside and outside, and outputs of all kinds.
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
for precision in single double; do
	tap_exit 0 "derivatives, $precision" "$emu/qcnn-emu" run -q --device=cuda --seed=3 --emit=jacobian --format=csv --precision=$precision turns.qcnn
	mv out first
	"$QCNN" run -q --device=ref --seed=3 --emit=jacobian --format=csv turns.qcnn >want
	awk -F, -v most=$([ $precision = single ] && echo 3e-6 || echo 1e-11) '
		NR == FNR { for (k = 3; k <= NF; k++) want[FNR, k] = $k; next }
		FNR > 1 { for (k = 3; k <= NF; k++) { n++; d = $k - want[FNR, k]; if (d > most || -d > most) bad++ } }
		END { exit bad || n != 39 }' want first
	tap_result $? "as ref has them"
	different=0
	for seed in 2 3; do
		EMU_SEED=$seed "$emu/qcnn-emu" run -q --device=cuda --seed=3 --emit=jacobian --format=csv --precision=$precision turns.qcnn >other
		cmp first other || different=1
	done
	tap_is $different 0 "the same bits in other orders of blocks and threads"
done

# Tiles of four samples: three fill the last one up, computed as sample 0 is, and leave the flag alone that another block sets to 0.
printf 'QCNN 1;\nqubit[10] q; input float x; ry(x * x) q; observe z(q[0]);\n' >fill.qcnn
awk 'BEGIN { print "x"; print 1e200; for (k = 1; k < 13; k++) print k }' >fill.csv
for seed in 1 2 3; do
	EMU_SEED=$seed "$emu/qcnn-emu" run -q --device=cuda --threads=1 --data=fill.csv fill.qcnn 2>>filled >out
done
tap_is "$(sort -u filled)" "qcnn run: error: sample 0: readout 0 is not finite: line 2, column 29 of the model: \`mul\` of 1e+200 and 1e+200 is not finite" "a sample that is not finite, and copies of it"

# Trainings: batches, states that are encoded from inputs, weights that change; restarts, each with its own first weights;
# several circuits whose outputs go through a head.
examples=$top_srcdir/examples
cp "$examples/cluster/cluster.qcnn" "$examples/cluster/config.yaml" "$examples/cluster-three-filters/three-filters.qcnn" .
cp "$examples/cluster-three-filters/config.yaml" filters.yaml
for example in config filters; do
	for device in cuda ref; do
		"$emu/qcnn-emu" train --set run.device=$device --set run.precision=double --set log.dir=$example-$device \
			--set train.restarts=2 --set train.epochs=1 --set train.max_steps=3 --set data.rounds=6 $example.yaml >out 2>&1
		sed -n 's/.*\(training: loss\)/\1/p' out >trained-$device
		"$QCNN" weights show --json $example-$device/latest/weights.bin | grep -o '"params".*"metadata"' |
			sed 's/\([0-9]\.[0-9]\{8\}\)[0-9]*/\1/g' >>trained-$device
	done
	tap_ok "$example: a training has losses and weights" grep -q '"params"' trained-cuda
	tap_same trained-cuda trained-ref "those of ref"
done

# Several GPUs: units of 1,024 samples, the last of them short, on each in turn; by one process, and by workers that share them.
cat >many.qcnn <<'END'
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
awk 'BEGIN { print "a,b,label"; for (k = 0; k < 2500; k++) printf "%.3f,%.3f,%d\n", k % 37 / 10, k % 53 / 20, k % 2 ? 1 : -1 }' >many.csv
cat >many.yaml <<'END'
model: { file: many.qcnn }
data: { train: many.csv, label: label }
train: { epochs: 1, batch_size: 2500, loss: mse }
run: { seed: 5, threads: 1, device: cuda }
END
trained() { # NAME DEVICES [checked] OPTION...: the weights
	name=$1 devices=$2 program=qcnn-fast
	shift 2
	[ "${1-}" != checked ] || { program=qcnn-emu && shift; }
	EMU_DEVICES=$devices EMU_REPORT=report-$name "$emu/$program" train -q --set log.dir=log-$name "$@" many.yaml >err 2>&1 ||
		tap_note "$name" "$(cat err)"
	"$QCNN" weights show --json log-$name/latest/weights.bin | grep -o '"params".*"metadata"'
}
trained one 1 >weights-one
streams() { sed -n 's/^call cudaStreamCreate //p' report-$1; }
for devices in 3 2; do
	trained $devices $devices checked >weights
	tap_same weights weights-one "$devices GPUs: the same weights"
	tap_is "$(streams $devices)" $((devices * $(streams one))) "each is used"
done
trained side 2 checked --set run.threads=4 >weights
tap_same weights weights-one "two streams on each of two GPUs: the same weights"
tap_is "$(streams side)" $((4 * $(streams one))) "each is used"
trained last 3 --set run.device=cuda:2 >weights
tap_same weights weights-one "the third GPU alone"
trained workers 2 --hosts=local:3 >weights
tap_same weights weights-one "three workers on two GPUs"
EMU_DEVICES=2 tap_exit 78 "a GPU that is not there" "$emu/qcnn-emu" run --device=cuda:5 turns.qcnn
tap_has err 'the device cuda:5 cannot be used: there is no GPU of that number' "its number is named"
EMU_NCCL=none EMU_CUPTI=none EMU_DEVICES=2 "$emu/qcnn-emu" info >out
tap_has out "exchange      of GPUs: NCCL 2.18.3" "info says by what GPUs exchange"
tap_has out "profile       of GPUs: CUPTI 13.0" "and what times their kernels"
tap_is "$(grep -c '^cuda:[01] .*compute capability 9.0' out)" 2 "info lists both"

# A GPU that fails in a training: the steps before are kept, and the same command goes on as if nothing had happened.
sed -i 's/batch_size: 2500/batch_size: 500/' many.yaml
trained whole 1 >weights-whole
for n in 1 2 3 5; do
	EMU_FAIL=cudaStreamSynchronize:$n "$emu/qcnn-fast" train -q --set log.dir=log-$n many.yaml >out 2>err
	status=$?
	if [ "$n" -le 1 ]; then
		tap_is $status 78 "a failure before the first step"
	else
		tap_is $status 75 "a failure later, in wait $n"
		tap_has err 'the GPU failed: cudaStreamSynchronize: unspecified launch failure; the same command resumes behind step' "what failed"
		trained $n 1 >weights
		tap_same weights weights-whole "to the same weights"
	fi
done

# A profile has the GPU's work as a row, by its own clock. What CUPTI records does not depend on the size of batches.
sed 's/batch_size: 500/batch_size: 30/' many.yaml >small.yaml
tap_exit 0 "a profile" "$emu/qcnn-fast" profile --no-limits --steps=3 -o profile many.yaml
tap_is "$(awk '/^Devices/ { getline; getline; print $1, $2, ($3 > 20) }' out)" "0 cuda:0 1" "the device is busy most of the time"
EMU_CUPTI=mixed EMU_REPORT=report-cupti tap_exit 0 "a profile by CUPTI" "$emu/qcnn-fast" profile --no-limits --steps=3 -o cupti many.yaml
for profile in profile cupti; do
	zcat $profile/trace.json.gz | tr '{' '\n' >events
	for kind in stage forward backward "copy to the device" "copy to the host"; do
		tap_has events "$kind" "the timeline has $kind"
	done
	tap_is "$(grep -c '"name": *"cuda:0"' events)" 1 "and a row of the GPU"
done
for cupti in old none; do
	EMU_CUPTI=$cupti "$emu/qcnn-fast" profile --no-limits --steps=3 --json small.yaml >counted-by-$cupti 2>err
done
"$emu/qcnn-emu" compile --emit=plan --device=cuda --batch=30 many.qcnn |
	sed -n 's/^  with gradient .* work: \([0-9]*\) launches.* copies of \([^ ]*\) bytes.*/\1 \2/p' >planned
counted() { sed -n 's/.*"copied_bytes": \([0-9]*\), "launches": \([0-9]*\), "timing": "'$1'".*/\2 \1/p' counted-by-* | awk '{ printf "%d %.4g\n", $1 / 3, $2 / 3 }'; }
tap_is "$(counted CUPTI)" "$(cat planned)" "launches and copied bytes of a step, as planned, by CUPTI"
tap_is "$(counted events | cut -d ' ' -f 1)" $((1 + $(cut -d ' ' -f 1 planned))) "by events each pass is a launch of its own"

# With CUPTI, each kernel, copy and clear is an event of its stage, with its own time, in the program that runs without a profile: one
# graph a step, and one wait. Here records come in the wrong order, and of several kernels in each step.
steps_at_once() { awk '/^call cudaGraphLaunch / { n -= $3 } /^call cudaStreamSynchronize / { n += $3 } END { print n }' "$1"; }
tap_is "$(steps_at_once report-cupti)" 1 "all steps but the first are one graph and one wait"
in_events() { # NAME: kinds of events of the GPU, their number and time
	sed 's/"device": /\n/g' "$1/profile.json" | awk '/^"cuda:0"/ { sub(/.*"events": \[/, ""); sub(/\].*/, ""); n = split($0, v, ",")
		for (i = 1; i < n; i += 5) {
			k = v[i + 2] == 2 ? "forward" : v[i + 2] == 3 ? "backward" : v[i + 2] == 6 ? "copy " 1 + v[i + 3] : "other"
			number[k]++
			ns[k] += v[i + 1]
		} }
		END { for (k in ns) print k, number[k], ns[k] }' | sort
}
in_report() {
	awk '/^timed/ { k = $2 == "copy" ? "copy " $3 : $2 ~ /stage_forward/ ? "forward" : $2 ~ /stage_backward/ ? "backward" : "other"
		number[k] += $(NF - 2)
		ns[k] += $NF
		kernels += $2 ~ /^_Z/ ? $(NF - 2) : 0 }
		END { for (k in ns) print k, number[k], ns[k]; print kernels >"kernels" }' "$1" | sort
}
# Sums of a sample that several blocks of its first launch read are set to 0 by a clear of their own.
printf 'QCNN 1;\nqubit[13] q; param float w; ry(w) q[0]; observe z(q[0]);\n' >clear.qcnn
for options in "--device=cuda --gradient turns.qcnn" "--device=cuda --gradient --precision=double turns.qcnn" small.yaml \
	"--device=cuda --gradient clear.qcnn"; do
	EMU_CUPTI=mixed EMU_REPORT=report tap_exit 0 "a profile: $options" "$emu/qcnn-fast" profile --no-limits --steps=4 --json -o timed $options
	in_events timed >got
	in_report report >want
	tap_same got want "events have the number and the time of what the GPU did"
	tap_is "$(sed -n 's/.*"launches": \([0-9]*\), "timing": "CUPTI", "timing_note": null.*/\1/p' timed/profile.json)" "$(cat kernels)" "as many kernels as were launched"
done
tap_is "$(wc -l <want)" 5 "kinds of events"
EMU_CUPTI=none EMU_REPORT=report tap_exit 0 "parts of calls" "$emu/qcnn-fast" bench --parts --device=cuda --no-limits --circuit=qcnn --qubits=6 --batch=8 --gradient --runs=3 --json
tap_is "$(sed -n 's/.*"parts_seconds": .* "forward": \([^,]*\), "losses": \([^,]*\), "backward": \([^,]*\),.*/\1 \2 \3/p' out | awk '{ print ($1 < $2), ($3 > $2) }') $(grep -c '^timed\|^call cudaEvent' report)" \
	"1 1 0" "are those of calls as they are, without events: both passes are one call, and losses follow"
devices=1 # Evaluators side by side, and GPUs: each stream has its own records.
for options in "--steps=20 --set run.device=cuda --set train.restarts=2 --set data.rounds=6 config.yaml" "--steps=4 many.yaml"; do
	EMU_CUPTI=none EMU_DEVICES=$devices tap_exit 0 "side by side: $options" "$emu/qcnn-fast" profile --no-limits $options
	tap_is "$(grep -c '^0 .*cuda:.* CUPTI$' out) $(grep -c 'timed by' out)" "2 0" "all are timed by CUPTI"
	devices=2
done
# One that is made while another is recorded, or ends, leaves that its own records: in unit 2, which is read at once, and in unit 5.
for record in 4 9; do
	passes "a stream is made, record $record" env EMU_CUPTI=beside:$record "$emu/traces-fast" made
	passes "a stream ends, record $record" env EMU_CUPTI=beside:$record "$emu/traces-fast" ended
done
# One that was in the middle of a unit when the profile began is known, too.
EMU_CUPTI=beside:3 tap_exit 0 "two streams, of which one is profiled" "$emu/qcnn-fast" profile --no-limits --steps=5 --set run.threads=4 small.yaml
tap_is "$(grep -c '^0 .*cuda:.* CUPTI$' out) $(grep -c 'timed by' out)" "1 0" "has its own records alone"
EMU_CUPTI=none trained traced 1 --set log.profile_steps='[2, 4]' >weights
tap_same weights weights-whole "a training that is profiled so has the same weights"
tap_ok "and its profile has them timed" grep -q '"timing": "CUPTI"' log-traced/latest/profile/steps-2-4/profile.json
# What fails, by the beginning of what the page says.
while read -r fault words; do
	EMU_CUPTI=$fault tap_exit 0 "CUPTI has the fault $fault" "$emu/qcnn-fast" profile --no-limits --steps=5 small.yaml
	tap_has out "cuda:0 timed by $words" "the page says so"
done <<'END'
old events: libcupti.so is older than that of CUDA 12.0.
foreign events: libcupti.so is older than that of CUDA 12.0.
cuptiActivityRegisterCallbacks:1 events: cuptiActivityRegisterCallbacks fails: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES.
cuptiActivityRegisterTimestampCallback:1 events: cuptiActivityRegisterTimestampCallback fails: 
cuptiActivityEnable:1 events: cuptiActivityEnable fails: 
cuptiActivityEnable:3 events: cuptiActivityEnable fails: 
cuptiGetStreamIdEx:1 events: cuptiGetStreamIdEx fails: 
cuptiActivityFlushAll:1 events: cuptiActivityFlushAll fails: 
cuptiActivityGetNextRecord:1 events: cuptiActivityGetNextRecord fails: 
lost:3 events: CUPTI's records are not of the kernels and copies that were launched.
lost:13 CUPTI: 3 of 15 kernels and copies are missing.
cuptiActivityFlushAll:4 CUPTI: 6 of 15 kernels and copies are missing, as cuptiActivityFlushAll fails: 
END

library=$(sed -n 's/^#define QCNN_CUPTI_LIBRARY "\(\/.*\)"/\1/p' "$top_builddir/config.h")
if [ -e "$library" ]; then
	EMU_CUPTI=$library tap_exit 0 "the real CUPTI" "$emu/qcnn-fast" profile --no-limits --steps=3 small.yaml
	tap_has out "cuda:0 timed by events: " "which knows no emulated GPU"
fi

# The digits that every GPU gives, and the script that checks a GPU.
EMU_REPORT=report-1 sh "$top_srcdir/tests/gpu/golden.sh" "$emu/qcnn-emu" | grep -v MATHS >golden
grep '^GOLDEN' "$top_srcdir/cli/bench/selftest.def" >want
tap_same golden want "the self-test's digits are those of selftest.def (else: tests/gpu/golden.sh)"
# Units with fewer samples than a unit may have: each GPU has some of them, and threads share them. The circuits have matrices and
# vectors of each sample.
EMU_DEVICES=2 EMU_REPORT=report-2 tap_exit 0 "the digits on two GPUs that share units" "$emu/qcnn-fast" info --selftest --device=cuda --threads=4
EMU_DEVICES=3 EMU_REPORT=report-3 tap_exit 0 "and on three" "$emu/qcnn-emu" info --selftest --device=cuda
waits() { sed -n 's/^call cudaStreamSynchronize //p' "report-$1"; }
tap_ok "two GPUs do more than one" test "$(waits 2)" -gt "$(waits 1)"
tap_ok "three more than two" test "$(waits 3)" -gt "$(waits 2)"
EMU_NCCL=none EMU_CUPTI=none EMU_SEED=5 EMU_DEVICES=2 sh "$top_srcdir/tests/gpu/check.sh" -q -o checked "$emu/qcnn-fast" >out 2>&1
tap_is $? 0 "check.sh finds no fault"
tap_is "$(grep -c '^| .* | ok | ' checked/check.md)" 9 "its table has what was checked"
tap_has out 'ok       self-test: 18 of 18 results have the expected digits' "the digits among it"
tap_has checked/check.json '"check": "two processes", "result": "ok"' "also as JSON"
tap_has checked/check.md '| CUPTI | ok | CUPTI 13.0 times each kernel and copy |' "and the times of kernels"
EMU_FAIL=cudaMalloc:1 sh "$top_srcdir/tests/gpu/check.sh" -q -o broken "$emu/qcnn-fast" >out 2>&1
tap_is $? 1 "a GPU that fails is found"
tap_has out 'FAILED   device: qcnn run: error: the GPU failed: cudaMalloc: out of memory' "with its reason"

# Sectors and bank conflicts are counted by test_counts.sh.
EMU_COUNT=1 EMU_REPORT=report "$emu/qcnn-emu" run -q --device=cuda --seed=3 --emit=jacobian turns.qcnn >out
tap_has report 'allocations left 0' "all memory is given back"
tap_ok "each stage is a range for profilers" grep -q '^range forward stage 0 [1-9]' report
tap_ok "also backward" grep -q '^range backward stage 0 [1-9]' report
tap_has report 'ranges left open 0' "and each ends"

# Ten steps more, each a launch of one graph that is there: nothing is allocated, and the host waits once.
for steps in 2 12; do
	trained steps-$steps 1 --set train.epochs=3 --set train.max_steps=$steps >weights
done
more() { echo $(($(sed -n "s/^call $1 //p" report-steps-12) - $(sed -n "s/^call $1 //p" report-steps-2))); }
tap_is "$(more cudaMalloc) $(more cudaMallocHost) $(more cudaStreamCreate) $(more cudaGraphInstantiateWithFlags)" "0 0 0 0" "steps allocate nothing"
tap_is "$(more cudaStreamSynchronize) $(more cudaGraphLaunch) $(more cudaLaunchKernelExC)" "10 10 0" "a step waits once, and is one launch"

tap_done
