# SPDX-License-Identifier: Apache-2.0
# qcnn infer --model and --const: the weights of a run in another model, on the samples of the run.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

cat >plain.qcnn <<'END_MODEL'
QCNN 1;
const int layers = 1;
const float p = 0;
qubit[2] q;
input float[2] x;
rx(each x) on q;
for int i in [1:layers] { layer turn { param float[2] t; ry(each t) on q; cz q[0], q[1]; } }
layer turn { param float[2] t; ry(each t) on q; cx q[0], q[1]; }
depolarizing(p) q;
observe z(q[1]);
END_MODEL
awk 'BEGIN { print "a,b,label"; for (i = 0; i < 20; i++) print i % 7 / 2 "," i % 3 "," 2 * (i % 2) - 1 }' >samples.csv
cat >config.yaml <<'END_CONFIG'
model: {file: plain.qcnn, const: {layers: 2}}
data: {train: samples.csv, transform: min_max, split: 0.7}
train: {epochs: 3, metrics: [accuracy]}
run: {seed: 3, precision: double}
END_CONFIG
tap_exit 0 "train" "$QCNN" train -q -o w.bin config.yaml
infer() { "$QCNN" infer -q --json "$@" >out 2>err || sed 's/^/# /' err; } # results in out
infer w.bin
cp out want.json
infer --model=plain.qcnn w.bin
tap_same out want.json "the same model, with the constants of the training"
infer latest
tap_same out want.json "the run"
infer --const=p=0 latest
tap_same out want.json "and its own model"
tap_exit 66 "without its folder" "$QCNN" infer --const=p=0.1 w.bin
tap_has err "name it with --model" "--const needs --model"

# Other constants: as run computes them, from inputs that were scaled by hand.
awk -F, 'NR > 1 { print $1 / 3 * 3.14159265358979323846 "," $2 / 2 * 3.14159265358979323846 }' OFMT=%.17g CONVFMT=%.17g samples.csv |
	tail -n 6 >scaled.csv
"$QCNN" run -q --format=csv --method=tensor --weights=w.bin --const=layers=2 --const=p=0.2 --data=scaled.csv plain.qcnn | sed 1d >want.csv
within() { # SQUARE: of the largest difference
	sed 1d got.csv | paste -d, want.csv - |
		awk -F, -v most="$1" '{ n++; d = $2 - $4; if (d * d > most) bad++ } END { exit !(n == 6 && !bad) }'
}
"$QCNN" infer -q --method=tensor --const=p=0.2 -o got.csv latest >out 2>err
tap_ok "noise by tensors" within 1e-24
"$QCNN" infer -q --const=p=0.2 --trajectories=4000 -o got.csv latest >out 2>err
tap_ok "and by trajectories" within 0.01
tap_ok "which are not exact" sh -c '! cmp -s want.csv got.csv'

# More qubits than a state vector has: each gate is followed by damping with a qubit of its own.
sed -e 's/^qubit.*/&  qubit[70] e;/' -e 's/^block.*//' \
	-e 's/^depolarizing.*/for int i in [0:69] { ctrl @ ry(p) q[i % 2], e[i]; cx e[i], q[i % 2]; discard e[i]; }/' plain.qcnn >damped.qcnn
tap_exit 0 "72 qubits" "$QCNN" infer -q --json --model=damped.qcnn latest
tap_ok "without damping have the accuracy of the training" test "$(grep -o '"accuracy": [0-9.]*' out)" = "$(grep -o '"accuracy": [0-9.]*' want.json)"
tap_exit 0 "with damping" "$QCNN" infer -q --json --model=damped.qcnn --const=p=2 latest
tap_ok "have other outputs" sh -c '! cmp -s out want.json'

# Noise of the training is that of the other model, too.
tap_exit 0 "train under noise" "$QCNN" train -q --fresh -o n.bin --set run.noise.one_qubit=0.1 --set run.method=tensor config.yaml
infer --method=tensor n.bin
cp out want.json
infer --method=tensor --model=plain.qcnn n.bin
tap_same out want.json "run.noise stays"

# ---- what is refused ----
sed 's/float\[2\] x;/float[3] x;/; s/each x/each x[0:1]/' plain.qcnn >wide.qcnn
tap_exit 65 "other inputs" "$QCNN" infer --model=wide.qcnn w.bin
tap_has err "wide.qcnn has inputs of 3 numbers, the model of the training of 2" "says which"
sed 's/input float\[2\] x;/input float b;  input float a;/; s/rx(each x) on q;/rx(a) q[0]; rx(b) q[1];/' plain.qcnn >swapped.qcnn
tap_exit 65 "inputs in another order" "$QCNN" infer --model=swapped.qcnn w.bin
tap_has err 'swapped.qcnn has the input `b` of size 1 where the model of the training has `x` of size 2' "says which is the first"
sed 's/layer turn { param float\[2\] t; ry(each t) on q; cx/layer last { param float[2] t; ry(each t) on q; cx/' plain.qcnn >other.qcnn
tap_exit 65 "other weights" "$QCNN" infer --model=other.qcnn w.bin
tap_has err "turn[2].t: the model has no weight of that path" "says which"
tap_exit 65 "run with other constants than those of the training" "$QCNN" run --weights=w.bin --data=scaled.csv plain.qcnn
tap_has err "w.bin was trained with --const layers=2" "names these"
tap_exit 2 "a constant as a key" "$QCNN" infer --set model.const.p=0.1 w.bin
tap_has err "--const changes a constant" "names the option"
tap_exit 65 "an unknown constant" "$QCNN" infer --model=plain.qcnn --const=m=3 w.bin
tap_has err 'the model has no constant `m`' "says so"
sed 's/, const: {layers: 2}//' config.yaml >one.yaml
tap_exit 0 "train without constants" "$QCNN" train -q --fresh -o one.bin one.yaml
tap_exit 2 "weights as a model" "$QCNN" infer --model=one.bin one.bin
tap_has err "--model takes the text of a model" "are refused"
tap_exit 2 "a folder alone" "$QCNN" infer --include=. w.bin
tap_has err "--include needs --model or --const" "is refused"
tap_exit 66 "no such file" "$QCNN" infer --model=none.qcnn w.bin
tap_done
