# SPDX-License-Identifier: Apache-2.0
# Models that are short as text and exponentially long when written out: 60 blocks that call the one before twice, an angle
# that doubles 60 times. What reads them is linear in the text, or refuses by a named limit; `timeout` ends what is neither.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

# nested FIRST OPERANDS FORMALS ARGUMENTS: the blocks; the first holds FIRST.
nested() {
	awk -v first="$1" -v operands="$2" -v formals="$3" -v arguments="$4" 'BEGIN {
		print "QCNN 1;\nqubit[2] q;\nparam float w;"
		printf "block b0%s %s { %s }\n", formals, operands, first
		for (i = 1; i < 60; i++) {
			call = sprintf("b%d%s %s;", i - 1, arguments, operands)
			printf "block b%d%s %s { %s %s }\n", i, formals, operands, call, call
		}
	}'
}
{ nested 'cx a, b;' 'a, b' '' ''; echo 'b59 q[0], q[1]; ry(w) q[1]; observe z(q);'; } >moves.qcnn
{ nested 'x a; s a;' 'a' '' ''; echo 'inv @ b59 q[0]; ry(w) q[0]; observe z(q);'; } >constant.qcnn
{ nested 'rx(t) a; cx a, b;' 'a, b' '(float t)' '(t)'; echo 'b59(w*1e-18) q[0], q[1]; observe z(q);'; } >trained.qcnn
{ echo 'QCNN 1; qubit q; param float t = 1e-19; let a = t; for int i in [1:60] { a = a + a; } rx(a) q; observe z(q);'; } >angle.qcnn

for model in moves constant trained angle; do
	for command in check compile 'compile --emit=plan' 'compile --emit=bytecode -o program.qbc' draw 'draw --svg=circuit.svg' \
			run 'run --device=ref' 'run --emit=state' 'run --emit=jacobian' 'run --emit=jacobian --gradient=difference'; do
		tap_exit 0 "$model: $command" timeout 60 "$QCNN" $command $model.qcnn
	done
done

tap_exit 78 "gate by gate it is refused" timeout 60 "$QCNN" draw --expand trained.qcnn
tap_has err 'to draw; show layers as one box each' "with the limit"
tap_exit 65 "as a model gate by gate, too" timeout 60 "$QCNN" compile --emit=circuit trained.qcnn
tap_exit 78 "parameter shift would run 2^60 circuits" timeout 60 "$QCNN" run --emit=jacobian --gradient=shift trained.qcnn
tap_has err 'uses, at most 1048576 are possible; the adjoint method has no such limit' "and says what can be done"
tap_exit 0 "what is not trained is not counted" timeout 60 "$QCNN" run --emit=jacobian --gradient=shift constant.qcnn
tap_exit 0 "nor followed" timeout 60 "$QCNN" run --emit=jacobian --gradient=shift moves.qcnn

tap_done
