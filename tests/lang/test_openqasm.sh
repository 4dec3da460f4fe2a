# SPDX-License-Identifier: Apache-2.0
# Circuits of OpenQASM 2.0 and 3 against states that Qiskit computed (openqasm/NAME.state: re im, one amplitude a line).
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

circuits=$top_srcdir/tests/lang/openqasm
for circuit in "$circuits"/*.qasm; do
	name=$(basename "$circuit" .qasm)
	"$QCNN" run -q --precision=double --format=csv --emit=state "$circuit" >got.csv 2>err
	awk -F, 'NR > 1 { for (i = 3; i <= NF; i++) print $i }' got.csv >got
	tr ' ' '\n' <"$circuits/$name.state" >want
	paste got want | awk 'function abs(x) { return x < 0 ? -x : x }
		NF != 2 || !(abs($1 - $2) <= 1e-11) { bad = 1 }
		END { exit bad || NR < 2 }'
	tap_result $? "$name" || sed 's/^/# /' err
done

outputs() { "$QCNN" run -q --precision=double --format=csv "$@" 2>err | tail -n 1 | cut -d, -f2-; }

probabilities() { "$QCNN" run -q --emit=probabilities --precision=double --format=csv "$@" | awk -F, 'NR > 1 { printf "%.3f ", $3 }'; }

cat >bits.qasm <<'END'
OPENQASM 2.0;
include "qelib1.inc";
qreg q[3];
creg late[2];
creg early[1];
x q[1];
measure q[0] -> early[0];
measure q[1] -> late[1];
measure q[2] -> late[0];
measure q[2] -> late[0];
END
tap_is "$(outputs bits.qasm)" 1,-1,1 "outputs are z of measured qubits in order of their bits"

cat >inputs.qasm <<'END'
OPENQASM 3.0;
input float[64] θ;
input angle[32] w;
qubit[2] q;
bit[2] c;
U(θ, 0, 0) q[0];
U(w/2, 0, 0) q[1];
c = measure q;
END
printf 'a,b\n3.141592653589793,0\n0,3.141592653589793\n' >data.csv
"$QCNN" run -q --precision=double --format=csv --data=data.csv inputs.qasm 2>err | sed 1d | cut -d, -f2- | awk -F, '{ printf "%.3f %.3f\n", $1, $2 }' >got
tap_is "$(sed 's/-0.000/0.000/g' got)" "-1.000 1.000
1.000 0.000" "inputs take the columns of the data in order of declaration"

# Every command that takes a model.
bell='OPENQASM 2.0; include "qelib1.inc"; qreg q[2]; creg c[2]; h q[0]; cx q[0],q[1]; measure q->c;'
echo "$bell" >bell.qasm
tap_exit 0 "check" "$QCNN" check bell.qasm
tap_exit 0 "draw" "$QCNN" draw bell.qasm
tap_has out '⟨Z⟩' "draws what is measured"
tap_exit 0 "bench" "$QCNN" bench --circuit=bell.qasm --show
tap_exit 0 "compile --emit=circuit" "$QCNN" compile --emit=circuit bell.qasm
tap_has out 'observe z(q[0]);' "a model is made"
tap_is "$(probabilities bell.qasm)" \
	"0.500 0.000 0.000 0.500 " "probabilities"
tap_exit 2 "profile" "$QCNN" profile --set train.epochs=1 bell.qasm
tap_has err 'a model has --const' "takes it for a model"
tap_exit 78 "train" "$QCNN" train bell.qasm
tap_has err 'bell.qasm is a model' "says that it is no configuration"
tap_exit 0 "samples" "$QCNN" run -q --emit=samples --shots=3 bell.qasm
"$QCNN" check /dev/stdin <bell.qasm >out 2>err
tap_result $? "from a pipe"
echo 'OPENQASM 3; qubit q;' >blind.qasm
tap_exit 0 "a circuit without measurements" "$QCNN" run blind.qasm
tap_has err '--emit=state' "says how to see its state"

# Texts as they come.
printf 'OPENQASM 2.0;\r\ninclude "qelib1.inc";\r\nqreg q[1];\r\ncreg c[1];\r\nx q[0]; // comment\r\nmeasure q -> c;\r\n' >crlf.qasm
tap_is "$(outputs crlf.qasm)" -1 "lines that end with CR LF"
printf 'OPENQASM 2.0;\nqreg q[2];\nU(0,0,0) q\0[1];\n' >zero.qasm
tap_exit 65 "a zero byte" "$QCNN" check zero.qasm
tap_has err 'zero.qasm:3:11' "has its place"
printf 'OPENQASM 2.0;\nqreg q[2];\nCX q[0],q[' >cut.qasm
tap_exit 65 "a file that was cut off" "$QCNN" check cut.qasm
tap_has err '`[` is never closed' "is said to be open"
printf 'gate flip a { x a; }\n' >own.inc
printf 'OPENQASM 2.0;\ninclude "own.inc";\nqreg q[1];\ncreg c[1];\nflip q[0];\nmeasure q -> c;\n' >including.qasm
tap_is "$(outputs including.qasm)" -1 "another file is included"
echo 'gate h a { x a; }' >qelib1.inc
tap_is "$(probabilities bell.qasm)" \
	"0.500 0.000 0.000 0.500 " "qelib1.inc is built in"

printf 'OPENQASM 3.0;\n#pragma noise on\nqubit q;\n' >pragma.qasm
tap_exit 0 "a pragma with a #" "$QCNN" check --error-format=short pragma.qasm
tap_has err 'pragma.qasm:2:1: warning[Q0408]' "is ignored with a warning"

awk 'BEGIN { print "OPENQASM 3.0;"; for (i = 1000000; i; i--) print "x $" i ";" }' >physical.qasm
(ulimit -t 5 && "$QCNN" check physical.qasm) >out 2>err
tap_is $? 65 "a million physical qubits"
tap_has err 'physical.qasm:4098:3' "are too many"
tap_has err '1 error' "and nothing else is reported"

# Text, compilation, plan and the search for a contraction of 100,000 gates take time in proportion: 1.4 s of a processor, four
# times that under the sanitizers. A quadratic step takes minutes.
awk 'BEGIN {
	print "OPENQASM 2.0;\nqreg q[20];\ncreg c[20];"
	for (i = 0; i < 50000; i++)
		print "U(pi/" i + 1 "," i / 7 ",0) q[" i % 20 "];\nCX q[" i % 20 "],q[" (i + 1 + i % 19) % 20 "];"
	print "measure q -> c;"
}' >long.qasm
(ulimit -t 20 && "$QCNN" check long.qasm) >out 2>err
tap_result $? "100,000 gates"
tap_done
