# SPDX-License-Identifier: Apache-2.0
# States, gates and observables given by the vector or matrix in a file, as numpy.savetxt writes it; states and gradients are those of NumPy and PennyLane 0.45.1.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

. "$top_srcdir/tests/cli/near.sh"
within=1e-12

# A random unitary matrix on two qubits, by numpy.savetxt.
cat >v.txt <<'END'
 (1.175350692253429585e-02+2.834203321945484855e-01j)  (3.751178028166650136e-01-1.443034137617642820e-01j)  (6.696295335934744353e-01-3.012044144604787976e-01j)  (-3.093274521826110401e-01+3.509795505945789706e-01j)
 (-1.024247814036648996e-01-2.991730585694664102e-01j)  (3.842704656190279455e-02-7.144078801909411469e-01j)  (-2.286824318858957095e-01+1.644361591643265230e-01j)  (-5.557067419195552693e-01-2.121293333552411176e-03j)
 (2.567363207549419046e-01-6.601026542381978057e-01j)  (-3.329219853494518322e-01-7.201926426025628825e-03j)  (5.408972167093025751e-01-1.554932656381723399e-01j)  (2.670385447040810045e-02-2.645769847385919249e-01j)
 (2.338749830128516449e-01-5.130232502996289190e-01j)  (3.271992926041688565e-01+3.296355691462599657e-01j)  (-1.639054961202537908e-01+1.947416673283428046e-01j)  (-4.539944557938108138e-02+6.320919340843789147e-01j)
END
cat >v.qcnn <<'END'
qubit[3] q;
param float[2] t;
gate v a, b = "v.txt";
ry(t[0]) q;
v q[0], q[1];
ctrl @ inv @ v q[1], q[0], q[2];
rx(t[1]) q[2];
observe z(q), x(q[0])*y(q[2]);
END
echo '{"t": [0.7, -0.4]}' >t.json
"$QCNN" run -p double -w t.json v.qcnn >out
near "readouts" -0.10561369876430432 -0.27958020093899333 -0.1274957423051426 -0.0708332892605893
"$QCNN" run -p double --device ref -w t.json v.qcnn >out
near "readouts, ref" -0.10561369876430432 -0.27958020093899333 -0.1274957423051426 -0.0708332892605893
for by in adjoint shift; do
	"$QCNN" run -p double -g $by -e jacobian -w t.json v.qcnn >out
	near "jacobian, $by" 0.859805103345906 3.469446951953614e-17 0.6721954579530347 -4.85722573273506e-17 0.03624495072507683 -0.06250983979168626 0.0079455447154681 -0.3644063504349098
done

# The same numbers in other forms: as lists of Python, with commas, signs as older savetxt wrote them, a comment.
"$QCNN" run -p double -w t.json v.qcnn >whole
for form in 's/(//g; s/)//g' 's/^ /[/; s/$/],/; s/) (/), (/g' 's/\(e[-+][0-9]*\)-\([^ ]*j\)/\1+-\2/g' 's/j/i/g' '1s/^/# rows\n/'; do
	sed "$form" v.txt >form.txt
	sed 's/v.txt/form.txt/' v.qcnn >form.qcnn
	"$QCNN" run -p double -w t.json form.qcnn >out 2>err
	tap_ok "the form of $form" cmp whole out
done

# Through the other forms of a program.
"$QCNN" compile -q --emit=circuit -w t.json -o flat.qcnn v.qcnn
"$QCNN" run -p double flat.qcnn >out
near "as a circuit" -0.10561369876430432 -0.27958020093899333 -0.1274957423051426 -0.0708332892605893
"$QCNN" compile -q --emit=asm -o flat.asm v.qcnn
"$QCNN" run -p double -w t.json flat.asm >out
near "as text of the assembler" -0.10561369876430432 -0.27958020093899333 -0.1274957423051426 -0.0708332892605893
"$QCNN" compile -q --emit=openqasm -w t.json -o flat.qasm v.qcnn
"$QCNN" run -p double -e probabilities flat.qasm >one
"$QCNN" run -p double -e probabilities -w t.json v.qcnn >out
near "as OpenQASM" $(sed 's/"schema": 1//' one | grep -o '[-0-9.][-0-9.e]*')
cat >drawn <<'END'
       +----------+  +-----+  +------+
q[0] --+ ry(t[0]) +--+0    +--+0  v' +--------------- <Z>
       +----------+  |   v |  +--+---+
q[1] --+ ry(t[0]) +--+1    +-----@------------------- <Z>
       +----------+  +-----+  +--+---+  +----------+
q[2] --+ ry(t[0]) +-----------+1  v' +--+ rx(t[1]) +- <Z>
       +----------+           +------+  +----------+

<x(q[0])*y(q[2])>
END
"$QCNN" draw --ascii v.qcnn >out
tap_same out drawn "drawn as boxes of its name"

# The Fourier transform on 2 to 6 qubits takes |1> to (1, w, w^2, ...)/sqrt(N); with the first qubit as the highest bit it is the same.
for n in 2 3 4 5 6; do
	awk -v n=$n 'BEGIN { N = 2^n; for (i = 0; i < N; i++) for (k = 0; k < N; k++) { a = 2 * atan2(0, -1) * (i * k % N) / N;
		printf " (%.18e%+.18ej)%s", cos(a) / sqrt(N), sin(a) / sqrt(N), k + 1 < N ? "" : "\n" } }' >f.txt
	names=$(echo a b c d e f | cut -d' ' -f1-$n | tr ' ' ,)
	wires=$(echo 0 1 2 3 4 5 | cut -d' ' -f1-$n | sed 's/[0-9]/q[&]/g; s/ /, /g')
	printf 'qubit[%d] q; gate f %s = "f.txt"; x q[0]; f %s;' $n "$names" "$wires" >f.qcnn
	"$QCNN" run -p double -e state f.qcnn >out 2>err
	near "Fourier transform on $n qubits" $(awk -v n=$n 'BEGIN { N = 2^n; for (p = 0; p < 2; p++) for (k = 0; k < N; k++) {
		a = 2 * atan2(0, -1) * k / N; printf "%.17g ", (p ? sin(a) : cos(a)) / sqrt(N) } }')
done

# A power is one gate, whatever the exponent: half a turn in 2^20 steps, forth and back.
cat >power.qcnn <<'END'
qubit[2] q;
gate u a = {{1, 0}, {0, (cos(pi/2**20), sin(pi/2**20))}};
h q;
pow(2**20) @ u q[0];
ctrl @ pow(-3*2**18) @ u q[0], q[1];
pow(2**19 + 2**18) @ ctrl @ u q[0], q[1];
observe x(q[0]), x(q[1]);
END
"$QCNN" run -p double power.qcnn >out
near "powers" -1 1
tap_ok "of one operation each, of which two undo each other" sh -c '"$1" check power.qcnn | grep -q "2 qubits, 3 operations"' sh "$QCNN"
"$QCNN" draw --ascii power.qcnn >out
tap_ok "drawn with their exponents" sh -c 'for e in 1048576 -786432 786432; do grep -qF "u^$e " out || exit 1; done'
tap_is "$("$QCNN" compile --emit=circuit power.qcnn | grep -c q)" 6 "as a circuit, too"
# Of four qubits; controls between powers; an exponent that is a float.
echo 'qubit[3] q; h q; gate v a, b = "v.txt"; pow(3) @ v q[0], q[1]; ctrl @ inv @ v q[2], q[0], q[1]; observe x(q[0]), y(q[1]), x(q[2]);' >once.qcnn
"$QCNN" run -p double once.qcnn >one
for same in 'pow(-3) @ inv' 'pow(3.0)' 'inv @ pow(-1) @ pow(3)' 'inv @ inv @ inv @ pow(-3.0)'; do
	sed "s/pow(3)/$same/" once.qcnn >other.qcnn
	"$QCNN" run -p double other.qcnn >out
	near "$same" $(sed 's/"schema": 1//' one | grep -o '[-0-9.][-0-9.e]*')
done
sed 's/pow(3) @ v/pow(0) @ v/; s/ctrl @ inv @ v/ctrl @ pow(0) @ v/' once.qcnn >none.qcnn
"$QCNN" run -p double none.qcnn >out
near "power 0" 1 0 1
sed 's/pow(3)/pow(0.5)/' once.qcnn >half.qcnn
tap_exit 65 "half a gate on two qubits" "$QCNN" check half.qcnn
tap_ok "says which gates have powers" grep -q 'has no exact form for the power 0.5' err

# Observables: of a random Hermitian matrix on two qubits, also multiplied and under evolve.
cat >a.txt <<'END'
 (-1.365355973104635801e-02+0.000000000000000000e+00j)  (2.664919515638978886e+00+2.914593212035333503e-01j)  (6.338359133404529722e-01+5.475970468494653076e-01j)  (-1.186812122526656577e+00-1.534655116653069751e-01j)
 (2.664919515638978886e+00-2.914593212035333503e-01j)  (-2.411116285292657757e+00+0.000000000000000000e+00j)  (3.718081842406493198e-01+9.696738200899829296e-02j)  (-1.173599045726797518e+00+1.481313550388563716e+00j)
 (6.338359133404529722e-01-5.475970468494653076e-01j)  (3.718081842406493198e-01-9.696738200899829296e-02j)  (-4.389577254076049845e-02+0.000000000000000000e+00j)  (-4.110631847950745876e-01-1.551979855799144659e+00j)
 (-1.186812122526656577e+00+1.534655116653069751e-01j)  (-1.173599045726797518e+00-1.481313550388563716e+00j)  (-4.110631847950745876e-01+1.551979855799144659e+00j)  (3.550778774492281631e+00+0.000000000000000000e+00j)
END
cat >a.qcnn <<'END'
qubit[3] q;
param float[2] t;
let a = hermitian("a.txt", q[{2,0}]);
ry(t[0]) q;
cx on chain(q);
rx(t[1]) q[2];
observe a, a*a, a - 0.5*z(q[1]);
END
"$QCNN" run -p double -w t.json a.qcnn >out
near "a matrix as observable" 0.9828197685269245 6.542317997619064 0.6903279828018642
"$QCNN" run -p double -e jacobian -w t.json a.qcnn >out
near "a matrix as observable, jacobian" 0.45284116350941384 0.5260051865339259 -4.142217669042239 0.40156511418083385 0.9455660285036435 0.526005186533926
printf '1 2j\n-2j 0\n' >a.txt
echo 'qubit q; h q; s q; observe hermitian("a.txt", q), hermitian("a.txt", q)*z(q);' >y.qcnn
tap_exit 65 "a product that does not commute" "$QCNN" check y.qcnn
sed 's/, herm.*/;/' y.qcnn >y2.qcnn
"$QCNN" run -p double y2.qcnn >out
near "0.5 + z/2 - 2 y" -1.5
tap_is "$("$QCNN" compile --emit=circuit y2.qcnn | grep observe)" 'observe 0.5 - 2.0*y(q[0]) + 0.5*z(q[0]);' "as Pauli products"
printf '1 2j\n2j 0\n' >a.txt
tap_exit 65 "no Hermitian matrix" "$QCNN" check y2.qcnn
tap_ok "the row of the entry" grep -q -- '--> a.txt:2:1' err
tap_ok "both entries" grep -qF 'not Hermitian: 0+2j in row 0, column 1 and 0+2j in row 1, column 0' err
echo 'qubit[9] q; observe hermitian("a.txt", q);' >wide.qcnn
tap_exit 65 "nine qubits" "$QCNN" check wide.qcnn
tap_ok "says how many are possible" grep -qF 'a matrix on 9 qubits, 1 to 8 are possible' err
echo 'qubit[2] q; observe hermitian("a.txt", q[{0,0}]);' >wide.qcnn
tap_exit 65 "a qubit twice" "$QCNN" check wide.qcnn
tap_ok "is named" grep -qF 'qubit q[0] twice in `hermitian`' err

# States: complex, not normalised; real, with signs, beside other qubits.
printf ' (3.0e+00+0.0e+00j)\n (0.0e+00-4.0e+00j)\n (0.0e+00+0.0e+00j)\n (-1.2e+01+0.0e+00j)\n' >psi.txt
echo 'qubit[3] q; amplitudes("psi.txt") q[{2,0}];' >psi.qcnn
"$QCNN" run -p double -e state psi.qcnn >out
near "a complex state" 0.23076923076923078 0 0 0 0 -0.9230769230769231 0 0 0 0 0 0 -0.3076923076923077 0 0 0
"$QCNN" compile -q --emit=circuit -o flat.qcnn psi.qcnn
"$QCNN" run -p double -e state flat.qcnn >out
near "as a circuit" 0.23076923076923078 0 0 0 0 -0.9230769230769231 0 0 0 0 0 0 -0.3076923076923077 0 0 0
printf '0.6,-0.8\n' >psi.txt
echo 'qubit q; amplitudes("psi.txt") q; observe z(q), x(q);' >psi.qcnn
"$QCNN" run -p double psi.qcnn >out
near "a real state" -0.28 -0.96
printf '0 0' >psi.txt
tap_exit 65 "a vector of zeros" "$QCNN" check psi.qcnn
tap_ok "says so" grep -q 'all numbers are 0' err
printf '1 0 0' >psi.txt
tap_exit 65 "a vector that is too long" "$QCNN" check psi.qcnn
tap_ok "says so" grep -q '3 numbers, where 2 are needed' err
sed 's/amplitudes/rx/' psi.qcnn >text.qcnn
tap_exit 65 "a file for another gate" "$QCNN" check text.qcnn
tap_is "$(grep error err)" 'error[Q0109]: `rx` takes no text
1 error' "one error"

# What a file may be.
refused() {
	tap_exit 65 "$1: refused" "$QCNN" check bad.qcnn
	tap_ok "$1: $2" grep -qF "$2" err
	tap_ok "$1: $3" grep -qF -- "--> $3" err
}
echo 'gate v a = "bad.txt"; qubit q; v q; observe z(q);' >bad.qcnn
printf '1 0\n0 2j\n' >bad.txt
refused "no unitary matrix" '`v` is not unitary: row 1 has length 2, not 1' bad.txt:2:1
printf '1 1\n1 -1\n' >bad.txt
refused "a factor" 'row 0 has length 1.414213562, not 1' bad.txt:1:1
tap_ok "a factor: help" grep -q 'all rows have this length: divide by it' err
printf '0.6 0.8\n\n-0.6 0.8\n' >bad.txt
refused "rows that are not orthogonal" 'the product of rows 0 and 1 is 0.28, not 0' bad.txt:3:1
printf '1 0\n0\n' >bad.txt
refused "too few numbers" '3 numbers, where 2 rows of 2 are needed' bad.txt:1:1
printf '1 0\n0 1 0\n' >bad.txt
refused "too many numbers" '5 numbers, where 2 rows of 2 are needed' bad.txt:1:1
printf '1 0\n0 x\n' >bad.txt
refused "a word" 'not a number' bad.txt:2:3
printf '1 0\n0 1e999\n' >bad.txt
refused "beyond a double" 'not a finite number' bad.txt:2:3
printf '1 0\n0 1j+2j\n' >bad.txt
refused "two imaginary parts" 'two imaginary parts' bad.txt:2:3
printf '1 0\n0 0.6+0.8\n' >bad.txt
refused "two real parts" 'two real parts: the imaginary one ends with j' bad.txt:2:3
printf '1 0\n0 1+' >bad.txt
refused "cut off" 'not a number' bad.txt:2:3
: >bad.txt
refused "empty" '0 numbers' bad.txt:1:1
printf '\223NUMPY\001\000v\000' >bad.txt
refused "an array of NumPy" 'not a number' bad.txt:1:1
tap_ok "an array of NumPy: help" grep -qF 'numpy.savetxt("v.txt", v)' err
rm bad.txt
tap_exit 65 "no file" "$QCNN" check bad.qcnn
tap_ok "names it" grep -q 'cannot read `bad.txt`' err
tap_ok "its code is explained" sh -c '"$0" explain Q0231 | grep -q savetxt' "$QCNN"

tap_done
