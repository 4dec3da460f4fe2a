# SPDX-License-Identifier: Apache-2.0
# qcnn compile --emit=openqasm and openqasm2: the same states, but for a global phase; measurements; what cannot be written.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

# Every gate of the language but those of the extensions, plain, inverse, and under up to three controls.
{
	cat <<'END'
QCNN 1;
qubit[6] q;
param float[6] start = {0.3, 1.1, 2.3, 0.7, 1.9, 2.9};
param float t = 0.37;
param float[4] a = {0.81, -1.3, 2.2, 0.45};
ry(each start) on q;  rx(0.4) q;  cx on cycle(q);
END
	while IFS='|' read -r gate wires; do
		echo "$gate $wires;"
		echo "ctrl @ $gate q[5], $wires;"
		echo "inv @ $gate $wires;"
		case $wires in *q\[3\]*) continue ;; esac
		echo "negctrl @ inv @ $gate q[4], $wires;"
		echo "ctrl @ negctrl @ $gate q[5], q[4], $wires;"
		echo "ctrl @ ctrl @ negctrl @ $gate q[5], q[3], q[4], $wires;"
	done <<'END'
x|q[0]
y|q[1]
z|q[2]
xy|q[0], q[1]
zyx|q[0], q[1], q[2]
rx(t)|q[0]
ry(a[0])|q[1]
rz(a[1])|q[2]
rxx(t)|q[0], q[2]
ryz(a[2])|q[1], q[0]
rzyx(t)|q[2], q[0], q[1]
pow(t) @ y|q[0]
pow(t) @ zx|q[2], q[0]
pow(a[0]) @ h|q[1]
h|q[2]
s|q[0]
sdg|q[1]
t|q[2]
tdg|q[0]
sx|q[1]
sxdg|q[2]
p(t)|q[0]
u2(a[0], a[1])|q[1]
u3(a[0], a[1], a[2])|q[2]
u4(a[0], a[1], a[2], a[3])|q[0]
r(a[0], a[1])|q[1]
Rot(a[0], a[1], a[2])|q[2]
id|q[0]
u0(1)|q[1]
swap|q[0], q[2]
pow(t) @ swap|q[1], q[0]
iswap|q[0], q[1]
pow(a[1]) @ iswap|q[2], q[1]
SISWAP|q[0], q[2]
ecr|q[0], q[1]
dcx|q[2], q[1]
xx_plus_yy(a[0], a[1])|q[0], q[1]
xx_minus_yy(a[2], a[3])|q[2], q[1]
IsingXY(t)|q[0], q[2]
SingleExcitation(a[0])|q[1], q[0]
SingleExcitationPlus(a[1])|q[2], q[0]
SingleExcitationMinus(a[2])|q[0], q[1]
PSWAP(t)|q[1], q[2]
FermionicSWAP(a[0])|q[0], q[1]
CPhaseShift00(a[1])|q[1], q[2]
CPhaseShift01(a[2])|q[0], q[2]
CPhaseShift10(a[0])|q[0], q[1]
fsim(a[0], a[1])|q[2], q[0]
rccx|q[0], q[1], q[2]
rc3x|q[0], q[1], q[2], q[3]
DoubleExcitation(t)|q[3], q[1], q[0], q[2]
DoubleExcitationMinus(a[0])|q[0], q[1], q[2], q[3]
OrbitalRotation(a[1])|q[0], q[1], q[2], q[3]
END
	echo 'ctrl @ gphase(t) q[1]; negctrl @ ctrl @ gphase(a[2]) q[0], q[4]; gphase(a[1]);'
	# Controls on all qubits that there are.
	echo 'ctrl @ ctrl @ ctrl @ ctrl @ negctrl @ ry(t) q[1], q[2], q[3], q[4], q[5], q[0]; ctrl @ ctrl @ ctrl @ ctrl @ ctrl @ x q[0], q[1], q[2], q[3], q[4], q[5];'
	echo 'ctrl @ ctrl @ ctrl @ ctrl @ ctrl @ negctrl @ gphase(a[0]) q[5], q[2], q[3], q[4], q[1], q[0];'
	echo 'observe z(q);'
} >gates.qcnn
# The rows that are their own base and have a matrix: parts of each must have been tried.
sed -n 's/^GATE([0-9]*, \([A-Z0-9_]*\), "\([A-Za-z0-9_]*\)", 0, [0-9], [0-9], \([A-Z0-9|]*\), \1, .*/\2 \3/p' "$top_srcdir/lang/gates.def" |
	awk '$2 !~ /WORD|STEP|COMPOSITE/ { print $1 }' >rows
tap_ok "rows of gates.def are read" grep -qx fsim rows
tap_is "$(while read -r gate; do grep -q "^ctrl @ $gate[ (]" gates.qcnn || echo "$gate"; done <rows)" "" \
	"the list of this test has all gates of lang/gates.def that need parts"

# as_model FILE: OpenQASM as a model, for what --emit=openqasm writes is nearly one.
as_model() {
	sed -e 's/^OPENQASM .*/QCNN 1;/' -e '/^include/d' -e 's/^qreg q\(.*\);/qubit\1 q;/' -e '/^creg/d' -e '/^bit/d' -e '/measure/d' \
		-e 's/^input float\[64\]/input float/' "$1"
	echo 'observe z(q[0]);'
}

# amplitudes TO MODEL...: re and im, one amplitude a line; the phase of each sample's largest amplitude is taken out.
amplitudes() {
	to=$1
	shift
	"$QCNN" run -q --precision=double --emit=state --format=csv ${columns:+--data=data.csv} "$@" >state.csv || return
	awk -F, 'NR > 1 { s = $1; n[s] = $2 + 1; re[s, $2] = $3; im[s, $2] = $4; a = $3*$3 + $4*$4; if (a > most[s] + 1e-9) { most[s] = a; at[s] = $2 } }
		END {
			for (s = 0; s in n; s++) {
				c = re[s, at[s]]/sqrt(most[s]); d = im[s, at[s]]/sqrt(most[s])
				for (k = 0; k < n[s]; k++)
					printf "%.12f %.12f\n", re[s, k]*c + im[s, k]*d, im[s, k]*c - re[s, k]*d
			}
		}' state.csv >"$to"
}
same() { [ -s one ] && [ "$(wc -l <one)" = "$(wc -l <two)" ] && paste one two | awk '($1 - $3)^2 + ($2 - $4)^2 > 1e-18 { bad = 1 } END { exit bad }'; }

cp "$top_srcdir"/examples/bars/bars.qcnn "$top_srcdir"/examples/cluster/cluster.qcnn "$top_srcdir"/examples/iris/iris.qcnn .
for file in gates.qcnn bars.qcnn cluster.qcnn iris.qcnn; do
	columns=$("$QCNN" check --json "$file" | sed 's/.*"inputs": {\(.*\)}, "flops.*/\1/' | tr '}' '\n' |
		sed -n 's/.*"shape": \[\([0-9]*\)\].*/\1/p' | awk '{ n += $1 } END { print n + 0 }')
	awk -v n="$columns" 'BEGIN { for (s = 0; s < 2; s++) for (i = 1; i <= n; i++) printf "%.6f%s", sin(1 + 7*s + 3*i), i < n ? "," : "\n" }' >data.csv
	[ "$columns" -gt 0 ] || columns=
	for version in openqasm openqasm2; do
		[ -z "$columns" ] || [ $version = openqasm ] || continue
		tap_exit 0 "$file as $version" "$QCNN" compile -q --seed=3 --emit=$version -o c.qasm "$file"
		as_model c.qasm >flat.qcnn
		amplitudes one --seed=3 "$file" && amplitudes two flat.qcnn
		tap_ok "$file as $version: the same states" same
	done
done

# Each output's qubits are measured in its basis, if one serves all.
cat >bases.qcnn <<'END'
QCNN 1;
qubit[2] a; qubit[2] b;
ry(0.1) a; cx a, b;
observe x(a[1]), y(b[0])*z(b[1]);
END
"$QCNN" compile --emit=openqasm2 bases.qcnn >out
tap_is "$(sed -n '/observe/,$p' out)" '// observe x(q[1]);
// observe y(q[2])*z(q[3]);
creg c[3];
h q[1];
measure q[1] -> c[0];
rx(1.5707963267948966) q[2];
measure q[2] -> c[1];
measure q[3] -> c[2];' 'outputs are measured'
tap_is "$(sed -n 1,6p out)" 'OPENQASM 2.0;
include "qelib1.inc";
// a: q[0] to q[1]
// b: q[2] to q[3]
qreg q[4];
ry(0.1) q[0];' 'registers have their place in one'
sed 's/observe.*/observe x(a[1]), z(a[1]);/' bases.qcnn >two.qcnn
"$QCNN" compile --emit=openqasm two.qcnn >out
tap_is "$(grep -c '= measure' out)" 0 'two bases are not'
tap_has out 'need different bases' 'which the text says'

# Vectors of amplitudes that are constant become gates, with their signs: the state read back is the same.
cat >vector.qcnn <<'END'
qubit[5] q;
amplitudes({0.5, -2, 0, 1, 0.3, 0.7, -0.1, -1.5, 1, 1}) q[{4,0,2,1}];
ry(0.3) q[3];
observe z(q);
END
"$QCNN" run -p double -e state vector.qcnn >one
for to in openqasm openqasm2; do
	"$QCNN" compile --emit=$to -o vector.qasm vector.qcnn 2>err
	tap_is "$(cat err)" "" "$to: nothing is left to be prepared"
	tap_is "$(grep -c '^ry' vector.qasm)" 16 "as many rotations as amplitudes but one, and another"
	sed '/^bit/d; /^creg/d; /measure/d' vector.qasm >state.qasm
	"$QCNN" run -p double -e state state.qasm >two
	for f in one two; do sed 's/"schema": 1//' $f | grep -o '[-0-9.][-0-9.e]*' >$f.numbers; done
	tap_ok "the same state" sh -c '[ -s one.numbers ] && paste one.numbers two.numbers | awk "NF != 2 || (\$1 - \$2)^2 > 1e-28 { exit 1 }"'
done

# Inputs in angles, amplitudes, several circuits.
cat >inputs.qcnn <<'END'
QCNN 1;
qubit[3] q;
input float[4] v; input float[2,2] h;
amplitudes(v) q[{2,1}];
ry(h[1,0]/2 + 0.5) q[0];
observe z(q[0]);
END
"$QCNN" compile --emit=openqasm inputs.qcnn >out 2>err
tap_is "$(sed -n '3,8p' out)" 'input float[64] h_2;
qubit[3] q;
// To be prepared: a vector of amplitudes on q[2], q[1], the first the lowest bit of an amplitude'"'"'s number.
ry((h_2/2.0) + 0.5) q[0];
// observe z(q[0]);
bit[1] c;' 'inputs of angles are declared, and vectors of amplitudes a comment'
tap_has err 'a comment stands where they are to be prepared' 'a message says so'
tap_exit 65 'no inputs in OpenQASM 2' "$QCNN" compile --emit=openqasm2 inputs.qcnn
tap_has err 'OpenQASM 3 has: --emit=openqasm' 'which says what has them'
sed 's,h\[1\,0\]/2,max(h[0\,1]\, 1),' inputs.qcnn >max.qcnn
tap_exit 65 'no functions that OpenQASM lacks' "$QCNN" compile --emit=openqasm max.qcnn
tap_has err 'by max, which OpenQASM has not' 'which is named'
"$QCNN" compile -q --emit=openqasm "$top_srcdir/examples/cluster-three-filters/three-filters.qcnn" >out
tap_is "$(grep -E '^// Circuit|^qubit|^bit|measure.*4' out | tr '\n' ' ')" \
	"$("$QCNN" compile -q --emit=circuit "$top_srcdir/examples/cluster-three-filters/three-filters.qcnn" | awk '
		/^circuit/ { printf "// Circuit %s qubit[8] q%d; bit[4] c%d; c%d[0] = measure q%d[4]; ", $2, n, n, n, n; n++ }')" 'several circuits have registers of their own'
tap_done
