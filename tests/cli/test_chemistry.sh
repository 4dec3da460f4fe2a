# SPDX-License-Identifier: Apache-2.0
# Variational eigensolvers: gates of quantum chemistry, sums of Pauli products and their gradients, against the
# numbers of PennyLane 0.45.1 (default.qubit).
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

. "$top_srcdir/tests/cli/near.sh"
within=1e-7

# jacobians NAME MODEL WEIGHTS WANTED...: by each way to differentiate.
jacobians() {
	name=$1 model=$2 weights=$3
	shift 3
	for by in adjoint shift difference; do
		"$QCNN" run -p double -g $by -e jacobian -w "$weights" "$model" >out
		near "$name, $by" "$@"
	done
}

cat >excitations.qcnn <<'END'
qubit[4] q;
param float[3] t;
for int i in [0:3] { h q[i]; ry(0.3*(i + 1)) q[i]; }
DoubleExcitationPlus(t[0]) q[2], q[0], q[3], q[1];
rx(0.4) q[1];
DoubleExcitationMinus(t[1]) q[3], q[1], q[0], q[2];
DoubleExcitation(t[2]) q[1], q[0], q[2], q[3];
rx(0.7) q[0];
observe x(q[0])*y(q[1]), z(q[2])*y(q[3]);
END
echo '{"t": [0.2, -0.3, 1.1]}' >t.json
"$QCNN" run -p double -w t.json excitations.qcnn >out
near "double excitations" 0.18992298451350428 1.4349532455826264e-05
jacobians "double excitations" excitations.qcnn t.json -0.014322483932767284 0.00475239337471717 -0.02374473004675839 \
	-0.05632825503650714 0.04160365642220174 0.013914934818747574
sed 's/^rx(0.7)/OrbitalRotation(t[0]*t[1]) q[1], q[0], q[2], q[3]; &/' excitations.qcnn >orbital.qcnn
jacobians "orbital rotations" orbital.qcnn t.json -0.016458670486019428 0.0071336247851554084 -0.023932945008605884 \
	-0.05386059403047798 0.0392659051394366 0.013768631152586062
"$QCNN" run -p double --device ref -w t.json excitations.qcnn >out
near "double excitations, ref" 0.18992298451350428 1.4349532455826264e-05

echo 'qubit[8] q; DoubleExcitation(0.1) on q; observe z(q);' >tuples.qcnn
tap_exit 65 "a list of qubits for tuples of four" "$QCNN" check tuples.qcnn
tap_ok "says how tuples are made" grep -qF 'tuples are made by `windows(w, 4, 1)`, or written `{(a, b, ...)}`' err

# Rotations about products of any length: PauliRot, and ctrl of it.
cat >evolve.qcnn <<'END'
qubit[5] q;
param float[2] t;
for int i in [0:4] { h q[i]; ry(0.3*(i + 1)) q[i]; }
evolve(0.7*x(q[0])*y(q[1])*z(q[2])*x(q[3])*y(q[4]) + 0.3*z(q[4]) - 0.2 + 0.5*y(q[0])*z(q[2])*z(q[3])*x(q[4]), t[0]);
evolve(z(q), t[1], 2);
ctrl @ evolve(0.4*x(q[1])*y(q[2])*y(q[3])*z(q[4]) + 0.6, 2*t[0]) q[0];
inv @ evolve(0.3*y(q[0])*x(q[1])*x(q[2])*y(q[3]), t[1]);
evolve(x(q), 0.4);
observe x(q[0])*y(q[1])*z(q[2]), z(q[2])*y(q[3])*x(q[4]);
END
echo '{"t": [0.7, -0.4]}' >evolve.json
"$QCNN" run -p double -w evolve.json evolve.qcnn >out
near "evolve" -0.02647165852297767 0.03218847234944566
jacobians "evolve" evolve.qcnn evolve.json -0.011529664608956545 0.20063675336183656 0.24287831958576045 0.07345933232956539

echo 'qubit c; qubit[5] q; h c; h q; ctrl @ evolve(x(q[0])*y(q[1])*x(q[2])*y(q[3])*z(q[4]), 0.7) c; observe x(c);' >controlled.qcnn
"$QCNN" compile --emit=circuit controlled.qcnn | grep 'c\[0\],' >flat
tap_ok "of a product under a control, only the rotation is controlled" grep -qx 'ctrl @ rxyx(1.4) c\[0\], .*' flat
tap_ok "and no other gate" [ "$(wc -l <flat)" -eq 1 ]

# Hydrogen at 1.3228 Bohr (0.7 Angstrom), STO-3G, by the Jordan-Wigner transformation, as programs print it.
cat >h2.pennylane <<'END'
-0.042072551947439224 * I([0, 1, 2, 3]) + 0.1777135822909176 * Z(0) + 0.1777135822909176 * Z(1) + 0.17059759276836803 * (Z(0) @ Z(1)) + -0.2427450126094144 * Z(2) + 0.12293330449299361 * (Z(0) @ Z(2)) + 0.16768338855601356 * (Z(1) @ Z(2)) + 0.044750084063019925 * (Y(0) @ X(1) @ X(2) @ Y(3)) + -0.044750084063019925 * (Y(0) @ Y(1) @ X(2) @ X(3)) + -0.044750084063019925 * (X(0) @ X(1) @ Y(2) @ Y(3)) + 0.044750084063019925 * (X(0) @ Y(1) @ Y(2) @ X(3)) + -0.2427450126094144 * Z(3) + 0.16768338855601356 * (Z(0) @ Z(3)) + 0.12293330449299361 * (Z(1) @ Z(3)) + 0.1762766139418181 * (Z(2) @ Z(3))
END
cat >h2.openfermion <<'END'
(-0.042072551947439224+0j) [] +
(0.1777135822909176+0j) [Z0] +
(0.1777135822909176+0j) [Z1] +
(0.17059759276836803+0j) [Z0 Z1] +
(-0.2427450126094144+0j) [Z2] +
(0.12293330449299361+0j) [Z0 Z2] +
(0.16768338855601356+0j) [Z1 Z2] +
(0.044750084063019925+0j) [Y0 X1 X2 Y3] +
(-0.044750084063019925+0j) [Y0 Y1 X2 X3] +
(-0.044750084063019925+0j) [X0 X1 Y2 Y3] +
(0.044750084063019925+0j) [X0 Y1 Y2 X3] +
(-0.2427450126094144+0j) [Z3] +
(0.16768338855601356+0j) [Z0 Z3] +
(0.12293330449299361+0j) [Z1 Z3] +
(0.1762766139418181+0j) [Z2 Z3]
END
cat >h2.labels <<'END'
# qubit 0 is the first letter
-0.042072551947439224 IIII
0.1777135822909176 ZIII
IZII 0.1777135822909176
0.17059759276836803 ZZII

-0.2427450126094144 IIZI
0.12293330449299361 ZIZI
0.16768338855601356 IZZI
YXXY, 0.044750084063019925
YYXX, -0.044750084063019925
XXYY -0.044750084063019925
0.044750084063019925 XYYX
IIIZ -0.2427450126094144
0.16768338855601356 ZIIZ
0.12293330449299361 IZIZ
0.1762766139418181 IIZZ
END
printf '%s' "[('IIII', (-0.042072551947439224+0j)), ('IIIZ', (0.1777135822909176+0j)), ('IIZI', (0.1777135822909176+0j)),
('IIZZ', (0.17059759276836803+0j)), ('IZII', (-0.2427450126094144+0j)), ('IZIZ', (0.12293330449299361+0j)), ('IZZI', (0.16768338855601356+0j)),
('YXXY', (0.044750084063019925+0j)), ('XXYY', (-0.044750084063019925+0j)), ('YYXX', (-0.044750084063019925+0j)), ('XYYX', (0.044750084063019925+0j)),
('ZIII', (-0.2427450126094144+0j)), ('ZIIZ', (0.16768338855601356+0j)), ('ZIZI', (0.12293330449299361+0j)), ('ZZII', (0.1762766139418181+0j))]" >h2.qiskit
echo '{"t": [0.2, -0.3, 0.1]}' >h2.json
for form in pennylane openfermion labels qiskit; do
	wires=q
	[ $form != qiskit ] || wires='q[-1:-1:0]'
	cat >h2.qcnn <<-END
	qubit[4] q;
	param float[3] t = 0;
	x q[0:1];
	DoubleExcitation(t[0]) q[0], q[1], q[2], q[3];
	SingleExcitation(t[1]) q[0], q[2];
	SingleExcitation(t[2]) q[1], q[3];
	observe pauli_sum("h2.$form", $wires);
	END
	"$QCNN" run -p double -w h2.json h2.qcnn >out
	near "the energy, from $form" -1.1161863812382855
done
jacobians "the energy" h2.qcnn h2.json -0.012183213515633229 -0.11861155710838084 0.04071381615373608
cat >h2.yaml <<'END'
model: {file: h2.qcnn}
data: {generate: no-input}
train: {epochs: 100, loss: output, optimizer: {adam: {learning_rate: 0.1}}}
run: {seed: 1, precision: double}
END
tap_exit 0 "training" "$QCNN" train -o h2.bin h2.yaml
tap_ok "its messages have the digits of an energy" grep -q 'training: loss -1[.]13618[0-9]\{3,5\}$' err
tap_ok "its lines, too" grep -q 'epoch 100/100  loss -1[.]13618[0-9]\{3\} ' err
tap_exit 0 "infer" "$QCNN" infer --split=train h2.bin
tap_ok "infer, too" grep -q '^loss	-1[.]13618[0-9]\{3,5\}$' out
"$QCNN" run h2.bin >out
near "the energy of full configuration interaction" -1.1361891625

# An excited state, by a penalty on the overlap with the ground state: both readouts have the same weights.
cat >excited.qcnn <<'END'
const float beta = 3.0;
const float[3] ground = {0.2236, 0.0, 0.0};
block ansatz(float[3] t) a, b, c, d {
  SingleExcitation(t[1]) a, c;
  DoubleExcitation(t[0]) a, b, c, d;
  SingleExcitation(t[2]) b, d;
}
circuit state(int part) {
  qubit[4] q;
  param float[3] t ~ uniform(-1, 1);
  x q[0:1];
  ansatz(t) q[0], q[1], q[2], q[3];
  if (part == 0) {
    observe pauli_sum("h2.openfermion", q);
  } else {
    inv @ ansatz(ground) q[0], q[1], q[2], q[3];
    x q[0:1];
    let p = beta;
    for int i in [0:3] { p *= 0.5 + 0.5*z(q[i]); }
    observe p;
  }
}
head (state(0) a, state(1) a) { }
END
tap_exit 0 "variational deflation" "$QCNN" train -q -o excited.bin --set train.epochs=300 --set model.file=excited.qcnn h2.yaml
"$QCNN" run excited.bin | sed 's/.*\[\[//; s/\]\].*//' >out
tap_ok "the lowest triplet, nothing of the ground state" awk -F, '{ exit !($1 > -0.47845 && $1 < -0.47843 && $2 < 1e-4) }' out

# What is no sum: never read as another one.
echo 'qubit[4] q; observe pauli_sum("sum.txt", q);' >sum.qcnn
while IFS='|' read -r text why; do
	printf '%b' "$text" >sum.txt
	tap_exit 65 "refused: $text" "$QCNN" check sum.qcnn
	grep -q "error\[Q0230\]: $why\$" err && grep -q ' --> sum.txt:' err && grep -q 'read here' err
	tap_result $? "says: $why" || cat err
done <<'END'
|no Pauli product
# 0.5 Z0\n|no Pauli product
0.5 Z0 + 0.1 X4|qubit 4 of 4, which are numbered from 0 on
0.5 X0 Y0|a second letter for qubit 0
0.5 ZZI|3 letters for 4 qubits
0.5 ZZII\nXXII|a label without a coefficient
0.5 ZZII XXII|a label without a coefficient
ZZII - 0.5 XXII|a label without a coefficient
0.5 0.6 Z0|a term with two coefficients
0.5 Z0 ZZII|a term with two products
Z0 Z1 -0.5|a coefficient stands before X0 Z2; a sign between terms has a blank behind it
(0.5+0.5j) [Z0]|an observable has real coefficients
0.5+0.5j ZZII|a complex number stands in parentheses: (0.5+0j)
1e999 Z0|not a finite number
0.5 Z(1|`Z(1` has no end
0.5 Zebra|not a Pauli product: write X0 Z2 or a letter for each qubit
pauli,coefficient|not a sum of Pauli products
END
awk 'BEGIN { for (i = 0; i < 4194305; i++) printf "Z0+" }' >sum.txt
tap_exit 65 "one product too many" "$QCNN" check sum.qcnn
tap_ok "says so" grep -q 'error\[Q0230\]: more than 4194304 products' err
while IFS='|' read -r text help; do
	printf '%b' "$text" >sum.txt
	tap_exit 65 "another operator: $text" "$QCNN" check sum.qcnn
	tap_ok "says what makes products of it" grep -qF "$help" err
done <<'END'
SparsePauliOp(['IIII', 'IIIZ'],\n              coeffs=[-1.05+0.j,  0.39+0.j])|op.to_list()
(0.5+0j) [0^ 1]|jordan_wigner
 &FCI NORB=2,NELEC=2,MS2=0,|qchem.molecular_hamiltonian
END
tap_ok "its code is explained" sh -c '"$0" explain Q0230 | grep -q pauli_sum' "$QCNN"
printf '%s\n' '  (-0.24) [Z2]' '+ (0.17) [Z0 X1]' '+ (1) [I0]' '- 2*Y3 + .5 X0Z1' >sum.txt
"$QCNN" compile --emit=circuit sum.qcnn >out
tap_ok "signs, one letter behind the other" grep -q 'observe 1.0 + 0.5\*x(q\[0\])\*z(q\[1\]) + 0.17\*z(q\[0\])\*x(q\[1\]) - 0.24\*z(q\[2\]) - 2.0\*y(q\[3\]);' out
sed 's/, q)/, {q[1], q[0], q[2], q[1]})/' sum.qcnn >twice.qcnn
tap_exit 65 "a qubit twice" "$QCNN" check twice.qcnn
tap_ok "it is named" grep -q 'error\[Q0208\]: qubit q\[1\] twice in `pauli_sum`' err
mkdir folder
mv h2.qiskit folder
tap_exit 65 "a file that is not there" "$QCNN" run h2.qcnn
tap_ok "it is named" grep -q 'cannot read `h2.qiskit`' err
tap_exit 0 "it is found by --include" "$QCNN" run --include folder h2.qcnn

tap_done
