# SPDX-License-Identifier: Apache-2.0
# Exact optimisations from outside: named, switched off, refused, and of no consequence but rounding.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

cp "$top_srcdir/examples/cluster/cluster.qcnn" .
run() { "$QCNN" bench --circuit qcnn --qubits 10 --gradient --batch 200 --runs 1 --no-limits --json "$@"; }
taken() { sed -n 's/.*"optimizations": "\([^"]*\)".*/\1/p' out; }

# ---- bench and compile ----

tap_exit 0 "bench takes none" run
tap_is "$(taken)" "" "by itself"
tap_exit 0 "--optimizations" run --optimizations
tap_is "$(taken)" "batch_rank 11 of 200" "names what was taken"
tap_exit 0 "--optimizations=batch_rank" run --optimizations=batch_rank
tap_is "$(taken)" "batch_rank 11 of 200" "likewise"
tap_exit 0 "--optimizations=none" run --optimizations=none
tap_is "$(taken)" "" "none"
tap_exit 0 "few samples" run --optimizations --batch 16
tap_is "$(taken)" "heisenberg_tail of 3 qubits" "are not worth a basis"
tap_exit 0 "--optimizations=heisenberg_tail" run --optimizations=heisenberg_tail
tap_is "$(taken)" "heisenberg_tail of 3 qubits" "names it"
tap_exit 0 "the former names" "$QCNN" bench --qubits 12 --circuit qcnn --gradient --runs 1 --no-limits --json --shortcuts=small_tail
tap_is "$(taken)" "heisenberg_tail of 3 qubits" "mean the same"
tap_has out '"shortcuts": "heisenberg_tail of 3 qubits"' "and the field has its former name, too"
tap_exit 2 "a wrong name" run --optimizations=batch_rank,rank
tap_has err '`rank` is no exact optimisation; there are auto, none, batch_rank, light_cone, heisenberg_tail' "is told, with the right ones"
tap_exit 2 "an empty list" run --optimizations=
tap_exit 0 "the plan" "$QCNN" compile --emit=plan cluster.qcnn
tap_is "$(grep -c '^engine     basis: for batches of 1000 samples .* operations from a basis of 9 states instead of .*(batch_rank)' out)" 1 \
	"predicts the operations of batch rank"
tap_is "$(grep -c '^engine     statevector: every other batch; .* the last gates on 2 qubits absorbed .*(heisenberg_tail)' out)" 1 "and of the tail"
tap_is "$(grep -c '^  step .*  tail$' out)" 1 "which it marks"
tap_exit 0 "and without" "$QCNN" compile --emit=plan --optimizations=none cluster.qcnn
tap_is "$(grep -Ec 'absorbed|light_cone|tail$' out)" 0 "none"
tap_has out 'engine     basis: not used: batch_rank is switched off' "says why"

# ---- training ----

cat >config.yaml <<'E2'
model: {file: cluster.qcnn}
data: {generate: cluster-excitation, rounds: 40}
train: {epochs: 4, batch_size: 320, shuffle: true}
run: {seed: 5}
E2
train() { "$QCNN" train -q -o w.bin config.yaml "$@" >/dev/null && "$QCNN" weights convert w.bin w.json && rm w.bin; }
tap_exit 0 "auto" train --set run.threads=1
mv w.json auto.json
tap_exit 0 "and aloud" "$QCNN" train --no-progress --set log.dir=aloud config.yaml
tap_has err 'exact optimisations: batch_rank: 9 states instead of 320 in every batch; ' "names what was taken"
tap_ok "and how much it saves" grep -Eq '; ([5-9]|[1-9][0-9])(\.[0-9])? times fewer operations$' err
tap_has aloud/latest/run.json '"optimizations": {"batch_rank": {"batches": 4, "samples": 320.0, "states": 9.0}, "batches": 4, "flops": ' "so does its record"
tap_has aloud/latest/report.html '<tr><th>exact optimisations</th><td>batch_rank: 9 states instead of 320 in every batch; ' "and its report"
tap_exit 0 "a dry run" "$QCNN" train --dry-run config.yaml
tap_has out 'optimised batch_rank: 9 states instead of 320 in every batch; ' "foretells it"
tap_has out 'engine    basis: for batches of 320 samples that span at most ' "and names the engines"
tap_has aloud/latest/report.html '<tr><th>engine</th><td>basis: for batches of 320 samples that span at most ' "so does the report"
tap_exit 0 "each batch another one" "$QCNN" train --no-progress --set log.dir=other --set train.batch_size=300 config.yaml
tap_is "$(grep -c batch_rank err)" 0 "a basis for each costs more than it saves"
tap_exit 0 "as the data have them" train --set run.threads=1 --set train.shuffle=false
tap_same auto.json w.json "a batch of all samples is not shuffled"
tap_exit 0 "validation beside it" "$QCNN" train --no-progress --set log.dir=beside --set data.rounds=80 --set data.split=0.5 config.yaml
tap_has err 'batch_rank: 9 states instead of 320 in every batch; ' "training uses the optimisation"
tap_exit 0 "infer" "$QCNN" infer -q --split validation --json beside/latest
tap_is "$(sed -n 's/.*"loss": *\([-0-9.e]*\).*/\1/p' out)" "$(sed -n 's/.*"val_loss": *\([-0-9.e]*\).*/\1/p' beside/latest/metrics.jsonl | tail -n 1)" \
	"prints training's validation loss, to the last digit"
tap_exit 0 "three starts" "$QCNN" train --no-progress --set log.dir=three --set model.const.n=12 --set train.restarts=3 --set run.threads=2 --set train.batch_size=450 config.yaml
tap_has err 'exact optimisations: batch_rank: 13 states instead of 450 in 12 of 24 batches; heisenberg_tail: the last gates on 3 qubits as one matrix in 12 of 24 batches; ' \
	"count together"
tap_exit 0 "without" "$QCNN" train --no-progress --set log.dir=aloud --set run.optimizations=none config.yaml
tap_is "$(grep -c optimisations: err)" 0 "there is nothing to tell"
tap_has aloud/latest/report.html '<tr><th>exact optimisations</th><td>none that reduced the number of operations by 5 % or more</td>' "the report says so"
tap_exit 0 "with workers" train --set cluster.hosts=local:2
tap_same auto.json w.json "the same bits"
tap_exit 0 "with more threads" train --set run.threads=3
tap_same auto.json w.json "the same bits"
tap_exit 0 "heisenberg_tail alone" train --set run.optimizations=heisenberg_tail
mv w.json tail.json
tap_exit 0 "by its former name" train --set run.shortcuts=small_tail
tap_same tail.json w.json "trains the same weights"
tap_exit 0 "with workers" train --set run.optimizations=heisenberg_tail --set cluster.hosts=local:2
tap_same tail.json w.json "the same bits"
tap_exit 0 "heisenberg_tail aloud" "$QCNN" train --no-progress --set log.dir=aloud --set run.optimizations=heisenberg_tail config.yaml
# The summary names an optimisation only where the record's own numbers show that it reduced the work.
gain=$(sed 's/.*"flops": \([0-9.e+]*\), "flops_without": \([0-9.e+]*\).*/\1 \2/' aloud/latest/run.json | awk '{ printf "%.1f", $2 / $1 }')
case $gain in
0.*|1.0) tap_is "$(grep -c 'optimisations:' err)" 0 "is not named: it saved nothing" ;;
*) tap_has err "the last gates on 2 qubits as one matrix in every batch; $gain times fewer operations" "is named, with what it saved" ;;
esac
tap_has aloud/latest/run.json '"heisenberg_tail": {"batches": 4, "qubits": 2}' "the record has it"
tap_exit 0 "the example" "$QCNN" train --no-progress --set log.dir=example --set train.restarts=1 --set train.epochs=2 "$top_srcdir/examples/cluster/config.yaml"
tap_has example/latest/run.json '"heisenberg_tail": {"batches": ' "uses an optimisation"
tap_is "$(grep -c 'fewer operations' err)" 0 "that saves nothing, and the summary does not claim it"
tap_exit 0 "none" train --set run.optimizations=none
tap_is "$(cmp -s auto.json w.json && echo same)" "" "other last digits: it was taken"
tap_exit 0 "auto, double" train --set run.precision=double
mv w.json auto.json
tap_exit 0 "none, double" train --set run.precision=double --set run.optimizations=none
numbers() { tr -c '0-9.eE+-' '\n' <"$1" | grep '\.'; }
numbers auto.json >a
numbers w.json >b
tap_ok "but near" sh -c 'paste a b | awk "{ d = \$1 - \$2; if (d < 0) d = -d; if (d > 1e-9) far = 1; n++ } END { exit far || n < 60 }"'

# Twenty-four qubits in pairs, each output sees two: small circuits in place of a large one.
cat >pairs.qcnn <<'E2'
QCNN 1;
const int n = 24;
qubit[n] q;
input float[n] x;
block u(float[3] t) a, b { ry(t[0]) a; rx(t[1]) b; rzz(t[2]) a, b; }
embed { rx(each x) on q; }
param float[3] t;
u(t) on zip(q[0:n/2-1], q[n/2:n-1]);
observe z(q[0]);
observe z(q[n/2+1]);
E2
tap_exit 0 "bench" "$QCNN" bench --circuit pairs.qcnn --gradient --runs 1 --no-limits --json --optimizations=light_cone
tap_is "$(taken)" "light_cone 2 circuits of at most 2 qubits" "names the cones"
tap_exit 0 "the plan" "$QCNN" compile --emit=plan pairs.qcnn
tap_is "$(grep -c '^engine     light_cone: .* by 2 circuits of at most 2 qubits .*; used' out)" 1 "predicts them"
for last in 41 42; do
	cat >outputs.qcnn <<-E2
	QCNN 1;
	qubit[43] q;
	param float[43] t;
	ry(each t) on q;
	observe z(q);
	observe x(q);
	observe y(q[0:$last]);
	E2
	tap_exit 0 "$((87 + last)) outputs" "$QCNN" compile --emit=plan --method=statevector outputs.qcnn
	grep '^engine     light_cone:' out >>seen
done
tap_is "$(grep -c 'by 128 circuits of at most 1 qubit.*; used$' seen) $(grep -c 'more than 128 outputs$' seen)" "1 1" \
	"128 outputs of a circuit are looked at"
grep -v 'n/2+1]);$' pairs.qcnn >one.qcnn
cat >pairs.yaml <<'E2'
model: {file: one.qcnn}
data: {train: pairs.csv, label: y}
train: {epochs: 2, batch_size: 5}
E2
awk 'BEGIN { for (k = 0; k < 24; k++) printf "x%d,", k; print "y"
	for (s = 0; s < 10; s++) { for (k = 0; k < 24; k++) printf "%.3f,", (s * 7 + k * 3) % 11 / 5; print s % 2 } }' >pairs.csv
pairs() { "$QCNN" train -q -o w.bin pairs.yaml "$@" >/dev/null && "$QCNN" weights convert w.bin w.json && rm w.bin; }
tap_exit 0 "24 qubits, aloud" "$QCNN" train --no-progress pairs.yaml
tap_has err 'exact optimisations: light_cone: 1 circuit of at most 2 qubits instead of one of 24; ' "names the cone"
tap_has runs/latest/run.json '"batches": 4, "flops": ' "and its record"
tap_has runs/latest/run.json '"light_cone": {"circuits": 1, "qubits": 2}' "too"
sed 's/n = 24/n = 40/' one.qcnn >wide.qcnn
awk -F, -v OFS=, 'NR == 1 { for (k = 0; k < 40; k++) printf "x%d,", k; print "y"; next } { for (k = 0; k < 40; k++) printf "%s,", $(k % 24 + 1); print $NF }' pairs.csv >wide.csv
tap_exit 0 "40 qubits" "$QCNN" train -q -o wide.bin --set model.file=wide.qcnn --set data.train=wide.csv --set data.split=0.5 pairs.yaml
tap_exit 0 "are evaluated as they were trained" "$QCNN" infer --json wide.bin
tap_is "$(sed -n 's/.*"loss": \([^,}]*\).*/\1/p' out)" "$(sed -n '$s/.*"val_loss": \([^,}]*\).*/\1/p' runs/latest/metrics.jsonl)" "to the same digits"
tap_exit 0 "24 qubits" pairs
mv w.json here.json
tap_exit 0 "with workers" pairs --set cluster.hosts=local:2
tap_same here.json w.json "the same bits"
# What a record says to be saved is what the same training takes without it.
operations() { grep -o "\"$1\": [^,}]*" runs/latest/run.json | head -n 1 | cut -d' ' -f2; }
sed 's/n = 24/n = 14/' one.qcnn >few.qcnn
cut -d, -f1-14,25 pairs.csv >few.csv
few() { pairs --set model.file=few.qcnn --set data.train=few.csv --set run.optimizations=$1; }
few light_cone
saved="$(operations flops_without)"
few none
tap_is "$(operations flops)" "$saved" "operations without light cones"
tap_ok "are many" test "${saved%.*}" -gt 100000
# Of circuits that are too large for that it is not known.
for n in 62 1100; do
	sed "s/n = 24/n = $n/" one.qcnn >many.qcnn
	awk -v n=$n 'BEGIN { for (k = 0; k < n; k++) printf "x%d,", k; print "y"
		for (s = 0; s < 10; s++) { for (k = 0; k < n; k++) printf "0.%d,", (s + k) % 10; print s % 2 } }' >many.csv
	tap_exit 0 "$n qubits" "$QCNN" train --no-progress --fresh --set run.method=statevector --set model.file=many.qcnn --set data.train=many.csv -o w.bin pairs.yaml
	tap_ok "what is used" grep -q "exact optimisations: light_cone: 1 circuit of at most 2 qubits instead of one of $n; heisen.* in every batch$" err
	tap_is "$(operations flops_without)" "" "and no number that nobody knows"
done

refuse() {
	tap_exit 78 "run.optimizations: $1" "$QCNN" train -q --set "run.optimizations=$1" config.yaml
	tap_has err "$2" "says why"
}
refuse rank 'one of: auto, none, batch_rank, light_cone, heisenberg_tail'
refuse '[batch_rank, none]' '`none` stands alone'
refuse 3 'cannot be'
tap_done
