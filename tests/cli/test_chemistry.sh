# SPDX-License-Identifier: Apache-2.0
# Variational eigensolvers: gates of quantum chemistry, sums of Pauli products and their gradients, against the
# numbers of PennyLane 0.45.1 (default.qubit).
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

# near NAME WANTED...: the numbers in the file out, after "schema": 1, differ by less than 1e-7 from these.
near() {
	point=$1
	shift
	sed 's/"schema": 1//' out | grep -o '[-0-9.][-0-9.e]*' >got
	printf '%s\n' "$@" >want
	paste got want >both
	tap_ok "$point" awk 'NF != 2 || ($1 - $2) ^ 2 > 1e-14 { print; exit 1 }' both
}

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
"$QCNN" run -p double --device ref -w t.json excitations.qcnn >out
near "double excitations, ref" 0.18992298451350428 1.4349532455826264e-05

tap_done
