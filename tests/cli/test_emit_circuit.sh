#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# qcnn compile --emit=circuit: the text compiles to the same states and readouts.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

cat >parts.qcnn <<'END'
QCNN 1;
qubit[2] a; qubit[2] b;
input float[3] x; input float y;
let w = a ++ b;
param float[3] t;
block turn(float[2] s) p, r { rx(s[0]) p; pow(s[1]) @ zz p, r; gphase(s[0]); }
amplitudes({0.5, 2, x[0]*y, -x[1]}) w;
ctrl @ gphase(x[2]) a[0];
negctrl @ ctrl @ rzz(max(x[0], 2)**2 - (1 - y)*3/x[1]) a[1], b[0], a[0], b[1];
negctrl @ gphase(0.3) b[0]; gphase(y);
inv @ pow(0.3) @ iswap a[0], a[1]; pow(0.25) @ swap a[0], a[1]; swap b[0], b[1];
rccx a[0], a[1], b[1]; rc3x a[0], b[1], a[1], b[0]; u0(1) b[0]; ctrl @ inv @ s a[0], b[0];
inv @ turn(t[0:1]) a[0], b[1]; ctrl @ turn(t[1:2]) b[0], a[0], b[1];
inv @ pow(t[0]*x[0]) @ xyz a[0], b[1], a[1]; pow(-2) @ h a[0]; r(t[2], -1e-9) b[1];
if (measure a[0]) ry(t[1]) b[0]; else inv @ ry(t[2]) b[0];
discard a[0];
observe 0.5, 1 - z(b[0])/2 - 3*x(b[1])*z(a[1]), probs(b[{1,0}]);
END
cat >names.qcnn <<'END'
QCNN 1;
input float[2] q;
circuit f(float[2] y) { qubit[2] wire; param float t; ry(each y) wire; rz(t) wire[0]; cx wire[0], wire[1]; observe z(wire); }
head (f(q) a, f({0.1, 0.2}) b) { dense(1); }
END

# numbers FILE EMIT MODEL...: what run prints, one number a line.
numbers() {
	to=$1 emit=$2
	shift 2
	"$QCNN" run -q --precision=double --emit="$emit" --format=json ${columns:+--data=data.csv} "$@" >json || return
	sed 's/"schema": 1//' json | tr -c '0-9eE.+-' '\n' | grep -E '^-?[0-9.]+([eE][-+]?[0-9]+)?$' >"$to"
}
same() { [ -s one ] && paste one two | awk 'NF != 2 || ($1 - $2)^2 > 1e-24 { bad = 1 } END { exit bad }'; }

for file in parts.qcnn names.qcnn "$top_srcdir"/examples/*/*.qcnn "$top_srcdir"/tests/lang/models/*.qcnn; do
	name=$(basename "$file")
	columns=$("$QCNN" check --json "$file" | sed 's/.*"inputs": {\(.*\)}, "flops.*/\1/' | tr '}' '\n' |
		sed -n 's/.*"shape": \[\([0-9]*\)\].*/\1/p' | awk '{ n += $1 == "" ? 1 : $1 } END { print n + 0 }')
	awk -v n="$columns" 'BEGIN { for (s = 0; s < 2; s++) for (i = 1; i <= n; i++) printf "%.6f%s", sin(1 + 7*s + 3*i), i < n ? "," : "\n" }' >data.csv
	[ "$columns" -gt 0 ] || columns=
	tap_exit 0 "$name is written" "$QCNN" compile -q --seed=3 --emit=circuit -o flat.qcnn "$file"
	for emit in state readouts; do
		noise=--trajectories=100                 # with the same seed; the state is one without noise
		[ "$emit" = readouts ] || noise=--trajectories=0
		numbers one $emit --seed=3 $noise "$file" && numbers two $emit --seed=3 $noise flat.qcnn
		tap_ok "$name: the same $emit" same
	done
done

# With weights of a file, and what it looks like.
cat >two.qcnn <<'END'
QCNN 1;
qubit[2] q;
input float[2] x;
param float[2] w;
rx(each x) on q;
layer conv { cry(w[0]) q[0], q[1]; pow(w[1]) @ zz q[0], q[1]; }
observe z(q[1]);
head { dense(1, tanh); }
END
echo '[0.25, 0.5, 1, 1]' >all.json
echo '[0.25, 0.5]' >circuit.json
cat >want <<'END'
QCNN 1;
// The circuits alone: their 1 readouts went into a head.
input float[2] x;
qubit[2] q;
rx(x[0]) q[0];
rx(x[1]) q[1];
// conv[0]
cry(0.25) q[0], q[1];
pow(0.5) @ zz q[0], q[1];
observe z(q[1]);
END
for weights in all circuit; do
	tap_exit 0 "weights of $weights.json" "$QCNN" compile --emit=circuit --weights=$weights.json two.qcnn
	tap_same out want "as numbers"
done
"$QCNN" compile --emit=circuit --weights=all.json two.qcnn >flat.qcnn
"$QCNN" compile --emit=circuit flat.qcnn | grep -v '^//' >again
grep -v '^//' flat.qcnn >once
tap_same again once "its own text comes back"

# What cannot be written.
echo '[0.25]' >short.json
tap_exit 65 "too few weights" "$QCNN" compile --emit=circuit --weights=short.json two.qcnn
printf 'QCNN 1;\nqubit q;\nparam float t = -1;\nrx(log(t)) q;\nobserve z(q);\n' >nan.qcnn
tap_exit 65 "an angle that is not finite" "$QCNN" compile --emit=circuit nan.qcnn
tap_has err "an angle is not finite" "is said"
awk 'BEGIN {
	print "qcnn_asm 1\nmatrices\n  m0 1 {\n    x 0\n  }"
	for (i = 1; i < 30; i++) printf "  m%d 1 {\n    m%d 0\n    m%d 0\n  }\n", i, i - 1, i - 1
	print "circuits\n  0 \"\" wires 1 {\n    m29 0\n    pauli 1 z0\n  }"
}' >doubling.asm
tap_exit 65 "2^29 gates" "$QCNN" compile --emit=circuit doubling.asm
tap_has err "too large to be written gate by gate" "is said"
tap_done
