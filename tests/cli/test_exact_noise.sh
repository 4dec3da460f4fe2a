#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Noise channels by the tensor method: exact means in run, infer and train, which agree with means over many trajectories within
# their spread and do not depend on their number.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

cat >noisy.qcnn <<'END_MODEL'
QCNN 1;
const float p = 0.1;
qubit[4] q;
input float x;
param float[2] w = {0.3, 0.8};
block turn(float[2] w) a, b { ry(w[0]) a; rx(w[1]) b; cx a, b; depolarizing(p) a, b; }
ry(x) q[0];
turn(w) on windows(q, 2, 1);
bit_flip(p) q[2];
if (measure q[1]) { ry(0.4) q[3]; pauli_channel(0.05, 0.1, 0.02) q[3]; } else { phase_damping(0.3) q[3]; h q[3]; }
observe z(q[2]);
observe x(q[3])*z(q[0]);
END_MODEL
sed -e '/bit_flip/d; s/depolarizing.*; }/}/; s/pauli_channel[^;]*;//; s/phase_damping[^;]*;//' noisy.qcnn >pure.qcnn
printf 'x,label\n0.1,1\n1.2,-1\n2.3,1\n2.4,-1\n-0.7,1\n' >five.csv
cut -d, -f1 five.csv >x.csv
run() { "$QCNN" run -q --data=x.csv --format=csv "$@"; }

# Numbers from -1 to 1 of two files agree within five standard errors of means over $1.
within() {
	paste -d, "$2" "$3" | awk -F, -v n="$1" 'NR > 1 { half = NF / 2; for (k = 2; k <= half; k++) { d = $k - $(half + k)
		any++; if (!(d * d <= 25 * (1 - $k * $k) / n + 1e-9)) bad++ } } END { exit !(any == 10 && !bad) }'
}
# The same within 1e-7: state vectors in single precision.
close() {
	paste -d, "$1" "$2" | awk -F, 'NR > 1 { half = NF / 2; for (k = 2; k <= half; k++) { d = $k - $(half + k)
		any++; if (!(d * d < 1e-12)) bad++ } } END { exit !(any == 10 && !bad) }'
}

# ---- run ----
tap_exit 0 "run" "$QCNN" run --data=x.csv --format=csv --method=tensor noisy.qcnn
tap_has err "noise channels are computed exactly, without trajectories" "says that it is exact"
cp out exact.csv
run --method=statevector --trajectories=40000 noisy.qcnn >many.csv
tap_ok "as of 40000 trajectories, within their spread" within 40000 exact.csv many.csv
run --method=statevector --trajectories=4 noisy.qcnn >few.csv
tap_ok "not as of 4" sh -c '! cmp -s few.csv exact.csv'
tap_exit 0 "with a number of trajectories" "$QCNN" run --data=x.csv --format=csv --method=tensor --trajectories=7 noisy.qcnn
tap_has err "so that their number has no effect" "says that it has none"
tap_same exact.csv out "the same bits"
for more in --seed=9 --threads=3 --hosts=local:2; do
	run --method=tensor $more noisy.qcnn >other.csv
	tap_same exact.csv other.csv "the same bits with $more"
done
run --method=tensor --trajectories=0 noisy.qcnn >zero.csv
run --method=tensor pure.qcnn >pure.csv
tap_ok "no trajectories are no noise" close zero.csv pure.csv
tap_ok "which is something else" sh -c '! cmp -s zero.csv exact.csv'
tap_exit 0 "the method auto" "$QCNN" run --data=x.csv --format=csv --precision=double noisy.qcnn
tap_has err "noise channels are computed exactly" "takes tensors, for a few qubits too"
tap_same out exact.csv "with the same bits"
tap_exit 0 "a number of trajectories" "$QCNN" run --data=x.csv --format=csv --trajectories=100 noisy.qcnn
tap_has err "means over 100 trajectories" "has them"
tap_has err "; the method tensor computes them exactly" "and says what needs none"
tap_exit 0 "trajectories that are asked for" "$QCNN" run --data=x.csv --format=csv --method=statevector noisy.qcnn
tap_ok "need no such word" sh -c '! grep -q "computes them exactly" err'
tap_exit 2 "probabilities by tensors" "$QCNN" run --data=x.csv --method=tensor --emit=probabilities noisy.qcnn
tap_has err "the method tensor computes none" "are refused"

# ---- many qubits ----
cat >large.qcnn <<'END_MODEL'
QCNN 1;
qubit[20] q;
input float x;
ry(x) q;
depolarizing(0.1) on chain(q);
bit_flip(0.1) q[0];
observe z(q[0]);
observe z(q[1]);
END_MODEL
tap_exit 0 "20 qubits" "$QCNN" run --data=x.csv --format=csv --method=auto large.qcnn
tap_has err "noise channels are computed exactly" "are contracted by themselves"
tap_ok "and have the values of the formula" awk -F, 'FNR == 1 { next } NR == FNR { x[FNR - 2] = $1; next }
	{ f = 1 - 1.6 / 15; z = cos(x[$1]); d = $2 - 0.8 * f * z; e = $3 - f * f * z; n++; if (d * d + e * e > 1e-24) bad++ }
	END { exit !(n == 5 && !bad) }' x.csv out

# ---- noise behind all gates, train and infer ----
cat >config.yaml <<'END_CONFIG'
model: {file: pure.qcnn}
data: {train: five.csv, inputs: {x: [x]}}
train: {epochs: 6, batch_size: 2, loss: mse, optimizer: {adam: {learning_rate: 0.1}}}
run: {seed: 3, isa: baseline, method: tensor, noise: {one_qubit: 0.02, two_qubit: 0.1}}
log: {report: false, tensorboard: false}
END_CONFIG
sed -i 's/^observe x.*//' pure.qcnn
tap_exit 0 "train" "$QCNN" train --no-progress -o want.bin config.yaml
tap_has err "noise channels are computed exactly" "says that it is exact"
for more in --set=run.threads=3 --hosts=local:2; do
	"$QCNN" train -q --fresh --set cluster.start_seconds=100 $more -o got.bin config.yaml
	tap_ok "the same weights with $more" cmp want.bin got.bin
done
weights() { "$QCNN" weights show --json "$1" | tr ',' '\n' | grep -i -A 9 '"w"'; }
"$QCNN" train -q --fresh --set run.trajectories=3 -o got.bin config.yaml
weights want.bin >want.txt
weights got.bin >got.txt
tap_ok "weights are there" test -s want.txt
tap_same want.txt got.txt "the same weights with another number of trajectories"
numbers() { sed 's/.*"outputs": \[\[//; s/\]\].*//; s/\], *\[/\n/g' "$1"; }
tap_exit 0 "infer" "$QCNN" infer --json --data=five.csv want.bin
tap_has err "noise channels are computed exactly" "is exact as the training"
numbers out >exact.txt
tap_exit 0 "infer by trajectories" "$QCNN" infer --json --data=five.csv --method=statevector --trajectories=40000 want.bin
tap_has err "means over 40000 trajectories" "has them"
numbers out >many.txt
tap_ok "agrees within their spread" sh -c 'paste exact.txt many.txt | awk "{ d = \$1 - \$2; n++
	if (!(d * d <= 25 * (1 - \$1 * \$1) / 40000)) bad++ } END { exit !(n == 5 && !bad) }"'

# ---- probabilities that are trained, or data ----
cat >fit.qcnn <<'END_MODEL'
QCNN 1;
qubit[2] q;
input float x;
param float p = 0.3;
ry(x) q[0];
cx q[0], q[1];
depolarizing(p) q[0], q[1];
observe z(q[1]);
END_MODEL
awk 'BEGIN { print "x,label"; for (k = 0; k < 20; k++) printf "%g,%.12g\n", -3 + 0.3 * k, (1 - 16 * 0.07 / 15) * cos(-3 + 0.3 * k) }' >fit.csv
cat >fit.yaml <<'END_CONFIG'
model: {file: fit.qcnn}
data: {train: fit.csv, inputs: {x: [x]}}
train: {epochs: 200, loss: mse, optimizer: {adam: {learning_rate: 0.01}}}
run: {isa: baseline}
log: {report: false, tensorboard: false}
END_CONFIG
tap_exit 0 "train a probability" "$QCNN" train --no-progress -o fit.bin fit.yaml
tap_has err "noise channels are computed exactly" "with the method auto on two qubits"
tap_ok "which is found" sh -c '"$QCNN" weights show fit.bin | awk "/^p / { getline; found = \$1 > 0.0699 && \$1 < 0.0701 } END { exit !found }"'
"$QCNN" train -q --fresh --hosts=local:2 -o got.bin fit.yaml
tap_ok "the same weights with two workers" cmp fit.bin got.bin
tap_exit 78 "train by trajectories" "$QCNN" train -q --fresh --set run.method=statevector -o got.bin fit.yaml
tap_has err "probabilities of noise channels depend on weights or data" "is refused"
tap_has err "state vectors are asked for" "as asked for"
tap_exit 78 "gradients by parameter shift" "$QCNN" train -q --fresh --set run.gradient=shift -o got.bin fit.yaml
tap_has err "error: probabilities of noise channels depend on weights or data; that needs the method tensor; the method tensor is not possible either: the gradient method is not adjoint" \
	"are refused without a word of state vectors, which auto has chosen"
sed 's/param float p = 0.3/input float p/' fit.qcnn >data.qcnn
printf 'x,p\n0,0\n0,0.3\n0,1\n' >xp.csv
"$QCNN" run -q --data=xp.csv --format=csv data.qcnn >out
tap_ok "a probability of each sample" awk -F, 'BEGIN { p[0] = 0; p[1] = 0.3; p[2] = 1 } FNR > 1 { d = $2 - 1 + 16 * p[$1] / 15; n++; if (d * d > 1e-24) bad++ }
	END { exit !(n == 3 && !bad) }' out
printf 'x,p\n0,0\n0,-0.3\n' >xp.csv
tap_exit 1 "a number that is none" "$QCNN" run -q --data=xp.csv data.qcnn
tap_has err 'a probability of the noise channel `depolarizing` is not between 0 and 1' "is refused"
tap_exit 0 "draw" "$QCNN" draw fit.qcnn
tap_has out "depolarizing(p)" "has a box"
tap_exit 65 "as a circuit" "$QCNN" compile -q --emit=circuit fit.qcnn
tap_has err "probabilities depend on weights or data cannot be written gate by gate" "is refused"
tap_exit 0 "as assembly" "$QCNN" compile -q --emit=asm -o fit.asm fit.qcnn
"$QCNN" run -q --data=x.csv --format=csv fit.qcnn >want.csv
"$QCNN" run -q --data=x.csv --format=csv fit.asm >got.csv
tap_same want.csv got.csv "the assembly has the same channels"

# ---- amplitude damping: <Z> of a qubit in 1 becomes 2 g - 1 ----
echo 'qubit[12] q; param float g = 0.3; x q; amplitude_damping(g) q; observe z(q[0]); observe z(q[3])*z(q[11]);' >damped.qcnn
"$QCNN" run -q --format=csv damped.qcnn >out
tap_ok "amplitude damping of 12 qubits" awk -F, 'FNR == 2 { d = $2 + 0.4; e = $3 - 0.16; good = d * d + e * e < 1e-24 } END { exit !good }' out
"$QCNN" run -q --format=csv --emit=jacobian damped.qcnn >out
tap_ok "and its derivatives by the probability" awk -F, 'FNR > 1 { d = $3 - ($2 ? -1.6 : 2); n++; if (d * d > 1e-24) bad++ } END { exit !(n == 2 && !bad) }' out
tap_exit 0 "its plan" "$QCNN" compile -q --emit=plan damped.qcnn
tap_has out "tensor: every batch" "is a contraction"

# ---- a profile, which takes more steps than the configuration has ----

echo 'QCNN 1; qubit q; param float p = 0.3; bit_flip(p) q; observe z(q);' >grows.qcnn
cat >grows.yaml <<'END_CONFIG'
model: {file: grows.qcnn}
data: {generate: no-input}
train: {epochs: 3, loss: output, optimizer: {sgd: {learning_rate: 0.01}}}
END_CONFIG
tap_exit 0 "a training whose probability stays below 1" "$QCNN" train -q --set log.dir=grows grows.yaml
tap_exit 1 "its profile ends where it does not" "$QCNN" profile --json --no-limits grows.yaml
tap_has err 'a probability of the noise channel `bit_flip` is not between 0 and 1' "says why"
tap_has out '"steps": ' "and has the steps before"
tap_done
