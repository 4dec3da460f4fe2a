#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Optimisers that ask for losses, by numbers worked out by hand, and what they refuse.
. "$top_srcdir/tests/tap.sh"

# One weight, w = 0.3: the output is cos(x + w).
cat >one.qcnn <<'END'
QCNN 1;
qubit q;
input float x;
param float w = 0.3;
ry(x + w) q;
observe z(q);
END
printf 'x,label\n0.5,1\n' >single.csv
printf 'x,label\n0.1,1\n1.2,-1\n2.3,1\n2.4,-1\n' >four.csv
cat >config.yaml <<'END'
model: {file: one.qcnn}
data: {train: single.csv, inputs: {x: [x]}}
train: {epochs: 3, batch_size: 1}
run: {seed: 3, precision: double, isa: baseline}
END

train() {
	rm -f w.bin
	"$QCNN" train -q -o w.bin "$@" config.yaml 2>err || { sed 's/^/# /' err; return 1; }
}
weight() { "$QCNN" weights show --json w.bin | sed 's/.*"values": \[*\([-0-9.e]*\).*/\1/'; }
# near NAME NUMBER NUMBER: equal but for rounding.
near() {
	awk -v a="$2" -v b="$3" 'BEGIN { d = a - b; exit !(a != "" && d < 1e-13 && d > -1e-13) }'
	tap_result $? "$1" || tap_note "$2, expected $3"
}

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

# What is refused.
tap_exit 78 "a schedule" "$QCNN" train -q --set train.optimizer=spsa --set train.schedule=cosine config.yaml
tap_has err "schedule cosine changes a learning rate; the optimizer spsa takes none from outside" "is said"
tap_exit 78 "an option of other optimisers" "$QCNN" train -q --set train.optimizer.spsa.momentum=0.9 config.yaml
tap_has err 'spsa has no option `momentum`' "is said"
tap_done
