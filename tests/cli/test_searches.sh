#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Optimisers that ask for losses, by numbers worked out by hand, and what they refuse.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/one_weight.sh"

make_one
printf 'x,label\n0.5,1\n' >single.csv
printf 'x,label\n0.1,1\n1.2,-1\n2.3,1\n2.4,-1\n' >four.csv
cat >config.yaml <<'END'
model: {file: one.qcnn}
data: {train: single.csv, inputs: {x: [x]}}
train: {epochs: 3, batch_size: 1}
run: {seed: 3, precision: double, isa: baseline}
END


# The bold driver: f(w) = (cos(0.5 + w) - 1)^2; steps that raise it are tried again with half the rate.
bold='function f(w) { return (cos(0.5 + w) - 1)^2 } function g(w) { return -2 * (cos(0.5 + w) - 1) * sin(0.5 + w) }
	BEGIN { w = 0.3; for (k = 0; k < 3; k++) for (t = 0; t < 10; t++) { v = w - r * g(w); if (f(v) <= f(w)) { w = v; r *= 1.1; break } r *= 0.5 }
	printf "%.17g %.17g", w, r }'
for rate in 0.1 20; do
	train --set "train.optimizer={bold_driver: {learning_rate: $rate}}"
	near "bold_driver from $rate" "$(weight)" "$(awk -v r=$rate "$bold" | cut -d' ' -f1)"
	near "its rate is logged" "$(sed -n '$s/.*"learning_rate": \([^,]*\),.*/\1/p' runs/latest/metrics.jsonl)" "$(awk -v r=$rate "$bold" | cut -d' ' -f2)"
done

# With one weight the direction of spsa cancels: w -= a/k^0.602 (f(w + c) - f(w - c)) / 2c.
train --set 'train.optimizer={spsa: {learning_rate: 0.3, c: 0.01}}'
near "spsa" "$(weight)" "$(awk 'function f(w) { return (cos(0.5 + w) - 1)^2 } BEGIN { w = 0.3; for (k = 1; k <= 3; k++) {
	c = 0.01 / k^0.101; w -= 0.3 / k^0.602 * (f(w + c) - f(w - c)) / (2 * c) } printf "%.17g", w }')"
train --set train.optimizer=spsa --set train.epochs=1
near "calibrated: the first step is the target" "$(awk -v w="$(weight)" 'BEGIN { print 0.3 - w }')" "$(awk 'BEGIN { print 0.62831853071795865 }')"
tap_exit 0 "no gradient is made: any method goes" "$QCNN" train -q --set train.optimizer=spsa --set run.gradient=shift config.yaml
train --set train.optimizer=spsa --set data.train=four.csv --set train.epochs=40 --set run.threads=1
cp w.bin one.bin
train --set train.optimizer=spsa --set data.train=four.csv --set train.epochs=40 --set run.threads=3
tap_ok "the same bytes with three threads" cmp one.bin w.bin
printf 'qubit q; input float x; param float[3] w; ry(x + w[0]) q; rx(w[1]) q; ry(w[2]) q; observe z(q);\n' >several.qcnn
for threads in 1 3 4; do
	train --set model.file=several.qcnn --set train.optimizer=spsa --set data.train=four.csv --set train.restarts=4 --set train.epochs=200 --set run.threads=$threads
	mv w.bin $threads.bin
done
tap_ok "restarts, one after the other and three at once" cmp 1.bin 3.bin
tap_ok "and all at once" cmp 1.bin 4.bin

# Rotosolve, one frequency and a loss linear in the output: the closed form of Ostaszewski et al., equation 4.
train --set train.optimizer=rotosolve --set train.loss=hinge --set data.train=four.csv --set train.batch_size=4 --set train.epochs=1
roto='function M(w) { return ((1 - cos(0.1 + w)) + (1 + cos(1.2 + w)) + (1 - cos(2.3 + w)) + (1 + cos(2.4 + w))) / 4 }
	BEGIN { h = atan2(1, 0); w = 0.3; v = w - h - atan2(2 * M(w) - M(w + h) - M(w - h), M(w + h) - M(w - h)); printf "%.17g", (v > -2 * h ? v : v + 4 * h) }'
awk -v a="$(weight)" -v b="$(awk "$roto")" 'BEGIN { d = a - b; exit !(a != "" && d < 1e-7 && d > -1e-7) }'
tap_result $? "rotosolve: the angle of the closed form" || tap_note "$(weight), expected $(awk "$roto")"

# Several frequencies, weights used twice, under a control, and by half: against a simulator and a coordinate
# search of their own, in Python (each angle to the lowest of 4000 points, then golden section), two sweeps.
cat >three.qcnn <<'END'
QCNN 1;
qubit[2] q;
input float x;
param float a = 0.3;
param float b = -0.4;
param float c = 0.9;
ry(x) on q;
ry(a) on q;
crx(b) q[0], q[1];
rx(0.7) q[1];
ry(b/2) q[0];
rz(2*c) q[1];
ry(0.5 - c) q[1];
cx q[1], q[0];
observe z(q[0]);
END
# sweeps LOSS A B C LOSS_AFTER_ONE
sweeps() {
	train --set model.file=three.qcnn --set data.train=four.csv --set train.batch_size=4 --set train.optimizer=rotosolve --set train.epochs=2 --set train.loss=$1
	"$QCNN" weights show --json w.bin | tr -d ' ' | sed 's/.*"a":{"shape":\[\],"values":\[\([^]]*\).*"b":{"shape":\[\],"values":\[\([^]]*\).*"c":{"shape":\[\],"values":\[\([^]]*\).*/\1 \2 \3/' >got
	sed -n '$s/.*"loss": \([^,]*\),.*/\1/p' runs/latest/metrics.jsonl >>got
	tr '\n' ' ' <got | awk -v w="$2 $3 $4 $5" '{ split(w, v, " "); for (i = 1; i <= 4; i++) { d = $i - v[i]; if (NF != 4 || d * d > (i < 4 ? 1e-12 : 1e-16)) exit 1 } }'
	tap_result $? "rotosolve, $1: weights and loss" || tap_note "$(tr '\n' ' ' <got), expected $2 $3 $4 $5"
}
sweeps mse 2.9305242811372807 -0.9926846480669318 1.7376978302906854 0.738428285420768
sweeps hinge -2.926436750264325 -0.3477827971837134 0.8471149901502499 0.8009090002921853
sweeps log_cosh -3.03030213996756 -1.036129177414793 1.725857087930358 0.3370203655754751

# Never up, with penalties too; the same bytes for any number of threads.
train --set model.file=three.qcnn --set data.train=four.csv --set train.batch_size=4 --set train.optimizer=rotosolve --set train.epochs=8 \
	--set 'train.regularizers=[{l2: 0.05}]'
cp w.bin one.bin
tap_ok "rotosolve with penalties: no epoch is above the one before" awk '{ sub(/.*"loss": /, ""); sub(/,.*/, ""); if (NR > 1 && $0 > last + 1e-9) exit 1; last = $0; first = NR == 1 ? $0 : first }
	END { exit !(NR == 8 && last < first - 0.1) }' runs/latest/metrics.jsonl
train --set model.file=three.qcnn --set data.train=four.csv --set train.batch_size=4 --set train.optimizer=rotosolve --set train.epochs=8 \
	--set 'train.regularizers=[{l2: 0.05}]' --set run.threads=3
tap_ok "the same bytes with three threads" cmp one.bin w.bin

# no_rotosolve NAME MESSAGE LINE...: lines behind `param float w`.
no_rotosolve() {
	what=$1 message=$2
	shift 2
	{ printf 'QCNN 1;\nqubit[2] q;\ninput float x;\nparam float w = 0.3;\n'; printf '%s\n' "$@"; } >no.qcnn
	tap_exit 78 "$what" "$QCNN" train -q --set model.file=no.qcnn --set train.optimizer=rotosolve config.yaml
	tap_has err "$message" "is said"
}
no_rotosolve "an input times the weight" "rotosolve: entry 0 of weight w is used in another way than as an angle of gates, plus or times a constant" \
	'ry(w * x) q[0];' 'observe z(q[0]);'
no_rotosolve "a function of the weight" "rotosolve: entry 0 of weight w is used in another way" 'ry(sin(w) + x) q[0];' 'observe z(q[0]);'
no_rotosolve "no common period" "rotosolve: entry 0 of weight w turns the readouts with more than 512 frequencies" \
	'ry(w + x) q[0];' 'ry(sqrt(2) * w) q[0];' 'observe z(q[0]);'
no_rotosolve "a head" "rotosolve optimises angles of gates only, and weight head.dense[0].kernel belongs to the head" \
	'ry(w + x) q[0];' 'observe z(q[0]);' 'head { dense(1); }'

# NLopt's: the weights are the best so far, and the losses never rise.
if "$QCNN" train -q --set train.optimizer=cobyla config.yaml 2>err; then
	for name in cobyla bobyqa nelder_mead lbfgs; do
		train --set model.file=three.qcnn --set data.train=four.csv --set train.optimizer=$name --set train.epochs=200
		tap_ok "$name: losses never rise, and end well" awk '{ sub(/.*"loss": /, ""); sub(/,.*/, ""); if (NR > 1 && $0 > last) exit 1; last = $0 }
			END { exit !(NR > 10 && last < 0.74) }' runs/latest/metrics.jsonl
		last=$(sed -n '$s/.*"loss": \([^,]*\),.*/\1/p' runs/latest/metrics.jsonl)
		tap_is "$("$QCNN" infer --split=train --json w.bin | sed 's/.*"loss": \([^,}]*\).*/\1/')" "$last" "$name: the weights have the loss of the last epoch"
		cp w.bin one.bin
		train --set model.file=three.qcnn --set data.train=four.csv --set train.optimizer=$name --set train.epochs=200 --set run.threads=3
		tap_ok "$name: the same bytes with three threads" cmp one.bin w.bin
	done
	tap_exit 0 "a search that ends" "$QCNN" train --no-progress --set model.file=three.qcnn --set data.train=four.csv --set train.optimizer=lbfgs --set train.epochs=200 config.yaml
	tap_ok "says so" grep -q "lbfgs ended the search after [0-9]* evaluations, by its tolerances" err
	tap_exit 78 "constraints" "$QCNN" train -q --set train.optimizer=cobyla --set 'train.constraints=[non_neg]' config.yaml
	tap_has err "the optimizer cobyla does not support constraints" "are refused"
else
	tap_exit 78 "without NLopt" "$QCNN" train -q --set train.optimizer=cobyla config.yaml
	tap_has err "the optimizer cobyla needs the library NLopt (on Debian and Ubuntu: libnlopt-dev), without which this qcnn was built" "the library is named"
fi

# What is refused.
tap_exit 78 "a schedule" "$QCNN" train -q --set train.optimizer=spsa --set train.schedule=cosine config.yaml
tap_has err "schedule cosine changes the learning rate, but the optimizer spsa controls its own" "is said"
tap_exit 78 "an option of other optimisers" "$QCNN" train -q --set train.optimizer.spsa.momentum=0.9 config.yaml
tap_has err 'spsa has no option `momentum`' "is said"
# What is built in is told, and it is so.
tap_exit 0 "info" "$QCNN" info --json
grep -q '"libraries": \[[^]]*"NLopt"' out && has=0 || has=78
"$QCNN" check --set train.optimizer=cobyla config.yaml >/dev/null 2>&1 && can=0 || can=$?
tap_is "$can" "$has" "cobyla is there where info says so"
tap_exit 0 "for people" "$QCNN" info
tap_ok "HDF5 and NLopt, each on a line" sh -c "grep -q '^libraries  *HDF5: ' out && grep -q '^  *NLopt: ' out"
tap_done
