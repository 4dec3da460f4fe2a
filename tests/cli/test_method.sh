#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.method and --method: plans, results, refusals, and that a training keeps its method.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

# chain QUBITS [STATEMENT]: convolution and pooling of neighbours on an open chain.
chain() {
	cat <<-END
	QCNN 1;
	const int n = $1;
	qubit[n] q;
	input float[n] x;
	block conv2(float[4] t) a, b { ry(t[0]) a; ry(t[1]) b; cx a, b; ry(t[2]) a; rz(t[3]) b; }
	block merge(float[2] t) source, sink { cry(t[0]) source, sink; crz(t[1]) source, sink; discard source; }
	embed { ry(each x) on q; }
	${2:-}
	let w = q;
	while (len(w) > 1) {
	  layer conv { param float[4] t; conv2(t) on chain(w); }
	  layer pool { param float[2] t; merge(t) on zip(w[0:2:-1], w[1:2:-1]); }
	  w = w[1:2:-1];
	}
	observe z(w);
	END
}
# samples QUBITS ROWS: with labels -1 and 1 in the last column.
samples() {
	awk -v n="$1" -v rows="$2" 'BEGIN {
		for (i = 0; i < n; i++) printf "x%d,", i
		print "label"
		for (k = 0; k < rows; k++) {
			for (i = 0; i < n; i++) printf "%.3f,", sin(1.7 * i + 2.9 * k * (i % 3)) + k % 2
			print k % 2 ? 1 : -1
		}
	}'
}
# apart FILE FILE: the largest difference of the numbers of two CSV files.
apart() {
	paste -d, "$1" "$2" | awk -F, 'NR > 1 { for (i = 1; i <= NF / 2; i++) { d = $i - $(i + NF / 2); if (d < 0) d = -d; if (!(d <= most)) most = d } }
		END { print (NR > 1 ? most + 0 : "nothing") }'
}
below() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a ~ /^[0-9.e-]+$/ && a + 0 < b + 0) }'; }
# refused NAME REASON COMMAND...: an error of the configuration that names the reason and what to set.
refused() {
	refused_name=$1 refused_reason=$2
	shift 2
	tap_exit 78 "$refused_name" "$@"
	tap_has err "the method tensor is not possible: $refused_reason; set run.method (--method) to auto or statevector" "says why, and what to do"
}

for n in 6 16 32 64; do chain $n >e$n.qcnn; done
samples 16 12 >e16.csv
samples 64 4 >e64.csv
sed 's/,[^,]*$//' e16.csv >x16.csv
sed 's/,[^,]*$//' e64.csv >x64.csv
cat >config.yaml <<'E2'
model: {file: e16.qcnn}
data: {train: e16.csv, label: label, split: {train: 0.5, validation: 0.25, test: 0.25}}
train: {epochs: 3, batch_size: 3, optimizer: {adam: {learning_rate: 0.05}}, restarts: 2}
run: {seed: 7}
log: {checkpoint_steps: 1}
E2

# ---- plans ----

tap_exit 0 "the plan of 64 qubits" "$QCNN" compile --emit=plan e64.qcnn
tap_has out "engine     tensor: every batch; " "is that of tensors"
tap_has out "1 network, " "with its networks"
tap_has out "engine     statevector: not used: " "and why not the other"
for line in 'unit       8 samples' 'networks   1, of ' 'trees      ' 'flops      ' 'tensors    the largest of ' 'memory     '; do
	tap_has out "$line" "it has a line $line"
done
flops() { "$QCNN" compile --emit=plan "$@" | sed -n 's/^flops *\([0-9.e+]*\) forward, \([0-9.e+]*\) with gradient, a sample in batches of \([0-9]*\)$/\1 \2 \3/p'; }
tap_is "$(flops e64.qcnn | awk '{ print ($2 > 2.9 * $1 && $2 < 3.1 * $1), $3 }')" "1 1000" "a gradient takes three times as many operations"
tap_is "$(flops --batch 8 e64.qcnn | awk '{ print $3 }')" 8 "--batch says for how many samples"
tap_exit 78 "64 qubits as a state vector" "$QCNN" compile --emit=plan --method=statevector e64.qcnn
tap_has err "a circuit of 64 qubits has 2^64 amplitudes" "are too many"
tap_exit 0 "6 qubits" "$QCNN" compile --emit=plan e6.qcnn
tap_has out "tensor: not used: state vectors of less than 16 qubits are small" "are left to state vectors"
tap_has out "steps" "whose plan it is"
tap_exit 0 "unless tensors are asked for" "$QCNN" compile --emit=plan --method=tensor e6.qcnn
tap_has out "networks   1, of " "which have another plan"
tap_ok "auto takes tensors for 16 qubits" test -n "$(flops e16.qcnn)"
tap_is "$(flops --method=tensor e16.qcnn)" "$(flops e16.qcnn)" "auto, which searches no further than state vectors are cheaper, finds the same orders"
# Light cones of few qubits, which state vectors could hold.
printf 'qubit[100] q; param float[100] t; ry(each t) on q; for int i in [0:2:98] { cx q[i], q[i + 1]; } observe z(q);\n' >cones.qcnn
tap_exit 0 "the plan of small light cones of a large circuit" "$QCNN" compile --emit=plan cones.qcnn
tap_has out "networks   " "is that of tensors"
# Gates between distant qubits: each order of contraction has tensors of more entries than a double counts.
awk 'BEGIN {
	n = 700
	print "qubit[" n "] q; param float[" n "] t; ry(each t) on q;"
	for (l = 0; l < 2; l++)
		for (d = 1; d < n / 2; d = 5 * d + 2) print "for int i in [0:" n - 1 "] { cx q[i], q[(i + " d ") % " n "]; } ry(0.3) q;"
	print "observe z(q[0]);"
}' >wide.qcnn
for method in auto tensor; do
	tap_exit 78 "tensors that no machine holds, by $method" "$QCNN" compile --emit=plan --method=$method wide.qcnn
	tap_has err "tensors of more than 2^32 entries" "says how many are too many"
done
# Networks are made in time proportional to their gates. These take seconds, and a minute or more if each gate looks at all others;
# seconds of a processor are no duration, whatever else runs.
cat >long.qcnn <<'END_MODEL'
qubit[20] q; input float x;
rx(x) q;
for int k in [0:69999] { crz(0.1 * x) q[0], q[1]; crz(0.2 * x) q[1], q[2]; }
observe x(q[0]);
END_MODEL
cat >many.qcnn <<'END_MODEL'
qubit[4096] q; input float x;
rx(x) q;
for int k in [0:59] { cx on even(q); ry(0.3 * k + 0.1) q; }
observe z(q);
END_MODEL
cat >star.qcnn <<'END_MODEL'
qubit[4000] q; input float x; param float[4000] t;
rx(x) q;
for int i in [1:3999] { rzx(t[i]) q[0], q[i]; }
ry(x * t[1]) q;
for int i in [1:3999] { rzx(t[i]) q[0], q[i]; }
observe x(q[0]);
observe z(q[17])*z(q[0])*z(q[3999]);
END_MODEL
seconds=20
[ -z "$QCNN_SANITIZED" ] || seconds=80
for model in long many star; do
	(ulimit -t $seconds && exec "$QCNN" compile --emit=plan --method=tensor $model.qcnn) >out 2>err
	tap_is "$?" 0 "networks of $model circuits are made in time"
done
# 1000 readouts depend on 160,000,000 gates together.
echo 'qubit[1000] q; param float t; h q; rzz(t) on all_pairs(q); h q; observe z(q);' >pairs.qcnn
tap_exit 78 "networks that no memory holds" sh -c '[ -n "${QCNN_SANITIZED:-}" ] || ulimit -v 2000000; exec "$QCNN" compile --emit=plan pairs.qcnn'
tap_has err "tensor: the readouts depend on more than 4194304 gates, those of each product of Pauli operators counted" "are refused before they are made"
tap_exit 2 "--measure" "$QCNN" compile --emit=plan --measure --method=tensor e64.qcnn
tap_has err "are for plans of the method statevector" "is for states"
tap_exit 0 "--machine" "$QCNN" compile --emit=plan --machine=stream=33 e16.qcnn
tap_has out "stream 33 GB/s in place" "asks for these"
for what in asm circuit openqasm; do tap_exit 0 "--emit=$what of 64 qubits" "$QCNN" compile --emit=$what e64.qcnn; done
tap_exit 0 "check" "$QCNN" check e64.qcnn
tap_has out "a thread: run.method: auto contracts them, without a state" "says what tensors need"
tap_is "$(cat err)" "" "without a warning"
tap_ok "and of no layer that it is costly" sh -c '! grep -q "^costly" out'

# costly: the first number of flops a sample in the line that begins with $1.
costly() { sed -n "s/^$1 *\([0-9.e+]*\) flops a sample.*/\1/p" out; }
sed 's/chain(w)/ring(w)/' e64.qcnn >ring.qcnn
tap_exit 0 "check of a ring" "$QCNN" check ring.qcnn
tap_has out "costly    conv[0]: " "names a layer whose gates share qubits"
conv=$(costly 'costly    conv\[0\]:')
tap_is "$(echo "$conv $(costly tensors)" | awk '{ print ($1 > 0 && $1 < $2 / 2) }')" 1 "with the operations of fewer gates"
"$QCNN" run --data=x64.csv --threads=1 --isa=baseline ring.qcnn >ring.out 2>ring.err &
ring=$!
tap_ok "an evaluation that takes long says so before it begins" \
	tap_until 'grep -q "the evaluation takes .* operations on tensors, about .*; .qcnn check. names the layers" ring.err'
kill "$ring"
wait "$ring" 2>/dev/null
"$QCNN" run --data=x64.csv e64.qcnn >out 2>err
tap_ok "and one of seconds does not" sh -c '! grep -q "operations on tensors" err'
sed 's/conv2(t) on ring/conv2(t) on even/; s/layer conv {/if (len(w) < n) layer conv { param float[4] t; conv2(t) on ring(w); } else &/' ring.qcnn >even.qcnn
"$QCNN" check even.qcnn >out 2>err
tap_is "$(costly tensors)" "$conv" "which are those of even pairs"
sed 's/chain(w)/ring(w)/; s/ry(each x) on q;/& cz on chain(q);/; s/zip(.*); }/zip(w[0:len(w)\/2-1], w[len(w)\/2:-1]); }/; s/w = w.*;/w = w[len(w)\/2:-1];/' \
	e64.qcnn >halves.qcnn
tap_exit 0 "check of halves" "$QCNN" check halves.qcnn
tap_has out "tensors   not possible: each order of contraction that was found has tensors of more than 2^32 entries" "says why there are no tensors"
tap_has out "costly    no layer alone: " "and that it is not one layer"
chain 64 'ctrl(4) @ x q[0], q[1], q[2], q[3], q[4];' >wide.qcnn
tap_exit 0 "check of a gate on five qubits" "$QCNN" check wide.qcnn
tap_has out "tensors   not possible: a gate acts on more than 3 qubits, controls included" "names what tensors cannot"
cat >energy.qcnn <<'END_MODEL'
qubit[20] q;
param float[20] t;
ry(each t) on q; cx on chain(q);
let h = 0;
for int i in [0:18] { h += z(q[i])*z(q[i+1]); }
observe h;
END_MODEL
tap_is "$(flops energy.qcnn | awk '{ print ($2 > 2.5 * $1 && $2 < 3.5 * $1), $3 }')" "1 1" "a model without inputs is counted for one sample"

# ---- results ----

for emit in outputs jacobian; do
	for method in statevector tensor; do
		tap_exit 0 "$emit by $method" "$QCNN" run -e $emit --precision=double --method=$method --data=x16.csv --format=csv -o $method.csv e16.qcnn
	done
	tap_ok "$emit: both methods agree to $(apart tensor.csv statevector.csv)" below "$(apart tensor.csv statevector.csv)" 1e-11
done
"$QCNN" run --data=x16.csv --format=csv -o tensor.csv --method=tensor e16.qcnn 2>err
tap_exit 0 "auto" "$QCNN" run --data=x16.csv --format=csv -o auto.csv e16.qcnn
tap_same auto.csv tensor.csv "is tensor on 16 qubits"
tap_exit 0 "outputs of 64 qubits" "$QCNN" run --data=x64.csv --format=csv e64.qcnn
tap_is "$(wc -l <out | tr -d ' ')" 5 "one for each sample"

# ---- refusals ----

run16() { "$QCNN" run --method=tensor --data=x16.csv "$@"; }
refused "shots" "readouts are drawn from state vectors" run16 --shots=10 e16.qcnn
for gradient in shift difference; do
	refused "--gradient=$gradient" "the gradient method is not adjoint" run16 -e jacobian --gradient=$gradient e16.qcnn
done
refused "the device ref" "only the device cpu contracts tensors (run.device)" run16 --device=ref e16.qcnn
refused "a split plan" "states are split over ranks" "$QCNN" compile --emit=plan --method=tensor --ranks=4 e64.qcnn
chain 16 'ctrl(3) @ x q[0], q[1], q[2], q[3];' >controls.qcnn
refused "a gate with three controls" "a gate acts on more than 3 qubits, controls included" run16 controls.qcnn
printf 'QCNN 1;\ninput float[4] a;\nqubit[2] q;\nembed { amplitudes(a) q; }\ncx q[0], q[1];\nobserve z(q[1]);\n' >amplitudes.qcnn
cut -d, -f1-4 x16.csv >x4.csv
refused "amplitudes" "qubits are prepared in a state of given amplitudes" "$QCNN" run --method=tensor --data=x4.csv amplitudes.qcnn
printf 'QCNN 1;\nqubit[16] q;\nry(0.3) q;\ncx on chain(q);\nobserve probs(q[0:6]);\n' >probabilities.qcnn
refused "probabilities of seven qubits" "probabilities of more than 6 qubits are read" "$QCNN" run --method=tensor probabilities.qcnn
tap_exit 0 "auto takes the other method" "$QCNN" run probabilities.qcnn
for emit in state probabilities samples; do
	shots=
	[ $emit != samples ] || shots=--shots=10
	tap_exit 2 "--emit=$emit" run16 -e $emit $shots e16.qcnn
	tap_has err "--emit=$emit needs the amplitudes of the state, and the method tensor computes none" "says why"
	tap_exit 0 "without --method" "$QCNN" run -e $emit $shots --data=x16.csv -o values.json e16.qcnn
done
chain 64 'ctrl(3) @ x q[0], q[1], q[2], q[3];' >both.qcnn
tap_exit 78 "neither method" "$QCNN" run --data=x64.csv both.qcnn
tap_has err "no method is possible: statevector: a circuit of 64 qubits has 2^64 amplitudes; a state vector holds at most 2^60; tensor: a gate acts on more than 3 qubits" "both reasons are given"
cut -d, -f1-44 x64.csv >x44.csv
tap_exit 78 "a state that does not fit" "$QCNN" run --data=x44.csv --shots=10 --const n=44 e64.qcnn
tap_has err "; the method tensor is not possible either: readouts are drawn from state vectors" "names the other reason, too"
tap_exit 78 "by the method statevector" "$QCNN" run --data=x44.csv --method=statevector --const n=44 e64.qcnn
tap_has err "; the method tensor needs " "names the other method"
tap_has err "MiB: set run.method (--method) to tensor" "which fits"

train() { "$QCNN" train -q --set=log.dir="$1" "$2" "$3" config.yaml; }
refused "training with run.gradient: shift" "the gradient method is not adjoint" train no --set=run.gradient=shift --set=run.method=tensor
refused "on the device ref" "only the device cpu contracts tensors (run.device)" train no --set=run.device=ref --set=run.method=tensor
refused "with split states" "states are split over ranks" train no --set=run.split=2 --set=run.method=tensor
refused "check, too" "states are split over ranks" "$QCNN" check --set=run.split=2 --set=run.method=tensor config.yaml
tap_ok "nothing was begun" test ! -e no
tap_exit 0 "run.split: auto" "$QCNN" train --dry-run --set=run.split=auto --set=model.file=e64.qcnn --set=data.train=e64.csv --set=data.split=null config.yaml
tap_has out "engine    tensor: every batch" "splits nothing that has no states"

# ---- a training ----

tap_exit 0 "a dry run" "$QCNN" train --dry-run --json config.yaml
tap_has out '"method": "tensor"' "names the method"
tap_has out '"tensor": {"networks": 1, "gates": ' "and its plan"
tap_exit 0 "auto" train auto --set=run.threads=1 -oauto.bin
tap_exit 0 "tensor" train tensor --set=run.method=tensor -otensor.bin
tap_exit 0 "statevector" train states --set=run.method=statevector -ostates.bin
tap_same auto.bin tensor.bin "auto is tensor, and no other training"
tap_ok "statevector is another one" sh -c '! cmp -s states.bin tensor.bin'
for file in auto.bin auto/latest/state.bin; do
	"$QCNN" weights show $file >shown
	tap_has shown '"method":"tensor"' "$file has the method"
done
tap_has auto/latest/run.json '"method": "tensor"' "so has run.json"
tap_has auto/latest/run.json '"contractions_of_a_sample": ' "with the plan"
tap_is "$(grep -c '"tensor": {' states/latest/run.json)" 0 "that of states has no such plan"
tap_has auto/latest/report.html '<tr><th>method</th><td>tensor</td></tr>' "the report has the method"
tap_has auto/latest/report.html 'the largest tensor of' "and what it took"
tap_has auto/latest/report.html 'double precision' "in double precision"
"$QCNN" train -q --set=log.dir=workers -o workers.bin --hosts local:2 config.yaml 2>err
tap_same workers.bin auto.bin "two workers: the same bits"
"$QCNN" train -v --no-progress --set=log.dir=workers --fresh -o workers.bin --hosts local:2 --set=run.method=statevector config.yaml 2>err
tap_same workers.bin states.bin "they get the method that was chosen"
json() { sed -n "s/.*\"$2\": *\\([-0-9.e+]*\\).*/\\1/p" "$1" | tail -1; }
for name in auto states; do
	"$QCNN" infer --split=validation --json $name.bin >$name.json 2>err
	tap_is "$(json $name.json loss)" "$(json $name/latest/run.json val_loss)" "infer of $name: the same validation loss, to the last digit"
done
"$QCNN" infer --split=validation --json --method=statevector auto.bin >other.json
tap_ok "another method gives other last digits" sh -c '! cmp -s other.json auto.json'
tap_exit 0 "infer with shots" "$QCNN" infer --shots=100 auto.bin
tap_has err "the weights were trained with the method tensor, which is not possible here: readouts are drawn from state vectors" "says that it needs states"
refused "unless tensors are asked for" "readouts are drawn from state vectors" "$QCNN" infer --shots=100 --method=tensor auto.bin

# ---- a training that goes on ----

stopping='--set=train.callbacks={command: {run: "kill -TERM $PPID", on: epoch}}'
rm -rf runs
tap_exit 75 "stopped" train runs --set=run.method=statevector "$stopping"
tap_exit 0 "auto, which is tensor here, goes on" "$QCNN" train --no-progress --set=log.dir=runs -o got.bin config.yaml
tap_has err "was begun with the method statevector, which computes here too, in place of tensor" "with the method of its beginning"
tap_same got.bin states.bin "to the same bits"
tap_has runs/latest/run.json '"method": "statevector"' "which is recorded"
rm -rf runs
tap_exit 75 "stopped once more" train runs --set=run.method=statevector "$stopping"
tap_exit 0 "another method that is asked for" "$QCNN" train --no-progress --set=log.dir=runs -o got.bin --set=run.method=tensor config.yaml
tap_is "$(ls -d runs/e16-* | wc -l | tr -d ' ')" 2 "begins another run"
tap_same got.bin tensor.bin "with its own bits"
rm -rf runs
tap_exit 75 "stopped with tensors" train runs --set=run.threads=2 "$stopping"
tap_exit 0 "a run of tensors goes on" "$QCNN" train --no-progress --set=log.dir=runs -o got.bin config.yaml
tap_has err "resuming runs/e16-" "where it was"
tap_same got.bin tensor.bin "to the same bits"
tap_exit 0 "extended by name" "$QCNN" train -q --set=log.dir=runs --resume=latest --set=train.epochs=4 -o got.bin config.yaml
"$QCNN" train -q --set=log.dir=long --set=train.epochs=4 -o long.bin config.yaml
tap_same got.bin long.bin "to the bits of a longer training"

# ---- runs and weights of programs that knew no methods ----

# old FILE: its metadata without the method, in as many bytes.
zeros=0000000000000000000000000000000000000000000000000000000000000000
old() {
	LC_ALL=C sed -i -e 's/"sha256":"[0-9a-f]*","s/"sha256":"'$zeros'","s/' -e 's/\\"method\\":\\"statevector\\",/                           /' "$1"
	old_digest=$(sha256sum "$1" | cut -d ' ' -f 1)
	LC_ALL=C sed -i -e 's/"sha256":"'$zeros'","s/"sha256":"'"$old_digest"'","s/' "$1"
}
cp states.bin old.bin
old old.bin
"$QCNN" weights show old.bin >shown
tap_is "$(grep '^# config' shown | grep -c method)" 0 "weights without a method"
"$QCNN" infer --split=validation --json old.bin >old.json 2>err
tap_same old.json states.json "were computed by state vectors"
rm -rf runs
tap_exit 75 "a run that was stopped" train runs --set=run.method=statevector "$stopping"
for file in runs/*/checkpoint/?.bin; do old "$file"; done
sed -i '/^  method:/d' runs/e16-*/config.yaml
sed -i 's/"method": "statevector", //; s/"config_sha256": "[0-9a-f]*"/"config_sha256": "aa"/' runs/e16-*/run.json
tap_is "$(cat runs/e16-*/run.json runs/e16-*/config.yaml | grep -c '"\{0,1\}method"\{0,1\}:')" 0 "and that knew no methods"
tap_exit 0 "is resumed" "$QCNN" train --no-progress --set=log.dir=runs -o got.bin config.yaml
tap_has err "was begun with the method statevector" "by state vectors"
tap_has err "resuming runs/e16-" "where it was"
tap_same got.bin states.bin "to the same bits"

# ---- bench and profile ----

tap_exit 0 "bench" "$QCNN" bench --no-limits --runs 2 --method=tensor --circuit e16.qcnn --gradient --batch 9 --parts --json
tap_has out '"method": "tensor", "shape": "tensors"' "of tensors"
tap_has out '"precision": "double"' "in double precision"
tap_has out '"each_pass": null' "there are no passes over states"
tap_is "$(json out flops_executed | awk '{ print ($1 > 0) }')" 1 "but operations"
tap_exit 0 "as a table" "$QCNN" bench --no-limits --runs 2 --method=tensor --circuit e64.qcnn
tap_has out "e64.qcnn tensor double" "also of 64 qubits"
tap_exit 0 "state vectors" "$QCNN" bench --no-limits --runs 2 --circuit e16.qcnn --precision=double --json
tap_has out '"method": "statevector"' "are what bench measures unless asked"
cp out before.json
tap_exit 78 "states that do not fit" "$QCNN" bench --no-limits --runs 1 --circuit e64.qcnn --const n=44
tap_has err "; the method tensor needs " "name the other method"
tap_exit 65 "a case of the other method" "$QCNN" bench --no-limits --runs 2 --circuit e16.qcnn --method=tensor --precision=double --compare before.json
tap_has err "it has none of the measured cases" "is another case"
refused "bench of what tensors cannot" "a gate acts on more than 3 qubits, controls included" "$QCNN" bench --no-limits --runs 1 --method=tensor --circuit controls.qcnn
tap_exit 0 "profile" "$QCNN" profile --no-limits --steps 3 --gradient e16.qcnn
tap_has out "1 tensor network, " "says what it is of"
tap_exit 0 "of a training" "$QCNN" profile --no-limits --steps 3 --level=matrices config.yaml
tap_has out "double precision, 1 tensor network, " "too"
tap_is "$(grep -c 'run.precision: single' out)" 0 "which is not advised another precision"
tap_done
