#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Shots in train, infer and run: frequencies near what is exact, the same bytes for any number of threads, and what is refused.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

cat >one.qcnn <<'END'
QCNN 1;
qubit[2] q;
input float x;
param float w = 0.3;
ry(x + w) q[0];
rx(w) q[1];
observe z(q[0]) + x(q[0]) + 0.5;
observe y(q[1]);
observe probs(q);
END
sed -e '/probs/d' -e '/y(q/d' one.qcnn >single.qcnn
printf 'x,label\n0.1,1\n1.2,-1\n2.3,1\n2.4,-1\n' >four.csv
cut -d, -f1 four.csv >x.csv
cat >config.yaml <<'END'
model: {file: single.qcnn}
data: {train: four.csv, validation: four.csv, inputs: {x: [x]}}
train: {epochs: 4, batch_size: 2, optimizer: {sgd: {learning_rate: 0.1}}, metrics: [mae]}
run: {seed: 3, isa: baseline, shots: 200, gradient: shift}
END

# run: readouts are multiples of a share of a shot, and near.
"$QCNN" run -q --data=x.csv --shots=1000 --format=csv one.qcnn >shots.csv
"$QCNN" run -q --data=x.csv --format=csv one.qcnn >exact.csv
tap_ok "run: within 5 deviations, in steps of a shot" awk -F, 'FNR == 1 { next } { for (i = 2; i <= NF; i++) {
	if (NR == FNR) { v[$1, i] = $i; n++; continue }
	d = $i - v[$1, i]; k = ($i - (i == 2 ? 0.5 : 0)) * (i < 4 ? 500 : 1000); k -= int(k + (k < 0 ? -0.5 : 0.5))
	if (d * d > 25 * 2 / 1000 || k * k > 1e-12) bad++; if (d != 0) moved++ } } END { exit !(n == 24 && !bad && moved > 12) }' exact.csv shots.csv
"$QCNN" run -q --data=x.csv --shots=1000 --format=csv --threads=3 one.qcnn >other.csv
tap_same shots.csv other.csv "the same with three threads"
"$QCNN" run -q --data=x.csv --shots=1000 --seed=1 --format=csv one.qcnn >other.csv
tap_ok "another seed, other shots" sh -c '! cmp -s shots.csv other.csv'
"$QCNN" run -q --data=x.csv --shots=0 --format=csv one.qcnn >other.csv
tap_same exact.csv other.csv "0 is exact"
"$QCNN" run -q --data=x.csv --shots=100 --emit=probabilities --format=csv one.qcnn >counts.csv
tap_ok "probabilities: counts of 100" awk -F, 'NR > 1 { k = $3 * 100; k -= int(k + 0.5); if (k * k > 1e-16) bad++; s[$1] += $3 }
	END { for (i in s) if (s[i] < 1 - 1e-12 || s[i] > 1 + 1e-12) bad++; exit !(NR == 17 && !bad) }' counts.csv
tap_exit 0 "derivatives" "$QCNN" run -q --data=x.csv --shots=100000 --gradient=shift --emit=jacobian --format=csv single.qcnn
cp out shots.csv
"$QCNN" run -q --data=x.csv --emit=jacobian --format=csv single.qcnn >exact.csv
tap_ok "are near" awk -F, 'FNR == 1 { next } NR == FNR { v[$1] = $3; next } { d = $3 - v[$1]; n++; if (d * d > 25 * 2 / 100000) bad++ }
	END { exit !(n == 4 && !bad) }' exact.csv shots.csv
tap_exit 2 "derivatives by the adjoint method" "$QCNN" run --data=x.csv --shots=10 --emit=jacobian one.qcnn
tap_has err "derivatives from shots are made by parameter shift; give --gradient=shift" "are refused"
# The shots themselves: those whose frequencies --emit=probabilities gives.
cat >three.qcnn <<'END'
QCNN 1;
qubit[3] q;
input float x;
ry(x) q[0];
cx q[0], q[2];
ry(0.3) q[1];
observe z(q[0]);
END
tap_exit 0 "samples" "$QCNN" run -q --data=x.csv --shots=300 --seed=5 --emit=samples --format=csv three.qcnn
tap_is "$(head -n 1 out)" "sample,shot,qubit[0],qubit[1],qubit[2]" "the bits of each qubit"
tap_is "$(awk -F, 'NR > 1 && $3 != $5' out | wc -l | tr -d ' ')" 0 "those of entangled qubits agree"
awk -F, 'NR > 1 { n[$1 "," $3 + 2 * $4 + 4 * $5]++; last = $1 } END { for (s = 0; s <= last; s++) for (i = 0; i < 8; i++) printf "%d,%d,%.12g\n", s, i, n[s "," i] / 300 }' out >counted
"$QCNN" run -q --data=x.csv --shots=300 --seed=5 --emit=probabilities --format=csv three.qcnn | awk -F, 'NR > 1 { printf "%d,%d,%.12g\n", $1, $2, $3 }' >frequencies
tap_same counted frequencies "are the shots of --emit=probabilities"
tap_exit 0 "in JSON" "$QCNN" run -q --data=x.csv --shots=2 --emit=samples three.qcnn
tap_has out '{"schema": 1, "samples": [[[' "samples, shots, qubits"
tap_exit 2 "samples without shots" "$QCNN" run --data=x.csv --emit=samples three.qcnn
tap_has err "give their number with --shots" "ask for them"
tap_exit 2 "the state" "$QCNN" run --data=x.csv --shots=10 --emit=state one.qcnn
tap_has err "shots do not show the state" "is refused"

# train and infer.
tap_exit 0 "train" "$QCNN" train -q -o w.bin config.yaml
tap_ok "losses are rational" awk '{ sub(/.*"mae": /, ""); k = ($0 - 0) * 400; k -= int(k + 0.5); if (k * k > 1e-12) bad++ } END { exit bad }' runs/latest/metrics.jsonl
"$QCNN" train -q -o other.bin --set run.threads=3 config.yaml
tap_ok "the same weights with three threads" cmp w.bin other.bin
"$QCNN" train -q -o other.bin --set run.seed=4 config.yaml
tap_ok "another seed, other weights" sh -c '! cmp -s w.bin other.bin'
"$QCNN" infer -q --json w.bin >first.json
"$QCNN" infer -q --json --threads=2 w.bin >second.json
tap_same first.json second.json "infer draws the same shots again"
"$QCNN" infer -q --json --seed=5 w.bin >second.json
tap_ok "of another seed others" sh -c '! cmp -s first.json second.json'
"$QCNN" infer -q --shots=0 w.bin | grep '^[0-9]' >exact
"$QCNN" infer -q --shots=1000000 w.bin | grep '^[0-9]' >shots
tap_ok "--shots=0 is exact, a million are near" awk 'NR == FNR { v[$1] = $2; next } { d = $2 - v[$1]; n++; if (d * d > 25 * 2 / 1e6 || d == 0) bad++ }
	END { exit !(n == 4 && !bad) }' exact shots
tap_exit 0 "an optimiser without gradients" "$QCNN" train -q --set train.optimizer=spsa --set run.gradient=adjoint config.yaml

# Refused in the configuration.
for method in adjoint difference; do
	tap_exit 78 "gradient: $method" "$QCNN" train -q --set run.gradient=$method config.yaml
	tap_has err "run.shots and run.gradient: $method contradict each other" "is said"
	tap_has err "set run.gradient: shift" "with what to do"
done
tap_exit 78 "no shots" "$QCNN" train -q --set run.shots=0 config.yaml
tap_exit 78 "too many" "$QCNN" train -q --set run.shots=16777217 config.yaml
tap_done
