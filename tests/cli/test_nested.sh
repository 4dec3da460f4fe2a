# SPDX-License-Identifier: Apache-2.0
# Models that are short as text and exponentially long when written out: 60 blocks that call the one before twice, an angle
# that doubles 60 times. What reads them is linear in the text, or refuses by a named limit; `timeout` ends what is neither.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

# nested LEVELS FIRST OPERANDS FORMALS ARGUMENTS: the blocks; the first holds FIRST, the last 2^(LEVELS - 1) times that.
nested() {
	awk -v levels="$1" -v first="$2" -v operands="$3" -v formals="$4" -v arguments="$5" 'BEGIN {
		print "QCNN 1;\nqubit[2] q;\nparam float w = 0.3;"
		printf "block b0%s %s { %s }\n", formals, operands, first
		for (i = 1; i < levels; i++) {
			call = sprintf("b%d%s %s;", i - 1, arguments, operands)
			printf "block b%d%s %s { %s %s }\n", i, formals, operands, call, call
		}
	}'
}

# 2^29 gates in a block, which stands in the circuit 200 times
{ nested 30 'cx a, b;' 'a, b' '' ''; echo 'for int i in [1:200] { b29 q[0], q[1]; ry(w/200) q[1]; } observe z(q);'; } >moves.qcnn
{ nested 30 'x a; s a;' 'a' '' ''; echo 'inv @ b28 q[0]; ry(w) q[0]; observe z(q);'; } >constant.qcnn
{ nested 29 'rx(t) a; cx a, b;' 'a, b' '(float t)' '(t)'; echo 'b28(w*1e-8) q[0], q[1]; observe z(q);'; } >trained.qcnn
{ echo 'QCNN 1; qubit q; param float t = 1e-19; let a = t; for int i in [1:60] { a = a + a; } rx(a) q; observe z(q);'; } >angle.qcnn

for model in moves constant trained angle; do
	for command in check compile 'compile --emit=plan' 'compile --emit=bytecode -o program.qbc' draw 'draw --svg=circuit.svg' \
			run 'run --device=ref' 'run --emit=state' 'run --emit=jacobian' 'run --emit=jacobian --gradient=difference'; do
		tap_exit 0 "$model: $command" timeout 60 "$QCNN" $command $model.qcnn
	done
done
tap_is "$("$QCNN" run -q --precision=double --format=csv --emit=probabilities moves.qcnn | awk -F, 'NR > 1 { printf "%.6f ", $3 }')" \
	"0.977668 0.000000 0.022332 0.000000 " "moves: the right state"

tap_exit 78 "gate by gate it is refused" timeout 60 "$QCNN" draw --expand trained.qcnn
tap_has err 'to draw; show layers as one box each' "with the limit"
tap_exit 65 "as a model gate by gate, too" timeout 60 "$QCNN" compile --emit=circuit trained.qcnn
tap_exit 78 "parameter shift would run 2^28 circuits" timeout 60 "$QCNN" run --emit=jacobian --gradient=shift trained.qcnn
tap_has err 'uses, at most 1048576 are possible; the adjoint method has no such limit' "and says what can be done"
tap_exit 0 "what is not trained is not counted" timeout 60 "$QCNN" run --emit=jacobian --gradient=shift constant.qcnn
tap_exit 0 "nor followed" timeout 60 "$QCNN" run --emit=jacobian --gradient=shift moves.qcnn

# ---- a limit: rounding grows with the number of gates that are multiplied ----

{ nested 31 'h a;' 'a' '' ''; echo 'b30 q[0]; observe z(q);'; } >limit.qcnn
{ nested 60 'h a;' 'a' '' ''; echo 'b59 q[0]; observe z(q);'; } >beyond.qcnn
{ nested 31 'h a; h a;' 'a' '' ''; echo 'b30 q[0]; observe z(q);'; } >just_beyond.qcnn
tap_exit 0 "2^30 gates in a matrix" timeout 60 "$QCNN" run limit.qcnn
for command in check run draw compile; do
	tap_exit 65 "2^59 gates: $command" timeout 60 "$QCNN" $command beyond.qcnn
done
tap_has err 'error[Q0302]: `b31` multiplies more than 1073741824 gates' "named with the block"
tap_is "$(grep -c '^error' err)" 1 "once, not again for each block around it"
tap_exit 65 "2^31 gates" timeout 60 "$QCNN" check just_beyond.qcnn
# Assembler text and bytecode are refused by the verifier.
"$QCNN" compile limit.qcnn | sed '/ "b30" /a\    m28 0' >beyond.asm
tap_exit 65 "assembler text with one item more" "$QCNN" check beyond.asm
tap_has err 'matrix 29: 1610612736 gates multiplied' "by its matrix"

tap_done
