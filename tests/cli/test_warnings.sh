# SPDX-License-Identifier: Apache-2.0
# Warnings about models that are valid but cannot be meant so, and --strict, which treats warnings as errors.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_files

# ---- --strict ----

printf 'QCNN 1;\nqubit[2] q;\ninput float[2] x;\nparam float[3] t;\nrx(each x) on q;\nrx(t[0]) q[0];\nrx(t[1]) q[1];\nobserve z(q);\n' >unused.qcnn
sed 's/float\[3\]/float[2]/' unused.qcnn >clean.qcnn

tap_exit 0 "check: a warning alone is no error" "$QCNN" check unused.qcnn
tap_has err 'warning[Q0401]' "it is printed"
tap_exit 65 "check --strict: it is one" "$QCNN" check --strict unused.qcnn
tap_has err 'warning[Q0401]' "the warning is printed"
tap_has err 'error: 1 warning is treated as error (--strict)' "and why the command fails"
tap_is "$(cat out)" "" "there is no result"
tap_exit 65 "also with -q" "$QCNN" check -q --strict unused.qcnn
tap_has err 'warning[Q0401]' "where the warning is printed too"
tap_exit 65 "as JSON" "$QCNN" check --strict --error-format=json unused.qcnn
tap_has err '"severity": "error", "code": "BAD_DATA", "status": 65, "message": "1 warning is treated' "an object a message"
tap_exit 0 "check --strict: a model without warnings" "$QCNN" check --strict clean.qcnn
tap_exit 65 "run --strict" "$QCNN" run --strict --data=new.csv unused.qcnn
tap_exit 0 "run --strict: a model without warnings" "$QCNN" run --strict --data=new.csv clean.qcnn
tap_exit 65 "compile --strict" "$QCNN" compile --strict -o unused.asm unused.qcnn
tap_ok "writes nothing" test ! -e unused.asm
tap_exit 65 "train --strict" "$QCNN" train --strict --set model.file=unused.qcnn table.yaml
tap_ok "makes no folder" test ! -e runs
tap_exit 65 "check --strict of a configuration" "$QCNN" check --strict --set model.file=unused.qcnn table.yaml
tap_exit 2 "draw has no such option" "$QCNN" draw --strict clean.qcnn

# ---- what a model declares and does not need ----

# warns CODE TEXT NAME: check, train --dry-run and check of the configuration print it for the model on stdin, and run does not.
warns() {
	{ echo 'QCNN 1;'; cat; } >model.qcnn
	tap_exit 0 "$3: check" "$QCNN" check --error-format=short model.qcnn
	tap_is "$(sed -n 's/.*warning\[//p' err)" "$1]: $2" "warns"
	tap_exit 65 "$3: train --strict" "$QCNN" train --strict --error-format=short --set model.file=model.qcnn table.yaml
	tap_is "$(sed -n 's/.*warning\[//p' err)" "$1]: $2" "warns, too"
	tap_exit 0 "$3: run" "$QCNN" run --error-format=short --data=new.csv --emit=state model.qcnn
	tap_is "$(grep -c 'warning' err)" 0 "run does not"
}
warns Q0404 'no gate uses `x`' "an input without use" <<-'END'
	qubit q; input float[2] x; param float t; ry(t) q; observe z(q);
END
warns Q0404 'no gate uses all of `x`' "an input that is used in part" <<-'END'
	qubit q; input float[2] x; param float t; ry(t*x[1]) q; observe z(q);
END
warns Q0404 'no output depends on `x`' "an input of gates without effect" <<-'END'
	qubit[2] q; input float[2] x; param float t; ry(t) q[0]; rx(each x) on q[{1,1}]; discard q[1]; observe z(q[0]);
END
warns Q0405 'no output depends on qubits q[1], q[3]' "qubits without effect" <<-'END'
	qubit[4] q; input float[2] x; param float t; ry(x[0]*t) q[0]; rx(x[1]) q[2]; cz q[0], q[2]; h q[3]; observe z(q[2]);
END
warns Q0405 'no output depends on qubit spare' "one qubit" <<-'END'
	qubit[2] q; qubit spare; input float[2] x; param float t; ry(t) q[0]; rx(each x) on q; observe z(q);
END
printf 'QCNN 1;\nqubit[3] q; input float[2] x; param float t; ry(t) q[0]; rx(each x) on q[0:1]; swap q[0], q[2]; cx q[1], q[2]; observe z(q[2]);\n' >swapped.qcnn
tap_exit 0 "a qubit whose place another one takes" "$QCNN" check --strict swapped.qcnn
printf 'QCNN 1;\nqubit[3] q; input float[2] x; param float t; ry(t) q[0]; rx(each x) on q[0:1]; discard q[1:2]; observe z(q[0]);\n' >discarded.qcnn
tap_exit 65 "its input is without effect" "$QCNN" check --strict discarded.qcnn
tap_is "$(grep -c 'Q0405' err)" 0 "a discarded qubit is meant so"

printf 'QCNN 1;\ninput float[2] x; param float t;\nqubit[2] q; rx(each x) on q; ry(t) q[0];\n' >blind.qcnn
tap_exit 0 "nothing is observed" "$QCNN" check --error-format=short blind.qcnn
tap_is "$(sed 's/.*warning/warning/' err)" 'warning[Q0406]: nothing is observed: the model has no outputs' "says so once"
tap_exit 65 "and is an error with --strict" "$QCNN" check --strict blind.qcnn
tap_has err 'end it with what is measured, for example `observe z(q);`, in OpenQASM `measure`; `qcnn train` needs an output' "with what to do"

printf 'QCNN 1; circuit f(float a) { qubit[2] q; param float t; rx(a*t) q[0]; observe z(q[0]); } input float[2] x; head (f(x[0]) a, f(x[1]) b) { dense(1); }\n' >instances.qcnn
tap_exit 0 "two instances of a circuit" "$QCNN" check --error-format=short instances.qcnn
tap_is "$(sed 's/.*warning/warning/' err)" 'warning[Q0405]: no output depends on qubit q[1]' "warn once"

# However many there are, the text runs to its end: 1,000 places, and one place 30,000 times.
{
	printf 'QCNN 1;\nqubit q;\nfor int i in [1:30000] { rx(100) q; }\n'
	awk 'BEGIN { for (i = 0; i < 1000; i++) print "rx(-100) q; rx(100) q;" }'
	echo 'observe z(q);'
} >many.qcnn
tap_exit 0 "many warnings" "$QCNN" check --json many.qcnn
tap_has out '"outputs": 1,' "hide no statement"
echo 'x nosuch;' >>many.qcnn
tap_exit 65 "many warnings before an error" "$QCNN" check many.qcnn
sed -i '$d' many.qcnn
echo 'x q;' >>many.qcnn
tap_exit 65 "many warnings before a gate after the outputs" "$QCNN" check many.qcnn

printf 'QCNN 1;\nqubit[60] q; h q; observe z(q);\n' >product.qcnn
tap_exit 0 "60 qubits without entanglement" "$QCNN" check product.qcnn
tap_has out "run.method: auto contracts them, without a state" "need no state"
tap_is "$(cat err)" "" "and no warning"
printf 'QCNN 1;\nqubit[60] q; h q; ctrl(3) @ x q[0], q[1], q[2], q[3]; observe z(q[3]);\n' >large.qcnn
tap_exit 0 "60 qubits" "$QCNN" check large.qcnn
tap_has err 'warning[Q0407]: a state of this model does not fit this machine: it needs 8.0 EiB for 1 state of 60 qubits in single precision' "do not fit"
tap_exit 65 "60 qubits with --strict" "$QCNN" check --strict large.qcnn
for code in 404 405 406 407; do tap_exit 0 "explain Q0$code" "$QCNN" explain Q0$code; done

tap_done
