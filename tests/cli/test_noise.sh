#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Noise channels in run, train, infer, draw and compile: means over trajectories, the same bits for any number of threads and
# workers and after a kill, and what is refused.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

cat >noisy.qcnn <<'END_MODEL'
QCNN 1;
const float p = 0.1;
qubit[3] q;
input float x;
param float[2] w = {0.3, 0.8};
block turn(float[2] w) a, b { ry(w[0]) a; rx(w[1]) b; cx a, b; depolarizing(p) a, b; }
ry(x) q[0];
turn(w) on windows(q, 2, 1);
bit_flip(p) q[2];
observe z(q[2]);
END_MODEL
sed -e '/bit_flip/d; s/depolarizing.*; }/}/' noisy.qcnn >pure.qcnn
printf 'x,label\n0.1,1\n1.2,-1\n2.3,1\n2.4,-1\n-0.7,1\n' >five.csv
cut -d, -f1 five.csv >x.csv
cat >config.yaml <<'END_CONFIG'
model: {file: noisy.qcnn}
data: {train: five.csv, validation: five.csv, inputs: {x: [x]}}
train: {epochs: 6, batch_size: 2, optimizer: {adam: {learning_rate: 0.1}}, metrics: [mae]}
run: {seed: 3, isa: baseline, trajectories: 20}
log: {report: false, tensorboard: false}
END_CONFIG

# ---- run ----
tap_exit 0 "run" "$QCNN" run --data=x.csv --format=csv --method=statevector noisy.qcnn
tap_has err "means over 100 trajectories of each sample" "says how many trajectories there are"
"$QCNN" run -q --data=x.csv --format=csv --trajectories=10000 noisy.qcnn >many.csv
"$QCNN" run -q --data=x.csv --format=csv --trajectories=10000 --threads=3 noisy.qcnn >other.csv
tap_same many.csv other.csv "the same with three threads"
"$QCNN" run -q --data=x.csv --format=csv --trajectories=10000 --hosts=local:2 noisy.qcnn >other.csv
tap_same many.csv other.csv "the same with two workers"
"$QCNN" run -q --data=x.csv --format=csv --trajectories=10000 --seed=1 noisy.qcnn >other.csv
tap_ok "another seed, other trajectories" sh -c '! cmp -s many.csv other.csv'
"$QCNN" run -q --data=x.csv --format=csv --const p=0 noisy.qcnn >zero.csv
"$QCNN" run -q --data=x.csv --format=csv pure.qcnn >pure.csv
tap_ok "without noise, up to rounding" awk -F, 'NR == FNR { v[$1] = $2; next } FNR > 1 { d = $2 - v[$1]; n++; if (d * d > 1e-12) bad++ }
	END { exit !(n == 5 && !bad) }' pure.csv zero.csv
tap_exit 0 "trajectories of a model without channels" "$QCNN" run --data=x.csv --trajectories=5 --format=csv pure.qcnn
tap_has err "the model has no noise channels, so the number of trajectories has no effect" "change nothing, which is said"
tap_same pure.csv out "the same numbers"
# One trajectory is one state: the probabilities are those of all trajectories, one by one.
tap_exit 2 "the state" "$QCNN" run --data=x.csv --emit=state noisy.qcnn
tap_has err "a model with noise channels has no state vector; --emit=probabilities" "is refused"
tap_exit 0 "probabilities" "$QCNN" run -q --data=x.csv --emit=probabilities --trajectories=200 --precision=double --format=csv noisy.qcnn
cp out probabilities.csv
"$QCNN" run -q --data=x.csv --trajectories=200 --precision=double --format=csv noisy.qcnn >z.csv
tap_ok "are those of the outputs' trajectories" awk -F, 'FNR == 1 { next } NR == FNR { z[$1] += ($2 >= 4 ? -1 : 1) * $3; n[$1] += $3; next }
	{ d = z[$1] - $2; e = n[$1] - 1; k++; if (d * d + e * e > 1e-24) bad++ } END { exit !(k == 5 && !bad) }' probabilities.csv z.csv
tap_exit 0 "samples" "$QCNN" run -q --data=x.csv --emit=samples --shots=50 --trajectories=7 --format=csv noisy.qcnn
awk -F, 'NR > 1 { n[$1 "," $3 + 2 * $4 + 4 * $5]++ } END { for (s = 0; s < 5; s++) for (i = 0; i < 8; i++) printf "%d,%d,%.12g\n", s, i, n[s "," i] / 50 }' out >counted
"$QCNN" run -q --data=x.csv --emit=probabilities --shots=50 --trajectories=7 --format=csv noisy.qcnn | awk -F, 'NR > 1 { printf "%d,%d,%.12g\n", $1, $2, $3 }' >frequencies
tap_same counted frequencies "are the shots of --emit=probabilities, of all trajectories"
for method in adjoint shift difference; do
	"$QCNN" run -q --data=x.csv --emit=jacobian --gradient=$method --precision=double --trajectories=30 --format=csv noisy.qcnn >$method.csv
done
tap_ok "derivatives of three methods agree" awk -F, 'FNR == 1 { f++; next } f == 1 { v[FNR] = $3; w[FNR] = $4; next }
	{ d = $3 - v[FNR]; e = $4 - w[FNR]; n++; if (d * d + e * e > (f == 2 ? 1e-24 : 1e-12)) bad++ } END { exit !(n == 10 && !bad) }' adjoint.csv shift.csv difference.csv
tap_exit 0 "no trajectory" "$QCNN" run --data=x.csv --trajectories=0 --format=csv noisy.qcnn
tap_has err "the noise channels of the model are left out" "is no noise"
tap_ok "as without channels, up to rounding" awk -F, 'NR == FNR { v[$1] = $2; next } FNR > 1 { d = $2 - v[$1]; n++; if (d * d > 1e-12) bad++ }
	END { exit !(n == 5 && !bad) }' pure.csv out
tap_exit 0 "and there is a state" "$QCNN" run -q --data=x.csv --trajectories=0 --emit=state noisy.qcnn
echo 'QCNN 1; qubit[1] q; h q[0]; pauli_channel(0.33, 0.56, 0.11) q; observe x(q[0]);' >sum.qcnn
tap_is "$("$QCNN" run -q --trajectories=0 --format=csv sum.qcnn | tail -n 1)" 0,1 "and none where probabilities add up to a little more than 1"
tap_exit 2 "too many" "$QCNN" run --data=x.csv --trajectories=1048577 noisy.qcnn

# ---- train and infer ----
tap_exit 0 "train" "$QCNN" train --no-progress -o want.bin config.yaml
tap_has err "means over 20 trajectories" "says how many trajectories there are"
tap_is "$(grep -c 'means over' err)" 1 "once"
tap_ok "before it begins" sh -c 'sed "/training: loss/q" err | grep -q "means over"'
tap_exit 0 "a dry run" "$QCNN" train --dry-run config.yaml
tap_has err "means over 20 trajectories" "says so, too"
tap_has err "; the method tensor computes them exactly" "and what needs none"
for more in --set=run.threads=3 --hosts=local:1 --hosts=local:2 --hosts=local:3; do
	"$QCNN" train -q --fresh --set cluster.start_seconds=100 $more -o got.bin config.yaml
	tap_ok "the same weights with $more" cmp want.bin got.bin
done
"$QCNN" train -q --fresh -o got.bin --set run.trajectories=21 config.yaml
tap_ok "other weights with one trajectory more" sh -c '! cmp -s want.bin got.bin'
"$QCNN" train -q --fresh -o got.bin --set model.file=pure.qcnn --set run.trajectories=null config.yaml
"$QCNN" train -q --fresh -o pure.bin --set model.file=pure.qcnn --set run.trajectories=null --hosts=local:2 config.yaml
tap_ok "a model without channels, too" cmp got.bin pure.bin
tap_is "$("$QCNN" weights show pure.bin | grep -c trajectories)" 0 "its file has no word of trajectories"
tap_exit 0 "infer" "$QCNN" infer --json --data=five.csv want.bin
cp out first.json
tap_has err "means over 20 trajectories" "has as many as the training"
"$QCNN" infer -q --json --data=five.csv --hosts=local:2 want.bin >other.json
tap_same first.json other.json "the same with two workers"
tap_exit 0 "infer with others" "$QCNN" infer --json --data=five.csv --trajectories=1000 --seed=4 want.bin
tap_has err "means over 1000 trajectories" "has those"
tap_exit 0 "a dry run" "$QCNN" train --dry-run config.yaml
tap_has out "of 20 trajectories" "counts the operations of all trajectories"

# ---- noise behind all gates ----
cat >gates.qcnn <<'END_MODEL'
QCNN 1;
qubit[4] q;
input float x;
param float[2] w = {0.3, 0.8};
block turn(float[2] w) a, b { ry(w[0]) a; rx(w[1]) b; cx a, b; }
ry(x) q[0];
turn(w) q[0], q[1];
ccx q[0], q[1], q[2];
if (measure q[0]) ry(w[0]) q[1]; else cz q[1], q[2];
swap q[1], q[3];
observe z(q[3]), x(q[2]);
head { dense(1); }
END_MODEL
sed -e 's/^block.*/block turn(float[2] w) a, b { ry(w[0]) a; depolarizing(0.02) a; rx(w[1]) b; depolarizing(0.02) b; cx a, b; depolarizing(0.1) a, b; }/
	s/^ry(x) q\[0\];/&  depolarizing(0.02) q[0];/; s/^turn.*/&/; s/^swap.*/&  depolarizing(0.1) q[1], q[3];/
	s/^if.*/if (measure q[0]) { ry(w[0]) q[1]; depolarizing(0.02) q[1]; } else { cz q[1], q[2]; depolarizing(0.1) q[1], q[2]; }/' gates.qcnn >written.qcnn
sed -e 's/noisy.qcnn/gates.qcnn/' -e 's/, trajectories: 20//' config.yaml >gates.yaml
tap_exit 0 "train without noise" "$QCNN" train -q --fresh -o gates.bin gates.yaml
"$QCNN" infer -q --json --data=five.csv gates.bin >exact.json
tap_exit 0 "evaluate under noise" "$QCNN" infer --json --data=five.csv --set run.noise.one_qubit=0.02 --set run.noise.two_qubit=0.1 --trajectories=50 gates.bin
tap_has err "means over 50 trajectories" "has trajectories"
tap_has err "; the method tensor computes them exactly" "and says what needs none"
"$QCNN" infer --json --data=five.csv --set run.noise.one_qubit=0.02 --set run.noise.two_qubit=0.1 gates.bin >/dev/null 2>err
tap_has err "noise channels are computed exactly" "unless their number is left open"
numbers() { sed 's/.*"outputs": \[\[//; s/\]\].*//; s/\], *\[/\n/g' "$1"; }
numbers out >got.txt
numbers exact.json >exact.txt
"$QCNN" run -q --data=x.csv --weights=gates.bin --seed=3 --isa=baseline --trajectories=50 written.qcnn >written.json
numbers written.json >want.txt
tap_ok "each gate has its channel, those in blocks and under a measurement too" sh -c 'paste want.txt got.txt exact.txt | awk "{ d = \$1 - \$2; e = \$3 - \$2
	if (d * d > 1e-10) bad++; if (e * e > 1e-6) moved++; n++ } END { exit !(n == 5 && !bad && moved) }"'
tap_exit 2 "another key of run" "$QCNN" infer --data=five.csv --set run.precision=double gates.bin
tap_exit 78 "a wrong name" "$QCNN" infer --data=five.csv --set run.noise.two=0.1 gates.bin
tap_has err "one of: one_qubit, two_qubit" "names the right ones"
tap_exit 78 "no probability" "$QCNN" infer --data=five.csv --set run.noise.two_qubit=1.5 gates.bin
tap_exit 78 "a number alone" "$QCNN" train --dry-run --set run.noise=0.1 gates.yaml
tap_has err "a map of one_qubit and two_qubit" "is refused"
sed 's/isa: baseline/&, trajectories: 10, noise: {one_qubit: 0.02, two_qubit: 0.1}/' gates.yaml >noise.yaml
tap_exit 0 "train under noise" "$QCNN" train -q --fresh -o want.bin noise.yaml
"$QCNN" train -q --fresh --hosts=local:2 --set run.threads=2 -o got.bin noise.yaml
tap_ok "the same weights with two workers" cmp want.bin got.bin
tap_exit 0 "infer" "$QCNN" infer --json --data=five.csv want.bin
tap_has err "means over 10 trajectories" "has the noise of the training"
tap_exit 2 "more noise" "$QCNN" infer --data=five.csv --set run.noise.two_qubit=0.2 want.bin
tap_has err "the weights were trained with run.noise" "is refused"
tap_exit 0 "no noise" "$QCNN" infer --json --data=five.csv --trajectories=0 want.bin
tap_exit 0 "draw" "$QCNN" draw noise.yaml
tap_is "$(grep -o 'depolarizing(0.02)' out | wc -l | tr -d ' ')" 4 "a channel behind each gate on one qubit"
tap_is "$(grep -o 'depolarizing(0.1)' out | wc -l | tr -d ' ')" 4 "and on two, of which that of the swap is drawn in two parts; none on three"

# Killed, and gone on with.
set -- --no-progress --set log.checkpoint_steps=20 --set train.epochs=1500 --set log.dir=kept
"$QCNN" train "$@" --fresh -o want.bin config.yaml 2>/dev/null
rm -rf kept got.bin
"$QCNN" train "$@" -o got.bin config.yaml 2>/dev/null &
pid=$!
tap_until 'test -s kept/*/checkpoint/1.bin' 30
kill -s KILL $pid
wait $pid 2>/dev/null
if [ -e got.bin ]; then
	tap_skip "killed: it was too fast"
else
	tap_exit 0 "resume" "$QCNN" train "$@" -o got.bin config.yaml
	tap_has err "resuming" "goes on"
	tap_ok "to the same weights" cmp want.bin got.bin
fi

# ---- what shows circuits ----
tap_exit 0 "draw" "$QCNN" draw noisy.qcnn
tap_has out "bit_flip(0.1)" "channels are boxes"
tap_exit 0 "draw all gates" "$QCNN" draw --expand noisy.qcnn
tap_has out "depolarizing(0.1)" "channels inside of blocks, too"
tap_is "$(grep -c 'less\|draw' out)" 0 "without their random numbers"
tap_exit 0 "an SVG" "$QCNN" draw --svg=noisy.svg noisy.qcnn
tap_has noisy.svg "bit_flip(0.1)" "with boxes"
tap_exit 65 "OpenQASM" "$QCNN" compile -q --emit=openqasm noisy.qcnn
tap_has err "the model has noise channels, which OpenQASM has not" "is refused"
"$QCNN" compile -q --emit=asm -o noisy.asm noisy.qcnn
"$QCNN" run -q --data=x.csv --format=csv --trajectories=10000 noisy.asm >other.csv
tap_same many.csv other.csv "the assembly has the same channels"
"$QCNN" compile -q --emit=circuit -o again.qcnn noisy.qcnn
tap_is "$(grep -c '^depolarizing(0.1) q\[[01]\], q\[[12]\];' again.qcnn)" 2 "and so has the circuit"
"$QCNN" run -q --data=x.csv --format=csv --trajectories=10000 again.qcnn >other.csv
tap_ok "up to rounding" awk -F, 'FNR == 1 { next } NR == FNR { v[$1] = $2; next } { d = $2 - v[$1]; n++; if (d * d > 1e-10) bad++ }
	END { exit !(n == 5 && !bad) }' many.csv other.csv
tap_exit 0 "bench" "$QCNN" bench --circuit=noisy.qcnn --runs=2 --json
tap_has out "trajectories 100" "names the trajectories"
tap_exit 0 "check" "$QCNN" check noisy.qcnn
tap_has out "noise     3 channels" "counts the channels"
tap_has out "flops a trajectory" "and the work of a trajectory"

# ---- amplitude damping: exact, without trajectories ----
echo 'qubit q; x q; amplitude_damping(0.3) q; observe z(q);' >damped.qcnn
"$QCNN" run --precision=double damped.qcnn >out 2>err
tap_ok "of |1>, 0.7 are left" awk -F'[][]+' '{ exit !($2 + 0.4 < 1e-12 && $2 + 0.4 > -1e-12) }' out
tap_is "$(grep -c trajectories err)" 0 "without trajectories"
tap_exit 0 "check" "$QCNN" check damped.qcnn
tap_has out "circuit   2 qubits, 3 operations, 1 readout" "counts the qubit that it takes"
echo 'const float g = 0; qubit q; amplitude_damping(g) q; observe z(q);' >off.qcnn
"$QCNN" check off.qcnn >out 2>err
tap_has out "circuit   1 qubit, 0 operations" "which it does not with the probability 0"
# near VALUE NUMBER NAME: output NUMBER of out is that formula.
near() {
	tap_ok "$3" awk -F, -v k="$2" -v e="$1" 'NR == 2 { d = $(k + 1) - e; good = d < 1e-12 && d > -1e-12 } END { exit !good }' out
}
calculated() { awk "BEGIN { printf \"%.17g\", $1 }"; }
# <X> = a, <Z> = b before it.
cat >relaxed.qcnn <<'END_MODEL'
const float t = 0.3; const float t1 = 1; const float t2 = 1.4;
qubit[2] q;
block reset_error(float p) a { amplitude_damping(p) a;  phase_damping(p) a; }
ry(0.8) q;
END_MODEL
sed -n '/^amplitude_damping(1 - exp/,/^\.Ed/p' "$top_srcdir/man/qcnn-lang.7.in" | sed '/^\.Ed/d; s/ q;/ q[0];/' >>relaxed.qcnn
echo 'reset_error(0.2) q[1]; observe x(q[0]); observe z(q[0]); observe x(q[1]); observe z(q[1]);' >>relaxed.qcnn
"$QCNN" run -q --precision=double --method=tensor --format=csv relaxed.qcnn >out
near "$(calculated 'sin(0.8) * exp(-0.3 / 1.4)')" 1 "relaxation as in the manual: coherence by T2"
near "$(calculated '1 - exp(-0.3) * (1 - cos(0.8))')" 2 "population by T1"
near "$(calculated '0.8 * sin(0.8)')" 3 "a reset: coherence"
near "$(calculated '0.2 + 0.8 * cos(0.8)')" 4 "and population"
tap_ok "the manual has that block" grep -qF 'block reset_error(float p) a { amplitude_damping(p) a;  phase_damping(p) a; }' "$top_srcdir/man/qcnn-lang.7.in"
# Noise behind gates is none behind those that the channel is made of.
cat >behind.yaml <<'END_CONFIG'
model: {file: behind.qcnn}
data: {train: none.csv, label: y}
train: {loss: mse}
run: {noise: {one_qubit: 0.06, two_qubit: 0.3}}
END_CONFIG
echo 'qubit[1] q; input float x; param float s = 1; rx(s * x) q; amplitude_damping(0.3) q; observe z(q);' >behind.qcnn
printf 'x,y\n3.141592653589793,0\n3.141592653589793,0\n' >none.csv
"$QCNN" train -q --fresh -o behind.bin --set run.method=tensor --set train.epochs=1 --set 'train.optimizer={sgd: {learning_rate: 0}}' behind.yaml 2>err
"$QCNN" infer -q --json --data=none.csv behind.bin >out
tap_is "$(sed 's/.*"outputs": \[\[\([-0-9.e]*\)\].*/\1/' out | awk '{ printf "%.12f", $1 }')" "$(calculated '-(1 - 4 * 0.06 / 3) * 0.7 + 0.3' | awk '{ printf "%.12f", $1 }')" \
	"noise behind all gates leaves it alone"
# Refusals.
printf 'qubit[2] q; block b a { amplitude_damping(0.1) a; }\ninv @ b q[0]; observe z(q[0]);\n' >inverse.qcnn
tap_exit 65 "an inverse of a block with it" "$QCNN" check inverse.qcnn
tap_has err "block \`b\` has a noise channel and cannot stand under a modifier" "is refused"
echo 'qubit[4090] q; for int i in [0:1] { amplitude_damping(0.1) on q[0:5]; } observe z(q[0]);' >many.qcnn
tap_exit 65 "more qubits than a circuit holds" "$QCNN" check many.qcnn
tap_has err "with a qubit for each amplitude damping, the circuit has more than 4096 qubits" "are counted"
sed -i 's/\[0:1\]/[0:0]/' many.qcnn
tap_exit 0 "4096 of them" "$QCNN" check many.qcnn
# Written out, it is the circuit with its qubits.
echo 'qubit[2] q; ry(0.8) q; cx q[0], q[1]; amplitude_damping(0.3) q[1]; if (measure q[0]) { amplitude_damping(0.4) q[1]; } observe z(q[1]);' >written.qcnn
"$QCNN" run -q --precision=double written.qcnn >want
"$QCNN" compile -q --emit=circuit -o again.qcnn written.qcnn
"$QCNN" run -q --precision=double again.qcnn >got
tap_same want got "compile --emit=circuit writes its gates"
"$QCNN" compile --emit=asm -o again.asm written.qcnn
"$QCNN" run -q --precision=double again.asm >got
tap_same want got "so do the other forms"
tap_done
